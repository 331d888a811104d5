/* crash.h -- crash reports: signal, address and stack of a rank that dies of a signal.
 *
 * By default a rank whose program has no handler for the signal waits until mpiexec has examined it (boot_crash.c).  Otherwise the stack is
 * taken from the core file, if the system writes one to a plain path and gdb is installed; else a hint is printed.  With --stacks-on-crash mpiexec
 * traces the ranks (ptrace), and installs nothing in them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_VERDICT_CRASH_H
#define GW_VERDICT_CRASH_H

#include "job/job.h"

bool crash_is_one(int sig); /* a signal of a crash (SIGSEGV, ...), not of termination */
/* Traces a rank between fork and exec; warns once if the kernel refuses. */
void crash_trace(pid_t pid);
/* At SIGCHLD: handles stopped traced ranks: continues them, and prints signal, address and stack of the first one that crashes. */
void crash_look(const struct job *j);
/* At SIGCHLD: handles ranks that wait in a crash: prints signal, address and stack of the first one, and continues them. */
void crash_look_waiting(const struct job *j);
/* Has a rank other than `but` been reported to crash, and not ended yet?  Then others that end fail because of that: its connections are closed
 * before mpiexec hears of its end. */
bool crash_is_under_way(const struct job *j, int but);
/* After a rank's death by such a signal was reported: prints its stack from the core file, or how to get one. */
void crash_say(const struct job *j, int rank);

/* The names that a core file of process `pid` may have, as a pattern for glob(), from /proc/sys/kernel/core_pattern; false: there is no
 * file, a program gets the core.  folder: where the rank was started. */
bool crash_core_glob(const char *pattern, bool uses_pid, const char *folder, int pid, char *out, size_t cap);
#endif
