/* file_sum.c -- texts that are stored and read again (file.h): a damaged one is found out, and the place is named.
 *
 *   # Sum 00c0ffee00c0ffee of the 3 lines below.  Remove this line after a change by hand.
 *   what was stored
 *   # Sums of the lines above: 1234 5678
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/file.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_private.h"
#include "base/hash.h"

static const char first[] = "# Sum ", last[] = "# Sums of the lines above:";

static unsigned line_sum(const char *line, size_t n) { return (unsigned)(gw_hash(GW_HASH_SEED, line, n) % 0xfff1); }

/* With the line of sums of lines.  NULL: no memory. */
static char *with_sums(const char *text, size_t *n_lines_out)
{
    char *out = NULL;
    size_t bytes, n = 1;
    FILE *f = open_memstream(&out, &bytes);
    if (!f) return NULL;
    bool is_ended = !*text || text[strlen(text) - 1] == '\n';
    fprintf(f, "%s%s%s", text, is_ended ? "" : "\n", last);
    for (const char *at = text; *at; n++) {
        size_t len = strcspn(at, "\n");
        fprintf(f, " %04x", line_sum(at, len));
        at += len + (at[len] == '\n');
    }
    fputc('\n', f);
    bool is_bad = ferror(f);
    if (fclose(f) != 0 || is_bad) {
        free(out);
        return NULL;
    }
    *n_lines_out = n;
    return out;
}

int gw_file_store(const char *path, const char *text)
{
    size_t n_lines;
    char *body = with_sums(text, &n_lines);
    struct gw_new_file f;
    int err = body ? gw_file_create(path, &f) : ENOMEM;
    if (!err) {
        fprintf(f.to, "%s%016llx of the %zu lines below.  Remove this line after a change by hand.\n%s", first,
                (unsigned long long)gw_hash_text(body), n_lines, body);
        err = gw_file_finish(&f);
    }
    free(body);
    return err;
}

/* The number in the file of the first line that is another than its sum says; the body has n lines.  0: it is not one of them. */
static size_t bad_line(const char *body, size_t n)
{
    const char *sums = NULL, *at = body;
    for (size_t i = 1; i < n && at; i++) at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    if (at && strncmp(at, last, sizeof last - 1) == 0) sums = at + sizeof last - 1;
    for (size_t i = 2; sums && body < at; i++) {
        size_t len = strcspn(body, "\n");
        char *end;
        unsigned long sum = strtoul(sums, &end, 16);
        if (end == sums || sum != line_sum(body, len)) return i;
        sums = end;
        body += len + 1;
    }
    return 0;
}

static bool is_first_line(const char *at, unsigned long long *sum_out, size_t *n_out)
{
    return strncmp(at, first, sizeof first - 1) == 0 &&
        sscanf(at + sizeof first - 1, "%16llx of the %zu lines", sum_out, n_out) == 2;
}

/* The number of the line in which, behind others, a stored text begins; 0: in none. */
static size_t line_of_another(const char *text)
{
    unsigned long long sum;
    size_t n, line = 1;
    for (const char *at = text; (at = strstr(at, first)); at += sizeof first - 1) {
        if (at == text || !is_first_line(at, &sum, &n)) continue;
        for (const char *p = text; (p = strchr(p, '\n')) && p < at; p++) line++;
        return line;
    }
    return 0;
}

/* A text that does not begin as stored ones do. */
static bool is_other(const char *text, char *why_out, size_t cap)
{
    size_t line = line_of_another(text), n = strlen(text);
    if (line > 0)
        snprintf(
            why_out, cap,
            "it is damaged: what was written begins in line %zu, behind something else; remove that line after a change by hand",
            line);
    else if (n > 2 && strncmp(text, first, n) == 0)
        snprintf(why_out, cap, "it is damaged: it ends in line 1");
    return why_out[0];
}

bool file_is_damaged(const char *text, char *why_out, size_t cap)
{
    unsigned long long sum;
    size_t n, there = 0;
    why_out[0] = 0;
    if (strncmp(text, first, sizeof first - 1) != 0) return is_other(text, why_out, cap);
    const char *body = strchr(text, '\n');
    bool is_known = body && is_first_line(text, &sum, &n);
    if (is_known && sum == gw_hash_text(++body)) return false;
    const char *end = is_known ? body : "";
    for (const char *p = end; (p = strchr(p, '\n')); end = ++p) there++;
    there += there >= n && *end; /* a line more, without an end */
    size_t bad = is_known && there >= n ? bad_line(body, n) : 0;
    if (is_known && there < n)
        snprintf(why_out, cap, "it is damaged: of %zu lines below the first %zu are there", n, there);
    else
        snprintf(why_out, cap, "it is damaged: line %zu is not what was written; after a change by hand, remove line 1",
                 bad                         ? bad
                     : is_known && there > n ? n + 2
                                             : 1);
    return true;
}
