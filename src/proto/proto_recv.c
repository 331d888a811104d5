/* proto_recv.c -- receives and probes: offers them to match/ and acts on the answer; keeps messages that came too early.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"
#include "base/copy.h"
#include "base/event.h"
#include "base/lock.h"
#include "base/settings.h"
#include "base/time.h"

#include <stdlib.h>

/* ---- messages that nobody waits for yet ----------------------------------------------------------------- */

struct proto_upcalls proto_upcalls;

GW_COLD int proto_msg_world(uint32_t ctx, int src, int world)
{
    return world == PROTO_WORLD_UNKNOWN && proto_upcalls.member ? proto_upcalls.member(ctx, src) : world;
}

/* GODWIT_CHECK: the sender's note of a message; NULL: it sent none. */
static inline struct note **msg_note(struct proto_msg *m)
{
    return (struct note **)(void *)(m->data + gw_align_up(m->bytes, sizeof(struct note *)));
}

static inline size_t block_bytes(size_t data_len, bool has_note)
{
    size_t bytes = offsetof(struct proto_msg, data) + data_len;
    if (unlikely(has_note)) bytes = gw_align_up(bytes, sizeof(struct note *)) + sizeof(struct note *);
    return gw_align_up(bytes, GW_ARENA_UNIT);
}

int64_t proto_msg_len(const struct proto_msg *m)
{
    struct proto_rts rts;
    if (m->kind != PROTO_RTS) return (int64_t)m->bytes - (m->kind == PROTO_EAGER_SYNC ? PROTO_SYNC_PREFIX : 0);
    memcpy(&rts, m->data, sizeof rts);
    return rts.len;
}

uint64_t proto_msg_cookie(const struct proto_msg *m)
{
    uint64_t cookie;
    assert(m->kind != PROTO_EAGER);
    memcpy(&cookie, m->data, sizeof cookie); /* both begin with it */
    return cookie;
}

struct proto_msg *proto_msg_keep(struct proto_lane *pl, enum proto_kind kind, const struct proto_hdr *h, int64_t len,
                                 size_t data_len)
{
    if (unlikely(pl->tags.n_any)) proto_tags_other_arrived(pl, h);
    assert(data_len <= MSG_DATA_MAX + PROTO_SYNC_PREFIX);
    size_t block = block_bytes(data_len, gw_checking);
    struct proto_msg *m = gw_arena_take(&pl->arena, block);
    m->m.ctx = h->ctx;
    m->m.src = h->src;
    m->m.tag = h->tag;
    m->world = h->world;
    m->bytes = (uint32_t)data_len;
    m->kind = (uint8_t)kind;
    m->lane = (uint8_t)pl->lane->index;
    m->has_note = gw_checking;
    m->ahead = AHEAD_NOT;
    if (unlikely(gw_checking)) *msg_note(m) = proto_note_keep(pl);
    if (!match_has_messages(pl->fast.q)) match_msgs_behind(pl->fast.q, pl->arena.base);
    match_add(pl->fast.q, &m->m);
    pl->unexpected_bytes += (int64_t)block;
    gw_counted(&gw_count.unexpected_arrivals, 1);
    gw_counted(&gw_count.unexpected_copied, kind == PROTO_RTS ? 0 : len);
    gw_level_add(GW_LEVEL_UNEXPECTED_MESSAGES, 1);
    gw_level_add(GW_LEVEL_UNEXPECTED_BYTES, len);
    if (gw_event_wanted(GW_EVENT_UNEXPECTED) && !(h->ctx & PROTO_STREAM_MASK))
        gw_event_raise(GW_EVENT_UNEXPECTED, false, proto_msg_world(h->ctx, h->src, h->world), h->tag,
                       h->ctx / (PROTO_STREAM_MASK + 1), len);
    if (unlikely(pl->unexpected_bytes > pl->room) && !pl->has_xoff) proto_flow_set(pl, true);
    if (unlikely(pl->has_xoff) && kind != PROTO_RTS) proto_flow_notify(pl, proto_msg_world(h->ctx, h->src, h->world));
    return m;
}

