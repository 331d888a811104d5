/* peer_fast.h -- the inlined hot path: a short message to a peer.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PEER_PEER_FAST_H
#define GW_PEER_PEER_FAST_H

#include "peer/peer.h"
#include "base/base.h"
#include "wire/wire_ring.h"

/* Sends header and payload (len <= caps.pack_max) to a READY peer.  GW_OK (copied), GW_AGAIN or an error.  The lane's lock is held. */
static inline int peer_short(const struct gw_peer *p, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    assert(p->ep);
    struct wire_line *l = likely(len <= WIRE_LINE_BYTES) ? wire_ring_line(p->ep) : NULL;
    if (likely(l)) {
        uint32_t number = wire_ring_claim(p->ep);
        memcpy(l->hdr, hdr, WIRE_HDR_BYTES);
        wire_ring_copy(l->data, payload, len);
        wire_ring_commit(p->ep, l, number, kind, len);
        return GW_OK;
    }
    return p->ep->ops->send_short(p->ep, kind, hdr, payload, len);
}

#endif
