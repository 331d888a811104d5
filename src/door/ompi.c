/* ompi.c -- what only the door of the Open MPI ABI has: its variables, which address is which handle, Fortran's numbers, what Open MPI adds
 * to the standard.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "door/door.h"
#include "door/ompi_cxx.h"

#include <stdatomic.h>
#include <string.h>

/* ---- variables ---- */
#define DATA(type, word, name)                                                                                                     \
    DOOR_EXPORT type data_##word __asm__(name);                                                                                    \
    DOOR_EXPORT type data_##word
extern char mpi_fortran_status_ignore_[], mpi_fortran_statuses_ignore_[];
DATA(void *, f_status_ignore, "MPI_F_STATUS_IGNORE") = mpi_fortran_status_ignore_;
DATA(void *, f_statuses_ignore, "MPI_F_STATUSES_IGNORE") = mpi_fortran_statuses_ignore_;
DATA(void *, f08_status_ignore, "MPI_F08_STATUS_IGNORE") = mpi_fortran_status_ignore_;
DATA(void *, f08_statuses_ignore, "MPI_F08_STATUSES_IGNORE") = mpi_fortran_statuses_ignore_;

bool door_is_no_status(const void *s) { return !s || s == mpi_fortran_status_ignore_ || s == mpi_fortran_statuses_ignore_; }

/* ---- handles ---- */
struct door_known *door_known;

/* Two addresses in one place: the table is not good, or, where there is no better one (keeps), the second is found by door_strange_in(). */
static bool fill(uint64_t factor, bool keeps)
{
    memset(door_known->ids, 0, sizeof door_known->ids);
    door_known->factor = factor;
    for (unsigned id = 1; id < DOOR_PREDEFINED; id++) {
        if (!door_known->client[id]) continue;
        uint16_t *at = &door_known->ids[door_slot(door_known->client[id], factor)];
        if (*at && !keeps) return false;
        if (!*at) *at = (uint16_t)id;
    }
    return true;
}

/* Where the variables lie differs from run to run, and so does the factor that keeps them apart; one in five does. */
static __attribute__((constructor)) void fill_table(void)
{
    enum { TRIES = 100 };
    uint64_t factor = 0x9e3779b97f4a7c15;
    door_known = godwit_door_known();
    for (unsigned id = 1; id < DOOR_PREDEFINED; id++) {
        door_known->client[id] = door_predefined[id].client;
        assert(!door_is_dynamic(door_known->client[id])); /* the variables are aligned */
    }
    for (int i = 1; !fill(factor, i == TRIES); i++) factor = factor * 0x5851f42d4c957f2d + 2;
}

uintptr_t door_strange_in(uintptr_t h)
{
    for (unsigned id = 1; h && id < DOOR_PREDEFINED; id++)
        if (door_predefined[id].client == h) return id;
    return h ? h | 1ull << 63 : 0; /* no handle of anything: the library says so */
}

void *door_object_in(const void *handle, uintptr_t *mine)
{
    uintptr_t h;
    if (!handle) return NULL;
    memcpy(&h, handle, sizeof h);
    *mine = door_any_in(h);
    return mine;
}

/* ---- Fortran's numbers: small ones for what is predefined, the library's ids, which are above, for the rest ---- */
static int to_fortran(uintptr_t id)
{
    if (id < DOOR_PREDEFINED) return door_fortran_of[id] - 1;
    return id <= INT_MAX ? (int)id : -1;
}

/* 0: there is none with this number. */
static uintptr_t from_fortran(int number, enum gw_kind kind)
{
    assert(kind < GW_KIND_COUNT);
    if (number >= (int)GW_ID_PREDEF_END) return door_id_out((unsigned)number);
    return number < 0 || number >= DOOR_FORTRAN ? 0 : door_predefined[door_of_fortran[kind][number]].client;
}

