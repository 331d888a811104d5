/* hosts.c -- between two hosts: half a round trip and the bandwidth of messages, allreduce and alltoall.
 *
 *     hosts          rank 0 on one host, rank 1 (or half of the ranks) on another; see bench/hosts
 *
 * Prints "name bytes microseconds": the best of 9 batches.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 9, LARGEST = 16 << 20 };
static int rank, size;
static char *in, *out;

static void ping_pong(int bytes, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Send(out, bytes, MPI_BYTE, size / 2, 0, MPI_COMM_WORLD);
            MPI_Recv(in, bytes, MPI_BYTE, size / 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == size / 2) {
            MPI_Recv(in, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    }
}
static void allreduces(int bytes, int rounds)
{
    for (int i = 0; i < rounds; i++) MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void alltoalls(int bytes, int rounds)
{
    for (int i = 0; i < rounds; i++) MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void row(const char *name, void (*run)(int, int), int bytes, int rounds, double share)
{
    double best = 1e30;
    run(bytes, rounds / 10 + 1);
    for (int b = 0; b < BATCHES; b++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        run(bytes, rounds);
        double us = (MPI_Wtime() - start) * 1e6 / rounds * share;
        if (us < best) best = us;
    }
    if (rank == 0) printf("%s %d %.3f\n", name, bytes, best);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    in = calloc(1, LARGEST);
    out = calloc(1, LARGEST);
    if (size == 2) {
        row("latency", ping_pong, 8, 2000, 0.5);
        row("latency", ping_pong, 1024, 2000, 0.5);
        row("latency", ping_pong, 65536, 400, 0.5);
        row("latency", ping_pong, 1 << 20, 40, 0.5);
        row("latency", ping_pong, LARGEST, 4, 0.5);
    } else {
        row("allreduce", allreduces, 8, 300, 1);
        row("allreduce", allreduces, 65536, 60, 1);
        row("alltoall", alltoalls, 8, 300, 1);
        row("alltoall", alltoalls, 65536, 30, 1);
    }
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
