/* nic_counters.c -- for test/system/nic_counters.sh: `nic_counters [FILE VALUE]...` writes the values while MPI runs, as a network card
 * would that counts.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, sum = 0, one = 1, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD); /* everybody has read what was there before */
    for (int i = 1; rank == 0 && i + 1 < argc; i += 2) {
        FILE *f = fopen(argv[i], "w");
        if (!f || fprintf(f, "%s\n", argv[i + 1]) < 0 || fclose(f) != 0) {
            perror(argv[i]);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* nobody is at the end before they are written */
    if (sum != size) MPI_Abort(MPI_COMM_WORLD, 1);
    return MPI_Finalize();
}
