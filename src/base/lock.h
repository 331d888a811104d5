/* lock.h -- locks, which are none where there are no threads; threads of our own.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_LOCK_H
#define GW_BASE_LOCK_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/base.h"

/* ---- locks: none or spin, chosen once ------------------------------------------------------------- */
struct gw_lock {
    _Atomic uint32_t word;  /* 0 free, 1 held, 2 held with sleepers (futex) */
    _Atomic uint32_t takes; /* how often gw_lock() took it; counted only with gw_threads */
};
GW_EXTERN bool gw_threads;  /* true when MPI_THREAD_MULTIPLE: locks are real */
GW_EXTERN bool gw_checking; /* GODWIT_CHECK is on: calls go by way of room check */
GW_EXTERN bool gw_careful;  /* either of the two: what is inlined into entry points is not for us */
void gw_lock_slow(struct gw_lock *l);
void gw_unlock_slow(struct gw_lock *l);
static inline bool gw_lock_try(struct gw_lock *l)
{
    uint32_t free = 0;
    return !gw_threads || atomic_compare_exchange_strong_explicit(&l->word, &free, 1, memory_order_acquire, memory_order_relaxed);
}
/* Might gw_lock_try() succeed?  Takes the lock's line from nobody. */
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

/* ---- threads of the library's own: no signals come to them, and they are not the program's ---- */
int gw_thread_start(pthread_t *out, void *(*run)(void *), void *arg); /* GW_OK or GW_ENOMEM */
bool gw_thread_is_own(pid_t tid);

#endif
