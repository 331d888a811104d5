/* terminal.c -- who wants to hear the terminal: what is typed there belongs to the ranks only while one of them waits for it (doc/adr/0029).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "launch/launch.h"

enum { DEPTH = 32 }; /* of processes that start processes; a loop of pids that are used again cannot keep mpiexec busy */

/* What is looked for. */
struct search {
    const struct job *j;
    uint64_t *pipes; /* to the ranks */
    int n;
};

static bool tree_waits(const struct search *s, pid_t pid, int depth);

/* A rank that gets nothing from us, and so does all that it has started. */
static bool is_deaf(const struct job *j, pid_t pid)
{
    for (int i = 0; i < j->n; i++)
        if (j->ranks[i].pid == pid) return j->ranks[i].in_fd < 0;
    return false;
}

static bool children_wait(const struct search *s, pid_t pid, int depth)
{
    char path[64];
    bool is_own = pid == getpid();
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    bool waits = !d && is_own; /* without /proc nobody can tell */
    for (const struct dirent *e; d && !waits && (e = readdir(d));) {
        int child;
        if (e->d_name[0] == '.') continue;
        char file[sizeof path + sizeof e->d_name + 16];
        snprintf(file, sizeof file, "%s/%s/children", path, e->d_name);
        FILE *f = fopen(file, "re");
        if (!f && is_own) waits = true; /* a kernel without it */
        while (f && !waits && fscanf(f, "%d", &child) == 1)
            waits = !(is_own && is_deaf(s->j, child)) && tree_waits(s, child, depth - 1);
        if (f) fclose(f);
    }
    if (d) closedir(d);
    return waits;
}

static bool tree_waits(const struct search *s, pid_t pid, int depth)
{
    return pid != s->j->keeper && (gw_waits_to_read(pid, s->pipes, s->n) || (depth > 0 && children_wait(s, pid, depth)));
}

bool launch_terminal_is_wanted(const struct job *j)
{
    struct stat st;
    if (tcgetpgrp(STDIN_FILENO) != getpgrp()) return false; /* mpiexec is in the background: reading would stop it */
    struct search s = {j, gw_xcalloc((size_t)j->n + 1, sizeof *s.pipes), 0};
    for (int i = 0; i < j->n; i++)
        if (j->ranks[i].in_fd >= 0 && fstat(j->ranks[i].in_fd, &st) == 0) s.pipes[s.n++] = st.st_ino;
    bool waits = s.n && children_wait(&s, getpid(), DEPTH);
    free(s.pipes);
    return waits;
}
