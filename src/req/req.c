/* req.c -- requests: pools, completion, the progress loop, blocking.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "req/req_private.h"

#include <stdlib.h>

#include "base/lock.h"
#include "base/settings.h"
#include "node/node.h"

#include <sched.h>

/* A chunk of requests of one lane; all chunks are freed at finalize. */
struct chunk {
    struct chunk *next;
    char bytes[] GW_ALIGNED(GW_CACHELINE);
};
static struct req_state {
    /* Of each lane: used with its lock held, and on other cache lines than what other lanes write. */
    struct req_lane {
        struct chunk *chunks;
        struct gw_list *last; /* of the pool, while it is not empty */
        struct gw_list hooks, works;
        int hook_events; /* since the round of progress began */
    } GW_ALIGNED(GW_CACHELINE) lanes[GW_MAX_LANES];
    /* A completed request goes to the front of its lane's pool, so that the next request is one that is still in cache.  With GODWIT_CHECK
     * it goes to the end, and the pool is large from the start, so that the handle of a completed request stays invalid for some ten
     * thousand requests. */
    bool goes_last;
} req_state;

struct gw_req gw_req_sent = {.flags = REQ_STATIC, .kind = REQ_SEND, .done = 1};
struct gw_req gw_req_procnull = {.flags = REQ_STATIC, .kind = REQ_RECV, .done = 1};

/* MPI_REQUEST values of the two static requests: they need ids that look like any other request's. */
void req_init(void)
{
    gw_obj_register(&gw_req_sent.obj, GW_KIND_REQ);
    gw_obj_register(&gw_req_procnull.obj, GW_KIND_REQ);
    gw_status_empty(&gw_req_sent.status);
    gw_status_fill(&gw_req_procnull.status, GW_PROC_NULL, GW_ANY_TAG, 0, false);
    for (int i = 0; i < GW_MAX_LANES; i++) {
        gw_list_init(&req_state.lanes[i].hooks);
        gw_list_init(&req_state.lanes[i].works);
        gw_lanes[i].free_reqs = NULL;
    }
    req_state.goes_last = gw_checking;
}

void req_finalize(void)
{
    for (int i = 0; i < GW_MAX_LANES; i++) {
        while (req_state.lanes[i].chunks) {
            struct chunk *c = req_state.lanes[i].chunks;
            req_state.lanes[i].chunks = c->next;
            for (int k = 0; k < CHUNK_REQS; k++) gw_obj_unregister(&((struct gw_req *)(c->bytes + k * GW_REQ_BYTES))->obj);
            free(c);
        }
        gw_lanes[i].free_reqs = NULL;
    }
    gw_obj_unregister(&gw_req_sent.obj);
    gw_obj_unregister(&gw_req_procnull.obj);
}

static inline void pool_give(struct gw_req *r)
{
    assert(r->lane < GW_MAX_LANES);
    struct gw_list **pool = &gw_lanes[r->lane].free_reqs, *l = &r->link, **last = &req_state.lanes[r->lane].last;
    if (likely(!req_state.goes_last) || !*pool) {
        l->next = *pool;
        *pool = l;
    } else {
        l->next = NULL;
        (*last)->next = l;
    }
    if (unlikely(req_state.goes_last)) *last = l;
}

static bool chunk_add(struct gw_lane *lane)
{
    struct chunk *c = aligned_alloc(GW_CACHELINE, gw_align_up(sizeof *c + CHUNK_REQS * GW_REQ_BYTES, GW_CACHELINE));
    if (!c) {
        gw_fail(GW_ENOMEM, "no memory for more requests");
        return false;
    }
    assert(lane->index >= 0 && lane->index < GW_MAX_LANES);
    memset(c, 0, sizeof *c + CHUNK_REQS * GW_REQ_BYTES);
    c->next = req_state.lanes[lane->index].chunks;
    req_state.lanes[lane->index].chunks = c;
    for (int k = CHUNK_REQS; k-- > 0;) {
        struct gw_req *r = (struct gw_req *)(c->bytes + k * GW_REQ_BYTES);
        if (gw_obj_register(&r->obj, GW_KIND_REQ) != GW_OK) break;
        r->lane = (uint8_t)lane->index;
        pool_give(r);
    }
    return true;
}

static GW_COLD bool pool_grow(struct gw_lane *lane)
{
    int n = gw_checking && !req_state.lanes[lane->index].chunks ? CHECKED_REQS / CHUNK_REQS : 1;
    while (n > 0 && chunk_add(lane)) n--;
    return lane->free_reqs != NULL;
}

