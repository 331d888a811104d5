/* fuzz_proto.c -- messages of the protocols, as ranks send them and as nobody would: sends and receives of every way over the wires of
 * wire_sim/loop.h, of which messages are delivered, changed, lost, delivered once more when their time is over, or made up.
 *
 * Nothing may be touched but buffers (a sanitizer looks at what lies around them), nothing may end the process, and where nothing was
 * forged, all data arrive.  FUZZ_RECORD=FILE writes what the inputs' true messages were, for a look at what is mutated.
 *
 * Lanes are new for each input.  What costs more than an input and is the same afterwards stays: the segment, the pool of requests, the
 * tables of matching (which must be empty then).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../test/loop_rooms.h"

#include "base/base.h"
#include "base/count.h"
#include "base/lock.h"
#include "base/settings.h"
#include "../test/data.h"
#include "fuzz.h"

enum { TRIPS = 12, OLD = 16, STEPS = 600, MOST = 13000 };

struct trip {
    struct gw_req *send, *recv;
    char *from, *to;
    int64_t len, room;          /* of `to` */
    bool is_strided, is_probed; /* `from` has gaps; `to` has */
    int peer, tag;
};
static struct trip trips[TRIPS];
static int n_trips;
static struct loop_msg *old[OLD]; /* what was delivered: to come once more */
static int n_old;
static bool is_forged; /* then nothing is sure about the data */
static struct gw_type *every_other;

/* The data of a message with tag T begin at T * 31, and lie with gaps, too. */
static char run[MOST + 1024], gaps[2 * sizeof run];

static void patterns_make(void)
{
    for (size_t i = 0; i < sizeof run; i++) gaps[2 * i] = run[i] = (char)(i * 7 + i / 251);
}

static bool is_pattern(const struct trip *t, const char *at, bool is_strided)
{
    if (!is_strided) return memcmp(at, run + t->tag * 31, (size_t)t->room) == 0;
    for (int64_t i = 0; i < t->room; i++)
        if (at[2 * i] != run[t->tag * 31 + i]) return false;
    return true;
}

/* ---- the tables of matching ---- */
static struct match_queue *tables;
struct match_queue *__real_match_new(void);
struct match_queue *__wrap_match_new(void);
void __wrap_match_free(struct match_queue *q);

struct match_queue *__wrap_match_new(void) { return tables ? tables : (tables = __real_match_new()); }
void __wrap_match_free(struct match_queue *q) { FUZZ_CHECK(q == tables && match_is_empty(q)); }

/* Messages that handlers got, true ones and others: FUZZ_COUNT=FILE says at the end how many, one line a process. */
static uint64_t n_delivered;
static void count_say(void)
{
    const char *path = getenv("FUZZ_COUNT");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (!f) return;
    fprintf(f, "%llu messages, %llu refused\n", (unsigned long long)n_delivered,
            (unsigned long long)atomic_load(&gw_count.messages_refused));
    fclose(f);
}
static void give(const struct loop_msg *m)
{
    n_delivered++;
    loop_deliver(m);
}

/* ---- ranks of the job ---- */
static int64_t some_length(struct input *in)
{
    static const int64_t sizes[] = {0, 1, 24, 40, 41, 64, 1000, 2040, 2049, 2992, 3000, 4096, 6000, 8000, 9000, MOST};
    unsigned n = in_byte(in);
    return sizes[n % GW_ARRAY_LEN(sizes)] + (n & 16 ? n >> 5 : 0);
}

static void request_over(struct gw_req *r)
{
    if (!r || r == &gw_req_sent) return;
    r->flags = 0;
    req_recycle(r);
}

static void trip_end(struct trip *t)
{
    loop_memory_gone(t->from);
    loop_memory_gone(t->to);
    request_over(t->send);
    request_over(t->recv);
    free(t->from);
    free(t->to);
}

static void check_done(const struct trip *t)
{
    FUZZ_CHECK(t->recv->err == (t->room < t->len ? GW_ETRUNCATE : GW_OK));
    FUZZ_CHECK(is_pattern(t, t->to, t->is_probed));
}

/* One more, or in the place of the first that is over; NULL: none is. */
static struct trip *trip_place(void)
{
    if (n_trips < TRIPS) return &trips[n_trips++];
    for (struct trip *t = trips; t < trips + TRIPS; t++) {
        if (!t->recv || !req_is_done(t->recv) || !req_is_done(t->send)) continue;
        if (!is_forged) check_done(t);
        trip_end(t);
        return t;
    }
    return NULL;
}

