/* threads.c -- four threads of each PE at once: puts, gets, atomics by contexts of their own and the default one, waits, collectives on a team
 * for each thread (OpenSHMEM 1.6 sections 9.1, 9.4, 9.5, 9.11).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 40, WORDS = 200 };
static shmem_team_t teams[THREADS];
static long counter, flags[THREADS], data[THREADS][WORDS], sums[THREADS][ROUNDS], ones[THREADS];

static void check_contents(int t, int last, long r)
{
    for (int i = 0; i < WORDS; i++) CHECK(data[t][i] == 100000L * last + 1000 * r + i);
}

/* Data to the same thread of the next PE, then its flag; each round ends by the thread's own team. */
static void *thread(void *arg)
{
    int t = (int)(long)arg, next = (me + 1) % pes, last = (me + pes - 1) % pes, is_begun = 0, level = -1;
    long mine[WORDS], back[WORDS];
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    shmem_query_initialized(&is_begun);
    shmem_query_thread(&level);
    CHECK(is_begun == 1 && level == SHMEM_THREAD_MULTIPLE);
    if (t > 0) CHECK(shmem_ctx_create(t == 1 ? SHMEM_CTX_PRIVATE : t == 2 ? SHMEM_CTX_SERIALIZED : 0, &ctx) == 0);
    for (long r = 1; r <= ROUNDS; r++) {
        for (int i = 0; i < WORDS; i++) mine[i] = 100000L * me + 1000 * r + i;
        if (r & 1)
            shmem_ctx_long_put(ctx, data[t], mine, WORDS, next);
        else
            shmem_ctx_long_put_nbi(ctx, data[t], mine, WORDS, next);
        r % 3 ? shmem_ctx_fence(ctx) : shmem_ctx_quiet(ctx);
        shmem_ctx_long_atomic_set(ctx, &flags[t], r, next);
        shmem_ctx_long_atomic_add(ctx, &counter, t + 1, 0);
        shmem_long_wait_until(&flags[t], SHMEM_CMP_EQ, r);
        check_contents(t, last, r);
        shmem_ctx_quiet(ctx);
        shmem_ctx_long_get(ctx, back, data[t], WORDS, next);
        for (int i = 0; i < WORDS; i++) CHECK(back[i] == mine[i]);
        ones[t] = me + r;
        CHECK(shmem_long_sum_reduce(teams[t], &sums[t][r - 1], &ones[t], 1) == 0);
        CHECK(sums[t][r - 1] == pes * (pes - 1) / 2 + pes * r);
    }
    if (t > 0) shmem_ctx_destroy(ctx);
    return NULL;
}

int main(void)
{
    int provided = -1;
    pthread_t threads[THREADS];
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
    me = shmem_my_pe(), pes = shmem_n_pes();
    for (int t = 0; t < THREADS; t++) CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &teams[t]) == 0);
    shmem_barrier_all();
    for (long t = 0; t < THREADS; t++) CHECK(pthread_create(&threads[t], NULL, thread, (void *)t) == 0);
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    shmem_barrier_all();
    CHECK(shmem_long_g(&counter, 0) == 10L * ROUNDS * pes);
    for (int t = 0; t < THREADS; t++) shmem_team_destroy(teams[t]);
    shmem_finalize();
    return 0;
}
