/* callback.c -- calls functions of users with Fortran's conventions: arguments by reference, handles as INTEGERs.
 *
 * The C functions that MPI_Op_create and MPI_*_create_errhandler take get no pointer of ours, so a Fortran function has a C function
 * to itself: one of a fixed number.  It keeps it, as an operation may be used after MPI_Op_free; the same function gets the same one.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fort.h"

#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- operations and error handlers ---- */
enum { SLOTS = 512 };
/* Written once, under `lock`, before the slot's C function is handed out; who calls that has it from who got it, and needs no order. */
static struct slot {
    fort_fn *fn;
    enum fort_owner owner;
} ops[SLOTS], errors[SLOTS];

/* The count is an int or an MPI_Count; it goes through as it is. */
static void call_op(int slot, void *in, void *inout, int *len, MPI_Datatype *type)
{
    int f_type = fort_type_int(*type);
    assert(ops[slot].fn);
    ((void (*)(void *, void *, int *, int *))ops[slot].fn)(in, inout, len, &f_type);
}

static void call_error(int slot, void *handle, int *code)
{
    const struct slot *s = &errors[slot];
    assert(s->fn);
    int f = s->owner == FORT_COMM ? fort_comm_int(*(MPI_Comm *)handle)
        : s->owner == FORT_WIN    ? fort_win_int(*(MPI_Win *)handle)
        : s->owner == FORT_FILE   ? fort_file_int(*(MPI_File *)handle)
                                  : fort_session_int(*(MPI_Session *)handle);
    ((void (*)(int *, int *))s->fn)(&f, code);
}

#define IN_8(M, a, b) M(a##b##0) M(a##b##1) M(a##b##2) M(a##b##3) M(a##b##4) M(a##b##5) M(a##b##6) M(a##b##7)
#define IN_64(M, a)   IN_8(M, a, 0) IN_8(M, a, 1) IN_8(M, a, 2) IN_8(M, a, 3) IN_8(M, a, 4) IN_8(M, a, 5) IN_8(M, a, 6) IN_8(M, a, 7)
#define IN_512(M)     IN_64(M, 00) IN_64(M, 01) IN_64(M, 02) IN_64(M, 03) IN_64(M, 04) IN_64(M, 05) IN_64(M, 06) IN_64(M, 07)

/* Octal numbers: 0000 to 0777. */
#define OP(n)                                                                                                                      \
    static void op_##n(void *in, void *inout, int *len, MPI_Datatype *type) { call_op(n, in, inout, len, type); }
#define ERROR(n)                                                                                                                   \
    static void error_##n(MPI_Comm *handle, int *code, ...) { call_error(n, handle, code); }
#define OP_NAME(n)    op_##n,
#define ERROR_NAME(n) error_##n,
IN_512(OP)
IN_512(ERROR)
static MPI_User_function *const op_functions[SLOTS] = {IN_512(OP_NAME)};
static MPI_Comm_errhandler_function *const error_functions[SLOTS] = {IN_512(ERROR_NAME)};

static int find_slot(struct slot *slots, fort_fn *fn, enum fort_owner owner)
{
    int i = 0;
    pthread_mutex_lock(&lock);
    while (i < SLOTS && slots[i].fn && (slots[i].fn != fn || slots[i].owner != owner)) i++;
    if (i < SLOTS && !slots[i].fn) slots[i] = (struct slot){fn, owner};
    pthread_mutex_unlock(&lock);
    return i < SLOTS ? i : -1;
}

int fort_op_function(fort_fn *fn, MPI_User_function **c_out)
{
    int slot = find_slot(ops, fn, FORT_COMM);
    if (slot < 0) return fort_no_memory(MPI_COMM_SELF);
    *c_out = op_functions[slot];
    return MPI_SUCCESS;
}

int fort_error_function(fort_fn *fn, enum fort_owner owner, MPI_Comm_errhandler_function **c_out)
{
    int slot = find_slot(errors, fn, owner);
    if (slot < 0) return fort_no_memory(MPI_COMM_SELF);
    *c_out = error_functions[slot];
    return MPI_SUCCESS;
}

/* ---- values of attributes: boxes, known by their addresses, so that a pointer that C stored is told apart ---- */
enum { FIRST_BOXES = 256, CHUNKS = 24 };
static struct {
    MPI_Aint *boxes[CHUNKS]; /* each twice as long as the one before */
    int chunks;
    MPI_Aint *free; /* a list through the boxes */
} values;

