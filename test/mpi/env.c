/* env.c -- the environment: versions, threads, times, memory, names, attributes with their functions, error handlers and classes,
 * info of communicators, handles as integers, statuses in Fortran's form, and the calls of MPI 1 that old programs make.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "../unit.h"

static int rank, size, copies, deletes, handled, refusing = 1;
static void *deleted[8];

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static double seconds_between(const struct timespec *a, const struct timespec *b)
{
    return (double)(b->tv_sec - a->tv_sec) + (double)(b->tv_nsec - a->tv_nsec) * 1e-9;
}

static void versions(void)
{
    int major, minor, length, provided, flag;
    char text[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];
    MPI_Get_version(&major, &minor);
    CHECK(major == MPI_VERSION && minor == MPI_SUBVERSION);
    CHECK(major == 5 && minor == 0);
    MPI_Abi_get_version(&major, &minor);
    if (MPI_ABI_VERSION > 0) CHECK(major == 1 && minor == 0);
    CHECK(major == MPI_ABI_VERSION && minor == MPI_ABI_SUBVERSION);
    MPI_Get_library_version(text, &length);
    CHECK(strstr(text, "Godwit") == text && (int)strlen(text) == length);
    MPI_Get_processor_name(name, &length);
    CHECK(length > 0 && (int)strlen(name) == length);
    MPI_Query_thread(&provided);
    CHECK_EQ(provided, MPI_THREAD_SERIALIZED);
    MPI_Is_thread_main(&flag);
    CHECK(flag);
    MPI_Initialized(&flag);
    CHECK(flag);
    MPI_Finalized(&flag);
    CHECK(!flag);
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1e-3);
}

/* Seconds, and neither slower nor faster than the system's clock. */
static void wtime(void)
{
    struct timespec a, b, c, d;
    clock_gettime(CLOCK_MONOTONIC, &a);
    double t0 = MPI_Wtime(), t1;
    clock_gettime(CLOCK_MONOTONIC, &b);
    do {
        clock_gettime(CLOCK_MONOTONIC, &c);
        t1 = MPI_Wtime();
        clock_gettime(CLOCK_MONOTONIC, &d);
    } while (t1 - t0 < 5e-3);
    CHECK(t1 - t0 <= seconds_between(&a, &d) * 1.01 + 1e-6);
    CHECK(t1 - t0 >= seconds_between(&b, &c) * 0.99 - 1e-6);
}

static void memory(void)
{
    char *p = NULL;
    MPI_Info info;
    CHECK_EQ(MPI_Alloc_mem(100000, MPI_INFO_NULL, &p), MPI_SUCCESS);
    memset(p, 1, 100000);
    CHECK_EQ(MPI_Free_mem(p), MPI_SUCCESS);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096");
    CHECK_EQ(MPI_Alloc_mem(10, info, &p), MPI_SUCCESS);
    CHECK_EQ((uintptr_t)p % 4096, 0);
    MPI_Free_mem(p);
    MPI_Info_free(&info);
    CHECK(info == MPI_INFO_NULL);
}

static int attribute(int keyval)
{
    int *value, flag;
    CHECK_EQ(MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag), MPI_SUCCESS);
    return flag ? *value : -1;
}

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval;
    copies++;
    CHECK(extra == &copies);
    *(void **)out = (char *)in + 1;
    *flag = in != (void *)300;
    return MPI_SUCCESS;
}
static int copy_type(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)type, (void)keyval, (void)extra;
    copies++;
    *(void **)out = (char *)in + 7;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete_comm(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    deleted[deletes++ % 8] = value;
    return value == (void *)666 && refusing ? MPI_ERR_OTHER : MPI_SUCCESS;
}
static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type, (void)keyval, (void)extra;
    deleted[deletes++ % 8] = value;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    int a, b, flag, key_dup;
    void *value;
    MPI_Comm comm, twin;
    CHECK_EQ(attribute(MPI_TAG_UB), INT32_MAX);
    CHECK(attribute(MPI_WTIME_IS_GLOBAL) >= 0);
    CHECK(attribute(MPI_LASTUSEDCODE) >= MPI_ERR_LASTCODE);
    CHECK(attribute(MPI_UNIVERSE_SIZE) == -1 || attribute(MPI_UNIVERSE_SIZE) >= size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(copy, delete_comm, &a, &copies);
    MPI_Comm_create_keyval(copy, delete_comm, &b, &copies);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key_dup, NULL);
    MPI_Comm_set_attr(comm, a, (void *)100);
    MPI_Comm_set_attr(comm, a, (void *)200);
    CHECK(deletes == 1 && deleted[0] == (void *)100);
    MPI_Comm_set_attr(comm, b, (void *)300);
    MPI_Comm_set_attr(comm, key_dup, (void *)5);
    MPI_Comm_dup(comm, &twin);
    CHECK_EQ(copies, 2);
    MPI_Comm_get_attr(twin, a, &value, &flag);
    CHECK(flag && value == (void *)201);
    MPI_Comm_get_attr(twin, b, &value, &flag);
    CHECK(!flag);
    MPI_Comm_get_attr(twin, key_dup, &value, &flag);
    CHECK(flag && value == (void *)5);
    MPI_Comm_delete_attr(comm, b);
    CHECK(deletes == 2 && deleted[1] == (void *)300);
    MPI_Comm_get_attr(comm, b, &value, &flag);
    CHECK(!flag);
    MPI_Comm_free_keyval(&a); /* lives on until its attributes are gone */
    CHECK_EQ(a, MPI_KEYVAL_INVALID);
    MPI_Comm_free(&twin);
    CHECK(deletes == 3 && deleted[2] == (void *)201);
    MPI_Comm_set_attr(comm, b, (void *)666); /* its delete function refuses */
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK(MPI_Comm_delete_attr(comm, b) != MPI_SUCCESS);
    MPI_Comm_get_attr(comm, b, &value, &flag);
    CHECK(flag && value == (void *)666);
    CHECK(MPI_Comm_free(&comm) != MPI_SUCCESS && comm != MPI_COMM_NULL);
    refusing = 0;
    CHECK_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
    CHECK(comm == MPI_COMM_NULL);
    MPI_Comm_free_keyval(&b);
    MPI_Comm_free_keyval(&key_dup);
}

