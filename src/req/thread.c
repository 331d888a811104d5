/* thread.c -- the progress thread (GODWIT_PROGRESS_THREAD): what is pending goes on although the program makes no MPI call; and the service
 * (GODWIT_RMA_THREAD), which answers ranks of other nodes that access this one's memory.  One of the two runs, or none.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <sched.h>

#include "req/req_private.h"

#include "base/event.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/settings.h"
#include "mem/mem.h"
#include "node/node.h"

/* The program most likely computes on the same core, so this thread spins only briefly before it yields. */
enum { SPINS = 16 };

static struct progress_state {
    pthread_t thread;
    bool is_running;       /* thread has been started and not joined */
    atomic_bool is_over;   /* asks it to end: [P1], release by thread_stop(), acquire by run() and serve() */
    pthread_mutex_t lock;  /* guards the rest */
    int holders;           /* of the service */
    bool is_service;       /* the thread that runs is the service */
    bool has_slowed;       /* gw_slow_path is on for the service */
    _Atomic uint32_t rest; /* the service naps on this word */
} progress_state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Moves the thread to the CPUs of GODWIT_PROGRESS_CPUS, so that it takes no time from the program. */
static void move_to_cpus(void)
{
    enum { MAX_CPUS = 8192, BYTES = MAX_CPUS / 8 };
    uint64_t set[BYTES / 8];
    if (!gw_set.progress_cpus || !gw_set.progress_cpus[0]) return;
    gw_cpus_read(gw_set.progress_cpus, set, BYTES);
    if (pthread_setaffinity_np(pthread_self(), BYTES, (cpu_set_t *)set) != 0)
        gw_warn("the thread that makes progress may not run on CPUs %s (GODWIT_PROGRESS_CPUS): it stays where the rank is",
                gw_set.progress_cpus);
}

/* A message that wakes this thread on a core where the program computes shall not wait for the end of the slice of that one. */
static void begin(void)
{
    static const int64_t slice_ns = 100000;
    move_to_cpus();
    gw_thread_slice(slice_ns);
}

static void *run(void *unused)
{
    struct node_wait w;
    begin();
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
        return gw_fail(GW_ENOMEM, "the progress thread cannot be started; unset %s", gw_setting_said("GODWIT_PROGRESS_THREAD"));
    progress_state.is_running = true;
    return GW_OK;
}

static void thread_stop(void)
{
    if (!progress_state.is_running) return;
    atomic_store_explicit(&progress_state.is_over, true, memory_order_release);
    atomic_store_explicit(&progress_state.rest, 1, memory_order_release);
    gw_futex_wake(&progress_state.rest, 1);
    node_ring(gw_node.me);
    pthread_join(progress_state.thread, NULL);
    progress_state.is_running = progress_state.is_service = false;
}

void req_thread_stop(void)
{
    pthread_mutex_lock(&progress_state.lock);
    thread_stop();
    progress_state.holders = 0; /* windows that the program has not freed */
    pthread_mutex_unlock(&progress_state.lock);
}

/* ---- the service ---- */
/* Does a descriptor or the doorbell wake who sleeps?  Else the service looks once a nap. */
static bool may_sleep(void)
{
    bool by_setting = gw_set.wait == GW_SET_WAIT_AUTO || gw_set.wait == GW_SET_WAIT_SLEEP;
    return by_setting && (!gw_lanes[0].n_nets || node_bell_is_used());
}

static void nap(void)
{
    static const int64_t nap_ns = 1000000;
    gw_futex_wait(&progress_state.rest, 0, nap_ns);
}

/* An access is several messages some us apart.  A thread that sleeps between them has had its share when the next one wakes it, and the
 * kernel then lets the program finish its slice first (4 ms): so it stays awake for a little after each. */
static bool stays(int64_t *until, bool has_served)
{
    static const int64_t stay_ns = 100000;
    if (!has_served && !*until) return false;
    int64_t now = (int64_t)gw_now_ns();
    if (has_served)
        *until = now + stay_ns;
    else if (now >= *until)
        *until = 0;
    return *until != 0;
}

static void *serve(void *unused)
{
    struct node_wait w;
    int64_t until = 0;
    bool is_polled;
    begin();
    node_wait_begin_silent(&w);
    while (!atomic_load_explicit(&progress_state.is_over, memory_order_acquire)) {
        int n = req_progress_service(&is_polled);
        if (is_polled) {
            node_wait_reset(&w); /* not armed: who rings wakes the thread that polls */
            nap();
            continue;
        }
        if (n > 0) node_wait_reset(&w);
        if (stays(&until, n > 0)) continue;
        if (!w.phase && w.count > SPINS) w.count = SPINS;
        w.until = 0;                /* no yielding: the core is the program's */
        if (n == 0 && !may_sleep()) /* not yet: a network may be opened later */
            nap();
        else
            node_wait_step(&w, n > 0);
    }
    node_wait_end(&w);
    return unused;
}

static void service_start(void)
{
    static bool is_said;
    atomic_store_explicit(&progress_state.is_over, false, memory_order_relaxed);
    atomic_store_explicit(&progress_state.rest, 0, memory_order_relaxed);
    /* Only written where it changes: other threads may read it.  Nobody holds a lock that is not one yet (req.h). */
    if (!gw_threads) gw_threads = true;
    progress_state.has_slowed = !gw_slow_path;
    if (!gw_slow_path) gw_slow_path = true;
    progress_state.is_running = progress_state.is_service = gw_thread_start(&progress_state.thread, serve, NULL) == GW_OK;
    if (!progress_state.is_running && !is_said)
        gw_warn("no thread can be started that serves other nodes' accesses to this rank's windows: they wait until it calls MPI");
    is_said = is_said || !progress_state.is_running;
}

void req_service_hold(void)
{
    pthread_mutex_lock(&progress_state.lock);
    if (progress_state.holders++ == 0 && !progress_state.is_running && gw_set.rma_thread != GW_SET_RMA_THREAD_OFF) service_start();
    pthread_mutex_unlock(&progress_state.lock);
}

/* Calls the fast paths back that service_start() sent away, unless somebody else does not want them by now.  Locks stay real: a tool's thread
 * or one of a network may hold one. */
static void fast_again(void)
{
    if (progress_state.has_slowed && !gw_program_threads && !gw_checking && !mem_has_drivers) gw_slow_path = false;
}

void req_service_drop(void)
{
    pthread_mutex_lock(&progress_state.lock);
    if (progress_state.holders > 0 && --progress_state.holders == 0 && progress_state.is_service) {
        thread_stop();
        fast_again();
    }
    pthread_mutex_unlock(&progress_state.lock);
}
