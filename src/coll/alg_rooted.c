/* alg_rooted.c -- gather(v) and scatter(v) with many ranks: binomial trees for small blocks; for large ones members send only when
 * the root permits it.
 *
 * Let v be a member's distance behind the root (v = 0 is the root).  Its children are v + 2^k for each k such that bits 0 .. k of
 * v are 0.  A child holds the blocks of 2^k members, or of those that exist.  Blocks are sent packed, in the order of v.
 *
 * In the vector forms only the root knows all sizes.  So it first tells all members the algorithm; for the tree, the sizes are
 * sent up before the blocks, or down before the blocks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll_private.h"
#include "base/settings.h"

/* ---- the tree ------------------------------------------------------------------------------------------------------------- */
static int behind(const struct plan_args *a)
{
    assert(a->root >= 0 && a->root < a->size);
    return (a->rank - a->root + a->size) % a->size;
}
static int member_behind(const struct plan_args *a, int v)
{
    assert(v >= 0);
    return (a->root + v) % a->size;
}
static int parent(const struct plan_args *a) { return member_behind(a, behind(a) & (behind(a) - 1)); }
static int children(const struct plan_args *a)
{
    int v = behind(a), n = 0;
    while (v + (1 << n) < a->size && !(v & (1 << n))) n++;
    return n;
}
static struct plan_ref whole_in(const struct plan_args *a) { return ref_typed(PLAN_IN, 0, a->scount, a->st); }
static struct plan_ref whole_out(const struct plan_args *a) { return ref_typed(PLAN_OUT, 0, a->rcount, a->rt); }

/* What a member knows of sizes.  Equal blocks: all.  Otherwise: how many bytes child k holds; and the root knows where in the
 * temporary each member's block begins (-1 at the first block of a child whose blocks are contiguous in the user's buffer).  The
 * arrays are in arguments that these members do not need otherwise. */
struct tree {
    int64_t block;
    struct gw_counts held, begins;
    bool gather;
};
static int64_t held_by(const struct plan_args *a, const struct tree *t, int k)
{
    assert(k >= 0 && (t->held.v || behind(a) + (1 << k) < a->size)); /* the child exists */
    if (t->held.v) return gw_counts_at(t->held, k);
    return t->block * gw_min64(1 << k, a->size - behind(a) - (1 << k));
}
static int held_members(const struct plan_args *a, int k) /* how many members' blocks the root's child k holds */
{
    return (int)gw_min64(1 << k, a->size - (1 << k));
}
static struct plan_ref users_block(const struct plan_args *a, const struct tree *t, int v)
{
    return t->gather ? recv_block(a, member_behind(a, v)) : send_block(a, member_behind(a, v));
}
/* At the root: are child k's blocks contiguous in the user's buffer?  Equal blocks are, unless the ranks wrap around to 0. */
static bool is_run(const struct plan_args *a, const struct tree *t, int k)
{
    if (behind(a) > 0) return false;
    if (t->begins.v) return gw_counts_at(t->begins, 1 << k) < 0;
    return member_behind(a, 1 << k) <= member_behind(a, (1 << k) + held_members(a, k) - 1);
}
/* Where child k's blocks are in the temporary: behind this member's own block, which the root does not keep there. */
static int64_t place_of(const struct plan_args *a, const struct tree *t, int64_t own, int k)
{
    int64_t at = behind(a) ? own : 0;
    for (int i = 0; i < k; i++) at += is_run(a, t, i) ? 0 : held_by(a, t, i);
    return at;
}
static struct plan_ref childs_blocks(const struct plan_args *a, const struct tree *t, int64_t own, int k)
{
    if (!is_run(a, t, k)) return ref_raw(PLAN_TMP, place_of(a, t, own, k), held_by(a, t, k));
    struct plan_ref run = users_block(a, t, 1 << k);
    run.count = run.type->size ? held_by(a, t, k) / run.type->size : 0;
    return run;
}
/* At the root: the i-th member whose block goes through the temporary; 0: there are fewer. */
static int packed_member(const struct plan_args *a, const struct tree *t, int i)
{
    for (int k = 0; k < children(a); k++) {
        if (is_run(a, t, k)) continue;
        if (i < held_members(a, k)) return (1 << k) + i;
        i -= held_members(a, k);
    }
    return 0;
}
static int packed_members(const struct plan_args *a, const struct tree *t)
{
    int n = 0;
    for (int k = 0; k < children(a); k++) n += is_run(a, t, k) ? 0 : held_members(a, k);
    return n;
}
static int first_of(int v) /* the root's child that holds member v */
{
    assert(v > 0);
    return 1 << (log2_up(v + 1) - 1);
}
/* Round i of those in which the root copies between such blocks and the temporary. */
static void packed_round(struct plan_steps *s, const struct plan_args *a, const struct tree *t, int i)
{
    for (int n = i * PLAN_STEPS, v; s->n < PLAN_STEPS && (v = packed_member(a, t, n)) > 0; n++) {
        struct plan_ref user = users_block(a, t, v), packed;
        int64_t at = t->begins.v ? gw_counts_at(t->begins, v) : (v - first_of(v)) * t->block;
        assert(at >= 0); /* this block is none of a run */
        packed = ref_raw(PLAN_TMP, at, plan_ref_bytes(&user));
        t->gather ? step_copy(s, packed, user) : step_copy(s, user, packed);
    }
}

