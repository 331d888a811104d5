/* shm.c -- rings in the node segment: connect, send, progress.
 *
 * A rank's area of a lane holds one box: rings[0] is the shared ring, the others are exclusive.  Zeroed memory is a valid
 * box of empty rings, so a rank may be sent to before it has started.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_shm/shm_private.h"
#include "base/copy.h"
#include "base/hash.h"
#include "base/settings.h"
#include "boot/boot.h"
#include "boot/world.h"

#include <stdlib.h>

/* ---- geometry: the same on every rank of the node ------------------------------------------------------------------ */
/* Bytes of a ring.  The further the sender is ahead, the less do the two copy from and to lines that the other is at: windows of messages
 * of 4 to 12 KiB take a third less time with 512 KiB than with 128.  Only what is used becomes resident. */
static uint32_t data_size_of(int nlocal) { return (nlocal <= 4 ? 512 : nlocal <= 8 ? 256 : 128) << 10; }
static struct shm_shape shape_of(int nlocal)
{
    struct shm_shape s = {.nexcl = nlocal < SHM_NEXCL ? nlocal : SHM_NEXCL, .nlines = 256, .pack_max = 32 << 10};
    s.data_size = data_size_of(nlocal);
    s.ring_bytes = s.nlines * (uint64_t)sizeof(struct wire_line) + s.data_size;
    s.box_bytes = gw_align_up(sizeof(struct shm_box), 4096) + (uint64_t)(1 + s.nexcl) * s.ring_bytes;
    return s;
}

static uint64_t shm_area_bytes(int nlocal) { return shape_of(nlocal).box_bytes; }

static struct shm_box *my_box(const struct wire *w) { return node_area(gw_node.me, w->lane); }
static struct wire_line *ring_lines(const struct shm_shape *s, struct shm_box *box, int ring)
{
    return (struct wire_line *)((char *)box + gw_align_up(sizeof *box, 4096) + (uint64_t)ring * s->ring_bytes);
}

static struct shm_state {
    struct wire *wires[GW_MAX_LANES]; /* by lane; NULL: not open */
    int n_lanes;                      /* that have been opened */
} shm_state;

static void rx_publish(struct wire_rings *rings, int i)
{
    struct wire_rx *rx = &rings->rx[i];
    rx->published = rx->head;
    rx->bytes_published = rx->bytes_head;
    /* [S2] pairs with the acquire in ring_room(): what lies before these positions has been read. */
    atomic_store_explicit(&((struct wire *)rings)->rx[i]->read, (uint64_t)rx->bytes_head << 32 | rx->head, memory_order_release);
}

/* ---- open and connect ------------------------------------------------------------------------------------------------ */
static void rx_add(struct wire *w, int ring)
{
    struct shm_box *box = my_box(w);
    int i = w->in.n++;
    assert(i < WIRE_RINGS && ring >= 0 && ring <= w->shape.nexcl);
    struct wire_line *lines = ring_lines(&w->shape, box, ring);
    w->in.rx[i] = (struct wire_rx){.lines = lines, .bytes = (char *)(lines + w->shape.nlines)};
    w->rx[i] = &box->rings[ring];
}

static int shm_open_wire(int lane, wire_recv_fn recv, void *ctx, struct wire **wire_out)
{
    assert(lane >= 0 && lane < GW_MAX_LANES && !shm_state.wires[lane]);
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
    w->in.nbytes = w->shape.data_size;
    w->in.publish = rx_publish;
    rx_add(w, 0);
    if (lane == 0) shm_cma_publish(my_box(w));
    GW_EXPLAIN(GW_LOG_WIRE, "lane %d: shared memory for the %d ranks of this node, packets to %llu bytes, %d rings of one sender",
               lane, gw_node.nlocal, (unsigned long long)w->shape.pack_max, w->shape.nexcl);
    shm_state.wires[lane] = w;
    shm_state.n_lanes = lane + 1;
    *wire_out = w;
    return GW_OK;
}

static void shm_close(struct wire *w)
{
    shm_state.wires[w->lane] = NULL;
    if (w->lane == 0) gw_copy_explain();
    free(w->eps);
    free(w);
}

