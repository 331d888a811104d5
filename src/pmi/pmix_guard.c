/* pmix_guard.c -- see pmix_guard.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "pmi/pmix_guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/time.h"
#include "job/job.h"

enum { PATIENCE_S = 30, WAKES = SIGURG };
static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT}, crashes[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

static struct {
    pthread_t ear;
    bool has_ear;
    atomic_bool is_over;
    int err;
    char late[300], crashed[300]; /* the sentences: a handler of signals formats nothing */
    sigset_t before;
    struct sigaction were[GW_ARRAY_LEN(crashes)];
} guard;

const char *pmix_guard_cannot(void)
{
    static unsigned long cpus[2048];
    static char why[200];
    if (syscall(SYS_sched_getaffinity, 0, sizeof cpus, cpus) >= 0) return NULL;
    snprintf(why, sizeof why,
             "the cores of this process cannot be asked for (sched_getaffinity: %s), which hwloc in libpmix would try for ever",
             strerror(errno));
    return why;
}

static void say(const char *text) { (void)!write(guard.err, text, strlen(text)); }

static void crashed(int sig)
{
    (void)sig;
    say(guard.crashed); /* and once more, by the default: SA_RESETHAND */
}

/* Signals are blocked in all threads: what the process gets waits for this one. */
static void *listen_to(void *arg)
{
    sigset_t set, one;
    uint64_t until = gw_now_ns() + (uint64_t)PATIENCE_S * 1000000000;
    (void)arg;
    sigemptyset(&set);
    sigaddset(&set, WAKES);
    for (size_t i = 0; i < GW_ARRAY_LEN(ends); i++) sigaddset(&set, ends[i]);
    while (!atomic_load_explicit(&guard.is_over, memory_order_acquire)) {
        int sig = sigtimedwait(&set, NULL, &(struct timespec){1, 0});
        if (sig > 0 && sig != WAKES) { /* as it was meant: ignored, or the end */
            sigemptyset(&one);
            sigaddset(&one, sig);
            pthread_sigmask(SIG_UNBLOCK, &one, NULL);
            raise(sig);
            pthread_sigmask(SIG_BLOCK, &one, NULL);
        }
        if (gw_now_ns() < until || atomic_load_explicit(&guard.is_over, memory_order_acquire)) continue;
        say(guard.late);
        _exit(EXIT_CANNOT_RUN);
    }
    return NULL;
}

void pmix_guard_begin(const char *what, int err)
{
    sigset_t all;
    static const char without[] = "programs that do not ask for PMIx start with --pmix off";
    guard.err = err;
    atomic_store_explicit(&guard.is_over, false, memory_order_relaxed);
    snprintf(guard.late, sizeof guard.late,
             "mpiexec: %s: libpmix does not come back within %d s; the job ends now. Does a sandbox refuse system calls? %s\n",
             what, PATIENCE_S, without);
    snprintf(guard.crashed, sizeof guard.crashed,
             "mpiexec: %s: libpmix crashes; the job ends now. Does a sandbox refuse system calls? %s\n", what, without);
    sigfillset(&all);
    for (size_t i = 0; i < GW_ARRAY_LEN(crashes); i++) {
        struct sigaction sa = {.sa_handler = crashed, .sa_flags = SA_RESETHAND};
        sigdelset(&all, crashes[i]);
        sigaction(crashes[i], &sa, &guard.were[i]);
    }
    pthread_sigmask(SIG_SETMASK, &all, &guard.before);
    guard.has_ear = pthread_create(&guard.ear, NULL, listen_to, NULL) == 0;
}

void pmix_guard_end(void)
{
    atomic_store_explicit(&guard.is_over, true, memory_order_release); /* pairs with the loads in listen_to() */
    if (guard.has_ear) {
        pthread_kill(guard.ear, WAKES);
        pthread_join(guard.ear, NULL);
    }
    for (size_t i = 0; i < GW_ARRAY_LEN(crashes); i++) sigaction(crashes[i], &guard.were[i], NULL);
    pthread_sigmask(SIG_SETMASK, &guard.before, NULL);
}
