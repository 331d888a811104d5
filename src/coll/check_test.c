/* check_test.c -- the checker: every collective algorithm, up to 130 ranks in this one process, on real data.
 *
 * A case is one algorithm with a size, a root, layouts and forms; all cases that an algorithm accepts are run, in sequences in
 * which the ranks drift apart.  Each rank's buffers must end as computed here, every byte of them.  Algorithms over nodes run on
 * ranks that are spread over nodes of all shapes, with and without leaves on each of them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/check_sim.h"
#include "base/settings.h"

#include <stdio.h>

#include "../../test/unit.h"

#define NOTHING(kind, name)
#define ONE(kind, name) &coll_alg_##name,
static const struct plan_algorithm *const all_algorithms[] = {ALGORITHMS(ONE, NOTHING)};
#define NAME(kind, name) #name,
static const char *const names[] = {ALGORITHMS(NAME, NOTHING)};
enum { N_ALGORITHMS = sizeof all_algorithms / sizeof all_algorithms[0] };

static enum coll_kind kind_of(const char *name)
{
    static const struct {
        const char *prefix;
        enum coll_kind kind;
    } kinds[] = {{"barrier", COLL_BARRIER},
                 {"bcast", COLL_BCAST},
                 {"gather", COLL_GATHER},
                 {"scatter", COLL_SCATTER},
                 {"allgather", COLL_ALLGATHER},
                 {"alltoall", COLL_ALLTOALL},
                 {"reduce_scatter", COLL_REDUCE_SCATTER},
                 {"reduce", COLL_REDUCE},
                 {"allreduce", COLL_ALLREDUCE},
                 {"scan", COLL_SCAN},
                 {"exscan", COLL_EXSCAN}};
    size_t i = 0;
    while (strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)) != 0) i++;
    return kinds[i].kind;
}

static uint64_t state = 88172645463325252u;
static unsigned below(unsigned n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state >> 33) % n;
}

/* ---- cases -------------------------------------------------------------------------------------------------------------------- */
struct job {
    int alg, n, root;
    uint32_t salt;
    int64_t param;
    bool in_place, gaps, uneven;
    bool sums; /* a leaf takes a sum of any order */
};
static struct gw_type *gapped, *gapped_double; /* 8 bytes of data, 8 behind the begin of 24 */
static struct gw_op *op_add, *op_compose;
static int p;
enum { MOST_NODES = 12 };
static int node_of_rank[256], n_nodes; /* 0: nobody knows of nodes */
static struct plan_nodes *nodes[256];  /* as each member sees them */
static bool node_leaves[256];

struct image {
    char *is, *want;
    int64_t bytes;
};
static struct image *ins, *outs; /* of each member */

/* Sums of any order are of doubles, here of integers, so that the right bits are known. */
static bool exact[N_ALGORITHMS];
static void find_exact(void)
{
    for (int k = 0; k < N_ALGORITHMS; k++) exact[k] = strstr(names[k], "_exact") != NULL;
}
static bool is_exact(const struct job *j) { return exact[j->alg] || j->sums; }
static bool may_sum(int alg)
{
    enum coll_kind kind = kind_of(names[alg]);
    int form = all_algorithms[alg]->kind & PLAN_KIND;
    return (form == PLAN_NARROW || form == PLAN_WIDE) && kind >= COLL_REDUCE && kind <= COLL_REDUCE_SCATTER;
}
static struct gw_type *type_of(const struct job *j)
{
    if (is_exact(j)) return j->gaps ? gapped_double : type_of_basic(GW_ELEM_F64);
    return j->gaps ? gapped : gw_type_int64;
}
static int64_t at(const struct job *j, int64_t i) { return j->gaps ? i * 24 + 8 : i * 8; }

