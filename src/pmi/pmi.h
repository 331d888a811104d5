/* pmi.h -- the server of mpiexec for PMI-1 and PMI-2; runs in its only thread.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PMI_PMI_H
#define GW_PMI_PMI_H

#include "job/job.h"

int pmi_start(struct job *j);                 /* 0 or errno; j->pmi becomes readable where pmi_serve() has something to do */
int pmi_offer(const struct job *j, int rank); /* the rank's end of a new connection, which the caller closes; -1: errno says why */
void pmi_serve(struct job *j);
void pmi_stop(struct job *j);
/* An agent's ranks meet those of other hosts.  True: all of this host are in a barrier, which has not been said before; then keys_out gets what
 * they have put since the last, a key and its value by turns. */
bool pmi_fence_begins(struct words *keys_out);
void pmi_fence_ends(const char *key,
                    const char *value); /* what another host's have put, one by one; NULL: all ranks of the job were there */

#endif
