/* rma_atomics.c -- accumulates of all kinds while every rank does them at once: what the network does at the target
 * (GODWIT_RMA_NETWORK_ATOMICS), what ranks do, and both in one window keep their sums, their order and their old values.
 *
 * A rank that spins on its own part, by calls that wait for nothing, is reached by the others.
 *
 *     rma_atomics on | off     the network must have done some (all numbers of 4 and 8 bytes); it must have done none
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "counters_check.h"
#include "rma_check.h"

enum { TIMES = 40, MANY = 1500 };
static MPI_Win win;
static char *base;
enum { LONGS = 16, INTS = 4096, DOUBLES = 16384, UNALIGNED = 60003, SHORTS = 61000, BYTES = 65536 };

/* Counters of every rank: each value is given out once. */
static void counters_of_all(void)
{
    long one = 1, old, *seen = calloc((size_t)size * TIMES, sizeof *seen), *all = calloc((size_t)size * TIMES, sizeof *all);
    for (int i = 0; i < TIMES; i++)
        for (int to = 0; to < size; to++) {
            MPI_Fetch_and_op(&one, &old, MPI_LONG, to, LONGS, MPI_SUM, win);
            MPI_Win_flush(to, win);
            CHECK(old >= 0 && old < (long)size * TIMES);
            if (to == 0 && old >= 0 && old < (long)size * TIMES) seen[old]++;
        }
    MPI_Allreduce(seen, all, size * TIMES, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < size * TIMES; i++) CHECK_EQ(all[i], 1);
    MPI_Win_flush_all(win);
    free(seen);
    free(all);
}

/* A lock by compare-and-swap, which guards a plain number. */
static void lock_of_users(void)
{
    int mine = rank + 1, free_one = 0, got, number;
    for (int i = 0; i < TIMES / 4; i++) {
        do {
            MPI_Compare_and_swap(&mine, &free_one, &got, MPI_INT, 0, INTS, win);
            MPI_Win_flush(0, win);
        } while (got != 0);
        MPI_Get(&number, 1, MPI_INT, 0, INTS + 8, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        number++;
        MPI_Put(&number, 1, MPI_INT, 0, INTS + 8, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        MPI_Fetch_and_op(&free_one, &got, MPI_INT, 0, INTS, MPI_REPLACE, win);
        MPI_Win_flush(0, win);
        CHECK_EQ(got, mine);
    }
}

/* Rank 0 spins on its own word by calls that wait for nothing, until the last rank has changed it. */
static void spins(void)
{
    int zero = 0, got = 0;
    for (int how = 0; how < 5; how++) {
        int next = how + 1;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1 && rank > 0) {
            usleep(20000);
            MPI_Fetch_and_op(&next, &got, MPI_INT, 0, INTS + 16, MPI_REPLACE, win);
            MPI_Win_flush(0, win);
            CHECK_EQ(got, how);
        }
        for (; rank == 0 && size > 1 && got != next;) {
            if (how == 4)
                MPI_Compare_and_swap(&zero, &zero, &got, MPI_INT, 0, INTS + 16, win);
            else
                MPI_Fetch_and_op(NULL, &got, MPI_INT, 0, INTS + 16, MPI_NO_OP, win);
            if (how == 1)
                MPI_Win_flush_local(0, win);
            else if (how == 2)
                MPI_Win_flush_all(win);
            else if (how == 3)
                MPI_Win_flush_local_all(win);
            else
                MPI_Win_flush(0, win);
        }
    }
}

/* The same by locks and a load: of its own part alone, and of all without a check. */
static void spins_by_locks(void)
{
    for (int next = 1; next <= 2; next++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1 && rank > 0) {
            usleep(20000);
            MPI_Win_lock(MPI_LOCK_SHARED, 0, next == 2 ? MPI_MODE_NOCHECK : 0, win);
            MPI_Accumulate(&next, 1, MPI_INT, 0, INTS + 24, 1, MPI_INT, MPI_REPLACE, win);
            MPI_Win_unlock(0, win);
        }
        for (int got = 0; rank == 0 && size > 1 && got != next;) {
            if (next == 1) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
            if (next == 2) MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
            memcpy(&got, base + INTS + 24, sizeof got);
            if (next == 1) MPI_Win_unlock(0, win);
            if (next == 2) MPI_Win_unlock_all(win);
        }
    }
}

