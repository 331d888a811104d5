/* memory.c -- allocation that cannot fail: on failure it ends the process with a message.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>

static void memory_none(size_t n) __attribute__((noreturn, cold));
static void memory_none(size_t n) { gw_die("out of memory: %zu bytes could not be allocated", n); }

void *gw_xmalloc(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (unlikely(!p)) memory_none(n);
    return p;
}

void *gw_xcalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (unlikely(!p)) gw_die("out of memory: %zu times %zu bytes could not be allocated", n, size);
    return p;
}

void *gw_xrealloc(void *p, size_t n)
{
    void *q = realloc(p, n ? n : 1);
    if (unlikely(!q)) memory_none(n);
    return q;
}

char *gw_xasprintf(const char *fmt, ...)
{
    char *text;
    va_list args;
    va_start(args, fmt);
    int n = vasprintf(&text, fmt, args);
    va_end(args);
    if (unlikely(n < 0)) memory_none(strlen(fmt));
    return text;
}
