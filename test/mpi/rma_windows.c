/* rma_windows.c -- many windows: those that are used in turns, those that are made where another was freed, of more ranks and of fewer; and
 * what is no window any more is told, whichever was used last.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma_check.h"

enum { WINDOWS = 3, LONGS = 8 };
struct one {
    MPI_Comm comm;
    MPI_Win win;
    long *base;
    int me, n;
};

/* Of all ranks, of those with this one's parity, of this one alone. */
static void make(struct one *w, int which)
{
    int color = which == 0 ? 0 : which == 1 ? rank % 2 : rank;
    MPI_Comm_split(MPI_COMM_WORLD, color, 0, &w->comm);
    MPI_Comm_rank(w->comm, &w->me);
    MPI_Comm_size(w->comm, &w->n);
    MPI_Win_allocate(LONGS * sizeof(long), sizeof(long), MPI_INFO_NULL, w->comm, &w->base, &w->win);
    for (int i = 0; i < LONGS; i++) w->base[i] = -1;
    MPI_Barrier(w->comm);
    MPI_Win_lock_all(0, w->win);
}
static void drop(struct one *w)
{
    MPI_Win_unlock_all(w->win);
    MPI_Win_free(&w->win);
    CHECK(w->win == MPI_WIN_NULL);
    MPI_Comm_free(&w->comm);
}

static void in_turns(int round)
{
    struct one w[WINDOWS];
    for (int i = 0; i < WINDOWS; i++) make(&w[i], (i + round) % WINDOWS);
    for (int k = 0; k < LONGS; k++) {
        for (int i = 0; i < WINDOWS; i++) {
            long value = round * 10000 + i * 1000 + w[i].me * 10 + k, old = 0;
            int right = (w[i].me + 1) % w[i].n;
            MPI_Put(&value, 1, MPI_LONG, right, k, 1, MPI_LONG, w[i].win);
            MPI_Win_flush(right, w[i].win);
            MPI_Get(&old, 1, MPI_LONG, right, k, 1, MPI_LONG, w[i].win);
            MPI_Win_flush(right, w[i].win);
            CHECK_EQ(old, value);
        }
    }
    for (int i = 0; i < WINDOWS; i++) MPI_Barrier(w[i].comm);
    for (int i = 0; i < WINDOWS; i++) {
        int left = (w[i].me + w[i].n - 1) % w[i].n;
        MPI_Win_sync(w[i].win);
        for (int k = 0; k < LONGS; k++) CHECK_EQ(w[i].base[k], round * 10000 + i * 1000 + left * 10 + k);
        MPI_Barrier(w[i].comm);
    }
    for (int i = 0; i < WINDOWS; i++) drop(&w[(i + round) % WINDOWS]);
}

/* Calls with what is no window: each is refused, by the error handler of calls without one. */
static void is_none(MPI_Win none)
{
    long x = 0, y = 0, z = 0;
    int class,
        rc[7] = {MPI_Put(&x, 1, MPI_LONG, 0, 0, 1, MPI_LONG, none),
                 MPI_Get(&x, 1, MPI_LONG, 0, 0, 1, MPI_LONG, none),
                 MPI_Win_flush(0, none),
                 MPI_Win_flush_local(0, none),
                 MPI_Fetch_and_op(&x, &y, MPI_LONG, 0, 0, MPI_SUM, none),
                 MPI_Compare_and_swap(&x, &y, &z, MPI_LONG, 0, 0, none),
                 MPI_Win_fence(0, none)};
    for (int i = 0; i < 7; i++) {
        MPI_Error_class(rc[i], &class);
        CHECK_EQ(class, MPI_ERR_WIN);
    }
}

static void none_at_all(MPI_Win freed)
{
    is_none(MPI_WIN_NULL);
    is_none((MPI_Win)(intptr_t)0); /* a variable that nobody has set */
    if (freed != MPI_WIN_NULL) is_none(freed);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    none_at_all(MPI_WIN_NULL);
    struct one w, other;
    long x = rank;
    make(&w, 0);
    make(&other, 1);
    MPI_Win_flush(0, other.win);
    MPI_Put(&x, 1, MPI_LONG, rank, 0, 1, MPI_LONG, w.win);
    none_at_all(MPI_WIN_NULL);
    MPI_Win_flush(rank, w.win);
    MPI_Win freed = w.win;
    drop(&w);
    none_at_all(freed);
    make(&w, 0); /* in its memory */
    none_at_all(freed);
    MPI_Win_flush(rank, w.win);
    none_at_all(freed);
    drop(&w);
    drop(&other);
    none_at_all(freed);
    for (int round = 0; round < 20; round++) in_turns(round);
    none_at_all(freed);
    return test_end();
}
