/* bell.c -- sleeping on descriptors and on the doorbell at once.
 *
 * The doorbell of the node is a futex word, and no call waits for one and for descriptors too.  So a process that has to watch
 * descriptors (of a network wire) says in its door under which name a datagram wakes it; who rings sends an empty one besides.  The
 * word alone decides: it has moved before the datagram is sent, and a sleeper compares it before it waits.  The name is seen by everybody:
 * a datagram of a stranger is a wake-up for nothing, and one that finds the socket full of his finds it full of wake-ups.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "node/node_private.h"
#include "base/lock.h"
#include "base/retry.h"
#include "boot/port.h"

/* Descriptors; -1: not open. */
static struct {
    int watch;                /* set before `bell`: epoll, over `bell` and what node_wait_on() names */
    _Atomic int bell;         /* the socket whose datagrams wake this rank; it also sends those that wake others */
    _Atomic uint64_t service; /* the service sleeps: SLEEPS | the value of the word that it has seen; 0 else */
} own = {-1, -1, 0};
#define SLEEPS ((uint64_t)1 << 32)

static socklen_t bell_address(uint64_t name, struct sockaddr_un *a)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "godwit-bell-%016llx", (unsigned long long)name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static int watch_add(int fd)
{
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(own.watch, EPOLL_CTL_ADD, fd, &e);
}

static int bell_open(void)
{
    struct sockaddr_un a;
    uint64_t name = boot_random();
    socklen_t len = bell_address(name, &a);
    int bell = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    own.watch = epoll_create1(EPOLL_CLOEXEC);
    if (bell < 0 || own.watch < 0 || bind(bell, (struct sockaddr *)&a, len) != 0 || watch_add(bell) != 0) {
        int err = errno;
        if (bell >= 0) close(bell);
        if (own.watch >= 0) close(own.watch);
        own.watch = -1;
        return gw_fail(GW_EOTHER, "a descriptor to wait on cannot be made (%s)%s", strerror(err), gw_error_advice(err));
    }
    /* [B1] pairs with the acquire in node_bell_ring(): the socket is there before its name. */
    atomic_store_explicit(&gw_node.doors[gw_node.me].bell, name, memory_order_release);
    atomic_store(&own.bell, bell); /* from here on another thread may sleep on both */
    return GW_OK;
}

int node_wait_on(int fd)
{
    int rc = own.bell < 0 ? bell_open() : GW_OK;
    if (rc != GW_OK) return rc;
    return watch_add(fd) == 0 ? GW_OK
                              : gw_fail(GW_EOTHER, "descriptor %d of the network cannot be waited for: %s", fd, strerror(errno));
}

void node_bell_close(void)
{
    if (gw_node.doors) atomic_store_explicit(&gw_node.doors[gw_node.me].bell, 0, memory_order_relaxed);
    if (own.bell >= 0) close(own.bell);
    if (own.watch >= 0) close(own.watch);
    own.bell = own.watch = -1;
}

/* What cannot be delivered is as good as delivered: the socket is full of what will wake its owner, or gone with him. */
GW_COLD void node_bell_ring(struct node_door *d)
{
    uint64_t name = atomic_load_explicit(&d->bell, memory_order_acquire);
    struct sockaddr_un a;
    if (!name) return;
    socklen_t len = bell_address(name, &a);
    int s = own.bell >= 0 ? own.bell : socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0) return;
    (void)!sendto(s, NULL, 0, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&a, len);
    if (s != own.bell) close(s);
}

/* The datagram that was taken may have been for the service, which sleeps on: another one for it. */
static void service_wake(const _Atomic uint32_t *word)
{
    uint64_t service = atomic_load(&own.service);
    if (service && (uint32_t)service != atomic_load(word)) node_bell_ring(&gw_node.doors[gw_node.me]);
}

bool node_bell_is_used(void) { return own.bell >= 0; }

bool node_bell_wait(const _Atomic uint32_t *word, uint32_t seen, int64_t timeout_ns, bool is_service)
{
    assert(own.bell >= 0 && own.watch >= 0);
    enum { EVENTS = 8, DATAGRAMS = 16, NS_PER_MS = 1000000 };
    struct epoll_event events[EVENTS];
    if (is_service) atomic_store(&own.service, SLEEPS | seen);
    if (atomic_load(word) != seen) {
        if (is_service) atomic_store(&own.service, 0);
        return false;
    }
    /* A datagram wakes one of several threads: the others look again soon. */
    int ms = gw_threads && !is_service ? 1 : (int)((timeout_ns + NS_PER_MS - 1) / NS_PER_MS);
    int n = epoll_wait(own.watch, events, EVENTS, ms);
    bool has_news = n < 0 && errno != EINTR, took = false; /* it says nothing: then who waits looks by itself */
    if (is_service) atomic_store(&own.service, 0);
    for (int i = 0; i < n; i++) {
        has_news = has_news || events[i].data.fd != own.bell;
        /* Not until it is empty: somebody else's process may send without end.  What is left wakes us once more. */
        for (int k = 0; k < DATAGRAMS && events[i].data.fd == own.bell && recv(own.bell, &(char){0}, 1, MSG_DONTWAIT) >= 0; k++)
            took = true;
    }
    if (took && !is_service) service_wake(word);
    return has_news;
}
