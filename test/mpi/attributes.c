/* attributes.c -- attribute caching (MPI 4.1 section 7.7): which functions run when and in which order, what they are given and
 * what becomes of what they answer, on communicators of all kinds and datatypes, and at finalize.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

#include <stdint.h>

/* What the functions saw, in order. */
struct event {
    char what;
    MPI_Comm comm;
    MPI_Datatype type;
    int key;
    void *value;
};
enum { EVENTS = 64 };
static struct event seen[EVENTS];
static int n_seen, extra_here, copy_answer, delete_answer, copy_flag = 1;

static void note(char what, MPI_Comm comm, MPI_Datatype type, int key, void *value)
{
    if (n_seen < EVENTS) seen[n_seen] = (struct event){what, comm, type, key, value};
    n_seen++;
}
static int copy_comm(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    CHECK(extra == &extra_here);
    note('c', comm, MPI_DATATYPE_NULL, key, in);
    *(void **)out = (char *)in + 1000;
    *flag = copy_flag;
    return copy_answer;
}
static int delete_comm(MPI_Comm comm, int key, void *value, void *extra)
{
    CHECK(extra == &extra_here);
    note('d', comm, MPI_DATATYPE_NULL, key, value);
    return delete_answer;
}
static int copy_type(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    CHECK(extra == &extra_here);
    note('c', MPI_COMM_NULL, type, key, in);
    *(void **)out = (char *)in + 2000;
    *flag = copy_flag;
    return copy_answer;
}
static int delete_type(MPI_Datatype type, int key, void *value, void *extra)
{
    CHECK(extra == &extra_here);
    note('d', MPI_COMM_NULL, type, key, value);
    return delete_answer;
}

static void *number(intptr_t i) { return (void *)i; }
/* The attribute's value as a number; -1: not set. */
static intptr_t value_of(MPI_Comm c, int key)
{
    void *value = number(-7);
    int flag = -7;
    CHECK_EQ(MPI_Comm_get_attr(c, key, &value, &flag), MPI_SUCCESS);
    CHECK(flag == 0 || flag == 1);
    return flag ? (intptr_t)value : -1;
}
static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}
/* Event i was this, with this communicator. */
static void event_is(int i, char what, MPI_Comm c, int key, intptr_t value)
{
    CHECK(i < n_seen && seen[i].what == what && seen[i].comm == c && seen[i].key == key && seen[i].value == number(value));
}

static void values(MPI_Comm c)
{
    enum { N = 9 };
    int keys[N];
    n_seen = 0;
    for (int i = 0; i < N; i++) {
        MPI_Comm_create_keyval(copy_comm, delete_comm, &keys[i], &extra_here);
        CHECK(keys[i] != MPI_KEYVAL_INVALID);
        for (int k = 0; k < i; k++) CHECK(keys[k] != keys[i]);
        CHECK_EQ(value_of(c, keys[i]), -1);
    }
    for (int i = 0; i < N; i++) MPI_Comm_set_attr(c, keys[i], number(i)); /* 0, which is NULL, is a value too */
    for (int i = 0; i < N; i++) CHECK_EQ(value_of(c, keys[i]), i);
    CHECK_EQ(n_seen, 0);
    MPI_Comm_set_attr(c, keys[4], number(44)); /* the old value is deleted first */
    event_is(0, 'd', c, keys[4], 4);
    CHECK_EQ(value_of(c, keys[4]), 44);
    MPI_Comm_delete_attr(c, keys[2]);
    event_is(1, 'd', c, keys[2], 2);
    CHECK_EQ(value_of(c, keys[2]), -1);
    CHECK_EQ(class_of(MPI_Comm_delete_attr(c, keys[2])), MPI_ERR_KEYVAL); /* not set any more */
    CHECK_EQ(n_seen, 2);
    int was = keys[7]; /* freed while in use: the attribute stays, its function too */
    MPI_Comm_free_keyval(&keys[7]);
    CHECK_EQ(keys[7], MPI_KEYVAL_INVALID);
    CHECK_EQ(n_seen, 2);
    MPI_Comm_delete_attr(c, keys[0]);
    n_seen = 0;
    CHECK_EQ(MPI_Comm_free(&c), MPI_SUCCESS);
    static const int order[] = {4, 8, 7, 6, 5, 3, 1}; /* the last that was set goes first */
    CHECK_EQ(n_seen, 7);
    for (int i = 0; i < 7; i++) event_is(i, 'd', seen[0].comm, order[i] == 7 ? was : keys[order[i]], order[i] == 4 ? 44 : order[i]);
    for (int i = 0; i < N; i++)
        if (i != 7) MPI_Comm_free_keyval(&keys[i]);
}

