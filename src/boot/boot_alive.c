/* boot_alive.c -- detects that other hosts, the launcher or other ranks are gone: hosts by connecting to a port of their kernels, the
 * launcher by its connection, ranks of this node by their slots.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/os.h"
#include "base/time.h"
#include "boot/alive.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- hosts ---- */
/* The kernel takes 3 s to find that nobody answers on a link: that counts only for a host that has never answered. */
enum { MS = 1000000, GIVE_UP_MS = 1000, GIVE_UP_FIRST_MS = 4000, STOPPED_MS = 2000 };

static bool is_same_host(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a->sa_family != b->sa_family) return false;
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr == ((const struct sockaddr_in *)b)->sin_addr.s_addr;
    return memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr, &((const struct sockaddr_in6 *)b)->sin6_addr,
                  sizeof(struct in6_addr)) == 0;
}

/* ICMP's ways to say that a router's rules forbid these packets.  Of IPv6 that is EACCES. */
static bool is_prohibited(const struct sock_extended_err *e)
{
    enum { UNREACHABLE = 3, NET_PROHIBITED = 9, HOST_PROHIBITED = 10, FILTERED = 13 };
    return e->ee_origin == SO_EE_ORIGIN_ICMP && e->ee_type == UNREACHABLE &&
        (e->ee_code == NET_PROHIBITED || e->ee_code == HOST_PROHIBITED || e->ee_code == FILTERED);
}

/* Who said that there is no way.  The host itself: its firewall refuses so, and it is up.  A router's rules: they are for our
 * probes, and tell nothing of the host. */
