/* deferred.c -- one-sided operations on another node that are still under way when their call returns.  Many can be under way at
 * once, and a flush costs one round trip for all of them.
 *
 *   put, get of one run, where the wire reaches the window (reach.c)   the wire copies, and reports when it has
 *   put, accumulate                                                    a request without an answer; the target counts those it did
 *   get                                                                a request, whose answer is the data
 *
 * Requests to one target are collected in a batch, which is sent as one message when it is long enough, when the answer to one of
 * its requests is needed, or when the program waits.  The answers to all small gets of a batch come as one message, too.
 *
 * There are three levels of completion, and different calls wait for them:
 *   counted   what one counter counts is complete (counter.c): MPI_Wait of an operation with a request (started.c), or what one context
 *             of OpenSHMEM has started.  Small gets with a counter are batched, too.  As the program may do nothing but progress
 *             afterwards, their batch is sent at once if nothing else is under way, and otherwise in the next round of progress
 *   settled   all operations are complete at the origin: the user's buffers may be used again, and the results of gets have arrived
 *   flushed   all operations are complete at the target, too: it has done as many requests as were sent to it.  One ASK_FLUSH per
 *             target asks for that, to all targets at once (flushes, and the end of an epoch)
 *
 * In a dynamic window only the target knows whether the memory is attached.  There an operation is deferred only if it has an MPI
 * request, which then returns the error; without one the error belongs to the call, which therefore waits for the answer.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <sys/uio.h>

#include "rma/rma_private.h"
#include "base/list.h"
#include "base/settings.h"

enum { LONG_GET = 1024 };

/* The small gets of a batch.  One answer has the data of all of them, in their order; it is received into deferred_gets.data. */
struct got {
    struct rma_packed into;
    int64_t bytes;
};
struct deferred_gets {
    int n, room;
    int32_t number;
    int64_t bytes;
    struct got *each;
    char data[ASK_BATCH];
};
/* One message or copy that is under way, or a batch that is not sent yet (`done` is unused until it is).  Freed by
 * deferred_done(). */
struct deferred {
    struct gw_done done;
    struct rma_win *w;
    struct gw_list link; /* batches: in rma_deferred.open.  used: bytes in `bytes`; last: offset of the last request in it */
    int target;
    uint32_t used, last;
    struct gw_req *req;          /* receives; NULL: a send or a copy */
    int64_t wanted;              /* receives: the length of the message in bytes; another length is an error */
    struct rma_packed into;      /* .counter: who counts this.  .at: where the data of the answer in `bytes` go */
    struct deferred_gets *gets;  /* owned; NULL: none.  batch_send() moves it from the batch to the receive of the answer */
    char bytes[] GW_ALIGNED(16); /* the batch, or room for an answer */
};
struct rma_deferred {
    _Atomic uint32_t n;      /* messages and copies under way, and 1 while `go` is queued */
    _Atomic int err;         /* the first error since rma_deferred_settle() has last returned one */
    _Atomic bool is_counted; /* a target was sent requests that it has not yet confirmed */
    struct gw_lock lock;     /* guards batches, and keeps their order when they are sent.  Taken before a lane's lock */
    struct gw_list open;     /* batches that are not sent yet */
    struct req_work go;      /* sends all batches in the next round of progress */
    struct rma_win *w;
    bool goes; /* `go` is queued; under the lane's lock */
};

/* GW_OK if the message that was received has the length that was asked for. */
static int deferred_check(const struct deferred *l)
{
    if (!l->req || gw_status_bytes(&l->req->status) == l->wanted) return GW_OK;
    gw_refused("the answer of a window's target", "length", gw_status_bytes(&l->req->status));
    return GW_EOTHER;
}

static void deferred_done(struct gw_done *done, int err)
{
    struct deferred *l = container_of(done, struct deferred, done);
    struct rma_deferred *all = l->w->deferred;
    int none = GW_OK;
    if (err >= 0) err = deferred_check(l);
    if (l->into.counter)
        rma_counter_end(l->into.counter, err);
    else if (err < 0)
        atomic_compare_exchange_strong_explicit(&all->err, &none, err, memory_order_relaxed, memory_order_relaxed);
    free(l);
    uint32_t n = atomic_fetch_sub_explicit(&all->n, 1, memory_order_release); /* [R1] pairs with [A1]: data are in place */
    assert(n > 0);
    (void)n;
}

