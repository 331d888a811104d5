/* session_threads.c -- threads that have a session each: they begin and end when they like, and make communicators of overlapping
 * groups at the same time, told apart by their strings.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdint.h>

#include "session_check.h"

enum { THREADS = 3, TIMES = 5 };

static void *work(void *arg)
{
    int me = (int)(intptr_t)arg;
    char tag[32];
    for (int i = 0; i < TIMES; i++) {
        MPI_Session s = session_open("MPI_THREAD_MULTIPLE");
        snprintf(tag, sizeof tag, "thread %d", me);
        MPI_Comm c = session_comm(s, "mpi://WORLD", tag), d;
        comm_works(c, 100 * me + i);
        MPI_Comm_dup(c, &d);
        comm_works(d, 1000 + 100 * me + i);
        MPI_Comm_free(&c);
        MPI_Comm_free(&d);
        session_close(&s);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    MPI_Session s = session_open("MPI_THREAD_MULTIPLE");
    MPI_Comm c = session_comm(s, "mpi://WORLD", "all");
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    for (int k = 0; k < 2; k++) {
        for (intptr_t i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, work, (void *)i);
        for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
        if (k == 0) { /* once with a session that lasts, once without */
            MPI_Comm_free(&c);
            session_close(&s);
        }
    }
    return session_test_end();
}
