/* rma_probe.c -- which ways of one-sided communication the MPI library has: each is tried, and its data are looked at.
 *
 * Some libraries have left out passive targets, or answer some calls with an error.  A program that may choose its way runs this first, with
 * as many ranks as it will have:
 *
 *     mpicc rma_probe.c -o rma_probe && mpiexec -n 4 ./rma_probe
 *
 * Prints a line for each way: works, is refused (with the library's words), or gives wrong data; then the memory model.  Ends with 1 where
 * one does not work.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>

static int rank, ranks, to, from;
static MPI_Win win;
static int *mine; /* of the window: what the rank before has put here */

/* Each puts `value` at the next rank by its way and answers the first error; an epoch that has begun is ended. */
#define TRY(call)                                                                                                                  \
    do {                                                                                                                           \
        int err = (call);                                                                                                          \
        if (err != MPI_SUCCESS) return err;                                                                                        \
    } while (0)
/* The first error of two calls, of which the second ends the epoch and is made in any case. */
static int first(int err, int end) { return err != MPI_SUCCESS ? err : end; }
static int put(const int *value) { return MPI_Put(value, 1, MPI_INT, to, 0, 1, MPI_INT, win); }

static int by_fence(const int *value)
{
    TRY(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    int err = put(value);
    return first(err, MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

/* Where MPI_Win_start or MPI_Win_complete is refused, MPI_Win_wait would wait for ever. */
static int between(const int *value, MPI_Group next, MPI_Group before)
{
    TRY(MPI_Win_post(before, 0, win));
    TRY(MPI_Win_start(next, 0, win));
    int err = put(value), end = MPI_Win_complete(win);
    if (end != MPI_SUCCESS) return first(err, end);
    return first(err, MPI_Win_wait(win));
}

static int by_groups(const int *value)
{
    MPI_Group world, next, before;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &to, &next);
    MPI_Group_incl(world, 1, &from, &before);
    int err = between(value, next, before);
    MPI_Group_free(&world);
    MPI_Group_free(&next);
    MPI_Group_free(&before);
    return err;
}

static int by_lock(int type, const int *value)
{
    TRY(MPI_Win_lock(type, to, 0, win));
    int err = put(value);
    return first(err, MPI_Win_unlock(to, win));
}
static int by_shared_lock(const int *value) { return by_lock(MPI_LOCK_SHARED, value); }
static int by_exclusive_lock(const int *value) { return by_lock(MPI_LOCK_EXCLUSIVE, value); }

static int by_flush(const int *value)
{
    TRY(MPI_Win_lock_all(0, win));
    int err = put(value);
    if (err == MPI_SUCCESS) err = MPI_Win_flush_all(win);
    return first(err, MPI_Win_unlock_all(win));
}

static int by_request(const int *value)
{
    MPI_Request request;
    TRY(MPI_Win_lock_all(0, win));
    int err = MPI_Rput(value, 1, MPI_INT, to, 0, 1, MPI_INT, win, &request);
    if (err == MPI_SUCCESS) err = MPI_Wait(&request, MPI_STATUS_IGNORE);
    return first(err, MPI_Win_unlock_all(win));
}

static int by_atomic(const int *value)
{
    int old;
    TRY(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win));
    int err = MPI_Fetch_and_op(value, &old, MPI_INT, to, 0, MPI_REPLACE, win);
    return first(err, MPI_Win_unlock(to, win));
}

static const struct {
    const char *name;
    int (*try)(const int *);
} ways[] = {
    {"fence", by_fence},
    {"post, start, complete, wait", by_groups},
    {"lock, shared", by_shared_lock},
    {"lock, exclusive", by_exclusive_lock},
    {"lock_all and flush", by_flush},
    {"request (MPI_Rput)", by_request},
    {"atomic (MPI_Fetch_and_op)", by_atomic},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* 0 works, -1 wrong data, else MPI's code, of the rank that has it worst. */
static int probe(int way)
{
    int value = 1000 * way + rank + 1, err, seen = 0, locked, worst;
    *mine = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    err = ways[way].try(&value);
    MPI_Barrier(MPI_COMM_WORLD);
    locked = MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win) == MPI_SUCCESS; /* where there are none, the barrier has to do */
    seen = *mine;
    if (locked) MPI_Win_unlock(rank, win);
    if (err == MPI_SUCCESS && seen != 1000 * way + from + 1) err = -1;
    int wrong = err == -1, code = err > 0 ? err : 0, any_wrong;
    MPI_Allreduce(&code, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&wrong, &any_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return worst ? worst : -any_wrong;
}

static int say(int way, int result)
{
    char text[MPI_MAX_ERROR_STRING] = "gives wrong data";
    int len;
    if (result > 0) MPI_Error_string(result, text, &len);
    if (rank == 0) printf("%-28s %s%s\n", ways[way].name, result > 0 ? "is refused: " : "", result ? text : "works");
    return result != 0;
}

int main(int argc, char **argv)
{
    int bad = 0, flag, *model;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    MPI_Win_allocate(sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int way = 0; way < WAYS; way++) bad |= say(way, probe(way));
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
    if (rank == 0) printf("%-28s %s\n", "memory model", flag && *model == MPI_WIN_SEPARATE ? "separate" : "unified");
    MPI_Win_free(&win);
    MPI_Finalize();
    return bad;
}
