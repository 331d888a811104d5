/* alg_hier.c -- barrier, bcast, reductions over several nodes: inside each node, then across nodes, then inside again.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/hier.h"

/* ---- barrier: in the node to its leader, then between leaders, then back in the node ----------------------------------------- */
static int fan_in(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int d = 1 << round, v = a->rank; /* binomial tree to member 0 */
    assert(round < 31 && v >= 0 && v < a->size);
    if (d >= a->size || v & (d - 1)) return 0;
    if (v & d)
        step_send(&s, v - d, ref_raw(PLAN_OUT, 0, 0));
    else if (v + d < a->size)
        step_recv(&s, v + d, ref_raw(PLAN_OUT, 0, 0));
    else
        step_nothing(&s);
    return s.n;
}
static int fan_in_leaf(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    if (round > 0) return 0;
    step_publish(&s, 1);
    if (a->rank == 0) step_wait(&s, EVERYBODY, 1);
    return s.n;
}
static const struct plan_algorithm alg_fan_in = {.name = "fan_in", .emit = fan_in, .kind = PLAN_P2P};
static const struct plan_algorithm alg_fan_in_leaf = {
    .name = "fan_in_leaf", .emit = fan_in_leaf, .kind = PLAN_NARROW | PLAN_NOBODY_WRITES | PLAN_ONCE};

static bool barrier_by(const struct plan_algorithm *across, const struct plan_args *a, int i, bool leaves, struct plan_stage *s)
{
    const struct plan_nodes *n = a->nodes;
    s->args.root = 0;
    assert(n->me >= 0 && n->me < n->n && n->place < plan_node_size(n, n->me));
    if (i == 1) {
        stage_across(s, 0);
        if (n->place == 0) s->alg = across;
    } else if (plan_node_size(n, n->me) > 1) {
        stage_node(s);
        s->args.rcount = 0, s->args.rt = gw_type_byte;
        s->alg = leaves ? &alg_fan_in_leaf : &alg_fan_in;
        if (i == 2) s->alg = leaves ? &coll_alg_bcast_leaf : &coll_alg_bcast_binomial; /* of no data */
    }
    return i < 3;
}
static bool barrier_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    (void)tmp;
    return barrier_by(&coll_alg_barrier_dissemination, a, i, leaves, s);
}
const struct plan_algorithm coll_alg_barrier_levels = {
    .name = "levels", .kind = PLAN_P2P, .fits = over_nodes, .stages = barrier_stages};

/* The same with counters in place of messages between leaders; also where each member has a node of its own. */
static int by_atomics(const struct plan_args *a, int round, struct plan_step *steps)
{
    return coll_alg_barrier_dissemination.emit(a, round, steps);
}
static const struct plan_algorithm alg_by_atomics = {
    .name = "by_atomics", .emit = by_atomics, .kind = PLAN_P2P, .by_counters = true};
static bool atomics_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    (void)tmp;
    return barrier_by(&alg_by_atomics, a, i, leaves, s);
}
static bool has_counters(const struct plan_args *a) { return a->nodes && a->has_counters; }
const struct plan_algorithm coll_alg_barrier_atomics = {
    .name = "atomics", .kind = PLAN_P2P, .fits = has_counters, .stages = atomics_stages};

/* ---- bcast: between leaders, then in nodes; in pieces, so that a node broadcasts one while the next is under way ------------- */
static int64_t piece_elements(const struct plan_args *a)
{
    if (!a->params.piece_bytes) return gw_max64(a->rcount, 1);
    return gw_max64(a->params.piece_bytes / gw_max64(a->rt->size, 1), 1);
}
static bool bcast_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    (void)tmp;
    int64_t piece = piece_elements(a), k = i / 2, first = k * piece;
    if (first >= a->rcount && k > 0) return false;
    s->args.rcount = gw_min64(piece, a->rcount - first);
    assert(s->args.rcount >= 0 && first + s->args.rcount <= a->rcount);
    s->out = place_at(PLAN_OUT, first * a->rt->extent);
    int64_t bytes = s->args.rcount * a->rt->size;
    if (i % 2 == 0) {
        stage_speakers(s, a->root);
        if (is_leader(a->nodes, a->root)) stage_pick(s, COLL_BCAST, bytes, leaves);
    } else {
        stage_node(s);
        s->args.root = speaker(a->nodes, a->root);
        if (s->args.size > 1) stage_pick(s, COLL_BCAST, bytes, leaves);
    }
    return true;
}
const struct plan_algorithm coll_alg_bcast_levels = {
    .name = "levels", .kind = PLAN_P2P, .fits = over_nodes, .stages = bcast_stages, .takes = PLAN_TAKES_PIECE};

/* ---- reduce: in nodes to the leader, whose result is in the temporary; then between leaders to the root ---------------------- */
static int64_t one_operand(const struct plan_args *a) { return a->tmp_span; }
static bool reduce_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    (void)tmp;
    int64_t bytes = a->rcount * a->rt->size;
    struct plan_place sum = a->rank == a->root ? place_at(PLAN_OUT, 0) : place_at(PLAN_TMP, a->tmp_shift);
    assert(a->root >= 0 && a->root < a->size);
    s->tmp = a->tmp_span;
    s->out = sum;
    if (i == 0) {
        stage_node(s);
        s->args.root = speaker(a->nodes, a->root);
        stage_pick(s, COLL_REDUCE, bytes, leaves);
    } else {
        stage_speakers(s, a->root);
        s->args.in_place = true;
        if (is_leader(a->nodes, a->root)) stage_pick(s, COLL_REDUCE, bytes, leaves);
    }
    return i < 2;
}
const struct plan_algorithm coll_alg_reduce_levels = {
    .name = "levels", .tmp_bytes = one_operand, .kind = PLAN_P2P, .fits = order_kept, .stages = reduce_stages};

