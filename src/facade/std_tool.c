/* std_tool.c -- the tool information interface: bodies of the entry points that have handles of MPI objects in their arguments.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "facade/std_tool.h"

#include "facade/std_doors.h"

/* Handles of the standard ABI are ids; they are constants, so MPI need not have started. */
static MPI_Datatype type_handle(enum tool_type t)
{
    static const MPI_Datatype types[] = {
        [TOOL_INT] = MPI_INT, [TOOL_COUNT] = MPI_COUNT, [TOOL_U64] = MPI_UNSIGNED_LONG_LONG, [TOOL_CHAR] = MPI_CHAR};
    assert((size_t)t < GW_ARRAY_LEN(types) && types[t]);
    return types[t];
}

/* Every handle is as large as a pointer. */
static uint64_t object_id(int bind, const void *handle)
{
    uintptr_t id = 0;
    if (bind != MPI_T_BIND_NO_OBJECT && handle) memcpy(&id, handle, sizeof id);
    return id;
}

int std_t_cvar_get_info(int i, char *name, int *name_len, int *verbosity_out, MPI_Datatype *type_out, MPI_T_enum *enum_out,
                        char *desc, int *desc_len, int *bind_out, int *scope_out)
{
    enum tool_type type;
    struct tool_enum *e;
    int rc = tool_cvar_get_info(i, name, name_len, verbosity_out, &type, &e, desc, desc_len, bind_out, scope_out);
    if (rc == 0 && type_out) *type_out = type_handle(type);
    if (rc == 0 && enum_out) *enum_out = (MPI_T_enum)e;
    return rc;
}

int std_t_cvar_handle_alloc(int i, void *object, MPI_T_cvar_handle *handle_out, int *count_out)
{
    (void)object; /* no setting is bound to one */
    return tool_cvar_handle_alloc(i, (struct tool_cvar_handle **)handle_out, count_out);
}

int std_t_pvar_get_info(int i, char *name, int *name_len, int *verbosity_out, int *class_out, MPI_Datatype *type_out,
                        MPI_T_enum *enum_out, char *desc, int *desc_len, int *bind_out, int *readonly_out, int *continuous_out,
                        int *atomic_out)
{
    enum tool_type type;
    struct tool_enum *e;
    int rc = tool_pvar_get_info(i, name, name_len, verbosity_out, class_out, &type, &e, desc, desc_len, bind_out, readonly_out,
                                continuous_out, atomic_out);
    if (rc == 0 && type_out) *type_out = type_handle(type);
    if (rc == 0 && enum_out) *enum_out = (MPI_T_enum)e;
    return rc;
}

int std_t_pvar_handle_alloc(MPI_T_pvar_session s, int i, void *object, MPI_T_pvar_handle *handle_out, int *count_out)
{
    return tool_pvar_handle_alloc((struct tool_pvar_session *)s, i, object_id(tool_pvar_bind(i), object),
                                  (struct tool_pvar_handle **)handle_out, count_out);
}

/* ---- events ---- */
static int info_new(MPI_Info *info_out)
{
    struct gw_info *info;
    if (!info_out) return 0;
    if (gw_info_create(&info) != GW_OK) return MPI_T_ERR_MEMORY;
    *info_out = std_info_handle(info);
    return 0;
}

static int info_check(MPI_Info info) { return info == MPI_INFO_NULL || std_info(info) ? 0 : MPI_T_ERR_INVALID_HANDLE; }

int std_t_source_get_info(int i, char *name, int *name_len, char *desc, int *desc_len, MPI_T_source_order *order_out,
                          MPI_Count *ticks_out, MPI_Count *max_ticks_out, MPI_Info *info_out)
{
    int is_ordered, rc = tool_source_get_info(i, name, name_len, desc, desc_len, &is_ordered, ticks_out, max_ticks_out);
    if (rc == 0 && order_out) *order_out = is_ordered ? MPI_T_SOURCE_ORDERED : MPI_T_SOURCE_UNORDERED;
    return rc == 0 ? info_new(info_out) : rc;
}

int std_t_event_get_info(int i, char *name, int *name_len, int *verbosity_out, MPI_Datatype types[], MPI_Aint displacements[],
                         int *n, MPI_T_enum *enum_out, MPI_Info *info_out, char *desc, int *desc_len, int *bind_out)
{
    int room = n ? *n : 0, rc = tool_event_get_info(i, name, name_len, verbosity_out, displacements, n, desc, desc_len, bind_out);
    if (rc != 0) return rc;
    for (int k = 0; n && types && k < room && k < *n; k++) types[k] = type_handle(TOOL_COUNT);
    if (enum_out) *enum_out = MPI_T_ENUM_NULL;
    return info_new(info_out);
}

