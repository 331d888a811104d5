/* check_cost.c -- what GODWIT_CHECK costs a program that has 100,000 one-sided operations outstanding at a time.
 *
 *   mpiexec -n 2 [--vnodes 2] bench_check_cost [operations]
 *
 * For each kind of operation and each order of the places (one behind the other, every third, at random) the time of an epoch of
 * MPI_Win_fence, and of one of MPI_Win_lock and MPI_Win_unlock, with so many of 8 bytes, in ms: the median of 5.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPERATIONS = 100000, STRIDE = 3, RUNS = 5 };
enum { SEQUENTIAL, STRIDED, RANDOM, ORDERS };
enum { GET, PUT, ACCUMULATE, RGET, KINDS }; /* RGET: with MPI_Waitall of all; under locks alone */
static const char *const orders[ORDERS] = {"sequential", "strided", "random"};
static const char *const kinds[KINDS] = {"get", "put", "accumulate", "rget"};

static int rank, size, n;
static int *place;
static double *local;
static MPI_Win win;
static MPI_Request *requests;

static void places_make(int order)
{
    unsigned seed = 12345;
    for (int i = 0; i < n; i++) place[i] = order == STRIDED ? i * STRIDE : i;
    for (int i = n - 1; i > 0 && order == RANDOM; i--) {
        seed = seed * 1103515245u + 12345u;
        int k = (int)((seed >> 8) % (unsigned)(i + 1)), was = place[i];
        place[i] = place[k];
        place[k] = was;
    }
}

static void one(int kind, int i, int to)
{
    double *at = local + place[i];
    if (kind == GET)
        MPI_Get(at, 1, MPI_DOUBLE, to, place[i], 1, MPI_DOUBLE, win);
    else if (kind == PUT)
        MPI_Put(at, 1, MPI_DOUBLE, to, place[i], 1, MPI_DOUBLE, win);
    else if (kind == RGET)
        MPI_Rget(at, 1, MPI_DOUBLE, to, place[i], 1, MPI_DOUBLE, win, &requests[i]);
    else
        MPI_Accumulate(at, 1, MPI_DOUBLE, to, place[i], 1, MPI_DOUBLE, MPI_SUM, win);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The target only waits. */
static double epoch_ms(int kind, int is_locked)
{
    double all[RUNS];
    for (int r = 0; r < RUNS; r++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double since = MPI_Wtime();
        if (is_locked && rank == 0) MPI_Win_lock(MPI_LOCK_SHARED, size - 1, 0, win);
        if (!is_locked) MPI_Win_fence(0, win);
        for (int i = 0; i < n && rank == 0; i++) one(kind, i, size - 1);
        if (kind == RGET && rank == 0) MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
        if (is_locked && rank == 0) MPI_Win_unlock(size - 1, win);
        if (!is_locked) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        all[r] = (MPI_Wtime() - since) * 1e3;
    }
    qsort(all, RUNS, sizeof *all, by_value);
    return all[RUNS / 2];
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = argc > 1 ? atoi(argv[1]) : OPERATIONS;
    double *base;
    MPI_Aint bytes = (MPI_Aint)n * STRIDE * (MPI_Aint)sizeof(double);
    local = calloc((size_t)n * STRIDE, sizeof *local);
    place = malloc((size_t)n * sizeof *place);
    requests = malloc((size_t)n * sizeof *requests);
    MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (int is_locked = 0; is_locked < 2; is_locked++)
        for (int kind = 0; kind < (is_locked ? KINDS : RGET); kind++)
            for (int order = 0; order < ORDERS; order++) {
                places_make(order);
                double ms = epoch_ms(kind, is_locked);
                if (rank == 0) printf("%-5s %-10s %-10s %8.1f ms\n", is_locked ? "lock" : "fence", kinds[kind], orders[order], ms);
            }
    MPI_Win_free(&win);
    free(place);
    free(requests);
    free(local);
    MPI_Finalize();
    return 0;
}
