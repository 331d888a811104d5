/* job.c -- see job.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "job/job.h"
#include "job/hosts.h"

#include <signal.h>

#include "job/child.h"

char *job_preload(const struct launch_options *o, const char *also)
{
    assert(o->preload);
    size_t n = strlen(o->preload);
    if (!also || !*also) return gw_xasprintf("LD_PRELOAD=%s", o->preload);
    bool is_there = strncmp(also, o->preload, n) == 0 && (also[n] == ':' || also[n] == ' ' || !also[n]);
    return is_there ? gw_xasprintf("LD_PRELOAD=%s", also) : gw_xasprintf("LD_PRELOAD=%s:%s", o->preload, also);
}

int job_universe(const struct job *j)
{
    assert(j->n >= 0 && j->o.usize >= 0);
    const struct launch_options *o = &j->o;
    int n = o->usize                               ? o->usize
        : o->hosts.n && hosts_say_slots(&o->hosts) ? hosts_slots(&o->hosts, 0)
                                                   : boot_universe(j->n, j->bind.n_cores);
    return j->n > n ? j->n : n;
}

void job_end_rank(struct job *j, int rank)
{
    assert(rank >= 0 && rank < j->n);
    j->ranks[rank].is_ended = true;
    child_group_kill(j->ranks[rank].pid, SIGKILL);
}
