/* order.c -- what a PE sees of others' stores: fence, quiet, put with signal (OpenSHMEM 1.6 sections 9.8, 9.12).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

enum { MOST = 1 << 17, ROUNDS = 12 };
static long statics[MOST];
static uint64_t signals[4];
static long flag, counts[1];

static long value(int pe, long round, long i) { return (round * 1000 + pe) * 1000000L + i; }

static void fill(long *data, int pe, long round, long n)
{
    for (long i = 0; i < n; i++) data[i] = value(pe, round, i);
}
static void compare(const long *data, int pe, long round, long n)
{
    for (long i = 0; i < n; i++) CHECK(data[i] == value(pe, round, i));
}

enum way { FENCE, QUIET, SIGNAL, SIGNAL_NBI, SIGNAL_ADD, NBI, NBI_FENCE, CTX_FENCE, FETCH, SESSION };
static shmem_ctx_t apart;

/* Data to the next PE, then the word that says so.  The next round begins when all have looked. */
static void round_of(enum way way, long *to, uint64_t *signal, long n, long round)
{
    static long *from;
    int next = (me + 1) % pes, last = (me + pes - 1) % pes;
    from = malloc((size_t)n * sizeof *from + 1);
    fill(from, me, round, n);
    switch (way) {
    case FENCE:
        shmem_long_put(to, from, (size_t)n, next);
        shmem_fence();
        shmem_long_p(&flag, round, next);
        break;
    case QUIET:
        shmem_long_put(to, from, (size_t)n, next);
        shmem_quiet();
        shmem_long_atomic_set(&flag, round, next);
        break;
    case NBI:
        shmem_long_put_nbi(to, from, (size_t)n, next);
        shmem_quiet();
        shmem_long_p(&flag, round, next);
        break;
    case NBI_FENCE: /* data that are on their way yet, then an atomic */
        shmem_long_put_nbi(to, from, (size_t)n, next);
        shmem_fence();
        shmem_long_atomic_inc(&flag, next);
        break;
    case CTX_FENCE: /* a context's fence orders what is its own; what the others do changes nothing */
        shmem_ctx_long_put_nbi(apart, to, from, (size_t)n, next);
        shmem_quiet();
        shmem_ctx_fence(apart);
        shmem_ctx_long_p(apart, &flag, round, next);
        shmem_ctx_quiet(apart);
        break;
    case FETCH: { /* old values that come with a quiet, in the order of the calls */
        long old[3] = {-1, -1, -1};
        shmem_long_put(to, from, (size_t)n, next);
        shmem_fence();
        shmem_long_atomic_fetch_add_nbi(&old[0], &counts[0], 5, next);
        shmem_fence();
        shmem_long_atomic_compare_swap_nbi(&old[1], &counts[0], 5 * round, 7, next);
        shmem_fence();
        shmem_long_atomic_swap_nbi(&old[2], &counts[0], 5 * round, next);
        shmem_quiet();
        CHECK(old[0] == 5 * (round - 1) && old[1] == 5 * round && old[2] == 7);
        shmem_long_p(&flag, round, next);
        break;
    }
    case SESSION: /* what is combined leaves by the end of the session, without another call */
        shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, NULL, 0);
        shmem_long_iput(to, from, 2, 2, (size_t)(n + 1) / 2, next);
        shmem_long_iput(&to[1], &from[1], 2, 2, (size_t)n / 2, next);
        for (long i = 0; i < n && i < 100; i++) shmem_long_put(&to[i], &from[i], 1, next);
        shmem_fence();
        shmem_long_p(&flag, round, next);
        shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
        break;
    case SIGNAL: shmem_long_put_signal(to, from, (size_t)n, signal, (uint64_t)round, SHMEM_SIGNAL_SET, next); break;
    case SIGNAL_NBI: shmem_long_put_signal_nbi(to, from, (size_t)n, signal, (uint64_t)round, SHMEM_SIGNAL_SET, next); break;
    case SIGNAL_ADD: shmem_long_put_signal(to, from, (size_t)n, signal, 1, SHMEM_SIGNAL_ADD, next); break;
    }
    if (way < SIGNAL || way > SIGNAL_ADD)
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
    else
        CHECK(shmem_signal_wait_until(signal, SHMEM_CMP_EQ, (uint64_t)round) == (uint64_t)round &&
              shmem_signal_fetch(signal) == (uint64_t)round);
    compare(to, last, round, n);
    shmem_barrier_all();
    free(from); /* not blocking: the barrier completes it */
}

int main(void)
{
    static const long sizes[] = {0, 1, 2, 17, 512, 5000, MOST};
    begin();
    long *heap = shmem_malloc(MOST * sizeof *heap);
    uint64_t *word = shmem_malloc(sizeof *word);
    CHECK(heap && word);
    CHECK(shmem_ctx_create(0, &apart) == 0);
    for (int way = FENCE; way <= SESSION; way++)
        for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int where = 0; where < 4; where++) { /* data and signal on the heap, or static */
                long *to = where & 1 ? statics : heap;
                uint64_t *signal = where & 2 ? &signals[1] : word;
                *signal = 0, flag = 0, counts[0] = 0;
                shmem_barrier_all();
                for (long r = 1; r <= ROUNDS; r++) round_of((enum way)way, to, signal, sizes[s], r);
            }
    shmem_ctx_destroy(apart);
    shmem_free(word);
    shmem_free(heap);
    shmem_finalize();
    return 0;
}
