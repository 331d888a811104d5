/* alg_inter.c -- collectives between the two groups of an intercommunicator, by messages.
 *
 * In steps, ranks of the local group are 0 .. size-1, and rank r of the remote group is size + r.  `root` is the user's argument:
 * a rank of the remote group, in the group opposite the root; MPI_ROOT at the root itself; MPI_PROC_NULL at the other members of
 * the root's group, which do nothing.
 *
 * What a group does in common goes to or from its rank 0, by the rounds of the algorithms for one group; between the groups, the
 * two ranks 0 exchange messages.  Reductions keep the order of the ranks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll_private.h"

static int over_there(const struct plan_args *a, int rank)
{
    assert(rank >= 0 && rank < a->remote);
    return a->size + rank;
}
static bool other_side(const struct plan_args *a) { return a->root >= 0; } /* true in the group opposite the root */

static int or_nothing(struct plan_steps *s)
{
    if (s->n == 0) step_nothing(s);
    return s->n;
}

/* A part of the rounds of an algorithm for one group, with rank 0 as its root. */
static int group_round(const struct plan_algorithm *alg, const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_args local = *a;
    assert(round >= 0 && alg->emit);
    local.root = 0;
    return alg->emit(&local, round, steps);
}

/* How many rounds reduce_binomial needs until temporary 0 of rank 0 has the result. */
static int join_rounds(const struct plan_args *a) { return 1 + 2 * log2_up(a->size); }
static struct plan_ref joined(const struct plan_args *a) { return ref_typed(PLAN_TMP, 0, a->rcount, a->rt); }
static int64_t join_tmp(const struct plan_args *a) { return 2 * a->tmp_span; }

/* ---- barrier: in the group to rank 0, between the ranks 0, back in the group ------------------------------------------------- */
static int barrier(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int meet = log2_up(a->size);
    if (round < meet) return group_round(&coll_alg_barrier_dissemination, a, round, steps);
    if (round > meet) return group_round(&coll_alg_bcast_binomial, a, round - meet - 1, steps);
    if (a->rank == 0) {
        step_recv(&s, over_there(a, 0), ref_raw(PLAN_OUT, 0, 0));
        step_send(&s, over_there(a, 0), ref_raw(PLAN_OUT, 0, 0));
    }
    return or_nothing(&s);
}
static const struct plan_algorithm inter_barrier = {.name = "tree", .emit = barrier, .kind = PLAN_P2P};

/* ---- one root: bcast, reduce, gather, scatter -------------------------------------------------------------------------------- */
static int bcast(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    struct plan_ref all = ref_typed(PLAN_OUT, 0, a->rcount, a->rt);
    if (!other_side(a)) {
        if (a->root == GW_ROOT && round == 0) step_send(&s, over_there(a, 0), all);
        return s.n;
    }
    if (round > 0) return group_round(&coll_alg_bcast_binomial, a, round - 1, steps);
    if (a->rank == 0) step_recv(&s, over_there(a, a->root), all);
    return or_nothing(&s);
}
static const struct plan_algorithm inter_bcast = {.name = "tree", .emit = bcast, .kind = PLAN_P2P};

static int64_t reduce_tmp(const struct plan_args *a) { return other_side(a) ? join_tmp(a) : 0; }
static int reduce(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    if (!other_side(a)) {
        if (a->root == GW_ROOT && round == 0) step_recv(&s, over_there(a, 0), operand_out(a));
        return s.n;
    }
    if (round < join_rounds(a)) return group_round(&coll_alg_reduce_binomial, a, round, steps);
    if (round == join_rounds(a) && a->rank == 0) step_send(&s, over_there(a, a->root), joined(a));
    return s.n;
}
static const struct plan_algorithm inter_reduce = {.name = "tree", .emit = reduce, .tmp_bytes = reduce_tmp, .kind = PLAN_P2P};

static int root_linear(const struct plan_args *a, int round, struct plan_step *steps, bool gather)
{
    struct plan_steps s = {steps, 0};
    if (other_side(a)) {
        if (round > 0) return 0;
        if (gather)
            step_send(&s, over_there(a, a->root), ref_typed(PLAN_IN, 0, a->scount, a->st));
        else
            step_recv(&s, over_there(a, a->root), ref_typed(PLAN_OUT, 0, a->rcount, a->rt));
        return s.n;
    }
    if (a->root != GW_ROOT) return 0;
    for (int i = round * PLAN_STEPS; i < a->remote && s.n < PLAN_STEPS; i++) {
        if (gather)
            step_recv(&s, over_there(a, i), recv_block(a, i));
        else
            step_send(&s, over_there(a, i), send_block(a, i));
    }
    return s.n;
}
static int gather(const struct plan_args *a, int round, struct plan_step *steps) { return root_linear(a, round, steps, true); }
static int scatter(const struct plan_args *a, int round, struct plan_step *steps) { return root_linear(a, round, steps, false); }
static const struct plan_algorithm inter_gather = {.name = "linear", .emit = gather, .kind = PLAN_P2P};
static const struct plan_algorithm inter_scatter = {.name = "linear", .emit = scatter, .kind = PLAN_P2P};

