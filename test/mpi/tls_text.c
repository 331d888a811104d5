/* tls_text.c -- one rank sends another a text that system/tls.py looks for on the network.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

int main(int argc, char **argv)
{
    static const char text[] = "a text that nobody else may read";
    char got[sizeof text] = "";
    MPI_Init(&argc, &argv);
    test_begin();
    if (rank == 0) MPI_Send(text, sizeof text, MPI_CHAR, size - 1, 1, MPI_COMM_WORLD);
    if (rank == size - 1) {
        MPI_Recv(got, sizeof got, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(strcmp(got, text) == 0);
    }
    return test_end();
}
