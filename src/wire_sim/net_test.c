/* net_test.c -- the simulated net: every message once, in its sender's order, whatever the manners; refusals end; the seed decides.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_sim/sim.h"
#include "base/settings.h"
#include "boot/boot.h"
#include "boot/kvs.h"

#include <stdlib.h>

#include "../../test/unit.h"

enum { RANKS = 4, LANES = 2, EACH = 60 };

struct seen {
    int wrong, missing, max_under_way, overtakings, last_from;
    uint64_t trace;
};

static void send_one(struct sim_net *net, int next[RANKS][RANKS][LANES], int from, int to, int lane)
{
    int *n = &next[from][to][lane];
    struct sim_msg *m = *n < EACH ? sim_net_room(net, from, to, lane, sizeof *n) : NULL;
    if (!m) return;
    memcpy(m->payload, n, sizeof *n);
    if (sim_net_post(net, to, m)) ++*n;
}

/* Takes what is due at a rank; counts what is not its sender's next. */
static void take_all(struct sim_net *net, int got[RANKS][RANKS][LANES], int to, struct seen *seen)
{
    for (int lane = 0; lane < LANES; lane++)
        for (struct sim_msg *m; (m = sim_net_take(net, to, lane)); free(m)) {
            int number, *want = &got[m->from][to][lane];
            memcpy(&number, m->payload, sizeof number);
            CHECK(m->due <= net->now);
            seen->wrong += number != *want;
            seen->overtakings += m->from < seen->last_from;
            seen->last_from = m->from;
            ++*want;
        }
}

static struct seen traffic(uint64_t seed, const struct sim_ways *ways)
{
    static int next[RANKS][RANKS][LANES], got[RANKS][RANKS][LANES];
    struct seen seen = {0};
    struct sim_net *net = sim_net_new(RANKS, seed, ways);
    memset(next, 0, sizeof next);
    memset(got, 0, sizeof got);
    for (int round = 0; round < 40000; round++) {
        for (int from = 0; from < RANKS; from++)
            for (int to = 0; to < RANKS; to++) send_one(net, next, from, to, round % LANES);
        net->now += 100;
        take_all(net, got, round % RANKS, &seen);
        int under_way = (int)(net->sent - net->taken);
        if (under_way > seen.max_under_way) seen.max_under_way = under_way;
    }
    for (int i = 0; i < RANKS; i++) CHECK(sim_net_due(net, i) == SIM_NEVER || ways->bug || net->credit_at[i] != SIM_NEVER);
    for (int i = 0; i < RANKS * RANKS * LANES; i++) seen.missing += EACH - (&got[0][0][0])[i];
    seen.trace = net->trace;
    sim_net_free(net);
    return seen;
}

static void every_message_once_in_order(void)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct sim_ways ways = {
            .delay_ns = seed % 3 * 1000, .slow = 64, .again = seed % 2 * 128, .room = seed % 5 ? 1 + seed % 7 : 1000};
        struct seen s = traffic(seed, &ways);
        CHECK_EQ(s.wrong, 0);
        CHECK_EQ(s.missing, 0);
        CHECK(s.max_under_way <= (int)(RANKS * RANKS * LANES * ways.room));
    }
}

static void the_seed_decides(void)
{
    struct sim_ways ways = {.delay_ns = 5000, .again = 16, .room = 8};
    struct seen a = traffic(1, &ways), b = traffic(1, &ways), c = traffic(2, &ways);
    CHECK(a.trace == b.trace);
    CHECK_EQ(a.overtakings, b.overtakings);
    CHECK(a.trace != c.trace);
    CHECK(a.overtakings > 0); /* between senders there is no order */
}

/* A refused send is told when to try again: at once by the wire's whim, when there is room where it was full. */
static void refusals(void)
{
    struct sim_ways ways = {.room = 1};
    struct sim_net *net = sim_net_new(2, 3, &ways);
    struct sim_msg *m = sim_net_room(net, 0, 1, 0, 8);
    CHECK(m && sim_net_post(net, 1, m));
    CHECK(!sim_net_room(net, 0, 1, 0, 8));
    CHECK(sim_net_due(net, 0) == SIM_NEVER);
    CHECK(sim_net_due(net, 1) == net->now);
    free(sim_net_take(net, 1, 0));
    CHECK(sim_net_due(net, 0) == net->now);
    CHECK((m = sim_net_room(net, 0, 1, 0, 8)) != NULL);
    free(m);
    sim_net_free(net);
}

