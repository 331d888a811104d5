/* where.h -- where the ranks of a job are, and whether it hangs.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_VERDICT_WHERE_H
#define GW_VERDICT_WHERE_H

#include "job/job.h"

void where_say(const struct job *j); /* where the ranks are, and why they do not go on */
void where_resumed(void);            /* the job was stopped: its ranks get some time before they are looked at again */
/* Warns once when the job hangs.  ms until it must be called again, -1: never.  *ends_out: ranks wait for others that call other
 * collectives, which has been said; the job is to end. */
int where_watch(const struct job *j, bool *ends_out);

#endif
