/* wait.c -- doorbells, and how a rank waits: spin, yield, sleep.
 *
 *   SPIN --budget used up--> YIELD --time used up, or slow--> ARMED --one more look, nothing--> asleep --rung or timeout--> YIELD
 *   any of them --progress--> SPIN          (GODWIT_WAIT=spin: SPIN --budget used up--> SPIN_ON)
 *
 * The budget of SPIN is small while another program runs on the core (share.c).
 *
 * No wake-up is lost.  A ringer publishes [1], then reads `sleeping` [2]; a sleeper reads `seq`, sets `sleeping` [3], then
 * looks [4], then sleeps on the value that it read: who takes the flag down after [3] bumps `seq`, even before the look.  With a full fence between [3] and [4] and one between [1] and
 * [2], either the ringer sees the sleeper or the sleeper sees what was published.  Where ranks do not share cores, sleeping is
 * rare and ringing is not, so the sleeper pays for both fences: membarrier() makes every running rank execute one.
 * Who rings many looks first how many of the node sleep; a sleeper counts itself at [3] and until it has come back.
 * The ringer that takes the flag down bumps `seq` and wakes; a sleeper that is late finds another `seq` and does not sleep.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "node/node_private.h"
#include "base/count.h"
#include "base/event.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/settings.h"
#include "boot/alive.h"

#include <limits.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPIN, YIELD, ARMED, SPIN_ON };
enum { LONG_YIELD_US = 1500, YIELD_PAUSE_US = 20000 };
enum { SPIN_ALONE = 4000, SPIN_SHARED = 3, YIELD_US_ALONE = 100, YIELD_US_SHARED = 1000 };
/* How ranks of this process wait: set by node_wait_open() from the settings.  Ticks are those of gw_ticks(). */
static struct {
    bool never_yield, never_sleep;
    bool use_membarrier;                      /* sleepers fence for those that ring */
    uint64_t yield_ticks, shared_yield_ticks; /* how long a rank yields before it sleeps; while others share its core */
    uint64_t long_yield_ticks;                /* after a longer yield ranks sleep at once, for pause_ticks */
    uint64_t pause_ticks;
    _Atomic uint64_t no_yield_until; /* ranks sleep at once until then */
    struct gw_lock report_lock;      /* over the record that says where this rank is */
} waits;

/* A yield among waiting ranks takes microseconds.  One that took milliseconds went through the time slices of who computes, ranks
 * or other programs, and the next one will: who yields counts as running and comes last, who sleeps is put first when it is woken.
 * Collectives whose ranks yield to each other (gw_node.yields) do not ask here.  Of 64 ranks on 4 cores one long yield was enough
 * that they woke each other by the kernel from then on, which made further yields long: a barrier took 3 ms instead of 0.06. */
void node_wait_yielded(uint64_t before, uint64_t after)
{
    if (likely(!node_share_yielded(before, after, waits.long_yield_ticks))) return;
    atomic_store_explicit(&waits.no_yield_until, after + waits.pause_ticks, memory_order_relaxed);
}

bool node_wait_yield(void)
{
    uint64_t before = gw_ticks();
    if (unlikely(before < atomic_load_explicit(&waits.no_yield_until, memory_order_relaxed))) return false;
    gw_yield();
    node_wait_yielded(before, gw_ticks());
    return true;
}

static long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

void node_wait_budget(int64_t *spin_out, int64_t *yield_us_out)
{
    bool is_shared = gw_node.oversubscribed;
    *spin_out = gw_set.wait_spin >= 0 ? gw_set.wait_spin : is_shared ? SPIN_SHARED : SPIN_ALONE;
    *yield_us_out = gw_set.wait_yield >= 0 ? gw_set.wait_yield : is_shared ? YIELD_US_SHARED : YIELD_US_ALONE;
}

/* A process that does not use membarrier() is neither made to fence by sleepers nor makes ringers fence.  All of a node do alike, unless the
 * kernel refuses it to some. */
void node_wait_fences(struct node_door *doors, int n)
{
    for (int i = 0; i < n; i++) atomic_fetch_or_explicit(&doors[i].sleeping, NODE_FENCED, memory_order_relaxed);
}

