/* far_test.c -- thresholds of messages to other nodes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"
#include "base/settings.h"
#include "boot/boot.h"

#include "unit.h"

/* A network that can do all that the documents' could, and the limits that a lane has over it in a job of so many ranks. */
static bool is_soft, is_direct; /* no card but TCP; it has zero-copy messages */
static void card_caps(struct wire *w, struct wire_caps *caps_out)
{
    (void)w;
    *caps_out = (struct wire_caps){
        .short_max = 8152, .pack_max = 65536, .get = true, .put = true, .keys = true, .soft = is_soft, .direct = is_direct};
}
static const struct proto_limits *limits_in(int ranks)
{
    static const struct wire_ops ops = {.size = sizeof ops, .name = "card", .caps = card_caps};
    static struct proto_lane pl;
    struct lane_wire net = {.ops = &ops, .index = 1, .is_net = true};
    pl = (struct proto_lane){0};
    gw_boot.size = ranks;
    proto_far_set_up(&pl, &net);
    return &pl.limits[1];
}

/* The limit of E0 shrinks with the job; at each border the larger job has the smaller one.  A setting has the last word. */
static void short_by_job_size(void)
{
    static const struct {
        int ranks, bytes;
    } golden[] = {{1, 8152},    {2, 8152},    {512, 8152},  {513, 2008},   {1024, 2008},  {1025, 472},
                  {16383, 472}, {16384, 472}, {16385, 216}, {262144, 216}, {262145, 100}, {700000, 100}};
    for (size_t i = 0; i < GW_ARRAY_LEN(golden); i++) CHECK_EQ(limits_in(golden[i].ranks)->inline_max, golden[i].bytes);
    gw_set.net_short_max = 300;
    CHECK_EQ(limits_in(700000)->inline_max, 300);
    gw_set.net_short_max = -1;
}

/* The header counts towards the documents' limit. */
static void eager_by_wire(void)
{
    CHECK_EQ(proto_far_eager(false), (64 << 10) - 40);
    CHECK_EQ(proto_far_eager(true), (128 << 10) - 40);
    gw_set.net_eager_max = 8192;
    CHECK_EQ(proto_far_eager(true), 8192 - 40);
    CHECK_EQ(proto_far_eager(false), 8192 - 40);
    gw_set.net_eager_max = -1;
}

/* Which way a message takes, by its size, layout and mode, and by what the wire can do. */
static void paths(void)
{
    static struct proto_lane pl;
    struct wire_ep ep = {.xoff = &ep.xoff_here};
    struct lane_wire net = {.index = 1, .is_net = true};
    struct gw_peer p = {.ep = &ep, .by = &net};
    struct proto_limits *far = &pl.limits[1];
    *far = (struct proto_limits){.inline_max = 48, .eager_max = 8152, .pack_max = 65536, .may_get = true, .may_put = true};
    CHECK_EQ(proto_far_select(&pl, &p, 48, true, 0, false), PROTO_E0);
    CHECK_EQ(proto_far_select(&pl, &p, 48, true, PROTO_SYNC_PREFIX, false), PROTO_E1);
    CHECK_EQ(proto_far_select(&pl, &p, 8152, true, 0, false), PROTO_E1);
    CHECK_EQ(proto_far_select(&pl, &p, 8153, true, 0, false), PROTO_R0);
    CHECK_EQ(proto_far_select(&pl, &p, 8153, false, 0, false), PROTO_R1); /* several runs of bytes */
    CHECK_EQ(gw_set.net_get_max, 4 << 20);
    CHECK_EQ(gw_set.net_chunk, 512 << 10);
    for (int mib = 4; mib > 0; mib--) {
        gw_set.net_get_max = mib << 20;
        CHECK_EQ(proto_far_select(&pl, &p, mib << 20, true, 0, false), PROTO_R0);
        CHECK_EQ(proto_far_select(&pl, &p, (mib << 20) + 1, true, 0, false), PROTO_R1);
    }
    /* The receiver keeps too much: everything asks first. */
    CHECK_EQ(proto_far_select(&pl, &p, 8, true, 0, true), PROTO_R0);
    far->may_put = false;
    CHECK_EQ(proto_far_select(&pl, &p, gw_set.net_get_max + 1, true, 0, false), PROTO_R0);
    far->may_get = false;
    CHECK_EQ(proto_far_select(&pl, &p, 100000, true, 0, false), PROTO_R1);
}

/* May the network read and write the program's memory?  A setting says so, else where a card does it. */
static void rendezvous(void)
{
    for (int i = 0; i < 4; i++) {
        is_soft = i & 1, is_direct = i & 2;
        gw_set.net_rendezvous = GW_SET_NET_RENDEZVOUS_AUTO;
        const struct proto_limits *l = limits_in(2);
        CHECK(l->may_get == !is_soft && l->may_put == !is_soft && l->is_direct == (is_soft && is_direct));
        gw_set.net_rendezvous = GW_SET_NET_RENDEZVOUS_DISABLED;
        l = limits_in(2);
        CHECK(!l->may_get && !l->may_put && !l->is_direct);
        gw_set.net_rendezvous = GW_SET_NET_RENDEZVOUS_ENABLED;
        l = limits_in(2);
        CHECK(l->may_get && l->may_put && !l->is_direct);
    }
    gw_set.net_rendezvous = GW_SET_NET_RENDEZVOUS_AUTO;
    is_soft = is_direct = false;
}

int main(void)
{
    gw_settings_load();
    short_by_job_size();
    rendezvous();
    eager_by_wire();
    paths();
    return unit_end();
}