static bool has_room(void *arg)
{
    return atomic_load_explicit(&((struct rma_deferred *)arg)->n, memory_order_relaxed) < gw_set.rma_max_pending;
}
static bool is_idle(void *arg)
{
    return atomic_load_explicit(&((struct rma_deferred *)arg)->n, memory_order_acquire) == 0; /* [A1] */
}
static struct deferred *deferred_new(struct rma_win *w, size_t bytes)
{
    struct deferred *l = malloc(sizeof *l + bytes);
    if (!l) {
        gw_fail(GW_ENOMEM, "no memory for a message of %zu bytes to another node", bytes);
        return NULL;
    }
    l->done.fn = deferred_done;
    l->w = w;
    l->into = (struct rma_packed){NULL, NULL};
    l->gets = NULL;
    l->req = NULL;
    return l;
}
/* Counts `l` as under way.  Call it before the message or copy is started, which may already call deferred_done(). */
static void deferred_starts(struct deferred *l)
{
    rma_counter_begin(l->into.counter);
    atomic_fetch_add_explicit(&l->w->deferred->n, 1, memory_order_relaxed);
}

/* ---- messages ---- */
/* Both own `l` from here on, also on failure.  The memory of the message stays valid until rma_deferred_settle(). */
static int deferred_send(struct deferred *l, int target, int tag, const void *from, int64_t bytes)
{
    struct gw_req *r = NULL;
    struct gw_comm *c = l->w->comm;
    deferred_starts(l);
    int rc = p2p_stream_isend(GW_STREAM_P2P, from, bytes, gw_type_byte, target, tag, c, &r);
    p2p_stream_then(c, rc, r, &l->done);
    return rc < 0 ? rc : GW_OK;
}
static int deferred_receive(struct deferred *l, int target, int tag, void *into, int64_t bytes)
{
    struct gw_comm *c = l->w->comm;
    deferred_starts(l);
    l->wanted = bytes;
    int rc = p2p_stream_irecv(GW_STREAM_P2P, into, bytes, gw_type_byte, target, tag, c, &l->req);
    p2p_stream_then(c, rc, l->req, &l->done);
    return rc < 0 ? rc : GW_OK;
}

/* Completes the gets that counters count.  The lane's lock is held. */
static void gets_over(const struct deferred_gets *g, int err)
{
    for (int i = 0; i < g->n; i++)
        if (g->each[i].into.counter) rma_counter_end(g->each[i].into.counter, err);
}

static void gets_free(struct deferred_gets *g)
{
    if (g) free(g->each);
    free(g);
}

static void gets_done(struct gw_done *done, int err)
{
    struct deferred *l = container_of(done, struct deferred, done);
    struct deferred_gets *g = l->gets;
    const char *from = g->data;
    if (err >= 0) err = deferred_check(l);
    for (int i = 0; i < g->n && err >= 0; from += g->each[i++].bytes) memcpy(g->each[i].into.at, from, (size_t)g->each[i].bytes);
    gets_over(g, err);
    gets_free(g);
    deferred_done(done, err);
}

static void batch_close(struct deferred *l)
{
    assert(l->w->targets[l->target].batch == l);
    gw_list_del(&l->link);
    l->w->targets[l->target].batch = NULL;
}

/* Sends a batch, and posts the receive of the answer to its gets only after that: a request that could not be sent gets no answer.
 * rma_deferred.lock is held. */
static int batch_send(struct deferred *l)
{
    struct rma_win *w = l->w;
    struct deferred *answer = l->gets ? deferred_new(w, 0) : NULL;
    int target = l->target;
    assert(l->used > 0 && (!l->gets || l->gets->n > 0));
    if (l->gets && !answer) return GW_ENOMEM;
    if (answer) answer->gets = l->gets;
    l->gets = NULL;
    batch_close(l);
    int rc = deferred_send(l, target, TAG_REQUEST, l->bytes, l->used);
    if (!answer) return rc;
    if (rc == GW_OK) {
        answer->done.fn = gets_done;
        return deferred_receive(answer, target, TAG_REPLY + answer->gets->number, answer->gets->data, answer->gets->bytes);
    }
    gw_lock(&w->comm->lane->lock);
    gets_over(answer->gets, rc);
    gw_unlock(&w->comm->lane->lock);
    gets_free(answer->gets);
    free(answer);
    return rc;
}