/* Every way of making a communicator: only the dups ask the copy functions, with the old communicator and its value. */
static void copying(void)
{
    MPI_Comm a, b, d;
    int key, none, dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_create_keyval(copy_comm, delete_comm, &key, &extra_here);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &none, NULL);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup, NULL);
    MPI_Comm_set_attr(a, key, number(1));
    MPI_Comm_set_attr(a, none, number(2));
    MPI_Comm_set_attr(a, dup, number(3));
    n_seen = 0;
    MPI_Comm_dup(a, &b);
    CHECK_EQ(n_seen, 1);
    event_is(0, 'c', a, key, 1);
    CHECK(value_of(b, key) == 1001 && value_of(b, none) == -1 && value_of(b, dup) == 3);
    CHECK(value_of(a, key) == 1 && value_of(a, none) == 2 && value_of(a, dup) == 3);
    MPI_Comm_dup_with_info(b, MPI_INFO_NULL, &d);
    event_is(1, 'c', b, key, 1001);
    CHECK(value_of(d, key) == 2001 && value_of(d, none) == -1 && value_of(d, dup) == 3);
    MPI_Comm_free(&d);
    copy_flag = 0; /* the function does not want a copy */
    MPI_Comm_dup(a, &d);
    CHECK(value_of(d, key) == -1 && value_of(d, dup) == 3);
    copy_flag = 1;
    MPI_Comm_free(&d);
    n_seen = 0;
    MPI_Comm_split(a, rank % 2, 0, &d);
    CHECK(value_of(d, key) == -1 && value_of(d, dup) == -1);
    MPI_Comm_free(&d);
    MPI_Group g;
    MPI_Comm_group(a, &g);
    MPI_Comm_create(a, g, &d);
    CHECK(value_of(d, key) == -1 && value_of(d, dup) == -1);
    MPI_Group_free(&g);
    MPI_Comm_free(&d);
    CHECK_EQ(n_seen, 0);
    MPI_Comm_free(&b);
    MPI_Comm_free(&a);
    CHECK_EQ(n_seen, 2);
    event_is(0, 'd', seen[0].comm, key, 1001);
    event_is(1, 'd', seen[1].comm, key, 1);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free_keyval(&none);
    MPI_Comm_free_keyval(&dup);
}

/* A function that answers a code: the call fails with it and changes nothing. */
static void refusing(void)
{
    MPI_Comm a, b = MPI_COMM_SELF;
    MPI_Datatype t, twin = MPI_INT;
    MPI_Request q = MPI_REQUEST_NULL;
    int key, tkey, class, code;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_set_errhandler(a, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copy_comm, delete_comm, &key, &extra_here);
    MPI_Comm_set_attr(a, key, number(5));
    copy_answer = code;
    CHECK_EQ(MPI_Comm_dup(a, &b), code);
    CHECK(b == MPI_COMM_NULL); /* whatever it was: a program may free what it has */
    b = MPI_COMM_SELF;
    CHECK_EQ(MPI_Comm_idup(a, &b, &q), code);
    CHECK(b == MPI_COMM_NULL && q == MPI_REQUEST_NULL);
    copy_answer = MPI_ERR_NO_MEM;
    CHECK_EQ(MPI_Comm_dup(a, &b), MPI_ERR_NO_MEM);
    copy_answer = MPI_SUCCESS;
    CHECK_EQ(MPI_Comm_dup(a, &b), MPI_SUCCESS); /* nothing is broken */
    MPI_Comm_free(&b);
    delete_answer = code;
    CHECK_EQ(MPI_Comm_set_attr(a, key, number(6)), code);
    CHECK_EQ(value_of(a, key), 5);
    CHECK_EQ(MPI_Comm_delete_attr(a, key), code);
    CHECK_EQ(value_of(a, key), 5);
    CHECK_EQ(MPI_Comm_free(&a), code);
    CHECK(a != MPI_COMM_NULL);
    CHECK_EQ(value_of(a, key), 5);
    delete_answer = MPI_SUCCESS;
    MPI_Comm_free(&a);
    MPI_Comm_free_keyval(&key);

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* of calls without a communicator */
    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Type_create_keyval(copy_type, delete_type, &tkey, &extra_here);
    MPI_Type_set_attr(t, tkey, number(5));
    copy_answer = code;
    CHECK_EQ(MPI_Type_dup(t, &twin), code);
    CHECK(twin == MPI_DATATYPE_NULL);
    copy_answer = MPI_SUCCESS;
    delete_answer = code;
    CHECK_EQ(MPI_Type_delete_attr(t, tkey), code);
    CHECK_EQ(MPI_Type_free(&t), code);
    CHECK(t != MPI_DATATYPE_NULL);
    delete_answer = MPI_SUCCESS;
    CHECK_EQ(MPI_Type_free(&t), MPI_SUCCESS);
    MPI_Type_free_keyval(&tkey);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Remove_error_code(code);
    MPI_Remove_error_class(class);
}

