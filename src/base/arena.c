/* arena.c -- blocks whose memory goes back to the system: what came in a flood is not kept for ever.
 *
 * The range is cut into slabs of 64 KiB.  A slab holds blocks of one class: up to GW_ARENA_EVEN bytes there is a class for each multiple of
 * 16, then one for each number of blocks that a slab has room for; larger blocks are spans of whole slabs.  What is not touched costs no
 * memory, so the tail of such a block costs less than a page.
 *
 *   never used --> in use --last block given back--> warm (a few, their pages stay) | cold (madvise: no memory) --> in use
 *
 * INVARIANT A1  partial[c] lists exactly the slabs of class c that have blocks in use and a free one.
 * INVARIANT A2  a slab's blocks from `fresh` on were never used since it came into use; of those before, the free ones are linked from `free`.
 *
 * Addresses are reserved without access, which no limit but that of the address space counts (ulimit -v: an eighth of it is taken), and made
 * accessible as they are needed.  One mapping for all, since a process may have some 65,000 only.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/arena.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#ifndef MADV_NOHUGEPAGE
#define MADV_NOHUGEPAGE 15
#endif

enum { UNIT = GW_ARENA_UNIT, SLAB = 64 << 10, SLAB_UNITS = SLAB / UNIT, EVEN = GW_ARENA_EVEN / UNIT, SHARED = 15, WARM = 8 };
enum { CLASS_SPAN = EVEN + SHARED + 1 }; /* + number of slabs */
static const size_t RESERVE_MOST = ((size_t)64 << 30) - SLAB, RESERVE_LEAST = 16 << 20, GROW_LEAST = 1 << 20, GROW_MOST = 64 << 20;

/* Links are numbers of slabs, 0: none. */
struct arena_slab {
    uint32_t next, prev;  /* in partial; next also in warm and cold */
    uint16_t free, fresh; /* units from the slab's begin; NONE: no free block */
    uint16_t used, class;
};
enum { NONE = 0xffff };
_Static_assert(sizeof(struct arena_slab) == 16, "a page of them is 16 MiB");
_Static_assert((int)CLASS_SPAN <= (int)ARENA_CLASSES, "a list for each class below");
_Static_assert((ARENA_SPANS - 1) * SLAB >= GW_ARENA_MOST, "the largest block is a span");

static int class_of(size_t bytes)
{
    size_t units = (bytes + UNIT - 1) / UNIT;
    if (units <= EVEN) return units ? (int)units : 1;
    int n = (int)(SLAB_UNITS / units);
    assert(bytes <= GW_ARENA_MOST);
    return n > 1 ? EVEN + n - 1 : (int)(CLASS_SPAN + (units + SLAB_UNITS - 1) / SLAB_UNITS);
}

static unsigned units_of(int class) /* of a block; of a slab's classes */
{
    return class <= EVEN ? (unsigned)class : (unsigned)(SLAB_UNITS / (class - EVEN + 1));
}

static inline char *slab_at(const struct gw_arena *a, uint32_t slab) { return a->base + (size_t)slab * SLAB; }

/* ---- addresses ------------------------------------------------------------------------------------------- */
static GW_COLD void arena_reserve(struct gw_arena *a)
{
    struct rlimit r;
    size_t bytes = RESERVE_MOST;
    if (getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY && r.rlim_cur / 8 < bytes)
        bytes = r.rlim_cur / 8 & ~((size_t)SLAB - 1);
    if (bytes < RESERVE_LEAST) bytes = RESERVE_LEAST;
    for (;; bytes = bytes / 2 & ~((size_t)SLAB - 1)) {
        void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p != MAP_FAILED) {
            madvise(p, bytes, MADV_NOHUGEPAGE); /* a huge page goes back only as a whole */
            a->base = p;
            a->reserved = bytes;
            a->n_slabs = 1; /* the first one is not used: see `base` */
            return;
        }
        if (bytes < RESERVE_LEAST) gw_die("out of memory: no addresses for messages (%zu bytes; ulimit -v?)", bytes);
    }
}

static GW_COLD void arena_grow(struct gw_arena *a, size_t need)
{
    size_t step = a->usable / 8 & ~((size_t)SLAB - 1);
    if (step < GROW_LEAST) step = GROW_LEAST;
    if (step > GROW_MOST) step = GROW_MOST;
    if (a->usable + step < need) step = need - a->usable;
    if (a->usable + step > a->reserved) step = a->reserved - a->usable;
    if (a->usable + step < need || mprotect(a->base + a->usable, step, PROT_READ | PROT_WRITE) != 0)
        gw_die("out of memory: messages that are kept take %zu bytes, and there is no room for more", a->usable);
    a->usable += step;
}

/* n slabs that were never used. */
static GW_COLD uint32_t slabs_new(struct gw_arena *a, uint32_t n)
{
    if (!a->base) arena_reserve(a);
    uint32_t first = a->n_slabs;
    size_t end = ((size_t)first + n) * SLAB;
    if (end > a->usable) arena_grow(a, end);
    if (first + n > a->cap_slabs) {
        a->cap_slabs = a->cap_slabs ? a->cap_slabs * 2 : 64;
        a->slabs = gw_xrealloc(a->slabs, a->cap_slabs * sizeof *a->slabs);
    }
    a->n_slabs = first + n;
    return first;
}

