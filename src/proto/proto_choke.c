/* proto_choke.c -- a receiver that keeps too many unexpected bytes tells its senders to ask first.
 *
 * On the node they see a flag in our door.  Elsewhere whoever sends too much meanwhile is told by a message, once, and told again when
 * there is room; his flag is in the door that his end of the wire has for us.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "proto/proto_private.h"

enum { BITS = 64 };

static void tell(struct proto_lane *pl, int world, bool is_choked)
{
    ctl_send(pl, peer_get(pl->lane, world), PROTO_CHOKE, (struct proto_ctl){(uint64_t)gw_boot.rank, is_choked}, NULL, 0);
}

static void tell_all_again(struct proto_lane *pl)
{
    for (int i = 0; pl->told && i < gw_boot.size; i += BITS)
        for (uint64_t *word = &pl->told[i / BITS]; *word; *word &= *word - 1) tell(pl, i + __builtin_ctzll(*word), false);
}

/* The flag goes down at half, so that it does not flicker. */
GW_COLD void lane_choke(struct proto_lane *pl, bool on)
{
    pl->has_choked = on;
    atomic_fetch_add_explicit(&gw_node.doors[gw_node.me].choked, on ? 1u : -1u, memory_order_relaxed);
    if (!on) tell_all_again(pl);
}

GW_COLD void choke_sender(struct proto_lane *pl, int world)
{
    if (!peer_is_far(pl->lane, world)) return;
    if (!pl->told) pl->told = calloc((size_t)gw_boot.size / BITS + 1, sizeof *pl->told);
    if (!pl->told) return; /* one less asks first */
    uint64_t bit = 1ull << world % BITS, *word = &pl->told[world / BITS];
    if (*word & bit) return;
    *word |= bit;
    tell(pl, world, true);
}

void choke_arrived(struct proto_lane *pl, const struct proto_ctl *c)
{
    struct gw_peer *p = peer_get(pl->lane, (int)c->to);
    if (p->ep) atomic_store_explicit(&p->ep->door->choked, c->value != 0, memory_order_relaxed);
}
