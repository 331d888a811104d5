/* removed.c -- routines that MPI 3.0 removed and old programs still call: those that replaced them.  Addresses are INTEGERs here.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fort.h"

void F(address_)(void *location, int *address, int *ierror)
{
    MPI_Aint a = 0;
    int rc = C(Get_address)(fort_buf(location), &a);
    if (rc == MPI_SUCCESS) *address = (int)a;
    fort_return(ierror, rc);
}

static void made(int rc, MPI_Datatype type, int *newtype, int *ierror)
{
    if (rc == MPI_SUCCESS) *newtype = fort_type_int(type);
    fort_return(ierror, rc);
}

void F(type_hvector_)(const int *count, const int *length, const int *stride, const int *old, int *newtype, int *ierror)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int rc = C(Type_create_hvector)(*count, *length, *stride, fort_type(*old), &type);
    made(rc, type, newtype, ierror);
}

/* NULL: no memory. */
static MPI_Aint *wide(const int *f, int n)
{
    MPI_Aint *c = malloc((size_t)(n > 0 ? n : 0) * sizeof *c + 1);
    for (int i = 0; c && i < n; i++) c[i] = f[i];
    return c;
}

void F(type_hindexed_)(const int *count, const int *lengths, const int *displs, const int *old, int *newtype, int *ierror)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Aint *at = wide(displs, *count);
    int rc = at ? C(Type_create_hindexed)(*count, lengths, at, fort_type(*old), &type) : fort_no_memory(MPI_COMM_SELF);
    free(at);
    made(rc, type, newtype, ierror);
}

void F(type_struct_)(const int *count, const int *lengths, const int *displs, const int *types, int *newtype, int *ierror)
{
    MPI_Datatype type = MPI_DATATYPE_NULL, few[FORT_FEW], *c = fort_types(few, types, *count);
    MPI_Aint *at = wide(displs, *count);
    int rc = at && c ? C(Type_create_struct)(*count, lengths, at, c, &type) : fort_no_memory(MPI_COMM_SELF);
    free(at);
    fort_array_free(c, few);
    made(rc, type, newtype, ierror);
}

/* What of a datatype's bounds a call asks for. */
static void bounds(const int *type, int *lb, int *ub, int *extent, int *ierror)
{
    MPI_Aint low, size;
    int rc = C(Type_get_extent)(fort_type(*type), &low, &size);
    if (rc == MPI_SUCCESS && lb) *lb = (int)low;
    if (rc == MPI_SUCCESS && ub) *ub = (int)(low + size);
    if (rc == MPI_SUCCESS && extent) *extent = (int)size;
    fort_return(ierror, rc);
}
void F(type_extent_)(const int *type, int *extent, int *ierror) { bounds(type, NULL, NULL, extent, ierror); }
void F(type_lb_)(const int *type, int *lb, int *ierror) { bounds(type, lb, NULL, NULL, ierror); }
void F(type_ub_)(const int *type, int *ub, int *ierror) { bounds(type, NULL, ub, NULL, ierror); }

void F(comm_create_errhandler_)(fort_fn *fn, int *errhandler, int *ierror);
void F(errhandler_create_)(fort_fn *fn, int *errhandler, int *ierror) { F(comm_create_errhandler_)(fn, errhandler, ierror); }

void F(errhandler_set_)(const int *comm, const int *errhandler, int *ierror)
{
    fort_return(ierror, C(Comm_set_errhandler)(fort_comm(*comm), fort_errhandler(*errhandler)));
}

void F(errhandler_get_)(const int *comm, int *errhandler, int *ierror)
{
    MPI_Errhandler h = MPI_ERRHANDLER_NULL;
    int rc = C(Comm_get_errhandler)(fort_comm(*comm), &h);
    if (rc == MPI_SUCCESS) *errhandler = fort_errhandler_int(h);
    fort_return(ierror, rc);
}

FORT_FORMS(address, ADDRESS)
FORT_FORMS(type_hvector, TYPE_HVECTOR)
FORT_FORMS(type_hindexed, TYPE_HINDEXED)
FORT_FORMS(type_struct, TYPE_STRUCT)
FORT_FORMS(type_extent, TYPE_EXTENT)
FORT_FORMS(type_lb, TYPE_LB)
FORT_FORMS(type_ub, TYPE_UB)
FORT_FORMS(errhandler_create, ERRHANDLER_CREATE)
FORT_FORMS(errhandler_set, ERRHANDLER_SET)
FORT_FORMS(errhandler_get, ERRHANDLER_GET)
