/* check_sort.c -- a hundred thousand ranges in order of where they begin: by digits, from the least one up, those only that differ.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "check/check_private.h"

enum { DIGIT = 11, VALUES = 1 << DIGIT, FEW = 32 };

static void sort_few(struct check_range *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct check_range r = v[i];
        size_t k = i;
        for (; k > 0 && v[k - 1].lo > r.lo; k--) v[k] = v[k - 1];
        v[k] = r;
    }
}

void check_sort(struct check_range *v, size_t n)
{
    uint64_t differ = 0;
    bool is_sorted = true;
    for (size_t i = 1; i < n; i++) {
        differ |= v[i].lo ^ v[0].lo;
        is_sorted = is_sorted && v[i - 1].lo <= v[i].lo;
    }
    if (is_sorted) return;
    if (n <= FEW) {
        sort_few(v, n);
        return;
    }
    struct check_range *other = gw_xmalloc(n * sizeof *other), *from = v, *to = other;
    uint32_t *next = gw_xmalloc(VALUES * sizeof *next);
    for (int shift = 0; shift < 64; shift += DIGIT) {
        if ((differ >> shift & (VALUES - 1)) == 0) continue;
        memset(next, 0, VALUES * sizeof *next);
        for (size_t i = 0; i < n; i++) next[from[i].lo >> shift & (VALUES - 1)]++;
        for (uint32_t d = 0, at = 0, many; d < VALUES; d++, at += many) many = next[d], next[d] = at;
        for (size_t i = 0; i < n; i++) to[next[from[i].lo >> shift & (VALUES - 1)]++] = from[i];
        struct check_range *was = from;
        from = to;
        to = was;
    }
    if (from != v) memcpy(v, from, n * sizeof *v);
    free(next);
    free(other);
}
