/* reach.c -- access to the memory of targets that is not mapped here: through the kernel (CMA), by the wire, or by messages
 * (ask.c).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma/rma_private.h"

#include <stdlib.h>
#include <sys/uio.h>

#include "base/settings.h"
#include "coll/coll.h"

enum { RUNS = 512 };

/* ---- CMA ---- */
/* Can the wire copy so that the copy is complete on return?  move_by_kernel() relies on that. */
static bool has_cma(struct rma_win *w, int target)
{
    struct gw_lane *lane = w->comm->lane;
    struct gw_peer *p = comm_peer(w->comm, target);
    struct wire_caps caps;
    int rc = GW_OK;
    gw_lock(&lane->lock);
    while (!p->ep && (rc = peer_connect(lane, p)) == GW_AGAIN) req_progress_locked(lane);
    peer_caps(lane, p, &caps);
    bool is_ok = rc == GW_OK && caps.at_once && caps.get && caps.put && wire_may_still_read(p->ep);
    gw_unlock(&lane->lock);
    return is_ok;
}

/* True if the kernel refuses a copy that it did before, as when the target has called prctl(PR_SET_DUMPABLE, 0) since.  From then
 * on the target is asked by mail. */
static GW_COLD bool turns_to_mail(struct rma_win *w, int target, const struct gw_peer *p)
{
    if (!w->mailer || wire_may_read(p->ep)) return false;
    atomic_store_explicit(&w->targets[target].refuses, true, memory_order_relaxed);
    return true;
}

static int move_by_kernel(struct rma_win *w, int target, unsigned how, const struct iovec *runs, int n, char *packed)
{
    struct gw_lane *lane = w->comm->lane;
    struct gw_peer *p = comm_peer(w->comm, target);
    struct gw_done unused = {0};
    bool is_put = how & REACH_PUT;
    int rc = GW_OK, i = 0;
    if (likely(!atomic_load_explicit(&w->targets[target].refuses, memory_order_relaxed))) {
        gw_lock(&lane->lock);
        for (; i < n && rc == GW_OK; i += rc == GW_OK) {
            struct iovec here = {packed, runs[i].iov_len};
            rc = (is_put ? p->ep->ops->put : p->ep->ops->get)(p->ep, &here, 1, (uint64_t)(uintptr_t)runs[i].iov_base, 0, &unused);
            if (rc == GW_OK) packed += runs[i].iov_len;
        }
        if (unlikely(rc == GW_EOTHER) && turns_to_mail(w, target, p)) rc = GW_OK;
        gw_unlock(&lane->lock);
    }
    for (; i < n && rc == GW_OK; packed += runs[i++].iov_len)
        rma_mail_insist(w, target, how & REACH_HELD, is_put, (uint64_t)(uintptr_t)runs[i].iov_base, (int64_t)runs[i].iov_len,
                        packed);
    return rc;
}

int rma_reach_move(struct rma_win *w, int target, unsigned how, uint64_t at, int64_t count, struct gw_type *t, int64_t bytes,
                   struct rma_packed packed)
{
    struct type_cursor c;
    struct iovec runs[RUNS];
    bool is_put = how & REACH_PUT;
    int rc = GW_OK;
    if (w->targets[target].key && type_is_run(t, count))
        return rma_deferred_by_wire(w, target, is_put, at + (uint64_t)t->true_lb, bytes, packed);
    if (!w->targets[target].has_cma) return rma_ask_move(w, target, is_put, at, count, t, bytes, packed);
    type_cursor_init(&c, gw_data_host((void *)(uintptr_t)at, count, t)); /* the target's addresses, not followed */
    for (int64_t done = 0, got; done < bytes && rc == GW_OK; done += got, packed = rma_packed_at(packed, got)) {
        int n = type_cursor_iov(&c, runs, RUNS, bytes - done, &got);
        rc = move_by_kernel(w, target, how, runs, n, packed.at);
    }
    return rc;
}

/* ---- the wire ---- */
/* The network that has one-sided copies and may be used for them; NULL: none. */
static struct lane_wire *copying_net(struct rma_win *w)
{
    if (w->flavor == GW_WIN_FLAVOR_DYNAMIC || gw_set.net_rendezvous == GW_SET_NET_RENDEZVOUS_DISABLED) return NULL;
    for (struct lane_wire *net = NULL; (net = peer_next_net(w->comm->lane, net));) {
        struct wire_caps caps = {0};
        net->ops->caps(net->wire, &caps);
        bool is_asked =
            gw_set.net_rendezvous == GW_SET_NET_RENDEZVOUS_ENABLED || (gw_set.rma_network_atomics && net->ops->copy.atomic);
        bool may = caps.put && caps.get && caps.keys && (!caps.soft || is_asked);
        if (may) return net;
    }
    return NULL;
}

