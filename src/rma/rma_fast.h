/* rma_fast.h -- the fast path, inlined into entry points: small contiguous accesses to memory that is mapped here, and flushes under
 * MPI_Win_lock_all.
 *
 * The conditions are evaluated when a window is made (`near`: a target that is not mapped has size 0) and when an epoch is opened (n_open,
 * listed, n_flushed; GODWIT_CHECK off), so that one comparison covers rank in range, epoch open, and checks off.
 *
 * All return false if nothing was done: then call the function of rma.h, which does the operation or reports the error.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_RMA_RMA_FAST_H
#define GW_RMA_RMA_FAST_H

#include "base/base.h"
#include "base/count.h"
#include "node/node.h"
#include "rma/rma.h"

/* ---- lock words, mapped by all ranks of the machine (lock.c) ---- */
struct rma_words {           /* of one target */
    _Atomic uint32_t busy;   /* mutex: of accumulates, and of the list of regions */
    _Atomic uint32_t locked; /* MPI_Win_lock: number of shared locks, or EXCLUSIVE and its holder */
    uint64_t regions;        /* list of attached memory (dynamic windows): offset in the target's node segment; under `busy` */
    uint32_t n_regions, room;
} GW_ALIGNED(GW_CACHELINE);
struct rma_shared {
    _Atomic uint64_t everywhere; /* holders of MPI_Win_lock_all << 32 | whether any target has ever been locked exclusively */
    _Atomic uint32_t waiters;    /* not 0: ranks may sleep until a word changes */
    struct rma_words of[];       /* [ranks on this machine] */
} GW_ALIGNED(GW_CACHELINE);

static inline bool rma_busy_try(struct rma_win *w, int target)
{
    uint32_t is_free = 0;
    _Atomic uint32_t *word = &w->near[target].words->busy;
    return atomic_load_explicit(word, memory_order_relaxed) == 0 &&
        atomic_compare_exchange_strong_explicit(word, &is_free, 1, memory_order_acquire, memory_order_relaxed);
}
void rma_ring_all(struct rma_win *w);
static inline void rma_busy_leave(struct rma_win *w, int target)
{
    atomic_store_explicit(&w->near[target].words->busy, 0, memory_order_release);
    node_fence_for_sleepers();
    if (unlikely(atomic_load_explicit(&w->shared->waiters, memory_order_relaxed))) rma_ring_all(w);
}

/* ---- the window that was used last ----
 * Programs use one window for many accesses, each with its flush: one comparison instead of the two loads and four tests of the table of
 * handles.  Memory of a window stays a window's for ever (win.c), so that any thread may look at the id of one that another frees; one that
 * is freed, and what stands here before the first, has the id of MPI_WIN_NULL, and the fast path does nothing with it. */
GW_EXTERN _Atomic(struct rma_win *) rma_win_last;

/* NULL: no window has this id.  That of MPI_WIN_NULL may have one that is freed. */
GW_INLINE struct rma_win *rma_win_by_id(uint64_t id)
{
    struct rma_win *w = atomic_load_explicit(&rma_win_last, memory_order_relaxed);
    if (!w) __builtin_unreachable(); /* never: so who looks for NULL does so after the table alone */
    if (likely(gw_obj_id_now(&w->obj) == id)) return w;
    w = (struct rma_win *)gw_obj_lookup(id, GW_KIND_WIN);
    if (w) atomic_store_explicit(&rma_win_last, w, memory_order_relaxed);
    return w;
}

/* ---- address and size ---- */
static inline bool rma_is_open(struct rma_win *w, int target)
{
    if (likely((uint32_t)target < gw_look(&w->n_open))) return true;
    const uint8_t *listed = atomic_load_explicit(&w->listed, memory_order_relaxed);
    return listed && (uint32_t)target < (uint32_t)w->comm->size && listed[target];
}

/* Address of `bytes` bytes at displacement disp; NULL: not for the fast path, or an error. */
static inline char *rma_near_place(struct rma_win *w, int target, int64_t disp, uint64_t bytes)
{
    int64_t offset;
    if (unlikely(!rma_is_open(w, target))) return NULL;
    const struct rma_near *t = &w->near[target];
    if (unlikely(__builtin_mul_overflow(disp, t->disp_unit, &offset)) || unlikely((uint64_t)offset > t->size) ||
        unlikely(bytes > t->size - (uint64_t)offset))
        return NULL;
    return (char *)((uintptr_t)t->base + (uintptr_t)offset); /* base: NULL where there is no memory */
}

/* Are origin and target of the same contiguous type and count, with at most RMA_SHORT bytes?  Any 32-bit counts are allowed: a negative one
 * is a size above the limit. */
enum { RMA_SHORT = 1024 };
static inline bool rma_is_short(int64_t ocount, const struct gw_type *ot, int64_t tcount, const struct gw_type *tt,
                                uint64_t *bytes_out)
{
    if (unlikely(ot != tt) || unlikely(ocount != tcount) || unlikely(!tt->is_plain)) return false;
    *bytes_out = (uint64_t)(tcount * tt->size);
    return likely(*bytes_out <= RMA_SHORT);
}

/* Most often one item.  The user's two buffers may be the same. */
static inline void rma_copy_few(void *to, const void *from, size_t bytes)
{
    if (likely(bytes == 8))
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else
        memmove(to, from, bytes);
}

static inline void rma_counted(struct rma_win *w, _Atomic uint64_t *kind)
{
    gw_counted(kind, 1);
    gw_counted(&w->n_ops, 1);
}

