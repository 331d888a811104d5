/* check_test.c -- what is not as a rank of the job would send it is dropped and counted, and changes nothing: every kind of message
 * with every field that could be wrong; then the right one does its work, and coming once more is dropped, too.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/trip.h"

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
    const uint8_t kinds[] = {0, PROTO_TAGGED + 1, 100, WIRE_CAUGHT, WIRE_FULL};
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

/* No leave to send, and no byte of a long message, as long as it has no receive. */
static void nothing_goes_out(void)
{
    for (int i = 0; i < 4; i++) req_progress();
    CHECK_EQ(loop_waiting(), 0);
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
    if (!is_expected) {
        nothing_goes_out();
        trip_receive(&t);
    }
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

/* The steps of R0 to another node: the sender's memory is registered, then the question; the receiver reads (its own memory registered for it
 * first, in the wire); then, when that is done, its word that it has all, and the sender's memory is let go.  Of a message that goes in pieces
 * each is written. */
static void in_order(bool is_expected, bool is_later)
{
    struct trip t;
    const struct loop_ways ways = {.room = LOOP_ROOM, .get = true, .put = true, .later = is_later};
    up(GW_SET_PROTO_R0, &ways);
    trip_begin(&t, LOOP_FAR, LONG, PROTO_STANDARD);
    CHECK_STR(loop_events(), "em");
    if (is_expected) trip_receive(&t);
    CHECK_STR(loop_events(), "em");
    pass(PROTO_RTS);
    if (!is_expected) {
        nothing_goes_out();
        CHECK_STR(loop_events(), "em"); /* nor is anything read */
        trip_receive(&t);
    }
    pass(PROTO_FIN);
    trip_end(&t);
    CHECK_STR(loop_events(), is_later ? "emgdmc" : "emgmc");
    down();
}

/* The steps of R1 to another node: the question; the receiver's memory is registered, its leave; the sender writes in chunks, four of them
 * under way at most; when all of those are done, its word, and the receiver's memory is let go. */
static void written_in_order(bool is_later)
{
    enum { CHUNKS = 6 };
    struct trip t;
    const struct loop_ways ways = {.room = LOOP_ROOM, .get = true, .put = true, .later = is_later};
    up(GW_SET_PROTO_R1, &ways);
    int64_t was = gw_set.net_chunk;
    gw_set.net_chunk = (LONG + CHUNKS - 1) / CHUNKS;
    trip_begin(&t, LOOP_FAR, LONG, PROTO_STANDARD);
    trip_receive(&t);
    pass(PROTO_RTS);
    pass(PROTO_CTS);
    pass(PROTO_PUT);
    trip_end(&t);
    CHECK_STR(loop_events(), is_later ? "memppppddddppddmc" : "memppppppmc");
    gw_set.net_chunk = was;
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
    memcpy(m->hdr + TO, &(uint64_t){LOOP_FAR}, 8);
    wrong_kind(m, PROTO_TAGGED, 0, true); /* no network matches here */
    wrong_kind(m, PROTO_TAGGED, 0, false);
    free(m);
    down();
}

int main(void)
{
    rooms_boot();
    gw_set.help_min = 256 << 10;
    for (int peer = LOOP_NEAR; peer <= LOOP_FAR; peer++) {
        eager(peer);
        pieces(peer, true);
        pieces(peer, false);
        read_by_receiver(peer);
        cancelled(peer);
    }
    for (int later = 0; later < 2; later++) {
        in_order(true, later);
        in_order(false, later);
        written_in_order(later);
    }
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
