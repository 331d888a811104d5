/* access.c -- what may be read, written, ordered, added to and waited for, in ways that programs rarely do: odd addresses and bytes, oneself,
 * a third PE that looks, two contexts, bits of NaNs, signals of many, arrays that are looked at in turn (OpenSHMEM 1.6 sections 3, 9.6
 * to 9.8, 9.11, 9.12).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

enum { MOST = 16, LONG = 1 << 15 };
static int next, last;
static long words[MOST], flag, flags[4], slots[MOST][MOST];
static uint64_t signal_word, signal_words[2];
static unsigned char bytes[2 * LONG];
static long data[LONG];
static const long constants[4] = {11, 22, 33, 44};

/* The source of a put and the destination of a get are any memory: constants, the stack, what malloc gave. */
static void local_memory(void)
{
    static _Thread_local long own;
    long stack[40], *heap = malloc(LONG * sizeof *heap), back[4] = {0};
    for (long i = 0; i < LONG; i++) heap[i] = 1000000L * me + i;
    CHECK(!shmem_addr_accessible(&own, next) && !shmem_addr_accessible(heap, next) && !shmem_ptr(constants, next));
    for (int i = 0; i < 40; i++) stack[i] = 500 * me + i;
    shmem_long_put(data, constants, 4, next);
    shmem_long_put(data + 4, stack, 40, next);
    shmem_long_put_nbi(data + 44, heap, LONG - 44, next);
    shmem_barrier_all(); /* completes the default context */
    for (int i = 0; i < 4; i++) CHECK(data[i] == constants[i]);
    for (int i = 0; i < 40; i++) CHECK(data[4 + i] == 500 * last + i);
    for (long i = 44; i < LONG; i++) CHECK(data[i] == 1000000L * last + i - 44);
    shmem_long_get(back, data + 4, 4, next);
    for (int i = 0; i < 4; i++) CHECK(back[i] == stack[i]);
    shmem_long_get_nbi(heap, data, LONG, next);
    shmem_quiet();
    for (long i = 44; i < LONG; i++) CHECK(heap[i] == 1000000L * me + i - 44);
    free(heap);
    shmem_barrier_all();
}

/* Bytes need no alignment; what lies beside them stays as it is. */
static void odd_bytes(void)
{
    static const size_t counts[] = {1, 3, 7, 15, 31, 65, 255, 256, 257, 1001, LONG - 3};
    unsigned char *from = malloc(LONG + 1), *heap = shmem_malloc(2 * LONG), *to;
    CHECK(from && heap);
    for (int c = 0; c < 11; c++)
        for (int shift = 0; shift < 8; shift++) {
            size_t n = counts[c];
            to = shift & 1 ? bytes : heap;
            memset(to, 0xee, n + 16);
            for (size_t i = 0; i < n; i++) from[1 + i] = (unsigned char)(me + (int)i * 7 + shift);
            shmem_barrier_all();
            shift & 2 ? shmem_putmem(to + shift, from + 1, n, next) : shmem_putmem_nbi(to + shift, from + 1, n, next);
            shmem_barrier_all();
            for (size_t i = 0; i < n; i++) CHECK(to[shift + (int)i] == (unsigned char)(last + (int)i * 7 + shift));
            for (int i = 0; i < shift; i++) CHECK(to[i] == 0xee);
            CHECK(to[(size_t)shift + n] == 0xee);
            memset(from, 0, n + 1);
            shmem_getmem(from + 1, to + shift, n, next);
            for (size_t i = 0; i < n; i++) CHECK(from[1 + i] == (unsigned char)(me + (int)i * 7 + shift));
            shmem_barrier_all();
        }
    shmem_free(heap);
    free(from);
}

