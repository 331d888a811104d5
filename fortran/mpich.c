/* mpich.c -- what programs of MPICH's mpif.h and modules refer to beside the routines: common blocks, variables and functions of modules.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fort.h"
#include "modules.h"

/* ---- special variables ---- */
struct {
    int bottom, in_place, status_ignore[5];
} mpipriv1_;
struct {
    int statuses_ignore[5], errcodes_ignore;
} mpipriv2_;
struct {
    char argvs_null, argv_null;
} mpiprivc_;
int mpifcmb5_, mpifcmb9_, mpifcmba_; /* MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY, MPI_BUFFER_AUTOMATIC */

int MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE;
MPI_Status MPIR_F08_MPI_STATUS_IGNORE_OBJ, MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
#define MODULE_F08_LINK(word) __mpi_f08_link_constants_MOD_mpi_##word
int MODULE_F08_LINK(errcodes_ignore), MODULE_F08_LINK(unweighted), MODULE_F08_LINK(weights_empty);
int MODULE_F08_LINK(buffer_automatic);
char MODULE_F08_LINK(argv_null), MODULE_F08_LINK(argvs_null);

const struct fort_special fort_specials[] = {
    {&mpipriv1_.bottom, FORT_BOTTOM},
    {&mpipriv1_.in_place, FORT_IN_PLACE},
    {mpipriv1_.status_ignore, FORT_IGNORE},
    {mpipriv2_.statuses_ignore, FORT_IGNORE},
    {&mpipriv2_.errcodes_ignore, FORT_IGNORE},
    {&mpiprivc_.argv_null, FORT_NO_TEXTS},
    {&mpiprivc_.argvs_null, FORT_NO_TEXTS},
    {&mpifcmb5_, FORT_UNWEIGHTED},
    {&mpifcmb9_, FORT_WEIGHTS_EMPTY},
    {&mpifcmba_, FORT_AUTOMATIC},
    {&MPIR_F08_MPI_BOTTOM, FORT_BOTTOM},
    {&MPIR_F08_MPI_IN_PLACE, FORT_IN_PLACE},
    {&MPIR_F08_MPI_STATUS_IGNORE_OBJ, FORT_IGNORE},
    {MPIR_F08_MPI_STATUSES_IGNORE_OBJ, FORT_IGNORE},
    {&MODULE_F08_LINK(errcodes_ignore), FORT_IGNORE},
    {&MODULE_F08_LINK(unweighted), FORT_UNWEIGHTED},
    {&MODULE_F08_LINK(weights_empty), FORT_WEIGHTS_EMPTY},
    {&MODULE_F08_LINK(buffer_automatic), FORT_AUTOMATIC},
    {&MODULE_F08_LINK(argv_null), FORT_NO_TEXTS},
    {&MODULE_F08_LINK(argvs_null), FORT_NO_TEXTS},
    {NULL, FORT_NOTHING},
};
_Static_assert(sizeof fort_specials / sizeof *fort_specials <= FORT_SPECIALS + 1, "the last one says that there are no more");

/* C's names for Fortran's sentinels. */
extern int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;
extern MPI_F08_status *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE;
static __attribute__((constructor)) void tell_c(void)
{
    MPI_F_STATUS_IGNORE = mpipriv1_.status_ignore;
    MPI_F_STATUSES_IGNORE = mpipriv2_.statuses_ignore;
    MPI_F08_STATUS_IGNORE = &MPIR_F08_MPI_STATUS_IGNORE_OBJ;
    MPI_F08_STATUSES_IGNORE = MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
}

/* ---- module mpi_f08_types: handles are compared with each other and with INTEGERs, and turned into C's ---- */
#define SAME(name, is) FORT_SAME(__mpi_f08_types_MOD_mpi_##name, is)
#define COPY(name)     FORT_COPY(__mpi_f08_types_MOD_mpi_##name)
#define COMPARE(word)                                                                                                              \
    SAME(word##_eq, ==)                                                                                                            \
    SAME(word##_f08_eq_f, ==)                                                                                                      \
    SAME(word##_f_eq_f08, ==)                                                                                                      \
    SAME(word##_neq, !=)                                                                                                           \
    SAME(word##_f08_neq_f, !=)                                                                                                     \
    SAME(word##_f_neq_f08, !=)                                                                                                     \
    COPY(word##_f2c)                                                                                                               \
    COPY(word##_c2f)
FORT_HANDLE_WORDS(COMPARE)

void __mpi_f08_types_MOD_mpi_status_f2f08(const MPI_Status *f, MPI_Status *f08, int *ierror);
void __mpi_f08_types_MOD_mpi_status_f082f(const MPI_Status *f08, MPI_Status *f, int *ierror);
void __mpi_f08_types_MOD_mpi_status_f2f08(const MPI_Status *f, MPI_Status *f08, int *ierror)
{
    *f08 = *f;
    fort_return(ierror, MPI_SUCCESS);
}
void __mpi_f08_types_MOD_mpi_status_f082f(const MPI_Status *f08, MPI_Status *f, int *ierror)
{
    *f = *f08;
    fort_return(ierror, MPI_SUCCESS);
}

/* MPI_Sizeof: a function for each type, of scalars and of arrays. */
#define SIZEOF_MPI(word, bytes)                                                                                                    \
    FORT_SIZEOF(__mpi_sizeofs_MOD_mpi_sizeof_##word, bytes)                                                                        \
    FORT_SIZEOF(__mpi_sizeofs_MOD_mpi_sizeof_##word##v, bytes)
SIZEOF_MPI(ch, 1)
SIZEOF_MPI(cx, 8)
SIZEOF_MPI(d, 8)
SIZEOF_MPI(i, 4)
SIZEOF_MPI(i1, 1)
SIZEOF_MPI(i2, 2)
SIZEOF_MPI(i8, 8)
SIZEOF_MPI(l, 4)
SIZEOF_MPI(r, 4)
#define SIZEOF_F08(word, bytes) FORT_SIZEOF(__mpi_f08_types_MOD_mpi_sizeof_##word, bytes)
SIZEOF_F08(character, 1)
SIZEOF_F08(logical, 4)
SIZEOF_F08(xint8, 1)
SIZEOF_F08(xint16, 2)
SIZEOF_F08(xint32, 4)
SIZEOF_F08(xint64, 8)
SIZEOF_F08(xreal32, 4)
SIZEOF_F08(xreal64, 8)
SIZEOF_F08(xreal128, 16)
SIZEOF_F08(xcomplex32, 8)
SIZEOF_F08(xcomplex64, 16)
SIZEOF_F08(xcomplex128, 32)
