/* map_test.c -- reordering on invented machines: the order is an order, never costs more than none, and finds what can be known to be
 * best: on small graphs by trying all orders, on grids by the shape of the blocks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "topo/map.h"

#include <stdlib.h>

#include "../../test/unit.h"

static uint64_t state = 88172645463325252u;
static int below(int n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int)((state >> 33) % (uint64_t)n);
}

enum { P_MAX = 20000 };
static struct map_place places[P_MAX];
static int order[P_MAX], identity[P_MAX];

/* ---- machines: `nodes` nodes of packages of cores; processes block by block, or dealt out to the nodes one by one ---- */
enum { BLOCKS, CYCLIC };
static void machine(int n, int nodes, int packages, int cores, int how)
{
    int per_node = packages * cores;
    for (int i = 0; i < n; i++) {
        int node = how == BLOCKS ? i / per_node % nodes : i % nodes, in = how == BLOCKS ? i % per_node : i / nodes;
        int package = how == BLOCKS ? in / cores % packages : in % packages,
            core = how == BLOCKS ? in % cores : in / packages % cores;
        places[i] = (struct map_place){{node, package, package, package, 10 * package + core, 10 * package + core}};
    }
}

static struct map_graph grid_graph(int ndims, const int *dims, const int *periods)
{
    static int from[P_MAX * 4], to[P_MAX * 4];
    struct map_graph g;
    int n = 1;
    int64_t m = 0;
    for (int d = 0; d < ndims; d++) n *= dims[d];
    for (int v = 0; v < n; v++) {
        for (int d = 0, stride = n; d < ndims; d++) {
            stride /= dims[d];
            int at = v / stride % dims[d];
            if (at + 1 == dims[d] && !periods[d]) continue;
            from[m] = v, to[m++] = v + ((at + 1) % dims[d] - at) * stride;
        }
    }
    CHECK_EQ(topo_map_graph_make(&g, n, m, from, to, NULL), GW_OK);
    return g;
}

static void check_order(const struct map_graph *g, int nslots)
{
    unsigned char *seen = calloc((size_t)nslots, 1);
    for (int i = 0; i < g->n; i++) {
        CHECK(order[i] >= 0 && order[i] < nslots && !seen[order[i]]);
        seen[order[i]] = 1;
    }
    free(seen);
    CHECK(topo_map_cost(g, places, order) <= topo_map_cost(g, places, identity));
}

/* Orders the grid for the machine in `places`; checks how much still crosses the nodes and the packages. */
static void grid(int ndims, const int *dims, const int *periods, int nslots, int64_t want_nodes, int64_t want_packages)
{
    struct map_graph g = grid_graph(ndims, dims, periods);
    struct map_grid shape = {ndims, dims};
    CHECK_EQ(topo_map_order(&g, &shape, nslots, places, order), GW_OK);
    check_order(&g, nslots);
    CHECK(topo_map_crossing(&g, places, order, MAP_NODE) <= want_nodes);
    CHECK(topo_map_crossing(&g, places, order, MAP_PACKAGE) <= want_packages);
    topo_map_graph_free(&g);
}

static void grids(void)
{
    static const int none[4], all[4] = {1, 1, 1, 1};
    /* 4 x 4 dealt out to 2 nodes of 2 sockets of 4 cores: halves of 2 x 4, quarters of 2 x 2. */
    machine(16, 2, 2, 4, CYCLIC);
    struct map_graph g = grid_graph(2, (int[]){4, 4}, none);
    CHECK_EQ(topo_map_crossing(&g, places, identity, MAP_NODE), 12); /* every step along a row */
    topo_map_graph_free(&g);
    grid(2, (int[]){4, 4}, none, 16, 4, 8);
    machine(16, 2, 2, 4, BLOCKS);
    grid(2, (int[]){4, 4}, none, 16, 4, 8); /* rows: 4 across the nodes, and 4 each in them; blocks: 4 and 2 each */
    grid(2, (int[]){4, 4}, all, 16, 8, 16);
    grid(1, (int[]){16}, all, 16, 2, 4);
    /* 8 x 8 on 4 nodes of 16: quarters. */
    machine(64, 4, 2, 8, CYCLIC);
    grid(2, (int[]){8, 8}, none, 64, 16, 32);
    machine(64, 4, 2, 8, BLOCKS);
    grid(2, (int[]){8, 8}, none, 64, 16, 32);
    /* 8 x 8 x 8 on 8 nodes of 2 x 32: cubes of 4, halves of 2 x 4 x 4. */
    machine(512, 8, 2, 32, CYCLIC);
    grid(3, (int[]){8, 8, 8}, none, 512, 192, 320);
    machine(512, 8, 2, 32, BLOCKS);
    grid(3, (int[]){8, 8, 8}, none, 512, 192, 320);
    /* Fewer places than processes: 2 x 2 fits one node of the two, though its first four ranks are on both. */
    machine(16, 2, 2, 4, CYCLIC);
    grid(2, (int[]){2, 2}, none, 16, 0, 0);
    grid(2, (int[]){3, 4}, none, 16, 4, 9); /* 8 + 4 */
}

