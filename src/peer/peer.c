/* peer.c -- lanes and their wires; the table of peers.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "peer/peer_private.h"

#include <stdlib.h>

#include "base/count.h"
#include "base/settings.h"
#include "boot/boot.h"
#include "boot/kvs.h"

struct gw_lane gw_lanes[GW_MAX_LANES];
int gw_nlanes;
_Atomic int gw_nlanes_used;
bool gw_lanes_spread;
static struct peer_state {
    struct peer_upcalls up;
    bool by_net_alone;   /* GODWIT_WIRES without shm */
    _Atomic int numbers; /* upper bound of the numbers of other worlds' ranks; 0: no other world was met */
} peer_state;

/* Is a network wire needed? */
static bool wants_net(void) { return peer_may_net() && (gw_boot.nnodes > 1 || peer_state.by_net_alone); }

static int net_open(struct gw_lane *lane, struct lane_wire *w)
{
    assert(w->is_net && !w->wire);
    int rc = w->ops->open(lane->index, peer_state.up.net_arrived, NULL, &w->wire);
    lane->n_nets += rc == GW_OK;
    int fd = rc == GW_OK && w->ops->sleep.wait_fd ? w->ops->sleep.wait_fd(w->wire) : -1;
    return fd >= 0 ? node_wait_on(fd) : rc;
}

/* Opens the networks of a lane that are not open. */
static int nets_open(struct gw_lane *lane)
{
    int rc = GW_OK;
    for (int i = 1; i < lane->n_wires && rc == GW_OK; i++)
        if (!lane->wires[i].wire) rc = net_open(lane, &lane->wires[i]);
    return rc;
}

/* wire_ops.world.opened() of all networks of a lane. */
static int nets_opened(struct gw_lane *lane)
{
    int rc = GW_OK;
    for (struct lane_wire *w = NULL; rc == GW_OK && (w = peer_next_net(lane, w));)
        if (w->ops->world.opened) rc = w->ops->world.opened();
    return rc;
}

/* Is the network of a lane opened at init?  An open network costs memory, a socket and a key, so a lane opens it with its first communicator,
 * unless threads will use the lane soon, or addresses can be exchanged only once, at the start. */
static bool net_is_early(int index) { return wants_net() && (index == 0 || gw_lanes_spread || !boot_is_direct()); }

static int lane_open(struct gw_lane *lane, int index)
{
    lane->index = index;
    lane->peers = calloc((size_t)node_numbers_max(), sizeof *lane->peers); /* what is not used costs no memory */
    if (!lane->peers) return gw_fail(GW_ENOMEM, "no memory for a table of %d peers", gw_boot.size);
    lane->n_nets = 0;
    for (lane->n_wires = 0; lane->n_wires < PEER_WIRES && peer_wires[lane->n_wires]; lane->n_wires++)
        lane->wires[lane->n_wires] =
            (struct lane_wire){.ops = peer_wires[lane->n_wires], .index = lane->n_wires, .is_net = lane->n_wires > 0};
    struct lane_wire *node = &lane->wires[0];
    int rc = node->ops->open(index, peer_state.up.arrived, NULL, &node->wire);
    lane->rings = rc == GW_OK && node->ops->rings ? node->ops->rings(node->wire) : NULL;
    return rc == GW_OK && net_is_early(index) ? nets_open(lane) : rc;
}

int peer_lane_open(struct gw_lane *lane)
{
    if (likely(!gw_lanes[0].n_nets)) return GW_OK;
    gw_lock(&lane->lock);
    bool is_new = !lane->n_nets;
    int rc = is_new ? nets_open(lane) : GW_OK;
    gw_unlock(&lane->lock);
    return rc == GW_OK && is_new ? nets_opened(lane) : rc;
}

