/* deferred.c -- operations on targets out of reach that go on after their call: many at once, and one round trip for all of them in a
 * flush.
 *
 *   put, get of one run, where the wire reaches the window (reach.c)   the wire copies; it says when the bytes are there
 *   put, accumulate                                                    a request that is not answered; the target counts
 *   get                                                                a request, and the bytes as its answer
 *
 * Requests to one target travel together: they gather in a batch, which goes when it is long enough, when an answer is wanted, or
 * when somebody waits; the answer to its small gets is one message, too.  So many small puts or gets are few messages, and a put with
 * its flush is one round trip.
 *
 * Three things are waited for, by different calls:
 *   started   what belongs to one request (started.c): its wait.  Gets of several requests gather, too; as nothing but progress may
 *             follow, they go at once while nothing else is under way, else in the next round of progress
 *   settled   at this end: buffers of the user's may be changed, and what was got is there (requests, temporary buffers)
 *   flushed   at the target, too: it has counted as many requests as were sent to it.  One question per target asks that, all
 *             targets at once (flushes, and the end of an epoch)
 *
 * What may fail for a reason that only the target knows (dynamic windows) is done so with a request only, which has the error then:
 * else its errors belong to the call.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <sys/uio.h>

#include "rma/rma_private.h"
#include "base/list.h"
#include "base/settings.h"

enum { LONG_GET = 1024 };

/* The small gets of a batch; `data` is their answer. */
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
/* One message or copy that is under way, or a batch that still gathers. */
struct deferred {
    struct gw_done done;
    struct rma_win *w;
    struct gw_list link; /* of a batch: in rma_deferred.open; and its target, bytes, and where its last request begins */
    int target;
    uint32_t used, last;
    struct gw_req *req; /* of a receive, else NULL: so many bytes are to come */
    int64_t wanted;
    struct rma_packed into;      /* .started: it is a part of that.  .at: where the data of the answer in `bytes` go */
    struct deferred_gets *gets;  /* NULL: it has none; then, of the message that answers them */
    char bytes[] GW_ALIGNED(16); /* of a message, or for one */
};
struct rma_deferred {
    _Atomic uint32_t n;      /* under way */
    _Atomic int err;         /* of the first that failed since somebody was told */
    _Atomic bool is_counted; /* some target has been sent more than it has said it did */
    struct gw_lock lock;     /* of batches, and so that they go in the order of their requests; before a lane's */
    struct gw_list open;     /* batches */
    struct req_work go;      /* sends them; counted in n while it is to run */
    struct rma_win *w;
    bool goes; /* under the lane's lock: it is to run */
};

/* All of what was asked for has come. */
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
    if (l->into.started)
        rma_started_over(l->into.started, err);
    else if (err < 0)
        atomic_compare_exchange_strong_explicit(&all->err, &none, err, memory_order_relaxed, memory_order_relaxed);
    free(l);
    uint32_t n = atomic_fetch_sub_explicit(&all->n, 1, memory_order_release); /* [R1] pairs with [A1]: what was got is there */
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
/* Before it is given away; deferred_done() ends it. */
static void deferred_starts(struct deferred *l)
{
    rma_started_part(l->into.started);
    atomic_fetch_add_explicit(&l->w->deferred->n, 1, memory_order_relaxed);
}

/* ---- messages ---- */
/* From, or into, memory that stays until rma_deferred_settle(). */
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