static int batches_send(struct rma_win *w)
{
    struct rma_deferred *all = w->deferred;
    int rc = GW_OK;
    gw_lock(&all->lock);
    while (rc == GW_OK && !gw_list_empty(&all->open)) rc = batch_send(container_of(all->open.next, struct deferred, link));
    gw_unlock(&all->lock);
    return rc;
}

/* Sends batches from a round of progress.  For gets with a counter: MPI_Wait does not call this room,
 * and would not send them. */
static void batches_go(struct gw_done *done, int err)
{
    struct rma_deferred *all = container_of(container_of(done, struct req_work, run), struct rma_deferred, go);
    struct gw_lane *lane = all->w->comm->lane;
    int none = GW_OK;
    gw_lock(&lane->lock);
    all->goes = false; /* a get that is appended from now on queues `go` again */
    gw_unlock(&lane->lock);
    err = batches_send(all->w);
    if (err < 0) atomic_compare_exchange_strong_explicit(&all->err, &none, err, memory_order_relaxed, memory_order_relaxed);
    atomic_fetch_sub_explicit(&all->n, 1, memory_order_release); /* [R1]; `all` may be freed from here on */
}
static void batches_go_soon(struct rma_deferred *all)
{
    struct gw_lane *lane = all->w->comm->lane;
    gw_lock(&lane->lock);
    if (!all->goes) {
        atomic_fetch_add_explicit(&all->n, 1, memory_order_relaxed);
        req_work_add(lane, &all->go);
    }
    all->goes = true;
    gw_unlock(&lane->lock);
}

/* Waits until fewer than GODWIT_RMA_MAX_PENDING messages are under way.  Called before any part of an operation is started. */
static int wait_for_room(struct rma_win *w)
{
    if (likely(has_room(w->deferred))) return GW_OK;
    int rc = batches_send(w);
    if (rc != GW_OK || has_room(w->deferred)) return rc;
    gw_counted(&gw_count.rma_waited, 1);
    req_block_until(w->comm->lane, has_room, w->deferred);
    return GW_OK;
}

/* The target's batch, with room for `bytes` more; a full one is sent first.  rma_deferred.lock is held. */
static int batch_with_room(struct rma_win *w, int target, size_t bytes, struct deferred **batch_out)
{
    struct deferred **batch = &w->targets[target].batch;
    int rc = GW_OK;
    if (*batch && gw_align_up((*batch)->used, 16) + bytes > ASK_BATCH) rc = batch_send(*batch);
    if (rc == GW_OK && !*batch) {
        *batch = deferred_new(w, bytes > ASK_BATCH ? bytes : ASK_BATCH);
        if (!*batch) return GW_ENOMEM;
        (*batch)->target = target;
        (*batch)->used = (*batch)->last = 0;
        gw_list_push(&w->deferred->open, &(*batch)->link);
    }
    *batch_out = *batch;
    return rc;
}

/* Copies a request (head, runs and data) to the end of a batch that has room for it; the batch may be
 * sent.  rma_deferred.lock is held. */
static int append(struct deferred *l, const struct ask_head *h, const struct ask_run *runs, const void *data, int64_t bytes,
                  bool goes_now)
{
    uint32_t at = (uint32_t)gw_align_up(l->used, 16);
    if (at) ((struct ask_head *)(l->bytes + l->last))->flags |= ASK_MORE;
    rma_ask_fill(l->bytes + at, h, runs, data, bytes);
    l->last = at;
    l->used = at + (uint32_t)ask_bytes(h, bytes);
    return goes_now || l->used >= ASK_BATCH / 2 ? batch_send(l) : GW_OK;
}

/* A change of the target's memory without an answer: the target counts it, and a flush waits until it has been done. */
static bool is_counted(const struct ask_head *h) { return h->flags & ASK_DEFERRED && h->what != ASK_READ; }

