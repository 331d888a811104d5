/* ordered.c -- two PEs write one word, one after the other, by each way in which OpenSHMEM orders them: right, and so GODWIT_CHECK says nothing.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

enum { ROUNDS = 20 };
static long word, flag, lock, order[2], other;
static uint64_t sig;
static long pairs[8];
static char bytes[8];
static long pSync[SHMEM_BARRIER_SYNC_SIZE];
static int last, target;

static void first(long value)
{
    shmem_long_p(&word, value, target);
    shmem_quiet();
}
static void second(long value)
{
    shmem_long_put(&word, &value, 1, target);
    shmem_quiet();
}

/* PE 0 writes, and then the last one, which each way lets go on. */
static void by_wait(long n)
{
    if (me == 0) first(n), shmem_long_p(&flag, n, last);
    if (me == last) shmem_long_wait_until(&flag, SHMEM_CMP_EQ, n), second(n + 1000);
}
static void by_test(long n)
{
    if (me == 0) first(n), shmem_long_atomic_set(&flag, n, last);
    if (me == last) {
        while (!shmem_long_test(&flag, SHMEM_CMP_EQ, n)) {}
        second(n + 1000);
    }
}
static void by_signal(long n)
{
    if (me == 0) first(n), shmem_long_put_signal(&other, &n, 1, &sig, (uint64_t)n, SHMEM_SIGNAL_SET, last);
    if (me == last) shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, (uint64_t)n), second(n + 1000);
}
/* Without a call, as old programs do. */
static void by_load(long n)
{
    if (me == 0) first(n), shmem_long_p(&flag, n, last);
    if (me != last) return;
    while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) != n) {}
    second(n + 1000);
}
static void by_get(long n)
{
    if (me == 0) first(n), __atomic_store_n(&flag, n, __ATOMIC_RELEASE);
    if (me != last) return;
    while (shmem_long_g(&flag, 0) != n) {}
    second(n + 1000);
}
static void by_atomic(long n)
{
    if (me == 0) first(n), shmem_long_atomic_set(&flag, n, target);
    if (me != last) return;
    while (shmem_long_atomic_fetch(&flag, target) != n) {}
    second(n + 1000);
}
static void by_third(long n)
{
    if (me == 0) first(n), shmem_long_p(&flag, n, target);
    if (me == target) shmem_long_wait_until(&flag, SHMEM_CMP_EQ, n), shmem_long_p(&flag, n, last);
    if (me == last) shmem_long_wait_until(&flag, SHMEM_CMP_EQ, n), second(n + 1000);
}
static void by_sync(long n)
{
    if (me == 0) first(n);
    shmem_sync_all();
    if (me == last) second(n + 1000);
}
static void by_set(long n)
{
    if (me == 0) first(n);
    if (me > 0 && me != last) return;
    shmem_barrier(0, 1, 2, pSync); /* PEs 0 and 2 */
    if (me == last) second(n + 1000);
}
static void by_reduction(long n)
{
    long sum = 0;
    if (me == 0) first(n);
    order[0] = n;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &order[1], &order[0], 1);
    sum = order[1];
    if (me == last) second(n + 1000);
    CHECK(sum == n * pes);
}
/* Whoever comes first. */
static void by_lock(long n)
{
    shmem_set_lock(&lock);
    if (me == 0) first(n + 1000);
    if (me == last) second(n + 1000);
    shmem_clear_lock(&lock);
}
/* Equal values, other bytes of the word, other elements between them: nobody is in the way of anybody. */
static void apart(long n)
{
    long mine[4] = {n, n, n, n};
    if (me != 0 && me != last) return;
    shmem_long_p(&other, n, target);
    shmem_char_p(&bytes[me == 0], (char)(n + me), target);
    shmem_putmem(&bytes[me == 0 ? 2 : 5], mine, 3, target);
    shmem_long_iput(&pairs[me == 0], mine, 2, 1, 4, target);
    second(n + 1000);
}

int main(void)
{
    void (*const ways[])(long) = {by_wait,  by_test, by_signal, by_load,      by_get,  by_atomic,
                                  by_third, by_sync, by_set,    by_reduction, by_lock, apart};
    begin();
    last = 2, target = 1;
    for (int round = 0; pes > 2 && round < ROUNDS; round++) {
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            long n = 100 * round + (long)i + 1;
            ways[i](n);
            shmem_barrier_all();
            CHECK(me != target || word == n + 1000);
            shmem_barrier_all();
        }
    }
    shmem_finalize();
    return 0;
}
