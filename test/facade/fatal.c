/* fatal.c -- for fatal.sh: rank 1 makes the mistake that the argument names, and no error handler was set.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static const char *mistake;
static int is(const char *name) { return strcmp(mistake, name) == 0; }

static void do_it(void)
{
    int x[4] = {0};
    MPI_Comm comm, freed;
    MPI_Datatype type;
    MPI_Request q[2];
    MPI_Info info;
    if (is("count")) MPI_Send(x, -1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    if (is("rank")) MPI_Send(x, 1, MPI_INT, 17, 5, MPI_COMM_WORLD);
    if (is("null")) MPI_Recv(NULL, 100, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is("op")) MPI_Reduce_local(x, x + 2, 1, MPI_DOUBLE, MPI_BXOR);
    if (is("truncate")) {
        MPI_Isend(x, 4, MPI_INT, 1, 5, MPI_COMM_WORLD, q);
        MPI_Recv(x, 2, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (is("waitall")) {
        MPI_Isend(x, 4, MPI_INT, 1, 5, MPI_COMM_WORLD, &q[0]);
        MPI_Irecv(x, 2, MPI_INT, 1, 5, MPI_COMM_WORLD, &q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    }
    if (is("type")) {
        MPI_Type_contiguous(3, MPI_INT, &type);
        MPI_Send(x, 1, type, 0, 5, MPI_COMM_WORLD);
    }
    if (is("freed")) {
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        freed = comm;
        MPI_Comm_free(&comm);
        MPI_Barrier(freed);
    }
    if (is("key")) {
        MPI_Info_create(&info);
        MPI_Info_delete(info, "nokey");
    }
    if (is("zero")) {
        MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
        MPI_File_seek(MPI_FILE_NULL, 0, MPI_SEEK_SET);
    }
    if (is("errors_abort")) {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ABORT);
        MPI_Type_size(MPI_DATATYPE_NULL, x);
    }
    if (is("predefined")) {
        type = MPI_INT;
        MPI_Type_free(&type);
    }
    if (is("abort")) MPI_Abort(MPI_COMM_WORLD, 7);
}

int main(int argc, char **argv)
{
    int rank;
    mistake = argc > 1 ? argv[1] : "none";
    if (is("before")) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) do_it();
    MPI_Barrier(MPI_COMM_WORLD); /* the other ranks wait here until the job ends */
    MPI_Finalize();
    if (is("after") && rank == 1) MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("finished\n");
    return 0;
}