void proto_msg_drop(struct proto_lane *pl, struct proto_msg *m)
{
    size_t block = block_bytes(m->bytes, m->has_note);
    pl->unexpected_bytes -= (int64_t)block;
    assert(pl->unexpected_bytes >= 0);
    gw_level_add(GW_LEVEL_UNEXPECTED_MESSAGES, -1);
    gw_level_add(GW_LEVEL_UNEXPECTED_BYTES, -proto_msg_len(m));
    if (unlikely(m->has_note)) free(*msg_note(m));
    if (unlikely(pl->has_xoff) && pl->unexpected_bytes < pl->room / 2) proto_flow_set(pl, false);
    gw_arena_give(&pl->arena, m, block);
}

/* The receive gets this message, which has left the queue. */
static void msg_consume(struct proto_lane *pl, struct proto_recv *r, struct proto_msg *m)
{
    if (unlikely(m->has_note)) proto_note_compare(*msg_note(m), r, m->m.src, m->m.tag, proto_msg_len(m));
    if (m->ahead) {
        proto_ahead_consume(pl, r, m);
        return;
    }
    if (m->kind == PROTO_RTS) {
        struct proto_rts rts;
        int src = m->m.src, tag = m->m.tag, world = m->world;
        memcpy(&rts, m->data, sizeof rts);
        proto_msg_drop(pl, m);
        proto_rndv_start(pl, r, src, tag, &rts, world, true);
        return;
    }
    size_t prefix = m->kind == PROTO_EAGER_SYNC ? PROTO_SYNC_PREFIX : 0;
    if (prefix) proto_ctl_send(pl, peer_get(pl->lane, m->world), PROTO_ACK, (struct proto_ctl){proto_msg_cookie(m), 0}, NULL, 0);
    proto_eager_deliver(r, m->m.src, m->m.tag, m->data + prefix, proto_msg_len(m));
    proto_msg_drop(pl, m);
}

/* ---- receives ------------------------------------------------------------------------------------------------ */

static inline void recv_post(struct proto_lane *pl, struct proto_recv *r, const struct proto_addr *a)
{
    r->m.ctx = a->ctx;
    r->m.src = a->rank;
    r->m.tag = a->tag;
    match_number(pl->fast.q, &r->m);
    if (unlikely(gw_set.match_mode != GW_SET_MATCH_MODE_SOFTWARE) && proto_tag_recv(pl, r, a)) return;
    struct match_msg *m = match_post(pl->fast.q, &r->m);
    if (unlikely(m)) msg_consume(pl, r, container_of(m, struct proto_msg, m));
}

void proto_recv_offer(struct proto_lane *pl, struct proto_recv *r)
{
    r->state = RECV_POSTED;
    struct match_msg *m = match_post(pl->fast.q, &r->m);
    if (m) msg_consume(pl, r, container_of(m, struct proto_msg, m));
}

bool proto_recv_find(struct proto_lane *pl, struct proto_recv *r)
{
    struct match_msg *m = match_probe(pl->fast.q, r->m.ctx, r->m.src, r->m.tag, true);
    if (m) msg_consume(pl, r, container_of(m, struct proto_msg, m));
    return m != NULL;
}

int proto_recv(const struct proto_addr *a, const struct gw_data *d, struct gw_req **req_out)
{
    struct gw_req *req = req_new(a->lane, REQ_RECV);
    if (unlikely(!req)) return GW_ENOMEM;
    struct proto_recv *r = (struct proto_recv *)req;
    req->errctx = a->errctx;
    proto_recv_set(r, *d);
    *req_out = req;
    recv_post(lane_of(a->lane), r, a);
    return GW_POSTED;
}

bool proto_is_posted(const struct gw_req *r) { return !req_is_done(r) && ((const struct proto_recv *)r)->state == RECV_POSTED; }

int proto_recv_into(const struct proto_addr *a, const struct gw_data *d, struct gw_req *req)
{
    struct proto_recv *r = (struct proto_recv *)req;
    req->obj.id = 0;
    atomic_store_explicit(&req->done, 0, memory_order_relaxed);
    req->kind = REQ_RECV;
    req->lane = (uint8_t)a->lane->index;
    req->flags = REQ_STATIC | REQ_ACTIVE;
    req->err = GW_OK;
    req->final = NULL;
    req->notify = NULL;
    req->errctx = a->errctx;
    proto_recv_set(r, *d);
    recv_post(lane_of(a->lane), r, a);
    return GW_POSTED;
}