/* What a fence has put before it, unless that is confirmed.  rma_deferred.lock is held, so that numbers are those of the order of sending. */
static void order_after(const struct rma_target *t, struct ask_head *h)
{
    uint64_t after = atomic_load_explicit(&t->after, memory_order_relaxed);
    if (likely(after <= atomic_load_explicit(&t->known, memory_order_relaxed))) return;
    h->flags |= ASK_AFTER;
    h->after = (uint32_t)after;
}
static void counted(struct rma_target *t, const struct ask_head *h)
{
    uint64_t sent = atomic_fetch_add_explicit(&t->sent, 1, memory_order_relaxed) + 1;
    if (h->flags & (ASK_LONG | ASK_AFTER)) atomic_store_explicit(&t->loose, sent, memory_order_relaxed);
}

static int tell(struct rma_win *w, int target, const struct ask_head *request, const struct ask_run *runs, const void *data,
                int64_t bytes, bool goes_now)
{
    struct deferred *l;
    struct rma_target *t = &w->targets[target];
    struct ask_head h = *request;
    gw_lock(&w->deferred->lock);
    if (h.what != ASK_READ && h.what <= ASK_SWAP) order_after(t, &h);
    int rc = batch_with_room(w, target, ask_bytes(&h, bytes), &l);
    if (rc == GW_OK) rc = append(l, &h, runs, data, bytes, goes_now);
    if (rc == GW_OK && is_counted(&h)) {
        counted(t, &h);
        atomic_store_explicit(&w->deferred->is_counted, true, memory_order_relaxed);
    }
    gw_unlock(&w->deferred->lock);
    return rc;
}

int rma_deferred_say(struct rma_win *w, int target, const struct ask_head *h, const struct ask_run *runs, const void *data,
                     int64_t bytes)
{
    return tell(w, target, h, runs, data, bytes, true);
}

int rma_deferred_change(struct rma_win *w, int target, struct ask_head h, const struct ask_run *runs, const void *data,
                        int64_t bytes)
{
    int rc = wait_for_room(w);
    h.flags |= ASK_DEFERRED;
    h.origin = w->comm->rank;
    return rc == GW_OK ? tell(w, target, &h, runs, data, bytes, false) : rc;
}

int rma_deferred_put_long(struct rma_win *w, int target, struct ask_run run, struct rma_packed from)
{
    struct ask_head h = {.what = ASK_WRITE,
                         .flags = ASK_DEFERRED | ASK_LONG,
                         .n_runs = 1,
                         .bytes = (int64_t)run.bytes,
                         .origin = w->comm->rank,
                         .number = rma_ask_number(w)};
    struct deferred *l = deferred_new(w, 0);
    int rc = l ? wait_for_room(w) : GW_ENOMEM;
    if (l) l->into.counter = from.counter;
    if (rc == GW_OK) rc = rma_deferred_say(w, target, &h, &run, NULL, 0);
    if (rc != GW_OK) {
        free(l);
        return rc;
    }
    return deferred_send(l, target, TAG_DATA + h.number, from.at, h.bytes);
}

/* The list of gets of a batch, with room for one more; NULL: no memory. */
static struct deferred_gets *gets_with_room(struct deferred *l)
{
    struct deferred_gets *g = l->gets;
    if (!g) {
        l->gets = g = malloc(sizeof *g);
        if (g) g->n = g->room = 0, g->bytes = 0, g->each = NULL, g->number = rma_ask_number(l->w);
    }
    if (g && g->n == g->room) {
        int room = g->room ? 2 * g->room : 8;
        struct got *each = realloc(g->each, (size_t)room * sizeof *each);
        if (!each && g->n == 0) gets_free(g), l->gets = NULL;
        if (!each) return NULL;
        g->each = each;
        g->room = room;
    }
    return g;
}

