/* lock.h -- locks that cost nothing without MPI_THREAD_MULTIPLE; threads of the library.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_LOCK_H
#define GW_BASE_LOCK_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/base.h"

/* ---- locks: spin, then futex; no operation unless gw_threads -------------------------------------- */
struct gw_lock {
    _Atomic uint32_t word;  /* 0 free, 1 held, 2 held with sleepers (futex) */
    _Atomic uint32_t takes; /* how often gw_lock() took it; counted only with gw_threads */
};
GW_EXTERN bool gw_threads;  /* MPI_THREAD_MULTIPLE, or a progress thread: locks are taken */
GW_EXTERN bool gw_checking; /* GODWIT_CHECK is on */
/* It is, or memory has kinds (mem.h): entry points show room check their arguments, before and after the target. */
GW_EXTERN bool gw_args_wanted;
GW_EXTERN bool
    gw_slow_path; /* one of the two, hardware matches, or memory has kinds (mem.h): no fast paths inlined into entry points */
void gw_lock_slow(struct gw_lock *l);
void gw_unlock_slow(struct gw_lock *l);
static inline bool gw_lock_try(struct gw_lock *l)
{
    uint32_t free = 0;
    return !gw_threads || atomic_compare_exchange_strong_explicit(&l->word, &free, 1, memory_order_acquire, memory_order_relaxed);
}
/* Is the lock free?  Only reads, so it does not take the cache line from its holder. */
static inline bool gw_lock_look(const struct gw_lock *l)
{
    return !gw_threads || atomic_load_explicit(&l->word, memory_order_relaxed) == 0;
}
static inline void gw_lock(struct gw_lock *l)
{
    if (likely(!gw_threads)) return;
    if (!gw_lock_try(l)) gw_lock_slow(l);
    atomic_store_explicit(&l->takes, atomic_load_explicit(&l->takes, memory_order_relaxed) + 1, memory_order_relaxed);
}
static inline void gw_unlock(struct gw_lock *l)
{
    if (unlikely(gw_threads) && unlikely(atomic_exchange_explicit(&l->word, 0, memory_order_release) == 2)) gw_unlock_slow(l);
}

/* ---- threads of the library: all signals are blocked in them ---- */
int gw_thread_start(pthread_t *out, void *(*run)(void *), void *arg); /* GW_OK or GW_ENOMEM */
bool gw_thread_is_own(pid_t tid);
/* Asks the kernel to run the calling thread in slices of so many ns (100,000 or more), the sooner for it after each sleep; its share of a
 * core and its priority stay.  False where the kernel does not (Linux before 6.12 accepts and ignores it) or the thread is a real-time one. */
bool gw_thread_slice(int64_t ns);

#endif
