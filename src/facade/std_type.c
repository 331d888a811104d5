/* std_type.c -- bodies of entry points: addresses, how a datatype was made.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "facade/std.h"

#include <stdlib.h>

int std_get_address(const void *location, MPI_Aint *address_out)
{
    *address_out = (MPI_Aint)location;
    return GW_OK;
}

static int no_large_counts(struct gw_type *t, int64_t n_counts)
{
    if (n_counts == 0) return GW_OK;
    return gw_fail(GW_ETYPE, "datatype (%s) was made with large counts: ask the call that ends in _c", type_name(t));
}

int std_type_get_envelope(MPI_Datatype h, int *n_ints_out, int *n_aints_out, int *n_types_out, int *combiner_out)
{
    struct gw_type *t = std_type(h);
    int64_t n_ints, n_aints, n_counts, n_types;
    int combiner, rc = type_get_envelope(t, &n_ints, &n_aints, &n_counts, &n_types, &combiner);
    if (rc == GW_OK) rc = no_large_counts(t, n_counts);
    if (rc != GW_OK) return rc;
    *n_ints_out = std_narrow(n_ints);
    *n_aints_out = std_narrow(n_aints);
    *n_types_out = std_narrow(n_types);
    *combiner_out = combiner;
    return GW_OK;
}

int std_type_get_envelope_c(MPI_Datatype h, MPI_Count *n_ints_out, MPI_Count *n_aints_out, MPI_Count *n_counts_out,
                            MPI_Count *n_types_out, int *combiner_out)
{
    return type_get_envelope(std_type(h), n_ints_out, n_aints_out, n_counts_out, n_types_out, combiner_out);
}

int std_type_get_contents(MPI_Datatype h, int max_ints, int max_aints, int max_types, int ints[], MPI_Aint aints[],
                          MPI_Datatype types[])
{
    struct gw_type *t = std_type(h);
    int64_t n_ints, n_aints, n_counts, n_types;
    int combiner, rc = type_get_envelope(t, &n_ints, &n_aints, &n_counts, &n_types, &combiner);
    if (rc == GW_OK) rc = no_large_counts(t, n_counts);
    if (rc != GW_OK) return rc;
    return std_type_get_contents_c(h, max_ints, max_aints, 0, max_types, ints, aints, NULL, types);
}

int std_type_get_contents_c(MPI_Datatype h, MPI_Count max_ints, MPI_Count max_aints, MPI_Count max_counts, MPI_Count max_types,
                            int ints[], MPI_Aint aints[], MPI_Count counts[], MPI_Datatype types[])
{
    struct gw_type *t = std_type(h);
    int64_t n_ints, n_aints, n_counts, n_types;
    int combiner, rc = type_get_envelope(t, &n_ints, &n_aints, &n_counts, &n_types, &combiner);
    if (rc != GW_OK) return rc;
    struct gw_type **objects = gw_xcalloc((size_t)n_types + 1, sizeof *objects);
    rc = type_get_contents(t, max_ints, max_aints, max_counts, gw_min64(max_types, n_types), ints, aints, counts, objects);
    for (int64_t i = 0; rc == GW_OK && i < n_types; i++) types[i] = std_type_handle(objects[i]);
    free(objects);
    return rc;
}