/* Appends a get to the target's batch.  rma_deferred.lock is held. */
static int get_small(struct rma_win *w, int target, struct ask_head h, const struct ask_run *runs, struct rma_packed into)
{
    struct deferred *l = w->targets[target].batch;
    int rc = l && l->gets && l->gets->bytes + h.bytes > ASK_BATCH ? batch_send(l) : GW_OK;
    if (rc == GW_OK) rc = batch_with_room(w, target, ask_bytes(&h, 0), &l);
    if (rc != GW_OK) return rc;
    struct deferred_gets *g = gets_with_room(l);
    if (!g) {
        if (l->used == 0) batch_close(l), free(l);
        return gw_fail(GW_ENOMEM, "no memory for a list of gets");
    }
    g->each[g->n++] = (struct got){into, h.bytes};
    g->bytes += h.bytes;
    h.number = g->number;
    rma_counter_begin(into.counter);
    bool is_alone = into.counter && is_idle(w->deferred); /* nothing is under way that it could be batched behind */
    rc = append(l, &h, runs, NULL, 0, is_alone);
    if (into.counter && w->targets[target].batch) batches_go_soon(w->deferred);
    return rc;
}

int rma_deferred_get(struct rma_win *w, int target, const struct ask_run *runs, int n, int64_t bytes, struct rma_packed into)
{
    if (bytes < LONG_GET) {
        struct ask_head h = {
            .what = ASK_READ, .flags = ASK_DEFERRED | ASK_GATHER, .n_runs = n, .bytes = bytes, .origin = w->comm->rank};
        int rc = wait_for_room(w);
        gw_lock(&w->deferred->lock);
        if (rc == GW_OK) rc = get_small(w, target, h, runs, into);
        gw_unlock(&w->deferred->lock);
        return rc;
    }
    struct ask_head h = {.what = ASK_READ,
                         .flags = ASK_DEFERRED | (n == 1 ? ASK_LONG : 0),
                         .n_runs = n,
                         .bytes = bytes,
                         .origin = w->comm->rank,
                         .number = rma_ask_number(w)};
    int rc = wait_for_room(w);
    struct deferred *l = rc == GW_OK ? deferred_new(w, 0) : NULL;
    if (!l) return rc == GW_OK ? GW_ENOMEM : rc;
    l->into.counter = into.counter;
    rc = rma_deferred_say(w, target, &h, runs, NULL, 0);
    if (rc == GW_OK) return deferred_receive(l, target, TAG_REPLY + h.number, into.at, bytes);
    free(l);
    return rc;
}

/* ---- requests whose answer has a return code ---- */
static void answered(struct gw_done *done, int err)
{
    struct deferred *l = container_of(done, struct deferred, done);
    struct rma_started *s = l->into.counter->request;
    struct ask_reply how = {GW_OK, 0};
    int64_t bytes = l->req ? gw_status_bytes(&l->req->status) : 0;
    if (err >= 0) err = rma_ask_answer_check(l->bytes, bytes, l->wanted, &how);
    if (err >= 0 && how.rc < 0) {
        err = (int)how.rc;
        if (s) s->refused_at = how.at, s->refused_by = l->target;
    }
    if (err >= 0 && l->into.at) memcpy(l->into.at, l->bytes + sizeof how, (size_t)l->wanted - sizeof how);
    l->wanted = bytes; /* the answer of a request that failed is short; it was checked above */
    deferred_done(done, err);
}

int rma_deferred_ask(struct rma_win *w, int target, struct ask_head h, const struct ask_run *runs, struct rma_given data,
                     struct rma_packed into, int64_t bytes)
{
    int64_t room = (int64_t)sizeof(struct ask_reply) + bytes;
    int rc = wait_for_room(w);
    struct deferred *l = rc == GW_OK ? deferred_new(w, (size_t)room) : NULL;
    if (!l) return rc == GW_OK ? GW_ENOMEM : rc;
    assert(into.counter);
    l->into = into;
    l->target = target;
    l->done.fn = answered;
    h.origin = w->comm->rank;
    h.number = rma_ask_number(w);
    rc = rma_deferred_say(w, target, &h, runs, data.at, data.bytes);
    if (rc == GW_OK) return deferred_receive(l, target, TAG_REPLY + h.number, l->bytes, room);
    free(l);
    return rc;
}

/* ---- the wire ---- */
/* What the wire is to do. */
struct wired {
    bool is_put;
    struct iovec here;
    uint64_t at;
    const struct wire_atomic *atomic; /* or, if not NULL, this */
};

