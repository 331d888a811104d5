/* window.c -- collective access of the ranks of one node: windows of the file in memory that all of them map.
 *
 * The bytes that the ranks touch are cut into windows, number k of which belongs to aggregator k mod their number and lies in slot
 * k mod the number of slots, two for each aggregator.  Nothing is sent: a rank puts its data where they belong in the window, or takes
 * them from there.
 *     write:  slot open for window k -> every rank packs and arrives -> its aggregator writes it -> open for window k + slots
 *     read:   its aggregator reads window k -> every rank unpacks and arrives -> its aggregator reads window k + slots
 * A rank does what it has to do as an aggregator first, so the least window that is not over always gets on.  No step waits: a blocking
 * call makes steps until it is through, a started one (started.c) makes one in each round of progress that finds something to do.
 * Where the ranks do not cover every byte of the windows, a map of bits says which bytes somebody gave: only those are written.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

#include <stdlib.h>

#include "base/settings.h"
#include "boot/boot.h"
#include "node/node.h"

enum {
    BLOCK = 4096,
    WINDOW = 512 << 10,
    STRIPE_MAX = 4 << 20, /* if stripes are not larger than this, a window is a stripe */
    WINDOW_MIN = 16 << 10,
    PER_AGGREGATOR = 2, /* slots */
    BITS = 64,
};

struct slot {
    _Atomic int64_t turn;    /* write: the window that may be filled; read: the window that has been read; -1: none yet */
    _Atomic int32_t arrived; /* ranks that have finished with the window [release; acquire: aggregator] */
    int64_t got;             /* read: bytes of it that the file has */
} GW_ALIGNED(GW_CACHELINE);

struct pool {
    struct gw_file *f;
    bool write, has_holes;
    struct type_cursor mem;
    struct io_walk walk;
    int aggregators, me;            /* me: -1: none */
    int64_t slots, windows, window; /* window: bytes */
    int64_t base, from, to;         /* of the file; the first window begins at base */
    struct slot *slot;
    char *data;
    _Atomic uint64_t *marks; /* [slots][window / BITS] */
    int64_t next;            /* the window that this rank fills or empties next */
    int64_t due;             /* the next window of this aggregator */
    int64_t moved;
    bool ended; /* read: the file has */
    int rc;
};

/* ---- memory ------------------------------------------------------------------------------------------------------------------ */
static int64_t room_for(int64_t slots, int64_t window)
{
    return BLOCK + slots * ((int64_t)sizeof(struct slot) + window + window / 8);
}

void io_windows_offer(struct gw_file *f, struct io_extent *mine)
{
    const struct io_hints *h = &f->hints;
    int64_t wanted = h->stripe > 0 ? gw_min64(h->stripe, STRIPE_MAX) : WINDOW;
    int64_t window = gw_min64(h->collective_buffer, wanted), slots = (int64_t)PER_AGGREGATOR * f->n_aggregators;
    if (f->comm->rank != 0 || !f->comm->one_node || !gw_set.cb_shared || f->atomic) return;
    window = (int64_t)gw_align_up((size_t)window, BLOCK);
    while (!(mine->room = node_heap_alloc((uint64_t)room_for(slots, window))) && window > WINDOW_MIN)
        window = (int64_t)gw_align_up((size_t)window / 2, BLOCK);
    if (!mine->room) return;
    mine->window = window;
    struct slot *slot = node_ptr(mine->room);
    for (int64_t i = 0; i < slots; i++) {
        atomic_store_explicit(&slot[i].turn, -1, memory_order_relaxed); /* relaxed: the exchange of extents publishes it */
        atomic_store_explicit(&slot[i].arrived, 0, memory_order_relaxed);
    }
}

void io_windows_leave(const struct gw_file *f, const struct io_extent *of_rank_0)
{
    if (of_rank_0->room) node_heap_leave(of_rank_0->room, f->comm->size);
}

static void pool_lay(struct pool *p, const struct io_extent *whole)
{
    p->aggregators = p->f->n_aggregators;
    p->me = -1;
    for (int a = 0; a < p->aggregators; a++)
        if (p->f->aggregators[a] == p->f->comm->rank) p->me = a;
    p->due = p->me;
    p->slots = (int64_t)PER_AGGREGATOR * p->aggregators;
    node_heap_join();
    p->slot = node_ptr(whole->room);
    p->data = (char *)gw_align_up((size_t)(p->slot + p->slots),
                                  BLOCK); /* aligned for direct_io, because the segment begins at a page in every rank */
    p->marks = (_Atomic uint64_t *)(p->data + p->slots * whole->window);
    p->from = whole->from;
    p->to = whole->to;
    int64_t unit = p->f->hints.stripe > 0 ? whole->window : BLOCK;
    p->base = p->from / unit * unit;
    p->window = whole->window;
    if (unit == BLOCK) { /* small accesses: each aggregator gets a part */
        int64_t share = gw_max64((p->to - p->base) / p->aggregators, WINDOW_MIN);
        p->window = gw_min64(p->window, (int64_t)gw_align_up((size_t)share, BLOCK));
    }
    assert(p->window > 0 && p->window <= whole->window &&
           p->window % BITS == 0); /* slots have room for it, and whole words of marks */
    p->windows = (p->to - p->base + p->window - 1) / p->window;
    p->has_holes = !whole->cover;
}

