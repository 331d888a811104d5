/* one_rank.h -- for tests: one rank with all rooms up to coll, on the node's real wire, which it sends to itself by.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_ONE_RANK_H
#define GW_TEST_ONE_RANK_H

#include <stdlib.h>

#include "base/base.h"
#include "base/settings.h"
#include "boot/boot.h"
#include "coll/coll.h"
#include "life/life.h"
#include "p2p/p2p.h"
#include "proto/proto.h"

static void must(int rc)
{
    if (rc != GW_OK) gw_die("the test's rooms: %s", gw_fail_text());
}

/* The rooms above boot, once a process. */
static inline void rooms_above_boot(void)
{
    gw_set.heap = 4 << 20;
    gw_lanes_spread = true;
    life_rooms_up(true);
}

/* Once a process. */
static inline void rooms_up(void)
{
    setenv("GODWIT_SINGLETON", "1", 1);
    setenv("GODWIT_LANES", "1", 1);
    must(boot_init());
    rooms_above_boot();
}

/* With boot left as it is. */
static inline void rooms_down(void) { life_rooms_down(); }

static inline void look(int rounds)
{
    while (rounds-- > 0) req_progress();
}

#endif
