/* net_dropped.c -- data of all sizes and ways between the ranks, and what the network dropped meanwhile: nothing, unless strangers
 * send to this job (test/system/net_strangers.sh); then something, and the data are right all the same.
 *
 *   net_dropped [FILE]
 *
 * With FILE: until it is there, with strangers; without, for a moment, with none.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "counters_check.h"
#include "p2p_check.h"

enum { MOST = 3 << 20, SLOTS = 64 };
static const int sizes[] = {0, 1, 8, 33, 40, 41, 100, 1000, 8000, 20000, 131000, 300000, 700001, MOST};
enum { SIZES = sizeof sizes / sizeof sizes[0] };
static char *in, *out;

static void ring(unsigned round)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int i = 0; i < SIZES; i++) {
        if (sizes[i] > 100000 && round % 8) continue;
        MPI_Status s;
        pattern_fill(out, sizes[i], round * 100 + (unsigned)(rank * 17 + i));
        MPI_Sendrecv(out, sizes[i], MPI_BYTE, to, i, in, MOST, MPI_BYTE, from, i, MPI_COMM_WORLD, &s);
        CHECK_EQ(count_of(&s), sizes[i]);
        CHECK_EQ(pattern_wrong(in, sizes[i], round * 100 + (unsigned)(from * 17 + i)), -1);
    }
}

/* Everybody puts into everybody's window, and adds; then reads. */
static void window(MPI_Win win, long long *mine, long long round)
{
    long long v = round * 1000 + rank, got = -1;
    MPI_Win_fence(0, win);
    for (int r = 0; r < size; r++) MPI_Put(&v, 1, MPI_LONG_LONG, r, rank, 1, MPI_LONG_LONG, win);
    MPI_Win_fence(0, win);
    for (int r = 0; r < size; r++) CHECK_EQ(mine[r], round * 1000 + r);
    MPI_Get(&got, 1, MPI_LONG_LONG, (rank + 1) % size, rank, 1, MPI_LONG_LONG, win);
    MPI_Win_fence(0, win);
    CHECK_EQ(got, round * 1000 + rank);
}

int main(int argc, char **argv)
{
    const char *until = argc > 1 ? argv[1] : NULL;
    int goes_on = 1;
    MPI_Win win;
    long long *mine;
    MPI_Init(&argc, &argv);
    test_begin();
    counters_begin();
    MPI_T_pvar_handle dropped = counter("net_dropped", MPI_T_PVAR_CLASS_COUNTER);
    MPI_Win_allocate(SLOTS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    in = malloc(MOST);
    out = malloc(MOST);
    double begun = MPI_Wtime();
    for (unsigned round = 0; goes_on; round++) {
        ring(round);
        window(win, mine, round);
        long long v = rank + round, sum = 0;
        MPI_Allreduce(&v, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(sum, (long long)size * round + (long long)size * (size - 1) / 2);
        if (round == 0 && until) printf("process %d\n", (int)getpid()), fflush(stdout);
        if (failures) break; /* the others wait, and the launcher ends them */
        goes_on = until ? access(until, F_OK) != 0 : MPI_Wtime() - begun < 0.2;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (failures) MPI_Abort(MPI_COMM_WORLD, 1);
    long long n = (long long)counted(dropped), all = 0;
    MPI_Reduce(&n, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!until) CHECK_EQ(n, 0);
    if (until && rank == 0) printf("dropped %lld\n", all);
    counters_end();
    MPI_Win_free(&win);
    free(in);
    free(out);
    return test_end();
}