void node_wait_open(void)
{
    assert(gw_node.doors && gw_node.me < gw_node.nlocal);
    bool shared_cores = gw_node.oversubscribed;
    int64_t spin, yield_us;
    node_wait_budget(&spin, &yield_us);
    waits.never_yield = gw_set.wait == GW_SET_WAIT_SPIN;
    waits.never_sleep = gw_set.wait == GW_SET_WAIT_YIELD || waits.never_yield;
    if (gw_set.wait == GW_SET_WAIT_SLEEP) spin = yield_us = 0;
    atomic_store_explicit(&gw_node.spin, (uint32_t)spin + 1, memory_order_relaxed);
    bool is_learning =
        !shared_cores && gw_set.wait_spin < 0 && (gw_set.wait == GW_SET_WAIT_AUTO || gw_set.wait == GW_SET_WAIT_YIELD);
    node_share_open(is_learning, (uint32_t)spin, SPIN_SHARED);
    gw_node.yields = shared_cores && gw_set.wait == GW_SET_WAIT_AUTO ? 4 : 0;
    waits.yield_ticks = (uint64_t)yield_us * gw_ticks_per_us();
    waits.shared_yield_ticks =
        !is_learning || gw_set.wait_yield >= 0 ? waits.yield_ticks : YIELD_US_SHARED * (uint64_t)gw_ticks_per_us();
    waits.long_yield_ticks = waits.never_sleep ? UINT64_MAX : LONG_YIELD_US * (uint64_t)gw_ticks_per_us();
    waits.pause_ticks = YIELD_PAUSE_US * (uint64_t)gw_ticks_per_us();
    atomic_store_explicit(&waits.no_yield_until, 0, memory_order_relaxed);
    waits.use_membarrier = !shared_cores && membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
    gw_node.fence = !waits.use_membarrier;
    if (!waits.use_membarrier) node_wait_fences(gw_node.doors, gw_node.nlocal);
}

void node_wait_close(void)
{
    node_bell_close();
    node_share_close();
    if (gw_node.doors) atomic_fetch_and_explicit(&gw_node.doors[gw_node.me].sleeping, NODE_FENCED, memory_order_relaxed);
}

/* Wakes the rank of this door, which seems to sleep. */
static void node_ring_slow(struct node_door *d)
{
    uint32_t was = atomic_fetch_and_explicit(&d->sleeping, NODE_FENCED, memory_order_acq_rel);
    if (!(was & ~NODE_FENCED)) return; /* another ringer wakes it */
    atomic_fetch_add_explicit(&d->seq, 1, memory_order_release);
    gw_futex_wake(&d->seq, INT_MAX);
    if (unlikely(atomic_load_explicit(&d->bell, memory_order_relaxed))) node_bell_ring(d);
}

void node_ring_look(struct node_door *d)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (node_seems_asleep(d)) node_ring_slow(d);
}

void node_ring_many(const int *local_ranks, int n)
{
    struct node_door *doors = gw_node.doors;
    node_fence_for_sleepers();
    if (!atomic_load_explicit(&doors[gw_node.nlocal].sleeping, memory_order_relaxed)) return;
    for (int i = 0; i < n; i++)
        if (unlikely(node_seems_asleep(&doors[local_ranks[i]])) && local_ranks[i] != gw_node.me)
            node_ring_slow(&doors[local_ranks[i]]);
}

/* ---- the slot that says where this rank is ------------------------------------------------------------------------------------
 * One record for all threads of the rank: the last one that has waited long describes itself; when it goes on and others still
 * wait, they are asked to describe themselves at their next sleep. */
enum { DESCRIBED = 1, OUTDATED, SILENT }; /* node_wait.told; 0: never described */

