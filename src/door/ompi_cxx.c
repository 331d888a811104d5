/* ompi_cxx.c -- libmpi_cxx.so.40: what programs need of Open MPI's library for C++ that include its header and call C's functions, as nearly
 * all do.  The header has the rest of its classes inline; what those have who call MPI:: itself (MPI::COMM_WORLD and such) is not here.
 *
 * A client of the door, libmpi.so.40.  An object of MPI:: is the address of its virtual functions, and the handle.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#define DOOR_EXPORT __attribute__((visibility("default")))

struct object {
    const void *const *virtuals;
    void *handle;
};

_Static_assert(sizeof(struct object) == 16, "an object of MPI::, as the program's header lays it out");

extern char comm_null[] __asm__("ompi_mpi_comm_null");
extern int type_free(void **type) __asm__("MPI_Type_free");
extern int win_free(void **win) __asm__("MPI_Win_free");
/* The program has it where it makes datatypes of MPI:: itself. */
extern const void *const datatype_virtuals[] __asm__("_ZTVN3MPI8DatatypeE") __attribute__((weak));

/* MPI::Comm::Comm(), which constructors of the kinds of communicators call: they store the address of theirs. */
DOOR_EXPORT void cxx_comm(struct object *o) __asm__("_ZN3MPI4CommC2Ev");
void cxx_comm(struct object *o) { o->handle = comm_null; }

DOOR_EXPORT void cxx_type_free(struct object *o) __asm__("_ZN3MPI8Datatype4FreeEv");
void cxx_type_free(struct object *o) { type_free(&o->handle); }

DOOR_EXPORT void cxx_win_free(struct object *o) __asm__("_ZN3MPI3Win4FreeEv");
void cxx_win_free(struct object *o) { win_free(&o->handle); }

/* Calls a function of an MPI::Op, which takes the number itself and a reference of the datatype. */
typedef void cxx_function(const void *in, void *inout, int count, const struct object *type);
DOOR_EXPORT void ompi_mpi_cxx_op_intercept(void *in, void *inout, int *count, void **type, cxx_function *fn);
void ompi_mpi_cxx_op_intercept(void *in, void *inout, int *count, void **type, cxx_function *fn)
{
    struct object datatype = {datatype_virtuals ? datatype_virtuals + 2 : NULL, *type}; /* two words come before the functions */
    fn(in, inout, *count, &datatype);
}
