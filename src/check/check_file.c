/* check_file.c -- twins of the data access of files: what their buffers are.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

enum { SPLIT = 0 }; /* in place of a rank: of split collectives, which end without a request */

static struct check_span begin(int how, const void *buf, int64_t count, struct gw_type *t)
{
    struct check_span s = check_span(buf, count, t, !(how & IO_WRITE));
    check_use_look(&s, 1);
    return s;
}

int check_io_access(struct gw_file *f, int how, int64_t offset, const void *buf, int64_t count, struct gw_type *t,
                    struct gw_status *status, struct gw_req **req_out)
{
    struct check_span s = begin(how, buf, count, t);
    int rc = io_access(f, how, offset, buf, count, t, status, req_out);
    if (rc != GW_OK || !req_out) return rc;
    if (req_is_done(*req_out))
        check_span_sum_now(&s); /* what it reads is there */
    else
        check_span_sum(&s);
    check_use_track(req_out, &s, 1, (struct check_about){f->comm, GW_UNDEFINED, GW_UNDEFINED, f->obj.id});
    return rc;
}

int check_io_begin(struct gw_file *f, int how, int64_t offset, const void *buf, int64_t count, struct gw_type *t)
{
    struct check_span s = begin(how, buf, count, t);
    int rc = io_begin(f, how, offset, buf, count, t);
    if (rc != GW_OK) return rc;
    check_span_sum(&s);
    check_use_pend(&s, 1, (struct check_about){f->comm, SPLIT, GW_UNDEFINED, f->obj.id});
    return rc;
}

int check_io_end(struct gw_file *f, int how, struct gw_status *status)
{
    int rc = io_end(f, how, status);
    if (rc == GW_OK) check_use_settle(f->obj.id, SPLIT);
    return rc;
}
