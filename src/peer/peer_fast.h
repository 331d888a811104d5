/* peer_fast.h -- the one inlined hot path: a short message into a peer's ring.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PEER_PEER_FAST_H
#define GW_PEER_PEER_FAST_H

#include "peer/peer.h"

/* Sends header and payload (len <= caps.pack_max).  GW_OK (copied), GW_AGAIN or an error.  The lane's lock is held. */
static inline int peer_short(struct gw_lane *lane, struct gw_peer *p, uint8_t kind, const void *hdr, const void *payload,
                             size_t len)
{
    struct wire_ep *ep = p->ep;
    if (unlikely(!ep)) {
        int rc = peer_connect(lane, p);
        if (rc != GW_OK) return rc;
        ep = p->ep;
    }
    if (likely(p->ops == &shm_ops) && likely(len <= SHM_INLINE) && likely(ep->exclusive) && likely(ep->tail != ep->limit)) {
        struct shm_line *l = &ep->lines[ep->tail & ep->mask];
        l->len_kind = (uint32_t)len << 8 | kind;
        memcpy(l->hdr, hdr, WIRE_HDR_BYTES);
        if (len) memcpy(l->data, payload, len);
        ep->tail++;
        /* [S1] pairs with the acquire in shm_progress: the line is whole before its number. */
        atomic_store_explicit(&l->seq, ep->tail, memory_order_release);
        node_ring(ep->local_rank);
        return GW_OK;
    }
    return p->ops->send_short(ep, kind, hdr, payload, len);
}

#endif
