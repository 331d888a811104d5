/* inter_test.c -- the algorithms between two groups, all ranks of both in one process, in random order and without buffering.
 *
 * Each member runs the same random sequence of collectives; what it has afterwards is compared with what the groups put in.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/check_sim.h"

#include <stdio.h>

#include "../../test/unit.h"

enum { MAX = 40, SEQUENCE = 12 };
struct job {
    enum coll_kind kind;
    int n, side, root;
    uint32_t salt;
};
struct member {
    struct sim_member *m;
    int side, rank, group, other; /* group: members of mine */
    uint64_t *in, *out, *want;
    int64_t n_out;
};
static struct member who[2 * MAX];
static struct gw_op *op_compose;

static uint64_t state = 88172645463325252u;
static unsigned below(unsigned n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state >> 33) % n;
}

/* What rank `from` of a side has for rank `to` of the other at i. */
static uint64_t value(const struct job *j, int side, int from, int to, int64_t i)
{
    uint64_t a = (uint64_t)(from * 977 + i * 2 + 1 + side * 4), b = (uint64_t)(to * 7919 + i * 31 + from * 3) + j->salt;
    return a << 32 | (uint32_t)b;
}
/* The maps x -> a x + b, a above and b below: composed, which does not commute. */
static uint64_t compose(uint64_t f, uint64_t g)
{
    uint32_t fa = (uint32_t)(f >> 32), fb = (uint32_t)f, ga = (uint32_t)(g >> 32), gb = (uint32_t)g;
    return (uint64_t)(fa * ga) << 32 | (uint32_t)(fa * gb + fb);
}
static void user_op(const struct gw_callback *cb, void *in, void *inout, int64_t count, struct gw_type *t)
{
    (void)cb, (void)t;
    for (int64_t i = 0; i < count; i++) ((uint64_t *)inout)[i] = compose(((uint64_t *)in)[i], ((uint64_t *)inout)[i]);
}
static uint64_t folded(const struct job *j, int side, int members, int64_t i)
{
    uint64_t x = value(j, side, 0, 0, i);
    for (int r = 1; r < members; r++) x = compose(x, value(j, side, r, 0, i));
    return x;
}

/* Elements that rank i of a side gives to rank k of the other in an alltoall; one direction has less. */
static int amount(const struct job *j, int side, int i, int k) { return (i + 2 * k) % 3 * (side ? j->n : j->n / 2); }
/* Part i of the result of a reduce_scatter in a group of n: the last takes what is left. */
static int part(const struct job *j, int whole, int n, int i)
{
    int each = whole / n;
    return j->salt % 2 ? each : i == n - 1 ? whole - (n - 1) / 2 * each : i % 2 ? each : 0;
}

static struct plan_args args_of(const struct job *j, const struct member *w)
{
    struct plan_args a = {.rank = w->rank, .size = w->group, .remote = w->other, .rcount = j->n, .rt = gw_type_int64};
    a.root = w->side != j->side ? j->root : w->rank == j->root ? GW_ROOT : GW_PROC_NULL;
    a.scount = j->n, a.st = gw_type_int64, a.op = op_compose;
    return a;
}
static void room(struct member *w, int64_t n_in, int64_t n_out)
{
    w->n_out = n_out;
    w->in = calloc((size_t)n_in + 1, 8);
    w->out = calloc((size_t)n_out + 1, 8);
    w->want = calloc((size_t)n_out + 1, 8);
}