/* Claims an exclusive ring of the receiver: its number, from 1 on; 0: all are claimed. */
static int ring_claim(const struct shm_shape *s, struct shm_box *box, int32_t as)
{
    assert(as >= 0 && s->nexcl <= SHM_NEXCL);
    for (int k = 0; k < s->nexcl; k++) {
        int i = (as + k) % s->nexcl;
        uint32_t is_free = 0;
        /* Acquire: pairs with [S5] in rings_reclaim(): the ring's read position is visible. */
        if (atomic_load_explicit(&box->claims[i], memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong_explicit(&box->claims[i], &is_free, (uint32_t)as + 1, memory_order_acquire,
                                                    memory_order_relaxed))
            return i + 1;
    }
    return 0;
}

/* Starts sending through a ring.  An exclusive one continues at its owner's read position, since it may have had another sender. */
static void ep_set_ring(struct shm_ep *ep, const struct shm_shape *s, int ring)
{
    struct wire_ep *base = &ep->base;
    assert(ring >= 0 && ring <= s->nexcl && (s->nlines & (s->nlines - 1)) == 0 && (s->data_size & (s->data_size - 1)) == 0);
    base->lines = ring_lines(s, ep->box, ring);
    ep->data = (char *)(base->lines + s->nlines);
    ep->ring = &ep->box->rings[ring];
    base->mask = s->nlines - 1;
    ep->data_size = s->data_size;
    ep->exclusive = ring != 0;
    uint64_t read = ep->exclusive ? atomic_load_explicit(&ep->ring->read, memory_order_acquire) : 0;
    base->tail = (uint32_t)read;
    ep->data_tail = ep->data_read = (uint32_t)(read >> 32);
    base->limit = ep->exclusive ? base->tail + s->nlines : 0;
}

/* A hash of a home, not 0. */
static uint64_t home_key(const struct boot_home *home) { return gw_hash(GW_HASH_SEED, home, sizeof *home) | 1; }

/* The number that the owner of a box, a process of another world, has given this process; -1: it has not met our world yet. */
static int known_as(struct shm_box *first_box)
{
    struct boot_home own = boot_own_home();
    uint64_t me = home_key(&own);
    for (int i = 0; i < SHM_KNOWN; i++) {
        struct shm_known *k = &first_box->known[i];
        /* Acquire: pairs with [S6] in shm_meet(). */
        if (atomic_load_explicit(&k->home, memory_order_acquire) == me)
            return atomic_load_explicit(&k->first, memory_order_relaxed) + gw_boot.local_rank;
    }
    return -1;
}

/* Members that every endpoint has.  local: the peer's local rank in its world, whose doors are `doors`. */
static void ep_begin(struct shm_ep *ep, struct wire *w, int32_t as, int local, struct node_door *doors)
{
    ep->base.as = as;
    ep->base.place = local;
    ep->base.door = &doors[local];
    ep->base.xoff = &doors[local].xoff;
    ep->base.ops = &shm_ops;
    ep->base.wire = w;
}

/* Endpoint of a rank of another world; GW_AGAIN: it has not met our world yet. */
static int ep_of_other(struct wire *w, int number, struct shm_ep **ep_out, struct shm_shape *shape_out)
{
    struct node_other *o = node_other_find(number);
    if (!o) return gw_fail(GW_ERANK, "process %d belongs to a job that this one is not connected with", number);
    *shape_out = shape_of(o->n);
    if (!o->wire[w->lane]) o->wire[w->lane] = calloc((size_t)o->n, sizeof **ep_out);
    if (!o->wire[w->lane]) return gw_fail(GW_ENOMEM, "no memory for the way to another job");
    int local = number - o->first;
    struct shm_ep *ep = (struct shm_ep *)o->wire[w->lane] + local;
    if (!ep->base.lines) {
        int as = known_as(node_other_area(o, local, 0));
        if (as < 0) return GW_AGAIN;
        ep_begin(ep, w, as, local, o->doors);
        ep->other = o;
        ep->box = node_other_area(o, local, w->lane);
    }
    *ep_out = ep;
    return GW_OK;
}

static int ep_of_ours(struct wire *w, int world_rank, struct shm_ep **ep_out)
{
    int local = boot_local_rank(world_rank);
    if (local < 0) return gw_fail(GW_ERANK, "world rank %d is on another node, which shared memory does not reach", world_rank);
    struct shm_ep *ep = *ep_out = &w->eps[local];
    ep_begin(ep, w, gw_boot.rank, local, gw_node.doors);
    ep->base.node = true;
    ep->box = node_area(local, w->lane);
    return GW_OK;
}

static int shm_connect(struct wire *w, int number, struct wire_ep **ep_out)
{
    struct shm_shape shape = w->shape;
    struct shm_ep *ep = NULL;
    int rc = number < gw_boot.size ? ep_of_ours(w, number, &ep) : ep_of_other(w, number, &ep, &shape);
    if (rc != GW_OK) return rc;
    ep->base.short_max = WIRE_LINE_BYTES;
    ep->base.pack_max = shape.pack_max;
    if (!ep->base.lines) ep_set_ring(ep, &shape, 0); /* the shared ring, until an exclusive one is claimed and announced */
    if (!ep->claim_tried) {
        uint32_t hdr[WIRE_HDR_BYTES / 4] = {(uint32_t)ring_claim(&shape, ep->box, ep->base.as)};
        if (hdr[0]) {
            if (shm_send_shared(&ep->base, SHM_KIND_CLAIM, hdr, NULL, 0) != GW_OK) {
                atomic_store_explicit(&ep->box->claims[hdr[0] - 1], 0, memory_order_release);
                return GW_AGAIN;
            }
            ep_set_ring(ep, &shape, (int)hdr[0]);
        }
        ep->claim_tried = true;
    }
    *ep_out = &ep->base;
    return GW_OK;
}

/* ---- other worlds ------------------------------------------------------------------------------------------------------ */
static struct shm_known *known_find(uint64_t home)
{
    struct shm_box *box = node_area(gw_node.me, 0);
    for (int i = 0; i < SHM_KNOWN; i++)
        if (atomic_load_explicit(&box->known[i].home, memory_order_relaxed) == home) return &box->known[i];
    return NULL;
}

static int shm_meet(struct node_other *o)
{
    if (o->lanes != shm_state.n_lanes || o->area_bytes != node_area_bytes(shm_area_bytes(o->n)))
        return gw_fail(GW_EOTHER, "the two jobs do not use the same number of lanes: set %s alike for both",
                       gw_setting_said("GODWIT_LANES"));
    if (known_find(home_key(&o->home))) return GW_OK;
    struct shm_known *k = known_find(0);
    if (!k) return gw_fail(GW_EOTHER, "this process is connected with %d other jobs: disconnect some", SHM_KNOWN);
    atomic_store_explicit(&k->first, o->first, memory_order_relaxed);
    /* [S6] pairs with the acquire in known_as(): `first` is visible before `home`. */
    atomic_store_explicit(&k->home, home_key(&o->home), memory_order_release);
    return GW_OK;
}

/* Frees the exclusive rings that ranks of this world have claimed at this process. */
static void rings_reclaim(struct wire *w, const struct node_other *o)
{
    struct shm_box *box = my_box(w);
    for (int i = 1; i < w->in.n; i++) {
        int ring = (int)(w->rx[i] - box->rings);
        uint32_t who = atomic_load_explicit(&box->claims[ring - 1], memory_order_relaxed);
        if (who <= (uint32_t)o->first || who > (uint32_t)(o->first + o->n)) continue;
        rx_publish(&w->in, i);
        /* [S5] pairs with the acquire in ring_claim(). */
        atomic_store_explicit(&box->claims[ring - 1], 0, memory_order_release);
    }
}

static void shm_part(struct node_other *o)
{
    if (!o->base) return;
    struct shm_known *k = known_find(home_key(&o->home));
    if (k) atomic_store_explicit(&k->home, 0, memory_order_release);
    for (int lane = 0; lane < shm_state.n_lanes; lane++) {
        rings_reclaim(shm_state.wires[lane], o);
        free(o->wire[lane]);
        o->wire[lane] = NULL;
    }
}

/* ---- receive --------------------------------------------------------------------------------------------------------- */
/* A sender has announced that it has claimed this exclusive ring: polls it from now on. */
static GW_COLD void ring_open(struct wire *w, int ring)
{
    for (int i = 1; i < w->in.n; i++)
        if (w->rx[i] == &my_box(w)->rings[ring]) return;
    rx_add(w, ring);
}

/* Passes at most `most` lines of a ring to the receive handler; returns how many. */
static int rx_drain(struct wire *w, int index, int most)
{
    int n = 0;
    struct wire_rx *rx = &w->in.rx[index];
    uint32_t mask = w->shape.nlines - 1;
    for (; n < most; n++) {
        struct wire_line *l = &rx->lines[rx->head & mask];
        /* Acquire: pairs with [S1], [S3] and [S4]: the line and its payload are complete. */
        if (atomic_load_explicit(&l->seq, memory_order_acquire) != rx->head + 1) break;
        size_t len = l->len_kind >> 8;
        uint8_t kind = (uint8_t)l->len_kind;
        const void *payload = wire_ring_payload(&w->in, rx, l, len);
        if (likely(kind != SHM_KIND_CLAIM)) {
            w->recv(w->ctx, w->lane, kind, l->hdr, payload, len);
        } else {
            uint32_t ring;
            memcpy(&ring, l->hdr, sizeof ring);
            ring_open(w, (int)ring);
        }
        wire_ring_taken_long(&w->in, rx);
    }
    return n;
}

static int shm_progress(struct wire *w)
{
    enum { BATCH = 32 };
    int total = 0;
    uint32_t mask = w->shape.nlines - 1;
    for (int i = 0; i < w->in.n; i++) {
        const struct wire_rx *rx = &w->in.rx[i];
        const struct wire_line *l = &rx->lines[rx->head & mask];
        if (atomic_load_explicit(&l->seq, memory_order_relaxed) == rx->head + 1)
            total += rx_drain(w, i, BATCH);
        else if (rx->head != rx->published)
            rx_publish(&w->in, i);
    }
    return total;
}

static void shm_caps(struct wire *w, struct wire_caps *caps_out)
{
    *caps_out = (struct wire_caps){
        .short_max = WIRE_LINE_BYTES, .pack_max = w->shape.pack_max, .get = true, .put = true, .at_once = true, .node = true};
}

static struct wire_rings *shm_rings(struct wire *w) { return &w->in; }

const struct wire_ops shm_ops = {
    .size = sizeof(struct wire_ops),
    .name = "shm",
    .open = shm_open_wire,
    .connect = shm_connect,
    .send_short = shm_send_short,
    .send_pack = shm_send_pack,
    .get = shm_get,
    .put = shm_put,
    .progress = shm_progress,
    .caps = shm_caps,
    .close = shm_close,
    .rings = shm_rings,
    .copy = {.try_read = shm_cma_try},
    .world = {.area_bytes = shm_area_bytes, .meet = shm_meet, .part = shm_part},
};
