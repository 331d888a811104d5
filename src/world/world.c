/* world.c -- making communicators: dup, create, free.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "world/world_private.h"

#include <stdlib.h>

#include "base/base.h"
#include "plan/plan.h"

int world_party_whole(struct gw_comm *c, int leader, struct party *out)
{
    assert(leader >= 0 && leader < c->size);
    *out = (struct party){.c = c, .n = c->size, .me = (c->rank - leader + c->size) % c->size, .tag = TAG_WHOLE};
    out->ranks = malloc(sizeof *out->ranks * (size_t)c->size);
    if (!out->ranks) return gw_fail(GW_ENOMEM, "no memory for %d ranks", c->size);
    for (int i = 0; i < c->size; i++) out->ranks[i] = (leader + i) % c->size;
    return GW_OK;
}

int world_id_agree_whole(struct gw_comm *c, int n, uint32_t *id_out)
{
    assert(n > 0);
    struct bridge b = bridge_whole(c);
    struct party p;
    int rc = world_party_whole(c->remote ? c->local : c, 0, &p);
    if (rc != GW_OK) return rc;
    if (c->remote) p.bridge = &b;
    rc = world_id_agree(&p, n, id_out);
    free(p.ranks);
    return rc;
}

/* By MPI 4.1 section 7.4.2: attributes through their copy functions, the topology, hints of `info` only; not the name. */
int world_comm_copy_into(struct gw_comm *c, struct gw_info *info, struct gw_comm *new)
{
    new->topo = comm_topo_hold(c->topo);
    int rc = comm_set_info(new, info);
    return rc == GW_OK ? gw_attr_copy_all(&c->attrs, &c->obj, &new->attrs) : rc;
}

static int dup_with(struct gw_comm *c, struct gw_info *info, struct gw_comm **comm_out)
{
    uint32_t id;
    struct gw_comm *new;
    plan_enter(c, PLAN_MAKING, GW_ANY_SOURCE);
    int rc = world_id_agree_whole(c, c->remote ? 2 : 1, &id);
    if (rc != GW_OK) return rc;
    rc = c->remote ? comm_create_inter(c->group, c->remote, id, c, &new) : comm_create_object(c->group, id, c, &new);
    if (rc != GW_OK) return rc;
    rc = world_comm_copy_into(c, info, new);
    if (rc != GW_OK) {
        comm_release(new);
        return rc;
    }
    *comm_out = new;
    return GW_OK;
}

int world_comm_dup(struct gw_comm *c, struct gw_comm **comm_out) { return dup_with(c, NULL, comm_out); }

int world_comm_dup_with_info(struct gw_comm *c, struct gw_info *info, struct gw_comm **comm_out)
{
    return dup_with(c, info, comm_out);
}

int world_group_within(struct gw_group *g, struct gw_comm *c)
{
    struct gw_group *outside;
    int rc = group_difference(g, c->group, &outside);
    if (rc != GW_OK) return rc;
    int extra = outside->size, who = extra ? group_world(outside, 0) : 0;
    group_release(outside);
    if (!extra) return GW_OK;
    return gw_fail(GW_EGROUP, "%d members of the group are not in the communicator, the first is world rank %d", extra, who);
}

int world_comm_create(struct gw_comm *c, struct gw_group *group, struct gw_comm **comm_out)
{
    if (c->remote) return world_inter_create(c, group, comm_out);
    uint32_t id;
    struct gw_comm *new = NULL;
    int rc = world_group_within(group, c);
    plan_enter(c, PLAN_MAKING, GW_ANY_SOURCE);
    if (rc == GW_OK) rc = world_id_agree_whole(c, 1, &id);
    if (rc == GW_OK && group->rank != GW_UNDEFINED) rc = comm_create_object(group, id, c, &new);
    if (rc == GW_OK) *comm_out = new;
    return rc;
}

int world_comm_create_group(struct gw_comm *c, struct gw_group *group, int tag, struct gw_comm **comm_out)
{
    if (c->remote) return gw_fail(GW_ECOMM, "comm is an intercommunicator; MPI_Comm_create_group takes intracommunicators only");
    int rc = world_group_within(group, c);
    if (rc != GW_OK) return rc;
    if (group->rank == GW_UNDEFINED) {
        *comm_out = NULL;
        return GW_OK;
    }
    struct party p = {.c = c, .n = group->size, .me = group->rank, .tag = tag};
    int *places = malloc(sizeof *places * 2 * (size_t)p.n);
    if (!places) return gw_fail(GW_ENOMEM, "no memory for %d ranks", p.n);
    p.ranks = places + p.n;
    for (int i = 0; i < p.n; i++) places[i] = i;
    uint32_t id;
    rc = group_translate_ranks(group, p.n, places, c->group, p.ranks);
    if (rc == GW_OK) rc = world_id_agree(&p, 1, &id);
    if (rc == GW_OK) rc = comm_create_object(group, id, c, comm_out);
    free(places);
    return rc;
}

static int comm_end(struct gw_comm **c, bool is_users)
{
    struct gw_comm *old = *c;
    if (old->obj.predefined) return gw_fail(GW_ECOMM, "%s cannot be freed", old->name);
    int rc = gw_attr_delete_all(&old->attrs, &old->obj);
    if (rc != GW_OK) return rc;
    world_spawn_freed(old);
    if (is_users) comm_freed_note(old);
    gw_obj_unregister(&old->obj); /* the handle is invalid from now on; the object lives until its last operation is complete */
    comm_release(old);
    *c = NULL;
    return GW_OK;
}

int world_comm_free(struct gw_comm **c) { return comm_end(c, true); }
int world_comm_end(struct gw_comm **c) { return comm_end(c, false); }
