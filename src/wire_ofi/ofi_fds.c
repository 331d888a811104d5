/* ofi_fds.c -- see ofi_fds.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "wire_ofi/ofi_fds.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void each_open(void (*visit)(int fd, void *ctx), void *ctx)
{
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d && (e = readdir(d));) {
        int fd = e->d_name[0] == '.' ? -1 : atoi(e->d_name);
        if (fd > 2 && fd != dirfd(d)) visit(fd, ctx);
    }
    if (d) closedir(d);
}

static void mark(int fd)
{
    int flags = fcntl(fd, F_GETFD);
    if (flags >= 0 && !(flags & FD_CLOEXEC)) fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

static void note(int fd, void *ctx)
{
    struct ofi_fds *all = ctx;
    if (fd < OFI_FDS_MOST) all->open[fd / 64] |= UINT64_C(1) << fd % 64;
}

void ofi_fds_note(struct ofi_fds *out)
{
    *out = (struct ofi_fds){0};
    each_open(note, out);
}

static void mark_if_new(int fd, void *ctx)
{
    const struct ofi_fds *before = ctx;
    char path[40], to[32] = "";
    if (fd >= OFI_FDS_MOST || before->open[fd / 64] >> fd % 64 & 1) return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (readlink(path, to, sizeof to - 1) <= 0) return;
    if (strncmp(to, "socket:", 7) == 0 || strncmp(to, "anon_inode:", 11) == 0) mark(fd);
}

void ofi_fds_mark_new(const struct ofi_fds *before) { each_open(mark_if_new, (void *)(uintptr_t)before); }

bool ofi_address_is(const struct sockaddr *a, const struct sockaddr *b)
{
    const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
    const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;
    if (a->sa_family != b->sa_family) return false;
    if (a->sa_family == AF_INET) return a4->sin_port == b4->sin_port && a4->sin_addr.s_addr == b4->sin_addr.s_addr;
    return a->sa_family == AF_INET6 && a6->sin6_port == b6->sin6_port &&
        memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof a6->sin6_addr) == 0;
}

struct listener {
    const struct sockaddr *own;
    int fd;
};

static void take_if_listener(int fd, void *ctx)
{
    struct listener *l = ctx;
    struct sockaddr_storage here, there;
    socklen_t here_bytes = sizeof here, there_bytes = sizeof there, type_bytes = sizeof(int);
    int type = 0;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_bytes) != 0 || type != SOCK_STREAM) return;
    if (getsockname(fd, (struct sockaddr *)&here, &here_bytes) != 0 || !ofi_address_is((struct sockaddr *)&here, l->own)) return;
    if (getpeername(fd, (struct sockaddr *)&there, &there_bytes) != 0) l->fd = fd;
}

int ofi_fds_listener(const struct sockaddr *own)
{
    struct listener l = {own, -1};
    each_open(take_if_listener, &l);
    return l.fd;
}

struct connections {
    const struct sockaddr *own;
    bool (*is_peer)(const void *ctx, const struct sockaddr *to);
    const void *ctx;
};

static void mark_if_connected(int fd, void *ctx)
{
    const struct connections *c = ctx;
    struct sockaddr_storage here, there;
    socklen_t here_bytes = sizeof here, there_bytes = sizeof there;
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0 || flags & FD_CLOEXEC || getpeername(fd, (struct sockaddr *)&there, &there_bytes) != 0) return;
    if (getsockname(fd, (struct sockaddr *)&here, &here_bytes) != 0) return;
    bool has_come = ofi_address_is((struct sockaddr *)&here, c->own);
    if (has_come)
        (void)setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &(int){0}, sizeof(int)); /* its peer was checked when it connected */
    if (has_come || (c->is_peer && c->is_peer(c->ctx, (struct sockaddr *)&there))) mark(fd);
}

void ofi_fds_mark_connections(const struct sockaddr *own, bool (*is_peer)(const void *ctx, const struct sockaddr *to),
                              const void *ctx)
{
    struct connections c = {own, is_peer, ctx};
    each_open(mark_if_connected, &c);
}
