/* child.h -- child processes: waiting, signalling, and processes that they leave behind.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_JOB_CHILD_H
#define GW_JOB_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* RULE: a pid belongs to a child until it is reaped; after that it may be reused for any process.  So mpiexec first finds out which child has
 * ended (child_ended() leaves it a zombie), kills what it has left behind, removes its pid from all records, and reaps it last.  Only recorded
 * pids are signalled, process groups by the pid of their leader. */
pid_t child_ended(pid_t pid,
                  int *status_out); /* that one (-1: any): its pid, and how, as of waitpid; 0: not yet; -1: there is none */
enum { CHILD_STOPPED = -2 };        /* a traced child (crash.c) has stopped and must be examined first */
void child_reap(pid_t pid);         /* waits for it if it has not ended */
/* Of a child that a signal has ended, and that is not reaped: how many seconds of CPU time it was allowed, if it may have been ended for them
 * (SIGXCPU, or SIGKILL after about that time), and how many it used; 0: it was not. */
int64_t child_cpu_limit(pid_t pid, int sig, double *used_out);
void child_kill(pid_t pid, int sig);       /* of a child that is not reaped; 0: nobody */
void child_group_kill(pid_t pid, int sig); /* and what it started */
/* For a process that is not the parent (the keeper): signals the group of a leader, which is identified by its child_start_time(). */
void child_stranger_group_kill(pid_t pid, uint64_t start, int sig);
uint64_t child_start_time(pid_t pid);          /* start time in the kernel's ticks; 0: it is gone, or unknown */
pid_t child_parent_of(pid_t pid);              /* 0: it is gone, or unknown */
bool child_runs(pid_t pid);                    /* it is there, and no zombie */
void child_name(pid_t pid, char name_out[16]); /* of its program, as the kernel keeps it; "?": unknown */
/* Is the process a descendant of this one?  (It stays one when its parent ends: child_orphans_adopt().)  For pids that ranks have written, which may
 * be wrong. */
bool child_is_ours(pid_t pid);
/* In a child between fork() and exec: no signal is blocked, SIGPIPE is not ignored.  mpiexec blocks the signals that it reads from a descriptor; a
 * debugger that inherits this misses the ends and stops of what it traces. */
void child_signals_reset(void);
/* A write of mpiexec beyond the limit of file sizes (ulimit -f) fails, and is reported, in place of the signal that would end mpiexec.  Programs
 * that it starts get the signal back. */
void child_size_signal_ignore(void);
void child_size_signal_reset(void);            /* before exec, where child_signals_reset() is not called, which does it, too */
bool child_wait(pid_t pid, uint64_t until_ns); /* waits until it has ended and can be reaped; false: not by that time */

/* The output of a command, both streams, as far as there is room; what it has printed if it is silent for 5 s.  argv ends with NULL. */
void child_output(const char *path, const char *const *argv, char *text_out, size_t cap);

/* orphans.c: this process becomes the subreaper: processes that ranks have started and left behind become its children. */
void child_orphans_adopt(void);
/* One of those that still runs, and its name (16 bytes); 0: there is none.  No pid may be recorded any more, as below. */
pid_t child_orphan(char name_out[16]);
/* Ends and reaps all remaining children: SIGTERM, and SIGKILL after a second (at_once: immediately).  No pid may be recorded any more, and the
 * keeper must have been stopped.  Takes 2 s at most. */
void child_orphans_end(bool at_once);

#endif