void peer_lanes_choose(void)
{
    gw_nlanes = gw_set.lanes > 0 ? (int)gw_set.lanes : WIRE_LANES_AUTO;
    gw_nlanes_used = 1;
    gw_lanes_spread = gw_set.lanes > 0 || gw_threads;
}

int peer_init(const struct peer_upcalls *upcalls)
{
    peer_state.up = *upcalls;
    peer_state.by_net_alone = peer_wires[1] && !gw_set_lists(gw_set.wires, "shm");
    peer_choose_net(gw_boot.nnodes > 1 || peer_state.by_net_alone);
    if (peer_wires[1] && gw_boot.nnodes > 1 && !peer_may_net())
        return gw_fail(
            GW_EARG,
            "the ranks of this job are on %d nodes, and GODWIT_WIRES=%s allows no network between them: add ofi or tcp, or leave "
            "it unset",
            gw_boot.nnodes, gw_set.wires);
    if (gw_settings_refused())
        return gw_fail(GW_EARG, "%s; nothing starts, since it would without that protection", gw_settings_refused());
    if (wants_net() && peer_check_protection() != GW_OK) return GW_EUNSUPPORTED;
    for (int i = 0; i < gw_nlanes; i++) {
        int rc = lane_open(&gw_lanes[i], i);
        if (rc != GW_OK) return rc;
    }
    peer_tell_unused(&gw_lanes[0]);
    return nets_opened(&gw_lanes[0]);
}

uint64_t peer_area_bytes(int nlocal)
{
    const struct wire_ops *node = peer_wires[0];
    return node->world.area_bytes ? node->world.area_bytes(nlocal) : 0;
}

/* wire_ops.world.meet() and part() of the node's wire. */
static int near_meet(struct node_other *o) { return peer_wires[0]->world.meet ? peer_wires[0]->world.meet(o) : GW_OK; }
static void near_part(struct node_other *o)
{
    if (peer_wires[0]->world.part) peer_wires[0]->world.part(o);
}

void peer_finalize(void)
{
    node_others_close(near_part);
    for (int i = 0; i < gw_nlanes; i++) {
        for (int k = gw_lanes[i].n_wires; k-- > 0;)
            if (gw_lanes[i].wires[k].wire) gw_lanes[i].wires[k].ops->close(gw_lanes[i].wires[k].wire);
        free(gw_lanes[i].peers);
        gw_lanes[i].n_wires = gw_lanes[i].n_nets = 0;
        memset(gw_lanes[i].wires, 0, sizeof gw_lanes[i].wires);
        gw_lanes[i].rings = NULL;
        gw_lanes[i].peers = NULL;
    }
    gw_nlanes = 0;
}

/* Is a process reached by a network?  Numbers from gw_boot.size on are of ranks of other worlds. */
static bool is_by_net(int number)
{
    if (unlikely(number >= gw_boot.size)) return node_is_far(number);
    return number >= 0 && (peer_state.by_net_alone || (gw_boot.nnodes > 1 && boot_local_rank(number) < 0));
}

bool peer_is_far(const struct gw_lane *lane, int number) { return lane->n_nets && is_by_net(number); }

struct lane_wire *peer_route(struct gw_lane *lane, int number)
{
    if (!is_by_net(number)) return &lane->wires[0];
    struct lane_wire *w = NULL;
    while ((w = peer_next_net(lane, w)) && w->ops->world.reaches && !w->ops->world.reaches(w->wire, number)) continue;
    return w;
}

bool peer_may_say(const struct gw_lane *lane, int64_t number, bool is_far)
{
    if (number < 0 || number >= node_numbers_max()) return false;
    if (number >= gw_boot.size) return is_far ? node_far_at((int)number) != NULL : node_is_near((int)number);
    return is_far ? peer_is_far(lane, (int)number) : !is_by_net((int)number);
}