static int wired_post(struct rma_win *w, int target, const struct wired *what, struct gw_done *done)
{
    struct gw_peer *p = comm_peer(w->comm, target);
    struct wire_ep *ep = target == w->comm->rank ? w->atomics->self : p->ep;
    int rc = ep ? GW_OK : peer_connect(w->comm->lane, p);
    if (rc != GW_OK) return rc;
    if (!ep) ep = p->ep;
    if (what->atomic) return ep->ops->copy.atomic(ep, what->atomic, done);
    return (what->is_put ? ep->ops->put : ep->ops->get)(ep, &what->here, 1, what->at, w->targets[target].key, done);
}

/* `l` is owned, and its done.fn set. */
static int wired_start(struct deferred *l, int target, const struct wired *what)
{
    struct rma_win *w = l->w;
    struct gw_lane *lane = w->comm->lane;
    int rc;
    l->target = target;
    deferred_starts(l);
    do {
        gw_lock(&lane->lock);
        rc = wired_post(w, target, what, &l->done);
        if (rc <= GW_OK) l->done.fn(&l->done, rc);
        gw_unlock(&lane->lock);
        if (rc == GW_AGAIN) req_progress();
    } while (rc == GW_AGAIN);
    return rc < 0 ? rc : GW_OK;
}

int rma_deferred_by_wire(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t bytes, struct rma_packed packed)
{
    int rc = wait_for_room(w);
    struct deferred *l = rc == GW_OK ? deferred_new(w, 0) : NULL;
    if (!l) return rc == GW_OK ? GW_ENOMEM : rc;
    l->into.counter = packed.counter;
    rc = wired_start(l, target, &(struct wired){.is_put = is_put, .here = {packed.at, (size_t)bytes}, .at = at});
    gw_counted(&gw_count.rma_wired, rc == GW_OK);
    return rc;
}

static void atomic_done(struct gw_done *done, int err)
{
    struct deferred *l = container_of(done, struct deferred, done);
    atomic_fetch_sub_explicit(&l->w->targets[l->target].n_atomics, 1, memory_order_relaxed);
    deferred_done(done, err);
}

int rma_deferred_atomic(struct rma_win *w, int target, const struct wire_atomic *a, struct rma_counter *counter)
{
    int rc = wait_for_room(w);
    struct deferred *l = rc == GW_OK ? deferred_new(w, 0) : NULL;
    if (!l) return rc == GW_OK ? GW_ENOMEM : rc;
    l->into.counter = counter;
    l->done.fn = atomic_done;
    atomic_fetch_add_explicit(&w->targets[target].n_atomics, 1, memory_order_relaxed);
    rc = wired_start(l, target, &(struct wired){.atomic = a});
    gw_counted(&gw_count.rma_network_atomics, rc == GW_OK);
    return rc;
}

/* ---- waiting ---- */
bool rma_deferred_may_unlock(struct rma_win *w, int target)
{
    gw_lock(&w->deferred->lock);
    bool gets = w->targets[target].batch && w->targets[target].batch->gets;
    gw_unlock(&w->deferred->lock);
    return !gets && is_idle(w->deferred);
}

int rma_go(struct rma_win *w) { return w->deferred ? batches_send(w) : GW_OK; }

int rma_deferred_settle(struct rma_win *w)
{
    struct rma_deferred *all = w->deferred;
    if (likely(!all)) return GW_OK;
    int rc = batches_send(w);
    if (!is_idle(all)) req_block_until(w->comm->lane, is_idle, all);
    int err = atomic_exchange_explicit(&all->err, GW_OK, memory_order_relaxed);
    if (rc != GW_OK || err == GW_OK) return rc;
    return gw_fail(err, "an earlier put, get or accumulate on this window did not reach its target");
}

int rma_settle(struct rma_win *w) { return rma_deferred_settle(w); }

void rma_go_soon(struct rma_win *w)
{
    if (!w->deferred) return;
    gw_lock(&w->deferred->lock);
    bool has_batches = !gw_list_empty(&w->deferred->open);
    gw_unlock(&w->deferred->lock);
    if (has_batches) batches_go_soon(w->deferred);
}

/* A batch without gets has copies of its data, so it need not be sent for a local flush.  Thus short operations with a local flush
 * after each one are still batched. */
