/* map.h -- which process gets which place in a topology: a graph onto a machine, by pure functions (map.c).
 *
 * Vertices are the ranks of the new communicator, slots those of the old one.  An order says which slot each vertex gets.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TOPO_MAP_H
#define GW_TOPO_MAP_H

#include "base/base.h"

/* Undirected: each edge stands with both of its ends.  No loops. */
struct map_graph {
    int n;
    int64_t *first, *weight; /* [n + 1]; [first[n]] */
    int *to;                 /* [first[n]] */
};
/* Of a list of edges, with weights or (NULL) 1 each.  Loops are left out.  GW_ENOMEM, or GW_OK: map_graph_free() it. */
int map_graph_make(struct map_graph *g, int n, int64_t nedges, const int *from, const int *to, const int *weight);
void map_graph_free(struct map_graph *g);

struct map_grid {
    int ndims;
    const int *dims;
}; /* the graph is this grid, row by row */

/* Where a process runs: its node, package, NUMA node, last cache, second cache, core; equal numbers below equal ones are the
 * same resource. */
enum { MAP_NODE, MAP_PACKAGE, MAP_NUMA, MAP_L3, MAP_L2, MAP_CORE, MAP_LEVELS };
struct map_place {
    int32_t unit[MAP_LEVELS];
};

/* Are all of them equally far from each other?  Then no order is better than another. */
bool map_is_flat(int n, const struct map_place *places);
/* What all edges cost under an order, and how much weight leaves the units of `level`. */
int64_t map_cost(const struct map_graph *g, const struct map_place *places, const int *order);
int64_t map_crossing(const struct map_graph *g, const struct map_place *places, const int *order, int level);

/* A good order of g->n of the nslots processes; 0, 1, 2, ... if nothing cheaper is found.  grid: NULL if it is none.  GW_ENOMEM: the
 * order is 0, 1, 2, ... */
int map_order(const struct map_graph *g, const struct map_grid *grid, int nslots, const struct map_place *places, int *order_out);

#endif
