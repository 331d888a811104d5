/* align.c -- what a long message costs by where its two buffers lie: the receiver reads it from memory to memory, and a copy between
 * addresses that differ within a cache line loads or stores across lines.
 *
 *     align [BYTES]       default 262144; two ranks
 *
 * Prints "align SEND RECEIVE ratio": by how many bytes beyond a page the buffers begin, and the time over that of 0 and 0, medians of turns in
 * which all take part.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 25, TIMES = 20, PAGE = 4096, PLACES = 6 };
static const int places[PLACES][2] = {{0, 0}, {1, 1}, {0, 1}, {0, 8}, {0, 32}, {32, 0}};

static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double us[TURNS], ratio[PLACES][TURNS];
    int rank, bytes = argc > 1 ? atoi(argv[1]) : 262144;
    char *memory, word = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (posix_memalign((void **)&memory, PAGE, (size_t)bytes + PAGE)) return 1;
    memset(memory, rank, (size_t)bytes + PAGE);
    for (int t = 0; t < TURNS; t++)
        for (int p = 0; p < PLACES; p++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double start = MPI_Wtime();
            for (int i = 0; i < TIMES && rank < 2; i++) {
                if (rank == 0) {
                    MPI_Send(memory + places[p][0], bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
                    MPI_Recv(&word, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                } else {
                    MPI_Recv(memory + places[p][1], bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    MPI_Send(&word, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
                }
            }
            double took = (MPI_Wtime() - start) * 1e6 / TIMES;
            if (p == 0) us[t] = took;
            ratio[p][t] = took / us[t];
        }
    for (int p = 0; p < PLACES && rank == 0; p++) {
        qsort(ratio[p], TURNS, sizeof *ratio[p], order);
        printf("align %d %d %.2f\n", places[p][0], places[p][1], ratio[p][TURNS / 2]);
    }
    free(memory);
    MPI_Finalize();
    return 0;
}
