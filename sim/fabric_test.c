/* fabric_test.c -- packets by hand: ways, shares of classes, a queue that spreads, ways around a full link.
 *
 * A packet takes 1 us on each link and 1 us more until it is there.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fabric.h"

#include <stdlib.h>

#include "../test/unit.h"

static struct machine machine(const char *fabric)
{
    struct machine m;
    char text[1024], error[256];
    snprintf(
        text, sizeof text,
        "level all\nfabric hop=1 G=1000 packet=1 buffer=4 window=4 %s\nclass best_effort priority=1\nclass low_latency max=0.25 priority=2\n"
        "class dedicated min=0.6 priority=1\nclass scavenger\nclass unreliable drop=2\n",
        fabric);
    if (!machine_parse(text, &m, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    return m;
}
enum { BEST_EFFORT, LOW_LATENCY, DEDICATED, SCAVENGER, UNRELIABLE };

static void run(const struct machine *m, struct fabric_flow *flows, int n, bool managed)
{
    char error[256] = "";
    struct fabric_job job = {.machine = m, .flows = flows, .n_flows = n, .managed = managed, .from_us = 100, .to_us = 1100};
    CHECK(fabric_run(&job, error, sizeof error));
    CHECK_STR(error, "");
}

/* Into the network, over to group 1, out: three links.  The next one 4 us after each that has come: one in 10 us. */
static void alone(void)
{
    struct machine m = machine("groups=3 switches=2 nodes=2");
    struct fabric_flow f[] = {{.src = 0, .dst = 6, .ahead = 1, .pause = 4}, {.src = 2, .dst = 4, .ahead = 1}};
    run(&m, f, 2, false);
    CHECK_EQ(f[0].packets, 100);
    CHECK(f[0].mean == 3 * 2 && f[0].max == 3 * 2);
    CHECK(f[1].mean == 5 * 2 && f[1].max == 5 * 2); /* from the group's other switch to the other one: three hops */
}

/* Two nodes of a switch to one of the next: packets of each in 1,000 us. */
static void two(int first, int second, int64_t should_first, int64_t should_second)
{
    struct machine m = machine("groups=3 switches=2 nodes=2");
    struct fabric_flow f[] = {{.src = 0, .dst = 2, .tclass = first, .ahead = 16},
                              {.src = 1, .dst = 2, .tclass = second, .ahead = 16}};
    run(&m, f, second < 0 ? 1 : 2, false);
    CHECK(llabs(f[0].packets - should_first) <= 1);
    CHECK(second < 0 || llabs(f[1].packets - should_second) <= 1);
    CHECK(fabric_share(&m, &f[0]) == (double)f[0].packets / 1000);
}
static void classes(void)
{
    two(BEST_EFFORT, BEST_EFFORT, 500, 500);
    two(DEDICATED, BEST_EFFORT, 600, 400);
    two(DEDICATED, -1, 1000, 0);
    two(LOW_LATENCY, -1, 250, 0);
    two(LOW_LATENCY, BEST_EFFORT, 250, 750);
    two(SCAVENGER, BEST_EFFORT, 0, 1000);
    two(SCAVENGER, -1, 1000, 0);
}

/* Two nodes of a switch to one of the next, in a class that nobody sends again: what is lost, of what the first sends in 1,000 us. */
static double lost(int first, int second, double arrives)
{
    struct machine m = machine("groups=3 switches=2 nodes=2");
    struct fabric_flow f[] = {{.src = 0, .dst = 2, .tclass = first, .ahead = 16},
                              {.src = 1, .dst = 2, .tclass = second, .ahead = 16}};
    run(&m, f, second < 0 ? 1 : 2, false);
    CHECK(fabric_share(&m, &f[0]) > arrives - 0.01 && fabric_share(&m, &f[0]) < arrives + 0.01);
    CHECK(second < 0 || second == first || f[1].lost == 0);
    return f[0].lost ? (double)f[0].lost / (double)(f[0].lost + f[0].packets) : 0;
}
static void losses(void)
{
    CHECK(lost(UNRELIABLE, -1, 1) == 0); /* a link of its own */
    double half = lost(UNRELIABLE, UNRELIABLE, 0.5), all = lost(UNRELIABLE, BEST_EFFORT, 0);
    CHECK(half > 0.45 && half < 0.55);
    CHECK(all > 0.99); /* it has only what others leave */
    CHECK(lost(BEST_EFFORT, BEST_EFFORT, 0.5) == 0 && lost(SCAVENGER, BEST_EFFORT, 0) == 0);
}

