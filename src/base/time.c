/* time.c -- clocks, and the rate of the cheap one.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/time.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

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

static void call_once(void) { syscall(SYS_getppid); } /* nothing answers it but the kernel */
static void look_once(void) { gw_now_ns(); }

/* The least of eight batches, in us. */
static double cost_of(void (*once)(void))
{
    enum { BATCHES = 8, N = 4 };
    uint64_t least = UINT64_MAX;
    for (int b = 0; b < BATCHES; b++) {
        uint64_t begin = gw_ticks();
        for (int i = 0; i < N; i++) once();
        uint64_t took = gw_ticks() - begin;
        least = took < least ? took : least;
    }
    return (double)least / N / (double)gw_ticks_per_us();
}

char *gw_costs_text(char *to, size_t cap)
{
    snprintf(to, cap, "a look takes %.2f us, a system call %.2f us, a yield %.2f us", cost_of(look_once), cost_of(call_once),
             cost_of(gw_yield));
    return to;
}
