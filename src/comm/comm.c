/* comm.c -- communicator objects: WORLD and SELF, creation and destruction, inquiries.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm_private.h"

#include <stdlib.h>

#include "boot/boot.h"
#include "boot/segment.h"
#include "boot/where.h"

struct gw_comm gw_comm_world, gw_comm_self;
struct comm_upcalls comm_upcalls;

int comm_my_world_rank(void) { return gw_boot.rank; }

/* Sets the group whose ranks messages are sent to. */
static void comm_aim(struct gw_comm *c, const struct gw_group *targets)
{
    c->targets = targets->size;
    c->peers = !targets->map && targets->step == 1 ? peer_get(c->lane, targets->first) : NULL;
}

static _Atomic uint32_t *context_of(struct gw_comm *c) { return (_Atomic uint32_t *)&c->ctx; }

static void comm_place(struct gw_comm *c, uint32_t ctx_id, struct gw_lane *lane)
{
    c->lane = lane;
    comm_aim(c, comm_target_group(c));
    /* [X1] pairs with the acquire in has_context(): a communicator that another thread finds by its context id is complete. */
    atomic_store_explicit(context_of(c), ctx_id << GW_STREAM_BITS, memory_order_release);
}

void comm_set_id(struct gw_comm *c, uint32_t ctx_id)
{
    bool on_lane_0 = ctx_id < 2 || ctx_id >= GW_CTX_ID_JOIN; /* WORLD, SELF; not known yet */
    struct gw_lane *lane = lane_use(on_lane_0 ? 0 : (int)(ctx_id % (uint32_t)gw_nlanes));
    if (peer_lane_open(lane) != GW_OK) gw_die("a communicator's lane: %s", gw_fail_text());
    comm_place(c, ctx_id, lane);
    if (c->local) comm_place(c->local, ctx_id + 1, c->lane);
}

/* A hash of the members.  Those of other jobs are left out, because each rank has different numbers for them; has_others_out: there are such. */
static uint64_t members_mark(const struct gw_group *group, bool *has_others_out)
{
    assert(group->size > 0);
    uint64_t hash = 0;
    for (int i = 0; i < group->size; i++) {
        int world = group_world(group, i);
        if (world >= gw_boot.size)
            *has_others_out = true;
        else
            hash = (hash + (uint64_t)world + 1) * 0x9e3779b97f4a7c15;
    }
    return hash >> BOOT_COLL_MARK << BOOT_COLL_MARK;
}

static void comm_fill(struct gw_comm *c, struct gw_group *group, uint32_t ctx_id, struct gw_errhandler *eh)
{
    assert(group->rank >= 0 && group->rank < group->size);
    c->rank = group->rank;
    c->size = group->size;
    c->colls = ctx_id > 0;
    c->group = group_hold(group);
    comm_set_id(c, ctx_id);
    c->errhandler = gw_errhandler_hold(eh);
    c->self = c->size == 1;
    c->mark = members_mark(group, &c->is_untuned);
    c->one_node = true;
    for (int i = 0; i < c->size && c->one_node; i++) c->one_node = boot_local_rank(group_world(group, i)) >= 0;
}

int comm_init(void)
{
    static struct gw_group world, self;
    gw_obj_predefine(&gw_group_empty.obj, GW_KIND_GROUP, GW_H_GROUP_EMPTY);
    world = (struct gw_group){.size = gw_boot.size, .rank = gw_boot.rank, .first = 0, .step = 1};
    self = (struct gw_group){.size = 1, .rank = 0, .first = gw_boot.rank, .step = 1};
    world.obj.predefined = self.obj.predefined = true; /* they need no handle: MPI_Comm_group makes an alias */
    memset(&gw_comm_world, 0, sizeof gw_comm_world);
    memset(&gw_comm_self, 0, sizeof gw_comm_self);
    gw_comm_world.obj.kind = gw_comm_self.obj.kind = GW_KIND_COMM;
    gw_comm_world.obj.predefined = gw_comm_self.obj.predefined = true;
    comm_fill(&gw_comm_world, &world, 0, gw_errhandler_initial());
    comm_fill(&gw_comm_self, &self, 1, gw_errhandler_initial());
    gw_comm_self.lane = &gw_lanes[0];
    gw_comm_self.peers = peer_get(gw_comm_self.lane, gw_boot.rank);
    strcpy(gw_comm_world.name, "MPI_COMM_WORLD");
    strcpy(gw_comm_self.name, "MPI_COMM_SELF");
    return GW_OK;
}

