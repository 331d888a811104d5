/* options_file.c -- command lines in files: the words of each line, as a shell has them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "launch/options_private.h"
#include "base/file.h"

/* Copies the next word, without quotes and backslashes, to `out`, which has room for the line; false: there is none. */
static bool word_take(const char **at, char *out)
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
    return true;
}

/* Appends the words of a line, with ":" before them unless they are the first. */
static void line_take(const char *line, struct words *out)
{
    char *word = gw_xmalloc(strlen(line) + 1);
    const char *at = line + strspn(line, " \t\r");
    bool first = out->n > 0;
    while (*at != '#' && word_take(&at, word)) {
        if (first) words_add(out, ":");
        first = false;
        words_add(out, word);
        at += strspn(at, " \t\r");
    }
    free(word);
}

const char *launch_options_file_read(const char *path, struct words *out)
{
    enum { MOST = 16 << 20 };
    char *text = NULL, *whole = NULL;
    const char *why = gw_file_read(path, MOST, true, &text);
    for (char *line = text, *next; !why && line && *line; line = next) {
        size_t n = strcspn(line, "\n");
        next = line + n + (line[n] != 0);
        line[n] = 0;
        if (n > 0 && line[n - 1] == '\r') line[--n] = 0;
        bool goes_on = n > 0 && line[n - 1] == '\\';
        if (goes_on) line[n - 1] = 0;
        char *joined = gw_xasprintf("%s%s", whole ? whole : "", line);
        free(whole);
        whole = joined;
        if (goes_on) continue;
        line_take(whole, out);
        free(whole);
        whole = NULL;
    }
    if (whole) line_take(whole, out);
    free(whole);
    free(text);
    return why;
}
