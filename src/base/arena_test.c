/* arena_test.c -- blocks of an arena keep their bytes, do not overlap, cost what the header says, and leave no memory behind.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../test/unit.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer) || defined GW_TSAN
enum { CAN_MEASURE = 0 }; /* shadow memory would count */
#else
enum { CAN_MEASURE = 1 };
#endif

static uint64_t rng = 88172645463325252u;

static uint32_t rnd(uint32_t n)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)(rng >> 33) % n;
}

static long resident_kib(void)
{
    long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%ld %ld", &size, &pages) != 2) pages = 0;
    if (f) fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static size_t any_size(void)
{
    switch (rnd(8)) {
    case 0: return rnd(GW_ARENA_MOST) + 1;
    case 1: return rnd(70000) + 1;
    case 2: return GW_ARENA_EVEN - 8 + rnd(16);
    case 3: return rnd(13000) + 1;
    default: return rnd(300) + 1;
    }
}

/* Each block is filled with a byte of its own; what is still so when it is given back was nobody else's. */
static void any_life(int steps)
{
    enum { MOST = 400 };
    static struct {
        unsigned char *at;
        size_t bytes;
        unsigned char fill;
    } held[MOST];
    struct gw_arena a = {0};
    int n = 0;
    int64_t sum = 0;
    for (int i = 0; i < steps && unit_failures < 5; i++) {
        if (n < MOST && (n == 0 || rnd(100) < 52)) {
            size_t bytes = any_size();
            unsigned char *p = gw_arena_take(&a, bytes);
            size_t offset = (size_t)((char *)p - a.base);
            CHECK(offset > 0 && offset % GW_ARENA_UNIT == 0 && offset / GW_ARENA_UNIT <= UINT32_MAX && offset + bytes <= a.usable);
            held[n].at = p, held[n].bytes = bytes, held[n].fill = (unsigned char)i;
            memset(p, held[n++].fill, bytes);
            sum += (int64_t)gw_align_up(bytes, GW_ARENA_UNIT);
        } else {
            int k = (int)rnd((uint32_t)n);
            bool is_same = true;
            for (size_t b = 0; b < held[k].bytes; b += b < 64 ? 1 : 61) is_same = is_same && held[k].at[b] == held[k].fill;
            CHECK(is_same && held[k].at[held[k].bytes - 1] == held[k].fill);
            gw_arena_give(&a, held[k].at, held[k].bytes);
            sum -= (int64_t)gw_align_up(held[k].bytes, GW_ARENA_UNIT);
            held[k] = held[--n];
        }
        CHECK_EQ(a.bytes, sum);
    }
    while (n > 0) n--, gw_arena_give(&a, held[n].at, held[n].bytes);
    CHECK_EQ(a.bytes, 0);
    gw_arena_finish(&a);
    CHECK(!a.base);
}

/* What n blocks of `bytes` cost while they are there, and what is left of it. */
static void memory_of(int n, size_t bytes)
{
    struct gw_arena a = {0};
    void **block = malloc((size_t)n * sizeof *block);
    memset(block, 1, (size_t)n * sizeof *block);
    long before = resident_kib();
    for (int i = 0; i < n; i++) memset(block[i] = gw_arena_take(&a, bytes), 1, bytes);
    long full = resident_kib() - before, due = (long)(gw_align_up(bytes, GW_ARENA_UNIT) * (size_t)n / 1024);
    CHECK(full <= due + due / 16 + 1024 || bytes > GW_ARENA_EVEN);
    CHECK(full <= due + due / 3 + 1024);
    for (int i = 0; i < n; i += 2) gw_arena_give(&a, block[i], bytes);
    for (int i = 0; i < n; i += 2) memset(block[i] = gw_arena_take(&a, bytes), 2, bytes); /* the same places again */
    CHECK(resident_kib() - before <= full + 256);
    for (int i = n - 1; i >= 0; i--) gw_arena_give(&a, block[i], bytes);
    long left = resident_kib() - before;
    if (left > 1536) fprintf(stderr, "%d blocks of %zu: %ld KiB, of which %ld are left\n", n, bytes, full, left);
    CHECK(left <= 1536);
    gw_arena_finish(&a);
    free(block);
}

int main(void)
{
    any_life(12000);
    static const size_t sizes[] = {68, 80, 1088, 4064, 9000, 60000};
    for (size_t i = 0; CAN_MEASURE && i < GW_ARRAY_LEN(sizes); i++) memory_of((int)((16 << 20) / sizes[i]), sizes[i]);
    return unit_end();
}
