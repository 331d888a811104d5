/* usage.c -- the peak memory of this process, for the report at its end.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/os.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    _Atomic int64_t now, most;
} usage[GW_MEMORIES];

void gw_memory_note(enum gw_memory what, int64_t delta)
{
    int64_t now = atomic_fetch_add_explicit(&usage[what].now, delta, memory_order_relaxed) + delta;
    int64_t most = atomic_load_explicit(&usage[what].most, memory_order_relaxed);
    assert(now >= 0);
    while (now > most &&
           !atomic_compare_exchange_weak_explicit(&usage[what].most, &most, now, memory_order_relaxed, memory_order_relaxed))
        continue;
}

/* The last number that follows `before` in the text; 0: there is none. */
static int64_t number_after(const char *text, const char *before)
{
    int64_t last = 0;
    for (const char *at = text; (at = strstr(at, before)) != NULL;) {
        at += strlen(before);
        last = strtoll(at + strspn(at, " ="), NULL, 10);
    }
    return last;
}

static char *closed(FILE *f, char **text) { return f && fclose(f) == 0 ? *text : NULL; }

/* The C library reports the peaks of its heaps, and of large blocks outside of them, only as text. */
static int64_t malloc_most(void)
{
    char *heaps = NULL, *blocks = NULL;
    size_t n;
    FILE *f = open_memstream(&heaps, &n), *was = stderr;
    if (f) malloc_info(0, f);
    int64_t most = closed(f, &heaps) ? number_after(heaps, "<system type=\"max\" size=\"") : 0;
    f = open_memstream(&blocks, &n);
    if (f) {
        stderr = f;
        malloc_stats();
        stderr = was;
    }
    if (closed(f, &blocks)) most += number_after(blocks, "max mmap bytes");
    free(heaps);
    free(blocks);
    return most;
}

int64_t gw_memory_most(enum gw_memory what)
{
    return what == GW_MEMORY_MALLOC ? malloc_most() : atomic_load_explicit(&usage[what].most, memory_order_relaxed);
}
