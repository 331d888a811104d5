/* check_sort_test.c -- ranges are in order afterwards, equal ones as they stood; of any number and width.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

#include "unit.h"

enum { MOST = 5000 };
static struct check_range v[MOST];
static uint64_t state = 12345;

static uint64_t number(uint64_t mask)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state ^ state >> 29) & mask;
}

static void sorts(size_t n, uint64_t mask, uint64_t above)
{
    uint64_t sum = 0, sum_after = 0;
    for (size_t i = 0; i < n; i++) {
        v[i] = (struct check_range){above + number(mask), i};
        sum += v[i].lo * (i + 1);
    }
    check_sort(v, n);
    bool is_sorted = true, is_stable = true;
    for (size_t i = 0; i < n; i++) {
        sum_after += v[i].lo * (v[i].with + 1);
        is_sorted = is_sorted && (i == 0 || v[i - 1].lo <= v[i].lo);
        is_stable = is_stable && (i == 0 || v[i - 1].lo != v[i].lo || v[i - 1].with < v[i].with);
    }
    CHECK(is_sorted && is_stable && sum == sum_after);
}

int main(void)
{
    static const size_t sizes[] = {0, 1, 2, 31, 32, 33, 100, MOST};
    static const uint64_t masks[] = {0, 3, 0x7ff, 0x800, 0xfff000, 0xffffffff, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof masks / sizeof *masks; k++) sorts(sizes[i], masks[k], k < 6 ? 0x7f0000000000 : 0);
    return unit_end();
}
