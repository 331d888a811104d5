/* text.c -- texts in parts; edit distance and the nearest word, for "did you mean".
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/settings.h"

#include <ctype.h>
#include <stdio.h>

enum { WORD_MAX = 128 }; /* longer words are compared by their beginning */

void gw_text_add(char *out, size_t cap, const char *fmt, ...)
{
    size_t n = strnlen(out, cap);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(out + n, cap - n, fmt, ap);
    va_end(ap);
}

static int same(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

int gw_edits(const char *a, const char *b)
{
    size_t na = strnlen(a, WORD_MAX), nb = strnlen(b, WORD_MAX);
    int rows[3][WORD_MAX + 1], *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= nb; j++) row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int *oldest = before;
        before = above, above = row, row = oldest;
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int best = above[j - 1] + !same(a[i - 1], b[j - 1]);
            if (above[j] + 1 < best) best = above[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]) && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return row[nb];
}

const char *gw_nearest(const char *word, const char *const *words, int n)
{
    const char *nearest = NULL;
    int limit = (int)strnlen(word, WORD_MAX) / 3, best = limit < 1 ? 1 : limit > 4 ? 4 : limit;
    for (int i = 0; i < n; i++) {
        int d = gw_edits(word, words[i]);
        if (d > best || (d == best && nearest)) continue;
        best = d;
        nearest = words[i];
    }
    return nearest;
}
