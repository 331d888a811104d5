/* stage.c -- host memory in place of a buffer that the CPU may not touch.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/stage.h"

#include <stdlib.h>

enum { RUNS = 64 };

/* Run by run, so that what lies in the gaps stays alone. */
int type_stage_copy(const struct type_stage *s, bool is_back, int64_t from, int64_t count)
{
    struct gw_type *t = s->user.type;
    struct gw_data part = gw_data_host((void *)((uintptr_t)s->user.buf + (uintptr_t)(from * t->extent)), count, t);
    struct iovec iov[RUNS];
    struct type_cursor c;
    int64_t bytes;
    int rc = GW_OK;
    uintptr_t shift = (uintptr_t)s->data.buf - (uintptr_t)s->user.buf;
    type_cursor_init(&c, part);
    for (int n; rc >= 0 && (n = type_cursor_iov(&c, iov, RUNS, INT64_MAX, &bytes)) > 0;)
        for (int i = 0; rc >= 0 && i < n; i++) {
            char *at = iov[i].iov_base, *here = (char *)((uintptr_t)at + shift);
            rc = is_back ? mem_copy(at, here, iov[i].iov_len) : mem_copy(here, at, iov[i].iov_len);
        }
    return rc;
}

int type_stage_begin(struct type_stage *s, const struct gw_data *user)
{
    int64_t lo, hi;
    *s = (struct type_stage){*user, *user, NULL};
    if (gw_data_is_cpu(user)) return GW_OK;
    if (!type_bounds(user->type, user->count, &lo, &hi))
        return gw_fail(GW_ECOUNT, "a buffer of 2^63 bytes or more cannot be copied to host memory");
    s->memory = malloc(hi > lo ? (size_t)(hi - lo) : 1);
    if (!s->memory)
        return gw_fail(GW_ENOMEM, "no host memory for a copy of a buffer of %lld bytes, which the CPU may not touch",
                       (long long)(hi - lo));
    s->data = gw_data_host((void *)((uintptr_t)s->memory - (uintptr_t)lo), user->count, user->type);
    return type_stage_copy(s, false, 0, user->count);
}

int type_stage_end(struct type_stage *s, int rc, bool is_written)
{
    if (is_written && s->memory) {
        int back = type_stage_copy(s, true, 0, s->user.count);
        if (rc >= 0 && back < 0) rc = back;
    }
    free(s->memory);
    return rc;
}
