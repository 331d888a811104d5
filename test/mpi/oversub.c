/* oversub.c -- many more ranks than cores: 200 barriers and 200 allreduces of 8 bytes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    for (int i = 0; i < 200; i++) MPI_Barrier(MPI_COMM_WORLD);
    for (long long i = 0; i < 200; i++) {
        long long mine = rank * i + 1, sum = -1;
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(sum, i * size * (size - 1) / 2 + size);
    }
    return test_end();
}