/* A PE is also its own target. */
static void oneself(void)
{
    long mine[3] = {7, 8, 9}, old = 0;
    words[0] = 0, signal_word = 0;
    shmem_long_p(&words[0], 5, me);
    shmem_quiet();
    CHECK(shmem_long_g(&words[0], me) == 5 && words[0] == 5);
    shmem_long_put_nbi(&words[1], mine, 3, me);
    shmem_long_iput(&words[5], mine, 2, 1, 3, me);
    shmem_long_atomic_fetch_add_nbi(&old, &words[0], 4, me);
    shmem_quiet();
    CHECK(old == 5 && words[0] == 9 && words[3] == 9 && words[5] == 7 && words[9] == 9);
    shmem_long_put_signal(&words[1], mine, 1, &signal_word, 3, SHMEM_SIGNAL_ADD, me);
    CHECK(shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 3) == 3 && words[1] == 7);
    shmem_long_get(mine, &words[1], 1, me);
    shmem_long_atomic_set(&flag, 12, me);
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 12);
    shmem_barrier_all();
}

/* Nothing may be put from and got to nowhere, also to and from where there is something. */
static void nothing(void)
{
    long *heap = shmem_calloc(1, sizeof *heap);
    shmem_long_put(heap, NULL, 0, next), shmem_long_get(NULL, heap, 0, next);
    shmem_long_put(NULL, heap, 0, next), shmem_long_get(heap, NULL, 0, next);
    shmem_putmem(words, NULL, 0, next), shmem_getmem(NULL, words, 0, next);
    shmem_long_ibput(heap, NULL, 1, 1, 1, 0, next), shmem_long_ibget(NULL, heap, 1, 1, 1, 0, next);
    shmem_long_ibput(heap, NULL, 1, 1, 0, 3, next), shmem_long_ibget(NULL, heap, 1, 1, 0, 3, next);
    shmem_put128(NULL, NULL, 0, next), shmem_get128_nbi(NULL, NULL, 0, next);
    shmem_quiet();
    CHECK(*heap == 0);
    shmem_free(heap);
}

/* What a quiet has completed is there for all: a third PE, which is told by another way, reads it at the target. */
static void third(void)
{
    int target = next, reader = (me + 2) % pes, writer = (me + pes - 2) % pes, at = (me + pes - 1) % pes;
    for (long round = 1; round <= 30; round++) {
        long got[4], mine[4] = {round, me, round * 3, me + round};
        round & 1 ? shmem_long_put(slots[me], mine, 4, target) : shmem_long_put_nbi(slots[me], mine, 4, target);
        shmem_quiet();
        shmem_long_atomic_set(&flag, round, reader);
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
        shmem_long_get(got, slots[writer], 4, at);
        CHECK(got[0] == round && got[1] == writer && got[2] == round * 3 && got[3] == writer + round);
        shmem_barrier_all();
    }
    flag = 0;
    shmem_barrier_all();
}

/* Two PEs store and then look at what the other has stored: with a quiet between, at least one sees it.  Also by shmem_ptr's pointers. */
static void store_and_look(void)
{
    int other = me ^ 1;
    long seen, theirs, *mine = shmem_ptr(&flags[1], other < pes ? other : me);
    for (long round = 1; round <= 300; round++) {
        shmem_barrier_all();
        if (other >= pes) continue;
        if (round % 3 == 0 && mine)
            *mine = round;
        else
            shmem_long_p(&flags[1], round, other);
        if (round & 1)
            shmem_quiet();
        else
            shmem_pe_quiet(&other, 1);
        seen = __atomic_load_n(&flags[1], __ATOMIC_RELAXED);
        shmem_long_p(&flags[2], seen == round, other);
        shmem_long_p(&flags[3], round, other); /* two words: the second one behind a quiet */
        shmem_quiet();
        shmem_long_atomic_set(&flags[0], round, other);
        shmem_long_wait_until(&flags[0], SHMEM_CMP_EQ, round);
        theirs = shmem_long_g(&flags[2], me);
        CHECK(seen == round || theirs == 1);
        CHECK(flags[3] == round);
    }
    shmem_barrier_all();
    memset(flags, 0, sizeof flags);
    shmem_barrier_all();
}

