/* fortran_sizes.c -- Fortran compiled with wider default types: MPI_Abi_set_fortran_info says so, and the predefined types follow.
 *
 *   fortran_sizes          said after MPI_Init
 *   fortran_sizes early    before it
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

static void describe(void)
{
    static const char *const pairs[][2] = {{"mpi_logical_size", "8"},
                                           {"mpi_integer_size", "8"},
                                           {"mpi_real_size", "8"},
                                           {"mpi_double_precision_size", "16"},
                                           {"mpi_integer16_supported", "false"},
                                           {"mpi_real4_supported", "true"}};
    MPI_Info info;
    MPI_Info_create(&info);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) MPI_Info_set(info, pairs[i][0], pairs[i][1]);
    CHECK_EQ(MPI_Abi_set_fortran_info(info), MPI_SUCCESS);
    MPI_Info_free(&info);
}

static void what_was_said(void)
{
    MPI_Info info;
    char value[16] = "";
    int flag = 0, len = sizeof value;
    CHECK_EQ(MPI_Abi_get_fortran_info(&info), MPI_SUCCESS);
    MPI_Info_get_string(info, "mpi_double_precision_size", &len, value, &flag);
    CHECK(flag && strcmp(value, "16") == 0);
    MPI_Info_free(&info);
}

static void sizes(void)
{
    const struct {
        MPI_Datatype type;
        int size;
    } want[] = {{MPI_LOGICAL, 8},         {MPI_INTEGER, 8},   {MPI_REAL, 8},      {MPI_DOUBLE_PRECISION, 16},    {MPI_COMPLEX, 16},
                {MPI_DOUBLE_COMPLEX, 32}, {MPI_2INTEGER, 16}, {MPI_2REAL, 16},    {MPI_2DOUBLE_PRECISION, 32},   {MPI_INTEGER4, 4},
                {MPI_REAL4, 4},           {MPI_INT, 4},       {MPI_CHARACTER, 1}, {MPI_INTEGER16, MPI_UNDEFINED}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        int n = -1;
        MPI_Aint lb = -1, extent = -1;
        CHECK_EQ(MPI_Type_size(want[i].type, &n), MPI_SUCCESS);
        CHECK_EQ(n, want[i].size);
        MPI_Type_get_extent(want[i].type, &lb, &extent);
        if (n > 0) CHECK(lb == 0 && extent == n);
    }
    MPI_Datatype t;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_EQ(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 8, &t), MPI_SUCCESS);
    CHECK(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 16, &t) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void reductions(void)
{
    int64_t i[2] = {1ll << 40, -(1ll << 35) - rank}, n[2], least[2] = {(1ll << 40) - (rank == size - 1), 100 + rank}, where[2];
    double r[3] = {1e-10 * (rank + 1), rank, 2 * rank}, s[3];
    __float128 d[2] = {(__float128)rank / 3, 7}, most[2];
    int64_t truth = rank != 0, all = -1, any = -1;
    MPI_Allreduce(i, n, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(n[0], (int64_t)size << 40);
    CHECK_EQ(n[1], -((int64_t)size << 35) - (int64_t)size * (size - 1) / 2);
    MPI_Allreduce(i, n, 2, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD);
    CHECK_EQ(n[1], -(1ll << 35) - (size - 1));
    MPI_Allreduce(least, where, 1, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD);
    CHECK(where[0] == (1ll << 40) - 1 && where[1] == 100 + size - 1);
    MPI_Allreduce(r, s, 3, MPI_REAL, MPI_MAX, MPI_COMM_WORLD);
    CHECK(s[0] == 1e-10 * size && s[1] == size - 1 && s[2] == 2 * (size - 1));
    MPI_Allreduce(r + 1, s, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    CHECK(s[0] == size * (size - 1) / 2 && s[1] == size * (size - 1));
    MPI_Allreduce(d, most, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD);
    CHECK(most[0] == (__float128)(size - 1) / 3 && most[1] == 7);
    MPI_Allreduce(d + 1, most, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD);
    CHECK(most[0] == 7 * size);
    MPI_Allreduce(&truth, &all, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD);
    MPI_Allreduce(&truth, &any, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD);
    CHECK(all == 0 && any == (size > 1));
}

/* A compiler whose .TRUE. is -1, as several have it. */
static void logicals(void)
{
    int64_t yes = -1, no = 0, in[3] = {rank == 0 ? no : yes, yes, no}, and[3], or [3], xor[3], back[2] = {5, 5};
    int32_t four[2] = {1, 0}, out[2];
    int is_set = 0;
    CHECK_EQ(MPI_Abi_set_fortran_booleans(8, &yes, &no), MPI_SUCCESS);
    CHECK_EQ(MPI_Abi_get_fortran_booleans(8, &back[0], &back[1], &is_set), MPI_SUCCESS);
    CHECK(is_set && back[0] == yes && back[1] == no);
    MPI_Allreduce(in, and, 3, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD);
    MPI_Allreduce(in, or, 3, MPI_LOGICAL8, MPI_LOR, MPI_COMM_WORLD);
    MPI_Allreduce(in, xor, 3, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD);
    CHECK(and[0] == no && and[1] == yes && and[2] == no);
    CHECK(or [0] == (size > 1 ? yes : no) && or [1] == yes && or [2] == no);
    CHECK(xor[0] == ((size - 1) % 2 ? yes : no) && xor[1] == (size % 2 ? yes : no) && xor[2] == no);
    MPI_Allreduce(four, out, 2, MPI_LOGICAL4, MPI_LOR, MPI_COMM_WORLD);
    CHECK(out[0] == 1 && out[1] == 0);
}

/* Every second one of a column; the pairs of a derived type. */
static void messages(void)
{
    int64_t out[6], in[6], pairs[4] = {10 - rank, rank, rank, -rank}, least[4];
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Datatype column, two;
    MPI_Status st;
    for (int k = 0; k < 6; k++) out[k] = ((int64_t)rank << 33) + k, in[k] = -1;
    MPI_Type_vector(3, 1, 2, MPI_INTEGER, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(out, 1, column, to, 3, in, 1, column, from, 3, MPI_COMM_WORLD, &st);
    for (int k = 0; k < 6; k++) CHECK_EQ(in[k], k % 2 ? -1 : ((int64_t)from << 33) + k);
    int count = -1;
    MPI_Get_count(&st, MPI_INTEGER, &count);
    CHECK_EQ(count, 3);
    MPI_Type_free(&column);
    MPI_Type_contiguous(2, MPI_2INTEGER, &two);
    MPI_Type_commit(&two);
    memcpy(least, pairs, sizeof least);
    MPI_Win win;
    MPI_Win_create(least, sizeof least, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank == size - 1) MPI_Accumulate(pairs, 1, two, 0, 0, 1, two, MPI_MINLOC, win);
    MPI_Win_fence(0, win);
    if (rank == 0) CHECK(least[0] == 10 - (size - 1) && least[1] == size - 1 && least[2] == 0 && least[3] == 0);
    MPI_Win_free(&win);
    MPI_Type_free(&two);
}

int main(int argc, char **argv)
{
    int is_early = argc > 1 && strcmp(argv[1], "early") == 0;
    if (is_early) describe();
    MPI_Init(&argc, &argv);
    test_begin();
    if (!is_early) describe();
    what_was_said();
    sizes();
    reductions();
    logicals();
    messages();
    return test_end();
}