static void types(void)
{
    int key, none, dup, flag;
    void *value;
    MPI_Datatype t, twin, other;
    MPI_Type_vector(3, 1, 2, MPI_INT, &t);
    MPI_Type_create_keyval(copy_type, delete_type, &key, &extra_here);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &none, NULL);
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &dup, NULL);
    n_seen = 0;
    MPI_Type_set_attr(t, key, number(1));
    MPI_Type_set_attr(t, none, number(2));
    MPI_Type_set_attr(t, dup, number(3));
    MPI_Type_dup(t, &twin);
    CHECK(n_seen == 1 && seen[0].what == 'c' && seen[0].type == t && seen[0].key == key && seen[0].value == number(1));
    MPI_Type_get_attr(twin, key, &value, &flag);
    CHECK(flag && value == number(2001));
    MPI_Type_get_attr(twin, none, &value, &flag);
    CHECK(!flag);
    MPI_Type_get_attr(twin, dup, &value, &flag);
    CHECK(flag && value == number(3));
    MPI_Type_contiguous(2, t, &other); /* not a copy */
    MPI_Type_get_attr(other, dup, &value, &flag);
    CHECK(!flag);
    MPI_Datatype was = t;
    MPI_Type_free(&t); /* its attributes go now, though `other` uses it */
    CHECK(n_seen == 2 && seen[1].what == 'd' && seen[1].type == was && seen[1].value == number(1));
    MPI_Type_free(&other);
    MPI_Type_free(&twin);
    CHECK(n_seen == 3 && seen[2].what == 'd' && seen[2].value == number(2001));
    MPI_Type_set_attr(MPI_INT, dup, number(9)); /* predefined ones may have attributes */
    MPI_Type_get_attr(MPI_INT, dup, &value, &flag);
    CHECK(flag && value == number(9));
    MPI_Type_delete_attr(MPI_INT, dup);
    MPI_Type_set_attr(MPI_CHAR, dup, number(9)); /* left to finalize */
    MPI_Type_free_keyval(&key);
    MPI_Type_free_keyval(&none);
    MPI_Type_free_keyval(&dup);
}

/* Functions that use MPI themselves: on the object that they are called for, and on others. */
static int inner_key, inner_runs, inner_found;
static int copy_busy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    void *value;
    int is_set;
    (void)extra;
    inner_runs++;
    MPI_Comm_get_attr(comm, key, &value, &is_set);
    CHECK(is_set && value == in);
    MPI_Comm_set_attr(comm, inner_key, number(inner_runs));
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete_busy(MPI_Comm comm, int key, void *value, void *extra)
{
    int sum = 0, one = 1, n, flag;
    void *other;
    (void)key, (void)value, (void)extra;
    inner_runs++;
    MPI_Comm_size(comm, &n); /* it is still whole */
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(sum, n);
    MPI_Comm_get_attr(comm, inner_key, &other, &flag);
    if (flag) MPI_Comm_delete_attr(comm, inner_key);
    inner_found += flag;
    return MPI_SUCCESS;
}
static void busy(void)
{
    MPI_Comm a, b;
    int key;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &inner_key, NULL);
    MPI_Comm_create_keyval(copy_busy, delete_busy, &key, NULL);
    MPI_Comm_set_attr(a, key, number(1));
    MPI_Comm_dup(a, &b);
    CHECK_EQ(inner_runs, 1);
    CHECK_EQ(value_of(a, inner_key), 1);
    MPI_Comm_set_attr(b, inner_key, number(2));
    MPI_Comm_free(&b);
    MPI_Comm_free(&a);
    CHECK(inner_runs == 3 && inner_found == 0); /* set later, deleted earlier */
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_set_attr(a, inner_key, number(2));
    MPI_Comm_set_attr(a, key, number(1));
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&a);
    CHECK(inner_runs == 4 && inner_found == 1);
    MPI_Comm_free_keyval(&inner_key);
}

