/* coll_choices.c -- each collective on MPI_COMM_WORLD by sizes that grow; rank 0 writes a line behind each call, between those of
 * GODWIT_EXPLAIN=coll: "did COLLECTIVE BYTES TOLD", where TOLD are the bytes that those lines are to have.
 * test/system/choices.py compares them with what godwit-choices says.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <unistd.h>

#include "p2p_check.h"

enum { MOST = 1 << 18 };

static void did(const char *what, long bytes, long told)
{
    char line[64];
    int n = snprintf(line, sizeof line, "did %s %ld %ld\n", what, bytes, told);
    if (rank == 0) CHECK_EQ(write(STDERR_FILENO, line, (size_t)n), n);
}

/* Blocks of n words to and from each rank. */
static void vectors(const int64_t *in, int64_t *out, int n)
{
    int *counts = malloc((size_t)size * sizeof *counts), *displs = malloc((size_t)size * sizeof *displs);
    long bytes = n * 8L;
    for (int i = 0; i < size; i++) counts[i] = n, displs[i] = i * n;
    MPI_Gatherv(in, n, MPI_INT64_T, out, counts, displs, MPI_INT64_T, 0, MPI_COMM_WORLD);
    for (int i = 0; i < size && rank == 0; i++) CHECK_EQ(out[(long)i * n + n - 1], i);
    did("gatherv", bytes, bytes);
    MPI_Scatterv(in, counts, displs, MPI_INT64_T, out, n, MPI_INT64_T, 0, MPI_COMM_WORLD);
    CHECK_EQ(out[n - 1], 0);
    did("scatterv", bytes, bytes);
    MPI_Alltoallv(in, counts, displs, MPI_INT64_T, out, counts, displs, MPI_INT64_T, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) CHECK_EQ(out[(long)i * n + n - 1], i);
    did("alltoallv", bytes, bytes * size);
    free(counts);
    free(displs);
}

static void blocks(const int64_t *in, int64_t *out, int n)
{
    long bytes = n * 8L;
    MPI_Gather(in, n, MPI_INT64_T, out, n, MPI_INT64_T, 0, MPI_COMM_WORLD);
    did("gather", bytes, bytes);
    MPI_Scatter(in, n, MPI_INT64_T, out, n, MPI_INT64_T, 0, MPI_COMM_WORLD);
    did("scatter", bytes, bytes);
    MPI_Allgather(in, n, MPI_INT64_T, out, n, MPI_INT64_T, MPI_COMM_WORLD);
    did("allgather", bytes, bytes);
    MPI_Alltoall(in, n, MPI_INT64_T, out, n, MPI_INT64_T, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) CHECK_EQ(out[(long)i * n + n - 1], i);
    did("alltoall", bytes, bytes);
}

static void operands(const int64_t *in, int64_t *out, int n)
{
    long bytes = n * 8L, sum = size * (size - 1L) / 2;
    MPI_Bcast(out, n, MPI_INT64_T, 0, MPI_COMM_WORLD);
    did("bcast", bytes, bytes);
    MPI_Reduce(in, out, n, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    did("reduce", bytes, bytes);
    MPI_Allreduce(in, out, n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(out[n - 1], sum);
    did("allreduce", bytes, bytes);
    MPI_Reduce_scatter_block(in, out, n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(out[n - 1], sum);
    did("reduce_scatter", bytes * size, bytes * size);
    MPI_Scan(in, out, n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    did("scan", bytes, bytes);
    MPI_Exscan(in, out, n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    did("exscan", bytes, bytes);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    int64_t *in = malloc((size_t)size * MOST), *out = calloc((size_t)size, MOST);
    for (long i = 0; i < size * (long)MOST / 8; i++) in[i] = rank;
    MPI_Barrier(MPI_COMM_WORLD);
    did("barrier", 0, 0);
    for (int n = 1; n <= MOST / 8; n *= 4) {
        vectors(in, out, n);
        blocks(in, out, n);
        operands(in, out, n);
    }
    free(in);
    free(out);
    return test_end();
}