static void attributes_of_types(void)
{
    int key, flag;
    void *value;
    MPI_Datatype type, twin;
    copies = deletes = 0;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_create_keyval(copy_type, delete_type, &key, NULL);
    MPI_Type_set_attr(type, key, (void *)10);
    MPI_Type_dup(type, &twin);
    MPI_Type_get_attr(twin, key, &value, &flag);
    CHECK(flag && value == (void *)17 && copies == 1);
    MPI_Type_free(&type);
    CHECK(deletes == 1 && deleted[0] == (void *)10);
    MPI_Type_delete_attr(twin, key);
    CHECK(deletes == 2 && deleted[1] == (void *)17);
    MPI_Type_free(&twin);
    MPI_Type_free_keyval(&key);
    CHECK_EQ(deletes, 2);
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    int class;
    MPI_Error_class(*code, &class);
    CHECK_EQ(class, MPI_ERR_RANK);
    CHECK(*comm != MPI_COMM_NULL);
    handled++;
}

static void errors(void)
{
    MPI_Comm comm;
    MPI_Errhandler eh, got;
    int class, code, back, length, *last, flag;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_get_errhandler(comm, &got);
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    MPI_Comm_create_errhandler(handler, &eh);
    MPI_Comm_set_errhandler(comm, eh);
    MPI_Comm_get_errhandler(comm, &got);
    CHECK(got == eh);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&eh); /* the communicator keeps it */
    CHECK(eh == MPI_ERRHANDLER_NULL);
    CHECK(MPI_Send(NULL, 0, MPI_INT, size, 0, comm) != MPI_SUCCESS);
    CHECK_EQ(handled, 1);
    MPI_Error_string(MPI_ERR_RANK, text, &length); /* says what was wrong */
    CHECK(strstr(text, "MPI_ERR_RANK: ") == text && strstr(text, "MPI_Send: dest is ") && (int)strlen(text) == length);
    MPI_Error_string(MPI_ERR_TAG, text, &length);
    CHECK(strstr(text, "MPI_ERR_TAG: ") == text && !strstr(text, "MPI_Send"));
    MPI_Comm_call_errhandler(comm, MPI_ERR_RANK);
    CHECK_EQ(handled, 2);
    MPI_Comm_free(&comm);
    MPI_Error_string(MPI_SUCCESS, text, &length);
    CHECK(strstr(text, "MPI_SUCCESS") == text && !strstr(text, "("));
    MPI_Add_error_class(&class);
    CHECK(class > MPI_ERR_LASTCODE);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "too many birds");
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    CHECK(flag && *last >= code);
    MPI_Error_class(code, &back);
    CHECK_EQ(back, class);
    MPI_Error_string(code, text, &length);
    CHECK_STR(text, "too many birds");
    CHECK_EQ(length, 14);
    MPI_Remove_error_string(code);
    MPI_Remove_error_code(code);
    MPI_Remove_error_class(class);
}

