/* memory_use.c -- takes known amounts of memory and gives them back, for test/system/memory_report.sh: ARGUMENTS are MiB by malloc of
 * rank 1 in pieces of 1 KiB, MiB of rank 2 in one piece, and MiB of a window of all ranks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    enum { KIB = 1 << 10 };
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
    int pieces = rank == 1 ? atoi(argv[1]) * KIB : 0;
    char **p = malloc((size_t)(pieces + 1) * sizeof *p), *one = rank == 2 ? malloc((size_t)atoi(argv[2]) << 20) : NULL;
    for (int i = 0; i < pieces; i++) memset(p[i] = malloc(KIB), i, KIB);
    if (one) memset(one, 1, (size_t)atoi(argv[2]) << 20);
    for (int i = 0; i < pieces; i++) free(p[i]);
    free(p);
    free(one);
    if (atoi(argv[3]) > 0) {
        char *base;
        MPI_Win win;
        MPI_Win_allocate((MPI_Aint)atoi(argv[3]) << 20, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        MPI_Win_free(&win);
    }
    MPI_Finalize();
    return 0;
}
