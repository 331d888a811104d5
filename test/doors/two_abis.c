/* two_abis.c -- for abi.sh: one process with libraries of two ABIs, each with its own mpi.h; MAIN is the program, which has neither.
 *
 * Objects are the same for both: attributes, operations and error handlers of one are called through calls of the other, with its own
 * handles.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifdef MAIN
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    int bad = argc != 3, rank = 0;
    void *one = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), *two = one ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!two) return printf("%s\n", dlerror()), 1;
    int (*begin)(int *, char ***) = (int (*)(int *, char ***))dlsym(one, "begin");
    int (*check[2])(void) = {(int (*)(void))dlsym(one, "check"), (int (*)(void))dlsym(two, "check")};
    int (*attach[2])(void) = {(int (*)(void))dlsym(one, "attach"), (int (*)(void))dlsym(two, "attach")};
    int (*provoke[2])(void) = {(int (*)(void))dlsym(one, "provoke"), (int (*)(void))dlsym(two, "provoke")};
    int (*called[2])(void) = {(int (*)(void))dlsym(one, "called"), (int (*)(void))dlsym(two, "called")};
    int (*end)(void) = (int (*)(void))dlsym(two, "end");
    rank = begin(&argc, &argv);
    for (int i = 0; i < 2; i++) bad += check[i]();
    for (int i = 0; i < 2; i++) {
        attach[i]();
        provoke[1 - i](); /* by the other ABI's calls */
        int own = called[i](), other = called[1 - i]();
        if (own == 3 && other == 0) continue;
        bad++;
        printf("rank %d: functions of library %d were called %d times, of the other %d times\n", rank, i, own, other);
    }
    end();
    if (rank == 0 && !bad) printf("both\n");
    return bad != 0;
}
#else
#include <mpi.h>
static int n_called, key, errors, is_attached;
static int copy(MPI_Comm comm, int k, void *extra, void *in, void *out, int *flag)
{
    n_called += comm == MPI_COMM_SELF && k == key && extra == &key;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete (MPI_Comm comm, int k, void *value, void *extra)
{
    n_called += comm != MPI_COMM_NULL && comm != MPI_COMM_SELF && k == key && value == &errors && extra == &key;
    return MPI_SUCCESS;
}
static void on_error(MPI_Comm *comm, int *code, ...)
{
    int class;
    MPI_Error_class(*code, &class);
    n_called += *comm == MPI_COMM_SELF && class == MPI_ERR_RANK;
}
static void times(void *in, void *inout, int *len, MPI_Datatype *type)
{
    for (int i = 0; i < *len; i++) ((double *)inout)[i] *= *type == MPI_DOUBLE ? ((double *)in)[i] : 0;
}
int begin(int *argc, char ***argv)
{
    int rank;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}
int check(void)
{
    MPI_Op op;
    MPI_Status s;
    int rank, n, from = -1, count;
    double x = 2, y = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Op_create(times, 1, &op);
    MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % n, 1, &from, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
    MPI_Get_count(&s, MPI_INT, &count);
    return y != (double)(1 << n) || from != (rank + n - 1) % n || s.MPI_SOURCE != from || count != 1;
}
/* Functions of this library on MPI_COMM_SELF. */
int attach(void)
{
    MPI_Errhandler eh;
    MPI_Comm_create_keyval(copy, delete, &key, &key);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &errors);
    MPI_Comm_create_errhandler(on_error, &eh);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, eh);
    MPI_Errhandler_free(&eh);
    is_attached = 1;
    return 0;
}
/* Calls of this library that run whatever is attached there: copy, delete, error handler. */
int provoke(void)
{
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_SELF, &dup);
    MPI_Comm_free(&dup);
    MPI_Send(&errors, 1, MPI_INT, 3, 0, MPI_COMM_SELF);
    return 0;
}
/* How often so far; and takes its functions away again. */
int called(void)
{
    int n = n_called;
    if (is_attached) {
        is_attached = 0;
        MPI_Comm_delete_attr(MPI_COMM_SELF, key);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    }
    n_called = 0;
    return n;
}
int end(void) { return MPI_Finalize(); }
#endif
