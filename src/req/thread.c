/* thread.c -- the progress thread (GODWIT_PROGRESS_THREAD): what is pending goes on although the program makes no MPI call.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <sched.h>

#include "req/req_private.h"

#include "base/lock.h"
#include "base/os.h"
#include "base/settings.h"
#include "node/node.h"

/* The program most likely computes on the same core, so this thread spins only briefly before it yields. */
enum { SPINS = 16 };

static struct progress_state {
    pthread_t thread;
    bool is_running;     /* thread has been started and not joined */
    atomic_bool is_over; /* asks it to end: [P1], release by req_thread_stop(), acquire by run() */
} progress_state;

/* Moves the thread to the CPUs of GODWIT_PROGRESS_CPUS, so that it takes no time from the program. */
static void move_to_cpus(void)
{
    enum { MAX_CPUS = 8192, BYTES = MAX_CPUS / 8 };
    uint64_t set[BYTES / 8];
    if (!gw_set.progress_cpus || !gw_set.progress_cpus[0]) return;
    gw_cpus_read(gw_set.progress_cpus, set, BYTES);
    if (pthread_setaffinity_np(pthread_self(), BYTES, (cpu_set_t *)set) != 0)
        gw_warn("the progress thread may not run on CPUs %s (GODWIT_PROGRESS_CPUS): it stays where the rank is",
                gw_set.progress_cpus);
}

static void *run(void *unused)
{
    struct node_wait w;
    move_to_cpus();
    node_wait_begin_silent(&w);
    while (!atomic_load_explicit(&progress_state.is_over, memory_order_acquire)) {
        int n = req_progress();
        if (!w.phase && w.count > SPINS) w.count = SPINS;
        node_wait_step(&w, n > 0);
    }
    node_wait_end(&w);
    return unused;
}

int req_thread_start(void)
{
    if (!gw_set.progress_thread) return GW_OK;
    assert(gw_threads);
    atomic_store_explicit(&progress_state.is_over, false, memory_order_relaxed);
    if (gw_thread_start(&progress_state.thread, run, NULL) != GW_OK)
        return gw_fail(GW_ENOMEM, "the progress thread cannot be started; unset GODWIT_PROGRESS_THREAD");
    progress_state.is_running = true;
    return GW_OK;
}

void req_thread_stop(void)
{
    if (!progress_state.is_running) return;
    atomic_store_explicit(&progress_state.is_over, true, memory_order_release);
    node_ring(gw_node.me);
    pthread_join(progress_state.thread, NULL);
    progress_state.is_running = false;
}
