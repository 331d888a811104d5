/* foreign.h -- support for programs of other MPI libraries: PMI servers, and libraries with other ABIs.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PMI_FOREIGN_H
#define GW_PMI_FOREIGN_H

#include "boot/segment.h"
#include "job/job.h"
#include "job/program.h"

int foreign_start(struct job *j); /* starts the servers of PMIx and PMI: 0, or an exit status after printing the reason */
/* How a program of a rank has come to its job: by our library, or as a client of one of the servers. */
enum foreign_way { FOREIGN_DIRECT, FOREIGN_PMI, FOREIGN_PMIX };
/* A server reports that a program of another library has come as this rank, which does not write to its slot; then its later phases.  Any thread. */
void foreign_came(struct job *j, int rank, enum foreign_way way);
void foreign_phase(struct job *j, int rank, enum boot_phase phase);
/* doors.c: which library this program is of, by its file, and where that names none by the libraries that it needs. */
enum program_mpi pmi_doors_kind(const struct job *j, int app);
/* The first word of the program's line that is a program of these kinds (1 << PROGRAM_...): the program itself, or, where nobody knows what
 * that starts, one of its arguments.  NULL: none. */
const char *pmi_doors_word(const struct job *j, int app, unsigned kinds);
/* Puts Godwit's libraries with other ABIs (doors) into the library path of the ranks.  False: none, or GODWIT_DOORS is off.
 * by_scripts: who knows what the ranks start; scripts that set the path themselves do not hide the doors. */
bool pmi_doors_open(struct job *j, bool by_scripts);
/* The command that keeps them from being found below scripts that set the path themselves, and in which script it stands; NULL: none. */
const char *pmi_doors_left_out(const char **in_out);
/* Takes them out, where an mpiexec of which this one is a child has put them in. */
void pmi_doors_close(struct job *j);
/* Is this file, by its whole path, one of these libraries, of this installation or another? */
bool pmi_doors_hold(const char *path);
/* GODWIT_DOORS=off, in our environment or by -genv: it is of the whole job, and -env of one program does not say it.  mpiexec reads its
 * settings only later. */
bool pmi_doors_are_off(const struct job *j);
/* has a rank loaded another MPI library without asking a server?  ms until the next call, -1: never */
int foreign_look(const struct job *j);
void foreign_say(const struct job *j); /* at the end: prints a message if so */
/* Have ranks come by different ways, or with different MPI libraries, for some time?  They would wait for each other for ever: it is said, once, and the job must be ended.
 * Called at least once a second.  *wait_out: ms until it must be called again, -1: when that second is over. */
bool foreign_differs(struct job *j, int *wait_out);

#endif
