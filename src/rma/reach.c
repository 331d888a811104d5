/* reach.c -- the memory of a target that is not mapped here: by the kernel (CMA), or by messages that the target answers.
 *
 *   origin                                          target
 *   REQUEST(head, runs, data of a put) -----------> copies, from whichever call of MPI makes progress
 *                                      <----------- REPLY(data of a get)
 *
 * The layout at the target travels as runs of addresses; the origin computes them, the target only copies.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma/rma_private.h"

#include <stdlib.h>

#include "coll/coll.h"

enum { RUNS = 512, PIECE = 32768, TAGS = 1 << 20 };
enum what { READ, WRITE, STOP };

struct run {
    uint64_t at, bytes;
};
struct head {
    uint32_t what; /* enum what */
    int32_t origin, reply_tag, n_runs;
    int64_t bytes;
};
enum { REQUEST_MAX = sizeof(struct head) + RUNS * sizeof(struct run) + PIECE };

struct rma_server {
    struct gw_done arrived;
    struct req_work work;
    struct rma_win *w;
    _Atomic bool stopped;
    _Alignas(16) char request[REQUEST_MAX];
};
struct reply {
    struct gw_done sent;
    char data[];
};

/* ---- CMA ---- */
static bool has_cma(struct rma_win *w, int target)
{
    struct gw_lane *lane = w->comm->lane;
    struct gw_peer *p = comm_peer(w->comm, target);
    int rc = GW_OK;
    gw_lock(&lane->lock);
    while (!p->ep && (rc = peer_connect(lane, p)) == GW_AGAIN) req_progress_locked(lane);
    bool is_ok = rc == GW_OK && p->ops == &shm_ops && shm_cma_ok(p->ep);
    gw_unlock(&lane->lock);
    return is_ok;
}

static int move_by_kernel(struct rma_win *w, int target, bool is_put, const struct iovec *runs, int n, char *packed)
{
    struct gw_lane *lane = w->comm->lane;
    struct gw_peer *p = comm_peer(w->comm, target);
    struct gw_done unused = {0};
    int rc = GW_OK;
    gw_lock(&lane->lock);
    for (int i = 0; i < n && rc == GW_OK; i++) {
        struct iovec here = {packed, runs[i].iov_len};
        rc = (is_put ? p->ops->put : p->ops->get)(p->ep, &here, 1, (uint64_t)(uintptr_t)runs[i].iov_base, 0, &unused);
        packed += runs[i].iov_len;
    }
    gw_unlock(&lane->lock);
    return rc;
}

/* ---- messages: the origin ---- */
static int call(struct rma_win *w, int target, const void *request, int64_t bytes, void *answer, int64_t answer_bytes,
                int tag)
{
    struct gw_req *s = NULL, *r = NULL;
    int rc = p2p_stream_irecv(GW_STREAM_P2P, answer, answer_bytes, gw_type_byte, target, tag, w->comm, &r);
    if (rc < 0) return rc;
    int sent = p2p_stream_isend(GW_STREAM_P2P, request, bytes, gw_type_byte, target, TAG_REQUEST, w->comm, &s);
    if (sent == GW_POSTED) sent = p2p_stream_wait(s);
    rc = p2p_stream_wait(r);
    return sent < 0 ? sent : rc;
}

static int move_by_messages(struct rma_win *w, int target, bool is_put, const struct iovec *runs, int n, int64_t bytes,
                            char *packed)
{
    size_t head_bytes = sizeof(struct head) + (size_t)n * sizeof(struct run);
    char *request = malloc(head_bytes + (size_t)bytes);
    if (!request) return gw_fail(GW_ENOMEM, "no memory for a message of %lld bytes", (long long)bytes);
    struct head *h = (struct head *)request;
    struct run *list = (struct run *)(h + 1);
    uint32_t number =
        atomic_fetch_add_explicit(&w->reply_tag, 1, memory_order_relaxed); /* several threads may wait for answers */
    *h = (struct head){is_put ? WRITE : READ, w->comm->rank, TAG_REPLY + (int)(number % TAGS), n, bytes};
    for (int i = 0; i < n; i++) list[i] = (struct run){(uint64_t)(uintptr_t)runs[i].iov_base, runs[i].iov_len};
    if (is_put) memcpy(request + head_bytes, packed, (size_t)bytes);
    int64_t out = (int64_t)head_bytes + (is_put ? bytes : 0);
    int rc = call(w, target, request, out, is_put ? NULL : packed, is_put ? 0 : bytes, h->reply_tag);
    free(request);
    return rc;
}

int reach_move(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t count, struct gw_type *t, int64_t bytes,
               char *packed)
{
    bool by_kernel = w->targets[target].has_cma;
    struct type_cursor c;
    struct iovec runs[RUNS];
    int rc = GW_OK;
    type_cursor_init(&c, (void *)(uintptr_t)at, count, t); /* addresses there: they are computed, never followed */
    for (int64_t done = 0, got; done < bytes && rc == GW_OK; done += got, packed += got) {
        int n = type_cursor_iov(&c, runs, RUNS, by_kernel ? bytes - done : gw_min64(PIECE, bytes - done), &got);
        rc = by_kernel ? move_by_kernel(w, target, is_put, runs, n, packed)
                       : move_by_messages(w, target, is_put, runs, n, got, packed);
    }
    return rc;
}

