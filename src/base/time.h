/* time.h -- clocks, ticks, and what to do while one waits for a moment.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_TIME_H
#define GW_BASE_TIME_H

#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>

/* ---- time -------------------------------------------------------------------------------------- */
double gw_wtime(void);                /* seconds, monotonic */
uint64_t gw_now_ns(void);             /* CLOCK_MONOTONIC */
static inline uint64_t gw_ticks(void) /* cheap, monotonic enough for spin budgets; unit: see gw_ticks_per_us */
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return gw_now_ns();
#endif
}
uint64_t gw_ticks_per_us(void); /* measured once, 20 us */
static inline void gw_cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* sched_yield(), without a visit to another library where that is easy. */
static inline void gw_yield(void)
{
#if defined(__x86_64__)
    long rc = SYS_sched_yield;
    __asm__ volatile("syscall" : "+a"(rc) : : "rcx", "r11", "memory");
#else
    sched_yield();
#endif
}

#endif