int peer_connect(struct gw_lane *lane, struct gw_peer *p)
{
    if (p->ep) return GW_OK;
    int number = (int)(p - lane->peers), rc;
    struct lane_wire *w = peer_route(lane, number);
    if (!w) return gw_fail(GW_EINTERN, "lane %d has no way to rank %d on another node", lane->index, number);
    struct wire_ep *ep = NULL;
    rc = w->ops->connect(w->wire, number, &ep);
    if (rc != GW_OK) return rc;
    assert(ep && !p->by);
    p->by = w;
    p->ep = ep;
    if (w->is_net) gw_counted(&gw_count.connections, 1);
    if (peer_state.up.connected) peer_state.up.connected(lane, p);
    peer_assert_state(lane);
    return GW_OK;
}

void peer_caps(struct gw_lane *lane, const struct gw_peer *p, struct wire_caps *caps_out)
{
    const struct lane_wire *w = p ? peer_route(lane, (int)(p - lane->peers)) : &lane->wires[0];
    if (!w || !w->wire) w = &gw_lanes[0].wires[0];
    w->ops->caps(w->wire, caps_out);
    if (!p || !p->ep) return;
    caps_out->pack_max = p->ep->pack_max;
    caps_out->node = p->ep->node;
}

/* ---- other worlds ---- */
int peer_numbers(void) { return (int)gw_max64(gw_boot.size, atomic_load_explicit(&peer_state.numbers, memory_order_relaxed)); }

int peer_meet(const struct boot_home *home, struct node_other **other_out)
{
    struct node_other *o;
    int rc = node_other_join(home, &o);
    if (rc != GW_OK) return rc;
    assert(o->first >= gw_boot.size && o->first + o->n <= node_numbers_max());
    gw_lock(&gw_lanes[0].lock);
    rc = near_meet(o);
    if (o->first + o->n > peer_numbers()) atomic_store_explicit(&peer_state.numbers, o->first + o->n, memory_order_relaxed);
    gw_unlock(&gw_lanes[0].lock);
    if (rc == GW_OK)
        *other_out = o;
    else
        node_other_drop(o);
    return rc;
}

int peer_meet_far(uint64_t uid, int size, struct node_other **other_out)
{
    struct node_other *o;
    int rc = node_far_join(uid, size, &o);
    if (rc != GW_OK) return rc;
    gw_lock(&gw_lanes[0].lock);
    if (o->first + o->n > peer_numbers()) atomic_store_explicit(&peer_state.numbers, o->first + o->n, memory_order_relaxed);
    gw_unlock(&gw_lanes[0].lock);
    *other_out = o;
    return GW_OK;
}

int peer_may_invite(void)
{
    const char *protection = peer_protection();
    if (!protection) return GW_OK;
    return gw_fail(GW_EUNSUPPORTED,
                   "jobs on several hosts do not connect with %s: what they first tell each other is not protected by it",
                   protection);
}

int peer_invite(char at_out[PEER_AT])
{
    const struct wire_ops *net = peer_wires[1]; /* other jobs are invited to the first network */
    if (!peer_may_net() || !net->world.invite)
        return gw_fail(
            GW_EUNSUPPORTED,
            "processes on other hosts are reached by the network, and GODWIT_WIRES=%s allows none: add ofi or tcp, or leave it unset",
            gw_set.wires);
    if (peer_may_invite() != GW_OK) return GW_EUNSUPPORTED;
    if (gw_set.match_mode != GW_SET_MATCH_MODE_SOFTWARE)
        return gw_fail(GW_EUNSUPPORTED,
                       "jobs on several hosts connect where messages are matched by software alone: leave %s unset",
                       gw_setting_said("GODWIT_MATCH_MODE"));
    int rc = net->world.invite(at_out, PEER_AT);
    gw_lock(&gw_lanes[0].lock);
    if (rc == GW_OK && !gw_lanes[0].n_nets) rc = nets_open(&gw_lanes[0]);
    gw_unlock(&gw_lanes[0].lock);
    /* Only lane 0: communicators that exist on other lanes have no far members, and new ones open their lane (peer_lane_open). */
    return rc;
}

