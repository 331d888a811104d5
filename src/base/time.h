/* time.h -- clocks, CPU ticks, pause and yield.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_TIME_H
#define GW_BASE_TIME_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* ---- time -------------------------------------------------------------------------------------- */
double gw_wtime(void);                /* seconds, monotonic */
uint64_t gw_now_ns(void);             /* CLOCK_MONOTONIC */
static inline uint64_t gw_ticks(void) /* time stamp counter, for spin budgets; unit: gw_ticks_per_us() */
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return gw_now_ns();
#endif
}
uint64_t gw_ticks_per_us(void); /* ticks per microsecond; measured at the first call, which takes 20 us */
static inline void gw_cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* What a look at the clock, a system call and a yield that finds nobody else cost here, as text: the least of some, 50 us in all. */
char *gw_costs_text(char *to, size_t cap);

/* sched_yield(), without a call into libc on x86-64. */
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
