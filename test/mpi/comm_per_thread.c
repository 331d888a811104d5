/* comm_per_thread.c -- the example of threads that have a communicator each: two ranks, copies of MPI_COMM_WORLD made one after the other, a
 * thread a copy; all send and receive at the same time.  What the communicators share: lanes, each with a lock and, to another node, a
 * connection of its own, which begin with the first message.
 *
 *     comm_per_thread own N      N threads on N communicators; there are as many lanes: each comes with its first message, and no thread of
 *                                two that only send and receive there finds a lock held
 *     comm_per_thread wraps N    on 2 N communicators over N lanes: N lanes are used, and threads find locks held
 *     comm_per_thread shared N   N threads on one communicator: one lane, and threads find its lock held
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>

#include "counters_check.h"

enum { MOST = 16, WINDOW = 32, ROUNDS = 300, SECONDS = 100 };
static struct thread {
    pthread_t id;
    MPI_Comm comm;
    int number, rounds, bad;
} threads[MOST];

/* Rank 0 sends, rank 1 receives, as in the example; then the other way round. */
static void *talk(void *arg)
{
    struct thread *t = arg;
    int partner = 1 - rank;
    for (int round = 0; round < t->rounds; round++) {
        int out[WINDOW], in[WINDOW];
        MPI_Request q[WINDOW];
        for (int i = 0; i < WINDOW; i++) {
            out[i] = t->number * 1000 + round * 10 + i + rank, in[i] = -1;
            if (rank == round % 2)
                MPI_Isend(&out[i], 1, MPI_INT, partner, t->number, t->comm, &q[i]);
            else
                MPI_Irecv(&in[i], 1, MPI_INT, partner, t->number, t->comm, &q[i]);
        }
        MPI_Waitall(WINDOW, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < WINDOW && rank != round % 2; i++) t->bad += in[i] != t->number * 1000 + round * 10 + i + partner;
    }
    return NULL;
}

static void run(int n, int rounds)
{
    for (int i = 0; i < n; i++) {
        threads[i].rounds = rounds;
        pthread_create(&threads[i].id, NULL, talk, &threads[i]);
    }
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i].id, NULL);
        CHECK_EQ(threads[i].bad, 0);
    }
}

int main(int argc, char **argv)
{
    int provided, is_shared = argc > 2 && !strcmp(argv[1], "shared"), wraps = argc > 2 && !strcmp(argv[1], "wraps");
    int lanes = argc > 2 ? atoi(argv[2]) : 4, n = wraps ? 2 * lanes : lanes, n_comms = is_shared ? 1 : n;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    test_begin();
    CHECK(provided == MPI_THREAD_MULTIPLE && size == 2 && n <= MOST);
    counters_begin();
    MPI_T_pvar_handle waited = counter("locks_waited", MPI_T_PVAR_CLASS_COUNTER);
    MPI_T_pvar_handle connections = counter("connections", MPI_T_PVAR_CLASS_COUNTER);
    for (int i = 0; i < n; i++) {
        threads[i].number = i;
        if (i < n_comms) MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].comm);
        threads[i].comm = threads[i < n_comms ? i : 0].comm;
        int word = i, got = -1; /* the first message on it: each of the first `lanes` opens one, the world has one already */
        MPI_Sendrecv(&word, 1, MPI_INT, 1 - rank, 5, &got, 1, MPI_INT, 1 - rank, 5, threads[i].comm, MPI_STATUS_IGNORE);
        CHECK_EQ(got, i);
        CHECK(counted(connections) <= (unsigned)i + 2); /* none of a lane without messages */
    }
    int is_far = counted(connections) > 0;
    if (is_far) {
        CHECK(counted(connections) <= (unsigned)(is_shared ? 2 : lanes)); /* the world's, and those of the copies */
        CHECK(is_shared || counted(connections) == (unsigned)lanes);
    }
    unsigned long long before = counted(waited);
    run(n, ROUNDS);
    /* A thread that waits looks at the lanes of other threads, too, which may meet it there: a few times in thousands of messages. */
    if (!is_shared && !wraps && !is_far) CHECK(counted(waited) - before <= (unsigned)(n * ROUNDS * WINDOW / 100));
    for (double start = MPI_Wtime(); is_shared || wraps;) {
        int is_seen = counted(waited) > before, is_late = MPI_Wtime() - start > SECONDS, now[2] = {is_seen, is_late}, all[2];
        MPI_Allreduce(now, all, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        CHECK(!all[1]);
        if (all[0] || all[1]) break;
        run(n, ROUNDS);
    }
    for (int i = 0; i < n_comms; i++) MPI_Comm_free(&threads[i].comm);
    counters_end();
    return test_end();
}
