/* alg_halving.c -- reduce_scatter(_block) of short parts on many ranks: recursive halving; commutative operations.
 *
 * A power of two of the p ranks take part.  Of the first 2*rest ranks, the even ones send their operand to their odd neighbours,
 * which act for both, and receive their part at the end.  The ranks that take part are numbered; number v stands for one rank or
 * for two neighbours. In each round two partners swap halves of the parts that both still reduce: each sends the half that has the
 * other's number.  So each number ends with its own parts, after log2(p) messages.
 *
 * Temporaries: two vectors, in which elements have the offsets that they have in the whole vector.  The first message is received
 * into vector 0 and combined with the own operand in the user's buffer; later ones are received into vector 1 and combined into
 * vector 0.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/hier.h"

struct halving {
    int levels, rest;
    bool is_folded, is_gone; /* is_folded: one of two neighbours; is_gone: the even one, which takes no part */
    int v;
};
static struct halving halving_of(const struct plan_args *a)
{
    struct halving h = {.levels = log2_up(a->size + 1) - 1};
    h.rest = a->size - (1 << h.levels);
    h.is_folded = a->rank < 2 * h.rest;
    h.is_gone = h.is_folded && a->rank % 2 == 0;
    h.v = h.is_folded ? a->rank / 2 : a->rank - h.rest;
    assert(h.rest >= 0 && h.rest < 1 << h.levels && h.v >= 0 && h.v < 1 << h.levels);
    return h;
}
/* The lowest rank that number v stands for, and the rank that acts for it. */
static int rank_first(const struct halving *h, int v) { return v < h->rest ? 2 * v : v + h->rest; }
static int rank_acting(const struct halving *h, int v) { return rank_first(h, v) + (v < h->rest); }

static int64_t all_elements(const struct plan_args *a) { return counts_between(a, 0, a->size); }
static int64_t two_vectors(const struct plan_args *a) { return 2 * vector_of(a, all_elements(a)).tmp_span; }
/* The parts of ranks first .. end - 1, in the user's operand or in a temporary vector. */
static struct plan_ref parts_mine(const struct plan_args *a, int first, int end)
{
    assert(first <= end && end <= a->size);
    return ref_typed(a->in_place ? PLAN_OUT : PLAN_IN, counts_between(a, 0, first) * a->rt->extent, counts_between(a, first, end),
                     a->rt);
}
static struct plan_ref parts_in(const struct plan_args *a, int vector, int first, int end)
{
    struct plan_args all = vector_of(a, all_elements(a));
    struct plan_ref r = parts_mine(a, first, end);
    r.buf = PLAN_TMP;
    r.off += vector * all.tmp_span + all.tmp_shift - a->tmp_shift; /* tmp_shift is that of my part only */
    return r;
}

/* The ranks whose parts number v still reduces after `level` exchanges. */
struct ranks {
    int first, end;
};
static struct ranks ranks_after(const struct halving *h, int v, int level)
{
    int width = 1 << (h->levels - level), low = v & ~(width - 1);
    assert(level >= 0 && level <= h->levels && low + width <= 1 << h->levels);
    return (struct ranks){rank_first(h, low), rank_first(h, low + width)};
}

static int halving_gone(const struct plan_args *a, int round, struct plan_steps *s, int last)
{
    if (round == 0)
        step_send(s, a->rank + 1, parts_mine(a, 0, a->size));
    else if (round == last)
        step_recv(s, a->rank + 1, ref_typed(PLAN_OUT, 0, count_of(a, a->rank), a->rt));
    else if (round < last)
        step_nothing(s);
    return s->n;
}

static int reduce_scatter_halving(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    struct halving h = halving_of(a);
    int level = round - (h.rest > 0), last = h.levels + (h.rest > 0);
    if (h.is_gone) return halving_gone(a, round, &s, last);
    if (round > last) return 0;
    if (level < 0) { /* the exchange between neighbours */
        h.is_folded ? step_recv(&s, a->rank - 1, parts_in(a, 0, 0, a->size)) : step_nothing(&s);
        return s.n;
    }
    struct ranks now = ranks_after(&h, h.v, level);
    int came = level == 0            ? (h.is_folded ? 1 : 0)
        : level == 1 && !h.is_folded ? 1
                                     : 2; /* messages received so far: none, one, more */
    if (came == 1) step_reduce(&s, parts_mine(a, now.first, now.end), parts_in(a, 0, now.first, now.end));
    if (came == 2) step_reduce(&s, parts_in(a, 1, now.first, now.end), parts_in(a, 0, now.first, now.end));
    if (round < last) {
        int other = h.v ^ 1 << (h.levels - level - 1);
        struct ranks mine = ranks_after(&h, h.v, level + 1), theirs = ranks_after(&h, other, level + 1);
        step_send(&s, rank_acting(&h, other),
                  came ? parts_in(a, 0, theirs.first, theirs.end) : parts_mine(a, theirs.first, theirs.end));
        step_recv(&s, rank_acting(&h, other), parts_in(a, came ? 1 : 0, mine.first, mine.end));
        return s.n;
    }
    struct plan_ref own = came ? parts_in(a, 0, a->rank, a->rank + 1) : parts_mine(a, a->rank, a->rank + 1);
    step_copy(&s, own, ref_typed(PLAN_OUT, 0, own.count, a->rt));
    if (h.is_folded) step_send(&s, a->rank - 1, parts_in(a, 0, a->rank - 1, a->rank));
    return s.n;
}
const struct plan_algorithm coll_alg_reduce_scatter_halving = {
    .name = "halving", .emit = reduce_scatter_halving, .tmp_bytes = two_vectors, .kind = PLAN_P2P, .fits = op_commutes};
