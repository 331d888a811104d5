/* peer_fast.h -- the inlined hot paths: a short message into a peer's ring, and out of ours.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PEER_PEER_FAST_H
#define GW_PEER_PEER_FAST_H

#include "peer/peer.h"

/* Up to SHM_INLINE bytes. */
static inline void peer_copy_inline(uint8_t *to, const void *from, size_t n)
{
    const char *p = from;
    uint64_t last, v;
    if (likely(n == 8)) {
        memcpy(&v, p, 8), memcpy(to, &v, 8);
    } else if (likely(n > 8)) { /* words from the front; the last eight bytes may overlap them */
        memcpy(&last, p + n - 8, 8);
        memcpy(&v, p, 8), memcpy(to, &v, 8);
        if (n > 16) memcpy(&v, p + 8, 8), memcpy(to + 8, &v, 8);
        if (n > 24) memcpy(&v, p + 16, 8), memcpy(to + 16, &v, 8);
        if (n > 32) memcpy(&v, p + 24, 8), memcpy(to + 24, &v, 8);
        memcpy(to + n - 8, &last, 8);
    } else {
        for (size_t i = 0; i < n; i++) to[i] = (uint8_t)p[i];
    }
}

/* The next line of our exclusive ring to a peer, if there is room: the caller fills header and data and then commits. */
static inline struct shm_line *peer_shm_line(const struct wire_ep *ep)
{
    if (unlikely(ep->tail == ep->limit)) return NULL;
    struct shm_line *l = &ep->lines[ep->tail & ep->mask];
    if (!l) __builtin_unreachable();
    return l;
}
static inline struct shm_line *peer_line(const struct gw_peer *p)
{
    return likely(p->ops == &shm_ops) && likely(p->ep) ? peer_shm_line(p->ep) : NULL;
}
static inline void peer_line_commit(struct wire_ep *ep, struct shm_line *l, uint8_t kind, size_t len)
{
    uint32_t number = ++ep->tail;
    l->len_kind = (uint32_t)len << 8 | kind;
    /* [S1] pairs with the acquire in shm_progress and peer_look: the line is whole before its number. */
    atomic_store_explicit(&l->seq, number, memory_order_release);
    node_ring_door(ep->door);
}

/* The first line that is there for us in any ring, and its ring; NULL: none.  The caller takes it, or leaves it to peer_progress(). */
static inline const struct shm_line *peer_look(struct gw_lane *lane, struct shm_rx **rx_out)
{
    struct shm_in *in = shm_in_of(lane->wire);
    for (int i = 0; i < in->n; i++) {
        struct shm_rx *rx = &in->rx[i];
        const struct shm_line *l = &rx->lines[rx->head & (in->nlines - 1)];
        *rx_out = rx;
        /* Acquire: pairs with [S1], [S3] and [S4]. */
        if (atomic_load_explicit(&l->seq, memory_order_acquire) == rx->head + 1) return l;
    }
    return NULL;
}
static inline void peer_taken(struct gw_lane *lane, struct shm_rx *rx)
{
    rx->head++;
    if (unlikely(rx->head - rx->published >= shm_in_of(lane->wire)->nlines / 4)) shm_publish(rx);
}

/* Sends header and payload (len <= caps.pack_max).  GW_OK (copied), GW_AGAIN or an error.  The lane's lock is held. */
static inline int peer_short(struct gw_lane *lane, struct gw_peer *p, uint8_t kind, const void *hdr, const void *payload,
                             size_t len)
{
    struct shm_line *l = likely(len <= SHM_INLINE) ? peer_line(p) : NULL;
    if (likely(l)) {
        memcpy(l->hdr, hdr, WIRE_HDR_BYTES);
        peer_copy_inline(l->data, payload, len);
        peer_line_commit(p->ep, l, kind, len);
        return GW_OK;
    }
    if (unlikely(!p->ep)) {
        int rc = peer_connect(lane, p);
        if (rc != GW_OK) return rc;
    }
    return p->ops->send_short(p->ep, kind, hdr, payload, len);
}

#endif