void comm_world_show(void)
{
    gw_obj_predefine(&gw_comm_world.obj, GW_KIND_COMM, GW_H_COMM_WORLD);
    gw_obj_predefine(&gw_comm_self.obj, GW_KIND_COMM, GW_H_COMM_SELF);
}

void comm_world_hide(void)
{
    gw_obj_unregister(&gw_comm_self.obj);
    gw_obj_unregister(&gw_comm_world.obj);
}

void comm_family_release(struct comm_family *f)
{
    if (f && atomic_fetch_sub_explicit(&f->refs, 1, memory_order_acq_rel) == 1) free(f);
}

void comm_topo_release(struct gw_topo *t)
{
    if (t && atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1) free(t);
}

/* Frees what a communicator owns; at finalize also called for WORLD and SELF. */
static void comm_empty(struct gw_comm *c)
{
    if (c->coll && comm_upcalls.free_coll) comm_upcalls.free_coll(c);
    if (c->bsend && comm_upcalls.free_bsend) comm_upcalls.free_bsend(c);
    if (c->errhandler) gw_errhandler_release(c->errhandler);
    if (c->group) group_release(c->group);
    if (c->remote) group_release(c->remote);
    if (c->local) comm_release(c->local);
    comm_topo_release(c->topo);
    comm_family_release(c->family);
    c->topo = NULL;
    c->family = NULL;
    c->errhandler = NULL;
    c->group = NULL;
}

void comm_finalize(void)
{
    comm_freed_forget();
    comm_empty(&gw_comm_self);
    comm_empty(&gw_comm_world);
    comm_world_hide();
    gw_obj_unregister(&gw_group_empty.obj);
}

void comm_join(struct gw_comm *c, struct comm_family *f)
{
    assert(!c->family);
    c->family = comm_family_hold(f);
    c->is_untuned |= f != NULL;
}

int comm_create_object(struct gw_group *group, uint32_t ctx_id, struct gw_comm *parent, struct gw_comm **comm_out)
{
    struct gw_comm *c = calloc(1, sizeof *c);
    if (!c) return gw_fail(GW_ENOMEM, "no memory for a communicator");
    int rc = gw_obj_register(&c->obj, GW_KIND_COMM);
    if (rc != GW_OK) {
        free(c);
        return rc;
    }
    comm_fill(c, group, ctx_id, parent->errhandler);
    comm_join(c, parent->family);
    *comm_out = c;
    return GW_OK;
}

int comm_create_inter(struct gw_group *group, struct gw_group *remote, uint32_t ctx_id, struct gw_comm *parent,
                      struct gw_comm **comm_out)
{
    assert(group->size > 0 && remote->size > 0);
    struct gw_comm *c, *local;
    int rc = comm_create_object(group, GW_CTX_ID_NONE, parent, &local);
    if (rc != GW_OK) return rc;
    rc = comm_create_object(group, GW_CTX_ID_NONE, parent, &c);
    if (rc != GW_OK) {
        comm_release(local);
        return rc;
    }
    c->remote = group_hold(remote);
    c->mark += members_mark(remote, &c->is_untuned);
    c->local = local;
    c->self = c->one_node = false;
    comm_set_id(c, ctx_id);
    *comm_out = c;
    return GW_OK;
}

void comm_destroy(struct gw_comm *c)
{
    uint32_t ctx_id = c->ctx >> GW_STREAM_BITS;
    /* The records of its collectives stay, because a late member may compare its call with them; but these context ids are used again. */
    if (ctx_id >= GW_CTX_ID_JOIN) boot_coll_forget(ctx_id);
    gw_obj_unregister(&c->obj);
    comm_empty(c);
    free(c);
}

static bool has_context(struct gw_obj *o, const void *ctx_id)
{
    uint32_t ctx = atomic_load_explicit(context_of(container_of(o, struct gw_comm, obj)), memory_order_acquire);
    return ctx >> GW_STREAM_BITS == *(const uint32_t *)ctx_id;
}

