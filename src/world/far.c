/* far.c -- groups on several hosts meet: they exchange addresses, and the numbers by which they know each other (doc/adr/0011).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "base/base.h"
#include "boot/boot.h"
#include "node/node.h"
#include "world/world_private.h"

static bool is_elsewhere(int number)
{
    if (number >= gw_boot.size) return node_is_far(number);
    return boot_local_rank(number) < 0 && !boot_is_on_one_host();
}

bool world_far_is_spread(const struct gw_comm *c)
{
    const struct gw_group *g = c->group;
    for (int i = 0; i < g->size; i++)
        if (is_elsewhere(group_world(g, i))) return true;
    return false;
}

int world_far_contacts(struct gw_comm *c, struct contact **contacts_out)
{
    struct contact me = {.host = boot_host_id(), .home = boot_own_home(), .size = gw_boot.size};
    struct contact *all = calloc((size_t)c->size, sizeof *all);
    if (!all) return gw_fail(GW_ENOMEM, "no memory for the addresses of %d processes", c->size);
    int own = peer_invite(me.at), rc;
    if (own != GW_OK) me.at[0] = 0;
    rc = coll_allgather(&me, (int)sizeof me, gw_type_byte, all, (int)sizeof me, gw_type_byte, c, NULL);
    if (own != GW_OK) rc = own;
    for (int i = 0; i < c->size && rc == GW_OK; i++)
        if (!all[i].at[0])
            rc = gw_fail(
                GW_EUNSUPPORTED,
                "rank %d of the communicator cannot be reached from other hosts: its network could not be opened, as its error says",
                i);
    if (rc == GW_OK)
        *contacts_out = all;
    else
        free(all);
    return rc;
}

/* Takes row i of the other side: the numbers by which its member i knows our worlds. */
static int numbers_take(const struct gw_comm *local, const int32_t *mine, const int32_t *rows, const struct gw_group *remote)
{
    int homes = world_names_homes(mine), own = world_names_home_of(mine, local->rank);
    assert(own >= 0 && own < homes);
    for (int i = 0; i < remote->size; i++) {
        int number = group_world(remote, i), first = rows[(size_t)i * (size_t)homes + (size_t)own];
        if (number < gw_boot.size || !node_is_far(number)) continue;
        if (first < 0) return gw_fail(GW_EOTHER, "rank %d of the other group does not see that it is on another host", i);
        if (first > INT32_MAX - gw_boot.size)
            return gw_fail(GW_EOTHER, "rank %d of the other group says numbers that cannot be", i);
        node_far_set_as(number, first + gw_boot.rank);
    }
    return GW_OK;
}

int world_far_introduce(struct gw_comm *local, int leader, const struct bridge *b, const int32_t *mine, const int32_t *theirs,
                        const struct gw_group *remote)
{
    int n_in = 0, homes = world_names_homes(theirs);
    size_t words = (size_t)local->size * (size_t)homes;
    int32_t *row = malloc(sizeof *row * (size_t)(homes + 1)), *all = malloc(sizeof *all * (words + 1)), *in = NULL;
    int rc = row && all ? GW_OK : gw_fail(GW_ENOMEM, "no memory for the numbers of %d processes", local->size);
    if (rc == GW_OK) world_names_firsts(theirs, row);
    if (rc == GW_OK) rc = coll_allgather(row, homes, gw_type_int, all, homes, gw_type_int, local, NULL);
    if (rc == GW_OK) rc = world_bridge_swap(local, leader, b, all, (int)words, &in, &n_in);
    if (rc == GW_OK && n_in != remote->size * world_names_homes(mine))
        rc = gw_fail(GW_EOTHER, "the other group's numbers are damaged");
    if (rc == GW_OK) rc = numbers_take(local, mine, in, remote);
    free(row);
    free(all);
    free(in);
    return rc;
}

/* The provider net of libfabric 1.17 loses messages when two processes connect to each other at the same time: the request of one replaces
 * the connection that the other has made.  So one side of each pair connects first. */
int world_far_greet(struct gw_comm *c, bool is_first)
{
    enum { TAG_GREETING = 1 };
    int rc = GW_OK;
    for (int i = 0; i < c->remote->size && rc == GW_OK; i++) {
        struct gw_req *r;
        if (!is_elsewhere(group_world(c->remote, i))) continue;
        rc = is_first ? p2p_stream_isend(GW_STREAM_WORLD, NULL, 0, gw_type_byte, i, TAG_GREETING, c, &r)
                      : p2p_stream_irecv(GW_STREAM_WORLD, NULL, 0, gw_type_byte, i, TAG_GREETING, c, &r);
        if (rc == GW_POSTED) rc = p2p_stream_wait(r);
    }
    return rc;
}
