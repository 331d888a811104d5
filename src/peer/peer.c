/* peer.c -- lanes and their wires; the table of peers.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "peer/peer.h"

#include <stdlib.h>

#include "net/network.h"
#include "wire_ofi/ofi.h"
#include "wire_shm/shm.h"
#include "wire_tcp/tcp.h"

struct gw_lane gw_lanes[GW_MAX_LANES];
int gw_nlanes;
_Atomic int gw_nlanes_used;
bool gw_lanes_spread;
const struct wire_ops *peer_wire = &shm_ops;
const struct wire_ops *peer_net = &ofi_ops;
static bool by_net_alone; /* GODWIT_WIRES without shm */

/* ---- the wires between nodes, by their words in GODWIT_WIRES: the first one that is listed, and that nothing speaks against ---- */
static const struct net_row {
    const char *word;
    const struct wire_ops *ops;
    const char *(*against)(void); /* why not, on this host and with these settings; NULL: nothing */
} nets[] = {
    {"tcp", &tcp_ops, network_wants_libfabric},
    {"ofi", &ofi_ops, NULL},
};

static bool may_net(void)
{
    bool may = false;
    for (size_t i = 0; i < GW_ARRAY_LEN(nets); i++) may = may || gw_set_lists(gw_set.wires, nets[i].word);
    return peer_net && may;
}

/* A test's stays. */
static void net_choose(void)
{
    const struct net_row *chosen = NULL;
    const char *why = NULL;
    bool is_ours = false;
    for (size_t i = 0; i < GW_ARRAY_LEN(nets); i++) {
        bool is_better = !chosen || (chosen->against && (why = chosen->against()) != NULL);
        is_ours = is_ours || peer_net == nets[i].ops;
        if (is_better && gw_set_lists(gw_set.wires, nets[i].word)) chosen = &nets[i];
    }
    if (!is_ours || !chosen) return;
    peer_net = chosen->ops;
    if (gw_boot.nnodes > 1 || by_net_alone)
        GW_EXPLAIN(GW_LOG_WIRE, "between nodes: %s of GODWIT_WIRES=%s%s%s", chosen->word, gw_set.wires, why ? ", because of " : "",
                   why ? why : "");
}

/* Is a network wire needed? */
static bool wants_net(void) { return may_net() && (gw_boot.nnodes > 1 || by_net_alone); }

static int net_open(struct gw_lane *lane)
{
    int rc = peer_net->open(lane->index, lane->net_recv, lane->net_ctx, &lane->net);
    int fd = rc == GW_OK && peer_net->wait_fd ? peer_net->wait_fd(lane->net) : -1;
    return fd >= 0 ? node_wait_on(fd) : rc;
}

/* An endpoint costs memory, a socket and a key.  Lanes get theirs with the first communicator, but where threads will use them soon, or
 * where keys are exchanged once, at the start. */
static bool net_is_early(int index) { return wants_net() && (index == 0 || gw_lanes_spread || !boot_is_direct()); }

static int lane_open(struct gw_lane *lane, int index, wire_recv_fn recv, wire_recv_fn net_recv, void *ctx)
{
    lane->index = index;
    lane->peers = calloc((size_t)node_numbers_max(), sizeof *lane->peers); /* what is not used costs no memory */
    if (!lane->peers) return gw_fail(GW_ENOMEM, "no memory for a table of %d peers", gw_boot.size);
    lane->net_recv = net_recv;
    lane->net_ctx = ctx;
    int rc = peer_wire->open(index, recv, ctx, &lane->wire);
    lane->rings = rc == GW_OK && peer_wire->rings ? peer_wire->rings(lane->wire) : NULL;
    return rc == GW_OK && net_is_early(index) ? net_open(lane) : rc;
}

int peer_lane_open(struct gw_lane *lane)
{
    if (likely(!gw_lanes[0].net)) return GW_OK;
    gw_lock(&lane->lock);
    bool is_new = !lane->net;
    int rc = is_new ? net_open(lane) : GW_OK;
    gw_unlock(&lane->lock);
    return rc == GW_OK && is_new && peer_net->opened ? peer_net->opened() : rc;
}

