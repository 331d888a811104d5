/* cart_test.c -- a grid and a graph of six ranks: coordinates, steps, neighbours and sub-grids against definitions written out; what is
 * asked of another kind of topology, or out of range, is an error.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/one_rank.h"
#include "../../test/ranks.h"

#include "topo/topo_private.h"
#include "world/world.h"

enum { RANKS = 6, X = 2, Y = 3 };
static const int dims[] = {X, Y}, periods[] = {0, 1};

/* The rank at (x, y); PROC_NULL beyond x's border. */
static int at(int x, int y) { return x < 0 || x >= X ? GW_PROC_NULL : x * Y + ((y % Y) + Y) % Y; }

static void grid(int rank)
{
    struct gw_comm *c = NULL, *row = NULL;
    int kind = 0, d[2] = {0}, p[2] = {-1, -1}, xy[2] = {-1, -1}, r = -1, n = 0;
    CHECK_EQ(topo_cart_create(&gw_comm_world, 2, dims, periods, 0, &c), GW_OK);
    CHECK(topo_test(c, &kind) == GW_OK && kind == GW_CART && topo_cartdim_get(c, &n) == GW_OK && n == 2);
    CHECK(topo_cart_get(c, 2, d, p, xy) == GW_OK && d[0] == X && d[1] == Y && !p[0] && p[1] && xy[0] == rank / Y &&
          xy[1] == rank % Y);
    for (int i = 0; i < RANKS; i++) {
        CHECK(topo_cart_coords(c, i, 2, xy) == GW_OK && xy[0] == i / Y && xy[1] == i % Y);
        CHECK(topo_cart_rank(c, xy, &r) == GW_OK && r == i);
    }
    CHECK_EQ(topo_cart_coords(c, RANKS, 2, xy), GW_ERANK);
    for (int y = -7; y < 8; y++) CHECK(topo_cart_rank(c, (int[]){1, y}, &r) == GW_OK && r == at(1, y)); /* a ring wraps around */
    CHECK(topo_cart_rank(c, (int[]){X, 0}, &r) != GW_OK && topo_cart_rank(c, (int[]){-1, 0}, &r) != GW_OK);
    for (int by = -4; by <= 4; by++)
        for (int direction = 0; direction < 2; direction++) {
            int from = -9, to = -9, x = rank / Y, y = rank % Y;
            CHECK_EQ(topo_cart_shift(c, direction, by, &from, &to), GW_OK);
            CHECK_EQ(to, direction ? at(x, y + by) : at(x + by, y));
            CHECK_EQ(from, direction ? at(x, y - by) : at(x - by, y));
        }
    CHECK(topo_cart_shift(c, 2, 1, &r, &n) != GW_OK);
    CHECK_EQ(topo_cart_sub(c, (int[]){0, 1}, &row), GW_OK);
    CHECK(row->size == Y && row->rank == rank % Y && topo_cart_get(row, 1, d, p, xy) == GW_OK && d[0] == Y && p[0] &&
          xy[0] == rank % Y);
    int mine = rank, all[Y];
    CHECK_EQ(coll_allgather(&mine, 1, gw_type_int, all, 1, gw_type_int, row, NULL), GW_OK);
    for (int y = 0; y < Y; y++) CHECK_EQ(all[y], at(rank / Y, y));
    CHECK_EQ(topo_graphdims_get(c, &n, &r), GW_ETOPOLOGY);
    CHECK_EQ(topo_cartdim_get(&gw_comm_world, &n), GW_ETOPOLOGY);
    CHECK(world_comm_free(&row) == GW_OK && world_comm_free(&c) == GW_OK);
    /* fewer places than ranks: the rest has no communicator; too many: an error on all */
    CHECK_EQ(topo_cart_create(&gw_comm_world, 2, (int[]){2, 2}, periods, 0, &c), GW_OK);
    CHECK(rank < 4 ? c && c->size == 4 && c->rank == rank : !c);
    if (c) CHECK_EQ(world_comm_free(&c), GW_OK);
    CHECK_EQ(topo_cart_create(&gw_comm_world, 2, (int[]){7, 1}, periods, 0, &c), GW_EDIMS);
    CHECK_EQ(topo_cart_create(&gw_comm_world, 1, (int[]){0}, periods, 0, &c), GW_EDIMS);
    CHECK_EQ(topo_cart_map(&gw_comm_world, 2, dims, periods, &r) == GW_OK && r == rank, 1);
}

/* A star: 0 in the middle, and each of the others its neighbour. */
static void star(int rank)
{
    struct gw_comm *c = NULL;
    const int index[RANKS] = {5, 6, 7, 8, 9, 10}, edges[10] = {1, 2, 3, 4, 5};
    int n = 0, e = 0, got[RANKS], all_edges[10], all_index[RANKS];
    CHECK_EQ(topo_graph_create(&gw_comm_world, RANKS, index, edges, 0, &c), GW_OK);
    CHECK(topo_graphdims_get(c, &n, &e) == GW_OK && n == RANKS && e == 10);
    CHECK(topo_graph_get(c, RANKS, 10, all_index, all_edges) == GW_OK);
    CHECK(memcmp(all_index, index, sizeof index) == 0 && memcmp(all_edges, edges, sizeof edges) == 0);
    for (int i = 0; i < RANKS; i++) {
        CHECK(topo_graph_neighbors_count(c, i, &n) == GW_OK && n == (i ? 1 : 5));
        CHECK_EQ(topo_graph_neighbors(c, i, RANKS, got), GW_OK);
        for (int k = 0; k < n; k++) CHECK_EQ(got[k], i ? 0 : k + 1);
    }
    CHECK_EQ(topo_graph_neighbors_count(c, RANKS, &n), GW_ERANK);
    CHECK_EQ(topo_cart_rank(c, got, &n), GW_ETOPOLOGY);
    CHECK(world_comm_free(&c) == GW_OK);
    /* the same from what each rank knows, with weights */
    const int from[5] = {1, 2, 3, 4, 5}, weight[5] = {10, 20, 30, 40, 50}, middle = 0, mine = 10 * rank;
    int in = 0, out = 0, weighted = 0, s[5], sw[5], d[5], dw[5], deg = rank ? 1 : 5;
    CHECK_EQ(topo_dist_create_adjacent(&gw_comm_world, deg, rank ? &middle : from, rank ? &mine : weight, deg,
                                       rank ? &middle : from, rank ? &mine : weight, NULL, 0, &c),
             GW_OK);
    CHECK(topo_dist_neighbors_count(c, &in, &out, &weighted) == GW_OK && in == deg && out == deg && weighted);
    CHECK_EQ(topo_dist_neighbors(c, 5, s, sw, 5, d, dw), GW_OK);
    for (int k = 0; k < deg; k++)
        CHECK(s[k] == (rank ? 0 : k + 1) && d[k] == s[k] && sw[k] == (rank ? mine : weight[k]) && dw[k] == sw[k]);
    CHECK(world_comm_free(&c) == GW_OK);
}

static void ranks(int rank)
{
    rooms_above_boot();
    CHECK_EQ(coll_barrier(&gw_comm_world, NULL), GW_OK);
    grid(rank);
    star(rank);
    CHECK_EQ(coll_barrier(&gw_comm_world, NULL), GW_OK);
    rooms_down();
}

int main(void)
{
    ranks_run(RANKS, RANKS, ranks);
    return unit_end();
}
