/* signature.c -- hashes of type signatures, that is of the sequence of basic elements of (count, type).
 *
 * The hash of a sequence e0 e1 .. e(n-1) is the polynomial e0 b^(n-1) + .. + e(n-1) modulo the prime 2^61 - 1.  The hash of two
 * concatenated sequences follows from theirs, and that of k copies takes log k steps, so large counts cost little.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/type_private.h"
#include "base/base.h"

static const uint64_t prime = (UINT64_C(1) << 61) - 1, base = UINT64_C(1234567891011121314);

static uint64_t mul(uint64_t a, uint64_t b)
{
    unsigned __int128 p = (unsigned __int128)a * b;
    uint64_t s = (uint64_t)(p & prime) + (uint64_t)(p >> 61);
    return s >= prime ? s - prime : s;
}

/* A sequence's hash, and b^n, by which the hash of a sequence before it is multiplied. */
struct seq {
    uint64_t value, shift;
    int64_t n;
};
static const struct seq nothing = {0, 1, 0};

static struct seq join(struct seq a, struct seq b)
{
    assert(a.value < prime && b.value < prime);
    uint64_t v = mul(a.value, b.shift) + b.value;
    return (struct seq){v >= prime ? v - prime : v, mul(a.shift, b.shift), a.n + b.n};
}

static struct seq repeat(struct seq a, int64_t count)
{
    struct seq all = nothing;
    assert(count >= 0);
    for (; count > 0; count >>= 1) {
        if (count & 1) all = join(all, a); /* all parts repeat one sequence, so their order does not matter */
        if (count > 1) a = join(a, a);
    }
    return all;
}

static struct seq element(uint8_t elem) { return (struct seq){elem, base, 1}; }

/* The first `limit` elements of a predefined type: a pair has two. */
static struct seq of_predefined(const struct gw_type *t, int64_t limit)
{
    const uint8_t *part = type_elem_info[t->elem].part;
    if (limit <= 0 || t->size <= 0) return nothing;
    if (!part[0]) return element(t->elem);
    return limit == 1 ? element(part[0]) : join(element(part[0]), element(part[1]));
}

static struct seq of_copies(struct gw_type *t, int64_t count, int64_t limit);

/* One instance.  The hash of a whole instance is stored in the type; threads that do so at the same time store the same value. */
static struct seq of_one(struct gw_type *t, int64_t limit)
{
    if (!t->tree) return of_predefined(t, limit);
    if (limit >= t->n_elems) {
        uint64_t known = atomic_load_explicit(&t->signature, memory_order_relaxed);
        uint64_t shift = known ? repeat(element(0), t->n_elems).shift : 0;
        if (known) return (struct seq){known, shift, t->n_elems};
    }
    const struct type_tree *tree = t->tree;
    int64_t round = t->n_elems / gw_max64(tree->outer, 1), whole = round ? gw_min64(limit / round, tree->outer) : 0;
    struct seq rounds = nothing, rest = nothing;
    for (int64_t i = 0; whole > 0 && i < tree->n_segs; i++)
        rounds = join(rounds, of_copies(tree->segs[i].type, tree->segs[i].count, INT64_MAX));
    rounds = repeat(rounds, whole);
    for (int64_t i = 0; i < tree->n_segs && whole < tree->outer && rounds.n + rest.n < limit; i++)
        rest = join(rest, of_copies(tree->segs[i].type, tree->segs[i].count, limit - rounds.n - rest.n));
    struct seq all = join(rounds, rest);
    if (limit >= t->n_elems) atomic_store_explicit(&t->signature, all.value, memory_order_relaxed);
    return all;
}

static struct seq of_copies(struct gw_type *t, int64_t count, int64_t limit)
{
    if (t->n_elems <= 0 || t->size <= 0) return nothing;
    int64_t whole = gw_min64(count, limit / t->n_elems);
    struct seq all = repeat(whole > 0 ? of_one(t, t->n_elems) : nothing, whole);
    return whole < count && all.n < limit ? join(all, of_one(t, limit - all.n)) : all;
}

struct type_signature type_signature(struct gw_type *t, int64_t count, int64_t limit)
{
    struct seq s = of_copies(t, count, limit);
    return (struct type_signature){s.value, s.n};
}

bool type_has_packed(const struct gw_type *t)
{
    if (!t->tree) return t->elem == GW_ELEM_PACKED;
    for (int64_t i = 0; i < t->tree->n_segs; i++)
        if (t->tree->segs[i].count > 0 && type_has_packed(t->tree->segs[i].type)) return true;
    return false;
}
