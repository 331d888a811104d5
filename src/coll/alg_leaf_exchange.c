/* alg_leaf_exchange.c -- gather, scatter, allgather, alltoall on one node: through the members' shared slots, or by reading
 * each other's memory.
 *
 * In the vector forms only the two ends of a block know its size.  So the way is chosen per block: through a slot if it fits, else
 * by a message.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll_private.h"

static bool in_slot(const struct plan_ref *block) { return plan_ref_bytes(block) <= PLAN_SLOT_BYTES; }
static struct plan_ref my_in(const struct plan_args *a) { return ref_typed(PLAN_IN, 0, a->scount, a->st); }
static struct plan_ref my_out(const struct plan_args *a) { return ref_typed(PLAN_OUT, 0, a->rcount, a->rt); }

/* ---- gather(v): blocks are in the slots of their senders --------------------------------------------------------------------- */
/* The root raises its flag only when it has copied all blocks.  It soon raises it again, in the next collective, so the others
 * often fetch the cache line once for both. */
static int gather_leaf(const struct plan_args *a, int round, struct plan_step *steps)
{
    enum { TAKES = PLAN_STEPS - 1 };
    struct plan_steps s = {steps, 0};
    if (a->rank != a->root) {
        struct plan_ref mine = my_in(a);
        if (round > 0) return 0;
        if (in_slot(&mine)) step_copy(&s, mine, ref_narrow(a, a->rank, plan_ref_bytes(&mine)));
        step_publish(&s, 1);
        if (!in_slot(&mine)) step_send(&s, a->root, mine);
        return s.n;
    }
    if (round == 0) {
        if (!a->in_place) step_copy(&s, my_in(a), recv_block(a, a->rank));
        step_wait(&s, EVERYBODY, 1);
        return s.n;
    }
    int first = (round - 1) * TAKES, last = first + TAKES < a->size ? first + TAKES : a->size;
    if (first >= a->size) return 0;
    for (int i = first; i < last; i++) {
        struct plan_ref block = recv_block(a, i);
        if (i == a->root) continue;
        if (in_slot(&block))
            step_copy(&s, ref_narrow(a, i, plan_ref_bytes(&block)), block);
        else
            step_recv(&s, i, block);
    }
    if (last == a->size) step_publish(&s, 1);
    if (s.n == 0) step_nothing(&s);
    return s.n;
}
const struct plan_algorithm coll_alg_gather_leaf = {
    .name = "leaf", .emit = gather_leaf, .kind = PLAN_NARROW | PLAN_SMALL | PLAN_OTHERS_WRITE | PLAN_LATE};

