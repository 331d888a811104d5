/* hosts.c -- between two hosts: half a round trip, many messages under way, one-sided access, allreduce and alltoall.
 *
 *     hosts [WORD]   rank 0 on one host, rank 1 (or half of the ranks) on another; see bench/hosts.  WORD: only rows of this name
 *
 * Prints "name bytes microseconds": the best of 7 batches, each of as many calls as take about 40 ms.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_SECONDS 0.04
enum { BATCHES = 7, LARGEST = 16 << 20 };
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
/* One way, so many under way, and an answer a window; time of each. */
static void window(int bytes, int rounds, int ahead)
{
    MPI_Request r[64];
    char word = 0;
    for (int k = 0; k < rounds && rank % (size / 2) == 0; k++) {
        for (int i = 0; i < ahead; i++)
            if (rank == 0)
                MPI_Isend(out, bytes, MPI_BYTE, size / 2, 0, MPI_COMM_WORLD, &r[i]);
            else
                MPI_Irecv(in, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &r[i]);
        MPI_Waitall(ahead, r, MPI_STATUSES_IGNORE);
        if (rank == 0)
            MPI_Recv(&word, 1, MPI_BYTE, size / 2, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(&word, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}
static void window_64(int bytes, int rounds) { window(bytes, rounds, 64); }
static void window_16(int bytes, int rounds) { window(bytes, rounds, 16); }

static void allreduces(int bytes, int rounds)
{
    for (int i = 0; i < rounds; i++) MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void alltoalls(int bytes, int rounds)
{
    for (int i = 0; i < rounds; i++) MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

/* One-sided: rank 0 to rank 1, which waits in a barrier; each with its flush, and `puts`: 64 with one flush, time of each. */
static MPI_Win win;
static void put(int bytes, int rounds)
{
    for (int i = 0; i < rounds && rank == 0; i++) {
        MPI_Put(out, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void puts_64(int bytes, int rounds)
{
    for (int i = 0; i < rounds && rank == 0; i++) {
        MPI_Put(out, bytes, MPI_BYTE, 1, i % 64 * bytes, bytes, MPI_BYTE, win);
        if (i % 64 == 63 || i == rounds - 1) MPI_Win_flush(1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void get(int bytes, int rounds)
{
    for (int i = 0; i < rounds && rank == 0; i++) {
        MPI_Get(in, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void gets_64(int bytes, int rounds)
{
    for (int i = 0; i < rounds && rank == 0; i++) {
        MPI_Get(in + i % 64 * bytes, bytes, MPI_BYTE, 1, i % 64 * bytes, bytes, MPI_BYTE, win);
        if (i % 64 == 63 || i == rounds - 1) MPI_Win_flush(1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void fetch_and_op(int bytes, int rounds)
{
    (void)bytes;
    for (int i = 0; i < rounds && rank == 0; i++) {
        MPI_Fetch_and_op(out, in, MPI_LONG, 1, 0, MPI_SUM, win);
        MPI_Win_flush(1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The same number on all ranks; the first call, which connects, does not count. */
static int rounds_for(void (*run)(int, int), int bytes)
{
    run(bytes, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    run(bytes, 3);
    double rounds = BATCH_SECONDS * 3 / (MPI_Wtime() - start);
    int n = rounds < 2 ? 2 : rounds > 4000 ? 4000 : (int)rounds;
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return n;
}

static const char *only;
static void row(const char *name, void (*run)(int, int), int bytes, double share)
{
    if (only && strcmp(only, name)) return;
    double best = 1e30;
    int rounds = rounds_for(run, bytes);
    for (int b = 0; b < BATCHES; b++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        run(bytes, rounds);
        double us = (MPI_Wtime() - start) * 1e6 / rounds * share;
        if (us < best) best = us;
    }
    if (rank == 0) printf("%s %d %.3f\n", name, bytes, best), fflush(stdout);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    in = calloc(1, LARGEST);
    out = calloc(1, LARGEST);
    only = argc > 1 ? argv[1] : NULL;
    if (size == 2) {
        static const int sizes[] = {8, 1024, 65536, 1 << 20, LARGEST};
        for (int i = 0; i < 5; i++) row("latency", ping_pong, sizes[i], 0.5);
        row("window64", window_64, 8, 1. / 64);
        row("window16", window_16, 65536, 1. / 16);
        row("window16", window_16, 1 << 20, 1. / 16);
        row("window16", window_16, LARGEST, 1. / 16);
        char *part;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (MPI_Win_allocate(4 << 20, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win) != MPI_SUCCESS) {
            if (rank == 0) printf("no windows here\n");
            MPI_Finalize();
            return 0;
        }
        MPI_Win_lock_all(0, win);
        row("put", put, 8, 1);
        row("puts", puts_64, 8, 1);
        row("puts", puts_64, 4096, 1);
        row("put", put, 65536, 1);
        row("put", put, 1 << 20, 1);
        row("get", get, 8, 1);
        row("gets", gets_64, 8, 1);
        row("get", get, 65536, 1);
        row("get", get, 1 << 20, 1);
        row("fetch_and_op", fetch_and_op, 8, 1);
        MPI_Win_unlock_all(win);
        MPI_Win_free(&win);
    } else {
        static const int reduced[] = {8, 4096, 65536, 1 << 20}, exchanged[] = {8, 4096, 65536, 256 << 10};
        for (int i = 0; i < 4; i++) row("allreduce", allreduces, reduced[i], 1);
        for (int i = 0; i < 4; i++) row("alltoall", alltoalls, exchanged[i], 1);
    }
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
