/* net_asked.c -- [FILE]: ranks 0 and 1 talk; rank 0 makes FILE, and waits for FILE.go; then rank 2 calls rank 0, which talks to rank 1 meanwhile,
 * makes FILE.talked, and answers rank 2 (system/munge.py stops a daemon between the two).  Without
 * FILE nobody makes files or waits for them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *file;

static char *path(const char *end)
{
    static char text[400];
    snprintf(text, sizeof text, "%s%s", file, end);
    return text;
}

static void make(const char *end)
{
    FILE *f = file ? fopen(path(end), "w") : NULL;
    if (!file) return;
    if (!f || fclose(f) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
}

static void await(const char *end)
{
    while (file && access(path(end), F_OK) != 0) usleep(1000);
}

static void talk(int rank, int times)
{
    int x = 0;
    for (int i = 0; i < times; i++) {
        if (rank == 0) MPI_Send(&i, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(&x, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (x != i) MPI_Abort(MPI_COMM_WORLD, 3);
        if (rank == 1) MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank, size, x = 42;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) file = argv[1];
    if (size < 3) MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank < 2) talk(rank, 1);
    if (rank == 0) make("");
    if (rank != 1) await(".go");
    if (rank == 2) MPI_Send(&x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    if (rank == 2) make(".called");
    if (rank == 0) await(".called");
    if (rank < 2) talk(rank, 1000);
    if (rank == 0) make(".talked");
    if (rank == 0 || rank == 2) {
        x = 0;
        MPI_Recv(&x, 1, MPI_INT, 2 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (x != 42) MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 2, 2, MPI_COMM_WORLD);
    return MPI_Finalize();
}
