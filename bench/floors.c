/* floors.c -- what two cores of this machine can do at best, which messages and collectives are held against.
 *
 * Two processes on a core each, over memory that they share; the best of several batches, in rows `NAME BYTES VALUE`:
 *   line       us        half a round trip of one line of 64 bytes that says that it has come: 0.04 on two threads of a core, 0.15 to
 *                        0.25 on two cores.  Alone with the argument `line`; it takes 2 ms
 *   message    us        the same with so many bytes behind the flag, in its line up to 56, in the lines after it from there
 *   exchange   us        each writes a line and waits for the other's: a barrier of two
 *   stream     us        lines of 8 bytes one way, time a line
 *   copy_WAY   GB/s      a core copies what the other has just written to where the other has just read
 *
 *     cc -O2 -o floors bench/floors.c && chrt -r 1 ./floors [line] [-c CORE CORE]
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { LINE = 64, SLOTS = 2048, MOST = 4 << 20, IN_FLAG_LINE = LINE - 8 };
struct line {
    _Alignas(LINE) _Atomic uint64_t seq;
    char bytes[IN_FLAG_LINE];
};
static struct shared {
    struct line ring[2][SLOTS]; /* [who reads] */
    struct line met;
    char from[MOST], to[MOST];
} * shared;
static int me;
static uint64_t meetings;
static char source[MOST];

static void relax(void)
{
#ifdef __x86_64__
    _mm_pause();
#elif defined __aarch64__
    __asm__ volatile("isb");
#endif
}
static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}
static void await(const struct line *l, uint64_t seq)
{
    while (atomic_load_explicit(&l->seq, memory_order_acquire) < seq) relax();
}
static void meet(void)
{
    meetings += 2;
    atomic_fetch_add(&shared->met.seq, 1);
    await(&shared->met, meetings);
}
static void afresh(void)
{
    meet();
    if (me == 0) memset(shared->ring, 0, sizeof shared->ring);
    meet();
}

/* ---- messages: number `i` of n bytes begins at slot i * lines_of(n), modulo as many as fit ---- */
static size_t lines_of(size_t n) { return n <= IN_FLAG_LINE ? 1 : 1 + (n + LINE - 1) / LINE; }
static struct line *slot_of(int reader, size_t n, uint64_t i)
{
    if (n <= IN_FLAG_LINE) return &shared->ring[reader][i % SLOTS];
    return &shared->ring[reader][i % (SLOTS / lines_of(n)) * lines_of(n)];
}
static char *bytes_of(struct line *l, size_t n) { return n <= IN_FLAG_LINE ? l->bytes : (char *)(l + 1); }
static void put(size_t n, uint64_t i)
{
    struct line *l = slot_of(!me, n, i);
    memcpy(bytes_of(l, n), source, n);
    atomic_store_explicit(&l->seq, i + 1, memory_order_release);
}
static void get(size_t n, uint64_t i)
{
    static char mine[MOST];
    struct line *l = slot_of(me, n, i);
    await(l, i + 1);
    memcpy(mine, bytes_of(l, n), n);
    __asm__ volatile("" : : "r"(mine) : "memory");
}

static double ping_pong(size_t n)
{
    enum { ROUNDS = 1000 };
    double t = now_us();
    for (uint64_t i = 0; i < ROUNDS; i++) {
        if (me == 0) put(n, i);
        get(n, i);
        if (me == 1) put(n, i);
    }
    return (now_us() - t) / (2 * ROUNDS);
}
static double exchange(size_t n)
{
    enum { ROUNDS = 2000 };
    double t = now_us();
    for (uint64_t i = 0; i < ROUNDS; i++) {
        put(n, i);
        get(n, i);
    }
    return (now_us() - t) / ROUNDS;
}
/* The reader tells seldom how far it has come, in the writer's own ring. */
static double stream(size_t n)
{
    enum { COUNT = 100000, TOLD = SLOTS / 2 };
    struct line *told = &shared->ring[0][0];
    double t = now_us();
    for (uint64_t i = 0; i < COUNT; i++) {
        if (me == 0) {
            if (i >= SLOTS && i % TOLD == 0) await(told, i - TOLD);
            put(n, i);
        } else {
            get(n, i);
            if ((i + 1) % TOLD == 0) atomic_store_explicit(&told->seq, i + 1, memory_order_release);
        }
    }
    meet();
    return (now_us() - t) / COUNT;
}
static void measure(const char *name, double (*once)(size_t), size_t n, int batches)
{
    double best = 1e9;
    for (int b = 0; b < batches; b++) {
        afresh();
        double us = once(n);
        if (us < best) best = us;
    }
    if (me == 0) printf("%s %zu %.4f\n", name, n, best);
}

