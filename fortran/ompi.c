/* ompi.c -- what programs of Open MPI's mpif.h and modules refer to beside the routines: common blocks, variables and functions of modules.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fort.h"
#include "modules.h"

/* ---- special variables: the C half has them, too, as what is the program's own is at its place ---- */
extern int mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_status_ignore_[], mpi_fortran_statuses_ignore_[];
extern int mpi_fortran_errcodes_ignore_, mpi_fortran_unweighted_, mpi_fortran_weights_empty_, mpi_fortran_buffer_automatic_;
extern char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;

const struct fort_special fort_specials[] = {
    {&mpi_fortran_bottom_, FORT_BOTTOM},
    {&mpi_fortran_in_place_, FORT_IN_PLACE},
    {mpi_fortran_status_ignore_, FORT_IGNORE},
    {mpi_fortran_statuses_ignore_, FORT_IGNORE},
    {&mpi_fortran_errcodes_ignore_, FORT_IGNORE},
    {&mpi_fortran_unweighted_, FORT_UNWEIGHTED},
    {&mpi_fortran_weights_empty_, FORT_WEIGHTS_EMPTY},
    {&mpi_fortran_buffer_automatic_, FORT_AUTOMATIC},
    {&mpi_fortran_argv_null_, FORT_NO_TEXTS},
    {&mpi_fortran_argvs_null_, FORT_NO_TEXTS},
    {NULL, FORT_NOTHING},
};
_Static_assert(sizeof fort_specials / sizeof *fort_specials <= FORT_SPECIALS + 1, "the last one says that there are no more");

/* ---- modules ---- */
#define COMPARE(word)                                                                                                              \
    FORT_SAME(__mpi_f08_types_MOD_ompi_##word##_op_eq, ==)                                                                         \
    FORT_SAME(__mpi_f08_types_MOD_ompi_##word##_op_ne, !=)
FORT_HANDLE_WORDS(COMPARE)

void mpi_f_sync_reg_f08_(const void *buf);
void pmpi_f_sync_reg_f08_(const void *buf);
void mpi_f_sync_reg_f08_(const void *buf) { (void)buf; }
void pmpi_f_sync_reg_f08_(const void *buf) { (void)buf; }

/* MPI_Sizeof: a function for each type and rank. */
#define SIZEOF_RANK(word, rank, bytes)                                                                                             \
    FORT_SIZEOF(mpi_sizeof_##word##_##rank##_, bytes)                                                                              \
    FORT_SIZEOF(pmpi_sizeof_##word##_##rank##_, bytes)
#define SIZEOF(word, bytes)                                                                                                        \
    SIZEOF_RANK(word, scalar, bytes)                                                                                               \
    SIZEOF_RANK(word, r1, bytes)                                                                                                   \
    SIZEOF_RANK(word, r2, bytes)                                                                                                   \
    SIZEOF_RANK(word, r3, bytes)                                                                                                   \
    SIZEOF_RANK(word, r4, bytes)                                                                                                   \
    SIZEOF_RANK(word, r5, bytes)                                                                                                   \
    SIZEOF_RANK(word, r6, bytes)                                                                                                   \
    SIZEOF_RANK(word, r7, bytes)                                                                                                   \
    SIZEOF_RANK(word, r8, bytes)                                                                                                   \
    SIZEOF_RANK(word, r9, bytes)                                                                                                   \
    SIZEOF_RANK(word, r10, bytes)                                                                                                  \
    SIZEOF_RANK(word, r11, bytes)                                                                                                  \
    SIZEOF_RANK(word, r12, bytes)                                                                                                  \
    SIZEOF_RANK(word, r13, bytes)                                                                                                  \
    SIZEOF_RANK(word, r14, bytes)                                                                                                  \
    SIZEOF_RANK(word, r15, bytes)
SIZEOF(character, 1)
SIZEOF(logical, 4)
SIZEOF(int8, 1)
SIZEOF(int16, 2)
SIZEOF(int32, 4)
SIZEOF(int64, 8)
SIZEOF(real32, 4)
SIZEOF(real64, 8)
SIZEOF(real128, 16)
SIZEOF(complex32, 8)
SIZEOF(complex64, 16)
SIZEOF(complex128, 32)
