/* plain.c -- see plain.h.  It needs no other file of base: the libraries that are loaded before a program have it, too.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/plain.h"

#include <stdlib.h>

#include "base/base_private.h"

enum {
    TEXT_MAX = 4096,  /* longer messages are cut */
    FORMAT_MAX = 2048 /* from here on ends of lines of a format do not stay */
};

size_t gw_plain_decode(const char *text, size_t bytes, uint32_t *c_out)
{
    const unsigned char *p = (const unsigned char *)text;
    if (bytes && *p < 0x80) return *c_out = *p, 1;
    size_t n = !bytes || *p < 0xc2 || *p > 0xf4 ? 0 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
    if (n == 0 || n > bytes) return 0;
    uint32_t c = *p & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    bool is_short = (n == 3 && c < 0x800) || (n == 4 && c < 0x10000), is_none = (c >= 0xd800 && c < 0xe000) || c > 0x10ffff;
    if (is_short || is_none) return 0;
    *c_out = c;
    return n;
}

size_t gw_plain_shown(const char *text, unsigned how)
{
    uint32_t c;
    size_t n = gw_plain_decode(text, 4, &c); /* the text's end ends it */
    if (n == 1) return c >= ' ' && c < 0x7f && !(how & GW_PLAIN_WORD && c == '\\');
    if (n == 0 || how & GW_PLAIN_WORD) return 0;
    bool is_control = c < 0xa0,
         turns = c == 0x61c || (c >= 0x200b && c < 0x2010) || (c >= 0x2028 && c < 0x202f) || (c >= 0x2060 && c < 0x2070) ||
        c == 0xfeff || (c >= 0xe0000 && c < 0xe0080);
    return is_control || turns ? 0 : n;
}

/* What stands for ends of lines of the format in `raw`, and the format's bytes that do. */
struct own {
    char mark; /* 0: nothing does */
    const char *at;
};

static char *plain(char *out, size_t cap, const char *raw, unsigned how, struct own own)
{
    size_t at = 0;
    assert(cap > 0);
    for (const char *p = raw; *p;) {
        bool is_own = own.mark && *p == own.mark;
        size_t n = is_own ? 1 : gw_plain_shown(p, how);
        if (at + (n ? n : 4) >= cap) break;
        if (is_own)
            out[at] = *(own.at = strpbrk(own.at, "\n\t")), own.at++;
        else if (n)
            memcpy(out + at, p, n);
        else
            snprintf(out + at, 5, "\\x%02x", (unsigned char)*p);
        at += n ? n : 4;
        p += n ? n : 1;
    }
    out[at] = 0;
    return out;
}

char *gw_plain(char *out, size_t cap, const char *text, unsigned how) { return plain(out, cap, text, how, (struct own){0}); }

/* Formats twice: as it is, which shows a byte that is not in the text, and with that byte for the format's own ends of lines. */
static void format(char *out, size_t cap, char *raw, size_t raw_cap, const char *fmt, va_list args)
{
    char marked[FORMAT_MAX], mark = 1;
    va_list again;
    va_copy(again, args);
    vsnprintf(raw, raw_cap, fmt, args);
    while (mark < ' ' && strchr(raw, mark)) mark++;
    struct own own = {.mark = mark < ' ' && strlen(fmt) < sizeof marked ? mark : 0, .at = fmt};
    if (own.mark && strpbrk(fmt, "\n\t")) {
        strcpy(marked, fmt);
        for (char *p = marked; (p = strpbrk(p, "\n\t")); p++) *p = mark;
        vsnprintf(raw, raw_cap, marked, again);
    }
    va_end(again);
    plain(out, cap, raw, 0, own);
}

size_t gw_plain_vformat(char *out, size_t cap, const char *fmt, va_list args)
{
    char raw[TEXT_MAX];
    format(out, cap, raw, sizeof raw, fmt, args);
    return strlen(out);
}

size_t gw_plain_format(char *out, size_t cap, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    size_t n = gw_plain_vformat(out, cap, fmt, args);
    va_end(args);
    return n;
}

int gw_vprint(FILE *to, const char *fmt, va_list args)
{
    char small[TEXT_MAX];
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    size_t most = n < 0 ? 1 : (size_t)n + 1, cap = 4 * most;
    char *raw = most + cap > sizeof small ? malloc(most + cap) : small;
    if (!raw) raw = small, most = sizeof small / 5, cap = sizeof small - most;
    format(raw + most, cap, raw, most, fmt, args);
    int rc = fputs(raw + most, to);
    if (raw != small) free(raw);
    return rc;
}

int gw_print(FILE *to, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int rc = gw_vprint(to, fmt, args);
    va_end(args);
    return rc;
}
