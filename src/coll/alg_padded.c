/* alg_padded.c -- alltoall of short blocks by doubling (Bruck); alltoall(v, w) as an alltoall of equal blocks.
 *
 * In the vector forms a member knows only what it sends and receives itself.  So all members first agree on the longest block and
 * on the most messages that any of them would send or receive.  Where that pays, each block is padded to the longest one, and an
 * algorithm for equal blocks takes them: over nodes, or by doubling.  A member's block for itself takes no part.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/hier.h"

static int rounds_of(int64_t steps) { return (int)((steps + PLAN_STEPS - 1) / PLAN_STEPS); }

/* ---- alltoall by doubling ---------------------------------------------------------------------------------------------------- */
/* The temporary has the blocks by how far behind this member their destination is.  In exchange k those with bit k of the distance
 * go 2^k members on; the runs of blocks that have it are packed, and what comes in takes their places. */
static int64_t bruck_half(const struct plan_args *a) { return a->size / 2 * a->rcount * a->rt->size; }
static int64_t bruck_bytes(const struct plan_args *a) { return a->size * a->rcount * a->rt->size + 2 * bruck_half(a); }
static int runs_with(const struct plan_args *a, int bit) { return (a->size - bit + 2 * bit - 1) / (2 * bit); }
static int64_t blocks_with(const struct plan_args *a, int bit)
{
    int last = bit + (runs_with(a, bit) - 1) * 2 * bit;
    return (int64_t)(runs_with(a, bit) - 1) * bit + gw_min64(bit, a->size - last);
}
/* Copies runs between their places and the packed ones, at offset `at`. */
static void copy_runs(struct plan_steps *s, const struct plan_args *a, int bit, int round, int64_t at, bool pack)
{
    int64_t block = a->rcount * a->rt->size;
    for (int i = round * PLAN_STEPS; i < runs_with(a, bit) && s->n < PLAN_STEPS; i++) {
        int first = bit + i * 2 * bit;
        int64_t len = gw_min64(bit, a->size - first) * block;
        struct plan_ref run = ref_raw(PLAN_TMP, first * block, len), packed = ref_raw(PLAN_TMP, at + (int64_t)i * bit * block, len);
        pack ? step_copy(s, run, packed) : step_copy(s, packed, run);
    }
}
static int alltoall_bruck(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int p = a->size, turns = rounds_of(p);
    int64_t block = a->rcount * a->rt->size, out = p * block, in = out + bruck_half(a);
    if (round < turns) {
        for (int i = round * PLAN_STEPS; i < p && s.n < PLAN_STEPS; i++)
            step_copy(&s, send_block(a, (a->rank + i) % p), ref_raw(PLAN_TMP, i * block, block));
        return s.n;
    }
    round -= turns;
    for (int bit = 1; bit < p; bit *= 2) {
        int packs = rounds_of(runs_with(a, bit)), all = 2 * packs + 1;
        if (round >= all) {
            round -= all;
            continue;
        }
        if (round == packs) {
            step_recv(&s, (a->rank - bit + p) % p, ref_raw(PLAN_TMP, in, blocks_with(a, bit) * block));
            step_send(&s, (a->rank + bit) % p, ref_raw(PLAN_TMP, out, blocks_with(a, bit) * block));
        } else {
            copy_runs(&s, a, bit, round % (packs + 1), round < packs ? out : in, round < packs);
        }
        return s.n;
    }
    for (int i = round * PLAN_STEPS; i < p && s.n < PLAN_STEPS; i++)
        step_copy(&s, ref_raw(PLAN_TMP, i * block, block), recv_block(a, (a->rank - i + p) % p));
    return s.n;
}
static bool equal_blocks(const struct plan_args *a) { return !a->in_place && !a->rcounts.v && !a->rts; }
const struct plan_algorithm coll_alg_alltoall_bruck = {
    .name = "bruck", .emit = alltoall_bruck, .tmp_bytes = bruck_bytes, .kind = PLAN_P2P, .fits = equal_blocks};

/* ---- what members agree on --------------------------------------------------------------------------------------------------- */
struct agreed {
    int64_t longest, messages; /* of any member: a block's bytes; messages sent or received */
    const struct plan_algorithm *chosen;
};
enum { AGREED_BYTES = (sizeof(struct agreed) + GW_CACHELINE - 1) & ~(GW_CACHELINE - 1), WORDS = 2 };
_Static_assert(offsetof(struct agreed, messages) == 8, "two words that are reduced together");

static void look_at_blocks(const struct plan_args *a, struct agreed *r)
{
    int64_t sent = 0, received = 0;
    *r = (struct agreed){.longest = 0};
    for (int i = 0; i < a->size; i++) {
        struct plan_ref out = send_block(a, i), in = recv_block(a, i);
        if (i == a->rank) continue;
        sent += plan_ref_bytes(&out) > 0, received += plan_ref_bytes(&in) > 0;
        r->longest = gw_max64(r->longest, gw_max64(plan_ref_bytes(&out), plan_ref_bytes(&in)));
    }
    r->messages = gw_max64(sent, received);
}
/* The larger one of each word, by dissemination: it does not matter that a word comes twice.  All members are through at the same
 * time, as the exchanges that follow need it: one that is late in pairs holds up all others. */