static void send_one(struct input *in)
{
    unsigned how = in_byte(in);
    struct trip *t = trip_place();
    if (!t) return;
    *t = (struct trip){
        .peer = how & 1 ? LOOP_NEAR : LOOP_FAR, .tag = (int)(t - trips), .len = some_length(in), .is_strided = how & 2};
    int64_t extent = t->is_strided ? 2 * t->len : t->len;
    t->room = how & 4 ? t->len / 2 : t->len;
    t->from = gw_xmalloc((size_t)extent + !extent);
    t->to = gw_xcalloc(1, (size_t)(how & 8 ? 2 * t->room : t->room) + !t->room);
    t->is_probed = how & 8;
    memcpy(t->from, t->is_strided ? gaps + 2 * t->tag * 31 : run + t->tag * 31, (size_t)extent);
    loop_memory(t->from, (size_t)extent);
    loop_memory(t->to, (size_t)(t->is_probed ? 2 * t->room : t->room));
    struct proto_addr a = addr_of(t->peer, t->tag);
    FUZZ_CHECK(proto_send(&a, AS_DATA(t->from, t->len, t->is_strided ? every_other : gw_type_byte),
                          (enum proto_mode)(how >> 4 & 1 ? PROTO_SYNC : how >> 5 & 1), &t->send) >= 0);
}

static void receive_one(struct input *in)
{
    unsigned how = in_byte(in);
    struct trip *t = &trips[how % TRIPS];
    if (how % TRIPS >= (unsigned)n_trips || t->recv) return;
    struct proto_addr a = addr_of(t->peer, t->tag);
    if (how & 64) a.peer = NULL, a.rank = GW_ANY_SOURCE;
    struct gw_type *type = t->is_probed ? every_other : gw_type_byte;
    if (how & 128) {
        struct proto_msg *m = proto_improbe(&a, NULL);
        if (m) FUZZ_CHECK(proto_mrecv(lane, m, AS_DATA(t->to, t->room, type), NULL, &t->recv) == GW_POSTED);
        return;
    }
    FUZZ_CHECK(proto_recv(&a, AS_DATA(t->to, t->room, type), &t->recv) == GW_POSTED);
}

static void cancel_one(struct input *in)
{
    unsigned how = in_byte(in);
    struct trip *t = &trips[how % TRIPS];
    struct gw_req *r = how & 128 ? t->recv : t->send;
    if (how % TRIPS >= (unsigned)n_trips || !r || req_is_done(r)) return;
    proto_cancel(r);
    is_forged = true; /* it may go either way */
}

/* ---- the network ---- */
static void record(const struct loop_msg *m)
{
    static FILE *f;
    const char *path = f ? NULL : getenv("FUZZ_RECORD");
    if (path) f = fopen(path, "ab");
    if (!f) return;
    fprintf(f, "%s kind %u len %u hdr", m->is_far ? "far" : "near", m->kind, m->len);
    for (int i = 0; i < WIRE_HDR_BYTES; i++) fprintf(f, " %02x", m->hdr[i]);
    fputc('\n', f);
}

static void deliver(struct loop_msg *m)
{
    give(m);
    record(m);
    struct loop_msg **place = &old[n_old++ % OLD];
    free(*place);
    *place = m;
}

static void put_number(struct loop_msg *m, size_t at, size_t size, uint64_t v)
{
    uint8_t bytes[8];
    memcpy(bytes, &v, sizeof bytes);
    for (size_t i = 0; i < size; i++, at++) {
        if (at < WIRE_HDR_BYTES)
            m->hdr[at] = bytes[i];
        else if (at - WIRE_HDR_BYTES < m->len)
            m->payload[at - WIRE_HDR_BYTES] = bytes[i];
    }
}

/* One of its fields is another number, or bytes are flipped; or it is longer or shorter than it was, or of another kind or wire. */
static struct loop_msg *changed(struct input *in, const struct loop_msg *m)
{
    unsigned how = in_byte(in);
    size_t len = m->len;
    if ((how & 7) == 6) len = (size_t)in_below(in, 4096);
    struct loop_msg *c = loop_new(m->is_far, m->kind, m->hdr, NULL, 0);
    c = gw_xrealloc(c, sizeof *c + len);
    memset(c->payload, 0, len);
    memcpy(c->payload, m->payload, len < m->len ? len : m->len);
    c->len = (uint32_t)len;
    size_t at = (size_t)in_below(in, 52);
    switch (how & 7) {
    case 0: put_number(c, at & ~(size_t)7, 8, (uint64_t)in_number(in)); break;
    case 1: put_number(c, at & ~(size_t)3, 4, (uint64_t)in_number(in)); break;
    case 2: put_number(c, at, 1, in_byte(in)); break;
    case 3: c->kind = (uint8_t)in_byte(in); break;
    case 4: c->kind = (uint8_t)(1 + in_byte(in) % PROTO_PUT); break;
    case 5: c->is_far = !c->is_far; break;
    case 6: break;
    default:
        put_number(c, at & ~(size_t)7, 8, (uint64_t)(1 + in_byte(in) / 8) << 32 | (in_byte(in) & 7));
        break; /* a cookie, perhaps */
    }
    is_forged = true;
    return c;
}

