/* modules.h -- functions that an ABI's Fortran modules hold, by the names that gfortran gives them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef FORT_MODULES_H
#define FORT_MODULES_H

/* Handles are one INTEGER each: compared (is: == or !=), and turned into a handle of C that is the same. */
#define FORT_SAME(symbol, is)                                                                                                      \
    int symbol(const int *a, const int *b);                                                                                        \
    int symbol(const int *a, const int *b) { return *a is * b; }
/* What the modules call the kinds of handles. */
#define FORT_HANDLE_WORDS(X)                                                                                                       \
    X(comm) X(datatype) X(errhandler) X(file) X(group) X(info) X(message) X(op) X(request) X(session) X(win)
#define FORT_COPY(symbol)                                                                                                          \
    int symbol(const int *h);                                                                                                      \
    int symbol(const int *h) { return *h; }

/* MPI_Sizeof of what has `bytes` bytes. */
#define FORT_SIZEOF(symbol, bytes)                                                                                                 \
    void symbol(const void *x, int *size, int *ierror);                                                                            \
    void symbol(const void *x, int *size, int *ierror)                                                                             \
    {                                                                                                                              \
        (void)x;                                                                                                                   \
        *size = bytes;                                                                                                             \
        fort_return(ierror, MPI_SUCCESS);                                                                                          \
    }

#endif
