/* alg_tree.c -- barrier, bcast, reduce, allreduce, scan by messages: trees, doublings, chains and rings.
 *
 * Temporaries 0 and 1 of the reductions hold one whole operand each, tmp_span bytes apart.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll_private.h"

/* ---- barrier: in round k each rank sends to the rank 2^k after it --------------------------------------------------------- */
static int barrier_dissemination(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int d = 1 << round;
    if (d >= a->size) return 0;
    step_send(&s, (a->rank + d) % a->size, ref_raw(PLAN_OUT, 0, 0));
    step_recv(&s, (a->rank - d + a->size) % a->size, ref_raw(PLAN_OUT, 0, 0));
    return s.n;
}
const struct plan_algorithm coll_alg_barrier_dissemination = {
    .name = "dissemination", .emit = barrier_dissemination, .kind = PLAN_P2P};

/* ---- bcast: a tree from the root, largest subtrees first; with radix 2 it is binomial ------------------------------ */
/* A rank sends to all its children at once: a child reads a long message when it gets to it. */
static int bcast_binomial(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int64_t p = a->size, v = (a->rank - a->root + p) % p, radix = a->params.radix > 1 ? a->params.radix : 2;
    int64_t above =
        1; /* of v's digits in that radix the last one that is not 0 counts these: how far the parent is, times that digit */
    struct plan_ref all = ref_typed(PLAN_OUT, 0, a->rcount, a->rt);
    while (above < p && v / above % radix == 0) above *= radix;
    assert(v >= 0 && v < p && (v == 0 || above <= v)); /* only the root has no digit */
    if (v && round == 0) {
        step_recv(&s, (int)((a->rank - v / above % radix * above + p) % p), all);
        return s.n;
    }
    int64_t skip = (int64_t)(round - (v != 0)) * PLAN_STEPS;
    for (int64_t d = above / radix; d > 0 && s.n < PLAN_STEPS; d /= radix)
        for (int64_t child = v + d; child < p && child < v + d * radix && s.n < PLAN_STEPS; child += d)
            if (skip-- <= 0) step_send(&s, (int)((a->root + child) % p), all);
    return s.n;
}
const struct plan_algorithm coll_alg_bcast_binomial = {
    .name = "binomial", .emit = bcast_binomial, .kind = PLAN_P2P, .takes = PLAN_TAKES_RADIX};

/* Chain: piece by piece from each rank to the next.  A user's buffer that is not contiguous is packed first. */
static int64_t chain_tmp(const struct plan_args *a) { return packed_bytes(a->rcount, a->rt); }
static int bcast_chain(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int v = (a->rank - a->root + a->size) % a->size, p = a->size;
    int64_t bytes = a->rcount * a->rt->size, piece = a->params.piece_bytes ? a->params.piece_bytes : 64 << 10,
            n = (bytes + piece - 1) / piece;
    struct plan_ref user = ref_typed(PLAN_OUT, 0, a->rcount, a->rt), run = ref_run_of(user, 0);
    if (round == 0 && v == 0 && run.buf == PLAN_TMP) step_copy(&s, user, run);
    if (round == n + p - 1 && v > 0 && run.buf == PLAN_TMP) step_copy(&s, run, user);
    int64_t in = round - v, out = round - 1 - v;
    if (v > 0 && in >= 0 && in < n) step_recv(&s, (a->rank - 1 + p) % p, ref_cut(run, in * piece, piece));
    if (v < p - 1 && out >= 0 && out < n) step_send(&s, (a->rank + 1) % p, ref_cut(run, out * piece, piece));
    if (s.n == 0 && round < n + p) step_nothing(&s);
    return s.n;
}
const struct plan_algorithm coll_alg_bcast_chain = {
    .name = "chain", .emit = bcast_chain, .tmp_bytes = chain_tmp, .kind = PLAN_P2P, .takes = PLAN_TAKES_PIECE};

