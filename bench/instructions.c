/* instructions.c -- 1000 calls of each kind inside functions timed_*, for callgrind (--toggle-collect): 8 bytes, two ranks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>

enum { N = 1000, WINDOW = 50 };
static MPI_Request q[WINDOW];
static MPI_Win win;
static long x, y[WINDOW];

#define TIMED __attribute__((noinline, noclone)) void
TIMED timed_MPI_Isend(void)
{
    for (int k = 0; k < WINDOW; k++) MPI_Isend(&x, 8, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &q[k]);
}
TIMED timed_MPI_Irecv(void)
{
    for (int k = 0; k < WINDOW; k++) MPI_Irecv(&y[k], 8, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &q[k]);
}
TIMED timed_MPI_Send(void)
{
    for (int k = 0; k < WINDOW; k++) MPI_Send(&x, 8, MPI_BYTE, 1, 6, MPI_COMM_WORLD);
}
TIMED timed_MPI_Put_flush(void)
{
    for (int k = 0; k < WINDOW; k++) {
        MPI_Put(&x, 1, MPI_LONG, 1, k, 1, MPI_LONG, win);
        MPI_Win_flush(1, win);
    }
}

int main(int argc, char **argv)
{
    int rank;
    long *mine;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof y, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_lock_all(0, win);
    for (int round = -2; round < N / WINDOW; round++) {
        if (rank == 1) timed_MPI_Irecv();
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) timed_MPI_Isend();
        MPI_Waitall(WINDOW, q, MPI_STATUSES_IGNORE);
        if (rank == 0) timed_MPI_Send();
        if (rank == 0) timed_MPI_Put_flush();
        for (int k = 0; rank == 1 && k < WINDOW; k++) MPI_Recv(&y[k], 8, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
