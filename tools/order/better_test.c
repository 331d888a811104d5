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

int main(void)
{
    for (int r = 0; r < RANKS; r++) now[r] = r / PER_NODE;
    noise_alone();
    real_gains();
    one_moment();
    return unit_end();
}
