/* child.h -- processes that are ours: their pids, their ends, what they leave behind.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_JOB_CHILD_H
#define GW_JOB_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* RULE: a pid is our child's until it is reaped, and may be anybody's from then on.  So mpiexec looks first at who has ended
 * (child_ended leaves it there, as a zombie), kills what it left behind, forgets its pid wherever it is noted, and reaps it last.
 * Only pids that are noted, and so are not reaped, are signalled; a group by its leader's pid under the same condition. */
pid_t child_ended(pid_t pid,
                  int *status_out);        /* that one (-1: any): its pid, and how, as of waitpid; 0: not yet; -1: there is none */
enum { CHILD_STOPPED = -2 };               /* a traced one (crash.c) has stopped, and is to be looked at before the others */
void child_reap(pid_t pid);                /* waits for it if it has not ended */
void child_kill(pid_t pid, int sig);       /* of a child that is not reaped; 0: nobody */
void child_group_kill(pid_t pid, int sig); /* and what it started */
/* For who is not the parent (the keeper): the group that this process leads or led, known by when it started (process_start() then). */
void stranger_group_kill(pid_t pid, uint64_t start, int sig);
uint64_t process_start(pid_t pid); /* in the kernel's ticks; 0: it is gone, or nobody says */
pid_t process_parent(pid_t pid);   /* 0: it is gone, or nobody says */
/* This process has started it, or one that this one has started has: whose parent ends stays so (orphans_adopt()).  For pids that others
 * wrote, as ranks do in the segment. */
bool process_is_ours(pid_t pid);
bool child_wait(pid_t pid, uint64_t until_ns); /* until it has ended, and is to be reaped; false: it has not, at that time */

/* orphans.c: what ranks have started and left behind becomes our child. */
void orphans_adopt(void); /* from now on */
/* Ends and reaps all children that are left: SIGTERM, and SIGKILL after a second (at_once: now).  No pid may be noted any more, and the
 * keeper must have been stopped.  Takes 2 s at most. */
void orphans_end(bool at_once);

#endif