struct gw_req *req_new(struct gw_lane *lane, enum req_kind kind)
{
    struct gw_req *r = req_take(lane, kind);
    return likely(r) ? r : pool_grow(lane) ? req_take(lane, kind) : NULL;
}

void req_recycle(struct gw_req *r)
{
    assert(!(r->flags & REQ_STATIC) && !r->notify);
    gw_obj_renew(&r->obj);
    r->flags = 0;
    r->err = GW_OK;
    r->final = NULL;
    r->errctx = NULL;
    r->status.cancelled = 0;
    pool_give(r);
}

void req_complete(struct gw_req *r)
{
    req_assert_state(r);
    if (r->notify) {
        struct gw_done *d = r->notify;
        r->notify = NULL;
        d->fn(d, r->err);
    }
    /* [D1] pairs with the acquire in req_is_done(): status, err and the received data are visible before `done`. */
    bool freed = r->flags & REQ_FREED;
    atomic_store_explicit(&r->done, 1, memory_order_release);
    if (freed) req_recycle(r);
    /* Another thread of this process may sleep for this request. */
    if (unlikely(gw_threads)) node_ring(gw_node.me);
}

/* ---- progress ----------------------------------------------------------------------------------------------------- */
void req_hook_add(struct gw_lane *lane, struct req_hook *h) { gw_list_push(&req_state.lanes[lane->index].hooks, &h->link); }

void req_hook_del(struct gw_lane *lane, struct req_hook *h)
{
    (void)lane;
    gw_list_del(&h->link);
}

void req_hook_count(struct gw_lane *lane, int n) { req_state.lanes[lane->index].hook_events += n; }

static GW_COLD int run_hooks(struct gw_list *list, int lane)
{
    req_state.lanes[lane].hook_events = 0;
    for (struct gw_list *l = list->next, *next; l != list; l = next) {
        struct req_hook *h = container_of(l, struct req_hook, link);
        next = l->next; /* a hook may remove itself, but no other hook */
        assert(h->poll && h->poll->fn);
        h->poll->fn(h->poll, GW_OK);
    }
    return req_state.lanes[lane].hook_events;
}

int req_progress_locked(struct gw_lane *lane)
{
    int n = peer_progress(lane);
    struct gw_list *list = &req_state.lanes[lane->index].hooks;
    if (unlikely(list->next != list)) n += run_hooks(list, lane->index);
    return n;
}

void req_work_add(struct gw_lane *lane, struct req_work *w) { gw_list_push(&req_state.lanes[lane->index].works, &w->link); }

/* The first that may be run; NULL: none.  Lane's lock held. */
static struct req_work *work_first(const struct gw_list *list, bool is_service)
{
    for (struct gw_list *l = list->next; l != list; l = l->next) {
        struct req_work *w = container_of(l, struct req_work, link);
        if (!is_service || w->by_service) return w;
    }
    return NULL;
}

static GW_COLD int run_works(struct gw_lane *lane, bool is_service)
{
    struct gw_list *list = &req_state.lanes[lane->index].works;
    for (int n = 0;; n++) {
        gw_lock(&lane->lock);
        struct req_work *w = work_first(list, is_service);
        if (w) gw_list_del(&w->link);
        gw_unlock(&lane->lock);
        if (!w) return n;
        assert(w->run.fn);
        w->run.fn(&w->run, GW_OK);
    }
}

static int progress_lane(struct gw_lane *lane)
{
    if (!gw_lock_look(&lane->lock) || !gw_lock_try(&lane->lock)) return 0; /* another thread polls this lane */
    int n = req_progress_locked(lane);
    bool has_work = !gw_list_empty(&req_state.lanes[lane->index].works);
    gw_unlock(&lane->lock);
    if (unlikely(has_work)) n += run_works(lane, false);
    return n;
}

int req_progress_service(bool *is_polled_out)
{
    int n = 0;
    *is_polled_out = false;
    for (int i = 0, used = lanes_used(); i < used; i++) {
        struct gw_lane *lane = &gw_lanes[i];
        bool is_polled = atomic_load_explicit(&lane->has_poller, memory_order_relaxed);
        /* Nor may the caller sleep on a lane at which it has not looked, as another thread holds it. */
        is_polled = is_polled || !gw_lock_look(&lane->lock) || !gw_lock_try(&lane->lock);
        *is_polled_out = *is_polled_out || is_polled;
        if (is_polled) continue;
        n += req_progress_locked(lane);
        bool has_work = work_first(&req_state.lanes[i].works, true) != NULL;
        gw_unlock(&lane->lock);
        if (has_work) n += run_works(lane, true);
    }
    return n;
}

