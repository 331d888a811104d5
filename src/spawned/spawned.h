/* spawned.h -- MPI_Comm_spawn in mpiexec: requests of ranks to start jobs, and the mpiexec of a spawned job.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SPAWNED_SPAWNED_H
#define GW_SPAWNED_SPAWNED_H

#include "job/job.h"

void spawned_control_open(struct job *j);
void spawned_control_accept(struct job *j);
void spawned_signal_all(const struct job *j, int sig);
bool spawned_sub_ended(struct job *j, pid_t pid, int status, struct sub_end *end_out); /* true: that was one */
int spawned_begin(const char *facts, struct job *j);                                   /* -1: go on; else the exit status */
bool spawned_started(struct job *j, int rc); /* false: it did not start, which has been answered */
bool spawned_hear(struct job *j); /* the asker's connection, which is open, has something; false: it went without a word */
void spawned_free(void);
int spawned_watch(struct job *j, bool *give_up_out); /* ms until it must be called again, -1: never */
int spawned_end(struct job *j, int rc);              /* the exit status of all */
bool spawned_elsewhere(struct job *j);               /* looks at the asker now and then; false: the job is to end */
void spawned_ended(const char *engine, int status);  /* the engine's: the reason where the asker has met nobody */

#endif
