/* rma_late.c -- many operations under way at once until they are flushed, as they are between nodes: all are there after a flush, an
 * unlock, a fence or complete and wait, whatever their lengths and layouts; accumulates of one origin keep their order while others
 * use the same target; buffers are free again after the wait of a request.
 *
 *     rma_late [wire]     puts and gets of one run to other nodes must have been done by the network itself; without: none
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "counters_check.h"
#include "rma_check.h"

enum { FEW = 300, LONG = 100000, BYTES = FEW * 8 + LONG };
static struct window w;
static char *out, *in;

static long value(int from, int i, int round) { return from * 100000L + i * 10 + round; }

/* FEW items of 8 bytes, each an operation, and one long run behind them. */
static void puts_all(int to, int round)
{
    long *few = (long *)(void *)out;
    for (int i = 0; i < FEW; i++) {
        few[i] = value(rank, i, round);
        MPI_Put(&few[i], 1, MPI_LONG, to, w.at[to] + i * 8, 1, MPI_LONG, w.win);
    }
    pattern_fill(out + FEW * 8, LONG, (unsigned)(rank + round));
    MPI_Put(out + FEW * 8, LONG, MPI_BYTE, to, w.at[to] + FEW * 8, LONG, MPI_BYTE, w.win);
}
static void gets_all(int from)
{
    memset(in, 0xee, BYTES);
    for (int i = FEW - 1; i >= 0; i--) MPI_Get(in + i * 8, 1, MPI_LONG, from, w.at[from] + i * 8, 1, MPI_LONG, w.win);
    MPI_Get(in + FEW * 8, LONG, MPI_BYTE, from, w.at[from] + FEW * 8, LONG, MPI_BYTE, w.win);
}
static void check(const char *at, int from, int round)
{
    int wrong = 0;
    for (int i = 0; i < FEW; i++) wrong += ((const long *)(const void *)at)[i] != value(from, i, round);
    CHECK_EQ(wrong, 0);
    CHECK_EQ(pattern_wrong(at + FEW * 8, LONG, (unsigned)(from + round)), -1);
}

