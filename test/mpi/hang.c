/* hang.c KIND -- a program with one bug, for test/launch/hang.sh: most kinds never end, with four ranks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <time.h>

enum { LARGE = 1 << 20 }; /* bytes: not buffered */
static int rank, size;
static char *large;
static MPI_Comm world = MPI_COMM_WORLD;

static void receive(int from, int tag, MPI_Comm c)
{
    int x;
    MPI_Recv(&x, 1, MPI_INT, from, tag, c, MPI_STATUS_IGNORE);
}
static void send(int to, int tag, MPI_Comm c) { MPI_Send(&rank, 1, MPI_INT, to, tag, c); }
static void send_large(int to, int tag) { MPI_Send(large, LARGE, MPI_BYTE, to, tag, world); }
static void compute(double seconds)
{
    double end = MPI_Wtime() + seconds;
    struct timespec t;
    while (clock_gettime(CLOCK_MONOTONIC, &t) == 0 && (double)t.tv_sec + (double)t.tv_nsec * 1e-9 < end) {}
}

/* ---- cycles ---- */
static void recv_cycle(void) /* 0 and 3 each receive first */
{
    if (rank == 0) receive(3, 4, world), send(3, 4, world);
    if (rank == 3) receive(0, 4, world), send(0, 4, world);
    MPI_Barrier(world);
}
static void send_cycle(void) /* a ring in which everybody sends first, too much to be buffered */
{
    send_large((rank + 1) % size, 7);
    MPI_Recv(large, LARGE, MPI_BYTE, (rank + size - 1) % size, 7, world, MPI_STATUS_IGNORE);
}

/* ---- windows: rank 3 never gives its locks back, of which others want each in their way ---- */
static void held_lock(void)
{
    MPI_Win win;
    int *base;
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, world, &base, &win);
    if (rank == 3) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win), MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
    MPI_Barrier(world);
    if (rank == 0) MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    if (rank == 1) MPI_Win_lock_all(0, win);
    if (rank == 2) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
    receive(0, 5, world);
}

/* ---- messages ---- */
static void wrong_tag(void)
{
    if (rank == 0) send(1, 6, world);
    if (rank == 1) receive(0, 5, world);
    MPI_Barrier(world);
}
static void wrong_comm(void)
{
    MPI_Comm other;
    MPI_Comm_dup(world, &other);
    MPI_Comm_set_name(other, "other");
    if (rank == 0) send(1, 5, other);
    if (rank == 1) receive(0, 5, world);
    MPI_Barrier(world);
}
static void wrong_dest(void)
{
    if (rank == 0) send(2, 5, world);
    if (rank == 1) receive(0, 5, world);
    MPI_Barrier(world);
}
static void wrong_source(void)
{
    if (rank == 2) send(1, 5, world);
    if (rank == 1) receive(0, 5, world);
    MPI_Barrier(world);
}
static void no_sender(void)
{
    if (rank == 1) receive(0, 5, world);
    MPI_Barrier(world);
}
static void no_receiver(void)
{
    if (rank == 2) MPI_Ssend(&rank, 1, MPI_INT, 3, 8, world);
    MPI_Allreduce(MPI_IN_PLACE, large, 4, MPI_INT, MPI_SUM, world);
}
static void no_room(void) /* more small messages to 0, which does not receive, than either end has room for */
{
    for (int i = 0; rank && i < 100000; i++) send(0, 9, world);
    MPI_Barrier(world);
}
static void waitall(void) /* one of several requests never completes */
{
    MPI_Request q[3];
    int x[3];
    if (rank == 2) {
        for (int i = 0; i < 3; i++) MPI_Irecv(&x[i], 1, MPI_INT, i, 10 + i, world, &q[i]);
        send(2, 12, world);
        MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
    }
    if (rank == 0) send(2, 10, world);
    if (rank == 1) send(2, 13, world);
    MPI_Barrier(world);
}
static void any_source(void)
{
    if (rank == 0) receive(MPI_ANY_SOURCE, 9, world);
    MPI_Barrier(world);
}
static void probe(void)
{
    if (rank == 3) MPI_Probe(2, 21, world, MPI_STATUS_IGNORE);
    if (rank == 2) send(3, 22, world);
    MPI_Barrier(world);
}

/* ---- collectives ---- */
static void mismatch(void)
{
    MPI_Barrier(world);
    if (rank == 2)
        MPI_Barrier(world);
    else
        MPI_Allreduce(MPI_IN_PLACE, large, LARGE, MPI_SIGNED_CHAR, MPI_MAX, world);
    MPI_Barrier(world);
    receive((rank + 1) % size, 1, world);
}
static void wrong_root(void)
{
    char *all = malloc((size_t)size * LARGE);
    MPI_Gather(large, LARGE, MPI_BYTE, all, LARGE, MPI_BYTE, rank == 2 ? 1 : 0, world);
    free(all);
}
static void skipped(void) /* rank 3 leaves one out */
{
    for (int i = 0; i < 5; i++)
        if (rank != 3 || i != 2) MPI_Allreduce(MPI_IN_PLACE, large, 4, MPI_INT, MPI_SUM, world);
    if (rank == 3) receive(0, 2, world);
}
static void order(void) /* two communicators, their collectives in different orders */
{
    MPI_Comm a, b;
    MPI_Comm_dup(world, &a);
    MPI_Comm_dup(world, &b);
    MPI_Comm_set_name(a, "alpha");
    MPI_Comm_set_name(b, "beta");
    MPI_Barrier(rank == 1 ? b : a);
    MPI_Barrier(rank == 1 ? a : b);
}