/* ---- gather up the tree ------------------------------------------------------------------------------------------------------ */
static struct tree gather_sizes(const struct plan_args *a, int64_t *own_out)
{
    struct plan_ref own = a->in_place ? recv_block(a, a->rank) : whole_in(a);
    *own_out = plan_ref_bytes(&own);
    return (struct tree){*own_out, a->scounts, a->sdispls, true};
}
static int64_t gather_tree_tmp(const struct plan_args *a)
{
    int64_t own;
    struct tree t = gather_sizes(a, &own);
    return children(a) ? place_of(a, &t, own, children(a)) : 0;
}
static int gather_tree(const struct plan_args *a, int round, struct plan_step *steps)
{
    enum { EACH = PLAN_STEPS - 1 };
    struct plan_steps s = {steps, 0};
    int64_t own;
    struct tree t = gather_sizes(a, &own);
    int n = children(a), takes = n ? (n + EACH - 1) / EACH : 1, v = behind(a);
    if (round < takes) {
        if (round == 0 && v > 0 && n) step_copy(&s, whole_in(a), ref_raw(PLAN_TMP, 0, own));
        if (round == 0 && v == 0 && !a->in_place) step_copy(&s, whole_in(a), recv_block(a, a->rank));
        for (int k = round * EACH; k < n && k < (round + 1) * EACH; k++)
            step_recv(&s, member_behind(a, v + (1 << k)), childs_blocks(a, &t, own, k));
        if (s.n == 0) step_nothing(&s);
    } else if (v == 0) {
        packed_round(&s, a, &t, round - takes);
    } else if (round == takes) {
        step_send(&s, parent(a), n ? ref_raw(PLAN_TMP, 0, place_of(a, &t, own, n)) : whole_in(a));
    }
    return s.n;
}
static bool blocks_equal(const struct plan_args *a) { return !a->is_vector; }
const struct plan_algorithm coll_alg_gather_tree = {
    .name = "tree", .emit = gather_tree, .tmp_bytes = gather_tree_tmp, .kind = PLAN_P2P, .fits = blocks_equal};

/* ---- scatter down the tree
 * ------------------------------------------------------------------------------------------------------ */
static struct tree scatter_sizes(const struct plan_args *a, int64_t *own_out)
{
    struct plan_ref own = a->rank == a->root ? send_block(a, a->rank) : whole_out(a);
    *own_out = plan_ref_bytes(&own);
    return (struct tree){*own_out, a->rcounts, a->rdispls, false};
}
static int64_t scatter_tree_tmp(const struct plan_args *a)
{
    int64_t own;
    struct tree t = scatter_sizes(a, &own);
    return children(a) ? place_of(a, &t, own, children(a)) : 0;
}
static int scatter_tree(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int64_t own;
    struct tree t = scatter_sizes(a, &own);
    int n = children(a), v = behind(a), begins = v ? 1 : (packed_members(a, &t) + PLAN_STEPS - 1) / PLAN_STEPS;
    if (round < begins && v > 0) {
        step_recv(&s, parent(a), n ? ref_raw(PLAN_TMP, 0, place_of(a, &t, own, n)) : whole_out(a));
    } else if (round < begins) {
        packed_round(&s, a, &t, round);
    } else {
        int gives = (n + PLAN_STEPS - 1) / PLAN_STEPS, k = n - 1 - (round - begins) * PLAN_STEPS; /* largest child first */
        for (; k >= 0 && s.n < PLAN_STEPS; k--) step_send(&s, member_behind(a, v + (1 << k)), childs_blocks(a, &t, own, k));
        if (round - begins == gives && v > 0 && n) step_copy(&s, ref_raw(PLAN_TMP, 0, own), whole_out(a));
        if (round - begins == gives && v == 0 && !a->in_place) step_copy(&s, send_block(a, a->rank), whole_out(a));
    }
    return s.n;
}
const struct plan_algorithm coll_alg_scatter_tree = {
    .name = "tree", .emit = scatter_tree, .tmp_bytes = scatter_tree_tmp, .kind = PLAN_P2P, .fits = blocks_equal};

