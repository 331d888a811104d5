/* threads_types.h -- scenes of threads_every.c: datatypes, packing, reduction operations.  (Calls whose two forms take arrays of
 * different integers are in threads_counts.h.)
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "threads_every.h"

static MPI_Datatype common_type; /* every third int of nine; all threads use it */
static int type_keyval_common, comm_keyval_common, win_keyval_common;

/* 3 ints of every 9 go to the neighbour as `type` and come back as MPI_INT: `at` says which. */
static void type_travels(struct th *th, MPI_Datatype type, const int *at, int n)
{
    int *a = (int *)th->a, *b = (int *)th->b;
    for (int i = 0; i < 100; i++) a[i] = rank * 1000 + i, b[i] = -1;
    choose_comm(th);
    MPI_Sendrecv(a, 1, type, th->right, th->tag, b, 100, MPI_INT, th->left, th->tag, th->c, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) EQ(b[i], th->left * 1000 + at[i]);
    EQ(b[n], -1);
    MPI_Sendrecv(a, n, MPI_INT, th->right, th->tag, b, 1, type, th->left, th->tag, th->c, MPI_STATUS_IGNORE);
    for (int i = n; i-- > 0;) EQ(b[at[i]], th->left * 1000 + i);
}

static void scene_types(struct th *th)
{
    MPI_Datatype v, h, c, d, r;
    static const int thirds[] = {0, 3, 6}, pairs[] = {0, 1, 4, 5};
    type_travels(th, common_type, thirds, 3);
    MPI_Type_vector(3, 1, 3, MPI_INT, &v);
    MPI_Type_create_hvector(3, 1, 12, MPI_INT, &h);
    MPI_Type_contiguous(2, MPI_INT, &c);
    MPI_Type_create_resized(c, 0, 16, &r);
    MPI_Type_contiguous(2, r, &d);
    MPI_Type_commit(&v);
    MPI_Type_commit(&h);
    MPI_Type_commit(&d);
    MPI_Type_free(&c);
    MPI_Type_free(&r);
    type_travels(th, v, thirds, 3);
    type_travels(th, h, thirds, 3);
    type_travels(th, d, pairs, 4);
    MPI_Type_dup(v, &c);
    MPI_Type_free(&v);
    type_travels(th, c, thirds, 3);
    SO(MPI_Type_fromint(MPI_Type_toint(c)) == c);
    SO(MPI_Type_f2c(MPI_Type_c2f(c)) == c);
    MPI_Type_free(&c);
    MPI_Type_free(&h);
    MPI_Type_free(&d);
}

static void scene_type_names(struct th *th)
{
    MPI_Datatype d, f;
    char name[MPI_MAX_OBJECT_NAME], want[32];
    MPI_Count large = 0, lb = 0;
    int len = 0;
    MPI_Type_dup(common_type, &d);
    snprintf(want, sizeof want, "type %d", th->t);
    MPI_Type_set_name(d, want);
    MPI_Type_get_name(d, name, &len);
    EQ(strcmp(name, want), 0);
    MPI_Type_get_name(MPI_DOUBLE, name, &len);
    EQ(strcmp(name, "MPI_DOUBLE"), 0);
    MPI_Type_free(&d);
    MPI_Type_create_f90_real(6, MPI_UNDEFINED, &f);
    MPI_Type_size_x(f, &large);
    EQ(large, 4);
    MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &f);
    MPI_Type_size_x(f, &large);
    EQ(large, 16);
    MPI_Type_create_f90_integer(5 + (int)below(th, 4), &f);
    MPI_Type_get_extent_x(f, &lb, &large);
    EQ(large, 4);
    MPI_Type_get_true_extent_x(f, &lb, &large);
    EQ(large, 4);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &f);
    MPI_Type_size_x(f, &large);
    EQ(large, 8);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &f);
    SO(f == MPI_DOUBLE_INT);
    MPI_Aint at;
    MPI_Get_address(th->a, &at);
    EQ(MPI_Aint_diff(MPI_Aint_add(at, 24), at), 24);
}

static _Atomic int type_copies, type_deletes;
static int type_copied(MPI_Datatype d, int key, void *extra, void *in, void *out, int *flag)
{
    (void)d, (void)key, (void)extra;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    atomic_fetch_add(&type_copies, 1);
    return MPI_SUCCESS;
}
static int type_deleted(MPI_Datatype d, int key, void *value, void *extra)
{
    (void)d, (void)key, (void)value, (void)extra;
    atomic_fetch_add(&type_deletes, 1);
    return MPI_SUCCESS;
}
/* A key of one's own on the common type, the common key on a type of one's own. */
static void scene_type_attributes(struct th *th)
{
    MPI_Datatype d, e;
    char mark[4], *value = NULL;
    int key = 0, flag = 0;
    MPI_Type_create_keyval(type_copied, type_deleted, &key, NULL);
    MPI_Type_set_attr(common_type, key, mark);
    MPI_Type_get_attr(common_type, key, &value, &flag);
    SO(flag && value == mark);
    MPI_Type_delete_attr(common_type, key);
    MPI_Type_get_attr(common_type, key, &value, &flag);
    EQ(flag, 0);
    MPI_Type_free_keyval(&key);
    EQ(key, MPI_KEYVAL_INVALID);
    MPI_Type_contiguous(2, MPI_INT, &d);
    MPI_Type_set_attr(d, type_keyval_common, mark);
    MPI_Type_dup(d, &e);
    MPI_Type_get_attr(e, type_keyval_common, &value, &flag);
    SO(flag && value == mark + 1);
    MPI_Type_free(&d);
    MPI_Type_free(&e);
}

static void user_sum(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}
static void user_sum_c(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
    (void)type;
    for (MPI_Count i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}
static void scene_ops(struct th *th)
{
    for (int i = 0; i < 2; i++) {
        MPI_Op op;
        int commutes = -1, in[3] = {1, 2, 3}, out[3] = {10, 20, 30}, mine = rank + th->t, sum = 0;
        if (i)
            MPI_Op_create(user_sum, 1, &op);
        else
            MPI_Op_create_c(user_sum_c, 0, &op);
        SO(MPI_Op_fromint(MPI_Op_toint(op)) == op);
        SO(MPI_Op_f2c(MPI_Op_c2f(op)) == op);
        MPI_Op_commutative(op, &commutes);
        EQ(commutes, i);
        MPI_Reduce_local(in, out, 3, MPI_INT, op);
        EQ(out[2], 33);
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, op, th->own);
        EQ(sum, sum_of_ranks() + size * th->t);
        MPI_Op_free(&op);
        SO(op == MPI_OP_NULL);
    }
}
