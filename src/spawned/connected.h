/* connected.h -- connected jobs fail together (MPI 4.1 section 11.10.4): mpiexecs of one host notify each other by a signal.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SPAWNED_CONNECTED_H
#define GW_SPAWNED_CONNECTED_H

#include "job/job.h"

int connected_signal(void);                             /* the number of the signal */
void connected_open(void);                              /* blocks the signal, which stays pending until it is read */
void connected_notify(const struct job *j, int status); /* this job has failed: notifies the jobs connected with it */
bool connected_has(const struct job *j, uint64_t uid);  /* is the job connected with that world? */
bool connected_signalled(const struct job *j, uint64_t word, int *status_out); /* a signal carried `word`: must this job end? */

#endif
