/* pmi_pair.c -- connections that can be made again for who has inherited their far end.
 *
 * MPICH shuts its connection down in MPI_Finalize, for all processes that have it: a program of MPICH that the rank's script runs after
 * that would die of its first request (SIGPIPE).  A socket of TCP can be connected again, by whoever holds it, where one of a socketpair
 * cannot.  So mpiexec keeps the far end, too, and connects it anew; the rank's processes do not notice.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "pmi/pmi_private.h"

/* The connection that came from this socket, not one that somebody else made to the same port; -1: it has not come. */
static int accept_from(int listener, int far)
{
    enum { STRANGERS_MOST = 16 };
    struct sockaddr_in from, is;
    socklen_t bytes = sizeof from;
    if (getsockname(far, (struct sockaddr *)&from, &bytes) < 0) return -1;
    for (int i = 0; i < STRANGERS_MOST; i++) {
        bytes = sizeof is;
        int fd = accept4(listener, (struct sockaddr *)&is, &bytes, SOCK_CLOEXEC);
        if (fd < 0) return -1;
        if (is.sin_port == from.sin_port && is.sin_addr.s_addr == from.sin_addr.s_addr) return fd;
        close(fd);
    }
    return -1;
}

int pmi_pair_connect(int far)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    socklen_t bytes = sizeof at;
    int near = -1, at_once = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener >= 0 && connect(far, &none, sizeof none) == 0 && bind(listener, (struct sockaddr *)&at, sizeof at) == 0 &&
        listen(listener, SOMAXCONN) == 0 && getsockname(listener, (struct sockaddr *)&at, &bytes) == 0 &&
        connect(far, (struct sockaddr *)&at, sizeof at) == 0)
        near = accept_from(listener, far);
    if (listener >= 0) close(listener);
    if (near < 0) return -1;
    setsockopt(near, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    setsockopt(far, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    return near;
}

int pmi_pair_make(int ends[2])
{
    ends[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (ends[1] < 0) return -1;
    ends[0] = pmi_pair_connect(ends[1]);
    if (ends[0] >= 0) return 0;
    close(ends[1]);
    return -1;
}
