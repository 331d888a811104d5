/* peer_test.c -- lanes and peers over two wires of the test's own, that answer and fail as they are told: which wire a peer is on, when it
 * is connected, when the network is opened and looked at, and what follows from errors of the wires.
 *
 * A node of two ranks (0, 1) and another node (2, 3).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "peer/peer.h"
#include "base/count.h"
#include "base/settings.h"
#include "boot/boot.h"

#include <stdlib.h>

#include "../../test/unit_mapped.h"
#include "net/network.h"
#include "wire_ofi/ofi.h"
#include "wire_tcp/tcp.h"

struct wire {
    bool is_far, is_second;
    int lane;
    struct wire_ep eps[4];
};
static struct {
    int opens, opened, connects, closes, progress, arms, caps, leaves;
} seen[2]; /* near, far */
static struct {
    int open, connect, opened, progress, arm;
} say[2];

static int open_it(bool is_far, int lane, struct wire **wire_out)
{
    seen[is_far].opens++;
    if (say[is_far].open != GW_OK) return gw_fail(say[is_far].open, "the test's wire does not open");
    *wire_out = gw_xcalloc(1, sizeof **wire_out);
    (*wire_out)->is_far = is_far;
    (*wire_out)->lane = lane;
    return GW_OK;
}
static int near_open(int lane, wire_recv_fn f, void *ctx, struct wire **w) { return (void)f, (void)ctx, open_it(false, lane, w); }
static int far_open(int lane, wire_recv_fn f, void *ctx, struct wire **w) { return (void)f, (void)ctx, open_it(true, lane, w); }
static int wire_connect(struct wire *w, int rank, struct wire_ep **ep_out)
{
    seen[w->is_far].connects++;
    if (say[w->is_far].connect != GW_OK) return say[w->is_far].connect;
    *ep_out = &w->eps[rank];
    return GW_OK;
}
static struct lane_rest rest_inside;
static int wire_progress(struct wire *w)
{
    seen[w->is_far].progress++;
    if (w->is_far && say[1].progress == 77) { /* a message sets off another look */
        peer_net_look(&gw_lanes[w->lane].wires[1]);
        rest_inside = gw_lanes[w->lane].wires[1].rest;
        return 1;
    }
    return say[w->is_far].progress;
}
static void wire_caps(struct wire *w, struct wire_caps *caps_out)
{
    seen[w->is_far].caps++;
    *caps_out = (struct wire_caps){.pack_max = w->is_far ? 3000 : 2000, .node = !w->is_far};
}
static void wire_close(struct wire *w)
{
    seen[w->is_far].closes++;
    free(w);
}
static int far_opened(void) { return seen[1].opened++, say[1].opened; }
static int far_arm(struct wire *w) { return (void)w, seen[1].arms++, say[1].arm; }
static void far_leave(struct wire *w, bool is_leaving) { (void)w, seen[1].leaves += is_leaving ? 1 : 10; }
static const struct wire_ops near_ops = {.size = sizeof near_ops,
                                         .name = "near",
                                         .open = near_open,
                                         .connect = wire_connect,
                                         .progress = wire_progress,
                                         .caps = wire_caps,
                                         .close = wire_close};
static const struct wire_ops far_ops = {.size = sizeof far_ops,
                                        .name = "far",
                                        .open = far_open,
                                        .connect = wire_connect,
                                        .progress = wire_progress,
                                        .caps = wire_caps,
                                        .close = wire_close,
                                        .sleep = {.arm = far_arm},
                                        .world = {.opened = far_opened, .leave = far_leave}};

/* A second network, for rank 3 alone: the first one does not reach it while there is this one. */
static int second_opens, second_looks;
static bool far_reaches(struct wire *w, int number) { return (void)w, number != 3; }
static int second_open(int lane, wire_recv_fn f, void *ctx, struct wire **w)
{
    (void)f, (void)ctx;
    second_opens++;
    *w = gw_xcalloc(1, sizeof **w);
    (*w)->is_second = true;
    (*w)->lane = lane;
    return GW_OK;
}
static int second_connect(struct wire *w, int rank, struct wire_ep **ep_out) { return *ep_out = &w->eps[rank], GW_OK; }
static int second_progress(struct wire *w) { return (void)w, second_looks++, 1; }
static void second_caps(struct wire *w, struct wire_caps *caps_out) { (void)w, *caps_out = (struct wire_caps){.pack_max = 4000}; }
static void second_close(struct wire *w) { second_opens--, free(w); }
static const struct wire_ops second_ops = {.size = sizeof second_ops,
                                           .name = "second",
                                           .open = second_open,
                                           .connect = second_connect,
                                           .progress = second_progress,
                                           .caps = second_caps,
                                           .close = second_close};

