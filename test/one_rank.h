/* one_rank.h -- for tests: one rank with all rooms up to coll, on the node's real wire, which it sends to itself by.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_ONE_RANK_H
#define GW_TEST_ONE_RANK_H

#include <stdlib.h>

#include "base/base.h"
#include "boot/boot.h"
#include "coll/coll.h"
#include "p2p/p2p.h"
#include "proto/proto.h"

static void must(int rc)
{
    if (rc != GW_OK) gw_die("the test's rooms: %s", gw_fail_text());
}

/* The rooms above boot, once a process. */
static inline void rooms_above_boot(void)
{
    gw_info_init();
    must(type_init());
    must(op_init());
    peer_lanes_choose();
    must(node_init(peer_area_bytes(gw_boot.nlocal), gw_nlanes, true, 4 << 20));
    req_init();
    must(proto_init());
    must(proto_connect());
    must(comm_init());
    must(p2p_init());
    must(coll_init());
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
static inline void rooms_down(void)
{
    p2p_finalize();
    comm_finalize();
    peer_finalize();
    req_finalize();
    proto_finalize();
    op_finalize();
    type_finalize();
    gw_info_finalize();
    node_finalize();
}

static inline void look(int rounds)
{
    while (rounds-- > 0) req_progress();
}

#endif
