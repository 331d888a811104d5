/* traffic.h -- how much each rank sends to each other one, and what of it stays on nodes under an order of ranks.  Pure, as grid.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "grid.h"

#include <stddef.h>

struct traffic_link {
    int32_t from, to;
    double bytes;
};
struct traffic {
    int ranks;
    size_t n, room;
    struct traffic_link *link; /* of two ranks that talk to each other, one for each direction */
};

/* 0, or -1: no memory.  A second link of the same two ranks counts as another neighbour: callers add up before. */
int traffic_add(struct traffic *t, int from, int to, double bytes);
void traffic_free(struct traffic *t);
/* Each rank of the grid sends bytes[d] to both its neighbours in dimension d; wraps[d]: the last one and the first are neighbours. */
int traffic_of_grid(struct traffic *t, const struct grid *g, const double *bytes, const bool *wraps);
/* Rank i and rank i + ranks / 2 send each other `bytes`, as a measurement of the bisection does. */
int traffic_of_bisection(struct traffic *t, int ranks, double bytes);

/* What becomes of it where rank r is on node node_of[r]. */
struct traffic_cost {
    double bytes, near_bytes;      /* sent by all ranks; of that, to a rank of the same node */
    double links, near_links;      /* pairs of ranks that talk */
    double most_links, most_bytes; /* of the node that has most with others: pairs, bytes that it sends or receives */
};
int traffic_weigh(const struct traffic *t, const int32_t *node_of, int nodes,
                  struct traffic_cost *cost_out); /* 0, or -1: no memory */

/* Which node each rank is on: nodes of per_node[k] processes, ranks given by a method of boot_order_deal(); `list`: the order of
 * BOOT_ORDER_FILE.  0, or -1: no memory. */
int traffic_nodes(int method, int ranks, const int32_t *node_of_process, const int32_t *list, int32_t *node_of_out);

#endif
