/* mpi_private.h -- shared by the files of mpi.
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
/* local: does not wait for other ranks under our mpiexec, but two seconds at most with GODWIT_HUGE_PAGES=pool, and with --vnodes for the first
 * rank of its faked node, whose segment it opens, as under other launchers; ends the process if MPI cannot start */
void mpi_instance_begin(int level, bool meets); /* meets: gw_boot.meets */
int mpi_instance_level(void);                   /* the highest level of the present instances; MPI_THREAD_SINGLE without any */
void mpi_instance_end(void);                    /* returns when no other rank needs this one for messages */

/* wrapper.c: by rank 0, says that a library which mpiexec has put before the program (--profile, --record) is not there. */
GW_ONCE void mpi_wrapper_look(void);
int64_t mpi_heap_bytes(void);   /* init.c: of the heap that the ranks of a node share */
void mpi_display(int required); /* display.c: prints what the user has asked for at the start */
/* What this job makes of a setting whose value says less (in_force.c); false: the value says it. */
bool mpi_in_force(const char *env, const char *value, char *out, size_t cap);

/* alike.c: settings by which ranks choose what they do together.  Notes this rank's for the others; after those of the node
 * have met, its first rank ends the job if another one has others.  Ranks of other nodes are compared by net/card.c. */
void mpi_alike_note(void);
void mpi_alike_compare(void);

int mpi_report(void); /* report.c: the same at the end; collective over the world */

const char *mpi_class_name(int class); /* "MPI_ERR_COUNT"; NULL: not a predefined class */

/* The calling thread's last error of this class, "MPI_Send: count is -1; ..."; NULL: its last error was of another class. */
const char *mpi_last_reason(int class);

#endif
