/* keep_test.c -- messages for which a receiver has no room: the sender keeps them (proto_keep.c), they are fetched many at a time
 * (proto_ahead.c), and either side may leave meanwhile.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/trip.h"

#include <pthread.h>
#include <stdatomic.h>

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
    CHECK_EQ(proto_recv(&a, AS_DATA(t[2].to, AHEAD_LEN - 4, gw_type_byte), &t[2].recv), GW_POSTED);
    struct gw_status s;
    struct proto_msg *m = proto_improbe(&a, &s);
    CHECK(m && proto_mrecv(lane, m, AS_DATA(t[3].to, t[3].len, gw_type_byte), NULL, &t[3].recv) == GW_POSTED);
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

/* A receiver says that it has no room, and that it has, whenever it likes: none of its senders then waits for a receive. */
struct flicker {
    _Atomic uint32_t *xoff;
    atomic_bool is_over;
    atomic_int changes;
};
static void *flicker(void *arg)
{
    struct flicker *f = arg;
    while (!atomic_load_explicit(&f->is_over, memory_order_relaxed)) {
        atomic_fetch_xor_explicit(f->xoff, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&f->changes, 1, memory_order_relaxed);
    }
    return NULL;
}

static void all_pass(void)
{
    req_progress();
    for (struct loop_msg *m; (m = loop_take());) {
        loop_deliver(m);
        free(m);
    }
}

static void changing(int peer)
{
    enum { CHANGES = 3000000 };
    const struct loop_ways ways = {.room = LOOP_ROOM};
    struct gw_req *s = NULL, *r = NULL;
    pthread_t thread;
    int from = 0, to = -1, n = 0;
    up(GW_SET_PROTO_AUTO, &ways);
    struct gw_peer *p = peer_get(lane, peer);
    struct proto_addr a = addr_of(peer, 0);
    CHECK_EQ(peer_connect(lane, p), GW_OK);
    struct flicker f = {.xoff = (_Atomic uint32_t *)(uintptr_t)p->ep->xoff};
    CHECK_EQ(pthread_create(&thread, NULL, flicker, &f), 0);
    for (; atomic_load(&f.changes) < CHANGES; n++) {
        from = n;
        if (proto_send(&a, AS_DATA(&from, sizeof from, gw_type_byte), PROTO_STANDARD, &s) < 0 || !req_is_done(s)) break;
        from = -1;
        CHECK(proto_recv(&a, AS_DATA(&to, sizeof to, gw_type_byte), &r) == GW_POSTED);
        for (int i = 0; i < 1000 && !req_is_done(r); i++) all_pass();
        if (req_wait(&r, NULL) != GW_OK || req_wait(&s, NULL) != GW_OK || to != n) break;
    }
    bool is_right = atomic_load(&f.changes) >= CHANGES;
    atomic_store(&f.is_over, true);
    pthread_join(thread, NULL);
    CHECK(is_right);
    if (!is_right) exit(1); /* something is under way still */
    atomic_store(f.xoff, 0);
    for (int i = 0; i < 16; i++) all_pass();
    CHECK_EQ(loop_lane()->n_kept + loop_lane()->kept_bytes + loop_lane()->unexpected_bytes, 0);
    down();
}

int main(void)
{
    rooms_boot();
    for (int peer = LOOP_NEAR; peer <= LOOP_FAR; peer++) {
        kept(peer, false);
        kept(peer, true);
    }
    ahead();
    ahead_left();
    left_waiting();
    changing(LOOP_NEAR);
    changing(LOOP_FAR);
    return unit_end();
}
