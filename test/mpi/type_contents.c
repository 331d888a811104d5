/* type_contents.c -- what MPI_Type_get_envelope and MPI_Type_get_contents return of a datatype builds an equal one: for every
 * constructor, through the plain calls and through those with large counts.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdlib.h>

#include "../unit.h"

enum { MAX = 64, SPAN = 1 << 16 };
static const char *label;

static void want(int combiner, int ni, int na, int nt, MPI_Datatype type)
{
    int i = -1, a = -1, t = -1, c = -1;
    CHECK_EQ(MPI_Type_get_envelope(type, &i, &a, &t, &c), MPI_SUCCESS);
    if (c != combiner || i != ni || a != na || t != nt) {
        unit_failures++;
        fprintf(stderr, "%s: combiner %d with %d, %d, %d; wanted %d with %d, %d, %d\n", label, c, i, a, t, combiner, ni, na, nt);
    }
}

/* The constructor that made it, called with what get_contents told. */
static MPI_Datatype rebuild(int combiner, const int *i, const MPI_Aint *a, const MPI_Datatype *t)
{
    MPI_Datatype new = MPI_DATATYPE_NULL;
    int n = i[0];
    switch (combiner) {
    case MPI_COMBINER_DUP: MPI_Type_dup(t[0], &new); break;
    case MPI_COMBINER_CONTIGUOUS: MPI_Type_contiguous(i[0], t[0], &new); break;
    case MPI_COMBINER_VECTOR: MPI_Type_vector(i[0], i[1], i[2], t[0], &new); break;
    case MPI_COMBINER_HVECTOR: MPI_Type_create_hvector(i[0], i[1], a[0], t[0], &new); break;
    case MPI_COMBINER_INDEXED: MPI_Type_indexed(n, i + 1, i + 1 + n, t[0], &new); break;
    case MPI_COMBINER_HINDEXED: MPI_Type_create_hindexed(n, i + 1, a, t[0], &new); break;
    case MPI_COMBINER_INDEXED_BLOCK: MPI_Type_create_indexed_block(n, i[1], i + 2, t[0], &new); break;
    case MPI_COMBINER_HINDEXED_BLOCK: MPI_Type_create_hindexed_block(n, i[1], a, t[0], &new); break;
    case MPI_COMBINER_STRUCT: MPI_Type_create_struct(n, i + 1, a, t, &new); break;
    case MPI_COMBINER_SUBARRAY: MPI_Type_create_subarray(n, i + 1, i + 1 + n, i + 1 + 2 * n, i[1 + 3 * n], t[0], &new); break;
    case MPI_COMBINER_DARRAY:
        n = i[2];
        MPI_Type_create_darray(i[0], i[1], n, i + 3, i + 3 + n, i + 3 + 2 * n, i + 3 + 3 * n, i[3 + 4 * n], t[0], &new);
        break;
    case MPI_COMBINER_RESIZED: MPI_Type_create_resized(t[0], a[0], a[1], &new); break;
    case MPI_COMBINER_F90_REAL: MPI_Type_create_f90_real(i[0], i[1], &new); break;
    case MPI_COMBINER_F90_COMPLEX: MPI_Type_create_f90_complex(i[0], i[1], &new); break;
    case MPI_COMBINER_F90_INTEGER: MPI_Type_create_f90_integer(i[0], &new); break;
    }
    return new;
}

/* Equal bounds, size, and the same bytes of a patterned buffer in the same order. */
static void same(MPI_Datatype x, MPI_Datatype y)
{
    static unsigned char pattern[2 * SPAN], px[SPAN], py[SPAN];
    MPI_Count lx, ex, ly, ey, sx, sy;
    int at_x = 0, at_y = 0;
    for (int k = 0; k < 2 * SPAN; k++) pattern[k] = (unsigned char)(k * 131 + (k >> 8) * 17);
    MPI_Type_get_extent_c(x, &lx, &ex);
    MPI_Type_get_extent_c(y, &ly, &ey);
    CHECK(lx == ly && ex == ey);
    MPI_Type_get_true_extent_c(x, &lx, &ex);
    MPI_Type_get_true_extent_c(y, &ly, &ey);
    CHECK(lx == ly && ex == ey);
    MPI_Type_size_c(x, &sx);
    MPI_Type_size_c(y, &sy);
    CHECK(sx == sy);
    MPI_Type_commit(&x);
    MPI_Type_commit(&y);
    MPI_Pack(pattern + SPAN, 2, x, px, SPAN, &at_x, MPI_COMM_SELF);
    MPI_Pack(pattern + SPAN, 2, y, py, SPAN, &at_y, MPI_COMM_SELF);
    CHECK(at_x == at_y && at_x == 2 * sx && memcmp(px, py, (size_t)at_x) == 0);
}

