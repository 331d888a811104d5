/* rma_passive.c -- locks, flushes, requests, post/start/complete/wait; that accumulates of all ranks are atomic to each other.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma_check.h"

enum { ROUNDS = 200 };

/* All ranks count on rank 0 in three ways; every old value of fetch_and_op comes once. */
static void counter(int kind)
{
    struct window w;
    window_make(&w, kind, 16);
    int64_t *mine = (int64_t *)w.base, one = 1, old, last = -1, sum = 0, all = 0, read = -1;
    mine[0] = mine[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w.win);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, w.at[0], MPI_SUM, w.win);
        MPI_Win_flush(0, w.win);
        CHECK(old > last);
        last = old;
        sum += old;
        MPI_Accumulate(&one, 1, MPI_INT64_T, 0, w.at[0] + 8, 1, MPI_INT64_T, MPI_SUM, w.win);
        for (int64_t want = -1, seen = -2; seen != want;) { /* by compare_and_swap as well */
            MPI_Fetch_and_op(NULL, &want, MPI_INT64_T, 0, w.at[0] + 8, MPI_NO_OP, w.win);
            MPI_Win_flush_local(0, w.win);
            int64_t next = want + 1;
            MPI_Compare_and_swap(&next, &want, &seen, MPI_INT64_T, 0, w.at[0] + 8, w.win);
            MPI_Win_flush_local(0, w.win);
        }
    }
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, w.at[0] + 8, 1, MPI_INT64_T, MPI_SUM, w.win);
    MPI_Win_flush_all(w.win); /* brings the last one there as well */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get(&read, 1, MPI_INT64_T, 0, w.at[0] + 8, 1, MPI_INT64_T, w.win);
    MPI_Win_unlock_all(w.win);
    CHECK_EQ(read, (2 * ROUNDS + 1) * size);
    int64_t n = (int64_t)ROUNDS * size;
    MPI_Allreduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(all, n * (n - 1) / 2);
    window_free(&w);
}

/* An exclusive lock as a mutex round a read, a change and a write; and locks of several targets at once. */
static void mutex(int kind)
{
    struct window w;
    window_make(&w, kind, 800);
    int *mine = (int *)w.base, a[200];
    memset(mine, 0, 800);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 20; i++) {
        int target = (rank + i) % size;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w.win);
        MPI_Get(a, 200, MPI_INT, target, w.at[target], 200, MPI_INT, w.win);
        MPI_Win_flush_local(target, w.win);
        for (int k = 1; k < 200; k++) CHECK_EQ(a[k], a[0]);
        for (int k = 0; k < 200; k++) a[k]++;
        MPI_Put(a, 200, MPI_INT, target, w.at[target], 200, MPI_INT, w.win);
        MPI_Win_unlock(target, w.win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int total = 0;
    for (int i = 0; i < size; i++) MPI_Win_lock(MPI_LOCK_SHARED, i, 0, w.win);
    for (int i = 0; i < size; i++) {
        MPI_Get(a, 1, MPI_INT, i, w.at[i], 1, MPI_INT, w.win);
        MPI_Win_flush_local_all(w.win);
        total += a[0];
    }
    for (int i = size - 1; i >= 0; i--) MPI_Win_unlock(i, w.win);
    CHECK_EQ(total, 20 * size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, MPI_MODE_NOCHECK, w.win);
        a[0] = 4711;
        MPI_Put(a, 1, MPI_INT, size - 1, w.at[size - 1], 1, MPI_INT, w.win);
        MPI_Win_unlock(size - 1, w.win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w.win);
    if (rank == size - 1) CHECK_EQ(mine[0], 4711);
    MPI_Win_unlock(rank, w.win);
    window_free(&w);
}

/* lock_all against exclusive locks, in turn: nobody sees half of a change. */
static void everywhere(int kind)
{
    struct window w;
    window_make(&w, kind, 8);
    *(int *)w.base = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 300; i++) {
        if ((rank + i) % 2) {
            int got = -1;
            MPI_Win_lock_all(0, w.win);
            for (int r = 0; r < size; r++) {
                MPI_Get(&got, 1, MPI_INT, r, w.at[r], 1, MPI_INT, w.win);
                MPI_Win_flush(r, w.win);
                CHECK_EQ(got % 2, 0);
            }
            MPI_Win_unlock_all(w.win);
        } else {
            int odd = 2 * i + 1, even = 2 * i + 2, target = (rank + i) % size;
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w.win);
            MPI_Put(&odd, 1, MPI_INT, target, w.at[target], 1, MPI_INT, w.win);
            MPI_Win_flush(target, w.win);
            MPI_Put(&even, 1, MPI_INT, target, w.at[target], 1, MPI_INT, w.win);
            MPI_Win_unlock(target, w.win);
        }
    }
    window_free(&w);
}

