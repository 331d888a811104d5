/* alg_hier_reduce.c -- reduce_scatter(_block), scan, exscan over several nodes whose members are neighbours in rank.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/hier.h"

static bool neighbours(const struct plan_args *a) { return a->nodes && a->nodes->ordered; }

/* ---- reduce_scatter: reduced to the node leader, scattered between leaders, then in the node ------------------------------- */
static int64_t node_parts(const struct plan_args *a, int k)
{
    return counts_between(a, a->nodes->first[k], a->nodes->first[k + 1]);
}
/* The temporary of a leader: lists, the reduction of its node, and the node's part of the result. */
static int64_t reduce_scatter_tmp(const struct plan_args *a)
{
    if (a->nodes->place != 0) return lists(a);
    return lists(a) + vector_of(a, counts_between(a, 0, a->size)).tmp_span + vector_of(a, node_parts(a, a->nodes->me)).tmp_span;
}
static bool reduce_scatter_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    const struct plan_nodes *n = a->nodes;
    int64_t all = counts_between(a, 0, a->size), node = node_parts(a, n->me), *counts = counts_in(tmp), *places = places_in(a, tmp);
    struct plan_args sum = vector_of(a, all), own = vector_of(a, node);
    struct plan_place sum_at = place_at(PLAN_TMP, lists(a) + sum.tmp_shift);
    struct plan_place own_at = place_at(PLAN_TMP, lists(a) + sum.tmp_span + own.tmp_shift);
    s->tmp = reduce_scatter_tmp(a);
    s->args.root = 0;
    s->args.in_place = false;
    s->args.rcounts.v = NULL;
    if (a->in_place) s->in = place_at(PLAN_OUT, 0);
    if (i == 0) {
        s->args = sum;
        s->args.rcounts.v = NULL, s->args.in_place = false, s->args.root = 0;
        stage_node(s);
        s->out = sum_at;
        stage_pick(s, COLL_REDUCE, all * a->rt->size, leaves);
    } else if (i == 1) {
        s->args = own;
        s->args.in_place = false;
        stage_across(s, 0);
        for (int k = 0; k < n->n; k++) counts[k] = node_parts(a, k);
        s->args.rcounts = wide(counts);
        s->in = sum_at, s->out = own_at;
        if (n->place == 0) stage_pick(s, COLL_REDUCE_SCATTER, all * a->rt->size, leaves);
    } else if (i == 2) {
        stage_node(s);
        int64_t at = 0;
        for (int k = 0; k < s->args.size; k++) {
            counts[k] = count_of(a, n->first[n->me] + k), places[k] = at;
            at += counts[k];
        }
        s->args.is_vector = true;
        s->args.scounts = wide(counts), s->args.sdispls = wide(places);
        s->args.rcount = count_of(a, a->rank), s->args.st = a->rt;
        s->in = own_at;
        stage_pick(s, COLL_SCATTERV, 0, leaves);
    }
    return i < 3;
}
const struct plan_algorithm coll_alg_reduce_scatter_levels = {
    .name = "levels", .tmp_bytes = reduce_scatter_tmp, .kind = PLAN_P2P, .fits = neighbours, .stages = reduce_scatter_stages};

/* ---- scans: in the node; sums of nodes are scanned by the last member of each; what is before the node is joined from the left */
static int64_t two_operands(const struct plan_args *a) { return 2 * a->tmp_span; }
static int copy_over(const struct plan_args *a, int round, struct plan_step *steps) /* IN to OUT */
{
    struct plan_steps s = {steps, 0};
    if (round == 0) step_copy(&s, ref_typed(PLAN_IN, 0, a->rcount, a->rt), operand_out(a));
    return s.n;
}
static int join_left(const struct plan_args *a, int round, struct plan_step *steps) /* OUT = IN joined with OUT */
{
    struct plan_steps s = {steps, 0};
    if (round == 0) step_reduce(&s, ref_typed(PLAN_IN, 0, a->rcount, a->rt), operand_out(a));
    return s.n;
}
static const struct plan_algorithm alg_copy_over = {.name = "copy", .emit = copy_over, .kind = PLAN_P2P};
static const struct plan_algorithm alg_join_left = {.name = "join", .emit = join_left, .kind = PLAN_P2P};

/* Stages that compute, from the sum of each node (at `sum` of its last member), the sum of all nodes before it (at `before` of all
 * its members). */
static void before_node(const struct plan_args *a, int i, bool leaves, struct plan_stage *s, struct plan_place sum,
                        struct plan_place before)
{
    const struct plan_nodes *n = a->nodes;
    bool is_last = n->place == plan_node_size(n, n->me) - 1;
    s->args.in_place = false;
    if (i == 0) {
        stage_across(s, -1);
        s->in = sum, s->out = before;
        if (is_last) stage_pick(s, COLL_EXSCAN, a->rcount * a->rt->size, leaves);
    } else if (n->me > 0 && plan_node_size(n, n->me) > 1) {
        stage_node(s);
        s->args.root = s->args.size - 1;
        s->out = before;
        stage_pick(s, COLL_BCAST, a->rcount * a->rt->size, leaves);
    }
}
static bool scan_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    (void)tmp;
    struct plan_place before = place_at(PLAN_TMP, a->tmp_shift);
    s->tmp = 2 * a->tmp_span;
    if (i == 0) {
        stage_node(s);
        stage_pick(s, COLL_SCAN, a->rcount * a->rt->size, leaves);
    } else if (i < 3) {
        before_node(a, i - 1, leaves, s, place_at(PLAN_OUT, 0), before);
    } else if (i == 3 && a->nodes->me > 0) {
        s->alg = &alg_join_left;
        s->in = before;
    }
    return i < 4;
}
static bool exscan_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    (void)tmp;
    const struct plan_nodes *n = a->nodes;
    bool is_last = n->place == plan_node_size(n, n->me) - 1;
    struct plan_place sum = place_at(PLAN_TMP, a->tmp_shift), before = place_at(PLAN_TMP, a->tmp_span + a->tmp_shift);
    s->tmp = 2 * a->tmp_span;
    if (i == 0) { /* copies my operand before the result may overwrite it */
        s->in = place_at(a->in_place ? PLAN_OUT : PLAN_IN, 0);
        s->out = sum;
        if (is_last) s->alg = &alg_copy_over;
    } else if (i == 1) {
        stage_node(s);
        if (s->args.size > 1) stage_pick(s, COLL_EXSCAN, a->rcount * a->rt->size, leaves);
    } else if (i == 2) {
        s->in = place_at(PLAN_OUT, 0);
        s->out = sum;
        if (is_last && n->place > 0) s->alg = &alg_join_left;
    } else if (i < 5) {
        before_node(a, i - 3, leaves, s, sum, before);
    } else if (i == 5 && n->me > 0) {
        s->alg = n->place > 0 ? &alg_join_left : &alg_copy_over;
        s->in = before;
    }
    return i < 6;
}
const struct plan_algorithm coll_alg_scan_levels = {
    .name = "levels", .tmp_bytes = two_operands, .kind = PLAN_P2P, .fits = neighbours, .stages = scan_stages};
const struct plan_algorithm coll_alg_exscan_levels = {
    .name = "levels", .tmp_bytes = two_operands, .kind = PLAN_P2P, .fits = neighbours, .stages = exscan_stages};