struct gw_comm *comm_by_context(uint32_t ctx_id)
{
    if (ctx_id == gw_comm_world.ctx >> GW_STREAM_BITS) return &gw_comm_world;
    if (ctx_id == gw_comm_self.ctx >> GW_STREAM_BITS) return &gw_comm_self;
    struct gw_obj *o = gw_obj_find(GW_KIND_COMM, has_context, &ctx_id);
    return o ? container_of(o, struct gw_comm, obj) : NULL;
}

int comm_size(struct gw_comm *c, int *size_out)
{
    *size_out = c->size;
    return GW_OK;
}

int comm_rank(struct gw_comm *c, int *rank_out)
{
    *rank_out = c->rank;
    return GW_OK;
}

int comm_compare(struct gw_comm *a, struct gw_comm *b, int *result_out)
{
    if (a == b) {
        *result_out = GW_IDENT;
        return GW_OK;
    }
    if (!a->remote != !b->remote) {
        *result_out = GW_UNEQUAL;
        return GW_OK;
    }
    int result, remote = GW_IDENT, rc = group_compare(a->group, b->group, &result);
    if (rc == GW_OK && a->remote) rc = group_compare(a->remote, b->remote, &remote);
    if (rc != GW_OK) return rc;
    if (result == GW_UNEQUAL || remote == GW_UNEQUAL)
        *result_out = GW_UNEQUAL;
    else
        *result_out = result == GW_IDENT && remote == GW_IDENT ? GW_CONGRUENT : GW_SIMILAR;
    return GW_OK;
}

int comm_group(struct gw_comm *c, struct gw_group **group_out)
{
    int rc = group_alias(c->group, group_out);
    if (rc == GW_OK) group_join(*group_out, c->family);
    return rc;
}

static int inter_check(const struct gw_comm *c)
{
    if (c->remote) return GW_OK;
    return gw_fail(GW_ECOMM, "%s is an intracommunicator, which has no remote group", c->name[0] ? c->name : "comm");
}

int comm_remote_size(struct gw_comm *c, int *size_out)
{
    int rc = inter_check(c);
    if (rc == GW_OK) *size_out = c->remote->size;
    return rc;
}

int comm_remote_group(struct gw_comm *c, struct gw_group **group_out)
{
    int rc = inter_check(c);
    if (rc == GW_OK) rc = group_alias(c->remote, group_out);
    if (rc == GW_OK) group_join(*group_out, c->family);
    return rc;
}

int comm_set_name(struct gw_comm *c, const char *name)
{
    size_t len = strnlen(name, sizeof c->name - 1); /* longer names are cut, as the standard says */
    memmove(c->name, name, len);
    c->name[len] = 0;
    return GW_OK;
}

int comm_get_name(struct gw_comm *c, char *name_out, int *len_out)
{
    const char *name = c ? c->name : "MPI_COMM_NULL";
    strcpy(name_out, name);
    *len_out = (int)strlen(name);
    return GW_OK;
}

int comm_test_inter(struct gw_comm *c, int *flag_out)
{
    *flag_out = c->remote != NULL;
    return GW_OK;
}

int comm_set_errhandler(struct gw_comm *c, struct gw_errhandler *eh)
{
    if (eh->applies_to != GW_KIND_NONE && eh->applies_to != GW_KIND_COMM)
        return gw_fail(GW_EERRHANDLER, "this error handler was not made by MPI_Comm_create_errhandler");
    struct gw_errhandler *old = c->errhandler;
    c->errhandler = gw_errhandler_hold(eh);
    gw_errhandler_release(old);
    return GW_OK;
}

int comm_get_errhandler(struct gw_comm *c, struct gw_errhandler **eh_out)
{
    *eh_out = gw_errhandler_hold(c->errhandler);
    return GW_OK;
}

int comm_set_attr(struct gw_comm *c, int keyval, void *value) { return gw_attr_set(&c->attrs, &c->obj, keyval, value); }

int comm_get_attr(struct gw_comm *c, int keyval, void **value_out, int *flag_out)
{
    int rc = gw_attr_get(&c->attrs, &c->obj, keyval, value_out, flag_out);
    /* MPI 4.1 section 9.1.2: MPI_TAG_UB is the only predefined attribute in the Sessions Model. */
    if (rc == GW_OK && c->family && keyval < (int)GW_ID_PREDEF_END && keyval != GW_TAG_UB) *flag_out = 0;
    return rc;
}

int comm_delete_attr(struct gw_comm *c, int keyval) { return gw_attr_delete(&c->attrs, &c->obj, keyval); }