/* ---- reductions -------------------------------------------------------------------------------------------------------------- */
static int64_t two_operands(const struct plan_args *a) { return 2 * a->tmp_span; }
static struct plan_ref operand(const struct plan_args *a, int i) { return ref_typed(PLAN_TMP, i * a->tmp_span, a->rcount, a->rt); }
static struct plan_ref mine(const struct plan_args *a) { return ref_typed(a->in_place ? PLAN_OUT : PLAN_IN, 0, a->rcount, a->rt); }
static struct plan_ref result(const struct plan_args *a) { return ref_typed(PLAN_OUT, 0, a->rcount, a->rt); }

/* Temporary 0 is combined with temporary 1, which is the left or the right operand by rank order. */
static void join(struct plan_steps *s, const struct plan_args *a, bool other_is_left)
{
    if (other_is_left) {
        step_reduce(s, operand(a, 1), operand(a, 0));
    } else {
        step_reduce(s, operand(a, 0), operand(a, 1));
        step_copy(s, operand(a, 1), operand(a, 0));
    }
}

/* Of block `b` of d members: who has its reduction, the root or else the first. */
static int holder(const struct plan_args *a, int b, int d) { return a->root / d == b ? a->root : b * d; }

/* Binomial tree in rank order (correct for any associative operation, and the same bits for every root): neighbouring blocks of 2^k
 * members are joined where the root is, else in the left one.
 * Round 0 copies the operand; rounds 1+2k exchange over distance 2^k, rounds 2+2k reduce; the last one copies the result. */
static int reduce_binomial(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int k = (round - 1) / 2, levels = log2_up(a->size), v = a->rank;
    if (round == 0) {
        step_copy(&s, mine(a), operand(a, 0));
    } else if (k < levels) {
        int d = 1 << k, b = v / d, other = holder(a, b ^ 1, d);
        bool meets = holder(a, b, d) == v && (b ^ 1) * (int64_t)d < a->size, takes = meets && holder(a, b / 2, 2 * d) == v;
        if (takes && round % 2)
            step_recv(&s, other, operand(a, 1));
        else if (takes)
            join(&s, a, b & 1);
        else if (meets && round % 2)
            step_send(&s, other, operand(a, 0));
        else
            step_nothing(&s);
    } else if (round == 1 + 2 * levels && v == a->root) {
        step_copy(&s, operand(a, 0), result(a));
    }
    return s.n;
}
const struct plan_algorithm coll_alg_reduce_binomial = {
    .name = "binomial", .emit = reduce_binomial, .tmp_bytes = two_operands, .kind = PLAN_P2P};

/* Recursive doubling for any number of ranks.  Of the first 2*rest ranks, the even ones send their operand to their odd
 * neighbours, all but these do recursive doubling, and the odd ones send the result back.  Neighbours have adjacent ranges, so
 * rank order is kept. Round 0 sends to the odd neighbours, round k + 1 exchanges over distance 2^k; each round first reduces what
 * the last one received. */
static int allreduce_doubling(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int levels = log2_up(a->size + 1) - 1, pow2 = 1 << levels, rest = a->size - pow2, last = levels + 1;
    assert(rest >= 0 && rest < pow2);
    bool folded = a->rank < 2 * rest, gone = folded && a->rank % 2 == 0;
    int v = folded ? a->rank / 2 : a->rank - rest;
    if (round == 0) {
        step_copy(&s, mine(a), operand(a, 0));
        if (folded) gone ? step_send(&s, a->rank + 1, operand(a, 0)) : step_recv(&s, a->rank - 1, operand(a, 1));
        return s.n;
    }
    if (round > last) return 0;
    if (gone) {
        if (round == last)
            step_recv(&s, a->rank + 1, result(a));
        else
            step_nothing(&s);
        return s.n;
    }
    if (round > 1 || folded) join(&s, a, round == 1 || (v ^ 1 << (round - 2)) < v);
    if (round < last) {
        int other = v ^ 1 << (round - 1), peer = other < rest ? 2 * other + 1 : other + rest;
        step_send(&s, peer, operand(a, 0));
        step_recv(&s, peer, operand(a, 1));
    } else {
        step_copy(&s, operand(a, 0), result(a));
        if (folded) step_send(&s, a->rank - 1, operand(a, 0));
    }
    return s.n;
}
const struct plan_algorithm coll_alg_allreduce_doubling = {
    .name = "doubling", .emit = allreduce_doubling, .tmp_bytes = two_operands, .kind = PLAN_P2P};

