/* neighbor.c -- the entry points of neighbourhood collectives: their checks, and arguments in the form of the algorithms.
 *
 * All members number all neighbourhood collectives, also members without neighbours, as the numbers of a communicator's
 * collectives must be the same on all members.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll_private.h"
#include "base/settings.h"
#include "boot/where.h"

static int check(const void *sbuf, const void *rbuf, const struct gw_comm *c)
{
    if (unlikely(!c->topo))
        return gw_fail(GW_ETOPOLOGY, "the communicator has no topology; neighbourhood collectives need one (see MPI_Cart_create)");
    if (unlikely(sbuf == GW_IN_PLACE || rbuf == GW_IN_PLACE))
        return gw_fail(GW_EBUFFER, "%s is MPI_IN_PLACE, which neighbourhood collectives do not know",
                       sbuf == GW_IN_PLACE ? "sendbuf" : "recvbuf");
    return GW_OK;
}

static bool by_leaf(struct gw_comm *c, bool gather)
{
    bool is_on = coll_leaves_on(gather ? COLL_ALLGATHER : COLL_ALLTOALL);
    return c->one_node && c->size <= PLAN_PAIR_MEMBERS && is_on && plan_leaf_ready(c);
}

static int run(bool gather, struct plan_args *a, const void *sbuf, void *rbuf, struct gw_comm *c, struct coll_as *as)
{
    int rc = check(sbuf, rbuf, c);
    if (rc != GW_OK) return rc;
    a->rank = c->rank;
    a->size = c->size;
    a->topo = c->topo;
    unsigned form = !as ? 0 : as->when == COLL_INIT ? BOOT_SAYS_PREPARED : BOOT_SAYS_REQUEST;
    a->says = PLAN_SAYS_FLAG(form | BOOT_SAYS_OWN);
    void (*enter)(struct gw_comm *, unsigned, struct plan_args *) =
        as && gw_set.coll_order == GW_SET_COLL_ORDER_APART ? plan_enter_apart : plan_enter_as;
    enter(c, PLAN_CALLS + (gather ? COLL_NEIGHBOR_ALLGATHER : COLL_NEIGHBOR_ALLTOALL), a);
    if (!as && by_leaf(c, gather))
        return plan_run(gather ? &coll_alg_neighbor_allgather_leaf : &coll_alg_neighbor_alltoall_leaf, a, sbuf, rbuf, c);
    const struct plan_algorithm *alg = gather ? &coll_alg_neighbor_allgather : &coll_alg_neighbor_alltoall;
    if (!as) return plan_run(alg, a, sbuf, rbuf, c);
    a->n_s = c->topo->nout, a->n_r = c->topo->nin;
    return plan_start(as->when == COLL_INIT ? PLAN_INIT : PLAN_START, alg, a, sbuf, rbuf, c, as->req_out);
}

int coll_neighbor_allgather(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount, struct gw_type *rt,
                            struct gw_comm *c, struct coll_as *as)
{
    struct plan_args a = {.scount = scount, .st = st, .rcount = rcount, .rt = rt};
    return run(true, &a, sbuf, rbuf, c, as);
}

int coll_neighbor_allgatherv(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, struct gw_counts rcounts,
                             struct gw_counts displs, struct gw_type *rt, struct gw_comm *c, struct coll_as *as)
{
    struct plan_args a = {.scount = scount, .st = st, .rcounts = rcounts, .rdispls = displs, .rt = rt};
    return run(true, &a, sbuf, rbuf, c, as);
}

int coll_neighbor_alltoall(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount, struct gw_type *rt,
                           struct gw_comm *c, struct coll_as *as)
{
    struct plan_args a = {.scount = scount, .st = st, .rcount = rcount, .rt = rt};
    return run(false, &a, sbuf, rbuf, c, as);
}

int coll_neighbor_alltoallv(const void *sbuf, struct gw_counts scounts, struct gw_counts sdispls, struct gw_type *st, void *rbuf,
                            struct gw_counts rcounts, struct gw_counts rdispls, struct gw_type *rt, struct gw_comm *c,
                            struct coll_as *as)
{
    struct plan_args a = {.scounts = scounts, .sdispls = sdispls, .st = st, .rcounts = rcounts, .rdispls = rdispls, .rt = rt};
    return run(false, &a, sbuf, rbuf, c, as);
}

int coll_neighbor_alltoallw(const void *sbuf, struct gw_counts scounts, struct gw_counts sdispls, struct gw_type **st, void *rbuf,
                            struct gw_counts rcounts, struct gw_counts rdispls, struct gw_type **rt, struct gw_comm *c,
                            struct coll_as *as)
{
    struct plan_args a = {.scounts = scounts, .sdispls = sdispls, .sts = st, .rcounts = rcounts, .rdispls = rdispls, .rts = rt};
    return run(false, &a, sbuf, rbuf, c, as);
}
