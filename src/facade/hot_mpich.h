/* hot_mpich.h -- the objects behind handles of the MPICH ABI (doors_mpich.h), NULL for what is not one of the usual ones.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_FACADE_HOT_MPICH_H
#define GW_FACADE_HOT_MPICH_H

#include "facade/std_codec.h"

#define HOT_REQUEST_NULL CLIENT_REQUEST_NULL

static const uint16_t hot_Datatype_index[256], hot_Op_index[256]; /* by the last byte of a predefined handle */

#define HOT_DYNAMIC(word, type, bits, kind)                                                                                        \
    GW_INLINE type *hot_##word##_made(int h, unsigned flip)                                                                        \
    {                                                                                                                              \
        uint32_t v = (uint32_t)h ^ DOOR_FORM(bits);                                                                                \
        return likely(door_is_dynamic(v)) ? (type *)gw_obj_lookup(door_dynamic_in(v ^ flip, kind), kind) : NULL;                   \
    }
HOT_DYNAMIC(comm, struct gw_comm, 1, GW_KIND_COMM)
HOT_DYNAMIC(type, struct gw_type, 3, GW_KIND_TYPE)
HOT_DYNAMIC(op, struct gw_op, 6, GW_KIND_OP)
HOT_DYNAMIC(win, struct rma_win, 8, GW_KIND_WIN)
HOT_DYNAMIC(request, struct gw_req, 11, GW_KIND_REQ)
#undef HOT_DYNAMIC

GW_INLINE struct gw_comm *hot_comm(client_Comm h)
{
    uint32_t v = (uint32_t)h - CLIENT_COMM_WORLD;
    if (likely(v <= CLIENT_COMM_SELF - CLIENT_COMM_WORLD)) return (struct gw_comm *)gw_predef[GW_H_COMM_WORLD + v];
    return hot_comm_made(h, 0);
}
GW_INLINE struct gw_type *hot_type(client_Datatype h)
{
    if (likely((uint32_t)h >> 16 == 0x4c00)) return (struct gw_type *)gw_predef[hot_Datatype_index[h & 255]];
    return hot_type_made(h, DOOR_TYPE_SLOTS);
}
GW_INLINE struct gw_op *hot_op(client_Op h)
{
    if (likely((uint32_t)h >> 8 == 0x580000)) return (struct gw_op *)gw_predef[hot_Op_index[h & 255]];
    return hot_op_made(h, 0);
}
GW_INLINE struct rma_win *hot_win(client_Win h) { return hot_win_made(h, 0); }
GW_INLINE struct gw_req *hot_request(client_Request h) { return hot_request_made(h, 0); }
GW_INLINE client_Request hot_request_handle(const struct gw_req *r) { return door_dynamic_out(r->obj.id, 11); }

#endif
