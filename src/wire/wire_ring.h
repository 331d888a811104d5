/* wire_ring.h -- the ring of lines: an optional capability of a wire whose peers share memory; both ends are inlined.
 *
 * A ring is a FIFO of 64-byte slots ("lines"), a power of two of them, in memory that both processes map, read by one process (the
 * owner).  A message of up to WIRE_LINE_BYTES is one line: sequence number, kind, length, 16 header bytes, payload.  So exactly one
 * cache line moves between the cores.
 *
 *     line i of lap n is valid when its seq == n * nlines + i + 1  [release by the sender, acquire by the owner]
 *
 * SENDER   wire_ring_line() returns the next line if it is known to be free.  The caller claims it, fills header and payload, then calls
 *          wire_ring_commit(), before anything else is sent to that peer.  NULL is no error: use send_short(), which also refreshes the
 *          limit from the owner's read position.  A ring that several processes write is not used by these functions (tail == limit).
 *          While the owner is xoff, send_short() raises no limit: who has used up his lines sends nothing more without asking for it.
 * OWNER    wire_ring_look() returns the first line that has arrived in any ring.  The caller consumes it, with wire_ring_taken() after
 *          its last read of the line, or leaves it to progress(), which sees the same state.  A longer payload lies in one piece in the
 *          ring's bytes: wire_ring_payload(), and then wire_ring_taken_long().
 *
 * The wire owns the memory and decides how long a message may be, how read positions are published, and which peer uses which ring.
 * Both ends hold the lane's lock.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_WIRE_RING_H
#define GW_WIRE_WIRE_RING_H

#include "node/node.h"
#include "wire/wire.h"

#define WIRE_LINE_BYTES 40
#define WIRE_RINGS      17 /* at most, of one lane */

struct wire_line {
    _Atomic uint32_t seq;
    uint32_t len_kind; /* payload bytes << 8 | kind */
    uint8_t hdr[WIRE_HDR_BYTES];
    union {
        uint8_t data[WIRE_LINE_BYTES];
        uint64_t offset; /* of a payload that is longer: its position in the ring's bytes */
    };
} GW_ALIGNED(GW_CACHELINE);
_Static_assert(sizeof(struct wire_line) == GW_CACHELINE, "a short message is one cache line");

/* The owner's view of one ring, and of all of them.  Positions count up for ever, modulo 2^32; their low bits are places. */
struct wire_rx {
    struct wire_line *lines;
    uint32_t head, published;             /* lines consumed; and how many of them the senders know of */
    uint32_t bytes_head, bytes_published; /* the same of bytes */
    const char *bytes;
};
struct wire_rings {
    int n;
    uint32_t nlines, nbytes;                          /* of each ring */
    void (*publish)(struct wire_rings *rings, int i); /* publishes the read position of ring i, which frees lines for its senders */
    struct wire_rx rx[WIRE_RINGS];
};

/* ---- the sender ---- */
static inline struct wire_line *wire_ring_line(const struct wire_ep *ep)
{
    if (unlikely(ep->tail == ep->limit)) return NULL;
    struct wire_line *l = &ep->lines[ep->tail & ep->mask];
    if (!l) __builtin_unreachable();
    return l;
}

/* Copies n <= WIRE_LINE_BYTES bytes into a line. */
static inline void wire_ring_copy(uint8_t *to, const void *from, size_t n)
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

/* Takes the line that wire_ring_line() returned: its number.  Before it is written to, while the position is still in a register. */
static inline uint32_t wire_ring_claim(struct wire_ep *ep) { return ++ep->tail; }

static inline void wire_ring_commit(const struct wire_ep *ep, struct wire_line *l, uint32_t number, uint8_t kind, size_t len)
{
    l->len_kind = (uint32_t)len << 8 | kind;
    /* [S1] pairs with the acquire in shm_progress and wire_ring_look: the line is whole before its number. */
    atomic_store_explicit(&l->seq, number, memory_order_release);
    node_ring_door(ep->door);
}

/* ---- the owner ---- */
static inline const struct wire_line *wire_ring_look(struct wire_rings *rings, struct wire_rx **rx_out)
{
    for (int i = 0; i < rings->n; i++) {
        struct wire_rx *rx = &rings->rx[i];
        const struct wire_line *l = &rx->lines[rx->head & (rings->nlines - 1)];
        *rx_out = rx;
        /* Acquire: pairs with [S1], [S3] and [S4]. */
        if (atomic_load_explicit(&l->seq, memory_order_acquire) == rx->head + 1) return l;
    }
    return NULL;
}
/* The payload of a line that has arrived.  Once a line: the position of the ring's bytes moves behind it. */
static inline const void *wire_ring_payload(const struct wire_rings *rings, struct wire_rx *rx, const struct wire_line *l,
                                            size_t len)
{
    if (len <= WIRE_LINE_BYTES) return l->data;
    uint32_t start = (uint32_t)l->offset;
    rx->bytes_head = start + (uint32_t)gw_align_up(len, GW_CACHELINE);
    return rx->bytes + (start & (rings->nbytes - 1));
}
static inline void wire_ring_taken_long(struct wire_rings *rings, struct wire_rx *rx)
{
    rx->head++;
    assert(rx->head - rx->published <= rings->nlines);
    bool is_due = rx->head - rx->published >= rings->nlines / 4 || rx->bytes_head - rx->bytes_published >= rings->nbytes / 4;
    if (unlikely(is_due)) rings->publish(rings, (int)(rx - rings->rx));
}
/* Of a line that held its payload. */
static inline void wire_ring_taken(struct wire_rings *rings, struct wire_rx *rx)
{
    rx->head++;
    if (unlikely(rx->head - rx->published >= rings->nlines / 4)) rings->publish(rings, (int)(rx - rings->rx));
}

#endif
