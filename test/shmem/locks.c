/* locks.c -- locks keep others out, and let all in (OpenSHMEM 1.6 section 9.13).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

enum { LOCKS = 5, ROUNDS = 200 };
static long locks[LOCKS], owner[LOCKS], counts[LOCKS]; /* those of PE 0 count */

static void inside(int i)
{
    CHECK(shmem_long_atomic_swap(&owner[i], me + 1, 0) == 0);
    long n = shmem_long_g(&counts[i], 0); /* no atomic: the lock is what protects it */
    shmem_long_p(&counts[i], n + 1, 0);
    CHECK(shmem_long_atomic_swap(&owner[i], 0, 0) == me + 1);
}

static long by_test(int i)
{
    long tries = 0;
    while (shmem_test_lock(&locks[i]) != 0) tries++;
    return tries;
}

int main(void)
{
    begin();
    long *heap = shmem_calloc(1, sizeof *heap);
    shmem_barrier_all();
    for (int r = 0; r < ROUNDS; r++) {
        int i = (r + me) % LOCKS;
        if (r % 3 == 2)
            by_test(i);
        else
            shmem_set_lock(&locks[i]);
        inside(i);
        shmem_clear_lock(&locks[i]);
    }
    shmem_barrier_all();
    long sum = 0;
    for (int i = 0; i < LOCKS; i++) sum += shmem_long_g(&counts[i], 0);
    CHECK(sum == (long)ROUNDS * pes);
    for (int i = 0; i < LOCKS; i++) CHECK(locks[i] == 0); /* free: as they began */
    /* who holds it is refused another time, who comes by test too */
    if (me == 0) shmem_set_lock(heap);
    shmem_barrier_all();
    CHECK(shmem_test_lock(heap) == 1);
    shmem_barrier_all();
    if (me == 0) shmem_clear_lock(heap);
    shmem_barrier_all();
    shmem_free(heap);
    shmem_finalize();
    return 0;
}
