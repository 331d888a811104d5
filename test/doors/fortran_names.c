/* fortran_names.c -- C beside fortran.f90: each way in which compilers name a routine, C's names of Fortran's sentinels, and that a tool
 * which brings its own MPI_Barrier sees Fortran's calls.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
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
}
