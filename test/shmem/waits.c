/* waits.c -- waits and tests: status arrays, vectors, empty sets, fairness (OpenSHMEM 1.6 section 9.11).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <stdint.h>
#include <string.h>

enum { N = 6 };
static long vars[N];
static size_t found[N];

/* 9.11.2 to 9.11.14: nothing to wait for. */
static void empty(void)
{
    static const int none[N] = {1, 1, 1, 1, 1, 1};
    static const long values[N] = {7, 7, 7, 7, 7, 7};
    for (int whole = 0; whole < 2; whole++) {
        size_t n = whole ? N : 0;
        const int *status = whole ? none : NULL;
        shmem_long_wait_until_all(vars, n, status, SHMEM_CMP_EQ, 7);
        shmem_long_wait_until_all_vector(vars, n, status, SHMEM_CMP_EQ, values);
        CHECK(shmem_long_wait_until_any(vars, n, status, SHMEM_CMP_EQ, 7) == SIZE_MAX);
        CHECK(shmem_long_wait_until_any_vector(vars, n, status, SHMEM_CMP_EQ, values) == SIZE_MAX);
        CHECK(shmem_long_wait_until_some(vars, n, found, status, SHMEM_CMP_EQ, 7) == 0);
        CHECK(shmem_long_wait_until_some_vector(vars, n, found, status, SHMEM_CMP_EQ, values) == 0);
        CHECK(shmem_long_test_all(vars, n, status, SHMEM_CMP_EQ, 7) == 1);
        CHECK(shmem_long_test_all_vector(vars, n, status, SHMEM_CMP_EQ, values) == 1);
        CHECK(shmem_long_test_any(vars, n, status, SHMEM_CMP_EQ, 7) == SIZE_MAX);
        CHECK(shmem_long_test_some(vars, n, found, status, SHMEM_CMP_EQ, 7) == 0);
    }
}

/* The elements that status leaves out are neither waited for nor returned; status itself stays as it is. */
static void status(void)
{
    static const int out[N] = {0, 5, 0, -1, 0, 1};
    static const long values[N] = {1, 99, 2, 99, 3, 99};
    int last = (me + pes - 1) % pes, next = (me + 1) % pes;
    (void)last;
    for (int i = 0; i < N; i += 2) shmem_long_atomic_set(&vars[i], i / 2 + 1, next);
    shmem_long_wait_until_all(vars, N, out, SHMEM_CMP_NE, 0);
    shmem_long_wait_until_all_vector(vars, N, out, SHMEM_CMP_EQ, values);
    CHECK(vars[0] == 1 && vars[2] == 2 && vars[4] == 3);
    CHECK(shmem_long_test_all(vars, N, out, SHMEM_CMP_GE, 1) == 1);
    CHECK(shmem_long_test_all(vars, N, NULL, SHMEM_CMP_GE, 1) == 0);
    CHECK(shmem_long_test_any(vars, N, out, SHMEM_CMP_EQ, 2) == 2);
    CHECK(shmem_long_test_any(vars, N, out, SHMEM_CMP_EQ, 0) == SIZE_MAX);
    CHECK(shmem_long_wait_until_some(vars, N, found, out, SHMEM_CMP_GT, 1) == 2);
    CHECK((found[0] == 2 && found[1] == 4) || (found[0] == 4 && found[1] == 2));
    CHECK(shmem_long_test_some_vector(vars, N, found, out, SHMEM_CMP_LE, values) == 3);
}

/* Whoever takes one element at a time gets each in the end, although all hold all the time. */
static void fair(void)
{
    int seen[N] = {0}, n = 0;
    for (int i = 0; i < N; i++) shmem_long_atomic_set(&vars[i], 1, (me + 1) % pes);
    shmem_long_wait_until_all(vars, N, NULL, SHMEM_CMP_EQ, 1);
    for (int tries = 0; n < N; tries++) {
        CHECK(tries < 100 * N);
        size_t i = tries & 1 ? shmem_long_wait_until_any(vars, N, NULL, SHMEM_CMP_EQ, 1)
                             : shmem_long_test_any(vars, N, NULL, SHMEM_CMP_EQ, 1);
        CHECK(i < N);
        if (!seen[i]++) n++;
    }
}

int main(void)
{
    begin();
    empty();
    shmem_barrier_all();
    status();
    shmem_barrier_all();
    fair();
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
