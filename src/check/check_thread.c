/* check_thread.c -- calls of threads that the level of MPI_Init_thread does not allow.
 *
 * With MPI_THREAD_SINGLE and MPI_THREAD_FUNNELED only the thread that initialised MPI may call; with MPI_THREAD_SERIALIZED any thread,
 * one at a time.  Where a session asked for more, all may do what that one may: the level is that of the whole process.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

#include <pthread.h>

static struct {
    _Atomic int level;
    pthread_t first;        /* that initialised MPI */
    _Atomic bool has_first; /* not a session */
    /* In calls that are looked at.  Not with check_lock: at this level locks are no operations (base/lock.h), and calls come at once all the
     * same, or there would be nothing to be found. */
    _Atomic int n_inside;
    struct check_site inside; /* the call of the last one that entered */
} threads = {.level = GW_THREAD_MULTIPLE};

void check_level(int highest) { atomic_store_explicit(&threads.level, highest, memory_order_relaxed); }

void check_main_thread(void)
{
    threads.first = pthread_self();
    atomic_store_explicit(&threads.has_first, true, memory_order_release); /* [M1] */
}

/* Each place is told once.  With check_lock. */
static bool is_news(const void *from)
{
    enum { PLACES = 8 };
    static const void *told[PLACES];
    static int n_told;
    for (int i = 0; i < n_told; i++)
        if (told[i] == from) return false;
    if (n_told == PLACES) return false;
    told[n_told++] = from;
    return true;
}

void check_thread_look(void)
{
    char site[CHECK_SITE_TEXT];
    int now = atomic_load_explicit(&threads.level, memory_order_relaxed);
    if (now != GW_THREAD_SINGLE && now != GW_THREAD_FUNNELED) return;
    if (!atomic_load_explicit(&threads.has_first, memory_order_acquire) || pthread_equal(threads.first, pthread_self()))
        return; /* pairs with [M1] */
    gw_lock(&check_lock);
    bool is_new = is_news(check_me.now.from);
    gw_unlock(&check_lock);
    if (!is_new) return;
    check_say(
        "call of another thread: %s was called by a thread that did not initialise MPI; with %s only the one that did may call MPI",
        check_site_text(check_me.now, site), now == GW_THREAD_SINGLE ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED");
}

void check_inside(struct check_me *me)
{
    char site[CHECK_SITE_TEXT], other_site[CHECK_SITE_TEXT];
    if (me->depth++ > 0 || atomic_load_explicit(&threads.level, memory_order_relaxed) != GW_THREAD_SERIALIZED) return;
    assert(!me->counts);
    me->counts = true;
    struct check_site other = threads.inside;
    bool is_new = atomic_fetch_add_explicit(&threads.n_inside, 1, memory_order_acq_rel) > 0 && is_news(check_me.now.from);
    threads.inside = check_me.now;
    if (is_new)
        check_say(
            "calls of several threads at a time: %s was called while %s of another thread was under way; with MPI_THREAD_SERIALIZED "
            "there may be one at a time",
            check_site_text(check_me.now, site), check_site_text(other, other_site));
}

void check_left(struct check_me *me)
{
    assert(me->depth > 0);
    if (--me->depth > 0) return;
    check_recv_arrivals();
    if (!me->counts) return;
    me->counts = false;
    int n = atomic_fetch_sub_explicit(&threads.n_inside, 1, memory_order_release);
    assert(n > 0);
    (void)n;
}
