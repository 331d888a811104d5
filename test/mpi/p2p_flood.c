/* p2p_flood.c -- many sends to a rank that does not receive yet: no send fails, memory stays bounded, order and data are right.
 *
 * args: bytes of a message, messages (100,000).  The receiver first takes a message that each sender sends last but one in time (another tag).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "nodes_check.h"

#include <sys/resource.h>
#include <unistd.h>

enum { MEMORY_MIB = 40, FAR_MIB = 6 }; /* for a sender on another node libfabric has buffers of its own, and fills them */

static long peak_kib(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    int bytes = argc > 1 ? atoi(argv[1]) : 8, messages = argc > 2 ? atoi(argv[2]) : 100000;
    char *b = calloc(1, (size_t)bytes + 8);
    long most = MEMORY_MIB;
    for (int i = 0; i < size; i++) most += is_neighbour(MPI_COMM_WORLD, i) ? 0 : FAR_MIB;
    MPI_Barrier(MPI_COMM_WORLD);
    long before = peak_kib();
    if (rank == 0) {
        usleep(300000);
        /* Progress without receiving what they send. */
        for (int i = 0; i < 200; i++) {
            int flag;
            MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
            usleep(1000);
        }
        int *next = calloc((size_t)size, sizeof *next);
        for (int i = 0; i < messages * (size - 1); i++) {
            MPI_Status s;
            MPI_Recv(b, bytes, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &s);
            int number;
            memcpy(&number, b, sizeof number);
            CHECK_EQ(number, next[s.MPI_SOURCE]++);
            CHECK_EQ(count_of(&s), bytes);
        }
        free(next);
    } else {
        for (int i = 0; i < messages; i++) {
            memcpy(b, &i, sizeof i);
            MPI_Send(b, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
    CHECK(peak_kib() - before < most * 1024);
    free(b);
    return test_end();
}
