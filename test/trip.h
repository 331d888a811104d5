/* trip.h -- messages of proto on their way from a process to itself over the wires of wire_sim/loop.h, each forwarded by the test; and the
 * same with one thing wrong, which must be dropped and counted, and change nothing.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_TRIP_H
#define GW_TEST_TRIP_H

#include "loop_rooms.h"

#include <stdio.h>

#include "base/base.h"
#include "base/count.h"
#include "base/settings.h"
#include "data.h"
#include "unit.h"

enum { LONG = 40000, SHARED = 1 << 20, EDGE = 64 };

/* A message on its way from `peer` to itself. */
struct trip {
    int peer;
    int64_t len;
    char *from, *room, *to; /* `to` lies within `room`, EDGE bytes from both ends */
    struct gw_req *send, *recv;
};

static inline uint64_t refused(void) { return atomic_load(&gw_count.messages_refused); }
static inline char pattern(int64_t i) { return (char)(i * 7 + i / 251); }

static inline void trip_begin(struct trip *t, int peer, int64_t len, enum proto_mode mode)
{
    struct proto_addr a = addr_of(peer, 3);
    *t = (struct trip){.peer = peer, .len = len, .from = malloc((size_t)len + 1), .room = malloc((size_t)len + 2 * EDGE)};
    t->to = t->room + EDGE;
    memset(t->room, -1, (size_t)len + 2 * EDGE);
    for (int64_t i = 0; i < len; i++) t->from[i] = pattern(i);
    loop_memory(t->from, (size_t)len);
    loop_memory(t->to, (size_t)len);
    CHECK_EQ(proto_send(&a, AS_DATA(t->from, len, gw_type_byte), mode, &t->send), GW_POSTED);
}

static inline void trip_receive(struct trip *t)
{
    struct proto_addr a = addr_of(t->peer, 3);
    CHECK_EQ(proto_recv(&a, AS_DATA(t->to, t->len, gw_type_byte), &t->recv), GW_POSTED);
}

static inline bool is_untouched(const struct trip *t)
{
    for (int64_t i = 0; i < t->len + 2 * EDGE; i++)
        if (t->room[i] != (char)-1) return false;
    return !req_is_done(t->recv) && !req_is_done(t->send);
}

/* The next message, which is of this kind. */
static inline struct loop_msg *next(enum proto_kind kind)
{
    for (int i = 0; i < 4 && !loop_waiting(); i++) req_progress();
    struct loop_msg *m = loop_take();
    CHECK(m != NULL);
    if (!m) exit(1);
    CHECK_EQ(m->kind, kind);
    return m;
}

static inline void pass(enum proto_kind kind)
{
    struct loop_msg *m = next(kind);
    loop_deliver(m);
    free(m);
}

/* As the message, but for one thing; then nothing happens but that it is counted. */
static inline void wrong_bytes(int line, const struct loop_msg *m, size_t at, const void *value, size_t size)
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
static inline void wrong_u64(int line, const struct loop_msg *m, size_t at, uint64_t value)
{
    wrong_bytes(line, m, at, &value, sizeof value);
}
static inline void wrong_i32(int line, const struct loop_msg *m, size_t at, int32_t value)
{
    wrong_bytes(line, m, at, &value, sizeof value);
}
#define WRONG64(m, at, value) wrong_u64(__LINE__, m, at, (uint64_t)(value))
#define WRONG32(m, at, value) wrong_i32(__LINE__, m, at, value)
enum { IN_PAYLOAD = WIRE_HDR_BYTES, TO = 0, VALUE = 8, SRC = 4, TAG = 8, WORLD = 12 };

static inline void wrong_kind(const struct loop_msg *m, uint8_t kind, size_t len, bool is_far)
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
static inline void wrong_cookies(const struct loop_msg *m)
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

static inline void wrong_lengths(const struct loop_msg *m)
{
    const size_t lengths[] = {0, 1, m->len - 1, (size_t)m->len + 1, 3000, MSG_DATA_MAX + 9};
    for (size_t i = 0; i < GW_ARRAY_LEN(lengths); i++)
        if (lengths[i] != m->len) wrong_kind(m, m->kind, lengths[i], m->is_far);
}

/* Delivers it, twice. */
static inline void pass_once(struct loop_msg *m)
{
    loop_deliver(m);
    uint64_t before = refused();
    loop_deliver(m);
    CHECK_EQ(refused(), before + 1);
    free(m);
}

static inline void trip_end(struct trip *t)
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
        is_right = is_right && t->room[i] == (char)(i < EDGE || i >= t->len + EDGE ? -1 : pattern(i - EDGE));
    CHECK(is_right);
    free(t->from);
    free(t->room);
}

static inline void up(int proto, const struct loop_ways *ways)
{
    gw_set.proto = proto;
    rooms_up(ways);
}
static inline void down(void)
{
    CHECK_EQ(loop_waiting(), 0);
    CHECK_EQ(proto_posted(), 0);
    CHECK(proto_drained(lane));
    rooms_down();
}

#endif
