/* lanes_many.c -- as many endpoints of the network as there are lanes (mtl_ofi_num_ctxts), also beyond 16: communicators are spread over them
 * one by one, an endpoint comes with the first message of its lane, and further communicators share the lanes by turns.
 *
 *   lanes_many N: with N lanes, on two nodes
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "counters_check.h"

enum { MOST = 64, MORE = 7 };

int main(int argc, char **argv)
{
    MPI_Comm c[MOST + MORE];
    MPI_Init(&argc, &argv);
    test_begin();
    int lanes = argc > 1 ? atoi(argv[1]) : 4, other = size - 1 - rank, v;
    CHECK(lanes <= MOST && size == 2);
    counters_begin();
    MPI_T_pvar_handle h = counter("connections", MPI_T_PVAR_CLASS_COUNTER);
    MPI_Sendrecv(&rank, 1, MPI_INT, other, 0, &v, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < lanes + MORE; i++) MPI_Comm_dup(MPI_COMM_WORLD, &c[i]);
    for (int i = 0; i < lanes + MORE; i++) {
        unsigned long long before = counted(h);
        MPI_Request r[2];
        MPI_Irecv(&v, 1, MPI_INT, other, 1, c[i], &r[0]);
        MPI_Isend(&i, 1, MPI_INT, other, 1, c[i], &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK_EQ(v, i);
        CHECK(counted(h) - before <= 1); /* with its first message */
    }
    CHECK(counted(h) <= (unsigned long long)lanes); /* what the start has connected is not counted here */
    CHECK(counted(h) + 1 >= (unsigned long long)lanes);
    for (int i = 0; i < lanes + MORE; i++) MPI_Comm_free(&c[i]);
    counters_end();
    return test_end();
}