static void nonblocking(void) /* rank 3 begins two in the other order */
{
    MPI_Request q[2];
    int x = 1, sum;
    for (int i = 0; i < 2; i++)
        if ((rank == 3) == (i == 1))
            MPI_Iallreduce(&x, &sum, 1, MPI_INT, MPI_SUM, world, &q[0]);
        else
            MPI_Ibcast(large, LARGE, MPI_BYTE, 0, world, &q[1]);
    MPI_Wait(&q[rank != 3], MPI_STATUS_IGNORE);
    MPI_Wait(&q[rank == 3], MPI_STATUS_IGNORE);
}

/* ---- ranks that left, that compute ---- */
static void left(void) /* 1 goes to MPI_Finalize, 2 waits for it */
{
    if (rank == 2) receive(1, 3, world);
}
static void finalized(void) /* the barrier of MPI_Finalize answers MPI_Barrier: then rank 1 is gone */
{
    if (rank != 1) {
        MPI_Barrier(world);
        MPI_Barrier(world);
    }
}
static void computes(void)
{
    if (rank == 2) compute(1e9);
    MPI_Barrier(world);
}
static void long_compute(void) /* right, and takes its time */
{
    MPI_Barrier(world);
    if (rank == 1) compute(3);
    MPI_Allreduce(MPI_IN_PLACE, large, 4, MPI_INT, MPI_SUM, world);
    if (rank == 3) receive(MPI_ANY_SOURCE, 1, world);
    if (rank == 0) compute(2), send(3, 1, world);
    MPI_Barrier(world);
}
static void polls(void)
{
    MPI_Request q;
    int x, flag = 0;
    if (rank == 0) {
        MPI_Irecv(&x, 1, MPI_INT, 1, 30, world, &q);
        while (!flag) MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(world);
}

static void polls_probe(void)
{
    int flag = 0;
    while (rank == 0 && !flag) MPI_Iprobe(MPI_ANY_SOURCE, 31, world, &flag, MPI_STATUS_IGNORE);
    MPI_Barrier(world);
}
static void *late_sender(void *unused)
{
    compute(3);
    send(0, 1, world);
    return unused;
}
static void thread_computes(void) /* right: 0 and 1 wait for each other, but another thread of 1 will send */
{
    pthread_t t;
    if (rank == 1) pthread_create(&t, NULL, late_sender, NULL);
    if (rank == 0) receive(1, 1, world), send(1, 2, world);
    if (rank == 1) receive(0, 2, world), pthread_join(t, NULL);
    MPI_Barrier(world);
}

/* Rank 0 sends rank 1 a message of four partitions, of which `late` calls MPI_Pready for the last one; NULL: nobody does. */
static MPI_Request parts;
static void partitioned(void *(*late)(void *))
{
    int x[4] = {0};
    pthread_t t;
    if (rank == 0) MPI_Psend_init(x, 4, 1, MPI_INT, 1, 3, world, MPI_INFO_NULL, &parts);
    if (rank == 1) MPI_Precv_init(x, 4, 1, MPI_INT, 0, 3, world, MPI_INFO_NULL, &parts);
    if (rank < 2) MPI_Start(&parts);
    if (rank == 0) MPI_Pready_range(0, 2, parts);
    if (rank == 0 && late) pthread_create(&t, NULL, late, NULL);
    if (rank < 2) MPI_Wait(&parts, MPI_STATUS_IGNORE), MPI_Request_free(&parts);
    if (rank == 0 && late) pthread_join(t, NULL);
    MPI_Barrier(world);
}
static void not_ready(void) { partitioned(NULL); }
static void *late_ready(void *unused)
{
    sleep(4);
    MPI_Pready(3, parts);
    return unused;
}
static void thread_readies(void) { partitioned(late_ready); } /* right: the other thread may */

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {
    {"recv_cycle", recv_cycle},     {"send_cycle", send_cycle},
    {"wrong_tag", wrong_tag},       {"wrong_comm", wrong_comm},
    {"wrong_dest", wrong_dest},     {"wrong_source", wrong_source},
    {"no_sender", no_sender},       {"no_receiver", no_receiver},
    {"no_room", no_room},           {"waitall", waitall},
    {"any_source", any_source},     {"probe", probe},
    {"mismatch", mismatch},         {"wrong_root", wrong_root},
    {"skipped", skipped},           {"order", order},
    {"nonblocking", nonblocking},   {"left", left},
    {"finalized", finalized},       {"computes", computes},
    {"long_compute", long_compute}, {"polls", polls},
    {"polls_probe", polls_probe},   {"thread_computes", thread_computes},
    {"not_ready", not_ready},       {"thread_readies", thread_readies},
    {"held_lock", held_lock},
};

int main(int argc, char **argv)
{
    int threads = argc > 1 && strncmp(argv[1], "thread", 6) == 0, provided;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    large = calloc(1, LARGE);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (argc > 1 && strcmp(argv[1], kinds[i].name) == 0) kinds[i].run();
    free(large);
    MPI_Finalize();
    if (rank == 0) printf("%s is over\n", argc > 1 ? argv[1] : "nothing");
    return 0;
}
