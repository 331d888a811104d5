/* time.c -- clocks, and the rate of the cheap one.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/time.h"

#include <time.h>

uint64_t gw_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double gw_wtime(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Both clocks at one moment.  Being preempted between the two reads would falsify the rate, so a slow pair is
 * taken again. */
static void clock_pair(uint64_t *ns_out, uint64_t *ticks_out)
{
    for (int tries = 0; tries < 16; tries++) {
        uint64_t before = gw_now_ns();
        *ticks_out = gw_ticks();
        *ns_out = gw_now_ns();
        if (*ns_out - before < 500) return;
    }
}

uint64_t gw_ticks_per_us(void)
{
    static _Atomic uint64_t rate;
    uint64_t r = atomic_load_explicit(&rate, memory_order_relaxed);
    if (likely(r)) return r;
    uint64_t ns0, ns1, t0, t1;
    clock_pair(&ns0, &t0);
    do clock_pair(&ns1, &t1);
    while (ns1 - ns0 < 20000);
    r = (t1 - t0) * 1000 / (ns1 - ns0);
    if (r == 0) r = 1;
    /* Two threads may both measure; either answer will do. */
    atomic_store_explicit(&rate, r, memory_order_relaxed);
    return r;
}
