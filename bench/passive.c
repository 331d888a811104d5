/* passive.c -- how long an access takes whose target computes and calls nothing: lock, put and unlock, one after the other and 5 ms apart.
 *
 *     mpiexec -n 2 --vnodes 2 passive
 *
 * Prints "passive GAP_US BYTES first median p99 max" in us: the first access comes 1 ms or less after the target has left MPI.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 2000, LONGEST = 32768 };

static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void compute(double s)
{
    volatile double x = 0;
    for (double from = MPI_Wtime(); MPI_Wtime() - from < s;)
        for (int i = 0; i < 100000; i++) x += i;
}

static void access_for(double s, int bytes, int gap_us, MPI_Win win)
{
    static char buf[LONGEST];
    static double us[MOST];
    int n = 0;
    for (double from = MPI_Wtime(); n < MOST && MPI_Wtime() - from < s; n++) {
        double t = MPI_Wtime();
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(buf, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
        MPI_Win_unlock(1, win);
        us[n] = (MPI_Wtime() - t) * 1e6;
        if (gap_us) usleep((useconds_t)gap_us);
    }
    double first = us[0];
    qsort(us, (size_t)n, sizeof us[0], order);
    printf("passive %d %d %.0f %.0f %.0f %.0f\n", gap_us, bytes, first, us[n / 2], us[n * 99 / 100], us[n - 1]);
}

int main(int argc, char **argv)
{
    int rank;
    char *memory;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(LONGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int gap_us = 0; gap_us <= 5000; gap_us += 5000)
        for (int bytes = 8; bytes <= LONGEST; bytes *= 64) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == 0) access_for(0.9, bytes, gap_us, win);
            if (rank == 1) compute(1);
        }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
