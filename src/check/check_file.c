/* check_file.c -- the data access of files: what its buffers are.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

enum { SPLIT = 0 }; /* in place of a rank: of split collectives, which end without a request */

static void read_uses(struct check_run *r) { check_run_use(r, &r->a.buf, check_span(r->a.buf, r->a.count, r->a.datatype, true)); }
static void write_uses(struct check_run *r) { check_run_use(r, &r->a.buf, check_span(r->a.buf, r->a.count, r->a.datatype, false)); }
static int access_before(struct check_run *r)
{
    r->about = (struct check_about){r->a.fh->comm, GW_UNDEFINED, GW_UNDEFINED, r->a.fh->obj.id};
    check_use_look(r->spans, 1);
    return GW_OK;
}

static int access_after(struct check_run *r, int rc)
{
    assert(r->n_spans == 1 && r->about.owner);
    if (rc != GW_OK || r->form == CHECK_BLOCKS) return rc;
    if (req_is_done(*r->a.request))
        check_span_sum_now(&r->spans[0]); /* what it reads is there */
    else
        check_span_sum(&r->spans[0]);
    check_use_track(r->a.request, r->spans, 1, r->about);
    return rc;
}
const struct check_kind check_of_file_read = {.uses = read_uses, .before = access_before, .after = access_after},
                        check_of_file_write = {.uses = write_uses, .before = access_before, .after = access_after};

static int begin_after(struct check_run *r, int rc)
{
    if (rc != GW_OK) return rc;
    r->about.rank = SPLIT;
    check_span_sum(&r->spans[0]);
    check_use_pend(r->spans, 1, r->about);
    return rc;
}
const struct check_kind check_of_file_read_begin = {.uses = read_uses, .before = access_before, .after = begin_after},
                        check_of_file_write_begin = {.uses = write_uses, .before = access_before, .after = begin_after};

static int end_after(struct check_run *r, int rc)
{
    if (rc == GW_OK) check_use_settle(r->a.fh->obj.id, SPLIT);
    return rc;
}
const struct check_kind check_of_file_end = {.after = end_after};