static int told; /* of connected peers */
static void connected(struct gw_lane *lane, struct gw_peer *p)
{
    CHECK(p->ep && p->by == peer_route(lane, (int)(p - lane->peers)));
    told++;
}

static int up(void)
{
    const struct peer_upcalls up = {.connected = connected};
    memset(seen, 0, sizeof seen);
    memset(gw_lanes, 0, sizeof gw_lanes);
    peer_lanes_choose();
    return peer_init(&up);
}
static void down(void)
{
    int nets = 0;
    for (int i = 0; i < gw_nlanes; i++) nets += gw_lanes[i].wires[1].wire != NULL;
    CHECK_STR(peer_broken(&gw_lanes[0]) ? peer_broken(&gw_lanes[0]) : "", "");
    peer_finalize();
    CHECK_EQ(seen[1].closes, nets);
    CHECK(gw_nlanes == 0 && !gw_lanes[0].n_wires && !gw_lanes[0].n_nets && !gw_lanes[0].wires[0].wire && !gw_lanes[0].peers);
}

static void which_wire(void)
{
    struct gw_lane *lane = &gw_lanes[0];
    CHECK_EQ(up(), GW_OK);
    CHECK(seen[0].opens == 2 && seen[1].opens == 2 && seen[1].opened == 1); /* GODWIT_LANES=2 says that all are wanted */
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(peer_is_far(lane, i), i >= 2);
        CHECK_EQ(peer_may_say(lane, i, true), i >= 2);
        CHECK_EQ(peer_may_say(lane, i, false), i < 2);
    }
    const int64_t strangers[] = {-1, 4, INT32_MIN, INT32_MAX, INT64_MAX, (int64_t)1 << 32};
    for (size_t i = 0; i < GW_ARRAY_LEN(strangers); i++)
        CHECK(!peer_may_say(lane, strangers[i], true) && !peer_may_say(lane, strangers[i], false));
    CHECK(!peer_is_far(lane, -1) && !peer_is_far(lane, 4));
    struct wire_caps caps;
    peer_caps(lane, NULL, &caps);
    CHECK(caps.node && caps.pack_max == 2000);
    peer_caps(lane, peer_get(lane, 3), &caps);
    CHECK(!caps.node && caps.pack_max == 3000);
    down();
    CHECK_EQ(seen[0].closes, 2);
}

/* Once, with the first use; what a wire refuses leaves the peer as it was. */
static void connecting(void)
{
    struct gw_lane *lane = &gw_lanes[1];
    CHECK_EQ(up(), GW_OK);
    for (int i = 0; i < 4; i++) {
        bool is_far = i >= 2;
        struct gw_peer *p = peer_get(lane, i);
        const int refusals[] = {GW_AGAIN, GW_EOTHER};
        int before = seen[is_far].connects, before_told = told;
        uint64_t counted = atomic_load(&gw_count.connections);
        CHECK(!p->ep && !p->by);
        for (int k = 0; k < 2; k++) {
            say[is_far].connect = refusals[k];
            CHECK_EQ(peer_connect(lane, p), refusals[k]);
            CHECK(!p->ep && !p->by && !peer_broken(lane));
        }
        say[is_far].connect = GW_OK;
        CHECK_EQ(peer_connect(lane, p), GW_OK);
        CHECK_EQ(peer_connect(lane, p), GW_OK);
        CHECK_EQ(seen[is_far].connects, before + 3);
        CHECK(p->by == &lane->wires[is_far] && p->by->ops == (is_far ? &far_ops : &near_ops) && p->ep == &p->by->wire->eps[i]);
        CHECK_EQ(told, before_told + 1); /* once */
        CHECK_EQ(atomic_load(&gw_count.connections), counted + is_far);
        CHECK(!peer_broken(lane) && !gw_lanes[0].peers[i].ep);
    }
    down();
}

