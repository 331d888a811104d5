/* neighbor_test.c -- neighbourhood collectives on random grids and multigraphs of up to 60 ranks in this one process.
 *
 * Every edge has a number of its own, which travels along it.  A message is handed over only when both ends have posted it, so
 * an order of the edges in which members wait for each other in a circle stands still here.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/check_sim.h"

#include <stdio.h>

#include "../../test/unit.h"

enum { P_MAX = 60, EDGES_MAX = 4000, JOBS = 12, SCALE_MAX = 2500 };

static uint64_t state = 88172645463325252u;
static int below(int n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int)((state >> 33) % (uint64_t)n);
}

/* ---- topologies ---- */
static int p;
static struct gw_topo topos[P_MAX];
static int *in_edge[P_MAX], *out_edge[P_MAX]; /* number of the edge of each block, -1: none */

static void topo_open(int me, int kind, int nin, int nout)
{
    struct gw_topo *t = &topos[me];
    *t = (struct gw_topo){.kind = kind, .nin = nin, .nout = nout};
    t->in = calloc((size_t)nin + 1, sizeof(int));
    t->out = calloc((size_t)nout + 1, sizeof(int));
    t->moves = calloc((size_t)(nin + nout) + 1, sizeof *t->moves);
    t->in_like = calloc((size_t)nin + 1, sizeof *t->in_like);
    t->out_like = calloc((size_t)nout + 1, sizeof *t->out_like);
    in_edge[me] = calloc((size_t)nin + 1, sizeof(int));
    out_edge[me] = calloc((size_t)nout + 1, sizeof(int));
}

static void topo_close(void)
{
    for (int i = 0; i < p; i++) {
        free(topos[i].in), free(topos[i].out), free(topos[i].moves), free(topos[i].in_like), free(topos[i].out_like);
        free(in_edge[i]), free(out_edge[i]);
    }
}

static void random_graph(void)
{
    static int from[EDGES_MAX], to[EDGES_MAX];
    int n = below(below(3) ? 4 * p + 1 : EDGES_MAX), nin[P_MAX] = {0}, nout[P_MAX] = {0}, hub = below(p);
    for (int e = 0; e < n; e++) {
        from[e] = below(4) ? below(p) : hub;
        to[e] = below(8) ? below(p) : from[e]; /* many loops, many edges at one */
        nout[from[e]]++, nin[to[e]]++;
    }
    for (int i = 0; i < p; i++) {
        topo_open(i, GW_DIST_GRAPH, nin[i], nout[i]);
        nin[i] = nout[i] = 0;
    }
    for (int e = 0; e < n; e++) {
        int f = from[e], t = to[e];
        topos[f].out[nout[f]] = t, out_edge[f][nout[f]++] = e;
        topos[t].in[nin[t]] = f, in_edge[t][nin[t]++] = e;
    }
}

/* Edge 2 * (dimension + DIMS * rank) + direction leaves rank in that direction. */
static void random_grid(void)
{
    enum { DIMS = 6 };
    int dims[DIMS], periods[DIMS], ndims = below(DIMS + 1), most = p;
    p = 1;
    for (int d = 0; d < ndims; d++) {
        dims[d] = 1 + below(4);
        if (p * dims[d] > most) dims[d] = 1;
        periods[d] = below(2);
        p *= dims[d];
    }
    for (int me = 0; me < p; me++) {
        topo_open(me, GW_CART, 2 * ndims, 2 * ndims);
        int stride = p;
        for (int d = 0; d < ndims; d++) {
            stride /= dims[d];
            int here = me / stride % dims[d];
            for (int k = 0; k < 2; k++) {
                int there = here + (k ? 1 : -1), i = 2 * d + k;
                bool none = !periods[d] && (there < 0 || there == dims[d]);
                there = (there + dims[d]) % dims[d];
                int peer = none ? GW_PROC_NULL : me + (there - here) * stride;
                topos[me].in[i] = topos[me].out[i] = peer;
                out_edge[me][i] = none ? -1 : 2 * (d + DIMS * me) + k;
                in_edge[me][i] = none ? -1 : 2 * (d + DIMS * peer) + !k; /* it came in the other direction */
            }
        }
    }
}

/* ---- jobs: gather and alltoall by turns; edge e carries (1 + e % 3) * scale numbers in the odd alltoalls; by messages, or through slots ---- */
static int scale, leaves; /* leaves: a bit for each job */
static uint64_t *ins[P_MAX], *outs[P_MAX];
static int scounts[P_MAX][EDGES_MAX], rcounts[P_MAX][EDGES_MAX], sdispls[P_MAX][EDGES_MAX], rdispls[P_MAX][EDGES_MAX];

static bool gathers(int job) { return job % 2 == 0; }
static int amount(int job, int edge) { return scale * (edge < 0 ? 2 : job % 4 == 3 ? 1 + edge % 3 : 2); }
static uint64_t value(int job, int what, int i) { return (uint64_t)job << 48 | (uint64_t)what << 16 | (unsigned)i; }

