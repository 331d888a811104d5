/* dragonfly.h -- a dragonfly network: distances between nodes and the links of a route.
 *
 * All switches of a group are linked with each other, and each pair of groups by one link.  Nodes are numbered by switch, switches by
 * group.  The link from group i to group i + d (modulo the number of groups) is at switch (d - 1) modulo the number of switches of a group.
 *
 * Pure functions of the machine's `fabric`.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SIM_DRAGONFLY_H
#define GW_SIM_DRAGONFLY_H

#include "machine.h"

enum { DRAGONFLY_HOPS = 3 }; /* most links of a shortest route */

/* Whole numbers of the description. */
struct dragonfly {
    int64_t groups, switches, nodes; /* switches of a group, nodes of a switch */
};
static inline struct dragonfly dragonfly_of(const struct machine_fabric *f)
{
    return (struct dragonfly){(int64_t)f->groups, (int64_t)f->switches, (int64_t)f->nodes};
}
static inline int64_t dragonfly_nodes(const struct dragonfly *d) { return d->groups * d->switches * d->nodes; }

/* The switch of group `from` with the link to group `to`, numbered in the whole network. */
int64_t dragonfly_gate(const struct dragonfly *d, int64_t from, int64_t to);
/* The number of links between switches on the shortest route between two nodes, 0 to DRAGONFLY_HOPS. */
int dragonfly_hops(const struct dragonfly *d, int64_t node, int64_t other);

/* Links are directed and numbered: into the network and out of it, by node; in groups; between groups. */
int64_t dragonfly_links(const struct dragonfly *d);
int64_t dragonfly_link_in(const struct dragonfly *d, int64_t node);
/* The next link from switch `at` on the route to a node, through group `via` first unless that is -1 or the present group. */
int64_t dragonfly_next(const struct dragonfly *d, int64_t at, int64_t node, int64_t via);
/* The switch at the end of a link; -1: it ends at a node. */
int64_t dragonfly_end(const struct dragonfly *d, int64_t link);

#endif
