/* door.h -- what the entry points of every door need: how they are made, and how arguments and results change over.
 *
 * This folder is compiled once for each door, with the generated client.h of its ABI (types and constants of the programs) and the
 * codec of its handles, statuses and special addresses (facade/doors_mpich.h, doors_ompi.h).  client_X is the programs' MPI_X, MPI_X
 * the standard's.  door_X_in() is given what a program passed and returns what the library takes; door_X_out() is the other way.
 * Anything may come in: what means nothing becomes something that the library refuses in its own words.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_DOOR_DOOR_H
#define GW_DOOR_DOOR_H

#include "base/base.h"
#include "client.h"

#include <limits.h>

#define DOOR_EXPORT __attribute__((visibility("default")))

/* Head of the entry point PMPI_##name, with its weak alias MPI_##name; core_##name is the library's. */
#define DOOR(type, name, parameters)                                                                                               \
    extern __typeof__(PMPI_##name) core_##name __asm__("godwit_MPI_" #name);                                                       \
    DOOR_OWN(type, name, parameters)
/* The same for what the standard does not have. */
#define DOOR_OWN(type, name, parameters)                                                                                           \
    DOOR_EXPORT type client_##name parameters __asm__("PMPI_" #name);                                                              \
    extern __typeof__(client_##name) weak_##name __asm__("MPI_" #name)                                                             \
        __attribute__((weak, alias("PMPI_" #name), visibility("default")));                                                        \
    DOOR_EXPORT type client_##name parameters
#define DOOR_CORE(name) extern __typeof__(PMPI_##name) core_##name __asm__("godwit_MPI_" #name)

/* ---- constants ---- */
int door_code_in(int code) GW_COLD; /* error classes and codes, also those that users added */
int door_code_out(int code) GW_COLD;
/* What an entry point answers.  The last thing it does: in a program of C++ an error may be thrown from here (ompi.c). */
int door_failed(int code) GW_COLD;
int door_handled(int code,
                 int handled) GW_COLD; /* of a call that, where it did not fail, has called the error handler for `handled` */
static inline int door_code(int rc) { return likely(rc == MPI_SUCCESS) ? rc : door_failed(rc); }
void door_codes_out(int *codes, int n);
int door_is_root(client_Comm comm, int root);
bool door_is_no_status(const void *s) GW_COLD; /* NULL, or an address that says that no status is wanted, in C or Fortran */

/* ---- arrays: on the stack while they are short ---- */
enum { DOOR_STACK = 64 };
void *door_memory(int64_t n, size_t size) GW_COLD; /* never NULL: the process ends where there is none */
void door_memory_free(void *array) GW_COLD;
static inline void *door_array(void *stack, int64_t n, size_t size)
{
    return likely(n <= DOOR_STACK) ? stack : door_memory(n, size);
}
static inline void door_array_free(void *array, void *stack)
{
    if (unlikely(array != stack) && array) door_memory_free(array);
}
/* NULL stays NULL, so that the library can say so. */
const int *door_ints_copy(const int *from, int64_t n, int *stack, int (*change)(int));
static inline int *door_ints_in(const int *from, int64_t n, int *stack, int (*change)(int))
{
    return from ? (int *)(uintptr_t)door_ints_copy(from, n, stack, change) : NULL;
}

#define DOOR_HANDLES(word)                                                                                                         \
    static inline MPI_##word *door_##word##s_in(const client_##word *from, int64_t n, MPI_##word *stack)                           \
    {                                                                                                                              \
        MPI_##word *to = from ? door_array(stack, n, sizeof *to) : NULL;                                                           \
        for (int64_t i = 0; to && i < n; i++) to[i] = door_##word##_in(from[i]);                                                   \
        return to;                                                                                                                 \
    }
DOOR_HANDLES(Request)
DOOR_HANDLES(Datatype)
DOOR_HANDLES(Info)
#undef DOOR_HANDLES
/* Only what changed is written: another thread may read its own request's slot meanwhile. */
static inline void door_Requests_changed(const MPI_Request *from, int64_t n, client_Request *to)
{
    for (int64_t i = 0; from && i < n; i++)
        if (from[i] == MPI_REQUEST_NULL && to[i] != CLIENT_REQUEST_NULL) to[i] = CLIENT_REQUEST_NULL;
}
MPI_Datatype *door_Datatypes_new(const client_Datatype *to, int64_t n, MPI_Datatype *stack);
void door_Datatypes_out(const MPI_Datatype *from, int64_t n, client_Datatype *to); /* those that were set */
void door_contents_out(MPI_Datatype type, int n, int *ints); /* constants among the integers that a datatype was made with */

/* ---- statuses ---- */
MPI_Status *door_statuses_begin(client_Status *s, int64_t n, MPI_Status *stack);
void door_statuses_end(const MPI_Status *mine, int64_t n, client_Status *s, int rc);

/* ---- special addresses, users' functions, attributes, texts ---- */
void door_buffer_out(void *address_of_buffer);
const int *door_weights_const(const int *weights);
static inline int *door_weights_in(const int *weights) { return (int *)(uintptr_t)door_weights_const(weights); }
door_function *door_copy_in(door_function *fn);
door_function *door_delete_in(door_function *fn);
/* Values that stand for constants are shown to the program as its own. */
void door_attribute_out(int client_keyval, void *address_of_value);
const char *door_string_in(const char *text, int most); /* what is as long as `most` the library refuses as too long */
void door_string_out(const char *from, char *to, int most, int *length_out); /* most: with the 0 */
void *door_object_in(const void *handle, uintptr_t *mine); /* the object of an MPI_T handle: a pointer to a handle of any kind */

#endif
