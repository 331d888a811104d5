/* reads.c -- does a process wait for what comes by a pipe?  The kernel tells no writer; /proc tells in which system call a thread sleeps, and with
 * what arguments.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os.h"

/* Calls that end when a descriptor has something to read; in SELECT and POLL the descriptors lie in the process's memory. */
enum how { READ_FIRST, READ_SECOND, POLL, SELECT, EPOLL };
static const struct {
    long number;
    enum how how;
} calls[] =
    {
        {SYS_read, READ_FIRST},
        {SYS_readv, READ_FIRST},
        {SYS_splice, READ_FIRST},
        {SYS_tee, READ_FIRST},
        {SYS_sendfile, READ_SECOND},
        {SYS_ppoll, POLL},
        {SYS_pselect6, SELECT},
        {SYS_epoll_pwait, EPOLL},
        {441, EPOLL}, /* epoll_pwait2, which has this number on every processor */
#ifdef SYS_poll
        {SYS_poll, POLL},
#endif
#ifdef SYS_select
        {SYS_select, SELECT},
#endif
#ifdef SYS_epoll_wait
        {SYS_epoll_wait, EPOLL},
#endif
};

struct look {
    pid_t pid;
    const uint64_t *pipes; /* their inodes */
    int n;
    unsigned long long arg[2];
};

static bool is_pipe(const struct look *l, unsigned long long fd)
{
    char path[64], text[64];
    unsigned long long inode;
    bool is = false;
    snprintf(path, sizeof path, "/proc/%d/fd/%llu", (int)l->pid, fd);
    ssize_t n = readlink(path, text, sizeof text - 1);
    if (n < 0) return errno == EACCES || errno == EPERM;
    text[n] = 0;
    if (sscanf(text, "pipe:[%llu]", &inode) != 1) return false;
    for (int i = 0; i < l->n && !is; i++) is = l->pipes[i] == inode;
    return is;
}

/* Copies from the process's memory as far as it can. */
static size_t peek(const struct look *l, unsigned long long at, void *to, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)at, bytes};
    ssize_t n = process_vm_readv(l->pid, &here, 1, &there, 1, 0);
    return n > 0 ? (size_t)n : 0;
}

static bool polls(const struct look *l)
{
    struct pollfd p[256];
    size_t n = l->arg[1] < GW_ARRAY_LEN(p) ? (size_t)l->arg[1] : GW_ARRAY_LEN(p);
    n = peek(l, l->arg[0], p, n * sizeof p[0]) / sizeof p[0];
    for (size_t i = 0; i < n; i++)
        if (p[i].fd >= 0 && (p[i].events & (POLLIN | POLLRDNORM)) && is_pipe(l, (unsigned)p[i].fd)) return true;
    return false;
}

static bool selects(const struct look *l)
{
    fd_set set;
    FD_ZERO(&set);
    size_t n = l->arg[0] < FD_SETSIZE ? (size_t)l->arg[0] : FD_SETSIZE;
    if (!l->arg[1] || !peek(l, l->arg[1], &set, (n + 7) / 8)) return false;
    for (size_t i = 0; i < n; i++)
        if (FD_ISSET(i, &set) && is_pipe(l, i)) return true;
    return false;
}

static bool epolls(const struct look *l)
{
    char path[64], line[256];
    int fd;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%llu", (int)l->pid, l->arg[0]);
    FILE *f = fopen(path, "re");
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f))
        if (sscanf(line, "tfd: %d", &fd) == 1 && fd >= 0) found = is_pipe(l, (unsigned)fd);
    if (f) fclose(f);
    return found;
}

static bool thread_waits(struct look *l, const char *tid)
{
    char text[256];
    long number;
    if (!gw_line_read(text, sizeof text, "/proc/%d/task/%s/syscall", (int)l->pid, tid)) return errno == EACCES || errno == EPERM;
    if (sscanf(text, "%ld %llx %llx", &number, &l->arg[0], &l->arg[1]) != 3) return false; /* it runs, or sleeps elsewhere */
    for (size_t i = 0; i < GW_ARRAY_LEN(calls); i++) {
        if (calls[i].number != number) continue;
        switch (calls[i].how) {
        case READ_FIRST: return is_pipe(l, l->arg[0]);
        case READ_SECOND: return is_pipe(l, l->arg[1]);
        case POLL: return polls(l);
        case SELECT: return selects(l);
        case EPOLL: return epolls(l);
        }
    }
    return false;
}

/* A descriptor that never blocks is looked at now and then, in no call that one could find the process in. */
static bool never_blocks(const struct look *l)
{
    char path[64], line[128];
    unsigned flags = 0;
    if (!is_pipe(l, STDIN_FILENO)) return false;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/0", (int)l->pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "flags: %o", &flags) == 1) break;
    if (f) fclose(f);
    return flags & O_NONBLOCK;
}

bool gw_waits_to_read(pid_t pid, const uint64_t *pipes, int n)
{
    assert(n >= 0);
    struct look l = {.pid = pid, .pipes = pipes, .n = n};
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    bool waits = d ? never_blocks(&l) : errno != ENOENT;
    for (const struct dirent *e; d && !waits && (e = readdir(d));)
        if (e->d_name[0] != '.') waits = thread_waits(&l, e->d_name);
    if (d) closedir(d);
    return waits;
}
