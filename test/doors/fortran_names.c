/* fortran_names.c -- C beside fortran.f90: each way in which compilers name a routine, C's names of Fortran's sentinels, that a tool which
 * brings its own MPI_Barrier sees Fortran's calls, and each name of MPI_CONVERSION_FN_NULL (which have an address each where the program is
 * not position-independent).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int barriers;

int MPI_Barrier(MPI_Comm comm)
{
    barriers++;
    return PMPI_Barrier(comm);
}

void mpi_barrier(const MPI_Fint *comm, MPI_Fint *ierror);
void mpi_barrier_(const MPI_Fint *comm, MPI_Fint *ierror);
void mpi_barrier__(const MPI_Fint *comm, MPI_Fint *ierror);
void MPI_BARRIER(const MPI_Fint *comm, MPI_Fint *ierror);
void pmpi_barrier_(const MPI_Fint *comm, MPI_Fint *ierror);
void mpi_sendrecv_(const void *a, const MPI_Fint *n, const MPI_Fint *type, const MPI_Fint *to, const MPI_Fint *tag, void *b,
                   const MPI_Fint *m, const MPI_Fint *type_b, const MPI_Fint *from, const MPI_Fint *tag_b, const MPI_Fint *comm,
                   MPI_Fint *status, MPI_Fint *ierror);

/* ---- names of MPI_CONVERSION_FN_NULL; a library need not have all of them ---- */
typedef void fn(void);
#define NAME(word, name) extern fn word __asm__(name) __attribute__((weak))
NAME(plain, "mpi_conversion_fn_null");
NAME(one, "mpi_conversion_fn_null_");
NAME(two, "mpi_conversion_fn_null__");
NAME(upper, "MPI_CONVERSION_FN_NULL");
NAME(module, "__mpi_f08_callbacks_MOD_mpi_conversion_fn_null");
NAME(plain_c, "mpi_conversion_fn_null_c");
NAME(one_c, "mpi_conversion_fn_null_c_");
NAME(two_c, "mpi_conversion_fn_null_c__");
NAME(upper_c, "MPI_CONVERSION_FN_NULL_C");
NAME(module_c, "__mpi_f08_callbacks_MOD_mpi_conversion_fn_null_c");
static fn *const names[] = {plain, one, two, upper, module, plain_c, one_c, two_c, upper_c, module_c};

void mpi_register_datarep_(const char *name, fn *read, fn *write, fn *extent, const MPI_Aint *extra, MPI_Fint *ierror, size_t len);
static void extent_of_int(MPI_Fint *type, MPI_Aint *extent, MPI_Aint *extra, MPI_Fint *ierror)
{
    (void)type, (void)extra;
    *extent = sizeof(int);
    *ierror = MPI_SUCCESS;
}

/* A representation without conversions writes what is in memory; a function that was taken for one writes nothing. */
static int is_written_as_it_is(fn *null, const char *name)
{
    int out[2] = {0x12345678, -5}, in[2] = {0, 0};
    char path[512];
    MPI_Aint extra = 0;
    MPI_Fint ierror = -1;
    MPI_File f;
    snprintf(path, sizeof path, "%s/%s", getenv("FORT_TEST_FOLDER"), name);
    mpi_register_datarep_(name, null, null, (fn *)extent_of_int, &extra, &ierror, strlen(name));
    if (ierror != MPI_SUCCESS) return 0;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_set_view(f, 0, MPI_INT, MPI_INT, name, MPI_INFO_NULL);
    MPI_File_write_at(f, 0, out, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_at(f, 0, in, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    return memcmp(in, out, sizeof in) == 0;
}

static int null_conversions(int me)
{
    int right = 1, n = 0;
    for (int i = 0; i < 10; i++) {
        char name[32];
        snprintf(name, sizeof name, "null_%d_%d", i, me);
        if (names[i] && ++n && !is_written_as_it_is(names[i], name)) {
            printf("name %d of MPI_CONVERSION_FN_NULL is not known\n", i);
            right = 0;
        }
    }
    return right && n > 0;
}

void names_of_c_(const MPI_Fint *comm, const MPI_Fint *next, const MPI_Fint *prev, MPI_Fint *right);
void names_of_c_(const MPI_Fint *comm, const MPI_Fint *next, const MPI_Fint *prev, MPI_Fint *right)
{
    static void (*const all[])(const MPI_Fint *, MPI_Fint *) = {mpi_barrier, mpi_barrier_, mpi_barrier__, MPI_BARRIER};
    MPI_Fint ierror = -1, one = 1, tag = 9, a, b = -1, type = MPI_Type_c2f(MPI_INT);
    for (int i = 0; i < 4; i++) {
        ierror = -1;
        all[i](comm, &ierror);
        if (ierror == MPI_SUCCESS && barriers == i + 1) (*right)++;
    }
    pmpi_barrier_(comm, &ierror);
    MPI_Comm c_comm = MPI_Comm_f2c(*comm);
    int me;
    MPI_Comm_rank(c_comm, &me);
    a = me;
    mpi_sendrecv_(&a, &one, &type, next, &tag, &b, &one, &type, prev, &tag, comm, MPI_F_STATUS_IGNORE, &ierror);
    if (barriers == 4 && b == *prev && c_comm == MPI_COMM_WORLD && MPI_Comm_c2f(c_comm) == *comm) (*right)++;
    *right += null_conversions(me);
}