static void names(void)
{
    char text[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Comm_get_name(MPI_COMM_WORLD, text, &length);
    CHECK_STR(text, "MPI_COMM_WORLD");
    MPI_Comm_get_name(MPI_COMM_SELF, text, &length);
    CHECK_STR(text, "MPI_COMM_SELF");
    MPI_Type_get_name(MPI_DOUBLE, text, &length);
    CHECK_STR(text, "MPI_DOUBLE");
    MPI_Type_get_name(MPI_LONG_LONG, text, &length); /* a synonym has the name that the standard lists first (section 3.2.2) */
    CHECK_STR(text, "MPI_LONG_LONG_INT");
    MPI_Type_get_name(MPI_C_FLOAT_COMPLEX, text, &length);
    CHECK_STR(text, "MPI_C_COMPLEX");
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_get_name(comm, text, &length);
    CHECK_EQ(length, 0);
    MPI_Comm_set_name(comm, "flock");
    MPI_Comm_get_name(comm, text, &length);
    CHECK_STR(text, "flock");
    CHECK_EQ(length, 5);
    MPI_Comm_free(&comm);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_set_name(type, "pair");
    MPI_Type_get_name(type, text, &length);
    CHECK_STR(text, "pair");
    MPI_Type_free(&type);
    /* Those of the null handles: MPI 4.1 section 7.8. */
    CHECK_EQ(MPI_Comm_get_name(MPI_COMM_NULL, text, &length), MPI_SUCCESS);
    CHECK_STR(text, "MPI_COMM_NULL");
    CHECK_EQ(length, 13);
    CHECK_EQ(MPI_Type_get_name(MPI_DATATYPE_NULL, text, &length), MPI_SUCCESS);
    CHECK_STR(text, "MPI_DATATYPE_NULL");
    CHECK_EQ(MPI_Win_get_name(MPI_WIN_NULL, text, &length), MPI_SUCCESS);
    CHECK_STR(text, "MPI_WIN_NULL");
}

static void infos(void)
{
    MPI_Info info;
    char value[64];
    int flag, length = sizeof value;
    CHECK_EQ(MPI_Info_get_string(MPI_INFO_ENV, "thread_level", &length, value, &flag), MPI_SUCCESS);
    CHECK(flag);
    CHECK_STR(value, "MPI_THREAD_SERIALIZED");
    MPI_Comm_get_info(MPI_COMM_WORLD, &info);
    CHECK(info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    MPI_Abi_get_info(&info);
    length = sizeof value;
    MPI_Info_get_string(info, "mpi_aint_size", &length, value, &flag);
    CHECK(flag);
    CHECK_STR(value, "8");
    MPI_Info_free(&info);
}

/* What a Fortran layer says: once, and nothing that is not so. */
static void fortran(void)
{
    MPI_Info info, back;
    int t = 1, f = 0, got_t = -1, got_f = -1, flag = -1;
    CHECK_EQ(MPI_Abi_get_fortran_info(&back), MPI_SUCCESS);
    CHECK(back == MPI_INFO_NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_integer_size", "3");
    CHECK_EQ(class_of(MPI_Abi_set_fortran_info(info)), MPI_ERR_ARG);
    MPI_Info_set(info, "mpi_integer_size", "4 bytes");
    CHECK_EQ(class_of(MPI_Abi_set_fortran_info(info)), MPI_ERR_ARG);
    MPI_Info_set(info, "mpi_integer_size", "4");
    MPI_Info_set(info, "mpi_double_precision_size", "8");
    CHECK_EQ(MPI_Abi_set_fortran_info(info), MPI_SUCCESS);
    CHECK_EQ(class_of(MPI_Abi_set_fortran_info(info)), MPI_ERR_ABI);
    MPI_Info_free(&info);
    CHECK_EQ(MPI_Abi_get_fortran_info(&back), MPI_SUCCESS);
    CHECK(back != MPI_INFO_NULL);
    MPI_Info_free(&back);
    CHECK_EQ(MPI_Abi_get_fortran_booleans(4, &got_t, &got_f, &flag), MPI_SUCCESS);
    CHECK(!flag);
    CHECK_EQ(class_of(MPI_Abi_set_fortran_booleans(3, &t, &f)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Abi_set_fortran_booleans(4, NULL, &f)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Abi_set_fortran_booleans(4, &t, NULL)), MPI_ERR_ARG);
    CHECK_EQ(MPI_Abi_set_fortran_booleans(4, &t, &f), MPI_SUCCESS);
    CHECK_EQ(class_of(MPI_Abi_set_fortran_booleans(4, &t, &f)), MPI_ERR_ABI);
    CHECK_EQ(MPI_Abi_get_fortran_booleans(4, &got_t, &got_f, &flag), MPI_SUCCESS);
    CHECK(flag && got_t == 1 && got_f == 0);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void integers(void)
{
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Status s = {.MPI_SOURCE = 3, .MPI_TAG = 4, .MPI_ERROR = 5}, back;
    MPI_Fint f[MPI_F_STATUS_SIZE];
    MPI_F08_status f08, again;
    int count;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(comm)) == comm);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(comm)) == comm);
    CHECK(MPI_Comm_toint(comm) > 0);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
    MPI_Type_contiguous(3, MPI_CHAR, &type);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(type)) == type);
    MPI_Type_free(&type);
    CHECK(MPI_Op_fromint(MPI_Op_toint(MPI_MAX)) == MPI_MAX);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    if (MPI_ABI_VERSION > 0) CHECK(MPI_Request_c2f(MPI_REQUEST_NULL) == (MPI_Fint)(intptr_t)MPI_REQUEST_NULL);
    MPI_Status_set_elements(&s, MPI_INT, 11);
    MPI_Status_c2f(&s, f);
    MPI_Status_f2c(f, &back);
    MPI_Get_count(&back, MPI_INT, &count);
    CHECK(back.MPI_SOURCE == 3 && back.MPI_TAG == 4 && back.MPI_ERROR == 5 && count == 11);
    CHECK(f[MPI_F_SOURCE] == 3 && f[MPI_F_TAG] == 4 && f[MPI_F_ERROR] == 5);
    MPI_Status_c2f08(&s, &f08);
    MPI_Status_f082c(&f08, &back);
    CHECK(f08.MPI_TAG == 4 && back.MPI_SOURCE == 3);
    memset(f, 0, sizeof f);
    memset(&again, 0, sizeof again);
    MPI_Status_f082f(&f08, f);
    MPI_Status_f2f08(f, &again);
    CHECK(f[MPI_F_TAG] == 4 && memcmp(&again, &f08, sizeof f08) == 0);
    MPI_Status_f082c(&again, &back);
    MPI_Get_count(&back, MPI_INT, &count);
    CHECK(back.MPI_ERROR == 5 && count == 11);
}

