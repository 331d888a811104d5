/* thread.c -- the progress thread (GODWIT_PROGRESS_THREAD): what is pending goes on although the program makes no MPI call.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <signal.h>

#include "req/req_private.h"

#include "node/node.h"

/* The program most likely computes on the same core, so this thread hardly spins before it gives the core back. */
enum { SPINS = 16 };

static pthread_t thread;
static bool is_running;
static atomic_bool is_over;

static void *run(void *unused)
{
    struct node_wait w;
    node_wait_begin_silent(&w);
    while (!atomic_load_explicit(&is_over, memory_order_acquire)) {
        int n = req_progress();
        if (!w.phase && w.count > SPINS) w.count = SPINS;
        node_wait_step(&w, n > 0);
    }
    node_wait_end(&w);
    return unused;
}

int req_thread_start(void)
{
    sigset_t all, old;
    if (!gw_set.progress_thread) return GW_OK;
    assert(gw_threads);
    atomic_store_explicit(&is_over, false, memory_order_relaxed);
    /* Signals belong to the program's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc) return gw_fail(GW_ENOMEM, "the progress thread cannot be started (error %d); unset GODWIT_PROGRESS_THREAD", rc);
    is_running = true;
    return GW_OK;
}

void req_thread_stop(void)
{
    if (!is_running) return;
    atomic_store_explicit(&is_over, true, memory_order_release);
    node_ring(gw_node.me);
    pthread_join(thread, NULL);
    is_running = false;
}
