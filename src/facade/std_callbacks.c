/* std_callbacks.c -- calls users' functions with handles of the standard ABI: operations, attributes, error handlers,
 * generalized requests.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "facade/std.h"
#include "base/lock.h"
#include "facade/std_doors.h"

#include <limits.h>
#include <pthread.h>

/* A plain user function counts with int: longer vectors go in pieces. */
static void call_op_with(const struct gw_callback *cb, void *in, void *inout, int64_t count, struct gw_type *t)
{
    MPI_Datatype handle = std_type_handle(t);
    const struct door_calls *door = std_door_of(cb);
    if (cb->wide && door) {
        door->op(cb->fn, true, in, inout, count, handle);
        return;
    }
    if (cb->wide) {
        MPI_Count n = count;
        ((MPI_User_function_c *)cb->fn)(in, inout, &n, &handle);
        return;
    }
    for (int64_t done = 0; done < count;) {
        int n = (int)gw_min64(count - done, INT_MAX);
        char *from = (char *)in + done * t->extent, *to = (char *)inout + done * t->extent;
        if (door)
            door->op(cb->fn, false, from, to, n, handle);
        else
            ((MPI_User_function *)cb->fn)(from, to, &n, &handle);
        done += n;
    }
}

/* A non-blocking collective may outlive the handle of its datatype, or another thread may free it now: then the function gets
 * one of its own. */
static void call_op(const struct gw_callback *cb, void *in, void *inout, int64_t count, struct gw_type *t)
{
    bool own_handle = (t->obj.id == 0 || gw_threads) && !t->obj.predefined && type_handle_add(t) == GW_OK;
    call_op_with(cb, in, inout, count, t);
    if (own_handle) type_free(&t);
}

static int attr_result(const char *what, const struct gw_keyval *kv, int code)
{
    if (code == MPI_SUCCESS) return GW_OK;
    return gw_fail_callback(code, "the %s function of attribute key %u answered error code %d", what, kv->obj.id, code);
}

static void *owner_handle(struct gw_obj *owner)
{
    if (owner->kind == GW_KIND_WIN) return std_win_handle((struct rma_win *)owner);
    if (owner->kind == GW_KIND_TYPE) return std_type_handle((struct gw_type *)owner);
    return std_comm_handle((struct gw_comm *)owner);
}

static int call_attr_copy(const struct gw_keyval *kv, struct gw_obj *owner, void *in, void *out, int *flag_out)
{
    void (*fn)(void) = kv->copy.fn;
    const struct door_calls *door = std_door_of(&kv->copy);
    int code, key = (int)kv->obj.id;
    if (door)
        code = door->attr_copy(fn, owner->kind, owner_handle(owner), key, kv->extra_state, in, out, flag_out);
    else if (owner->kind == GW_KIND_WIN)
        code = ((MPI_Win_copy_attr_function *)fn)(std_win_handle((struct rma_win *)owner), key, kv->extra_state, in, out, flag_out);
    else if (owner->kind == GW_KIND_TYPE)
        code =
            ((MPI_Type_copy_attr_function *)fn)(std_type_handle((struct gw_type *)owner), key, kv->extra_state, in, out, flag_out);
    else
        code =
            ((MPI_Comm_copy_attr_function *)fn)(std_comm_handle((struct gw_comm *)owner), key, kv->extra_state, in, out, flag_out);
    return attr_result("copy", kv, code);
}

static int call_attr_delete(const struct gw_keyval *kv, struct gw_obj *owner, void *value)
{
    void (*fn)(void) = kv->del.fn;
    const struct door_calls *door = std_door_of(&kv->del);
    int code, key = (int)kv->obj.id;
    if (door)
        code = door->attr_delete(fn, owner->kind, owner_handle(owner), key, value, kv->extra_state);
    else if (owner->kind == GW_KIND_WIN)
        code = ((MPI_Win_delete_attr_function *)fn)(std_win_handle((struct rma_win *)owner), key, value, kv->extra_state);
    else if (owner->kind == GW_KIND_TYPE)
        code = ((MPI_Type_delete_attr_function *)fn)(std_type_handle((struct gw_type *)owner), key, value, kv->extra_state);
    else
        code = ((MPI_Comm_delete_attr_function *)fn)(std_comm_handle((struct gw_comm *)owner), key, value, kv->extra_state);
    return attr_result("delete", kv, code);
}

