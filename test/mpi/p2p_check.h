/* p2p_check.h -- what the point-to-point tests share: checks that count, and patterned data.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_P2P_CHECK_H
#define GW_TEST_P2P_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int failures, rank, size;

#define CHECK(cond)                                                                                                                \
    do {                                                                                                                           \
        if (!(cond) && failures++ < 20) fprintf(stderr, "rank %d: %s:%d: not so: %s\n", rank, __FILE__, __LINE__, #cond);          \
    } while (0)
#define CHECK_EQ(a, b)                                                                                                             \
    do {                                                                                                                           \
        long long check_a = (long long)(a), check_b = (long long)(b);                                                              \
        if (check_a != check_b && failures++ < 20)                                                                                 \
            fprintf(stderr, "rank %d: %s:%d: %s is %lld, not %s = %lld\n", rank, __FILE__, __LINE__, #a, check_a, #b, check_b);    \
    } while (0)

static inline void test_begin(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}
/* Every rank must be content; main's answer. */
static inline int test_end(void)
{
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}

/* Seconds of a clock that all ranks share: those of a test run on one machine, be it as several hosts. */
static inline double test_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Bytes that depend on a seed and on their place. */
static inline unsigned char pattern_at(unsigned seed, long i)
{
    unsigned x = seed * 2654435761u + (unsigned)i * 40503u;
    return (unsigned char)(x >> 7 ^ x >> 15);
}
static inline void pattern_fill(void *p, long n, unsigned seed)
{
    for (long i = 0; i < n; i++) ((unsigned char *)p)[i] = pattern_at(seed, i);
}
/* The first byte that is not of the pattern, or -1. */
static inline long pattern_wrong(const void *p, long n, unsigned seed)
{
    for (long i = 0; i < n; i++)
        if (((const unsigned char *)p)[i] != pattern_at(seed, i)) return i;
    return -1;
}
static inline int count_of(const MPI_Status *s)
{
    int n = -1;
    MPI_Get_count(s, MPI_BYTE, &n);
    return n;
}

static unsigned long long random_state = 88172645463325252ull;
static inline unsigned random_below(unsigned n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 33) % n;
}
/* Of a number in a program's arguments. */
static inline void random_seed(const char *digits)
{
    random_state = (strtoull(digits, NULL, 10) + 1) * 0x9e3779b97f4a7c15ull;
    for (int i = 0; i < 8; i++) random_below(2);
}

#endif