static uint64_t bits_of(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, 8);
    return bits;
}
static double double_of(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, 8);
    return d;
}
static uint64_t value(const struct job *j, int from, int to, int64_t i)
{
    if (is_exact(j)) return bits_of((double)((from * 977 + i * 31 + j->salt) % 4001 - 1999));
    return ((uint64_t)from * 977 + (uint64_t)i * 2 + 1) << 32 |
        ((uint32_t)to * 7919u + (uint32_t)i * 31u + (uint32_t)from * 3u + j->salt);
}
/* The maps x -> a x + b, a above and b below: joining composes them. */
static uint64_t compose(uint64_t f, uint64_t g)
{
    uint32_t fa = (uint32_t)(f >> 32), fb = (uint32_t)f, ga = (uint32_t)(g >> 32), gb = (uint32_t)g;
    return (uint64_t)(fa * ga) << 32 | (uint32_t)(fa * gb + fb);
}
static uint64_t join(const struct job *j, uint64_t f, uint64_t g)
{
    if (is_exact(j)) return bits_of(double_of(f) + double_of(g));
    return j->uneven ? f + g : compose(f, g);
}
static void user_op(const struct gw_callback *cb, void *in, void *inout, int64_t count, struct gw_type *t)
{
    for (int64_t i = 0; i < count; i++) {
        char *l = (char *)in + i * t->extent + t->true_lb, *r = (char *)inout + i * t->extent + t->true_lb;
        uint64_t f, g;
        memcpy(&f, l, 8), memcpy(&g, r, 8);
        f = cb == &op_add->user ? f + g : compose(f, g);
        memcpy(r, &f, 8);
    }
}
static uint64_t folded(const struct job *j, int first, int last, int64_t i)
{
    uint64_t x = value(j, first, 0, i);
    for (int r = first + 1; r <= last; r++) x = join(j, x, value(j, r, 0, i));
    return x;
}

static void image_new(struct image *m, const struct job *j, int64_t elements)
{
    m->bytes = elements * (j->gaps ? 24 : 8);
    m->is = malloc((size_t)m->bytes + 1);
    m->want = malloc((size_t)m->bytes + 1);
    memset(m->is, 0xa5, (size_t)m->bytes);
    memset(m->want, 0xa5, (size_t)m->bytes);
}
static void want(struct image *m, const struct job *j, int64_t i, uint64_t v) { memcpy(m->want + at(j, i), &v, 8); }
static void put(struct image *m, const struct job *j, int64_t i, uint64_t v)
{
    memcpy(m->is + at(j, i), &v, 8);
    want(m, j, i, v);
}

/* Blocks of the exchanges: counts and places, in order without holes where even, else in order or in reverse, with holes or without. */
struct blocks {
    int counts[256], displs[256];
    int64_t elements;
};
static int amount(const struct job *j, int from, int to)
{
    if (!j->uneven) return j->n;
    if (j->in_place && from > to) return amount(j, to, from);
    return (from * 3 + to * 5) % 4 * j->n / 2;
}
static struct blocks blocks_of(const struct job *j, int me, bool sending)
{
    struct blocks b = {.elements = 0};
    enum coll_kind kind = kind_of(names[j->alg]);
    bool in_order = !j->uneven || j->salt & 1, has_holes = j->uneven && j->salt & 2;
    for (int k = 0; k < p; k++) {
        int i = in_order ? k : p - 1 - k, other = kind == COLL_ALLGATHER ? 0 : me;
        b.counts[i] = sending ? amount(j, me, i) : amount(j, i, other);
        b.displs[i] = (int)b.elements;
        b.elements += b.counts[i] + (has_holes ? i % 3 : 0);
    }
    return b;
}
static struct blocks send_places[256], recv_places[256]; /* kept while a case runs: the arguments point to them */

/* ---- what each collective begins and ends with ------------------------------------------------------------------------------------ */
static void exchange(const struct job *j, struct plan_args *a, enum coll_kind kind)
{
    int me = a->rank;
    struct image *in = &ins[me], *out = &outs[me];
    struct blocks *s = &send_places[me], *r = &recv_places[me];
    bool gathers = kind == COLL_GATHER || kind == COLL_ALLGATHER,
         takes_all = kind != COLL_SCATTER && (kind != COLL_GATHER || me == j->root);
    bool gives_all = kind == COLL_ALLTOALL || (kind == COLL_SCATTER && me == j->root);
    int to = kind == COLL_GATHER ? j->root : 0;
    *s = blocks_of(j, me, true), *r = blocks_of(j, me, false);
    a->st = a->rt = type_of(j);
    a->scount = gathers ? amount(j, me, to) : j->n;
    a->rcount = kind == COLL_SCATTER ? amount(j, j->root, me) : j->n;
    if (j->uneven && gives_all) a->scounts.v = s->counts, a->sdispls.v = s->displs;
    if (j->uneven && takes_all) a->rcounts.v = r->counts, a->rdispls.v = r->displs, a->rcount = 0;
    image_new(in, j, gives_all ? s->elements : a->scount);
    image_new(out, j, takes_all ? r->elements : a->rcount);
    for (int64_t i = 0; gathers && i < a->scount; i++) put(in, j, i, value(j, me, 0, i));
    for (int k = 0; gives_all && k < p; k++)
        for (int i = 0; i < s->counts[k]; i++) put(in, j, s->displs[k] + i, value(j, me, k, i));
    for (int k = 0; takes_all && k < p; k++)
        for (int i = 0; i < r->counts[k]; i++) {
            if (a->in_place && kind == COLL_ALLTOALL) memcpy(out->is + at(j, r->displs[k] + i), &(uint64_t){value(j, me, k, i)}, 8);
            if (a->in_place && gathers && k == me) put(out, j, r->displs[k] + i, value(j, me, 0, i));
            want(out, j, r->displs[k] + i, value(j, k, gathers ? 0 : me, i));
        }
    for (int64_t i = 0; kind == COLL_SCATTER && !a->in_place && i < a->rcount; i++) want(out, j, i, value(j, j->root, me, i));
    if (a->in_place && kind == COLL_ALLTOALL) a->scount = a->rcount, a->scounts = a->rcounts, a->sdispls = a->rdispls;
}