static void predefined(void)
{
    int *value = NULL, flag = 0, class, code;
    static const int keys[] = {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_LASTUSEDCODE};
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(MPI_Comm_get_attr(MPI_COMM_WORLD, keys[i], &value, &flag), MPI_SUCCESS);
        CHECK(flag);
        if (keys[i] == MPI_TAG_UB) CHECK(*value >= 32767);
        if (keys[i] == MPI_IO) CHECK(*value == MPI_ANY_SOURCE || *value == MPI_PROC_NULL || (*value >= 0 && *value < size));
        if (keys[i] == MPI_WTIME_IS_GLOBAL) CHECK(*value == 0 || *value == 1);
    }
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    CHECK(*value >= MPI_ERR_LASTCODE);
    MPI_Add_error_class(&class);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    CHECK(*value >= class);
    MPI_Add_error_code(class, &code);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    CHECK(*value >= code);
    MPI_Remove_error_code(code);
    MPI_Remove_error_class(class);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
    if (flag) CHECK(*value >= size);
    int key = MPI_TAG_UB;
    CHECK_EQ(class_of(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &flag)), MPI_ERR_KEYVAL);
    CHECK_EQ(class_of(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB)), MPI_ERR_KEYVAL);
    CHECK_EQ(class_of(MPI_Comm_free_keyval(&key)), MPI_ERR_KEYVAL);
}

/* At finalize: those of MPI_COMM_SELF first, in the reverse order of setting, while MPI still works. */
enum { AT_END = 6 };
static int end_keys[AT_END], end_order[AT_END], end_count, end_wrong;
static int delete_at_end(MPI_Comm comm, int key, void *value, void *extra)
{
    int flag = -1, in = 3, out = -1, me = -1;
    (void)extra;
    MPI_Finalized(&flag);
    end_wrong += flag != 0 || comm != MPI_COMM_SELF || key != end_keys[(intptr_t)value];
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    end_wrong += me != rank;
    MPI_Sendrecv(&in, 1, MPI_INT, 0, 1, &out, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
    end_wrong += out != 3;
    if (end_count < AT_END) end_order[end_count] = (int)(intptr_t)value;
    end_count++;
    return MPI_SUCCESS;
}
static void leave_for_end(void)
{
    for (int i = 0; i < AT_END; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_at_end, &end_keys[i], NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, end_keys[i], number(i));
    }
    MPI_Comm_delete_attr(MPI_COMM_SELF, end_keys[3]); /* not at the end any more */
    end_wrong += end_count != 1;
    end_count = 0;
    MPI_Comm_set_attr(MPI_COMM_SELF, end_keys[1], number(1)); /* set anew: now the last */
    end_count = 0;
    int gone = end_keys[4]; /* freed keys count too */
    MPI_Comm_free_keyval(&gone);
}

int main(int argc, char **argv)
{
    MPI_Comm c;
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    values(c);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    predefined();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    copying();
    refusing();
    types();
    busy();
    if (size > 1) { /* an intercommunicator */
        MPI_Comm half, inter, twin;
        int key;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 12, &inter);
        MPI_Comm_dup(inter, &c);
        MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
        values(c);
        MPI_Comm_create_keyval(copy_comm, delete_comm, &key, &extra_here);
        MPI_Comm_set_attr(inter, key, number(8));
        n_seen = 0;
        MPI_Comm_dup(inter, &twin);
        event_is(0, 'c', inter, key, 8);
        CHECK_EQ(value_of(twin, key), 1008);
        MPI_Comm_free(&twin);
        MPI_Comm_free_keyval(&key);
        MPI_Comm_free(&half);
        n_seen = 0;
        MPI_Comm_free(&inter);
        CHECK_EQ(n_seen, 1);
    }
    leave_for_end();
    int rc = test_end();
    static const int order[] = {1, 5, 4, 2, 0};
    for (int i = 0; i < AT_END; i++)
        if (i != 4) MPI_Comm_free_keyval(&end_keys[i]); /* allowed now, too */
    int good = end_count == 5 && end_wrong == 0;
    for (int i = 0; i < 5; i++) good = good && end_order[i] == order[i];
    if (!good) fprintf(stderr, "rank %d: at finalize %d functions ran, %d things were wrong\n", rank, end_count, end_wrong);
    return rc || !good || failures != 0;
}
