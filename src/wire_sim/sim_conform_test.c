/* sim_conform_test.c -- the simulated wire keeps what wire.h promises of every wire, whatever the seed and the manners.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_sim/sim.h"
#include "base/settings.h"
#include "boot/boot.h"

#include "../../test/wires.h"

static struct sim_net *net;
static struct sim_ways manners;
static uint64_t seed;

static void pause_here(bool idle) { net->now += idle ? 1000 : 20; }
static void begin(void)
{
    net = sim_net_new(1, seed++, &manners);
    net->pause = pause_here;
    net->now = 1000000000;
    sim_attach(net, 0);
}
static void end(void) { sim_net_free(net); }

int main(void)
{
    static const struct wires_rig rig = {.ops = &sim_ops, .begin = begin, .end = end};
    static const struct sim_ways all[] = {
        {.room = 64, .batch = 8, .short_max = 40, .pack_max = 4096, .copies = SIM_COPY_AT_ONCE, .puts = true},
        {.delay_ns = 3000,
         .again = 40,
         .room = 3,
         .batch = 2,
         .short_max = 40,
         .pack_max = 1024,
         .copies = SIM_COPY_LATER,
         .puts = true},
        {.delay_ns = 100,
         .slow = 128,
         .again = 128,
         .room = 16,
         .batch = 32,
         .short_max = 100,
         .pack_max = 9000,
         .copies = SIM_COPY_NONE}};
    setenv("GODWIT_SINGLETON", "1", 1);
    CHECK_EQ(boot_init(), GW_OK);
    CHECK_EQ(type_init(), GW_OK);
    CHECK_EQ(node_init(4096, 1, true, 65536), GW_OK);
    for (int i = 0; i < 12; i++) {
        manners = all[i % 3];
        wires_conform(&rig);
    }
    node_finalize();
    type_finalize();
    boot_finalize();
    gw_settings_free();
    return unit_end();
}
