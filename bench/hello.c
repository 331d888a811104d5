/* hello.c -- init and finalize only: launch time, and with an argument the resident memory of a rank.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* Proportional set size of this process in KiB. */
static double pss_kib(void)
{
    char line[256];
    double kib = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Pss: %lf", &kib) == 1) break;
    if (f) fclose(f);
    return kib;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && !strcmp(argv[1], "memory")) {
        double x = 0, sum = 0, mine;
        for (int i = 1; i < ranks; i++) /* everybody talks to everybody */
            MPI_Sendrecv(&x, 1, MPI_DOUBLE, (rank + i) % ranks, 0, &sum, 1, MPI_DOUBLE, (rank - i + ranks) % ranks, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        mine = pss_kib();
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (!rank) printf("memory %d %.1f\n", ranks, sum / ranks);
    }
    MPI_Finalize();
    return 0;
}
