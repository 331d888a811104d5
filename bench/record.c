/* record.c -- two ranks, messages of 8 bytes, nanoseconds for each: what `mpiexec --record` costs, by bench/record.
 *
 *     mpiexec -n 2 record recv|wait|waitall any|named ROUNDS
 *
 * recv, wait: half a round trip with MPI_Recv, or with MPI_Irecv and MPI_Wait.  waitall: both ranks start 50 receives, send 50 messages and
 * wait for the receives.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 50 };
static int rank, source;
static long in[WINDOW], out[WINDOW];

static void take(int waits)
{
    MPI_Request q;
    if (!waits) {
        MPI_Recv(in, 8, MPI_BYTE, source, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Irecv(in, 8, MPI_BYTE, source, 1, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}
static void there_and_back(int waits)
{
    if (rank == 1) take(waits);
    MPI_Send(out, 8, MPI_BYTE, !rank, 1, MPI_COMM_WORLD);
    if (rank == 0) take(waits);
}
static void window(void)
{
    MPI_Request q[WINDOW];
    for (int i = 0; i < WINDOW; i++) MPI_Irecv(&in[i], 8, MPI_BYTE, source, 1, MPI_COMM_WORLD, &q[i]);
    for (int i = 0; i < WINDOW; i++) MPI_Send(&out[i], 8, MPI_BYTE, !rank, 1, MPI_COMM_WORLD);
    MPI_Waitall(WINDOW, q, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 4 || ranks != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    const int rounds = atoi(argv[3]), waits = strcmp(argv[1], "recv") != 0, is_window = strcmp(argv[1], "waitall") == 0;
    source = strcmp(argv[2], "any") == 0 ? MPI_ANY_SOURCE : !rank;
    double t = 0;
    for (int i = -rounds / 10 - 1; i < rounds; i++) { /* some for nothing */
        if (i == 0) t = MPI_Wtime();
        if (is_window)
            window();
        else
            there_and_back(waits);
    }
    t = MPI_Wtime() - t;
    if (rank == 0) printf("%.2f\n", t / rounds / (is_window ? WINDOW : 2) * 1e9);
    MPI_Finalize();
    return 0;
}
