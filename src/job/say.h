/* say.h -- messages of mpiexec to its user.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_JOB_SAY_H
#define GW_JOB_SAY_H

#include <stdbool.h>

#include "base/base.h"

void say_line(const char *fmt, ...) GW_PRINTF(1, 2); /* "mpiexec: ..." on stderr */
void say_as(const char *job);                        /* names the spawned job in messages from now on */
void say_keep(bool on);                              /* on: messages are kept for say_kept(), not printed */
const char *say_kept(void);
void say_to(void (*take)(const char *line)); /* an agent's messages: not printed, but given to it, without "mpiexec: " */

#endif
