/* doors_mpich.h -- the MPICH ABI: handles are ints, statuses have 20 bytes, some special addresses are variables.
 *
 * A handle:  bits 31-30 its form (1 predefined, 2 and 3 others), 29-26 kind of object, 25-0 the rest.  What was made at run time has the
 * library's object id in it (obj/obj.h): bit 31 set, bit 30 the highest of the five bits of the id's generation, below the kind the
 * other four and the slot.  So the way is a few instructions in either direction, and no table is needed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_FACADE_DOORS_MPICH_H
#define GW_FACADE_DOORS_MPICH_H

#include "base/base.h"
#include "obj/obj.h"

#include <string.h>

_Static_assert(sizeof(client_Status) == 20, "the status of MPICH programs");
_Static_assert(GW_ID_SLOT_BITS == 22 && GW_ID_GEN_BITS == 5, "how an id fits into a handle");

struct door_predefined {
    uintptr_t client; /* 0: the programs do not have it */
    const char *name;
};
extern const struct door_predefined door_predefined[DOOR_PREDEFINED];
extern const uint16_t door_Datatype_index[256], door_Op_index[256];

/* What is neither of the usual forms: another predefined handle, one of another kind, or none at all.  The predefined ones of the kind that is
 * asked for are door_predefined[first .. first + n). */
uintptr_t door_strange_in(int h, unsigned first, unsigned n) GW_COLD;

/* The form of what was made at run time, by the number of its kind. */
#define DOOR_FORM(bits) (1u << 31 | (unsigned)(bits) << 26)
enum {
    DOOR_COMM = 1,
    DOOR_GROUP = 2,
    DOOR_DATATYPE = 3,
    DOOR_ERRHANDLER = 5,
    DOOR_OP = 6,
    DOOR_INFO = 7,
    DOOR_WIN = 8,
    DOOR_REQUEST = 11,
    DOOR_MESSAGE = 12,
    DOOR_SESSION = 14
};
static inline bool door_is_dynamic(uint32_t v) { return likely(!(v & 0xbc000000u)); } /* v: handle ^ DOOR_FORM */
static inline uintptr_t door_dynamic_in(uint32_t v, enum gw_kind kind)
{
    return (v & 0x03ffffffu) | (v >> 4 & 1u << 26) | (uintptr_t)kind << (GW_ID_SLOT_BITS + GW_ID_GEN_BITS);
}
/* The id of what was made at run time; 0: the handle has another form. */
static inline uintptr_t door_made_in(int h, unsigned bits, enum gw_kind kind)
{
    uint32_t v = (uint32_t)h ^ DOOR_FORM(bits);
    return door_is_dynamic(v) ? door_dynamic_in(v, kind) : 0;
}
static inline int door_dynamic_out(uintptr_t id, unsigned bits)
{
    return (int)((id & 0x03ffffffu) | (id & 1u << 26) << 4 | DOOR_FORM(bits));
}
static inline int door_id_out(uintptr_t id, unsigned bits)
{
    if (likely(id >= GW_ID_PREDEF_END)) return door_dynamic_out(id, bits);
    assert(id < DOOR_PREDEFINED);
    return (int)door_predefined[id].client;
}