/* Collective, if there are other nodes.  Exchanges the keys of all parts.  A key of 0 means messages: for a rank that cannot
 * expose its part or has none, and for all targets on a rank that may not use the wire. */
static int keys_share(struct rma_win *w)
{
    struct gw_lane *lane = w->comm->lane;
    struct lane_wire *net = w->net = copying_net(w);
    uint64_t mine = 0, *all = malloc(sizeof *all * (size_t)w->comm->size);
    int rc = rma_agree(w->comm, all ? GW_OK : gw_fail(GW_ENOMEM, "no memory for a window of %d ranks", w->comm->size));
    if (rc == GW_OK && net && w->size > 0) {
        gw_lock(&lane->lock);
        if (net->ops->copy.expose(net->wire, w->base, (size_t)w->size, &mine) != GW_OK) mine = 0;
        gw_unlock(&lane->lock);
    }
    if (rc == GW_OK) rc = coll_allgather(&mine, sizeof mine, gw_type_byte, all, sizeof mine, gw_type_byte, w->comm, NULL);
    for (int i = 0; rc == GW_OK && i < w->comm->size; i++)
        if (net && !is_here(w, i) && peer_route(lane, (int)(comm_peer(w->comm, i) - lane->peers)) == net)
            w->targets[i].key = all[i];
    w->targets[w->comm->rank].key = mine;
    free(all);
    return rc == GW_OK && gw_set.rma_network_atomics ? rma_atomics_open(w) : rc;
}

static void key_drop(struct rma_win *w)
{
    struct gw_lane *lane = w->comm->lane;
    uint64_t *mine = &w->targets[w->comm->rank].key;
    gw_lock(&lane->lock);
    if (*mine) w->net->ops->copy.conceal(w->net->wire, *mine);
    gw_unlock(&lane->lock);
    *mine = 0;
}

/* ---- opening and closing of a window ---- */
/* All ranks serve requests of the others. */
static int serve_all(struct rma_win *w)
{
    int rc = rma_agree(w->comm, rma_deferred_open(w));
    if (rc == GW_OK) rc = rma_serve_open(w);
    if (rc == GW_OK) rma_service_look(w);
    return rc;
}

int rma_use_instructions(struct rma_win *w)
{
    w->has_instructions = true;
    if (w->server || w->comm->size == 1) return GW_OK;
    int rc = serve_all(w); /* the kernel copies, but does nothing in one piece */
    if (rc != GW_OK) rma_deferred_close(w);
    return rc;
}

int rma_reach_open(struct rma_win *w)
{
    int somebody_cannot = 0, mine = 0;
    for (int i = 0; i < w->comm->size; i++) {
        struct rma_target *t = &w->targets[i];
        t->has_cma = !t->is_near && is_here(w, i) && has_cma(w, i);
        if (!t->is_near && !t->has_cma) mine = 1;
    }
    int rc = coll_allreduce(&mine, &somebody_cannot, 1, gw_type_int, gw_op_max, w->comm, NULL);
    if (rc != GW_OK || !somebody_cannot) return rc;
    rc = w->n_leaders ? keys_share(w) : GW_OK;
    if (rc == GW_OK) rc = serve_all(w);
    if (rc == GW_OK) return GW_OK;
    key_drop(w);
    rma_atomics_close(w);
    rma_deferred_close(w);
    return rc;
}

/* Others ask for this rank's memory: by locks (unless nobody will) while it may compute. */
void rma_service_look(struct rma_win *w)
{
    if (w->has_service || !w->server || rma_no_locks(w)) return;
    w->has_service = true;
    req_service_hold();
}

int rma_reach_close(struct rma_win *w)
{
    int flushed = rma_deferred_flush_all(w);
    coll_call_begin(w->comm);             /* whose barrier is not that of a fence */
    int rc = coll_barrier(w->comm, NULL); /* after it all requests of all ranks are done */
    coll_call_end(w->comm);
    if (rc != GW_OK || !w->server) return rc;
    if (w->has_service) req_service_drop();
    w->has_service = false;
    key_drop(w);
    rma_atomics_close(w);
    rc = rma_serve_close(w);
    rma_deferred_close(w);
    return rc == GW_OK ? flushed : rc;
}
