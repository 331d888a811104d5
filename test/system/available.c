/* available.c -- what the calls of a long message take of a thread that computes, for available.py; two ranks.
 *
 * `available BYTES`: Irecv, Isend, computing, Waitall, ROUNDS times, the calls in functions timed_*.  With a progress thread the computing
 * lasts until the message is there and its sender's request is likely to be over, else for so many steps.  Prints how many of the bytes of
 * all rounds were there before Waitall was called.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 20, WARM = 3, STEPS = 30000, AFTER = 60 };
static MPI_Request r[2];
static char *in, *out;
static int bytes, rank;

#define TIMED __attribute__((noinline, noclone)) void
TIMED timed_start(void)
{
    MPI_Irecv(in, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &r[1]);
}
TIMED timed_end(void) { MPI_Waitall(2, r, MPI_STATUSES_IGNORE); }

static long there(char new)
{
    long n = 0;
    for (int i = 0; i < bytes; i++) n += ((volatile char *)in)[i] == new;
    return n;
}

/* The progress thread, or the other rank, has the processor meanwhile, where there is but one (valgrind). */
static void compute(int has_thread, char new)
{
    if (!has_thread) usleep(20000);
    for (int i = 0; has_thread && i < STEPS && ((volatile char *)in)[bytes - 1] != new; i++) usleep(1000);
    for (int i = 0; has_thread && (i < AFTER || there(new) < bytes) && i < STEPS; i++) usleep(1000);
}

int main(int argc, char **argv)
{
    const char *thread = getenv("GODWIT_PROGRESS_THREAD");
    int has_thread = thread && strcmp(thread, "1") == 0;
    long before = 0, after = 0;
    bytes = argc > 1 ? atoi(argv[1]) : 1 << 16;
    in = malloc((size_t)bytes), out = malloc((size_t)bytes);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = -WARM; round < ROUNDS; round++) {
        char new = (char)(round & 1 ? 'a' : 'b'), old = (char)(round & 1 ? 'b' : 'a');
        memset(out, new, (size_t)bytes);
        memset(in, old, (size_t)bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        if (round < 0) {
            MPI_Sendrecv(out, bytes, MPI_BYTE, 1 - rank, 0, in, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            timed_start();
            compute(has_thread, new);
            before += there(new);
            timed_end();
        }
        after += there(new) == bytes;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (after != ROUNDS + WARM) {
        fprintf(stderr, "available: wrong data\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    printf("there %ld of %ld\n", before, (long)bytes * ROUNDS);
    MPI_Finalize();
    return 0;
}