static void requests(int kind)
{
    enum { N = 5000 };
    struct window w;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    window_make(&w, kind, N * 4);
    int *mine = (int *)w.base, *out = malloc(N * 4), *in = malloc(N * 4);
    MPI_Request r[2];
    MPI_Status s;
    for (int i = 0; i < N; i++) out[i] = rank + i, mine[i] = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, w.win);
    MPI_Rput(out, N, MPI_INT, right, w.at[right], N, MPI_INT, w.win, &r[0]);
    MPI_Wait(&r[0], &s);
    MPI_Win_flush(right, w.win);
    MPI_Raccumulate(out, N, MPI_INT, right, w.at[right], N, MPI_INT, MPI_SUM, w.win, &r[0]);
    MPI_Rput(out, N, MPI_INT, MPI_PROC_NULL, 0, N, MPI_INT, w.win, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Win_flush(right, w.win); /* the wait says nothing about the target */
    MPI_Rget(in, N, MPI_INT, right, w.at[right], N, MPI_INT, w.win, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) CHECK_EQ(in[i], 2 * (rank + i));
    MPI_Rget_accumulate(out, N, MPI_INT, in, N, MPI_INT, right, w.at[right], N, MPI_INT, MPI_SUM, w.win, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) CHECK_EQ(in[i], 2 * (rank + i));
    MPI_Win_unlock_all(w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(w.win);
    for (int i = 0; i < N; i++) CHECK_EQ(mine[i], 3 * (left + i));
    free(out);
    free(in);
    window_free(&w);
}

/* A target that looks at its memory, and calls nothing but MPI_Win_sync. */
static void watched(int kind)
{
    struct window w;
    int last = size - 1, five = 5;
    window_make(&w, kind, 8);
    int *mine = (int *)w.base;
    mine[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w.win);
    if (rank == 0) {
        MPI_Put(&five, 1, MPI_INT, last, w.at[last], 1, MPI_INT, w.win);
        MPI_Win_flush(last, w.win);
    }
    if (rank == last)
        while (((volatile int *)mine)[0] != 5) MPI_Win_sync(w.win);
    MPI_Win_unlock_all(w.win);
    window_free(&w);
}

/* Values go round a ring of exposure epochs; some epochs end by tests. */
static void ring(int kind)
{
    struct window w;
    int to[1] = {(rank + 1) % size}, from[1] = {(rank + size - 1) % size};
    MPI_Group all, target, origin;
    window_make(&w, kind, 8);
    int *mine = (int *)w.base, value = rank;
    mine[0] = -1;
    MPI_Win_get_group(w.win, &all);
    MPI_Group_incl(all, 1, to, &target);
    MPI_Group_incl(all, 1, from, &origin);
    for (int i = 0; i < 3 * size; i++) {
        MPI_Win_post(origin, 0, w.win);
        MPI_Win_start(target, 0, w.win);
        MPI_Put(&value, 1, MPI_INT, to[0], w.at[to[0]], 1, MPI_INT, w.win);
        MPI_Win_complete(w.win);
        if (i % 2) {
            int flag = 0;
            while (!flag) MPI_Win_test(w.win, &flag);
        } else {
            MPI_Win_wait(w.win);
        }
        value = mine[0];
        CHECK_EQ(value, (rank + 3 * size - 1 - i) % size);
    }
    MPI_Group_free(&target);
    MPI_Group_free(&origin);
    MPI_Group_free(&all);
    window_free(&w);
}

/* All ranks but 0 put into rank 0's window, with empty groups elsewhere. */
static void star(int kind)
{
    struct window w;
    MPI_Group all, zero, others;
    int none[1] = {0};
    window_make(&w, kind, 4 * (MPI_Aint)size);
    MPI_Win_get_group(w.win, &all);
    MPI_Group_incl(all, 1, none, &zero);
    MPI_Group_excl(all, 1, none, &others);
    for (int i = 0; i < 10; i++) {
        int value = rank * 100 + i;
        if (rank == 0) {
            MPI_Win_post(others, 0, w.win);
            MPI_Win_wait(w.win);
            for (int r = 1; r < size; r++) CHECK_EQ(((int *)w.base)[r], r * 100 + i);
        } else {
            MPI_Win_start(zero, 0, w.win);
            MPI_Put(&value, 1, MPI_INT, 0, w.at[0] + 4 * rank, 1, MPI_INT, w.win);
            MPI_Win_complete(w.win);
        }
    }
    MPI_Group_free(&all);
    MPI_Group_free(&zero);
    MPI_Group_free(&others);
    window_free(&w);
}

/* An accumulate whose origin, target and result are laid out differently, of few bytes and of many. */
static void layouts(int kind, int n)
{
    struct window w;
    window_make(&w, kind, 4 * (MPI_Aint)n);
    int *mine = (int *)w.base, *origin = malloc(8 * (size_t)n), *result = malloc(12 * (size_t)n), right = (rank + 1) % size;
    MPI_Datatype second, third;
    MPI_Type_create_resized(MPI_INT, 0, 8, &second);
    MPI_Type_create_resized(MPI_INT, 0, 12, &third);
    MPI_Type_commit(&second), MPI_Type_commit(&third);
    for (int i = 0; i < n; i++) mine[i] = 1000 * rank + i, origin[2 * i] = i * i, origin[2 * i + 1] = -1;
    for (int i = 0; i < 3 * n; i++) result[i] = -7;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w.win);
    MPI_Accumulate(origin, n, second, right, w.at[right], n, MPI_INT, MPI_SUM, w.win);
    MPI_Get_accumulate(origin, n, second, result, n, third, right, w.at[right], n, MPI_INT, MPI_REPLACE, w.win);
    MPI_Win_flush(right, w.win);
    for (int i = 0; i < 3 * n; i++) CHECK_EQ(result[i], i % 3 ? -7 : 1000 * right + i / 3 + (i / 3) * (i / 3));
    MPI_Get_accumulate(origin, n, second, result, n, third, right, w.at[right], n, MPI_INT, MPI_MAX, w.win);
    MPI_Win_flush(right, w.win);
    MPI_Get_accumulate(origin, n, second, result, n, third, right, w.at[right], n, MPI_INT, MPI_SUM, w.win);
    MPI_Win_unlock(right, w.win);
    for (int i = 0; i < 3 * n; i++) CHECK_EQ(result[i], i % 3 ? -7 : (i / 3) * (i / 3));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w.win);
    for (int i = 0; i < n; i++) CHECK_EQ(mine[i], 2 * i * i);
    MPI_Win_unlock(rank, w.win);
    MPI_Type_free(&second);
    MPI_Type_free(&third);
    free(origin);
    free(result);
    window_free(&w);
}