static void spans(struct plan_args *a)
{
    int64_t reach = gw_max64(a->rcount - 1, 0) * a->rt->extent;
    a->tmp_span = (a->rt->true_extent + reach + GW_CACHELINE - 1) & ~(int64_t)(GW_CACHELINE - 1);
    a->tmp_shift = -a->rt->true_lb;
}
static void reduction(const struct job *j, struct plan_args *a, enum coll_kind kind)
{
    int me = a->rank, last = kind == COLL_SCAN ? me : kind == COLL_EXSCAN ? me - 1 : p - 1;
    struct image *in = &ins[me], *out = &outs[me];
    struct blocks *r = &recv_places[me];
    int64_t n = j->n, first = 0, results = n;
    bool parts = kind == COLL_REDUCE_SCATTER;
    a->op = is_exact(j) ? gw_op_sum : j->uneven ? op_add : op_compose;
    if (parts) {
        n = 0;
        for (int i = 0; i < p; i++) {
            r->counts[i] = j->uneven ? (i + 1) % 3 * j->n : j->n;
            if (i < me) first += r->counts[i];
            n += r->counts[i];
        }
        results = r->counts[me];
        if (j->uneven) a->rcounts.v = r->counts;
    }
    a->rcount = results, a->rt = type_of(j);
    if (j->sums) CHECK(op_exact_of(a->op, a->rt, p, &a->exact));
    spans(a);
    image_new(in, j, n);
    image_new(out, j, a->in_place ? n : results);
    for (int64_t i = 0; i < n; i++) {
        put(in, j, i, value(j, me, 0, i));
        if (a->in_place) put(out, j, i, value(j, me, 0, i));
    }
    for (int64_t i = 0; i < results && last >= 0 && (kind != COLL_REDUCE || me == j->root); i++)
        want(out, j, i, folded(j, 0, last, first + i));
}

static int entered[64]; /* of each job of the sequence: by how many */
static void begin(const struct job *j, struct sim_member *m, int me)
{
    enum coll_kind kind = kind_of(names[j->alg]);
    const struct plan_algorithm *alg = all_algorithms[j->alg];
    bool rooted = kind == COLL_GATHER || kind == COLL_SCATTER || kind == COLL_REDUCE;
    uint64_t n = m->a.n;
    struct plan_args *a = &m->a;
    *a = (struct plan_args){.rank = me, .size = p, .root = j->root, .n = n};
    plan_param_set(&a->params, alg, j->param);
    a->is_vector = j->uneven && (kind == COLL_GATHER || kind == COLL_SCATTER);
    a->nodes = n_nodes ? nodes[me] : NULL;
    a->has_counters = n_nodes > 1;
    m->leaves = n_nodes && node_leaves[node_of_rank[me]];
    a->in_place = j->in_place && (!rooted || me == j->root) && kind != COLL_BCAST;
    entered[m->job]++;
    gw_set.gatherv_short_msg = gw_set.scatterv_short_msg = below(2) ? 0 : INT64_MAX; /* the root asks when its turn comes */
    gw_set.gatherv_max_tmp_size = gw_set.scatterv_max_tmp_size = INT64_MAX;
    gw_set.gatherv_sync_freq = gw_set.scatterv_sync_freq = 2 + (int)below(20);
    if (kind == COLL_BARRIER) {
        image_new(&ins[me], j, 0);
        image_new(&outs[me], j, 0);
    } else if (kind == COLL_BCAST) {
        a->rcount = j->n, a->rt = type_of(j);
        image_new(&ins[me], j, 0);
        image_new(&outs[me], j, j->n);
        for (int i = 0; i < j->n; i++) (me == j->root ? put : want)(&outs[me], j, i, value(j, j->root, 0, i));
    } else if (kind < COLL_REDUCE) {
        exchange(j, a, kind);
    } else {
        reduction(j, a, kind);
    }
    m->in = kind == COLL_BCAST || (kind == COLL_ALLTOALL && a->in_place) ? outs[me].is : ins[me].is;
    m->out = outs[me].is;
    int64_t tmp = alg->tmp_bytes && !alg->stages ? alg->tmp_bytes(a) : 0;
    m->tmp = alg->stages ? NULL : malloc((size_t)tmp + 1);
}

