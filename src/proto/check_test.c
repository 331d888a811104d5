/* check_test.c -- what is not as a rank of the job would send it is dropped and counted, and changes nothing: every kind of message
 * with every field that could be wrong; then the right one does its work, and coming once more is dropped, too.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/loop_rooms.h"

#include <stdio.h>

#include "base/base.h"
#include "base/count.h"
#include "base/settings.h"
#include "unit.h"

enum { LONG = 40000, SHARED = 1 << 20, EDGE = 64 };

/* A message on its way from `peer` to itself. */
struct trip {
    int peer;
    int64_t len;
    char *from, *room, *to; /* `to` lies within `room`, EDGE bytes from both ends */
    struct gw_req *send, *recv;
};

static uint64_t refused(void) { return atomic_load(&gw_count.messages_refused); }
static char pattern(int64_t i) { return (char)(i * 7 + i / 251); }

static void trip_begin(struct trip *t, int peer, int64_t len, enum proto_mode mode)
{
    struct proto_addr a = addr_of(peer, 3);
    *t = (struct trip){.peer = peer, .len = len, .from = malloc((size_t)len + 1), .room = malloc((size_t)len + 2 * EDGE)};
    t->to = t->room + EDGE;
    memset(t->room, -1, (size_t)len + 2 * EDGE);
    for (int64_t i = 0; i < len; i++) t->from[i] = pattern(i);
    loop_memory(t->from, (size_t)len);
    loop_memory(t->to, (size_t)len);
    CHECK_EQ(proto_send(&a, t->from, len, gw_type_byte, mode, &t->send), GW_POSTED);
}

static void trip_receive(struct trip *t)
{
    struct proto_addr a = addr_of(t->peer, 3);
    CHECK_EQ(proto_recv(&a, t->to, t->len, gw_type_byte, &t->recv), GW_POSTED);
}

static bool is_untouched(const struct trip *t)
{
    for (int64_t i = 0; i < t->len + 2 * EDGE; i++)
        if (t->room[i] != -1) return false;
    return !req_is_done(t->recv) && !req_is_done(t->send);
}

/* The next message, which is of this kind. */
static struct loop_msg *next(enum proto_kind kind)
{
    for (int i = 0; i < 4 && !loop_waiting(); i++) req_progress();
    struct loop_msg *m = loop_take();
    CHECK(m != NULL);
    if (!m) exit(1);
    CHECK_EQ(m->kind, kind);
    return m;
}

static void pass(enum proto_kind kind)
{
    struct loop_msg *m = next(kind);
    loop_deliver(m);
    free(m);
}

/* As the message, but for one thing; then nothing happens but that it is counted. */
static void wrong_bytes(int line, const struct loop_msg *m, size_t at, const void *value, size_t size)
{
    struct loop_msg *other = loop_new(m->is_far, m->kind, m->hdr, m->payload, m->len);
    uint8_t *where = at < WIRE_HDR_BYTES ? other->hdr + at : other->payload + (at - WIRE_HDR_BYTES);
    memcpy(where, value, size);
    uint64_t before = refused();
    int waiting = loop_waiting();
    loop_deliver(other);
    if (refused() != before + 1 || loop_waiting() != waiting) {
        unit_failures++;
        fprintf(stderr, "line %d: kind %d was not refused\n", line, m->kind);
    }
    free(other);
}
static void wrong_u64(int line, const struct loop_msg *m, size_t at, uint64_t value)
{
    wrong_bytes(line, m, at, &value, sizeof value);
}
static void wrong_i32(int line, const struct loop_msg *m, size_t at, int32_t value)
{
    wrong_bytes(line, m, at, &value, sizeof value);
}
#define WRONG64(m, at, value) wrong_u64(__LINE__, m, at, (uint64_t)(value))
#define WRONG32(m, at, value) wrong_i32(__LINE__, m, at, value)
enum { IN_PAYLOAD = WIRE_HDR_BYTES, TO = 0, VALUE = 8, SRC = 4, TAG = 8, WORLD = 12 };

static void wrong_kind(const struct loop_msg *m, uint8_t kind, size_t len, bool is_far)
{
    struct loop_msg *other = loop_new(is_far, kind, m->hdr, NULL, 0);
    uint64_t before = refused();
    other = realloc(other, sizeof *other + len);
    memset(other->payload, 0, len);
    memcpy(other->payload, m->payload, len < m->len ? len : m->len);
    other->len = (uint32_t)len;
    loop_deliver(other);
    CHECK_EQ(refused(), before + 1);
    free(other);
}

