/* tool.h -- the tool information interface (MPI 4.1 section 15.3): settings as control variables, counters as performance variables, events,
 * categories.
 *
 * All functions may be called before MPI is initialised and after it is finalised, by any thread.  They return 0 or an MPI_T error code; error
 * handlers are not called.  Strings follow section 15.3.3: at most *len - 1 characters and a zero are written, and *len is set to the size that
 * the string needs.  Pointers to results may be NULL.  Objects that handles are bound to are given by their ids.
 *
 * LOCK  One mutex, the last in lock order; nothing but plain look-ups is called while it is held.  Listeners are called without it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TOOL_TOOL_H
#define GW_TOOL_TOOL_H

#include "mpi/mpi_room.h"

enum tool_type { TOOL_INT, TOOL_COUNT, TOOL_U64, TOOL_CHAR }; /* MPI_INT, MPI_COUNT, MPI_UNSIGNED_LONG_LONG, MPI_CHAR */
struct tool_enum;
struct tool_cvar_handle;
struct tool_pvar_handle;
struct tool_pvar_session;
struct tool_registration;
struct tool_instance; /* an event instance, valid while its listener runs */

int tool_init_thread(int required, int *provided_out);
int tool_finalize(void);
int tool_ready(void); /* 0, or MPI_T_ERR_NOT_INITIALIZED */

int tool_enum_get_info(struct tool_enum *e, int *n_out, char *name, int *name_len);
int tool_enum_get_item(struct tool_enum *e, int i, int *value_out, char *name, int *name_len);

/* ---- control variables (cvar.c) ---- */
int tool_cvar_get_num(int *n_out);
int tool_cvar_get_index(const char *name, int *i_out);
int tool_cvar_get_info(int i, char *name, int *name_len, int *verbosity_out, enum tool_type *type_out, struct tool_enum **enum_out,
                       char *desc, int *desc_len, int *bind_out, int *scope_out);
int tool_cvar_handle_alloc(int i, struct tool_cvar_handle **handle_out, int *count_out);
int tool_cvar_handle_free(struct tool_cvar_handle **h);
int tool_cvar_read(struct tool_cvar_handle *h, void *buf);
int tool_cvar_write(struct tool_cvar_handle *h, const void *buf);

/* ---- performance variables (pvar.c) ---- */
int tool_pvar_get_num(int *n_out);
int tool_pvar_get_index(const char *name, int var_class, int *i_out);
int tool_pvar_get_info(int i, char *name, int *name_len, int *verbosity_out, int *class_out, enum tool_type *type_out,
                       struct tool_enum **enum_out, char *desc, int *desc_len, int *bind_out, int *readonly_out,
                       int *continuous_out, int *atomic_out);
int tool_pvar_bind(int i); /* MPI_T_BIND_*; NO_OBJECT also where there is no such variable */
int tool_pvar_session_create(struct tool_pvar_session **s_out);
int tool_pvar_session_free(struct tool_pvar_session **s);
int tool_pvar_handle_alloc(struct tool_pvar_session *s, int i, uint64_t object, struct tool_pvar_handle **handle_out,
                           int *count_out);
int tool_pvar_handle_free(struct tool_pvar_session *s, struct tool_pvar_handle **h);
/* h may be TOOL_ALL_HANDLES here: those that cannot are left out. */
#define TOOL_ALL_HANDLES ((struct tool_pvar_handle *)1)
int tool_pvar_start(struct tool_pvar_session *s, struct tool_pvar_handle *h);
int tool_pvar_stop(struct tool_pvar_session *s, struct tool_pvar_handle *h);
int tool_pvar_reset(struct tool_pvar_session *s, struct tool_pvar_handle *h);
/* MPI_T_ERR_NOT_ACCESSIBLE: the length of a communicator's queue, which needs its lane's lock, in a listener that was called with locks
 * held, and in other threads than the program's where that has no locks. */
