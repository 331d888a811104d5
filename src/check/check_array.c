/* check_array.c -- arrays of counts, displacements and datatypes that a collective behind a request was given: they must stay as they are
 * until it is complete.  This library copies them, others need not.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

#include <stdio.h>
#include <stdlib.h>

/* Those of the call that this thread is in. */
enum { ARRAYS_MAX = 6 };
static _Thread_local struct check_array now[ARRAYS_MAX];

void check_arrays_drop(struct check_array *v, int n)
{
    for (int i = 0; i < n; i++) check_span_drop(&v[i].span);
}

void check_arrays_begin(struct check_me *me)
{
    if (me->n_arrays) check_arrays_drop(now, me->n_arrays); /* of a call that failed */
    me->n_arrays = 0;
}

void check_array(const char *name, const void *at, int64_t n, size_t each)
{
    assert(check_me.n_arrays < ARRAYS_MAX);
    struct check_span s = check_span(at, at ? n * (int64_t)each : 0, gw_type_byte, false);
    if (s.lo == s.hi) return;
    check_span_sum(&s);
    now[check_me.n_arrays++] = (struct check_array){name, s};
}

void check_arrays_take(struct check_item *i)
{
    int n = check_me.n_arrays;
    if (n == 0) return;
    i->arrays = gw_xmalloc((size_t)n * sizeof *i->arrays);
    memcpy(i->arrays, now, (size_t)n * sizeof *i->arrays);
    i->n_arrays = n;
    check_me.n_arrays = 0;
}

static void say(const struct check_item *i, const struct check_array *a, bool gone, int64_t from, int64_t to)
{
    char site[CHECK_SITE_TEXT], bytes[64] = "";
    check_site_text(i->made, site);
    if (!gone) snprintf(bytes, sizeof bytes, "bytes %lld to %lld of ", (long long)from, (long long)to - 1);
    check_say("array %s too early: %s%s of %s (%lld bytes at %p) %s before the operation was completed by a wait or test; "
              "this library has its own copy of it, others need not have one",
              gone ? "given back" : "changed", bytes, a->name, site, (long long)a->span.count, a->span.buf,
              gone ? "was not in the program's memory any more" : "were changed, or given back,");
}

void check_arrays_look(struct check_item *i)
{
    int64_t from = 0, to = 0;
    bool gone, found = false;
    for (int k = 0; k < i->n_arrays && !found; k++) {
        found = check_span_changed(&i->arrays[k].span, &from, &to, &gone);
        if (found) say(i, &i->arrays[k], gone, from, to);
    }
    if (!found) return;
    check_arrays_drop(i->arrays, i->n_arrays); /* one is enough of a request */
    i->n_arrays = 0;
}
