/* alg_pull.c -- large collectives on one node: receivers read the data from the senders' memory.
 *
 * Each member exposes its data and publishes that (phase 1), reads, and publishes that (phase 2); a member whose memory is read
 * waits for phase 2.  Data that are not contiguous in the user's buffer are packed into, or unpacked from, a temporary.  Operands
 * of reductions are read in pieces that stay in the reader's cache until they are reduced.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll_private.h"

static void step_expose(struct plan_steps *s, struct plan_ref run) { step_add(s, PLAN_EXPOSE)->a = run; }
static void step_pull(struct plan_steps *s, int peer, int64_t remote, struct plan_ref to)
{
    struct plan_step *p = step_add(s, PLAN_PULL);
    p->peer = peer, p->remote = remote, p->a = to;
}

/* ---- bcast
 * ----------------------------------------------------------------------------------------------------------------------- */
static int64_t bcast_tmp(const struct plan_args *a) { return packed_bytes(a->rcount, a->rt); }
static int bcast_pull(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    struct plan_ref user = operand_out(a), run = ref_run_of(user, 0);
    bool root = a->rank == a->root, packed = run.buf == PLAN_TMP;
    if (round > 0) return 0;
    if (root && packed) step_copy(&s, user, run);
    if (root) step_expose(&s, run);
    step_publish(&s, 1);
    step_wait(&s, a->root, 1);
    if (!root) step_pull(&s, a->root, 0, run);
    step_publish(&s, 2);
    if (root) step_wait(&s, EVERYBODY, 2);
    if (!root && packed) step_copy(&s, run, user);
    return s.n;
}
const struct plan_algorithm coll_alg_bcast_pull = {
    .name = "pull", .emit = bcast_pull, .tmp_bytes = bcast_tmp, .kind = PLAN_PULLING};

/* By messages: all members read from the root's memory at the same time.  The time does not depend on the state of the caches,
 * while through slots each piece has to come from the root's cache. */
static int bcast_direct(const struct plan_args *a, int round, struct plan_step *steps)
{
    enum { SENDS = PLAN_STEPS - 1 };
    struct plan_steps s = {steps, 0};
    if (round == 0) step_publish(&s, 1);
    if (a->rank != a->root) {
        if (round == 0) step_recv(&s, a->root, operand_out(a));
        return s.n;
    }
    for (int i = round * SENDS + 1; i < a->size && i <= (round + 1) * SENDS; i++)
        step_send(&s, (a->root + i) % a->size, operand_out(a));
    return s.n;
}
const struct plan_algorithm coll_alg_bcast_direct = {.name = "direct", .emit = bcast_direct, .kind = PLAN_PULLING};

/* ---- allgather(v)
 * ------------------------------------------------------------------------------------------------------------------ */
static struct plan_ref my_block(const struct plan_args *a)
{
    return a->in_place ? recv_block(a, a->rank) : ref_typed(PLAN_IN, 0, a->scount, a->st);
}
static int64_t longest_block(const struct plan_args *a)
{
    int64_t most = 0;
    for (int i = 0; i < a->size; i++) {
        struct plan_ref r = recv_block(a, i);
        most = gw_max64(most, plan_ref_bytes(&r));
    }
    return most;
}
/* The temporary has this member's packed block, and behind it room for one that is read. */
static int64_t allgather_tmp(const struct plan_args *a)
{
    struct plan_ref mine = my_block(a);
    return packed_bytes(mine.count, mine.type) + (a->rt->is_dense ? 0 : longest_block(a));
}
static int allgather_pull(const struct plan_args *a, int round, struct plan_step *steps)
{
    enum { PER_ROUND = PLAN_STEPS / 2 };
    struct plan_steps s = {steps, 0};
    struct plan_ref mine = my_block(a), run = ref_run_of(mine, 0);
    int pulls = (a->size - 1 + PER_ROUND - 1) / PER_ROUND;
    if (round == 0) {
        if (run.buf == PLAN_TMP) step_copy(&s, mine, run);
        step_expose(&s, run);
        step_publish(&s, 1);
        if (!a->in_place) step_copy(&s, mine, recv_block(a, a->rank));
        step_wait(&s, EVERYBODY, 1);
    } else if (round <= pulls) {
        for (int r = 1 + (round - 1) * PER_ROUND; r < a->size && r <= round * PER_ROUND; r++) {
            int from = (a->rank + r) % a->size;
            struct plan_ref block = recv_block(a, from), in = ref_run_of(block, packed_bytes(mine.count, mine.type));
            step_pull(&s, from, 0, in);
            if (in.buf == PLAN_TMP) step_copy(&s, in, block);
        }
    } else if (round == pulls + 1) {
        step_publish(&s, 2);
        step_wait(&s, EVERYBODY, 2);
    }
    return s.n;
}
const struct plan_algorithm coll_alg_allgather_pull = {
    .name = "pull", .emit = allgather_pull, .tmp_bytes = allgather_tmp, .kind = PLAN_PULLING};

/* ---- alltoall, equal blocks, not in place
 * ------------------------------------------------------------------------------------------- */
