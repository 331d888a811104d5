// objects.cc -- the predefined objects of MPI::.
//
// Programs may have them as their own (copy relocations): the constructors run on those, before the program's.
//
// SPDX-FileCopyrightText: 2026 The Godwit authors
// SPDX-License-Identifier: BSD-3-Clause
#include "door/cxx/bindings.h"

extern struct fort_predefined ompi_mpi_errors_throw_exceptions; // no header of C has it

#pragma GCC visibility push(default)
namespace MPI
{

// ---- what is no object ----
extern const char ompi_libcxx_version_string[];
const char ompi_libcxx_version_string[] = "4.1.4"; // of the header's interface: programs may have a copy of 6 bytes
extern void *const BOTTOM;
extern void *const IN_PLACE;
void *const BOTTOM = MPI_BOTTOM;
void *const IN_PLACE = MPI_IN_PLACE;
const char **ARGV_NULL;
const char ***ARGVS_NULL;

// ---- communicators and such ----
Intracomm COMM_WORLD(MPI_COMM_WORLD), COMM_SELF(MPI_COMM_SELF);
Comm_Null COMM_NULL(MPI_COMM_NULL);
Request REQUEST_NULL(MPI_REQUEST_NULL);
#define OBJECT(kind, name, handle)                                                                                                 \
    extern const kind name;                                                                                                        \
    const kind name(handle)
OBJECT(Group, GROUP_NULL, MPI_GROUP_NULL);
OBJECT(Group, GROUP_EMPTY, MPI_GROUP_EMPTY);
OBJECT(Win, WIN_NULL, MPI_WIN_NULL);
OBJECT(Info, INFO_NULL, MPI_INFO_NULL);
OBJECT(File, FILE_NULL, MPI_FILE_NULL);
OBJECT(Errhandler, ERRHANDLER_NULL, MPI_ERRHANDLER_NULL);
OBJECT(Errhandler, ERRORS_ARE_FATAL, MPI_ERRORS_ARE_FATAL);
OBJECT(Errhandler, ERRORS_RETURN, MPI_ERRORS_RETURN);
OBJECT(Errhandler, ERRORS_THROW_EXCEPTIONS, (MPI_Errhandler)&ompi_mpi_errors_throw_exceptions);

// ---- operations ----
#define OP(name) OBJECT(Op, name, MPI_##name)
OP(OP_NULL);
OP(MAX);
OP(MIN);
OP(SUM);
OP(PROD);
OP(MAXLOC);
OP(MINLOC);
OP(BAND);
OP(BOR);
OP(BXOR);
OP(LAND);
OP(LOR);
OP(LXOR);
OP(REPLACE);

// ---- datatypes ----
#define TYPE(name)          OBJECT(Datatype, name, MPI_##name)
#define TYPE_AS(name, of_c) OBJECT(Datatype, name, MPI_##of_c)
TYPE(DATATYPE_NULL);
TYPE(CHAR);
TYPE(SHORT);
TYPE(INT);
TYPE(LONG);
TYPE(SIGNED_CHAR);
TYPE(UNSIGNED_CHAR);
TYPE(UNSIGNED_SHORT);
TYPE(UNSIGNED);
TYPE(UNSIGNED_LONG);
TYPE(FLOAT);
TYPE(DOUBLE);
TYPE(LONG_DOUBLE);
TYPE(BYTE);
TYPE(PACKED);
TYPE(WCHAR);
TYPE(LONG_LONG);
TYPE(LONG_LONG_INT);
TYPE(UNSIGNED_LONG_LONG);
TYPE(FLOAT_INT);
TYPE(DOUBLE_INT);
TYPE(LONG_INT);
TYPE(SHORT_INT);
TYPE(LONG_DOUBLE_INT);
TYPE_AS(TWOINT, 2INT);
TYPE_AS(BOOL, CXX_BOOL);
TYPE_AS(COMPLEX, CXX_FLOAT_COMPLEX);
TYPE_AS(DOUBLE_COMPLEX, CXX_DOUBLE_COMPLEX);
TYPE_AS(LONG_DOUBLE_COMPLEX, CXX_LONG_DOUBLE_COMPLEX);
// Fortran's
TYPE(INTEGER);
TYPE(REAL);
TYPE(DOUBLE_PRECISION);
TYPE(LOGICAL);
TYPE(CHARACTER);
TYPE(INTEGER1);
TYPE(INTEGER2);
TYPE(INTEGER4);
TYPE(REAL2);
TYPE(REAL4);
TYPE(REAL8);
TYPE_AS(F_COMPLEX, COMPLEX);
TYPE_AS(F_DOUBLE_COMPLEX, DOUBLE_COMPLEX);
TYPE_AS(TWOREAL, 2REAL);
TYPE_AS(TWODOUBLE_PRECISION, 2DOUBLE_PRECISION);
TYPE_AS(TWOINTEGER, 2INTEGER);

} // namespace MPI
#pragma GCC visibility pop
