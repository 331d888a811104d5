/* alive.c -- whether the hosts of a job that an engine runs are still there.
 *
 * Engines see processes end; most do not see a host that loses power or its cable, and the ranks elsewhere wait for it.  So hosts
 * are asked again and again for a connection to a port where nobody listens: a refusal is an answer.  Who never answered (a
 * firewall may be silent) is not watched.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "launch/engine.h"

enum { TICK_MS = 200, GIVE_UP_MS = 2500 };
struct watched {
    const char *name; /* our own: the thread lives on while mpiexec puts everything away */
    struct sockaddr_storage at;
    socklen_t len;       /* 0: its name is not known here */
    bool ever;           /* it has answered once */
    double asked, heard; /* seconds */
};
static struct {
    struct watched *hosts;
    struct pollfd *asks;
    int n;
    double patience;
    _Atomic(const char *) silent;
} w;

static void look_up(struct watched *h)
{
    struct addrinfo *list = NULL, hints = {.ai_socktype = SOCK_STREAM};
    if (getaddrinfo(h->name, "9", &hints, &list) != 0) return; /* port 9: discard, which nobody serves any more */
    memcpy(&h->at, list->ai_addr, list->ai_addrlen);
    h->len = list->ai_addrlen;
    freeaddrinfo(list);
}

static void answered(struct watched *h, int err)
{
    if (err != 0 && err != ECONNREFUSED && err != ECONNRESET) return;
    h->heard = gw_wtime();
    h->ever = true;
}

static void ask(struct watched *h, struct pollfd *p)
{
    h->asked = gw_wtime();
    p->fd = socket(h->at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    p->events = POLLOUT;
    if (p->fd < 0) return;
    if (connect(p->fd, (struct sockaddr *)&h->at, h->len) < 0 && errno == EINPROGRESS) return;
    answered(h, errno);
    close(p->fd);
    p->fd = -1;
}

static void look(struct watched *h, struct pollfd *p)
{
    int err = 0;
    socklen_t len = sizeof err;
    if (p->revents)
        answered(h, getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0 ? errno : err);
    else if (gw_wtime() - h->asked < GIVE_UP_MS * 1e-3)
        return;
    close(p->fd);
    p->fd = -1;
}

static void *watch_hosts(void *none)
{
    double pause = w.patience / 4, before = gw_wtime();
    if (pause < 0.001 * w.n) pause = 0.001 * w.n; /* at most a thousand questions a second */
    for (int i = 0; i < w.n; i++) look_up(&w.hosts[i]);
    for (;;) {
        poll(w.asks, (nfds_t)w.n, TICK_MS);
        double t = gw_wtime(), lost = t - before > 2 ? t - before : 0; /* we have been stopped: that is not their silence */
        before = t;
        for (int i = 0; i < w.n; i++) {
            struct watched *h = &w.hosts[i];
            h->heard += lost;
            if (w.asks[i].fd >= 0) look(h, &w.asks[i]);
            if (w.asks[i].fd < 0 && h->len && t - h->asked >= pause) ask(h, &w.asks[i]);
            if (h->ever && t - h->heard > w.patience + pause) atomic_store(&w.silent, h->name);
        }
        struct timespec rest = {0, TICK_MS * 1000000L}; /* poll() returns at once while somebody answers */
        nanosleep(&rest, NULL);
    }
    return none;
}

bool alive_start(const struct hosts *hosts, double patience)
{
    pthread_t thread;
    w.hosts = gw_xcalloc((size_t)hosts->n + 1, sizeof *w.hosts);
    w.asks = gw_xcalloc((size_t)hosts->n + 1, sizeof *w.asks);
    w.patience = patience;
    for (int i = 0; i < hosts->n; i++) {
        if (host_is_here(hosts->at[i].name)) continue;
        w.hosts[w.n] = (struct watched){.name = gw_xasprintf("%s", hosts->at[i].name), .asked = -1e9};
        w.asks[w.n++].fd = -1;
    }
    return patience > 0 && w.n && pthread_create(&thread, NULL, watch_hosts, NULL) == 0;
}

const char *alive_silent(void)
{
    return atomic_load(&w.silent);
}
