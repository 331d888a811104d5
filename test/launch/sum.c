/* sum.c [CODE [exit]] -- for foreign.sh and pmix.sh, which compile it with other libraries' mpicc too: the ranks add up to what they should.  The
 * last rank aborts with CODE, or leaves.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, size, sum = 0, *app, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &flag);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (argc > 2 && rank == size - 1) _exit(atoi(argv[1]));
    if (argc > 1 && rank == size - 1) MPI_Abort(MPI_COMM_WORLD, atoi(argv[1]));
    if (argc > 1) sleep(200);
    printf("%d/%d app %d sum %d\n", rank, size, flag && size > 1 ? *app : 0, sum);
    MPI_Finalize();
    return 0;
}
