/* req_private.h -- between req.c and wait.c.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_REQ_REQ_PRIVATE_H
#define GW_REQ_REQ_PRIVATE_H

#include "req/req.h"
#include "base/base.h"

enum { CHUNK_REQS = 64, CHECKED_REQS = 2048 }; /* by which a lane's pool grows, and with which it begins under GODWIT_CHECK */

/* A slot takes no part: null, or persistent and not started. */
static inline bool req_is_inactive(const struct gw_req *r)
{
    return !r || (r->flags & (REQ_PERSISTENT | REQ_ACTIVE)) == REQ_PERSISTENT;
}

/* A generalized request that is done: its status, as the user's function says it. */
int req_user_query(struct gw_req *r);
/* Tells what a long wait, or many tests in vain, are for: r[n], or any one of them. */
void req_report_about(struct gw_req **r, int n, bool is_any) GW_COLD;
/* Blocks until r[at] is done; of interest to who asks what this rank waits for are all from there on. */
void req_block_in(struct gw_req **r, int n, int at);

/* req_state.c: what is not as req.h's diagram has it, in words; NULL: all is.  Lane's lock held. */
const char *req_pool_broken(struct gw_lane *lane);
const char *req_broken(const struct gw_req *r); /* of one that is not in the pool */
static inline void req_assert_state(const struct gw_req *r)
{
    if (GW_ASSERT_STATES) gw_assert_state(req_broken(r));
}

#endif
