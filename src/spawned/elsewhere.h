/* elsewhere.h -- spawned jobs on other hosts.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SPAWNED_ELSEWHERE_H
#define GW_SPAWNED_ELSEWHERE_H

#include "job/hosts.h"
#include "job/job.h"

void elsewhere_list(struct job *j, int app, const char *list); /* the info keys host and hostfile of a program */
void elsewhere_file(struct job *j, int app, const char *path);
/* Decides whether a process manager must start the job: then sets j->elsewhere, and j->o.hosts with the ranks of each.  parent: address of the
 * parent job; is_reached: other hosts can reach it. */
void elsewhere_choose(struct job *j, const char *parent, bool is_reached);
void elsewhere_stay(struct job *j); /* no process manager can start the job: it runs on this host */
/* removes variables of the process manager that has started this mpiexec, before another is run */
void elsewhere_environment(void);
/* `counts` ranks start on each host: publishes the slots left, for jobs that they spawn */
void elsewhere_publish(const struct hosts *h, const int *counts);
void elsewhere_free(void);

#endif
