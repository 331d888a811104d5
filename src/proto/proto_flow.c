/* proto_flow.c -- flow control: a receiver with too many unexpected bytes is xoff, and its senders send RTS in place of data.
 *
 * Senders on the node read the flag in the receiver's door.  A sender on another node is sent PROTO_FLOW when it sends data to a receiver
 * that is xoff, once, and again when there is room; it keeps the flag in its endpoint (wire_ep.xoff_here).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "proto/proto_private.h"
#include "base/os.h"
#include "base/settings.h"
#include "boot/world.h"

enum { BITS = 64, ROOM_FIRST = 1 << 20, ROOM_LEAST = 4 << 20 };
static const int64_t ROOM_MOST = (int64_t)16 << 30; /* an arena has addresses for four times that */

/* Three tenths of the available memory are for the unexpected messages of all ranks of this host, and as much for the copies that they keep
 * as senders.  Reading the available memory takes system calls, so this is called only when the first megabyte is used. */
int64_t proto_unexpected_room(const char **limit_out)
{
    int64_t ranks = boot_is_on_one_host() ? gw_boot.size : gw_boot.nlocal, lanes = gw_max64(lanes_used(), 1);
    return gw_min64(gw_max64(gw_memory_available(limit_out) / 10 * 3 / ranks / lanes, ROOM_LEAST), ROOM_MOST);
}

GW_COLD void proto_flow_room(struct proto_lane *pl)
{
    const char *limit;
    if (pl->is_room_known) return;
    pl->room = proto_unexpected_room(&limit);
    pl->is_room_known = true;
    GW_EXPLAIN(GW_LOG_PROTO, "room for %lld bytes of unexpected messages, and for as many that others have no room for (%s)",
               (long long)pl->room, limit);
}

void proto_flow_init(struct proto_lane *pl)
{
    pl->is_room_known = gw_set.unexpected_max >= 0;
    pl->room = pl->is_room_known ? gw_set.unexpected_max : ROOM_FIRST;
}

static void tell(struct proto_lane *pl, int world, bool is_xoff)
{
    struct gw_peer *p = peer_get(pl->lane, world);
    if (!peer_is_ready(p) && peer_connect(pl->lane, p) != GW_OK) return; /* one less asks first */
    proto_ctl_send(pl, p, PROTO_FLOW, (struct proto_ctl){(uint64_t)p->ep->as, is_xoff}, NULL, 0);
}

static void tell_all_again(struct proto_lane *pl)
{
    for (int i = 0; pl->told && i < node_numbers_max(); i += BITS)
        for (uint64_t *word = &pl->told[i / BITS]; *word; *word &= *word - 1) tell(pl, i + __builtin_ctzll(*word), false);
}

/* xoff ends when half of the room is free again, so that it does not flicker. */
GW_COLD void proto_flow_set(struct proto_lane *pl, bool on)
{
    if (on) proto_flow_room(pl);
    if (on && pl->unexpected_bytes <= pl->room) return;
    pl->has_xoff = on;
    atomic_fetch_add_explicit(&gw_node.doors[gw_node.me].xoff, on ? 1u : -1u, memory_order_relaxed);
    if (!on) tell_all_again(pl);
}

GW_COLD void proto_flow_notify(struct proto_lane *pl, int world)
{
    if (!peer_is_far(pl->lane, world)) return;
    if (!pl->told) pl->told = calloc((size_t)node_numbers_max() / BITS + 1, sizeof *pl->told);
    if (!pl->told) return; /* one less asks first */
    uint64_t bit = 1ull << world % BITS, *word = &pl->told[world / BITS];
    if (*word & bit) return;
    *word |= bit;
    tell(pl, world, true);
}

void proto_flow_arrived(struct proto_lane *pl, const struct proto_ctl *c)
{
    struct gw_peer *p = peer_get(pl->lane, (int)c->to);
    if (p->ep) atomic_store_explicit(&p->ep->xoff_here, c->value != 0, memory_order_relaxed);
}
