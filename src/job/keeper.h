/* keeper.h -- the keeper: a process that detects the end of mpiexec, and then kills the ranks and what they have started.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_JOB_KEEPER_H
#define GW_JOB_KEEPER_H

#include "job/job.h"

/* Pids are in memory shared with the keeper. */
int keeper_start(struct job *j);       /* 0 or errno */
void keeper_note(int rank, pid_t pid); /* the pid of a rank; 0: it has ended and is about to be reaped */
void keeper_folder(const char *path);  /* a folder to be removed at the end, with its contents; "": none */
void keeper_gone(struct job *j);       /* the keeper was killed: starts another one */
void keeper_stop(struct job *j);
void keeper_end_all(void); /* mpiexec is about to die of a signal: kills all ranks and what they have started */

#endif
