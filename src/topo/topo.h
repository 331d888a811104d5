/* topo.h -- virtual topologies (MPI 4.1 chapter 8): grids and graphs on communicators, and which process gets which place.
 *
 * The topology of a communicator is the data at gw_comm.topo (comm/comm.h): made here, never changed.  Calls that make a
 * communicator are collective over `c`; all others are local.  A call for another kind of topology than the
 * communicator has fails with GW_ETOPOLOGY.
 *
 * With `reorder`, places that talk to each other go to processes on the same node, in the same package, ... (map.h), if that is
 * cheaper than leaving every process its rank.  The two ..._map calls are local, so they cannot know where the others run: they answer
 * the place that a process has without reordering.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TOPO_TOPO_H
#define GW_TOPO_TOPO_H

#include "comm/comm.h"

/* dims[ndims]: those that are 0 become the factors of nnodes / (product of the others), in non-increasing order: the largest is
 * as small as can be, then the second, and so on. */
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

/* ---- graphs that every process knows: the neighbours of i are edges[index[i-1]] .. edges[index[i]-1] ---- */
int topo_graph_create(struct gw_comm *c, int nnodes, const int *index, const int *edges, int reorder, struct gw_comm **comm_out);
int topo_graph_map(struct gw_comm *c, int nnodes, const int *index, const int *edges, int *rank_out);
int topo_graphdims_get(struct gw_comm *c, int *nnodes_out, int *nedges_out);
int topo_graph_get(struct gw_comm *c, int maxindex, int maxedges, int *index_out, int *edges_out);
int topo_graph_neighbors_count(struct gw_comm *c, int rank, int *count_out);
int topo_graph_neighbors(struct gw_comm *c, int rank, int max, int *neighbors_out);

/* ---- graphs of which every process knows its neighbours; weights may be GW_UNWEIGHTED or GW_WEIGHTS_EMPTY ---- */
int topo_dist_create_adjacent(struct gw_comm *c, int indegree, const int *sources, const int *in_weights, int outdegree,
                              const int *destinations, const int *out_weights, struct gw_info *info, int reorder,
                              struct gw_comm **comm_out);
int topo_dist_create(struct gw_comm *c, int n, const int *sources, const int *degrees, const int *destinations, const int *weights,
                     struct gw_info *info, int reorder, struct gw_comm **comm_out);
int topo_dist_neighbors_count(struct gw_comm *c, int *indegree_out, int *outdegree_out, int *weighted_out);
int topo_dist_neighbors(struct gw_comm *c, int maxin, int *sources_out, int *in_weights_out, int maxout, int *destinations_out,
                        int *out_weights_out); /* fewer than there are: the first ones */

#endif
