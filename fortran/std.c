/* std.c -- what libmpifort_abi.so has for itself: its sentinels, how small the library's handles are, what its modules declare.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fort.h"
#include "modules.h"

struct fort_sentinels mpi_abi_sentinels_;
struct fort_sentinel_texts mpi_abi_sentinel_texts_;

/* ---- handles ---- */
enum { PREDEFINED_END = 4096 }; /* of the standard ABI */
unsigned fort_plain = PREDEFINED_END;

/* Numbers of objects of two kinds: where those are their handles, those of all kinds are. */
static void look_at_handles(void)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (PMPI_Info_create(&info) == MPI_SUCCESS && PMPI_Type_contiguous(2, MPI_INT, &type) == MPI_SUCCESS) {
        int i = PMPI_Info_toint(info), t = PMPI_Type_toint(type);
        if (i > 0 && t > 0 && info == FORT_PLAIN(MPI_Info, i) && type == FORT_PLAIN(MPI_Datatype, t)) fort_plain = 1U << 31;
    }
    if (type != MPI_DATATYPE_NULL) PMPI_Type_free(&type);
    if (info != MPI_INFO_NULL) PMPI_Info_free(&info);
}

void fort_started(void)
{
    fort_describe_types();
    if (fort_plain == PREDEFINED_END) look_at_handles();
}

/* ---- handles of mpi_f08 that are compared ---- */
#define COMPARE(word)                                                                                                              \
    FORT_SAME(mpi_abi_eq_##word##_, ==)                                                                                            \
    FORT_SAME(mpi_abi_ne_##word##_, !=)
FORT_HANDLE_WORDS(COMPARE)
