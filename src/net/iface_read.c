/* iface_read.c -- reads the interfaces of this network namespace by netlink, as /sys may show another namespace.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "net/iface.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct found {
    struct iface *all;
    int n, cap;
};

static struct iface *add(struct found *f)
{
    if (f->n == f->cap) {
        int cap = f->cap ? 2 * f->cap : 16;
        struct iface *all = realloc(f->all, (size_t)cap * sizeof *all);
        if (!all) return NULL;
        f->all = all;
        f->cap = cap;
    }
    f->all[f->n] = (struct iface){.name = ""};
    return &f->all[f->n++];
}

/* A whole number in /sys/class/net/NAME/FILE; -1: none. */
static int64_t sys_number(const char *name, const char *file)
{
    char path[128];
    long long value = -1;
    snprintf(path, sizeof path, "/sys/class/net/%s/%s", name, file);
    FILE *f = fopen(path, "re");
    if (!f) return -1;
    if (fscanf(f, "%lld", &value) != 1) value = -1;
    fclose(f);
    return value;
}

static void take_kind(struct iface *i, const struct rtattr *info)
{
    const struct rtattr *a = RTA_DATA(info);
    for (int left = (int)RTA_PAYLOAD(info); RTA_OK(a, left); a = RTA_NEXT(a, left))
        if (a->rta_type == IFLA_INFO_KIND) snprintf(i->kind, sizeof i->kind, "%s", (const char *)RTA_DATA(a));
}

static bool take_link(struct found *f, const struct nlmsghdr *h)
{
    const struct ifinfomsg *m = NLMSG_DATA(h);
    struct iface *i = add(f);
    if (!i) return false;
    i->index = m->ifi_index;
    i->type = m->ifi_type;
    i->is_up = m->ifi_flags & IFF_UP;
    i->has_carrier = m->ifi_flags & IFF_RUNNING;
    i->is_loopback = m->ifi_flags & IFF_LOOPBACK;
    i->is_p2p = m->ifi_flags & IFF_POINTOPOINT;
    const struct rtattr *a = IFLA_RTA(m);
    for (int left = (int)IFLA_PAYLOAD(h); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        unsigned type = a->rta_type & NLA_TYPE_MASK;
        if (type == IFLA_IFNAME) snprintf(i->name, sizeof i->name, "%s", (const char *)RTA_DATA(a));
        if (type == IFLA_MTU) memcpy(&i->mtu, RTA_DATA(a), sizeof i->mtu);
        if (type == IFLA_MASTER) i->is_member = true;
        if (type == IFLA_LINKINFO) take_kind(i, a);
    }
    /* /sys may be another namespace's: use it only if the interface there has the same index. */
    if (sys_number(i->name, "ifindex") == i->index) {
        char path[128];
        int64_t speed = sys_number(i->name, "speed");
        snprintf(path, sizeof path, "/sys/class/net/%s/device", i->name);
        i->is_hardware = access(path, F_OK) == 0;
        i->mbit_per_s = speed > 0 ? speed : 0;
    }
    return true;
}

/* Reads the answer to a dump; 0 or errno. */
static int links_read(int fd, struct found *f)
{
    static const size_t cap = 1 << 16;
    char *buf = malloc(cap);
    if (!buf) return ENOMEM;
    int rc = -1;
    while (rc < 0) {
        ssize_t got = recv(fd, buf, cap, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) rc = got ? errno : EPROTO;
        int left = got > 0 ? (int)got : 0;
        for (const struct nlmsghdr *h = (void *)buf; rc < 0 && left > 0 && NLMSG_OK(h, (unsigned)left); h = NLMSG_NEXT(h, left)) {
            if (h->nlmsg_type == NLMSG_DONE) rc = 0;
            if (h->nlmsg_type == NLMSG_ERROR) rc = -((const struct nlmsgerr *)NLMSG_DATA(h))->error;
            if (h->nlmsg_type == RTM_NEWLINK && !take_link(f, h)) rc = ENOMEM;
        }
    }
    free(buf);
    return rc;
}

static int links_ask(struct found *f)
{
    struct {
        struct nlmsghdr h;
        struct ifinfomsg m;
    } ask = {
        .h = {.nlmsg_len = sizeof ask, .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .m = {.ifi_family = AF_UNSPEC},
    };
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return errno;
    int rc = send(fd, &ask, sizeof ask, 0) < 0 ? errno : links_read(fd, f);
    close(fd);
    return rc;
}

static int prefix_of(const uint8_t *mask, int bytes)
{
    int n = 0;
    for (int i = 0; i < bytes; i++) n += __builtin_popcount(mask[i]);
    return n;
}

static void take_address(struct found *f, const struct ifaddrs *a)
{
    for (int i = 0; i < f->n; i++) {
        struct iface *it = &f->all[i];
        if (strcmp(it->name, a->ifa_name) != 0 || it->n_addresses == IFACE_ADDRESSES) continue;
        struct iface_address *out = &it->addresses[it->n_addresses++];
        bool is_4 = a->ifa_addr->sa_family == AF_INET;
        size_t at = is_4 ? offsetof(struct sockaddr_in, sin_addr) : offsetof(struct sockaddr_in6, sin6_addr), bytes = is_4 ? 4 : 16;
        *out = (struct iface_address){.family = a->ifa_addr->sa_family};
        memcpy(out->bytes, (const char *)a->ifa_addr + at, bytes);
        if (a->ifa_netmask) out->prefix = prefix_of((const uint8_t *)a->ifa_netmask + at, (int)bytes);
    }
}

int iface_read(struct iface **all_out)
{
    struct found f = {0};
    struct ifaddrs *list = NULL;
    int rc = links_ask(&f);
    if (!rc && getifaddrs(&list) < 0) rc = errno;
    if (rc) {
        free(f.all);
        return -rc;
    }
    for (const struct ifaddrs *a = list; a; a = a->ifa_next)
        if (a->ifa_addr && (a->ifa_addr->sa_family == AF_INET || a->ifa_addr->sa_family == AF_INET6)) take_address(&f, a);
    freeifaddrs(list);
    *all_out = f.all;
    return f.n;
}

/* Which interface leads to `peer`?  connect() of a UDP socket makes the kernel look up the route without sending anything. */
int iface_towards(const struct sockaddr *peer, socklen_t bytes, char *out, size_t cap)
{
    struct sockaddr_storage own;
    socklen_t own_bytes = sizeof own;
    char text[INET6_ADDRSTRLEN] = "";
    struct iface *all = NULL;
    int fd = socket(peer->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return errno;
    int rc = connect(fd, peer, bytes) < 0 || getsockname(fd, (struct sockaddr *)&own, &own_bytes) < 0 ? errno : 0;
    close(fd);
    if (rc) return rc;
    int n = iface_read(&all), at = n > 0 ? iface_of_address(all, n, (struct sockaddr *)&own) : -1;
    const void *raw =
        own.ss_family == AF_INET ? (void *)&((struct sockaddr_in *)&own)->sin_addr : &((struct sockaddr_in6 *)&own)->sin6_addr;
    inet_ntop(own.ss_family, raw, text, sizeof text);
    snprintf(out, cap, "%s%s%s", at >= 0 ? all[at].name : "", at >= 0 ? " " : "", text);
    free(all);
    return GW_OK;
}