/* Cookies: of a place that is not there, of an earlier or later generation, none, an address of ours; and the right one by the other wire. */
static void wrong_cookies(const struct loop_msg *m)
{
    uint64_t cookie;
    memcpy(&cookie, m->hdr + TO, sizeof cookie);
    const uint64_t others[] = {cookie + 1, cookie + ((uint64_t)1 << 32), cookie - ((uint64_t)1 << 32),    cookie | 0xfffffff0u, 0,
                               UINT64_MAX, (uint64_t)(uintptr_t)m,       (uint64_t)(uintptr_t)loop_lane()};
    for (size_t i = 0; i < GW_ARRAY_LEN(others); i++) WRONG64(m, TO, others[i]);
    struct loop_msg *astray = loop_new(!m->is_far, m->kind, m->hdr, m->payload, m->len);
    uint64_t before = refused();
    loop_deliver(astray);
    CHECK_EQ(refused(), before + 1);
    free(astray);
}

static void wrong_lengths(const struct loop_msg *m)
{
    const size_t lengths[] = {0, 1, m->len - 1, (size_t)m->len + 1, 3000, MSG_DATA_MAX + 9};
    for (size_t i = 0; i < GW_ARRAY_LEN(lengths); i++)
        if (lengths[i] != m->len) wrong_kind(m, m->kind, lengths[i], m->is_far);
}

/* Delivers it, twice. */
static void pass_once(struct loop_msg *m)
{
    loop_deliver(m);
    uint64_t before = refused();
    loop_deliver(m);
    CHECK_EQ(refused(), before + 1);
    free(m);
}

static void trip_end(struct trip *t)
{
    for (int i = 0; i < 100000 && !(req_is_done(t->recv) && req_is_done(t->send)); i++) {
        struct loop_msg *m = loop_take();
        if (m) loop_deliver(m);
        free(m);
        req_progress();
    }
    CHECK(req_is_done(t->recv) && req_is_done(t->send));
    if (!req_is_done(t->recv) || !req_is_done(t->send)) exit(1);
    CHECK_EQ(gw_status_bytes(&t->recv->status), t->len);
    CHECK(req_wait(&t->recv, NULL) == GW_OK && req_wait(&t->send, NULL) == GW_OK);
    bool is_right = true;
    for (int64_t i = 0; i < t->len + 2 * EDGE; i++)
        is_right = is_right && t->room[i] == (i < EDGE || i >= t->len + EDGE ? -1 : pattern(i - EDGE));
    CHECK(is_right);
    free(t->from);
    free(t->room);
}

static void up(int proto, const struct loop_ways *ways)
{
    gw_set.proto = proto;
    rooms_up(ways);
}
static void down(void)
{
    CHECK_EQ(loop_waiting(), 0);
    CHECK_EQ(proto_posted(), 0);
    CHECK(proto_drained(lane));
    rooms_down();
}

/* ---- messages that take part in matching ---- */
static void eager(int peer)
{
    struct trip t;
    const struct loop_ways ways = {.room = LOOP_ROOM};
    up(GW_SET_PROTO_AUTO, &ways);
    trip_begin(&t, peer, 24, PROTO_SYNC);
    trip_receive(&t);
    struct loop_msg *m = next(PROTO_EAGER_SYNC);
    WRONG32(m, SRC, -1);
    WRONG32(m, TAG, GW_ANY_TAG);
    const int32_t strangers[] = {-1, 0, 3 - peer, LOOP_RANKS, INT32_MIN, INT32_MAX, NODE_OTHER_RANKS};
    for (size_t i = 0; i < GW_ARRAY_LEN(strangers); i++)
        if (peer == LOOP_FAR || strangers[i] != 0) WRONG32(m, WORLD, strangers[i]); /* on its node it sends to itself as well */
    wrong_kind(m, m->kind, PROTO_SYNC_PREFIX - 1, m->is_far);
    wrong_kind(m, m->kind, MSG_DATA_MAX + PROTO_SYNC_PREFIX + 1, m->is_far);
    const uint8_t kinds[] = {0, PROTO_FAULT + 1, 100, WIRE_CAUGHT, WIRE_FULL};
    for (size_t i = 0; i < GW_ARRAY_LEN(kinds); i++) wrong_kind(m, kinds[i], 32, m->is_far);
    if (peer == LOOP_FAR) wrong_kind(m, PROTO_EAGER, MSG_DATA_MAX + 1, true);
    CHECK(is_untouched(&t));
    loop_deliver(m);
    free(m);
    m = next(PROTO_ACK);
    wrong_cookies(m);
    wrong_kind(m, PROTO_ACK, 1, m->is_far);
    wrong_kind(m, PROTO_FIN, 0, m->is_far); /* of another kind than what it is an answer to */
    wrong_kind(m, PROTO_CANCEL_ACK, 0, m->is_far);
    wrong_kind(m, PROTO_CTS, sizeof(struct proto_cts), m->is_far);
    if (peer == LOOP_NEAR) wrong_kind(m, PROTO_HELP, sizeof(struct proto_help), false);
    CHECK(!req_is_done(t.send));
    pass_once(m);
    trip_end(&t);
    down();
}

