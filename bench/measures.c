/* measures.c -- the measuring programs that the source documents name, as we understand what they measure:
 *
 *   measures osu_latency          half a round trip of the first and the last rank, by size
 *   measures osu_bw               windows of 64 messages one way, by size
 *   measures gpcnet [SECONDS]     the latency of some ranks beside others that send as much as they can: a fifth, every fifth, are victims,
 *                                 which send 8 bytes around a ring; the others are aggressors, all but the first of each sixteen send to
 *                                 that one; first without them, then beside them
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64, MOST = 1 << 20, LOAD = 64 << 10, SIXTEEN = 16, FIFTH = 5, BATCHES = 5 };
static int rank, ranks;
static char *buffer;

static void round_trips(int bytes, int n)
{
    int other = rank == 0 ? ranks - 1 : 0;
    for (int i = 0; i < n; i++) {
        if (rank == 0) MPI_Send(buffer, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        MPI_Recv(buffer, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank != 0) MPI_Send(buffer, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD);
    }
}
/* All to the same place, as nobody looks at what comes. */
static void windows(int bytes, int n)
{
    MPI_Request q[WINDOW];
    int other = rank == 0 ? ranks - 1 : 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < WINDOW; k++)
            rank == 0 ? MPI_Isend(buffer, bytes, MPI_BYTE, other, 2, MPI_COMM_WORLD, &q[k])
                      : MPI_Irecv(buffer + (size_t)k * MOST, bytes, MPI_BYTE, other, 2, MPI_COMM_WORLD, &q[k]);
        MPI_Waitall(WINDOW, q, MPI_STATUSES_IGNORE);
        if (rank == 0)
            MPI_Recv(NULL, 0, MPI_BYTE, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(NULL, 0, MPI_BYTE, other, 3, MPI_COMM_WORLD);
    }
}
/* The least seconds of a call, of some batches. */
static double least(void (*step)(int bytes, int n), int bytes, int n)
{
    double best = 1e30;
    for (int b = 0; b <= BATCHES; b++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double t = MPI_Wtime();
        if (rank == 0 || rank == ranks - 1) step(bytes, n);
        t = (MPI_Wtime() - t) / n;
        if (b > 0 && t < best) best = t;
    }
    return best;
}

static void latency(void)
{
    for (int bytes = 0; bytes <= MOST; bytes = bytes ? 2 * bytes : 1) {
        double t = least(round_trips, bytes, bytes > 65536 ? 20 : 200);
        if (rank == 0) printf("%d %.2f us\n", bytes, t / 2 * 1e6);
    }
}
static void bandwidth(void)
{
    for (int bytes = 1; bytes <= MOST; bytes *= 2) {
        double t = least(windows, bytes, bytes > 65536 ? 2 : 20);
        if (rank == 0) printf("%d %.2f MB/s\n", bytes, (double)bytes * WINDOW / t / 1e6);
    }
}

/* ---- congestion ---- */
static int is_victim(int r) { return r % FIFTH == 0; }
/* A rank's place among those of its kind, and how many there are. */
static int place_of(int r, int *all_out)
{
    int place = 0, all = 0;
    for (int i = 0; i < ranks; i++)
        if (is_victim(i) == is_victim(r)) place += i < r, all++;
    *all_out = all;
    return place;
}

/* Eight bytes to the next victim while those of the one before come, again and again until the seconds are over. */
static double victims_latency(MPI_Comm c, double seconds)
{
    enum { TRIPS = 50 };
    int me, n, goes_on = 1, trips = 0;
    double took = 0, begin = MPI_Wtime(), most = 0;
    MPI_Comm_rank(c, &me);
    MPI_Comm_size(c, &n);
    for (; goes_on; trips += TRIPS) {
        double t = MPI_Wtime();
        for (int i = 0; i < TRIPS; i++)
            MPI_Sendrecv(buffer, 8, MPI_BYTE, (me + 1) % n, 4, buffer + MOST, 8, MPI_BYTE, (me + n - 1) % n, 4, c,
                         MPI_STATUS_IGNORE);
        took += MPI_Wtime() - t;
        goes_on = MPI_Wtime() - begin < seconds;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, c);
    }
    took /= trips;
    MPI_Allreduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, c);
    return most;
}
static void aggress(MPI_Comm c, double seconds)
{
    int me, n, first, got;
    MPI_Comm_rank(c, &me);
    MPI_Comm_size(c, &n);
    first = me / SIXTEEN * SIXTEEN;
    double begin = MPI_Wtime();
    if (me == first) {
        for (int left = (n - first < SIXTEEN ? n - first : SIXTEEN) - 1; left > 0;) {
            MPI_Status s;
            MPI_Recv(buffer, LOAD, MPI_BYTE, MPI_ANY_SOURCE, 5, c, &s);
            MPI_Get_count(&s, MPI_BYTE, &got);
            left -= got == 0;
        }
        return;
    }
    while (MPI_Wtime() - begin < seconds) MPI_Send(buffer, LOAD, MPI_BYTE, first, 5, c);
    MPI_Send(buffer, 0, MPI_BYTE, first, 5, c);
}
static int congestion(double seconds)
{
    MPI_Comm c;
    int all, place = place_of(rank, &all);
    if (ranks <= FIFTH + 1) return rank == 0 ? fprintf(stderr, "measures: gpcnet wants seven ranks or more\n") : 0, 2;
    MPI_Comm_split(MPI_COMM_WORLD, is_victim(rank), place, &c);
    double alone = is_victim(rank) ? victims_latency(c, seconds) : 0, beside = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_victim(rank))
        beside = victims_latency(c, seconds);
    else
        aggress(c, seconds);
    if (rank == 0)
        printf("%d victims, %d aggressors: %.2f us alone, %.2f us beside them, %.2f times\n", all, ranks - all, alone * 1e6,
               beside * 1e6, beside / alone);
    MPI_Comm_free(&c);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rc = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    buffer = calloc(WINDOW, MOST);
    if (!buffer) MPI_Abort(MPI_COMM_WORLD, 1);
    if (ranks > 1 && strcmp(what, "osu_latency") == 0)
        latency();
    else if (ranks > 1 && strcmp(what, "osu_bw") == 0)
        bandwidth();
    else if (strcmp(what, "gpcnet") == 0)
        rc = congestion(argc > 2 ? atof(argv[2]) : 2);
    else
        rc = rank == 0 ? fprintf(stderr, "usage: measures osu_latency | osu_bw | gpcnet [SECONDS], on two ranks or more\n") : 0,
        rc = 2;
    free(buffer);
    MPI_Finalize();
    return rc;
}