/* ---- scatter(v): blocks are in the slots of their receivers ------------------------------------------------------------------ */
/* Does the root write the length with the block?  Yes in the vector form, in which only the root knows all lengths. */
static bool is_given(const struct plan_args *a, const struct plan_ref *block)
{
    return a->is_vector ? sized_fits(plan_ref_bytes(block), PLAN_SLOT_BYTES) : in_slot(block);
}
static void scatter_give(struct plan_steps *s, const struct plan_args *a, int to, struct plan_ref block)
{
    int64_t len = plan_ref_bytes(&block);
    if (!a->is_vector)
        step_copy(s, block, ref_shm(a, to, 0, len));
    else if (!is_given(a, &block))
        step_give_length(s, ref_sized(a, to, 0, len));
    else if (len > 0)
        step_give(s, block, ref_sized(a, to, 0, len));
}
static void scatter_take(struct plan_steps *s, const struct plan_args *a, struct plan_ref mine)
{
    int64_t len = plan_ref_bytes(&mine);
    if (!a->is_vector)
        step_copy(s, ref_shm(a, a->rank, 0, len), mine);
    else if (len > 0)
        step_take(s, a->root, ref_sized(a, a->rank, 0, len), mine);
}
static int scatter_leaf(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int rounds = (a->size + PLAN_STEPS - 1) / PLAN_STEPS;
    if (a->rank != a->root) {
        struct plan_ref mine = my_out(a);
        if (round > 0) return 0;
        step_publish(&s, 1);
        if (is_given(a, &mine)) {
            step_wait(&s, a->root, 1);
            scatter_take(&s, a, mine);
        } else {
            step_recv_long(&s, a->root, mine, ref_shm(a, a->rank, 0, 0));
        }
        return s.n;
    }
    if (round > 2 * rounds) return 0;
    if (round == rounds) {
        step_publish(&s, 1);
        if (!a->in_place) step_copy(&s, send_block(a, a->rank), my_out(a));
        return s.n;
    }
    bool slots = round < rounds;
    int first = (slots ? round : round - rounds - 1) * PLAN_STEPS;
    for (int i = first; i < a->size && i < first + PLAN_STEPS; i++) {
        struct plan_ref block = send_block(a, i);
        if (i == a->root) continue;
        if (slots && (a->is_vector || is_given(a, &block))) scatter_give(&s, a, i, block);
        if (!slots && !is_given(a, &block)) step_send(&s, i, block);
    }
    if (s.n == 0) step_nothing(&s);
    return s.n;
}
const struct plan_algorithm coll_alg_scatter_leaf = {.name = "leaf", .emit = scatter_leaf, .kind = PLAN_NARROW | PLAN_ROOT_WRITES};

/* ---- allgather(v): all members know the size of each block ------------------------------------------------------------------- */
static struct plan_ref my_block(const struct plan_args *a) { return a->in_place ? recv_block(a, a->rank) : my_in(a); }
static int64_t longest_block(const struct plan_args *a)
{
    if (!a->rcounts.v) return a->rcount * a->rt->size;
    int64_t most = 0;
    for (int i = 0; i < a->size; i++) most = gw_max64(most, gw_counts_at(a->rcounts, i));
    return most * a->rt->size;
}
/* Copies bytes [pos, pos + len) of the blocks of up to 8 members from `first` on out of their slots.  slot -1:
 * those of a narrow collective. */
static void take_blocks(struct plan_steps *s, const struct plan_args *a, int first, int64_t slot, int64_t pos, int64_t len)
{
    for (int i = first; i < a->size && i < first + PLAN_STEPS; i++) {
        struct plan_ref block = recv_block(a, i);
        int64_t n = gw_min64(len, plan_ref_bytes(&block) - pos);
        struct plan_ref shm = slot < 0 ? ref_narrow(a, i, n) : ref_slot(i, slot, 0, n);
        if (n > 0 && !(i == a->rank && a->in_place)) step_copy(s, shm, ref_part(block, pos, n));
    }
    if (s->n == 0) step_nothing(s);
}
static int allgather_leaf(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    if (round == 0) {
        struct plan_ref mine = my_block(a);
        step_copy(&s, mine, ref_narrow(a, a->rank, plan_ref_bytes(&mine)));
        step_publish(&s, 1);
        step_wait(&s, EVERYBODY, 1);
    } else if ((round - 1) * PLAN_STEPS < a->size) {
        take_blocks(&s, a, (round - 1) * PLAN_STEPS, -1, 0, PLAN_SLOT_BYTES);
    }
    return s.n;
}
static bool block_fits(const struct plan_args *a) { return longest_block(a) <= PLAN_SLOT_BYTES; }
const struct plan_algorithm coll_alg_allgather_leaf = {
    .name = "leaf", .emit = allgather_leaf, .kind = PLAN_NARROW | PLAN_SMALL, .fits = block_fits};