static void rooted(const struct job *j, struct member *w)
{
    bool is_root = w->side == j->side && w->rank == j->root, takes_part = w->side != j->side || is_root;
    int n = takes_part ? j->n : 0, others = w->other;
    bool many_in = j->kind == COLL_SCATTER && is_root, many_out = j->kind == COLL_GATHER && is_root;
    room(w, many_in ? n * others : n, many_out ? n * others : n);
    for (int i = 0; i < n; i++) {
        if (j->kind == COLL_BCAST && is_root) w->out[i] = w->want[i] = value(j, j->side, 0, 0, i);
        if (j->kind == COLL_BCAST && !is_root) w->want[i] = value(j, j->side, 0, 0, i);
        if (j->kind == COLL_REDUCE && is_root) w->want[i] = folded(j, !j->side, others, i);
        if ((j->kind == COLL_REDUCE || j->kind == COLL_GATHER) && !is_root) w->in[i] = value(j, w->side, w->rank, 0, i);
        if (j->kind == COLL_SCATTER && !is_root) w->want[i] = value(j, j->side, 0, w->rank, i);
        for (int k = 0; k < others; k++) {
            if (many_in) w->in[k * n + i] = value(j, j->side, 0, k, i);
            if (many_out) w->want[k * n + i] = value(j, !j->side, k, 0, i);
        }
    }
}

static void unrooted(const struct job *j, struct member *w, struct plan_args *a)
{
    static int counts[4][2 * MAX][MAX];
    int me = (int)(w - who), *sc = counts[0][me], *sd = counts[1][me], *rc = counts[2][me], *rd = counts[3][me], sends = 0,
        recvs = 0;
    if (j->kind == COLL_ALLREDUCE || j->kind == COLL_REDUCE_SCATTER) {
        int whole = j->n * w->group * w->other, first = 0, mine = j->n;
        if (j->kind == COLL_REDUCE_SCATTER) {
            for (int i = 0; i < w->group; i++) sc[i] = part(j, whole, w->group, i);
            for (int i = 0; i < w->rank; i++) first += sc[i];
            mine = sc[w->rank];
            a->rcounts = (struct gw_counts){j->salt % 2 ? NULL : sc, false};
            a->scount = mine;
            a->rcount = whole;
        }
        room(w, a->rcount, mine);
        for (int64_t i = 0; i < a->rcount; i++) w->in[i] = value(j, w->side, w->rank, 0, i);
        for (int i = 0; i < mine; i++) w->want[i] = folded(j, !w->side, w->other, first + i);
        return;
    }
    bool same = j->kind == COLL_ALLGATHER;
    for (int i = w->other - 1; i >= 0; i--) { /* blocks in reverse, with holes */
        sc[i] = amount(j, w->side, w->rank, same ? 0 : i), rc[i] = amount(j, !w->side, i, same ? 0 : w->rank);
        sd[i] = same ? 0 : sends, rd[i] = recvs;
        sends += sc[i] + 1, recvs += rc[i] + 1;
    }
    room(w, sends, recvs);
    for (int k = 0; k < w->other; k++) {
        for (int i = 0; i < sc[k]; i++) w->in[sd[k] + i] = value(j, w->side, w->rank, same ? 0 : k, i);
        for (int i = 0; i < rc[k]; i++) w->want[rd[k] + i] = value(j, !w->side, k, same ? 0 : w->rank, i);
    }
    a->scount = sc[0];
    a->scounts = (struct gw_counts){sc, false}, a->sdispls = (struct gw_counts){sd, false};
    a->rcounts = (struct gw_counts){rc, false}, a->rdispls = (struct gw_counts){rd, false};
}

static void begin(const struct job *j, struct member *w)
{
    uint64_t n = w->m->a.n;
    struct plan_args a = args_of(j, w);
    if (j->kind == COLL_BARRIER)
        room(w, 0, 0), a.rcount = 0;
    else if (j->kind == COLL_BCAST || j->kind == COLL_REDUCE || j->kind == COLL_GATHER || j->kind == COLL_SCATTER)
        rooted(j, w);
    else
        unrooted(j, w, &a);
    a.tmp_span = (a.rcount * 8 + 63) & ~63;
    a.n = n;
    w->m->a = a;
    w->m->in = (char *)w->in, w->m->out = (char *)w->out;
    int64_t tmp = w->m->alg->tmp_bytes ? w->m->alg->tmp_bytes(&a) : 0;
    w->m->tmp = malloc((size_t)tmp + 1);
}

