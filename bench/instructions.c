/* instructions.c -- 1000 calls of each kind inside functions timed_*, for callgrind (--toggle-collect): 8 bytes, two ranks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>

enum { N = 1000, WINDOW = 50 };
static MPI_Request q[WINDOW];
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

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = -2; round < N / WINDOW; round++) {
        if (rank == 1) timed_MPI_Irecv();
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) timed_MPI_Isend();
        MPI_Waitall(WINDOW, q, MPI_STATUSES_IGNORE);
        if (rank == 0) timed_MPI_Send();
        for (int k = 0; rank == 1 && k < WINDOW; k++) MPI_Recv(&y[k], 8, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
