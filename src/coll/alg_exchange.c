/* alg_exchange.c -- gather, scatter, allgather, alltoall, reduce_scatter by messages.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll_private.h"

/* The root exchanges with up to PLAN_STEPS members per round (in a scatter with `under_way`, if that is less).  It copies its own
 * block first. */
static int root_round(const struct plan_args *a, int round, struct plan_step *steps, bool gather)
{
    struct plan_steps s = {steps, 0};
    if (a->rank != a->root) {
        if (round > 0) return 0;
        struct plan_ref whole = gather ? ref_typed(PLAN_IN, 0, a->scount, a->st) : ref_typed(PLAN_OUT, 0, a->rcount, a->rt);
        gather ? step_send(&s, a->root, whole) : step_recv(&s, a->root, whole);
        return s.n;
    }
    if (round == 0) {
        if (gather && !a->in_place) step_copy(&s, ref_typed(PLAN_IN, 0, a->scount, a->st), recv_block(a, a->rank));
        if (!gather && !a->in_place) step_copy(&s, send_block(a, a->rank), ref_typed(PLAN_OUT, 0, a->rcount, a->rt));
        if (s.n == 0) step_nothing(&s);
        return s.n;
    }
    int each = !gather && a->params.under_way > 0 ? (int)gw_min64(a->params.under_way, PLAN_STEPS) : PLAN_STEPS;
    assert(each > 0);
    for (int i = (round - 1) * each; i < a->size && i < round * each; i++) {
        if (i == a->root) continue;
        gather ? step_recv(&s, i, recv_block(a, i)) : step_send(&s, i, send_block(a, i));
    }
    if (s.n == 0 && (round - 1) * each < a->size) step_nothing(&s);
    return s.n;
}
static int gather_linear(const struct plan_args *a, int round, struct plan_step *steps)
{
    return root_round(a, round, steps, true);
}
static int scatter_linear(const struct plan_args *a, int round, struct plan_step *steps)
{
    return root_round(a, round, steps, false);
}
const struct plan_algorithm coll_alg_gather_linear = {.name = "linear", .emit = gather_linear, .kind = PLAN_P2P};
const struct plan_algorithm coll_alg_scatter_linear = {
    .name = "linear", .emit = scatter_linear, .kind = PLAN_P2P, .takes = PLAN_TAKES_UNDER_WAY};

/* ---- allgather(v) ------------------------------------------------------------------------------------------------------------ */
static int allgather_ring(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int p = a->size;
    if (round == 0) {
        if (a->in_place)
            step_nothing(&s);
        else
            step_copy(&s, ref_typed(PLAN_IN, 0, a->scount, a->st), recv_block(a, a->rank));
        return s.n;
    }
    if (round >= p) return 0;
    step_send(&s, (a->rank + 1) % p, recv_block(a, (a->rank - round + 1 + p) % p));
    step_recv(&s, (a->rank - 1 + p) % p, recv_block(a, (a->rank - round + p) % p));
    return s.n;
}
const struct plan_algorithm coll_alg_allgather_ring = {.name = "ring", .emit = allgather_ring, .kind = PLAN_P2P};

/* Direct: each member sends its block to each other member, up to four per round.  The own block is copied last, so that no other
 * member waits for that copy. */
enum { PAIRS = PLAN_STEPS / 2 };
static int pairs_of(const struct plan_args *a) /* pairs of a send and a receive per round */
{
    return a->params.under_way > 1 ? (int)gw_min64(a->params.under_way / 2, PAIRS) : PAIRS;
}
static int allgather_direct(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int p = a->size, pairs = pairs_of(a), exchanges = (p - 1 + pairs - 1) / pairs;
    struct plan_ref mine = a->in_place ? recv_block(a, a->rank) : ref_typed(PLAN_IN, 0, a->scount, a->st);
    for (int r = 1 + round * pairs; r < p && r <= (round + 1) * pairs; r++) {
        step_recv(&s, (a->rank - r + p) % p, recv_block(a, (a->rank - r + p) % p));
        step_send(&s, (a->rank + r) % p, mine);
    }
    if (round == exchanges && !a->in_place) step_copy(&s, mine, recv_block(a, a->rank));
    return s.n;
}
const struct plan_algorithm coll_alg_allgather_direct = {
    .name = "direct", .emit = allgather_direct, .kind = PLAN_P2P, .takes = PLAN_TAKES_UNDER_WAY};

/* Bruck: the blocks from this member's on are packed in the temporary, where their number doubles in each round; at last they are
 * copied to their places. */
