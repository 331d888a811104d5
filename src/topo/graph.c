/* graph.c -- graph topologies: every process knows the whole graph.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "topo/topo_private.h"

#include <stdlib.h>

#include "coll/coll.h"

static int graph_check(const struct gw_comm *c, int nnodes, const int *index, const int *edges)
{
    int rc = topo_intra(c);
    if (rc != GW_OK) return rc;
    if (nnodes < 0 || nnodes > c->size)
        return gw_fail(GW_EARG, "nnodes is %d; it must be between 0 and the communicator's size %d", nnodes, c->size);
    for (int i = 0; i < nnodes; i++) {
        if (index[i] < (i ? index[i - 1] : 0))
            return gw_fail(GW_ETOPOLOGY, "index[%d] is %d; index counts the neighbours of nodes 0 to i, so it never falls", i,
                           index[i]);
    }
    int nedges = nnodes ? index[nnodes - 1] : 0;
    if (nedges > 0 && !edges) return gw_fail(GW_EARG, "edges is NULL; the graph has %d edges", nedges);
    for (int i = 0; i < nedges; i++)
        if (edges[i] < 0 || edges[i] >= nnodes)
            return gw_fail(GW_ERANK, "edges[%d] is %d; the graph has nodes 0 to %d", i, edges[i], nnodes - 1);
    return GW_OK;
}

static int graph_begin(const struct gw_topo *t, int rank) { return rank ? t->graph.index[rank - 1] : 0; }

static struct gw_topo *graph_new(int nnodes, const int *index, const int *edges, int rank)
{
    int *ints, nedges = index[nnodes - 1], degree = index[rank] - (rank ? index[rank - 1] : 0);
    struct gw_topo *t = topo_new(GW_GRAPH, (int64_t)nnodes + nedges + 8 * (int64_t)degree, &ints);
    if (!t) return NULL;
    t->graph.nnodes = nnodes;
    t->graph.nedges = nedges;
    t->graph.index = topo_take(&ints, nnodes, index);
    t->graph.edges = topo_take(&ints, nedges, edges);
    t->nin = t->nout = degree;
    t->in = t->out = t->graph.edges + graph_begin(t, rank);
    return topo_finish(t, rank, nnodes, &ints);
}

static int graph_reorder(struct gw_comm *c, int nnodes, const int *index, const int *edges, struct topo_reorder *r)
{
    int rc = topo_reorder_begin(c, r), nedges = index[nnodes - 1];
    if (rc != GW_OK || !r->useful) return rc;
    struct topo_edges e = {.n = nedges};
    if (c->rank == 0) {
        e.from = malloc(2 * sizeof(int) * ((size_t)nedges + 1));
        if (!e.from) return gw_fail(GW_ENOMEM, "no memory for %d edges", nedges);
        e.to = e.from + nedges;
        for (int v = 0, i = 0; v < nnodes; v++)
            for (; i < index[v]; i++) e.from[i] = v, e.to[i] = edges[i];
    }
    rc = topo_reorder_end(c, r, nnodes, &e, NULL);
    free(e.from);
    return rc;
}

int topo_graph_create(struct gw_comm *c, int nnodes, const int *index, const int *edges, int reorder, struct gw_comm **comm_out)
{
    struct gw_comm *new = NULL;
    struct topo_reorder r = {0};
    int rc = graph_check(c, nnodes, index, edges);
    if (rc != GW_OK) return rc;
    coll_call_begin(c);
    if (reorder && nnodes > 1) rc = graph_reorder(c, nnodes, index, edges, &r);
    if (rc == GW_OK) rc = topo_make_comm(c, nnodes, r.order, &new);
    coll_call_end(c);
    topo_reorder_free(&r);
    if (rc != GW_OK) return rc;
    if (new && !(new->topo = graph_new(nnodes, index, edges, new->rank))) {
        comm_release(new);
        return GW_ENOMEM;
    }
    *comm_out = new;
    return GW_OK;
}

int topo_graph_map(struct gw_comm *c, int nnodes, const int *index, const int *edges, int *rank_out)
{
    int rc = graph_check(c, nnodes, index, edges);
    if (rc == GW_OK) *rank_out = c->rank < nnodes ? c->rank : GW_UNDEFINED;
    return rc;
}

int topo_graphdims_get(struct gw_comm *c, int *nnodes_out, int *nedges_out)
{
    int rc = topo_want(c, GW_GRAPH);
    if (rc != GW_OK) return rc;
    *nnodes_out = c->topo->graph.nnodes;
    *nedges_out = c->topo->graph.nedges;
    return GW_OK;
}

int topo_graph_get(struct gw_comm *c, int maxindex, int maxedges, int *index_out, int *edges_out)
{
    int rc = topo_want(c, GW_GRAPH);
    if (rc != GW_OK) return rc;
    const struct gw_topo *t = c->topo;
    if (maxindex < t->graph.nnodes)
        return gw_fail(GW_EARG, "maxindex is %d, but the graph has %d nodes (see MPI_Graphdims_get)", maxindex, t->graph.nnodes);
    if (maxedges < t->graph.nedges)
        return gw_fail(GW_EARG, "maxedges is %d, but the graph has %d edges (see MPI_Graphdims_get)", maxedges, t->graph.nedges);
    for (int i = 0; i < t->graph.nnodes; i++) index_out[i] = t->graph.index[i];
    for (int i = 0; i < t->graph.nedges; i++) edges_out[i] = t->graph.edges[i];
    return GW_OK;
}

/* The neighbours of `rank`: a pointer into the graph, and their number. */
static int graph_find(struct gw_comm *c, int rank, const int **first_out, int *count_out)
{
    int rc = topo_want(c, GW_GRAPH);
    if (rc != GW_OK) return rc;
    const struct gw_topo *t = c->topo;
    if (rank < 0 || rank >= c->size) return gw_fail(GW_ERANK, "rank is %d; the communicator has ranks 0 to %d", rank, c->size - 1);
    *first_out = t->graph.edges + graph_begin(t, rank);
    *count_out = t->graph.index[rank] - graph_begin(t, rank);
    return GW_OK;
}

int topo_graph_neighbors_count(struct gw_comm *c, int rank, int *count_out)
{
    const int *first;
    return graph_find(c, rank, &first, count_out);
}

int topo_graph_neighbors(struct gw_comm *c, int rank, int max, int *neighbors_out)
{
    const int *first;
    int count, rc = graph_find(c, rank, &first, &count);
    if (rc != GW_OK) return rc;
    if (max < count)
        return gw_fail(GW_EARG, "maxneighbors is %d, but rank %d has %d neighbours (see MPI_Graph_neighbors_count)", max, rank,
                       count);
    for (int i = 0; i < count; i++) neighbors_out[i] = first[i];
    return GW_OK;
}
