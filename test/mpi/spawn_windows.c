/* spawn_windows.c -- windows of every kind whose ranks are of several jobs: a job, what it spawned, and what that spawned.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#define WINDOW_COMM everybody
#include "p2p_check.h"
static MPI_Comm everybody; /* `rank` and `size` are of it */
#include "rma_check.h"

enum { LONGS = 6000, BYTES = LONGS * 8 };

static long word_of(int origin, int target, int k) { return origin * 1000003L + target * 1009L + k; }

/* Everybody puts a run to everybody, of its own; then everybody gets what the next one sent there. */
static void put_and_get(struct window *w, int is_fence)
{
    int n = LONGS / size, next = (rank + 1) % size;
    long *all = malloc((size_t)n * (size_t)size * sizeof *all), *in = malloc((size_t)n * sizeof *in), *mine = (long *)w->base;
    if (is_fence)
        MPI_Win_fence(0, w->win);
    else
        MPI_Win_lock_all(0, w->win);
    for (int t = 0; t < size; t++) {
        long *out = all + (long)t * n;
        for (int k = 0; k < n; k++) out[k] = word_of(rank, t, k);
        MPI_Put(out, n, MPI_LONG, t, w->at[t] + (long)rank * n * 8, n, MPI_LONG, w->win);
        if (!is_fence) MPI_Win_flush(t, w->win);
    }
    if (is_fence)
        MPI_Win_fence(0, w->win);
    else
        MPI_Win_unlock_all(w->win);
    MPI_Barrier(everybody);
    for (int o = 0; o < size; o++)
        for (int k = 0; k < n; k++) CHECK_EQ(mine[o * n + k], word_of(o, rank, k));
    MPI_Barrier(everybody);
    for (int t = 0; t < size; t++) {
        MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win);
        MPI_Get(in, n, MPI_LONG, t, w->at[t] + (long)next * n * 8, n, MPI_LONG, w->win);
        MPI_Win_unlock(t, w->win);
        for (int k = 0; k < n; k++) CHECK_EQ(in[k], word_of(next, t, k));
    }
    MPI_Barrier(everybody);
    free(all);
    free(in);
}

/* All count at every rank, in three ways; no number is given twice. */
static void count(struct window *w)
{
    enum { TIMES = 20 };
    long *mine = (long *)w->base, one = 1, two = 2, got, before = -1, compare, found;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w->win);
    mine[0] = mine[1] = mine[2] = mine[3] = 0;
    MPI_Win_unlock(rank, w->win);
    MPI_Barrier(everybody);
    for (int t = 0; t < size; t++) {
        MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win);
        for (int i = 0; i < TIMES; i++) {
            MPI_Fetch_and_op(&one, &got, MPI_LONG, t, w->at[t], MPI_SUM, w->win);
            MPI_Win_flush(t, w->win);
            CHECK(i == 0 || got > before);
            before = got;
            MPI_Accumulate(&two, 1, MPI_LONG, t, w->at[t] + 8, 1, MPI_LONG, MPI_SUM, w->win);
            compare = 0;
            do {
                long next = compare + 1;
                found = compare;
                MPI_Compare_and_swap(&next, &found, &compare, MPI_LONG, t, w->at[t] + 16, w->win);
                MPI_Win_flush(t, w->win);
            } while (compare != found);
        }
        MPI_Win_unlock(t, w->win);
    }
    for (int i = 0; i < TIMES; i++) { /* what an exclusive lock is for */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, i % size, 0, w->win);
        MPI_Get(&got, 1, MPI_LONG, i % size, w->at[i % size] + 24, 1, MPI_LONG, w->win);
        MPI_Win_flush(i % size, w->win);
        got++;
        MPI_Put(&got, 1, MPI_LONG, i % size, w->at[i % size] + 24, 1, MPI_LONG, w->win);
        MPI_Win_unlock(i % size, w->win);
    }
    MPI_Barrier(everybody);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win);
    CHECK_EQ(mine[0], (long)TIMES * size);
    CHECK_EQ(mine[1], 2L * TIMES * size);
    CHECK_EQ(mine[2], (long)TIMES * size);
    CHECK_EQ(mine[3], (long)size * (TIMES / size + (rank < TIMES % size)));
    MPI_Win_unlock(rank, w->win);
    MPI_Barrier(everybody);
}