static int old_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static void old_calls(void)
{
    int key, flag, n = 1, blocks[2] = {1, 2};
    void *value;
    struct {
        char c;
        double d[2];
    } x;
    MPI_Aint at[2], extent, lb, ub, base;
    MPI_Datatype types[2] = {MPI_CHAR, MPI_DOUBLE}, type;
    MPI_Comm comm;
    MPI_Errhandler eh;
    MPI_Comm_errhandler_fn *old_handler = handler;
    MPI_Keyval_create(old_copy, MPI_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Attr_put(comm, key, &n);
    MPI_Attr_get(comm, key, &value, &flag);
    CHECK(flag && value == &n);
    MPI_Attr_delete(comm, key);
    MPI_Attr_get(comm, key, &value, &flag);
    CHECK(!flag);
    MPI_Keyval_free(&key);
    MPI_Errhandler_create(old_handler, &eh);
    MPI_Errhandler_set(comm, eh);
    MPI_Errhandler_free(&eh);
    MPI_Errhandler_get(comm, &eh);
    CHECK(eh != MPI_ERRORS_ARE_FATAL && eh != MPI_ERRHANDLER_NULL);
    MPI_Errhandler_free(&eh);
    MPI_Comm_free(&comm);
    MPI_Address(&x, &base);
    MPI_Address(&x.c, &at[0]);
    MPI_Address(&x.d, &at[1]);
    at[0] -= base;
    at[1] -= base;
    MPI_Type_struct(2, blocks, at, types, &type);
    MPI_Type_extent(type, &extent);
    MPI_Type_lb(type, &lb);
    MPI_Type_ub(type, &ub);
    CHECK(extent == sizeof x && lb == 0 && ub == sizeof x);
    /* They fail as the calls that they stand for. */
    MPI_Errhandler before;
    int class;
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &before);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Type_ub(type, NULL), &class);
    CHECK_EQ(class, MPI_ERR_ARG);
    MPI_Error_class(MPI_Type_lb(type, NULL), &class);
    CHECK_EQ(class, MPI_ERR_ARG);
    MPI_Error_class(MPI_Type_ub(MPI_DATATYPE_NULL, &ub), &class);
    CHECK_EQ(class, MPI_ERR_TYPE);
    CHECK_EQ(ub, (MPI_Aint)sizeof x);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, before);
    MPI_Errhandler_free(&before);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    int provided, flag;
    MPI_Initialized(&flag);
    CHECK(!flag);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    CHECK_EQ(provided, MPI_THREAD_SERIALIZED);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    versions();
    wtime();
    memory();
    attributes();
    attributes_of_types();
    errors();
    names();
    infos();
    fortran();
    integers();
    old_calls();
    MPI_Finalize();
    MPI_Finalized(&flag);
    CHECK(flag);
    return unit_end();
}
