/* pattern.h -- what kind of traffic it is, and which order of ranks suits it.  Pure, as traffic.h.
 *
 * A grid is found if its neighbours exchange most of the bytes, nearly all pairs of neighbours do, and much more than other pairs:
 * so noise does not hide it, and neither dense nor irregular traffic is taken for one.  Diagonal neighbours may talk, too.
 *
 * An order is a list of ranks for the processes node by node, as the file of MPICH_RANK_REORDER_METHOD=3 has it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef PATTERN_H
#define PATTERN_H

#include "traffic.h"

struct pattern {
    struct grid grid; /* row-major: the last dimension is that of consecutive ranks */
    bool wraps[GRID_DIMS];
    double share; /* of all bytes: between neighbours, 0 to 1 */
};
int pattern_find(const struct traffic *t, struct pattern *out); /* 1: it is a grid; 0: it is none; -1: no memory */

/* The nodes of a job: process p is on node_of_process[p], node by node. */
struct machine {
    int ranks, nodes, per_node; /* per_node: of the node that has most */
    int32_t *node_of_process;
};
/* Each function: 0, or -1: no memory.  What an order gains is for the caller to weigh. */
/* The cells, and the way through them, that keep most bytes on nodes; g_inout gets them. */
int order_for_grid(const struct traffic *t, const struct machine *m, struct grid *g_inout, int32_t *list_out);
/* For any traffic: nodes are grown one by one from ranks that talk to each other, then pairs change places while that helps. */
int order_for_graph(const struct traffic *t, const struct machine *m, int32_t *list_out);
/* For ranks that compute for different times: the largest sum of a node becomes small. */
int order_for_load(const double *load, const struct machine *m, int32_t *list_out);
/* Both: from the order in list_inout on, ranks change places where that takes load from the fullest node and does not cost more bytes
 * on nodes, as a part of all, than the load gains as a part of the mean. */
int order_for_both(const struct traffic *t, const double *load, const struct machine *m, int32_t *list_inout);

struct load_cost {
    double most, mean; /* sum of a node */
};
struct load_cost load_weigh(const double *load, const int32_t *node_of, const struct machine *m);
/* Is what the fullest node has less with another order more than noise?  load[r * n + b]: what rank r computed in part b of n parts of the run that
 * have as many steps each.  In each part the gain is what the node that is the fullest of the whole run has now, less what the one has that would
 * be.  By noise alone the fullest of many nodes stands sqrt(2 ln nodes) deviations out; so the mean gain of a part must exceed that and 3 of its
 * standard error (the parts' deviation, divided by sqrt(n)).  Fewer than LOAD_PARTS_LEAST parts tell nothing: false. */
enum { LOAD_PARTS_LEAST = 4 };
bool load_gain_is_steady(const float *load, int n, const int32_t *node_now, const int32_t *node_then, const struct machine *m);

#endif
