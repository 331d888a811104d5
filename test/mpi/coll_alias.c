/* coll_alias.c -- one address for what a collective reads and what it writes: refused where the bytes are the same, taken where
 * nothing moves or a datatype keeps the two apart (MPI 4.1 sections 2.3 and 6.2).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

enum { N = 3 };
static MPI_Comm comm;
static int n_ranks, *x, *counts; /* N numbers a rank; N for each */

static int class_of(int code)
{
    int class = code;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    return class;
}
#define REFUSED(call) CHECK_EQ(class_of(call), MPI_ERR_BUFFER)
#define TAKEN(call)   CHECK_EQ(call, MPI_SUCCESS)

static void refused(void)
{
    MPI_Request q;
    REFUSED(MPI_Allreduce(x, x, N, MPI_INT, MPI_SUM, comm));
    REFUSED(MPI_Allreduce_c(x, x, N, MPI_INT, MPI_SUM, comm));
    REFUSED(MPI_Iallreduce(x, x, N, MPI_INT, MPI_SUM, comm, &q));
    REFUSED(MPI_Allreduce_init(x, x, N, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &q));
    REFUSED(MPI_Reduce_scatter(x, x, counts, MPI_INT, MPI_SUM, comm));
    REFUSED(MPI_Reduce_scatter_block(x, x, N, MPI_INT, MPI_SUM, comm));
    REFUSED(MPI_Scan(x, x, N, MPI_INT, MPI_SUM, comm));
    REFUSED(MPI_Exscan(x, x, N, MPI_INT, MPI_SUM, comm));
    REFUSED(MPI_Allgather(x, N, MPI_INT, x, N, MPI_INT, comm));
    REFUSED(MPI_Iallgather(x, N, MPI_INT, x, N * (int)sizeof(int), MPI_BYTE, comm, &q));
    REFUSED(MPI_Alltoall(x, N, MPI_INT, x, N, MPI_INT, comm));
    REFUSED(MPI_Reduce_local(x, x, N, MPI_INT, MPI_SUM));
    /* Only the root reads and writes: alone, so that nobody waits for it. */
    REFUSED(MPI_Reduce(x, x, N, MPI_INT, MPI_SUM, 0, MPI_COMM_SELF));
    REFUSED(MPI_Gather(x, N, MPI_INT, x, N, MPI_INT, 0, MPI_COMM_SELF));
    REFUSED(MPI_Scatter(x, N, MPI_INT, x, N, MPI_INT, 0, MPI_COMM_SELF));
    REFUSED(MPI_Iscatter(x, N, MPI_INT, x, N, MPI_INT, 0, MPI_COMM_SELF, &q));
    for (int i = 0; i < N * n_ranks; i++) CHECK_EQ(x[i], 100 * rank + i); /* nothing was touched */
}

static void nothing_moves(void)
{
    MPI_Datatype empty;
    int *zeros = calloc((size_t)n_ranks, sizeof *zeros);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    TAKEN(MPI_Allreduce(x, x, 0, MPI_INT, MPI_SUM, comm));
    TAKEN(MPI_Reduce_scatter(x, x, zeros, MPI_INT, MPI_SUM, comm));
    TAKEN(MPI_Allgather(x, 0, MPI_INT, x, 0, MPI_INT, comm));
    TAKEN(MPI_Alltoall(x, 5, empty, x, 5, empty, comm));
    TAKEN(MPI_Reduce_local(NULL, NULL, 0, MPI_INT, MPI_SUM));
    for (int i = 0; i < N * n_ranks; i++) CHECK_EQ(x[i], 100 * rank + i);
    MPI_Type_free(&empty);
    free(zeros);
}

