/* ompi.h -- what fort.h leaves to the ABI, for Open MPI: libmpi_mpifh.so.40, also as libmpi_usempif08.so.40 and
 * libmpi_usempi_ignore_tkr.so.40.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef FORT_OMPI_H
#define FORT_OMPI_H

#include "door.h"

_Static_assert(sizeof(MPI_Status) == 24, "the INTEGERs of a status");

/* ---- handles: numbers of Fortran's own ---- */
static inline bool fort_are_plain(int all)
{
    (void)all;
    return true;
}
#define FORT_HANDLE(word, Type, Name)                                                                                              \
    static inline MPI_##Type fort_##word(int f) { return PMPI_##Name##_f2c(f); }                                                   \
    static inline MPI_##Type fort_##word##_quick(int f) { return PMPI_##Name##_f2c(f); }                                           \
    static inline int fort_##word##_int(MPI_##Type h) { return PMPI_##Name##_c2f(h); }
FORT_HANDLES(FORT_HANDLE)
#undef FORT_HANDLE

static inline int fort_keyval_in(int keyval) { return keyval; }

#define FORT_MODERN(name)

#endif