int req_progress(void)
{
    int n = 0;
    for (int i = 0, used = lanes_used(); i < used; i++) n += progress_lane(&gw_lanes[i]);
    return n;
}

void req_look(void)
{
    enum { IDLE_LOOKS = 8 };
    static _Thread_local int idle;
    if (req_progress() > 0)
        idle = 0;
    else if (unlikely(gw_node.oversubscribed) && ++idle > IDLE_LOOKS && gw_set.wait != GW_SET_WAIT_SPIN)
        sched_yield();
}

/* Rounds of a wait on one lane after which all lanes are polled: their peers may wait for this process. */
enum { OTHER_LANES_EVERY = 64 };

struct req_upcalls req_upcalls;

void req_report_about(struct gw_req **r, int n, bool is_any)
{
    if (req_upcalls.tell) req_upcalls.tell(r, n, is_any);
}

/* Of the threads that wait on a lane one polls it, the others only read their requests: taking turns would move the lane's cache lines from
 * core to core each time. */
static inline bool poller_become(struct gw_lane *lane)
{
    return !gw_threads ||
        (atomic_load_explicit(&lane->has_poller, memory_order_relaxed) == 0 &&
         atomic_exchange_explicit(&lane->has_poller, 1, memory_order_acquire) == 0);
}

static inline void poller_leave(struct gw_lane *lane)
{
    if (likely(!gw_threads)) return;
    atomic_store_explicit(&lane->has_poller, 0, memory_order_release);
    node_ring(gw_node.me); /* wakes a waiting thread, which becomes the poller */
}

/* A round of the poller.  While other threads use the lane and it finds nothing, it polls less and less often: polling takes the lane's cache
 * lines from a thread that sends or posts. */
static inline int poll_lane(struct gw_lane *lane, const struct node_wait *w)
{
    enum { FIRST_SKIP = 8, MOST_SKIP = 64 };
    if (likely(!gw_threads)) return progress_lane(lane);
    struct lane_poll *p = &lane->poll;
    if (p->skip > 0 && w->phase == 0) { /* phase not 0: about to sleep, the lane must be polled before */
        p->skip--;
        return 0;
    }
    int n = progress_lane(lane);
    uint32_t takes = atomic_load_explicit(&lane->lock.takes, memory_order_relaxed);
    bool is_busy = n == 0 && takes != p->takes;
    p->next_skip = !is_busy ? 0 : p->next_skip == 0 ? FIRST_SKIP : p->next_skip < MOST_SKIP ? 2 * p->next_skip : MOST_SKIP;
    p->skip = p->next_skip;
    p->takes = takes;
    return n;
}

static inline void block(struct gw_req *r, struct gw_req **rest, int n)
{
    if (req_is_done(r)) return;
    assert(r->lane < gw_nlanes);
    struct gw_lane *lane = &gw_lanes[r->lane];
    struct node_wait w;
    bool is_poller = false;
    node_wait_begin(&w);
    for (unsigned round = 1; !req_is_done(r); round++) {
        is_poller = is_poller || poller_become(lane);
        int events = is_poller ? poll_lane(lane, &w) : 0;
        if (req_is_done(r)) break;
        if (unlikely(lanes_used() > 1 || !is_poller) && (round % OTHER_LANES_EVERY == 0 || w.phase)) events += req_progress();
        if (unlikely(node_wait_step(&w, events > 0))) req_report_about(rest, n, false);
    }
    if (is_poller) poller_leave(lane);
    node_wait_end(&w);
}

void req_block(struct gw_req *r) { block(r, &r, 1); }

void req_block_in(struct gw_req **r, int n, int at) { block(r[at], r + at, n - at); }

void req_block_about(struct gw_lane *lane, bool (*pred)(void *), void *arg, struct gw_done *about)
{
    struct node_wait w;
    bool is_poller = false;
    node_wait_begin(&w);
    for (unsigned round = 1; !pred(arg); round++) {
        is_poller = is_poller || poller_become(lane);
        int n = is_poller ? poll_lane(lane, &w) : 0;
        if (unlikely(lanes_used() > 1 || !is_poller) && (round % OTHER_LANES_EVERY == 0 || w.phase)) n += req_progress();
        if (unlikely(node_wait_step(&w, n > 0)) && about && about->fn) about->fn(about, GW_OK);
    }
    if (is_poller) poller_leave(lane);
    node_wait_end(&w);
}

void req_block_until(struct gw_lane *lane, bool (*pred)(void *), void *arg) { req_block_about(lane, pred, arg, NULL); }
