/* boot_connected.c -- jobs on other hosts with which this one is connected fail together with it (MPI 4.1 section 11.10.4).
 *
 * The roots of two jobs that met keep the socket over which they did: who showed the port's secret holds its other end, and nobody
 * else can write to it.  It ends when its process does, however that went; who lets go says so before.  A job that fails takes its
 * roots along, so each of them is enough.  On one host mpiexec tells (spawned/connected.c).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/lock.h"
#include "base/plain.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/alive.h"
#include "boot/port.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct connected {
    int fd;
    uint64_t uid;
    char name[BOOT_TIED_NAME];
};
static struct {
    struct connected *at;
    int n;
    struct gw_lock lock;      /* guards `at` and `n` */
    _Atomic uint64_t next_ns; /* when boot_connected_look() looks again */
} all;
_Atomic int boot_connected_n;
static const char parted = 'B';

void boot_connected_name(char out[BOOT_TIED_NAME])
{
    memset(out, 0, BOOT_TIED_NAME);
    snprintf(out, BOOT_TIED_NAME, "%.48s (%d rank%s; rank %d is process %d on %.48s)", program_invocation_short_name, gw_boot.size,
             gw_boot.size == 1 ? "" : "s", gw_boot.rank, (int)getpid(), gw_boot.host);
}

/* A host that is gone does not close its connections.  So TCP probes it, with the patience of host_timeout (as in net/alive.c). */
static void watch_host(int fd)
{
    int seconds = (int)boot_host_patience(), one = 1, count = seconds > 2 ? seconds - 1 : 1;
    unsigned ms = (unsigned)seconds * 1000;
    if (gw_set.host_timeout <= 0) return;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one); /* a unix socket refuses the options and does not need them */
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}

void boot_connected_add(int fd, uint64_t uid, const char name[BOOT_TIED_NAME])
{
    assert(fd >= 0);
    struct connected t = {.fd = fd, .uid = uid};
    for (int i = 0; i < BOOT_TIED_NAME - 1 && name[i]; i++) t.name[i] = name[i] >= ' ' && name[i] < 0x7f ? name[i] : '?';
    watch_host(fd);
    gw_lock(&all.lock);
    all.at = gw_xrealloc(all.at, sizeof *all.at * (size_t)(all.n + 1));
    all.at[all.n++] = t;
    atomic_store_explicit(&boot_connected_n, all.n, memory_order_relaxed);
    gw_unlock(&all.lock);
}

/* The lock is held. */
static void drop(int i)
{
    assert(i >= 0 && i < all.n);
    close(all.at[i].fd);
    all.at[i] = all.at[--all.n];
    atomic_store_explicit(&boot_connected_n, all.n, memory_order_relaxed);
    if (all.n) return;
    free(all.at);
    all.at = NULL;
}

bool boot_connected_at(int i, uint64_t *uid_out)
{
    gw_lock(&all.lock);
    bool is_there = i < all.n;
    if (is_there) *uid_out = all.at[i].uid;
    gw_unlock(&all.lock);
    return is_there;
}

void boot_connected_part(uint64_t uid)
{
    gw_lock(&all.lock);
    for (int i = all.n; i-- > 0;) {
        if (uid && all.at[i].uid != uid) continue;
        boot_port_write(all.at[i].fd, &parted, 1); /* never blocks: nothing else was written since the jobs met */
        drop(i);
    }
    gw_unlock(&all.lock);
}

static GW_COLD void end_job(const char *name, int why)
{
    char text[320];
    snprintf(text, sizeof text, "the job %s, with which this one is connected, %s; this job ends now", name,
             why == ECONNRESET ? "has failed" : "cannot be reached any more");
    gw_print(stderr, "godwit: rank %d (%s): %s\n", gw_boot.rank, gw_boot.host, text);
    boot_abort(1, text);
}

void boot_connected_look(void)
{
    static const uint64_t every_ns = 200000000;
    uint64_t now = gw_now_ns(), due = atomic_load_explicit(&all.next_ns, memory_order_relaxed);
    if (now < due ||
        !atomic_compare_exchange_strong_explicit(&all.next_ns, &due, now + every_ns, memory_order_relaxed, memory_order_relaxed))
        return;
    char word, name[BOOT_TIED_NAME] = "";
    int why = 0;
    gw_lock(&all.lock);
    for (int i = all.n; i-- > 0 && !why;) {
        int64_t n = boot_port_read(all.at[i].fd, &word, 1);
        if (n < 0) why = errno;
        if (n < 0) memcpy(name, all.at[i].name, sizeof name);
        if (n > 0 && word == parted) drop(i);
    }
    gw_unlock(&all.lock);
    if (why) end_job(name, why);
}
