/* nodes.c -- which ranks share a node, by MPI_COMM_TYPE_SHARED, is what the arguments say: one word a rank, equal for ranks of one node.
 * Messages between all of them arrive where they should; nodes have memory of their own.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdlib.h>

#include "../unit.h"

static int rank, size;

static void node_members(char **node)
{
    MPI_Comm comm;
    int n, me, expected = 0, before = 0, members[64] = {0};
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    MPI_Allgather(&rank, 1, MPI_INT, members, 1, MPI_INT, comm);
    for (int r = 0; r < size; r++) {
        if (strcmp(node[r], node[rank]) != 0) continue;
        if (expected < n) CHECK_EQ(members[expected], r);
        before += r < rank;
        expected++;
    }
    CHECK_EQ(n, expected);
    CHECK_EQ(me, before);
    MPI_Win win;
    int *mine, *first, total = 0;
    MPI_Aint bytes;
    int unit;
    MPI_Win_allocate_shared(sizeof *mine, sizeof *mine, MPI_INFO_NULL, comm, &mine, &win);
    MPI_Win_fence(0, win);
    *mine = rank + 1;
    MPI_Win_fence(0, win);
    for (int i = 0; i < n; i++) {
        MPI_Win_shared_query(win, i, &bytes, &unit, &first);
        total += *first - (members[i] + 1);
    }
    CHECK_EQ(total, 0);
    MPI_Win_free(&win);
    MPI_Comm_free(&comm);
}

static void messages(void)
{
    int *to = malloc(sizeof *to * (size_t)size), *from = malloc(sizeof *from * (size_t)size);
    for (int i = 0; i < size; i++) {
        to[i] = rank * 1000 + i;
        from[i] = -1;
    }
    MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) CHECK_EQ(from[i], i * 1000 + rank);
    for (int i = 1; i < size; i++) {
        int dest = (rank + i) % size, source = (rank - i + size) % size, got = -1;
        MPI_Sendrecv(&rank, 1, MPI_INT, dest, i, &got, 1, MPI_INT, source, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(got, source);
    }
    free(to);
    free(from);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != size + 1) {
        fprintf(stderr, "nodes: %d ranks want as many words, not %d\n", size, argc - 1);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    node_members(argv + 1);
    messages();
    MPI_Finalize();
    return unit_end();
}
