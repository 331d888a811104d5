/* dims_test.c -- balanced factors against trying all of them; large numbers by what must hold.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "topo/topo.h"

#include "../../test/unit.h"

/* Brute force: of all non-increasing lists of k factors of m, the first in dictionary order. */
static int best[8], now[8], have_best;
static void try_all(int m, int k, int place, int most)
{
    if (place == k) {
        if (m != 1) return;
        int less = !have_best;
        for (int i = 0; i < k && have_best; i++) {
            if (now[i] == best[i]) continue;
            less = now[i] < best[i];
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
    fixed();
    errors();
    large();
    return unit_end();
}
