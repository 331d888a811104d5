/* shm_send.c -- sending: reserve room in the ring, fill it, commit it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_shm/shm_private.h"
#include "base/copy.h"
#include "base/count.h"

/* Room that was reserved: a line, and `start` in the byte buffer where the payload does not fit the line. */
struct room {
    uint32_t line, start;
};

/* Where `need` bytes in one piece begin at or behind `tail`: a piece does not run over the end of the buffer. */
static inline uint32_t piece_start(uint32_t tail, uint32_t need, uint32_t size)
{
    uint32_t place = tail & (size - 1);
    return place + need <= size ? tail : tail + (size - place);
}

static inline uint32_t bytes_needed(size_t len) { return len <= WIRE_LINE_BYTES ? 0 : (uint32_t)gw_align_up(len, GW_CACHELINE); }

/* How far the owner has read.  Acquire: pairs with [S2]; what we overwrite has been read. */
static inline uint64_t ring_room(struct shm_ring *r) { return atomic_load_explicit(&r->read, memory_order_acquire); }

/* How far the owner has read, and with it how many lines are free.  While the owner is xoff no more than the next one is shown to those who
 * write lines without asking. */
static void read_again(struct shm_ep *ep)
{
    uint64_t read = ring_room(ep->ring);
    ep->data_read = (uint32_t)(read >> 32);
    ep->base.limit = (uint32_t)read + ep->base.mask + 1;
    if (unlikely(gw_look(ep->base.xoff)) && ep->base.limit != ep->base.tail) ep->base.limit = ep->base.tail + 1;
}

static inline bool reserve_exclusive(struct shm_ep *ep, uint32_t need, struct room *out)
{
    out->line = ep->base.tail;
    out->start = need ? piece_start(ep->data_tail, need, ep->data_size) : ep->data_tail;
    bool line_ok = ep->base.tail != ep->base.limit, data_ok = out->start + need - ep->data_read <= ep->data_size;
    if (unlikely(!line_ok || !data_ok)) {
        read_again(ep);
        if (ep->base.tail == ep->base.limit || out->start + need - ep->data_read > ep->data_size) return false;
    }
    ep->base.tail++;
    ep->data_tail = out->start + need;
    return true;
}

static bool reserve_shared(struct shm_ep *ep, uint32_t need, struct room *out)
{
    uint64_t tail = atomic_load_explicit(&ep->ring->tail, memory_order_relaxed), next;
    do {
        uint64_t read = ring_room(ep->ring);
        out->line = (uint32_t)tail;
        out->start = (uint32_t)(tail >> 32);
        if (need) out->start = piece_start(out->start, need, ep->data_size);
        if (out->line - (uint32_t)read > ep->base.mask) return false;
        if (out->start + need - (uint32_t)(read >> 32) > ep->data_size) return false;
        next = (uint64_t)(out->start + need) << 32 | (uint32_t)(out->line + 1);
    } while (!atomic_compare_exchange_weak_explicit(&ep->ring->tail, &tail, next, memory_order_relaxed, memory_order_relaxed));
    return true;
}

static inline bool reserve(struct shm_ep *ep, uint32_t need, struct room *out)
{
    return likely(ep->exclusive) ? reserve_exclusive(ep, need, out) : reserve_shared(ep, need, out);
}

static inline struct wire_line *line_of(struct shm_ep *ep, const struct room *r)
{
    return &ep->base.lines[r->line & ep->base.mask];
}

/* Where the payload goes. */
static inline void *payload_at(struct shm_ep *ep, const struct room *r, size_t len)
{
    return len <= WIRE_LINE_BYTES ? (void *)line_of(ep, r)->data : ep->data + (r->start & (ep->data_size - 1));
}

/* The rest of the line, behind a payload that lies elsewhere: the owner looks at the line all the time, and would take it away between
 * two writes that are far apart. */
static inline void commit(struct shm_ep *ep, const struct room *r, uint8_t kind, const void *hdr, size_t len)
{
    struct wire_line *l = line_of(ep, r);
    l->len_kind = (uint32_t)len << 8 | kind;
    memcpy(l->hdr, hdr, WIRE_HDR_BYTES);
    if (len > WIRE_LINE_BYTES) l->offset = r->start;
    /* [S3] pairs with the acquire in rx_drain(): line and payload are whole before the number. */
    atomic_store_explicit(&l->seq, r->line + 1, memory_order_release);
    node_ring_door(ep->base.door);
}

int shm_send_short(struct wire_ep *base, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    struct shm_ep *ep = shm_ep_of(base);
    struct room r;
    assert(len <= ep->data_size / 4);
    if (!reserve(ep, bytes_needed(len), &r)) return GW_AGAIN;
    if (len) gw_copy_out(payload_at(ep, &r, len), payload, len);
    commit(ep, &r, kind, hdr, len);
    return GW_OK;
}

int shm_send_pack(struct wire_ep *base, uint8_t kind, const void *hdr, struct type_cursor *c, size_t len)
{
    struct shm_ep *ep = shm_ep_of(base);
    struct room r;
    assert(len <= ep->data_size / 4);
    if (!reserve(ep, bytes_needed(len), &r)) return GW_AGAIN;
    int64_t packed = type_cursor_pack(c, payload_at(ep, &r, len), (int64_t)len);
    assert(packed == (int64_t)len);
    (void)packed;
    commit(ep, &r, kind, hdr, len);
    return GW_OK;
}

int shm_send_shared(struct wire_ep *ep, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    assert(!shm_ep_of(ep)->exclusive);
    return shm_send_short(ep, kind, hdr, payload, len);
}
