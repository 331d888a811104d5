/* map.h -- process mapping: a communication graph onto a machine, by pure functions (map.c).
 *
 * Vertices are ranks of the new communicator, slots are ranks of the old one.  An order gives the slot of each vertex.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TOPO_MAP_H
#define GW_TOPO_MAP_H

#include "base/base.h"

/* Undirected, in compressed form: each edge is stored at both of its ends.  No loops. */
struct map_graph {
    int n;
    int64_t *first, *weight; /* [n + 1]; [first[n]] */
    int *to;                 /* [first[n]] */
};
/* Builds a graph from a list of edges; weight NULL: all 1.  Loops are dropped.  GW_OK: the caller frees it by topo_map_graph_free(); or GW_ENOMEM. */
int topo_map_graph_make(struct map_graph *g, int n, int64_t nedges, const int *from, const int *to, const int *weight);
void topo_map_graph_free(struct map_graph *g);

struct map_grid {
    int ndims;
    const int *dims;
}; /* the graph is this grid, row by row */

/* Where a process runs: numbers of its node, package, NUMA node, L3 and L2 cache, and core; a number identifies a resource within the level
 * above. */
enum { MAP_NODE, MAP_PACKAGE, MAP_NUMA, MAP_L3, MAP_L2, MAP_CORE, MAP_LEVELS };
struct map_place {
    int32_t unit[MAP_LEVELS];
};

/* Are all places equally far from each other?  Then no order is better than another. */
bool topo_map_is_flat(int n, const struct map_place *places);
/* The cost of all edges under an order; the weight of edges between different units of `level`. */
int64_t topo_map_cost(const struct map_graph *g, const struct map_place *places, const int *order);
int64_t topo_map_crossing(const struct map_graph *g, const struct map_place *places, const int *order, int level);

/* Computes an order of g->n of the nslots processes; the identity, if nothing cheaper is found or with GW_ENOMEM.  grid: NULL if the graph is
 * none. */
int topo_map_order(const struct map_graph *g, const struct map_grid *grid, int nslots, const struct map_place *places,
                   int *order_out);

#endif
