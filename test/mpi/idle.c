/* idle.c -- how much of a core a rank uses while it is blocked in MPI_Recv and in MPI_Barrier.
 *
 *     idle SECONDS most|least PERCENT     rank 0 keeps the others waiting; what they use is looked at from 0.2 s on
 *
 * For `least`, the time in which a rank would use a core but others have it counts too.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#include "p2p_check.h"

static void rest(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

static double used(void) /* seconds of CPU time of all threads of this process */
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static double kept_off(void) /* seconds in which the main thread waited for a core */
{
    unsigned long long waited = 0;
    FILE *f = fopen("/proc/self/schedstat", "r");
    if (f && fscanf(f, "%*u %llu", &waited) != 1) waited = 0;
    if (f) fclose(f);
    return (double)waited * 1e-9;
}

static int is_most;
static double seconds;
static double percent; /* of one core, while rank 0 kept us waiting */

/* A thread that sleeps but for its two looks: the measure covers the blocked time only. */
static void *watch(void *unused)
{
    struct timespec a, b;
    (void)unused;
    rest(0.2);
    double before = used() + (is_most ? 0 : kept_off());
    clock_gettime(CLOCK_MONOTONIC, &a);
    rest(seconds - 0.4);
    double spent = used() + (is_most ? 0 : kept_off()) - before;
    clock_gettime(CLOCK_MONOTONIC, &b);
    percent = 100 * spent / ((double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9);
    return NULL;
}

static void block(int in_recv)
{
    int word = 0;
    if (rank > 0 && in_recv) {
        MPI_Recv(&word, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(word, 77);
        return;
    }
    if (rank == 0) rest(seconds);
    if (!in_recv) {
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    word = 77;
    for (int r = 1; r < size; r++) MPI_Send(&word, 1, MPI_INT, r, 5, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    CHECK_EQ(argc, 4);
    if (argc == 4) {
        seconds = atof(argv[1]);
        is_most = strcmp(argv[2], "most") == 0;
        for (int in_recv = 0; in_recv < 2; in_recv++) {
            pthread_t watcher;
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank > 0) CHECK_EQ(pthread_create(&watcher, NULL, watch, NULL), 0);
            block(in_recv);
            if (rank == 0) continue;
            pthread_join(watcher, NULL);
            if (is_most ? percent > atof(argv[3]) : percent < atof(argv[3])) {
                failures++;
                fprintf(stderr, "rank %d in %s: %.1f %% of a core, should be at %s %s %%\n", rank,
                        in_recv ? "MPI_Recv" : "MPI_Barrier", percent, argv[2], argv[3]);
            }
        }
    }
    return test_end();
}
