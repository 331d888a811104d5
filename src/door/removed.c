/* removed.c -- calls that MPI 3.0 removed and binaries still make: the ones that replaced them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "door/door.h"

DOOR_CORE(Comm_create_errhandler);
DOOR_CORE(Comm_get_errhandler);
DOOR_CORE(Comm_set_errhandler);
DOOR_CORE(Get_address);
DOOR_CORE(Type_create_hindexed);
DOOR_CORE(Type_create_hvector);
DOOR_CORE(Type_create_struct);
DOOR_CORE(Type_get_extent);

DOOR_OWN(int, Address, (void *location, MPI_Aint *address)) { return door_code(core_Get_address(location, address)); }

static int made(int rc, MPI_Datatype type, client_Datatype *type_out)
{
    if (type) *type_out = door_Datatype_out(type);
    return door_code(rc);
}

DOOR_OWN(int, Type_hvector, (int count, int length, MPI_Aint stride, client_Datatype old, client_Datatype *type_out))
{
    MPI_Datatype type = 0;
    int rc = core_Type_create_hvector(count, length, stride, door_Datatype_in(old), type_out ? &type : NULL);
    return made(rc, type, type_out);
}

DOOR_OWN(int, Type_hindexed, (int count, int lengths[], MPI_Aint displs[], client_Datatype old, client_Datatype *type_out))
{
    MPI_Datatype type = 0;
    int rc = core_Type_create_hindexed(count, lengths, displs, door_Datatype_in(old), type_out ? &type : NULL);
    return made(rc, type, type_out);
}

DOOR_OWN(int, Type_struct, (int count, int lengths[], MPI_Aint displs[], client_Datatype types[], client_Datatype *type_out))
{
    MPI_Datatype type = 0, stack[DOOR_STACK], *mine = door_Datatypes_in(types, count, stack);
    int rc = core_Type_create_struct(count, lengths, displs, mine, type_out ? &type : NULL);
    door_array_free(mine, stack);
    return made(rc, type, type_out);
}

DOOR_OWN(int, Type_extent, (client_Datatype type, MPI_Aint *extent_out))
{
    MPI_Aint lb;
    return door_code(core_Type_get_extent(door_Datatype_in(type), &lb, extent_out));
}

DOOR_OWN(int, Type_lb, (client_Datatype type, MPI_Aint *lb_out))
{
    MPI_Aint extent;
    return door_code(core_Type_get_extent(door_Datatype_in(type), lb_out, &extent));
}

DOOR_OWN(int, Type_ub, (client_Datatype type, MPI_Aint *ub_out))
{
    MPI_Aint lb;
    int rc = core_Type_get_extent(door_Datatype_in(type), &lb, ub_out);
    if (rc == MPI_SUCCESS) *ub_out += lb;
    return door_code(rc);
}

DOOR_OWN(int, Errhandler_create, (client_Comm_errhandler_function * fn, client_Errhandler *errhandler_out))
{
    MPI_Errhandler eh = 0;
    int rc = core_Comm_create_errhandler((MPI_Comm_errhandler_function *)(door_function *)fn, errhandler_out ? &eh : NULL);
    if (rc != MPI_SUCCESS) return door_code(rc);
    godwit_door_errhandler(eh, CLIENT_ABI);
    *errhandler_out = door_Errhandler_out(eh);
    return MPI_SUCCESS;
}

DOOR_OWN(int, Errhandler_get, (client_Comm comm, client_Errhandler *errhandler_out))
{
    MPI_Errhandler eh = 0;
    int rc = core_Comm_get_errhandler(door_Comm_in(comm), errhandler_out ? &eh : NULL);
    if (eh) *errhandler_out = door_Errhandler_out(eh);
    return door_code(rc);
}

DOOR_OWN(int, Errhandler_set, (client_Comm comm, client_Errhandler errhandler))
{
    return door_code(core_Comm_set_errhandler(door_Comm_in(comm), door_Errhandler_in(errhandler)));
}