static bool same(const struct image *m, const struct job *j, int me, const char *what, int64_t defined)
{
    if (memcmp(m->is, m->want, (size_t)defined) == 0) return true;
    int64_t i = 0;
    while (m->is[i] == m->want[i]) i++;
    if (unit_failures++ < 20)
        fprintf(stderr, "%s, %d ranks, %d nodes, n %d, root %d%s%s%s, parameter %lld: rank %d: %s differs at byte %lld of %lld\n",
                names[j->alg], p, n_nodes, j->n, j->root, j->in_place ? ", in place" : "", j->gaps ? ", gaps" : "",
                j->uneven ? ", uneven or adding" : "", (long long)j->param, me, what, (long long)i, (long long)m->bytes);
    return false;
}
static void end(const struct job *j, struct sim_member *m, int me)
{
    bool parts = kind_of(names[j->alg]) == COLL_REDUCE_SCATTER;
    if (kind_of(names[j->alg]) == COLL_BARRIER && entered[m->job] != p && unit_failures++ < 20)
        fprintf(stderr, "%s, %d ranks, %d nodes: rank %d is out before all are in\n", names[j->alg], p, n_nodes, me);
    same(&ins[me], j, me, "input", ins[me].bytes);
    same(&outs[me], j, me, "output", parts ? m->a.rcount * m->a.rt->extent : outs[me].bytes);
    free(m->tmp), free(ins[me].is), free(ins[me].want), free(outs[me].is), free(outs[me].want);
    m->alg = NULL;
    m->begun = false;
    m->job++;
}

/* ---- running ---------------------------------------------------------------------------------------------------------------------- */
/* A turn of one member; false if it can do nothing now. */
static bool turn(struct sim *s, struct sim_member *m, int me, const struct job *jobs, int n)
{
    bool over;
    if (m->job == n) return false;
    if (!m->alg) {
        if (!m->begun) begin(&jobs[m->job], m, me);
        m->begun = true;
        return sim_enter(s, m, all_algorithms[jobs[m->job].alg]);
    }
    bool moved = sim_step(s, m, &over);
    if (over) end(&jobs[m->job], m, me);
    return moved;
}

static bool run(struct sim *s, const struct job *jobs, int n)
{
    for (int i = 0; i < p; i++) s->members[i].job = 0;
    memset(entered, 0, sizeof entered);
    int lazy = (int)below((unsigned)p);
    /* Of stages, too; alike on all members. */
    gw_set.reduce_scatter_long_msg = below(2) ? -1 : (int)below(4000);
    gw_set.reduce_scatter_max_commsize = 1 + (int)below(9);
    gw_set.bcast_internode_radix = 2 + (int)below(4), gw_set.bcast_intranode_radix = 2 + (int)below(4);
    gw_set.bcast_only_tree = below(2);
    gw_set.alltoall_sync_freq = 1 + (int)below(9), gw_set.alltoallv_throttle = 1 + (int)below(9);
    gw_set.iallgatherv_throttle = 2 + (int)below(8), gw_set.scatterv_synchronous = below(2);
    for (bool any = true; any && !s->error;) {
        int first = (int)below((unsigned)p);
        any = false;
        for (int k = 0; k < p; k++) {
            int i = (first + k) % p, turns = 1 + (int)below(6);
            if (i == lazy && any && below(16)) continue;
            while (turns-- > 0 && turn(s, &s->members[i], i, jobs, n)) any = true;
        }
        for (int i = 0; i < p && !any; i++) any = turn(s, &s->members[i], i, jobs, n);
        any |= s->raised, s->raised = false;
    }
    for (int i = 0; i < p; i++) {
        const struct sim_member *m = &s->members[i];
        if (m->job == n && !s->error) continue;
        fprintf(stderr, "%s, %d ranks, %d nodes, n %d, root %d%s: %s; rank %d is in round %d of stage %d\n",
                names[jobs[m->job % n].alg], p, n_nodes, jobs[m->job % n].n, jobs[m->job % n].root,
                jobs[m->job % n].in_place ? ", in place" : "", s->error ? s->error : "nobody can go on", i, m->round, m->walk.i);
        unit_failures++;
        return false;
    }
    return true;
}

