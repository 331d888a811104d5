/* orphans.c -- what ranks have started and left behind: processes in the background, daemons.
 *
 * mpiexec is the subreaper of all processes that it starts (prctl(2)): a process whose parent ends becomes its child, also after several
 * forks or in another session.  So no process of a job outlives mpiexec, and all are reaped even if process 1 does not reap.  If mpiexec
 * is killed by SIGKILL, such processes stay: its keeper knows only the process groups of the ranks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "job/child.h"
#include "base/base.h"
#include "base/time.h"
#include "job/words.h"

void child_orphans_adopt(void) { prctl(PR_SET_CHILD_SUBREAPER, 1); }

pid_t child_orphan(char name_out[16])
{
    pid_t found = 0;
    DIR *d = opendir("/proc");
    for (struct dirent *e; !found && d && (e = readdir(d));) {
        int pid = atoi(e->d_name);
        if (pid > 0 && child_parent_of(pid) == getpid() && child_runs(pid)) found = pid;
    }
    if (d) closedir(d);
    if (found) child_name(found, name_out);
    return found;
}

/* Sends SIGTERM once to each child, or SIGKILL to all.  Their pids stay valid, because only this process reaps them. */
static void children_tell(struct words *told, int sig)
{
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] <= '0' || e->d_name[0] > '9' || child_parent_of(atoi(e->d_name)) != getpid()) continue;
        bool is_told = false;
        for (int i = 0; i < told->n && sig != SIGKILL; i++) is_told = is_told || strcmp(told->at[i], e->d_name) == 0;
        if (is_told) continue;
        child_kill(atoi(e->d_name), sig);
        if (sig != SIGKILL) child_kill(atoi(e->d_name), SIGCONT); /* a stopped process cannot die of a signal that it handles */
        if (sig != SIGKILL) words_add(told, e->d_name);
    }
    if (d) closedir(d);
}

void child_orphans_end(bool at_once)
{
    enum { GRACE_MS = 1000, PAUSE_MOST_US = 20000 };
    struct words told = {0};
    pid_t pid;
    int status;
    uint64_t begin = gw_now_ns();
    for (useconds_t pause = 500;; pause = 2 * pause < PAUSE_MOST_US ? 2 * pause : PAUSE_MOST_US) {
        while ((pid = child_ended(-1, &status)) > 0) child_reap(pid); /* their own children become ours */
        uint64_t ms = (gw_now_ns() - begin) / 1000000;
        if ((pid < 0 && errno == ECHILD) || ms > 2 * GRACE_MS)
            break; /* no children are left, or some cannot be killed: processes of other users, or that wait for a disk */
        children_tell(&told, at_once || ms > GRACE_MS ? SIGKILL : SIGTERM);
        usleep(pause);
    }
    words_free(&told);
}
