/* std_doors.c -- the doors of other ABIs: who they are, and which of them an object's functions came through.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "facade/std_doors.h"

#include "facade/std_check.h"

const struct door_calls *std_doors[DOOR_COUNT];
struct door_known std_door_known;

GW_EXPORT struct door_known *godwit_door_known(void) { return &std_door_known; }

GW_EXPORT void godwit_door_open(enum door_abi abi, const struct door_calls *calls)
{
    assert(abi > DOOR_STD && abi < DOOR_COUNT);
    std_doors[abi] = calls;
}

GW_EXPORT void godwit_door_op(MPI_Op op, enum door_abi abi)
{
    struct gw_op *o = std_op(op);
    assert(o && abi < DOOR_COUNT);
    o->user.abi = (uint8_t)abi;
}

GW_EXPORT door_function *godwit_door_op_function(MPI_Op op, door_function *fn, enum door_abi abi)
{
    struct gw_op *o = std_op(op);
    if (!o || o->obj.predefined) return NULL;
    door_function *had = o->user.fn;
    assert(abi < DOOR_COUNT);
    o->user.fn = fn;
    o->user.abi = (uint8_t)abi;
    return had;
}

GW_EXPORT int godwit_door_keyval(int keyval, enum door_abi abi)
{
    struct gw_keyval *kv = (struct gw_keyval *)gw_obj_lookup((uint32_t)keyval, GW_KIND_KEYVAL);
    assert(kv && abi < DOOR_COUNT);
    kv->copy.abi = kv->del.abi = (uint8_t)abi;
    return kv->applies_to;
}

GW_EXPORT void godwit_door_errhandler(MPI_Errhandler eh, enum door_abi abi)
{
    struct gw_errhandler *e = std_errhandler(eh);
    assert(e && abi < DOOR_COUNT);
    e->user.abi = (uint8_t)abi;
}

GW_EXPORT void godwit_door_request(MPI_Request r, enum door_abi abi) { req_user_tag(std_request(r), (uint8_t)abi); }

GW_EXPORT void godwit_door_datarep(const char *name, enum door_abi abi) { io_rep_tag(name, (uint8_t)abi); }

GW_EXPORT int godwit_door_members(MPI_Comm h, enum door_members which)
{
    const struct gw_comm *c = std_comm(h);
    if (!c) return which == DOOR_RANK ? -1 : 0;
    if (which == DOOR_PEERS) return c->targets;
    if (which == DOOR_RANK) return c->rank;
    return which == DOOR_SOURCES ? std_indegree(c) : std_outdegree(c);
}

GW_EXPORT bool godwit_door_thrown(void) { return mpi_last_is_thrown(); }

GW_EXPORT int godwit_door_spawn_codes(void) { return world_spawn_codes(); }