int tool_pvar_read(struct tool_pvar_session *s, struct tool_pvar_handle *h, void *buf);
int tool_pvar_readreset(struct tool_pvar_session *s, struct tool_pvar_handle *h, void *buf);
int tool_pvar_write(struct tool_pvar_session *s, struct tool_pvar_handle *h, const void *buf);

/* ---- categories (category.c) ---- */
int tool_category_get_num(int *n_out);
int tool_category_get_index(const char *name, int *i_out);
int tool_category_get_info(int i, char *name, int *name_len, char *desc, int *desc_len, int *n_cvars_out, int *n_pvars_out,
                           int *n_categories_out);
int tool_category_get_num_events(int i, int *n_out);
int tool_category_get_cvars(int i, int len, int *indices_out);
int tool_category_get_pvars(int i, int len, int *indices_out);
int tool_category_get_events(int i, int len, int *indices_out);
int tool_category_get_categories(int i, int len, int *indices_out);
int tool_category_changed(int *number_out);

/* ---- events (event.c) ----  One source; info objects have no keys yet. */
int tool_source_get_num(int *n_out);
int tool_source_get_info(int i, char *name, int *name_len, char *desc, int *desc_len, int *is_ordered_out, int64_t *ticks_out,
                         int64_t *max_ticks_out);
int tool_source_get_timestamp(int i, int64_t *time_out);
int tool_event_get_num(int *n_out);
int tool_event_get_index(const char *name, int *i_out);
/* *n: room for displacements (elements are TOOL_COUNT); afterwards how many there are. */
int tool_event_get_info(int i, char *name, int *name_len, int *verbosity_out, int64_t *displacements_out, int *n, char *desc,
                        int *desc_len, int *bind_out);
int tool_event_bind(int i);
int tool_event_handle_alloc(int i, uint64_t object, struct tool_registration **r_out);
int tool_event_handle_check(struct tool_registration *r);
int tool_event_register_callback(struct tool_registration *r, int safety, void *user_data, struct gw_callback fn);
int tool_event_callback_check(struct tool_registration *r, int safety);
int tool_event_handle_free(struct tool_registration *r, void *user_data, struct gw_callback fn);
int tool_event_set_dropped_handler(struct tool_registration *r, struct gw_callback fn);
int tool_event_read(struct tool_instance *e, int element, void *buf);
int tool_event_copy(struct tool_instance *e, void *buf);
int tool_event_get_timestamp(struct tool_instance *e, int64_t *time_out);
int tool_event_get_source(struct tool_instance *e, int *source_out);

/* Listeners take handles, so the door calls them. */
struct tool_calls {
    void (*event)(const struct gw_callback *fn, struct tool_instance *e, struct tool_registration *r, int safety, void *user_data);
    void (*dropped)(const struct gw_callback *fn, int64_t count, struct tool_registration *r, int source, int safety,
                    void *user_data);
    void (*freed)(const struct gw_callback *fn, struct tool_registration *r, int safety, void *user_data);
};
extern const struct tool_calls *tool_call_user;

/* ---- debuggers (debugger.c) ------------------------------------------------------------------------------------------
 * The symbol MPIR_dll_name names the library that a debugger loads to read the message queues of a stopped rank (tools/msgq).  It
 * finds them by the symbol godwit_debugger, and knows our structs as it was compiled with them. */
struct tool_debugger {
    char version[24]; /* GODWIT_VERSION: of both, the same */
    uint32_t layout;  /* TOOL_LAYOUT of both, too */
    const struct gw_lane *lanes;
    const _Atomic int *n_lanes;
    const struct gw_slot_table *slots; /* of communicators */
    const struct gw_comm *world, *self;
};
#define TOOL_LAYOUT ((uint32_t)(sizeof(struct gw_comm) << 20 ^ sizeof(struct gw_lane) << 10 ^ sizeof(struct proto_recv)))
extern const struct tool_debugger godwit_debugger;

#endif