static void call_errhandler(const struct gw_callback *cb, struct gw_obj *on, int *mpi_code)
{
    const struct door_calls *door = std_door_of(cb);
    assert(cb->fn);
    if (on->kind == GW_KIND_FILE) {
        MPI_File file = on == &io_no_file.obj ? MPI_FILE_NULL : std_file_handle((struct gw_file *)on);
        if (door) {
            door->errhandler(cb->fn, GW_KIND_FILE, file, mpi_code);
            return;
        }
        ((MPI_File_errhandler_function *)cb->fn)(&file, mpi_code);
        return;
    }
    if (on->kind == GW_KIND_WIN) {
        MPI_Win win = std_win_handle((struct rma_win *)on);
        if (door) {
            door->errhandler(cb->fn, GW_KIND_WIN, win, mpi_code);
            return;
        }
        ((MPI_Win_errhandler_function *)cb->fn)(&win, mpi_code);
        return;
    }
    if (on->kind == GW_KIND_SESSION ||
        (on->kind == GW_KIND_ERRHANDLER && ((struct gw_errhandler *)on)->applies_to == GW_KIND_SESSION)) {
        MPI_Session session = on->kind == GW_KIND_SESSION ? std_session_handle((struct mpi_session *)on) : MPI_SESSION_NULL;
        if (door) {
            door->errhandler(cb->fn, GW_KIND_SESSION, session, mpi_code);
            return;
        }
        ((MPI_Session_errhandler_function *)cb->fn)(&session, mpi_code);
        return;
    }
    assert(on->kind == GW_KIND_COMM || on->kind == GW_KIND_ERRHANDLER);
    MPI_Comm handle = on->kind == GW_KIND_ERRHANDLER ? MPI_COMM_NULL : std_comm_handle((struct gw_comm *)on);
    if (door) {
        door->errhandler(cb->fn, GW_KIND_COMM, handle, mpi_code);
        return;
    }
    ((MPI_Comm_errhandler_function *)cb->fn)(&handle, mpi_code);
}

static int request_result(const char *what, const struct gw_callback *cb, int code)
{
    const struct door_calls *door = std_door_of(cb);
    if (door) code = door->result(code);
    if (code == MPI_SUCCESS) return GW_OK;
    return gw_fail_callback(code, "the %s function of a generalized request answered error code %d", what, code);
}

_Static_assert(sizeof(MPI_Status) == sizeof(struct gw_status), "a status passes as it is");
static int call_request_query(const struct req_user_fns *f, struct gw_status *status)
{
    const struct door_calls *door = std_door_of(&f->query);
    if (door) return request_result("query", &f->query, door->query(f->query.fn, f->extra_state, (MPI_Status *)status));
    return request_result("query", &f->query, ((MPI_Grequest_query_function *)f->query.fn)(f->extra_state, (MPI_Status *)status));
}

static int call_request_free(const struct req_user_fns *f)
{
    return request_result("free", &f->free, ((MPI_Grequest_free_function *)f->free.fn)(f->extra_state));
}

static int call_request_cancel(const struct req_user_fns *f, bool is_complete)
{
    return request_result("cancel", &f->cancel, ((MPI_Grequest_cancel_function *)f->cancel.fn)(f->extra_state, is_complete));
}

/* MPI gives the extent function named types only. */
static int call_extent(const struct io_rep_user *u, struct gw_type *t, int64_t *extent_out)
{
    MPI_Aint extent = 0;
    const struct door_calls *door = std_door_of(&u->read);
    int code = door ? door->extent(u->extent, std_type_handle(t), &extent, u->extra_state)
                    : ((MPI_Datarep_extent_function *)u->extent)(std_type_handle(t), &extent, u->extra_state);
    if (code != MPI_SUCCESS)
        return gw_fail(GW_ECONVERSION, "the extent function of a data representation answered error code %d", code);
    *extent_out = extent;
    return GW_OK;
}

static int convert_with(const struct gw_callback *fn, void *extra, void *buf, struct gw_type *t, int64_t n, void *file)
{
    MPI_Datatype handle = std_type_handle(t);
    const struct door_calls *door = std_door_of(fn);
    assert(fn->wide || n <= INT_MAX);
    if (door) return door->convert(fn->fn, fn->wide, buf, handle, n, file, extra);
    if (fn->wide) return ((MPI_Datarep_conversion_function_c *)fn->fn)(buf, handle, n, file, 0, extra);
    return ((MPI_Datarep_conversion_function *)fn->fn)(buf, handle, (int)n, file, 0, extra);
}

static int call_convert(const struct gw_callback *fn, void *extra, void *buf, struct gw_type *t, int64_t count, void *file)
{
    if (!fn->wide && count > INT_MAX)
        return gw_fail(GW_ECOUNT,
                       "%lld items are more than the conversion functions can count: register them with MPI_Register_datarep_c",
                       (long long)count);
    int code = convert_with(fn, extra, buf, t, count, file);
    if (code == MPI_SUCCESS) return GW_OK;
    return gw_fail(GW_ECONVERSION, "the conversion function of a data representation answered error code %d", code);
}

static GW_ONCE void install(void)
{
    static const struct io_user_calls files = {call_extent, call_convert};
    io_call_user = &files;
    static const struct req_user_calls requests = {call_request_query, call_request_free, call_request_cancel};
    req_call_user = &requests;
    op_upcalls.call_user = call_op;
    obj_upcalls.attr_copy = call_attr_copy;
    obj_upcalls.attr_delete = call_attr_delete;
    mpi_upcalls.call_errhandler = call_errhandler;
}

/* Sessions may begin while other threads call what was installed. */
GW_ONCE void std_callbacks_install(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}
