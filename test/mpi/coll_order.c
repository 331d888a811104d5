/* coll_order.c -- non-blocking and persistent collectives before a blocking one on some ranks and behind it on others, which is an error of the
 * program (MPI 4.1 section 6.12) and works with mpiexec --coll-order apart: each call meets its own, with all data right.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

enum { ROUNDS = 40, BIG = 20000 };

/* Step k of a round is done by each rank in an order of its own, but the blocking ones among themselves, and those with requests, in one. */
static void round_of(int i, MPI_Request persistent, int *kept)
{
    int n = i % 2 ? BIG : 3, before = (rank + i) % 3, a = rank + i, sum = -1, root = i % size, ok = 1;
    int *b = malloc(sizeof *b * (size_t)n), *all = malloc(sizeof *all * (size_t)size);
    MPI_Request q[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, persistent};
    for (int k = 0; k < n; k++) b[k] = rank == root ? i + k : -1;
    *kept = rank * (i + 1);
    for (int step = 0; step < 3; step++) {
        if (step == before) {
            MPI_Iallreduce(&a, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q[0]);
            MPI_Ibcast(b, n, MPI_INT, root, MPI_COMM_WORLD, &q[1]);
            MPI_Start(&q[2]);
        }
        if (step == 0) MPI_Allgather(&a, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
        if (step == 1) MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
    CHECK_EQ(sum, size * (size - 1) / 2 + size * i);
    CHECK_EQ(*kept, size * (size - 1) / 2 * (i + 1));
    for (int k = 0; k < n; k++) ok &= b[k] == i + k;
    for (int k = 0; k < size; k++) ok &= all[k] == k + i;
    CHECK(ok);
    free(b);
    free(all);
}

int main(int argc, char **argv)
{
    int kept = 0, wait;
    MPI_Request persistent;
    MPI_Init(&argc, &argv);
    test_begin();
    /* The making of it, too, comes before a blocking call here and behind it there. */
    if (rank % 2) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce_init(MPI_IN_PLACE, &kept, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent);
    if (rank % 2 == 0) MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS; i++) round_of(i, persistent, &kept);
    MPI_Request_free(&persistent);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half); /* blocking calls are counted as ever */
    MPI_Allreduce(&rank, &wait, 1, MPI_INT, MPI_MAX, half);
    CHECK_EQ(wait, (size - 1) % 2 == rank % 2 ? size - 1 : size - 2);
    MPI_Comm_free(&half);
    return test_end();
}
