/* topo.h -- virtual topologies (MPI 4.1 chapter 8): grids and graphs on communicators, and rank reordering.
 *
 * The topology of a communicator is at gw_comm.topo (comm/comm.h): created here, never changed.  Calls that create a communicator are
 * collective over `c`; all others are local.  No lock is held by the caller.  Functions return GW_OK or a negative code, after gw_fail();
 * GW_ETOPOLOGY: the communicator has another kind of topology.
 *
 * With `reorder`, neighbours are mapped to processes that are close in the machine (map.h), if that is cheaper than keeping all ranks.  The two
 * ..._map calls are local, without knowledge of other processes' places, so they return the rank without reordering.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TOPO_TOPO_H
#define GW_TOPO_TOPO_H

#include "comm/comm.h"

/* Sets those dims[ndims] that are 0 to factors of nnodes / (product of the others), in non-increasing order, with the largest as small as
 * possible, then the second, and so on. */
int topo_dims_create(int nnodes, int ndims, int *dims);
int topo_test(struct gw_comm *c, int *kind_out); /* GW_CART, GW_GRAPH, GW_DIST_GRAPH or GW_UNDEFINED */

/* ---- grids; the last dimension's coordinate changes fastest with the rank ---- */
int topo_cart_create(struct gw_comm *c, int ndims, const int *dims, const int *periods, int reorder, struct gw_comm **comm_out);
int topo_cart_map(struct gw_comm *c, int ndims, const int *dims, const int *periods, int *rank_out);
int topo_cart_sub(struct gw_comm *c, const int *remain, struct gw_comm **comm_out);
int topo_cartdim_get(struct gw_comm *c, int *ndims_out);
int topo_cart_get(struct gw_comm *c, int maxdims, int *dims_out, int *periods_out, int *coords_out);
int topo_cart_rank(struct gw_comm *c, const int *coords, int *rank_out);
int topo_cart_coords(struct gw_comm *c, int rank, int maxdims, int *coords_out);
int topo_cart_shift(struct gw_comm *c, int direction, int disp, int *source_out, int *dest_out);

/* ---- graphs known to all processes: the neighbours of i are edges[index[i-1]] .. edges[index[i]-1] ---- */
int topo_graph_create(struct gw_comm *c, int nnodes, const int *index, const int *edges, int reorder, struct gw_comm **comm_out);
int topo_graph_map(struct gw_comm *c, int nnodes, const int *index, const int *edges, int *rank_out);
int topo_graphdims_get(struct gw_comm *c, int *nnodes_out, int *nedges_out);
int topo_graph_get(struct gw_comm *c, int maxindex, int maxedges, int *index_out, int *edges_out);
int topo_graph_neighbors_count(struct gw_comm *c, int rank, int *count_out);
int topo_graph_neighbors(struct gw_comm *c, int rank, int max, int *neighbors_out);

/* ---- distributed graphs; weights may be GW_UNWEIGHTED or GW_WEIGHTS_EMPTY ---- */
int topo_dist_create_adjacent(struct gw_comm *c, int indegree, const int *sources, const int *in_weights, int outdegree,
                              const int *destinations, const int *out_weights, struct gw_info *info, int reorder,
                              struct gw_comm **comm_out);
int topo_dist_create(struct gw_comm *c, int n, const int *sources, const int *degrees, const int *destinations, const int *weights,
                     struct gw_info *info, int reorder, struct gw_comm **comm_out);
int topo_dist_neighbors_count(struct gw_comm *c, int *indegree_out, int *outdegree_out, int *weighted_out);
int topo_dist_neighbors(struct gw_comm *c, int maxin, int *sources_out, int *in_weights_out, int maxout, int *destinations_out,
                        int *out_weights_out); /* fewer than there are: the first ones */

#endif