/* ---- messages: the target ---- */
static void reply_sent(struct gw_done *done, int err)
{
    (void)err; /* the origin's receive fails as well */
    free(container_of(done, struct reply, sent));
}

static void answer(struct rma_win *w, const struct head *h, struct reply *reply, int64_t bytes)
{
    struct gw_req *r;
    reply->sent.fn = reply_sent;
    int rc = p2p_stream_isend(GW_STREAM_P2P, reply->data, bytes, gw_type_byte, h->origin, h->reply_tag, w->comm, &r);
    if (rc == GW_POSTED) {
        gw_lock(&w->comm->lane->lock);
        rc = p2p_stream_chain(r, &reply->sent);
        gw_unlock(&w->comm->lane->lock);
    }
    if (rc != GW_POSTED) reply_sent(&reply->sent, rc);
}

/* False: there will be no more. */
static bool serve(struct rma_server *s)
{
    const struct head *h = (const struct head *)s->request;
    const struct run *runs = (const struct run *)(h + 1);
    if (h->what == STOP) {
        atomic_store_explicit(&s->stopped, true, memory_order_release);
        return false;
    }
    assert(h->n_runs <= RUNS && h->bytes <= PIECE);
    struct reply *reply = gw_xmalloc(sizeof *reply + (size_t)h->bytes);
    char *in = (char *)(uintptr_t)(runs + h->n_runs), *out = reply->data;
    GW_ORDER_ELSEWHERE_BEGIN; /* the origin of an accumulate holds our `busy`, and its user orders it with ours */
    for (int i = 0; i < h->n_runs; i++) {
        void *here = (void *)(uintptr_t)runs[i].at;
        if (h->what == WRITE)
            memcpy(here, in, runs[i].bytes);
        else
            memcpy(out, here, runs[i].bytes);
        in += runs[i].bytes;
        out += runs[i].bytes;
    }
    GW_ORDER_ELSEWHERE_END;
    answer(s->w, h, reply, h->what == READ ? h->bytes : 0);
    return true;
}

static void listen_on(struct rma_server *s)
{
    struct gw_comm *c = s->w->comm;
    struct gw_req *r;
    do {
        int rc =
            p2p_stream_irecv(GW_STREAM_P2P, s->request, REQUEST_MAX, gw_type_byte, GW_ANY_SOURCE, TAG_REQUEST, c, &r);
        if (rc < 0) gw_die("a window cannot listen to requests: %s", gw_fail_text());
        gw_lock(&c->lane->lock);
        rc = p2p_stream_chain(r, &s->arrived);
        gw_unlock(&c->lane->lock);
        if (rc == GW_POSTED) return;
    } while (serve(s));
}

static void request_arrived(struct gw_done *done, int err)
{
    struct rma_server *s = container_of(done, struct rma_server, arrived);
    (void)err;
    req_work_add(s->w->comm->lane, &s->work);
}

static void work_run(struct gw_done *done, int err)
{
    struct rma_server *s = container_of(done, struct rma_server, work.run);
    (void)err;
    if (serve(s)) listen_on(s);
}

/* ---- for windows ---- */
int reach_open(struct rma_win *w)
{
    int somebody_cannot = 0, mine = 0;
    for (int i = 0; i < w->comm->size; i++) {
        struct rma_target *t = &w->targets[i];
        t->has_cma = !t->is_near && has_cma(w, i);
        if (!t->is_near && !t->has_cma) mine = 1;
    }
    int rc = coll_allreduce(&mine, &somebody_cannot, 1, gw_type_int, gw_op_max, w->comm, NULL);
    if (rc != GW_OK || !somebody_cannot) return rc;
    struct rma_server *s = calloc(1, sizeof *s);
    rc = agree(w->comm, s ? GW_OK : gw_fail(GW_ENOMEM, "no memory to serve a window"));
    if (rc != GW_OK) {
        free(s);
        return rc;
    }
    s->w = w;
    s->arrived.fn = request_arrived;
    s->work.run.fn = work_run;
    w->server = s;
    listen_on(s);
    return GW_OK;
}

static bool has_stopped(void *arg)
{
    return atomic_load_explicit(&((struct rma_server *)arg)->stopped, memory_order_acquire);
}

int reach_close(struct rma_win *w)
{
    struct head stop = {.what = STOP};
    struct gw_req *r = NULL;
    int rc = coll_barrier(w->comm, NULL); /* what others asked for has been answered */
    if (rc != GW_OK || !w->server) return rc;
    rc = p2p_stream_isend(GW_STREAM_P2P, &stop, sizeof stop, gw_type_byte, w->comm->rank, TAG_REQUEST, w->comm, &r);
    if (rc == GW_POSTED) rc = p2p_stream_wait(r);
    if (rc < 0) return rc;
    req_block_until(w->comm->lane, has_stopped, w->server);
    free(w->server);
    w->server = NULL;
    return GW_OK;
}
