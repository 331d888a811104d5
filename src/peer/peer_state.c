/* peer_state.c -- are the peers of a lane in the states that peer.h has?  For tests, and for a debugger's call.
 *
 *   not connected   no endpoint, no wire
 *   connected       an endpoint of the wire by which this peer is reached: a network's for ranks on other nodes, else the node's
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "peer/peer.h"

enum { MOST = 128 }; /* peers that are looked at: a page, so that the check does not bring a table of a million into memory */

const char *peer_broken(struct gw_lane *lane)
{
    if (!lane->wires[0].wire || !lane->peers) return "a lane has a wire and a table of peers";
    for (const struct lane_wire *w = lane->wires; w < lane->wires + lane->n_wires; w++)
        if (w->rest.left > w->rest.every) return "rounds without a look at the network are at most so many as were chosen";
    for (int i = 0; i < peer_numbers() && i < MOST; i++) {
        const struct gw_peer *p = &lane->peers[i];
        if (!p->ep != !p->by) return "a peer has an endpoint and its wire, or neither";
        if (p->ep && p->by != peer_route(lane, i)) return "a peer is on the wire that reaches it";
    }
    return NULL;
}
