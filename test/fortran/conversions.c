/* conversions.c -- every function that mpi.h inlines, under both names, in C and C++: over any library of the standard ABI, which has none of
 * them.  Run by run.sh and oracles.sh; prints "conversions: all right".
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void want(int ok, const char *what)
{
    if (ok) return;
    printf("wrong: %s\n", what);
    exit(1);
}

/* A predefined handle has the number of the ABI in Fortran, one of the program's comes back as it was. */
#define SAME(Type, Name, null, own)                                                                                                \
    do {                                                                                                                           \
        MPI_##Type h_ = own;                                                                                                       \
        want(MPI_##Name##_f2c(MPI_##Name##_c2f(h_)) == h_ && PMPI_##Name##_f2c(PMPI_##Name##_c2f(h_)) == h_, "own " #Name);        \
        want(MPI_##Name##_c2f(h_) == MPI_##Name##_toint(h_), #Name " as a number");                                                \
        want((intptr_t)null == MPI_##Name##_c2f(null) && MPI_##Name##_f2c((MPI_Fint)(intptr_t)null) == null, "no " #Name);         \
    } while (0)

static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *len; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void handles(void)
{
    MPI_Comm comm;
    MPI_Errhandler errhandler;
    MPI_File file;
    MPI_Group group;
    MPI_Info info;
    MPI_Message message;
    MPI_Op op;
    MPI_Request request;
    MPI_Session session;
    MPI_Datatype type;
    MPI_Win win;
    int out = 3, in = 0, me, *memory;
    char name[] = "conversions.XXXXXX";
    int fd = mkstemp(name);
    want(fd >= 0, "a file");
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_get_errhandler(comm, &errhandler);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_Comm_group(comm, &group);
    MPI_Info_create(&info);
    MPI_Op_create(add, 1, &op);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &win);
    MPI_Isend(&out, 1, MPI_INT, me, 1, comm, &request);
    MPI_Mprobe(me, 1, comm, &message, MPI_STATUS_IGNORE);
    SAME(Comm, Comm, MPI_COMM_NULL, comm);
    SAME(Errhandler, Errhandler, MPI_ERRHANDLER_NULL, errhandler);
    SAME(File, File, MPI_FILE_NULL, file);
    SAME(Group, Group, MPI_GROUP_NULL, group);
    SAME(Info, Info, MPI_INFO_NULL, info);
    SAME(Message, Message, MPI_MESSAGE_NULL, message);
    SAME(Op, Op, MPI_OP_NULL, op);
    SAME(Request, Request, MPI_REQUEST_NULL, request);
    SAME(Session, Session, MPI_SESSION_NULL, session);
    SAME(Datatype, Type, MPI_DATATYPE_NULL, type);
    SAME(Win, Win, MPI_WIN_NULL, win);
    message = MPI_Message_f2c(MPI_Message_c2f(message));
    MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    request = MPI_Request_f2c(MPI_Request_c2f(request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    want(in == 3, "data");
    MPI_Win_free(&win);
    MPI_Type_free(&type);
    MPI_Session_finalize(&session);
    MPI_Op_free(&op);
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    MPI_File_close(&file);
    MPI_Errhandler_free(&errhandler);
    MPI_Comm_free(&comm);
}

#define STATUSES(P)                                                                                                                \
    do {                                                                                                                           \
        MPI_Fint f_[MPI_F_STATUS_SIZE], g_[MPI_F_STATUS_SIZE];                                                                     \
        MPI_F08_status f08_;                                                                                                       \
        MPI_Status back_, again_;                                                                                                  \
        int n_ = 0;                                                                                                                \
        want(P##_Status_c2f(&status, f_) == MPI_SUCCESS && f_[MPI_F_SOURCE] == me && f_[MPI_F_TAG] == 7, #P "_Status_c2f");        \
        want(P##_Status_f2f08(f_, &f08_) == MPI_SUCCESS && f08_.MPI_SOURCE == me && f08_.MPI_TAG == 7, #P "_Status_f2f08");        \
        want(P##_Status_f082f(&f08_, g_) == MPI_SUCCESS && !memcmp(f_, g_, sizeof f_), #P "_Status_f082f");                        \
        want(P##_Status_f2c(g_, &back_) == MPI_SUCCESS && back_.MPI_TAG == 7, #P "_Status_f2c");                                   \
        want(P##_Status_c2f08(&back_, &f08_) == MPI_SUCCESS && f08_.MPI_TAG == 7, #P "_Status_c2f08");                             \
        want(P##_Status_f082c(&f08_, &again_) == MPI_SUCCESS && !memcmp(&again_, &status, sizeof status), #P "_Status_f082c");     \
        MPI_Get_count(&again_, MPI_INT, &n_);                                                                                      \
        want(n_ == 2, "count of a converted status");                                                                              \
    } while (0)

static void statuses(void)
{
    MPI_Status status;
    int out[2] = {1, 2}, in[4], me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Sendrecv(out, 2, MPI_INT, me, 7, in, 4, MPI_INT, me, 7, MPI_COMM_WORLD, &status);
    status.MPI_ERROR = 0;
    STATUSES(MPI);
    STATUSES(PMPI);
}

/* The types that MPI 3.0 removed, which mpi.h inlines, too. */
static void removed(void)
{
    MPI_Datatype type;
    MPI_Aint at, extent, lb, ub, places[2] = {0, 8};
    MPI_Errhandler errhandler;
    int blocks[2] = {1, 1}, thing, size;
    MPI_Datatype types[2] = {MPI_INT, MPI_CHAR};
    MPI_Address(&thing, &at);
    want(at == (MPI_Aint)(intptr_t)&thing, "MPI_Address");
    MPI_Type_hvector(2, 1, 16, MPI_INT, &type);
    MPI_Type_extent(type, &extent);
    MPI_Type_lb(type, &lb);
    MPI_Type_ub(type, &ub);
    want(extent == 20 && lb == 0 && ub == 20, "MPI_Type_hvector");
    MPI_Type_free(&type);
    MPI_Type_hindexed(2, blocks, places, MPI_INT, &type);
    MPI_Type_extent(type, &extent);
    want(extent == 12, "MPI_Type_hindexed");
    MPI_Type_free(&type);
    MPI_Type_struct(2, blocks, places, types, &type);
    MPI_Type_size(type, &size);
    want(size == 5, "MPI_Type_struct");
    MPI_Type_free(&type);
    MPI_Errhandler_get(MPI_COMM_SELF, &errhandler);
    MPI_Errhandler_set(MPI_COMM_SELF, errhandler);
    MPI_Errhandler_free(&errhandler);
}

int main(int argc, char **argv)
{
    int me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    handles();
    statuses();
    removed();
    MPI_Finalize();
    if (me == 0) puts("conversions: all right");
    return 0;
}
