/* together.c -- collectives and locks at their edges: nothing, in place, oneself, odd bytes, numbers whose sum depends on the order, active
 * sets of any stride, pSync that is used again; who gets a lock next and what it sees then (OpenSHMEM 1.6 sections 9.10, 9.13).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <shmemx.h>

#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 16, N = 5000 };
static int next, last;
static long flag, words[MOST];

/* No elements: pointers need not lead anywhere; nothing changes. */
static void nothing(void)
{
    static long pSync[SHMEM_REDUCE_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE], untouched = 5;
    for (size_t i = 0; i < sizeof pSync / sizeof *pSync; i++) pSync[i] = SHMEM_SYNC_VALUE;
    shmem_team_t w = SHMEM_TEAM_WORLD;
    shmem_barrier_all();
    for (int i = 0; i < 2; i++) {
        long *at = i ? &untouched : NULL;
        CHECK(shmem_long_broadcast(w, at, at, 0, pes - 1) == 0 && shmem_long_fcollect(w, at, at, 0) == 0);
        CHECK(shmem_long_collect(w, at, at, 0) == 0 && shmem_long_alltoall(w, at, at, 0) == 0);
        CHECK(shmem_long_alltoalls(w, at, at, 3, 2, 0) == 0 && shmem_long_sum_reduce(w, at, at, 0) == 0);
        CHECK(shmem_long_sum_inscan(w, at, at, 0) == 0 && shmem_long_sum_exscan(w, at, at, 0) == 0);
        CHECK(shmem_broadcastmem(w, at, at, 0, 0) == 0 && shmem_alltoallmem(w, at, at, 0) == 0);
        shmem_long_sum_to_all(at, at, 0, 0, 0, pes, NULL, pSync);
        shmem_barrier_all();
        shmem_fcollect64(at, at, 0, 0, 0, pes, pSync);
        shmem_barrier_all();
    }
    CHECK(untouched == 5);
    CHECK(shmem_long_broadcast(SHMEM_TEAM_INVALID, &untouched, &untouched, 1, 0) != 0);
    CHECK(shmem_long_sum_reduce(SHMEM_TEAM_INVALID, &untouched, &untouched, 1) != 0);
}

/* Bytes at odd addresses, of odd counts, small and large. */
static void odd_bytes(void)
{
    static const size_t counts[] = {1, 3, 13, 255, 4099, 70001};
    unsigned char *to = shmem_malloc(70001 * MOST + 16), *from = shmem_malloc(70001 * MOST + 16);
    CHECK(to && from);
    for (int c = 0; c < 6; c++) {
        size_t n = counts[c], most = n * (size_t)pes;
        for (size_t i = 0; i < most; i++) from[1 + i] = (unsigned char)((size_t)me * 31 + i * 3);
        memset(to, 0xdd, most + 8);
        shmem_barrier_all();
        CHECK(shmem_alltoallmem(SHMEM_TEAM_WORLD, to + 3, from + 1, n) == 0);
        for (size_t pe = 0; pe < (size_t)pes; pe++)
            for (size_t i = 0; i < n; i++) CHECK(to[3 + pe * n + i] == (unsigned char)(pe * 31 + ((size_t)me * n + i) * 3));
        CHECK(to[2] == 0xdd && to[3 + most] == 0xdd);
        shmem_barrier_all();
        CHECK(shmem_fcollectmem(SHMEM_TEAM_WORLD, to + 5, from + 1, n) == 0);
        for (size_t pe = 0; pe < (size_t)pes; pe++)
            for (size_t i = 0; i < n; i++) CHECK(to[5 + pe * n + i] == (unsigned char)(pe * 31 + i * 3));
        CHECK(to[5 + most] == 0xdd);
        shmem_barrier_all();
        size_t only = (size_t)me == (size_t)pes / 2 ? n : 0; /* all is one PE's */
        CHECK(shmem_collectmem(SHMEM_TEAM_WORLD, to + 1, only ? from + 1 : NULL, only) == 0);
        for (size_t i = 0; i < n; i++) CHECK(to[1 + i] == (unsigned char)((size_t)(pes / 2) * 31 + i * 3));
        shmem_barrier_all();
        CHECK(shmem_broadcastmem(SHMEM_TEAM_WORLD, to + 7, from + 1, n, pes - 1) == 0); /* on the root too */
        for (size_t i = 0; i < n; i++) CHECK(to[7 + i] == (unsigned char)((size_t)(pes - 1) * 31 + i * 3));
        shmem_barrier_all();
    }
    shmem_free(from);
    shmem_free(to);
}