static void rts_wrong(const struct loop_msg *m, int peer)
{
    const int64_t lengths[] = {-1, INT64_MIN, INT64_MIN + 5};
    for (size_t i = 0; i < GW_ARRAY_LEN(lengths); i++) WRONG64(m, IN_PAYLOAD + offsetof(struct proto_rts, len), lengths[i]);
    WRONG32(m, SRC, -7);
    WRONG32(m, WORLD, LOOP_RANKS);
    WRONG32(m, WORLD, 3 - peer);
    WRONG32(m, WORLD, -1);
    wrong_lengths(m);
    WRONG64(m, IN_PAYLOAD + offsetof(struct proto_rts, cookie), 0);
}

/* A question that the network matched by tag and gave to us: what an RTS says, and who asks. */
static void tagged(void)
{
    struct trip t;
    struct {
        struct proto_rts rts;
        int32_t world, unused;
    } ask = {.world = LOOP_FAR};
    const struct wire_tag tag = {LOOP_CTX / (PROTO_STREAM_MASK + 1), LOOP_FAR, 3, 1};
    const struct loop_ways ways = {.room = LOOP_ROOM};
    enum { CTX_MAX = 100, HDR_CTX = 0, ASKS = 12, ASK_WORLD = IN_PAYLOAD + 32 };
    up(GW_SET_PROTO_R1, &ways);
    trip_begin(&t, LOOP_FAR, LONG, PROTO_STANDARD);
    trip_receive(&t);
    struct loop_msg *m = next(PROTO_RTS);
    memcpy(&ask.rts, m->payload, sizeof ask.rts);
    free(m);
    m = loop_new(true, WIRE_CAUGHT, &tag, &ask, sizeof ask);
    struct proto_tags *tags = &loop_lane()->tags;
    wrong_kind(m, WIRE_CAUGHT, sizeof ask, true); /* this wire matches nothing */
    tags->state = TAGS_OWN;
    tags->limits.ctx_max = CTX_MAX;
    wrong_kind(m, WIRE_CAUGHT, sizeof ask, false);
    wrong_kind(m, WIRE_FULL, 0, true);
    wrong_lengths(m);
    const int64_t lengths[] = {-1, INT64_MIN};
    for (size_t i = 0; i < GW_ARRAY_LEN(lengths); i++) WRONG64(m, IN_PAYLOAD + offsetof(struct proto_rts, len), lengths[i]);
    const int32_t strangers[] = {-1, 0, LOOP_NEAR, LOOP_RANKS, INT32_MIN, INT32_MAX},
                  contexts[] = {-1, INT32_MIN, CTX_MAX + 1, INT32_MAX};
    for (size_t i = 0; i < GW_ARRAY_LEN(strangers); i++) WRONG32(m, ASK_WORLD, strangers[i]);
    for (size_t i = 0; i < GW_ARRAY_LEN(contexts); i++) WRONG32(m, HDR_CTX, contexts[i]);
    WRONG32(m, SRC, -1);
    WRONG32(m, SRC, INT32_MIN);
    WRONG32(m, TAG, -1);
    WRONG32(m, TAG, GW_ANY_TAG);
    memset(m->hdr + ASKS, 0, 4);
    wrong_kind(m, WIRE_CAUGHT, MSG_DATA_MAX + 1, true);
    memcpy(m->hdr + ASKS, &tag.asks, 4);
    CHECK(is_untouched(&t));
    loop_deliver(m);
    free(m);
    tags->state = TAGS_OFF;
    trip_end(&t);
    down();
}

/* ---- R1 ---- */
static void pieces(int peer, bool is_expected)
{
    struct trip t;
    const struct loop_ways ways = {.room = LOOP_ROOM};
    up(GW_SET_PROTO_R1, &ways);
    trip_begin(&t, peer, LONG, PROTO_STANDARD);
    if (is_expected) trip_receive(&t);
    struct loop_msg *m = next(PROTO_RTS);
    rts_wrong(m, peer);
    loop_deliver(m);
    free(m);
    if (!is_expected) trip_receive(&t);
    m = next(PROTO_CTS);
    wrong_cookies(m);
    wrong_lengths(m);
    const int64_t from[] = {-1, INT64_MIN, LONG, LONG + 1, INT64_MAX}, to[] = {-1, 0, LONG + 1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < GW_ARRAY_LEN(from); i++) WRONG64(m, IN_PAYLOAD + offsetof(struct proto_cts, from), from[i]);
    for (size_t i = 0; i < GW_ARRAY_LEN(to); i++) WRONG64(m, IN_PAYLOAD + offsetof(struct proto_cts, to), to[i]);
    WRONG64(m, IN_PAYLOAD + offsetof(struct proto_cts, key),
            1); /* it would write into the peer's memory, or say a ticket: not on these wires */
    wrong_kind(m, PROTO_ACK, 0, m->is_far);
    CHECK(is_untouched(&t));
    pass_once(m);
    m = next(PROTO_DATA);
    wrong_cookies(m);
    const int64_t at[] = {-1, 1, LONG, LONG - 1, INT64_MAX, INT64_MIN, -(int64_t)m->len};
    for (size_t i = 0; i < GW_ARRAY_LEN(at); i++) WRONG64(m, VALUE, at[i]);
    wrong_kind(m, PROTO_DATA, LONG + 1, m->is_far);
    wrong_kind(m, PROTO_DATA, 0, m->is_far);
    wrong_kind(m, PROTO_PUT, 0, m->is_far);
    struct loop_msg *fin = loop_new(m->is_far, PROTO_FIN, m->hdr, NULL, 0);
    memcpy(fin->hdr, &(uint64_t){(uint64_t)1 << 32}, 8); /* the first name of our first operation, which sends pieces */
    memset(fin->hdr + 8, 0, 8);
    uint64_t before = refused();
    loop_deliver(fin);
    CHECK_EQ(refused(), before + 1);
    free(fin);
    CHECK(is_untouched(&t));
    pass_once(m);
    trip_end(&t);
    down();
}

