/* topo.c -- topology objects and the communicators that get them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "topo/topo_private.h"

#include <stdlib.h>

#include "coll/coll.h"
#include "world/world.h"

struct gw_topo *topo_new(int kind, int64_t nints, int **ints_out)
{
    assert(nints >= 0);
    struct gw_topo *t = calloc(1, sizeof *t + sizeof(int) * (size_t)nints);
    if (!t) {
        gw_fail(GW_ENOMEM, "no memory for a topology of %lld numbers", (long long)nints);
        return NULL;
    }
    t->refs = 1;
    t->kind = kind;
    *ints_out = (int *)(t + 1);
    return t;
}

int *topo_take(int **ints, int n, const int *from)
{
    assert(n >= 0 && *ints);
    int *p = *ints;
    *ints += n;
    if (from && n > 0) memcpy(p, from, sizeof *p * (size_t)n);
    return p;
}

struct gw_topo *topo_finish(struct gw_topo *t, int rank, int size, int **ints)
{
    assert(rank >= 0 && rank < size);
    t->moves = (struct gw_topo_move *)topo_take(ints, 2 * (t->nin + t->nout), NULL);
    t->in_like = (struct gw_topo_like *)topo_take(ints, 2 * t->nin, NULL);
    t->out_like = (struct gw_topo_like *)topo_take(ints, 2 * t->nout, NULL);
    if (coll_neighbor_order(t, rank, size) == GW_OK) return t;
    comm_topo_release(t);
    return NULL;
}

int topo_make_comm(struct gw_comm *c, int n, const int *order, struct gw_comm **comm_out)
{
    assert(n >= 0 && n <= c->size);
    int32_t *map = malloc(sizeof *map * (size_t)(n > 0 ? n : 1));
    if (!map) return gw_fail(GW_ENOMEM, "no memory for %d ranks", n);
    for (int i = 0; i < n; i++) map[i] = group_world(c->group, order ? order[i] : i);
    struct gw_group *g;
    int rc = group_from_map(n, map, &g);
    free(map);
    if (rc != GW_OK) return rc;
    rc = world_comm_create(c, g, comm_out);
    group_release(g);
    return rc;
}

int topo_intra(const struct gw_comm *c)
{
    if (!c->remote) return GW_OK;
    return gw_fail(GW_ECOMM, "the communicator is an intercommunicator; topologies are for intracommunicators");
}

static const char *kind_name(int kind) { return kind == GW_CART ? "Cartesian" : kind == GW_GRAPH ? "graph" : "distributed graph"; }

int topo_want(const struct gw_comm *c, int kind)
{
    if (c->topo && c->topo->kind == kind) return GW_OK;
    if (!c->topo)
        return gw_fail(GW_ETOPOLOGY, "the communicator has no topology; this call needs one with a %s topology", kind_name(kind));
    return gw_fail(GW_ETOPOLOGY, "the communicator has a %s topology; this call needs a %s topology", kind_name(c->topo->kind),
                   kind_name(kind));
}

int topo_test(struct gw_comm *c, int *kind_out)
{
    *kind_out = c->topo ? c->topo->kind : GW_UNDEFINED;
    return GW_OK;
}
