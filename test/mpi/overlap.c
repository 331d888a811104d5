/* overlap.c -- with GODWIT_PROGRESS_THREAD=1, pending operations end while the program makes no MPI call.
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

static void collectives(void)
{
    int *out = numbers(rank, 1), *in = numbers(-1, 0), *all = numbers(-1, 0);
    MPI_Request r[2];
    MPI_Iallreduce(out, in, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[0]);
    MPI_Ialltoall(out, N, MPI_INT, all, N, MPI_INT, MPI_COMM_WORLD, &r[1]);
    CHECK(comes(&in[N - 1], size * (size - 1) / 2 + size * (N - 1)));
    for (int from = 0; from < size; from++) CHECK(comes(&all[from * N + N - 1], from + rank * N + N - 1));
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) CHECK_EQ(in[i], size * (size - 1) / 2 + size * i);
    for (int i = 0; i < N * size; i++) CHECK_EQ(all[i], i / N + rank * N + i % N);
    free(out), free(in), free(all);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    large_message();
    collectives();
    large_message();
    return test_end();
}
