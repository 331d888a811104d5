/* shm.c -- rings in the node segment: connect, send, progress.
 *
 * A rank's area holds, per lane, one box: rings[0] is the shared ring, the others are exclusive.  Zeroed memory is a valid
 * box of empty rings, so a rank may be sent to before it has started.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_shm/shm_private.h"

#include <stdlib.h>

/* ---- geometry: the same on every rank of the node ------------------------------------------------------------------ */
static struct shm_shape shape_of(int nlocal)
{
    struct shm_shape s = {.nexcl = nlocal < SHM_NEXCL ? nlocal : SHM_NEXCL, .nlines = 256};
    s.data_size = nlocal <= 8 ? 128 << 10 : 32 << 10;
    s.pack_max = s.data_size / 4;
    s.ring_bytes = s.nlines * (uint64_t)sizeof(struct shm_line) + s.data_size;
    s.box_bytes = gw_align_up(sizeof(struct shm_box), 4096) + (uint64_t)(1 + s.nexcl) * s.ring_bytes;
    return s;
}

uint64_t shm_area_bytes(int nlocal, int nlanes) { return shape_of(nlocal).box_bytes * (uint64_t)nlanes; }

static struct shm_box *box_of(const struct wire *w, int local_rank)
{
    return (struct shm_box *)((char *)node_area(local_rank) + (uint64_t)w->lane * w->shape.box_bytes);
}
static struct shm_line *ring_lines(const struct wire *w, struct shm_box *box, int ring)
{
    return (struct shm_line *)((char *)box + gw_align_up(sizeof *box, 4096) + (uint64_t)ring * w->shape.ring_bytes);
}

/* ---- open and connect ------------------------------------------------------------------------------------------------ */
static void rx_add(struct wire *w, int ring)
{
    struct shm_box *box = box_of(w, gw_node.me);
    struct shm_rx *rx = &w->in.rx[w->in.n++];
    memset(rx, 0, sizeof *rx);
    rx->lines = ring_lines(w, box, ring);
    rx->data = (char *)(rx->lines + w->shape.nlines);
    rx->ring = &box->rings[ring];
}

static int shm_open_wire(int lane, wire_recv_fn recv, void *ctx, struct wire **wire_out)
{
    struct wire *w = calloc(1, sizeof *w);
    if (w) w->eps = calloc((size_t)gw_node.nlocal, sizeof *w->eps);
    if (!w || !w->eps) {
        free(w);
        return gw_fail(GW_ENOMEM, "no memory for the shared-memory wire");
    }
    w->lane = lane;
    w->recv = recv;
    w->ctx = ctx;
    w->shape = shape_of(gw_node.nlocal);
    w->in.nlines = w->shape.nlines;
    rx_add(w, 0);
    if (lane == 0) cma_publish(box_of(w, gw_node.me));
    GW_EXPLAIN(GW_LOG_WIRE, "lane %d: shared memory for the %d ranks of this node, packets to %llu bytes, %d rings of one sender",
               lane, gw_node.nlocal, (unsigned long long)w->shape.pack_max, w->shape.nexcl);
    *wire_out = w;
    return GW_OK;
}

static void shm_close(struct wire *w)
{
    free(w->eps);
    free(w);
}

