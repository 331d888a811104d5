/* here.c -- finds which ranks of a window are on this machine, and one rank (the leader) on each other machine.
 *
 * Ranks of other jobs on this machine are included.  Each rank finds the lowest rank that it shares memory with and gives it to
 * all others: ranks with equal numbers are on one machine.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "coll/coll.h"
#include "rma/rma_private.h"
#include "world/world.h"

static bool has_door(struct gw_comm *c, int rank) { return node_door_of(group_world(c->group, rank)) != NULL; }

bool rma_is_one_machine(struct gw_comm *c)
{
    bool is_one = true;
    for (int i = 0; i < c->size && is_one && !c->one_node; i++) is_one = has_door(c, i);
    return is_one;
}

/* lowest[i]: the lowest rank on the machine of rank i.  Writes the world ranks of this machine's group to the front of `ours`;
 * returns how many they are. */
static int sort(struct rma_win *w, const int *lowest, int32_t *ours)
{
    int n = 0, me = lowest[w->comm->rank];
    for (int i = 0; i < w->comm->size; i++) {
        if (lowest[i] == me) ours[n++] = group_world(w->comm->group, i);
        if (lowest[i] == i && i != me) w->leaders[w->n_leaders++] = i;
    }
    return n;
}

static int group_here(struct rma_win *w, int *lowest, struct gw_group **group_out)
{
    int mine = 0;
    int32_t *ours = malloc(sizeof *ours * (size_t)w->comm->size);
    w->leaders = malloc(sizeof *w->leaders * (size_t)w->comm->size);
    while (!w->targets[mine].door) mine++;
    int rc = rma_agree(w->comm, lowest && ours && w->leaders ? GW_OK : gw_fail(GW_ENOMEM, "no memory for %d ranks", w->comm->size));
    if (rc == GW_OK) rc = coll_allgather(&mine, 1, gw_type_int, lowest, 1, gw_type_int, w->comm, NULL);
    if (rc == GW_OK) rc = rma_agree(w->comm, group_from_map(sort(w, lowest, ours), ours, group_out));
    free(ours);
    return rc;
}

int rma_here_open(struct rma_win *w)
{
    w->here = w->comm;
    for (int i = 0; i < w->comm->size; i++) w->targets[i].door = node_door_of(group_world(w->comm->group, i));
    if (rma_is_one_machine(w->comm)) return GW_OK;
    struct gw_group *g = NULL;
    struct gw_comm *here = NULL;
    int *lowest = malloc(sizeof *lowest * (size_t)w->comm->size);
    int rc = group_here(w, lowest, &g);
    if (rc == GW_OK) rc = world_comm_create(w->comm, g, &here);
    if (g) group_release(g);
    free(lowest);
    if (rc == GW_OK) w->here = here;
    return rc;
}

void rma_here_close(struct rma_win *w)
{
    if (w->here && w->here != w->comm) world_comm_end(&w->here);
    free(w->leaders);
}