/* The receiver exposes its buffer, and the sender writes there; or the wire brings it there as a whole. */
static void written(bool is_direct)
{
    struct trip t;
    const struct loop_ways ways = {.room = LOOP_ROOM, .get = !is_direct, .put = !is_direct, .direct = is_direct};
    up(is_direct ? GW_SET_PROTO_AUTO : GW_SET_PROTO_R1, &ways);
    trip_begin(&t, LOOP_FAR, is_direct ? 200000 : LONG, PROTO_STANDARD);
    trip_receive(&t);
    pass(PROTO_RTS);
    struct loop_msg *m = next(PROTO_CTS);
    const size_t addr = IN_PAYLOAD + offsetof(struct proto_cts, addr);
    if (is_direct)
        WRONG64(m, addr, 4096); /* these wires do not write */
    else
        WRONG64(m, addr, UINT64_MAX - LONG + 1);
    struct loop_msg *data = loop_new(true, PROTO_DATA, m->hdr, t.from, 100);
    memcpy(data->hdr, m->hdr + VALUE, 8); /* pieces, where the wire brings them */
    memset(data->hdr + 8, 0, 8);
    uint64_t before = refused();
    if (is_direct) loop_deliver(data);
    CHECK_EQ(refused(), before + is_direct);
    free(data);
    CHECK(is_untouched(&t));
    loop_deliver(m);
    free(m);
    if (!is_direct) {
        m = next(PROTO_PUT);
        wrong_cookies(m);
        wrong_kind(m, PROTO_PUT, 8, true);
        CHECK(!req_is_done(t.recv));
        pass_once(m);
    }
    trip_end(&t);
    down();
}

/* The wire refuses to write where the receiver said, at once or later: the data come in pieces. */
static void not_writable(bool is_later)
{
    struct trip t;
    const struct loop_ways ways = {.room = LOOP_ROOM, .put = true, .later = is_later};
    up(GW_SET_PROTO_R1, &ways);
    trip_begin(&t, LOOP_FAR, LONG, PROTO_STANDARD);
    trip_receive(&t);
    pass(PROTO_RTS);
    loop_memory_gone(t.to);
    pass(PROTO_CTS);
    struct loop_msg *m = next(PROTO_DATA);
    CHECK(is_untouched(&t));
    pass_once(m);
    trip_end(&t);
    down();
}

/* What comes by ticket is not as long as what is waited for: an error of that receive alone. */
static void direct_short(void)
{
    struct trip t;
    const struct loop_ways ways = {.room = LOOP_ROOM, .direct = true};
    up(GW_SET_PROTO_AUTO, &ways);
    trip_begin(&t, LOOP_FAR, 200000, PROTO_STANDARD);
    trip_receive(&t);
    pass(PROTO_RTS);
    struct loop_msg *m = next(PROTO_CTS);
    memcpy(m->payload + offsetof(struct proto_cts, to), &(int64_t){t.len - 1}, 8);
    loop_deliver(m);
    free(m);
    CHECK(req_is_done(t.recv) && req_is_done(t.send));
    CHECK_EQ(t.recv->err, GW_EOTHER);
    CHECK_EQ(proto_error(t.recv), GW_EOTHER);
    CHECK(strstr(gw_fail_text(), "200000 bytes from rank 2, tag 3 did not arrive") != NULL);
    CHECK(req_wait(&t.send, NULL) == GW_OK);
    free(t.from);
    free(t.room);
    down();
}