#define DOOR_CODEC(word, bits, kind, first, n)                                                                                     \
    static inline MPI_##word door_##word##_in(client_##word h)                                                                     \
    {                                                                                                                              \
        uintptr_t id = door_made_in(h, bits, kind);                                                                                \
        return (MPI_##word)(likely(id) ? id : door_strange_in(h, first, n));                                                       \
    }                                                                                                                              \
    static inline client_##word door_##word##_out(MPI_##word h) { return door_id_out((uintptr_t)h, bits); }
DOOR_CODEC(Group, DOOR_GROUP, GW_KIND_GROUP, 264, 8)
DOOR_CODEC(Errhandler, DOOR_ERRHANDLER, GW_KIND_ERRHANDLER, 320, 8)
DOOR_CODEC(Info, DOOR_INFO, GW_KIND_INFO, 304, 8)
DOOR_CODEC(Win, DOOR_WIN, GW_KIND_WIN, 272, 8)
DOOR_CODEC(Request, DOOR_REQUEST, GW_KIND_REQ, 384, 1)
DOOR_CODEC(Message, DOOR_MESSAGE, GW_KIND_MSG, 296, 8)
DOOR_CODEC(Session, DOOR_SESSION, GW_KIND_SESSION, 288, 8)
#undef DOOR_CODEC

/* Predefined handles that are used most; they are looked for first. */
_Static_assert(CLIENT_COMM_SELF == CLIENT_COMM_WORLD + 1 && GW_H_COMM_SELF == GW_H_COMM_WORLD + 1, "in one order");
static inline bool door_is_usual_comm(client_Comm h)
{
    return (uint32_t)h - CLIENT_COMM_WORLD <= CLIENT_COMM_SELF - CLIENT_COMM_WORLD;
}
static inline MPI_Comm door_Comm_in(client_Comm h)
{
    if (likely(door_is_usual_comm(h))) return (MPI_Comm)((uintptr_t)MPI_COMM_WORLD + (uint32_t)h - CLIENT_COMM_WORLD);
    uintptr_t id = door_made_in(h, DOOR_COMM, GW_KIND_COMM);
    return (MPI_Comm)(likely(id) ? id : door_strange_in(h, 256, 8));
}
static inline client_Comm door_Comm_out(MPI_Comm h) { return door_id_out((uintptr_t)h, DOOR_COMM); }

static inline bool door_is_usual_op(client_Op h) { return (uint32_t)h >> 8 == 0x580000; } /* the last byte numbers them */
static inline MPI_Op door_Op_in(client_Op h)
{
    uintptr_t id = likely(door_is_usual_op(h)) ? door_Op_index[h & 255] : door_made_in(h, DOOR_OP, GW_KIND_OP);
    return (MPI_Op)(likely(id) ? id : door_strange_in(h, 32, 32));
}
static inline client_Op door_Op_out(MPI_Op h) { return door_id_out((uintptr_t)h, DOOR_OP); }

/* The pairs with gaps (MPI_FLOAT_INT and so on) are not of form 1 but the first five of form 2; so slots count from the end, and what
 * these five would be the ids of is never an object. */
#define DOOR_TYPE_SLOTS ((1u << GW_ID_SLOT_BITS) - 1)
static inline bool door_is_usual_type(client_Datatype h) { return (uint32_t)h >> 16 == 0x4c00; } /* the last byte numbers them */
static inline bool door_is_pair(client_Datatype h) { return (uint32_t)h - DOOR_FORM(DOOR_DATATYPE) < 5; }
static inline uintptr_t door_type_made_in(client_Datatype h)
{
    uintptr_t id = door_made_in(h, DOOR_DATATYPE, GW_KIND_TYPE);
    return likely(id) ? id ^ DOOR_TYPE_SLOTS : 0;
}
static inline MPI_Datatype door_Datatype_in(client_Datatype h)
{
    uintptr_t id = likely(door_is_usual_type(h)) ? door_Datatype_index[h & 255] : door_is_pair(h) ? 0 : door_type_made_in(h);
    return (MPI_Datatype)(likely(id) ? id : door_strange_in(h, 512, 256));
}
static inline client_Datatype door_Datatype_out(MPI_Datatype h)
{
    uintptr_t id = (uintptr_t)h;
    return door_id_out(id < GW_ID_PREDEF_END ? id : id ^ DOOR_TYPE_SLOTS, DOOR_DATATYPE);
}

/* Files are pointers: the id, or NULL. */
static inline MPI_File door_File_in(client_File h)
{
    uintptr_t id = (uintptr_t)h;
    return (MPI_File)(id >= GW_ID_PREDEF_END ? id : id == 0 ? (uintptr_t)MPI_FILE_NULL : id | 1ull << 32);
}
static inline client_File door_File_out(MPI_File h) { return (client_File)(h == MPI_FILE_NULL ? 0 : (uintptr_t)h); }

enum { CLIENT_GPU_FIRST = 0, CLIENT_GPU_LAST = 2 }; /* MPIX_GPU_SUPPORT_* */

/* MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY are variables, and have the standard's values. */
static inline const int *door_unweighted(void) { return MPI_UNWEIGHTED; }
static inline const int *door_weights_empty(void) { return MPI_WEIGHTS_EMPTY; }
static inline MPI_T_pvar_handle door_pvar_handle_in(MPI_T_pvar_handle h) { return h; } /* so has MPI_T_PVAR_ALL_HANDLES */

/* ---- statuses: the high part of the count above the mark of cancelled requests ---- */
_Static_assert(offsetof(struct gw_status, cancelled) == offsetof(MPI_Status, MPI_internal), "where what the library keeps begins");
static inline void door_status_load(const client_Status *from, MPI_Status *to)
{
    *to =
        (MPI_Status){.MPI_SOURCE = door_rank_in_any(from->SOURCE), .MPI_TAG = door_tag_in_any(from->TAG), .MPI_ERROR = from->ERROR};
    to->MPI_internal[0] = from->count_hi_and_cancelled & 1;
    to->MPI_internal[1] = from->count_lo;
    to->MPI_internal[2] = (int)((uint32_t)from->count_hi_and_cancelled >> 1);
}
_Static_assert(offsetof(client_Status, TAG) == offsetof(client_Status, SOURCE) + 4 && offsetof(MPI_Status, MPI_TAG) == 4,
               "two at a time");
_Static_assert(offsetof(client_Status, count_hi_and_cancelled) == offsetof(client_Status, count_lo) + 4, "two at a time");
/* All but the error field. */
static inline void door_status_fill(const MPI_Status *from, client_Status *to)
{
    const uint64_t wild = (uint32_t)MPI_ANY_SOURCE | (uint64_t)(uint32_t)MPI_ANY_TAG << 32;
    uint64_t count, both; /* the bytes; source and tag */
    memcpy(&count, &from->MPI_internal[1], 8);
    memcpy(&both, &from->MPI_SOURCE, 8);
    memcpy(&to->count_lo, &count, 8);
    if (both == wild) { /* a send's */
        both = (uint32_t)CLIENT_ANY_SOURCE | (uint64_t)(uint32_t)CLIENT_ANY_TAG << 32;
    } else if (unlikely(both & 0x8000000080000000)) {
        int source = door_rank_out((int)both), tag = door_tag_out((int)(both >> 32));
        both = (uint32_t)source | (uint64_t)(uint32_t)tag << 32;
    }
    memcpy(&to->SOURCE, &both, 8);
    if (unlikely(count >> 32 | (unsigned)from->MPI_internal[0]))
        to->count_hi_and_cancelled = (int)(uint32_t)(count >> 32 << 1) | (from->MPI_internal[0] != 0);
}

#endif