static bool sim_open(struct sim *s)
{
    *s = (struct sim){.size = p, .scratch_bytes = 64 << 20};
    s->members = calloc((size_t)p, sizeof *s->members);
    s->flags = calloc((size_t)p, sizeof *s->flags);
    s->exposed = calloc((size_t)p, sizeof *s->exposed);
    s->shm = calloc((size_t)p * SIM_SLOTS, PLAN_SLOT_BYTES);
    s->scratch = malloc((size_t)s->scratch_bytes);
    ins = calloc((size_t)p, sizeof *ins);
    outs = calloc((size_t)p, sizeof *outs);
    return s->members && s->flags && s->exposed && s->shm && s->scratch && ins && outs;
}
static void sim_close(struct sim *s)
{
    free(s->members), free(s->flags), free(s->exposed), free(s->shm), free(s->scratch), free(ins), free(outs);
}

static bool was_accepted[N_ALGORITHMS]; /* some case: none is left out unseen */
/* Would the algorithm take it?  All members must say the same. */
static bool accepted(struct sim *s, const struct job *j)
{
    const struct plan_algorithm *alg = all_algorithms[j->alg];
    int yes = 0;
    if (alg->kind && (p < 2 || n_nodes)) return false;
    for (int i = 0; i < p; i++) {
        struct sim_member m = {.alg = NULL};
        begin(j, &m, i);
        yes += !alg->fits || alg->fits(&m.a);
        free(m.tmp), free(ins[i].is), free(ins[i].want), free(outs[i].is), free(outs[i].want);
    }
    (void)s;
    CHECK(yes == 0 || yes == p);
    was_accepted[j->alg] |= yes == p;
    return yes == p;
}

/* What coll.c leaves out: operands without data. */
static bool skipped(const struct job *j)
{
    enum coll_kind kind = kind_of(names[j->alg]);
    return (j->n == 0 && kind != COLL_BARRIER && kind != COLL_GATHER && kind != COLL_SCATTER) || (kind == COLL_BARRIER && j->n > 1);
}

static void all_jobs(int ranks)
{
    static const int counts[] = {0, 1, 3, 17, 200, 1500, 4500, 20000};
    enum { SEQUENCE = 7 };
    struct sim s;
    struct job list[SEQUENCE];
    int n = 0, done = 0;
    p = ranks;
    CHECK(sim_open(&s));
    for (unsigned c = 0; c < 8 * 2 * 8; c++)
        for (int k = 0; k < N_ALGORITHMS; k++) {
            /* Neighbours in a sequence are different algorithms. */
            struct job j = {.alg = k,
                            .n = counts[c % 8],
                            .in_place = c >> 3 & 1,
                            .gaps = c >> 4 & 1,
                            .uneven = c >> 5 & 1,
                            .salt = below(1000)};
            j.sums = may_sum(k) && below(2);
            if (c >> 6 & 1) j.param = all_algorithms[k]->takes > PLAN_TAKES_PIECE ? 1 + below(9) : 1000;
            bool is_padded = strstr(names[k], "_padded_") != NULL; /* two forms of the same stages */
            if (n_nodes && below(is_padded ? 6 : all_algorithms[k]->stages ? 3 : 24))
                continue; /* ordinary ones between those over nodes, now and then */
            j.root = p < 6 ? (int)((c + (unsigned)k) % (unsigned)p) : (int)below((unsigned)p);
            if ((int64_t)j.n * p > 24000 || below(p > 20 ? 8 : 2) || skipped(&j) || !accepted(&s, &j)) continue;
            list[n++] = j;
            if (n < SEQUENCE) continue;
            done += n, n = 0;
            if (!run(&s, list, SEQUENCE)) return;
        }
    if (n > 0 && !run(&s, list, n)) return;
    CHECK(done > (n_nodes ? 3 : 50));
    if (n_nodes) {
        sim_close(&s);
        return;
    }
    /* One that gives and goes on can be far ahead of one that has still to take: the same slots come round again. */
    for (int k = 0; k < 3 * N_ALGORITHMS; k++) {
        enum { ROUNDS = 3 * PLAN_SMALLS };
        struct job j = {.alg = k / 3, .n = k % 3 ? 1 : 17}, same[ROUNDS];
        if ((all_algorithms[j.alg]->kind & PLAN_KIND) != PLAN_NARROW || !accepted(&s, &j)) continue;
        for (int i = 0; i < ROUNDS; i++) {
            same[i] = j, same[i].root = kind_of(names[j.alg]) == COLL_GATHER ? p - 1 : 0, same[i].salt = below(1000);
            if (k % 3 == 2) same[i].root = (int)below((unsigned)p);
        }
        if (!run(&s, same, ROUNDS)) return;
    }
    sim_close(&s);
}

