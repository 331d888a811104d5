/* text.c -- strings, arrays of handles, and what the library is told about Fortran's types.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fort.h"

/* ---- texts ---- */
char *fort_text_in(struct fort_text *t, const char *f, size_t len)
{
    while (len && f[len - 1] == ' ') len--;
    t->text = len < sizeof t->small ? t->small : malloc(len + 1);
    if (!t->text) return NULL;
    memcpy(t->text, f, len);
    t->text[len] = 0;
    return t->text;
}

const char *fort_text_strip(const char *f, size_t *len)
{
    while (*len && *f == ' ') f++, --*len;
    while (*len && f[*len - 1] == ' ') --*len;
    return f;
}

char *fort_text_in_stripped(struct fort_text *t, const char *f, size_t len)
{
    f = fort_text_strip(f, &len);
    return fort_text_in(t, f, len);
}

void fort_text_out(char *f, size_t len, const char *c)
{
    size_t n = 0;
    for (; n < len && c[n]; n++) f[n] = c[n];
    memset(f + n, ' ', len - n);
}

#define ARRAY(word, Type, one)                                                                                                     \
    MPI_##Type *fort_##word(MPI_##Type few[FORT_FEW], const int *f, MPI_Count n)                                                   \
    {                                                                                                                              \
        MPI_##Type *c = n <= FORT_FEW ? few : malloc((size_t)n * sizeof *c);                                                       \
        for (MPI_Count i = 0; c && i < n; i++) c[i] = one(f[i]);                                                                   \
        return c;                                                                                                                  \
    }
ARRAY(requests, Request, fort_request)
ARRAY(types, Datatype, fort_type)
ARRAY(infos, Info, fort_info)

void fort_requests_back(MPI_Request *c, MPI_Request *few, int *f, MPI_Count n, uint64_t began)
{
    for (MPI_Count i = 0; c && i < n; i++) fort_request_back(&f[i], c[i], began);
    fort_array_free(c, few);
}

MPI_Datatype *fort_types_out(MPI_Datatype few[FORT_FEW], MPI_Count n)
{
    MPI_Datatype *c = n <= FORT_FEW ? few : malloc((size_t)n * sizeof *c);
    for (MPI_Count i = 0; c && i < n; i++) c[i] = MPI_DATATYPE_NULL;
    return c;
}

void fort_types_back(MPI_Datatype *c, MPI_Datatype *few, int *f, MPI_Count n)
{
    for (MPI_Count i = 0; c && i < n; i++)
        if (c[i] != MPI_DATATYPE_NULL) f[i] = fort_type_int(c[i]);
    fort_array_free(c, few);
}

static int neighbors(MPI_Comm comm, bool sends, int *n_out)
{
    int kind, in, out, weighted, me;
    int rc = PMPI_Topo_test(comm, &kind);
    if (rc != MPI_SUCCESS) return rc;
    *n_out = 0;
    if (kind == MPI_CART) {
        rc = PMPI_Cartdim_get(comm, n_out);
        *n_out *= 2;
    } else if (kind == MPI_GRAPH) {
        rc = PMPI_Comm_rank(comm, &me);
        if (rc == MPI_SUCCESS) rc = PMPI_Graph_neighbors_count(comm, me, n_out);
    } else if (kind == MPI_DIST_GRAPH) {
        rc = PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
        if (rc == MPI_SUCCESS) *n_out = sends ? out : in;
    }
    return rc;
}

int fort_types_of_peers(MPI_Comm comm, enum fort_peers peers, bool is_in_place, const int *f, MPI_Datatype **c_out)
{
    int n = 0, is_inter = 0, rc = MPI_SUCCESS;
    if (!is_in_place && peers != FORT_ALL) {
        rc = neighbors(comm, peers == FORT_TO, &n);
    } else if (!is_in_place) {
        rc = PMPI_Comm_test_inter(comm, &is_inter);
        if (rc == MPI_SUCCESS) rc = is_inter ? PMPI_Comm_remote_size(comm, &n) : PMPI_Comm_size(comm, &n);
    }
    if (rc != MPI_SUCCESS) return rc;
    assert(n >= 0);
    MPI_Datatype *c = malloc(((size_t)n + 1) * sizeof *c);
    if (!c) return fort_no_memory(comm);
    for (int i = 0; i < n; i++) c[i] = fort_type(f[i]);
    *c_out = c;
    return MPI_SUCCESS;
}

int fort_no_memory(MPI_Comm comm)
{
    PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}

static void describe(void)
{
    static const char *const sizes[][2] = {
        {"mpi_logical_size", "4"}, {"mpi_integer_size", "4"}, {"mpi_real_size", "4"}, {"mpi_double_precision_size", "8"}};
    MPI_Info info;
    if (PMPI_Info_create(&info) != MPI_SUCCESS) return;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) PMPI_Info_set(info, sizes[i][0], sizes[i][1]);
    PMPI_Abi_set_fortran_info(info);
    PMPI_Info_free(&info);
}

void fort_describe_types(void)
{
    MPI_Info have = MPI_INFO_NULL;
    if (PMPI_Abi_get_fortran_info(&have) == MPI_SUCCESS && have == MPI_INFO_NULL) describe();
    if (have != MPI_INFO_NULL) PMPI_Info_free(&have);
    int yes = 1, no = 0, was_yes, was_no, is_set = 1;
    if (PMPI_Abi_get_fortran_booleans((int)sizeof yes, &was_yes, &was_no, &is_set) == MPI_SUCCESS && !is_set)
        PMPI_Abi_set_fortran_booleans((int)sizeof yes, &yes, &no);
}