/* Block i of p of the result. */
static struct plan_ref share(const struct plan_args *a, enum plan_buf buf, int i)
{
    int64_t n = a->rcount / a->size, extra = a->rcount % a->size;
    assert(i >= 0 && i < a->size);
    int64_t first = i * n + gw_min64(i, extra);
    return ref_typed(buf, first * a->rt->extent, n + (i < extra), a->rt);
}
static int64_t one_operand(const struct plan_args *a) { return a->tmp_span; }

/* Ring: p-1 steps of reduce-scatter, then p-1 steps of allgather.  Commutative operations. */
static int allreduce_ring(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int p = a->size, to = (a->rank + 1) % p, from = (a->rank - 1 + p) % p;
    if (round == 0) {
        if (!a->in_place) step_copy(&s, mine(a), result(a));
        if (s.n == 0) step_nothing(&s);
        return s.n;
    }
    int r = (round - 1) / 2; /* reduce-scatter has two rounds per step */
    if (r < p - 1) {
        int gives = (a->rank - r + p) % p, takes = (a->rank - r - 1 + 2 * p) % p;
        if (round % 2) {
            step_send(&s, to, share(a, PLAN_OUT, gives));
            step_recv(&s, from, share(a, PLAN_TMP, takes));
        } else {
            step_reduce(&s, share(a, PLAN_TMP, takes), share(a, PLAN_OUT, takes));
        }
        return s.n;
    }
    r = round - 1 - 2 * (p - 1);
    if (r >= p - 1) return 0;
    step_send(&s, to, share(a, PLAN_OUT, (a->rank + 1 - r + 2 * p) % p));
    step_recv(&s, from, share(a, PLAN_OUT, (a->rank - r + p) % p));
    return s.n;
}
const struct plan_algorithm coll_alg_allreduce_ring = {
    .name = "ring", .emit = allreduce_ring, .tmp_bytes = one_operand, .kind = PLAN_P2P, .fits = op_commutes};

/* Direct: each rank sends to each other rank the block that this one reduces, and later its own result.  Four members per round.
 * The other ranks' operands of this rank's block are one behind the other in the temporary, at most as many elements as the whole
 * vector, and are reduced in rank order (correct for any associative operation). */