/* Nodes 0 and 1 of switch 0, 6 and 7 of switch 2, all send to node 9 of switch 3, whose link out takes one a microsecond.  Node 2 of switch 0
 * sends to node 10: it passes the link 0 - 3 alone, which has nothing to do with 9's link out. */
static double victim(bool managed, int tclass, bool aggressors)
{
    struct machine m = machine("groups=3 switches=2 nodes=3");
    struct fabric_flow f[] = {{.src = 2, .dst = 10, .tclass = tclass, .ahead = 1, .pause = 6.37},
                              {.src = 0, .dst = 9, .ahead = 32},
                              {.src = 1, .dst = 9, .ahead = 32},
                              {.src = 6, .dst = 9, .ahead = 32},
                              {.src = 7, .dst = 9, .ahead = 32}};
    run(&m, f, aggressors ? 5 : 1, managed);
    if (aggressors) {
        int64_t sum = f[1].packets + f[2].packets + f[3].packets + f[4].packets;
        CHECK(sum >= (managed ? 600 : 999) && sum <= 1001); /* four under way on a way of 6 to 8 us */
    }
    return f[0].mean;
}
static void congestion(void)
{
    CHECK(victim(false, BEST_EFFORT, false) == 6);
    double waits = victim(false, BEST_EFFORT, true), managed = victim(true, BEST_EFFORT, true),
           apart = victim(false, LOW_LATENCY, true);
    CHECK(waits > 18 && waits < 25);
    CHECK(managed >= 6 && managed < 8);
    CHECK(apart > 6 && apart <= 7); /* behind the packet that is on the link */
    printf("victim: 6 us alone, %.2f, managed %.2f, in a class of its own %.2f\n", waits, managed, apart);
}

/* Four nodes of group 0 send to group 1, with one link to it; by other groups there are three more ways. */
static void adaptive(void)
{
    int64_t sum[2] = {0, 0};
    for (int detour = 0; detour < 2; detour++) {
        struct machine m = machine(detour ? "groups=5 switches=2 nodes=2 detour=1" : "groups=5 switches=2 nodes=2");
        struct fabric_flow f[4];
        for (int i = 0; i < 4; i++) f[i] = (struct fabric_flow){.src = i, .dst = 4 + i, .ahead = 32};
        run(&m, f, 4, false);
        for (int i = 0; i < 4; i++) sum[detour] += f[i].packets;
    }
    CHECK(llabs(sum[0] - 1000) <= 1);
    CHECK(sum[1] >= 3000 && sum[1] <= 4000);
    printf("over one link %lld packets in 1000 us, around it %lld\n", (long long)sum[0], (long long)sum[1]);
}

static void mistakes(void)
{
    struct machine m = machine("groups=3 switches=2 nodes=2");
    struct fabric_flow f = {.src = 0, .dst = 12, .ahead = 1};
    struct fabric_job job = {.machine = &m, .flows = &f, .n_flows = 1, .to_us = 10};
    char error[256] = "";
    CHECK(!fabric_run(&job, error, sizeof error) && strstr(error, "from a node to another one"));
    f.dst = 1, f.tclass = 5;
    CHECK(!fabric_run(&job, error, sizeof error) && strstr(error, "no such class"));
    f.tclass = 0, m.fabric.window = 0, job.managed = true;
    CHECK(!fabric_run(&job, error, sizeof error) && strstr(error, "no window"));
    m.fabric.groups = 0;
    CHECK(!fabric_run(&job, error, sizeof error) && strstr(error, "no fabric"));
}

int main(void)
{
    alone();
    classes();
    losses();
    congestion();
    adaptive();
    mistakes();
    return unit_end();
}
