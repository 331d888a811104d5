/* abi.c -- for run by abi.sh, compiled with another library's mpicc: the points at which ABIs differ, one function each.  Everything that a
 * call writes lies between canaries, and what comes back is compared with the program's own constants.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, n, bad;
#define OK(what) ((what) ? (void)0 : (void)(bad++, printf("rank %d: %s:%d: not so: %s\n", me, __FILE__, __LINE__, #what)))
#define CANARY   0x5ca1ab1e
#define KEPT     77 /* in error fields, which are the program's */

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

/* ---- 1. handles ---- */
static void handles(void)
{
    MPI_Errhandler eh;
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_FLOAT_INT}, type, dup, got[2];
    MPI_Comm comm, world = MPI_COMM_WORLD;
    MPI_Group group, empty;
    int ints[4], lengths[2] = {1, 2}, n_ints, n_addresses, n_types, combiner;
    MPI_Aint addresses[2], displs[2] = {0, 64};
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &eh);
    OK(eh == MPI_ERRORS_ARE_FATAL);
    MPI_Comm_get_parent(&comm);
    OK(comm == MPI_COMM_NULL);
    MPI_Type_create_struct(2, lengths, displs, types, &type);
    MPI_Type_get_envelope(type, &n_ints, &n_addresses, &n_types, &combiner);
    OK(combiner == MPI_COMBINER_STRUCT && n_ints == 3 && n_addresses == 2 && n_types == 2);
    MPI_Type_get_contents(type, 4, 2, 2, ints, addresses, got);
    OK(got[0] == MPI_DOUBLE && got[1] == MPI_FLOAT_INT && ints[2] == 2 && addresses[1] == 64);
    MPI_Type_dup(type, &dup);
    OK(dup != type && dup != MPI_DATATYPE_NULL);
    MPI_Type_get_contents(dup, 0, 0, 1, ints, addresses, got);
    OK(got[0] != MPI_DOUBLE && got[0] != MPI_DATATYPE_NULL);
    MPI_Type_free(&got[0]);
    MPI_Type_free(&dup);
    MPI_Type_free(&type);
    OK(type == MPI_DATATYPE_NULL && dup == MPI_DATATYPE_NULL);
    const struct pair {
        MPI_Datatype type;
        int size;
    } pairs[] = {{MPI_FLOAT_INT, 8}, {MPI_DOUBLE_INT, 12}, {MPI_LONG_INT, 12},
                 {MPI_SHORT_INT, 6}, {MPI_2INT, 8},        {MPI_LONG_DOUBLE_INT, 20}};
    for (int i = 0; i < 6; i++) {
        MPI_Type_size(pairs[i].type, ints);
        OK(ints[0] == pairs[i].size);
    }
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type);
    OK(type == MPI_REAL8 || type == MPI_DOUBLE_PRECISION || type == MPI_DOUBLE);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_incl(group, 0, NULL, &empty);
    OK(empty == MPI_GROUP_EMPTY);
    OK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD && MPI_Group_f2c(MPI_Group_c2f(group)) == group);
    MPI_Group_free(&group);
    MPI_Comm_dup(world, &comm);
    OK(MPI_Comm_f2c(MPI_Comm_c2f(comm)) == comm && comm != MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
    OK(comm == MPI_COMM_NULL);
}

