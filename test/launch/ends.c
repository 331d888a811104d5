/* ends.c WHO HOW [NUMBER] -- rank WHO ends in a certain way while the others wait for it in MPI; for the scripts beside it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int is(const char *a, const char *b) { return strcmp(a, b) == 0; }

int main(int argc, char **argv)
{
    int who = argc > 1 ? atoi(argv[1]) : -1, number = argc > 3 ? atoi(argv[3]) : 0, rank, size, x = 0;
    const char *how = argc > 2 ? argv[2] : "", *mine = getenv("GODWIT_RANK");
    if (is(how, "noinit") && mine && atoi(mine) == who) return number;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is(how, "badfinal")) { /* its MPI_Finalize fails, as the others are in a barrier */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        if (rank == who) return MPI_Finalize() != MPI_SUCCESS ? number : 0;
        MPI_Barrier(MPI_COMM_WORLD);
        pause();
    }
    if (rank == who) {
        printf("pid %d\n", (int)getpid());
        fflush(stdout);
        if (is(how, "nofinal")) exit(number);
        if (is(how, "abort")) {
            printf("said before, and not flushed\n");
            MPI_Abort(MPI_COMM_WORLD, number);
        }
        if (is(how, "signal")) raise(number);
        if (is(how, "wait")) MPI_Recv(&x, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* never comes */
        if (is(how, "recv")) {
            void *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            MPI_Recv(nowhere, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    } else if (is(how, "recv") && rank == (who + 1) % size) {
        MPI_Send(&x, 1, MPI_INT, who, 0, MPI_COMM_WORLD);
    }
    if (!is(how, "final")) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (is(how, "final") && rank == who) {
        if (number < 0) raise(-number);
        return number;
    }
    return 0;
}