/* With the lane's lock: those that belong to requests, each a part of its own. */
static void gets_over(const struct deferred_gets *g, int err)
{
    for (int i = 0; i < g->n; i++)
        if (g->each[i].into.started) rma_started_over(g->each[i].into.started, err);
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

/* With the lock.  The receive of an answer is posted once its question is out: one that could not be sent is answered by nobody. */
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

/* Batches of gets that belong to requests: nobody might call this room again before their wait. */
static void batches_go(struct gw_done *done, int err)
{
    struct rma_deferred *all = container_of(container_of(done, struct req_work, run), struct rma_deferred, go);
    struct gw_lane *lane = all->w->comm->lane;
    int none = GW_OK;
    gw_lock(&lane->lock);
    all->goes = false; /* who appends from now on asks for it again */
    gw_unlock(&lane->lock);
    err = batches_send(all->w);
    if (err < 0) atomic_compare_exchange_strong_explicit(&all->err, &none, err, memory_order_relaxed, memory_order_relaxed);
    atomic_fetch_sub_explicit(&all->n, 1, memory_order_release); /* [R1]; `all` may be gone from here on */
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

/* Once for each operation, before anything of it is under way. */
static int wait_for_room(struct rma_win *w)
{
    if (likely(has_room(w->deferred))) return GW_OK;
    int rc = batches_send(w);
    if (rc == GW_OK) req_block_until(w->comm->lane, has_room, w->deferred);
    return rc;
}

/* With the lock: the target's batch, with room for so many bytes more. */
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

/* With the lock and room for it: head, runs and data, copied. */
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

static int tell(struct rma_win *w, int target, const struct ask_head *h, const struct ask_run *runs, const void *data,
                int64_t bytes, bool goes_now)
{
    struct deferred *l;
    gw_lock(&w->deferred->lock);
    int rc = batch_with_room(w, target, ask_bytes(h, bytes), &l);
    if (rc == GW_OK) rc = append(l, h, runs, data, bytes, goes_now);
    gw_unlock(&w->deferred->lock);
    return rc;
}

int rma_deferred_say(struct rma_win *w, int target, const struct ask_head *h, const struct ask_run *runs, const void *data,
                     int64_t bytes)
{
    return tell(w, target, h, runs, data, bytes, true);
}

/* That the target counts. */
static int counted(struct rma_win *w, int target, int rc)
{
    if (rc != GW_OK) return rc;
    atomic_fetch_add_explicit(&w->targets[target].sent, 1, memory_order_relaxed);
    atomic_store_explicit(&w->deferred->is_counted, true, memory_order_relaxed);
    return GW_OK;
}

int rma_deferred_change(struct rma_win *w, int target, struct ask_head h, const struct ask_run *runs, const void *data,
                        int64_t bytes)
{
    int rc = wait_for_room(w);
    h.flags |= ASK_DEFERRED;
    h.origin = w->comm->rank;
    return rc == GW_OK ? counted(w, target, tell(w, target, &h, runs, data, bytes, false)) : rc;
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
    if (l) l->into.started = from.started;
    if (rc == GW_OK) rc = rma_deferred_say(w, target, &h, &run, NULL, 0);
    if (rc != GW_OK) {
        free(l);
        return rc;
    }
    return counted(w, target, deferred_send(l, target, TAG_DATA + h.number, from.at, h.bytes));
}

/* The batch's list of gets, with room for one more; NULL: no memory. */
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

/* With the lock. */
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
    rma_started_part(into.started);
    bool is_alone = into.started && is_idle(w->deferred); /* it gains nothing by waiting for others */
    rc = append(l, &h, runs, NULL, 0, is_alone);
    if (into.started && w->targets[target].batch) batches_go_soon(w->deferred);
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
    l->into.started = into.started;
    rc = rma_deferred_say(w, target, &h, runs, NULL, 0);
    if (rc == GW_OK) return deferred_receive(l, target, TAG_REPLY + h.number, into.at, bytes);
    free(l);
    return rc;
}

/* ---- questions of requests, whose answer says how it went ---- */
static void answered(struct gw_done *done, int err)
{
    struct deferred *l = container_of(done, struct deferred, done);
    struct rma_started *s = l->into.started;
    struct ask_reply how = {GW_OK, 0};
    int64_t bytes = l->req ? gw_status_bytes(&l->req->status) : 0;
    if (err >= 0) err = rma_ask_answer_check(l->bytes, bytes, l->wanted, &how);
    if (err >= 0 && how.rc < 0) {
        err = (int)how.rc;
        s->refused_at = how.at;
        s->refused_by = l->target;
    }
    if (err >= 0 && l->into.at) memcpy(l->into.at, l->bytes + sizeof how, (size_t)l->wanted - sizeof how);
    l->wanted = bytes; /* an answer that says why not is short */
    deferred_done(done, err);
}

int rma_deferred_ask(struct rma_win *w, int target, struct ask_head h, const struct ask_run *runs, struct rma_given data,
                     struct rma_packed into, int64_t bytes)
{
    int64_t room = (int64_t)sizeof(struct ask_reply) + bytes;
    int rc = wait_for_room(w);
    struct deferred *l = rc == GW_OK ? deferred_new(w, (size_t)room) : NULL;
    if (!l) return rc == GW_OK ? GW_ENOMEM : rc;
    assert(into.started);
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
int rma_deferred_by_wire(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t bytes, struct rma_packed packed)
{
    struct gw_lane *lane = w->comm->lane;
    struct gw_peer *p = comm_peer(w->comm, target);
    struct iovec here = {packed.at, (size_t)bytes};
    int room = wait_for_room(w);
    struct deferred *l = room == GW_OK ? deferred_new(w, 0) : NULL;
    if (!l) return room == GW_OK ? GW_ENOMEM : room;
    l->into.started = packed.started;
    deferred_starts(l);
    for (;;) {
        gw_lock(&lane->lock);
        int rc = p->ep ? GW_OK : peer_connect(lane, p);
        if (rc == GW_OK) rc = (is_put ? p->ep->ops->put : p->ep->ops->get)(p->ep, &here, 1, at, w->targets[target].key, &l->done);
        if (rc <= GW_OK) deferred_done(&l->done, rc);
        gw_unlock(&lane->lock);
        if (rc != GW_AGAIN) {
            gw_counted(&gw_count.rma_wired, rc >= 0);
            return rc < 0 ? rc : GW_OK;
        }
        req_progress();
    }
}

/* ---- waiting ---- */
bool rma_deferred_may_unlock(struct rma_win *w, int target)
{
    gw_lock(&w->deferred->lock);
    bool gets = w->targets[target].batch && w->targets[target].batch->gets;
    gw_unlock(&w->deferred->lock);
    return !gets && is_idle(w->deferred);
}

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

/* A batch without gets holds copies of its data: it need not go for that, and so short operations with a local flush after each still
 * travel together. */
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

static void note_done(struct rma_win *w, int target, uint64_t sent)
{
    assert(sent <= atomic_load_explicit(&w->targets[target].sent, memory_order_relaxed));
    atomic_store_explicit(&w->targets[target].known, sent, memory_order_relaxed); /* by threads: perhaps asked once more */
}

/* Asks whether it has done all that it was sent; the answer is not looked at, that it comes is enough. */
static int ask_target(struct rma_win *w, int target, uint64_t *sent_out)
{
    *sent_out = atomic_load_explicit(&w->targets[target].sent, memory_order_relaxed);
    if (atomic_load_explicit(&w->targets[target].known, memory_order_relaxed) == *sent_out) return GW_OK;
    struct ask_head h = {.what = ASK_FLUSH, .bytes = (int64_t)*sent_out, .origin = w->comm->rank, .number = rma_ask_number(w)};
    struct deferred *l = deferred_new(w, sizeof(struct ask_reply));
    if (!l) return GW_ENOMEM;
    int rc = tell(w, target, &h, NULL, NULL, 0, false);
    if (rc == GW_OK) return deferred_receive(l, target, TAG_REPLY + h.number, l->bytes, sizeof(struct ask_reply));
    free(l);
    return rc;
}

int rma_deferred_flush(struct rma_win *w, int target)
{
    uint64_t sent;
    if (likely(!w->deferred)) return GW_OK;
    int rc = ask_target(w, target, &sent), settled = rma_deferred_settle(w);
    if (rc == GW_OK) rc = settled;
    if (rc == GW_OK) note_done(w, target, sent);
    return rc;
}

int rma_deferred_flush_all(struct rma_win *w)
{
    if (likely(!w->deferred)) return GW_OK;
    int n = w->comm->size, rc = GW_OK;
    if (!atomic_exchange_explicit(&w->deferred->is_counted, false, memory_order_relaxed)) return rma_deferred_settle(w);
    uint64_t *sent = malloc((size_t)n * sizeof *sent);
    if (!sent) return gw_fail(GW_ENOMEM, "no memory to ask %d ranks", n);
    for (int i = 0; i < n && rc == GW_OK; i++) rc = ask_target(w, i, &sent[i]);
    int settled = rma_deferred_settle(w);
    if (rc == GW_OK) rc = settled;
    for (int i = 0; i < n && rc == GW_OK; i++) note_done(w, i, sent[i]);
    free(sent);
    return rc;
}

/* ---- for windows ---- */
int rma_deferred_open(struct rma_win *w)
{
    w->deferred = calloc(1, sizeof *w->deferred);
    if (w->deferred) {
        gw_list_init(&w->deferred->open);
        w->deferred->go.run.fn = batches_go;
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
