/* text.c -- texts in parts; edit distance and the nearest word, for "did you mean".
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base_private.h"
#include "base/plain.h"
#include "base/settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORD_MAX = 128 }; /* longer words are compared by their beginning */

void gw_text_add(char *out, size_t cap, const char *fmt, ...)
{
    size_t n = strnlen(out, cap);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(out + n, cap - n, fmt, ap);
    va_end(ap);
}

char *gw_plain_copy(const char *text, unsigned how)
{
    size_t cap = 4 * strlen(text) + 1;
    return gw_plain(gw_xmalloc(cap), cap, text, how);
}

bool gw_is_shell_word(const char *text)
{
    static const char may[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+:,@%=";
    return *text && *text != '-' && !text[strspn(text, may)];
}

char *gw_shell_quoted(const char *text)
{
    char *plain = gw_plain_copy(text, 0);
    if (gw_is_shell_word(text + strspn(text, "-"))) return plain;
    bool is_plain = strcmp(plain, text) == 0;
    char *out = gw_xmalloc(4 * strlen(plain) + 4), *to = out;
    to += sprintf(to, is_plain ? "'" : "$'"); /* $'': \xNN is that byte again, and a backslash two */
    for (const char *p = text; *p;) {
        size_t n = gw_plain_shown(p, 0);
        if (!n)
            to += sprintf(to, "\\x%02x", (unsigned char)*p);
        else if (*p == '\'')
            to += sprintf(to, is_plain ? "'\\''" : "\\'");
        else if (*p == '\\' && !is_plain)
            to += sprintf(to, "\\\\");
        else
            to = (char *)memcpy(to, p, n) + n;
        p += n ? n : 1;
    }
    strcpy(to, "'");
    free(plain);
    return out;
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

int gw_longer(const char *word, const char *const *words, int n, int *at_out, int most)
{
    size_t len = strlen(word);
    int found = 0;
    for (int i = 0; i < n; i++)
        if (strncmp(words[i], word, len) == 0 && words[i][len] && found++ < most) at_out[found - 1] = i;
    return found;
}