/* peer_broken() finds what is not so. */
static void states(void)
{
    struct gw_lane *lane = &gw_lanes[0];
    CHECK_EQ(up(), GW_OK);
    struct gw_peer *p = peer_get(lane, 1);
    p->by = &lane->wires[0];
    CHECK_STR(peer_broken(lane), "a peer has an endpoint and its wire, or neither");
    p->by = NULL;
    CHECK_EQ(peer_connect(lane, p), GW_OK);
    p->by = &lane->wires[1];
    CHECK_STR(peer_broken(lane), "a peer is on the wire that reaches it");
    p->by = &lane->wires[0];
    lane->wires[1].rest.left = 1;
    CHECK_STR(peer_broken(lane), "rounds without a look at the network are at most so many as were chosen");
    lane->wires[1].rest.left = 0;
    down();
}

/* What the node's wire needs of the node's memory: what it says, or nothing. */
static uint64_t three_a_rank(int nlocal) { return (uint64_t)(3 * nlocal); }
static void area(void)
{
    CHECK_EQ(peer_area_bytes(5), 0);
    struct wire_ops big = near_ops;
    big.world.area_bytes = three_a_rank;
    peer_wires[0] = &big;
    CHECK_EQ(peer_area_bytes(5), 15);
    peer_wires[0] = &near_ops;
}

/* Worlds on other hosts: their ranks are peers with numbers behind ours.  When nobody holds a world any more, the wires forget it, its peers
 * are as new, and what was sent to them stays counted. */
static struct node_other *parted[4];
static int n_parted, n_forgotten;
static void near_part(struct node_other *o) { parted[n_parted++ % 4] = o; }
static void far_forget(struct wire *w, int number) { (void)w, (void)number, n_forgotten++; }
static void other_worlds(void)
{
    struct wire_ops near = near_ops, far = far_ops;
    near.world.part = near_part;
    far.world.forget = far_forget;
    peer_wires[0] = &near;
    peer_wires[1] = &far;
    CHECK_EQ(up(), GW_OK);
    struct gw_lane *lane = &gw_lanes[0];
    struct node_other *o = NULL, *second = NULL;
    CHECK_EQ(peer_numbers(), 4);
    CHECK_EQ(peer_meet_far(77, 3, &o), GW_OK);
    CHECK(o && o->first >= 4 && o->n == 3 && peer_numbers() == o->first + 3);
    CHECK_EQ(peer_meet_far(78, 2, &second), GW_OK);
    CHECK(second != o && second->first >= o->first + 3 && peer_numbers() == second->first + 2);
    struct gw_peer *p = peer_get(lane, o->first + 1);
    p->ep = &lane->wires[1].wire->eps[0], p->by = &lane->wires[1], p->ep->sent = 5, p->ep->sent_bytes = 40;
    peer_sweep();
    CHECK(n_parted == 0 && p->ep->sent == 5); /* it is held */
    node_other_drop(o);
    peer_sweep();
    CHECK(n_parted == 1 && parted[0] == o && n_forgotten == 3 * gw_nlanes);
    CHECK(!p->ep && !p->by && lane->gone_sent == 5 && lane->gone_sent_bytes == 40);
    CHECK_STR(peer_broken(lane) ? peer_broken(lane) : "", "");
    down();
    CHECK(n_parted == 2 && parted[1] == second); /* the end forgets who is left */
    peer_wires[0] = &near_ops;
    peer_wires[1] = &far_ops;
}

/* A wire that does not open ends the start with its error; so does a setting that leaves ranks without a way to each other. */
static void failures(void)
{
    say[1].open = GW_EOTHER;
    CHECK_EQ(up(), GW_EOTHER);
    CHECK_STR(gw_fail_text(), "the test's wire does not open");
    peer_finalize();
    say[1].open = GW_OK, say[0].open = GW_ENOMEM;
    CHECK_EQ(up(), GW_ENOMEM);
    CHECK_EQ(seen[1].opens, 0);
    peer_finalize();
    say[0].open = GW_OK, say[1].opened = GW_EOTHER;
    CHECK_EQ(up(), GW_EOTHER);
    peer_finalize();
    say[1].opened = GW_OK;
    const char *wires = gw_set.wires;
    gw_set.wires = "shm";
    CHECK_EQ(up(), GW_EARG);
    CHECK(strstr(gw_fail_text(), "2 nodes") && strstr(gw_fail_text(), "GODWIT_WIRES=shm") && strstr(gw_fail_text(), "add ofi"));
    peer_finalize();
    gw_set.wires = "ofi"; /* everybody by the network, this rank too */
    CHECK_EQ(up(), GW_OK);
    for (int i = 0; i < 4; i++) CHECK(peer_is_far(&gw_lanes[0], i) && !peer_may_say(&gw_lanes[0], i, false));
    down();
    gw_set.wires = wires;
}