static void bugs_do_what_they_say(void)
{
    for (int bug = SIM_BUG_ORDER; bug <= SIM_BUG_AGAIN; bug++) {
        struct sim_ways ways = {.delay_ns = 3000, .room = 100, .bug = (enum sim_bug)bug};
        struct seen s = traffic(5, &ways);
        CHECK(s.wrong > 0);
        CHECK((s.missing > 0) == (bug == SIM_BUG_LOSE));
    }
}

/* A transport on which nobody repeats what was lost, and a receiver that is late, or gone: rank 0 sends to rank 1 and leaves.  Each meets the
 * other before the first message and after the last one if it must, as rank 1 comes late and leaves at once.  How many of three get there. */
static int arrive(void)
{
    enum { MESSAGES = 3 };
    struct sim_ways ways = {.delay_ns = 1000, .room = MESSAGES, .no_ack = true};
    struct sim_net *net = sim_net_new(2, 1, &ways);
    bool meets_first = boot_must_meet(BOOT_BEFORE_FIRST), meets_last = boot_must_meet(BOOT_AFTER_LAST);
    int got = 0;
    if (meets_first) sim_net_there(net, 1, true); /* rank 0 has waited for it */
    for (int i = 0; i < MESSAGES; i++) {
        if (i == 1) sim_net_there(net, 1, true); /* late as it is, it is there */
        sim_net_post(net, 1, sim_net_room(net, 0, 1, 0, 0));
        if (i == 1) net->now += 2000;
        for (struct sim_msg *m; (m = sim_net_take(net, 1, 0)); free(m)) got++;
    }
    if (meets_last) net->now += 2000; /* rank 0 has sent all, and so rank 1 looks again, before it leaves */
    for (struct sim_msg *m; (m = sim_net_take(net, 1, 0)); free(m)) got++;
    sim_net_there(net, 1, false);
    CHECK_EQ(got + (int)net->lost, MESSAGES);
    sim_net_free(net);
    return got;
}
/* A sender that was refused learns that there is room again when the receiver leaves. */
static void leaving_makes_room(void)
{
    struct sim_ways ways = {.delay_ns = 1000, .room = 1, .no_ack = true};
    struct sim_net *net = sim_net_new(2, 1, &ways);
    sim_net_there(net, 1, true);
    sim_net_post(net, 1, sim_net_room(net, 0, 1, 0, 0));
    CHECK(sim_net_room(net, 0, 1, 0, 0) == NULL);
    CHECK(sim_net_due(net, 0) == SIM_NEVER);
    net->now = 5000;
    sim_net_there(net, 1, false);
    CHECK(net->lost == 1 && net->taken == 0 && sim_net_take(net, 1, 0) == NULL);
    CHECK(sim_net_due(net, 0) >= net->now && sim_net_due(net, 0) < net->now + ways.delay_ns);
    sim_net_free(net);
}
static void without_acknowledgement(void)
{
    gw_boot.nnodes = 2;
    gw_set.async_init = gw_set.async_finalize = true;
    boot_needs(0); /* a transport that says nothing: the first message is lost, and the last one */
    CHECK_EQ(arrive(), 1);
    gw_set.async_init = false;
    CHECK_EQ(arrive(), 2);
    gw_set.async_init = true, gw_set.async_finalize = false;
    CHECK_EQ(arrive(), 2);
    gw_set.async_finalize = true;
    boot_needs(BOOT_BEFORE_FIRST);
    CHECK_EQ(arrive(), 2);
    boot_needs(BOOT_AFTER_LAST); /* as it must */
    CHECK_EQ(arrive(), 3);
}

int main(void)
{
    every_message_once_in_order();
    the_seed_decides();
    refusals();
    bugs_do_what_they_say();
    leaving_makes_room();
    without_acknowledgement();
    return unit_end();
}
