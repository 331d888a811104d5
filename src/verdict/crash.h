/* crash.h -- what can be said of a rank that dies of a signal: where, and its stack.
 *
 * By default a rank whose program has no handler for the signal waits until mpiexec has looked at it (boot_crash.c).  Where it did not, from
 * the core file, if the system writes one to a plain path and gdb is here; else a hint.  With --stacks-on-crash mpiexec traces the ranks
 * (ptrace), and nothing is installed in them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_VERDICT_CRASH_H
#define GW_VERDICT_CRASH_H

#include "job/job.h"

bool crash_is_one(int sig); /* a signal by which programs crash, not one that ends them */
/* Traces a rank that has been forked and has not come to its exec; says once if the kernel refuses that. */
void crash_trace(pid_t pid);
/* What stopped among the traced: lets it go on, or if it crashes, prints signal, address and stack of the first one.  At SIGCHLD. */
void crash_look(const struct job *j);
/* Ranks that crash and wait: prints signal, address and stack of the first one, and lets them go on.  At SIGCHLD. */
void crash_look_waiting(const struct job *j);
/* After the report of a rank's death by such a signal: its stack from the core file, or how to get one. */
void crash_say(const struct job *j, int rank);

/* The names that a core file of process `pid` may have, as a pattern for glob(), from /proc/sys/kernel/core_pattern; false: there is no
 * file, a program gets the core.  folder: where the rank was started. */
bool crash_core_glob(const char *pattern, bool uses_pid, const char *folder, int pid, char *out, size_t cap);
#endif
