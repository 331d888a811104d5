/* terminal.c -- who wants to hear the terminal: what is typed there belongs to the ranks only while one of them waits for it (doc/adr/0029).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "launch/launch.h"

enum { DEPTH = 32 }; /* of processes that start processes; a loop of pids that are used again cannot keep mpiexec busy */

static bool tree_waits(const struct job *j, pid_t pid, int depth);

static bool any_waits(const struct job *j, pid_t pid)
{
    struct stat st;
    for (int i = 0; i < j->n; i++)
        if (j->ranks[i].in_fd >= 0 && fstat(j->ranks[i].in_fd, &st) == 0 && gw_waits_to_read(pid, st.st_ino)) return true;
    return false;
}

static bool children_wait(const struct job *j, pid_t pid, int depth)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    bool waits = !d && pid == getpid(); /* without /proc nobody can tell */
    for (const struct dirent *e; d && !waits && (e = readdir(d));) {
        int child;
        if (e->d_name[0] == '.') continue;
        char file[sizeof path + sizeof e->d_name + 16];
        snprintf(file, sizeof file, "%s/%s/children", path, e->d_name);
        FILE *f = fopen(file, "re");
        if (!f && pid == getpid()) waits = true; /* a kernel without it */
        while (f && !waits && fscanf(f, "%d", &child) == 1) waits = tree_waits(j, child, depth - 1);
        if (f) fclose(f);
    }
    if (d) closedir(d);
    return waits;
}

static bool tree_waits(const struct job *j, pid_t pid, int depth)
{
    return pid != j->keeper && (any_waits(j, pid) || (depth > 0 && children_wait(j, pid, depth)));
}

bool launch_terminal_is_wanted(const struct job *j)
{
    if (tcgetpgrp(STDIN_FILENO) != getpgrp()) return false; /* mpiexec is in the background: reading would stop it */
    return children_wait(j, getpid(), DEPTH);
}
