/* options_file.c -- command lines in files: the words of each line, as a shell has them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/options_private.h"
#include "base/file.h"

/* Copies the next word, without quotes and backslashes, to `out`, which has room for the line; false: there is none.  quote_out: the quote that
 * is open at its end, or 0. */
static bool word_take(const char **at, char *out, char *quote_out)
{
    const char *p = *at + strspn(*at, " \t\r");
    char quote = 0;
    if (!*p) return false;
    for (; *p && (quote || !strchr(" \t\r", *p)); p++) {
        if (quote && *p == quote)
            quote = 0;
        else if (!quote && (*p == '\'' || *p == '"'))
            quote = *p;
        else
            *out++ = *p == '\\' && p[1] && quote != '\'' ? *++p : *p;
    }
    *out = 0;
    *at = p;
    *quote_out = quote;
    return true;
}

/* Appends the words of a line, with ":" before them unless they are the first.  The quote that is open at its end, or 0. */
static char line_take(const char *line, struct words *out)
{
    char *word = gw_xmalloc(strlen(line) + 1);
    const char *at = line + strspn(line, " \t\r");
    char quote = 0;
    bool first = out->n > 0;
    while (*at != '#' && word_take(&at, word, &quote)) {
        if (first) words_add(out, ":");
        first = false;
        words_add(out, word);
        at += strspn(at, " \t\r");
    }
    free(word);
    return quote;
}

const char *launch_options_file_read(const char *path, struct words *out)
{
    enum { MOST = 16 << 20 };
    static char open[96];
    char *text = NULL, *whole = NULL, quote;
    int number = 0, first = 1; /* of this line, and of the first that is joined with it */
    const char *why = gw_file_read(path, MOST, true, &text);
    for (char *line = text, *next; !why && line && *line; line = next) {
        size_t n = strcspn(line, "\n");
        number++;
        next = line + n + (line[n] != 0);
        line[n] = 0;
        if (n > 0 && line[n - 1] == '\r') line[--n] = 0;
        bool goes_on = n > 0 && line[n - 1] == '\\';
        if (goes_on) line[n - 1] = 0;
        char *joined = gw_xasprintf("%s%s", whole ? whole : "", line);
        free(whole);
        whole = joined;
        if (goes_on && *next) continue;
        if ((quote = line_take(whole, out)) != 0) {
            snprintf(open, sizeof open, "line %d: the quote %c has no end in this line", first, quote);
            why = open;
        }
        first = number + 1;
        free(whole);
        whole = NULL;
    }
    free(whole);
    free(text);
    return why;
}
