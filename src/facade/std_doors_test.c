/* std_doors_test.c -- functions of the user that came through another ABI's door are called by that door, with handles of the standard
 * ABI; those that came by ours are called as they are.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "facade/std.h"
#include "facade/std_doors.h"

#include <stdlib.h>

#include "../../test/unit.h"

/* ---- a door that notes what it is asked ---- */
static struct {
    int ops, deletes, handlers, kind, code;
    door_function *fn;
    void *on, *value, *extra;
    MPI_Datatype type;
    MPI_Count count;
    bool wide;
} seen;
static int answer;

static void door_op(door_function *fn, bool wide, void *in, void *inout, MPI_Count count, MPI_Datatype type)
{
    seen.ops++, seen.fn = fn, seen.wide = wide, seen.count = count, seen.type = type;
    for (MPI_Count i = 0; i < count; i++) ((int *)inout)[i] = 10 * ((int *)in)[i] + ((int *)inout)[i];
}
static int door_delete(door_function *fn, int kind, void *owner, int keyval, void *value, void *extra)
{
    (void)keyval;
    seen.deletes++, seen.fn = fn, seen.kind = kind, seen.on = owner, seen.value = value, seen.extra = extra;
    return answer;
}
static void door_handler(door_function *fn, int kind, void *on, int *code)
{
    seen.handlers++, seen.fn = fn, seen.kind = kind, seen.on = on, seen.code = *code;
    *code = MPI_ERR_OTHER;
}
static const struct door_calls calls = {.op = door_op, .attr_delete = door_delete, .errhandler = door_handler};

/* ---- the user's own ---- */
static int n_own;
static void own_op(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    n_own++;
    for (int i = 0; i < *n; i++) ((int *)inout)[i] = ((int *)in)[i] - ((int *)inout)[i];
}
static int own_delete(MPI_Comm c, int keyval, void *value, void *extra)
{
    (void)keyval, (void)value, (void)extra;
    n_own += c == MPI_COMM_SELF;
    return answer;
}
static void own_handler(MPI_Comm *c, int *code, ...)
{
    n_own += *c == MPI_COMM_SELF;
    *code = MPI_ERR_ARG;
}

static void operations(bool by_door)
{
    struct gw_op *op = NULL;
    int in[3] = {1, 2, 3}, inout[3] = {4, 5, 6};
    n_own = seen.ops = 0;
    CHECK_EQ(op_create((door_function *)own_op, true, false, &op), GW_OK);
    if (by_door) godwit_door_op(std_op_handle(op), DOOR_MPICH);
    op_reduce(op, in, inout, 3, gw_type_int);
    CHECK(inout[0] == (by_door ? 14 : -3) && inout[1] == (by_door ? 25 : -3) && inout[2] == (by_door ? 36 : -3));
    CHECK(n_own == !by_door && seen.ops == by_door);
    if (by_door) CHECK(seen.fn == (door_function *)own_op && !seen.wide && seen.count == 3 && seen.type == MPI_INT);
    CHECK_EQ(op_free(&op), GW_OK);
}

/* An error code of the function is that of the call, and the attribute stays. */
static void attributes(bool by_door)
{
    int keyval, value = 0, extra = 0;
    n_own = seen.deletes = 0;
    CHECK_EQ(gw_keyval_create(GW_KIND_COMM, NULL, (door_function *)own_delete, &extra, &keyval), GW_OK);
    if (by_door) godwit_door_keyval(keyval, DOOR_MPICH);
    CHECK_EQ(comm_set_attr(&gw_comm_self, keyval, &value), GW_OK);
    answer = MPI_ERR_INTERN;
    CHECK(comm_delete_attr(&gw_comm_self, keyval) < 0 && strstr(gw_fail_text(), "delete function of attribute key"));
    answer = MPI_SUCCESS;
    CHECK_EQ(comm_delete_attr(&gw_comm_self, keyval), GW_OK);
    CHECK(n_own == (by_door ? 0 : 2) && seen.deletes == (by_door ? 2 : 0));
    if (by_door) CHECK(seen.kind == GW_KIND_COMM && seen.on == MPI_COMM_SELF && seen.value == &value && seen.extra == &extra);
    CHECK_EQ(gw_keyval_free(&keyval, GW_KIND_COMM), GW_OK);
}

static void error_handlers(bool by_door)
{
    struct gw_errhandler *eh = NULL;
    int code = MPI_ERR_TAG;
    n_own = seen.handlers = 0;
    CHECK_EQ(gw_errhandler_create(GW_KIND_COMM, (door_function *)own_handler, &eh), GW_OK);
    if (by_door) godwit_door_errhandler(std_errhandler_handle(eh), DOOR_MPICH);
    mpi_upcalls.call_errhandler(&eh->user, &gw_comm_self.obj, &code);
    CHECK(n_own == !by_door && seen.handlers == by_door && code == (by_door ? MPI_ERR_OTHER : MPI_ERR_ARG));
    if (by_door) CHECK(seen.kind == GW_KIND_COMM && seen.on == MPI_COMM_SELF && seen.code == MPI_ERR_TAG);
    CHECK_EQ(gw_errhandler_free(&eh), GW_OK);
}

static void members(void)
{
    CHECK(godwit_door_members(MPI_COMM_SELF, DOOR_PEERS) == 1 && godwit_door_members(MPI_COMM_SELF, DOOR_RANK) == 0);
    CHECK(godwit_door_members(MPI_COMM_SELF, DOOR_SOURCES) == 0 && godwit_door_members(MPI_COMM_SELF, DOOR_DESTINATIONS) == 0);
    CHECK(godwit_door_members(MPI_COMM_NULL, DOOR_PEERS) == 0 && godwit_door_members(MPI_COMM_NULL, DOOR_RANK) == -1);
}

int main(void)
{
    int provided;
    setenv("GODWIT_SINGLETON", "1", 1);
    setenv("GODWIT_LANES", "1", 1);
    std_callbacks_install();
    CHECK_EQ(mpi_init(GW_THREAD_SINGLE, &provided), GW_OK);
    godwit_door_open(DOOR_MPICH, &calls);
    for (int by_door = 0; by_door < 2; by_door++) {
        operations(by_door);
        attributes(by_door);
        error_handlers(by_door);
    }
    members();
    CHECK_EQ(mpi_finalize(), GW_OK);
    return unit_end();
}