/* The number of an exclusive ring (from 1) that is ours from now on; 0: all are taken. */
static int ring_claim(const struct wire *w, struct shm_box *box)
{
    for (int k = 0; k < w->shape.nexcl; k++) {
        int i = (gw_node.me + k) % w->shape.nexcl;
        uint32_t is_free = 0;
        if (atomic_load_explicit(&box->claims[i], memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong_explicit(&box->claims[i], &is_free, (uint32_t)gw_node.me + 1,
                                                    memory_order_relaxed, memory_order_relaxed))
            return i + 1;
    }
    return 0;
}

static void ep_set_ring(const struct wire *w, struct wire_ep *ep, struct shm_box *box, int ring)
{
    ep->lines = ring_lines(w, box, ring);
    ep->data = (char *)(ep->lines + w->shape.nlines);
    ep->ring = &box->rings[ring];
    ep->mask = w->shape.nlines - 1;
    ep->data_size = w->shape.data_size;
    ep->tail = ep->data_tail = ep->data_read = 0;
    ep->exclusive = ring != 0;
    ep->limit = ep->exclusive ? w->shape.nlines : 0;
}

static int shm_connect(struct wire *w, int world_rank, struct wire_ep **ep_out)
{
    int local = boot_local_rank(world_rank);
    if (local < 0)
        return gw_fail(GW_ERANK, "world rank %d is on another node; this version has no network wire", world_rank);
    struct wire_ep *ep = &w->eps[local];
    struct shm_box *box = box_of(w, local);
    if (!ep->lines) { /* first try: through the shared ring, until an exclusive one is announced */
        ep->local_rank = local;
        ep->door = &gw_node.doors[local];
        ep_set_ring(w, ep, box, 0);
    }
    if (!(w->claim_tried[local / 8] & 1 << local % 8)) {
        uint32_t hdr[WIRE_HDR_BYTES / 4] = {(uint32_t)ring_claim(w, box)};
        if (hdr[0]) {
            if (shm_send_shared(ep, SHM_KIND_CLAIM, hdr, NULL, 0) != GW_OK) {
                atomic_store_explicit(&box->claims[hdr[0] - 1], 0, memory_order_relaxed);
                return GW_AGAIN;
            }
            ep_set_ring(w, ep, box, (int)hdr[0]);
        }
        w->claim_tried[local / 8] |= (uint8_t)(1 << local % 8);
    }
    *ep_out = ep;
    return GW_OK;
}

/* ---- receive --------------------------------------------------------------------------------------------------------- */
void shm_publish(struct shm_rx *rx)
{
    rx->published = rx->head;
    rx->data_published = rx->data_head;
    /* [S2] pairs with the acquire in ring_room(): what lies before these positions has been read. */
    atomic_store_explicit(&rx->ring->read, (uint64_t)rx->data_head << 32 | rx->head, memory_order_release);
}

/* The payload of a line and where it ends in the byte buffer. */
static inline const void *rx_payload(const struct wire *w, struct shm_rx *rx, const struct shm_line *l, size_t len)
{
    if (len <= SHM_INLINE) return l->data;
    uint32_t start = (uint32_t)l->offset;
    rx->data_head = start + (uint32_t)gw_align_up(len, GW_CACHELINE);
    return rx->data + (start & (w->shape.data_size - 1));
}

/* The lines of one ring that are there, at most `most`. */
static int rx_drain(struct wire *w, int index, int most)
{
    int n = 0;
    struct shm_rx *rx = &w->in.rx[index];
    uint32_t mask = w->shape.nlines - 1;
    for (; n < most; n++) {
        struct shm_line *l = &rx->lines[rx->head & mask];
        /* Acquire: pairs with [S1], [S3] and [S4]: the line and its payload are whole. */
        if (atomic_load_explicit(&l->seq, memory_order_acquire) != rx->head + 1) break;
        size_t len = l->len_kind >> 8;
        uint8_t kind = (uint8_t)l->len_kind;
        const void *payload = rx_payload(w, rx, l, len);
        if (likely(kind != SHM_KIND_CLAIM)) {
            w->recv(w->ctx, w->lane, kind, l->hdr, payload, len);
        } else {
            uint32_t ring;
            memcpy(&ring, l->hdr, sizeof ring);
            rx_add(w, (int)ring);
        }
        rx->head++;
        if (unlikely(rx->head - rx->published >= w->shape.nlines / 4 ||
                     rx->data_head - rx->data_published >= w->shape.data_size / 4))
            shm_publish(rx);
    }
    return n;
}

int shm_progress(struct wire *w)
{
    enum { BATCH = 32 };
    int total = 0;
    uint32_t mask = w->shape.nlines - 1;
    for (int i = 0; i < w->in.n; i++) {
        struct shm_rx *rx = &w->in.rx[i];
        const struct shm_line *l = &rx->lines[rx->head & mask];
        if (atomic_load_explicit(&l->seq, memory_order_relaxed) == rx->head + 1)
            total += rx_drain(w, i, BATCH);
        else if (rx->head != rx->published)
            shm_publish(rx);
    }
    return total;
}

static void shm_caps(struct wire *w, struct wire_caps *caps_out)
{
    *caps_out = (struct wire_caps){.short_max = SHM_INLINE, .pack_max = w->shape.pack_max, .get = true, .put = true,
                                   .node = true, .alpha_us = 0.2, .beta_us_per_kib = 0.1};
}

const struct wire_ops shm_ops = {
    .size = sizeof(struct wire_ops), .name = "shm", .open = shm_open_wire, .connect = shm_connect, .send_short = shm_send_short,
    .send_pack = shm_send_pack, .get = shm_get, .put = shm_put, .progress = shm_progress, .caps = shm_caps, .close = shm_close,
};
