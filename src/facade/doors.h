/* doors.h -- the functions that the libraries of other ABIs (the doors) need beside the entry points of the standard ABI.
 *
 * A door (room `door`, a library of its own) converts the arguments of a program of another MPI library into the standard ABI and calls
 * the entry points under names that no program uses (godwit_MPI_*).  The arguments of a user's function must be converted back: each
 * object that holds such a function remembers the door that it was made through (struct gw_callback), and the library calls the function
 * through that door's struct door_calls.
 *
 * Handles in this file are those of the standard ABI.  No lock is held when a door calls a function of this file, or when the library
 * calls one of struct door_calls.  Functions that return int return an MPI error code, or what their comment says.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_FACADE_DOORS_H
#define GW_FACADE_DOORS_H

#include <stdbool.h>
#include <stdint.h>

#define MPI_NO_INLINED_CONVERSIONS /* the doors define theirs */
#include <mpi.h>

enum door_abi {
    DOOR_STD,
    DOOR_MPICH,
    DOOR_OMPI,
    DOOR_OMPI_CXX,
    DOOR_MPICH_CXX,
    DOOR_COUNT
}; /* value of gw_callback.abi; CXX: of MPI::, the C++ bindings */

typedef void door_function(void); /* of whichever kind */

/* Each function calls `fn`, a user's function with the signature of the door's own header, and returns what it returned.  Arguments and
 * results here are those of the standard ABI, error codes included; the door converts in both directions.  All may be called by any
 * thread, inside any MPI call.  Those of C++ (DOOR_*_CXX) have the members for the objects that they are told of, the others are NULL:
 * an object is tagged with a door that has what it needs.  Buffers, `extra` and values of attributes are the user's and are passed through. */
struct door_calls {
    /* A reduction of `count` elements.  wide: fn takes the count as MPI_Count, else as int. */
    void (*op)(door_function *fn, bool wide, void *in, void *inout, MPI_Count count, MPI_Datatype type);
    /* owner: MPI_Comm, MPI_Datatype or MPI_Win, as `kind` (enum gw_kind) says.  out: where fn stores the new value (a void **). */
    int (*attr_copy)(door_function *fn, int kind, void *owner, int keyval, void *extra, void *in, void *out, int *flag_out);
    int (*attr_delete)(door_function *fn, int kind, void *owner, int keyval, void *value, void *extra);
    void (*errhandler)(door_function *fn, int kind, void *on, int *code); /* on: MPI_Comm, MPI_Win, MPI_File or MPI_Session */
    /* Functions of generalized requests.  The query function fills `status`; its result is not converted.  result() converts a code that
     * one of these functions returned: free and cancel functions take no handles, so the library calls them itself. */
    int (*query)(door_function *fn, void *extra, MPI_Status *status);
    int (*result)(int code);
    /* Functions of a data representation (MPI_Register_datarep); *extent_out and count are bytes and elements. */
    int (*extent)(door_function *fn, MPI_Datatype type, MPI_Aint *extent_out, void *extra);
    int (*convert)(door_function *fn, bool wide, void *buf, MPI_Datatype type, MPI_Count count, void *file, void *extra);
    int (*safety)(int level); /* the door's constant for a level of MPI_T_cb_safety */
    int (*code)(int code);    /* the door's number of an error code */
    int (*answer)(int code);  /* the same of a call that failed, as the last thing it does: may throw an exception of C++ */
    const void *slow;         /* struct door_slow of the door's client.h */
};
/* The door announces itself when it is loaded, before anything is made through it.  `calls` must stay valid until the process ends. */
void godwit_door_open(enum door_abi abi, const struct door_calls *calls);

/* Handles that are addresses of variables (doors_ompi.h): which of the standard's predefined handles each stands for.  The door fills the
 * hash table when it is loaded, once; the library's own entry points for programs of that ABI (gen/hot.py) read it, too, and only for calls
 * that come through the door, which come later. */
enum { DOOR_PREDEFINED = 768, DOOR_HASH_BITS = 12 }; /* the standard's predefined handles lie below the first */
struct door_known {
    uint64_t factor;
    uint16_t ids[1 << DOOR_HASH_BITS];
    uintptr_t client[DOOR_PREDEFINED]; /* 0: the programs do not have it */
};
struct door_known *godwit_door_known(void);

/* Notes that the functions of this object came through that door.  Called right after the object was made, before another thread knows
 * it. */
void godwit_door_op(MPI_Op op, enum door_abi abi);
/* Its function is this one now, and is called as `abi` says; answers that which it had, or NULL where `op` is no operation of a user. */
door_function *godwit_door_op_function(MPI_Op op, door_function *fn, enum door_abi abi);
int godwit_door_keyval(int keyval, enum door_abi abi); /* answers what it is for: GW_KIND_COMM, GW_KIND_TYPE or GW_KIND_WIN */
void godwit_door_errhandler(MPI_Errhandler eh, enum door_abi abi);
void godwit_door_request(MPI_Request r, enum door_abi abi);
void godwit_door_datarep(const char *name, enum door_abi abi);

/* Lengths of the arrays that a call on `comm` takes: its peers (those of the remote group of an intercommunicator), its neighbours in a
 * topology; or the caller's rank.  0, or -1 for the rank, where `comm` is no communicator: the entry point reports that error. */
enum door_members { DOOR_PEERS, DOOR_SOURCES, DOOR_DESTINATIONS, DOOR_RANK };
int godwit_door_members(MPI_Comm comm, enum door_members which);
bool godwit_door_thrown(void);     /* the calling thread's last error went to MPI::ERRORS_THROW_EXCEPTIONS; said once */
int godwit_door_spawn_codes(void); /* the number of error codes that the calling thread's last spawn has stored */

/* The three calls of MPI_T that take callback functions, with the door that these came through. */
int godwit_door_event_callback(MPI_T_event_registration r, MPI_T_cb_safety safety, MPI_Info info, void *user_data,
                               MPI_T_event_cb_function *fn, enum door_abi abi);
int godwit_door_event_dropped(MPI_T_event_registration r, MPI_T_event_dropped_cb_function *fn, enum door_abi abi);
int godwit_door_event_free(MPI_T_event_registration r, void *user_data, MPI_T_event_free_cb_function *fn, enum door_abi abi);

#endif
