/* check_part.c -- twins of partitioned communication: each partition is a buffer of its own, in use from MPI_Pready, or from the start of a
 * receive until MPI_Parrived says that it is there; all of them at most until the operation is completed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

static int made(int rc, struct gw_req **r, const void *buf, int partitions, int64_t count, struct gw_type *t, int rank, int tag,
                struct gw_comm *c, bool is_written)
{
    struct check_span one = check_span(buf, rank == GW_PROC_NULL ? 0 : count, t, is_written);
    if (rc != GW_OK) return rc;
    check_use_track(r, &one, 1, (struct check_about){c, rank, tag, 0});
    check_use_divide((*r)->obj.id, partitions);
    return rc;
}

int check_p2p_psend_init(const void *buf, int partitions, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c,
                         struct gw_info *info, struct gw_req **req_out)
{
    int rc = p2p_psend_init(buf, partitions, count, t, dst, tag, c, info, req_out);
    return made(rc, req_out, buf, partitions, count, t, dst, tag, c, false);
}

int check_p2p_precv_init(void *buf, int partitions, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c,
                         struct gw_info *info, struct gw_req **req_out)
{
    int rc = p2p_precv_init(buf, partitions, count, t, src, tag, c, info, req_out);
    return made(rc, req_out, buf, partitions, count, t, src, tag, c, true);
}

/* Looked at before the call: from then on another thread may complete the operation. */
int check_p2p_pready(int partition, struct gw_req *r)
{
    check_use_partition(r->obj.id, partition);
    int rc = p2p_pready(partition, r);
    if (rc != GW_OK) check_use_settle(r->obj.id, partition);
    return rc;
}

int check_p2p_pready_range(int low, int high, struct gw_req *r)
{
    for (int i = low; i <= high; i++) check_use_partition(r->obj.id, i);
    int rc = p2p_pready_range(low, high, r);
    for (int i = low; rc != GW_OK && i <= high; i++) check_use_settle(r->obj.id, i);
    return rc;
}

int check_p2p_pready_list(int n, const int *partitions, struct gw_req *r)
{
    for (int i = 0; i < n; i++) check_use_partition(r->obj.id, partitions[i]);
    int rc = p2p_pready_list(n, partitions, r);
    for (int i = 0; rc != GW_OK && i < n; i++) check_use_settle(r->obj.id, partitions[i]);
    return rc;
}

int check_p2p_parrived(struct gw_req *r, int partition, int *flag_out)
{
    int rc = p2p_parrived(r, partition, flag_out);
    if (rc == GW_OK && *flag_out && r) check_use_settle(r->obj.id, partition);
    return rc;
}