/* A fence orders updates of atomics that fetch, and stores by shmem_ptr's pointers, before what follows to that PE. */
static void fenced(void)
{
    long old = -1, *there = shmem_ptr(&words[1], next);
    words[0] = words[1] = words[2] = flag = 0;
    shmem_barrier_all();
    for (long round = 1; round <= 50; round++) {
        shmem_long_atomic_fetch_add_nbi(&old, &words[0], 1, next);
        if (there) *there = round;
        shmem_long_iput(&words[2], &round, 1, 1, 1, next);
        shmem_fence();
        shmem_long_p(&flag, round, next);
        shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
        CHECK(words[0] >= round && words[2] >= round);
        if (shmem_ptr(&words[0], last)) CHECK(words[1] >= round);
        shmem_quiet();
        CHECK(old == round - 1);
    }
    shmem_barrier_all();
}

/* A quiet completes what its own context has under way, whatever others do meanwhile; numbers of pe_quiet are the team's. */
static void contexts(void)
{
    shmem_ctx_t a, b, c;
    shmem_team_t back;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &back) == 0);
    CHECK(shmem_ctx_create(0, &a) == 0 && shmem_ctx_create(SHMEM_CTX_NOSTORE, &b) == 0);
    CHECK(shmem_team_create_ctx(back, SHMEM_CTX_SERIALIZED, &c) == 0);
    for (long i = 0; i < LONG; i++) data[i] = -1;
    shmem_barrier_all();
    long *from = malloc(LONG * sizeof *from), x = 70 + me, y = 80 + me;
    for (long i = 0; i < LONG; i++) from[i] = 31L * me + i;
    shmem_ctx_long_put_nbi(a, data, from, LONG - 2, next);
    shmem_ctx_long_put_nbi(b, &data[LONG - 2], &x, 1, next);
    shmem_ctx_long_p(c, &data[LONG - 1], y, pes - 1 - next);
    shmem_ctx_quiet(b);
    shmem_ctx_fence(a);
    CHECK(shmem_long_g(&data[LONG - 2], next) == x);
    shmem_ctx_pe_quiet(c, &(int){pes - 1 - next}, 1);
    CHECK(shmem_long_g(&data[LONG - 1], next) == y);
    shmem_ctx_quiet(a);
    CHECK(shmem_long_g(&data[LONG - 3], next) == 31L * me + LONG - 3 && shmem_long_g(&data[0], next) == 31L * me);
    free(from);
    long old = -1;
    shmem_ctx_long_atomic_fetch_add_nbi(c, &old, &data[LONG - 1], 1, pes - 1 - next);
    shmem_ctx_pe_quiet(c, &(int){pes - 1 - next}, 1);
    CHECK(old == y);
    shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, NULL, 3);
    shmem_ctx_destroy(c), shmem_ctx_destroy(a), shmem_ctx_destroy(b);
    shmem_team_destroy(back);
    shmem_barrier_all();
}

/* Atomics of real numbers carry bits: of a NaN, of the negative zero.  Integers wrap.  C11's names take what is compatible. */
static void atomics(void)
{
    static double d;
    static float f;
    static int i;
    uint64_t nan_bits = UINT64_C(0x7ff4000000000123) + (uint64_t)me, got;
    double quiet_nan, back;
    nan_bits |= UINT64_C(1) << 51;
    memcpy(&quiet_nan, &nan_bits, 8);
    d = 1.5, f = -0.0F, i = INT32_MAX;
    shmem_barrier_all();
    shmem_double_atomic_set(&d, quiet_nan, next);
    shmem_quiet();
    back = shmem_double_atomic_fetch(&d, next);
    memcpy(&got, &back, 8);
    CHECK(got == nan_bits);
    back = shmem_double_atomic_swap(&d, 0.25, next);
    memcpy(&got, &back, 8);
    CHECK(got == nan_bits && shmem_double_g(&d, next) == 0.25);
    CHECK(signbit(shmem_float_atomic_swap(&f, 2, next)) && shmem_float_atomic_fetch(&f, next) == 2);
    CHECK(shmem_int_atomic_fetch_add(&i, 1, next) == INT32_MAX && shmem_int_atomic_fetch(&i, next) == INT32_MIN);
    CHECK(shmem_atomic_fetch_and(&i, 0, next) == INT32_MIN); /* no function of int has that name: int32_t is int */
    shmem_atomic_xor(&i, -3, next);
    CHECK(shmem_atomic_fetch((const int *)&i, next) == -3);
    shmem_barrier_all();
}

