/* thread.c -- the library's own threads.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/lock.h"

enum { OWN_MOST = 16 };
static _Atomic pid_t own[OWN_MOST]; /* 0: free */

struct start {
    void *(*run)(void *);
    void *arg;
    int place;
};

static void *begin(void *p)
{
    struct start s = *(struct start *)p;
    free(p);
    atomic_store_explicit(&own[s.place], (pid_t)syscall(SYS_gettid), memory_order_relaxed);
    void *result = s.run(s.arg);
    atomic_store_explicit(&own[s.place], 0, memory_order_relaxed);
    return result;
}

static int place_take(void)
{
    for (int i = 0; i < OWN_MOST; i++) {
        pid_t free_one = 0;
        if (atomic_compare_exchange_strong(&own[i], &free_one, -1)) return i;
    }
    return -1;
}

int gw_thread_start(pthread_t *out, void *(*run)(void *), void *arg)
{
    sigset_t all, before;
    struct start *s = gw_xmalloc(sizeof *s);
    *s = (struct start){run, arg, place_take()};
    assert(s->place >= 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(out, NULL, begin, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0) return GW_OK;
    atomic_store_explicit(&own[s->place], 0, memory_order_relaxed);
    free(s);
    return gw_fail(GW_ENOMEM, "a thread cannot be made: %s", strerror(rc));
}

/* sched(7), sched_setattr(2): the C library of Debian 12 has neither the calls nor the struct. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

bool gw_thread_slice(int64_t ns)
{
    struct attributes a = {.size = sizeof a};
    if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) < 0 || (a.policy != SCHED_OTHER && a.policy != SCHED_BATCH)) return false;
    a.runtime = (uint64_t)ns;
    return syscall(SYS_sched_setattr, 0, &a, 0) == 0;
}

bool gw_thread_is_own(pid_t tid)
{
    for (int i = 0; i < OWN_MOST; i++)
        if (atomic_load_explicit(&own[i], memory_order_relaxed) == tid) return true;
    return false;
}
