/* elsewhere.h -- a spawned job's other hosts.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SPAWNED_ELSEWHERE_H
#define GW_SPAWNED_ELSEWHERE_H

#include "job/hosts.h"
#include "job/job.h"

#define ELSEWHERE_FREE "GODWIT_FREE_SLOTS"
void elsewhere_list(struct job *j, int app, const char *list); /* the info keys host and hostfile of a program */
void elsewhere_file(struct job *j, int app, const char *path);
/* Is an engine to start it (j->elsewhere, and j->o.hosts with the ranks of each)?  parent: where it finds those who spawn it; is_reached:
 * also from other hosts. */
void elsewhere_choose(struct job *j, const char *parent, bool is_reached);
void elsewhere_stay(struct job *j); /* nobody can start it there: on this host */
void elsewhere_environment(void);   /* what another engine has told us by variables is not for the one that is started now */
void elsewhere_tell(const struct hosts *h,
                    const int *counts); /* an engine starts so many on each: what is free, for their children */
void elsewhere_free(void);

#endif
