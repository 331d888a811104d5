/* foreign.h -- what is done for programs of other MPI libraries.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PMI_FOREIGN_H
#define GW_PMI_FOREIGN_H

#include "boot/segment.h"
#include "job/job.h"

int foreign_start(struct job *j); /* starts the servers that they may ask: 0, or an exit status after an explanation */
/* A server has learnt how far a rank of another library is, which does not write to its slot itself.  Any thread. */
void foreign_phase(struct job *j, int rank, enum boot_phase phase);
/* doors.c: puts the doors of other ABIs in front of what the ranks load; false: there are none, or they are not wanted (GODWIT_DOORS). */
bool doors_open(struct job *j);
int foreign_look(const struct job *j); /* has a process loaded one while no rank has asked?  ms until the next look, -1: never */
void foreign_say(const struct job *j); /* at the end: it was so */

#endif