int rma_deferred_flush_local(struct rma_win *w)
{
    struct rma_deferred *all = w->deferred;
    if (likely(!all)) return GW_OK;
    bool has_gets = false;
    gw_lock(&all->lock);
    for (struct gw_list *l = all->open.next; l != &all->open && !has_gets; l = l->next)
        has_gets = container_of(l, struct deferred, link)->gets;
    gw_unlock(&all->lock);
    return !has_gets && is_idle(all) ? GW_OK : rma_deferred_settle(w);
}

/* What the answer to a flush will confirm. */
struct flushed {
    struct ask_reply answer; /* its contents do not matter */
    uint64_t sent;
};
static void flush_done(struct gw_done *done, int err)
{
    struct deferred *l = container_of(done, struct deferred, done);
    struct rma_target *t = &l->w->targets[l->target];
    const struct flushed *f = (const struct flushed *)l->bytes;
    assert(f->sent <= atomic_load_explicit(&t->sent, memory_order_relaxed));
    if (err >= 0 && f->sent > atomic_load_explicit(&t->known, memory_order_relaxed)) /* the lane's lock is held */
        atomic_store_explicit(&t->known, f->sent, memory_order_relaxed);
    deferred_done(done, err);
}

int rma_deferred_ask_flush(struct rma_win *w, int target, struct rma_counter *counter)
{
    uint64_t sent = atomic_load_explicit(&w->targets[target].sent, memory_order_relaxed);
    if (atomic_load_explicit(&w->targets[target].known, memory_order_relaxed) >= sent) return GW_OK;
    struct ask_head h = {.what = ASK_FLUSH, .bytes = (int64_t)sent, .origin = w->comm->rank, .number = rma_ask_number(w)};
    struct deferred *l = deferred_new(w, sizeof(struct flushed));
    if (!l) return GW_ENOMEM;
    struct flushed *f = (struct flushed *)l->bytes;
    f->sent = sent;
    l->target = target;
    l->into.counter = counter;
    l->done.fn = flush_done;
    int rc = tell(w, target, &h, NULL, NULL, 0, false);
    if (rc == GW_OK) return deferred_receive(l, target, TAG_REPLY + h.number, &f->answer, sizeof f->answer);
    free(l);
    return rc;
}

bool rma_deferred_fence(struct rma_win *w, int target)
{
    struct rma_target *t = &w->targets[target];
    gw_lock(&w->deferred->lock);
    bool has_all = atomic_load_explicit(&t->known, memory_order_relaxed) >= atomic_load_explicit(&t->sent, memory_order_relaxed);
    atomic_store_explicit(&t->after, atomic_load_explicit(&t->loose, memory_order_relaxed), memory_order_relaxed);
    gw_unlock(&w->deferred->lock);
    return has_all;
}

int rma_deferred_flush(struct rma_win *w, int target)
{
    if (likely(!w->deferred)) return GW_OK;
    int rc = rma_deferred_ask_flush(w, target, NULL), settled = rma_deferred_settle(w);
    return rc == GW_OK ? settled : rc;
}

int rma_deferred_flush_all(struct rma_win *w)
{
    if (likely(!w->deferred)) return GW_OK;
    int n = w->comm->size, rc = GW_OK;
    if (!atomic_exchange_explicit(&w->deferred->is_counted, false, memory_order_relaxed)) return rma_deferred_settle(w);
    for (int i = 0; i < n && rc == GW_OK; i++) rc = rma_deferred_ask_flush(w, i, NULL);
    int settled = rma_deferred_settle(w);
    return rc == GW_OK ? settled : rc;
}

/* ---- opening and closing of a window ---- */
int rma_deferred_open(struct rma_win *w)
{
    w->deferred = calloc(1, sizeof *w->deferred);
    if (w->deferred) {
        gw_list_init(&w->deferred->open);
        w->deferred->go.run.fn = batches_go;
        w->deferred->go.by_service = true;
        w->deferred->w = w;
    }
    return w->deferred ? GW_OK : gw_fail(GW_ENOMEM, "no memory for a window of ranks on several nodes");
}

void rma_deferred_close(struct rma_win *w)
{
    assert(!w->deferred || (atomic_load(&w->deferred->n) == 0 && gw_list_empty(&w->deferred->open)));
    free(w->deferred);
    w->deferred = NULL;
}
