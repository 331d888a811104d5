/* ompi_cxx.h -- between the door of Open MPI's ABI (ompi.c) and its library for C++ (cxx/), which is a client of the door: the door needs it
 * only where a program has it.
 *
 * Handles and error codes are the program's.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_DOOR_OMPI_CXX_H
#define GW_DOOR_OMPI_CXX_H

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef void ompi_cxx_function(void); /* a user's, with MPI::'s signature of its kind */

struct ompi_cxx_calls {
    /* Call the function of an error handler; *code may change.  An exception that leaves the function is kept, and is thrown by failed(), so
     * that it passes through none of the library's frames. */
    void (*on_comm)(ompi_cxx_function *fn, void *comm, int *code);
    void (*on_win)(ompi_cxx_function *fn, void *win, int *code);
    void (*on_file)(ompi_cxx_function *fn, void *file, int *code);
    /* The last thing that an entry point of the door does when it answers an error, or has called an error handler: all that the call changes is
     * written, and nothing is held.  Throws what was kept, or MPI::Exception where `is_thrown` says so; else it returns. */
    void (*failed)(int code, int is_thrown);
};
/* Called when the library for C++ is loaded, before a program has made anything through it; `calls` stays valid until the process ends. */
void godwit_ompi_cxx(const struct ompi_cxx_calls *calls);

#ifndef __cplusplus
/* The function of this error handler, which was just made by MPI_Comm_create_errhandler() and such, has MPI::'s signature. */
void godwit_ompi_cxx_errhandler(client_Errhandler handler);
/* Programs call it: the function of this operation has MPI::'s signature. */
void ompi_op_set_cxx_callback(client_Op op, door_function *fn);
#else
void godwit_ompi_cxx_errhandler(MPI_Errhandler handler);
#endif

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