/* Ranks on nodes: in blocks that are equal or not, dealt out in turn, or anyhow. */
static int node_here(void *ctx, int member)
{
    (void)ctx;
    return node_of_rank[member];
}
static void place_ranks(int ranks, int n, int shape)
{
    int k = 0;
    for (int i = 0; i < ranks; i++) {
        switch (shape) {
        case 0: k = i * n / ranks; break;
        case 1: k = i % n; break;
        case 2: k = i < n ? i : (int)below((unsigned)n); break; /* each has one */
        default: k += k < n - 1 && ranks - i > n - 1 - k && i > 0 && (below(3) == 0 || ranks - i == n - 1 - k); break;
        }
        node_of_rank[i] = shape == 2 ? (k * 5 + 3) % MOST_NODES : k; /* numbers need not be in order */
    }
    for (int i = 0; i < MOST_NODES; i++) node_leaves[i] = below(3) > 0;
}
static void all_places(int ranks)
{
    for (int n = 1; n <= MOST_NODES && n <= ranks; n += n < 8 ? 1 : 4)
        for (int shape = 0; shape < 4; shape++) {
            if (ranks > 9 && below(ranks > 24 ? 6 : 2)) continue;
            place_ranks(ranks, n, shape);
            for (int i = 0; i < ranks; i++) {
                nodes[i] = plan_nodes_new(ranks, i, node_here, NULL, MOST_NODES);
                CHECK(nodes[i] && plan_member(nodes[i], nodes[i]->me, nodes[i]->place) == i);
                for (int q = 0; q < ranks; q++)
                    CHECK((plan_node_of(nodes[i], q) == nodes[i]->me) == (node_of_rank[q] == node_of_rank[i]));
            }
            n_nodes = nodes[0]->n;
            all_jobs(ranks);
            for (int i = 0; i < ranks; i++) plan_nodes_free(nodes[i]);
            n_nodes = 0;
        }
}

/* AddressSanitizer makes this twelve times longer: it sees the same code on fewer ranks. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
enum { MOST_ON_NODES = 13 };
#else
enum { MOST_ON_NODES = 64 };
#endif

int main(void)
{
    static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 24, 31, 33, 64, 130};
    int displ = 8;
    struct gw_type *t;
    CHECK_EQ(type_init(), GW_OK);
    CHECK_EQ(op_init(), GW_OK);
    op_upcalls.call_user = user_op;
    CHECK_EQ(op_create((void (*)(void))all_jobs, 1, false, &op_add), GW_OK);
    CHECK_EQ(op_create((void (*)(void))all_jobs, 0, false, &op_compose), GW_OK);
    CHECK_EQ(type_hindexed_block(1, 1, (struct gw_counts){&displ, false}, gw_type_int64, &t), GW_OK);
    CHECK_EQ(type_resized(t, 0, 24, &gapped), GW_OK);
    CHECK_EQ(type_commit(&gapped), GW_OK);
    type_free(&t);
    CHECK_EQ(type_hindexed_block(1, 1, (struct gw_counts){&displ, false}, type_of_basic(GW_ELEM_F64), &t), GW_OK);
    CHECK_EQ(type_resized(t, 0, 24, &gapped_double), GW_OK);
    CHECK_EQ(type_commit(&gapped_double), GW_OK);
    CHECK_EQ(coll_select_init(), GW_OK);
    find_exact();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) all_jobs(sizes[i]);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && sizes[i] <= MOST_ON_NODES; i++) all_places(sizes[i]);
    for (int k = 0; k < N_ALGORITHMS; k++)
        if (!was_accepted[k] && ++unit_failures) fprintf(stderr, "%s took no case\n", names[k]);
    type_free(&gapped);
    type_free(&gapped_double);
    type_free(&t);
    op_free(&op_add);
    op_free(&op_compose);
    op_finalize();
    type_finalize();
    gw_obj_finalize();
    return unit_end();
}
