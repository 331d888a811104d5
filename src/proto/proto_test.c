/* proto_test.c -- crowds of messages of all lengths and modes over wires with room for few: every byte comes, in order, by the way that
 * its length asks for, whatever is refused meanwhile.  Both ends of a message are this process (wire_sim/loop.h).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/loop_rooms.h"

#include <stdio.h>

#include "base/base.h"
#include "base/settings.h"
#include "data.h"
#include "unit.h"

enum { MESSAGES = 24, TAGS = 3, EDGE = 16 };
static uint64_t state;
static int rnd(int n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int)((state >> 11) % (uint64_t)n);
}

struct letter {
    int tag;
    int64_t len, room; /* room: of the receive */
    enum proto_mode mode;
    char *from, *at; /* `at`: EDGE bytes, room, EDGE bytes */
    struct gw_req *send, *recv;
    bool is_sent, is_posted;
};
static struct letter letters[MESSAGES];

static char pattern(const struct letter *l, int64_t i) { return (char)(i * 7 + i / 251 + (l - letters) * 31); }

static void letter_new(struct letter *l, const int64_t *lengths, int n)
{
    *l = (struct letter){.tag = rnd(TAGS), .len = lengths[rnd(n)], .mode = (enum proto_mode)rnd(3)};
    l->room = rnd(6) == 0 && l->len > 0 ? l->len - 1 : l->len + rnd(3);
    l->from = malloc((size_t)l->len + 1);
    l->at = malloc((size_t)l->room + 2 * EDGE);
    memset(l->at, -1, (size_t)l->room + 2 * EDGE);
    for (int64_t i = 0; i < l->len; i++) l->from[i] = pattern(l, i);
    loop_memory(l->from, (size_t)l->len + 1);
    loop_memory(l->at + EDGE, (size_t)l->room + 1);
}

/* Message k of a tag goes to receive k of that tag. */
static void letter_end(struct letter *l)
{
    struct gw_status st = {0};
    int64_t came = l->len < l->room ? l->len : l->room;
    bool is_right = true;
    CHECK_EQ(req_wait(&l->recv, &st), l->len > l->room ? GW_ETRUNCATE : GW_OK);
    CHECK_EQ(req_wait(&l->send, NULL), GW_OK);
    CHECK(st.tag == l->tag && (l->len > l->room || gw_status_bytes(&st) == came));
    for (int64_t i = 0; i < l->room + 2 * EDGE; i++) {
        int64_t k = i - EDGE;
        bool is_edge = k < 0 || k >= came;
        is_right = is_right && (l->len > l->room && !is_edge ? true : l->at[i] == (is_edge ? -1 : pattern(l, k)));
    }
    CHECK(is_right);
    free(l->from);
    free(l->at);
}

static const char *broken(void)
{
    const char *what = proto_broken(loop_lane());
    return what ? what : "";
}

static void pump(int n)
{
    while (n-- > 0) {
        struct loop_msg *m = loop_take();
        if (m) loop_deliver(m);
        free(m);
        req_progress();
        CHECK_STR(broken(), "");
    }
}

static void crowd(uint64_t seed, int peer, const struct loop_ways *ways, int proto, const int64_t *lengths, int n)
{
    int sent = 0, posted = 0, over = 0;
    state = seed * 0x9e3779b97f4a7c15u + 1;
    gw_set.proto = proto;
    rooms_up(ways);
    for (int i = 0; i < MESSAGES; i++) letter_new(&letters[i], lengths, n);
    while (sent < MESSAGES || posted < MESSAGES) {
        bool sends = sent < MESSAGES && (posted == MESSAGES || rnd(2));
        struct letter *l = &letters[sends ? sent++ : posted++];
        struct proto_addr a = addr_of(peer, l->tag);
        int rc = sends ? proto_send(&a, AS_DATA(l->from, l->len, gw_type_byte), l->mode, &l->send)
                       : proto_recv(&a, AS_DATA(l->at + EDGE, l->room, gw_type_byte), &l->recv);
        CHECK(rc == GW_POSTED || (sends && rc == GW_OK));
        CHECK(loop_waiting() <= (int)ways->room);
        pump(rnd(4));
    }
    for (int round = 0; round < 200000 && over < MESSAGES; round++) {
        pump(1);
        over = 0;
        for (int i = 0; i < MESSAGES; i++) over += req_is_done(letters[i].send) && req_is_done(letters[i].recv);
    }
    CHECK_EQ(over, MESSAGES);
    if (over < MESSAGES) exit(1);
    for (int i = 0; i < MESSAGES; i++) letter_end(&letters[i]);
    pump(16);
    CHECK(proto_drained(lane) && proto_posted() == 0 && loop_waiting() == 0);
    CHECK_EQ(loop_lane()->unexpected_bytes, 0);
    rooms_down();
}

