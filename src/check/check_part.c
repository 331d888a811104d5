/* check_part.c -- partitioned communication: each partition is a buffer of its own, in use from MPI_Pready, or from the start of a
 * receive until MPI_Parrived says that it is there; all of them at most until the operation is completed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

static int made(struct check_run *r, int rc, int rank, bool is_written)
{
    struct check_span one = check_span(r->a.buf, rank == GW_PROC_NULL ? 0 : r->a.count, r->a.datatype, is_written);
    if (rc != GW_OK) return rc;
    check_use_track(r->a.request, &one, 1, (struct check_about){r->a.comm, rank, r->a.tag, 0});
    check_use_divide((*r->a.request)->obj.id, r->a.partitions);
    return rc;
}
static void whole(struct check_run *r, int rank, bool is_written)
{
    int64_t n = rank == GW_PROC_NULL ? 0 : r->a.count * r->a.partitions;
    check_run_use(r, &r->a.buf, check_span(r->a.buf, n, r->a.datatype, is_written));
}
static void psend_uses(struct check_run *r) { whole(r, r->a.dest, false); }
static void precv_uses(struct check_run *r) { whole(r, r->a.source, true); }
static int psend_after(struct check_run *r, int rc) { return made(r, rc, r->a.dest, false); }
static int precv_after(struct check_run *r, int rc) { return made(r, rc, r->a.source, true); }
const struct check_kind check_of_psend = {.uses = psend_uses, .after = psend_after},
                        check_of_precv = {.uses = precv_uses, .after = precv_after};

/* Looked at before the call: from then on another thread may complete the operation. */
typedef void partition_fn(uint32_t id, int partition);
static void settle(uint32_t id, int partition) { check_use_settle(id, partition); }

static void ready_one(struct check_run *r, partition_fn *fn) { fn((*r->a.request)->obj.id, r->a.partition); }
static void ready_range(struct check_run *r, partition_fn *fn)
{
    for (int i = r->a.partition_low; i <= r->a.partition_high; i++) fn((*r->a.request)->obj.id, i);
}
static void ready_list(struct check_run *r, partition_fn *fn)
{
    for (int i = 0; i < r->a.length; i++) fn((*r->a.request)->obj.id, r->a.array_of_partitions[i]);
}

#define READY(each)                                                                                                                \
    static int each##_before(struct check_run *r)                                                                                  \
    {                                                                                                                              \
        each(r, check_use_partition);                                                                                              \
        return GW_OK;                                                                                                              \
    }                                                                                                                              \
    static int each##_after(struct check_run *r, int rc)                                                                           \
    {                                                                                                                              \
        if (rc != GW_OK) each(r, settle);                                                                                          \
        return rc;                                                                                                                 \
    }                                                                                                                              \
    static int each##_stage(struct check_run *r)                                                                                   \
    {                                                                                                                              \
        each(r, check_stage_partition);                                                                                            \
        return GW_OK;                                                                                                              \
    }
READY(ready_one)
READY(ready_range)
READY(ready_list)
const struct check_kind check_of_ready_partition = {
    .before = ready_one_before, .after = ready_one_after, .stage_before = ready_one_stage};
const struct check_kind check_of_ready_range = {
    .before = ready_range_before, .after = ready_range_after, .stage_before = ready_range_stage};
const struct check_kind check_of_ready_list = {
    .before = ready_list_before, .after = ready_list_after, .stage_before = ready_list_stage};

static int arrived_stage(struct check_run *r, int rc)
{
    const struct gw_req *q = *r->a.request;
    if (rc == GW_OK && *r->a.flag && q) check_stage_partition(q->obj.id, r->a.partition);
    return rc;
}
static int arrived_after(struct check_run *r, int rc)
{
    const struct gw_req *q = *r->a.request;
    if (rc == GW_OK && *r->a.flag && q) check_use_settle(q->obj.id, r->a.partition);
    return rc;
}
const struct check_kind check_of_arrived = {.after = arrived_after, .stage_after = arrived_stage};
