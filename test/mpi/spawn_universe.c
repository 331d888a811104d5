/* spawn_universe.c -- MPI_UNIVERSE_SIZE leaves room: a program that starts what is missing to it, as the standard's manager does, gets
 * workers on any machine, and each of them does its part.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spawn_check.h"

enum { MOST = 6 }; /* of the workers; a test is no load test */

int main(int argc, char **argv)
{
    int *universe = NULL, flag = 0, number, codes[MOST];
    MPI_Comm parent, workers;
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_get_parent(&parent);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
    CHECK(flag && *universe > size);
    if (parent != MPI_COMM_NULL) { /* a worker: squares what it gets */
        MPI_Recv(&number, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
        number *= number;
        MPI_Send(&number, 1, MPI_INT, 0, 2, parent);
        MPI_Comm_disconnect(&parent);
        return test_end();
    }
    int n = *universe - size < MOST ? *universe - size : MOST;
    CHECK_EQ(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, n, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &workers, codes), MPI_SUCCESS);
    for (int i = 0; rank == 0 && i < n; i++) {
        number = 100 + i;
        MPI_Send(&number, 1, MPI_INT, i, 1, workers);
    }
    for (int i = 0; rank == 0 && i < n; i++) {
        MPI_Recv(&number, 1, MPI_INT, i, 2, workers, MPI_STATUS_IGNORE);
        CHECK_EQ(number, (100 + i) * (100 + i));
    }
    MPI_Comm_disconnect(&workers);
    return test_end();
}
