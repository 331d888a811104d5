/* reproducible.c -- what sums cost that depend on the operands alone: MPI_Allreduce of doubles on a communicator with the info key
 * "reproducible" as "any" against the same call on one without, by turns.  A line for each size: bytes, microseconds of both (medians
 * of the turns, rank 0), median of the ratios.
 *
 *     mpiexec -n 2 reproducible [turns]
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_TURNS = 201, MOST_BYTES = 16 << 20 };
static double *in, *out;

static double calls(MPI_Comm comm, int n, int bytes)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double t = MPI_Wtime();
    for (int i = 0; i < n; i++) MPI_Allreduce(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
    return (MPI_Wtime() - t) / n * 1e6;
}
static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[n / 2];
}

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 1 << 10, 8 << 10, 64 << 10, 1 << 20, 16 << 20};
    static double plain[MOST_TURNS], any[MOST_TURNS], ratios[MOST_TURNS];
    int rank, turns = argc > 1 ? atoi(argv[1]) : 31;
    MPI_Comm exact;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (turns < 1 || turns > MOST_TURNS) turns = MOST_TURNS;
    MPI_Comm_dup(MPI_COMM_WORLD, &exact);
    MPI_Info_create(&info);
    MPI_Info_set(info, "reproducible", "any");
    MPI_Comm_set_info(exact, info);
    MPI_Info_free(&info);
    in = malloc(MOST_BYTES), out = malloc(MOST_BYTES);
    if (!in || !out) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < MOST_BYTES / 8; i++)
        in[i] = (double)(((unsigned)i * 7919u + (unsigned)rank) * 2654435761u) * (i % 5 ? 1 : 1e-6);
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int n = sizes[s] <= 8 << 10 ? 500 : sizes[s] <= 64 << 10 ? 50 : sizes[s] <= 1 << 20 ? 10 : 1;
        for (int t = -1; t < turns; t++) { /* the first for nothing */
            double p = calls(MPI_COMM_WORLD, n, sizes[s]), a = calls(exact, n, sizes[s]);
            if (t >= 0) plain[t] = p, any[t] = a, ratios[t] = a / p;
        }
        if (rank == 0) printf("%d %.2f %.2f %.2f\n", sizes[s], median(plain, turns), median(any, turns), median(ratios, turns));
    }
    free(in), free(out);
    MPI_Comm_free(&exact);
    MPI_Finalize();
    return 0;
}
