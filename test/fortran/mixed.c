/* mixed.c -- C and Fortran in one program, initialised by either: handles, attributes, operations and statuses cross the border.
 * With -DC_MAIN it is the main program.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef WITHOUT_TOINT /* libraries before MPI 5.0 */
#define MPI_Comm_toint      MPI_Comm_c2f
#define MPI_Op_fromint      MPI_Op_f2c
#define MPI_Type_fromint    MPI_Type_f2c
#define MPI_Request_fromint MPI_Request_f2c
#endif
#ifndef MPI_F_SOURCE /* the same in old Open MPI */
#define MPI_F_SOURCE 0
#define MPI_F_TAG    1
#endif

/* Called from Fortran: which special variable of its own this address is. */
int which_(void *p);
int which_(void *p)
{
#ifndef WITHOUT_F08_IGNORE
    if (p == MPI_F08_STATUS_IGNORE) return 1;
    if (p == MPI_F08_STATUSES_IGNORE) return 2;
#endif
    return p == MPI_F_STATUS_IGNORE ? 1 : p == MPI_F_STATUSES_IGNORE ? 2 : 3;
}
int ignored_f90_(void);
int ignored_f08_(void);

void f_part_(int *comm, int *key_of_c, int *key_out, int *op_out, int *type_out, int *request_out, int *buffer);
void c_part_(void);

static void want(int ok, const char *what)
{
    if (ok) return;
    printf("wrong: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

void c_part_(void)
{
    static char thing;
    int me, n, key, f_key, f_op, f_type, f_request, buffer = -1, flag, mine[2], all[2] = {0, 0}, f_status[8];
    void *value;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, &thing);
    int f_comm = MPI_Comm_toint(comm);
    f_part_(&f_comm, &key, &f_key, &f_op, &f_type, &f_request, &buffer);
    /* Fortran's value is an MPI_Aint, and C gets its address; that of C Fortran saw as a number (it gave it back as another attribute) */
    MPI_Comm_get_attr(comm, f_key, &value, &flag);
    want(flag && *(MPI_Aint *)value == (MPI_Aint)&thing, "attribute");
    MPI_Comm_get_attr(comm, key, &value, &flag);
    want(flag && *(MPI_Aint *)value == 4711, "attribute of C that Fortran set");
    mine[0] = me + 1;
    mine[1] = -me;
    MPI_Allreduce(mine, all, 1, MPI_Type_fromint(f_type), MPI_Op_fromint(f_op), comm);
    want(all[0] == n * (n + 1) / 2 && all[1] == -n * (n - 1) / 2, "operation of Fortran");
    int sent = 100 + me;
    MPI_Send(&sent, 1, MPI_INT, (me + 1) % n, 5, comm);
    MPI_Status status;
    MPI_Request request = MPI_Request_fromint(f_request);
    MPI_Wait(&request, &status);
    want(buffer == 100 + (me + n - 1) % n && status.MPI_SOURCE == (me + n - 1) % n, "request of Fortran");
    want(MPI_Status_c2f(&status, f_status) == MPI_SUCCESS && f_status[MPI_F_SOURCE] == status.MPI_SOURCE &&
             f_status[MPI_F_TAG] == 5,
         "status");
    MPI_Op op = MPI_Op_fromint(f_op);
    MPI_Datatype type = MPI_Type_fromint(f_type);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    want(ignored_f90_() == 321, "MPI_F_STATUS_IGNORE");
#ifndef WITHOUT_F08_IGNORE
    want(ignored_f08_() == 321, "MPI_F08_STATUS_IGNORE");
#endif
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&comm);
}

#ifdef C_MAIN
int main(int argc, char **argv)
{
    int me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    c_part_();
    MPI_Finalize();
    if (!me) puts("mixed: all right");
    return 0;
}
#endif