void peer_lanes_choose(void)
{
    gw_nlanes = gw_set.lanes > 0 ? (int)gw_set.lanes : WIRE_LANES_AUTO;
    gw_nlanes_used = 1;
    gw_lanes_spread = gw_set.lanes > 0 || gw_threads;
}

int peer_init(wire_recv_fn recv, wire_recv_fn net_recv, void *ctx)
{
    by_net_alone = peer_net && !gw_set_lists(gw_set.wires, "shm");
    net_choose();
    if (peer_net && gw_boot.nnodes > 1 && !may_net())
        return gw_fail(
            GW_EARG,
            "the ranks of this job are on %d nodes, and GODWIT_WIRES=%s allows no network between them: add ofi or tcp, or leave "
            "it unset",
            gw_boot.nnodes, gw_set.wires);
    for (int i = 0; i < gw_nlanes; i++) {
        int rc = lane_open(&gw_lanes[i], i, recv, net_recv, ctx);
        if (rc != GW_OK) return rc;
    }
    return gw_lanes[0].net && peer_net->opened ? peer_net->opened() : GW_OK;
}

uint64_t peer_area_bytes(int nlocal, int nlanes) { return shm_area_bytes(nlocal, nlanes); }

void peer_finalize(void)
{
    node_others_close(shm_forget);
    for (int i = 0; i < gw_nlanes; i++) {
        if (gw_lanes[i].net) peer_net->close(gw_lanes[i].net);
        if (gw_lanes[i].wire) peer_wire->close(gw_lanes[i].wire);
        free(gw_lanes[i].peers);
        gw_lanes[i].wire = gw_lanes[i].net = NULL;
        gw_lanes[i].rings = NULL;
        gw_lanes[i].peers = NULL;
    }
    gw_nlanes = 0;
}

/* Numbers from size on are ranks of other worlds. */
static bool is_by_net(int number)
{
    if (unlikely(number >= gw_boot.size)) return node_is_far(number);
    return number >= 0 && (by_net_alone || (gw_boot.nnodes > 1 && boot_local_rank(number) < 0));
}

bool peer_is_far(const struct gw_lane *lane, int number) { return lane->net && is_by_net(number); }

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
    bool is_far = is_by_net(number);
    if (is_far && !lane->net) return gw_fail(GW_EINTERN, "lane %d has no way to rank %d on another node", lane->index, number);
    const struct wire_ops *ops = is_far ? peer_net : peer_wire;
    struct wire_ep *ep = NULL;
    rc = ops->connect(is_far ? lane->net : lane->wire, number, &ep);
    if (rc != GW_OK) return rc;
    p->ops = ops;
    p->ep = ep;
    if (is_far) gw_counted(&gw_count.connections, 1);
    peer_assert_state(lane);
    return GW_OK;
}

void peer_caps(const struct gw_lane *lane, const struct gw_peer *p, struct wire_caps *caps_out)
{
    if (p && peer_is_far(lane, (int)(p - lane->peers))) {
        peer_net->caps(lane->net, caps_out);
        return;
    }
    peer_wire->caps(gw_lanes[0].wire, caps_out);
    if (!p || !p->ep) return;
    caps_out->pack_max = p->ep->pack_max;
    caps_out->node = p->ep->node;
}

/* ---- other worlds ---- */
static _Atomic int numbers;

int peer_numbers(void) { return (int)gw_max64(gw_boot.size, atomic_load_explicit(&numbers, memory_order_relaxed)); }

int peer_meet(const struct boot_home *home, struct node_other **other_out)
{
    struct node_other *o;
    int rc = node_other_join(home, &o);
    if (rc != GW_OK) return rc;
    gw_lock(&gw_lanes[0].lock);
    rc = shm_meet(o);
    if (o->first + o->n > peer_numbers()) atomic_store_explicit(&numbers, o->first + o->n, memory_order_relaxed);
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
    if (o->first + o->n > peer_numbers()) atomic_store_explicit(&numbers, o->first + o->n, memory_order_relaxed);
    gw_unlock(&gw_lanes[0].lock);
    *other_out = o;
    return GW_OK;
}

