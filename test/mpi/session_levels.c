/* session_levels.c -- sessions of several thread levels at once: one of the main thread that asks for MPI_THREAD_FUNNELED, or for nothing, sends
 * and receives while sessions of other threads begin, work and end.  Before it, the first sessions of the process begin in several threads
 * at once.
 *     session_levels world    the main thread has the World Model at MPI_THREAD_FUNNELED, and no session
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "session_check.h"

enum { THREADS = 3, OTHERS = 3, REQUESTS = 8, LEAST = 200 };
static pthread_barrier_t together;
static atomic_int at_work;

static void *begin_first(void *unused)
{
    char level[MPI_MAX_INFO_VAL + 1] = "";
    int len = sizeof level, flag, n;
    MPI_Info info;
    pthread_barrier_wait(&together);
    MPI_Session s = session_open("MPI_THREAD_MULTIPLE");
    CHECK(MPI_Session_get_info(s, &info) == MPI_SUCCESS);
    CHECK(MPI_Info_get_string(info, "thread_level", &len, level, &flag) == MPI_SUCCESS && flag);
    CHECK(strcmp(level, "MPI_THREAD_MULTIPLE") == 0);
    CHECK(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n) == MPI_SUCCESS && n >= 2);
    MPI_Info_free(&info);
    session_close(&s);
    return unused;
}

static void *come_and_go(void *unused)
{
    for (int i = 0; i < OTHERS; i++) {
        MPI_Session s = session_open("MPI_THREAD_MULTIPLE");
        MPI_Comm c = session_comm(s, "mpi://WORLD", "another thread");
        comm_works(c, i);
        MPI_Comm_free(&c);
        session_close(&s);
    }
    atomic_fetch_sub(&at_work, 1);
    return unused;
}

/* A round of numbers around the ranks; how many came wrong. */
static int around(MPI_Comm c, int k)
{
    MPI_Request q[2 * REQUESTS];
    int in[REQUESTS], out[REQUESTS], wrong = 0;
    for (int j = 0; j < REQUESTS; j++) {
        in[j] = -1, out[j] = k * REQUESTS + j;
        MPI_Irecv(&in[j], 1, MPI_INT, (rank + size - 1) % size, j, c, &q[j]);
        MPI_Isend(&out[j], 1, MPI_INT, (rank + 1) % size, j, c, &q[REQUESTS + j]);
    }
    MPI_Waitall(2 * REQUESTS, q, MPI_STATUSES_IGNORE);
    for (int j = 0; j < REQUESTS; j++) wrong += in[j] != k * REQUESTS + j;
    return wrong;
}

static void exchange(MPI_Comm c)
{
    pthread_t t;
    int wrong = 0, k = 0, mine, all = 1;
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    atomic_store(&at_work, 1);
    CHECK(pthread_create(&t, NULL, come_and_go, NULL) == 0);
    while (all) { /* until no rank has sessions beside this one */
        for (int i = 0; i < LEAST; i++) wrong += around(c, k++);
        mine = atomic_load(&at_work);
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, c);
    }
    CHECK(wrong == 0);
    pthread_join(t, NULL);
}

static void beside(const char *level)
{
    MPI_Session s = session_open(level);
    MPI_Comm c = session_comm(s, "mpi://WORLD", "the main thread");
    exchange(c);
    MPI_Comm_free(&c);
    session_close(&s);
}

static int beside_world(int level)
{
    int given = -1;
    CHECK(MPI_Init_thread(NULL, NULL, level, &given) == MPI_SUCCESS && given == level);
    exchange(MPI_COMM_WORLD);
    return test_end();
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "world") == 0) return beside_world(MPI_THREAD_FUNNELED);
    pthread_t t[THREADS];
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&t[i], NULL, begin_first, NULL) == 0);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    beside("MPI_THREAD_FUNNELED");
    beside("MPI_THREAD_SINGLE");
    return session_test_end();
}
