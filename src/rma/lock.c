/* lock.c -- locks in words that all ranks of a machine map: `busy`, the lock of accumulates, and the window locks of passive
 * targets.
 *
 * A window lock is one word per target.  MPI_Win_lock_all takes none of these words but increments `everywhere`, so that it never
 * holds some locks while it waits for others.  An exclusive lock takes its word and then reads `everywhere`; a lock_all increments
 * `everywhere` and then reads the words (if any exclusive lock was ever taken).  At least one of the two sees the other, and
 * undoes what it did.  Thus exclusive locks of different targets write no cache line in common.
 * A rank that waits for a lock makes progress meanwhile: the holder may need its answer to a message.
 * Each machine has its own words.  For an origin on another machine the target takes the lock (ask.c, serve.c).
 * The word of an exclusive lock has the rank that holds it, for reports of jobs that hang.
 * There is no queue.  A waiting exclusive lock does not hold back new shared locks: else two ranks that each hold a shared lock
 * and wait for the other's target exclusively could never go on.
 *
 * No wake-up is lost: a waiter increments `waiters` before it reads the word again, and a rank that releases a lock changes the
 * word before it reads `waiters`.  All this is sequentially consistent for window locks.  Releasing `busy` has no fence: the
 * waiter's last read comes after its doorbell was armed, and arming makes all ranks execute a fence, or they execute one by
 * themselves (node/wait.c).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma/rma_private.h"

#include <stdio.h>

#include "base/time.h"
#include "mem/mem.h"

#define EXCLUSIVE      (UINT32_C(1) << 31)
#define ONE_ALL        (UINT64_C(1) << 32)
#define EVER_EXCLUSIVE UINT64_C(1)

struct wanted {
    struct rma_win *w;
    int target, by;       /* by: the rank that is to have it */
    struct gw_done about; /* says what is waited for when the wait has become long; none for `busy` */
};

void rma_ring_all(struct rma_win *w)
{
    for (int i = 0; i < w->here->size; i++) node_ring_door(node_door_of(group_world(w->here->group, i)));
}

static inline void word_changed(struct rma_win *w)
{
    if (unlikely(atomic_load_explicit(&w->shared->waiters, memory_order_seq_cst))) rma_ring_all(w);
}

static void wait_for(struct rma_win *w, bool (*take)(void *), struct wanted x)
{
    if (likely(take(&x))) return;
    for (int i = 0; i < 100; i++) {
        gw_cpu_relax();
        if (take(&x)) return;
    }
    atomic_fetch_add_explicit(&w->shared->waiters, 1, memory_order_seq_cst);
    req_block_about(w->comm->lane, take, &x, &x.about);
    uint32_t n = atomic_fetch_sub_explicit(&w->shared->waiters, 1, memory_order_seq_cst);
    assert(n > 0);
    (void)n;
}

/* ---- accumulates ---- */
static bool busy_try(void *arg)
{
    struct wanted *x = arg;
    return rma_busy_try(x->w, x->target);
}
void rma_busy_enter(struct rma_win *w, int target)
{
    if (unlikely(!rma_busy_try(w, target))) wait_for(w, busy_try, (struct wanted){.w = w, .target = target});
}
void rma_busy_exit(struct rma_win *w, int target) { rma_busy_leave(w, target); }

bool rma_fast_is_wanted(void) { return !gw_checking && !mem_has_drivers; }

void rma_mail_relax(struct rma_mail *m)
{
    (void)m;
    gw_cpu_relax();
}

/* ---- passive targets ---- */
static bool shared_try(void *arg)
{
    struct wanted *x = arg;
    _Atomic uint32_t *word = &x->w->near[x->target].words->locked;
    uint32_t seen = atomic_load_explicit(word, memory_order_relaxed);
    while (!(seen & EXCLUSIVE))
        if (atomic_compare_exchange_weak_explicit(word, &seen, seen + 1, memory_order_seq_cst, memory_order_relaxed)) return true;
    return false;
}

static bool exclusive_try(void *arg)
{
    struct wanted *x = arg;
    struct rma_shared *s = x->w->shared;
    _Atomic uint32_t *word = &x->w->near[x->target].words->locked;
    uint64_t seen = atomic_load_explicit(&s->everywhere, memory_order_relaxed);
    uint32_t is_free = 0;
    if (unlikely(!(seen & EVER_EXCLUSIVE))) seen = atomic_fetch_or_explicit(&s->everywhere, EVER_EXCLUSIVE, memory_order_seq_cst);
    if (seen >= ONE_ALL || atomic_load_explicit(word, memory_order_relaxed) != 0) return false;
    uint32_t taken = EXCLUSIVE | (uint32_t)x->by;
    if (!atomic_compare_exchange_strong_explicit(word, &is_free, taken, memory_order_seq_cst, memory_order_relaxed)) return false;
    /* [L1] pairs with [L2]: either this load sees the increment of [L2], or the loads after [L2] see the word taken here. */
    if (likely(atomic_load_explicit(&s->everywhere, memory_order_seq_cst) < ONE_ALL)) return true;
    atomic_store_explicit(word, 0, memory_order_seq_cst); /* a lock_all may have seen it taken */
    word_changed(x->w);
    return false;
}

