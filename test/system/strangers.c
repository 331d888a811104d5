/* strangers.c -- what another user of the machine tries: helper of strangers.sh.
 *
 *   strangers sockets PID          names of the abstract sockets that process PID holds, one a line, without the leading zero
 *   strangers ask NAME FILE        asks at the control port NAME for a program that writes FILE; exit 0: it was heard to the end
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static socklen_t address_of(const char *name, struct sockaddr_un *a)
{
    memset(a, 0, sizeof *a);
    a->sun_family = AF_UNIX;
    size_t n = strnlen(name, sizeof a->sun_path - 1);
    memcpy(a->sun_path + 1, name, n);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

static int connect_to(const char *name)
{
    struct sockaddr_un a;
    socklen_t len = address_of(name, &a);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    if (s < 0 || connect(s, (struct sockaddr *)&a, len) != 0) {
        fprintf(stderr, "no connection to %s: %s\n", name, strerror(errno));
        exit(3);
    }
    return s;
}

/* ---- sockets ---- */
static int holds(const char *pid, unsigned long inode)
{
    char folder[64], path[512], to[64], want[64];
    int found = 0;
    snprintf(folder, sizeof folder, "/proc/%s/fd", pid);
    snprintf(want, sizeof want, "socket:[%lu]", inode);
    DIR *d = opendir(folder);
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        ssize_t n = readlink(path, to, sizeof to - 1);
        to[n > 0 ? n : 0] = 0;
        found = strcmp(to, want) == 0;
    }
    if (d) closedir(d);
    return found;
}

static int sockets(const char *pid)
{
    char line[512], name[256];
    unsigned long inode;
    FILE *f = fopen("/proc/net/unix", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%*s %*s %*s %*s %*s %*s %lu @%255s", &inode, name) == 2 && holds(pid, inode)) puts(name);
    if (f) fclose(f);
    return 0;
}

/* ---- the control port ---- */
static int ask(const char *name, const char *file)
{
    char request[1024], script[512], answer[256];
    snprintf(script, sizeof script, "id -u > %s", file);
    int n = snprintf(request, sizeof request, "program%c/bin/sh%cn%c1%carg%c-c%carg%c%s%c", 0, 0, 0, 0, 0, 0, 0, script, 0);
    request[n] = 0; /* the empty word */
    int s = connect_to(name);
    struct pollfd p = {s, POLLIN, 0};
    if (send(s, request, (size_t)n + 1, MSG_NOSIGNAL) < 0) return 1;
    return poll(&p, 1, 10000) == 1 && read(s, answer, sizeof answer) > 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "sockets") == 0) return sockets(argv[2]);
    if (argc == 4 && strcmp(argv[1], "ask") == 0) return ask(argv[2], argv[3]);
    fprintf(stderr, "strangers: see its first lines\n");
    return 2;
}
