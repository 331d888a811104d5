/* std.h -- bodies of entry points of the standard ABI that are more than one call of a room below.
 *
 * They take the C arguments as they are and answer GW_OK or, after gw_fail(), a GW_E code; pointers are checked before.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_FACADE_STD_H
#define GW_FACADE_STD_H

#include "facade/std_codec.h"

int std_init(int *argc, char ***argv);
int std_init_thread(int *argc, char ***argv, int required, int *provided_out);
int std_session_begin(struct gw_info *info, struct gw_errhandler *eh, struct mpi_session **session_out);
double std_wtick(void);
int std_pcontrol(int level);
int std_comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *intercomm_out,
                   int codes[]);
int std_comm_spawn_multiple(int count, char *commands[], char **argvs[], const int maxprocs[], const MPI_Info infos[], int root,
                            MPI_Comm comm, MPI_Comm *intercomm_out, int codes[]);

/* Handles as integers: the object's id, or the value of a predefined handle. */
static inline int std_toint(const void *handle) { return (int)(uintptr_t)handle; }
static inline void *std_fromint(int value) { return (void *)(uintptr_t)(unsigned)value; }

int std_abi_get_version(int *major_out, int *minor_out);
int std_abi_get_info(MPI_Info *info_out);
int std_abi_get_fortran_info(MPI_Info *info_out);
int std_abi_set_fortran_info(MPI_Info info);
int std_abi_get_fortran_booleans(int logical_size, void *true_out, void *false_out, int *is_set_out);
int std_abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false);

int std_get_address(const void *location, MPI_Aint *address_out);
static inline MPI_Aint std_aint_add(MPI_Aint base, MPI_Aint disp) { return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp); }
static inline MPI_Aint std_aint_diff(MPI_Aint a, MPI_Aint b) { return (MPI_Aint)((uintptr_t)a - (uintptr_t)b); }
int std_type_get_envelope(MPI_Datatype h, int *n_ints_out, int *n_aints_out, int *n_types_out, int *combiner_out);
int std_type_get_envelope_c(MPI_Datatype h, MPI_Count *n_ints_out, MPI_Count *n_aints_out, MPI_Count *n_counts_out,
                            MPI_Count *n_types_out, int *combiner_out);
int std_type_get_contents(MPI_Datatype h, int max_ints, int max_aints, int max_types, int ints[], MPI_Aint aints[],
                          MPI_Datatype types[]);
int std_type_get_contents_c(MPI_Datatype h, MPI_Count max_ints, MPI_Count max_aints, MPI_Count max_counts, MPI_Count max_types,
                            int ints[], MPI_Aint aints[], MPI_Count counts[], MPI_Datatype types[]);

int std_status_get_source(const MPI_Status *s, int *source_out);
int std_status_get_tag(const MPI_Status *s, int *tag_out);
int std_status_get_error(const MPI_Status *s, int *err_out);
int std_status_set_source(MPI_Status *s, int source);
int std_status_set_tag(MPI_Status *s, int tag);
int std_status_set_error(MPI_Status *s, int err);
int std_status_set_cancelled(MPI_Status *s, int flag);
int std_status_c2f(const MPI_Status *c, MPI_Fint *f_out);
int std_status_f2c(const MPI_Fint *f, MPI_Status *c_out);
int std_status_c2f08(const MPI_Status *c, MPI_F08_status *f_out);
int std_status_f082c(const MPI_F08_status *f, MPI_Status *c_out);
int std_status_f2f08(const MPI_Fint *f, MPI_F08_status *f08_out);
int std_status_f082f(const MPI_F08_status *f08, MPI_Fint *f_out);

void std_callbacks_install(void); /* before the rooms below start */

#endif
