/* match_private.h -- beside match.h and match_fast.h: for match.c, match_state.c and their tests.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_MATCH_MATCH_PRIVATE_H
#define GW_MATCH_MATCH_PRIVATE_H

#include "match/match_fast.h"
#include "base/base.h"

/* match_state.c: the invariant that does not hold, in words; NULL: all do.  Walks all of the queue. */
const char *match_broken(struct match_queue *q);
/* At the end of every change; of short queues only, so that long ones do not take quadratic time. */
static inline void match_assert_state(struct match_queue *q)
{
    if (GW_ASSERT_STATES && q->n_posted + q->n_msgs <= 16) gw_assert_state(match_broken(q));
}

#endif