static void begin(struct sim_member *m, int me)
{
    const struct gw_topo *t = &topos[me];
    int job = m->job, sent = 0, got = 0;
    m->a = (struct plan_args){.rank = me,
                              .size = p,
                              .topo = t,
                              .st = gw_type_int64,
                              .rt = gw_type_int64,
                              .scount = 2 * scale,
                              .rcount = 2 * scale,
                              .n = m->a.n};
    ins[me] = malloc(((size_t)t->nout * 3 + 2) * 8 * (size_t)scale);
    outs[me] = malloc(((size_t)t->nin * 3 + 2) * 8 * (size_t)scale);
    for (int k = 0; k < t->nout; k++) {
        scounts[me][k] = amount(job, out_edge[me][k]), sdispls[me][k] = sent;
        for (int i = 0; i < scounts[me][k]; i++) ins[me][sent++] = value(job, out_edge[me][k], i);
    }
    for (int i = 0; i < 2 * scale && gathers(job); i++) ins[me][i] = value(job, me, i);
    for (int k = t->nin - 1; k >= 0; k--) rcounts[me][k] = amount(job, in_edge[me][k]), rdispls[me][k] = got, got += rcounts[me][k];
    for (int i = 0; i < (3 * t->nin + 2) * scale; i++) outs[me][i] = UINT64_MAX;
    if (job % 4 == 3) {
        m->a.scounts.v = scounts[me], m->a.sdispls.v = sdispls[me];
        m->a.rcounts.v = rcounts[me], m->a.rdispls.v = rdispls[me];
    } else {
        for (int k = 0; k < t->nin; k++) rdispls[me][k] = 2 * k * scale;
    }
    m->in = (char *)ins[me], m->out = (char *)outs[me];
}

static void end(struct sim_member *m, int me)
{
    const struct gw_topo *t = &topos[me];
    int job = m->job++, total = 0;
    for (int k = 0; k < t->nin; k++) {
        for (int i = 0; i < rcounts[me][k]; i++) {
            uint64_t want = gathers(job) ? value(job, t->in[k], i) : value(job, in_edge[me][k], i);
            if (t->in[k] == GW_PROC_NULL) want = UINT64_MAX;
            CHECK(outs[me][rdispls[me][k] + i] == want);
        }
        total += rcounts[me][k];
    }
    for (int i = total; i < (3 * t->nin + 2) * scale; i++) CHECK(outs[me][i] == UINT64_MAX);
    free(ins[me]), free(outs[me]);
    m->alg = NULL;
}

static bool turn(struct sim *s, struct sim_member *m, int me)
{
    bool over;
    if (m->job == JOBS) return false;
    if (!m->alg) {
        const struct plan_algorithm *alg = gathers(m->job) ? &coll_alg_neighbor_allgather : &coll_alg_neighbor_alltoall;
        if (leaves >> m->job & 1) alg = gathers(m->job) ? &coll_alg_neighbor_allgather_leaf : &coll_alg_neighbor_alltoall_leaf;
        begin(m, me); /* its arguments say whether it may enter */
        if (sim_enter(s, m, alg)) return true;
        free(ins[me]), free(outs[me]);
        return false;
    }
    bool moved = sim_step(s, m, &over);
    if (over) end(m, me);
    return moved;
}

static void run(struct sim *s)
{
    memset(s->members, 0, sizeof *s->members * (size_t)p);
    memset(s->flags, 0, sizeof *s->flags * (size_t)p);
    memset(s->shm, 0, (size_t)p * SIM_SLOTS * PLAN_SLOT_BYTES);
    s->size = p;
    for (int i = 0; i < p; i++) CHECK_EQ(coll_neighbor_order(&topos[i], i, p), GW_OK);
    for (bool any = true; any && !s->error;) {
        any = false;
        for (int k = 0, first = below(p); k < p; k++) {
            int i = (first + k) % p;
            for (int turns = 1 + below(6); turns > 0 && turn(s, &s->members[i], i); turns--) any = true;
        }
        any |= s->raised, s->raised = false;
    }
    CHECK(!s->error);
    if (s->error) fprintf(stderr, "%s\n", s->error);
    for (int i = 0; i < p; i++) CHECK_EQ(s->members[i].job, JOBS); /* fewer: nobody could go on */
}

int main(void)
{
    static struct sim_member members[P_MAX];
    static char scratch[3 * SCALE_MAX * 8];
    static uint64_t flags[P_MAX];
    struct sim s = {.members = members, .scratch = scratch, .scratch_bytes = sizeof scratch, .flags = flags};
    s.shm = malloc((size_t)P_MAX * SIM_SLOTS * PLAN_SLOT_BYTES);
    CHECK(s.shm);
    CHECK_EQ(type_init(), GW_OK);
    for (int round = 0; round < 400 && unit_failures == 0; round++) {
        p = 1 + below(round % 10 ? 12 : P_MAX);
        round % 2 ? random_graph() : random_grid();
        int edges = 0;
        for (int i = 0; i < p; i++) edges += topos[i].nout;
        scale = edges > 200 ? 1 : below(3) ? 1 + below(100) : 1 + below(SCALE_MAX);
        leaves = below(3) ? below(1 << JOBS) : (1 << JOBS) - 1;
        run(&s);
        topo_close();
    }
    free(s.shm);
    return unit_end();
}