/* What was counted by path: one message of each length. */
static void paths(int peer, const struct loop_ways *ways, int64_t len, enum proto_path want)
{
    struct proto_tally t;
    struct gw_req *s = NULL, *r = NULL;
    char *from = calloc(1, (size_t)len + 1), *to = malloc((size_t)len + 1);
    gw_set.proto = GW_SET_PROTO_AUTO;
    rooms_up(ways);
    loop_memory(from, (size_t)len + 1), loop_memory(to, (size_t)len + 1);
    for (int64_t i = 0; i < len; i++) from[i] = (char)i;
    struct proto_addr a = addr_of(peer, 0);
    CHECK(proto_recv(&a, AS_DATA(to, len, gw_type_byte), &r) == GW_POSTED);
    CHECK(proto_send(&a, AS_DATA(from, len, gw_type_byte), PROTO_STANDARD, &s) >= 0);
    for (int i = 0; i < 100000 && !(req_is_done(s) && req_is_done(r)); i++) pump(1);
    CHECK(req_wait(&s, NULL) == GW_OK && req_wait(&r, NULL) == GW_OK && memcmp(from, to, (size_t)len) == 0);
    proto_sent_to(peer, &t);
    for (int p = 0; p < PROTO_PATHS; p++) {
        if (t.messages[p] == (uint64_t)(p == (int)want) && t.bytes[p] == (p == (int)want ? (uint64_t)len : 0)) continue;
        unit_failures++;
        fprintf(stderr, "peer %d, %lld bytes: path %d has %d messages\n", peer, (long long)len, p, (int)t.messages[p]);
    }
    pump(16);
    rooms_down();
    free(from), free(to);
}

/* While a peer has a queue nothing overtakes: an eager message behind one that found no room waits, too. */
static void queued(int peer)
{
    const struct loop_ways ways = {.room = 1};
    struct gw_req *s[3] = {NULL};
    char byte[3] = {1, 2, 3}, to = 0;
    gw_set.proto = GW_SET_PROTO_AUTO;
    rooms_up(&ways);
    struct proto_addr a = addr_of(peer, 0);
    for (int i = 0; i < 3; i++) CHECK(proto_send(&a, AS_DATA(&byte[i], 1, gw_type_byte), PROTO_SYNC, &s[i]) == GW_POSTED);
    CHECK(loop_waiting() == 1 && !proto_drained(lane));
    struct loop_msg *held = loop_take(); /* there is room again, but the queue goes first */
    struct gw_req *late = NULL;
    CHECK(proto_send_try(&a, AS_DATA(&byte[0], 1, gw_type_byte)) == GW_AGAIN);
    loop_deliver(held);
    free(held);
    for (int i = 0; i < 3; i++) {
        CHECK(proto_recv(&a, AS_DATA(&to, 1, gw_type_byte), &late) == GW_POSTED);
        for (int k = 0; k < 100 && !(req_is_done(late) && req_is_done(s[i])); k++) pump(1);
        CHECK(req_wait(&late, NULL) == GW_OK && to == byte[i] && req_wait(&s[i], NULL) == GW_OK);
    }
    CHECK(proto_drained(lane));
    rooms_down();
}

