/* mpi_private.h -- shared by the files of mpi.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_MPI_MPI_PRIVATE_H
#define GW_MPI_MPI_PRIVATE_H

#include "mpi/mpi_room.h"

#include "check/check.h"
#include "life/life.h"

/* ---- init.c: the World Model and each session is an instance ---- */
void mpi_instance_begin(int level, bool meets); /* as life_begin() */
void mpi_instance_end(void);                    /* as life_end() */
const char *mpi_level_name(int level);

/* wrapper.c: by rank 0, says that a library which mpiexec has put before the program (--profile, --record) is not there. */
GW_ONCE void mpi_wrapper_look(void);
/* imports.c: may a session begin in another thread, by the libraries that are loaded now?  Those that the program opens later, and names that it
 * looks up itself, are not known. */
GW_ONCE bool mpi_imports_sessions(void);
void mpi_display(int required); /* display.c: prints what the user has asked for at the start */
/* What this job makes of a setting whose value says less (in_force.c); false: the value says it. */
bool mpi_in_force(const char *env, const char *value, char *out, size_t cap);

int mpi_report(void); /* report.c: the same at the end; collective over the world */

const char *mpi_class_name(int class); /* "MPI_ERR_COUNT"; NULL: not a predefined class */

/* The calling thread's last error of this class, "MPI_Send: count is -1; ..."; NULL: its last error was of another class. */
const char *mpi_last_reason(int class);

#endif
