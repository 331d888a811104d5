/* counters.c -- the members of a communicator find out whether their network raises counters (plan/counters.c), before the first barrier.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "coll/coll_private.h"

bool coll_counters_ready(struct gw_comm *c, bool is_forced)
{
    enum plan_counters_are are = plan_counters_are(c);
    if (are != PLAN_COUNTERS_NOT_ASKED) return are == PLAN_COUNTERS_THERE;
    if (!plan_counters_may(c, is_forced)) return false;
    struct plan_counter_place mine = plan_counters_offer(c, is_forced);
    struct plan_counter_place *all = gw_xmalloc(sizeof *all * (size_t)c->size); /* the others would wait for one that gave up */
    plan_within_add(c, 1);
    int rc = coll_allgather(&mine, sizeof mine, gw_type_byte, all, sizeof mine, gw_type_byte, c, NULL);
    plan_within_add(c, -1);
    bool is = rc == GW_OK && plan_counters_join(c, all);
    free(all);
    return is;
}
