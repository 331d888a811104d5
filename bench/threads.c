/* threads.c -- message rate with several threads a rank: rank 0's threads send 8-byte messages to rank 1's, windows of 64.
 *
 *     threads own|shared THREADS...      own: a communicator per thread; shared: one for all, a tag per thread
 *
 * The numbers of threads take turns, batch by batch, so that they can be compared though cores and caches may change under a virtual
 * machine.  Prints for each "own|shared THREADS microseconds ratio": per message, all threads together, the median of the batches;
 * and how much faster that is than with the first number, the median over the turns.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64, ROUNDS = 40, TURNS = 25, MAX_THREADS = 16, MAX_NUMBERS = 8 };
static int rank, n_threads, n_numbers, numbers[MAX_NUMBERS];
static MPI_Comm comms[MAX_THREADS];
static pthread_barrier_t together;
static double us[MAX_NUMBERS][TURNS], ratio[MAX_NUMBERS][TURNS];

static void window(int me, MPI_Comm comm, char buf[][8], char *word)
{
    MPI_Request reqs[WINDOW];
    for (int i = 0; i < WINDOW; i++) {
        if (rank == 0)
            MPI_Isend(buf[i], 8, MPI_BYTE, 1, me, comm, &reqs[i]);
        else
            MPI_Irecv(buf[i], 8, MPI_BYTE, 0, me, comm, &reqs[i]);
    }
    MPI_Waitall(WINDOW, reqs, MPI_STATUSES_IGNORE);
    if (rank == 0)
        MPI_Recv(word, 1, MPI_BYTE, 1, me, comm, MPI_STATUS_IGNORE);
    else
        MPI_Send(word, 1, MPI_BYTE, 0, me, comm);
}

static void *run(void *arg)
{
    int me = (int)(size_t)arg;
    char(*buf)[8] = calloc(WINDOW, 8), word[64];
    for (int t = 0; t < TURNS; t++) {
        for (int k = 0; k < n_numbers; k++) {
            pthread_barrier_wait(&together);
            double start = MPI_Wtime();
            for (int r = 0; me < numbers[k] && r < ROUNDS; r++) window(me, comms[me], buf, word);
            pthread_barrier_wait(&together);
            if (me == 0) us[k][t] = (MPI_Wtime() - start) * 1e6 / ROUNDS / WINDOW / numbers[k];
        }
    }
    free(buf);
    return NULL;
}

static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double median(double *v)
{
    qsort(v, TURNS, sizeof *v, order);
    return v[TURNS / 2];
}

int main(int argc, char **argv)
{
    int got, own;
    pthread_t threads[MAX_THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &got);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3 || argc - 2 > MAX_NUMBERS || got < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 2);
    own = strcmp(argv[1], "own") == 0;
    for (n_numbers = 0; n_numbers < argc - 2; n_numbers++) {
        int n = numbers[n_numbers] = atoi(argv[n_numbers + 2]);
        if (n < 1 || n > MAX_THREADS) MPI_Abort(MPI_COMM_WORLD, 2);
        if (n > n_threads) n_threads = n;
    }
    for (int i = 0; i < n_threads; i++) {
        comms[i] = MPI_COMM_WORLD;
        if (own) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    pthread_barrier_init(&together, NULL, (unsigned)n_threads);
    for (int i = 1; i < n_threads; i++) pthread_create(&threads[i], NULL, run, (void *)(size_t)i);
    run(NULL);
    for (int i = 1; i < n_threads; i++) pthread_join(threads[i], NULL);
    for (int k = 0; k < n_numbers; k++)
        for (int t = 0; t < TURNS; t++) ratio[k][t] = us[0][t] / us[k][t];
    for (int k = 0; k < n_numbers && rank == 0; k++)
        printf("%s %d %.4f %.2f\n", argv[1], numbers[k], median(us[k]), median(ratio[k]));
    for (int i = 0; own && i < n_threads; i++) MPI_Comm_free(&comms[i]);
    return MPI_Finalize();
}
