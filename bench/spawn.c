/* spawn.c -- how long MPI_Comm_spawn and MPI_Comm_disconnect of N processes take: spawn BATCHES; prints "name N microseconds".
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static const int sizes[] = {1, 4};
    MPI_Comm parent, inter;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    int batches = argc > 1 ? atoi(argv[1]) : 5;
    for (int s = 0; s < 2; s++) {
        double best = 1e9;
        for (int i = 0; i < batches; i++) {
            double t = MPI_Wtime();
            MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, sizes[s], MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
            MPI_Comm_disconnect(&inter);
            t = MPI_Wtime() - t;
            if (t < best) best = t;
        }
        printf("spawn_disconnect %d %.1f\n", sizes[s], best * 1e6);
    }
    MPI_Finalize();
    return 0;
}