/* ---- allreduce: block after block where there are pieces, which bounds the temporaries
 * -------------------------------------------- */
/* The block that stage i works on (three stages per block); false: there is none.  *first_out: its first
 * element in the whole vector. */
static bool allreduce_block(const struct plan_args *a, int i, struct plan_args *block_out, int64_t *first_out)
{
    int64_t piece = piece_elements(a);
    *first_out = i / 3 * piece;
    if (*first_out >= a->rcount && i >= 3) return false;
    *block_out = *a;
    if (piece < a->rcount) block_out->rcount = gw_min64(piece, a->rcount - *first_out), coll_temporaries(block_out);
    assert(block_out->rcount >= 0 && *first_out + block_out->rcount <= a->rcount);
    return true;
}
static bool allreduce_stages(const struct plan_args *whole, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    (void)tmp;
    struct plan_args a;
    int64_t first;
    if (!allreduce_block(whole, i, &a, &first)) return false;
    int64_t bytes = a.rcount * a.rt->size, begin = first * a.rt->extent;
    s->args = a;
    s->args.root = 0;
    s->in = place_at(PLAN_IN, begin);
    s->out = place_at(PLAN_OUT, begin);
    if (i % 3 == 1) {
        stage_across(s, 0);
        s->args.in_place = true;
        if (a.nodes->place == 0) stage_pick(s, COLL_ALLREDUCE, bytes, leaves);
    } else {
        stage_node(s);
        if (i % 3 == 0 || s->args.size > 1) stage_pick(s, i % 3 == 0 ? COLL_REDUCE : COLL_BCAST, bytes, leaves);
    }
    return true;
}
const struct plan_algorithm coll_alg_allreduce_levels = {
    .name = "levels", .kind = PLAN_P2P, .fits = order_kept, .stages = allreduce_stages, .takes = PLAN_TAKES_PIECE};

/* Allreduce in parts, as many as the smallest node has members: each member of a node reduces one part in its node, then members
 * in the same place of their nodes reduce it between nodes, and then each node gathers all parts.  The temporary has counts and
 * displacements of the parts, and this member's part. */
struct parts {
    int n;
    int64_t most;
};
static struct parts parts_of(const struct plan_args *a)
{
    assert(a->nodes->fewest > 0 && a->nodes->fewest <= a->nodes->most);
    return (struct parts){a->nodes->fewest, (a->rcount + a->nodes->fewest - 1) / a->nodes->fewest};
}
static int64_t part_first(const struct plan_args *a, int i) { return gw_min64(i * parts_of(a).most, a->rcount); }
static int64_t part_count(const struct plan_args *a, int i)
{
    return i < parts_of(a).n ? part_first(a, i + 1) - part_first(a, i) : 0;
}
static int64_t parts_tmp(const struct plan_args *whole)
{
    struct plan_args a;
    int64_t first;
    allreduce_block(whole, 0, &a, &first); /* the first block is the longest */
    return lists(&a) + a.tmp_span;
}
static bool parts_stages(const struct plan_args *whole, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    struct plan_args a;
    int64_t first;
    if (!allreduce_block(whole, i, &a, &first)) return false;
    const struct plan_nodes *n = a.nodes;
    int64_t *counts = counts_in(tmp), *firsts = places_in(&a, tmp), mine = part_count(&a, n->place), begin = first * a.rt->extent;
    struct plan_place own = place_at(a.in_place ? PLAN_OUT : PLAN_IN, begin), part = place_at(PLAN_TMP, lists(&a) + a.tmp_shift);
    s->tmp = parts_tmp(whole);
    s->args = a;
    assert(mine >= 0 && mine <= parts_of(&a).most && (mine == 0 || n->place < n->fewest));
    if (i % 3 == 1) {
        stage_across(s, n->place);
        s->args.in_place = true;
        s->args.rcount = mine;
        coll_temporaries(&s->args);
        s->out = part;
        if (mine > 0) stage_pick(s, COLL_ALLREDUCE, mine * a.rt->size, leaves);
        return true;
    }
    bool is_first = i % 3 == 0;
    stage_node(s);
    for (int k = 0; k < s->args.size; k++) counts[k] = part_count(&a, k), firsts[k] = part_first(&a, k);
    s->args.in_place = false;
    s->args.rcounts = wide(counts);
    s->args.scount = mine, s->args.rcount = is_first ? mine : 0;
    s->args.st = a.rt;
    coll_temporaries(&s->args);
    s->in = is_first ? own : part;
    s->out = is_first ? part : place_at(PLAN_OUT, begin);
    if (!is_first) s->args.rdispls = wide(firsts);
    stage_pick(s, is_first ? COLL_REDUCE_SCATTER : COLL_ALLGATHER, (is_first ? a.rcount : parts_of(&a).most) * a.rt->size, leaves);
    return true;
}
static bool parts_fit(const struct plan_args *a) { return order_kept(a) && a->nodes->fewest > 1 && a->rcount >= a->nodes->fewest; }
const struct plan_algorithm coll_alg_allreduce_levels_parts = {.name = "levels_parts",
                                                               .tmp_bytes = parts_tmp,
                                                               .kind = PLAN_P2P,
                                                               .fits = parts_fit,
                                                               .stages = parts_stages,
                                                               .takes = PLAN_TAKES_PIECE};
