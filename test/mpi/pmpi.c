/* pmpi.c -- a tool's own MPI_Send and MPI_Allreduce are called instead of the library's and reach it by PMPI_; the library itself
 * never calls an MPI_ name, so a tool sees each call of the program once.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>

static int sends, sums, failures;

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    sums++;
    return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

static void want(int got, int wanted, const char *what)
{
    if (got == wanted) return;
    failures++;
    fprintf(stderr, "%s: %d, not %d\n", what, got, wanted);
}

int main(int argc, char **argv)
{
    int rank, size, x, sum = 0;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    x = rank;
    if (rank > 0) MPI_Send(&x, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD);
    if (rank < size - 1) {
        MPI_Recv(&x, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        want(x, rank + 1, "the message");
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    want(sum, size * (size - 1) / 2, "the sum");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* agrees on a context inside */
    MPI_Bcast(&x, 1, MPI_INT, 0, comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    want(sends, rank > 0, "calls of MPI_Send");
    want(sums, 1, "calls of MPI_Allreduce");
    MPI_Finalize();
    return failures != 0;
}
