/* dragonfly_test.c -- hops and ways between groups, by hand and for all pairs of nodes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dragonfly.h"

#include "../test/unit.h"

/* Three groups of two switches with one node each: nodes 0 1 | 2 3 | 4 5.  A group's first switch has the link to the next group, its
 * second one that to the last: 0 - 3, 2 - 5, 4 - 1. */
static void by_hand(void)
{
    const struct dragonfly d = {3, 2, 1};
    static const int hops[6][6] = {{0, 1, 2, 1, 2, 3}, {1, 0, 3, 2, 1, 2}, {2, 3, 0, 1, 2, 1},
                                   {1, 2, 1, 0, 3, 2}, {2, 1, 2, 3, 0, 1}, {3, 2, 1, 2, 1, 0}};
    CHECK_EQ(dragonfly_gate(&d, 0, 1), 0);
    CHECK_EQ(dragonfly_gate(&d, 1, 0), 3);
    CHECK_EQ(dragonfly_gate(&d, 2, 0), 4);
    CHECK_EQ(dragonfly_gate(&d, 0, 2), 1);
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++) CHECK_EQ(dragonfly_hops(&d, a, b), hops[a][b]);
}

/* Walks from node to node; returns links between switches, or -1 where the way does not end there. */
static int walk(const struct dragonfly *d, int64_t from, int64_t to, int64_t via)
{
    int64_t link = dragonfly_link_in(d, from), at;
    for (int hops = 0; hops <= 2 * DRAGONFLY_HOPS; hops++) {
        if ((at = dragonfly_end(d, link)) < 0 || link >= dragonfly_links(d)) return -1;
        if (at / d->switches == via) via = -1;
        link = dragonfly_next(d, at, to, via);
        if (dragonfly_end(d, link) < 0) return link == dragonfly_nodes(d) + to ? hops : -1;
    }
    return -1;
}

static void ways(void)
{
    const struct dragonfly d = {5, 3, 2};
    for (int64_t a = 0; a < dragonfly_nodes(&d); a++)
        for (int64_t b = 0; b < dragonfly_nodes(&d); b++) {
            CHECK_EQ(walk(&d, a, b, -1), dragonfly_hops(&d, a, b));
            CHECK(dragonfly_hops(&d, a, b) <= DRAGONFLY_HOPS);
            for (int64_t via = 0; via < d.groups; via++) {
                int hops = walk(&d, a, b, via), per_group = (int)(d.switches * d.nodes);
                if (via == a / per_group || via == b / per_group)
                    CHECK_EQ(hops, dragonfly_hops(&d, a, b));
                else
                    CHECK(hops >= 2 && hops <= DRAGONFLY_HOPS + 2); /* two links between groups, and one in each */
            }
        }
}

/* Switches of 64 ports: 16 to nodes, 31 in the group, 17 to others.  So a group has 32 * 17 = 544 links to as many other groups: 545
 * groups of 512 nodes are 279,040, none more than three hops from another. */
static void largest(void)
{
    const struct dragonfly d = {32 * 17 + 1, 32, 16};
    CHECK_EQ(16 + (d.switches - 1) + 17, 64);
    CHECK_EQ(dragonfly_nodes(&d), 279040);
    CHECK(dragonfly_nodes(&d) > 250000);
    int most = 0, links[32] = {0};
    for (int64_t to = 1; to < d.groups; to++) links[dragonfly_gate(&d, 0, to)]++;
    for (int s = 0; s < 32; s++) CHECK_EQ(links[s], 17);
    for (int64_t b = 0; b < dragonfly_nodes(&d); b += 7) {
        int hops = dragonfly_hops(&d, 5, b);
        most = hops > most ? hops : most;
    }
    CHECK_EQ(most, 3);
}

int main(void)
{
    by_hand();
    ways();
    largest();
    return unit_end();
}