/* Everybody to the next rank, each by the given end of an epoch; then the target looks, and the origin gets it back. */
static void ends(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Group all, to, from;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &right, &to);
    MPI_Group_incl(all, 1, &left, &from);
    for (int round = 0; round < 5; round++) {
        memset(w.base, 0x55, BYTES);
        MPI_Barrier(MPI_COMM_WORLD);
        switch (round) {
        case 0:
            MPI_Win_fence(0, w.win);
            puts_all(right, round);
            MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
            break;
        case 1:
            MPI_Win_post(from, 0, w.win);
            MPI_Win_start(to, 0, w.win);
            puts_all(right, round);
            MPI_Win_complete(w.win);
            MPI_Win_wait(w.win);
            break;
        case 2:
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w.win);
            puts_all(right, round);
            MPI_Win_unlock(right, w.win);
            MPI_Barrier(MPI_COMM_WORLD);
            break;
        case 3:
            MPI_Win_lock(MPI_LOCK_SHARED, right, MPI_MODE_NOCHECK, w.win);
            puts_all(right, round);
            MPI_Win_unlock(right, w.win);
            MPI_Barrier(MPI_COMM_WORLD);
            break;
        default:
            MPI_Win_lock_all(0, w.win);
            puts_all(right, round);
            MPI_Win_unlock_all(w.win);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w.win);
        check(w.base, left, round);
        MPI_Win_unlock(rank, w.win);
        MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w.win);
        gets_all(right);
        MPI_Win_unlock(right, w.win);
        check(in, rank, round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

/* The target is told by a message after the flush, and looks without any call on the window but MPI_Win_sync. */
static void flushed_then_told(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Win_lock_all(0, w.win);
    for (int round = 5; round < 12; round++) {
        puts_all(right, round);
        if (round % 2)
            MPI_Win_flush(right, w.win);
        else
            MPI_Win_flush_all(w.win);
        MPI_Sendrecv(NULL, 0, MPI_INT, right, round, NULL, 0, MPI_INT, left, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_sync(w.win);
        check(w.base, left, round);
        gets_all(right);
        MPI_Win_flush_local(right, w.win);
        check(in, rank, round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(w.win);
}

/* A buffer is free after the wait, or after a local flush. */
static void buffers(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    long x;
    MPI_Request r;
    MPI_Win_lock_all(0, w.win);
    for (int i = 0; i < FEW; i++) {
        x = value(rank, i, 12);
        MPI_Rput(&x, 1, MPI_LONG, right, w.at[right] + i * 8, 1, MPI_LONG, w.win, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        x = -1;
    }
    pattern_fill(out, LONG, (unsigned)(rank + 12));
    MPI_Put(out, LONG, MPI_BYTE, right, w.at[right] + FEW * 8, LONG, MPI_BYTE, w.win);
    MPI_Win_flush_local_all(w.win);
    memset(out, 0x11, LONG);
    MPI_Win_flush_all(w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    check(w.base, left, 12);
    for (int i = 0; i < FEW; i += 7) {
        MPI_Rget(&x, 1, MPI_LONG, right, w.at[right] + i * 8, 1, MPI_LONG, w.win, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        CHECK_EQ(x, value(rank, i, 12));
    }
    MPI_Win_unlock_all(w.win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Runs of all lengths from 1 byte to what goes alone, every third one in two pieces at both ends; got back in another order. */
static void lengths(void)
{
    enum { TIMES = 120 };
    int right = (rank + 1) % size, left = (rank + size - 1) % size, at[TIMES + 1] = {0};
    MPI_Datatype halves[TIMES];
    for (int i = 0; i < TIMES; i++) {
        int bytes = 1 + i * 37 % 1500;
        at[i + 1] = at[i] + bytes + (i % 3 == 0 ? 3 : 0);
        if (i % 3 == 0) MPI_Type_create_hvector(2, bytes / 2 + 1, bytes / 2 + 2, MPI_BYTE, &halves[i]); /* a gap of one byte */
        if (i % 3 == 0) MPI_Type_commit(&halves[i]);
    }
    pattern_fill(out, at[TIMES], (unsigned)(rank + 50));
    memset(w.base, 0x33, (size_t)at[TIMES]);
    memset(in, 0x33, (size_t)at[TIMES]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w.win);
    for (int i = 0; i < TIMES; i++) {
        int bytes = i % 3 ? at[i + 1] - at[i] : 1;
        MPI_Datatype t = i % 3 ? MPI_BYTE : halves[i];
        MPI_Put(out + at[i], bytes, t, right, w.at[right] + at[i], bytes, t, w.win);
    }
    MPI_Win_flush(right, w.win);
    for (int k = 0; k < TIMES; k++) {
        int i = k * 7 % TIMES, bytes = i % 3 ? at[i + 1] - at[i] : 1;
        MPI_Datatype t = i % 3 ? MPI_BYTE : halves[i];
        MPI_Get(in + at[i], bytes, t, right, w.at[right] + at[i], bytes, t, w.win);
    }
    MPI_Win_unlock_all(w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    char *theirs = malloc((size_t)at[TIMES]);
    pattern_fill(theirs, at[TIMES], (unsigned)(left + 50));
    int wrong[2] = {0, 0};
    for (int i = 0; i < TIMES; i++) {
        int half = i % 3 ? 0 : (1 + i * 37 % 1500) / 2 + 1;
        for (int b = 0; b < at[i + 1] - at[i]; b++) {
            int is_gap = half && (b == half || b > 2 * half);
            wrong[0] += in[at[i] + b] != (is_gap ? 0x33 : out[at[i] + b]);
            wrong[1] += w.base[at[i] + b] != (is_gap ? 0x33 : theirs[at[i] + b]);
        }
        if (half) MPI_Type_free(&halves[i]);
    }
    free(theirs);
    CHECK_EQ(wrong[0], 0);
    CHECK_EQ(wrong[1], 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Everybody to rank 0 at once: a place of its own that is replaced and added to by turns, and one sum of all.  Long ones, too. */
static void accumulates(void)
{
    enum { TIMES = 200, WIDE = 9000 };
    long one = 1, x, old = -7, *wide = malloc(WIDE * sizeof *wide);
    MPI_Aint mine = w.at[0] + 8 * (1 + rank), sum = w.at[0], far = w.at[0] + 8 * 64;
    memset(w.base, 0, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w.win);
    for (int i = 0; i < TIMES; i++) {
        x = 1000L * rank + i;
        MPI_Accumulate(&x, 1, MPI_LONG, 0, mine, 1, MPI_LONG, MPI_REPLACE, w.win);
        MPI_Accumulate(&one, 1, MPI_LONG, 0, sum, 1, MPI_LONG, MPI_SUM, w.win);
        MPI_Accumulate(&x, 1, MPI_LONG, 0, mine, 1, MPI_LONG, MPI_SUM, w.win);
        if (i % 20 == 0) {
            for (int k = 0; k < WIDE; k++) wide[k] = rank + k + i;
            MPI_Accumulate(wide, WIDE, MPI_LONG, 0, far, WIDE, MPI_LONG, MPI_SUM, w.win);
            MPI_Win_flush_local(0, w.win);
            MPI_Get_accumulate(NULL, 0, MPI_LONG, &old, 1, MPI_LONG, 0, mine, 1, MPI_LONG, MPI_NO_OP, w.win);
            MPI_Win_flush(0, w.win);
            CHECK_EQ(old, 2 * x);
        }
        MPI_Win_flush_local(0, w.win); /* x and one may change */
    }
    MPI_Win_unlock_all(w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        const long *at = (const long *)(void *)w.base;
        int wrong = 0;
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win);
        CHECK_EQ(at[0], (long)TIMES * size);
        for (int r = 0; r < size; r++) CHECK_EQ(at[1 + r], 2 * (1000L * r + TIMES - 1));
        for (int k = 0; k < WIDE; k++) {
            long want = 0;
            for (int i = 0; i < TIMES; i += 20) want += (long)size * (k + i) + (long)size * (size - 1) / 2;
            wrong += at[64 + k] != want;
        }
        CHECK_EQ(wrong, 0);
        MPI_Win_unlock(0, w.win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(wide);
}

/* A local flush after each accumulate frees the buffer, and asks no target anything: they still travel together. */
static void local_flushes(void)
{
    enum { TIMES = 100, MOST = 20 };
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_T_pvar_handle short_ones = counter("sent_messages_e0", MPI_T_PVAR_CLASS_COUNTER),
                      others = counter("sent_messages_e1", MPI_T_PVAR_CLASS_COUNTER);
    memset(w.base, 0, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w.win);
    unsigned long long before = counted(short_ones) + counted(others);
    for (long i = 0, x; i < TIMES; i++) {
        x = i * (rank + 1);
        MPI_Accumulate(&x, 1, MPI_LONG, right, w.at[right], 1, MPI_LONG, MPI_SUM, w.win);
        if (i % 2)
            MPI_Win_flush_local(right, w.win);
        else
            MPI_Win_flush_local_all(w.win);
        x = -1;
    }
    unsigned long long sent = counted(short_ones) + counted(others) - before;
    MPI_Win_unlock_all(w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!is_neighbour(MPI_COMM_WORLD, right)) CHECK(sent <= MOST); /* on a node each goes by itself, without messages or with */
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w.win);
    CHECK_EQ(*(const long *)(const void *)w.base, (long)TIMES * (TIMES - 1) / 2 * (left + 1));
    MPI_Win_unlock(rank, w.win);
}

static void wired_check(MPI_T_pvar_handle wired, int must)
{
    unsigned long long n = counted(wired);
    int mine = must && !is_neighbour(MPI_COMM_WORLD, (rank + 1) % size);
    if (mine)
        CHECK(n >= 2 * FEW);
    else
        CHECK_EQ(n, 0);
    counters_end();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    out = malloc(BYTES);
    in = malloc(BYTES);
    counters_begin();
    MPI_T_pvar_handle wired = counter("rma_wired", MPI_T_PVAR_CLASS_COUNTER);
    for (int kind = 0; kind < KINDS; kind++) {
        window_make(&w, kind, BYTES);
        ends();
        flushed_then_told();
        buffers();
        lengths();
        if (kind < 5) accumulates();
        if (kind < 4) local_flushes(); /* not of dynamic windows, where the target looks first */
        window_free(&w);
    }
    wired_check(wired, argc > 1 && strcmp(argv[1], "wire") == 0);
    free(out);
    free(in);
    return test_end();
}
