/* hot_ompi.h -- the objects behind handles of the Open MPI ABI (doors_ompi.h), NULL for what is not one of the usual ones.  Its
 * client.h comes before it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_FACADE_HOT_OMPI_H
#define GW_FACADE_HOT_OMPI_H

#include "facade/std_codec.h"
#include "facade/std_doors.h"

#define HOT_REQUEST_NULL ((client_Request)std_door_known.client[GW_H_REQUEST_NULL])

GW_INLINE struct gw_obj *hot_made(const void *h, enum gw_kind kind)
{
    return likely(door_is_dynamic((uintptr_t)h)) ? gw_obj_lookup(door_dynamic_in((uintptr_t)h), kind) : NULL;
}
GW_INLINE struct gw_comm *hot_comm(client_Comm h)
{
    if (likely((uintptr_t)h == std_door_known.client[GW_H_COMM_WORLD])) return (struct gw_comm *)gw_predef[GW_H_COMM_WORLD];
    return (struct gw_comm *)hot_made(h, GW_KIND_COMM);
}
#define HOT_KNOWN(word, handle, type, kind)                                                                                        \
    GW_INLINE type *hot_##word(handle h)                                                                                           \
    {                                                                                                                              \
        if (unlikely(door_is_dynamic((uintptr_t)h))) return (type *)hot_made(h, kind);                                             \
        uintptr_t id = door_look_up(&std_door_known, (uintptr_t)h);                                                                \
        return likely(gw_id_is_predefined(id, kind)) ? (type *)gw_predef[id] : NULL;                                               \
    }
HOT_KNOWN(type, client_Datatype, struct gw_type, GW_KIND_TYPE)
HOT_KNOWN(op, client_Op, struct gw_op, GW_KIND_OP)
#undef HOT_KNOWN
GW_INLINE struct rma_win *hot_win(client_Win h)
{
    return likely(door_is_dynamic((uintptr_t)h)) ? rma_win_by_id(door_dynamic_in((uintptr_t)h)) : NULL;
}
GW_INLINE struct gw_req *hot_request(client_Request h) { return (struct gw_req *)hot_made(h, GW_KIND_REQ); }
GW_INLINE client_Request hot_request_handle(const struct gw_req *r) { return (client_Request)door_dynamic_out(r->obj.id); }

#endif
