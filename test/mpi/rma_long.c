/* rma_long.c -- long puts, gets and accumulates to memory that is not mapped: the target waits and helps, computes, or looks in now
 * and then; in one direction and in all at once, at odd addresses, between layouts.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "counters_check.h"
#include "rma_check.h"

#include <sched.h>
#include <stdint.h>

enum { MAX = 1300000 };
static const int sizes[] = {1, 2048, 2049, 16383, 16384, 16385, 32768, 65536 + 5, 524288, 524289, MAX};
enum { SIZES = sizeof sizes / sizeof sizes[0] };
static unsigned char *out, *in;

static void put_and_get(struct window *w, int target, int bytes, int shift, unsigned seed)
{
    pattern_fill(out + shift, bytes, seed);
    CHECK_EQ(MPI_Put(out + shift, bytes, MPI_BYTE, target, w->at[target] + shift + 1, bytes, MPI_BYTE, w->win), MPI_SUCCESS);
    MPI_Win_flush(target, w->win);
    memset(in, 0, (size_t)bytes + 8);
    CHECK_EQ(MPI_Get(in + 1, bytes, MPI_BYTE, target, w->at[target] + shift + 1, bytes, MPI_BYTE, w->win), MPI_SUCCESS);
    MPI_Win_flush(target, w->win);
    CHECK_EQ(pattern_wrong(in + 1, bytes, seed), -1);
    CHECK_EQ(in[0] | in[bytes + 1], 0);
}

/* One rank at a time accesses the next one's memory; all others wait. */
static void others_wait(int kind)
{
    struct window w;
    window_make(&w, kind, MAX + 16);
    memset(w.base, 0xEE, MAX + 16);
    for (int turn = 0; turn < (size < 3 ? size : 3); turn++) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, w.win);
        for (int i = 0; rank == turn && i < SIZES; i++) put_and_get(&w, (rank + 1) % size, sizes[i], i % 7, (unsigned)i);
        MPI_Win_unlock_all(w.win);
        MPI_Barrier(MPI_COMM_WORLD);
        int last = (SIZES - 1) % 7, before = (turn + 1) % size;
        if (rank == before) {
            CHECK_EQ(pattern_wrong((unsigned char *)w.base + last + 1, MAX, SIZES - 1), -1);
            CHECK_EQ((unsigned char)w.base[MAX + last + 1], 0xEE);
        }
    }
    window_free(&w);
}

/* All at once: a rank that helps another is helped by a third, or by the same. */
static void all_at_once(int kind)
{
    struct window w;
    int bytes = MAX / size;
    window_make(&w, kind, (MPI_Aint)bytes * size);
    for (int round = 0; round < 3; round++) {
        MPI_Win_fence(0, w.win);
        for (int i = 0; i < size; i++) {
            int to = round == 1 ? (rank + i) % size : i;
            pattern_fill(out + (size_t)bytes * i, bytes, (unsigned)(rank * 100 + to + round));
            MPI_Put(out + (size_t)bytes * i, bytes, MPI_BYTE, to, w.at[to] + (MPI_Aint)bytes * rank, bytes, MPI_BYTE, w.win);
        }
        MPI_Win_fence(0, w.win);
        for (int i = 0; i < size; i++) {
            int from = round == 2 ? (rank + 1) % size : i;
            CHECK_EQ(pattern_wrong((unsigned char *)w.base + (size_t)bytes * i, bytes, (unsigned)(i * 100 + rank + round)), -1);
            MPI_Get(in + (size_t)bytes * i, bytes, MPI_BYTE, from, w.at[from] + (MPI_Aint)bytes * rank, bytes, MPI_BYTE, w.win);
        }
        MPI_Win_fence(0, w.win);
        for (int i = 0; i < size; i++) {
            int from = round == 2 ? (rank + 1) % size : i;
            CHECK_EQ(pattern_wrong(in + (size_t)bytes * i, bytes, (unsigned)(rank * 100 + from + round)), -1);
        }
    }
    window_free(&w);
}

