/* doors.h -- what the doors of other ABIs need of the library beside its entry points.
 *
 * A door (room door, a library of its own) turns what a program of another MPI library passes into terms of the standard ABI and calls
 * the entry points, which it finds under names that no program uses (godwit_MPI_*).  What a user's function is called with must be
 * turned back: so each object that holds one remembers the door that it was made through (struct gw_callback), and the call goes by
 * that door's struct door_calls.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_FACADE_DOORS_H
#define GW_FACADE_DOORS_H

#include <stdbool.h>

#include <mpi.h>

enum door_abi { DOOR_STD, DOOR_MPICH, DOOR_OMPI, DOOR_COUNT }; /* gw_callback.abi */

/* Each calls `fn`, a user's function with the signature of the door's own header.  Handles, keys and error codes are those of the
 * standard ABI on both sides; the door converts. */
struct door_calls {
    void (*op)(void (*fn)(void), bool wide, void *in, void *inout, MPI_Count count,
               MPI_Datatype type); /* wide, or count is an int */
    /* owner: MPI_Comm, MPI_Datatype or MPI_Win, as `kind` (enum gw_kind) says */
    int (*attr_copy)(void (*fn)(void), int kind, void *owner, int keyval, void *extra, void *in, void *out, int *flag_out);
    int (*attr_delete)(void (*fn)(void), int kind, void *owner, int keyval, void *value, void *extra);
    void (*errhandler)(void (*fn)(void), int kind, void *on, int *code); /* on: MPI_Comm, MPI_Win, MPI_File or MPI_Session */
    int (*query)(void (*fn)(void), void *extra, MPI_Status *status);     /* answers what fn did, in the door's code */
    int (*result)(int code);                                             /* what a function of a generalized request answered */
    int (*extent)(void (*fn)(void), MPI_Datatype type, MPI_Aint *extent_out, void *extra);
    int (*convert)(void (*fn)(void), bool wide, void *buf, MPI_Datatype type, MPI_Count count, void *file, void *extra);
    int (*safety)(int level); /* of the functions for events: the door's word for it */
};
/* Called when the door is loaded, before anything is made through it.  The struct is static. */
void godwit_door_open(enum door_abi abi, const struct door_calls *calls);

/* These functions came through a door; called right after the object was made, before anybody else knows it. */
void godwit_door_op(MPI_Op op, enum door_abi abi);
void godwit_door_keyval(int keyval, enum door_abi abi);
void godwit_door_errhandler(MPI_Errhandler eh, enum door_abi abi);
void godwit_door_request(MPI_Request r, enum door_abi abi);
void godwit_door_datarep(const char *name, enum door_abi abi);

/* How long arrays are that go with a communicator: as many as it has peers (remote ones, if any), or neighbours; or this process's rank
 * in it.  0, or -1 for the rank, where `comm` is none: the call itself says so. */
enum door_members { DOOR_PEERS, DOOR_SOURCES, DOOR_DESTINATIONS, DOOR_RANK };
int godwit_door_members(MPI_Comm comm, enum door_members which);
int godwit_door_spawn_codes(void); /* how many error codes this thread's last spawn has stored */

/* The three calls that take functions for events. */
int godwit_door_event_callback(MPI_T_event_registration r, MPI_T_cb_safety safety, MPI_Info info, void *user_data,
                               MPI_T_event_cb_function *fn, enum door_abi abi);
int godwit_door_event_dropped(MPI_T_event_registration r, MPI_T_event_dropped_cb_function *fn, enum door_abi abi);
int godwit_door_event_free(MPI_T_event_registration r, void *user_data, MPI_T_event_free_cb_function *fn, enum door_abi abi);

#endif