int peer_invite(char at_out[PEER_AT])
{
    if (!may_net() || !peer_net->invite)
        return gw_fail(
            GW_EUNSUPPORTED,
            "processes on other hosts are reached by the network, and GODWIT_WIRES=%s allows none: add ofi or tcp, or leave it unset",
            gw_set.wires);
    if (gw_set.match_mode != GW_SET_MATCH_MODE_SOFTWARE)
        return gw_fail(GW_EUNSUPPORTED,
                       "jobs on several hosts connect where messages are matched by software alone: leave GODWIT_MATCH_MODE unset");
    int rc = peer_net->invite(at_out, PEER_AT);
    gw_lock(&gw_lanes[0].lock);
    if (rc == GW_OK && !gw_lanes[0].net) rc = net_open(&gw_lanes[0]);
    gw_unlock(&gw_lanes[0].lock);
    /* Communicators of other lanes that are there already have nobody far; those to come open theirs (peer_lane_open). */
    return rc;
}

int peer_address(struct sockaddr_storage *out)
{
    if (may_net() && peer_net->address) return peer_net->address(out);
    return gw_fail(GW_EUNSUPPORTED, "GODWIT_WIRES=%s allows no network", gw_set.wires);
}

static void forget(struct node_other *o)
{
    for (int i = 0; i < gw_nlanes && !o->base; i++)
        for (int k = 0; k < o->n && gw_lanes[i].net && peer_net->forget; k++) peer_net->forget(gw_lanes[i].net, o->first + k);
    for (int i = 0; i < gw_nlanes; i++)
        for (int k = 0; k < o->n; k++) {
            gw_lanes[i].gone_sent += peer_get(&gw_lanes[i], o->first + k)->sent;
            gw_lanes[i].gone_sent_bytes += peer_get(&gw_lanes[i], o->first + k)->sent_bytes;
        }
    for (int i = 0; i < gw_nlanes; i++) memset(peer_get(&gw_lanes[i], o->first), 0, sizeof(struct gw_peer) * (size_t)o->n);
    shm_forget(o);
}

void peer_sweep(void)
{
    for (int i = 0; i < gw_nlanes; i++) gw_lock(&gw_lanes[i].lock);
    node_other_sweep(forget);
    for (int i = gw_nlanes - 1; i >= 0; i--) gw_unlock(&gw_lanes[i].lock);
}

/* A look at the network costs a system call.  Messages on the node make looks there seldom, those over the network make them frequent.
 * Before this process sleeps, the wire makes sure that it will be woken; what it finds then counts as something that happened. */
static int net_progress(struct gw_lane *lane, bool near_is_busy)
{
    enum { MOST_REST = 16 };
    struct lane_rest *rest = &lane->rest;
    lane->net_rounds++;
    bool is_armed = atomic_load_explicit(&gw_node.armed, memory_order_relaxed);
    if (near_is_busy && rest->every < MOST_REST) rest->every = rest->every ? 2 * rest->every : 1;
    if (rest->left > 0 && !is_armed) {
        rest->left--;
        return 0;
    }
    if (unlikely(lane->net_busy)) return 0; /* called by what a message set off: those behind it must not overtake it */
    lane->net_busy = true;
    int n = peer_net->progress(lane->net);
    lane->net_busy = false;
    if (n > 0) rest->every = 0;
    rest->left = rest->every;
    if (n == 0 && peer_net->arm && is_armed) n = peer_net->arm(lane->net) == GW_AGAIN;
    return n;
}

void peer_net_look(struct gw_lane *lane) { net_progress(lane, false); }

void peer_leave(bool is_leaving)
{
    for (int i = 0; i < gw_nlanes; i++) {
        gw_lock(&gw_lanes[i].lock);
        if (gw_lanes[i].net && peer_net->leave) peer_net->leave(gw_lanes[i].net, is_leaving);
        gw_unlock(&gw_lanes[i].lock);
    }
}

int peer_progress(struct gw_lane *lane)
{
    int n = likely(peer_wire == &shm_ops) ? shm_progress(lane->wire) : peer_wire->progress(lane->wire);
    return likely(!lane->net) ? n : n + net_progress(lane, n > 0);
}