static int64_t bruck_bytes(const struct plan_args *a) { return (int64_t)a->size * a->rcount * a->rt->size; }
static int allgather_bruck(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int p = a->size, rounds = 0;
    int64_t block = a->rcount * a->rt->size;
    while (1 << rounds < p) rounds++;
    assert(!a->rcounts.v && rounds < 31);
    if (round == 0) {
        step_copy(&s, a->in_place ? recv_block(a, a->rank) : ref_typed(PLAN_IN, 0, a->scount, a->st), ref_raw(PLAN_TMP, 0, block));
        return s.n;
    }
    if (round <= rounds) {
        int have = 1 << (round - 1), n = have < p - have ? have : p - have;
        step_send(&s, (a->rank - have + p) % p, ref_raw(PLAN_TMP, 0, n * block));
        step_recv(&s, (a->rank + have) % p, ref_raw(PLAN_TMP, have * block, n * block));
        return s.n;
    }
    for (int i = (round - rounds - 1) * PLAN_STEPS; i < p && s.n < PLAN_STEPS; i++)
        step_copy(&s, ref_raw(PLAN_TMP, i * block, block), recv_block(a, (a->rank + i) % p));
    return s.n;
}
static bool blocks_equal(const struct plan_args *a) { return !a->rcounts.v; }
const struct plan_algorithm coll_alg_allgather_bruck = {
    .name = "bruck", .emit = allgather_bruck, .tmp_bytes = bruck_bytes, .kind = PLAN_P2P, .fits = blocks_equal};

/* ---- alltoall(v, w): both ends know that a block is empty, so nothing is sent for it
 * ----------------------------------------------- */
static bool is_empty(const struct plan_ref *block) { return plan_ref_bytes(block) == 0; }

/* One transfer at a time: `round` 2k and 2k + 1 belong to the pairs whose ranks add up to k (mod members), of which the lower one
 * sends first. Who waits waits for a partner in an earlier round, or in this one, so that nobody waits for ever.  Rounds: 2 *
 * members. */
static bool is_single(const struct plan_args *a) { return a->params.under_way == 1; }
static int single_peer(const struct plan_args *a, int round) { return (round / 2 - a->rank + a->size) % a->size; }
static void step_single(const struct plan_args *a, int round, struct plan_steps *s, struct plan_ref in, struct plan_ref out)
{
    int peer = single_peer(a, round);
    bool sends = (a->rank < peer) == (round % 2 == 0);
    if (plan_ref_bytes(sends ? &out : &in) > 0) sends ? step_send(s, peer, out) : step_recv(s, peer, in);
    if (s->n == 0) step_nothing(s);
}

static int alltoall_single(const struct plan_args *a, int round, struct plan_steps *s)
{
    int peer = single_peer(a, round);
    if (round >= 2 * a->size) return 0;
    if (peer != a->rank)
        step_single(a, round, s, recv_block(a, peer), send_block(a, peer));
    else if (round % 2 == 0)
        step_copy(s, send_block(a, peer), recv_block(a, peer));
    else
        step_nothing(s);
    return s->n;
}
static int alltoall_pairwise(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    if (is_single(a)) return alltoall_single(a, round, &s);
    int p = a->size, pairs = pairs_of(a), exchanges = (p - 1 + pairs - 1) / pairs;
    for (int r = 1 + round * pairs; r < p && r <= (round + 1) * pairs; r++) {
        int from = (a->rank - r + p) % p, to = (a->rank + r) % p;
        struct plan_ref in = recv_block(a, from), out = send_block(a, to);
        if (!is_empty(&in)) step_recv(&s, from, in);
        if (!is_empty(&out)) step_send(&s, to, out);
    }
    if (round == exchanges) step_copy(&s, send_block(a, a->rank), recv_block(a, a->rank));
    if (s.n == 0 && round < exchanges) step_nothing(&s);
    return s.n;
}
static bool not_in_place(const struct plan_args *a) { return !a->in_place; }
const struct plan_algorithm coll_alg_alltoall_pairwise = {
    .name = "pairwise", .emit = alltoall_pairwise, .kind = PLAN_P2P, .fits = not_in_place, .takes = PLAN_TAKES_UNDER_WAY};

/* In place: in each round two partners swap their blocks (one at a time, in two rounds); the outgoing block is packed into a copy
 * first. */