static void end(const struct job *j, struct member *w)
{
    if (memcmp(w->out, w->want, (size_t)w->n_out * 8) != 0) {
        fprintf(stderr, "kind %d, n %d, root %d of side %d, groups of %d and %d: rank %d of side %d has the wrong data\n", j->kind,
                j->n, j->root, j->side, w->group, w->other, w->rank, w->side);
        unit_failures++;
    }
    free(w->in), free(w->out), free(w->want), free(w->m->tmp);
    w->m->alg = NULL;
    w->m->job++;
}

static bool turn(struct sim *s, struct member *w, const struct job *jobs)
{
    bool over;
    if (w->m->job == SEQUENCE) return false;
    const struct job *j = &jobs[w->m->job];
    if (!w->m->alg) {
        sim_enter(s, w->m, coll_inter_algorithms[j->kind]);
        begin(j, w);
        return true;
    }
    bool moved = sim_step(s, w->m, &over);
    if (over) end(j, w);
    return moved;
}

static void groups(int left, int right)
{
    static const int counts[] = {0, 1, 7, 60};
    static const enum coll_kind kinds[] = {COLL_BARRIER,   COLL_BCAST,     COLL_REDUCE,    COLL_GATHER,        COLL_SCATTER,
                                           COLL_ALLGATHER, COLL_ALLTOALLV, COLL_ALLREDUCE, COLL_REDUCE_SCATTER};
    struct sim s = {.size = left + right, .left = left, .scratch_bytes = 8 << 20};
    struct job jobs[SEQUENCE];
    int p = left + right;
    s.members = calloc((size_t)p, sizeof *s.members);
    s.scratch = malloc((size_t)s.scratch_bytes);
    for (int i = 0; i < SEQUENCE; i++) {
        struct job *j = &jobs[i];
        *j = (struct job){kinds[below(9)], counts[below(4)], (int)below(2), 0, below(1000)};
        j->root = (int)below((unsigned)(j->side ? right : left));
    }
    for (int i = 0; i < p; i++)
        who[i] = (struct member){.m = &s.members[i],
                                 .side = i >= left,
                                 .rank = i < left ? i : i - left,
                                 .group = i < left ? left : right,
                                 .other = i < left ? right : left};
    for (bool any = true; any && !s.error;) {
        any = false;
        for (int k = 0, first = (int)below((unsigned)p); k < p; k++)
            for (int turns = 1 + (int)below(6); turns > 0 && turn(&s, &who[(first + k) % p], jobs); turns--) any = true;
    }
    for (int i = 0; i < p; i++) {
        const struct sim_member *m = &s.members[i];
        if (m->job == SEQUENCE && !s.error) continue;
        fprintf(stderr, "kind %d between %d and %d: %s; member %d is in round %d\n", jobs[m->job % SEQUENCE].kind, left, right,
                s.error ? s.error : "nobody can go on", i, m->round);
        unit_failures++;
        break;
    }
    free(s.members);
    free(s.scratch);
}

int main(void)
{
    static const int sizes[] = {1, 2, 3, 4, 5, 8, 9, 17, 33};
    enum { N = sizeof sizes / sizeof sizes[0], TIMES = 12 };
    CHECK_EQ(type_init(), GW_OK);
    CHECK_EQ(op_init(), GW_OK);
    op_upcalls.call_user = user_op;
    CHECK_EQ(op_create((void (*)(void))groups, 0, false, &op_compose), GW_OK);
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++)
            for (int k = 0; k < TIMES; k++) groups(sizes[a], sizes[b]);
    CHECK(!coll_inter_algorithms[COLL_SCAN] && !coll_inter_algorithms[COLL_EXSCAN]);
    op_free(&op_compose);
    op_finalize();
    type_finalize();
    gw_obj_finalize();
    return unit_end();
}