/* ---- R0 ---- */
static void read_by_receiver(int peer)
{
    struct trip t;
    const struct loop_ways ways = {.room = LOOP_ROOM, .get = true, .put = true};
    up(GW_SET_PROTO_R0, &ways);
    trip_begin(&t, peer, LONG, PROTO_STANDARD);
    trip_receive(&t);
    struct loop_msg *m = next(PROTO_RTS);
    rts_wrong(m, peer);
    CHECK(is_untouched(&t));
    loop_deliver(m);
    free(m);
    m = next(PROTO_FIN);
    wrong_cookies(m);
    wrong_kind(m, PROTO_FIN, 8, m->is_far);
    WRONG64(m, VALUE, 64); /* a job that it has not got */
    WRONG64(m, VALUE, UINT64_MAX);
    CHECK(!req_is_done(t.send));
    pass_once(m);
    trip_end(&t);
    down();
}

/* What the receiver asks to be helped with is a job of its own, and not longer than the message. */
static void helped(void)
{
    struct trip t;
    const struct loop_ways ways = {.room = LOOP_ROOM};
    up(GW_SET_PROTO_R0, &ways);
    trip_begin(&t, LOOP_NEAR, SHARED, PROTO_STANDARD);
    trip_receive(&t);
    pass(PROTO_RTS);
    struct loop_msg *m = loop_take();
    CHECK(m && m->kind == PROTO_HELP);
    if (!m || m->kind != PROTO_HELP) exit(1);
    const size_t job = IN_PAYLOAD + offsetof(struct proto_help, job), total = IN_PAYLOAD + offsetof(struct proto_help, total);
    uint64_t right;
    memcpy(&right, m->payload + offsetof(struct proto_help, job), sizeof right);
    wrong_cookies(m);
    wrong_lengths(m);
    const uint64_t jobs[] = {0, 1, right + 1, right + 64 * 1000, right - 64 * 1000, gw_node.bytes, UINT64_MAX, (uint64_t)1 << 63};
    for (size_t i = 0; i < GW_ARRAY_LEN(jobs); i++) WRONG64(m, job, jobs[i]);
    const int64_t totals[] = {0, -1, SHARED + 1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < GW_ARRAY_LEN(totals); i++) WRONG64(m, total, totals[i]);
    CHECK(is_untouched(&t));
    /* A piece that the sender claimed and sends: within the message only. */
    struct loop_msg *data = loop_new(false, PROTO_DATA, m->hdr, t.from, 100);
    memcpy(data->hdr, m->hdr + VALUE, 8);
    const int64_t at[] = {-1, SHARED - 99, SHARED, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < GW_ARRAY_LEN(at); i++) WRONG64(data, VALUE, at[i]);
    free(data);
    CHECK(is_untouched(&t));
    pass_once(m);
    m = next(PROTO_FIN);
    WRONG64(m, VALUE, 0);
    WRONG64(m, VALUE, right + 64);
    loop_deliver(m);
    free(m);
    trip_end(&t);
    down();
}

/* Neither end, or only the sender, can copy what is shared: its pieces come as data.  What asks for one is looked at, too. */
static void not_readable(bool is_writable)
{
    struct trip t;
    const struct loop_ways ways = {.room = LOOP_ROOM};
    up(GW_SET_PROTO_R0, &ways);
    trip_begin(&t, LOOP_NEAR, SHARED, PROTO_STANDARD);
    trip_receive(&t);
    loop_memory_gone(is_writable ? t.from : NULL);
    struct loop_msg *m = next(PROTO_RTS), *help;
    loop_deliver(m);
    free(m);
    help = loop_take();
    CHECK(help && help->kind == PROTO_HELP);
    m = next(PROTO_CTS);
    if (!help || help->kind != PROTO_HELP) exit(1);
    loop_deliver(help);
    free(help);
    wrong_cookies(m);
    wrong_lengths(m);
    WRONG64(m, VALUE, 0);
    WRONG64(m, VALUE, (uint64_t)(uintptr_t)m);
    const int64_t from[] = {-1, INT64_MIN, SHARED, INT64_MAX}, to[] = {-1, 0, SHARED + 1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < GW_ARRAY_LEN(from); i++) WRONG64(m, IN_PAYLOAD + offsetof(struct proto_cts, from), from[i]);
    for (size_t i = 0; i < GW_ARRAY_LEN(to); i++) WRONG64(m, IN_PAYLOAD + offsetof(struct proto_cts, to), to[i]);
    WRONG64(m, IN_PAYLOAD + offsetof(struct proto_cts, key), 1);
    CHECK(is_untouched(&t));
    pass_once(m); /* one piece at a time */
    trip_end(&t);
    if (loop_waiting()) pass(PROTO_FIN); /* the sender may have seen by itself that all is done */
    down();
}