static bool is_box(const void *p)
{
    for (int i = 0; i < values.chunks; i++)
        if ((uintptr_t)p - (uintptr_t)values.boxes[i] < ((uintptr_t)FIRST_BOXES << i) * sizeof(MPI_Aint)) return true;
    return false;
}

static void add_boxes(void)
{
    if (values.chunks == CHUNKS) return;
    size_t n = (size_t)FIRST_BOXES << values.chunks;
    MPI_Aint *b = malloc(n * sizeof *b);
    if (!b) return;
    for (size_t i = 0; i < n; i++) b[i] = i + 1 < n ? (MPI_Aint)&b[i + 1] : 0;
    assert(!values.free);
    values.free = b;
    values.boxes[values.chunks++] = b;
}

void *fort_value_new(MPI_Aint value)
{
    pthread_mutex_lock(&lock);
    if (!values.free) add_boxes();
    MPI_Aint *box = values.free;
    if (box) {
        values.free = (MPI_Aint *)*box;
        *box = value;
    }
    pthread_mutex_unlock(&lock);
    return box;
}

void fort_value_free(void *value)
{
    pthread_mutex_lock(&lock);
    if (is_box(value)) {
        *(MPI_Aint *)value = (MPI_Aint)values.free;
        values.free = value;
    }
    pthread_mutex_unlock(&lock);
}

MPI_Aint fort_value(const void *value)
{
    pthread_mutex_lock(&lock);
    MPI_Aint v = is_box(value) ? *(const MPI_Aint *)value : (MPI_Aint)value;
    pthread_mutex_unlock(&lock);
    return v;
}

MPI_Aint fort_value_of(int keyval, void *value)
{
    switch (keyval) {
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL: return *(int *)value;
    case MPI_WIN_SIZE: return *(MPI_Aint *)value;
    case MPI_WIN_BASE: return (MPI_Aint)value;
    default: return fort_value(value);
    }
}

