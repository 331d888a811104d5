/* lock.c -- the slow half of struct gw_lock: look again after growing pauses, then sleep on the word.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/count.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/time.h"

bool gw_threads, gw_checking, gw_args_wanted, gw_slow_path;

/* A lane is held for well under a microsecond, but moving the lock to another core costs more than the work that is done under it.
 * So a thread that finds it held waits longer and longer: meanwhile the core of the holder takes it many times at no cost.  After that
 * the holder has lost its core, or is at something long: sleep. */
enum { FIRST_PAUSES = 4, MOST_PAUSES = 64, LOCK_LOOKS = 16 };

/* INVARIANT: a thread that sleeps has left 2 in the word, and a thread that takes the lock after sleeping keeps it at 2,
 * because there may be more sleepers; so the release that sees 2 wakes one. */
void gw_lock_slow(struct gw_lock *l)
{
    gw_counted(&gw_count.locks_waited, 1);
    for (int i = 0, pauses = FIRST_PAUSES; i < LOCK_LOOKS; i++) {
        for (int k = 0; k < pauses; k++) gw_cpu_relax();
        if (pauses < MOST_PAUSES) pauses *= 2;
        if (atomic_load_explicit(&l->word, memory_order_relaxed) == 0 && gw_lock_try(l)) return;
    }
    /* Acquire pairs with the release exchange in gw_unlock(). */
    while (atomic_exchange_explicit(&l->word, 2, memory_order_acquire) != 0) gw_futex_wait(&l->word, 2, -1);
}

void gw_unlock_slow(struct gw_lock *l) { gw_futex_wake(&l->word, 1); }