/* Element e for PE l lies at (l * n + e) * stride, at both sides; what lies between stays as it is. */
static void strides(void)
{
    static int from[MOST * 7 * 5], to[MOST * 7 * 5];
    for (int sst = 1; sst <= 4; sst++)
        for (int dst = 1; dst <= 5; dst += 2)
            for (int n = 1; n <= 7; n += 3) {
                for (int i = 0; i < MOST * 7 * 5; i++) from[i] = 10000 * me + i, to[i] = -i;
                shmem_barrier_all();
                CHECK(shmem_int_alltoalls(SHMEM_TEAM_WORLD, to, from, dst, sst, (size_t)n) == 0);
                for (int i = 0; i < pes * n * dst; i++) {
                    int e = i / dst, k = e / n;
                    CHECK(to[i] == (i % dst ? -i : 10000 * k + (me * n + e % n) * sst));
                }
                shmem_barrier_all();
            }
}

/* A sum whose value depends on the order is the same on all PEs; also in place, of every number type that has a width of its own. */
static void alike(void)
{
    static float f[N], all_f[MOST * 3];
    static double d[N], sum_d[N], all_d[MOST * 3];
    static long double l[N];
    static const int counts[] = {1, 100, N};
    for (int c = 0; c < 3; c++) {
        int n = counts[c], at[3] = {0, n / 2, n - 1};
        for (int i = 0; i < n; i++) {
            f[i] = (float)(1.0 / (3 + me + i) * (me & 1 ? 1e6 : 1));
            d[i] = 1.0 / (7 + me * 3 + i) * (me % 3 ? 1e-9 : 1e9);
            l[i] = (long double)(1 + me);
        }
        shmem_barrier_all();
        CHECK(shmem_float_sum_reduce(SHMEM_TEAM_WORLD, f, f, (size_t)n) == 0);
        CHECK(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, sum_d, d, (size_t)n) == 0);
        CHECK(shmem_longdouble_prod_reduce(SHMEM_TEAM_WORLD, l, l, (size_t)n) == 0);
        long double product = 1;
        for (int i = 0; i < pes; i++) product *= (long double)(1 + i);
        for (int i = 0; i < n; i++) CHECK(l[i] == product);
        for (int k = 0; k < 3; k++) {
            shmem_barrier_all();
            CHECK(shmem_float_fcollect(SHMEM_TEAM_WORLD, all_f, &f[at[k]], 1) == 0);
            CHECK(shmem_double_fcollect(SHMEM_TEAM_WORLD, all_d, &sum_d[at[k]], 1) == 0);
            for (int i = 1; i < pes; i++)
                CHECK(memcmp(all_f, &all_f[i], sizeof *all_f) == 0 && memcmp(all_d, &all_d[i], sizeof *all_d) == 0);
        }
        shmem_barrier_all();
    }
}

/* A store to own memory is seen by who has come out of the sync; a barrier completes what the default context has under way. */
static void synced(void)
{
    shmem_team_t back;
    long mine;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &back) == 0);
    for (long round = 1; round <= 60; round++) {
        flag = 100 * me + round;
        if (round % 3 == 0) shmem_sync_all();
        if (round % 3 == 1) CHECK(shmem_team_sync(back) == 0);
        if (round % 3 == 2) CHECK(shmem_sync(back) == 0); /* the generic name */
        CHECK(shmem_long_g(&flag, next) == 100 * next + round);
        shmem_barrier_all();
        mine = 7 * me + round;
        shmem_long_put_nbi(&words[me], &mine, 1, next);
        shmem_barrier_all();
        CHECK(words[last] == 7 * last + round);
    }
    shmem_team_destroy(back);
}