/* ---- each member with each of the other group: allgather(v), alltoall(v, w)
 * ---------------------------------------------------------- */
/* Ranks i and j exchange at turn i + j modulo the size of the larger group; four turns per round. */
static int exchange(const struct plan_args *a, int round, struct plan_step *steps, bool one_block)
{
    enum { TURNS = PLAN_STEPS / 2 };
    struct plan_steps s = {steps, 0};
    int turns = a->size > a->remote ? a->size : a->remote;
    if (round * TURNS >= turns) return 0;
    for (int k = round * TURNS; k < turns && k < (round + 1) * TURNS; k++) {
        int i = (k - a->rank + turns) % turns;
        if (i >= a->remote) continue;
        step_recv(&s, over_there(a, i), recv_block(a, i));
        step_send(&s, over_there(a, i), one_block ? ref_typed(PLAN_IN, 0, a->scount, a->st) : send_block(a, i));
    }
    return or_nothing(&s);
}
static int allgather(const struct plan_args *a, int round, struct plan_step *steps) { return exchange(a, round, steps, true); }
static int alltoall(const struct plan_args *a, int round, struct plan_step *steps) { return exchange(a, round, steps, false); }
static const struct plan_algorithm inter_allgather = {.name = "pairwise", .emit = allgather, .kind = PLAN_P2P};
static const struct plan_algorithm inter_alltoall = {.name = "pairwise", .emit = alltoall, .kind = PLAN_P2P};

/* ---- allreduce, reduce_scatter: each group gets the other group's reduction
 * ---------------------------------------------------------- */
static int allreduce(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int meet = join_rounds(a);
    if (round < meet) return group_round(&coll_alg_reduce_binomial, a, round, steps);
    if (round > meet) return group_round(&coll_alg_bcast_binomial, a, round - meet - 1, steps);
    if (a->rank == 0) {
        step_recv(&s, over_there(a, 0), operand_out(a));
        step_send(&s, over_there(a, 0), joined(a));
    }
    return or_nothing(&s);
}
static const struct plan_algorithm inter_allreduce = {.name = "tree", .emit = allreduce, .tmp_bytes = join_tmp, .kind = PLAN_P2P};

/* Member i's part of the whole vector, which is in temporary 1 of rank 0.  rcount is the length of the vector in elements; parts
 * have rcounts elements, or scount each. */
static struct plan_ref part_of(const struct plan_args *a, int i)
{
    int64_t first = i * a->scount, n = a->scount;
    if (a->rcounts.v) {
        first = 0, n = gw_counts_at(a->rcounts, i);
        for (int k = 0; k < i; k++) first += gw_counts_at(a->rcounts, k);
    }
    return ref_typed(PLAN_TMP, a->tmp_span + first * a->rt->extent, n, a->rt);
}

static int reduce_scatter(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int meet = join_rounds(a), first = (round - meet - 1) * (PLAN_STEPS - 1);
    struct plan_ref own = part_of(a, a->rank), whole = ref_typed(PLAN_TMP, a->tmp_span, a->rcount, a->rt);
    struct plan_ref out = ref_typed(PLAN_OUT, 0, own.count, a->rt);
    if (round < meet) return group_round(&coll_alg_reduce_binomial, a, round, steps);
    if (a->rank != 0) {
        if (round == meet) step_recv(&s, 0, out);
    } else if (round == meet) {
        step_recv(&s, over_there(a, 0), whole);
        step_send(&s, over_there(a, 0), joined(a));
    } else if (first < a->size) {
        if (first == 0) step_copy(&s, own, out);
        for (int i = first; i < a->size && i < first + PLAN_STEPS - 1; i++)
            if (i > 0) step_send(&s, i, part_of(a, i));
    }
    return s.n;
}
static const struct plan_algorithm inter_reduce_scatter = {
    .name = "tree", .emit = reduce_scatter, .tmp_bytes = join_tmp, .kind = PLAN_P2P};

const struct plan_algorithm *const coll_inter_algorithms[COLL_KINDS] = {
    [COLL_BARRIER] = &inter_barrier,     [COLL_BCAST] = &inter_bcast,         [COLL_GATHER] = &inter_gather,
    [COLL_SCATTER] = &inter_scatter,     [COLL_GATHERV] = &inter_gather,      [COLL_SCATTERV] = &inter_scatter,
    [COLL_ALLGATHER] = &inter_allgather, [COLL_ALLTOALL] = &inter_alltoall,   [COLL_ALLTOALLV] = &inter_alltoall,
    [COLL_REDUCE] = &inter_reduce,       [COLL_ALLREDUCE] = &inter_allreduce, [COLL_REDUCE_SCATTER] = &inter_reduce_scatter,
};
