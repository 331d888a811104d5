/* alg_exact.c -- sums whose bits depend only on the operands, not on their order (GODWIT_REPRODUCIBLE=any): op/exact.h, by
 * messages.  Leaves need none of this: they have the operands of all members at once, see exact_leaf() in select.c.
 *
 * Rounds: find the exponents of the operand; allreduce them (MPI_MAX); convert the operand to integers; reduce or allreduce these;
 * convert the result.  The two inner collectives are point-to-point algorithms of the table, whose buffers are parts of our
 * temporary memory:
 *
 *     packed operand, if its type is not dense | exponents | words | temporary of the inner collective
 *
 * A reduce_scatter is an allreduce of which each member takes its part.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll_private.h"

struct exact {
    const struct plan_args *a;
    struct op_exact how;
    struct plan_ref operand, result;  /* the user's buffers */
    int64_t n, own, own_first;        /* how many real numbers the operand has; the result, and the index of its first */
    int64_t exponents, words, within; /* offsets in the temporary */
    enum coll_kind kind;
};

static int64_t on_line(int64_t bytes) { return (bytes + GW_CACHELINE - 1) & ~(int64_t)(GW_CACHELINE - 1); }

static int64_t elements_before(const struct plan_args *a, int end)
{
    int64_t n = 0;
    if (!a->rcounts.v) return end * a->rcount;
    for (int i = 0; i < end; i++) n += gw_counts_at(a->rcounts, i);
    return n;
}

static struct exact exact_of(const struct plan_args *a, enum coll_kind kind)
{
    struct exact x = {.a = a, .kind = kind};
    bool scatters = kind == COLL_REDUCE_SCATTER;
    int64_t all = scatters ? elements_before(a, a->size) : a->rcount, own = a->rcount;
    if (scatters && a->rcounts.v) own = gw_counts_at(a->rcounts, a->rank);
    bool is_exact = op_exact_of(a->op, a->rt, a->size, &x.how);
    assert(is_exact && x.how.parts > 0 && x.how.words > 0);
    (void)is_exact;
    int64_t each = a->rt->n_elems * x.how.parts;
    x.operand = ref_typed(a->in_place ? PLAN_OUT : PLAN_IN, 0, all, a->rt);
    x.result = ref_typed(PLAN_OUT, 0, own, a->rt);
    x.n = all * each, x.own = own * each, x.own_first = scatters ? elements_before(a, a->rank) * each : 0;
    x.exponents = on_line(packed_bytes(all, a->rt));
    x.words = x.exponents + on_line(x.n * (int64_t)sizeof(int16_t));
    x.within = x.words + on_line(x.n * x.how.words * (int64_t)sizeof(int64_t));
    return x;
}

/* ---- the inner collectives ------------------------------------------------------------------------------------------------- */
struct within {
    const struct plan_algorithm *alg;
    struct plan_args args;
    int64_t at; /* offset of its operand in our temporary */
    struct gw_op *op;
};
static struct within within_of(const struct exact *x, bool is_words)
{
    struct within w = {.args = *x->a, .at = is_words ? x->words : x->exponents, .op = is_words ? gw_op_sum : gw_op_max};
    enum coll_kind kind = is_words && x->kind == COLL_REDUCE ? COLL_REDUCE : COLL_ALLREDUCE;
    w.args.op = w.op;
    w.args.rt = type_of_basic(is_words ? GW_ELEM_I64 : GW_ELEM_I16);
    w.args.rcount = is_words ? x->n * x->how.words : x->n;
    w.args.rcounts = (struct gw_counts){0};
    w.args.in_place = kind == COLL_ALLREDUCE || x->a->rank == x->a->root;
    w.args.nodes = NULL;
    coll_temporaries(&w.args);
    w.alg = coll_pick(kind, w.args.rcount * w.args.rt->size, false, false, &w.args);
    assert(w.alg->emit && w.alg->kind == PLAN_P2P);
    return w;
}

/* Translates a reference of the inner collective into one to our buffers. */
static void ref_within(const struct exact *x, const struct within *w, struct plan_ref *r)
{
    assert(r->buf != PLAN_SHM); /* the inner collective is one by messages */
    r->off += r->buf == PLAN_TMP ? x->within : w->at;
    if (r->type) r->off -= x->a->tmp_shift; /* plan_address() adds it to typed references */
    if (r->type && r->buf == PLAN_TMP) r->off += w->args.tmp_shift;
    r->buf = PLAN_TMP;
}
static int within_round(const struct exact *x, const struct within *w, int round, struct plan_step *steps)
{
    int n = w->alg->emit(&w->args, round, steps);
    for (int i = 0; i < n; i++) {
        ref_within(x, w, &steps[i].a);
        ref_within(x, w, &steps[i].b);
        if (steps[i].kind == PLAN_REDUCE) steps[i].op = w->op;
    }
    return n;
}
static int within_rounds(const struct within *w)
{
    struct plan_step steps[PLAN_STEPS];
    int n = 0, step = 1;
    while (w->alg->emit(&w->args, step - 1, steps) > 0) step *= 2;
    for (; step > 0; step /= 2)
        if (w->alg->emit(&w->args, n + step - 1, steps) > 0) n += step;
    return n;
}