/* ---- gather with permission to send, so that not all members send large blocks to the root at once
 * ------------------------------- */
/* `under_way` members (2 or more) have permission at a time: in each round the root permits as many new
 * ones as it receives blocks. */
static int gather_permitted(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    if (a->rank != a->root) {
        if (round == 0) step_recv(&s, a->root, ref_raw(PLAN_OUT, 0, 0));
        if (round == 1) step_send(&s, a->root, whole_in(a));
        return s.n;
    }
    int others = a->size - 1, most = (int)gw_min64(a->params.under_way > 0 ? a->params.under_way : 16, INT32_MAX);
    int each = most >= PLAN_STEPS ? PLAN_STEPS / 2 : most > 1 ? most / 2 : 1; /* blocks per round */
    int ahead = (int)gw_min64(gw_max64(most - each, 1), others), firsts = (ahead + PLAN_STEPS - 1) / PLAN_STEPS;
    if (round < firsts) {
        for (int i = round * PLAN_STEPS; i < ahead && s.n < PLAN_STEPS; i++)
            step_send(&s, member_behind(a, 1 + i), ref_raw(PLAN_OUT, 0, 0));
        return s.n;
    }
    int first = (round - firsts) * each;
    for (int i = first; i < others && i < first + each; i++)
        step_recv(&s, member_behind(a, 1 + i), recv_block(a, member_behind(a, 1 + i)));
    for (int i = first + ahead; i < others && i < first + ahead + each; i++)
        step_send(&s, member_behind(a, 1 + i), ref_raw(PLAN_OUT, 0, 0));
    if (s.n == 0 && first < others + each && !a->in_place) step_copy(&s, whole_in(a), recv_block(a, a->rank));
    return s.n;
}
const struct plan_algorithm coll_alg_gather_permitted = {
    .name = "permitted", .emit = gather_permitted, .kind = PLAN_P2P, .takes = PLAN_TAKES_UNDER_WAY};

/* ---- the vector forms: the root chooses the algorithm
 * ---------------------------------------------------------------------------- */
struct ruled {
    int64_t by_tree, is_counted;
    int64_t total;    /* bytes that go through this member */
    int64_t held[32]; /* bytes that child k holds */
};
enum { RULED_BYTES = (sizeof(struct ruled) + GW_CACHELINE - 1) & ~(GW_CACHELINE - 1) };

/* Sends sizes up the tree.  OUT is a struct ruled, of which it sets total and held. */
static int sizes_up(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int n = children(a), turns = n ? (n + PLAN_STEPS - 1) / PLAN_STEPS : 1, turn = round / 2;
    if (turn < turns) {
        for (int k = turn * PLAN_STEPS; k < n && s.n < PLAN_STEPS; k++) {
            struct plan_ref held = ref_typed(PLAN_OUT, 8 + 8 * k, 1, gw_type_int64);
            round % 2 ? step_reduce(&s, held, ref_typed(PLAN_OUT, 0, 1, gw_type_int64))
                      : step_recv(&s, member_behind(a, behind(a) + (1 << k)), held);
        }
        if (s.n == 0) step_nothing(&s);
    } else if (round == 2 * turns && behind(a) > 0) {
        step_send(&s, parent(a), ref_typed(PLAN_OUT, 0, 1, gw_type_int64));
    }
    return s.n;
}
static const struct plan_algorithm alg_sizes_up = {.name = "sizes", .emit = sizes_up, .kind = PLAN_P2P};

/* The root's array of places in the temporary: see struct tree. */
static struct gw_counts begins_at(const struct plan_args *a, char *tmp, bool gather)
{
    const struct tree t = {.gather = gather};
    int64_t *begins = (int64_t *)(tmp + RULED_BYTES), at = 0;
    for (int first = 1; first < a->size; first *= 2) {
        struct plan_ref last = users_block(a, &t, first);
        int64_t was = at;
        bool runs = true;
        for (int v = first; v < 2 * first && v < a->size; v++) {
            struct plan_ref block = users_block(a, &t, v);
            if (v > first) runs &= block.off == last.off + last.count * last.type->extent;
            begins[v] = at;
            at += plan_ref_bytes(&block);
            last = block;
        }
        if (runs) begins[first] = -1, at = was;
    }
    return (struct gw_counts){begins, true};
}

