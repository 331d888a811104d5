/* proto_fast.h -- what is inlined into the callers: E0 of a standard send (one size test, one line of the ring), and posting a
 * receive that no message has come for yet.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PROTO_PROTO_FAST_H
#define GW_PROTO_PROTO_FAST_H

#include "peer/peer_fast.h"
#include "proto/proto.h"
#include "proto/proto_wire.h"

/* ---- receives ------------------------------------------------------------------------------------------------
 *   POSTED or AT_WIRE --arrival--> (eager: done) | GETTING (R0) | SHARED (R0 with the sender's help) | TAKING (R1) --> done
 *   GETTING --the wire refuses--> TAKING.  AT_WIRE: the network matches it (proto_tag.c); --> POSTED when we do. */
enum recv_state { RECV_POSTED = 1, RECV_AT_WIRE, RECV_GETTING, RECV_SHARED, RECV_TAKING };
struct proto_recv {
    struct gw_req req;
    struct match_recv m;
    char *ptr;                   /* the buffer if it is one run of bytes, else NULL */
    int64_t cap;                 /* bytes that fit */
    void *buf;
    int64_t count;
    struct gw_type *type;        /* held unless predefined */
    void *at_wire;               /* AT_WIRE: proto_tag.c's */
    struct type_cursor *cursor;  /* rendezvous into a buffer of several runs */
    int64_t len, want, got;      /* of the message; to be moved; moved */
    uint64_t addr, key, cookie, job;
    uint64_t name;               /* SHARED, TAKING: what the sender calls it by */
    struct gw_list work;         /* in proto_lane.getting or .sharing */
    struct gw_done done;         /* of a get that the wire does later; afterwards of the error's text */
    int32_t world;
    uint8_t state;
    bool wire_busy;              /* a get is on its way; TAKING: the wire puts the data there by itself */
    bool is_huge;                /* the sender's memory is on huge pages */
    char type_name[25];          /* for the error's text, when the type may be gone */
};
_Static_assert(sizeof(struct proto_recv) <= GW_REQ_BYTES, "a receive fits a request of the pool");
_Static_assert(offsetof(struct proto_recv, req) == 0, "the request is its first member");

/* The begin of struct proto_lane. */
struct proto_fast {
    struct match_queue *q;
    int64_t inline_max; /* a dense message of up to so many bytes may go at once; -1 while something is queued before it, or on other wires */
};

static inline bool proto_is_run(const struct gw_type *t, int64_t count)
{
    return t->is_dense || (count == 1 && t->is_single) || count == 0;
}
static inline void proto_type_hold(struct gw_type *t) { if (unlikely(!t->obj.predefined)) type_hold(t); }
/* Where the data of one run of bytes begins; buf may be NULL where there is none. */
static inline char *proto_run_at(const void *buf, const struct gw_type *t)
{
    return (char *)((uintptr_t)buf + (uintptr_t)t->true_lb);
}

/* True: sent, and over.  False: nothing happened, proto_send() knows what to do.  The lane's lock is held. */
static inline bool proto_send_inline(struct gw_lane *lane, struct gw_peer *p, uint32_t ctx, int my_rank, int tag, const void *buf,
                                     int64_t count, const struct gw_type *t)
{
    struct proto_fast *f = lane->proto;
    int64_t len = count * t->size;
    if (unlikely(!t->is_dense) || unlikely(len > f->inline_max)) return false;
    struct shm_line *l = peer_shm_line(p);
    if (unlikely(!l) || unlikely(atomic_load_explicit(&p->ep->door->choked, memory_order_relaxed))) return false;
    struct proto_hdr *h = (struct proto_hdr *)l->hdr;
    int32_t as = p->ep->as; /* read before anything is written: the compiler then knows p->ep still */
    h->ctx = ctx;
    h->src = my_rank;
    h->tag = tag;
    h->world = as;
    peer_copy_inline(l->data, proto_run_at(buf, t), (size_t)len);
    p->sent++;
    p->sent_bytes += (uint64_t)len;
    peer_line_commit(p, l, PROTO_EAGER, (size_t)len);
    return true;
}


static inline void proto_recv_describe(struct proto_recv *r, void *buf, int64_t count, struct gw_type *t)
{
    r->ptr = proto_is_run(t, count) ? proto_run_at(buf, t) : NULL;
    r->cap = count * t->size;
    r->buf = buf;
    r->count = count;
    r->type = t;
    r->len = 0;
    r->cursor = NULL;
    r->state = RECV_POSTED;
    proto_type_hold(t);
}

/* NULL: nothing happened, proto_recv() knows what to do.  The lane's lock is held. */
static inline struct gw_req *proto_recv_inline(struct gw_lane *lane, uint32_t ctx, int src, int tag, const void *errctx, void *buf,
                                               int64_t count, struct gw_type *t)
{
    struct proto_fast *f = lane->proto;
    if (unlikely(!t->is_dense) || unlikely(match_has_messages(f->q))) return NULL;
    struct gw_req *req = req_take(lane, REQ_RECV);
    if (unlikely(!req)) return NULL;
    struct proto_recv *r = (struct proto_recv *)req;
    req->errctx = errctx;
    r->m.ctx = ctx;
    r->m.src = src;
    r->m.tag = tag;
    proto_recv_describe(r, buf, count, t);
    match_post(f->q, &r->m);
    return req;
}

#endif
