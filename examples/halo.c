/* halo.c -- one halo exchange, seven ways of MPI to do it.
 *
 * An atmosphere model keeps some thirty fields of a 3-D grid.  Columns are shared out over a periodic 2-D grid of ranks; each step
 * every rank needs the outermost columns of its eight neighbours, of all fields.  A halo context hides how they travel:
 *
 *     init, once; each step: initiate (post receives, pack, begin to send), [compute], complete (wait, unpack); finalise
 *
 * p2p     Irecv, Isend, Waitall
 * fence   MPI_Put between two MPI_Win_fence
 * get     the window has what goes out; MPI_Get between two MPI_Win_fence, of which the first lets nobody read too early
 * race    as get, but the first fence has MPI_MODE_NOPRECEDE: a library may let it wait for nobody, and then who is early reads what the
 *         last step has left.  Only where it is asked for by name; it says what came of it
 * fence2  the same with puts, but each fence opens the epoch of the next step: one a step
 * pscw    post and start ahead, complete and wait with the eight neighbours only
 * lock    lock, put, unlock for each neighbour, then a barrier
 * flush   lock_all once; put, flush_all, and an empty message to each neighbour that says "it is there"
 *
 * One-sided, what arrives (get: what goes out) lies in one window, a part for each neighbour; the neighbours learn in init where theirs
 * begins.  Where the target may still read what came in the last step (lock, flush), two halves of the window take turns.
 *
 *     mpicc -O2 halo.c -o halo && mpiexec -n 4 ./halo [-g X Y Z] [-s steps] [-f fields] [way ..]
 *
 * Prints for each way the best and the mean microseconds a step; every halo cell of every step is compared with what its owner has.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halo_grid.h"

enum { TAG = 10 };
static int rank, ranks;

struct halo;
struct way {
    const char *name;
    int halves; /* of the window; 0: no window */
    int gets;   /* the window has what goes out, not what comes in */
    void (*init)(struct halo *);
    void (*prepare)(struct halo *); /* before packing */
    void (*initiate)(struct halo *);
    void (*complete)(struct halo *);
    void (*unpacked)(struct halo *);
    void (*finalise)(struct halo *);
};

struct halo {
    const struct way *way;
    struct grid *grid;
    int peer[NEIGHBOURS];
    struct box out[NEIGHBOURS], in[NEIGHBOURS];
    int count[NEIGHBOURS];      /* doubles, the same in both directions */
    MPI_Aint at[NEIGHBOURS];    /* where the part of a neighbour begins in my buffers, */
    MPI_Aint there[NEIGHBOURS]; /* and mine in its window; doubles */
    MPI_Aint total;
    double *to, *from; /* packed; from, with gets to: the window, where there is one */
    int half;
    MPI_Win win;
    MPI_Group group; /* of the neighbours */
    MPI_Request requests[2 * NEIGHBOURS];
};

/* ---- the context ----------------------------------------------------------------------------------------------------------------- */
static void set_directions(struct halo *h)
{
    const struct grid *g = h->grid;
    for (int d = 0; d < NEIGHBOURS; d++) {
        h->peer[d] = neighbour(g, d, &h->out[d], &h->in[d]);
        h->count[d] = g->fields * (dx[d] ? DEPTH : g->x) * (dy[d] ? DEPTH : g->y) * g->z;
        h->at[d] = h->total;
        h->total += h->count[d];
    }
}

/* My neighbour in direction d writes what is opposite to it for me: it must know where that begins. */
static void exchange_places(struct halo *h)
{
    for (int d = 0; d < NEIGHBOURS; d++)
        MPI_Irecv(&h->there[d], 1, MPI_AINT, h->peer[d], TAG + opposite(d), MPI_COMM_WORLD, &h->requests[d]);
    for (int d = 0; d < NEIGHBOURS; d++)
        MPI_Issend(&h->at[d], 1, MPI_AINT, h->peer[d], TAG + d, MPI_COMM_WORLD, &h->requests[NEIGHBOURS + d]);
    MPI_Waitall(2 * NEIGHBOURS, h->requests, MPI_STATUSES_IGNORE);
}

static void neighbour_group(struct halo *h)
{
    int list[NEIGHBOURS], n = 0;
    for (int d = 0; d < NEIGHBOURS; d++) {
        int k = 0;
        while (k < n && list[k] != h->peer[d]) k++;
        if (k == n) list[n++] = h->peer[d];
    }
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, n, list, &h->group);
    MPI_Group_free(&world);
}

