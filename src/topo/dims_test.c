/* dims_test.c -- balanced factors against trying all of them; large numbers by what must hold.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "topo/topo.h"
#include "base/base.h"

#include "../../test/unit.h"

/* Brute force: of all non-increasing lists of k factors of m, the one with the smallest difference between first and last; of those, the
 * one with the largest last, the largest last but one, and so on. */
static int best[8], now[8], have_best;
static void try_all(int m, int k, int place, int most)
{
    if (place == k) {
        if (m != 1) return;
        int less = !have_best;
        int mine = now[0] - now[k - 1], least = best[0] - best[k - 1];
        if (have_best) less = mine < least;
        for (int i = k - 1; i >= 0 && have_best && mine == least; i--) {
            if (now[i] == best[i]) continue;
            less = now[i] > best[i];
            break;
        }
        if (less) memcpy(best, now, sizeof best);
        have_best = 1;
        return;
    }
    for (int f = 1; f <= most && f <= m; f++) {
        if (m % f) continue;
        now[place] = f;
        try_all(m / f, k, place + 1, f);
    }
}

static void small(void)
{
    for (int n = 1; n <= 400; n++) {
        for (int k = 1; k <= 5; k++) {
            int dims[5] = {0};
            have_best = 0;
            try_all(n, k, 0, n);
            CHECK_EQ(topo_dims_create(n, k, dims), GW_OK);
            for (int i = 0; i < k; i++) CHECK_EQ(dims[i], best[i]);
        }
    }
}

/* MPICH 4.0.2's answers for all of 1 to 25000 nodes in two to five dimensions, as a sum of each; ours are no
 * different, also in 27,048 more cases with up to eight dimensions, sizes that were given, and up to 2,000,000 nodes.  Open MPI 4.1.4 differs
 * in 1,284 of the 100,000, with larger spreads: 72 in 2 are 12 x 6 there. */
static void as_others(void)
{
    static const uint64_t sums[] = {0x88a93e2903b4bed8, 0x7040e7738ac9f1af, 0x4006b3c575226156, 0x5560d3f0efdaec24};
    for (int k = 2; k <= 5; k++) {
        uint64_t sum = 0xcbf29ce484222325;
        for (int n = 1; n <= 25000; n++) {
            int dims[5] = {0};
            CHECK_EQ(topo_dims_create(n, k, dims), GW_OK);
            for (int i = 0; i < k; i++) sum = (sum ^ (uint64_t)dims[i]) * 0x100000001b3;
        }
        CHECK(sum == sums[k - 2]);
    }
}

/* Some of them one by one: first those where the smallest first factor is not what is wanted. */
static void cases(void)
{
    static const struct {
        int n, k, want[8];
    } c[] = {
        {24624, 3, {38, 27, 24}},
        {360, 3, {10, 6, 6}},
        {3696, 3, {22, 14, 12}},
        {4620, 3, {22, 15, 14}},
        {5040, 3, {21, 16, 15}},
        {10800, 3, {27, 20, 20}},
        {13600, 3, {34, 20, 20}},
        {19008, 3, {33, 24, 24}},
        {2160, 4, {10, 6, 6, 6}},
        {3240, 4, {10, 9, 6, 6}},
        {3960, 4, {11, 10, 6, 6}},
        {13104, 4, {14, 13, 9, 8}},
        {19080, 4, {53, 10, 6, 6}},
        {12960, 5, {10, 6, 6, 6, 6}},
        {17640, 5, {10, 7, 7, 6, 6}},
        {18000, 5, {10, 10, 6, 6, 5}},
        {23400, 5, {13, 10, 6, 6, 5}},
        {72, 2, {9, 8}},
        {9240, 2, {105, 88}},
        {720720, 3, {91, 90, 88}},
        {110880, 4, {22, 21, 16, 15}},
        {83160, 6, {11, 7, 6, 6, 6, 5}},
        {1441440, 7, {13, 11, 8, 7, 6, 6, 5}},
        {720720, 8, {13, 11, 7, 5, 4, 4, 3, 3}},
        {83160, 8, {11, 7, 5, 4, 3, 3, 3, 2}},
    };
    for (unsigned j = 0; j < GW_ARRAY_LEN(c); j++) {
        int dims[8] = {0};
        CHECK_EQ(topo_dims_create(c[j].n, c[j].k, dims), GW_OK);
        for (int i = 0; i < c[j].k; i++) CHECK_EQ(dims[i], c[j].want[i]);
    }
    static const struct {
        int n, k, dims[7], want[7];
    } given[] = {
        {175032, 5, {1326}, {1326, 11, 3, 2, 2}},
        {1169294, 6, {0, 0, 0, 0, 238, 1}, {17, 17, 17, 1, 238, 1}},
        {1335180, 6, {0, 0, 561, 0, 0, 0}, {17, 7, 561, 5, 2, 2}},
        {35490, 7, {0, 0, 0, 0, 455, 0, 3}, {13, 2, 1, 1, 455, 1, 3}},
        {1386, 6, {0, 6, 33, 0, 0, 1}, {7, 6, 33, 1, 1, 1}},
        {38115, 7, {0, 0, 11, 0, 33, 0, 0}, {7, 5, 11, 3, 33, 1, 1}},
    };
    for (unsigned j = 0; j < GW_ARRAY_LEN(given); j++) {
        int dims[7];
        memcpy(dims, given[j].dims, sizeof dims);
        CHECK_EQ(topo_dims_create(given[j].n, given[j].k, dims), GW_OK);
        for (int i = 0; i < given[j].k; i++) CHECK_EQ(dims[i], given[j].want[i]);
    }
}