/* A receive is given up whose message comes all the same: its send ends, nothing is written, and the next message is for the next receive. */
static void absorbed(int peer, int proto, int64_t len)
{
    const struct loop_ways ways = {.get = true, .room = LOOP_ROOM};
    struct gw_req *s[2], *r[2];
    struct gw_status st;
    char *from = calloc(2, (size_t)len), *to = calloc(2, (size_t)len);
    gw_set.proto = proto;
    rooms_up(&ways);
    loop_memory(from, 2 * (size_t)len), loop_memory(to, 2 * (size_t)len);
    memset(from, 1, (size_t)len), memset(from + len, 2, (size_t)len);
    struct proto_addr a = addr_of(peer, 0);
    CHECK(proto_recv(&a, AS_DATA(to, len, gw_type_byte), &r[0]) == GW_POSTED);
    proto_absorb(r[0]);
    proto_cancel(r[0]);
    CHECK(req_is_done(r[0]) && proto_posted() == 1);
    CHECK(proto_recv(&a, AS_DATA(to + len, len, gw_type_byte), &r[1]) == GW_POSTED);
    for (int i = 0; i < 2; i++) CHECK(proto_send(&a, AS_DATA(from + i * len, len, gw_type_byte), PROTO_SYNC, &s[i]) == GW_POSTED);
    for (int i = 0; i < 100000 && !(req_is_done(s[0]) && req_is_done(s[1]) && req_is_done(r[1])); i++) pump(1);
    CHECK(req_wait(&s[0], NULL) == GW_OK && req_wait(&s[1], NULL) == GW_OK && req_wait(&r[0], &st) == GW_OK && st.cancelled);
    CHECK(req_wait(&r[1], NULL) == GW_OK && memcmp(from + len, to + len, (size_t)len) == 0 && to[0] == 0 && to[len - 1] == 0);
    CHECK(proto_posted() == 0 && loop_lane()->unexpected_bytes == 0);
    proto_absorb(&gw_req_sent); /* none of what is over, */
    CHECK(proto_send(&a, AS_DATA(from, len, gw_type_byte), PROTO_SYNC, &s[0]) == GW_POSTED);
    proto_absorb(s[0]); /* nor of a send */
    CHECK(proto_posted() == 0 && proto_recv(&a, AS_DATA(to, len, gw_type_byte), &r[0]) == GW_POSTED);
    for (int i = 0; i < 100000 && !(req_is_done(s[0]) && req_is_done(r[0])); i++) pump(1);
    CHECK(req_wait(&s[0], NULL) == GW_OK && req_wait(&r[0], NULL) == GW_OK && memcmp(from, to, (size_t)len) == 0);
    pump(16);
    rooms_down();
    free(from), free(to);
}

/* proto_broken() finds what is not so: one sent and asked for, two behind it in a queue of the lane. */
static void faults(void)
{
    const struct loop_ways ways = {.room = 1};
    struct gw_req *s[3];
    char byte[3] = {0};
    rooms_up(&ways);
    struct proto_addr a = addr_of(LOOP_NEAR, 0);
    for (int i = 0; i < 3; i++) CHECK(proto_send(&a, AS_DATA(&byte[i], 1, gw_type_byte), PROTO_SYNC, &s[i]) == GW_POSTED);
    struct proto_lane *pl = loop_lane();
    struct proto_op *asked = ((struct proto_sreq *)s[0])->op, *waits = ((struct proto_sreq *)s[1])->op;
    CHECK(asked->state == OP_ASKED && waits->state == OP_QUEUED);
    CHECK_STR(broken(), "");
    waits->state = OP_ASKED;
    CHECK_STR(broken(), "a queue has the QUEUED operations of its peer");
    waits->state = OP_QUEUED, asked->state = OP_QUEUED;
    CHECK_STR(broken(), "an operation is in the list of its state");
    asked->state = OP_PIECES;
    CHECK_STR(broken(), "an operation is in the list of its state");
    asked->state = OP_COPIED;
    CHECK_STR(broken(), "");
    asked->state = OP_ASKED, asked->name ^= 1;
    CHECK_STR(broken(), "a cookie finds the operation that has it");
    asked->name ^= 1, asked->is_over = true;
    CHECK_STR(broken(), "an operation in a list is not over");
    asked->is_over = false, ((struct proto_sreq *)s[0])->op = waits;
    CHECK_STR(broken(), "a request and its operation know each other");
    ((struct proto_sreq *)s[0])->op = asked, pl->n_outs++;
    CHECK_STR(broken(), "the number of queues");
    pl->n_outs--, pl->lane->inline_end = 41;
    CHECK_STR(broken(), "nothing overtakes what is queued");
    pl->lane->inline_end = 0, pl->is_hooked = false;
    CHECK_STR(broken(), "a lane with work is polled");
    pl->is_hooked = true, pl->n_kept = 1;
    CHECK_STR(broken(), "kept messages are counted with their bytes");
    pl->n_kept = 0, pl->unexpected_bytes = -1;
    CHECK_STR(broken(), "nothing is counted down that was not counted");
    pl->unexpected_bytes = 0;
    for (int i = 0; i < 3; i++) {
        struct gw_req *r;
        char to;
        CHECK(proto_recv(&a, AS_DATA(&to, 1, gw_type_byte), &r) == GW_POSTED);
        for (int k = 0; k < 100 && !(req_is_done(r) && req_is_done(s[i])); k++) pump(1);
        CHECK(req_wait(&r, NULL) == GW_OK && req_wait(&s[i], NULL) == GW_OK);
    }
    rooms_down();
}