static void made_up(struct input *in)
{
    uint8_t hdr[WIRE_HDR_BYTES], payload[64];
    uint8_t kind = (uint8_t)in_byte(in);
    size_t len = (size_t)in_below(in, sizeof payload + 1);
    if (kind < 200) kind %= PROTO_PUT + 1;
    for (size_t i = 0; i < sizeof hdr; i++) hdr[i] = (uint8_t)in_byte(in);
    for (size_t i = 0; i < len; i++) payload[i] = (uint8_t)in_byte(in);
    struct loop_msg *m = loop_new(in_byte(in) & 1, kind, hdr, payload, len);
    is_forged = true;
    give(m);
    free(m);
}

static void network(struct input *in, unsigned what)
{
    struct loop_msg *m, *c;
    switch (what) {
    default:
        if ((m = loop_take())) deliver(m);
        return;
    case 1: /* and the true one afterwards */
        if (!(m = loop_take())) return;
        c = changed(in, m);
        give(c);
        free(c);
        deliver(m);
        return;
    case 2:
        if (!(m = loop_take())) return;
        c = changed(in, m);
        give(c);
        free(c);
        free(m);
        return;
    case 3:
        if (!n_old) return;
        m = old[in_byte(in) % (unsigned)(n_old < OLD ? n_old : OLD)];
        is_forged = true;
        if (in_byte(in) & 1) {
            c = changed(in, m);
            give(c);
            free(c);
        } else {
            give(m);
        }
        return;
    case 4: made_up(in); return;
    case 5:
        if (!(m = loop_take())) return;
        is_forged = true; /* it is lost */
        free(m);
    }
}

/* ---- an input ---- */
static void everything_arrives(void)
{
    enum { IDLE = 3, ROUNDS = 4000 };
    for (int i = 0, idle = 0; i < ROUNDS && idle < IDLE; i++) {
        struct loop_msg *m = loop_take();
        if (m) deliver(m);
        idle = req_progress() || m ? 0 : idle + 1;
    }
}

/* No receive will be posted any more, or it will after all.  Messages that nobody received are gone then. */
static void leave(void)
{
    is_forged = true;
    proto_leave(lane, !loop_lane()->is_leaving);
}

static void check_one(struct trip *t)
{
    if (!t->recv) {
        struct proto_addr a = addr_of(t->peer, t->tag);
        FUZZ_CHECK(proto_recv(&a, AS_DATA(t->to, t->room, t->is_probed ? every_other : gw_type_byte), &t->recv) == GW_POSTED);
    }
    everything_arrives();
    FUZZ_CHECK(req_is_done(t->recv) && req_is_done(t->send));
    check_done(t);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    rooms_boot();
    node_others_most = 64;
    req_init();
    patterns_make();
    atexit(count_say);
    FUZZ_CHECK(type_resized(gw_type_byte, 0, 2, &every_other) == GW_OK);
    gw_set.help_min = 8000;
    gw_set.help_piece = 4096;
    gw_set.cma_min = 3000;
    gw_set.cma_sure = 10000;
    gw_set.net_chunk = 4096;
    gw_set.net_get_max = 10000;
    gw_set.get_piece = 4096;
    return 0;
}

static void up(struct input *in)
{
    unsigned how = in_byte(in);
    const struct loop_ways ways = {
        .get = how & 1, .put = how & 2, .direct = how & 4, .room = how & 8 ? 4 : LOOP_ROOM, .later = how & 128};
    const int protos[] = {GW_SET_PROTO_AUTO, GW_SET_PROTO_R0, GW_SET_PROTO_R1, GW_SET_PROTO_E1};
    gw_set.proto = protos[how >> 4 & 3];
    gw_checking = how >> 6 & 1;
    gw_set.unexpected_max = how & 128 ? 4096 : 64 << 10;
    lanes_up(&ways);
}

static void down(void)
{
    for (int i = 0; i < n_trips; i++) {
        struct proto_recv *r = (struct proto_recv *)trips[i].recv;
        if (r && !req_is_done(&r->req) && r->state == RECV_POSTED) proto_cancel(&r->req);
    }
    for (int i = 0; i < OLD; i++) free(old[i]), old[i] = NULL;
    lanes_down();
    for (int i = 0; i < n_trips; i++) trip_end(&trips[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = in_open(data, size);
    n_trips = n_old = 0;
    is_forged = false;
    up(&in);
    for (int step = 0; step < STEPS && in_more(&in); step++) {
        unsigned what = in_byte(&in);
        switch (what & 15) {
        case 0:
        case 1: send_one(&in); break;
        case 2:
        case 3: receive_one(&in); break;
        case 4:
            if (what >> 4 == 15) leave();
            req_progress();
            break;
        case 5: cancel_one(&in); break;
        case 6:
            if (what >> 4 == 15) loop_memory_gone(NULL); /* copies are refused from now on */
            everything_arrives();
            break;
        default: network(&in, (what & 15) - 7);
        }
    }
    everything_arrives();
    for (int i = 0; i < n_trips && !is_forged; i++) check_one(&trips[i]);
    down();
    return 0;
}
