/* ring.c -- a token goes round, and grows by each rank's number: ring [ROUNDS [MILLISECONDS [SECONDS]]], 0 rounds: for ever.  Prints
 * which ranks share memory, then "turning" once the token has been round; with MILLISECONDS each rank rests before it passes it on;
 * with SECONDS the last one goes to MPI_Finalize later than the others.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank, size;

static void check(int ok, const char *what, long about)
{
    if (ok) return;
    printf("rank %d: %s (%ld)\n", rank, what, about);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Those that share memory are those that have this host's name. */
static void nodes(void)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "", *all = calloc((size_t)size, sizeof name);
    int len, here = 0, shared;
    MPI_Comm node;
    MPI_Get_processor_name(name, &len);
    MPI_Allgather(name, sizeof name, MPI_CHAR, all, sizeof name, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        int same = 1;
        for (int k = 0; k < len + 1; k++) same &= name[k] == all[(size_t)i * sizeof name + (size_t)k];
        here += same;
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &shared);
    check(shared == here, "ranks that share memory are not those of the host", shared);
    printf("rank %d of %d: %d on %s\n", rank, size, shared, name);
    fflush(stdout);
    MPI_Comm_free(&node);
    free(all);
}

static void turn(long round, long *token, long pause)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    if (rank > 0) MPI_Recv(token, 1, MPI_LONG, before, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (pause) usleep((useconds_t)pause * 1000);
    *token += rank;
    if (size > 1) MPI_Send(token, 1, MPI_LONG, next, 5, MPI_COMM_WORLD);
    if (rank == 0 && size > 1) MPI_Recv(token, 1, MPI_LONG, before, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) check(*token == (round + 1) * size * (size - 1) / 2, "the token came back with another number", *token);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 100, pause = argc > 2 ? atol(argv[2]) : 0, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    nodes();
    for (long i = 0; !rounds || i < rounds; i++) {
        turn(i, &token, pause);
        if (i > 0 || rank > 0) continue;
        puts("turning");
        fflush(stdout);
    }
    if (argc > 3 && rank == size - 1) sleep((unsigned)atoi(argv[3]));
    MPI_Finalize();
    return 0;
}
