/* loop_rooms.h -- for tests: the rooms up to this one over the wires of wire_sim/loop.h, in one process.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_LOOP_ROOMS_H
#define GW_TEST_LOOP_ROOMS_H

#include <stdlib.h>

#include "base/base.h"
#include "boot/boot.h"
#include "proto/proto_private.h"
#include "wire_sim/loop.h"

enum { LOOP_CTX = 8 * (PROTO_STREAM_MASK + 1) };
static struct gw_lane *const lane = &gw_lanes[0];

static void must(int rc)
{
    if (rc != GW_OK) gw_die("the test's rooms: %s", gw_fail_text());
}

/* Once a process. */
static void rooms_boot(void)
{
    static const int local[2] = {0, LOOP_NEAR};
    setenv("GODWIT_SINGLETON", "1", 1);
    setenv("GODWIT_LANES", "1", 1);
    must(boot_init());
    must(type_init());
    must(node_init(4096, 1, true, 65536));
    peer_wires[0] = &loop_near_ops;
    peer_wires[1] = &loop_far_ops;
    free((void *)(uintptr_t)gw_boot.local_to_world);
    gw_boot.size = LOOP_RANKS;
    gw_boot.nlocal = 2;
    gw_boot.nnodes = 2;
    gw_boot.local_to_world = local;
}

static void lanes_up(const struct loop_ways *ways)
{
    loop_begin(ways);
    peer_lanes_choose();
    must(proto_init());
    must(proto_connect());
}

static inline void rooms_up(const struct loop_ways *ways)
{
    req_init();
    lanes_up(ways);
}

/* Whatever is under way, there is nothing left of it but its requests. */
static void lanes_down(void)
{
    struct proto_lane *pl = lane_of(lane);
    for (struct match_msg *m; (m = match_first_msg(pl->fast.q, UINT32_MAX));) {
        match_remove_msg(pl->fast.q, m);
        struct proto_msg *msg = container_of(m, struct proto_msg, m);
        if (!proto_ahead_leave(pl, msg)) proto_msg_drop(pl, msg);
    }
    loop_end();
    peer_finalize();
    proto_finalize();
}

static inline void rooms_down(void)
{
    lanes_down();
    req_finalize();
}

static inline struct proto_lane *loop_lane(void) { return lane_of(lane); }

static struct proto_addr addr_of(int number, int tag)
{
    return (struct proto_addr){
        .lane = lane, .peer = peer_get(lane, number), .ctx = LOOP_CTX, .my_rank = number, .rank = number, .tag = tag};
}

#endif