/* ---- 2. constants ---- */
static void constants(void)
{
    MPI_Comm grid;
    MPI_Group all, self;
    int dims[1] = {n}, periods[1] = {0}, from, to, what, rank = 0, sizes[1] = {8}, part[1] = {4}, start[1] = {2}, ints[9],
        counts[4];
    int distribs[1] = {MPI_DISTRIBUTE_BLOCK}, dargs[1] = {MPI_DISTRIBUTE_DFLT_DARG}, *value;
    int procs[1] = {1};
    MPI_Datatype type, array;
    MPI_Aint none[1];
    MPI_Win win;
    void *base;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &from, &to);
    OK(me == 0 ? from == MPI_PROC_NULL : from == me - 1);
    OK(me == n - 1 ? to == MPI_PROC_NULL : to == me + 1);
    MPI_Topo_test(grid, &what);
    OK(what == MPI_CART);
    MPI_Comm_compare(grid, MPI_COMM_WORLD, &what);
    OK(what == MPI_CONGRUENT);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &what);
    OK(what == MPI_IDENT);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(MPI_COMM_SELF, &self);
    for (int i = 0; i < n; i++) {
        MPI_Group_translate_ranks(all, 1, &i, self, &what);
        OK(i == me ? what == 0 : what == MPI_UNDEFINED);
    }
    rank = MPI_PROC_NULL;
    MPI_Group_translate_ranks(all, 1, &rank, self, &what);
    OK(what == MPI_PROC_NULL);
    MPI_Group_free(&all);
    MPI_Group_free(&self);
    MPI_Comm_free(&grid);
    MPI_Query_thread(&what);
    OK(what == MPI_THREAD_MULTIPLE || what == MPI_THREAD_SERIALIZED || what == MPI_THREAD_FUNNELED || what == MPI_THREAD_SINGLE);
    MPI_Type_create_subarray(1, sizes, part, start, MPI_ORDER_FORTRAN, MPI_INT, &type);
    MPI_Type_get_contents(type, 9, 0, 1, ints, none, &array);
    OK(ints[4] == MPI_ORDER_FORTRAN);
    MPI_Type_free(&type);
    MPI_Type_create_darray(1, 0, 1, sizes, distribs, dargs, procs, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &counts[3]);
    OK(counts[3] == MPI_COMBINER_DARRAY && counts[0] == 8);
    MPI_Type_get_contents(type, 9, 0, 1, ints, none, &array);
    OK(ints[4] == MPI_DISTRIBUTE_BLOCK && ints[5] == MPI_DISTRIBUTE_DFLT_DARG && ints[7] == MPI_ORDER_C);
    MPI_Type_free(&type);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &what);
    OK(what && *value == MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &what);
    OK(what && (*value == MPI_WIN_UNIFIED || *value == MPI_WIN_SEPARATE));
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, MPI_MODE_NOCHECK, win);
    MPI_Put(&me, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
    MPI_Win_unlock(me, win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    int refused = MPI_Accumulate(&me, 1, MPI_INT, -5, 0, 1, MPI_INT, MPI_SUM, win), text_len;
    char text[MPI_MAX_ERROR_STRING] = "";
    OK(class_of(refused) == MPI_ERR_RANK);
    MPI_Error_string(refused, text, &text_len);
    OK(strstr(text, "-5")); /* the number that the program gave */
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    OK(win == MPI_WIN_NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    OK(class_of(MPI_Send(&me, 1, MPI_INT, 5, 0, MPI_COMM_SELF)) == MPI_ERR_RANK);
    OK(class_of(MPI_Send(&me, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_SELF)) == MPI_ERR_TYPE);
    OK(class_of(MPI_Bcast(&me, 1, MPI_INT, 5, MPI_COMM_SELF)) == MPI_ERR_ROOT);
    OK(class_of(MPI_Send(&me, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_SELF)) == MPI_ERR_TAG);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* ---- 3. and 4. statuses and arrays of requests ---- */
struct guarded {
    int before[4];
    MPI_Status s[3];
    int after[8];
    MPI_Request r[3];
    int end[4];
};

static void arm(struct guarded *g)
{
    for (int *p = (int *)g; p < (int *)(g + 1); p++) *p = CANARY;
    for (int i = 0; i < 3; i++) g->s[i].MPI_ERROR = KEPT;
}

static int intact(const struct guarded *g)
{
    int same = 1;
    for (int i = 0; i < 4; i++) same &= g->before[i] == CANARY && g->end[i] == CANARY;
    for (int i = 0; i < 8; i++) same &= g->after[i] == CANARY;
    return same;
}

static void statuses(void)
{
    struct guarded g;
    int right = (me + 1) % n, left = (me + n - 1) % n, in[3] = {0}, flag, count, which;
    MPI_Status copy;
    arm(&g);
    MPI_Sendrecv(&me, 1, MPI_INT, right, 5, in, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &g.s[0]);
    memcpy(&copy, &g.s[0], sizeof copy);
    MPI_Get_count(&copy, MPI_INT, &count);
    OK(intact(&g) && g.s[0].MPI_SOURCE == left && g.s[0].MPI_TAG == 5 && g.s[0].MPI_ERROR == KEPT && count == 1 && in[0] == left);
    MPI_Get_elements(&copy, MPI_BYTE, &count);
    OK(count == 4);
    arm(&g);
    for (int i = 0; i < 3; i++) MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &g.r[i]);
    for (int i = 0; i < 3; i++) MPI_Send(&i, 1, MPI_INT, right, i, MPI_COMM_WORLD);
    MPI_Waitall(3, g.r, g.s);
    OK(intact(&g));
    for (int i = 0; i < 3; i++)
        OK(g.r[i] == MPI_REQUEST_NULL && g.s[i].MPI_TAG == i && g.s[i].MPI_SOURCE == left && g.s[i].MPI_ERROR == KEPT &&
           in[i] == i);
    arm(&g);
    for (int i = 0; i < 3; i++) g.r[i] = MPI_REQUEST_NULL;
    MPI_Testall(3, g.r, &flag, g.s);
    OK(flag && intact(&g) && g.s[2].MPI_TAG == MPI_ANY_TAG && g.s[2].MPI_SOURCE == MPI_ANY_SOURCE);
    MPI_Waitany(3, g.r, &which, &g.s[1]);
    OK(which == MPI_UNDEFINED && intact(&g));
    arm(&g);
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &g.s[0]);
    OK(g.s[0].MPI_SOURCE == MPI_PROC_NULL && g.s[0].MPI_TAG == MPI_ANY_TAG && g.s[0].MPI_ERROR == KEPT && intact(&g));
    MPI_Isend(&me, 1, MPI_INT, me, 9, MPI_COMM_WORLD, &g.r[0]);
    do MPI_Iprobe(me, 9, MPI_COMM_WORLD, &flag, &g.s[0]);
    while (!flag);
    OK(g.s[0].MPI_TAG == 9);
    MPI_Recv(in, 1, MPI_INT, me, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(1, g.r, MPI_STATUSES_IGNORE);
    /* Errors in an array: the fields are written now, in the program's codes. */
    arm(&g);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Irecv(in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &g.r[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, 0, 2, MPI_COMM_SELF, &g.r[1]);
    MPI_Send(in, 2, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Send(in, 1, MPI_INT, 0, 2, MPI_COMM_SELF);
    OK(class_of(MPI_Waitall(2, g.r, g.s)) == MPI_ERR_IN_STATUS);
    OK(class_of(g.s[0].MPI_ERROR) == MPI_ERR_TRUNCATE && g.s[1].MPI_ERROR == MPI_SUCCESS && g.s[2].MPI_ERROR == KEPT && intact(&g));
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Status_set_cancelled(&copy, 1);
    MPI_Status_set_elements(&copy, MPI_INT, 12);
    MPI_Test_cancelled(&copy, &flag);
    MPI_Get_count(&copy, MPI_INT, &count);
    OK(MPI_Status_f2c(MPI_F_STATUS_IGNORE, &copy) != MPI_SUCCESS); /* it is none */
    OK(flag && count == 12);
    MPI_Count many = 0, half = (MPI_Count)3 << 32; /* counts of two parts, beside the mark */
    for (int cancels = 0; cancels < 2; cancels++) {
        MPI_Status_set_cancelled(&copy, cancels);
        MPI_Status_set_elements_x(&copy, MPI_SHORT, half + cancels);
        MPI_Test_cancelled(&copy, &flag);
        MPI_Get_elements_x(&copy, MPI_SHORT, &many);
        OK(flag == cancels && many == half + cancels);
    }
}

/* Fewer than an array on the stack holds, and more: null and inactive requests among others, one that fails (at `fails`). */
enum { MOST = 150 };
static void many(int count, int fails, int is_test)
{
    static MPI_Request r[MOST];
    static MPI_Status s[MOST + 1];
    static int in[MOST], two[2];
    int flag = 0, rc;
    for (int i = 0; i <= MOST; i++) memset(&s[i], 7, sizeof s[i]), s[i].MPI_ERROR = KEPT;
    for (int i = 0; i < count; i++) {
        if (i % 5 == 0) r[i] = MPI_REQUEST_NULL;
        if (i % 5 == 1) MPI_Recv_init(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &r[i]);
        if (i % 5 == 2) MPI_Irecv(&in[i], 1, MPI_INT, MPI_PROC_NULL, i, MPI_COMM_SELF, &r[i]);
        if (i % 5 > 2) MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &r[i]);
    }
    for (int i = 0; i < count; i++)
        if (i % 5 > 2) MPI_Send(two, 1 + (i == fails), MPI_INT, 0, i, MPI_COMM_SELF);
    if (is_test)
        while ((rc = MPI_Testall(count, r, &flag, s)) == MPI_SUCCESS && !flag) OK(s[0].MPI_ERROR == KEPT);
    else
        rc = MPI_Waitall(count, r, s);
    OK(class_of(rc) == (fails < 0 ? MPI_SUCCESS : MPI_ERR_IN_STATUS));
    for (int i = 0; i < count; i++) {
        int is_empty = i % 5 < 2, error = fails < 0 && !is_empty ? KEPT : i == fails ? MPI_ERR_TRUNCATE : MPI_SUCCESS, bytes;
        OK(s[i].MPI_SOURCE == (is_empty ? MPI_ANY_SOURCE : i % 5 == 2 ? MPI_PROC_NULL : 0));
        OK(s[i].MPI_TAG == (i % 5 > 2 ? i : MPI_ANY_TAG) && (s[i].MPI_ERROR == KEPT ? KEPT : class_of(s[i].MPI_ERROR)) == error);
        MPI_Get_count(&s[i], MPI_BYTE, &bytes);
        OK(i == fails || bytes == (i % 5 > 2 ? 4 : 0));
        MPI_Test_cancelled(&s[i], &flag);
        OK(!flag && (r[i] == MPI_REQUEST_NULL) == (i % 5 != 1));
        if (i % 5 == 1) MPI_Request_free(&r[i]);
    }
    OK(s[count].MPI_ERROR == KEPT);
}

static void arrays(void)
{
    static const int counts[] = {0, 1, 2, 20, 64, 65, MOST};
    MPI_Request r[MOST];
    int which, in[MOST];
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int i = 0; i < 7; i++)
        for (int is_test = 0; is_test < 2; is_test++) {
            many(counts[i], -1, is_test);
            if (counts[i] > 4) many(counts[i], counts[i] / 5 * 5 - 2, is_test);
        }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    for (int i = 0; i < MOST; i++) MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &r[i]);
    MPI_Send(&n, 1, MPI_INT, 0, MOST - 1, MPI_COMM_SELF);
    MPI_Waitany(MOST, r, &which, MPI_STATUS_IGNORE);
    OK(which == MOST - 1 && in[which] == n && r[which] == MPI_REQUEST_NULL && r[0] != MPI_REQUEST_NULL);
    for (int i = 0; i < MOST - 1; i++) MPI_Send(&n, 1, MPI_INT, 0, i, MPI_COMM_SELF);
    MPI_Waitall(MOST, r, MPI_STATUSES_IGNORE);
    OK(r[0] == MPI_REQUEST_NULL && in[0] == n);
}

/* ---- 5. special addresses ---- */
static void addresses(void)
{
    int sum = me, none[1] = {0}, in, out, weighted, right = (me + 1) % n, left = (me + n - 1) % n;
    MPI_Comm graph;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    OK(sum == n * (n - 1) / 2);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    OK(in == 1 && out == 1 && !weighted);
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, none, MPI_WEIGHTS_EMPTY, 0, none, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0,
                                   &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    OK(in == 0 && out == 0 && weighted);
    MPI_Comm_free(&graph);
}

/* ---- 6. functions of the program ---- */
static int op_types, copies, deletes, errors, error_class, queries;
static MPI_Comm error_comm;
static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    op_types += *type == MPI_INT;
    for (int i = 0; i < *len; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static int copy_attr(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    copies += comm == MPI_COMM_SELF && extra == &copies && key != MPI_KEYVAL_INVALID;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_attr(MPI_Comm comm, int key, void *value, void *extra)
{
    deletes += comm != MPI_COMM_NULL && value == &me && extra == &copies && key != MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
    errors++;
    error_comm = *comm;
    error_class = class_of(*code);
}

static int query(void *extra, MPI_Status *s)
{
    queries += extra == &queries;
    s->MPI_SOURCE = MPI_UNDEFINED;
    s->MPI_TAG = 21;
    MPI_Status_set_elements(s, MPI_INT, 3);
    MPI_Status_set_cancelled(s, 0);
    return MPI_SUCCESS;
}
static int release(void *extra) { return extra == &queries ? MPI_SUCCESS : MPI_ERR_ARG; }
static int cancel(void *extra, int complete) { return extra && complete >= 0 ? MPI_SUCCESS : MPI_ERR_ARG; }

static void functions(void)
{
    MPI_Op op;
    MPI_Comm dup;
    MPI_Errhandler eh;
    MPI_Request r;
    struct guarded g;
    int key, plain, sum = 0, flag, count, *value, tag = 3;
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    MPI_Allreduce(MPI_IN_PLACE, &op_types, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* which ranks add, nobody promises */
    OK(sum == n * (n - 1) / 2 && op == MPI_OP_NULL && (n == 1 || op_types > 0));
    MPI_Comm_create_keyval(copy_attr, delete_attr, &key, &copies);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &me);
    MPI_Comm_set_attr(MPI_COMM_SELF, plain, &n);
    MPI_Comm_dup(MPI_COMM_SELF, &dup);
    MPI_Comm_get_attr(dup, plain, &value, &flag);
    OK(flag && value == &n && copies == 1);
    MPI_Comm_free(&dup);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Comm_delete_attr(MPI_COMM_SELF, plain);
    OK(deletes == 2);
    MPI_Comm_free_keyval(&key);
    OK(key == MPI_KEYVAL_INVALID);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    OK(flag && *value >= 32767);
    MPI_Comm_create_errhandler(on_error, &eh);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, eh);
    MPI_Send(&me, 1, MPI_INT, 7, tag, MPI_COMM_SELF);
    OK(errors == 1 && error_comm == MPI_COMM_SELF && error_class == MPI_ERR_RANK);
    MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER);
    OK(errors == 2 && error_class == MPI_ERR_OTHER);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&eh);
    arm(&g);
    MPI_Grequest_start(query, release, cancel, &queries, &r);
    MPI_Grequest_complete(r);
    MPI_Wait(&r, &g.s[1]);
    MPI_Get_count(&g.s[1], MPI_INT, &count);
    OK(queries == 1 && g.s[1].MPI_TAG == 21 && count == 3 && intact(&g) && r == MPI_REQUEST_NULL);
}