/* ---- cancelling, and words about flow ---- */
/* A send that is over and waits for the answer to its cancelling: its data may be gone, and nothing uses them any more. */
static void over_but_named(void)
{
    struct trip t;
    const struct loop_ways ways = {.room = LOOP_ROOM};
    up(GW_SET_PROTO_R0, &ways);
    trip_begin(&t, LOOP_NEAR, LONG, PROTO_STANDARD);
    trip_receive(&t);
    pass(PROTO_RTS);
    for (int i = 0; i < 4 && !loop_waiting(); i++) req_progress();
    proto_cancel(t.send);
    pass(PROTO_FIN);
    CHECK(req_is_done(t.send));
    struct loop_msg *m = next(PROTO_CANCEL), *help;
    struct proto_help h = {(uintptr_t)t.to, node_job_alloc(), LONG};
    help = loop_new(false, PROTO_HELP, m->hdr, &h, sizeof h);
    wrong_kind(help, PROTO_HELP, sizeof h, false);
    node_job_free(h.job);
    free(help);
    wrong_kind(m, PROTO_CTS, sizeof(struct proto_cts), false);
    wrong_kind(m, PROTO_FIN, 0, false);
    wrong_kind(m, PROTO_LEFT, 0, false);
    wrong_kind(m, PROTO_ACK, 0, false);
    loop_deliver(m);
    free(m);
    pass_once(next(PROTO_CANCEL_ACK));
    CHECK_EQ(loop_lane()->arena.bytes, 0);
    trip_end(&t);
    down();
}

static void cancelled(int peer)
{
    struct trip t;
    const struct loop_ways ways = {.room = LOOP_ROOM};
    up(GW_SET_PROTO_R1, &ways);
    trip_begin(&t, peer, LONG, PROTO_STANDARD);
    pass(PROTO_RTS);
    proto_cancel(t.send);
    struct loop_msg *m = next(PROTO_CANCEL);
    const int64_t strangers[] = {-1, 3 - peer, LOOP_RANKS, (int64_t)1 << 32 | peer, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < GW_ARRAY_LEN(strangers); i++) WRONG64(m, VALUE, strangers[i]);
    wrong_kind(m, PROTO_CANCEL, 1, m->is_far);
    CHECK_EQ(match_unexpected_count(loop_lane()->fast.q), 1);
    loop_deliver(m);
    free(m);
    CHECK_EQ(match_unexpected_count(loop_lane()->fast.q), 0);
    m = next(PROTO_CANCEL_ACK);
    wrong_cookies(m);
    WRONG64(m, VALUE, 2);
    WRONG64(m, VALUE, UINT64_MAX);
    CHECK(!req_is_done(t.send));
    pass_once(m);
    struct gw_status s;
    CHECK(req_wait(&t.send, &s) == GW_OK && s.cancelled);
    free(t.from);
    free(t.room);
    down();
}

/* An answer that it is gone, while its pieces go out. */
static void cancelled_late(void)
{
    struct trip t;
    const struct loop_ways ways = {.room = 2};
    up(GW_SET_PROTO_R1, &ways);
    trip_begin(&t, LOOP_FAR, LONG, PROTO_STANDARD);
    trip_receive(&t);
    pass(PROTO_RTS);
    proto_cancel(t.send);
    pass(PROTO_CTS);
    struct loop_msg *m = next(PROTO_CANCEL);
    loop_deliver(m);
    free(m);
    struct loop_msg *ack = NULL;
    for (int i = 0; i < 1000 && !ack; i++) {
        struct loop_msg *one = loop_take();
        if (one && one->kind == PROTO_CANCEL_ACK)
            ack = one;
        else if (one)
            loop_deliver(one), free(one);
        req_progress();
        if (ack && ((struct proto_sreq *)t.send)->op) WRONG64(ack, VALUE, 1);
    }
    CHECK(ack != NULL);
    if (ack) pass_once(ack);
    trip_end(&t);
    down();
}

static void xoff(void)
{
    struct trip t;
    const struct loop_ways ways = {.room = LOOP_ROOM};
    up(GW_SET_PROTO_AUTO, &ways);
    trip_begin(&t, LOOP_FAR, LONG, PROTO_SYNC); /* that is: connected */
    trip_receive(&t);
    trip_end(&t);
    struct proto_ctl c = {LOOP_FAR, 1};
    struct loop_msg *m = loop_new(true, PROTO_FLOW, &c, NULL, 0);
    const int64_t strangers[] = {-1, LOOP_RANKS, (int64_t)1 << 32 | LOOP_FAR, INT64_MIN, INT64_MAX, LOOP_NEAR};
    for (size_t i = 0; i < GW_ARRAY_LEN(strangers); i++) WRONG64(m, TO, strangers[i]);
    CHECK(!peer_is_xoff(peer_get(lane, LOOP_FAR)));
    loop_deliver(m);
    CHECK(peer_is_xoff(peer_get(lane, LOOP_FAR)));
    memcpy(m->hdr + TO, &(uint64_t){LOOP_NEAR}, 8);
    wrong_kind(m, PROTO_FLOW, 0, false); /* on a node nobody says so: it stands in the door */
    free(m);
    down();
}

