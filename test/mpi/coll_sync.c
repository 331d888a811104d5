/* coll_sync.c -- run with MPICH_COLL_SYNC=mpi_bcast: a root whose data are gone at once still waits for the last rank.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "p2p_check.h"

int main(void)
{
    static const double late = 0.3;
    int size, x[2];
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int root = 0; root < size; root++) {
        x[0] = rank == root ? 7 + root : 0, x[1] = -x[0];
        MPI_Barrier(MPI_COMM_WORLD);
        double t = MPI_Wtime();
        if (rank == (root + 1) % size) usleep((useconds_t)(late * 1e6));
        MPI_Bcast(x, 2, MPI_INT, root, MPI_COMM_WORLD);
        CHECK(MPI_Wtime() - t > 0.8 * late);
        CHECK_EQ(x[0], 7 + root);
        CHECK_EQ(x[1], -7 - root);
    }
    return test_end();
}
