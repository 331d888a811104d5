/* p2p_fast.h -- small standard sends and plain receives inlined into their entry points.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_P2P_P2P_FAST_H
#define GW_P2P_P2P_FAST_H

#include "p2p/p2p.h"
#include "proto/proto_fast.h"

/* True: it is sent, and that was all.  Threads, who need the lane's lock, GODWIT_CHECK, and PROC_NULL take the other way: p2p_send(). */
static inline bool p2p_send_inline(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c)
{
    if (unlikely(dst < 0) || unlikely(gw_careful)) return false;
    return proto_send_inline(c->lane, comm_peer(c, dst), c->ctx, c->rank, tag, buf, count, t);
}

static inline bool p2p_isend_inline(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c,
                                    struct gw_req **req_out)
{
    *req_out = &gw_req_sent;
    return p2p_send_inline(buf, count, t, dst, tag, c);
}

/* True: it is posted. */
static inline bool p2p_irecv_inline(void *buf, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c,
                                    struct gw_req **req_out)
{
    if (unlikely(src == GW_PROC_NULL) || unlikely(gw_careful)) return false;
    *req_out = proto_recv_inline(c->lane, c->ctx, src, tag, (const void *)(uintptr_t)c->obj.id, buf, count, t);
    return likely(*req_out != NULL);
}

#endif