static int64_t words_bytes(const struct plan_args *a)
{
    (void)a;
    return WORDS * (int64_t)sizeof(int64_t);
}
static int agree(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    struct plan_ref mine = ref_typed(PLAN_OUT, 0, WORDS, gw_type_int64), other = ref_typed(PLAN_TMP, 0, WORDS, gw_type_int64);
    int distance = 1 << round;
    if (round > 0 && distance / 2 < a->size) step_reduce(&s, other, mine);
    if (distance >= a->size) return s.n;
    step_recv(&s, (a->rank - distance + a->size) % a->size, other);
    step_send(&s, (a->rank + distance) % a->size, mine);
    return s.n;
}
static const struct plan_algorithm alg_agree = {.name = "agree", .emit = agree, .tmp_bytes = words_bytes, .kind = PLAN_P2P};
static void stage_agree(const struct plan_args *a, struct agreed *r, struct plan_stage *s)
{
    look_at_blocks(a, r);
    s->alg = &alg_agree;
    s->args.op = gw_op_max;
    s->out = place_at(PLAN_TMP, offsetof(struct agreed, longest));
    s->tmp = AGREED_BYTES;
}

/* ---- padded blocks ----------------------------------------------------------------------------------------------------------- */
/* In front of each block goes its length, which the receiver compares with what it expects. */
static struct plan_ref padded_at(const struct plan_args *a, int i)
{
    return ref_raw(PLAN_TMP, i * a->params.block_bytes, a->params.block_bytes);
}
static int pack_padded(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    for (int i = round * PLAN_STEPS; i < a->size && i < (round + 1) * PLAN_STEPS; i++)
        if (i != a->rank) step_label(&s, send_block(a, i), padded_at(a, i));
    if (s.n == 0 && round * PLAN_STEPS < a->size) step_nothing(&s);
    return s.n;
}
static int unpack_padded(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    for (int i = round * PLAN_STEPS; i < a->size && i < (round + 1) * PLAN_STEPS; i++) {
        struct plan_ref block = recv_block(a, i);
        if (i != a->rank)
            step_unlabel(&s, i, padded_at(a, i), block);
        else if (!a->in_place)
            step_copy(&s, send_block(a, i), block);
    }
    if (s.n == 0 && round * PLAN_STEPS < a->size) step_nothing(&s);
    return s.n;
}
static int64_t two_areas(const struct plan_args *a) { return 2 * lines(a->size * a->params.block_bytes); }
static const struct plan_algorithm alg_pack_padded = {
    .name = "pack", .emit = pack_padded, .tmp_bytes = two_areas, .kind = PLAN_P2P};
static const struct plan_algorithm alg_unpack_padded = {.name = "unpack", .emit = unpack_padded, .kind = PLAN_P2P};

static int64_t padded_bytes(const struct agreed *r) { return PLAN_LABEL_BYTES + r->longest; }
/* The arguments for equal blocks, of the longest one's bytes and the label's. */
static struct plan_args padded_args(const struct plan_args *a, const struct agreed *r)
{
    struct plan_args p = *a;
    p.scounts.v = p.sdispls.v = p.rcounts.v = p.rdispls.v = NULL;
    p.sts = p.rts = NULL;
    p.st = p.rt = gw_type_byte;
    p.scount = p.rcount = padded_bytes(r);
    p.in_place = false;
    p.params = (struct plan_params){0};
    return p;
}
static const struct plan_algorithm *inner_of(const struct plan_algorithm *padded)
{
    return padded == &coll_alg_alltoall_padded_columns ? &coll_alg_alltoall_columns
        : padded == &coll_alg_alltoall_padded_bruck    ? &coll_alg_alltoall_bruck
                                                       : NULL;
}
/* Is the memory that padding needs within bounds? */
static bool padding_fits(const struct plan_args *a, const struct agreed *r, const struct plan_algorithm *padded)
{
    enum { MOST = 64 << 20 };
    struct plan_args p = padded_args(a, r);
    const struct plan_algorithm *inner = inner_of(padded);
    return r->longest <= MOST / a->size - PLAN_LABEL_BYTES && inner->fits(&p);
}

/* The temporary: struct agreed; that of the algorithm for equal blocks; the blocks to send and those to receive, packed; those of
 * stages. */
