/* proto_select.c -- which of the four protocols carries a message: by size, layout, what the wire can do, and settings.
 *
 * The defaults of the thresholds were measured; see doc/performance.md.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "proto/proto_private.h"
#include "base/lock.h"
#include "base/settings.h"

static int64_t eager_limit(const struct proto_lane *pl)
{
    int64_t wire = (int64_t)pl->limits[0].pack_max - PROTO_SYNC_PREFIX;
    return gw_set.proto == GW_SET_PROTO_E1 ? wire : gw_min64(gw_set.eager_max, wire);
}

static GW_COLD void lane_explain(const struct proto_lane *pl, const struct gw_peer *p, const struct wire_caps *caps)
{
    char direct[192] = "", room[48] = "a share of the memory";
    bool can = caps->get && p->ep && wire_may_read(p->ep);
    /* A peer that has not started yet cannot be asked. */
    bool may = can || (caps->get && (!p->ep || p->ep->can_read == WIRE_READ_UNKNOWN));
    if (may)
        snprintf(direct, sizeof direct,
                 "; from %lld bytes copied by the receiver if quicker, from %lld always%s, the sender helps from %lld",
                 (long long)gw_set.cma_min, (long long)gw_set.cma_sure, can ? "" : " where the kernel allows it",
                 (long long)gw_set.help_min);
    if (gw_set.unexpected_max >= 0) snprintf(room, sizeof room, "%lld bytes", (long long)gw_set.unexpected_max);
    gw_explain(GW_LOG_PROTO, "eager to %lld bytes (inline to %zu), then in pieces through the wire%s; at most %s unexpected",
               (long long)eager_limit(pl), caps->short_max, direct, room);
}

/* The node's wire.  The smallest packet of all peers is everybody's: other worlds may have smaller rings. */
static GW_COLD void near_set_up(struct proto_lane *pl, struct gw_peer *p)
{
    struct wire_caps caps;
    struct proto_limits *l = &pl->limits[0];
    peer_caps(pl->lane, peer_is_far(pl->lane, (int)(p - pl->lane->peers)) ? NULL : p, &caps);
    if (l->pack_max && caps.pack_max >= l->pack_max) return;
    l->inline_max = (int64_t)caps.short_max;
    l->pack_max = caps.pack_max;
    l->fast_mode = PROTO_LATER;
    l->can_get = caps.get;
    l->by_key = caps.keys;
    assert(l->pack_max >= PROTO_CTL_MAX);
    if (gw_set.proto == GW_SET_PROTO_AUTO && !gw_checking) l->fast_max = eager_limit(pl);
    proto_lane_inline_update(pl);
    if (unlikely(gw_log_mask & GW_LOG_PROTO)) lane_explain(pl, p, &caps);
}

void proto_connected(struct gw_lane *lane, struct gw_peer *p)
{
    struct proto_lane *pl = lane_of(lane);
    if (peer_by_net(p) && !limits_of(pl, p)->pack_max) proto_far_set_up(pl, p->by);
    if (!pl->limits[0].pack_max || (!peer_by_net(p) && p->ep->pack_max < pl->limits[0].pack_max)) near_set_up(pl, p);
    if (gw_set.match_mode != GW_SET_MATCH_MODE_SOFTWARE) proto_limits_of_nets(pl); /* receives go there, too */
}

void proto_limits_of_nets(struct proto_lane *pl)
{
    for (struct lane_wire *w = NULL; (w = peer_next_net(pl->lane, w));)
        if (!pl->limits[w->index].pack_max) proto_far_set_up(pl, w);
}

static int64_t most_eager(const struct proto_lane *pl, const struct gw_peer *p)
{
    return peer_by_net(p) ? pl->limits[p->by->index].eager_max : eager_limit(pl);
}

bool proto_lacks_room(const struct proto_lane *pl, const struct gw_peer *p, int64_t len, bool is_xoff)
{
    if (!is_xoff || gw_set.proto == GW_SET_PROTO_R0 || gw_set.proto == GW_SET_PROTO_R1) return false;
    return len <= most_eager(pl, p);
}

enum proto_path proto_select_rndv(struct proto_lane *pl, struct gw_peer *p, int64_t len, bool is_run)
{
    if (peer_by_net(p)) return proto_far_select_rndv(pl, p, len, is_run);
    if (gw_set.proto == GW_SET_PROTO_R1 || !is_run) return PROTO_R1;
    if (gw_set.proto != GW_SET_PROTO_R0 && len < gw_set.cma_min) return PROTO_R1;
    return peer_may_read(pl, p) ? PROTO_R0 : PROTO_R1;
}

enum proto_path proto_select(struct proto_lane *pl, struct gw_peer *p, int64_t len, bool is_run, enum proto_mode mode, bool is_xoff)
{
    int forced = gw_set.proto;
    int64_t prefix = mode == PROTO_SYNC ? PROTO_SYNC_PREFIX : 0;
    if (peer_by_net(p)) return proto_far_select(pl, p, len, is_run, prefix, is_xoff);
    bool may_be_eager = forced != GW_SET_PROTO_R0 && forced != GW_SET_PROTO_R1 && !is_xoff;
    if (may_be_eager && forced != GW_SET_PROTO_E1 && len + prefix <= pl->limits[0].inline_max) return PROTO_E0;
    if (may_be_eager && len <= eager_limit(pl)) return PROTO_E1;
    return proto_select_rndv(pl, p, len, is_run);
}