/* Round the ring of all jobs. */
static void post_and_start(struct window *w)
{
    MPI_Group all, to, from;
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    long v = 77 + rank;
    MPI_Win_get_group(w->win, &all);
    MPI_Group_incl(all, 1, &next, &to);
    MPI_Group_incl(all, 1, &before, &from);
    for (int i = 0; i < 3; i++, v += 1000) {
        MPI_Win_post(from, 0, w->win);
        MPI_Win_start(to, 0, w->win);
        MPI_Put(&v, 1, MPI_LONG, next, w->at[next] + 40, 1, MPI_LONG, w->win);
        MPI_Win_complete(w->win);
        MPI_Win_wait(w->win);
        CHECK_EQ(((long *)w->base)[5], 77L + before + 1000 * i);
    }
    MPI_Group_free(&all), MPI_Group_free(&to), MPI_Group_free(&from);
}

/* What is mapped here is the very memory. */
static void query(struct window *w)
{
    MPI_Barrier(everybody);
    ((long *)w->base)[rank % LONGS] = word_of(rank, 3, 3);
    MPI_Win_sync(w->win);
    MPI_Barrier(everybody);
    MPI_Win_sync(w->win);
    for (int t = 0; t < size; t++) {
        MPI_Aint bytes;
        int unit;
        long *there;
        MPI_Win_shared_query(w->win, t, &bytes, &unit, &there);
        int may_be_elsewhere = w->kind == 0 || getenv("GODWIT_VNODES") || getenv("GWTEST_HOSTS");
        if (may_be_elsewhere && bytes == 0) continue; /* not shared; there, of another node */
        CHECK_EQ(bytes, BYTES);
        CHECK_EQ(there[t % LONGS], word_of(t, 3, 3));
    }
    MPI_Barrier(everybody);
}

static void errors(struct window *w)
{
    char byte = 0;
    int class;
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, w->win);
    MPI_Error_class(MPI_Put(&byte, 1, MPI_BYTE, size - 1, w->at[size - 1] + BYTES, 1, MPI_BYTE, w->win), &class);
    CHECK_EQ(class, MPI_ERR_RMA_RANGE);
    MPI_Win_unlock_all(w->win);
}

static void windows(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct window w;
        window_make(&w, kind, BYTES);
        put_and_get(&w, 1);
        put_and_get(&w, 0);
        count(&w);
        post_and_start(&w);
        if (kind < 4) query(&w);
        errors(&w);
        window_free(&w);
    }
}

static MPI_Comm start(char *self, char *what, int n, MPI_Comm comm)
{
    char *argv[] = {what, NULL};
    MPI_Comm inter;
    MPI_Comm_spawn(self, argv, n, MPI_INFO_NULL, 0, comm, &inter, MPI_ERRCODES_IGNORE);
    return inter;
}

/* Windows of both jobs; what went wrong there is said here, too. */
static void meet(MPI_Comm inter, int is_child, MPI_Comm *all)
{
    int worst = 0;
    MPI_Intercomm_merge(inter, is_child, all);
    everybody = *all;
    MPI_Comm_rank(everybody, &rank), MPI_Comm_size(everybody, &size);
    windows();
    MPI_Allreduce(&failures, &worst, 1, MPI_INT, MPI_MAX, everybody);
    CHECK_EQ(worst, failures);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter, all, more, all_three;
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_get_parent(&parent);
    int is_child = parent != MPI_COMM_NULL, is_grandchild = argc > 1 && strcmp(argv[1], "2") == 0;
    inter = is_child ? parent : start(argv[0], "1", 2, MPI_COMM_WORLD);
    meet(inter, is_child, &all);
    if (!is_grandchild) {
        more = start(argv[0], "2", 1, all);
        meet(more, 0, &all_three);
        MPI_Comm_disconnect(&all_three);
        MPI_Comm_disconnect(&more);
    }
    MPI_Comm_disconnect(&all);
    MPI_Comm_disconnect(&inter);
    return test_end();
}