struct layout {
    int64_t inner_end, out, in, end;
};
static struct layout layout_of(const struct plan_algorithm *inner, const struct plan_args *p)
{
    struct layout l = {.inner_end = AGREED_BYTES + (inner->stages ? lines(inner->tmp_bytes(p)) : 0)};
    l.out = l.inner_end;
    l.in = l.out + lines(p->size * p->rcount);
    l.end = l.in + lines(p->size * p->rcount);
    return l;
}
static void relocate(struct plan_place *place, const struct layout *l)
{
    place->off += place->buf == PLAN_TMP ? AGREED_BYTES : place->buf == PLAN_IN ? l->out : l->in;
    place->buf = PLAN_TMP;
}
/* Stage i of the algorithm for equal blocks. */
static bool inner_stage(const struct plan_algorithm *inner, const struct plan_args *p, int i, bool leaves, char *tmp,
                        struct plan_stage *s)
{
    struct layout l = layout_of(inner, p);
    s->args = *p;
    s->in = place_at(PLAN_IN, 0), s->out = place_at(PLAN_OUT, 0), s->tmp = l.end;
    if (!inner->stages) s->alg = inner;
    if (inner->stages ? !inner->stages(p, i, leaves, tmp + AGREED_BYTES, s) : i > 0) return false;
    relocate(&s->in, &l), relocate(&s->out, &l);
    if (inner->stages) s->tmp = s->tmp < inner->tmp_bytes(p) ? AGREED_BYTES + s->tmp : l.end;
    return true;
}

/* Stage i of those behind the agreement. */
static bool padded_stage(const struct plan_algorithm *padded, const struct plan_args *a, int i, bool leaves, char *tmp,
                         struct plan_stage *s)
{
    const struct agreed *r = (const struct agreed *)tmp;
    const struct plan_algorithm *inner = inner_of(padded);
    struct plan_args p = padded_args(a, r);
    struct layout l = layout_of(inner, &p);
    struct plan_stage whole = *s, last = *s;
    s->args.params.block_bytes = padded_bytes(r);
    if (i == 0) {
        s->alg = &alg_pack_padded;
        s->tmp = l.out;
        return true;
    }
    if (inner_stage(inner, &p, i - 1, leaves, tmp, s)) return true;
    *s = whole;
    s->args.params.block_bytes = padded_bytes(r);
    s->alg = &alg_unpack_padded;
    s->tmp = l.in;
    return inner_stage(inner, &p, i - 2, leaves, tmp, &last);
}

/* ---- the vector forms: chosen by what members agree on ------------------------------------------------------------------------ */
static const struct plan_algorithm *choose(const struct plan_args *a, const struct agreed *r, const struct plan_algorithm *padded)
{
    const struct plan_algorithm *whole = a->in_place ? &coll_alg_alltoall_in_place : &coll_alg_alltoall_pairwise;
    if (r->messages == 0) return whole;
    if (!padded) { /* by the bytes that padding sends for each message that it saves */
        struct plan_args b = *a;
        int64_t others = a->size - 1;
        padded = r->longest > INT64_MAX / 2 / others ? whole
                                                     : coll_pick_agreed((r->longest * others + r->messages - 1) / r->messages, &b);
    }
    return inner_of(padded) && !padding_fits(a, r, padded) ? whole : padded;
}

/* padded: what is to be done; NULL: what the tables say. */
static bool agreed_stages(const struct plan_args *a, int i, bool leaves, char *tmp, const struct plan_algorithm *padded,
                          struct plan_stage *s)
{
    struct agreed *r = (struct agreed *)tmp;
    if (i == 0) {
        stage_agree(a, r, s);
        return true;
    }
    if (!r->chosen) {
        r->chosen = choose(a, r, padded);
        if (!padded) coll_note_agreed(r->chosen, a->size, r->longest, r->messages);
    }
    if (inner_of(r->chosen)) return padded_stage(r->chosen, a, i - 1, leaves, tmp, s);
    s->alg = r->chosen;
    coll_parameter(COLL_ALLTOALLV, s->alg, true, &s->args);
    s->tmp = AGREED_BYTES;
    return i == 1;
}
static int64_t agreed_bytes(const struct plan_args *a) { return AGREED_BYTES + (a->nodes ? lists(a) : 0); }
static bool over_nodes_of_one_size(const struct plan_args *a) { return over_nodes(a) && a->nodes->fewest == a->nodes->most; }
static bool padded_columns_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    return agreed_stages(a, i, leaves, tmp, &coll_alg_alltoall_padded_columns, s);
}
static bool padded_bruck_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    return agreed_stages(a, i, leaves, tmp, &coll_alg_alltoall_padded_bruck, s);
}
static bool ruled_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    return agreed_stages(a, i, leaves, tmp, NULL, s);
}
const struct plan_algorithm coll_alg_alltoall_padded_columns = {.name = "padded_columns",
                                                                .tmp_bytes = agreed_bytes,
                                                                .kind = PLAN_P2P,
                                                                .fits = over_nodes_of_one_size,
                                                                .stages = padded_columns_stages};
const struct plan_algorithm coll_alg_alltoall_padded_bruck = {
    .name = "padded_bruck", .tmp_bytes = agreed_bytes, .kind = PLAN_P2P, .stages = padded_bruck_stages};
const struct plan_algorithm coll_alg_alltoall_ruled = {
    .name = "ruled", .tmp_bytes = agreed_bytes, .kind = PLAN_P2P, .stages = ruled_stages};
