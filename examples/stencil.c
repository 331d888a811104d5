/* stencil.c -- a 2-D stencil on a grid of ranks, as programs have it that know nothing of nodes: rank r stands in row r / COLUMNS.
 *
 * Each rank has a block of cells; in a step it gets the edges of its four neighbours, averages, and all ranks look how much changed.
 *
 *     mpicc -O2 stencil.c -o stencil && mpiexec -n 96 ./stencil ROWS COLUMNS [STEPS [BYTES OF AN EDGE]]
 *
 * Prints the microseconds of a step.  doc/walkthrough.md makes it faster without changing it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UP, DOWN, LEFT, RIGHT, SIDES };

static int neighbour(int side, int row, int column, int rows, int columns)
{
    row += side == DOWN ? 1 : side == UP ? -1 : 0;
    column += side == RIGHT ? 1 : side == LEFT ? -1 : 0;
    return row < 0 || row >= rows || column < 0 || column >= columns ? MPI_PROC_NULL : row * columns + column;
}

/* One step; the cells are the four edges, which is all that travels.  What it changed. */
static double step(double *edge[SIDES], double *in[SIDES], int n, const int *next)
{
    MPI_Request q[2 * SIDES];
    double change = 0;
    for (int s = 0; s < SIDES; s++) MPI_Irecv(in[s], n, MPI_DOUBLE, next[s], s ^ 1, MPI_COMM_WORLD, &q[s]);
    for (int s = 0; s < SIDES; s++) MPI_Isend(edge[s], n, MPI_DOUBLE, next[s], s, MPI_COMM_WORLD, &q[SIDES + s]);
    MPI_Waitall(2 * SIDES, q, MPI_STATUSES_IGNORE);
    for (int s = 0; s < SIDES; s++)
        for (int i = 0; i < n; i++) {
            double was = edge[s][i];
            edge[s][i] = .5 * (next[s] == MPI_PROC_NULL ? was : in[s][i]) + .25 * (was + edge[(s + 2) % SIDES][i]);
            change += (edge[s][i] - was) * (edge[s][i] - was);
        }
    return change;
}

int main(int argc, char **argv)
{
    int rank, ranks, next[SIDES], rows = argc > 2 ? atoi(argv[1]) : 0, columns = argc > 2 ? atoi(argv[2]) : 0;
    int steps = argc > 3 ? atoi(argv[3]) : 50, n = (argc > 4 ? atoi(argv[4]) : 32768) / (int)sizeof(double);
    double *edge[SIDES], *in[SIDES], change = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rows * columns != ranks || n < 1 || steps < 1) {
        if (rank == 0) {
            fprintf(stderr, "usage: stencil ROWS COLUMNS [STEPS [BYTES]], of ROWS * COLUMNS ranks\n");
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        MPI_Barrier(MPI_COMM_WORLD); /* waits for the end: an abort here might come before rank 0 has printed */
    }
    for (int s = 0; s < SIDES; s++) {
        next[s] = neighbour(s, rank / columns, rank % columns, rows, columns);
        edge[s] = malloc(sizeof(double) * (size_t)n), in[s] = calloc((size_t)n, sizeof(double));
        if (!edge[s] || !in[s]) MPI_Abort(MPI_COMM_WORLD, 1);
        for (int i = 0; i < n; i++) edge[s][i] = rank + s;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double t = MPI_Wtime();
    for (int k = 0; k < steps; k++) {
        change = step(edge, in, n, next);
        MPI_Allreduce(&change, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    t = MPI_Wtime() - t;
    if (rank == 0) printf("%.0f us a step, change %.6e\n", t / steps * 1e6, all);
    for (int s = 0; s < SIDES; s++) free(edge[s]), free(in[s]);
    MPI_Finalize();
    return 0;
}