/* ---- 7. types for each rank ---- */
static void alltoallw(void)
{
    int counts[n], displs[n], in[n], out[n];
    MPI_Datatype types[n];
    for (int i = 0; i < n; i++) {
        counts[i] = 1, displs[i] = i * 4, out[i] = me * 100 + i, in[i] = -1;
        types[i] = MPI_INT;
    }
    MPI_Request r;
    MPI_Ialltoallw(out, counts, displs, types, in, counts, displs, types, MPI_COMM_WORLD, &r);
    for (int i = 0; i < n; i++) types[i] = MPI_DATATYPE_NULL; /* the call has read them */
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) OK(in[i] == i * 100 + me);
}

/* ---- 8. texts ---- */
static void texts(void)
{
    struct {
        char name[MPI_MAX_PROCESSOR_NAME], after[64];
    } p;
    struct {
        char text[MPI_MAX_ERROR_STRING], after[64];
    } e;
    struct {
        char text[MPI_MAX_LIBRARY_VERSION_STRING], after[64];
    } v;
    struct {
        char text[MPI_MAX_OBJECT_NAME], after[64];
    } o;
    char most[MPI_MAX_OBJECT_NAME];
    int len;
    memset(&p, 'x', sizeof p), memset(&e, 'x', sizeof e), memset(&v, 'x', sizeof v), memset(&o, 'x', sizeof o);
    MPI_Get_processor_name(p.name, &len);
    OK(p.after[0] == 'x' && (int)strlen(p.name) == len);
    MPI_Error_string(MPI_ERR_TRUNCATE, e.text, &len);
    OK(e.after[0] == 'x' && (int)strlen(e.text) == len && strstr(e.text, "TRUNCATE"));
    MPI_Get_library_version(v.text, &len);
    OK(v.after[0] == 'x' && (int)strlen(v.text) == len && strstr(v.text, "Godwit"));
    memset(most, 'n', sizeof most - 1);
    most[sizeof most - 1] = 0;
    MPI_Comm_set_name(MPI_COMM_SELF, most);
    MPI_Comm_get_name(MPI_COMM_SELF, o.text, &len);
    OK(o.after[0] == 'x' && (int)strlen(o.text) == len && strcmp(o.text, most) == 0);
}