/* All PEs put with a signal that adds: when all of them have been counted, all data are there; what was put before a fence, too. */
static void signals(void)
{
    long mine[MOST];
    for (int way = 0; way < 2; way++) {
        memset(slots, 0xff, sizeof slots), memset(words, 0, sizeof words), signal_words[way] = 0;
        shmem_barrier_all();
        for (int i = 0; i < MOST; i++) mine[i] = 100 * me + i + way;
        for (int k = 0; k < pes; k++) {
            int pe = (me + k) % pes;
            shmem_long_p(&words[me], 9 + me, pe);
            shmem_fence();
            if (way)
                shmem_long_put_signal_nbi(slots[me], mine, MOST, &signal_words[way], 2, SHMEM_SIGNAL_ADD, pe);
            else
                shmem_long_put_signal(slots[me], mine, MOST, &signal_words[way], 2, SHMEM_SIGNAL_ADD, pe);
        }
        uint64_t all = 2 * (uint64_t)pes;
        CHECK(shmem_signal_wait_until(&signal_words[way], SHMEM_CMP_GE, all) == all);
        for (int pe = 0; pe < pes; pe++) {
            CHECK(words[pe] == 9 + pe);
            for (int i = 0; i < MOST; i++) CHECK(slots[pe][i] == 100 * pe + i + way);
        }
        shmem_quiet();
        shmem_barrier_all();
    }
}

/* Whoever spins on its own word without any wait sees it change, by each of the calls that look at it. */
static void spins(void)
{
    size_t found[1];
    for (int way = 0; way < 7; way++) {
        words[0] = 0, signal_word = 0;
        shmem_barrier_all();
        shmem_long_atomic_set(&words[0], 1 + way, next);
        shmem_signal_set(&signal_word, 1 + (uint64_t)way, next);
        for (int is_there = 0; !is_there; sched_yield()) switch (way) {
            case 0: is_there = shmem_long_test(&words[0], SHMEM_CMP_NE, 0); break;
            case 1: is_there = shmem_long_atomic_fetch(&words[0], me) != 0; break;
            case 2: is_there = shmem_long_g(&words[0], me) != 0; break;
            case 3: is_there = shmem_signal_fetch(&signal_word) != 0; break;
            case 4: is_there = shmem_long_test_any(&words[0], 1, NULL, SHMEM_CMP_NE, 0) == 0; break;
            case 5: is_there = shmem_long_test_some(&words[0], 1, found, NULL, SHMEM_CMP_NE, 0) == 1; break;
            default: is_there = shmem_long_test_all(&words[0], 1, NULL, SHMEM_CMP_NE, 0);
            }
        shmem_barrier_all();
    }
}

/* Of each of some arrays an element comes in the end, although all hold all the time and the arrays are looked at in turn. */
static void fair_in_turn(void)
{
    static long arrays[3][4] = {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}};
    for (size_t n = 2; n <= 4; n++)
        for (int k = 1; k <= 3; k++) {
            int seen[3][4] = {{0}}, missing = k * (int)n;
            for (int tries = 0; missing; tries++) {
                CHECK(tries < 10000);
                size_t at = tries & 1 ? shmem_long_test_any(arrays[tries % k], n, NULL, SHMEM_CMP_EQ, 1)
                                      : shmem_long_wait_until_any(arrays[tries % k], n, NULL, SHMEM_CMP_EQ, 1);
                CHECK(at < n);
                if (!seen[tries % k][at]++) missing--;
            }
        }
}

int main(void)
{
    begin();
    CHECK(pes <= MOST);
    next = (me + 1) % pes, last = (me + pes - 1) % pes;
    local_memory();
    odd_bytes();
    oneself();
    nothing();
    third();
    store_and_look();
    fenced();
    contexts();
    atomics();
    signals();
    spins();
    fair_in_turn();
    shmem_finalize();
    return 0;
}
