/* text.c -- edit distance and the nearest word, for "did you mean".
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"

#include <ctype.h>

enum { WORD_MAX = 128 }; /* longer words are compared by their beginning */

int gw_levenshtein(const char *a, const char *b)
{
    size_t na = strnlen(a, WORD_MAX), nb = strnlen(b, WORD_MAX);
    int row[WORD_MAX + 1];
    for (size_t j = 0; j <= nb; j++) row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            int best = diagonal + !same;
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
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
        int d = gw_levenshtein(word, words[i]);
        if (d > best || (d == best && nearest)) continue;
        best = d;
        nearest = words[i];
    }
    return nearest;
}