static int64_t alltoall_tmp(const struct plan_args *a)
{
    return packed_bytes(a->size * a->scount, a->st) + packed_bytes(a->rcount, a->rt);
}
static int alltoall_pull(const struct plan_args *a, int round, struct plan_step *steps)
{
    enum { PER_ROUND = PLAN_STEPS / 2 };
    struct plan_steps s = {steps, 0};
    struct plan_ref all = ref_typed(PLAN_IN, 0, a->size * a->scount, a->st), run = ref_run_of(all, 0);
    int pulls = (a->size - 1 + PER_ROUND - 1) / PER_ROUND;
    if (round == 0) {
        if (run.buf == PLAN_TMP) step_copy(&s, all, run);
        step_expose(&s, run);
        step_publish(&s, 1);
        step_copy(&s, send_block(a, a->rank), recv_block(a, a->rank));
        step_wait(&s, EVERYBODY, 1);
    } else if (round <= pulls) {
        for (int r = 1 + (round - 1) * PER_ROUND; r < a->size && r <= round * PER_ROUND; r++) {
            int from = (a->rank + r) % a->size;
            struct plan_ref block = recv_block(a, from), in = ref_run_of(block, packed_bytes(a->size * a->scount, a->st));
            step_pull(&s, from, a->rank * plan_ref_bytes(&block), in);
            if (in.buf == PLAN_TMP) step_copy(&s, in, block);
        }
    } else if (round == pulls + 1) {
        step_publish(&s, 2);
        step_wait(&s, EVERYBODY, 2);
    }
    return s.n;
}
static bool alltoall_regular(const struct plan_args *a) { return !a->in_place && !a->rcounts.v && !a->rts; }
const struct plan_algorithm coll_alg_alltoall_pull = {
    .name = "pull", .emit = alltoall_pull, .tmp_bytes = alltoall_tmp, .kind = PLAN_PULLING, .fits = alltoall_regular};

/* ---- reduce_scatter(_block) ------------------------------------------------------------------------------------------------ */
/* A piece of this member's part is read from all members, beginning with the next one, each into a place of its own.  Then they
 * are reduced from the last member down to the first.  The last member's piece is read to where the result is built: the user's
 * buffer or, if others still read operands there, a copy. */
static int64_t reduce_piece(const struct plan_args *a) /* elements: at least 1, at most the whole part */
{
    int64_t most = (a->params.piece_bytes ? a->params.piece_bytes : 128 << 10) / gw_max64(a->rt->size, 1);
    return gw_max64(gw_min64(most, operand_part(a, a->rank).count), 1);
}
static int64_t reduce_scatter_tmp(const struct plan_args *a)
{
    int64_t part = operand_part(a, a->rank).count;
    return (a->size * reduce_piece(a) + (a->in_place ? part : 0)) * a->rt->size;
}
/* Step i of 2 p - 1 for the piece [at, at + n) of this member's part: p reads, then p - 1 reductions. */
static void piece_step(struct plan_steps *s, const struct plan_args *a, int i, int64_t at, int64_t n)
{
    struct plan_ref own = operand_part(a, a->rank), mine = own;
    int64_t size = a->rt->size, place = reduce_piece(a) * size;
    struct plan_ref result = ref_typed(PLAN_OUT, at * size, n, a->rt);
    int last = a->size - 1, from = (a->rank + 1 + i) % a->size, next = 2 * last - i;
    assert(i >= 0 && i <= 2 * last && n > 0 && n <= reduce_piece(a));
    if (a->in_place) result.buf = PLAN_TMP, result.off += a->size * place;
    mine.off += at * size, mine.count = n;
    if (i < last)
        step_pull(s, from, mine.off,
                  from == last ? ref_raw(result.buf, result.off, n * size) : ref_raw(PLAN_TMP, from * place, n * size));
    else if (i > last)
        step_reduce(s, next == a->rank ? mine : ref_typed(PLAN_TMP, next * place, n, a->rt), result);
    else if (a->rank == last)
        step_copy(s, mine, result);
}
static int reduce_scatter_pull(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    struct plan_ref own = operand_part(a, a->rank);
    int64_t piece = reduce_piece(a), pieces = (own.count + piece - 1) / piece;
    int per_piece = 2 * a->size - 1, rounds = (per_piece + PLAN_STEPS - 1) / PLAN_STEPS;
    int64_t k = (round - 1) / rounds;
    if (round == 0) {
        struct plan_ref last = operand_part(a, a->size - 1);
        step_expose(&s, ref_raw(own.buf, 0, last.off + plan_ref_bytes(&last)));
        step_publish(&s, 1);
        step_wait(&s, EVERYBODY, 1);
    } else if (k < pieces) {
        int first = (round - 1) % rounds * PLAN_STEPS;
        for (int i = first; i < per_piece && i < first + PLAN_STEPS; i++)
            piece_step(&s, a, i, k * piece, gw_min64(piece, own.count - k * piece));
        if (s.n == 0) step_nothing(&s);
    } else if (round == pieces * rounds + 1) {
        step_publish(&s, 2);
        step_wait(&s, EVERYBODY, 2);
        struct plan_ref results = ref_typed(PLAN_TMP, a->size * piece * a->rt->size, own.count, a->rt);
        if (a->in_place) step_copy(&s, results, ref_typed(PLAN_OUT, 0, own.count, a->rt));
    }
    return s.n;
}
const struct plan_algorithm coll_alg_reduce_scatter_pull = {.name = "pull",
                                                            .emit = reduce_scatter_pull,
                                                            .tmp_bytes = reduce_scatter_tmp,
                                                            .kind = PLAN_PULLING,
                                                            .fits = op_dense,
                                                            .takes = PLAN_TAKES_PIECE};
