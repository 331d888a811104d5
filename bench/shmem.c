/* shmem.c [ROW] -- times of OpenSHMEM's calls between PE 0 and PE 1, in ns; both run it, the collectives on all.
 *
 * Each row is the best of 15 batches.  Only calls of OpenSHMEM 1.4, so that other libraries can be measured beside; all data are checked for
 * having arrived by what waits for them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 15, LONGS = 1 << 20 };
static int me, pes, other;
static long static_word, static_data[64];
static long *heap, *data, mine[LONGS];
static long pSync[4][_SHMEM_REDUCE_SYNC_SIZE + _SHMEM_COLLECT_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE + 8],
    pWrk[_SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static volatile long sink;
static void p8(int n)
{
    for (int i = 0; i < n; i++) shmem_long_p(heap, i, other);
}
static void p8_static(int n)
{
    for (int i = 0; i < n; i++) shmem_long_p(&static_word, i, other);
}
static void p_quiet(int n)
{
    for (int i = 0; i < n; i++) shmem_long_p(heap, i, other), shmem_quiet();
}
static void p_fence(int n)
{
    for (int i = 0; i < n; i++) shmem_long_p(heap, i, other), shmem_fence();
}
static void quiet(int n)
{
    for (int i = 0; i < n; i++) shmem_quiet();
}
static void put8_quiet(int n)
{
    for (int i = 0; i < n; i++) shmem_long_put(heap, mine, 1, other), shmem_quiet();
}
static void put8_static(int n)
{
    for (int i = 0; i < n; i++) shmem_long_put(static_data, mine, 1, other), shmem_quiet();
}
static void put_nbi(int n)
{
    for (int i = 0; i < n; i++) {
        shmem_long_put_nbi(heap, mine, 1, other);
        if (i % 64 == 63) shmem_quiet();
    }
}
static void g8(int n)
{
    for (int i = 0; i < n; i++) sink = shmem_long_g(heap, other);
}
static void get8(int n)
{
    for (int i = 0; i < n; i++) shmem_long_get(mine, heap, 1, other);
}
static void fetch_add(int n)
{
    for (int i = 0; i < n; i++) sink = shmem_long_atomic_fetch_add(heap, 1, other);
}
static void cswap(int n)
{
    for (int i = 0; i < n; i++) sink = shmem_long_atomic_compare_swap(heap, 1, 2, other);
}
static void fetch(int n)
{
    for (int i = 0; i < n; i++) sink = shmem_long_atomic_fetch(heap, other);
}
static void inc(int n)
{
    for (int i = 0; i < n; i++) shmem_long_atomic_inc(heap, other);
}
static void inc_quiet(int n)
{
    for (int i = 0; i < n; i++) shmem_long_atomic_inc(heap, other), shmem_quiet();
}
static void iput(int n)
{
    for (int i = 0; i < n; i++) shmem_long_iput(data, mine, 2, 2, 16, other), shmem_quiet();
}
static void lock(int n)
{
    static long word;
    for (int i = 0; i < n; i++) shmem_set_lock(&word), shmem_clear_lock(&word);
}
static size_t bytes;
static void put_long(int n)
{
    for (int i = 0; i < n; i++) shmem_putmem(data, mine, bytes, other), shmem_quiet();
}
static void get_long(int n)
{
    for (int i = 0; i < n; i++) shmem_getmem(mine, data, bytes, other);
}

/* Both PEs. */
static void ping(int n)
{
    static long turn; /* goes on from batch to batch */
    for (int i = 0; i < n; i++) {
        turn++;
        if (me == 0) shmem_long_p(heap, turn, other), shmem_long_wait_until(heap, SHMEM_CMP_EQ, turn);
        if (me == 1) shmem_long_wait_until(heap, SHMEM_CMP_EQ, turn), shmem_long_p(heap, turn, other);
    }
}
static void ping_4k(int n)
{
    static long turn;
    for (int i = 0; i < n; i++) {
        turn++;
        if (me == 1) shmem_long_wait_until(heap, SHMEM_CMP_EQ, turn);
        shmem_putmem(data, mine, 4096, other);
        shmem_fence();
        shmem_long_p(heap, turn, other);
        if (me == 0) shmem_long_wait_until(heap, SHMEM_CMP_EQ, turn);
    }
}
static void barrier(int n)
{
    for (int i = 0; i < n; i++) shmem_barrier_all();
}
static void sync(int n)
{
    for (int i = 0; i < n; i++) shmem_sync_all();
}
static void bcast(int n)
{
    for (int i = 0; i < n; i++) shmem_broadcast64(data, mine, 1, 0, 0, 0, pes, pSync[i % 4]), shmem_barrier_all();
}
static void reduce(int n)
{
    for (int i = 0; i < n; i++) shmem_long_sum_to_all(data, data + 8, 1, 0, 0, pes, pWrk, pSync[i % 4]), shmem_barrier_all();
}
static void fcollect(int n)
{
    for (int i = 0; i < n; i++) shmem_fcollect64(data, data + 512, 1, 0, 0, pes, pSync[i % 4]), shmem_barrier_all();
}
static void alltoall(int n)
{
    for (int i = 0; i < n; i++) shmem_alltoall64(data, data + 512, 1, 0, 0, pes, pSync[i % 4]), shmem_barrier_all();
}
static void allocate(int n)
{
    for (int i = 0; i < n; i++) shmem_free(shmem_malloc(1024));
}

