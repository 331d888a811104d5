/* alive.c -- detects that a host of a job that an engine runs is gone (struct boot_ask).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/engine.h"
#include "base/base.h"
#include "boot/alive.h"
#include "job/hosts.h"

struct watched {
    const char *name; /* a copy, because the thread still runs while mpiexec frees the options */
    struct boot_ask ask;
    bool is_known; /* the name has an address on this host */
};
static struct {
    struct watched *hosts;
    int n;
    double patience;
    _Atomic(const char *) silent;
} w;

static void look_up(struct watched *h)
{
    struct addrinfo *list = NULL, hints = {.ai_socktype = SOCK_STREAM};
    if (getaddrinfo(h->name, NULL, &hints, &list) != 0) return;
    boot_ask_begin(&h->ask, list->ai_addr, list->ai_addrlen);
    h->ask.from_start = true; /* an engine that cannot reach it may wait for ever */
    h->is_known = true;
    freeaddrinfo(list);
}

static void *watch_hosts(void *none)
{
    double pause = w.patience / 4;
    if (pause < 0.001 * w.n) pause = 0.001 * w.n; /* at most a thousand questions a second */
    for (int i = 0; i < w.n; i++) look_up(&w.hosts[i]);
    for (;;) {
        for (int i = 0; i < w.n; i++)
            if (w.hosts[i].is_known && boot_ask_step(&w.hosts[i].ask, pause) > w.patience + pause)
                atomic_store(&w.silent, w.hosts[i].name);
        nanosleep(&(struct timespec){0, 200000000}, NULL);
    }
    return none;
}

bool engine_alive_start(const struct hosts *hosts, double patience)
{
    assert(hosts->n >= 0);
    pthread_t thread;
    w.hosts = gw_xcalloc((size_t)hosts->n + 1, sizeof *w.hosts);
    w.patience = patience;
    for (int i = 0; i < hosts->n; i++)
        if (!hosts_is_local(hosts->at[i].name)) w.hosts[w.n++] = (struct watched){.name = gw_xasprintf("%s", hosts->at[i].name)};
    return patience > 0 && w.n && pthread_create(&thread, NULL, watch_hosts, NULL) == 0;
}

const char *engine_alive_silent(void) { return atomic_load(&w.silent); }
