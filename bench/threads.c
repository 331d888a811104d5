/* threads.c -- message rate with several threads a rank: rank 0's threads send 8-byte messages to rank 1's, windows of 64.
 *
 *     threads own|shared THREADS      own: a communicator per thread; shared: one for all, a tag per thread
 *
 * Prints "own|shared THREADS microseconds": per message, all threads together, the best of the batches.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64, ROUNDS = 150, BATCHES = 8, MAX_THREADS = 16 };
static int rank, n_threads;
static MPI_Comm comms[MAX_THREADS];
static pthread_barrier_t together;
static double best = 1e9;

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
    for (int b = 0; b < BATCHES; b++) {
        pthread_barrier_wait(&together);
        double start = MPI_Wtime();
        for (int r = 0; r < ROUNDS; r++) window(me, comms[me], buf, word);
        pthread_barrier_wait(&together);
        double each = (MPI_Wtime() - start) * 1e6 / ROUNDS / WINDOW / n_threads;
        if (me == 0 && each < best) best = each;
    }
    free(buf);
    return NULL;
}

int main(int argc, char **argv)
{
    int got, own;
    pthread_t threads[MAX_THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &got);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3 || got < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 2);
    own = strcmp(argv[1], "own") == 0;
    n_threads = atoi(argv[2]);
    if (n_threads < 1 || n_threads > MAX_THREADS) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < n_threads; i++) {
        comms[i] = MPI_COMM_WORLD;
        if (own) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    pthread_barrier_init(&together, NULL, (unsigned)n_threads);
    for (int i = 1; i < n_threads; i++) pthread_create(&threads[i], NULL, run, (void *)(size_t)i);
    run(NULL);
    for (int i = 1; i < n_threads; i++) pthread_join(threads[i], NULL);
    if (rank == 0) printf("%s %d %.4f\n", argv[1], n_threads, best);
    for (int i = 0; own && i < n_threads; i++) MPI_Comm_free(&comms[i]);
    return MPI_Finalize();
}