int peer_address(struct sockaddr_storage *out)
{
    if (peer_may_net() && peer_wires[1]->world.address) return peer_wires[1]->world.address(out);
    return gw_fail(GW_EUNSUPPORTED, "GODWIT_WIRES=%s allows no network", gw_set.wires);
}

/* What was sent to a peer stays counted when it is forgotten. */
static void keep_counts(struct gw_lane *lane, const struct gw_peer *p)
{
    if (!p->ep) return;
    lane->gone_sent += p->ep->sent;
    lane->gone_sent_bytes += p->ep->sent_bytes;
    p->ep->sent = p->ep->sent_bytes = 0;
}

static void forget(struct node_other *o)
{
    assert(o->first >= gw_boot.size && o->first + o->n <= peer_numbers());
    for (int i = 0; i < gw_nlanes; i++)
        for (int k = 0; k < o->n; k++) keep_counts(&gw_lanes[i], peer_get(&gw_lanes[i], o->first + k));
    for (int i = 0; i < gw_nlanes && !o->base; i++)
        for (struct lane_wire *w = NULL; (w = peer_next_net(&gw_lanes[i], w));)
            for (int k = 0; k < o->n && w->ops->world.forget; k++) w->ops->world.forget(w->wire, o->first + k);
    for (int i = 0; i < gw_nlanes; i++) memset(peer_get(&gw_lanes[i], o->first), 0, sizeof(struct gw_peer) * (size_t)o->n);
    near_part(o);
}

void peer_sweep(void)
{
    for (int i = 0; i < gw_nlanes; i++) gw_lock(&gw_lanes[i].lock);
    node_other_sweep(forget);
    for (int i = gw_nlanes - 1; i >= 0; i--) gw_unlock(&gw_lanes[i].lock);
}

/* Polls a network.  That costs a system call, so it is done less often while messages arrive on the node, and more often after one arrived by
 * the network.  Before this process sleeps, the wire arms its wake-up; what it finds then counts as an event. */
static int net_progress(struct lane_wire *w, bool near_is_busy)
{
    enum { MOST_REST = 16 };
    struct lane_rest *rest = &w->rest;
    w->rounds++;
    bool is_armed = atomic_load_explicit(&gw_node.armed, memory_order_relaxed);
    if (near_is_busy && rest->every < MOST_REST) rest->every = rest->every ? 2 * rest->every : 1;
    if (rest->left > 0 && !is_armed) {
        rest->left--;
        return 0;
    }
    if (unlikely(w->is_busy)) return 0; /* called from a receive handler: messages must not overtake the one being handled */
    assert(w->is_net && w->wire);
    w->is_busy = true;
    int n = w->ops->progress(w->wire);
    w->is_busy = false;
    if (n > 0) rest->every = 0;
    rest->left = rest->every;
    if (n == 0 && w->ops->sleep.arm && is_armed) n = w->ops->sleep.arm(w->wire) == GW_AGAIN;
    return n;
}

void peer_net_look(struct lane_wire *w) { net_progress(w, false); }

void peer_leave(bool is_leaving)
{
    for (int i = 0; i < gw_nlanes; i++) {
        gw_lock(&gw_lanes[i].lock);
        for (struct lane_wire *w = NULL; (w = peer_next_net(&gw_lanes[i], w));)
            if (w->ops->world.leave) w->ops->world.leave(w->wire, is_leaving);
        gw_unlock(&gw_lanes[i].lock);
    }
}

int peer_progress(struct gw_lane *lane)
{
    struct lane_wire *node = &lane->wires[0];
    int n = node->ops->progress(node->wire), found = 0;
    if (likely(!lane->n_nets)) return n;
    for (struct lane_wire *w = NULL; (w = peer_next_net(lane, w));) found += net_progress(w, n > 0);
    return n + found;
}
