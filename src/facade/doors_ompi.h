/* doors_ompi.h -- the Open MPI ABI: handles are addresses, statuses have 24 bytes, special addresses are small numbers.
 *
 * A predefined handle is the address of a variable, which the dynamic linker may have put into the program (a copy relocation); so only
 * the door's own relocations say where it is, and a hash table, filled when the door is loaded, says what an address stands for.  No
 * variable has an odd address: what was made at run time is an odd number with the library's object id in it (obj/obj.h).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_FACADE_DOORS_OMPI_H
#define GW_FACADE_DOORS_OMPI_H

#include "base/base.h"
#include "obj/obj.h"

_Static_assert(sizeof(client_Status) == 24, "the status of Open MPI programs");
_Static_assert(GW_ID_PREDEF_END >= DOOR_PREDEFINED, "what was made at run time has an id above those of predefined objects");

enum { DOOR_FORTRAN = 96 }; /* Fortran's numbers lie below */
struct door_predefined {
    uintptr_t client; /* 0: the programs do not have it */
    const char *name;
};
extern const struct door_predefined door_predefined[DOOR_PREDEFINED];
extern const int16_t door_fortran_of[DOOR_PREDEFINED]; /* one more than the number; 0: none */
extern const uint16_t door_of_fortran[GW_KIND_COUNT][DOOR_FORTRAN];

/* ---- handles ---- */
extern struct door_known *door_known; /* the library's */
static inline unsigned door_slot(uintptr_t address, uint64_t factor)
{
    return (unsigned)(address * factor >> (64 - DOOR_HASH_BITS));
}
/* The standard's handle of a variable; 0: none, or one that the table does not hold. */
static inline uintptr_t door_look_up(const struct door_known *k, uintptr_t address)
{
    unsigned id = k->ids[door_slot(address, k->factor)];
    return likely(k->client[id] == address) ? id : 0;
}
static inline uintptr_t door_known_in(uintptr_t address) { return door_look_up(door_known, address); }
uintptr_t door_strange_in(uintptr_t h) GW_COLD; /* the rest: what the table does not hold, and what is no handle at all */
static inline uintptr_t door_predefined_in(uintptr_t h)
{
    uintptr_t id = door_known_in(h);
    return likely(id) ? id : door_strange_in(h);
}

static inline bool door_is_dynamic(uintptr_t h) { return h & 1; }
static inline uintptr_t door_dynamic_in(uintptr_t h) { return (h >> 1) + GW_ID_PREDEF_END; } /* so it is never a predefined one */
static inline uintptr_t door_any_in(uintptr_t h) { return door_is_dynamic(h) ? door_dynamic_in(h) : door_predefined_in(h); }
static inline uintptr_t door_dynamic_out(uintptr_t id) { return (id - GW_ID_PREDEF_END) << 1 | 1; }
static inline uintptr_t door_id_out(uintptr_t id)
{
    if (likely(id >= GW_ID_PREDEF_END)) return door_dynamic_out(id);
    assert(id < DOOR_PREDEFINED);
    return door_predefined[id].client;
}

#define DOOR_CODEC(word)                                                                                                           \
    static inline MPI_##word door_##word##_in(client_##word h) { return (MPI_##word)door_any_in((uintptr_t)h); }                   \
    static inline client_##word door_##word##_out(MPI_##word h) { return (client_##word)door_id_out((uintptr_t)h); }
DOOR_CODEC(Group)
DOOR_CODEC(Errhandler)
DOOR_CODEC(Info)
DOOR_CODEC(Message)
DOOR_CODEC(Session)
DOOR_CODEC(File)
DOOR_CODEC(Datatype)
DOOR_CODEC(Op)
#undef DOOR_CODEC

/* One of them is used far more than the others: it is looked for first. */
#define DOOR_CODEC_USUAL(word, usual)                                                                                              \
    static inline MPI_##word door_##word##_in(client_##word h)                                                                     \
    {                                                                                                                              \
        return likely(h == CLIENT_##usual) ? MPI_##usual : (MPI_##word)door_any_in((uintptr_t)h);                                  \
    }                                                                                                                              \
    static inline client_##word door_##word##_out(MPI_##word h) { return (client_##word)door_id_out((uintptr_t)h); }
DOOR_CODEC_USUAL(Comm, COMM_WORLD)
DOOR_CODEC_USUAL(Request, REQUEST_NULL)
DOOR_CODEC_USUAL(Win, WIN_NULL)
#undef DOOR_CODEC_USUAL

/* ---- special addresses ---- */
static inline const int *door_unweighted(void) { return CLIENT_UNWEIGHTED; }
static inline const int *door_weights_empty(void) { return CLIENT_WEIGHTS_EMPTY; }
static inline MPI_T_pvar_handle door_pvar_handle_in(MPI_T_pvar_handle h)
{
    return h == CLIENT_T_PVAR_ALL_HANDLES ? MPI_T_PVAR_ALL_HANDLES : h;
}

/* ---- statuses ---- */
_Static_assert(offsetof(struct gw_status, cancelled) == offsetof(MPI_Status, MPI_internal), "where what the library keeps begins");
static inline void door_status_load(const client_Status *from, MPI_Status *to)
{
    *to =
        (MPI_Status){.MPI_SOURCE = door_rank_in_any(from->SOURCE), .MPI_TAG = door_tag_in_any(from->TAG), .MPI_ERROR = from->ERROR};
    to->MPI_internal[0] = from->_cancelled;
    to->MPI_internal[1] = (int)(uint32_t)from->_ucount;
    to->MPI_internal[2] = (int)(uint32_t)((uint64_t)from->_ucount >> 32);
}
/* All but the error field. */
static inline void door_status_fill(const MPI_Status *from, client_Status *to)
{
    to->SOURCE = door_rank_out(from->MPI_SOURCE);
    to->TAG = door_tag_out(from->MPI_TAG);
    to->_cancelled = from->MPI_internal[0];
    to->_ucount = (uint64_t)(uint32_t)from->MPI_internal[2] << 32 | (uint32_t)from->MPI_internal[1];
}

#endif
