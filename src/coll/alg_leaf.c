/* alg_leaf.c -- barrier, bcast and reductions on one node, in the members' shared slots (see plan/plan.h).
 *
 * Narrow: the data of each member fit its slot; one or two phases.  Wide: pieces of at most a slot's size go through all slots,
 * and all members synchronise once per piece.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll_private.h"

static int barrier_leaf(const struct plan_args *a, int round, struct plan_step *steps)
{
    (void)a;
    struct plan_steps s = {steps, 0};
    if (round > 0) return 0;
    step_publish(&s, 1);
    step_wait(&s, EVERYBODY, 1);
    return s.n;
}
const struct plan_algorithm coll_alg_barrier_leaf = {
    .name = "leaf", .emit = barrier_leaf, .kind = PLAN_NARROW | PLAN_NOBODY_WRITES | PLAN_ONCE};

/* ---- bcast ------------------------------------------------------------------------------------------------------------------ */
static bool bcast_fits(const struct plan_args *a) { return a->rcount * a->rt->size <= PLAN_SLOT_BYTES; }
static int bcast_leaf(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    struct plan_ref shm = ref_narrow(a, a->root, a->rcount * a->rt->size);
    if (round > 0) return 0;
    if (a->rank == a->root) step_copy(&s, operand_out(a), shm);
    step_publish(&s, 1);
    if (a->rank != a->root) {
        step_wait(&s, a->root, 1);
        step_copy(&s, shm, operand_out(a));
    }
    return s.n;
}
const struct plan_algorithm coll_alg_bcast_leaf = {
    .name = "leaf", .emit = bcast_leaf, .kind = PLAN_NARROW | PLAN_SMALL | PLAN_ROOT_WRITES | PLAN_ONCE, .fits = bcast_fits};

/* The phases of a wide leaf: 1: the member has entered; 2 + k: it has finished piece k; PLAN_FINAL: the last. */
static bool wide_fits(int64_t bytes, int64_t piece) { return bytes / piece < PLAN_FINAL - 4; }

/* The root fills slot after slot and runs PLAN_SLOTS pieces ahead of the slowest reader. */
static int64_t bcast_piece(const struct plan_args *a)
{
    return a->params.piece_bytes ? gw_min64(a->params.piece_bytes, PLAN_SLOT_BYTES) : 16 << 10;
}
static int bcast_leaf_wide(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int64_t bytes = a->rcount * a->rt->size, piece = bcast_piece(a), n = (bytes + piece - 1) / piece, k = round - 1;
    bool root = a->rank == a->root;
    if (round == 0) {
        step_publish(&s, 1);
        if (root) step_wait(&s, EVERYBODY, 1);
        return s.n;
    }
    if (k > n) return 0;
    if (k == n) {
        step_publish(&s, PLAN_FINAL);
        return s.n;
    }
    int64_t len = gw_min64(piece, bytes - k * piece);
    assert(len > 0 && len <= PLAN_SLOT_BYTES);
    struct plan_ref user = ref_part(operand_out(a), k * piece, len), shm = ref_slot(a->root, k, 0, len);
    if (!root)
        step_wait(&s, a->root, (int)(2 + k));
    else if (k >= PLAN_SLOTS)
        step_wait(&s, EVERYBODY, (int)(2 + k - PLAN_SLOTS));
    root ? step_copy(&s, user, shm) : step_copy(&s, shm, user);
    step_publish(&s, (int)(2 + k));
    return s.n;
}
static bool bcast_wide_fits(const struct plan_args *a) { return wide_fits(a->rcount * a->rt->size, bcast_piece(a)); }
const struct plan_algorithm coll_alg_bcast_leaf_wide = {
    .name = "leaf_wide", .emit = bcast_leaf_wide, .kind = PLAN_WIDE, .fits = bcast_wide_fits, .takes = PLAN_TAKES_PIECE};

/* ---- reductions: each member's operand is in its slot ------------------------------------------------------------------------ */
static bool operand_fits(const struct plan_args *a) { return op_dense(a) && a->rcount * a->rt->size <= PLAN_SLOT_BYTES; }

/* out = the reduction of a piece (typed) in the slots of members 0 .. members - 1. */
static void step_shm_reduce(struct plan_steps *s, struct plan_ref piece, int members, struct plan_ref out)
{
    struct plan_step *p = step_add(s, PLAN_SHM_REDUCE);
    p->peer = members, p->a = piece, p->b = out;
}
static struct plan_ref shm_typed(const struct plan_args *a, int64_t slot, int64_t off, int64_t count)
{
    struct plan_ref r = ref_typed(PLAN_SHM, off, count, a->rt);
    r.slot = (uint8_t)slot;
    r.rank = a->rank;
    return r;
}

