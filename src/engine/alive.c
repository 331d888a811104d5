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
    bool is_never; /* it has not answered at all */
};
static struct {
    struct watched *hosts;
    int n;
    double patience;
    bool from_start;
    _Atomic(const struct watched *) silent;
    _Atomic(const char *) unreached;
} w;

static void look_up(struct watched *h)
{
    struct addrinfo *list = NULL, hints = {.ai_socktype = SOCK_STREAM};
    if (getaddrinfo(h->name, NULL, &hints, &list) != 0) return;
    boot_ask_begin(&h->ask, list->ai_addr, list->ai_addrlen);
    h->ask.from_start = true;
    h->is_known = true;
    freeaddrinfo(list);
}

/* A host that is silent from the start ends the job only where the engine goes the same way as our probes. */
static void is_silent(struct watched *h)
{
    static bool is_said;
    if (h->ask.ever || w.from_start) {
        if (atomic_load(&w.silent)) return;
        h->is_never = !h->ask.ever;
        atomic_store(&w.silent, h);
    } else if (!is_said) {
        atomic_store(&w.unreached, h->name);
        is_said = true;
    }
}

static void *watch_hosts(void *none)
{
    double pause = w.patience / 4;
    if (pause < 0.001 * w.n) pause = 0.001 * w.n; /* at most a thousand questions a second */
    for (int i = 0; i < w.n; i++) look_up(&w.hosts[i]);
    for (;;) {
        for (int i = 0; i < w.n; i++)
            if (w.hosts[i].is_known && boot_ask_step(&w.hosts[i].ask, pause) > w.patience) is_silent(&w.hosts[i]);
        nanosleep(&(struct timespec){0, 200000000}, NULL);
    }
    return none;
}

bool engine_alive_start(const struct hosts *hosts, double patience, bool from_start)
{
    assert(hosts->n >= 0);
    pthread_t thread;
    w.hosts = gw_xcalloc((size_t)hosts->n + 1, sizeof *w.hosts);
    w.patience = patience;
    w.from_start = from_start;
    for (int i = 0; i < hosts->n; i++)
        if (!hosts_is_local(hosts->at[i].name)) w.hosts[w.n++] = (struct watched){.name = gw_xasprintf("%s", hosts->at[i].name)};
    return patience > 0 && w.n && pthread_create(&thread, NULL, watch_hosts, NULL) == 0;
}

const char *engine_alive_silent(bool *never_out)
{
    const struct watched *h = atomic_load(&w.silent);
    *never_out = h && h->is_never;
    return h ? h->name : NULL;
}

const char *engine_alive_unreached(void) { return atomic_exchange(&w.unreached, NULL); }
