/* mpich.c -- what only the door of the MPICH ABI has: its variables, handles as integers, what MPICH adds to the standard.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "door/door.h"

#include <stdatomic.h>
#include <string.h>

/* ---- variables ----  Programs load them, so they may have the standard's values. */
#define DATA(type, word, name)                                                                                                     \
    DOOR_EXPORT type data_##word __asm__(name);                                                                                    \
    DOOR_EXPORT type data_##word
static int fortran_status[5];
DATA(int *, unweighted, "MPI_UNWEIGHTED") = MPI_UNWEIGHTED;
DATA(int *, weights_empty, "MPI_WEIGHTS_EMPTY") = MPI_WEIGHTS_EMPTY;
DATA(void *, all_handles, "MPI_T_PVAR_ALL_HANDLES") = MPI_T_PVAR_ALL_HANDLES;
DATA(int *, f_status_ignore, "MPI_F_STATUS_IGNORE") = fortran_status;
DATA(int *, f_statuses_ignore, "MPI_F_STATUSES_IGNORE") = fortran_status;
DATA(void *, f08_status_ignore, "MPI_F08_STATUS_IGNORE") = fortran_status;
DATA(void *, f08_statuses_ignore, "MPI_F08_STATUSES_IGNORE") = fortran_status;

bool door_is_no_status(const void *s)
{
    return (uintptr_t)s <= 1 || s == data_f_status_ignore || s == data_f_statuses_ignore || s == data_f08_status_ignore ||
        s == data_f08_statuses_ignore;
}

/* ---- handles ---- */
uintptr_t door_strange_in(int h, unsigned first, unsigned n)
{
    static const uint8_t kinds[16] = {[DOOR_COMM] = GW_KIND_COMM,     [DOOR_GROUP] = GW_KIND_GROUP,
                                      [DOOR_DATATYPE] = GW_KIND_TYPE, [DOOR_ERRHANDLER] = GW_KIND_ERRHANDLER,
                                      [DOOR_OP] = GW_KIND_OP,         [DOOR_INFO] = GW_KIND_INFO,
                                      [DOOR_WIN] = GW_KIND_WIN,       [DOOR_REQUEST] = GW_KIND_REQ,
                                      [DOOR_MESSAGE] = GW_KIND_MSG,   [DOOR_SESSION] = GW_KIND_SESSION};
    assert(first + n <= DOOR_PREDEFINED);
    uint32_t v = (uint32_t)h;
    enum gw_kind kind = kinds[v >> 26 & 15];
    for (unsigned i = first; h && i < first + n; i++)
        if ((int)door_predefined[i].client == h) return i;
    for (unsigned i = 0; h && i < DOOR_PREDEFINED; i++)
        if ((int)door_predefined[i].client == h) return i;
    if (v >> 31 == 0 || !kind) return h ? v | 1ull << 32 : 0; /* no handle of anything: the library says so */
    v ^= DOOR_FORM(v >> 26 & 15);
    return door_dynamic_in(kind == GW_KIND_TYPE ? v ^ DOOR_TYPE_SLOTS : v, kind);
}

void *door_object_in(const void *handle, uintptr_t *mine)
{
    int h;
    if (!handle) return NULL;
    memcpy(&h, handle, sizeof h);
    *mine = (uintptr_t)(uint32_t)h;
    /* A file's, which is a pointer, is the id; as ints, ids of files look like predefined operations, which no variable is bound to. */
    if (gw_id_kind(*mine) == GW_KIND_FILE) return mine;
    *mine = (uint32_t)h == CLIENT_COMM_WORLD ? (uintptr_t)MPI_COMM_WORLD : door_strange_in(h, 0, DOOR_PREDEFINED);
    return mine;
}

