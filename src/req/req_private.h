/* req_private.h -- shared by the files of req/.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_REQ_REQ_PRIVATE_H
#define GW_REQ_REQ_PRIVATE_H

#include "req/req.h"
#include "base/base.h"

enum { CHUNK_REQS = 64, CHECKED_REQS = 2048 }; /* requests by which a lane's pool grows; its first size under GODWIT_CHECK */

/* Calls the query function of a completed generalized request, which fills in r->status.  Returns its error. */
int req_user_query(struct gw_req *r);
/* Reports for a hang report what a long wait, or many failed tests, are for: all of r[n], or one of them (is_any). */
void req_report_about(struct gw_req **r, int n, bool is_any) GW_COLD;
/* A round of progress of the service.  *is_polled_out: a thread of the program waits on some lane, which was left to it. */
int req_progress_service(bool *is_polled_out);
/* Blocks until r[at] is done.  A hang report names r[at..n). */
void req_block_in(struct gw_req **r, int n, int at);

/* req_state.c: the invariant that does not hold, in words; NULL: all do.  Lane's lock held. */
const char *req_pool_broken(struct gw_lane *lane);
const char *req_broken(const struct gw_req *r); /* a request that is not in the pool */
static inline void req_assert_state(const struct gw_req *r)
{
    if (GW_ASSERT_STATES) gw_assert_state(req_broken(r));
}

#endif
