/* ties.h -- connected jobs fail together (MPI 4.1 section 11.10.4): mpiexecs of one host notify each other by a signal.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SPAWNED_TIES_H
#define GW_SPAWNED_TIES_H

#include "job/job.h"

int ties_signal(void);                                                /* the number of the signal */
void ties_open(void);                                                 /* blocks the signal, which stays pending until it is read */
void ties_tell(const struct job *j, int status);                      /* this job has failed: notifies the jobs connected with it */
bool ties_has(const struct job *j, uint64_t uid);                     /* is the job connected with that world? */
bool ties_heard(const struct job *j, uint64_t word, int *status_out); /* a signal carried `word`: must this job end? */

#endif