int main(void)
{
    static const int64_t near[] = {0, 1, 39, 40, 41, 2000, 2048, 2049, 12 << 10, (12 << 10) + 1, 40000};
    static const int64_t far[] = {0, 1, 63, 64, 65, 2900, 3000, 3001, 8000, 64 << 10, (64 << 10) + 1};
    static const int protos[] = {GW_SET_PROTO_AUTO, GW_SET_PROTO_R0, GW_SET_PROTO_R1};
    rooms_boot();
    gw_set.help_min = 256 << 10;
    for (uint64_t seed = 1; seed <= 24 && unit_failures < 5; seed++)
        for (size_t k = 0; k < GW_ARRAY_LEN(protos); k++) {
            struct loop_ways ways = {.room = 1 + seed % 5, .get = seed & 1, .put = seed & 2, .direct = seed & 4};
            crowd(seed, LOOP_NEAR, &ways, protos[k], near, GW_ARRAY_LEN(near));
            crowd(seed, LOOP_FAR, &ways, protos[k], far, GW_ARRAY_LEN(far));
        }
    const struct loop_ways all = {.get = true, .put = true, .room = LOOP_ROOM}, none = {.room = LOOP_ROOM};
    for (int64_t len = 0; len <= 40; len += 8) paths(LOOP_NEAR, &all, len, PROTO_E0);
    paths(LOOP_NEAR, &all, 41, PROTO_E1);
    const int64_t eager = gw_set.eager_max;
    gw_set.eager_max = 1000;
    paths(LOOP_NEAR, &all, 1000, PROTO_E1);
    paths(LOOP_NEAR, &all, 1001, PROTO_R1);
    gw_set.eager_max = eager;
    const int64_t least = gw_set.cma_min, sure = gw_set.cma_sure;
    paths(LOOP_NEAR, &all, least - 1, PROTO_R1);
    paths(LOOP_NEAR, &all, 2 * sure, PROTO_R0); /* twice: it may count as an exchange, as this rank sends, too */
    gw_set.cma_min = 5000, gw_set.cma_sure = 2500;
    paths(LOOP_NEAR, &all, 4999, PROTO_R1);
    paths(LOOP_NEAR, &all, 5000, PROTO_R0);
    gw_set.cma_min = least, gw_set.cma_sure = sure;
    paths(LOOP_FAR, &all, 1, PROTO_E0);
    paths(LOOP_FAR, &all, 2000, PROTO_E1);
    paths(LOOP_FAR, &all, 200000, PROTO_R0);
    paths(LOOP_FAR, &none, 200000, PROTO_R1);
    queued(LOOP_NEAR);
    queued(LOOP_FAR);
    for (size_t k = 0; k < GW_ARRAY_LEN(protos); k++)
        for (int64_t len = 4; len < 1 << 20; len *= 300) {
            absorbed(LOOP_NEAR, protos[k], len);
            absorbed(LOOP_FAR, protos[k], len);
        }
    faults();
    return unit_end();
}
