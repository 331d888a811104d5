/* mpich.h -- what fort.h leaves to the ABI, for MPICH: libmpichfort.so.12, also as libmpifort.so.12.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef FORT_MPICH_H
#define FORT_MPICH_H

#include "door.h"

_Static_assert(sizeof(MPI_Status) == 20, "the INTEGERs of a status");

/* ---- handles: C's ints, but files ---- */
static inline bool fort_are_plain(int all)
{
    (void)all;
    return true;
}
#define FORT_HANDLE(word, Type, Name)                                                                                              \
    static inline MPI_##Type fort_##word(int f) { return (MPI_##Type)(uintptr_t)(unsigned)f; }                                     \
    static inline MPI_##Type fort_##word##_quick(int f) { return fort_##word(f); }                                                 \
    static inline int fort_##word##_int(MPI_##Type h) { return (int)(uintptr_t)h; }
FORT_HANDLES(FORT_HANDLE)
#undef FORT_HANDLE

/* Predefined keys are one more in Fortran, by which MPICH knows who asks. */
enum { FORT_COMM_KEYS = MPI_TAG_UB >> 8, FORT_WIN_KEYS = MPI_WIN_BASE >> 8 };
static inline int fort_keyval_in(int keyval)
{
    bool is_predefined = keyval >> 8 == FORT_COMM_KEYS || keyval >> 8 == FORT_WIN_KEYS;
    return is_predefined && !(keyval & 1) ? keyval - 1 : keyval;
}

/* Under PMPI_ names mpi_f08 has procedures with names of their own. */
#ifdef FORT_PMPI
#define FORT_MODERN(name) extern __typeof__(F(name)) pmpir_##name __attribute__((alias(FORT_TEXT(F(name)))));
#else
#define FORT_MODERN(name)
#endif

#endif
