/* share.c -- whether a program that nobody counted runs on this rank's core: another job, or another host that is a
 * container here.
 *
 * A yield that took long says little: on a virtual machine it was as likely the hypervisor, an interrupt or the first
 * touch of a page.  The kernel counts when this thread lost the core to another one.  That is asked only where a yield
 * was long, and now and then while the core is known to be shared: a call of 0.3 us.
 *
 *   ALONE --long, and a switch--> SUSPECTED --the next yield: a switch--> SHARED --a switch in each LOOK_US--> SHARED
 *     ^------------------------------'--none                                '--STAY_US without one--> ALONE
 *
 * Measured on two cores of an Intel Xeon (virtual, Linux 6.18, November 2026), a second of yields: alone 504 were
 * longer than 6 us, in one of them there was a switch; beside a program that yields as well all 360,000 had one, and
 * 99.7 % of them took 2 us; beside one that computes all took 7 ms, and had one.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "node/node_private.h"
#include "base/settings.h"

#include <sys/resource.h>

enum { LONG_US = 6, LOOK_US = 200, STAY_US = 800 };
enum { ALONE, SUSPECTED, SHARED };
/* Threads that wait at once may each write: then one of their observations is lost, and the next one counts. */
static struct {
    _Atomic int state;
    _Atomic uint64_t since, look_at,
        until;   /* SHARED: since when, when the kernel is asked next, for how long without another switch */
    uint64_t us; /* ticks in one */
    bool learns; /* false: what is known of the core does not change */
    uint32_t alone_spin, shared_spin;
    _Atomic uint64_t times, ticks; /* how often and how long the core was shared */
} share;

/* Whether this thread has lost the core since the last question. */
static bool was_switched(void)
{
    static _Thread_local long last;
    struct rusage r;
    if (getrusage(RUSAGE_THREAD, &r) != 0) return true; /* a sandbox refuses: then the time must do */
    bool is_more = r.ru_nivcsw != last;
    last = r.ru_nivcsw;
    return is_more;
}

static void become(int state, uint64_t now)
{
    int old = atomic_exchange_explicit(&share.state, state, memory_order_relaxed);
    if (state == SHARED && old != SHARED) {
        atomic_store_explicit(&share.since, now, memory_order_relaxed);
        atomic_store_explicit(&gw_node.spin, share.shared_spin + 1, memory_order_relaxed);
        if (atomic_fetch_add_explicit(&share.times, 1, memory_order_relaxed) == 0)
            GW_EXPLAIN(GW_LOG_WAIT,
                       "another program runs on this rank's core: the rank looks %u times and yields, while that lasts",
                       share.shared_spin);
    } else if (old == SHARED && state != SHARED) {
        atomic_store_explicit(&gw_node.spin, share.alone_spin + 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&share.ticks, now - atomic_load_explicit(&share.since, memory_order_relaxed),
                                  memory_order_relaxed);
        if (share.times == 1)
            GW_EXPLAIN(GW_LOG_WAIT, "the rank has its core for itself again, and looks %u times", share.alone_spin);
    }
}

static void keep_shared(uint64_t now)
{
    atomic_store_explicit(&share.look_at, now + LOOK_US * share.us, memory_order_relaxed);
    atomic_store_explicit(&share.until, now + STAY_US * share.us, memory_order_relaxed);
}

void node_share_open(bool learns, uint32_t alone_spin, uint32_t shared_spin)
{
    share.us = (uint64_t)gw_ticks_per_us();
    share.learns = learns;
    share.alone_spin = alone_spin;
    share.shared_spin = shared_spin;
    share.times = 0;
    share.ticks = 0;
    atomic_store_explicit(&share.state, ALONE, memory_order_relaxed);
    was_switched(); /* what was before does not count */
}

void node_share_close(void)
{
    become(ALONE, gw_ticks());
    if (share.times)
        GW_EXPLAIN(GW_LOG_WAIT, "another program ran on this rank's core %llu times, for %.1f ms in all",
                   (unsigned long long)share.times, (double)share.ticks / (double)share.us / 1e3);
}

bool node_share_is(void) { return atomic_load_explicit(&share.state, memory_order_relaxed) == SHARED; }

bool node_share_yielded(uint64_t before, uint64_t after, uint64_t far_too_long)
{
    bool is_far_too_long = after - before > far_too_long;
    if (!share.learns) return is_far_too_long && was_switched();
    int state = atomic_load_explicit(&share.state, memory_order_relaxed);
    bool is_due = state == SUSPECTED || (state == SHARED && after >= atomic_load_explicit(&share.look_at, memory_order_relaxed));
    if (likely(after - before <= LONG_US * share.us) && !is_due) return false;
    bool is_switch = was_switched();
    if (state == ALONE) {
        if (is_switch) become(SUSPECTED, after);
        return false; /* it may have been before this yield */
    }
    if (is_switch) {
        keep_shared(after);
        become(SHARED, after);
    } else if (state == SUSPECTED || after >= atomic_load_explicit(&share.until, memory_order_relaxed)) {
        become(ALONE, after);
    } else {
        atomic_store_explicit(&share.look_at, after + LOOK_US * share.us, memory_order_relaxed);
    }
    return is_far_too_long && is_switch;
}
