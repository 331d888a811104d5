/* crash.c -- ranks that crash on purpose, for test/launch/crash.sh: crash HOW [RANK], and `recover`, whose handler must not be disturbed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile int zero, caught;
static int *volatile nowhere = (int *)16;

static void handler(int sig)
{
    (void)sig;
    caught++;
    siglongjmp(back, 1);
}

__attribute__((noinline)) static void fall(const char *how)
{
    if (strcmp(how, "segv") == 0) *nowhere = 1;
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "fpe") == 0) zero = 12345 / zero;
    if (strcmp(how, "ill") == 0) raise(SIGILL);
    zero++; /* so that the call is none at the end */
}

static void *thread(void *how)
{
    fall(how);
    return NULL;
}

/* Recovers from faults, and from a timer's ticks meanwhile. */
static int recover(void)
{
    struct sigaction a = {.sa_handler = handler};
    sigaction(SIGSEGV, &a, NULL);
    sigaction(SIGFPE, &a, NULL);
    for (int i = 0; i < 50; i++)
        if (sigsetjmp(back, 1) == 0) fall(i % 2 ? "segv" : "fpe");
    return caught != 50;
}

int main(int argc, char **argv)
{
    int rank, size, failed = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *how = argc > 1 ? argv[1] : "recover";
    int who = argc > 2 ? atoi(argv[2]) : size - 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "recover") == 0) {
        failed = recover();
        MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) printf("recovered %d\n", !failed);
    } else if (rank == who || who < 0) {
        pthread_t t;
        if (strncmp(how, "thread-", 7) == 0 && pthread_create(&t, NULL, thread, (void *)(how + 7)) == 0)
            pthread_join(t, NULL);
        else
            fall(how);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return failed;
}