static enum { NO_WAY, PROHIBITED, FROM_THERE } no_way_of(const struct boot_ask *a)
{
    union {
        struct cmsghdr header;
        char room[256];
    } control;
    struct msghdr m = {.msg_control = &control, .msg_controllen = sizeof control};
    if (a->fd < 0 || recvmsg(a->fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return NO_WAY;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        bool is_error = (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR) ||
            (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR);
        const struct sock_extended_err *e = (const struct sock_extended_err *)CMSG_DATA(c);
        if (is_error && is_same_host(SO_EE_OFFENDER(e), (const struct sockaddr *)a->at)) return FROM_THERE;
        if (is_error && is_prohibited(e)) return PROHIBITED;
    }
    return NO_WAY;
}

/* A probe is over: err, or 0, is what the kernel says of it. */
static void answered(struct boot_ask *a, int err)
{
    bool is_no_way = err == EHOSTUNREACH || err == ENETUNREACH;
    int who = is_no_way && a->from_start ? no_way_of(a) : NO_WAY;
    if (err == 0 || err == ECONNREFUSED || err == ECONNRESET || who == FROM_THERE) {
        a->unheard_ns = a->failed_ns = a->no_way_ns = 0;
        a->ever = true;
        return;
    }
    a->failed_ns = a->asked_ns;
    if (!is_no_way || who == PROHIBITED)
        a->no_way_ns = 0;
    else if (!a->no_way_ns)
        a->no_way_ns = gw_now_ns();
}

static void ask(struct boot_ask *a)
{
    assert(a->fd < 0);
    a->asked_ns = gw_now_ns();
    if (!a->unheard_ns) a->unheard_ns = a->asked_ns;
    struct sockaddr *at = (struct sockaddr *)a->at;
    a->fd = socket(at->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (a->fd < 0) return;
    if (a->from_start && at->sa_family == AF_INET) setsockopt(a->fd, IPPROTO_IP, IP_RECVERR, &(int){1}, sizeof(int));
    if (a->from_start && at->sa_family == AF_INET6) setsockopt(a->fd, IPPROTO_IPV6, IPV6_RECVERR, &(int){1}, sizeof(int));
    if (connect(a->fd, at, a->len) < 0 && errno == EINPROGRESS) return;
    answered(a, errno);
    boot_ask_end(a);
}

static void look(struct boot_ask *a)
{
    int err = 0;
    socklen_t len = sizeof err;
    struct pollfd p = {.fd = a->fd, .events = POLLOUT};
    if (poll(&p, 1, 0) > 0)
        answered(a, getsockopt(a->fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0 ? errno : err);
    else if (gw_now_ns() - a->asked_ns < (uint64_t)(a->from_start && !a->ever ? GIVE_UP_FIRST_MS : GIVE_UP_MS) * MS)
        return;
    else
        answered(a, ETIMEDOUT); /* there is a way again, or nobody tells */
    boot_ask_end(a);
}

void boot_ask_begin(struct boot_ask *a, const struct sockaddr *at, unsigned len)
{
    *a = (struct boot_ask){.len = len, .fd = -1};
    assert(len > 0 && len <= sizeof a->at);
    memcpy(a->at, at, len);
    /* the port of the discard service, which is closed almost everywhere: a refusal shows that the host is up */
    if (at->sa_family == AF_INET) ((struct sockaddr_in *)a->at)->sin_port = htons(9);
    if (at->sa_family == AF_INET6) ((struct sockaddr_in6 *)a->at)->sin6_port = htons(9);
}

void boot_ask_end(struct boot_ask *a)
{
    if (a->fd >= 0) close(a->fd);
    a->fd = -1;
}

double boot_ask_step(struct boot_ask *a, double pause)
{
    assert(pause >= 0);
    uint64_t now = gw_now_ns();
    uint64_t away = a->stepped_ns && now - a->stepped_ns > (uint64_t)STOPPED_MS * MS ? now - a->stepped_ns : 0;
    a->stepped_ns = now;
    if (a->unheard_ns) a->unheard_ns += away;
    if (a->no_way_ns) a->no_way_ns += away;
    if (a->fd >= 0) look(a);
    bool is_quiet = a->ever && a->failed_ns; /* ask in quick succession, so that the end of an interruption is not missed */
    if (a->fd < 0 && (double)(now - a->asked_ns) * 1e-9 >= (is_quiet && pause > 1 ? 1 : pause)) ask(a);
    if (a->ever) return a->failed_ns > a->unheard_ns ? (double)(a->failed_ns - a->unheard_ns) * 1e-9 : 0;
    return a->from_start && a->no_way_ns && now > a->no_way_ns ? (double)(now - a->no_way_ns) * 1e-9 : 0;
}

/* ---- the launcher, and our neighbours ---- */
bool boot_socket_is_lost(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char c;
    if (poll(&p, 1, 0) <= 0) return false;
    if (p.revents & (POLLERR | POLLNVAL)) return true;
    if (!(p.revents & POLLIN)) return (p.revents & POLLHUP) != 0;
    return recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static bool neighbour_aborted(void)
{
    for (int i = 0; i < gw_boot.nlocal; i++)
        if (i != gw_boot.local_rank && atomic_load_explicit(&boot_slot_of(i)->phase, memory_order_acquire) == BOOT_ABORTED)
            return true;
    return false;
}

void boot_launcher_look(void)
{
    const struct boot_backend *way = boot_backend_used();
    if (way && way->is_lost && way->is_lost())
        gw_die("the connection to the launcher is gone: it has ended, or its process on this host has; this rank ends now");
}

void boot_look(void)
{
    static const uint64_t every_ns = 1000000000;
    static _Atomic uint64_t next_ns;
    static _Atomic int aborted; /* looks in a row that found an aborted neighbour, by any thread */
    boot_connected_step();
    uint64_t now = gw_now_ns(), due = atomic_load_explicit(&next_ns, memory_order_relaxed);
    if (now < due ||
        !atomic_compare_exchange_strong_explicit(&next_ns, &due, now + every_ns, memory_order_relaxed, memory_order_relaxed))
        return;
    const struct boot_backend *way = boot_backend_used();
    if (!way || !boot_head_mapped() || way == &boot_backend_godwit)
        return; /* our mpiexec ends its ranks itself, and the kernel ends them with it */
    boot_launcher_look();
    /* The rank that aborted has told the launcher; that gets three looks of time to end the job. */
    if (!neighbour_aborted())
        atomic_store_explicit(&aborted, 0, memory_order_relaxed);
    else if (atomic_fetch_add_explicit(&aborted, 1, memory_order_relaxed) >= 2)
        gw_exit_now(1);
}