static struct slot *slot_of(const struct pool *p, int64_t k) { return &p->slot[k % p->slots]; }
static char *data_of(const struct pool *p, int64_t k) { return p->data + k % p->slots * p->window; }
static _Atomic uint64_t *marks_of(const struct pool *p, int64_t k) { return p->marks + k % p->slots * (p->window / BITS); }
static int64_t begin_of(const struct pool *p, int64_t k) { return p->base + k * p->window; }

static void ring(const struct pool *p, int rank)
{
    int local = boot_local_rank(group_world(p->f->comm->group, rank));
    if (rank != p->f->comm->rank) node_ring(local);
}

/* ---- which bytes were given -------------------------------------------------------------------------------------------------- */
static void mark(_Atomic uint64_t *marks, int64_t at, int64_t bytes)
{
    assert(at >= 0 && bytes >= 0);
    while (bytes > 0) {
        int64_t bit = at % BITS, n = gw_min64(BITS - bit, bytes);
        uint64_t mask = (n == BITS ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1) << bit;
        if (n == BITS)
            atomic_store_explicit(&marks[at / BITS], mask, memory_order_relaxed);
        else
            atomic_fetch_or_explicit(&marks[at / BITS], mask,
                                     memory_order_relaxed); /* other ranks may set other bits of the word */
        at += n;
        bytes -= n;
    }
}

/* The first byte from `at` on, below `end`, that is marked or not, as wanted; else end. */
static int64_t find(const _Atomic uint64_t *marks, int64_t at, int64_t end, bool wanted)
{
    assert(at >= 0);
    while (at < end) {
        uint64_t word = atomic_load_explicit(&marks[at / BITS], memory_order_relaxed);
        word = (wanted ? word : ~word) >> at % BITS;
        if (word) return gw_min64(at + __builtin_ctzll(word), end);
        at = (at / BITS + 1) * BITS;
    }
    return end;
}

static void marks_clear(struct pool *p, int64_t k)
{
    if (!p->has_holes) return;
    _Atomic uint64_t *marks = marks_of(p, k);
    for (int64_t i = 0; i < p->window / BITS; i++) atomic_store_explicit(&marks[i], 0, memory_order_relaxed);
}

/* ---- an aggregator's work ---------------------------------------------------------------------------------------------------- */
static int write_marked(struct pool *p, int64_t k)
{
    _Atomic uint64_t *marks = marks_of(p, k);
    int64_t end, got;
    int rc = GW_OK;
    for (int64_t at = find(marks, 0, p->window, true); at < p->window && rc == GW_OK; at = find(marks, end, p->window, true)) {
        end = find(marks, at, p->window, false);
        rc = io_move_run(p->f, true, data_of(p, k) + at, begin_of(p, k) + at, end - at, &got);
    }
    return rc;
}

static int window_file(struct pool *p, int64_t k, int64_t *got_out)
{
    int64_t begin = begin_of(p, k), at = gw_max64(begin, p->from), end = gw_min64(begin + p->window, p->to), got = 0;
    int before = io_clock(p->f, IO_T_FILE), rc;
    if (p->write && p->has_holes)
        rc = write_marked(p, k);
    else
        rc = io_move_run(p->f, p->write, data_of(p, k) + (at - begin), at, end - at, &got);
    *got_out = rc == GW_OK ? at + got - begin : 0;
    io_clock(p->f, before);
    return rc;
}

/* Have all ranks finished with window k, or has it not begun? */
static bool is_over(const struct pool *p, int64_t k)
{
    return k < 0 || atomic_load_explicit(&slot_of(p, k)->arrived, memory_order_acquire) == p->f->comm->size;
}

static void open_slot(struct pool *p, int64_t k)
{
    struct slot *s = slot_of(p, k);
    atomic_store_explicit(&s->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&s->turn, k, memory_order_release);
    for (int i = 0; i < p->f->comm->size; i++) ring(p, i);
}

