/* overlap.c -- how much of a transfer's time a rank can spend computing.
 *
 *     overlap [iallreduce|one] [BYTES...]      default 65536 1048576 16777216; two ranks
 *
 * Both ranks exchange a message: Irecv, Isend, compute, Waitall; or with `iallreduce` they sum up doubles: Iallreduce, compute, Wait.
 * t0 is the time without computing, w that of computing alone, for about as long; t1 that of both.  One turn measures each of them once,
 * so that a noisy neighbour troubles all alike; the ranks' maximum counts.  Prints "overlap BYTES t0 w t1 hidden left",
 * times in microseconds, medians of 9 turns: `hidden` is the part of the shorter of t0 and w that the other one hides, (t0 + w - t1) / min(t0, w);
 * 0: one after the other, 1: all of it; `left` is what the calls leave of the processor to a rank that computes four times as long, of t0.
 * With `one` only rank 0 computes, and rank 1 waits: `left` is what Sandia's benchmark (SMB) calls the availability of the host.
 * There, `hidden` is of computing four times as long as t0, of t0; and a last line "idle SHARE" tells how much of a processor the process
 * takes beside its computing while no message is under way.
 * Run it with GODWIT_PROGRESS_THREAD=1 and without; bench/hosts does so between two hosts.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <time.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 9, WARM = 3 };
static volatile double sink;
static int rank, is_sum, is_one;
static char *in, *out;
static double in_calls; /* microseconds of this thread's processor that the calls of the last turn took */

static double cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

/* Arithmetic in registers for about so long: no memory, so that it takes nothing from the copying. */
static void compute(long rounds)
{
    double x = 1.0;
    for (long i = 0; i < rounds; i++) x = x * 1.0000001 + 1e-9;
    sink = x;
}

static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double median(double *turns)
{
    qsort(turns, TURNS, sizeof *turns, order);
    return turns[TURNS / 2];
}

/* Microseconds on the slower rank; bytes 0: only computes. */
static double turn(int bytes, long rounds)
{
    MPI_Request reqs[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    double took, worst;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime(), cpu = cpu_us();
    if (bytes && is_sum) {
        MPI_Iallreduce(out, in, bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &reqs[0]);
    } else if (bytes) {
        MPI_Irecv(in, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &reqs[0]);
        MPI_Isend(out, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &reqs[1]);
    }
    in_calls = cpu_us() - cpu;
    if (!is_one || rank == 0) compute(rounds);
    cpu = cpu_us();
    MPI_Waitall(2, reqs, statuses);
    in_calls += cpu_us() - cpu;
    took = (MPI_Wtime() - start) * 1e6;
    MPI_Allreduce(&took, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

static void fill(int bytes, int turn_number)
{
    memset(in, 0, (size_t)bytes);
    for (int i = 0; i < bytes && !is_sum; i++) out[i] = (char)(i * 7 + rank + turn_number);
    for (int i = 0; i < bytes / (int)sizeof(double) && is_sum; i++) ((double *)out)[i] = i + rank * 1000 + turn_number;
}
static void check(int bytes, int turn_number)
{
    int wrong = 0;
    for (int i = 0; i < bytes && !is_sum; i++) wrong += in[i] != (char)(i * 7 + 1 - rank + turn_number);
    for (int i = 0; i < bytes / (int)sizeof(double) && is_sum; i++) wrong += ((double *)in)[i] != 2.0 * (i + turn_number) + 1000;
    if (!wrong) return;
    fprintf(stderr, "overlap: %d elements of %d bytes are wrong\n", wrong, bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void row(int bytes, double us_per_round)
{
    double t0[TURNS], w[TURNS], t1[TURNS], calls[TURNS];
    in = malloc((size_t)bytes), out = malloc((size_t)bytes);
    fill(bytes, 0);
    for (int i = 0; i < WARM; i++) turn(bytes, 0); /* connections, pages */
    for (int i = 0; i < TURNS; i++) t0[i] = turn(bytes, 0);
    long rounds = (long)(median(t0) / us_per_round);
    for (int i = 0; i < TURNS; i++) {
        fill(bytes, i);
        t0[i] = turn(bytes, 0);
        check(bytes, i);
        w[i] = turn(0, rounds);
        fill(bytes, i + TURNS);
        t1[i] = turn(bytes, rounds);
        check(bytes, i + TURNS);
        double beside = turn(bytes, 4 * rounds); /* long enough for the transfer to end meanwhile */
        calls[i] = in_calls / t0[i];
        if (is_one) {
            w[i] = turn(0, 4 * rounds);
            t1[i] = beside;
        }
    }
    double alone = median(t0), computing = median(w), both = median(t1);
    double shorter = is_one || alone < computing ? alone : computing;
    if (rank == 0)
        printf("overlap %d %.1f %.1f %.1f %.2f %.2f\n", bytes, alone, computing, both, (alone + computing - both) / shorter,
               1 - median(calls));
    fflush(stdout);
    free(in), free(out);
}

/* Nothing is under way: what the library's own threads take of a processor meanwhile. */
static void idle(long rounds)
{
    double shares[TURNS];
    for (int i = 0; i < TURNS; i++) {
        struct timespec t;
        double start = MPI_Wtime() * 1e6, cpu = cpu_us(), all;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        all = t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
        compute(rounds);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        shares[i] = (t.tv_sec * 1e6 + t.tv_nsec * 1e-3 - all - (cpu_us() - cpu)) / (MPI_Wtime() * 1e6 - start);
    }
    if (rank == 0) printf("idle %.5f\n", median(shares));
}

int main(int argc, char **argv)
{
    static const int usual[] = {65536, 1 << 20, 16 << 20};
    enum { ROUNDS = 1000000 };
    double w[TURNS];
    int size, at = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        if (rank == 0) fprintf(stderr, "overlap: start two ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (argc > at && strcmp(argv[at], "iallreduce") == 0) is_sum = at++;
    if (argc > at && strcmp(argv[at], "one") == 0) is_one = at++;
    for (int i = 0; i < TURNS; i++) w[i] = turn(0, ROUNDS);
    double us_per_round = median(w) / ROUNDS;
    MPI_Bcast(&us_per_round, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (argc > at)
        for (; at < argc; at++) row(atoi(argv[at]), us_per_round);
    else
        for (int i = 0; i < 3; i++) row(usual[i], us_per_round);
    if (is_one) idle((long)(200000 / us_per_round));
    MPI_Finalize();
    return 0;
}