/* Is this all of a message for us? */
static inline bool is_for(const struct wire_line *l, const struct proto_addr *a, int64_t cap)
{
    const struct proto_hdr *h = (const struct proto_hdr *)l->hdr;
    uint32_t len = l->len_kind >> 8;
    return (uint8_t)l->len_kind == PROTO_EAGER && h->ctx == a->ctx && h->src == a->rank &&
        (h->tag == a->tag || a->tag == GW_ANY_TAG) && len <= cap;
}

enum { LOOKS_BESIDE_NET = 128 };

bool proto_recv_direct(const struct proto_addr *a, void *buf, int64_t count, struct gw_type *t, struct gw_status *status)
{
    struct proto_lane *pl = lane_of(a->lane);
    if (!match_is_empty(pl->fast.q) || pl->is_hooked || !t->is_dense || lanes_used() > 1 || !a->lane->rings) return false;
    if (a->rank == GW_ANY_SOURCE) return false; /* rings would not take turns */
    if (unlikely(a->lane->n_nets) && (!a->peer->ep || !a->peer->ep->lines)) return false;
    int64_t cap = count * t->size;
    /* Where there is a network, it waits for us meanwhile. */
    for (uint32_t looks = a->lane->n_nets ? LOOKS_BESIDE_NET : node_spin(); looks > 0; looks--) {
        struct wire_rx *rx;
        const struct wire_line *l = wire_ring_look(a->lane->rings, &rx);
        if (likely(!l)) {
            gw_cpu_relax();
            continue;
        }
        if (unlikely(!is_for(l, a, cap))) return false;
        const struct proto_hdr *h = (const struct proto_hdr *)l->hdr;
        uint32_t len = l->len_kind >> 8;
        if (status) gw_status_fill(status, h->src, h->tag, len, false);
        if (likely(len <= WIRE_LINE_BYTES)) {
            wire_ring_copy((uint8_t *)gw_data_at(buf, t), l->data, len);
            wire_ring_taken(a->lane->rings, rx);
        } else {
            gw_copy(gw_data_at(buf, t), wire_ring_payload(a->lane->rings, rx, l, len), len);
            wire_ring_taken_long(a->lane->rings, rx);
        }
        return true;
    }
    return false;
}

/* ---- probes ---------------------------------------------------------------------------------------------- */

static struct proto_msg *probe(const struct proto_addr *a, bool take, struct gw_status *status)
{
    if (unlikely(lane_of(a->lane)->tags.state == TAGS_NET)) proto_tags_look_inside(lane_of(a->lane), a);
    struct match_msg *found = match_probe(lane_of(a->lane)->fast.q, a->ctx, a->rank, a->tag, take);
    if (!found) return NULL;
    struct proto_msg *m = container_of(found, struct proto_msg, m);
    if (status) gw_status_fill(status, m->m.src, m->m.tag, proto_msg_len(m), false);
    return m;
}

bool proto_iprobe(const struct proto_addr *a, struct gw_status *status) { return probe(a, false, status) != NULL; }

struct proto_msg *proto_improbe(const struct proto_addr *a, struct gw_status *status) { return probe(a, true, status); }

int proto_mrecv(struct gw_lane *lane, struct proto_msg *m, const struct gw_data *d, const void *errctx, struct gw_req **req_out)
{
    struct gw_req *req = req_new(lane, REQ_RECV);
    if (!req) return GW_ENOMEM;
    struct proto_recv *r = (struct proto_recv *)req;
    req->errctx = errctx;
    proto_recv_set(r, *d);
    r->state = RECV_GETTING; /* never posted */
    r->m.src = m->m.src;
    *req_out = req;
    msg_consume(lane_of(lane), r, m);
    return GW_POSTED;
}

struct gw_lane *proto_msg_lane(struct proto_msg *m) { return &gw_lanes[m->lane]; }
