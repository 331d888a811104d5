/* better_test.c -- which gains of load are more than noise, on numbers that are made up.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "pattern.h"

#include "unit.h"

#include <stdint.h>
#include <stdlib.h>

enum { NODES = 8, PER_NODE = 4, RANKS = NODES * PER_NODE, PARTS = 16 };
static float load[RANKS * PARTS];
static int32_t now[RANKS], then[RANKS];
static const struct machine m = {.ranks = RANKS, .nodes = NODES, .per_node = PER_NODE, .node_of_process = now};
static uint32_t state = 1;

/* -1 to 1. */
static float noise(void)
{
    state = state * 1664525 + 1013904223;
    return (float)(state >> 8) / (float)(1 << 23) - 1;
}

/* A second of each rank in each part, the first node's ranks `more` of that above it, and noise; is the order for it worth a file? */
static bool is_steady(int parts, float more, float deviation, double *gain_out)
{
    double sum[RANKS] = {0};
    int32_t list[RANKS];
    for (int r = 0; r < RANKS; r++)
        for (int b = 0; b < parts; b++) {
            float *at = &load[r * parts + b];
            *at = 1 + (r < PER_NODE ? more : 0) + deviation * noise();
            sum[r] += (double)*at;
        }
    CHECK_EQ(order_for_load(sum, &m, list), 0);
    for (int p = 0; p < RANKS; p++) then[list[p]] = now[p];
    *gain_out = 1 - load_weigh(sum, then, &m).most / load_weigh(sum, now, &m).most;
    return load_gain_is_steady(load, parts, now, then, &m);
}

/* Noise alone gives gains of some percent, which the rule of a profile's least gain would let pass. */
static void noise_alone(void)
{
    int passed = 0, large = 0;
    double gain;
    for (int i = 0; i < 1000; i++) {
        passed += is_steady(PARTS, 0, .5f, &gain);
        large += gain > .02;
    }
    CHECK(large > 500);
    CHECK(passed <= 3);
}

static void real_gains(void)
{
    int passed = 0;
    double gain;
    for (int i = 0; i < 100; i++) passed += is_steady(PARTS, .5f, .5f, &gain) && gain > .2;
    CHECK(passed >= 99);
    for (int i = 0; i < 100; i++) passed += is_steady(PARTS, .1f, .05f, &gain) && gain > .05;
    CHECK(passed >= 198);
    CHECK(is_steady(LOAD_PARTS_LEAST, 1, 0, &gain));
    CHECK(!is_steady(LOAD_PARTS_LEAST - 1, 1, 0, &gain));
    CHECK(!is_steady(PARTS, 0, 0, &gain) && gain == 0); /* nothing to gain, and no noise */
}

/* One long moment of one node, which no other run will have. */
static void one_moment(void)
{
    double gain;
    is_steady(PARTS, 0, .01f, &gain);
    for (int r = 0; r < PER_NODE; r++) load[r * PARTS + 5] += 8;
    for (int r = 0; r < RANKS; r++) then[r] = r % NODES;
    CHECK(!load_gain_is_steady(load, PARTS, now, then, &m));
    for (int b = 0; b < PARTS; b++)
        for (int r = 0; r < PER_NODE && b != 5; r++) load[r * PARTS + b] += 8;
    CHECK(load_gain_is_steady(load, PARTS, now, then, &m));
}

/* Four ranks on two nodes, of which the first computes longer: the ranks that share rank 1's node in the order for both. */
static int with_rank_1(double heavy, const struct traffic_link *links, size_t n)
{
    static int32_t two[4] = {0, 0, 1, 1};
    const struct machine small = {.ranks = 4, .nodes = 2, .per_node = 2, .node_of_process = two};
    const double loads[4] = {heavy, heavy, 1, 1};
    struct traffic t = {.ranks = 4};
    int32_t list[4] = {0, 1, 2, 3};
    for (size_t i = 0; i < n; i++) CHECK_EQ(traffic_add(&t, links[i].from, links[i].to, links[i].bytes), 0);
    CHECK_EQ(order_for_both(&t, loads, &small, list), 0);
    traffic_free(&t);
    for (int p = 0; p < 4; p++)
        if (list[p] == 1) return list[p ^ 1];
    return -1;
}

/* The order for both keeps bytes where loads leave the choice, and gives up neither for a little of the other. */
static void both(void)
{
    CHECK_EQ(with_rank_1(4, (const struct traffic_link[]){{1, 3, 100}}, 1), 3);
    CHECK_EQ(with_rank_1(4, (const struct traffic_link[]){{2, 1, 100}}, 1), 2);
    CHECK(with_rank_1(4, (const struct traffic_link[]){{0, 1, 1}, {2, 3, 100}, {1, 2, 100}}, 3) == 2);
    CHECK_EQ(with_rank_1(1.1, (const struct traffic_link[]){{0, 1, 100}, {2, 3, 100}}, 2), 0); /* all bytes for a twentieth */
    CHECK(with_rank_1(9, (const struct traffic_link[]){{0, 1, 1}, {0, 2, 5}, {0, 3, 5}}, 3) != 0);
}

int main(void)
{
    for (int r = 0; r < RANKS; r++) now[r] = r / PER_NODE;
    noise_alone();
    real_gains();
    one_moment();
    both();
    return unit_end();
}
