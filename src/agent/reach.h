/* reach.h -- starts a program on another host: by ssh, or by what GODWIT_LAUNCH_AGENT names.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_AGENT_REACH_H
#define GW_AGENT_REACH_H

#include <sys/types.h>

#include "agent/link.h"
#include "job/words.h"

/* The command line that runs `program --agent` on a host; the first word is the command itself.  agent: GODWIT_LAUNCH_AGENT, "": ssh.  patience:
 * seconds without an answer from there after which ssh gives up; 0: never. */
void agent_reach_words(const char *agent, const char *host, const char *program, int patience, struct words *argv_out);
const char *agent_reach_name(const char *agent); /* "ssh": the program, without its folder */
bool agent_reach_is_here(const char *agent);     /* can it be run? */
/* Runs it, or with argv->n == 2 an agent on this host, with pipes for its standard input and output: its pid, and l; -1: errno says why. */
pid_t agent_reach_start(const struct words *argv, bool is_local, struct link *l);

#endif
