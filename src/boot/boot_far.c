/* boot_far.c -- whether a process is on this host, and TCP sockets between hosts.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/hash.h"
#include "base/os.h"
#include "boot/port.h"
#include "boot/world.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Processes are on one host if they can reach each other's abstract sockets (same network namespace) and /proc/PID/fd (same namespaces of
 * processes and of users): the id is a hash of the machine and these.  Without /proc nobody tells them; there the kernel has to let a process
 * take the descriptor that holds our segment; where it does not (is_shut), each world is a host of its own: others meet it by the network. */
static bool is_shut(void)
{
    static _Atomic int known; /* 1: no, 2: yes */
    int is = atomic_load_explicit(&known, memory_order_relaxed);
    if (is) return is == 2;
    is = 1;
    if (!gw_has_proc()) {
        const struct boot_home home = boot_own_home();
        const char *why;
        int fd = boot_file_open(home.pid, home.fd, &why);
        if (fd >= 0) close(fd);
        if (fd < 0 && home.fd >= 0) is = 2;
        if (is == 2)
            GW_EXPLAIN(GW_LOG_BOOT, "no /proc, and the memory of this job is not to be had (%s): other jobs meet it by the network",
                       why);
    }
    atomic_store_explicit(&known, is, memory_order_relaxed);
    return is == 2;
}

uint64_t boot_host_id(void)
{
    if (is_shut()) return gw_hash(GW_HASH_SEED, &(uint64_t){boot_own_home().uid}, sizeof(uint64_t)) | 1;
    static const char *const spaces[] = {"/proc/self/ns/net", "/proc/self/ns/pid", "/proc/self/ns/user"};
    char machine[64] = "";
    gw_line_read(machine, sizeof machine, "/proc/sys/kernel/random/boot_id");
    uint64_t h = gw_hash(gw_hash_text(machine), gw_boot.host, strlen(gw_boot.host));
    for (size_t i = 0; i < GW_ARRAY_LEN(spaces); i++) {
        struct stat st;
        uint64_t number = stat(spaces[i], &st) == 0 ? (uint64_t)st.st_ino : 0;
        h = gw_hash(h, &number, sizeof number);
    }
    return h ? h : 1;
}

static socklen_t bytes_of(const struct sockaddr_storage *at)
{
    return at->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

void boot_address_text(const struct sockaddr_storage *at, char out[BOOT_ADDRESS_TEXT])
{
    const struct sockaddr_in *four = (const void *)at;
    const struct sockaddr_in6 *six = (const void *)at;
    bool is_six = at->ss_family == AF_INET6;
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(at->ss_family, is_six ? (const void *)&six->sin6_addr : &four->sin_addr, text, sizeof text);
    snprintf(out, BOOT_ADDRESS_TEXT, is_six ? "[%s]:%d" : "%s:%d", text, ntohs(is_six ? six->sin6_port : four->sin_port));
}

bool boot_address_parse(const char *text, struct sockaddr_storage *out)
{
    struct sockaddr_storage at = {0};
    struct sockaddr_in *four = (void *)&at;
    struct sockaddr_in6 *six = (void *)&at;
    char host[INET6_ADDRSTRLEN], again[BOOT_ADDRESS_TEXT];
    unsigned port;
    if (sscanf(text, "[%45[0-9a-f:.]]:%5u", host, &port) != 2 && sscanf(text, "%45[0-9.]:%5u", host, &port) != 2) return false;
    if (port == 0 || port > UINT16_MAX) return false;
    if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
    } else {
        if (inet_pton(AF_INET6, host, &six->sin6_addr) != 1) return false;
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)port);
    }
    boot_address_text(&at, again);
    if (strcmp(again, text) != 0) return false;
    *out = at;
    return true;
}

static int closed(int s)
{
    int why = errno;
    if (s >= 0) close(s);
    errno = why;
    return -1;
}

int boot_far_listen(struct sockaddr_storage *at, int backlog)
{
    socklen_t bytes = bytes_of(at);
    int s = socket(at->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0 || bind(s, (struct sockaddr *)at, bytes) != 0 || listen(s, backlog) != 0 ||
        getsockname(s, (struct sockaddr *)at, &bytes) != 0)
        return closed(s);
    return s;
}

int boot_far_connect(const struct sockaddr_storage *at)
{
    int yes = 1, s = socket(at->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0 || (connect(s, (const struct sockaddr *)at, bytes_of(at)) != 0 && errno != EINPROGRESS)) return closed(s);
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    return s;
}

/* ---- those who spawned us ---- */
bool boot_place_parse(const char *text, struct boot_port *port_out, struct sockaddr_storage *far_out)
{
    char name[BOOT_PORT_TEXT];
    struct sockaddr_storage far = {0};
    snprintf(name, sizeof name, "%s", text);
    const char *behind = text + strlen(name);
    if (!boot_port_parse(name, port_out) || (*behind && (*behind != '@' || !boot_address_parse(behind + 1, &far)))) return false;
    if (far_out) *far_out = far;
    return true;
}

/* A connected socket, or -1 if that takes longer than patience_ms. */
static int connect_until(const struct sockaddr_storage *at, int patience_ms)
{
    int err = 0, s = boot_far_connect(at);
    socklen_t bytes = sizeof err;
    struct pollfd p = {.fd = s, .events = POLLOUT};
    if (s < 0) return -1;
    int n;
    while ((n = poll(&p, 1, patience_ms)) < 0 && errno == EINTR) {}
    if (n == 0) err = ETIMEDOUT;
    if (n > 0 && getsockopt(s, SOL_SOCKET, SO_ERROR, &err, &bytes) != 0) err = errno;
    if (n > 0 && !err) return s;
    errno = err ? err : errno;
    return closed(s);
}

int boot_parent_connect(int patience_ms)
{
    const char *text = getenv(BOOT_PARENT);
    struct boot_port port = gw_boot.parent;
    struct sockaddr_storage at = {0};
    int s = boot_port_connect(&port, patience_ms);
    if (s >= 0 || !gw_boot.parent_is_far || !text || !boot_place_parse(text, &port, &at) || !at.ss_family) return s;
    s = connect_until(&at, patience_ms);
    if (s < 0 || send(s, &port.secret, sizeof port.secret, MSG_NOSIGNAL) == (ssize_t)sizeof port.secret) return s;
    return closed(s);
}