int std_t_event_handle_alloc(int i, void *object, MPI_Info info, MPI_T_event_registration *r_out)
{
    int rc = info_check(info);
    return rc != 0 ? rc : tool_event_handle_alloc(i, object_id(tool_event_bind(i), object), (struct tool_registration **)r_out);
}

int std_t_event_handle_set_info(MPI_T_event_registration r, MPI_Info info)
{
    int rc = tool_event_handle_check((struct tool_registration *)r);
    return rc != 0 ? rc : info_check(info);
}

int std_t_event_handle_get_info(MPI_T_event_registration r, MPI_Info *info_out)
{
    int rc = tool_event_handle_check((struct tool_registration *)r);
    return rc != 0 ? rc : info_out ? info_new(info_out) : MPI_T_ERR_INVALID;
}

int std_t_event_register_callback(MPI_T_event_registration r, MPI_T_cb_safety safety, MPI_Info info, void *user_data,
                                  MPI_T_event_cb_function *fn)
{
    return godwit_door_event_callback(r, safety, info, user_data, fn, DOOR_STD);
}

GW_EXPORT int godwit_door_event_callback(MPI_T_event_registration r, MPI_T_cb_safety safety, MPI_Info info, void *user_data,
                                         MPI_T_event_cb_function *fn, enum door_abi abi)
{
    int rc = info_check(info);
    if (rc != 0) return rc;
    return tool_event_register_callback((struct tool_registration *)r, (int)safety, user_data,
                                        (struct gw_callback){.fn = (void (*)(void))fn, .abi = (uint8_t)abi});
}

int std_t_event_callback_set_info(MPI_T_event_registration r, MPI_T_cb_safety safety, MPI_Info info)
{
    int rc = tool_event_callback_check((struct tool_registration *)r, (int)safety);
    return rc != 0 ? rc : info_check(info);
}

int std_t_event_callback_get_info(MPI_T_event_registration r, MPI_T_cb_safety safety, MPI_Info *info_out)
{
    int rc = tool_event_callback_check((struct tool_registration *)r, (int)safety);
    return rc != 0 ? rc : info_out ? info_new(info_out) : MPI_T_ERR_INVALID;
}

int std_t_event_set_dropped_handler(MPI_T_event_registration r, MPI_T_event_dropped_cb_function *fn)
{
    return godwit_door_event_dropped(r, fn, DOOR_STD);
}

GW_EXPORT int godwit_door_event_dropped(MPI_T_event_registration r, MPI_T_event_dropped_cb_function *fn, enum door_abi abi)
{
    return tool_event_set_dropped_handler((struct tool_registration *)r,
                                          (struct gw_callback){.fn = (void (*)(void))fn, .abi = (uint8_t)abi});
}

int std_t_event_handle_free(MPI_T_event_registration r, void *user_data, MPI_T_event_free_cb_function *fn)
{
    return godwit_door_event_free(r, user_data, fn, DOOR_STD);
}

GW_EXPORT int godwit_door_event_free(MPI_T_event_registration r, void *user_data, MPI_T_event_free_cb_function *fn,
                                     enum door_abi abi)
{
    return tool_event_handle_free((struct tool_registration *)r, user_data,
                                  (struct gw_callback){.fn = (void (*)(void))fn, .abi = (uint8_t)abi});
}

/* ---- calls of users' functions ---- */
static MPI_T_cb_safety safety_of(const struct gw_callback *fn, int level)
{
    const struct door_calls *door = std_door_of(fn);
    return (MPI_T_cb_safety)(door ? door->safety(level) : level);
}

static void call_event(const struct gw_callback *fn, struct tool_instance *e, struct tool_registration *r, int safety,
                       void *user_data)
{
    ((MPI_T_event_cb_function *)fn->fn)((MPI_T_event_instance)e, (MPI_T_event_registration)r, safety_of(fn, safety), user_data);
}

static void call_dropped(const struct gw_callback *fn, int64_t count, struct tool_registration *r, int source, int safety,
                         void *user_data)
{
    ((MPI_T_event_dropped_cb_function *)fn->fn)(count, (MPI_T_event_registration)r, source, safety_of(fn, safety), user_data);
}

static void call_freed(const struct gw_callback *fn, struct tool_registration *r, int safety, void *user_data)
{
    ((MPI_T_event_free_cb_function *)fn->fn)((MPI_T_event_registration)r, safety_of(fn, safety), user_data);
}

int std_t_init_thread(int required, int *provided_out)
{
    static const struct tool_calls calls = {call_event, call_dropped, call_freed};
    tool_call_user = &calls;
    return tool_init_thread(required, provided_out);
}
