/* coll_large.c -- the _c forms of the collectives, and places that need more than 32 bits: displacements of gigabytes, types
 * whose extent is one.  The memory is reserved, but only a few pages of it are ever touched.
 *
 * users.md row 23
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/mman.h>

#include "coll_check.h"

#define GIB (1l << 30)
enum { N = 5, MAX_RANKS = 16 };
static char *huge_in, *huge_out;
static long huge_bytes;

static char *reserve(long bytes)
{
    void *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}
static int load(const char *base, long at)
{
    int v;
    memcpy(&v, base + at, 4);
    return v;
}
static void store(char *base, long at, int v) { memcpy(base + at, &v, 4); }
/* The n ints of a block at `at`, each `step` bytes behind the one before. */
static void block_store(char *base, long at, long step, int from, int to, int n)
{
    for (int i = 0; i < n; i++) store(base, at + i * step, value_of(from, to, i));
}
static void block_check(const char *base, long at, long step, int from, int to, int n)
{
    for (int i = 0; i < n; i++) CHECK_EQ(load(base, at + i * step), value_of(from, to, i));
}

/* One int in each 256 MiB. */
static void sparse_types(void)
{
    MPI_Datatype one, sparse;
    long step = GIB / 4;
    MPI_Type_dup(MPI_INT, &one);
    sparse = type_resized(one, 0, step);
    for (int root = 0; root<size; root += size> 1 ? size - 1 : 1) {
        block_store(huge_in, 0, step, rank, 1, 12);
        MPI_Bcast(huge_in, 12, sparse, root, MPI_COMM_WORLD); /* to byte 2.75 GiB */
        block_check(huge_in, 0, step, root, 1, 12);
    }
    block_store(huge_in, 0, step, rank, 0, 2);
    MPI_Allgather(huge_in, 2, sparse, huge_out, 2, sparse, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) block_check(huge_out, 2 * i * step, step, i, 0, 2);
    for (int i = 0; i < size; i++) block_store(huge_in, i * step, step, rank, i, 1);
    MPI_Alltoall_c(huge_in, 1, sparse, huge_out, 1, sparse, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) block_check(huge_out, i * step, step, i, rank, 1);
    MPI_Type_free(&sparse);
}

/* Displacements beyond 2 GiB and 2^31 elements of one byte. */
static void far_blocks(void)
{
    MPI_Count counts[MAX_RANKS], bytes[MAX_RANKS];
    MPI_Aint displs[MAX_RANKS], near[MAX_RANKS];
    int root = size - 1, mine[N], in[MAX_RANKS * N];
    MPI_Datatype types[MAX_RANKS];
    for (int i = 0; i < size; i++) {
        counts[i] = N, bytes[i] = 4 * N, types[i] = MPI_INT;
        displs[i] = (2 * GIB + 64 + (size - i) * (GIB / 8)) & ~63l;
        near[i] = i * 4 * N;
    }
    for (int i = 0; i < N; i++) mine[i] = value_of(rank, 0, i);
    MPI_Gatherv_c(mine, 4 * N, MPI_BYTE, huge_out, bytes, displs, MPI_BYTE, root, MPI_COMM_WORLD);
    for (int i = 0; i < size && rank == root; i++) block_check(huge_out, displs[i], 4, i, 0, N);
    MPI_Allgatherv_c(mine, 4 * N, MPI_BYTE, huge_out, bytes, displs, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) block_check(huge_out, displs[i], 4, i, 0, N);
    for (int i = 0; i < size; i++) block_store(huge_in, displs[i], 4, rank, i, N);
    MPI_Scatterv_c(huge_in, bytes, displs, MPI_BYTE, mine, 4 * N, MPI_BYTE, root, MPI_COMM_WORLD);
    block_check((char *)mine, 0, 4, root, rank, N);
    MPI_Alltoallv_c(huge_in, bytes, displs, MPI_BYTE, in, bytes, (MPI_Aint[MAX_RANKS]){0}, MPI_BYTE, MPI_COMM_SELF);
    block_check((char *)in, 0, 4, rank, 0, N);
    MPI_Alltoallw_c(huge_in, counts, displs, types, in, counts, near, types, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) block_check((char *)in, near[i], 4, i, rank, N);
}

static void other_c_forms(void)
{
    MPI_Count v[MAX_RANKS], sum[MAX_RANKS], counts[MAX_RANKS], big = 5 * GIB + rank, got;
    for (int i = 0; i < size; i++) v[i] = (i + 1) * 4 * GIB + rank, counts[i] = 1;
    long ranks = (long)size * (size - 1) / 2;
    MPI_Allreduce_c(v, sum, size, MPI_COUNT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) CHECK_EQ(sum[i], size * (i + 1) * 4 * GIB + ranks);
    MPI_Reduce_scatter_c(v, &got, counts, MPI_COUNT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(got, size * (rank + 1) * 4 * GIB + ranks);
    MPI_Reduce_scatter_block_c(v, &got, 1, MPI_COUNT, MPI_MAX, MPI_COMM_WORLD);
    CHECK_EQ(got, (rank + 1) * 4 * GIB + size - 1);
    MPI_Reduce_c(&big, &got, 1, MPI_COUNT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0) CHECK_EQ(got, 5 * GIB);
    MPI_Scan_c(&big, &got, 1, MPI_COUNT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(got, (rank + 1) * 5 * GIB + rank * (rank + 1) / 2);
    got = -1;
    MPI_Exscan_c(&big, &got, 1, MPI_COUNT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(got, rank ? rank * 5 * GIB + rank * (rank - 1) / 2 : -1);
    MPI_Gather_c(&big, 1, MPI_COUNT, v, 1, MPI_COUNT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < size && rank == 0; i++) CHECK_EQ(v[i], 5 * GIB + i);
    MPI_Scatter_c(v, 1, MPI_COUNT, &got, 1, MPI_COUNT, 0, MPI_COMM_WORLD);
    CHECK_EQ(got, 5 * GIB + rank);
    MPI_Allgather_c(&big, 1, MPI_COUNT, v, 1, MPI_COUNT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) CHECK_EQ(v[i], 5 * GIB + i);
    MPI_Bcast_c(&big, 1, MPI_COUNT, size - 1, MPI_COMM_WORLD);
    CHECK_EQ(big, 5 * GIB + size - 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    huge_bytes = 5 * GIB;
    huge_in = reserve(huge_bytes);
    huge_out = reserve(huge_bytes);
    if (!huge_in || !huge_out || size > MAX_RANKS / 2) {
        if (rank == 0) printf("not enough address space, or more than 8 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 77);
    }
    sparse_types();
    far_blocks();
    other_c_forms();
    return test_end();
}
