/* session_everything.c -- what can be called at any time, before, between and after; all kinds of objects, files, windows and spawned jobs
 * of a session without the World Model; many sessions at once.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "session_check.h"

static void no_handler(MPI_Comm *c, int *code, ...) { (void)c, (void)code; }
static void no_session_handler(MPI_Session *s, int *code, ...) { (void)s, (void)code; }
static void no_win_handler(MPI_Win *w, int *code, ...) { (void)w, (void)code; }
static void no_file_handler(MPI_File *f, int *code, ...) { (void)f, (void)code; }

/* MPI 4.1 table 11.1. */
static void at_any_time(char **argv)
{
    int version = 0, sub = -1, flag = -1, n = -1, class = -1, code = -1, provided;
    char text[MPI_MAX_LIBRARY_VERSION_STRING], value[32];
    MPI_Info info, copy, env;
    MPI_Errhandler e[4];
    CHECK_EQ(MPI_Get_version(&version, &sub), MPI_SUCCESS);
    CHECK(version >= 4);
    CHECK_EQ(MPI_Get_library_version(text, &n), MPI_SUCCESS);
    CHECK_EQ(n, (int)strlen(text));
    CHECK_EQ(MPI_Info_create(&info), MPI_SUCCESS);
    CHECK_EQ(MPI_Info_set(info, "key", "value"), MPI_SUCCESS);
    CHECK_EQ(MPI_Info_dup(info, &copy), MPI_SUCCESS);
    n = sizeof value;
    CHECK_EQ(MPI_Info_get_string(copy, "key", &n, value, &flag), MPI_SUCCESS);
    CHECK(flag && n == 6 && strcmp(value, "value") == 0);
    CHECK_EQ(MPI_Info_delete(copy, "key"), MPI_SUCCESS);
    CHECK_EQ(MPI_Info_get_nkeys(copy, &n), MPI_SUCCESS);
    CHECK_EQ(n, 0);
    CHECK_EQ(MPI_Info_get_nthkey(info, 0, value), MPI_SUCCESS);
    CHECK(strcmp(value, "key") == 0);
    CHECK(MPI_Info_f2c(MPI_Info_c2f(info)) == info);
    CHECK_EQ(MPI_Info_create_env(1, argv, &env), MPI_SUCCESS);
    CHECK_EQ(MPI_Info_free(&env), MPI_SUCCESS);
    CHECK_EQ(MPI_Info_free(&copy), MPI_SUCCESS);
    CHECK_EQ(MPI_Info_free(&info), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_create_errhandler(no_handler, &e[0]), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_create_errhandler(no_session_handler, &e[1]), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_create_errhandler(no_win_handler, &e[2]), MPI_SUCCESS);
    CHECK_EQ(MPI_File_create_errhandler(no_file_handler, &e[3]), MPI_SUCCESS);
    for (int i = 0; i < 4; i++) {
        CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(e[i])) == e[i]);
        CHECK_EQ(MPI_Errhandler_free(&e[i]), MPI_SUCCESS);
        CHECK(e[i] == MPI_ERRHANDLER_NULL);
    }
    CHECK_EQ(MPI_Add_error_class(&class), MPI_SUCCESS);
    CHECK_EQ(MPI_Add_error_code(class, &code), MPI_SUCCESS);
    CHECK_EQ(MPI_Add_error_string(code, "own"), MPI_SUCCESS);
    CHECK_EQ(MPI_Error_class(code, &n), MPI_SUCCESS);
    CHECK_EQ(n, class);
    CHECK_EQ(MPI_Error_string(code, text, &n), MPI_SUCCESS);
    CHECK(strcmp(text, "own") == 0);
    CHECK_EQ(MPI_Remove_error_string(code), MPI_SUCCESS);
    CHECK_EQ(MPI_Remove_error_code(code), MPI_SUCCESS);
    CHECK_EQ(MPI_Remove_error_class(class), MPI_SUCCESS);
    CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
    CHECK_EQ(MPI_T_cvar_get_num(&n), MPI_SUCCESS);
    CHECK(n > 0);
    CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
}

static int del_count;
static int on_delete(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)extra;
    del_count += *(int *)value;
    return MPI_SUCCESS;
}

static void add(void *in, void *out, int *n, MPI_Datatype *t)
{
    (void)t;
    for (int i = 0; i < *n; i++) ((int *)out)[i] += ((int *)in)[i];
}