/* ---- 9. the tool interface ---- */
/* Every key that is shown can be held and asked for, with its value; no other is counted. */
static void keys_of(MPI_Info info, int least)
{
    char key[MPI_MAX_INFO_KEY + 8], *value = malloc(MPI_MAX_INFO_VAL + 1);
    int keys = -1, bytes = -1, flag = 0;
    MPI_Info_get_nkeys(info, &keys);
    OK(keys >= least);
    for (int i = 0; i < keys; i++) {
        memset(key, 'x', sizeof key);
        MPI_Info_get_nthkey(info, i, key);
        OK(memchr(key, 0, MPI_MAX_INFO_KEY) && key[MPI_MAX_INFO_KEY] == 'x');
        flag = 0, bytes = -1;
        MPI_Info_get_valuelen(info, key, &bytes, &flag);
        OK(flag && bytes >= 0 && bytes < MPI_MAX_INFO_VAL);
        flag = 0;
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag);
        OK(flag && strlen(value) == (size_t)bytes);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    OK(class_of(MPI_Info_get_nthkey(info, keys, key)) == MPI_ERR_ARG ||
       class_of(MPI_Info_get_nthkey(info, keys, key)) == MPI_ERR_INFO_KEY);
    free(value);
}
static void keys(void)
{
    MPI_Info info;
    MPI_Win win;
    MPI_Comm_get_info(MPI_COMM_WORLD, &info);
    keys_of(info, 1);
    MPI_Info_set(info, "a", "b");
    keys_of(info, 2);
    MPI_Info_free(&info);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_get_info(win, &info);
    keys_of(info, 1);
    MPI_Info_free(&info);
    MPI_Win_free(&win);
    keys_of(MPI_INFO_ENV, 1);
    MPI_Info_create(&info);
    keys_of(info, 0);
    MPI_Info_set(info, "one", "1");
    keys_of(info, 1);
    MPI_Info_free(&info);
}