/* Can this aggregator work on its next window? */
static bool has_duty(const struct pool *p)
{
    if (p->me < 0 || p->due >= p->windows) return false;
    return is_over(p, p->write ? p->due : p->due - p->slots);
}

static void do_duty(struct pool *p)
{
    int64_t k = p->due, got = 0;
    assert(k % p->aggregators == p->me && k < p->windows);
    p->due += p->aggregators;
    if (p->rc == GW_OK) p->rc = window_file(p, k, &got);
    if (p->write) {
        if (k + p->slots >= p->windows) return;
        marks_clear(p, k + p->slots);
        open_slot(p, k + p->slots);
    } else {
        slot_of(p, k)->got = got;
        open_slot(p, k);
    }
}

/* ---- a rank's part ----------------------------------------------------------------------------------------------------------- */
static void fill(struct pool *p, int64_t k)
{
    struct io_run run;
    int64_t begin = begin_of(p, k);
    char *data = data_of(p, k);
    while (io_walk_below(&p->walk, begin + p->window, &run)) {
        assert(run.at >= begin && run.at + run.bytes <= begin + p->window);
        p->moved += type_cursor_pack(&p->mem, data + (run.at - begin), run.bytes);
        if (p->has_holes) mark(marks_of(p, k), run.at - begin, run.bytes);
    }
}

static void take(struct pool *p, int64_t k)
{
    struct io_run run;
    int64_t begin = begin_of(p, k), end = begin + slot_of(p, k)->got;
    const char *data = data_of(p, k);
    while (!p->ended && io_walk_below(&p->walk, begin + p->window, &run)) {
        assert(run.at >= begin && run.at + run.bytes <= begin + p->window);
        int64_t have = gw_max64(gw_min64(end - run.at, run.bytes), 0);
        p->moved += type_cursor_unpack(&p->mem, data + (run.at - begin), have);
        p->ended = have < run.bytes;
    }
}

static void arrive(struct pool *p, int64_t k)
{
    int32_t before = atomic_fetch_add_explicit(&slot_of(p, k)->arrived, 1, memory_order_acq_rel);
    assert(before < p->f->comm->size);
    if (before + 1 == p->f->comm->size) ring(p, p->f->aggregators[k % p->aggregators]);
}

/* Is the next window ready for this rank? */
static bool is_turn(const struct pool *p)
{
    return p->next < p->windows && atomic_load_explicit(&slot_of(p, p->next)->turn, memory_order_acquire) == p->next;
}

static void do_mine(struct pool *p)
{
    int before = io_clock(p->f, IO_T_SEND);
    if (p->write)
        fill(p, p->next);
    else
        take(p, p->next);
    arrive(p, p->next++);
    io_clock(p->f, before);
}

/* ---- steps ------------------------------------------------------------------------------------------------------------------- */
bool io_windows_can(const struct pool *p) { return has_duty(p) || is_turn(p); }

bool io_windows_next(struct pool *p)
{
    if (has_duty(p))
        do_duty(p);
    else if (is_turn(p))
        do_mine(p);
    return p->next < p->windows || (p->me >= 0 && p->due < p->windows);
}

/* The walk cannot fail, because it was done for the extents. */
static int pool_begin(struct pool *p, const struct io_data *d, const struct io_extent *whole)
{
    type_cursor_init(&p->mem, d->data);
    int rc = io_walk_begin(&p->walk, &p->f->view, d->pos, d->data.bytes);
    if (rc != GW_OK) return rc;
    pool_lay(p, whole);
    io_count_active(p->f, p->write, gw_min64(p->aggregators, p->windows));
    for (int64_t k = p->me; p->write && p->me >= 0 && k < gw_min64(p->slots, p->windows); k += p->aggregators) {
        marks_clear(p, k);
        open_slot(p, k);
    }
    return GW_OK;
}

struct pool *io_windows_begin(struct gw_file *f, const struct io_data *d, const struct io_extent *whole)
{
    struct pool *p = gw_xmalloc(sizeof *p);
    *p = (struct pool){.f = f, .write = d->write};
    p->rc = pool_begin(p, d, whole);
    return p;
}

int io_windows_end(struct pool *p, int64_t *moved_out)
{
    int rc = p->rc;
    *moved_out = p->moved;
    free(p);
    return rc;
}

static bool can_go_on(void *arg) { return io_windows_can(arg); }

int io_by_windows(struct gw_file *f, const struct io_data *d, const struct io_extent *whole, int64_t *moved_out)
{
    struct pool *p = io_windows_begin(f, d, whole);
    while (io_windows_next(p))
        if (!io_windows_can(p)) req_block_until(f->comm->lane, can_go_on, p);
    return io_windows_end(p, moved_out);
}
