/* p2p_fast.h -- small standard sends and plain receives inlined into their entry points.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_P2P_P2P_FAST_H
#define GW_P2P_P2P_FAST_H

#include "p2p/p2p.h"
#include "base/base.h"
#include "base/lock.h"
#include "proto/proto_fast.h"

static inline bool p2p_is_rank(int rank, const struct gw_comm *c) { return (unsigned)rank < (unsigned)c->targets; }

/* A peer of a communicator whose world ranks are not consecutive.  The compiler forgets what it has read of the communicator: in a register that
 * a function has to save it would cost those two instructions that do not come here. */
static inline struct gw_peer *p2p_mapped(struct gw_comm *c, int rank)
{
    __asm__("" : "+r"(c));
    return peer_get(c->lane, group_world(comm_target_group(c), rank));
}

/* True: sent and complete.  False: nothing was done, call p2p_send(): with MPI_THREAD_MULTIPLE (the lane's lock is needed), GODWIT_CHECK,
 * MPI_PROC_NULL, wrong arguments, or when the message cannot be sent inline. */
GW_INLINE bool p2p_send_inline(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c)
{
    uint64_t len;
    if (unlikely(!proto_is_short(c->lane, count, t, &len))) return false;
    if (unlikely(!p2p_is_rank(dst, c)) || unlikely(tag < 0) || unlikely(gw_slow_path)) return false;
    struct wire_ep *ep = likely(c->peers != NULL) ? c->peers[dst].ep : p2p_mapped(c, dst)->ep;
    struct wire_line *l = proto_send_line(ep);
    if (unlikely(!l)) return false;
    proto_send_inline(ep, l, c->ctx, c->rank, tag, buf, len);
    return true;
}

GW_INLINE bool p2p_isend_inline(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c,
                                struct gw_req **req_out)
{
    *req_out = &gw_req_sent;
    return p2p_send_inline(buf, count, t, dst, tag, c);
}

/* True: posted.  False: nothing was done, call p2p_irecv(). */
GW_INLINE bool p2p_irecv_inline(void *buf, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c,
                                struct gw_req **req_out)
{
    bool is_source = likely(p2p_is_rank(src, c)) || (src == GW_ANY_SOURCE && !(c->hints & COMM_NO_ANY_SOURCE));
    bool is_tag = likely(tag >= 0) || (tag == GW_ANY_TAG && !(c->hints & COMM_NO_ANY_TAG));
    if (unlikely(!is_source) || unlikely(!is_tag) || unlikely(gw_slow_path)) return false;
    struct match_queue *q;
    struct proto_recv *r = proto_recv_take(c->lane, count, t, &q);
    if (unlikely(!r)) return false;
    struct proto_addr a = {.ctx = c->ctx, .rank = src, .tag = tag, .errctx = (const void *)(uintptr_t)c->obj.id};
    proto_recv_inline(q, r, &a, buf, count, t);
    *req_out = &r->req;
    return true;
}

#endif