struct boot_where *node_report_begin(void)
{
    struct boot_where *where = &boot_slot->where;
    gw_lock(&waits.report_lock);
    uint32_t version = atomic_load_explicit(&where->version, memory_order_relaxed);
    atomic_store_explicit(&where->version, version + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* a reader that sees the new fields sees the odd version, or a later one */
    where->n_pending = 0;
    where->n_unexpected = 0;
    where->held_bytes = where->kept_bytes = where->room_bytes = 0;
    where->is_any = where->has_coll = 0;
    const char *as = atomic_load_explicit(&boot_call_as, memory_order_relaxed);
    snprintf(where->as, sizeof where->as, "%s", as ? as : "");
    where->note[0] = 0;
    return where;
}

void node_report_end(struct boot_where *where)
{
    uint32_t version = atomic_load_explicit(&where->version, memory_order_relaxed);
    assert(version & 1);
    atomic_store_explicit(&where->version, version + 1, memory_order_release);
    gw_unlock(&waits.report_lock);
}

static bool tell_plainly(struct node_wait *w)
{
    enum { AGAIN_NS = 100000000 };
    uint64_t now = gw_now_ns();
    struct boot_where *where = node_report_begin();
    if (!w->since_ns) w->since_ns = now;
    if (w->told != DESCRIBED) w->told_ns = now;
    w->told = DESCRIBED;
    w->again_ns = now + AGAIN_NS;
    where->since_ns = w->since_ns;
    where->told_ns = w->told_ns;
    where->call = atomic_load_explicit(&boot_slot->call, memory_order_relaxed);
    node_report_end(where);
    atomic_store_explicit(&where->state, BOOT_BLOCKED, memory_order_release);
    return true;
}

_Atomic uint32_t node_polls;

bool node_polled_much(void)
{
    static const uint64_t again_ns = 100000000,
                          pause_ns = 3000000000; /* how often the slot is written; after which pause polling counts as a new wait */
    struct boot_where *where = &boot_slot->where;
    uint64_t now = gw_now_ns();
    gw_lock(&waits.report_lock);
    uint32_t state = atomic_load_explicit(&where->state, memory_order_relaxed);
    uint64_t last = state == BOOT_POLLING ? where->told_ns : 0, since = now - last < pause_ns ? where->since_ns : now;
    gw_unlock(&waits.report_lock);
    if (state == BOOT_BLOCKED || state == BOOT_MOVING || now - last < again_ns)
        return false; /* another thread waits, or it is too early */
    where = node_report_begin();
    where->since_ns = since;
    where->told_ns = now;
    where->call = atomic_load_explicit(&boot_slot->call, memory_order_relaxed);
    node_report_end(where);
    atomic_store_explicit(&where->state, BOOT_POLLING, memory_order_release);
    return true;
}

static inline bool tell_again(const struct node_wait *w)
{
    if (w->told == SILENT) return false;
    if (w->told != DESCRIBED || atomic_load_explicit(&boot_slot->where.state, memory_order_relaxed) != BOOT_BLOCKED) return true;
    return gw_now_ns() > w->again_ns;
}

void node_wait_outside(struct node_wait *w, const char *for_what)
{
    if (!tell_again(w) || !tell_plainly(w)) return;
    struct boot_where *where = node_report_begin();
    snprintf(where->note, sizeof where->note, "%s", for_what);
    where->pending[0] = (struct boot_pending){.about = BOOT_OUTSIDE, .world = BOOT_WORLD_UNKNOWN};
    where->n_pending = 1;
    node_report_end(where);
}

static void tell_state(enum boot_state state) { atomic_store_explicit(&boot_slot->where.state, state, memory_order_release); }

/* ---- waiting -------------------------------------------------------------------------------------------------------------------- */
void node_wait_begin(struct node_wait *w)
{
    w->phase = SPIN;
    w->count = node_spin();
    w->told = w->vain = 0;
    w->since_ns = 0;
}

void node_wait_begin_silent(struct node_wait *w)
{
    node_wait_begin(w);
    w->told = SILENT;
}

static void count_sleepers(uint32_t n)
{
    atomic_fetch_add_explicit(&gw_node.doors[gw_node.nlocal].sleeping, n, memory_order_relaxed);
    atomic_fetch_add_explicit(&gw_node.armed, n, memory_order_relaxed);
}

static void disarm(struct node_wait *w)
{
    if (w->phase != ARMED) return;
    count_sleepers(-1U);
    /* With several threads another one may be armed: then the flag stays, at worst for one ring too many. */
    if (!gw_threads) atomic_fetch_and_explicit(&gw_node.doors[gw_node.me].sleeping, NODE_FENCED, memory_order_relaxed);
}

void node_wait_end_slow(struct node_wait *w)
{
    disarm(w);
    if (w->told && w->told != SILENT) tell_state(BOOT_BUSY);
}

void node_wait_reset(struct node_wait *w)
{
    disarm(w);
    if (w->told == DESCRIBED) {
        w->told = OUTDATED;
        tell_state(BOOT_MOVING);
    }
    w->phase = SPIN;
    w->count = node_spin();
    w->vain = 0;
}

static void arm(struct node_wait *w)
{
    assert(w->phase == YIELD);
    struct node_door *d = &gw_node.doors[gw_node.me];
    w->seen = atomic_load_explicit(&d->seq, memory_order_acquire);
    count_sleepers(1);
    atomic_fetch_or_explicit(&d->sleeping, 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    if (waits.use_membarrier) membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    w->phase = ARMED;
}

/* A descriptor that says again and again that there is something where nothing is (the queue of libfabric 1.17's provider net does, once
 * it has said so rightly) would keep the core busy: then short naps, in which the doorbell still wakes. */
static void sleep_on_descriptors(struct node_wait *w, int64_t ns)
{
    enum { IN_VAIN = 2, NAP_NS = 100000, NAP_MOST_NS = 1000000, DOUBLINGS = 4, NAPS = 16 };
    _Atomic uint32_t *seq = &gw_node.doors[gw_node.me].seq;
    /* The service has time: perhaps a thread of the program took what there was. */
    if (w->told == SILENT && w->count % NAPS == 0) w->vain = 0;
    if (w->vain < IN_VAIN)
        w->vain += node_bell_wait(seq, w->seen, ns, w->told == SILENT);
    else
        gw_futex_wait(seq, w->seen, gw_min64((int64_t)NAP_NS << (w->count < DOUBLINGS ? w->count : DOUBLINGS), NAP_MOST_NS));
}

/* The timeout is a net below the proof above, and what bounds the harm of a rank that was killed while it rang.  Who waits for what rings no
 * bell has nothing else. */
static void sleep_once(struct node_wait *w, int64_t shortest_ns, int64_t longest_ns)
{
    assert(w->phase == ARMED);
    int64_t ns = shortest_ns << (w->count < 6 ? w->count : 6);
    uint64_t before = gw_now_ns();
    if (unlikely(node_bell_is_used()))
        sleep_on_descriptors(w, gw_min64(ns, longest_ns));
    else
        gw_futex_wait(&gw_node.doors[gw_node.me].seq, w->seen, gw_min64(ns, longest_ns));
    w->count++;
    if (w->told == SILENT) return; /* nor is it a sleep of the program */
    uint64_t slept = gw_now_ns() - before;
    gw_counted(&gw_count.sleeps, 1);
    gw_counted(&gw_count.sleep_ns, slept);
    if (gw_event_wanted(GW_EVENT_SLEPT)) gw_event_raise(GW_EVENT_SLEPT, true, (int64_t)slept, 0, 0, 0);
}

/* One step of a wait without an event; it sleeps so long at most. */
static bool step_idle(struct node_wait *w, int64_t shortest_ns, int64_t longest_ns)
{
    switch (w->phase) {
    case SPIN:
        if (w->told != SILENT) gw_counted(&gw_count.waits_long, 1);
        if (!waits.never_yield) {
            w->phase = YIELD;
            w->count = 0;
            w->until = gw_ticks() + (node_share_is() ? waits.shared_yield_ticks : waits.yield_ticks);
            return false;
        }
        w->phase = SPIN_ON;
        w->count = node_spin();
        boot_look();
        return tell_again(w) && tell_plainly(w);
    case SPIN_ON:
        gw_cpu_relax();
        if (w->count-- > 0) return false;
        w->count = node_spin();
        boot_look();
        return tell_again(w) && tell_plainly(w);
    case YIELD:
        if (gw_ticks() < w->until && node_wait_yield()) return false;
        if (!waits.never_sleep) {
            arm(w);
            return false;
        }
        sched_yield();
        boot_look();
        return tell_again(w) && tell_plainly(w);
    default:
        sleep_once(w, shortest_ns, longest_ns);
        count_sleepers(-1U);
        /* The doorbell has rung, probably for this wait: look for a while before the next sleep. */
        w->phase = YIELD;
        w->until = gw_ticks();
        if (w->count > 1) boot_look();
        return w->count > 1 && tell_again(w) && tell_plainly(w);
    }
}

bool node_wait_step_slow(struct node_wait *w)
{
    static const int64_t shortest_ns = 1000000, longest_ns = 50000000;
    return step_idle(w, shortest_ns, longest_ns);
}

bool node_wait_step_blind_slow(struct node_wait *w)
{
    static const int64_t shortest_ns = 20000, longest_ns = 1000000;
    return step_idle(w, shortest_ns, longest_ns);
}
