/* alg_neighbor.c -- neighbourhood collectives: one message along each edge of the topology, some of them at a time.
 *
 * A round holds PLAN_STEPS messages and ends when they are complete, so members that took their edges in any order could
 * wait for each other in a circle.  Therefore all of them take the edges in one order, that of (how far the receiver lies ahead of the
 * sender, sender): of the edges that are not done, both ends of the first have come to it, and it gets done.  And where the edges
 * are regular, edges of one distance are in the same round everywhere.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "coll/coll_private.h"

/* ---- the order ---- */
/* place: of several edges between the same two, in the order in which they match. */
struct edge {
    int distance, from, place;
    struct gw_topo_move move;
};

static int edge_order(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Which block is the i-th to receive: in a grid what goes out to the negative neighbour comes from the positive one, which is the
 * same process in a dimension of 1 or 2. */
static int nth_in(const struct gw_topo *t, int i)
{
    return t->kind == GW_CART ? i ^ 1 : i;
}

/* Blocks for myself: the k-th goes to where the k-th comes from.  Returns how many. */
static int pair_own(const struct gw_topo *t, int rank, struct edge *e)
{
    int n = 0, out = 0;
    for (int i = 0; i < t->nin; i++) {
        if (t->in[nth_in(t, i)] != rank) continue;
        while (out < t->nout && t->out[out] != rank) out++;
        if (out == t->nout) break;
        e[n] = (struct edge){0, rank, n, {nth_in(t, i), out++}};
        n++;
    }
    return n;
}

int coll_neighbor_order(struct gw_topo *t, int rank, int size)
{
    int most = t->nin + t->nout;
    struct edge *e = malloc(sizeof *e * (size_t)(most + 1));
    if (!e) return gw_fail(GW_ENOMEM, "no memory for %d edges", most);
    int n = pair_own(t, rank, e);
    for (int i = 0; i < t->nin; i++) {
        int k = nth_in(t, i), from = t->in[k];
        if (from == rank || from == GW_PROC_NULL) continue;
        e[n++] = (struct edge){(rank - from + size) % size, from, i, {k, -1}};
    }
    for (int k = 0; k < t->nout; k++) {
        int to = t->out[k];
        if (to == rank || to == GW_PROC_NULL) continue;
        e[n++] = (struct edge){(to - rank + size) % size, rank, k, {-1, k}};
    }
    qsort(e, (size_t)n, sizeof *e, edge_order);
    for (int i = 0; i < n; i++) t->moves[i] = e[i].move;
    t->nmoves = n;
    free(e);
    return GW_OK;
}

/* ---- the rounds ---- */
static int neighbor_round(const struct plan_args *a, int round, struct plan_step *steps, bool gather)
{
    struct plan_steps s = {steps, 0};
    const struct gw_topo *t = a->topo;
    for (int64_t i = (int64_t)round * PLAN_STEPS; i < t->nmoves && s.n < PLAN_STEPS; i++) {
        struct gw_topo_move m = t->moves[i];
        struct plan_ref out = {0};
        if (m.out >= 0) out = gather ? ref_typed(PLAN_IN, 0, a->scount, a->st) : send_block(a, m.out);
        if (m.in < 0)
            step_send(&s, t->out[m.out], out);
        else if (m.out < 0)
            step_recv(&s, t->in[m.in], recv_block(a, m.in));
        else
            step_copy(&s, out, recv_block(a, m.in));
    }
    return s.n;
}
static int neighbor_allgather(const struct plan_args *a, int round, struct plan_step *steps)
{
    return neighbor_round(a, round, steps, true);
}
static int neighbor_alltoall(const struct plan_args *a, int round, struct plan_step *steps)
{
    return neighbor_round(a, round, steps, false);
}
const struct plan_algorithm alg_neighbor_allgather = {"neighbor_allgather", neighbor_allgather, NULL, PLAN_P2P, NULL, NULL};
const struct plan_algorithm alg_neighbor_alltoall = {"neighbor_alltoall", neighbor_alltoall, NULL, PLAN_P2P, NULL, NULL};
