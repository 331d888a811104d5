/* keeper.h -- a process that sees mpiexec end, and ends what its ranks started.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_JOB_KEEPER_H
#define GW_JOB_KEEPER_H

#include "job/job.h"

/* Pids live in memory shared with the keeper. */
int keeper_start(struct job *j);       /* 0 or errno */
void keeper_note(int rank, pid_t pid); /* which runs; 0: it is gone, and about to be reaped */
void keeper_folder(const char *path);  /* to be removed at the end, with all that is in it; "": none */
void keeper_gone(struct job *j);       /* somebody killed it: another takes its place */
void keeper_stop(struct job *j);
void keeper_end_all(void); /* mpiexec is about to die of a signal: no rank, nor what ranks have started, outlives it */

#endif
