/* halo_shmem.c -- the halo exchange of halo.c with OpenSHMEM, three ways.
 *
 * All PEs have cells of the same size at the same place of the symmetric heap, so a neighbour's border is the own address of it.
 *
 * direct  blocks of columns straight from the cells into the neighbour's border (shmem_double_ibput): nothing is packed.  When a PE has written
 *         to a neighbour it adds 1 to its signal there; who has as many as neighbours times steps has its border
 * signal  packed, and put with a signal for each neighbour; unpacked by who gets it
 * barrier packed, put, shmem_barrier_all, unpacked: as such programs were written before there were signals
 *
 *     oshcc -O2 halo_shmem.c -o halo_shmem && oshrun -n 4 ./halo_shmem [-g X Y Z] [-s steps] [-f fields] [way ..]
 *
 * Prints for each way the best and the mean microseconds a step; every halo cell of every step is compared with what its owner has.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "halo_grid.h"

static int me, pes;

struct halo {
    struct grid *grid;
    int peer[NEIGHBOURS];
    struct box out[NEIGHBOURS], in[NEIGHBOURS];
    size_t count[NEIGHBOURS], at[NEIGHBOURS], total; /* doubles; what is for direction d begins at at[d] */
    double *to, *from;                               /* packed; `from` is symmetric, and has what comes from direction d at at[d] */
    uint64_t *signals;                               /* symmetric: one a direction, and one for all */
    uint64_t step;                                   /* from 1 */
};

/* ---- the ways ---- */
static void direct_initiate(struct halo *h)
{
    const struct grid *g = h->grid;
    ptrdiff_t row = (ptrdiff_t)(g->y + 2 * DEPTH) * g->z;                         /* from a column to its neighbour in x */
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, NULL, 0); /* to other nodes many lines may go together */
    for (int d = 0; d < NEIGHBOURS; d++) {
        const struct box *out = &h->out[d], *in = &h->in[opposite(d)]; /* as the neighbour's, for all grids are alike */
        size_t line = (size_t)(out->y1 - out->y0) * g->z, lines = (size_t)(out->x1 - out->x0);
        for (int f = 0; f < g->fields; f++)
            shmem_double_ibput(column(g, f, in->x0, in->y0), column(g, f, out->x0, out->y0), row, row, line, lines, h->peer[d]);
        shmem_fence();
        shmem_uint64_atomic_add(&h->signals[NEIGHBOURS], 1, h->peer[d]);
    }
    shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
}
static void direct_complete(struct halo *h)
{
    shmem_signal_wait_until(&h->signals[NEIGHBOURS], SHMEM_CMP_GE, h->step * NEIGHBOURS);
}

static void pack_all(struct halo *h)
{
    for (int d = 0; d < NEIGHBOURS; d++) pack(h->grid, &h->out[d], h->to + h->at[d]);
}
static void unpack_one(struct halo *h, int d) { unpack(h->grid, &h->in[d], h->from + h->at[d]); }

/* What I send in direction d comes to the neighbour from the opposite one; those two parts are of one size. */
static void signal_initiate(struct halo *h)
{
    pack_all(h);
    for (int d = 0; d < NEIGHBOURS; d++) {
        int there = opposite(d);
        shmem_double_put_signal_nbi(h->from + h->at[there], h->to + h->at[d], h->count[d], &h->signals[there], h->step,
                                    SHMEM_SIGNAL_SET, h->peer[d]);
    }
}
static void signal_complete(struct halo *h)
{
    for (int d = 0; d < NEIGHBOURS; d++) {
        shmem_signal_wait_until(&h->signals[d], SHMEM_CMP_GE, h->step);
        unpack_one(h, d);
    }
    shmem_quiet(); /* what was sent may be packed anew */
}

static void barrier_initiate(struct halo *h)
{
    pack_all(h);
    for (int d = 0; d < NEIGHBOURS; d++)
        shmem_double_put_nbi(h->from + h->at[opposite(d)], h->to + h->at[d], h->count[d], h->peer[d]);
}
static void barrier_complete(struct halo *h)
{
    shmem_barrier_all();
    for (int d = 0; d < NEIGHBOURS; d++) unpack_one(h, d);
}

