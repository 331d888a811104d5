/* overlap.c -- how much of a large message's time a rank can spend computing (after the idea of Sandia's overlap benchmark).
 *
 *     overlap [BYTES...]      default 16384 65536 262144 1048576 4194304; two ranks
 *
 * Both ranks exchange a message: Irecv, Isend, compute, Waitall.  t0 is the time without computing.  Then they compute for w = 4 x t0,
 * which takes t1 altogether.  Prints "overlap BYTES t0 w t1 available", times in microseconds, medians of 21: `available` is the part
 * of t0 in which the cores were free for the program, 1 - (t1 - w) / t0, never below 0.  Run it with GODWIT_PROGRESS_THREAD=1 and
 * without, and with `mpiexec -r 1` where a core is to be had.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 21, LONGER = 4 };
static volatile double sink;

/* Arithmetic in registers for about so long: no memory, so that it takes nothing from the copying. */
static void compute(long rounds)
{
    double x = 1.0;
    for (long i = 0; i < rounds; i++) x = x * 1.0000001 + 1e-9;
    sink = x;
}

static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double exchange(char *in, char *out, int bytes, int peer, long rounds)
{
    double turns[TURNS], worst;
    for (int t = 0; t < TURNS; t++) {
        MPI_Request reqs[2];
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        MPI_Irecv(in, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &reqs[0]);
        MPI_Isend(out, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &reqs[1]);
        compute(rounds);
        MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE);
        turns[t] = (MPI_Wtime() - start) * 1e6;
    }
    qsort(turns, TURNS, sizeof *turns, order);
    MPI_Allreduce(&turns[TURNS / 2], &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

static double time_of(long rounds)
{
    double turns[TURNS], worst;
    for (int t = 0; t < TURNS; t++) {
        double start = MPI_Wtime();
        compute(rounds);
        turns[t] = (MPI_Wtime() - start) * 1e6;
    }
    qsort(turns, TURNS, sizeof *turns, order);
    MPI_Allreduce(&turns[TURNS / 2], &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"16384", "65536", "262144", "1048576", "4194304"};
    int rank, size, n = argc > 1 ? argc - 1 : 5;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        if (rank == 0) fprintf(stderr, "overlap: start two ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    double us_per_round = time_of(1000000) / 1000000;
    for (int i = 0; i < n; i++) {
        int bytes = atoi(argc > 1 ? argv[i + 1] : usual[i]);
        char *in = malloc((size_t)bytes), *out = malloc((size_t)bytes);
        memset(in, 0, (size_t)bytes);
        memset(out, rank + 1, (size_t)bytes);
        exchange(in, out, bytes, 1 - rank, 0); /* connections, pages */
        double t0 = exchange(in, out, bytes, 1 - rank, 0);
        long rounds = (long)(LONGER * t0 / us_per_round);
        double w = time_of(rounds), t1 = exchange(in, out, bytes, 1 - rank, rounds), available = 1 - (t1 - w) / t0;
        for (int k = 0; k < bytes; k += 4095)
            if (in[k] != 2 - rank) MPI_Abort(MPI_COMM_WORLD, 1);
        if (rank == 0) printf("overlap %d %.1f %.1f %.1f %.2f\n", bytes, t0, w, t1, available < 0 ? 0 : available);
        free(in);
        free(out);
    }
    MPI_Finalize();
    return 0;
}
