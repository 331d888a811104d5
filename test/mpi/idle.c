/* idle.c -- how much of a core a rank uses while it is blocked in MPI_Recv and in MPI_Barrier.
 *
 *     idle SECONDS most PERCENT      rank 0 keeps the others waiting; what they use is looked at from 0.2 s on, the best of three times
 *     idle SECONDS least PERCENT     how often a rank is found that uses its core, or would if others, or a hypervisor, had not taken it
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

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

static int wants_to_run(void) /* the main thread */
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1) state = '?';
    if (f) fclose(f);
    return state == 'R';
}

static int is_most;
static double seconds;
static double percent; /* of one core, or of the looks, while rank 0 kept us waiting */

/* A thread that sleeps but for its looks: the measure covers the blocked time only. */
static void *watch(void *unused)
{
    struct timespec a, b;
    (void)unused;
    rest(0.2);
    double before = used(), passed, running = 0, looks = 0;
    clock_gettime(CLOCK_MONOTONIC, &a);
    do {
        rest(is_most ? seconds - 0.4 : 0.01);
        running += wants_to_run(), looks++;
        clock_gettime(CLOCK_MONOTONIC, &b);
        passed = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
    } while (passed < seconds - 0.4);
    percent = 100 * (is_most ? (used() - before) / passed : running / looks);
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

/* Blocks all ranks but rank 0 once: is it more, or less, than the limit? */
static int is_wrong(int in_recv, double limit)
{
    pthread_t watcher;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank > 0) CHECK_EQ(pthread_create(&watcher, NULL, watch, NULL), 0);
    block(in_recv);
    if (rank == 0) return 0;
    pthread_join(watcher, NULL);
    return is_most ? percent > limit : percent < limit;
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
            int is_bad = 1, bad = 1;
            for (int i = 0; i < 3 && bad; i++) {
                is_bad = is_wrong(in_recv, atof(argv[3]));
                MPI_Allreduce(&is_bad, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
            }
            if (is_bad) {
                failures++;
                fprintf(stderr, "rank %d in %s: %.1f %% of a core, should be at %s %s %%\n", rank,
                        in_recv ? "MPI_Recv" : "MPI_Barrier", percent, argv[2], argv[3]);
            }
        }
    }
    return test_end();
}