static void halo_init(struct halo *h, const struct way *way, struct grid *g)
{
    memset(h, 0, sizeof *h);
    h->way = way;
    h->grid = g;
    set_directions(h);
    if (way->halves) {
        MPI_Win_allocate(way->halves * h->total * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                         way->gets ? &h->to : &h->from, &h->win);
        exchange_places(h);
        neighbour_group(h);
    }
    if (!h->to) h->to = malloc(h->total * sizeof(double));
    if (!h->from) h->from = malloc(h->total * sizeof(double));
    if (!h->to || !h->from) MPI_Abort(MPI_COMM_WORLD, 1);
    if (way->init) way->init(h);
}

static void halo_initiate(struct halo *h)
{
    if (h->way->prepare) h->way->prepare(h);
    for (int d = 0; d < NEIGHBOURS; d++) pack(h->grid, &h->out[d], h->to + h->at[d]);
    h->way->initiate(h);
}

static void halo_complete(struct halo *h)
{
    h->way->complete(h);
    const double *from = h->from + h->half * h->total;
    for (int d = 0; d < NEIGHBOURS; d++) unpack(h->grid, &h->in[d], from + h->at[d]);
    if (h->way->unpacked) h->way->unpacked(h);
    if (h->way->halves == 2) h->half ^= 1;
}

static void halo_finalise(struct halo *h)
{
    if (h->way->finalise) h->way->finalise(h);
    if (!h->way->halves || !h->way->gets) free(h->to);
    if (!h->way->halves || h->way->gets) free(h->from);
    if (h->way->halves) {
        MPI_Win_free(&h->win);
        MPI_Group_free(&h->group);
    }
}

/* ---- the ways -------------------------------------------------------------------------------------------------------------------- */
static void p2p_prepare(struct halo *h)
{
    for (int d = 0; d < NEIGHBOURS; d++)
        MPI_Irecv(h->from + h->at[d], h->count[d], MPI_DOUBLE, h->peer[d], TAG + opposite(d), MPI_COMM_WORLD, &h->requests[d]);
}
static void p2p_initiate(struct halo *h)
{
    for (int d = 0; d < NEIGHBOURS; d++)
        MPI_Isend(h->to + h->at[d], h->count[d], MPI_DOUBLE, h->peer[d], TAG + d, MPI_COMM_WORLD, &h->requests[NEIGHBOURS + d]);
}
static void p2p_complete(struct halo *h) { MPI_Waitall(2 * NEIGHBOURS, h->requests, MPI_STATUSES_IGNORE); }

static void put(struct halo *h, int d)
{
    MPI_Put(h->to + h->at[d], h->count[d], MPI_DOUBLE, h->peer[d], h->there[d] + h->half * h->total, h->count[d], MPI_DOUBLE,
            h->win);
}
static void put_all(struct halo *h)
{
    for (int d = 0; d < NEIGHBOURS; d++) put(h, d);
}

static void fence_initiate(struct halo *h)
{
    MPI_Win_fence(MPI_MODE_NOPRECEDE, h->win);
    put_all(h);
}
static void fence_complete(struct halo *h) { MPI_Win_fence(MPI_MODE_NOSUCCEED, h->win); }

/* The first fence waits until all windows are packed: with MPI_MODE_NOPRECEDE it need not, and who is early would read what the last
 * step has left there. */
static void get_initiate(struct halo *h)
{
    MPI_Win_fence(0, h->win);
    for (int d = 0; d < NEIGHBOURS; d++)
        MPI_Get(h->from + h->at[d], h->count[d], MPI_DOUBLE, h->peer[d], h->there[d], h->count[d], MPI_DOUBLE, h->win);
}

/* What must not be done. */
static void race_initiate(struct halo *h)
{
    MPI_Win_fence(MPI_MODE_NOPRECEDE, h->win);
    for (int d = 0; d < NEIGHBOURS; d++)
        MPI_Get(h->from + h->at[d], h->count[d], MPI_DOUBLE, h->peer[d], h->there[d], h->count[d], MPI_DOUBLE, h->win);
}

/* Not NOPRECEDE: puts precede.  After the fence the halves keep the next puts away from what is being unpacked. */
static void fence_open(struct halo *h) { MPI_Win_fence(0, h->win); }

static void pscw_open(struct halo *h)
{
    MPI_Win_post(h->group, 0, h->win);
    MPI_Win_start(h->group, 0, h->win);
}
static void pscw_close(struct halo *h)
{
    MPI_Win_complete(h->win);
    MPI_Win_wait(h->win);
}

static void lock_initiate(struct halo *h)
{
    for (int d = 0; d < NEIGHBOURS; d++) {
        MPI_Win_lock(MPI_LOCK_SHARED, h->peer[d], 0, h->win);
        put(h, d);
        MPI_Win_unlock(h->peer[d], h->win);
    }
}
static void lock_complete(struct halo *h)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, h->win); /* to read the window by loads */
}
static void lock_unpacked(struct halo *h) { MPI_Win_unlock(rank, h->win); }