/* The target is not in MPI until it sees the last byte of a put; then it looks in now and then, and leaves again. */
static void target_computes(void)
{
    struct window w;
    int flag = 0, bytes = 300000, must_look = getenv("GODWIT_CMA") || getenv("GODWIT_WIRES") || !is_one_node(MPI_COMM_WORLD);
    if (getenv("GODWIT_PROGRESS_THREAD")) must_look = 0;
    MPI_Request r;
    window_make(&w, 0, bytes);
    memset(w.base, 0, (size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w.win);
    if (rank == 0 && size > 1) {
        memset(out, 7, (size_t)bytes);
        MPI_Put(out, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, w.win);
        MPI_Win_flush(1, w.win);
        for (int i = 0; i < 50; i++) put_and_get(&w, 1, bytes - 8, i % 5, (unsigned)i);
    } else if (rank == 1) {
        while (__atomic_load_n(&w.base[bytes - 1], __ATOMIC_ACQUIRE) != 7) {
            sched_yield();
            if (must_look) MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        }
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    while (!flag) {
        double t = MPI_Wtime();
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
        while (rank == 1 && MPI_Wtime() - t < 30e-6) continue;
    }
    MPI_Win_unlock_all(w.win);
    window_free(&w);
}

/* Long accumulates by all, and a column of the origin's that is one run at the target. */
static void accumulates(void)
{
    enum { N = 60000 };
    struct window w;
    long *mine, *sum = malloc(N * sizeof *sum);
    window_make(&w, 0, N * (MPI_Aint)sizeof(long));
    mine = (long *)(void *)w.base;
    memset(mine, 0, N * sizeof(long));
    for (int i = 0; i < N; i++) sum[i] = rank + i;
    MPI_Win_fence(0, w.win);
    MPI_Accumulate(sum, N, MPI_LONG, 0, 0, N, MPI_LONG, MPI_SUM, w.win);
    MPI_Win_fence(0, w.win);
    for (int i = 0; rank == 0 && i < N; i++) CHECK_EQ(mine[i], (long)size * i + (long)size * (size - 1) / 2);
    MPI_Win_fence(0, w.win);
    MPI_Datatype every_second;
    MPI_Type_vector(N / 2, 1, 2, MPI_LONG, &every_second);
    MPI_Type_commit(&every_second);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Put(sum, 1, every_second, right, 0, N / 2, MPI_LONG, w.win);
    MPI_Win_fence(0, w.win);
    for (int i = 0; i < N / 2; i++) CHECK_EQ(mine[i], left + 2 * i);
    memset(sum, 0, N * sizeof *sum);
    MPI_Get(sum, 1, every_second, right, 0, N / 2, MPI_LONG, w.win);
    MPI_Win_fence(0, w.win);
    for (int i = 0; i < N; i++) CHECK_EQ(sum[i], i % 2 ? 0 : rank + i);
    MPI_Type_free(&every_second);
    window_free(&w);
    free(sum);
}

/* That the target helps where it shall, sooner or later: it may sleep at first, or have lost its core. */
static void has_helped(void)
{
    const char *help = getenv("GODWIT_RMA_HELP");
    int tries = 0, is_on = help && strcmp(help, "on") == 0 && is_one_node(MPI_COMM_WORLD);
    unsigned long long bytes[2] = {0, 0}; /* that the target copied; rank 0 has had enough */
    double since = MPI_Wtime();
    struct window w;
    if (!help || size == 1) return;
    counters_begin();
    MPI_T_pvar_handle helped = counter("rma_helped", MPI_T_PVAR_CLASS_AGGREGATE);
    window_make(&w, 0, MAX + 16);
    MPI_Win_lock_all(0, w.win);
    do {
        if (rank == 0) put_and_get(&w, 1, MAX, tries % 7, (unsigned)tries);
        bytes[0] = counted(helped);
        bytes[1] = is_on ? MPI_Wtime() - since > 30 : tries == 2;
        MPI_Bcast(bytes, 2, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
        tries++;
    } while (!bytes[0] && !bytes[1]);
    CHECK_EQ(bytes[0] > 0, is_on);
    MPI_Win_unlock_all(w.win);
    window_free(&w);
    counters_end();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    out = malloc(MAX + 16);
    in = malloc(MAX + 16);
    others_wait(0);
    others_wait(4);
    all_at_once(0);
    all_at_once(4);
    target_computes();
    accumulates();
    has_helped();
    free(out);
    free(in);
    return test_end();
}