static void release(MPI_Datatype *t)
{
    int i, a, n, c;
    MPI_Type_get_envelope(*t, &i, &a, &n, &c);
    if (c != MPI_COMBINER_NAMED && c != MPI_COMBINER_F90_REAL && c != MPI_COMBINER_F90_COMPLEX && c != MPI_COMBINER_F90_INTEGER)
        MPI_Type_free(t);
}

/* Takes `type` over. */
static void check(const char *name, int combiner, int ni, int na, int nt, MPI_Datatype type)
{
    int i[MAX];
    MPI_Aint a[MAX];
    MPI_Datatype t[MAX], new;
    label = name;
    int before = unit_failures;
    want(combiner, ni, na, nt, type);
    CHECK_EQ(MPI_Type_get_contents(type, MAX, MAX, MAX, i, a, t), MPI_SUCCESS);
    new = rebuild(combiner, i, a, t);
    CHECK(new != MPI_DATATYPE_NULL);
    if (new != MPI_DATATYPE_NULL) {
        same(type, new);
        release(&new);
    }
    for (int k = 0; k < nt; k++) release(&t[k]);
    release(&type);
    if (unit_failures != before) fprintf(stderr, "^ %s\n", name);
}

static void plain(void)
{
    const int lengths[3] = {2, 0, 3}, at[3] = {7, 1, -4};
    const MPI_Aint bytes[3] = {80, 8, -16};
    const MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    const int sizes[3] = {5, 6, 7}, subsizes[3] = {2, 3, 4}, starts[3] = {1, 0, 3};
    const int distribs[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, dargs[2] = {2, MPI_DISTRIBUTE_DFLT_DARG},
              psizes[2] = {2, 2};
    MPI_Datatype t, inner;
    MPI_Type_vector(2, 1, 2, MPI_SHORT, &inner);
    MPI_Type_dup(inner, &t), check("dup", MPI_COMBINER_DUP, 0, 0, 1, t);
    MPI_Type_contiguous(3, inner, &t), check("contiguous", MPI_COMBINER_CONTIGUOUS, 1, 0, 1, t);
    MPI_Type_vector(3, 2, -5, inner, &t), check("vector", MPI_COMBINER_VECTOR, 3, 0, 1, t);
    MPI_Type_create_hvector(3, 2, 70, inner, &t), check("hvector", MPI_COMBINER_HVECTOR, 2, 1, 1, t);
    MPI_Type_indexed(3, lengths, at, inner, &t), check("indexed", MPI_COMBINER_INDEXED, 7, 0, 1, t);
    MPI_Type_create_hindexed(3, lengths, bytes, inner, &t), check("hindexed", MPI_COMBINER_HINDEXED, 4, 3, 1, t);
    MPI_Type_create_indexed_block(3, 2, at, inner, &t), check("indexed_block", MPI_COMBINER_INDEXED_BLOCK, 5, 0, 1, t);
    MPI_Type_create_hindexed_block(3, 2, bytes, inner, &t), check("hindexed_block", MPI_COMBINER_HINDEXED_BLOCK, 2, 3, 1, t);
    MPI_Type_create_struct(3, lengths, bytes, types, &t), check("struct", MPI_COMBINER_STRUCT, 4, 3, 3, t);
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, inner, &t);
    check("subarray", MPI_COMBINER_SUBARRAY, 11, 0, 1, t);
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_FORTRAN, MPI_INT, &t);
    check("subarray, Fortran", MPI_COMBINER_SUBARRAY, 11, 0, 1, t);
    MPI_Type_create_darray(4, 3, 2, sizes + 1, distribs, dargs, psizes, MPI_ORDER_C, MPI_INT, &t);
    check("darray", MPI_COMBINER_DARRAY, 12, 0, 1, t);
    MPI_Type_create_resized(inner, -6, 40, &t), check("resized", MPI_COMBINER_RESIZED, 0, 2, 1, t);
    MPI_Type_create_f90_real(6, 30, &t), check("f90_real", MPI_COMBINER_F90_REAL, 2, 0, 0, t);
    MPI_Type_create_f90_complex(12, MPI_UNDEFINED, &t), check("f90_complex", MPI_COMBINER_F90_COMPLEX, 2, 0, 0, t);
    MPI_Type_create_f90_integer(9, &t), check("f90_integer", MPI_COMBINER_F90_INTEGER, 1, 0, 0, t);
    label = "named";
    want(MPI_COMBINER_NAMED, 0, 0, 0, MPI_DOUBLE_INT);
    MPI_Type_free(&inner);
}