/* What one access touches may be in several regions attached to a dynamic window, far apart, and beside each other; what lies between
 * need not be attached. */
static void regions(void)
{
    enum { N = 8 };
    static int low[N];
    struct {
        double value;
        int index;
    } high[2 * N], pair = {100, rank}, was[2];
    MPI_Win win;
    MPI_Aint mine[2], *at = malloc(2 * sizeof *at * (size_t)size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size, got[5], put[5] = {1, 2, 3, 4, 5}, error;
    MPI_Datatype ints, pairs;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_attach(win, low, sizeof low);
    MPI_Win_attach(win, high + N, N * sizeof high[0]); /* of one array two regions */
    MPI_Win_attach(win, high, N * sizeof high[0]);
    for (int i = 0; i < N; i++) low[i] = 10 * rank + i;
    for (int i = 0; i < 2 * N; i++) high[i].value = i, high[i].index = 10 * rank + i;
    MPI_Get_address(low, &mine[0]), MPI_Get_address(high, &mine[1]);
    MPI_Allgather(mine, 2, MPI_AINT, at, 2, MPI_AINT, MPI_COMM_WORLD);
    MPI_Aint low_there = at[2 * right], high_there = at[2 * right + 1];
    MPI_Aint index_there = high_there + (MPI_Aint)((char *)&high[0].index - (char *)high);
    /* Two of low, and the indices of high[0], [1] and [2]. */
    MPI_Aint step = (MPI_Aint)sizeof high[0], places[4] = {low_there + 4, index_there, index_there + step, index_there + 2 * step};
    MPI_Type_create_hindexed(4, (int[]){2, 1, 1, 1}, places, MPI_INT, &ints);
    MPI_Type_commit(&ints);
    MPI_Win_lock_all(0, win);
    CHECK_EQ(MPI_Get(got, 5, MPI_INT, right, 0, 1, ints, win), MPI_SUCCESS);
    MPI_Win_flush(right, win);
    for (int i = 0; i < 5; i++) CHECK_EQ(got[i], 10 * right + (i < 2 ? i + 1 : i - 2));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(MPI_Put(put, 5, MPI_INT, right, 0, 1, ints, win), MPI_SUCCESS);
    MPI_Win_flush(right, win);
    CHECK_EQ(MPI_Accumulate(put, 5, MPI_INT, right, 0, 1, ints, MPI_PROD, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Get_accumulate(put, 5, MPI_INT, got, 5, MPI_INT, right, 0, 1, ints, MPI_SUM, win), MPI_SUCCESS);
    MPI_Win_flush(right, win);
    for (int i = 0; i < 5; i++) CHECK_EQ(got[i], put[i] * put[i]);
    CHECK_EQ(MPI_Get_accumulate(NULL, 0, MPI_INT, got, 5, MPI_INT, right, 0, 1, ints, MPI_NO_OP, win), MPI_SUCCESS);
    MPI_Win_flush(right, win);
    for (int i = 0; i < 5; i++) CHECK_EQ(got[i], put[i] * put[i] + put[i]);
    CHECK_EQ(MPI_Accumulate(put, 5, MPI_INT, right, 0, 1, ints, MPI_REPLACE, win), MPI_SUCCESS);
    MPI_Type_vector(2, 1, 1, MPI_DOUBLE_INT, &pairs); /* elements with holes, on both sides of where two regions meet */
    MPI_Type_commit(&pairs);
    MPI_Aint meet = MPI_Aint_add(high_there, (N - 1) * step);
    CHECK_EQ(MPI_Get_accumulate(&pair, 1, MPI_DOUBLE_INT, was, 1, MPI_DOUBLE_INT, right, meet, 1, MPI_DOUBLE_INT, MPI_MAXLOC, win),
             MPI_SUCCESS);
    MPI_Win_flush(right, win);
    CHECK_EQ(MPI_Get(was, 2, MPI_DOUBLE_INT, right, meet, 1, pairs, win), MPI_SUCCESS);
    MPI_Win_flush(right, win);
    CHECK(was[0].value == 100 && was[0].index == rank && was[1].value == N && was[1].index == 10 * right + N);
    char bytes[2 * sizeof high[0]];
    CHECK_EQ(MPI_Get(bytes, 2 * (int)step, MPI_BYTE, right, meet, 2 * (int)step, MPI_BYTE, win), MPI_SUCCESS); /* one run */
    MPI_Win_flush(right, win);
    double second;
    memcpy(&second, bytes + step, sizeof second);
    CHECK(second == N);
    MPI_Error_class(MPI_Get(bytes, 1, MPI_DOUBLE_INT, right, MPI_Aint_add(high_there, 2 * N * step - 8), 1, MPI_DOUBLE_INT, win),
                    &error);
    CHECK_EQ(error, MPI_ERR_RMA_RANGE); /* it ends beyond */
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) CHECK_EQ(low[i], i == 1 || i == 2 ? i : 10 * rank + i);
    for (int i = 0; i < 2 * N; i++) CHECK_EQ(high[i].index, i < 3 ? i + 3 : i == N - 1 ? left : 10 * rank + i);
    MPI_Type_free(&ints);
    MPI_Type_free(&pairs);
    MPI_Win_detach(win, low);
    MPI_Win_detach(win, high);
    MPI_Win_detach(win, high + N);
    MPI_Win_free(&win);
    free(at);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    for (int kind = 0; kind < KINDS; kind++) {
        counter(kind);
        mutex(kind);
        everywhere(kind);
        requests(kind);
        if (getenv("GODWIT_VNODES")) watched(kind); /* the simulator's ranks take turns in calls that wait */
        ring(kind);
        star(kind);
        for (int n = 1; n <= 1000; n *= 10) layouts(kind, n);
    }
    regions();
    return test_end();
}