/* ---- extra_state ---- */
/* By the kernel, which refuses what cannot be read or written (a constant, a stack that is gone) instead of ending the process. */
static bool move(ssize_t (*call)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long),
                 void *here, void *there, size_t bytes)
{
    struct iovec local = {here, bytes}, remote = {there, bytes};
    return call(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

/* Below this function on its stack: of a routine that has returned. */
static bool is_gone(const void *variable)
{
    enum { FAR = 64 << 20 }; /* no other memory lies so near below a stack in use */
    return (uintptr_t)__builtin_frame_address(0) - (uintptr_t)variable < FAR;
}

void fort_extra_set(struct fort_extra *x, MPI_Aint value)
{
    if (value == x->value) return;
    if (is_gone(x->from)) {
        x->value = value;
        return;
    }
    int small = 0, small_value = (int)value;
    MPI_Aint there = 0;
    if (x->is_small) {
        if (move(process_vm_readv, &small, x->from, sizeof small) && small == x->value)
            move(process_vm_writev, &small_value, x->from, sizeof small_value);
    } else if (move(process_vm_readv, &there, x->from, sizeof there) && there == x->value) {
        move(process_vm_writev, &value, x->from, sizeof value);
    }
    x->value = value;
}

/* ---- attributes ---- */
static struct fort_keyval *keyvals; /* never freed: attributes outlive their keys; equal ones are one */

static bool is_same(const struct fort_extra *a, const struct fort_extra *b)
{
    return a->value == b->value && a->from == b->from && a->is_small == b->is_small;
}

struct fort_keyval *fort_keyval(fort_fn *copy, fort_fn *del, struct fort_extra extra)
{
    pthread_mutex_lock(&lock);
    struct fort_keyval *k = keyvals;
    while (k && (k->copy != copy || k->del != del || !is_same(&k->extra, &extra))) k = k->next;
    if (!k && (k = malloc(sizeof *k))) {
        *k = (struct fort_keyval){keyvals, copy, del, extra};
        keyvals = k;
    }
    pthread_mutex_unlock(&lock);
    return k;
}

static int copy_small(struct fort_keyval *k, int f, int key, MPI_Aint in, MPI_Aint *out, int *flag)
{
    int extra = (int)k->extra.value, small_in = (int)in, small_out = 0, code = MPI_SUCCESS;
    ((void (*)(int *, int *, int *, int *, int *, int *, int *))k->copy)(&f, &key, &extra, &small_in, &small_out, flag, &code);
    fort_extra_set(&k->extra, extra);
    *out = small_out;
    return code;
}

static int copy(struct fort_keyval *k, int f, int key, void *in, void *out, int *flag)
{
    MPI_Aint value_in = fort_value(in), value_out = 0, extra = k->extra.value;
    int code = MPI_SUCCESS, does_copy = 0;
    if (k->extra.is_small) {
        code = copy_small(k, f, key, value_in, &value_out, &does_copy);
    } else {
        ((void (*)(int *, int *, MPI_Aint *, MPI_Aint *, MPI_Aint *, int *, int *))k->copy)(&f, &key, &extra, &value_in, &value_out,
                                                                                            &does_copy, &code);
        fort_extra_set(&k->extra, extra);
    }
    *flag = 0;
    if (code != MPI_SUCCESS || !does_copy) return code;
    void *box = fort_value_new(value_out);
    if (!box) return MPI_ERR_NO_MEM;
    *(void **)out = box;
    *flag = 1;
    return MPI_SUCCESS;
}

static int erase(struct fort_keyval *k, int f, int key, void *value)
{
    MPI_Aint v = fort_value(value), extra = k->extra.value;
    int code = MPI_SUCCESS, small = (int)v, small_extra = (int)extra;
    if (k->extra.is_small) {
        ((void (*)(int *, int *, int *, int *, int *))k->del)(&f, &key, &small, &small_extra, &code);
        extra = small_extra;
    } else {
        ((void (*)(int *, int *, MPI_Aint *, MPI_Aint *, int *))k->del)(&f, &key, &v, &extra, &code);
    }
    fort_extra_set(&k->extra, extra);
    if (code == MPI_SUCCESS) fort_value_free(value);
    return code;
}

#define ATTRIBUTES(word, Type)                                                                                                     \
    int fort_##word##_copy(MPI_##Type h, int key, void *extra, void *in, void *out, int *flag)                                     \
    {                                                                                                                              \
        return copy(extra, fort_##word##_int(h), key, in, out, flag);                                                              \
    }                                                                                                                              \
    int fort_##word##_delete(MPI_##Type h, int key, void *value, void *extra)                                                      \
    {                                                                                                                              \
        return erase(extra, fort_##word##_int(h), key, value);                                                                     \
    }
ATTRIBUTES(comm, Comm)
ATTRIBUTES(type, Datatype)
ATTRIBUTES(win, Win)

/* ---- generalized requests ---- */
int fort_grequest_query(void *extra, MPI_Status *status)
{
    struct fort_grequest *g = extra;
    MPI_Aint state = g->extra.value;
    int code = MPI_SUCCESS;
    ((void (*)(MPI_Aint *, MPI_Status *, int *))g->query)(&state, status, &code);
    fort_extra_set(&g->extra, state);
    return code;
}

int fort_grequest_free(void *extra)
{
    struct fort_grequest *g = extra;
    MPI_Aint state = g->extra.value;
    int code = MPI_SUCCESS;
    ((void (*)(MPI_Aint *, int *))g->free)(&state, &code);
    fort_extra_set(&g->extra, state);
    free(g);
    return code;
}

int fort_grequest_cancel(void *extra, int complete)
{
    struct fort_grequest *g = extra;
    MPI_Aint state = g->extra.value;
    int code = MPI_SUCCESS, is_complete = complete != 0;
    ((void (*)(MPI_Aint *, int *, int *))g->cancel)(&state, &is_complete, &code);
    fort_extra_set(&g->extra, state);
    return code;
}

/* ---- data representations: registered until the end ---- */
static struct fort_datarep *datareps;

struct fort_datarep *fort_datarep(struct fort_datarep *like)
{
    struct fort_datarep *d = malloc(sizeof *d);
    if (!d) return NULL;
    *d = *like;
    pthread_mutex_lock(&lock);
    d->next = datareps;
    datareps = d;
    pthread_mutex_unlock(&lock);
    return d;
}

#define CONVERSION(word, which, Count)                                                                                             \
    int fort_datarep_##word(void *buf, MPI_Datatype type, Count n, void *file, MPI_Offset at, void *extra)                         \
    {                                                                                                                              \
        struct fort_datarep *d = extra;                                                                                            \
        MPI_Aint state = d->extra.value;                                                                                           \
        int f = fort_type_int(type), code = MPI_SUCCESS;                                                                           \
        ((void (*)(void *, int *, Count *, void *, MPI_Offset *, MPI_Aint *, int *))d->which)(buf, &f, &n, file, &at, &state,      \
                                                                                              &code);                              \
        fort_extra_set(&d->extra, state);                                                                                          \
        return code;                                                                                                               \
    }
CONVERSION(read, read, int)
CONVERSION(write, write, int)
CONVERSION(read_c, read, MPI_Count)
CONVERSION(write_c, write, MPI_Count)

int fort_datarep_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    struct fort_datarep *d = extra;
    MPI_Aint state = d->extra.value;
    int f = fort_type_int(type), code = MPI_SUCCESS;
    ((void (*)(int *, MPI_Aint *, MPI_Aint *, int *))d->extent)(&f, extent, &state, &code);
    fort_extra_set(&d->extra, state);
    return code;
}

/* ---- predefined functions, which programs pass by name; C sees them as functions of Fortran ---- */
#define COPY_FN(name, Value, flag_value, assign)                                                                                   \
    void name(int *f, int *key, Value *extra, Value *in, Value *out, int *flag, int *ierror);                                      \
    void name(int *f, int *key, Value *extra, Value *in, Value *out, int *flag, int *ierror)                                       \
    {                                                                                                                              \
        (void)f, (void)key, (void)extra, (void)in, (void)out;                                                                      \
        assign;                                                                                                                    \
        *flag = flag_value;                                                                                                        \
        *ierror = MPI_SUCCESS;                                                                                                     \
    }
#define DELETE_FN(name, Value)                                                                                                     \
    void name(int *f, int *key, Value *value, Value *extra, int *ierror);                                                          \
    void name(int *f, int *key, Value *value, Value *extra, int *ierror)                                                           \
    {                                                                                                                              \
        (void)f, (void)key, (void)value, (void)extra;                                                                              \
        *ierror = MPI_SUCCESS;                                                                                                     \
    }
COPY_FN(mpi_comm_dup_fn_, MPI_Aint, 1, *out = *in)
COPY_FN(mpi_type_dup_fn_, MPI_Aint, 1, *out = *in)
COPY_FN(mpi_win_dup_fn_, MPI_Aint, 1, *out = *in)
COPY_FN(mpi_dup_fn_, int, 1, *out = *in)
COPY_FN(mpi_comm_null_copy_fn_, MPI_Aint, 0, )
COPY_FN(mpi_type_null_copy_fn_, MPI_Aint, 0, )
COPY_FN(mpi_win_null_copy_fn_, MPI_Aint, 0, )
COPY_FN(mpi_null_copy_fn_, int, 0, )
DELETE_FN(mpi_comm_null_delete_fn_, MPI_Aint)
DELETE_FN(mpi_type_null_delete_fn_, MPI_Aint)
DELETE_FN(mpi_win_null_delete_fn_, MPI_Aint)
DELETE_FN(mpi_null_delete_fn_, int)

/* Never called: they stand for C's null functions, and programs may compare with them. */
void mpi_conversion_fn_null_(void) {}
void mpi_conversion_fn_null_c_(void) {}

FORT_PREDEFINED(comm_dup_fn, COMM_DUP_FN)
FORT_PREDEFINED(type_dup_fn, TYPE_DUP_FN)
FORT_PREDEFINED(win_dup_fn, WIN_DUP_FN)
FORT_PREDEFINED(dup_fn, DUP_FN)
FORT_PREDEFINED(comm_null_copy_fn, COMM_NULL_COPY_FN)
FORT_PREDEFINED(type_null_copy_fn, TYPE_NULL_COPY_FN)
FORT_PREDEFINED(win_null_copy_fn, WIN_NULL_COPY_FN)
FORT_PREDEFINED(null_copy_fn, NULL_COPY_FN)
FORT_PREDEFINED(comm_null_delete_fn, COMM_NULL_DELETE_FN)
FORT_PREDEFINED(type_null_delete_fn, TYPE_NULL_DELETE_FN)
FORT_PREDEFINED(win_null_delete_fn, WIN_NULL_DELETE_FN)
FORT_PREDEFINED(null_delete_fn, NULL_DELETE_FN)
FORT_PREDEFINED(conversion_fn_null, CONVERSION_FN_NULL)
FORT_PREDEFINED(conversion_fn_null_c, CONVERSION_FN_NULL_C)