static int64_t gather_piece(const struct plan_args *a)
{
    return a->params.piece_bytes ? gw_min64(a->params.piece_bytes, PLAN_SLOT_BYTES) : PLAN_SLOT_BYTES;
}
static int allgather_leaf_wide(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int64_t piece = gather_piece(a), n = (longest_block(a) + piece - 1) / piece;
    int per_piece = 1 + (a->size + PLAN_STEPS - 1) / PLAN_STEPS, sub = (round - 1) % per_piece;
    int64_t k = (round - 1) / per_piece;
    if (round == 0) {
        step_publish(&s, 1);
        step_wait(&s, EVERYBODY, 1);
    } else if (k < n && sub == 0) {
        struct plan_ref mine = my_block(a);
        int64_t len = gw_min64(piece, plan_ref_bytes(&mine) - k * piece);
        if (len > 0) step_copy(&s, ref_part(mine, k * piece, len), ref_slot(a->rank, k, 0, len));
        step_publish(&s, (int)(2 + k));
        step_wait(&s, EVERYBODY, (int)(2 + k));
    } else if (k < n) {
        take_blocks(&s, a, (sub - 1) * PLAN_STEPS, k, k * piece, piece);
    } else if (k == n && sub == 0) {
        step_publish(&s, PLAN_FINAL);
    }
    return s.n;
}
static bool blocks_fit_wide(const struct plan_args *a) { return longest_block(a) / gather_piece(a) < PLAN_FINAL - 4; }
const struct plan_algorithm coll_alg_allgather_leaf_wide = {
    .name = "leaf_wide", .emit = allgather_leaf_wide, .kind = PLAN_WIDE, .fits = blocks_fit_wide, .takes = PLAN_TAKES_PIECE};

/* ---- alltoall(v, w): each receiver's slot has a share for each sender -------------------------------------------------------- */
/* Is the length sent with each block?  Yes in the irregular forms. */
static bool is_sized(const struct plan_args *a) { return a->scounts.v || a->rcounts.v || a->sts || a->rts; }
static struct plan_ref pair_shm(const struct plan_args *a, int from, int to, int64_t len)
{
    int64_t off = from * coll_pair_share(a);
    return is_sized(a) ? ref_sized(a, to, off, len) : ref_shm(a, to, off, len);
}
static bool fits_share(const struct plan_args *a, int64_t len)
{
    return is_sized(a) ? sized_fits(len, coll_pair_share(a)) : len <= coll_pair_share(a);
}
static void give_blocks(struct plan_steps *s, const struct plan_args *a, int first)
{
    for (int r = first; r < a->size && r < first + PLAN_STEPS; r++) {
        int to = (a->rank + r) % a->size;
        struct plan_ref block = send_block(a, to);
        int64_t len = plan_ref_bytes(&block);
        if (len == 0 || (!is_sized(a) && !fits_share(a, len))) continue;
        if (!fits_share(a, len))
            step_give_length(s, pair_shm(a, a->rank, to, len));
        else if (is_sized(a))
            step_give(s, block, pair_shm(a, a->rank, to, len));
        else
            step_copy(s, block, pair_shm(a, a->rank, to, len));
    }
    if (s->n == 0) step_nothing(s);
}
static int alltoall_leaf(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int gives = (a->size + PLAN_STEPS - 1) / PLAN_STEPS;
    if (round < gives) {
        give_blocks(&s, a, round * PLAN_STEPS);
        return s.n;
    }
    if (round == gives) {
        step_publish(&s, 1);
        step_wait(&s, EVERYBODY, 1);
        return s.n;
    }
    /* Four pairs per round: at distance r a member receives from the rank r below and sends to the rank r above. */
    int first = (round - gives - 1) * PLAN_STEPS / 2;
    if (first >= a->size) return 0;
    for (int r = first; r < a->size && r < first + PLAN_STEPS / 2; r++) {
        int from = (a->rank - r + a->size) % a->size, to = (a->rank + r) % a->size;
        struct plan_ref in = recv_block(a, from), out = send_block(a, to);
        int64_t in_len = plan_ref_bytes(&in);
        if (in_len > 0 && !fits_share(a, in_len))
            step_recv_long(&s, from, in, ref_shm(a, a->rank, from * coll_pair_share(a), 0));
        else if (in_len > 0 && is_sized(a))
            step_take(&s, from, pair_shm(a, from, a->rank, in_len), in);
        else if (in_len > 0)
            step_copy(&s, pair_shm(a, from, a->rank, in_len), in);
        if (plan_ref_bytes(&out) > 0 && !fits_share(a, plan_ref_bytes(&out))) step_send(&s, to, out);
    }
    if (s.n == 0) step_nothing(&s);
    return s.n;
}
/* In place, a block that goes by message could be overwritten before it is sent: only if all blocks are known to be small. */
static bool pairs_fit(const struct plan_args *a)
{
    return coll_pair_share(a) > 0 && (!a->in_place || (!a->rcounts.v && a->rcount * a->rt->size <= coll_pair_share(a)));
}
const struct plan_algorithm coll_alg_alltoall_leaf = {
    .name = "leaf", .emit = alltoall_leaf, .kind = PLAN_NARROW, .fits = pairs_fit};