static int64_t largest_block(const struct plan_args *a)
{
    int64_t most = 0;
    for (int i = 0; i < a->size; i++) {
        struct plan_ref r = recv_block(a, i);
        most = gw_max64(most, plan_ref_bytes(&r));
    }
    return most;
}
static int alltoall_in_place_single(const struct plan_args *a, int round, struct plan_steps *s)
{
    int peer = single_peer(a, round);
    if (round >= 2 * a->size) return 0;
    struct plan_ref block = recv_block(a, peer), copy = ref_raw(PLAN_TMP, 0, plan_ref_bytes(&block));
    if (peer == a->rank || is_empty(&block)) {
        step_nothing(s);
        return s->n;
    }
    if (round % 2 == 0) step_copy(s, block, copy);
    step_single(a, round, s, block, copy);
    return s->n;
}
static int alltoall_in_place(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    if (is_single(a)) return alltoall_in_place_single(a, round, &s);
    if (round >= a->size) return 0;
    int peer = (round - a->rank + a->size) % a->size;
    struct plan_ref block = recv_block(a, peer);
    if (peer == a->rank || is_empty(&block)) {
        step_nothing(&s);
        return s.n;
    }
    struct plan_ref copy = ref_raw(PLAN_TMP, 0, plan_ref_bytes(&block));
    step_copy(&s, block, copy);
    step_recv(&s, peer, block);
    step_send(&s, peer, copy);
    return s.n;
}
static bool is_in_place(const struct plan_args *a) { return a->in_place; }
const struct plan_algorithm coll_alg_alltoall_in_place = {.name = "in_place",
                                                          .emit = alltoall_in_place,
                                                          .tmp_bytes = largest_block,
                                                          .kind = PLAN_P2P,
                                                          .fits = is_in_place,
                                                          .takes = PLAN_TAKES_UNDER_WAY};

/* ---- reduce_scatter(_block): each member receives its block of each other member; commutative operations
 * ---------------------------- */
static int64_t my_block_twice(const struct plan_args *a) { return 2 * a->tmp_span; }

static int reduce_scatter_pairwise(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int p = a->size, r = (round + 1) / 2;
    struct plan_ref own = operand_part(a, a->rank), acc = ref_typed(PLAN_TMP, 0, own.count, a->rt), in = acc;
    in.off = a->tmp_span;
    if (round == 0) {
        step_copy(&s, own, acc);
    } else if (r < p && round % 2) {
        step_send(&s, (a->rank + r) % p, operand_part(a, (a->rank + r) % p));
        step_recv(&s, (a->rank - r + p) % p, in);
    } else if (r < p) {
        step_reduce(&s, in, acc);
    } else if (round == 2 * p - 1) {
        step_copy(&s, acc, ref_typed(PLAN_OUT, 0, own.count, a->rt));
    }
    return s.n;
}
const struct plan_algorithm coll_alg_reduce_scatter_pairwise = {
    .name = "pairwise", .emit = reduce_scatter_pairwise, .tmp_bytes = my_block_twice, .kind = PLAN_P2P, .fits = op_commutes};

/* Any operation: receives its part of all members first, then reduces from the last member down to the first. */
static int64_t all_my_parts(const struct plan_args *a) { return a->size * a->tmp_span; }
static struct plan_ref part_from(const struct plan_args *a, int member)
{
    return ref_typed(PLAN_TMP, member * a->tmp_span, operand_part(a, a->rank).count, a->rt);
}
static int reduce_scatter_ordered(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int p = a->size, exchanges = (p - 1 + PAIRS - 1) / PAIRS, k = round - 1 - exchanges;
    if (round == 0) {
        step_copy(&s, operand_part(a, a->rank), part_from(a, a->rank));
    } else if (round <= exchanges) {
        for (int r = 1 + (round - 1) * PAIRS; r < p && r <= round * PAIRS; r++) {
            step_recv(&s, (a->rank - r + p) % p, part_from(a, (a->rank - r + p) % p));
            step_send(&s, (a->rank + r) % p, operand_part(a, (a->rank + r) % p));
        }
    } else if (k * PLAN_STEPS < p - 1) {
        for (int r = p - 2 - k * PLAN_STEPS; r >= 0 && s.n < PLAN_STEPS; r--) step_reduce(&s, part_from(a, r), part_from(a, p - 1));
    } else if ((k - 1) * PLAN_STEPS < p - 1 || (p == 1 && k == 0)) {
        struct plan_ref acc = part_from(a, p - 1);
        step_copy(&s, acc, ref_typed(PLAN_OUT, 0, acc.count, a->rt));
    }
    return s.n;
}
const struct plan_algorithm coll_alg_reduce_scatter_ordered = {
    .name = "ordered", .emit = reduce_scatter_ordered, .tmp_bytes = all_my_parts, .kind = PLAN_P2P};