/* ---- active sets ---- */
static long pSync[2][SHMEM_BCAST_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE], pWrk[N];
static long set_from[N], set_to[N];
static void set(int start, int log_stride, int size)
{
    long sum = 0;
    for (int i = 0; i < size; i++) sum += 3 + start + ((long)i << (size > 1 ? log_stride : 0));
    for (int round = 0; round < 6; round++) { /* a barrier's pSync is used again at once, another one's in turn */
        for (int i = 0; i < N; i++) set_from[i] = 3 + me + round * (i & 1);
        shmem_barrier(start, log_stride, size, pSync[0]);
        shmem_long_sum_to_all(set_to, set_from, round & 1 ? N : 3, start, log_stride, size, pWrk, pSync[1]);
        CHECK(set_to[0] == sum && set_to[1] == sum + size * round && (!(round & 1) || set_to[N - 1] == sum + size * round));
        shmem_barrier(start, log_stride, size, pSync[0]);
        shmem_long_max_to_all(set_from, set_from, 2, start, log_stride, size, pWrk, pSync[1]); /* in place */
        CHECK(set_from[0] == 3 + start + ((size - 1L) << (size > 1 ? log_stride : 0)));
        shmem_barrier(start, log_stride, size, pSync[0]);
        (shmem_sync)(start, log_stride, size, pSync[0]);
    }
    for (size_t i = 0; i < sizeof pSync[0] / sizeof pSync[0][0]; i++)
        CHECK(pSync[0][i] == SHMEM_SYNC_VALUE && pSync[1][i] == SHMEM_SYNC_VALUE);
}

static void sets(void)
{
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof pSync[0] / sizeof pSync[0][0]; i++) pSync[k][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (int log = 0; 1 << log < 2 * pes; log++) /* as many as fit, from each start of few */
        for (int start = 0; start < 2 && start < pes; start++) {
            int step = 1 << log, size = (pes - start + step - 1) / step;
            if (me >= start && (me - start) % step == 0) set(start, log, size);
            shmem_barrier_all();
        }
    set(me, 0, 1), set(me, 20, 1), set(me, 31, 1), set(me, 62, 1); /* alone: the stride leads nowhere */
    shmem_barrier_all();
}

/* Other numbers of bytes to each PE, none to some, from places in any order; those that come go where this PE says, or behind each other. */
static size_t many(int from, int to, int round) { return (size_t)((from * 3 + to * 5 + round) % 4 * (round ? 777 : 1)); }
static unsigned char byte_of(int from, int to, size_t i) { return (unsigned char)(from * 40 + to * 9 + (int)i); }
static void exchange(int start, int log_stride, int n, int mine)
{
    enum { ROOM = 4000 };
    static unsigned char from[MOST * ROOM], to[MOST * ROOM];
    size_t to_at[MOST], from_at[MOST], send[MOST], come[MOST], all = 0, sum = 0;
    for (int round = 0; round < 3; round++, all = sum = 0) {
        memset(to, 0x77, sizeof to);
        for (int i = 0; i < n; i++) {
            send[i] = many(mine, i, round), from_at[i] = (size_t)(n - 1 - i) * ROOM + 3,
            to_at[i] = (size_t)((i + 1) % n) * ROOM + 1;
            come[i] = 99, all += many(i, mine, round);
            for (size_t k = 0; k < send[i]; k++) from[from_at[i] + k] = byte_of(mine, i, k);
        }
        shmem_barrier(start, log_stride, n, pSync[0]);
        shmemx_alltoallv(to, to_at, come, from, from_at, send, start, log_stride, n, pSync[1]);
        for (int i = 0; i < n; i++) {
            CHECK(come[i] == many(i, mine, round) && to[to_at[i] + come[i]] == 0x77 && to[to_at[i] - 1] == 0x77);
            for (size_t k = 0; k < come[i]; k++) CHECK(to[to_at[i] + k] == byte_of(i, mine, k));
        }
        shmem_barrier(start, log_stride, n, pSync[0]);
        shmemx_alltoallv_packed(to, all, come, from, from_at, send, start, log_stride, n, pSync[1]);
        CHECK(come[0] == all);
        for (int i = 0; i < n; i++)
            for (size_t k = 0; k < many(i, mine, round); k++) CHECK(to[sum++] == byte_of(i, mine, k));
    }
}
static void exchanges(void)
{
    exchange(0, 0, pes, me);
    if (me % 2 == 0) exchange(0, 1, (pes + 1) / 2, me / 2);
    shmem_barrier_all();
}

