/* late.c -- operations on targets out of reach that go on after their call: many at once, and one round trip for all of them in a
 * flush.
 *
 *   put, get of one run, where the wire reaches the window (reach.c)   the wire copies; it says when the bytes are there
 *   put, accumulate                                                    a message that is not answered; the target counts
 *   get                                                                a message, and the bytes as its answer
 *
 * Two things are waited for, by different calls:
 *   settled   at this end: buffers of the user's may be changed, and what was got is there (requests, temporary buffers)
 *   flushed   at the target, too: it has counted as many messages as were sent to it.  One question per target asks that, all
 *             targets at once (flushes, and the end of an epoch)
 *
 * What may fail for a reason that only the target knows (dynamic windows) is not done so: its errors belong to the call.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "rma/rma_private.h"

/* One message or copy that is under way. */
struct late {
    struct gw_done done;
    struct rma_win *w;
    char bytes[] GW_ALIGNED(16); /* of a message, or for one */
};
struct rma_late {
    _Atomic uint32_t n;      /* under way */
    _Atomic int err;         /* of the first that failed since somebody was told */
    _Atomic bool is_counted; /* some target has been sent more than it has said it did */
};

static void late_done(struct gw_done *done, int err)
{
    struct late *l = container_of(done, struct late, done);
    struct rma_late *all = l->w->late;
    int none = GW_OK;
    if (err < 0) atomic_compare_exchange_strong_explicit(&all->err, &none, err, memory_order_relaxed, memory_order_relaxed);
    free(l);
    atomic_fetch_sub_explicit(&all->n, 1, memory_order_release); /* [R1] pairs with [A1]: what was got is there */
}

static bool has_room(void *arg)
{
    return atomic_load_explicit(&((struct rma_late *)arg)->n, memory_order_relaxed) < gw_set.rma_max_pending;
}

/* Once for each operation, before anything of it is under way. */
static void wait_for_room(struct rma_win *w)
{
    if (unlikely(!has_room(w->late))) req_block_until(w->comm->lane, has_room, w->late);
}

/* NULL: no memory.  It counts as under way; late_done() ends it. */
static struct late *late_new(struct rma_win *w, size_t bytes)
{
    struct late *l = malloc(sizeof *l + bytes);
    if (!l) {
        gw_fail(GW_ENOMEM, "no memory for a message of %zu bytes to another node", bytes);
        return NULL;
    }
    l->done.fn = late_done;
    l->w = w;
    atomic_fetch_add_explicit(&w->late->n, 1, memory_order_relaxed);
    return l;
}

/* ---- messages ---- */
/* From, or into, memory that stays until late_settle(). */
static int late_send(struct rma_win *w, struct late *l, int target, int tag, const void *from, int64_t bytes)
{
    struct gw_req *r = NULL;
    int rc = p2p_stream_isend(GW_STREAM_P2P, from, bytes, gw_type_byte, target, tag, w->comm, &r);
    p2p_stream_then(w->comm, rc, r, &l->done);
    return rc < 0 ? rc : GW_OK;
}
static int late_receive(struct rma_win *w, struct late *l, int target, int tag, void *into, int64_t bytes)
{
    struct gw_req *r = NULL;
    int rc = p2p_stream_irecv(GW_STREAM_P2P, into, bytes, gw_type_byte, target, tag, w->comm, &r);
    p2p_stream_then(w->comm, rc, r, &l->done);
    return rc < 0 ? rc : GW_OK;
}

/* Head, runs and data, copied. */
static int late_tell(struct rma_win *w, int target, const struct ask_head *h, const struct ask_run *runs, const void *data,
                     int64_t bytes)
{
    size_t all = ask_bytes(h, bytes);
    struct late *l = late_new(w, all);
    if (!l) return GW_ENOMEM;
    ask_fill(l->bytes, h, runs, data, bytes);
    return late_send(w, l, target, TAG_REQUEST, l->bytes, (int64_t)all);
}

/* That the target counts. */
static int counted(struct rma_win *w, int target, int rc)
{
    if (rc != GW_OK) return rc;
    atomic_fetch_add_explicit(&w->targets[target].sent, 1, memory_order_relaxed);
    atomic_store_explicit(&w->late->is_counted, true, memory_order_relaxed);
    return GW_OK;
}

int late_change(struct rma_win *w, int target, struct ask_head h, const struct ask_run *runs, const void *data, int64_t bytes)
{
    wait_for_room(w);
    h.flags |= ASK_LATE;
    h.origin = w->comm->rank;
    return counted(w, target, late_tell(w, target, &h, runs, data, bytes));
}

int late_put_long(struct rma_win *w, int target, struct ask_run run, const char *from)
{
    struct ask_head h = {.what = ASK_WRITE,
                         .flags = ASK_LATE | ASK_LONG,
                         .n_runs = 1,
                         .bytes = (int64_t)run.bytes,
                         .origin = w->comm->rank,
                         .number = ask_number(w)};
    wait_for_room(w);
    int rc = late_tell(w, target, &h, &run, NULL, 0);
    if (rc != GW_OK) return rc;
    struct late *l = late_new(w, 0);
    if (!l) gw_die("a put that has been announced cannot go: %s", gw_fail_text());
    return counted(w, target, late_send(w, l, target, TAG_DATA + h.number, from, h.bytes));
}