/* ---- copies ---- */
static void copy_libc(char *to, const char *from, size_t n) { memcpy(to, from, n); }
#ifdef __x86_64__
static void copy_movsb(char *to, const char *from, size_t n)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
__attribute__((target("avx2"))) static void copy_32(char *to, const char *from, size_t n)
{
    for (; n > 0; n -= 32, to += 32, from += 32) _mm256_storeu_si256((__m256i *)to, _mm256_loadu_si256((const __m256i *)from));
}
__attribute__((target("avx512f"))) static void copy_64(char *to, const char *from, size_t n)
{
    for (; n > 0; n -= 64, to += 64, from += 64) _mm512_storeu_si512((__m512i *)to, _mm512_loadu_si512((const __m512i *)from));
}
__attribute__((target("avx2"))) static void copy_32nt(char *to, const char *from, size_t n)
{
    for (; n > 0; n -= 32, to += 32, from += 32) _mm256_stream_si256((__m256i *)to, _mm256_loadu_si256((const __m256i *)from));
    _mm_sfence();
}
__attribute__((target("avx512f"))) static void copy_64nt(char *to, const char *from, size_t n)
{
    for (; n > 0; n -= 64, to += 64, from += 64) _mm512_stream_si512((__m512i *)to, _mm512_loadu_si512((const __m512i *)from));
    _mm_sfence();
}
#endif
static void copies(void)
{
    const struct {
        const char *name;
        void (*copy)(char *, const char *, size_t);
        bool works;
    } ways[] = {
        {"copy_libc", copy_libc, true},
#ifdef __x86_64__
        {"copy_movsb", copy_movsb, true},
        {"copy_32", copy_32, __builtin_cpu_supports("avx2")},
        {"copy_32nt", copy_32nt, __builtin_cpu_supports("avx2")},
        {"copy_64", copy_64, __builtin_cpu_supports("avx512f")},
        {"copy_64nt", copy_64nt, __builtin_cpu_supports("avx512f")},
#endif
    };
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (size_t n = 1024; ways[w].works && n <= MOST; n *= 4) {
            double best = 1e9;
            for (int b = 0; b < 40; b++) {
                if (me == 1) { /* the other core has both */
                    memset(shared->from, b, n);
                    for (size_t i = 0; i < n; i += LINE) (void)*(volatile char *)&shared->to[i];
                }
                meet();
                double t = now_us();
                if (me == 0) ways[w].copy(shared->to, shared->from, n);
                t = now_us() - t;
                if (t < best) best = t;
                meet();
            }
            if (me == 0) printf("%s %zu %.2f\n", ways[w].name, n, (double)n / best / 1e3);
        }
}

int main(int argc, char **argv)
{
    bool line_only = false;
    int cores[2] = {0, 1};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "line") == 0) {
            line_only = true;
        } else if (strcmp(argv[i], "-c") == 0 && i + 2 < argc) {
            cores[0] = atoi(argv[i + 1]);
            cores[1] = atoi(argv[i + 2]);
            i += 2;
        } else {
            fprintf(stderr, "usage: floors [line] [-c CORE CORE]\n");
            return 2;
        }
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return perror("floors: mmap"), 1;
    pid_t child = fork();
    if (child < 0) return perror("floors: fork"), 1;
    me = child == 0;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cores[me], &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        perror("floors: two cores are needed: sched_setaffinity");
        if (me == 0) kill(child, SIGKILL);
        return 1;
    }
    measure("line", ping_pong, 8, line_only ? 5 : 9);
    if (!line_only) {
        for (size_t n = 64; n <= 32768; n *= 2) measure("message", ping_pong, n, 9);
        measure("exchange", exchange, 8, 9);
        measure("stream", stream, 8, 5);
        copies();
    }
    fflush(stdout);
    if (me == 1) _exit(0);
    int status;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