static void flush_init(struct halo *h) { MPI_Win_lock_all(MPI_MODE_NOCHECK, h->win); }
static void flush_initiate(struct halo *h)
{
    put_all(h);
    for (int d = 0; d < NEIGHBOURS; d++)
        MPI_Irecv(NULL, 0, MPI_DOUBLE, h->peer[d], TAG + opposite(d), MPI_COMM_WORLD, &h->requests[d]);
    MPI_Win_flush_all(h->win);
    for (int d = 0; d < NEIGHBOURS; d++)
        MPI_Isend(NULL, 0, MPI_DOUBLE, h->peer[d], TAG + d, MPI_COMM_WORLD, &h->requests[NEIGHBOURS + d]);
}
static void flush_complete(struct halo *h)
{
    MPI_Waitall(2 * NEIGHBOURS, h->requests, MPI_STATUSES_IGNORE);
    MPI_Win_sync(h->win);
}
static void flush_finalise(struct halo *h) { MPI_Win_unlock_all(h->win); }

static const struct way ways[] = {
    {"p2p", 0, 0, NULL, p2p_prepare, p2p_initiate, p2p_complete, NULL, NULL},
    {"fence", 1, 0, NULL, NULL, fence_initiate, fence_complete, NULL, NULL},
    {"get", 1, 1, NULL, NULL, get_initiate, fence_complete, NULL, NULL},
    {"race", 1, 1, NULL, NULL, race_initiate, fence_complete, NULL, NULL},
    {"fence2", 2, 0, fence_open, NULL, put_all, fence_open, NULL, fence_complete},
    {"pscw", 1, 0, pscw_open, NULL, put_all, pscw_close, pscw_open, pscw_close},
    {"lock", 2, 0, NULL, NULL, lock_initiate, lock_complete, lock_unpacked, NULL},
    {"flush", 2, 0, flush_init, NULL, flush_initiate, flush_complete, NULL, flush_finalise},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* ---- the run --------------------------------------------------------------------------------------------------------------------- */
static long run(const struct way *way, struct grid *g, int steps)
{
    struct halo h;
    long wrong = 0, all = 0;
    double best = 1e30, sum = 0;
    halo_init(&h, way, g);
    for (int step = 0; step < steps; step++) {
        fill(g, step);
        MPI_Barrier(MPI_COMM_WORLD);
        double t = MPI_Wtime();
        halo_initiate(&h);
        halo_complete(&h);
        t = (MPI_Wtime() - t) * 1e6;
        MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        wrong += wrong_cells(g, step);
        if (step > 0 || steps == 1) best = t < best ? t : best, sum += t; /* the first step warms up */
    }
    halo_finalise(&h);
    MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Bcast(&all, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (!rank) print_way(way->name, best, sum / (steps > 1 ? steps - 1 : 1), all);
    return all;
}

static int wanted(const struct way *way, int n, char **names)
{
    return is_named(way->name, n, names) || (n == 0 && strcmp(way->name, "race") != 0);
}

static int stop(const char *why)
{
    if (!rank)
        fprintf(stderr, "halo: %s\nusage: halo [-g X Y Z] [-s steps] [-f fields] [p2p|fence|get|race|fence2|pscw|lock|flush ..]\n",
                why);
    MPI_Finalize();
    return 2;
}

int main(int argc, char **argv)
{
    struct grid g = {.fields = 29, .x = 16, .y = 16, .z = 32};
    int steps = 50, i = 1, dims[2] = {0, 0}, ran = 0;
    long wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *wrong_with = options_read(argc, argv, &g, &steps, &i);
    if (wrong_with) return stop(wrong_with);
    MPI_Dims_create(ranks, 2, dims);
    g.ranks_x = dims[0], g.ranks_y = dims[1];
    g.rank_x = rank / dims[1], g.rank_y = rank % dims[1];
    g.cells = malloc(sizeof(double) * g.fields * (g.x + 2 * DEPTH) * (g.y + 2 * DEPTH) * g.z);
    if (!g.cells) MPI_Abort(MPI_COMM_WORLD, 1);
    if (!rank) print_head(&g, "ranks");
    for (int w = 0; w < WAYS; w++)
        if (wanted(&ways[w], argc - i, argv + i)) wrong += run(&ways[w], &g, steps), ran++;
    free(g.cells);
    if (!ran) return stop("no such way");
    MPI_Finalize();
    return wrong != 0;
}
