/* where.h -- hang detection of a running job: prints the states of its ranks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_VERDICT_WHERE_H
#define GW_VERDICT_WHERE_H

#include "job/job.h"

void where_say(const struct job *j); /* prints the states of the ranks, and why the job hangs */
/* A consistent copy of what a rank has written, with texts that end. */
void where_copy(const struct boot_where *from, struct boot_where *to);
void where_resumed(void); /* the job was stopped and continues: no hang is reported for some time */
/* Warns once when the job hangs.  Returns milliseconds until it must be called again, -1: never.  *ends_out: ranks wait for ranks that have
 * called other collectives, which was reported; the job must be ended. */
int where_watch(const struct job *j, bool *ends_out);

#endif
