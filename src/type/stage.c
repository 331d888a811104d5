/* stage.c -- host memory in place of a buffer that the CPU may not touch.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/stage.h"

#include <stdlib.h>

enum { RUNS = 64 };

bool type_must_stage_among(const void *buf, const struct gw_type *t)
{
    return buf != GW_IN_PLACE && t && t->size > 0 && !mem_is_cpu((const void *)((uintptr_t)buf + (uintptr_t)t->true_lb));
}

/* Run by run, so that what lies in the gaps stays alone. */
static int copy_runs(struct type_stage *s, bool is_back)
{
    struct iovec iov[RUNS];
    int64_t bytes;
    int rc = GW_OK;
    type_cursor_seek(&s->whose, 0);
    for (int n; rc >= 0 && (n = type_cursor_iov(&s->whose, iov, RUNS, INT64_MAX, &bytes)) > 0;)
        for (int i = 0; rc >= 0 && i < n; i++) {
            char *at = iov[i].iov_base, *here = (char *)((uintptr_t)at + (uintptr_t)s->shift);
            rc = is_back ? mem_copy(at, here, iov[i].iov_len) : mem_copy(here, at, iov[i].iov_len);
        }
    return rc;
}

int type_stage_begin(struct type_stage *s, const void *buf, int64_t count, struct gw_type *t)
{
    int64_t lo, hi;
    *s = (struct type_stage){.buf = (void *)(uintptr_t)buf};
    if (!type_must_stage(buf, t)) return GW_OK;
    if (!type_bounds(t, count, &lo, &hi))
        return gw_fail(GW_ECOUNT, "a buffer of 2^63 bytes or more cannot be copied to host memory");
    type_cursor_init(&s->whose, buf, count, t);
    s->memory = malloc(hi > lo ? (size_t)(hi - lo) : 1);
    if (!s->memory)
        return gw_fail(GW_ENOMEM, "no host memory for a copy of a buffer of %lld bytes, which the CPU may not touch",
                       (long long)(hi - lo));
    s->buf = (void *)((uintptr_t)s->memory - (uintptr_t)lo);
    s->shift = (ptrdiff_t)((uintptr_t)s->buf - (uintptr_t)buf);
    return copy_runs(s, false);
}

int type_stage_end(struct type_stage *s, int rc, bool is_written)
{
    if (is_written && s->memory) {
        int back = copy_runs(s, true);
        if (rc >= 0 && back < 0) rc = back;
    }
    free(s->memory);
    return rc;
}