/* ---- locks ---- */
enum { LOCKS = 40 };
static long locks[LOCKS], order[MOST + 1], n_in;

/* The tail of the queue, which one of the PEs keeps: who is last, plus 1 (src/sym/lock.c). */
static int is_last(long *lock, int pe)
{
    for (int home = 0; home < pes; home++)
        if ((uint32_t)shmem_long_atomic_fetch(lock, home) == (uint32_t)pe + 1) return 1;
    return 0;
}

/* Who came first is first: PE 0 holds the lock and lets one after the other join. */
static void queue(void)
{
    static long turn;
    for (int i = 0; i < LOCKS; i += 13) {
        turn = 0, n_in = 0;
        shmem_barrier_all();
        if (me == 0) {
            shmem_set_lock(&locks[i]);
            for (int k = 1; k < pes; k++) {
                int pe = (k * (pes > 2 && (pes - 1) % 2 ? 2 : 1) - 1) % (pes - 1) + 1;
                order[k] = pe;
                shmem_long_p(&turn, k, pe);
                while (!is_last(&locks[i], pe)) usleep(100);
            }
        } else {
            shmem_long_wait_until(&turn, SHMEM_CMP_GT, 0);
            CHECK(shmem_test_lock(&locks[i]) == 1);
            shmem_set_lock(&locks[i]);
            CHECK(shmem_long_atomic_fetch_inc(&n_in, 0) + 1 == turn);
        }
        shmem_clear_lock(&locks[i]);
        shmem_barrier_all();
    }
}

/* What a holder has put, also without waiting, is seen by the next one: a lock's end completes it. */
static void handed_over(void)
{
    static long shared[300], mine[300];
    memset(shared, 0, sizeof shared);
    shmem_barrier_all();
    for (int round = 0; round < 20; round++) {
        int at = round % pes, i = round % LOCKS;
        if ((round + me) % 4 == 3)
            while (shmem_test_lock(&locks[i]) != 0) {}
        else
            shmem_set_lock(&locks[i]);
        shmem_long_get(mine, shared, 300, at);
        for (int k = 1; k < 300; k++) CHECK(mine[k] == mine[0]);
        for (int k = 0; k < 300; k++) mine[k]++;
        shmem_long_put_nbi(shared, mine, 300, at);
        shmem_clear_lock(&locks[i]);
        shmem_barrier_all();
        if (me == at) {
            CHECK(shared[0] == pes && shared[299] == pes);
            memset(shared, 0, sizeof shared);
        }
        shmem_barrier_all();
    }
    for (int i = 0; i < LOCKS; i++) CHECK(locks[i] == 0);
    shmem_barrier_all();
}

/* A PE holds many at a time, and ends them in another order. */
static void many_locks(void)
{
    for (int i = 0; i < LOCKS; i++) shmem_set_lock(&locks[i]); /* all PEs in the same order */
    for (int i = 0; i < LOCKS; i++) CHECK(shmem_test_lock(&locks[i]) == 1);
    for (int i = 0; i < LOCKS; i++) shmem_clear_lock(&locks[(i * 7) % LOCKS]);
    shmem_barrier_all();
    for (int i = 0; i < LOCKS; i++) CHECK(locks[i] == 0);
    shmem_barrier_all();
}

int main(void)
{
    begin();
    CHECK(pes <= MOST);
    next = (me + 1) % pes, last = (me + pes - 1) % pes;
    nothing();
    odd_bytes();
    strides();
    alike();
    synced();
    sets();
    exchanges();
    queue();
    handed_over();
    many_locks();
    shmem_finalize();
    return 0;
}