/* While messages on the node come, the network is looked at ever less, never less than every 17th round; at once when it has news. */
static void looking(void)
{
    struct gw_lane *lane = &gw_lanes[0];
    CHECK_EQ(up(), GW_OK);
    say[0].progress = 1;
    int gap = 0, most = 0, rounds = 0;
    for (int i = 0, was = seen[1].progress; i < 400; i++, rounds++) {
        CHECK_EQ(peer_progress(lane), 1);
        gap = seen[1].progress == was ? gap + 1 : 0;
        was = seen[1].progress;
        if (gap > most) most = gap;
    }
    CHECK_EQ(most, 16);
    CHECK_EQ(lane->wires[1].rounds, (uint32_t)rounds);
    CHECK(seen[1].progress > 20 && seen[1].progress < 60 && !peer_broken(lane));
    say[1].progress = 2;
    while (lane->wires[1].rest.left > 0) peer_progress(lane);
    CHECK_EQ(peer_progress(lane), 3);
    CHECK(lane->wires[1].rest.every == 0 && lane->wires[1].rest.left == 0);
    say[0].progress = 0;
    for (int i = 0; i < 5; i++) CHECK_EQ(peer_progress(lane), 2); /* nothing near: every round */
    /* what a message sets off does not enter the wire's progress again */
    say[1].progress = 77;
    int before = seen[1].progress;
    CHECK_EQ(peer_progress(lane), 1);
    CHECK_EQ(seen[1].progress, before + 1);
    CHECK(!lane->wires[1].is_busy && rest_inside.left == 0);
    /* before a sleep the wire is armed; what it finds then is news */
    say[1].progress = 0, say[1].arm = GW_AGAIN;
    CHECK(peer_progress(lane) == 0 && seen[1].arms == 0);
    atomic_store(&gw_node.armed, true);
    CHECK(peer_progress(lane) == 1 && seen[1].arms == 1);
    say[1].arm = GW_OK;
    CHECK(peer_progress(lane) == 0 && seen[1].arms == 2);
    atomic_store(&gw_node.armed, false);
    peer_leave(true);
    peer_leave(false);
    CHECK_EQ(seen[1].leaves, 2 * 11);
    down();
}

/* Nobody on other nodes: no network, and no way to a rank that is said to be there. */
static void alone(void)
{
    gw_boot.nnodes = 1;
    CHECK_EQ(up(), GW_OK);
    CHECK(seen[1].opens == 0 && !gw_lanes[0].n_nets && !peer_is_far(&gw_lanes[0], 3));
    CHECK_EQ(peer_lane_open(&gw_lanes[1]), GW_OK);
    CHECK_EQ(seen[1].opens, 0);
    gw_boot.nnodes = 2;
    CHECK_EQ(peer_connect(&gw_lanes[0], peer_get(&gw_lanes[0], 3)), GW_EINTERN);
    gw_boot.nnodes = 1;
    down();
    gw_boot.nnodes = 2;
}

/* Of several wires between nodes, by GODWIT_WIRES and what the host has; a job on one node opens none. */
static void choosing(void)
{
    static const struct {
        const char *wires, *provider;
        const struct wire_ops *want;
    } rows[] = {
        {"shm,ofi", "", &ofi_ops}, {"shm,tcp", "", &tcp_ops}, {"shm,tcp", "net", &tcp_ops}, {"ofi,shm,tcp", "net", &ofi_ops}};
    const char *wires = gw_set.wires, *provider = gw_set.ofi_provider, *why;
    gw_boot.nnodes = 1;
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++) {
        peer_wires[1] = rows[i].want == &tcp_ops ? &ofi_ops : &tcp_ops;
        gw_set.wires = rows[i].wires;
        gw_set.ofi_provider = rows[i].provider;
        CHECK_EQ(up(), GW_OK);
        CHECK(peer_wires[1] == rows[i].want && !gw_lanes[0].n_nets);
        down();
    }
    gw_set.ofi_provider = "net";
    CHECK_STR(network_wants_libfabric(), "GODWIT_OFI_PROVIDER");
    gw_set.wires = "shm,tcp,ofi";
    gw_set.ofi_provider = "";
    why = network_wants_libfabric(); /* this host may have a card */
    CHECK_EQ(up(), GW_OK);
    CHECK(peer_wires[1] == (why ? &ofi_ops : &tcp_ops) && (!why || why[0] == '/'));
    down();
    gw_set.wires = wires;
    gw_set.ofi_provider = provider;
    gw_boot.nnodes = 2;
}

