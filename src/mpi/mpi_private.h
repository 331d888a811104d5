/* mpi_private.h -- between the files of mpi/.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_MPI_MPI_PRIVATE_H
#define GW_MPI_MPI_PRIVATE_H

#include "mpi/mpi_room.h"

#include "check/check.h"

/* ---- init.c: the World Model and each session is an instance ---- */
int mpi_level(int required); /* the thread level that is provided */
const char *mpi_level_name(int level);
void mpi_instance_begin(int level); /* local: waits for nobody, where our mpiexec started us; dies where MPI cannot start */
int mpi_instance_level(void);       /* the highest of the instances since there was none; MPI_THREAD_SINGLE: there is none */
void mpi_instance_end(void);        /* returns when no other rank needs this one any more, as far as messages go */

void mpi_display(int required); /* display.c: what the job says of itself at its start, if asked */

int mpi_report(void); /* report.c: and at its end; all ranks of the world */

const char *mpi_class_name(int class); /* "MPI_ERR_COUNT"; NULL: not a predefined class */

/* The calling thread's last error of this class, "MPI_Send: count is -1; ..."; NULL: its last error was of another class. */
const char *mpi_last_reason(int class);

#endif
