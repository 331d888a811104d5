/* json.c -- see json.h.  It needs base/plain.c alone: the libraries that are loaded before a program have it, too.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_private.h"

/* ---- texts ---- */
static void escape(FILE *to, uint32_t c)
{
    if (c >= 0x10000) {
        escape(to, 0xd800 + ((c - 0x10000) >> 10));
        c = 0xdc00 + (c & 0x3ff);
    }
    fprintf(to, "\\u%04" PRIx32, c);
}

/* One that stands for itself or by its letter; false: it is to be escaped by its number. */
static bool plain_byte(FILE *to, unsigned char c)
{
    static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *at = c ? strchr(named, c) : NULL;
    if (at) return fprintf(to, "\\%c", letters[at - named]), true;
    return c >= ' ' && c < 0x7f ? fputc(c, to), true : false;
}

static void quoted(FILE *to, const char *text, size_t bytes)
{
    fputc('"', to);
    for (size_t i = 0; i < bytes;) {
        uint32_t c;
        size_t n = gw_plain_decode(text + i, bytes - i, &c);
        if (n == 0) c = 0xfffd, n = 1;
        if (c >= 0x80 || !plain_byte(to, (unsigned char)c)) escape(to, c);
        i += n;
    }
    fputc('"', to);
}

/* ---- places ---- */
static void line_begin(const struct gw_json *j)
{
    if (j->row)
        fputs(j->has[j->depth - 1] ? " " : "", j->to);
    else
        fprintf(j->to, "\n%*s", 2 * j->depth, "");
}

/* The place of a value: what stands before it. */
static void value_begin(struct gw_json *j, const char *name)
{
    assert(j->depth > 0 && j->array[j->depth - 1] == !name);
    if (j->has[j->depth - 1]) fputc(',', j->to);
    line_begin(j);
    j->has[j->depth - 1] = true;
    if (!name) return;
    quoted(j->to, name, strlen(name));
    fputs(": ", j->to);
}

static void open(struct gw_json *j, const char *name, bool is_array)
{
    if (j->depth) value_begin(j, name);
    assert(j->depth < GW_JSON_DEPTH);
    fputc(is_array ? '[' : '{', j->to);
    j->array[j->depth] = is_array;
    j->has[j->depth++] = false;
}

void gw_json_begin(struct gw_json *j, FILE *to)
{
    *j = (struct gw_json){.to = to};
    open(j, NULL, false);
}

void gw_json_object(struct gw_json *j, const char *name) { open(j, name, false); }
void gw_json_array(struct gw_json *j, const char *name) { open(j, name, true); }
void gw_json_row(struct gw_json *j, const char *name)
{
    open(j, name, false);
    if (!j->row) j->row = j->depth;
}

void gw_json_close(struct gw_json *j)
{
    assert(j->depth > 0);
    bool is_row = j->row != 0, is_array = j->array[j->depth - 1], has = j->has[j->depth - 1];
    if (j->row == j->depth) j->row = 0;
    j->depth--;
    if (has && !is_row) fprintf(j->to, "\n%*s", 2 * j->depth, "");
    fputc(is_array ? ']' : '}', j->to);
}

bool gw_json_end(struct gw_json *j)
{
    assert(j->depth == 1);
    gw_json_close(j);
    fputc('\n', j->to);
    return fflush(j->to) == 0 && !ferror(j->to);
}

/* ---- values ---- */
void gw_json_text_n(struct gw_json *j, const char *name, const char *text, size_t bytes)
{
    value_begin(j, name);
    quoted(j->to, text, bytes);
}

void gw_json_text(struct gw_json *j, const char *name, const char *text)
{
    if (text) {
        gw_json_text_n(j, name, text, strlen(text));
        return;
    }
    value_begin(j, name);
    fputs("null", j->to);
}

void gw_json_int(struct gw_json *j, const char *name, int64_t n)
{
    value_begin(j, name);
    fprintf(j->to, "%" PRId64, n);
}

void gw_json_thousandths(struct gw_json *j, const char *name, uint64_t n)
{
    value_begin(j, name);
    fprintf(j->to, "%" PRIu64 ".%03u", n / 1000, (unsigned)(n % 1000));
}

/* As printf() wrote it in whatever locale: the decimal point may be other characters there, several bytes of them. */
static void number_put(FILE *to, const char *text)
{
    bool had_point = false;
    for (; *text; text++) {
        if (strchr("0123456789+-e", *text))
            fputc(*text, to);
        else if (!had_point)
            fputc('.', to), had_point = true;
    }
}

void gw_json_real(struct gw_json *j, const char *name, double x)
{
    enum { FEWEST = 6, MOST = 17 };
    char text[64];
    value_begin(j, name);
    if (!isfinite(x)) {
        fputs("null", j->to);
        return;
    }
    bool is_whole = x > -1e15 && x < 1e15 && (double)(int64_t)x == x;
    if (is_whole) snprintf(text, sizeof text, "%" PRId64, (int64_t)x);
    for (int digits = FEWEST; digits <= MOST && !is_whole; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x) break;
    }
    number_put(j->to, text);
}

void gw_json_bool(struct gw_json *j, const char *name, bool is)
{
    value_begin(j, name);
    fputs(is ? "true" : "false", j->to);
}
