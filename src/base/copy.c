/* copy.c -- copying between cores.
 *
 * What is quickest for lines that lie in another core's cache differs by a factor of four between processors, both ways: `rep movsb`, by
 * which the C library copies from about 2 KiB on, took 1.8 us for 4 KiB where plain loads and stores took 0.4 (Zen 3), and moved 18 to 20
 * GB/s where they moved 7 (Zen 5).  So it is learnt (copy_learn.h), for each class of sizes, for what another core has written and for what
 * it will read.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/copy.h"
#include "base/copy_learn.h"
#include "base/settings.h"
#include "base/time.h"

typedef uint64_t piece __attribute__((vector_size(16), aligned(1), may_alias));

/* The compiler must not make it a call of memcpy again. */
#if defined(__clang__)
#define NO_IDIOM
#define LOOP_AS_IS _Pragma("clang loop vectorize(disable) unroll(disable)")
#else
#define NO_IDIOM __attribute__((optimize("no-tree-loop-distribute-patterns")))
#define LOOP_AS_IS
#endif

/* A line that another core has read last must be taken from it before it is written: asked for eight lines ahead, a copy of 8 KiB
 * into a ring takes 0.9 of the time. */
static inline void own_soon(const char *to)
{
#if defined(__x86_64__)
    __asm__("prefetchw %0" : : "m"(to[512]));
#else
    __builtin_prefetch(to + 512, 1);
#endif
}

/* `whole`: of pairs of lines. */
NO_IDIOM static void copy_narrow(char *to, const char *from, size_t whole)
{
    LOOP_AS_IS
    for (size_t i = 0; i < whole; i += 64) {
        own_soon(to + i);
        piece a = *(const piece *)(from + i), b = *(const piece *)(from + i + 16);
        piece c = *(const piece *)(from + i + 32), d = *(const piece *)(from + i + 48);
        *(piece *)(to + i) = a;
        *(piece *)(to + i + 16) = b;
        *(piece *)(to + i + 32) = c;
        *(piece *)(to + i + 48) = d;
#if defined(__clang__)
        __asm__ volatile("" ::: "memory");
#endif
    }
}

#if defined(__x86_64__)
typedef uint64_t wide __attribute__((vector_size(32), aligned(1), may_alias));

/* Loads and stores of half a line: 4 to 64 KiB that another core has written in 0.6 to 0.85 of the time of those of a quarter, and with
 * them asking ahead is of no more use (Zen 3). */
__attribute__((target("avx2"))) NO_IDIOM static void copy_wide(char *to, const char *from, size_t whole)
{
    LOOP_AS_IS
    for (size_t i = 0; i < whole; i += 128) {
        wide a = *(const wide *)(from + i), b = *(const wide *)(from + i + 32);
        wide c = *(const wide *)(from + i + 64), d = *(const wide *)(from + i + 96);
        *(wide *)(to + i) = a;
        *(wide *)(to + i + 32) = b;
        *(wide *)(to + i + 64) = c;
        *(wide *)(to + i + 96) = d;
#if defined(__clang__)
        __asm__ volatile("" ::: "memory");
#endif
    }
}
#endif

static void copy_plain(void *dst, const void *src, size_t n)
{
    size_t whole = n & ~(size_t)127;
#if defined(__x86_64__)
    if (likely(__builtin_cpu_supports("avx2")))
        copy_wide(dst, src, whole);
    else
#endif
        copy_narrow(dst, src, whole);
    if (n - whole) memcpy((char *)dst + whole, (const char *)src + whole, n - whole);
}

static void copy_string(void *dst, const void *src, size_t n)
{
#if defined(__x86_64__)
    __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(n) : : "memory");
#else
    memcpy(dst, src, n);
#endif
}

void gw_copy_by(int way, void *dst, const void *src, size_t n)
{
    assert(way >= 0 && way < COPY_WAYS);
    if (way == COPY_PLAIN)
        copy_plain(dst, src, n);
    else if (way == COPY_STRING)
        copy_string(dst, src, n);
    else
        memcpy(dst, src, n);
}

/* ---- what is learnt ------------------------------------------------------------------------------- */
enum { CLASSES = 5 }; /* up to 4, 16, 64, 256, 1024 KiB */
static struct copy_record records[GW_COPY_PLACES][CLASSES];

static inline int class_of(size_t n)
{
    int bits = 63 - __builtin_clzll(((n - 1) >> 12) | 1); /* of units of 4 KiB */
    return n <= 4096 ? 0 : gw_min64(bits / 2 + 1, CLASSES - 1);
}

void copy_way_took(struct copy_record *r, enum copy_way way, uint64_t ticks, size_t n)
{
    uint64_t sample = ticks * (16 << 10) / n + 1, old = atomic_load_explicit(&r->cost[way], memory_order_relaxed);
    if (sample > 2 * old && old) sample = 2 * old;
    uint64_t mean = old ? (3 * old + sample) / 4 : sample;
    atomic_store_explicit(&r->cost[way], (uint32_t)(mean < UINT32_MAX ? mean : UINT32_MAX), memory_order_relaxed);
    uint32_t best = atomic_load_explicit(&r->best, memory_order_relaxed), cost[COPY_WAYS];
    for (int i = 0; i < COPY_WAYS; i++) cost[i] = atomic_load_explicit(&r->cost[i], memory_order_relaxed);
    for (uint32_t i = 0; i < COPY_WAYS; i++)
        if (cost[i] && (uint64_t)cost[i] * 16 < (uint64_t)cost[best] * 15) best = i;
    atomic_store_explicit(&r->best, best, memory_order_relaxed);
}

void gw_copy_learnt(enum gw_copy_place place, void *dst, const void *src, size_t n)
{
    struct copy_record *r = &records[place][class_of(n)];
    bool is_timed;
    enum copy_way way = copy_way_next(r, &is_timed);
    if (unlikely(gw_set.copy != GW_SET_COPY_AUTO)) {
        way = (enum copy_way)(gw_set.copy - GW_SET_COPY_LIBC);
        is_timed = false;
    }
    if (likely(!is_timed)) {
        gw_copy_by(way, dst, src, n);
        return;
    }
    uint64_t begin = gw_ticks();
    gw_copy_by(way, dst, src, n);
    atomic_thread_fence(memory_order_seq_cst); /* what is still on its way to the cache counts */
    copy_way_took(r, way, gw_ticks() - begin, n);
}

void gw_copy_explain(void)
{
    static const char *const places[] = {"what another core has written", "what another core reads"};
    static const char *const names[] = {"libc", "string", "plain"};
    for (int p = 0; p < GW_COPY_PLACES; p++)
        for (int c = 0; c < CLASSES; c++) {
            struct copy_record *r = &records[p][c];
            uint32_t cost[COPY_WAYS];
            for (int i = 0; i < COPY_WAYS; i++) cost[i] = atomic_load_explicit(&r->cost[i], memory_order_relaxed);
            if (!cost[COPY_PLAIN]) continue;
            double us = 16.0 * (double)gw_ticks_per_us();
            GW_EXPLAIN(GW_LOG_WIRE, "copies of up to %d KiB, %s: %s (us a KiB: libc %.3f, string %.3f, plain %.3f)", 4 << 2 * c,
                       places[p], names[atomic_load_explicit(&r->best, memory_order_relaxed)], (double)cost[COPY_LIBC] / us,
                       (double)cost[COPY_STRING] / us, (double)cost[COPY_PLAIN] / us);
        }
}
