/* copy_learn.h -- which of several ways of copying is the quickest on this machine, learnt from copies that are made anyway.
 *
 * Which it is depends on the processor and on where the two cores lie, which on a virtual machine changes under the hand.  So each
 * kind of copy has a record: the first copies take turns and are timed, the quickest way has the others, and now and then each way
 * is timed once more.
 *
 *     turn   0 .. 2 * WAYS      in turns, not timed: memory that is touched for the first time tells nothing
 *            .. 8 * WAYS        in turns, timed
 *            from there         the best one; of each 256 turns the first WAYS are timed again
 *
 * Threads may use a record at once: then a sample is lost.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_COPY_LEARN_H
#define GW_BASE_COPY_LEARN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum copy_way { COPY_LIBC, COPY_STRING, COPY_PLAIN, COPY_WAYS };
struct copy_record {
    _Atomic uint32_t turn, best;
    _Atomic uint32_t cost[COPY_WAYS]; /* mean, in 1/16 of a tick a KiB; 0: no sample */
};

enum { COPY_WARM = 2 * COPY_WAYS, COPY_KNOWN = 8 * COPY_WAYS, COPY_AGAIN = 256 };

/* The way of the next copy, and whether it is to be timed. */
static inline enum copy_way copy_way_next(struct copy_record *r, bool *is_timed_out)
{
    uint32_t turn = atomic_load_explicit(&r->turn, memory_order_relaxed);
    atomic_store_explicit(&r->turn, turn + 1 ? turn + 1 : COPY_KNOWN, memory_order_relaxed);
    bool tries = turn < COPY_KNOWN || turn % COPY_AGAIN < COPY_WAYS;
    *is_timed_out = unlikely(tries) && turn >= COPY_WARM;
    return unlikely(tries) ? (enum copy_way)(turn % COPY_AGAIN % COPY_WAYS)
                           : (enum copy_way)atomic_load_explicit(&r->best, memory_order_relaxed);
}

/* A copy of n bytes took so many ticks.  No sample counts more than twice the mean: an interrupt says nothing.  Another way becomes the best
 * when it is better by a sixteenth. */
void copy_way_took(struct copy_record *r, enum copy_way way, uint64_t ticks, size_t n);

#endif
