/* lock.c -- the slow half of struct gw_lock: spin briefly, then sleep on the word.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"

bool gw_threads;

/* A lane is held for well under a microsecond; spinning longer than a few times that only burns the core that
 * the holder may need. */
enum { LOCK_SPINS = 64 };

/* INVARIANT: a thread that sleeps has left 2 in the word, and whoever takes the lock after sleeping keeps it at 2,
 * because there may be more sleepers; so the release that sees 2 wakes one. */
void gw_lock_slow(struct gw_lock *l)
{
    for (int i = 0; i < LOCK_SPINS; i++) {
        gw_cpu_relax();
        if (atomic_load_explicit(&l->word, memory_order_relaxed) == 0 && gw_lock_try(l)) return;
    }
    /* Acquire pairs with the release exchange in gw_unlock(). */
    while (atomic_exchange_explicit(&l->word, 2, memory_order_acquire) != 0) gw_futex_wait(&l->word, 2, -1);
}

void gw_unlock_slow(struct gw_lock *l)
{
    gw_futex_wake(&l->word, 1);
}