#define AS_NUMBER(word, name, kind)                                                                                                \
    DOOR_OWN(int, name##_c2f, (client_##word h)) { return to_fortran((uintptr_t)door_##word##_in(h)); }                            \
    DOOR_OWN(client_##word, name##_f2c, (int h)) { return (client_##word)from_fortran(h, kind); }                                  \
    DOOR_OWN(int, name##_toint, (client_##word h)) { return to_fortran((uintptr_t)door_##word##_in(h)); }                          \
    DOOR_OWN(client_##word, name##_fromint, (int h)) { return (client_##word)from_fortran(h, kind); }
AS_NUMBER(Comm, Comm, GW_KIND_COMM)
AS_NUMBER(Group, Group, GW_KIND_GROUP)
AS_NUMBER(Datatype, Type, GW_KIND_TYPE)
AS_NUMBER(Request, Request, GW_KIND_REQ)
AS_NUMBER(Op, Op, GW_KIND_OP)
AS_NUMBER(Info, Info, GW_KIND_INFO)
AS_NUMBER(Win, Win, GW_KIND_WIN)
AS_NUMBER(File, File, GW_KIND_FILE)
AS_NUMBER(Errhandler, Errhandler, GW_KIND_ERRHANDLER)
AS_NUMBER(Message, Message, GW_KIND_MSG)
AS_NUMBER(Session, Session, GW_KIND_SESSION)

/* ---- predefined functions for attributes: the library's own are 0 and 1 ---- */
#define ATTRIBUTE_FUNCTIONS(name, handle)                                                                                          \
    DOOR_EXPORT int OMPI_C_MPI_##name##NULL_COPY_FN(handle h, int key, void *extra, void *in, void *out, int *flag_out);           \
    DOOR_EXPORT int OMPI_C_MPI_##name##DUP_FN(handle h, int key, void *extra, void *in, void *out, int *flag_out);                 \
    DOOR_EXPORT int OMPI_C_MPI_##name##NULL_DELETE_FN(handle h, int key, void *value, void *extra);                                \
    int OMPI_C_MPI_##name##NULL_COPY_FN(handle h, int key, void *extra, void *in, void *out, int *flag_out)                        \
    {                                                                                                                              \
        return no_copy((uintptr_t)h, key, extra, in, out, flag_out);                                                               \
    }                                                                                                                              \
    int OMPI_C_MPI_##name##DUP_FN(handle h, int key, void *extra, void *in, void *out, int *flag_out)                              \
    {                                                                                                                              \
        return same_copy((uintptr_t)h, key, extra, in, out, flag_out);                                                             \
    }                                                                                                                              \
    int OMPI_C_MPI_##name##NULL_DELETE_FN(handle h, int key, void *value, void *extra)                                             \
    {                                                                                                                              \
        return no_delete((uintptr_t)h, key, value, extra);                                                                         \
    }
static int no_copy(uintptr_t h, int key, void *extra, void *in, void *out, int *flag_out)
{
    (void)h, (void)key, (void)extra, (void)in, (void)out;
    *flag_out = 0;
    return MPI_SUCCESS;
}
static int same_copy(uintptr_t h, int key, void *extra, void *in, void *out, int *flag_out)
{
    (void)h, (void)key, (void)extra;
    memcpy(out, &in, sizeof in);
    *flag_out = 1;
    return MPI_SUCCESS;
}
static int no_delete(uintptr_t h, int key, void *value, void *extra)
{
    (void)h, (void)key, (void)value, (void)extra;
    return MPI_SUCCESS;
}
ATTRIBUTE_FUNCTIONS(, client_Comm)
ATTRIBUTE_FUNCTIONS(COMM_, client_Comm)
ATTRIBUTE_FUNCTIONS(TYPE_, client_Datatype)
ATTRIBUTE_FUNCTIONS(WIN_, client_Win)

static bool is_one_of(door_function *fn, door_function *const all[4])
{
    return fn == all[0] || fn == all[1] || fn == all[2] || fn == all[3];
}
#define ALL_FOUR(name)                                                                                                             \
    {                                                                                                                              \
        (door_function *)OMPI_C_MPI_##name, (door_function *)OMPI_C_MPI_COMM_##name, (door_function *)OMPI_C_MPI_TYPE_##name,      \
            (door_function *)OMPI_C_MPI_WIN_##name                                                                                 \
    }
door_function *door_copy_in(door_function *fn)
{
    static door_function *const none[] = ALL_FOUR(NULL_COPY_FN), *const same[] = ALL_FOUR(DUP_FN);
    if (is_one_of(fn, none)) return (door_function *)MPI_COMM_NULL_COPY_FN;
    return is_one_of(fn, same) ? (door_function *)MPI_COMM_DUP_FN : fn;
}
door_function *door_delete_in(door_function *fn)
{
    static door_function *const none[] = ALL_FOUR(NULL_DELETE_FN);
    return is_one_of(fn, none) ? (door_function *)MPI_COMM_NULL_DELETE_FN : fn;
}

/* ---- Open MPI's own calls: whether it works on memory of accelerators ---- */
#define MPIX(name)                                                                                                                 \
    DOOR_EXPORT int mpix_##name(void) __asm__("MPIX_" #name);                                                                      \
    DOOR_EXPORT int mpix_##name(void) { return 0; }
MPIX(Query_cuda_support)
MPIX(Query_rocm_support)
MPIX(Query_ze_support)

/* ---- for the library for C++ (ompi_cxx.h) ---- */
static const struct ompi_cxx_calls *cxx;

/* An operation was made with one function of that library for all of them, which gets the user's as its last argument. */
typedef void cxx_op(const void *in, void *inout, int *count, client_Datatype *type, door_function *fn);
static _Atomic(cxx_op *) call_cxx;

static void call_cxx_op(door_function *fn, bool wide, void *in, void *inout, MPI_Count count, MPI_Datatype type)
{
    client_Datatype handle = door_Datatype_out(type);
    int n = (int)count;
    assert(!wide && n == count); /* made by MPI_Op_create */
    (void)wide;
    atomic_load_explicit(&call_cxx, memory_order_relaxed)(in, inout, &n, &handle, fn);
}

static void call_cxx_errhandler(door_function *fn, int kind, void *on, int *code)
{
    int mine = door_code_out(*code);
    assert(cxx && fn); /* it made the error handler */
    if (kind == GW_KIND_WIN)
        cxx->on_win(fn, door_Win_out(on), &mine);
    else if (kind == GW_KIND_FILE)
        cxx->on_file(fn, door_File_out(on), &mine);
    else
        cxx->on_comm(fn, door_Comm_out(on), &mine);
    *code = door_code_in(mine);
}

static const struct door_calls cxx_calls = {.op = call_cxx_op, .errhandler = call_cxx_errhandler};
static __attribute__((constructor)) void open_cxx(void) { godwit_door_open(DOOR_OMPI_CXX, &cxx_calls); }

void ompi_op_set_cxx_callback(client_Op op, door_function *fn)
{
    door_function *had = godwit_door_op_function(door_Op_in(op), fn, DOOR_OMPI_CXX);
    /* Relaxed: it leads to code, and who uses such an operation has it from who made it. */
    if (had) atomic_store_explicit(&call_cxx, (cxx_op *)had, memory_order_relaxed);
}

void godwit_ompi_cxx(const struct ompi_cxx_calls *calls) { cxx = calls; }

void godwit_ompi_cxx_errhandler(client_Errhandler handler) { godwit_door_errhandler(door_Errhandler_in(handler), DOOR_OMPI_CXX); }

static int answer(int code, int thrown)
{
    bool is_thrown = godwit_door_thrown();
    if (cxx) cxx->failed(thrown, is_thrown);
    return code;
}

int door_failed(int code)
{
    int mine = door_code_out(code);
    return answer(mine, mine);
}

int door_handled(int code, int handled)
{
    int mine = door_code_out(code);
    return answer(mine, code == MPI_SUCCESS ? handled : mine);
}
