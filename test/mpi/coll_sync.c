/* coll_sync.c -- run with MPICH_COLL_SYNC=mpi_bcast: a root whose data are gone at once still waits for the last rank.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "p2p_check.h"

int main(void)
{
    int size, x[2];
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int root = 0; root < size; root++) {
        x[0] = rank == root ? 7 + root : 0, x[1] = -x[0];
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == (root + 1) % size) usleep(300000);
        double came = test_now(), left, last, first;
        MPI_Bcast(x, 2, MPI_INT, root, MPI_COMM_WORLD);
        left = test_now();
        MPI_Allreduce(&came, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(&left, &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        CHECK(last <= first);
        CHECK_EQ(x[0], 7 + root);
        CHECK_EQ(x[1], -7 - root);
    }
    return test_end();
}