/* With MPICH_NO_BUFFER_ALIAS_CHECK the same calls are taken, and a reduction does what it would do in place. */
static void fill(void)
{
    for (int i = 0; i < N * n_ranks; i++) x[i] = 100 * rank + i;
}
static void check_sums(int first, int members) /* x[0..N) = the sum of elements `first`.. of ranks 0..members */
{
    for (int i = 0; i < N; i++) CHECK_EQ(x[i], 100 * (members * (members - 1) / 2) + (first + i) * members);
}
static void unchecked(void)
{
    int root = n_ranks - 1;
    fill();
    TAKEN(MPI_Allreduce(x, x, N, MPI_INT, MPI_SUM, comm));
    check_sums(0, n_ranks);
    fill();
    TAKEN(MPI_Reduce_scatter(x, x, counts, MPI_INT, MPI_SUM, comm));
    check_sums(N * rank, n_ranks);
    fill();
    TAKEN(MPI_Reduce_scatter_block(x, x, N, MPI_INT, MPI_SUM, comm));
    check_sums(N * rank, n_ranks);
    fill();
    TAKEN(MPI_Scan(x, x, N, MPI_INT, MPI_SUM, comm));
    check_sums(0, rank + 1);
    fill();
    TAKEN(MPI_Exscan(x, x, N, MPI_INT, MPI_SUM, comm));
    if (rank > 0) check_sums(0, rank);
    fill();
    TAKEN(MPI_Reduce(x, x, N, MPI_INT, MPI_SUM, root, comm));
    if (rank == root) check_sums(0, n_ranks);
    MPI_Request q;
    fill();
    TAKEN(MPI_Iallreduce(x, x, N, MPI_INT, MPI_SUM, comm, &q));
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    check_sums(0, n_ranks);
    fill();
    TAKEN(MPI_Allgather(x, N, MPI_INT, x, N, MPI_INT, comm)); /* taken; what x holds now is not said */
    fill();
    TAKEN(MPI_Reduce_local(x, x, N, MPI_INT, MPI_SUM));
    for (int i = 0; i < N; i++) CHECK_EQ(x[i], 2 * (100 * rank + i));
}

/* Off the root the receive buffer of a gather and a reduction is not looked at, nor the send buffer of a scatter. */
static void ignored(void)
{
    int root = n_ranks - 1, *all = malloc(sizeof *all * N * (size_t)n_ranks), *mine = rank == root ? all : x;
    int *from = rank == root ? all : x, got[N], *to = rank == root ? got : x;
    TAKEN(MPI_Gather(x, N, MPI_INT, mine, N, MPI_INT, root, comm));
    for (int i = 0; rank == root && i < N * n_ranks; i++) CHECK_EQ(all[i], 100 * (i / N) + i % N);
    TAKEN(MPI_Scatter(from, N, MPI_INT, to, N, MPI_INT, root, comm));
    for (int i = 0; i < N; i++) CHECK_EQ(to[i], 100 * rank + i);
    TAKEN(MPI_Reduce(x, to, N, MPI_INT, MPI_SUM, root, comm));
    for (int i = 0; rank == root && i < N; i++) CHECK_EQ(got[i], 100 * (n_ranks * (n_ranks - 1) / 2) + i * n_ranks);
    free(all);
}

/* One base address, other bytes: what is received lies behind all that is sent, or in its gaps. */
static void apart(void)
{
    MPI_Datatype behind, odd, even, t;
    int n = N * n_ranks, *both = malloc(sizeof *both * 2 * (size_t)n);
    MPI_Aint at = (MPI_Aint)sizeof(int) * n;
    MPI_Type_create_hindexed_block(1, N, &at, MPI_INT, &t);
    MPI_Type_create_resized(t, 0, N * (MPI_Aint)sizeof(int), &behind);
    MPI_Type_free(&t);
    at = sizeof(int);
    MPI_Type_create_hindexed_block(1, 1, &at, MPI_INT, &t);
    MPI_Type_create_resized(t, 0, 2 * sizeof(int), &odd);
    MPI_Type_free(&t);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &even);
    MPI_Type_commit(&behind), MPI_Type_commit(&odd), MPI_Type_commit(&even);
    for (int i = 0; i < 2 * n; i++) both[i] = i < n ? 100 * rank + i : -1;
    TAKEN(MPI_Allgather(both, N, MPI_INT, both, 1, behind, comm));
    for (int i = 0; i < n; i++) CHECK(both[i] == 100 * rank + i && both[n + i] == 100 * (i / N) + i % N);
    for (int i = 0; i < 2 * n; i++) both[i] = i % 2 ? -1 : 100 * rank + i / 2;
    TAKEN(MPI_Alltoall(both, N, even, both, N, odd, comm));
    for (int i = 0; i < n; i++) CHECK(both[2 * i] == 100 * rank + i && both[2 * i + 1] == 100 * (i / N) + N * rank + i % N);
    MPI_Type_free(&behind), MPI_Type_free(&odd), MPI_Type_free(&even);
    free(both);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    n_ranks = size;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    x = malloc(sizeof *x * N * (size_t)n_ranks);
    counts = malloc(sizeof *counts * (size_t)n_ranks);
    for (int i = 0; i < n_ranks; i++) counts[i] = N;
    fill();
    if (argc > 1) {
        unchecked();
        fill();
    } else {
        refused();
    }
    nothing_moves();
    ignored();
    apart();
    MPI_Comm_free(&comm);
    free(x), free(counts);
    return test_end();
}