/* The same by large counts: get_contents_c returns counts as 64-bit numbers of their own. */
static void large(void)
{
    const MPI_Count lengths[2] = {2, 3}, at[2] = {7, 1};
    MPI_Datatype t, got[2], again;
    MPI_Count ni, na, nc, nt, counts[8];
    MPI_Aint a[4];
    int c, i[4], plain_i, plain_a, plain_t, rc;
    MPI_Type_indexed_c(2, lengths, at, MPI_INT, &t);
    CHECK_EQ(MPI_Type_get_envelope_c(t, &ni, &na, &nc, &nt, &c), MPI_SUCCESS);
    CHECK(ni == 0 && na == 0 && nc == 5 && nt == 1 && c == MPI_COMBINER_INDEXED);
    CHECK_EQ(MPI_Type_get_contents_c(t, 4, 4, 8, 2, i, a, counts, got), MPI_SUCCESS);
    CHECK(counts[0] == 2 && counts[1] == 2 && counts[2] == 3 && counts[3] == 7 && counts[4] == 1 && got[0] == MPI_INT);
    MPI_Type_indexed_c(counts[0], counts + 1, counts + 3, got[0], &again);
    same(t, again);
    MPI_Type_free(&again);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* the plain call cannot tell of large counts */
    rc = MPI_Type_get_envelope(t, &plain_i, &plain_a, &plain_t, &c);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    CHECK(rc != MPI_SUCCESS || plain_i == 5);
    MPI_Type_free(&t);
    /* A plain datatype through the large calls. */
    MPI_Type_vector(3, 2, 4, MPI_INT, &t);
    CHECK_EQ(MPI_Type_get_envelope_c(t, &ni, &na, &nc, &nt, &c), MPI_SUCCESS);
    CHECK(ni == 3 && na == 0 && nc == 0 && nt == 1 && c == MPI_COMBINER_VECTOR);
    CHECK_EQ(MPI_Type_get_contents_c(t, 4, 4, 8, 2, i, a, counts, got), MPI_SUCCESS);
    CHECK(i[0] == 3 && i[1] == 2 && i[2] == 4 && got[0] == MPI_INT);
    MPI_Type_free(&t);
    /* More than an int can count. */
    MPI_Type_contiguous_c((MPI_Count)3 << 31, MPI_DOUBLE, &t);
    MPI_Count size;
    int small;
    MPI_Type_size_c(t, &size);
    MPI_Type_size(t, &small);
    CHECK(size == (MPI_Count)24 << 31 && small == MPI_UNDEFINED);
    MPI_Type_free(&t);
}

static void elements(void)
{
    MPI_Datatype pair, longer;
    MPI_Status s;
    MPI_Count large_count;
    int n, lengths[3] = {1, 1, 1};
    MPI_Aint at[3] = {0, 8, 16};
    MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_INT};
    char out[200], in[200] = {0};
    MPI_Request q;
    MPI_Type_create_struct(2, lengths, at, types, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_create_struct(3, lengths, at, types, &longer);
    MPI_Type_commit(&longer);
    MPI_Isend(in, 1, longer, 0, 0, MPI_COMM_SELF, &q); /* one pair (12 bytes) and the int of another */
    MPI_Recv(out, 5, pair, 0, 0, MPI_COMM_SELF, &s);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Get_count(&s, pair, &n);
    CHECK_EQ(n, MPI_UNDEFINED);
    MPI_Get_elements(&s, pair, &n);
    CHECK_EQ(n, 3);
    MPI_Get_elements_c(&s, pair, &large_count);
    CHECK_EQ(large_count, 3);
    MPI_Get_count(&s, MPI_INT, &n);
    CHECK_EQ(n, 4);
    MPI_Status_set_elements(&s, pair, 7);
    MPI_Get_elements(&s, pair, &n);
    CHECK_EQ(n, 7);
    MPI_Status_set_elements_c(&s, MPI_BYTE, (MPI_Count)5 << 32);
    MPI_Get_count(&s, MPI_BYTE, &n);
    CHECK_EQ(n, MPI_UNDEFINED);
    MPI_Get_count_c(&s, MPI_BYTE, &large_count);
    CHECK_EQ(large_count, (MPI_Count)5 << 32);
    MPI_Type_free(&pair);
    MPI_Type_free(&longer);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &pair);
    MPI_Type_size(pair, &n);
    CHECK_EQ(n, 8);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair);
    CHECK(pair == MPI_DOUBLE_INT);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    plain();
    large();
    elements();
    MPI_Finalize();
    return unit_end();
}
