/* modules.c -- the derived types of module mpi_f08_types, which MPICH and Open MPI both have.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fort.h"

/* What gfortran writes for a derived type: a number made from its name, its size, an empty one, and how to copy one. */
struct vtab {
    int hash;
    long size;
    const void *extends;
    void *empty;
    void (*copy)(const void *from, void *to);
    const void *final, *deallocate;
};
#define DERIVED(Name, Type, number)                                                                                                \
    Type __mpi_f08_types_MOD___def_init_mpi_f08_types_##Name;                                                                      \
    void __mpi_f08_types_MOD___copy_mpi_f08_types_##Name(const void *from, void *to);                                              \
    void __mpi_f08_types_MOD___copy_mpi_f08_types_##Name(const void *from, void *to) { memcpy(to, from, sizeof(Type)); }           \
    struct vtab __mpi_f08_types_MOD___vtab_mpi_f08_types_##Name = {                                                                \
        .hash = number,                                                                                                            \
        .size = sizeof(Type),                                                                                                      \
        .empty = &__mpi_f08_types_MOD___def_init_mpi_f08_types_##Name,                                                             \
        .copy = __mpi_f08_types_MOD___copy_mpi_f08_types_##Name,                                                                   \
    };
DERIVED(Mpi_comm, int, 73600949)
DERIVED(Mpi_datatype, int, 86896269)
DERIVED(Mpi_errhandler, int, 15118478)
DERIVED(Mpi_file, int, 70760613)
DERIVED(Mpi_group, int, 20619574)
DERIVED(Mpi_info, int, 53436151)
DERIVED(Mpi_message, int, 90857150)
DERIVED(Mpi_op, int, 68037098)
DERIVED(Mpi_request, int, 92555974)
DERIVED(Mpi_session, int, 41464269)
DERIVED(Mpi_win, int, 58701395)
DERIVED(Mpi_status, MPI_Status, 3872507)