/* ---- slabs ----------------------------------------------------------------------------------------------- */
static uint32_t slab_take(struct gw_arena *a, uint32_t n)
{
    uint32_t *list = n == 1 && a->warm ? &a->warm : &a->cold[n], s = *list;
    if (!s) return slabs_new(a, n);
    *list = a->slabs[s].next;
    if (list == &a->warm) a->n_warm--;
    return s;
}

static void slab_give(struct gw_arena *a, uint32_t s, uint32_t n)
{
    assert(n > 0 && s + n <= a->n_slabs);
    bool is_warm = n == 1 && a->n_warm < WARM;
    uint32_t *list = is_warm ? &a->warm : &a->cold[n];
    if (is_warm)
        a->n_warm++;
    else
        madvise(slab_at(a, s), (size_t)n * SLAB, MADV_DONTNEED); /* refused where memory is locked: then it stays */
    a->slabs[s].next = *list;
    *list = s;
}

static void partial_add(struct gw_arena *a, uint32_t s)
{
    struct arena_slab *d = &a->slabs[s];
    d->prev = 0;
    d->next = a->partial[d->class];
    if (d->next) a->slabs[d->next].prev = s;
    a->partial[d->class] = s;
}

static void partial_remove(struct gw_arena *a, uint32_t s)
{
    assert(s && s < a->n_slabs);
    struct arena_slab *d = &a->slabs[s];
    if (d->next) a->slabs[d->next].prev = d->prev;
    if (d->prev)
        a->slabs[d->prev].next = d->next;
    else
        a->partial[d->class] = d->next;
}

static uint32_t slab_open(struct gw_arena *a, int class)
{
    uint32_t n = class > CLASS_SPAN ? (uint32_t)(class - CLASS_SPAN) : 1, s = slab_take(a, n);
    a->slabs[s] = (struct arena_slab){.free = NONE, .class = (uint16_t) class};
    gw_poison(slab_at(a, s), (size_t)n * SLAB);
    if (class < CLASS_SPAN) partial_add(a, s);
    return s;
}

static inline bool is_full(const struct arena_slab *d, unsigned units) { return d->free == NONE && d->fresh + units > SLAB_UNITS; }

/* ---- blocks ---------------------------------------------------------------------------------------------- */
void *gw_arena_take(struct gw_arena *a, size_t bytes)
{
    int class = class_of(bytes);
    uint32_t s = likely(class < CLASS_SPAN) ? a->partial[class] : 0;
    if (unlikely(!s)) s = slab_open(a, class);
    struct arena_slab *d = &a->slabs[s];
    char *slab = slab_at(a, s), *block = slab;
    a->bytes += (int64_t)gw_align_up(bytes, UNIT);
    if (unlikely(class > CLASS_SPAN)) {
        gw_unpoison(block, bytes);
        return block;
    }
    unsigned units = units_of(class);
    d->used++;
    if (d->free != NONE) {
        block = slab + (size_t)d->free * UNIT;
        gw_unpoison(block, bytes + sizeof d->free);
        memcpy(&d->free, block, sizeof d->free);
    } else {
        block = slab + (size_t)d->fresh * UNIT;
        d->fresh = (uint16_t)(d->fresh + units);
    }
    gw_poison(block, units * UNIT);
    gw_unpoison(block, bytes);
    if (unlikely(is_full(d, units))) partial_remove(a, s);
    return block;
}

void gw_arena_give(struct gw_arena *a, void *block, size_t bytes)
{
    uint32_t s = (uint32_t)((size_t)((char *)block - a->base) / SLAB);
    struct arena_slab *d = &a->slabs[s];
    int class = d->class;
    assert(s > 0 && s < a->n_slabs && class == class_of(bytes));
    a->bytes -= (int64_t)gw_align_up(bytes, UNIT);
    if (unlikely(class > CLASS_SPAN)) {
        gw_poison(block, bytes);
        slab_give(a, s, (uint32_t)(class - CLASS_SPAN));
        return;
    }
    unsigned units = units_of(class);
    bool was_full = is_full(d, units);
    assert(d->used > 0);
    if (--d->used == 0) {
        if (!was_full) partial_remove(a, s);
        gw_poison(slab_at(a, s), SLAB);
        slab_give(a, s, 1);
        return;
    }
    gw_unpoison(block, sizeof d->free);
    memcpy(block, &d->free, sizeof d->free);
    gw_poison(block, units * UNIT);
    d->free = (uint16_t)((size_t)((char *)block - slab_at(a, s)) / UNIT);
    if (unlikely(was_full)) partial_add(a, s);
}

void gw_arena_finish(struct gw_arena *a)
{
    if (a->base) {
        gw_unpoison(a->base, (size_t)a->n_slabs * SLAB);
        munmap(a->base, a->reserved);
    }
    free(a->slabs);
    memset(a, 0, sizeof *a);
}