/* ---- the local rounds -------------------------------------------------------------------------------------------------------- */
static void step_exact(struct plan_steps *s, const struct exact *x, enum op_exact_step what, struct plan_ref a, struct plan_ref b)
{
    bool is_result = what == OP_EXACT_ROUND;
    struct plan_step *p = step_add(s, PLAN_EXACT);
    p->exact = x->how, p->phase = (int32_t)what, p->a = a, p->b = b;
    p->stride = is_result ? x->own : x->n;
    p->exponents_off = x->exponents + (is_result ? x->own_first * (int64_t)sizeof(int16_t) : 0);
}
static struct plan_ref words_from(const struct exact *x, int64_t first)
{
    int64_t each = x->how.words * (int64_t)sizeof(int64_t);
    assert(first >= 0 && first <= x->n);
    return ref_raw(PLAN_TMP, x->words + first * each, (x->n - first) * each);
}
static int exponents_round(const struct exact *x, struct plan_steps *s)
{
    struct plan_ref run = ref_run_of(x->operand, 0);
    if (run.buf == PLAN_TMP) step_copy(s, x->operand, run);
    step_exact(s, x, OP_EXACT_EXPONENTS, run, run);
    return s->n;
}
static int words_round(const struct exact *x, struct plan_steps *s)
{
    step_exact(s, x, OP_EXACT_WORDS, ref_run_of(x->operand, 0), words_from(x, 0));
    return s->n;
}
static int result_round(const struct exact *x, struct plan_steps *s)
{
    struct plan_ref run = ref_run_of(x->result, 0);
    if (x->kind == COLL_REDUCE && x->a->rank != x->a->root) {
        step_nothing(s);
        return s->n;
    }
    step_exact(s, x, OP_EXACT_ROUND, words_from(x, x->own_first), run);
    if (run.buf == PLAN_TMP) step_copy(s, run, x->result);
    return s->n;
}

static int exact_round(const struct plan_args *a, enum coll_kind kind, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    struct exact x = exact_of(a, kind);
    if (round == 0) return exponents_round(&x, &s);
    struct within maximum = within_of(&x, false);
    int n = within_round(&x, &maximum, round - 1, steps);
    if (n > 0) return n;
    round -= 1 + within_rounds(&maximum);
    if (round == 0) return words_round(&x, &s);
    struct within sum = within_of(&x, true);
    n = within_round(&x, &sum, round - 1, steps);
    if (n > 0) return n;
    return round - 1 == within_rounds(&sum) ? result_round(&x, &s) : 0;
}
static int64_t exact_bytes(const struct plan_args *a, enum coll_kind kind)
{
    struct exact x = exact_of(a, kind);
    struct within maximum = within_of(&x, false), sum = within_of(&x, true);
    int64_t first = maximum.alg->tmp_bytes ? maximum.alg->tmp_bytes(&maximum.args) : 0;
    int64_t second = sum.alg->tmp_bytes ? sum.alg->tmp_bytes(&sum.args) : 0;
    return x.within + gw_max64(first, second);
}

static bool exact_fits(const struct plan_args *a)
{
    struct op_exact how;
    return op_exact_of(a->op, a->rt, a->size, &how);
}
#define EXACT(NAME, KIND)                                                                                                          \
    static int NAME##_exact(const struct plan_args *a, int round, struct plan_step *steps)                                         \
    {                                                                                                                              \
        return exact_round(a, KIND, round, steps);                                                                                 \
    }                                                                                                                              \
    static int64_t NAME##_bytes(const struct plan_args *a) { return exact_bytes(a, KIND); }                                        \
    const struct plan_algorithm coll_alg_##NAME##_exact = {                                                                        \
        .name = "exact", .emit = NAME##_exact, .tmp_bytes = NAME##_bytes, .kind = PLAN_P2P, .fits = exact_fits};
EXACT(reduce, COLL_REDUCE)
EXACT(allreduce, COLL_ALLREDUCE)
EXACT(reduce_scatter, COLL_REDUCE_SCATTER)
