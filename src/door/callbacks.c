/* callbacks.c -- calls functions that programs of this door's ABI gave: handles, keys, statuses and codes become theirs.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "door/door.h"

static void call_op(door_function *fn, bool wide, void *in, void *inout, MPI_Count count, MPI_Datatype type)
{
    client_Datatype handle = door_Datatype_out(type);
    int n = (int)count;
    assert(wide || n == count);
    if (wide)
        ((client_User_function_c *)fn)(in, inout, &count, &handle);
    else
        ((client_User_function *)fn)(in, inout, &n, &handle);
}

static int call_copy(door_function *fn, int kind, void *owner, int keyval, void *extra, void *in, void *out, int *flag_out)
{
    int key = door_keyval_out(keyval);
    if (kind == GW_KIND_WIN)
        return door_code_in(((client_Win_copy_attr_function *)fn)(door_Win_out(owner), key, extra, in, out, flag_out));
    if (kind == GW_KIND_TYPE)
        return door_code_in(((client_Type_copy_attr_function *)fn)(door_Datatype_out(owner), key, extra, in, out, flag_out));
    assert(kind == GW_KIND_COMM);
    return door_code_in(((client_Comm_copy_attr_function *)fn)(door_Comm_out(owner), key, extra, in, out, flag_out));
}

static int call_delete(door_function *fn, int kind, void *owner, int keyval, void *value, void *extra)
{
    int key = door_keyval_out(keyval);
    if (kind == GW_KIND_WIN) return door_code_in(((client_Win_delete_attr_function *)fn)(door_Win_out(owner), key, value, extra));
    if (kind == GW_KIND_TYPE)
        return door_code_in(((client_Type_delete_attr_function *)fn)(door_Datatype_out(owner), key, value, extra));
    assert(kind == GW_KIND_COMM);
    return door_code_in(((client_Comm_delete_attr_function *)fn)(door_Comm_out(owner), key, value, extra));
}

static void call_errhandler(door_function *fn, int kind, void *on, int *code)
{
    int mine = door_code_out(*code);
    if (kind == GW_KIND_WIN) {
        client_Win win = door_Win_out(on);
        ((client_Win_errhandler_function *)fn)(&win, &mine);
    } else if (kind == GW_KIND_FILE) {
        client_File file = door_File_out(on);
        ((client_File_errhandler_function *)fn)(&file, &mine);
    } else if (kind == GW_KIND_SESSION) {
        client_Session session = door_Session_out(on);
        ((client_Session_errhandler_function *)fn)(&session, &mine);
    } else {
        assert(kind == GW_KIND_COMM);
        client_Comm comm = door_Comm_out(on);
        ((client_Comm_errhandler_function *)fn)(&comm, &mine);
    }
    *code = door_code_in(mine);
}

static int call_query(door_function *fn, void *extra, MPI_Status *status)
{
    client_Status mine;
    door_status_store(status, &mine);
    int code = ((client_Grequest_query_function *)fn)(extra, &mine);
    door_status_load(&mine, status);
    return code;
}

static int call_extent(door_function *fn, MPI_Datatype type, MPI_Aint *extent_out, void *extra)
{
    return door_code_in(((client_Datarep_extent_function *)fn)(door_Datatype_out(type), extent_out, extra));
}

static int call_convert(door_function *fn, bool wide, void *buf, MPI_Datatype type, MPI_Count count, void *file, void *extra)
{
    client_Datatype handle = door_Datatype_out(type);
    assert(wide || (int)count == count);
    if (wide) return door_code_in(((client_Datarep_conversion_function_c *)fn)(buf, handle, count, file, 0, extra));
    return door_code_in(((client_Datarep_conversion_function *)fn)(buf, handle, (int)count, file, 0, extra));
}

static const struct door_calls calls = {
    .op = call_op,
    .attr_copy = call_copy,
    .attr_delete = call_delete,
    .errhandler = call_errhandler,
    .query = call_query,
    .result = door_code_in,
    .extent = call_extent,
    .convert = call_convert,
    .safety = door_safety_out,
    .code = door_code_out,
    .answer = door_failed,
    .slow = &door_slow,
};

static __attribute__((constructor)) void door_open(void) { godwit_door_open(CLIENT_ABI, &calls); }

/* ---- events: these calls say themselves whose functions they bring ---- */
DOOR_CORE(T_event_handle_free);
DOOR_OWN(int, T_event_register_callback,
         (MPI_T_event_registration registration, MPI_T_cb_safety safety, client_Info info, void *user_data,
          MPI_T_event_cb_function *fn))
{
    MPI_T_cb_safety level = (MPI_T_cb_safety)door_safety_in((int)safety);
    return door_code(godwit_door_event_callback(registration, level, door_Info_in(info), user_data, fn, CLIENT_ABI));
}

DOOR_OWN(int, T_event_set_dropped_handler, (MPI_T_event_registration registration, MPI_T_event_dropped_cb_function *fn))
{
    return door_code(godwit_door_event_dropped(registration, fn, CLIENT_ABI));
}

DOOR_OWN(int, T_event_handle_free, (MPI_T_event_registration registration, void *user_data, MPI_T_event_free_cb_function *fn))
{
    return door_code(godwit_door_event_free(registration, user_data, fn, CLIENT_ABI));
}
