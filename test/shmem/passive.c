/* passive.c -- one-sided is one-sided: PE 0 calls nothing until it has seen by its own loads what all others have done to it (OpenSHMEM 1.6
 * section 4.1).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <sched.h>

static long arrived, counter, slots[64], table[64];

int main(void)
{
    begin();
    long *heap = shmem_calloc(64, sizeof *heap);
    for (int i = 0; i < 64; i++) table[i] = 100 + i;
    shmem_barrier_all();
    if (me == 0) {
        while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < pes - 1) sched_yield();
    } else {
        shmem_long_put(&slots[me], &(long){500 + me}, 1, 0);
        shmem_long_p(&heap[me], 600 + me, 0);
        shmem_quiet();
        CHECK(shmem_long_g(&heap[me], 0) == 600 + me);
        CHECK(shmem_long_g(&table[me], 0) == 100 + me);
        for (int i = 0; i < 50; i++) shmem_long_atomic_add(&counter, i, 0);
        CHECK(shmem_long_atomic_fetch(&counter, 0) >= 1225);
        CHECK(shmem_long_atomic_compare_swap(&table[me], 100 + me, 900 + me, 0) == 100 + me);
        shmem_quiet();
        shmem_long_atomic_inc(&arrived, 0);
    }
    if (me == 0) {
        CHECK(counter == 1225L * (pes - 1));
        for (int i = 1; i < pes; i++) CHECK(slots[i] == 500 + i && heap[i] == 600 + i && table[i] == 900 + i);
    }
    shmem_barrier_all();
    shmem_free(heap);
    shmem_finalize();
    return 0;
}