static struct plan_ref from_member(const struct plan_args *a, int member)
{
    if (member == a->rank) return share(a, a->in_place ? PLAN_OUT : PLAN_IN, a->rank);
    struct plan_ref r = share(a, PLAN_TMP, a->rank);
    assert(member >= 0 && member < a->size);
    r.off = (member - (member > a->rank)) * r.count * a->rt->extent;
    return r;
}
static int allreduce_direct(const struct plan_args *a, int round, struct plan_step *steps)
{
    enum { PAIRS = PLAN_STEPS / 2 };
    struct plan_steps s = {steps, 0};
    int p = a->size, exchanges = (p - 1 + PAIRS - 1) / PAIRS, joins = (p + PLAN_STEPS - 1) / PLAN_STEPS;
    bool last = a->rank == p - 1;
    struct plan_ref acc = last ? share(a, PLAN_OUT, a->rank) : from_member(a, p - 1);
    if (round == 0) {
        if (last && !a->in_place) step_copy(&s, from_member(a, a->rank), acc);
    } else if (round <= exchanges) {
        for (int r = 1 + (round - 1) * PAIRS; r < p && r <= round * PAIRS; r++) {
            int from = (a->rank - r + p) % p, to = (a->rank + r) % p;
            step_recv(&s, from, from_member(a, from));
            step_send(&s, to, share(a, a->in_place ? PLAN_OUT : PLAN_IN, to));
        }
    } else if (round <= exchanges + joins) {
        int first = p - 2 - (round - exchanges - 1) * PLAN_STEPS; /* down to -1, which copies the result to the user's buffer */
        for (int r = first; r >= 0 && s.n < PLAN_STEPS; r--) step_reduce(&s, from_member(a, r), acc);
        if (s.n < PLAN_STEPS && !last) step_copy(&s, acc, share(a, PLAN_OUT, a->rank));
    } else if (round <= 2 * exchanges + joins) {
        int turn = round - exchanges - joins;
        for (int r = 1 + (turn - 1) * PAIRS; r < p && r <= turn * PAIRS; r++) {
            step_recv(&s, (a->rank - r + p) % p, share(a, PLAN_OUT, (a->rank - r + p) % p));
            step_send(&s, (a->rank + r) % p, share(a, PLAN_OUT, a->rank));
        }
    } else {
        return 0;
    }
    if (s.n == 0) step_nothing(&s);
    return s.n;
}
static bool shares_fit(const struct plan_args *a) { return a->rcount >= (int64_t)a->size * a->size; }
const struct plan_algorithm coll_alg_allreduce_direct = {
    .name = "direct", .emit = allreduce_direct, .tmp_bytes = one_operand, .kind = PLAN_P2P, .fits = shares_fit};

/* ---- scans: doubling; temporary 0 is the sum of this rank's block so far, 1 the message, 2 the sum of lower ranks ----------- */
static int64_t three_operands(const struct plan_args *a) { return 3 * a->tmp_span; }

static int scan_round(const struct plan_args *a, int round, struct plan_step *steps, bool exclusive)
{
    struct plan_steps s = {steps, 0};
    int levels = log2_up(a->size), k = (round - 1) / 2, peer = a->rank ^ 1 << k;
    if (round == 0) {
        step_copy(&s, mine(a), operand(a, 0));
        if (!exclusive && !a->in_place) step_copy(&s, mine(a), result(a));
    } else if (k < levels && peer < a->size && round % 2) {
        step_send(&s, peer, operand(a, 0));
        step_recv(&s, peer, operand(a, 1));
    } else if (k < levels && peer < a->size) {
        /* The first block received from a lower rank is the beginning of an exclusive result; later blocks are of still lower
         * ranks. */
        bool first = (a->rank & ((1 << k) - 1)) == 0;
        if (peer < a->rank && exclusive && first)
            step_copy(&s, operand(a, 1), operand(a, 2));
        else if (peer < a->rank)
            step_reduce(&s, operand(a, 1), exclusive ? operand(a, 2) : result(a));
        join(&s, a, peer < a->rank);
    } else if (round == 1 + 2 * levels && exclusive && a->rank > 0) {
        step_copy(&s, operand(a, 2), result(a));
    } else if (round > 2 * levels) {
        return 0;
    }
    if (s.n == 0) step_nothing(&s);
    return s.n;
}
static int scan_doubling(const struct plan_args *a, int round, struct plan_step *steps)
{
    return scan_round(a, round, steps, false);
}
static int exscan_doubling(const struct plan_args *a, int round, struct plan_step *steps)
{
    return scan_round(a, round, steps, true);
}
const struct plan_algorithm coll_alg_scan_doubling = {
    .name = "doubling", .emit = scan_doubling, .tmp_bytes = two_operands, .kind = PLAN_P2P};
const struct plan_algorithm coll_alg_exscan_doubling = {
    .name = "doubling", .emit = exscan_doubling, .tmp_bytes = three_operands, .kind = PLAN_P2P};
