/* cost.c -- calls inside functions timed_*, for callgrind (--toggle-collect): 8 bytes, or a long message, two ranks; with an argument,
 * for a program of several threads.  Compiled against any mpi.h.
 *
 * Whatever is waited for is there already (MPI_Iprobe has looked), so that no call polls.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>

enum { ROUNDS = 20, WINDOW = 20 };
static MPI_Request q[2 * WINDOW];
static MPI_Status s[2];
static MPI_Comm made;
static MPI_Win win;
static long x, y[2 * WINDOW];
static int other, number, flag;
static char from[1 << 18], to[1 << 18]; /* a long message */

#define FUNCTION __attribute__((noinline, noclone)) void
#define TIMED(name, what)                                                                                                          \
    FUNCTION timed_##name(void)                                                                                                    \
    {                                                                                                                              \
        for (int k = 0; k < WINDOW; k++) what;                                                                                     \
    }
TIMED(Comm_rank, MPI_Comm_rank(MPI_COMM_WORLD, &number))
TIMED(Comm_size, MPI_Comm_size(MPI_COMM_WORLD, &number))
TIMED(Comm_rank_made, MPI_Comm_rank(made, &number))
TIMED(Send, MPI_Send(&x, 8, MPI_BYTE, other, 6, MPI_COMM_WORLD))
TIMED(Recv, MPI_Recv(&y[k], 8, MPI_BYTE, other, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE))
TIMED(Isend, MPI_Isend(&x, 8, MPI_BYTE, other, 5, MPI_COMM_WORLD, &q[2 * k]))
TIMED(Irecv, MPI_Irecv(&y[k], 8, MPI_BYTE, other, 5, MPI_COMM_WORLD, &q[2 * k + 1]))
TIMED(Isend_made, MPI_Isend(&x, 1, MPI_DOUBLE, other, 5, made, &q[2 * k]))
TIMED(Irecv_made, MPI_Irecv(&y[k], 1, MPI_DOUBLE, other, 5, made, &q[2 * k + 1]))
TIMED(Isend_long, MPI_Isend(from, sizeof from, MPI_BYTE, other, 5, MPI_COMM_WORLD, &q[2 * k]))
TIMED(Waitall_2, MPI_Waitall(2, q + 2 * k, MPI_STATUSES_IGNORE))
TIMED(Waitall_2_statuses, MPI_Waitall(2, q + 2 * k, s))
TIMED(Wait, (MPI_Wait(&q[2 * k], MPI_STATUS_IGNORE), MPI_Wait(&q[2 * k + 1], &s[0])))
TIMED(Test, (MPI_Test(&q[2 * k], &flag, MPI_STATUS_IGNORE), MPI_Test(&q[2 * k + 1], &flag, &s[0])))
TIMED(Put_flush, (MPI_Put(&x, 1, MPI_LONG, other, k, 1, MPI_LONG, win), MPI_Win_flush(other, win)))
TIMED(Get_flush, (MPI_Get(&x, 1, MPI_LONG, other, k, 1, MPI_LONG, win), MPI_Win_flush(other, win)))

FUNCTION timed_Waitall(void) { MPI_Waitall(2 * WINDOW, q, MPI_STATUSES_IGNORE); }
FUNCTION receive(void)
{
    for (int k = 0; k < WINDOW; k++) MPI_Irecv(&y[k], 8, MPI_BYTE, other, 5, MPI_COMM_WORLD, &q[2 * k + 1]);
}
FUNCTION send(void)
{
    for (int k = 0; k < WINDOW; k++) MPI_Isend(&x, 8, MPI_BYTE, other, 5, MPI_COMM_WORLD, &q[2 * k]);
}

FUNCTION receive_long(void)
{
    for (int k = 0; k < WINDOW; k++) MPI_Irecv(to, sizeof to, MPI_BYTE, other, 5, MPI_COMM_WORLD, &q[2 * k + 1]);
}
FUNCTION wait(void) { MPI_Waitall(2 * WINDOW, q, MPI_STATUSES_IGNORE); }

/* Exchanges a window, both ways, and waits once all has come. */
static void exchange(void (*post)(void), void (*start)(void), void (*wait)(void))
{
    post();
    MPI_Barrier(MPI_COMM_WORLD);
    start();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++) MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    wait();
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    long *mine;
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &number);
    MPI_Comm_rank(MPI_COMM_WORLD, &other);
    other = 1 - other;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Win_allocate(sizeof y, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < ROUNDS; round++) {
        timed_Comm_rank();
        timed_Comm_size();
        timed_Comm_rank_made();
        exchange(timed_Irecv, timed_Isend, timed_Waitall);
        exchange(receive, send, timed_Wait);
        exchange(receive, send, timed_Test);
        exchange(timed_Irecv_made, timed_Isend_made, timed_Waitall_2);
        exchange(receive, send, timed_Waitall_2_statuses);
        exchange(receive_long, timed_Isend_long, wait);
        timed_Send();
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        timed_Recv();
        timed_Put_flush();
        timed_Get_flush();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Comm_free(&made);
    MPI_Finalize();
    return 0;
}