struct way {
    const char *name;
    void (*initiate)(struct halo *);
    void (*complete)(struct halo *);
};
static const struct way ways[] = {{"direct", direct_initiate, direct_complete},
                                  {"signal", signal_initiate, signal_complete},
                                  {"barrier", barrier_initiate, barrier_complete}};
enum { WAYS = sizeof ways / sizeof *ways };

/* ---- the run ---- */
static void *symmetric(size_t bytes)
{
    void *p = shmem_calloc(1, bytes);
    if (!p) shmem_global_exit(1);
    return p;
}

static void halo_init(struct halo *h, struct grid *g)
{
    memset(h, 0, sizeof *h);
    h->grid = g;
    for (int d = 0; d < NEIGHBOURS; d++) {
        h->peer[d] = neighbour(g, d, &h->out[d], &h->in[d]);
        h->count[d] = (size_t)g->fields * (dx[d] ? DEPTH : g->x) * (dy[d] ? DEPTH : g->y) * g->z;
        h->at[d] = h->total;
        h->total += h->count[d];
    }
    h->to = malloc(h->total * sizeof *h->to);
    h->from = symmetric(h->total * sizeof *h->from);
    h->signals = symmetric((NEIGHBOURS + 1) * sizeof *h->signals);
    if (!h->to) shmem_global_exit(1);
    shmem_barrier_all();
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static long run(const struct way *way, struct grid *g, int steps)
{
    static double mine, slowest;
    static long wrong, all;
    struct halo h;
    double best = 1e30, sum = 0;
    wrong = 0;
    halo_init(&h, g);
    for (int step = 0; step < steps; step++) {
        fill(g, step);
        h.step = (uint64_t)step + 1;
        shmem_barrier_all();
        double t = now_us();
        way->initiate(&h);
        way->complete(&h);
        mine = now_us() - t;
        shmem_double_max_reduce(SHMEM_TEAM_WORLD, &slowest, &mine, 1);
        wrong += wrong_cells(g, step);
        if (step > 0 || steps == 1) best = slowest < best ? slowest : best, sum += slowest; /* the first step warms up */
    }
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &wrong, 1);
    shmem_free(h.signals);
    shmem_free(h.from);
    free(h.to);
    if (me == 0) print_way(way->name, best, sum / (steps > 1 ? steps - 1 : 1), all);
    return all;
}

static int stop(const char *why)
{
    if (me == 0)
        fprintf(stderr, "halo_shmem: %s\nusage: halo_shmem [-g X Y Z] [-s steps] [-f fields] [direct|signal|barrier ..]\n", why);
    shmem_finalize();
    return 2;
}

int main(int argc, char **argv)
{
    struct grid g = {.fields = 29, .x = 16, .y = 16, .z = 32};
    int steps = 50, i = 1, ran = 0;
    long wrong = 0;
    shmem_init();
    me = shmem_my_pe(), pes = shmem_n_pes();
    const char *wrong_with = options_read(argc, argv, &g, &steps, &i);
    if (wrong_with) return stop(wrong_with);
    for (int n = 1; n * n <= pes; n++) g.ranks_y = pes % n == 0 ? n : g.ranks_y;
    g.ranks_x = pes / g.ranks_y;
    g.rank_x = me / g.ranks_y, g.rank_y = me % g.ranks_y;
    g.cells = symmetric(sizeof(double) * g.fields * (g.x + 2 * DEPTH) * (g.y + 2 * DEPTH) * g.z);
    if (me == 0) print_head(&g, "PEs");
    for (int w = 0; w < WAYS; w++)
        if (i == argc || is_named(ways[w].name, argc - i, argv + i)) wrong += run(&ways[w], &g, steps), ran++;
    shmem_free(g.cells);
    if (!ran) return stop("no such way");
    shmem_finalize();
    return wrong != 0;
}