/* ---- small graphs: no order of all is better than ours ---- */
static int64_t least;
static void all_orders(const struct map_graph *g, int n, int *perm, int k)
{
    if (k == n) {
        int64_t cost = topo_map_cost(g, places, perm);
        if (cost < least) least = cost;
        return;
    }
    for (int i = k; i < n; i++) {
        int t = perm[k];
        perm[k] = perm[i], perm[i] = t;
        all_orders(g, n, perm, k + 1);
        t = perm[k], perm[k] = perm[i], perm[i] = t;
    }
}

static void exhaustive(void)
{
    for (int round = 0; round < 60; round++) {
        int n = 2 + below(6), m = below(16), from[16], to[16], weight[16], perm[8];
        for (int e = 0; e < m; e++) from[e] = below(n), to[e] = below(n), weight[e] = below(100);
        for (int i = 0; i < n; i++) perm[i] = i;
        machine(n, 1 + below(3), 1 + below(2), 1 + below(2), below(2));
        struct map_graph g;
        CHECK_EQ(topo_map_graph_make(&g, n, m, from, to, weight), GW_OK);
        CHECK_EQ(topo_map_order(&g, NULL, n, places, order), GW_OK);
        check_order(&g, n);
        least = INT64_MAX;
        all_orders(&g, n, perm, 0);
        CHECK_EQ(topo_map_cost(&g, places, order), least);
        topo_map_graph_free(&g);
    }
}

/* ---- anything: odd machines, odd sizes, disconnected graphs, places that say nothing ---- */
static void odd(void)
{
    int64_t before = 0, after = 0;
    for (int round = 0; round < 300; round++) {
        int nslots = 1 + below(round % 10 ? 40 : 300), n = 1 + below(nslots), m = below(4 * n),
            *list = malloc(sizeof(int) * 3 * (size_t)(m + 1));
        int *from = list, *to = list + m, *weight = to + m, around = 1 + below(4);
        for (int e = 0; e < m; e++) {
            from[e] = below(n);
            to[e] = (from[e] + below(around)) % n;
            weight[e] = below(1000);
        }
        machine(nslots, 1 + below(5), 1 + below(3), 1 + below(5), below(2));
        for (int i = 0; i < nslots; i++)
            if (below(6) == 0) places[i].unit[1 + below(5)] = -1 - i; /* runs on several of them */
        struct map_graph g;
        CHECK_EQ(topo_map_graph_make(&g, n, m, from, to, below(2) ? weight : NULL), GW_OK);
        CHECK_EQ(topo_map_order(&g, NULL, nslots, places, order), GW_OK);
        check_order(&g, nslots);
        before += topo_map_cost(&g, places, identity);
        after += topo_map_cost(&g, places, order);
        topo_map_graph_free(&g);
        free(list);
    }
    CHECK(after * 100 < before * 95);
    /* All the same: nothing to be gained, nothing is changed. */
    machine(12, 1, 1, 1, BLOCKS);
    struct map_graph g = grid_graph(2, (int[]){3, 4}, (int[]){0, 0});
    CHECK_EQ(topo_map_order(&g, NULL, 12, places, order), GW_OK);
    for (int i = 0; i < 12; i++) CHECK_EQ(order[i], i);
    topo_map_graph_free(&g);
}

/* Weights decide: a ring whose every other edge is heavy keeps the heavy ones in the nodes. */
static void weights(void)
{
    int from[12], to[12], weight[12];
    for (int i = 0; i < 12; i++) from[i] = i, to[i] = (i + 1) % 12, weight[i] = i % 2 ? 100 : 1;
    struct map_graph g;
    CHECK_EQ(topo_map_graph_make(&g, 12, 12, from, to, weight), GW_OK);
    machine(12, 3, 1, 4, CYCLIC);
    CHECK_EQ(topo_map_order(&g, NULL, 12, places, order), GW_OK);
    check_order(&g, 12);
    CHECK_EQ(topo_map_crossing(&g, places, order, MAP_NODE), 3);
    topo_map_graph_free(&g);
}

static void large(void)
{
    machine(20000, 100, 2, 100, CYCLIC);
    struct map_graph g = grid_graph(2, (int[]){100, 200}, (int[]){0, 1});
    struct map_grid shape = {2, (int[]){100, 200}};
    CHECK_EQ(topo_map_order(&g, &shape, 20000, places, order), GW_OK);
    check_order(&g, 20000);
    /* 100 nodes of 200: blocks of 14 x 14 have 28 edges each to the right and down, rows would have 200. */
    CHECK(topo_map_crossing(&g, places, order, MAP_NODE) < 100 * 36);
    topo_map_graph_free(&g);
}

int main(void)
{
    for (int i = 0; i < P_MAX; i++) identity[i] = i;
    grids();
    exhaustive();
    odd();
    weights();
    large();
    return unit_end();
}