/* ---- put, get, flush ---- */
GW_INLINE bool rma_move_inline(bool is_put, void *here, int64_t ocount, const struct gw_type *ot, const struct rma_there *t)
{
    uint64_t bytes;
    char *there = rma_is_short(ocount, ot, t->count, t->type, &bytes) ? rma_near_place(t->w, t->rank, t->disp, bytes) : NULL;
    if (unlikely(!there)) return false;
    rma_counted(t->w, is_put ? &gw_count.rma_puts : &gw_count.rma_gets);
    rma_copy_few(is_put ? there : here, is_put ? here : there, bytes);
    return true;
}

static inline bool rma_put_inline(const void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount,
                                  struct gw_type *tt, struct rma_win *w)
{
    return rma_move_inline(true, (void *)(uintptr_t)origin, ocount, ot, &(struct rma_there){w, target, disp, tcount, tt});
}

static inline bool rma_get_inline(void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount,
                                  struct gw_type *tt, struct rma_win *w)
{
    return rma_move_inline(false, origin, ocount, ot, &(struct rma_there){w, target, disp, tcount, tt});
}

/* Operations on mapped memory are complete when they return; the fence orders them before later accesses of this rank. */
static inline bool rma_win_flush_inline(int rank, struct rma_win *w)
{
    if (unlikely((uint32_t)rank >= gw_look(&w->n_flushed))) return false;
    atomic_thread_fence(memory_order_seq_cst);
    return true;
}

static inline bool rma_win_flush_local_inline(int rank, struct rma_win *w) { return rma_win_flush_inline(rank, w); }

/* ---- one integer, under `busy` ---- */
/* Of 4 or 8 bytes. */
static inline bool rma_is_integer(const struct gw_type *t)
{
    const uint64_t integers = 1ULL << GW_ELEM_I64 | 1ULL << GW_ELEM_U64 | 1ULL << GW_ELEM_I32 | 1ULL << GW_ELEM_U32;
    _Static_assert(GW_ELEM_COUNT <= 64, "a bit each");
    return integers >> t->elem & 1;
}

static inline uint64_t rma_load(const void *p, size_t bytes)
{
    uint64_t eight;
    uint32_t four;
    if (likely(bytes == 8)) return memcpy(&eight, p, 8), eight;
    return memcpy(&four, p, 4), four;
}
static inline void rma_store(void *p, uint64_t value, size_t bytes)
{
    uint32_t four = (uint32_t)value;
    if (likely(bytes == 8))
        memcpy(p, &value, 8);
    else
        memcpy(p, &four, 4);
}

static inline bool rma_is_op(const struct gw_op *op, uint32_t id) { return op->obj.id == id; }

static inline void rma_fetch_integer(char *there, const void *origin, void *result, size_t bytes, const struct gw_op *op)
{
    uint64_t old = rma_load(there, bytes);
    if (likely(rma_is_op(op, GW_H_SUM)))
        rma_store(there, old + rma_load(origin, bytes), bytes);
    else if (rma_is_op(op, GW_H_REPLACE))
        rma_store(there, rma_load(origin, bytes), bytes);
    rma_store(result, old, bytes);
}

static inline void rma_swap_integer(char *there, const void *origin, const void *compare, void *result, size_t bytes)
{
    uint64_t old = rma_load(there, bytes);
    if (old == rma_load(compare, bytes)) rma_store(there, rma_load(origin, bytes), bytes);
    rma_store(result, old, bytes);
}

/* NULL: the buffers, the operation or the datatype are not right or not the usual ones. */
static inline char *rma_fetch_place(const void *origin, const void *result, const struct gw_type *t, int target, int64_t disp,
                                    const struct gw_op *op, struct rma_win *w)
{
    bool is_known = likely(rma_is_op(op, GW_H_SUM)) || rma_is_op(op, GW_H_REPLACE) || rma_is_op(op, GW_H_NO_OP);
    if (unlikely(!is_known) || unlikely(!result) || (unlikely(!origin) && !rma_is_op(op, GW_H_NO_OP)) ||
        unlikely(!rma_is_integer(t)))
        return NULL;
    return rma_near_place(w, target, disp, (uint64_t)t->size);
}
static inline char *rma_swap_place(const void *origin, const void *compare, const void *result, const struct gw_type *t, int target,
                                   int64_t disp, struct rma_win *w)
{
    if (unlikely(!origin) || unlikely(!compare) || unlikely(!result) || unlikely(!rma_is_integer(t))) return NULL;
    return rma_near_place(w, target, disp, (uint64_t)t->size);
}

static inline bool rma_fetch_and_op_inline(const void *origin, void *result, struct gw_type *t, int target, int64_t disp,
                                           struct gw_op *op, struct rma_win *w)
{
    char *there = rma_fetch_place(origin, result, t, target, disp, op, w);
    if (unlikely(!there) || unlikely(!rma_busy_try(w, target))) return false;
    rma_fetch_integer(there, origin, result, (size_t)t->size, op);
    rma_busy_leave(w, target);
    rma_counted(w, &gw_count.rma_accumulates);
    return true;
}

static inline bool rma_compare_and_swap_inline(const void *origin, const void *compare, void *result, struct gw_type *t, int target,
                                               int64_t disp, struct rma_win *w)
{
    char *there = rma_swap_place(origin, compare, result, t, target, disp, w);
    if (unlikely(!there) || unlikely(!rma_busy_try(w, target))) return false;
    rma_swap_integer(there, origin, compare, result, (size_t)t->size);
    rma_busy_leave(w, target);
    rma_counted(w, &gw_count.rma_accumulates);
    return true;
}

#endif