/* Copies this member's operand to its slot; then reduces the operands of the first `members` members to the
 * result (0: it wants none). */
static int reduce_in_slots(const struct plan_args *a, int round, struct plan_step *steps, int members)
{
    struct plan_steps s = {steps, 0};
    struct plan_ref slot = shm_typed(a, ref_narrow(a, a->rank, a->rcount * a->rt->size).slot, 0, a->rcount);
    if (round > 0) return 0;
    step_copy(&s, operand_mine(a), slot);
    step_publish(&s, 1);
    if (members > 0) {
        step_wait(&s, EVERYBODY, 1);
        step_shm_reduce(&s, slot, members, operand_out(a));
    }
    return s.n;
}
static int reduce_leaf(const struct plan_args *a, int round, struct plan_step *steps)
{
    return reduce_in_slots(a, round, steps, a->rank == a->root ? a->size : 0);
}
static int allreduce_leaf(const struct plan_args *a, int round, struct plan_step *steps)
{
    return reduce_in_slots(a, round, steps, a->size);
}
static int scan_leaf(const struct plan_args *a, int round, struct plan_step *steps)
{
    return reduce_in_slots(a, round, steps, a->rank + 1);
}
static int exscan_leaf(const struct plan_args *a, int round, struct plan_step *steps)
{
    return reduce_in_slots(a, round, steps, a->rank);
}
const struct plan_algorithm coll_alg_reduce_leaf = {
    .name = "leaf", .emit = reduce_leaf, .kind = PLAN_NARROW | PLAN_SMALL | PLAN_ONCE, .fits = operand_fits};
const struct plan_algorithm coll_alg_allreduce_leaf = {
    .name = "leaf", .emit = allreduce_leaf, .kind = PLAN_NARROW | PLAN_SMALL | PLAN_ONCE, .fits = operand_fits};
const struct plan_algorithm coll_alg_scan_leaf = {
    .name = "leaf", .emit = scan_leaf, .kind = PLAN_NARROW | PLAN_SMALL | PLAN_ONCE, .fits = operand_fits};
const struct plan_algorithm coll_alg_exscan_leaf = {
    .name = "leaf", .emit = exscan_leaf, .kind = PLAN_NARROW | PLAN_SMALL | PLAN_ONCE, .fits = operand_fits};

/* The division of a piece among members: member r reduces elements [r * share, (r + 1) * share). */
struct shares {
    int64_t share, mine, first; /* in elements; this member reduces `mine` of them from `first` on */
};
static struct shares shares_of(const struct plan_args *a, int64_t count)
{
    int64_t share = (count + a->size - 1) / a->size, first = gw_min64(a->rank * share, count);
    return (struct shares){share, gw_min64(share, count - first), first};
}
static void step_assemble(struct plan_steps *s, struct plan_ref slot, int64_t stride, struct plan_ref out)
{
    if (out.len <= 0) return;
    struct plan_step *p = step_add(s, PLAN_ASSEMBLE);
    slot.rank = 0;
    p->stride = stride, p->a = slot, p->b = out;
}

/* Two phases: each member reduces its share of all operands, then all members collect the shares. */
static int allreduce_leaf_two(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int64_t size = a->rt->size;
    struct shares sh = shares_of(a, a->rcount);
    struct plan_ref slot = shm_typed(a, (int64_t)(a->n % PLAN_SLOTS), 0, a->rcount), part = slot;
    struct plan_ref results = ref_shm(a, a->rank, PLAN_SLOT_BYTES / 2, 0), share = part;
    if (round > 0) return 0;
    part.off = sh.first * size, part.count = sh.mine;
    share.off = results.off + sh.first * size, share.count = sh.mine;
    step_copy(&s, operand_mine(a), slot);
    step_publish(&s, 1);
    step_wait(&s, EVERYBODY, 1);
    if (sh.mine > 0) step_shm_reduce(&s, part, a->size, share);
    step_publish(&s, 2);
    step_wait(&s, EVERYBODY, 2);
    step_assemble(&s, results, sh.share * size, ref_raw(PLAN_OUT, 0, a->rcount * size));
    return s.n;
}
static bool operand_fits_half(const struct plan_args *a) { return op_dense(a) && a->rcount * a->rt->size <= PLAN_SLOT_BYTES / 2; }
const struct plan_algorithm coll_alg_allreduce_leaf_two = {
    .name = "leaf_two", .emit = allreduce_leaf_two, .kind = PLAN_NARROW | PLAN_ONCE, .fits = operand_fits_half};

/* Pieces use pairs of slots: operands of piece k are in slot 2(k % 2), results in the next one.  In round k + 2 all members have
 * finished piece k-1, so the slots of operands k-1 and results k-2 are free.  The member then copies piece k+1 in, collects
 * results k-1, reduces its share of piece k, and publishes that. */
