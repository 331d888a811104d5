/* rma_threads.c -- several threads of each rank access one window at a time: counters come out right, blocks arrive whole.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>

#include "rma_check.h"

enum { THREADS = 3, ROUNDS = 50, BYTES = 3000 };
static struct window w;
static int64_t sums[THREADS];

/* Counter at 0; behind it a block for each rank and thread. */
static void *work(void *arg)
{
    int me = (int)(intptr_t)arg, right = (rank + 1) % size;
    MPI_Aint block = 16 + ((MPI_Aint)rank * THREADS + me) * BYTES;
    unsigned char out[BYTES], in[BYTES];
    int64_t one = 1, old;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, w.at[0], MPI_SUM, w.win);
        MPI_Win_flush_local(0, w.win);
        sums[me] += old;
        pattern_fill(out, BYTES, (unsigned)(rank * 1000 + me * 100 + i));
        MPI_Put(out, BYTES, MPI_BYTE, right, w.at[right] + block, BYTES, MPI_BYTE, w.win);
        MPI_Win_flush(right, w.win);
        MPI_Get(in, BYTES, MPI_BYTE, right, w.at[right] + block, BYTES, MPI_BYTE, w.win);
        MPI_Win_flush_local(right, w.win);
        if (memcmp(in, out, BYTES) != 0) sums[me] = INT64_MIN / 2; /* the sum will not be right */
    }
    return NULL;
}

static void threads(int kind)
{
    pthread_t t[THREADS];
    int64_t sum = 0, all = 0, n = (int64_t)ROUNDS * THREADS * size;
    window_make(&w, kind, 16 + (MPI_Aint)size * THREADS * BYTES);
    memset(w.base, 0, 16);
    memset(sums, 0, sizeof sums);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w.win);
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, work, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    MPI_Win_unlock_all(w.win);
    for (int i = 0; i < THREADS; i++) sum += sums[i];
    MPI_Allreduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(all, n * (n - 1) / 2);
    window_free(&w);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    test_begin();
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    for (int kind = 0; kind < KINDS; kind++) threads(kind);
    return test_end();
}
