/* overlap.c -- with GODWIT_PROGRESS_THREAD=1, pending operations end while the program makes no MPI call.
 *
 * `overlap [FIRST]`: collectives of FIRST numbers, of 64 times as many and so on to a MiB; without it, of a MiB.
 *
 * The program looks at its receive buffers only (what it may not do, but it is how to see it without a call).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <time.h>

#include "p2p_check.h"

enum { N = 1 << 18, SECONDS = 120 };

/* Computes, without a call of MPI, until *word is `want` or much time has passed. */
static int comes(volatile const int *word, int want)
{
    struct timespec start, now;
    double sum = 0;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        for (int i = 1; i < 100000; i++) sum += 1.0 / i;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (*word != want && now.tv_sec - start.tv_sec < SECONDS && sum > 0);
    return *word == want;
}

/* Computes for a second while nothing is under way: the thread sleeps. */
static void pause_while_computing(void)
{
    double sum = 0, start = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    while (MPI_Wtime() - start < 1)
        for (int i = 1; i < 100000; i++) sum += 1.0 / i;
    CHECK(sum > 0);
}

static int *numbers(int first, int step)
{
    int *v = malloc((size_t)N * size * sizeof *v);
    for (int i = 0; i < N * size; i++) v[i] = first + step * i;
    return v;
}

static void large_message(void)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size, *out = numbers(rank, 1), *in = numbers(-1, 0);
    MPI_Request r[2];
    MPI_Irecv(in, N, MPI_INT, from, 3, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, N, MPI_INT, to, 3, MPI_COMM_WORLD, &r[1]);
    CHECK(comes(&in[N - 1], from + N - 1));
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) CHECK_EQ(in[i], from + i);
    free(out), free(in);
}

/* Of n numbers a rank, or to each rank. */
static void collectives(int n)
{
    int *out = numbers(rank, 1), *in = numbers(-1, 0), *all = numbers(-1, 0);
    MPI_Request r[2];
    MPI_Iallreduce(out, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[0]);
    MPI_Ialltoall(out, n, MPI_INT, all, n, MPI_INT, MPI_COMM_WORLD, &r[1]);
    CHECK(comes(&in[n - 1], size * (size - 1) / 2 + size * (n - 1)));
    for (int from = 0; from < size; from++) CHECK(comes(&all[from * n + n - 1], from + rank * n + n - 1));
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) CHECK_EQ(in[i], size * (size - 1) / 2 + size * i);
    for (int i = 0; i < n * size; i++) CHECK_EQ(all[i], i / n + rank * n + i % n);
    for (int i = 0; i < n * size; i++) all[i] = -1;
    for (int i = 0; i < n && rank == size - 1; i++) in[i] = 7 * i + 1;
    for (int i = 0; i < n && rank != size - 1; i++) in[i] = -1;
    MPI_Ibcast(in, n, MPI_INT, size - 1, MPI_COMM_WORLD, &r[0]);
    MPI_Iallgather(out, n, MPI_INT, all, n, MPI_INT, MPI_COMM_WORLD, &r[1]);
    CHECK(comes(&in[n - 1], 7 * (n - 1) + 1));
    for (int from = 0; from < size; from++) CHECK(comes(&all[from * n + n - 1], from + n - 1));
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) CHECK_EQ(in[i], 7 * i + 1);
    for (int i = 0; i < n * size; i++) CHECK_EQ(all[i], i / n + i % n);
    free(out), free(in), free(all);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    large_message();
    for (int n = argc > 1 ? atoi(argv[1]) : N; n <= N; n *= 64) collectives(n);
    pause_while_computing();
    large_message();
    return test_end();
}