/* The receiver has no room: the send is over with a copy kept, which goes when it is fetched, or when the receiver leaves. */
static void kept(int peer, bool is_left)
{
    struct trip t;
    const struct loop_ways ways = {.room = LOOP_ROOM};
    up(GW_SET_PROTO_AUTO, &ways);
    struct gw_peer *p = peer_get(lane, peer);
    CHECK_EQ(peer_connect(lane, p), GW_OK);
    _Atomic uint32_t *xoff = (_Atomic uint32_t *)(uintptr_t)p->ep->xoff;
    atomic_store(xoff, 1);
    trip_begin(&t, peer, 24, PROTO_STANDARD);
    CHECK(req_is_done(t.send) && loop_lane()->n_kept == 1);
    memset(t.from, 0, 24); /* it is ours again */
    pass(PROTO_RTS);
    if (is_left) {
        proto_leave(lane, true);
        struct loop_msg *m = next(PROTO_LEFT);
        wrong_cookies(m);
        wrong_kind(m, PROTO_LEFT, 8, m->is_far);
        wrong_kind(m, PROTO_ACK, 0, m->is_far);
        CHECK_EQ(loop_lane()->n_kept, 1);
        pass_once(m);
        proto_leave(lane, false);
        CHECK(req_wait(&t.send, NULL) == GW_OK);
        free(t.from);
        free(t.room);
    } else {
        trip_receive(&t);
        trip_end(&t);
    }
    CHECK_EQ(loop_lane()->n_kept + loop_lane()->kept_bytes + loop_lane()->unexpected_bytes + loop_lane()->arena.bytes, 0);
    atomic_store(xoff, 0);
    down();
}

/* Of messages that a sender on another node keeps, the next ones are fetched with the first one that is received. */
enum { AHEAD = 5, AHEAD_LEN = 24 };
static void ahead_begin(struct trip *t, const struct loop_ways *ways, _Atomic uint32_t **xoff_out)
{
    up(GW_SET_PROTO_AUTO, ways);
    struct gw_peer *p = peer_get(lane, LOOP_FAR);
    CHECK_EQ(peer_connect(lane, p), GW_OK);
    *xoff_out = (_Atomic uint32_t *)(uintptr_t)p->ep->xoff;
    atomic_store(*xoff_out, 1);
    for (int i = 0; i < AHEAD; i++) {
        trip_begin(&t[i], LOOP_FAR, AHEAD_LEN + i, PROTO_STANDARD);
        t[i].from[0] = (char)i;
        CHECK(req_is_done(t[i].send));
    }
    for (int i = 0; i < AHEAD; i++) pass(PROTO_RTS);
    CHECK(loop_lane()->n_kept == AHEAD && !loop_waiting());
}

static void ahead_end(struct trip *t, _Atomic uint32_t *xoff)
{
    const struct proto_lane *pl = loop_lane();
    for (int i = 0; i < AHEAD; i++) {
        CHECK_EQ(req_wait(&t[i].send, NULL), GW_OK);
        free(t[i].from);
        free(t[i].room);
    }
    CHECK_EQ(pl->n_kept + pl->kept_bytes + pl->unexpected_bytes + pl->ahead_bytes + pl->n_ahead + pl->arena.bytes, 0);
    CHECK(gw_list_empty(&pl->kept_there) && proto_drained(lane));
    atomic_store(xoff, 0);
    down();
}

static void ahead_wrong(const struct loop_msg *m)
{
    wrong_cookies(m);
    WRONG64(m, VALUE, 1);
    WRONG64(m, VALUE, -1);
    wrong_kind(m, PROTO_DATA, m->len - 1, true);
    wrong_kind(m, PROTO_DATA, m->len + 1, true);
}

static void ahead_received(const struct trip *t, int64_t len)
{
    struct gw_status s;
    struct gw_req *q = t->recv;
    CHECK_EQ(req_wait(&q, &s), len < t->len ? GW_ETRUNCATE : GW_OK);
    for (int64_t i = 0; i < len; i++) CHECK_EQ(t->to[i], pattern(i));
    CHECK(t->to[-1] == -1 && t->to[len] == -1);
}