int64_t coll_vector_short(bool gather, int ranks)
{
    int64_t small = gather ? gw_set.gatherv_short_msg : gw_set.scatterv_short_msg;
    return small >= 0 ? small : ranks <= 512 ? 2048 : 8192; /* as the documents have it for scatterv */
}

/* Once for each turn of the choice, as of other collectives. */
static void explain_ruled(const struct plan_args *a, int64_t mean, bool by_tree, bool gather)
{
    static _Atomic int said[2];
    if (atomic_exchange_explicit(&said[gather], 1 + by_tree, memory_order_relaxed) == 1 + by_tree) return;
    gw_explain(GW_LOG_COLL, "%s of %lld bytes a rank on average on %d ranks: %s (%s %lld, MPICH_%s_SHORT_MSG)",
               gather ? "gatherv" : "scatterv", (long long)mean, a->size,
               by_tree      ? "tree"
                   : gather ? "permission"
                            : "one after the other",
               mean <= coll_vector_short(gather, a->size) ? "up to" : "above", (long long)coll_vector_short(gather, a->size),
               gather ? "GATHERV" : "SCATTERV");
}

static bool average_is_small(const struct plan_args *a, bool gather)
{
    int64_t total = 0, small = coll_vector_short(gather, a->size);
    for (int i = 0; i < a->size; i++) {
        struct plan_ref block = gather ? recv_block(a, i) : send_block(a, i);
        total += plan_ref_bytes(&block);
    }
    bool is_small = total / a->size <= small && total <= (gather ? gw_set.gatherv_max_tmp_size : gw_set.scatterv_max_tmp_size);
    if (unlikely(gw_log_mask & GW_LOG_COLL)) explain_ruled(a, total / a->size, is_small, gather);
    return is_small;
}

static bool ruled_stages(const struct plan_args *a, int i, char *tmp, struct plan_stage *s, bool gather)
{
    struct ruled *r = (struct ruled *)tmp;
    s->tmp = RULED_BYTES + (a->rank == a->root ? a->size * (int64_t)sizeof(int64_t) : 0);
    if (i == 0) {
        r->is_counted = false;
        if (a->rank == a->root) r->by_tree = average_is_small(a, gather);
        s->alg = &coll_alg_bcast_binomial;
        s->args.rcount = sizeof r->by_tree, s->args.rt = gw_type_byte;
        s->out = (struct plan_place){PLAN_TMP, 0};
        return true;
    }
    if (i == 1 && r->by_tree) {
        r->total = gather ? (a->in_place ? 0 : a->scount * a->st->size) : (a->in_place ? 0 : a->rcount * a->rt->size);
        s->alg = &alg_sizes_up;
        s->args.op = gw_op_sum;
        s->out = (struct plan_place){PLAN_TMP, offsetof(struct ruled, total)};
        return true;
    }
    if (i > 1 + (r->by_tree != 0)) return false;
    struct gw_counts held = {r->held, true}, begins = {NULL, false};
    if (r->by_tree && a->rank == a->root) begins = begins_at(a, tmp, gather);
    if (r->by_tree && gather) s->args.scounts = held, s->args.sdispls = begins;
    if (r->by_tree && !gather) s->args.rcounts = held, s->args.rdispls = begins;
    s->args.params.under_way = gather ? gw_set.gatherv_sync_freq : gw_set.scatterv_sync_freq;
    if (gather)
        s->alg = r->by_tree ? &coll_alg_gather_tree : &coll_alg_gather_permitted;
    else
        s->alg = r->by_tree ? &coll_alg_scatter_tree : &coll_alg_scatter_linear;
    if (!r->is_counted) coll_count(gather ? COLL_GATHERV : COLL_SCATTERV, s->alg);
    r->is_counted = true;
    return true;
}
static int64_t ruled_tmp(const struct plan_args *a)
{
    return RULED_BYTES + (a->rank == a->root ? a->size * (int64_t)sizeof(int64_t) : 0);
}
static bool gatherv_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    (void)leaves;
    return ruled_stages(a, i, tmp, s, true);
}
static bool scatterv_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    (void)leaves;
    return ruled_stages(a, i, tmp, s, false);
}
const struct plan_algorithm coll_alg_gather_ruled = {
    .name = "ruled", .tmp_bytes = ruled_tmp, .kind = PLAN_P2P, .stages = gatherv_stages};
const struct plan_algorithm coll_alg_scatter_ruled = {
    .name = "ruled", .tmp_bytes = ruled_tmp, .kind = PLAN_P2P, .stages = scatterv_stages};