int late_get(struct rma_win *w, int target, const struct ask_run *runs, int n, int64_t bytes, char *into)
{
    struct ask_head h = {.what = ASK_READ,
                         .flags = ASK_LATE | (n == 1 ? ASK_LONG : 0),
                         .n_runs = n,
                         .bytes = bytes,
                         .origin = w->comm->rank,
                         .number = ask_number(w)};
    wait_for_room(w);
    struct late *l = late_new(w, 0);
    if (!l) return GW_ENOMEM;
    int rc = late_receive(w, l, target, TAG_REPLY + h.number, into, bytes);
    return rc == GW_OK ? late_tell(w, target, &h, runs, NULL, 0) : rc;
}

/* ---- the wire ---- */
int late_by_wire(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t bytes, char *packed)
{
    struct gw_lane *lane = w->comm->lane;
    struct gw_peer *p = comm_peer(w->comm, target);
    struct iovec here = {packed, (size_t)bytes};
    wait_for_room(w);
    struct late *l = late_new(w, 0);
    if (!l) return GW_ENOMEM;
    for (;;) {
        gw_lock(&lane->lock);
        int rc = p->ep ? GW_OK : peer_connect(lane, p);
        if (rc == GW_OK) rc = (is_put ? p->ops->put : p->ops->get)(p->ep, &here, 1, at, w->targets[target].key, &l->done);
        if (rc <= GW_OK) late_done(&l->done, rc);
        gw_unlock(&lane->lock);
        if (rc != GW_AGAIN) {
            gw_counted(&gw_count.rma_wired, rc >= 0);
            return rc < 0 ? rc : GW_OK;
        }
        req_progress();
    }
}

/* ---- waiting ---- */
static bool is_settled(void *arg)
{
    return atomic_load_explicit(&((struct rma_late *)arg)->n, memory_order_acquire) == 0; /* [A1] */
}

int late_settle(struct rma_win *w)
{
    struct rma_late *all = w->late;
    if (likely(!all)) return GW_OK;
    if (!is_settled(all)) req_block_until(w->comm->lane, is_settled, all);
    int err = atomic_exchange_explicit(&all->err, GW_OK, memory_order_relaxed);
    return err == GW_OK ? GW_OK : gw_fail(err, "an earlier put, get or accumulate on this window did not reach its target");
}

static void note_done(struct rma_win *w, int target, uint64_t sent)
{
    atomic_store_explicit(&w->targets[target].known, sent, memory_order_relaxed); /* by threads: perhaps asked once more */
}

/* Asks whether it has done all that it was sent; the answer is not looked at, that it comes is enough. */
static int ask_target(struct rma_win *w, int target, uint64_t *sent_out)
{
    *sent_out = atomic_load_explicit(&w->targets[target].sent, memory_order_relaxed);
    if (atomic_load_explicit(&w->targets[target].known, memory_order_relaxed) == *sent_out) return GW_OK;
    struct ask_head h = {.what = ASK_FLUSH, .bytes = (int64_t)*sent_out, .origin = w->comm->rank, .number = ask_number(w)};
    struct late *l = late_new(w, sizeof(struct ask_reply));
    if (!l) return GW_ENOMEM;
    int rc = late_receive(w, l, target, TAG_REPLY + h.number, l->bytes, sizeof(struct ask_reply));
    return rc == GW_OK ? late_tell(w, target, &h, NULL, NULL, 0) : rc;
}

int late_flush(struct rma_win *w, int target)
{
    uint64_t sent;
    if (likely(!w->late)) return GW_OK;
    int rc = ask_target(w, target, &sent), settled = late_settle(w);
    if (rc == GW_OK) rc = settled;
    if (rc == GW_OK) note_done(w, target, sent);
    return rc;
}

int late_flush_all(struct rma_win *w)
{
    if (likely(!w->late)) return GW_OK;
    int n = w->comm->size, rc = GW_OK;
    if (!atomic_exchange_explicit(&w->late->is_counted, false, memory_order_relaxed)) return late_settle(w);
    uint64_t *sent = malloc((size_t)n * sizeof *sent);
    if (!sent) return gw_fail(GW_ENOMEM, "no memory to ask %d ranks", n);
    for (int i = 0; i < n && rc == GW_OK; i++) rc = ask_target(w, i, &sent[i]);
    int settled = late_settle(w);
    if (rc == GW_OK) rc = settled;
    for (int i = 0; i < n && rc == GW_OK; i++) note_done(w, i, sent[i]);
    free(sent);
    return rc;
}

/* ---- for windows ---- */
int late_open(struct rma_win *w)
{
    w->late = calloc(1, sizeof *w->late);
    return w->late ? GW_OK : gw_fail(GW_ENOMEM, "no memory for a window of ranks on several nodes");
}

void late_close(struct rma_win *w)
{
    assert(!w->late || atomic_load(&w->late->n) == 0);
    free(w->late);
    w->late = NULL;
}
