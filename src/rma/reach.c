/* reach.c -- the memory of a target that is not mapped here: by the kernel (CMA), else by messages (ask.c).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma/rma_private.h"

#include "coll/coll.h"

enum { RUNS = 512 };

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

int reach_move(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t count, struct gw_type *t, int64_t bytes,
               char *packed)
{
    struct type_cursor c;
    struct iovec runs[RUNS];
    int rc = GW_OK;
    if (!w->targets[target].has_cma) return ask_move(w, target, is_put, at, count, t, bytes, packed);
    type_cursor_init(&c, (void *)(uintptr_t)at, count, t); /* addresses there: they are computed, never followed */
    for (int64_t done = 0, got; done < bytes && rc == GW_OK; done += got, packed += got) {
        int n = type_cursor_iov(&c, runs, RUNS, bytes - done, &got);
        rc = move_by_kernel(w, target, is_put, runs, n, packed);
    }
    return rc;
}

/* ---- for windows ---- */
int reach_open(struct rma_win *w)
{
    int somebody_cannot = 0, mine = 0;
    for (int i = 0; i < w->comm->size; i++) {
        struct rma_target *t = &w->targets[i];
        t->has_cma = !t->is_near && is_here(w, i) && has_cma(w, i);
        if (!t->is_near && !t->has_cma) mine = 1;
    }
    int rc = coll_allreduce(&mine, &somebody_cannot, 1, gw_type_int, gw_op_max, w->comm, NULL);
    return rc != GW_OK || !somebody_cannot ? rc : serve_open(w);
}

int reach_close(struct rma_win *w)
{
    int rc = coll_barrier(w->comm, NULL); /* what others asked for has been answered */
    return rc != GW_OK || !w->server ? rc : serve_close(w);
}
