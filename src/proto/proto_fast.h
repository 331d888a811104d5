/* proto_fast.h -- the fast path, inlined into callers: a standard send by E0 (one size test, one line of the ring), and posting a
 * receive for which there is no unexpected message.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PROTO_PROTO_FAST_H
#define GW_PROTO_PROTO_FAST_H

#include "base/base.h"
#include "base/count.h"
#include "base/list.h"
#include "match/match_fast.h"
#include "peer/peer_fast.h"
#include "proto/proto.h"
#include "proto/proto_wire.h"

/* ---- receives ------------------------------------------------------------------------------------------------
 *   POSTED or AT_WIRE --match--> (eager: done) | GETTING (R0) | SHARED (R0, sender and receiver copy) | TAKING (R1) --> done
 *   GETTING --the wire refuses--> TAKING.  AT_WIRE: posted to a network that matches (proto_tag.c); --> POSTED when matching moves here. */
enum recv_state { RECV_POSTED = 1, RECV_AT_WIRE, RECV_GETTING, RECV_SHARED, RECV_TAKING };
struct proto_recv {
    struct gw_req req;
    struct match_recv m;
    int32_t world; /* the sender's number */
    /* These and the kind of memory are set by one store. */
    int16_t state;              /* enum recv_state */
    bool wire_busy;             /* a get is pending; TAKING: the wire writes the data by itself; SHARED: a piece was requested */
    bool is_huge;               /* the sender's memory is on huge pages */
    struct gw_data data;        /* the buffer; type: held unless predefined */
    void *at_wire;              /* AT_WIRE: proto_tag.c's */
    struct type_cursor *cursor; /* rendezvous into a buffer of several runs */
    int64_t len, want, got;     /* bytes of the message; to be moved; moved (SHARED: end of the piece requested from the sender) */
    uint64_t addr, key, cookie, job; /* the sender's; addr: after a fault, the address that cannot be accessed */
    uint64_t name;                   /* SHARED, TAKING: our cookie, by which the sender refers to this receive */
    struct gw_list work;             /* in proto_lane.getting or .sharing */
    struct gw_done done;             /* completion of a wire get that was posted; later: writes the text of an error */
    char type_name[24];              /* for the text of an error, when the type may be gone */
};
_Static_assert(sizeof(struct proto_recv) <= GW_REQ_BYTES, "a receive fits a request of the pool");
_Static_assert(offsetof(struct proto_recv, req) == 0, "the request is its first member");

/* First member of struct proto_lane. */
struct proto_fast {
    struct match_queue *q;
};

static inline void proto_type_hold(struct gw_type *t)
{
    if (unlikely(!t->obj.predefined)) type_hold(t);
}

/* Whether `count` items of `t` may be sent inline, and their size in bytes.  Any 32-bit count is allowed: a negative one is a size above the
 * limit. */
GW_INLINE bool proto_is_short(const struct gw_lane *lane, int64_t count, const struct gw_type *t, uint64_t *len_out)
{
    *len_out = (uint64_t)count * (uint64_t)t->size;
    return likely(t->is_plain) && likely(*len_out < lane->inline_end);
}

/* The line in which a message can be sent inline to a peer by its endpoint.  NULL: nothing was done, call proto_send().  The lane's lock is
 * held.  It does not look whether the peer is xoff: its ring does (wire_ring.h). */
GW_INLINE struct wire_line *proto_send_line(const struct wire_ep *ep) { return unlikely(!ep) ? NULL : wire_ring_line(ep); }

/* Second half: writes and commits the line, before anything else is sent to p.  The send is complete. */
GW_INLINE void proto_send_inline(struct wire_ep *ep, struct wire_line *l, uint32_t ctx, int my_rank, int tag, const void *buf,
                                 uint64_t len)
{
    struct proto_hdr *h = (struct proto_hdr *)l->hdr;
    int32_t as = ep->as; /* read before anything is written */
    uint32_t number = wire_ring_claim(ep);
    h->ctx = ctx;
    h->src = my_rank;
    h->tag = tag;
    h->world = as;
    wire_ring_copy(l->data, buf, len);
    ep->sent++;
    ep->sent_bytes += len;
    wire_ring_commit(ep, l, number, PROTO_EAGER, len);
}

static inline void proto_recv_set(struct proto_recv *r, struct gw_data d)
{
    r->state = RECV_POSTED;
    r->wire_busy = r->is_huge = false;
    r->data = d;
    proto_type_hold(d.type);
}

/* A request for a receive, if the lane has no unexpected message, and the queue to post it to.  NULL: nothing was done, call
 * proto_recv().  The lane's lock is held. */
GW_INLINE struct proto_recv *proto_recv_take(struct gw_lane *lane, int64_t count, const struct gw_type *t,
                                             struct match_queue **q_out)
{
    struct match_queue *q = *q_out = ((struct proto_fast *)lane->proto)->q;
    if (unlikely(count < 0) || unlikely(!t->is_plain) || unlikely(match_has_messages(q))) return NULL;
    return (struct proto_recv *)req_take(lane, REQ_RECV);
}

/* Second half: posts the receive.  Of the address it takes ctx, rank, tag and errctx. */
GW_INLINE void proto_recv_inline(struct match_queue *q, struct proto_recv *r, const struct proto_addr *a, void *buf, int64_t count,
                                 struct gw_type *t)
{
    r->req.errctx = a->errctx;
    proto_recv_set(r, gw_data_plain(buf, count, t));
    match_post_inline(q, &r->m, a->ctx, a->rank, a->tag);
}

#endif