static int64_t wide_count(const struct plan_args *a) /* elements per piece */
{
    return gw_max64(
        (a->params.piece_bytes ? gw_min64(a->params.piece_bytes, PLAN_SLOT_BYTES) : PLAN_SLOT_BYTES) / gw_max64(a->rt->size, 1), 1);
}
static int64_t piece_count(const struct plan_args *a, int64_t k)
{
    int64_t n = gw_min64(wide_count(a), a->rcount - k * wide_count(a));
    assert(k >= 0 && n >= 0 && n * a->rt->size <= PLAN_SLOT_BYTES);
    return n;
}
static void bring_in(struct plan_steps *s, const struct plan_args *a, int64_t k)
{
    struct plan_ref mine = operand_mine(a);
    mine.off = k * wide_count(a) * a->rt->extent;
    mine.count = piece_count(a, k);
    step_copy(s, mine, shm_typed(a, 2 * (k % 2), 0, mine.count));
}
static void collect(struct plan_steps *s, const struct plan_args *a, int64_t k)
{
    int64_t size = a->rt->size, n = piece_count(a, k);
    step_assemble(s, ref_slot(0, 2 * (k % 2) + 1, 0, 0), shares_of(a, n).share * size,
                  ref_raw(PLAN_OUT, k * wide_count(a) * size, n * size));
}
static int reduce_wide(const struct plan_args *a, int round, struct plan_step *steps, bool wants)
{
    struct plan_steps s = {steps, 0};
    int64_t n = (a->rcount + wide_count(a) - 1) / wide_count(a), k = round - 2;
    if (round == 0) {
        step_publish(&s, 1);
        step_wait(&s, EVERYBODY, 1);
    } else if (round == 1) {
        bring_in(&s, a, 0);
        step_publish(&s, 2);
    } else if (k <= n) {
        step_wait(&s, EVERYBODY, (int)(2 + k));
        if (k + 1 < n) bring_in(&s, a, k + 1);
        if (wants && k > 0) collect(&s, a, k - 1);
        struct shares sh = shares_of(a, k < n ? piece_count(a, k) : 0);
        if (sh.mine > 0)
            step_shm_reduce(&s, shm_typed(a, 2 * (k % 2), sh.first * a->rt->size, sh.mine), a->size,
                            shm_typed(a, 2 * (k % 2) + 1, sh.first * a->rt->size, sh.mine));
        step_publish(&s, k < n ? (int)(3 + k) : PLAN_FINAL);
    }
    return s.n;
}
static int reduce_leaf_wide(const struct plan_args *a, int round, struct plan_step *steps)
{
    return reduce_wide(a, round, steps, a->rank == a->root);
}
static int allreduce_leaf_wide(const struct plan_args *a, int round, struct plan_step *steps)
{
    return reduce_wide(a, round, steps, true);
}
static bool element_fits(const struct plan_args *a)
{
    return op_dense(a) && a->rt->size <= PLAN_SLOT_BYTES && wide_fits(a->rcount, wide_count(a));
}
const struct plan_algorithm coll_alg_reduce_leaf_wide = {
    .name = "leaf_wide", .emit = reduce_leaf_wide, .kind = PLAN_WIDE, .fits = element_fits, .takes = PLAN_TAKES_PIECE};
const struct plan_algorithm coll_alg_allreduce_leaf_wide = {
    .name = "leaf_wide", .emit = allreduce_leaf_wide, .kind = PLAN_WIDE, .fits = element_fits, .takes = PLAN_TAKES_PIECE};

/* ---- reduce_scatter ---------------------------------------------------------------------------------------------------------- */
static int64_t all_parts(const struct plan_args *a) /* elements */
{
    if (!a->rcounts.v) return a->size * a->rcount;
    int64_t n = 0;
    for (int i = 0; i < a->size; i++) n += gw_counts_at(a->rcounts, i);
    return n;
}
static int reduce_scatter_leaf(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    struct plan_ref part = operand_part(a, a->rank), all = part;
    struct plan_ref slot = shm_typed(a, (int64_t)(a->n % PLAN_SLOTS), 0, all_parts(a)), mine = slot;
    if (round > 0) return 0;
    all.off = 0, all.count = slot.count;
    mine.off = part.off, mine.count = part.count;
    step_copy(&s, all, slot);
    step_publish(&s, 1);
    step_wait(&s, EVERYBODY, 1);
    if (part.count > 0) step_shm_reduce(&s, mine, a->size, ref_typed(PLAN_OUT, 0, part.count, a->rt));
    return s.n;
}
static bool parts_fit(const struct plan_args *a) { return op_dense(a) && all_parts(a) * a->rt->size <= PLAN_SLOT_BYTES; }
const struct plan_algorithm coll_alg_reduce_scatter_leaf = {
    .name = "leaf", .emit = reduce_scatter_leaf, .kind = PLAN_NARROW | PLAN_ONCE, .fits = parts_fit};