/* Many at a time, in a strided layout at the target, of every operation that has a result of its own in any order. */
static void many(void)
{
    MPI_Datatype every_third;
    double *x = malloc(MANY * sizeof *x), *old = malloc(MANY * sizeof *old);
    MPI_Request q;
    int to = (rank + 1) % size, wrong = 0;
    MPI_Type_vector(MANY, 1, 3, MPI_DOUBLE, &every_third);
    MPI_Type_commit(&every_third);
    for (int i = 0; i < MANY; i++) x[i] = i + rank, old[i] = -1;
    MPI_Accumulate(x, MANY, MPI_DOUBLE, to, DOUBLES, 1, every_third, MPI_SUM, win);
    MPI_Get_accumulate(x, MANY, MPI_DOUBLE, old, MANY, MPI_DOUBLE, to, DOUBLES, 1, every_third, MPI_SUM, win);
    MPI_Win_flush(to, win);
    for (int i = 0; i < MANY; i++) wrong += old[i] != i + rank; /* nobody else adds to that rank's, and this rank's are in order */
    MPI_Rget_accumulate(NULL, 0, MPI_DOUBLE, old, MANY, MPI_DOUBLE, to, DOUBLES, 1, every_third, MPI_NO_OP, win, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    for (int i = 0; i < MANY; i++) wrong += old[i] != 2.0 * (i + rank);
    for (int i = 0; i < MANY; i++) x[i] = 1;
    MPI_Raccumulate(x, MANY, MPI_DOUBLE, to, DOUBLES, 1, every_third, MPI_REPLACE, win, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    for (int i = 0; i < MANY; i++) x[i] = i % 2 ? 0.5 : 1.5;
    MPI_Get_accumulate(x, MANY, MPI_DOUBLE, old, MANY, MPI_DOUBLE, to, DOUBLES, 1, every_third, MPI_MAX, win);
    MPI_Win_flush_local(to, win);
    for (int i = 0; i < MANY; i++) wrong += old[i] != 1;
    MPI_Win_flush(to, win);
    MPI_Get(old, MANY, MPI_DOUBLE, to, DOUBLES, 1, every_third, win);
    MPI_Win_flush(to, win);
    for (int i = 0; i < MANY; i++) wrong += old[i] != (i % 2 ? 1 : 1.5);
    CHECK_EQ(wrong, 0);
    MPI_Type_free(&every_third);
    free(x);
    free(old);
}

/* One item by operations of which the network does some and ranks others, in the order of the calls. */
static void both_ways(void)
{
    long x[] = {5, 3, 1, 7}, old[5];
    int to = (rank + size - 1) % size;
    short one = 1;
    for (int i = 0; i < TIMES; i++) {
        MPI_Accumulate(&x[0], 1, MPI_LONG, to, LONGS + 8, 1, MPI_LONG, MPI_REPLACE, win);                        /* 5 */
        MPI_Accumulate(&x[1], 1, MPI_LONG, to, LONGS + 8, 1, MPI_LONG, MPI_PROD, win);                           /* 15 */
        MPI_Get_accumulate(&x[2], 1, MPI_LONG, &old[0], 1, MPI_LONG, to, LONGS + 8, 1, MPI_LONG, MPI_SUM, win);  /* 16 */
        MPI_Get_accumulate(&x[3], 1, MPI_LONG, &old[1], 1, MPI_LONG, to, LONGS + 8, 1, MPI_LONG, MPI_LXOR, win); /* 0 */
        MPI_Get_accumulate(&x[3], 1, MPI_LONG, &old[2], 1, MPI_LONG, to, LONGS + 8, 1, MPI_LONG, MPI_BOR, win);  /* 7 */
        MPI_Fetch_and_op(&x[1], &old[3], MPI_LONG, to, LONGS + 8, MPI_MIN, win);                                 /* 3 */
        MPI_Fetch_and_op(NULL, &old[4], MPI_LONG, to, LONGS + 8, MPI_NO_OP, win);
        MPI_Accumulate(&x[2], 1, MPI_LONG, to, UNALIGNED, 1, MPI_LONG, MPI_SUM, win);
        MPI_Accumulate(&one, 1, MPI_SHORT, to, SHORTS, 1, MPI_SHORT, MPI_SUM, win);
        MPI_Win_flush(to, win);
        CHECK(old[0] == 15 && old[1] == 16 && old[2] == 0 && old[3] == 7 && old[4] == 3);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    int must = strcmp(argv[1], "on") == 0, locked = 0;
    counters_begin();
    MPI_T_pvar_handle done = counter("rma_network_atomics", MPI_T_PVAR_CLASS_COUNTER);
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    counters_of_all();
    lock_of_users();
    spins();
    many();
    both_ways();
    MPI_Win_unlock_all(win);
    spins_by_locks();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    long sum, last, apart;
    short shorts;
    memcpy(&sum, base + LONGS, sizeof sum);
    memcpy(&last, base + LONGS + 8, sizeof last);
    memcpy(&apart, base + UNALIGNED, sizeof apart);
    memcpy(&shorts, base + SHORTS, sizeof shorts);
    memcpy(&locked, base + INTS + 8, sizeof locked);
    CHECK(sum == (long)size * TIMES && last == 3 && apart == TIMES && shorts == TIMES);
    if (rank == 0) CHECK_EQ(locked, size * (TIMES / 4));
    MPI_Win_unlock(rank, win);
    CHECK_EQ(counted(done) > 0, must);
    MPI_Win_free(&win);
    int failed = test_end();
    counters_end();
    return failed;
}
