/* mpich.c -- what only the door of the MPICH ABI has: its variables, handles as integers, what MPICH adds to the standard.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "door/door.h"

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
    static const uint8_t kinds[16] = {
        [1] = GW_KIND_COMM, [2] = GW_KIND_GROUP, [3] = GW_KIND_TYPE, [5] = GW_KIND_ERRHANDLER, [6] = GW_KIND_OP,
        [7] = GW_KIND_INFO, [8] = GW_KIND_WIN,   [11] = GW_KIND_REQ, [12] = GW_KIND_MSG,       [14] = GW_KIND_SESSION};
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
    if (*mine >> (GW_ID_SLOT_BITS + GW_ID_GEN_BITS) == GW_KIND_FILE) return mine;
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

void (*door_copy_in(void (*fn)(void)))(void) { return fn == (void (*)(void))MPIR_Dup_fn ? (void (*)(void))MPI_COMM_DUP_FN : fn; }
void (*door_delete_in(void (*fn)(void)))(void) { return fn; }

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
