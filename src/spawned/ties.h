/* ties.h -- jobs that are connected end together.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SPAWNED_TIES_H
#define GW_SPAWNED_TIES_H

#include "job/job.h"

int ties_signal(void);                                                /* other mpiexecs send it */
void ties_open(void);                                                 /* from now on it waits until somebody reads it */
void ties_tell(const struct job *j, int status);                      /* the job failed: those connected with it end, too */
bool ties_has(const struct job *j, uint64_t uid);                     /* is it connected with that world? */
bool ties_heard(const struct job *j, uint64_t word, int *status_out); /* what the signal carried: does it concern us? */

#endif
