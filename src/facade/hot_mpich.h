/* hot_mpich.h -- the objects behind handles of the MPICH ABI (doors_mpich.h), NULL for what is not one of the usual ones.  Its client.h
 * comes before it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_FACADE_HOT_MPICH_H
#define GW_FACADE_HOT_MPICH_H

#include "facade/std_codec.h"

#define HOT_REQUEST_NULL CLIENT_REQUEST_NULL

static const uint16_t hot_Datatype_index[256], hot_Op_index[256]; /* by the last byte of a predefined handle */

GW_INLINE struct gw_obj *hot_made(uintptr_t id, enum gw_kind kind) { return likely(id) ? gw_obj_lookup(id, kind) : NULL; }
GW_INLINE struct gw_comm *hot_comm(client_Comm h)
{
    if (likely(door_is_usual_comm(h))) return (struct gw_comm *)gw_predef[GW_H_COMM_WORLD + (uint32_t)h - CLIENT_COMM_WORLD];
    return (struct gw_comm *)hot_made(door_made_in(h, DOOR_COMM, GW_KIND_COMM), GW_KIND_COMM);
}
GW_INLINE struct gw_type *hot_type(client_Datatype h)
{
    if (likely(door_is_usual_type(h))) return (struct gw_type *)gw_predef[hot_Datatype_index[h & 255]];
    return (struct gw_type *)hot_made(door_type_made_in(h), GW_KIND_TYPE);
}
GW_INLINE struct gw_op *hot_op(client_Op h)
{
    if (likely(door_is_usual_op(h))) return (struct gw_op *)gw_predef[hot_Op_index[h & 255]];
    return (struct gw_op *)hot_made(door_made_in(h, DOOR_OP, GW_KIND_OP), GW_KIND_OP);
}
GW_INLINE struct rma_win *hot_win(client_Win h)
{
    uintptr_t id = door_made_in(h, DOOR_WIN, GW_KIND_WIN);
    return likely(id) ? rma_win_by_id(id) : NULL;
}
GW_INLINE struct gw_req *hot_request(client_Request h)
{
    return (struct gw_req *)hot_made(door_made_in(h, DOOR_REQUEST, GW_KIND_REQ), GW_KIND_REQ);
}
GW_INLINE client_Request hot_request_handle(const struct gw_req *r) { return door_dynamic_out(r->obj.id, DOOR_REQUEST); }

#endif