/* Two networks at once, for different peers: each peer is on the first that reaches it, and both are looked at. */
static void two_networks(void)
{
    struct wire_ops reaching = far_ops;
    reaching.world.reaches = far_reaches;
    peer_wires[1] = &reaching;
    peer_wires[2] = &second_ops;
    struct gw_lane *lane = &gw_lanes[0];
    CHECK_EQ(up(), GW_OK);
    CHECK(lane->n_wires == 3 && lane->n_nets == 2 && second_opens == 2);
    for (int i = 0; i < 4; i++) {
        struct gw_peer *p = peer_get(lane, i);
        struct wire_caps caps;
        int place = i < 2 ? 0 : i - 1;
        CHECK(peer_route(lane, i) == &lane->wires[place] && peer_is_far(lane, i) == (i >= 2));
        CHECK_EQ(peer_connect(lane, p), GW_OK);
        CHECK(p->by == &lane->wires[place] && p->ep == &lane->wires[place].wire->eps[i]);
        p->ep->pack_max = place == 2 ? 4000 : 3000;
        peer_caps(lane, p, &caps);
        CHECK_EQ(caps.pack_max, place == 2 ? 4000 : 3000);
    }
    CHECK(peer_next_net(lane, NULL) == &lane->wires[1] && peer_next_net(lane, &lane->wires[1]) == &lane->wires[2]);
    CHECK(!peer_next_net(lane, &lane->wires[2]) && !peer_broken(lane));
    int before = seen[1].progress, before_second = second_looks;
    CHECK_EQ(peer_progress(lane), 1);
    CHECK(seen[1].progress == before + 1 && second_looks == before_second + 1);
    down();
    CHECK_EQ(second_opens, 0);
    peer_wires[1] = &far_ops;
    peer_wires[2] = NULL;
}

/* The table of peers grows with the job in addresses alone: in memory are the pages of those that are talked to, and those have endpoints. */
static void million(void)
{
    enum { RANKS = 1000000 };
    gw_boot.size = RANKS;
    CHECK_EQ(up(), GW_OK);
    for (int i = 0; i < gw_nlanes; i++) CHECK(unit_resident_pages(gw_lanes[i].peers, RANKS * sizeof(struct gw_peer)) <= 2);
    CHECK_EQ(peer_connect(&gw_lanes[0], peer_get(&gw_lanes[0], 3)), GW_OK);
    CHECK(unit_resident_pages(gw_lanes[0].peers, RANKS * sizeof(struct gw_peer)) <= 2);
    CHECK(seen[1].connects == 1 && peer_get(&gw_lanes[0], 3)->ep && !peer_get(&gw_lanes[0], RANKS - 1)->ep);
    down();
    gw_boot.size = 4;
}

int main(void)
{
    static int32_t local[2] = {0, 1};
    setenv("GODWIT_SINGLETON", "1", 1);
    setenv("GODWIT_LANES", "2", 1);
    if (boot_init() != GW_OK || node_init(4096, 1, true, 65536) != GW_OK) gw_die("the test's rooms: %s", gw_fail_text());
    free((void *)(uintptr_t)gw_boot.local_to_world);
    gw_boot.size = 4, gw_boot.nlocal = 2, gw_boot.nnodes = 2, gw_boot.local_to_world = local;
    peer_wires[0] = &near_ops;
    peer_wires[1] = &far_ops;
    which_wire();
    connecting();
    states();
    area();
    failures();
    looking();
    two_networks();
    alone();
    choosing();
    other_worlds();
    million();
    CHECK(lane_use(0) == &gw_lanes[0] && lanes_used() == 1);
    CHECK(lane_use(1) == &gw_lanes[1] && lanes_used() == 2 && lane_use(0) == &gw_lanes[0] && lanes_used() == 2);
    return unit_end();
}
