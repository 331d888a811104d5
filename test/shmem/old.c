/* old.c -- a program as it was written for OpenSHMEM 1.0: start_pes, active sets with pSync, unprefixed names, no end.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpp/shmem.h>
#include <stdio.h>
#include <stdlib.h>

static int me, pes;
#define CHECK(what)                                                                                                                \
    do {                                                                                                                           \
        if (!(what)) {                                                                                                             \
            fprintf(stderr, "%s:%d: PE %d: it does not hold that %s\n", __FILE__, __LINE__, me, #what);                            \
            shmem_global_exit(2);                                                                                                  \
        }                                                                                                                          \
    } while (0)

static long pSync[_SHMEM_REDUCE_SYNC_SIZE > _SHMEM_COLLECT_SYNC_SIZE ? _SHMEM_REDUCE_SYNC_SIZE : _SHMEM_COLLECT_SYNC_SIZE];
static long pSync2[_SHMEM_BCAST_SYNC_SIZE], pSync3[_SHMEM_BARRIER_SYNC_SIZE];
static long pWrk[_SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long from[64], to[64], many[64 * 64];
static int count;

/* The PEs start, start + 2^log, ... size of them. */
static void set(int start, int log, int size)
{
    int step = 1 << log, at = (me - start) / step, is_in = me >= start && (me - start) % step == 0 && at < size;
    shmem_barrier_all();
    for (int i = 0; i < 64; i++) from[i] = 1000 * me + i, to[i] = -1;
    for (int i = 0; i < 64 * 64; i++) many[i] = -1;
    shmem_barrier_all();
    if (is_in) {
        int root = size - 1;
        shmem_broadcast64(to, from, 5, root, start, log, size, pSync2);
        for (int i = 0; i < 5; i++) CHECK(to[i] == (at == root ? -1 : 1000 * (start + root * step) + i));
        shmem_barrier(start, log, size, pSync3);
        shmem_fcollect64(many, from, 3, start, log, size, pSync);
        for (int p = 0; p < size; p++)
            for (int i = 0; i < 3; i++) CHECK(many[3 * p + i] == 1000 * (start + p * step) + i);
        shmem_barrier(start, log, size, pSync3);
        shmem_long_sum_to_all(to, from, 2, start, log, size, pWrk, pSync);
        long sum = 0;
        for (int p = 0; p < size; p++) sum += 1000L * (start + p * step);
        CHECK(to[0] == sum && to[1] == sum + size);
        shmem_barrier(start, log, size, pSync3);
        shmem_collect64(many, from, (size_t)at + 1, start, log, size, pSync);
        for (int p = 0, k = 0; p < size; p++)
            for (int i = 0; i <= p; i++, k++) CHECK(many[k] == 1000 * (start + p * step) + i);
        shmem_sync(start, log, size, pSync3);
    }
    for (int i = 0; i < _SHMEM_BARRIER_SYNC_SIZE; i++) CHECK(pSync3[i] == _SHMEM_SYNC_VALUE);
}

int main(void)
{
    start_pes(0);
    start_pes(7);
    me = _my_pe();
    pes = _num_pes();
    CHECK(me == shmem_my_pe() && pes == shmem_n_pes());
    for (size_t i = 0; i < sizeof pSync / sizeof *pSync; i++) pSync[i] = _SHMEM_SYNC_VALUE;
    for (size_t i = 0; i < sizeof pSync2 / sizeof *pSync2; i++) pSync2[i] = _SHMEM_SYNC_VALUE;
    for (size_t i = 0; i < sizeof pSync3 / sizeof *pSync3; i++) pSync3[i] = _SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (int turn = 0; turn < 3; turn++) {
        set(0, 0, pes);
        set(0, 1, (pes + 1) / 2);
        set(pes / 2, 0, pes - pes / 2);
        set(pes - 1, 3, 1);
        if (pes > 1) set(1, 1, pes / 2);
    }
    long *p = shmalloc(64), *q = shmemalign(256, 100);
    CHECK(p && q && (size_t)q % 256 == 0);
    *p = 5;
    shmem_barrier_all();
    shmem_int_inc(&count, 0);
    shmem_int_add(&count, 2, 0);
    CHECK(shmem_long_fadd(p, 10, me) == 5 && shmem_long_finc(p, me) == 15 && shmem_long_cswap(p, 16, 3, me) == 16);
    CHECK(shmem_long_swap(p, 9, me) == 3 && *p == 9);
    shmem_barrier_all();
    if (me == 0) CHECK(count == 3 * pes);
    if (pes > 1 && me == 0) shmem_long_p(&to[0], 77, 1);
    if (me == 1) {
        shmem_long_wait(&to[0], to[0] == 77 ? 0 : to[0]);
        CHECK(to[0] == 77);
    }
    shfree(q);
    shfree(p);
    return 0; /* the end follows by itself */
}