/* A few bytes: each member hands every other its part in their line; then reduces from the last member down, as the operand that is added
 * must be the left one. */
static int reduce_scatter_lines(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int gives = line_rounds(a), first = 1 + round * LINES_GIVEN, done = (round - gives) * PLAN_STEPS;
    if (round < gives) {
        for (int r = first; r < a->size && r < first + LINES_GIVEN; r++) {
            int to = (a->rank + r) % a->size;
            step_give_line(&s, a, to, operand_part(a, to));
        }
        if (round == gives - 1) {
            step_publish(&s, 1);
            step_pair_wait(&s, EVERYBODY, 0);
        }
        return s.n;
    }
    struct plan_ref out = ref_typed(PLAN_OUT, 0, a->rcount, a->rt);
    for (int k = done; k < a->size && k < done + PLAN_STEPS; k++) {
        int from = a->size - 1 - k;
        struct plan_ref part = ref_pair(a, from, a->rank, 0, -1);
        part.count = a->rcount, part.type = a->rt;
        if (from == a->rank) part = operand_part(a, a->rank);
        k == 0 ? step_copy(&s, part, out) : step_reduce(&s, part, out);
    }
    return s.n;
}
static bool part_fits_line(const struct plan_args *a)
{
    return op_dense(a) && !a->in_place && !a->rcounts.v && a->size <= PLAN_PAIR_MEMBERS &&
        a->rcount * a->rt->size <= PLAN_PAIR_BYTES;
}
const struct plan_algorithm coll_alg_reduce_scatter_lines = {
    .name = "lines", .emit = reduce_scatter_lines, .kind = PLAN_NARROW, .fits = part_fits_line};

/* Piece k of all parts, one behind the other in slot k; 1 + ceil(p / 8) rounds per piece.  Not in place: the result would
 * overwrite operands that are still to be read, so that form has another algorithm. */
static int64_t part_piece(const struct plan_args *a) { return PLAN_SLOT_BYTES / a->size / gw_max64(a->rt->size, 1); } /* elements */
static int64_t longest_part(const struct plan_args *a)
{
    int64_t most = a->rcounts.v ? 0 : a->rcount;
    for (int i = 0; a->rcounts.v && i < a->size; i++) most = gw_max64(most, gw_counts_at(a->rcounts, i));
    return most;
}
static int reduce_scatter_leaf_wide(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int64_t piece = part_piece(a), n = (longest_part(a) + piece - 1) / piece, size = a->rt->size;
    int per_piece = 1 + (a->size + PLAN_STEPS - 1) / PLAN_STEPS, sub = (round - 1) % per_piece;
    int64_t k = (round - 1) / per_piece;
    assert(piece > 0 && !a->in_place && a->size * piece * size <= PLAN_SLOT_BYTES);
    if (round == 0) {
        step_publish(&s, 1);
        step_wait(&s, EVERYBODY, 1);
        return s.n;
    }
    if (k >= n) {
        if (k == n && sub == 0) step_publish(&s, PLAN_FINAL);
        return s.n;
    }
    if (sub < per_piece - 1) {
        for (int i = sub * PLAN_STEPS; i < a->size && s.n < PLAN_STEPS; i++) {
            struct plan_ref part = operand_part(a, i);
            part.off += k * piece * size;
            part.count = gw_max64(0, gw_min64(piece, part.count - k * piece));
            step_copy(&s, part, shm_typed(a, k % PLAN_SLOTS, i * piece * size, part.count));
        }
        return s.n;
    }
    struct plan_ref own = operand_part(a, a->rank);
    int64_t count = gw_min64(piece, own.count - k * piece);
    step_publish(&s, (int)(2 + k));
    step_wait(&s, EVERYBODY, (int)(2 + k));
    if (count > 0)
        step_shm_reduce(&s, shm_typed(a, k % PLAN_SLOTS, a->rank * piece * size, count), a->size,
                        ref_typed(PLAN_OUT, k * piece * size, count, a->rt));
    return s.n;
}
static bool part_fits(const struct plan_args *a)
{
    return op_dense(a) && !a->in_place && part_piece(a) > 0 && wide_fits(longest_part(a), part_piece(a));
}
const struct plan_algorithm coll_alg_reduce_scatter_leaf_wide = {
    .name = "leaf_wide", .emit = reduce_scatter_leaf_wide, .kind = PLAN_WIDE, .fits = part_fits};