static void tools(void)
{
    int provided, count, verbosity, bind, scope, len = 0, n_text = 0, class, readonly, continuous, atomic;
    MPI_Datatype type;
    MPI_T_enum values;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    MPI_T_cvar_get_num(&count);
    OK(count > 10);
    for (int i = 0; i < count; i++) {
        len = n_text = 0;
        OK(MPI_T_cvar_get_info(i, NULL, &len, &verbosity, &type, &values, NULL, &n_text, &bind, &scope) == MPI_SUCCESS);
        OK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
        OK(type == MPI_INT || type == MPI_CHAR || type == MPI_COUNT || type == MPI_UNSIGNED_LONG_LONG);
        OK(bind == MPI_T_BIND_NO_OBJECT && scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ);
    }
    OK(MPI_T_cvar_get_info(count, NULL, &len, &verbosity, &type, &values, NULL, &n_text, &bind, &scope) == MPI_T_ERR_INVALID_INDEX);
    MPI_T_pvar_get_num(&count);
    for (int i = 0; i < count; i++) {
        len = n_text = 0;
        OK(MPI_T_pvar_get_info(i, NULL, &len, &verbosity, &class, &type, &values, NULL, &n_text, &bind, &readonly, &continuous,
                               &atomic) == MPI_SUCCESS);
        OK(class >= MPI_T_PVAR_CLASS_STATE && class <= MPI_T_PVAR_CLASS_GENERIC);
    }
    MPI_T_finalize();
}

/* ---- 10. profilers ---- */
static int barriers;
int MPI_Barrier(MPI_Comm comm)
{
    barriers++;
    return PMPI_Barrier(comm);
}

/* With an argument: which library this is. */
static int library(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int len;
    MPI_Get_library_version(text, &len);
    if (me == 0) printf("%d ranks, %.6s\n", n, text);
    return MPI_Finalize();
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    OK(provided == MPI_THREAD_FUNNELED || provided == MPI_THREAD_SERIALIZED || provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (argc > 1) return library();
    handles();
    constants();
    statuses();
    arrays();
    addresses();
    functions();
    alltoallw();
    texts();
    keys();
    tools();
    MPI_Barrier(MPI_COMM_WORLD);
    OK(barriers == 1);
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0 && !bad) printf("all points\n");
    MPI_Finalize();
    return bad != 0;
}