static void fixed(void)
{
    int a[3] = {0, 3, 0}, b[4] = {2, 0, 1, 0}, c[2] = {3, 4}, d[3] = {0, 7, 0};
    CHECK_EQ(topo_dims_create(36, 3, a), GW_OK);
    CHECK(a[0] == 4 && a[1] == 3 && a[2] == 3);
    CHECK_EQ(topo_dims_create(60, 4, b), GW_OK);
    CHECK(b[0] == 2 && b[1] == 6 && b[2] == 1 && b[3] == 5);
    CHECK_EQ(topo_dims_create(12, 2, c), GW_OK);
    CHECK(c[0] == 3 && c[1] == 4);
    CHECK_EQ(topo_dims_create(7, 3, d), GW_OK);
    CHECK(d[0] == 1 && d[1] == 7 && d[2] == 1);
    CHECK_EQ(topo_dims_create(1, 0, NULL), GW_OK);
}

static void errors(void)
{
    int a[2] = {5, 0}, b[2] = {-1, 0}, c[2] = {2, 3}, d[3] = {1 << 30, 1 << 30, 1 << 30}, e[2] = {0, 0}, f[2] = {8, 0};
    CHECK_EQ(topo_dims_create(12, 2, a), GW_EDIMS);
    CHECK(a[0] == 5 && a[1] == 0);
    CHECK_EQ(topo_dims_create(12, 2, b), GW_EDIMS);
    CHECK_EQ(topo_dims_create(12, 2, c), GW_EDIMS); /* no dimension is free, and 6 are not 12 */
    CHECK_EQ(topo_dims_create(12, 3, d), GW_EDIMS);
    CHECK_EQ(topo_dims_create(4, 2, f), GW_EDIMS);
    CHECK_EQ(topo_dims_create(0, 2, e), GW_EARG);
    CHECK_EQ(topo_dims_create(-4, 2, e), GW_EARG);
    CHECK_EQ(topo_dims_create(4, -1, e), GW_EDIMS);
}

/* Numbers with many divisors, primes, powers: the product is right, the order falls. */
static void large(void)
{
    static const int numbers[] = {735134400, 1000000000, 999999937, 1 << 30,    698377680,     2095133040,   2147483647,
                                  387420489, 551350800,  999950884, 1996916400, 46341 * 46339, 720720 * 1021};
    for (unsigned j = 0; j < GW_ARRAY_LEN(numbers); j++) {
        for (int k = 1; k <= 40; k++) {
            int dims[40] = {0};
            int64_t product = 1;
            CHECK_EQ(topo_dims_create(numbers[j], k, dims), GW_OK);
            for (int i = 0; i < k; i++) {
                product *= dims[i];
                CHECK(dims[i] >= 1 && (i == 0 || dims[i] <= dims[i - 1]));
            }
            CHECK_EQ(product, numbers[j]);
        }
    }
    int a[3] = {0}, b[2] = {0}, c[2] = {0};
    topo_dims_create(1000000000, 3, a);
    CHECK(a[0] == 1000 && a[1] == 1000 && a[2] == 1000);
    topo_dims_create(999950884, 2, b);
    CHECK(b[0] == 31622 && b[1] == 31622);
    topo_dims_create(2147483647, 2, c);
    CHECK(c[0] == 2147483647 && c[1] == 1);
}

int main(void)
{
    small();
    as_others();
    cases();
    fixed();
    errors();
    large();
    return unit_end();
}