/* ---- a few bytes for each: a member raises a pairwise flag with data for another --------------------------------------------- */
static int scatter_lines(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    if (a->rank != a->root) {
        struct plan_ref mine = my_out(a);
        if (round > 0) return 0;
        step_publish(&s, 1);
        step_pair_wait(&s, a->root, 0);
        step_copy(&s, ref_pair(a, a->root, a->rank, 0, plan_ref_bytes(&mine)), mine);
        return s.n;
    }
    int gives = line_rounds(a), first = 1 + round * LINES_GIVEN;
    if (round >= gives) return 0;
    for (int r = first; r < a->size && r < first + LINES_GIVEN; r++) {
        int to = (a->rank + r) % a->size;
        step_give_line(&s, a, to, send_block(a, to));
    }
    if (round == gives - 1) {
        step_publish(&s, 1);
        if (!a->in_place) step_copy(&s, send_block(a, a->rank), my_out(a));
    }
    return s.n;
}
static bool scatter_lines_fit(const struct plan_args *a)
{
    if (a->size > PLAN_PAIR_MEMBERS || a->is_vector) return false;
    return (a->rank == a->root ? a->scount * a->st->size : a->rcount * a->rt->size) <= PLAN_PAIR_BYTES;
}
const struct plan_algorithm coll_alg_scatter_lines = {
    .name = "lines", .emit = scatter_lines, .kind = PLAN_NARROW | PLAN_ROOT_WRITES, .fits = scatter_lines_fit};

static int alltoall_lines(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int gives = line_rounds(a), first = round < gives ? 1 + round * LINES_GIVEN : (round - gives) * PLAN_STEPS;
    if (first >= a->size) return 0;
    for (int r = first; round < gives && r < a->size && r < first + LINES_GIVEN; r++) {
        int to = (a->rank + r) % a->size;
        step_give_line(&s, a, to, send_block(a, to));
    }
    if (round == gives - 1) {
        step_publish(&s, 1);
        step_pair_wait(&s, EVERYBODY, 0);
    }
    for (int r = first; round >= gives && r < a->size && r < first + PLAN_STEPS; r++) {
        int from = (a->rank - r + a->size) % a->size;
        struct plan_ref block = recv_block(a, from);
        if (r > 0 || !a->in_place)
            step_copy(&s, r > 0 ? ref_pair(a, from, a->rank, 0, plan_ref_bytes(&block)) : send_block(a, from), block);
    }
    if (s.n == 0) step_nothing(&s);
    return s.n;
}
static bool lines_fit(const struct plan_args *a)
{
    return a->size <= PLAN_PAIR_MEMBERS && !a->rcounts.v && a->rcount * a->rt->size <= PLAN_PAIR_BYTES;
}
const struct plan_algorithm coll_alg_alltoall_lines = {
    .name = "lines", .emit = alltoall_lines, .kind = PLAN_NARROW, .fits = lines_fit};
