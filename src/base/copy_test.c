/* copy_test.c -- each way of copying copies what it should and nothing else; the quickest is found, and found again when another one has
 * become it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/copy.h"
#include "base/copy_learn.h"
#include "base/settings.h"

#include <stdlib.h>

#include "../../test/unit.h"

enum { MOST = (1 << 20) + 4096 };
static unsigned char from[MOST + 256], to[MOST + 256];

static void is_copied(size_t n, size_t src_at, size_t dst_at)
{
    CHECK_EQ(to[dst_at - 1], 0xee);
    CHECK_EQ(to[dst_at + n], 0xee);
    CHECK_EQ(memcmp(to + dst_at, from + src_at, n), 0);
}

static void data(void)
{
    static const size_t sizes[] = {1, 127, 128, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65536, 262145, 1 << 20, (1 << 20) + 1};
    for (size_t i = 0; i < sizeof from; i++) from[i] = (unsigned char)(i * 7 + (i >> 8));
    for (size_t k = 0; k < GW_ARRAY_LEN(sizes); k++)
        for (size_t off = 0; off < 3; off++) {
            size_t n = sizes[k], src_at = 1 + off * 13, dst_at = 1 + off * 31;
            for (int way = 0; way < COPY_WAYS + 20; way++) { /* those of more than COPY_WAYS: whatever is chosen */
                memset(to, 0xee, n + 128);
                if (way < COPY_WAYS)
                    gw_copy_by(way, to + dst_at, from + src_at, n);
                else if (way % 2)
                    gw_copy(to + dst_at, from + src_at, n);
                else
                    gw_copy_out(to + dst_at, from + src_at, n);
                is_copied(n, src_at, dst_at);
            }
        }
}

/* One copy of 4 KiB on a machine where the ways take so many ticks: whether it was timed. */
static int used[COPY_WAYS];
static bool copy_once(struct copy_record *r, const uint64_t ticks[COPY_WAYS], uint64_t more)
{
    bool is_timed;
    enum copy_way way = copy_way_next(r, &is_timed);
    used[way]++;
    if (is_timed) copy_way_took(r, way, ticks[way] + more, 4096);
    return is_timed;
}

static void learns(void)
{
    const uint64_t first[] = {3000, 2000, 1000}, second[] = {900, 4000, 4000};
    struct copy_record r = {0};
    int timed = 0;
    for (int i = 0; i < COPY_WARM; i++) timed += copy_once(&r, first, 100000); /* the first touch of memory */
    CHECK_EQ(timed, 0);
    for (int i = COPY_WARM; i < COPY_KNOWN; i++) timed += copy_once(&r, first, 0);
    CHECK_EQ(timed, COPY_KNOWN - COPY_WARM);
    CHECK_EQ(r.best, COPY_PLAIN);
    memset(used, 0, sizeof used);
    timed = 0;
    for (int i = 0; i < 100 * COPY_AGAIN; i++) timed += copy_once(&r, first, i % 1000 == 0 ? 1000000 : 0);
    CHECK(timed <= 101 * COPY_WAYS);
    CHECK(used[COPY_PLAIN] >= 100 * (COPY_AGAIN - COPY_WAYS));
    CHECK(used[COPY_LIBC] >= 99 && used[COPY_STRING] >= 99); /* each is looked at again */
    int until = 0;
    while (r.best != COPY_LIBC && until < 64 * COPY_AGAIN) until += !copy_once(&r, second, 0); /* the cores have moved */
    CHECK_EQ(r.best, COPY_LIBC);
    for (int i = 0; i < 10 * COPY_AGAIN; i++) copy_once(&r, second, 0);
    CHECK_EQ(r.best, COPY_LIBC);
}

/* An interrupt in every sample of the quickest way but a few makes it no slow one for long; and ways that are alike do not take turns. */
static void holds(void)
{
    const uint64_t ticks[] = {1030, 3000, 1000};
    struct copy_record r = {0};
    for (int i = 0; i < COPY_KNOWN; i++) copy_once(&r, ticks, 0);
    uint32_t best = r.best;
    for (int i = 0; i < 50 * COPY_AGAIN; i++) copy_once(&r, ticks, 0);
    CHECK_EQ(r.best, best);
    CHECK(best != COPY_STRING);
    r.turn = UINT32_MAX - 5; /* it counts over its end */
    for (int i = 0; i < 10; i++) copy_once(&r, ticks, 0);
    CHECK(r.turn >= COPY_KNOWN && r.turn < COPY_KNOWN + 10);
}

/* A way that the user has said is the only one. */
static void forced(void)
{
    gw_set.copy = GW_SET_COPY_STRING;
    memset(to, 0xee, 8192);
    gw_copy(to + 1, from + 1, 5000);
    is_copied(5000, 1, 1);
    gw_set.copy = GW_SET_COPY_AUTO;
}

int main(void)
{
    data();
    learns();
    holds();
    forced();
    return unit_end();
}
