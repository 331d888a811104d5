/* wait.c -- doorbells, and how a rank waits: spin, yield, sleep.
 *
 *   SPIN --budget used up--> YIELD --time used up--> ARMED --one more look, nothing--> asleep --rung or timeout--> YIELD
 *   any of them --progress--> SPIN
 *
 * No wake-up is lost.  A ringer publishes [1], then reads `sleeping` [2]; a sleeper reads `seq`, sets `sleeping` [3], then
 * looks [4], then sleeps on the value that it read: who takes the flag down after [3] bumps `seq`, even before the look.  With a full fence between [3] and [4] and one between [1] and
 * [2], either the ringer sees the sleeper or the sleeper sees what was published.  Where ranks do not share cores, sleeping is
 * rare and ringing is not, so the sleeper pays for both fences: membarrier() makes every running rank execute one.
 * The ringer that takes the flag down bumps `seq` and wakes; a sleeper that is late finds another `seq` and does not sleep.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "node/node_private.h"

#include <limits.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPIN, YIELD, ARMED };
static uint32_t spin_rounds;
static uint64_t yield_ticks;
static bool never_yield, never_sleep, use_membarrier;

static long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

void wait_open(void)
{
    bool shared_cores = gw_node.oversubscribed;
    int64_t spin = gw_set.wait_spin >= 0 ? gw_set.wait_spin : shared_cores ? 8 : 4000;
    int64_t yield_us = gw_set.wait_yield >= 0 ? gw_set.wait_yield : shared_cores ? 1000 : 100;
    never_yield = gw_set.wait == GW_SET_WAIT_SPIN;
    never_sleep = gw_set.wait == GW_SET_WAIT_YIELD || never_yield;
    if (gw_set.wait == GW_SET_WAIT_SLEEP) spin = yield_us = 0;
    spin_rounds = (uint32_t)spin + 1;
    yield_ticks = (uint64_t)yield_us * gw_ticks_per_us();
    use_membarrier = !shared_cores && membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
    /* Whoever is not registered is not interrupted by a sleeper's membarrier, so it fences by itself. */
    gw_node.fence = !use_membarrier;
}

void wait_close(void)
{
    if (gw_node.doors) atomic_store_explicit(&gw_node.doors[gw_node.me].sleeping, 0, memory_order_relaxed);
}

void node_ring_slow(int local_rank)
{
    struct node_door *d = &gw_node.doors[local_rank];
    if (!atomic_exchange_explicit(&d->sleeping, 0, memory_order_acq_rel)) return; /* another ringer took it on */
    atomic_fetch_add_explicit(&d->seq, 1, memory_order_release);
    gw_futex_wake(&d->seq, INT_MAX);
}

void node_wait_begin(struct node_wait *w)
{
    w->phase = SPIN;
    w->count = spin_rounds;
}

void node_wait_end_slow(struct node_wait *w)
{
    /* With several threads another one may be armed: then the flag stays, at worst for one ring too many. */
    if (w->phase == ARMED && !gw_threads)
        atomic_store_explicit(&gw_node.doors[gw_node.me].sleeping, 0, memory_order_relaxed);
}

void node_wait_reset(struct node_wait *w)
{
    node_wait_end_slow(w);
    node_wait_begin(w);
}

static void arm(struct node_wait *w)
{
    struct node_door *d = &gw_node.doors[gw_node.me];
    w->seen = atomic_load_explicit(&d->seq, memory_order_acquire);
    atomic_store_explicit(&d->sleeping, 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    if (use_membarrier) membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    w->phase = ARMED;
}

/* The timeout is a net below the proof above, and what bounds the harm of a rank that was killed while it rang. */
static void sleep_once(struct node_wait *w)
{
    static const int64_t shortest_ns = 1000000, longest_ns = 50000000;
    int64_t ns = shortest_ns << (w->count < 6 ? w->count : 6);
    gw_futex_wait(&gw_node.doors[gw_node.me].seq, w->seen, gw_min64(ns, longest_ns));
    w->count++;
}

void node_wait_step_slow(struct node_wait *w)
{
    switch (w->phase) {
    case SPIN:
        if (never_yield) {
            w->count = spin_rounds;
            gw_cpu_relax();
            return;
        }
        w->phase = YIELD;
        w->count = 0;
        w->until = gw_ticks() + yield_ticks;
        return;
    case YIELD:
        if (never_sleep || gw_ticks() < w->until)
            sched_yield();
        else
            arm(w);
        return;
    default:
        sleep_once(w);
        /* Somebody rang, most likely for us: look a little while before the next sleep. */
        w->phase = YIELD;
        w->until = gw_ticks();
        return;
    }
}