struct row {
    const char *name;
    size_t bytes;
    int n, by_all, per; /* calls a batch; PE 0 alone, or all; of which so many make one figure */
    void (*run)(int n);
};
static const struct row rows[] = {
    {"p", 8, 20000, 0, 1, p8},
    {"p_static", 8, 20000, 0, 1, p8_static},
    {"p_quiet", 8, 20000, 0, 1, p_quiet},
    {"p_fence", 8, 20000, 0, 1, p_fence},
    {"quiet", 0, 20000, 0, 1, quiet},
    {"put_quiet", 8, 20000, 0, 1, put8_quiet},
    {"put_static_quiet", 8, 2000, 0, 1, put8_static},
    {"put_nbi", 8, 2048, 0, 1, put_nbi},
    {"g", 8, 20000, 0, 1, g8},
    {"get", 8, 20000, 0, 1, get8},
    {"fetch_add", 8, 10000, 0, 1, fetch_add},
    {"compare_swap", 8, 10000, 0, 1, cswap},
    {"atomic_fetch", 8, 10000, 0, 1, fetch},
    {"inc", 8, 10000, 0, 1, inc},
    {"inc_quiet", 8, 10000, 0, 1, inc_quiet},
    {"iput_16_quiet", 128, 4000, 0, 1, iput},
    {"lock", 8, 4000, 0, 1, lock},
    {"put", 4096, 2000, 0, 1, put_long},
    {"put", 65536, 200, 0, 1, put_long},
    {"put", 1048576, 20, 0, 1, put_long},
    {"put", 4194304, 8, 0, 1, put_long},
    {"get", 4096, 2000, 0, 1, get_long},
    {"get", 65536, 200, 0, 1, get_long},
    {"get", 1048576, 20, 0, 1, get_long},
    {"get", 4194304, 8, 0, 1, get_long},
    {"ping", 8, 4000, 1, 2, ping},
    {"ping_fence", 4096, 2000, 1, 2, ping_4k},
    {"barrier_all", 0, 4000, 1, 1, barrier},
    {"sync_all", 0, 4000, 1, 1, sync},
    {"broadcast_barrier", 8, 2000, 1, 1, bcast},
    {"sum_to_all_barrier", 8, 2000, 1, 1, reduce},
    {"fcollect_barrier", 8, 2000, 1, 1, fcollect},
    {"alltoall_barrier", 8, 2000, 1, 1, alltoall},
    {"malloc_free", 1024, 1000, 1, 1, allocate},
};

int main(int argc, char **argv)
{
    shmem_init();
    me = shmem_my_pe(), pes = shmem_n_pes();
    other = pes > 1 ? me ^ 1 : me;
    heap = shmem_malloc(64);
    data = shmem_malloc(LONGS * sizeof *data);
    memset(mine, 1, sizeof mine), memset(data, 0, LONGS * sizeof *data);
    for (int i = 0; i < 4; i++)
        for (size_t k = 0; k < sizeof pSync[i] / sizeof pSync[i][0]; k++) pSync[i][k] = _SHMEM_SYNC_VALUE;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (argc > 1 && strcmp(argv[1], rows[r].name) != 0) continue;
        double best = 1e30;
        bytes = rows[r].bytes;
        *heap = 0;
        for (int b = -2; b < BATCHES; b++) {
            shmem_barrier_all();
            double t = now();
            if (rows[r].by_all ? rows[r].per == 1 || me < 2 : me == 0) rows[r].run(rows[r].n);
            t = (now() - t) / rows[r].n / rows[r].per;
            if (b >= 0 && t < best) best = t;
            shmem_barrier_all();
        }
        if (me == 0) printf("%s %zu %.2f\n", rows[r].name, rows[r].bytes, best), fflush(stdout);
    }
    shmem_finalize();
    return 0;
}
