/* std_tool.h -- bodies of entry points of the tool information interface that have MPI objects in their arguments.
 *
 * They take the C arguments as they are and answer an MPI_T error code.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_FACADE_STD_TOOL_H
#define GW_FACADE_STD_TOOL_H

#include "facade/std_codec.h"
#include "tool/tool.h"

int std_t_cvar_get_info(int i, char *name, int *name_len, int *verbosity_out, MPI_Datatype *type_out, MPI_T_enum *enum_out,
                        char *desc, int *desc_len, int *bind_out, int *scope_out);
int std_t_cvar_handle_alloc(int i, void *object, MPI_T_cvar_handle *handle_out, int *count_out);
int std_t_pvar_get_info(int i, char *name, int *name_len, int *verbosity_out, int *class_out, MPI_Datatype *type_out,
                        MPI_T_enum *enum_out, char *desc, int *desc_len, int *bind_out, int *readonly_out, int *continuous_out,
                        int *atomic_out);
int std_t_pvar_handle_alloc(MPI_T_pvar_session s, int i, void *object, MPI_T_pvar_handle *handle_out, int *count_out);
int std_t_source_get_info(int i, char *name, int *name_len, char *desc, int *desc_len, MPI_T_source_order *order_out,
                          MPI_Count *ticks_out, MPI_Count *max_ticks_out, MPI_Info *info_out);
int std_t_event_get_info(int i, char *name, int *name_len, int *verbosity_out, MPI_Datatype types[], MPI_Aint displacements[],
                         int *n, MPI_T_enum *enum_out, MPI_Info *info_out, char *desc, int *desc_len, int *bind_out);
int std_t_event_handle_alloc(int i, void *object, MPI_Info info, MPI_T_event_registration *r_out);
int std_t_event_handle_set_info(MPI_T_event_registration r, MPI_Info info);
int std_t_event_handle_get_info(MPI_T_event_registration r, MPI_Info *info_out);
int std_t_event_register_callback(MPI_T_event_registration r, MPI_T_cb_safety safety, MPI_Info info, void *user_data,
                                  MPI_T_event_cb_function *fn);
int std_t_event_callback_set_info(MPI_T_event_registration r, MPI_T_cb_safety safety, MPI_Info info);
int std_t_event_callback_get_info(MPI_T_event_registration r, MPI_T_cb_safety safety, MPI_Info *info_out);
int std_t_event_set_dropped_handler(MPI_T_event_registration r, MPI_T_event_dropped_cb_function *fn);
int std_t_event_handle_free(MPI_T_event_registration r, void *user_data, MPI_T_event_free_cb_function *fn);
int std_t_init_thread(int required, int *provided_out);

#endif