/* Received before its data come, after that, into too small a buffer, by a matched probe; the last one has been dropped when its data come. */
static void ahead(void)
{
    struct trip t[AHEAD];
    _Atomic uint32_t *xoff;
    const struct loop_ways ways = {.room = LOOP_ROOM};
    uint64_t before = atomic_load(&gw_count.sends_fetched);
    ahead_begin(t, &ways, &xoff);
    struct proto_addr a = addr_of(LOOP_FAR, 3);
    trip_receive(&t[0]);
    CHECK_EQ(atomic_load(&gw_count.sends_fetched) - before, AHEAD - 1);
    CHECK(loop_waiting() == AHEAD && !req_is_done(t[0].recv) && !proto_is_posted(t[0].recv));
    trip_receive(&t[1]);
    CHECK_EQ(loop_waiting(), AHEAD); /* it was asked for */
    for (int i = 0; i < AHEAD; i++) pass(PROTO_CTS);
    for (int i = 0; i < AHEAD - 1; i++) {
        struct loop_msg *m = next(PROTO_DATA);
        ahead_wrong(m);
        pass_once(m);
        CHECK_EQ(req_is_done(t[0].recv) + (i > 0 && req_is_done(t[1].recv)), i > 0 ? 2 : 1);
    }
    CHECK_EQ(proto_recv(&a, t[2].to, AHEAD_LEN - 4, gw_type_byte, &t[2].recv), GW_POSTED);
    struct gw_status s;
    struct proto_msg *m = proto_improbe(&a, &s);
    CHECK(m && proto_mrecv(lane, m, t[3].to, t[3].len, gw_type_byte, NULL, &t[3].recv) == GW_POSTED);
    for (int i = 0; i < 4; i++) ahead_received(&t[i], i == 2 ? AHEAD_LEN - 4 : t[i].len);
    CHECK(loop_lane()->n_ahead == 1 && !proto_drained(lane));
    proto_leave(lane, true);
    pass(PROTO_DATA);
    CHECK(!loop_waiting()); /* no LEFT: it was fetched */
    proto_leave(lane, false);
    ahead_end(t, xoff);
}

/* The receiver leaves: of what is here and what it has not asked for. */
static void ahead_left(void)
{
    struct trip t[AHEAD];
    _Atomic uint32_t *xoff;
    const struct loop_ways ways = {.room = LOOP_ROOM};
    ahead_begin(t, &ways, &xoff);
    loop_lane()->room = 4 * 96; /* for three of them */
    trip_receive(&t[0]);
    CHECK_EQ(loop_waiting(), 3);
    for (int i = 0; i < 3; i++) pass(PROTO_CTS);
    for (int i = 0; i < 3; i++) pass(PROTO_DATA);
    ahead_received(&t[0], t[0].len);
    proto_leave(lane, true);
    for (int i = 3; i < AHEAD; i++) pass(PROTO_LEFT);
    proto_leave(lane, false);
    ahead_end(t, xoff);
}

/* Who waits for a receive is not told that all is well because the receiver leaves; and does not use what it must not. */
static void left_waiting(void)
{
    struct trip t;
    const struct loop_ways ways = {.room = LOOP_ROOM};
    up(GW_SET_PROTO_R1, &ways);
    trip_begin(&t, LOOP_FAR, LONG, PROTO_STANDARD);
    pass(PROTO_RTS);
    proto_leave(lane, true);
    pass(PROTO_LEFT);
    CHECK(!req_is_done(t.send));
    proto_leave(lane, false);
    rooms_down();
    free(t.from);
    free(t.room);
}

/* ---- the table of names ---- */
static void names(void)
{
    enum { N = 1000 };
    static int what[N];
    struct proto_cookies n = {0};
    uint64_t name[N], first;
    CHECK(proto_cookie_find(&n, 0) == NULL && proto_cookie_find(&n, (uint64_t)1 << 32) == NULL);
    for (int i = 0; i < N; i++) name[i] = proto_cookie_give(&n, &what[i]);
    for (int i = 0; i < N; i++) CHECK(name[i] != 0 && proto_cookie_find(&n, name[i]) == &what[i]);
    first = name[5];
    for (int i = 0; i < N; i += 2) proto_cookie_revoke(&n, name[i + 1]);
    for (int i = 0; i < N; i++) CHECK(proto_cookie_find(&n, name[i]) == (i % 2 ? NULL : &what[i]));
    for (int i = 1; i < N; i += 2) name[i] = proto_cookie_give(&n, &what[i]);
    for (int i = 0; i < N; i++) CHECK(proto_cookie_find(&n, name[i]) == &what[i]);
    CHECK(proto_cookie_find(&n, first) == NULL);
    proto_cookies_finish(&n);
}

int main(void)
{
    rooms_boot();
    gw_set.help_min = 256 << 10;
    names();
    for (int peer = LOOP_NEAR; peer <= LOOP_FAR; peer++) {
        eager(peer);
        pieces(peer, true);
        pieces(peer, false);
        read_by_receiver(peer);
        cancelled(peer);
        kept(peer, false);
        kept(peer, true);
    }
    ahead();
    ahead_left();
    left_waiting();
    tagged();
    written(false);
    written(true);
    not_writable(false);
    not_writable(true);
    direct_short();
    helped();
    not_readable(true);
    not_readable(false);
    over_but_named();
    cancelled_late();
    xoff();
    return unit_end();
}
