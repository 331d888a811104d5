/* rma.c -- times one-sided communication of the MPI library it is compiled with; bench/compare compares.
 *
 *     rma data      2 ranks: rank 0 puts and gets and rank 1 does nothing (in a barrier); one operation and its flush
 *     rma sync      any number of ranks: epochs, each with one put of 8 bytes to the next rank
 *
 * Prints lines "name size microseconds" (rank 0): the best of the batches.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 15, MAX_BYTES = 4 << 20 };
static int rank, ranks, next;
static char *buf, *mem;
static MPI_Win win;
static MPI_Group to, from;
static long one = 1, old;

typedef void step_fn(int bytes);

static void put(int bytes)
{
    MPI_Put(buf, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}
static void get(int bytes)
{
    MPI_Get(buf, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}
static void fetch_and_op(int bytes)
{
    (void)bytes;
    MPI_Fetch_and_op(&one, &old, MPI_LONG, 1, 0, MPI_SUM, win);
    MPI_Win_flush(1, win);
}
static void compare_and_swap(int bytes)
{
    (void)bytes;
    MPI_Compare_and_swap(&one, &one, &old, MPI_LONG, 1, 8, win);
    MPI_Win_flush(1, win);
}
static void accumulate(int bytes)
{
    MPI_Accumulate(buf, bytes / 8, MPI_DOUBLE, 1, 0, bytes / 8, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

static void put_next(void) { MPI_Put(buf, 8, MPI_BYTE, next, 0, 8, MPI_BYTE, win); }
static void fence(int bytes)
{
    (void)bytes;
    put_next();
    MPI_Win_fence(0, win);
}
static void pscw(int bytes)
{
    (void)bytes;
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    put_next();
    MPI_Win_complete(win);
    MPI_Win_wait(win);
}
static void lock_shared(int bytes)
{
    (void)bytes;
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    put_next();
    MPI_Win_unlock(next, win);
}
static void lock_exclusive(int bytes)
{
    (void)bytes;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
    put_next();
    MPI_Win_unlock(next, win);
}

/* everybody: all ranks take the steps, and the slowest counts; else rank 0 alone does. */
static void time_it(const char *name, step_fn *step, int bytes, int everybody)
{
    int n = bytes <= 1024 ? 2000 : bytes <= 65536 ? 200 : 20;
    double best = 1e30;
    for (int b = -1; b < BATCHES; b++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double t = MPI_Wtime();
        for (int i = 0; i < n && (everybody || !rank); i++) step(bytes);
        t = (MPI_Wtime() - t) / n * 1e6;
        MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (b >= 0 && t < best) best = t;
    }
    if (!rank) printf("%s %d %.4f\n", name, bytes, best), fflush(stdout);
}

static void run_data(const char *suffix)
{
    static const struct {
        const char *name;
        step_fn *fn;
    } table[] = {{"put", put}, {"get", get}, {"accumulate", accumulate}};
    static const int sizes[] = {8, 1024, 65536, 1048576, 4194304};
    char name[64];
    MPI_Win_lock_all(0, win);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 5; i++) {
            sprintf(name, "%s%s", table[k].name, suffix);
            time_it(name, table[k].fn, sizes[i], 0);
        }
    sprintf(name, "fetch_and_op%s", suffix);
    time_it(name, fetch_and_op, 8, 0);
    sprintf(name, "compare_and_swap%s", suffix);
    time_it(name, compare_and_swap, 8, 0);
    MPI_Win_unlock_all(win);
}

static void run_sync(void)
{
    MPI_Group world;
    int before = (rank + ranks - 1) % ranks;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &next, &to);
    MPI_Group_incl(world, 1, &before, &from);
    MPI_Win_fence(0, win);
    time_it("fence", fence, 8, 1);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    time_it("pscw", pscw, 8, 1);
    time_it("lock_shared", lock_shared, 8, 1);
    time_it("lock_exclusive", lock_exclusive, 8, 1);
    MPI_Group_free(&world), MPI_Group_free(&to), MPI_Group_free(&from);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    next = (rank + 1) % ranks;
    buf = malloc(MAX_BYTES);
    memset(buf, 0, MAX_BYTES);
    MPI_Win_allocate(MAX_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    memset(mem, 0, MAX_BYTES);
    if (argc > 1 && !strcmp(argv[1], "sync")) {
        run_sync();
    } else {
        run_data("");
        MPI_Win_free(&win);
        char *own = calloc(1, MAX_BYTES);
        MPI_Win_create(own, MAX_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        run_data("_create");
        MPI_Win_free(&win);
        free(own);
        win = MPI_WIN_NULL;
    }
    if (win != MPI_WIN_NULL) MPI_Win_free(&win);
    free(buf);
    MPI_Finalize();
    return 0;
}