static bool any_exclusive(struct rma_win *w)
{
    struct rma_shared *s = w->shared;
    if (!(atomic_load_explicit(&s->everywhere, memory_order_seq_cst) & EVER_EXCLUSIVE)) return false;
    for (int i = 0; i < w->here->size; i++)
        if (atomic_load_explicit(&s->of[i].locked, memory_order_seq_cst) & EXCLUSIVE) return true;
    return false;
}

static bool all_try(void *arg)
{
    struct wanted *x = arg;
    struct rma_win *w = x->w;
    if (any_exclusive(w)) return false;
    atomic_fetch_add_explicit(&w->shared->everywhere, ONE_ALL, memory_order_seq_cst); /* [L2] */
    if (likely(!any_exclusive(w))) return true;
    atomic_fetch_sub_explicit(&w->shared->everywhere, ONE_ALL, memory_order_seq_cst); /* another rank may have seen it */
    word_changed(w);
    return false;
}

static bool (*const try_lock[])(void *) = {
    [LOCK_KIND_SHARED] = shared_try, [LOCK_KIND_EXCLUSIVE] = exclusive_try, [LOCK_KIND_ALL] = all_try};
_Static_assert(GW_ARRAY_LEN(try_lock) == LOCK_KIND_ALL + 1, "one of each kind");

/* Who holds what is waited for: read now, it may be another one at the next look. */
static void held_text(const struct rma_win *w, int target, char *text, size_t room)
{
    uint32_t word = atomic_load_explicit(&w->near[target].words->locked, memory_order_relaxed);
    uint64_t all = atomic_load_explicit(&w->shared->everywhere, memory_order_relaxed) / ONE_ALL;
    if (word & EXCLUSIVE)
        snprintf(text, room, "which rank %d holds exclusively", group_world(w->comm->group, (int)(word & ~EXCLUSIVE)));
    else
        snprintf(text, room, "held by %u with MPI_LOCK_SHARED, %u with MPI_Win_lock_all", word, (unsigned)all);
}

static void lock_tell(struct gw_done *d, int err)
{
    const struct wanted *x = container_of(d, struct wanted, about);
    int target = x->target;
    char held[80];
    (void)err;
    for (int i = 0; target < 0 && i < x->w->comm->size; i++) /* one of those that keep MPI_Win_lock_all from all */
        if (is_here(x->w, i) && atomic_load_explicit(&x->w->near[i].words->locked, memory_order_relaxed) & EXCLUSIVE) target = i;
    if (target < 0) return; /* it is free by now */
    held_text(x->w, target, held, sizeof held);
    struct boot_where *where = node_report_begin();
    snprintf(where->note, sizeof where->note, "for the lock at rank %d, %s", group_world(x->w->comm->group, target), held);
    node_report_end(where);
}

static int target_of(int target, enum lock_kind kind) { return kind == LOCK_KIND_ALL ? -1 : target; }

bool rma_lock_here_try(struct rma_win *w, int target, enum lock_kind kind, int by)
{
    return try_lock[kind](&(struct wanted){.w = w, .target = target_of(target, kind), .by = by});
}

void rma_lock_here_take(struct rma_win *w, int target, enum lock_kind kind)
{
    wait_for(w, try_lock[kind],
             (struct wanted){.w = w, .target = target_of(target, kind), .by = w->comm->rank, .about.fn = lock_tell});
}

void rma_lock_here_give(struct rma_win *w, int target, enum lock_kind kind)
{
    struct rma_shared *s = w->shared;
    _Atomic uint32_t *word = &w->near[target].words->locked;
    if (kind == LOCK_KIND_ALL) {
        assert(atomic_load(&s->everywhere) >= ONE_ALL);
        atomic_fetch_sub_explicit(&s->everywhere, ONE_ALL, memory_order_seq_cst);
    } else if (kind == LOCK_KIND_EXCLUSIVE) {
        assert(atomic_load(word) & EXCLUSIVE);
        atomic_store_explicit(word, 0, memory_order_seq_cst);
    } else {
        assert((atomic_load(word) & ~EXCLUSIVE) > 0);
        atomic_fetch_sub_explicit(word, 1, memory_order_seq_cst);
    }
    word_changed(w);
}

/* ---- locks of any target, on this machine or another ---- */
static enum lock_kind kind_of(bool exclusive) { return exclusive ? LOCK_KIND_EXCLUSIVE : LOCK_KIND_SHARED; }

int rma_lock_take(struct rma_win *w, int target, bool exclusive)
{
    if (unlikely(!is_here(w, target))) return rma_ask_lock(w, target, kind_of(exclusive));
    rma_lock_here_take(w, target, kind_of(exclusive));
    return GW_OK;
}

int rma_lock_give(struct rma_win *w, int target, bool exclusive)
{
    if (unlikely(!is_here(w, target))) return rma_ask_unlock(w, target, kind_of(exclusive));
    int rc = rma_deferred_flush(w, target);
    rma_lock_here_give(w, target, kind_of(exclusive));
    return rc;
}

int rma_lock_take_all(struct rma_win *w)
{
    if (unlikely(w->n_leaders)) return rma_ask_all_take(w);
    rma_lock_here_take(w, w->comm->rank, LOCK_KIND_ALL);
    return GW_OK;
}

int rma_lock_give_all(struct rma_win *w)
{
    int rc = rma_deferred_flush_all(w), given = GW_OK;
    if (unlikely(w->n_leaders))
        given = rma_ask_all_give(w);
    else
        rma_lock_here_give(w, w->comm->rank, LOCK_KIND_ALL);
    return rc == GW_OK ? given : rc;
}
