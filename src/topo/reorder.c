/* reorder.c -- new ranks for a topology: rank 0 gathers where each process runs and the edges of the graph, computes an order and sends
 * it to all.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "base/settings.h"
#include "boot/boot.h"
#include "coll/coll.h"
#include "node/node.h"
#include "topo/topo_private.h"

/* ---- places ---- */
static int place_pretended(struct map_place *p)
{
    int nodes, packages, cores, end = 0, rank = gw_boot.rank;
    const char *text = gw_set.reorder_machine;
    if (sscanf(text, "%dx%dx%d%n", &nodes, &packages, &cores, &end) != 3 || text[end] || nodes < 1 || packages < 1 || cores < 1)
        return gw_fail(GW_EARG, "GODWIT_REORDER_MACHINE is '%s'; it must be nodes x packages x cores, such as 2x2x8", text);
    int package = rank / nodes % packages, core = rank / nodes / packages % cores;
    *p = (struct map_place){{rank % nodes, package, package, package, core, core}};
    return GW_OK;
}

/* Where this process runs.  If it may run in several units of a level, it counts as being alone in a unit of that level. */
static int place_mine(struct map_place *p)
{
    static const uint8_t kinds[MAP_LEVELS] = {NODE_HW_MACHINE, NODE_HW_PACKAGE, NODE_HW_NUMA, NODE_HW_L3, NODE_HW_L2, NODE_HW_CORE};
    enum { OWN = -3 }; /* this and smaller numbers are neither NODE_HW_SEVERAL nor NODE_HW_UNKNOWN */
    if (gw_set.reorder_machine && *gw_set.reorder_machine) return place_pretended(p);
    int32_t hw[NODE_HW_KINDS];
    node_hw_of_process(hw);
    for (int k = 0; k < MAP_LEVELS; k++) p->unit[k] = hw[kinds[k]] == NODE_HW_SEVERAL ? OWN - gw_boot.rank : hw[kinds[k]];
    p->unit[MAP_NODE] = gw_boot.local_to_world[0];
    return GW_OK;
}

/* ---- rank 0 decides ---- */
static int tell(struct gw_comm *c, int *values, int n) { return coll_bcast(values, n, gw_type_int, 0, c, NULL); }

int topo_reorder_begin(struct gw_comm *c, struct topo_reorder *r)
{
    struct map_place mine;
    *r = (struct topo_reorder){0};
    int rc = place_mine(&mine), useful = 0;
    if (rc != GW_OK) return rc;
    if (c->rank == 0) {
        r->places = malloc(sizeof *r->places * (size_t)c->size);
        if (!r->places) return gw_fail(GW_ENOMEM, "no memory for the places of %d processes", c->size);
    }
    rc = coll_gather(&mine, MAP_LEVELS, gw_type_int, r->places, MAP_LEVELS, gw_type_int, 0, c, NULL);
    if (rc == GW_OK && c->rank == 0) useful = gw_set.reorder && !topo_map_is_flat(c->size, r->places);
    if (rc == GW_OK) rc = tell(c, &useful, 1);
    r->useful = useful;
    return rc;
}

/* Checks the order from rank 0: n different ranks of the communicator. */
static bool is_order(const int *order, int n, int size)
{
    bool is_right = true, *seen = calloc((size_t)size + 1, sizeof *seen);
    if (!seen) return false;
    for (int i = 0; i < n && is_right; i++) {
        is_right = order[i] >= 0 && order[i] < size && !seen[order[i]];
        if (is_right) seen[order[i]] = true;
    }
    free(seen);
    return is_right;
}

static bool changes(const int *order, int n)
{
    for (int i = 0; i < n; i++)
        if (order[i] != i) return true;
    return false;
}

static void explain(const struct gw_comm *c, const struct map_graph *g, const struct map_place *places, const int *order)
{
    int *none = malloc(sizeof *none * (size_t)(g->n + 1));
    if (!none) return;
    for (int i = 0; i < g->n; i++) none[i] = i;
    GW_EXPLAIN(GW_LOG_TOPO,
               "%d of %d ranks of %s: %s; cost %lld, was %lld; weight between nodes %lld, was %lld; between packages "
               "%lld, was %lld",
               g->n, c->size, c->name[0] ? c->name : "a communicator without a name",
               changes(order, g->n) ? "reordered" : "not reordered", (long long)topo_map_cost(g, places, order),
               (long long)topo_map_cost(g, places, none), (long long)topo_map_crossing(g, places, order, MAP_NODE),
               (long long)topo_map_crossing(g, places, none, MAP_NODE), (long long)topo_map_crossing(g, places, order, MAP_PACKAGE),
               (long long)topo_map_crossing(g, places, none, MAP_PACKAGE));
    free(none);
}

int topo_reorder_end(struct gw_comm *c, struct topo_reorder *r, int n, const struct topo_edges *edges, const struct map_grid *grid)
{
    int changed = 0;
    r->order = malloc(sizeof *r->order * (size_t)(n + 1));
    if (!r->order) return gw_fail(GW_ENOMEM, "no memory for %d ranks", n);
    struct map_graph g;
    if (c->rank == 0 && topo_map_graph_make(&g, n, edges->n, edges->from, edges->to, edges->weight) == GW_OK) {
        changed = topo_map_order(&g, grid, c->size, r->places, r->order) == GW_OK && changes(r->order, n);
        if (gw_log_mask & GW_LOG_TOPO) explain(c, &g, r->places, r->order);
        topo_map_graph_free(&g);
    }
    int rc = tell(c, &changed, 1);
    if (rc == GW_OK && changed) rc = tell(c, r->order, n);
    if (rc == GW_OK && changed && !is_order(r->order, n, c->size))
        rc = gw_fail(GW_EOTHER, "the order of ranks that rank 0 says cannot be");
    if (!changed) {
        free(r->order);
        r->order = NULL;
    }
    return rc;
}

void topo_reorder_free(struct topo_reorder *r)
{
    free(r->places);
    free(r->order);
}