static void objects(MPI_Comm c)
{
    int key, three = 3, dims[1] = {0}, periods[1] = {1}, left, right, v[2] = {rank, 1}, sum[2] = {-1, -1}, in = -1, flag;
    MPI_Comm ring;
    MPI_Datatype pair;
    MPI_Op op;
    MPI_Request r[2];
    CHECK_EQ(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL), MPI_SUCCESS);
    CHECK_EQ(MPI_Dims_create(size, 1, dims), MPI_SUCCESS);
    CHECK_EQ(MPI_Cart_create(c, 1, dims, periods, 0, &ring), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_set_attr(ring, key, &three), MPI_SUCCESS);
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(add, 1, &op);
    CHECK_EQ(MPI_Allreduce(v, sum, 2, MPI_INT, op, ring), MPI_SUCCESS);
    CHECK(sum[0] == size * (size - 1) / 2 && sum[1] == size);
    MPI_Send_init(&v[0], 1, MPI_INT, right, 5, ring, &r[0]);
    MPI_Recv_init(&in, 1, MPI_INT, left, 5, ring, &r[1]);
    for (int i = 0; i < 3; i++) {
        in = -1;
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK_EQ(in, left);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Comm_get_attr(ring, MPI_TAG_UB, &v, &flag);
    CHECK(flag);
    del_count = 0;
    MPI_Comm_free(&ring);
    CHECK_EQ(del_count, 3);
    MPI_Comm_free_keyval(&key);
    MPI_Type_free(&pair);
    MPI_Op_free(&op);
}

static void window(MPI_Comm c)
{
    MPI_Win w;
    int *mine, got = -1, next = (rank + 1) % size;
    CHECK_EQ(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, c, &mine, &w), MPI_SUCCESS);
    *mine = 100 + rank;
    MPI_Win_fence(0, w);
    MPI_Get(&got, 1, MPI_INT, next, 0, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    CHECK_EQ(got, 100 + next);
    MPI_Win_free(&w);
}

static void file(MPI_Comm c, int number)
{
    char name[64];
    int pid = (int)getpid(), v = 7 + rank, got = -1;
    MPI_File f;
    MPI_Bcast(&pid, 1, MPI_INT, 0, c);
    snprintf(name, sizeof name, "/tmp/gwtest-session-%d-%d", pid, number);
    CHECK_EQ(MPI_File_open(c, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f), MPI_SUCCESS);
    CHECK_EQ(MPI_File_write_at_all(f, (MPI_Offset)sizeof v * rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_File_sync(f);
    MPI_Barrier(c);
    CHECK_EQ(MPI_File_read_at_all(f, (MPI_Offset)sizeof v * ((rank + 1) % size), &got, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(got, 7 + (rank + 1) % size);
    MPI_File_close(&f);
}

/* Children that use the World Model; the parents have sessions alone. */
static void spawn(MPI_Comm c, char *self)
{
    MPI_Comm inter = MPI_COMM_NULL, all;
    int n, sum = -1, one = 1, codes[2] = {-1, -1};
    char *argv[] = {"child", NULL};
    CHECK_EQ(MPI_Comm_spawn(self, argv, 2, MPI_INFO_NULL, size - 1, c, &inter, codes), MPI_SUCCESS);
    CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
    MPI_Comm_remote_size(inter, &n);
    CHECK_EQ(n, 2);
    MPI_Intercomm_merge(inter, 0, &all);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK_EQ(sum, size + 2);
    MPI_Comm_disconnect(&all);
    MPI_Comm_disconnect(&inter);
}

static int child(void)
{
    MPI_Comm parent, all;
    int one = 1, sum = -1, n;
    MPI_Init(NULL, NULL);
    MPI_Comm_get_parent(&parent);
    CHECK(parent != MPI_COMM_NULL);
    MPI_Comm_remote_size(parent, &n);
    MPI_Intercomm_merge(parent, 1, &all);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK_EQ(sum, n + 2);
    MPI_Comm_disconnect(&all);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return failures ? 1 : 0;
}

static void many(void)
{
    enum { MANY = 40 };
    MPI_Session s[MANY];
    MPI_Comm c[MANY];
    for (int i = 0; i < MANY; i++) s[i] = session_open(i % 2 ? "MPI_THREAD_MULTIPLE" : NULL);
    for (int i = 0; i < MANY; i++) c[i] = session_comm(s[i], "mpi://WORLD", "same tag, other sessions");
    for (int i = 0; i < MANY; i++) comm_works(c[i], i);
    for (int i = 0; i < MANY; i += 2) MPI_Comm_free(&c[i]), session_close(&s[i]);
    for (int i = 1; i < MANY; i += 2) comm_works(c[i], i);
    for (int i = 1; i < MANY; i += 2) MPI_Comm_disconnect(&c[i]), session_close(&s[i]);
}

int main(int argc, char **argv)
{
    MPI_Comm parent = MPI_COMM_WORLD;
    if (argc > 1 && strcmp(argv[1], "child") == 0) return child();
    at_any_time(argv);
    for (int i = 0; i < 3; i++) {
        MPI_Session s = session_open(NULL);
        MPI_Comm c = session_comm(s, "mpi://WORLD", "all");
        MPI_Comm_rank(c, &rank);
        MPI_Comm_size(c, &size);
        at_any_time(argv);
        objects(c);
        window(c);
        file(c, i);
        if (i < 2) spawn(c, argv[0]);
        MPI_Comm_free(&c);
        session_close(&s);
        at_any_time(argv);
        if (i == 1) many();
    }
    CHECK_EQ(MPI_Init(&argc, &argv), MPI_SUCCESS);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
    objects(MPI_COMM_WORLD);
    many();
    at_any_time(argv);
    CHECK_EQ(MPI_Finalize(), MPI_SUCCESS);
    at_any_time(argv);
    many();
    return session_test_end();
}