/* In MPICH a Fortran handle is the C handle, and its header says so. */
#define AS_INTEGER(word)                                                                                                           \
    DOOR_OWN(int, word##_c2f, (client_##word h)) { return h; }                                                                     \
    DOOR_OWN(client_##word, word##_f2c, (int h)) { return h; }                                                                     \
    DOOR_OWN(int, word##_toint, (client_##word h)) { return h; }                                                                   \
    DOOR_OWN(client_##word, word##_fromint, (int h)) { return h; }
AS_INTEGER(Comm)
AS_INTEGER(Group)
AS_INTEGER(Request)
AS_INTEGER(Op)
AS_INTEGER(Info)
AS_INTEGER(Win)
AS_INTEGER(Errhandler)
AS_INTEGER(Message)
AS_INTEGER(Session)
DOOR_OWN(int, Type_c2f, (client_Datatype h)) { return h; }
DOOR_OWN(client_Datatype, Type_f2c, (int h)) { return h; }
DOOR_OWN(int, Type_toint, (client_Datatype h)) { return h; }
DOOR_OWN(client_Datatype, Type_fromint, (int h)) { return h; }
DOOR_OWN(int, File_c2f, (client_File h)) { return (int)(uintptr_t)h; }
DOOR_OWN(client_File, File_f2c, (int h)) { return (client_File)(uintptr_t)(unsigned)h; }
DOOR_OWN(int, File_toint, (client_File h)) { return (int)(uintptr_t)h; }
DOOR_OWN(client_File, File_fromint, (int h)) { return (client_File)(uintptr_t)(unsigned)h; }

/* ---- predefined functions for attributes: NULL_FN is 0, as in the standard ABI ---- */
#pragma GCC visibility push(default)
int MPIR_Dup_fn(client_Comm comm, int keyval, void *extra, void *in, void *out, int *flag_out);
#pragma GCC visibility pop
int MPIR_Dup_fn(client_Comm comm, int keyval, void *extra, void *in, void *out, int *flag_out)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    memcpy(out, &in, sizeof in);
    *flag_out = 1;
    return MPI_SUCCESS;
}

door_function *door_copy_in(door_function *fn)
{
    return fn == (door_function *)MPIR_Dup_fn ? (door_function *)MPI_COMM_DUP_FN : fn;
}
door_function *door_delete_in(door_function *fn) { return fn; }

/* ---- MPICH's own calls: those that were made part of the standard, and whether it works on memory of accelerators ---- */
#define MPIX(type, name, parameters)                                                                                               \
    DOOR_EXPORT type mpix_##name parameters __asm__("PMPIX_" #name);                                                               \
    extern __typeof__(mpix_##name) weak_mpix_##name __asm__("MPIX_" #name)                                                         \
        __attribute__((weak, alias("PMPIX_" #name), visibility("default")));                                                       \
    DOOR_EXPORT type mpix_##name parameters
MPIX(int, Query_cuda_support, (void)) { return 0; }
MPIX(int, Query_hip_support, (void)) { return 0; }
MPIX(int, Query_ze_support, (void)) { return 0; }
MPIX(int, GPU_query_support, (int kind, int *is_supported_out))
{
    if (kind < CLIENT_GPU_FIRST || kind > CLIENT_GPU_LAST || !is_supported_out) return CLIENT_ERR_ARG;
    *is_supported_out = 0;
    return MPI_SUCCESS;
}
DOOR_CORE(Remove_error_class);
DOOR_CORE(Remove_error_code);
DOOR_CORE(Remove_error_string);
MPIX(int, Delete_error_class, (int class)) { return door_code(core_Remove_error_class(door_code_in(class))); }
MPIX(int, Delete_error_code, (int code)) { return door_code(core_Remove_error_code(door_code_in(code))); }
MPIX(int, Delete_error_string, (int code)) { return door_code(core_Remove_error_string(door_code_in(code))); }

/* Who throws is MPICH's library for C++, by what the call returned. */
int door_failed(int code) { return door_code_out(code); }
int door_handled(int code, int handled)
{
    (void)handled;
    return door_code_out(code);
}

/* ---- for MPICH's library for C++, libmpichcxx.so.12: functions with MPI::'s signatures.  It makes such an object by the C call, and says then
 * which functions of its own call the user's; those are the same for all objects of a kind.
 * Orders are relaxed: the pointers lead to code, and who uses such an object has it from who made it. ---- */
typedef void cxx_op(const void *in, void *inout, int count, client_Datatype type, door_function *fn);
typedef int cxx_copy(door_function *fn, int owner, int key, void *extra, int value_kind, void *in, void *out, int *flag_out);
typedef int cxx_delete(door_function *fn, int owner, int key, int value_kind, void *value, void *extra);
typedef void cxx_errhandler(int kind, void *on, int *code, door_function *fn);
enum { CXX_POINTER = 0, CXX_COMM = 0, CXX_FILE = 1, CXX_WIN = 2 }; /* value_kind; kind */
static _Atomic(cxx_op *) call_cxx_op;
static _Atomic(cxx_errhandler *) call_cxx_errhandler;
static _Atomic(cxx_copy *) call_cxx_copy[GW_KIND_COUNT];
static _Atomic(cxx_delete *) call_cxx_delete[GW_KIND_COUNT];

static void op_in_cxx(door_function *fn, bool wide, void *in, void *inout, MPI_Count count, MPI_Datatype type)
{
    assert(!wide && count <= INT_MAX); /* made by MPI_Op_create */
    (void)wide;
    atomic_load_explicit(&call_cxx_op, memory_order_relaxed)(in, inout, (int)count, door_Datatype_out(type), fn);
}

static int owner_out(int kind, void *owner)
{
    assert(kind == GW_KIND_WIN || kind == GW_KIND_TYPE || kind == GW_KIND_COMM);
    return kind == GW_KIND_WIN ? door_Win_out(owner) : kind == GW_KIND_TYPE ? door_Datatype_out(owner) : door_Comm_out(owner);
}

static int copy_in_cxx(door_function *fn, int kind, void *owner, int keyval, void *extra, void *in, void *out, int *flag_out)
{
    cxx_copy *call = atomic_load_explicit(&call_cxx_copy[kind], memory_order_relaxed);
    return door_code_in(call(fn, owner_out(kind, owner), door_keyval_out(keyval), extra, CXX_POINTER, in, out, flag_out));
}

static int delete_in_cxx(door_function *fn, int kind, void *owner, int keyval, void *value, void *extra)
{
    cxx_delete *call = atomic_load_explicit(&call_cxx_delete[kind], memory_order_relaxed);
    return door_code_in(call(fn, owner_out(kind, owner), door_keyval_out(keyval), CXX_POINTER, value, extra));
}

static void errhandler_in_cxx(door_function *fn, int kind, void *on, int *code)
{
    cxx_errhandler *call = atomic_load_explicit(&call_cxx_errhandler, memory_order_relaxed);
    int mine = door_code_out(*code);
    if (kind == GW_KIND_FILE) {
        client_File file = door_File_out(on);
        call(CXX_FILE, &file, &mine, fn);
    } else {
        /* That library asks a communicator of what class it is, which of none is an error again; what has no communicator is one of self. */
        bool is_freed = kind != GW_KIND_WIN && (MPI_Comm)on == MPI_COMM_NULL;
        int handle = owner_out(kind, is_freed ? (void *)MPI_COMM_SELF : on);
        call(kind == GW_KIND_WIN ? CXX_WIN : CXX_COMM, &handle, &mine, fn);
    }
    *code = MPI_SUCCESS; /* such a function returns no code; where a call does, that library calls the error handler again */
}

static const struct door_calls cxx_calls = {
    .op = op_in_cxx, .attr_copy = copy_in_cxx, .attr_delete = delete_in_cxx, .errhandler = errhandler_in_cxx};
static __attribute__((constructor)) void open_cxx(void) { godwit_door_open(DOOR_MPICH_CXX, &cxx_calls); }

DOOR_EXPORT void MPII_Op_set_cxx(client_Op op, door_function *call);
void MPII_Op_set_cxx(client_Op op, door_function *call)
{
    atomic_store_explicit(&call_cxx_op, (cxx_op *)call, memory_order_relaxed);
    godwit_door_op(door_Op_in(op), DOOR_MPICH_CXX);
}

DOOR_EXPORT void MPII_Errhandler_set_cxx(client_Errhandler handler, door_function *call);
void MPII_Errhandler_set_cxx(client_Errhandler handler, door_function *call)
{
    atomic_store_explicit(&call_cxx_errhandler, (cxx_errhandler *)call, memory_order_relaxed);
    godwit_door_errhandler(door_Errhandler_in(handler), DOOR_MPICH_CXX);
}

DOOR_EXPORT void MPII_Keyval_set_proxy(int keyval, door_function *copy, door_function *delete_value);
void MPII_Keyval_set_proxy(int keyval, door_function *copy, door_function *delete_value)
{
    int kind = godwit_door_keyval(door_keyval_in(keyval), DOOR_MPICH_CXX);
    assert(kind == GW_KIND_COMM || kind == GW_KIND_TYPE || kind == GW_KIND_WIN);
    atomic_store_explicit(&call_cxx_copy[kind], (cxx_copy *)copy, memory_order_relaxed);
    atomic_store_explicit(&call_cxx_delete[kind], (cxx_delete *)delete_value, memory_order_relaxed);
}
