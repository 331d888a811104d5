/* iface.h -- selection of network interfaces for messages between nodes: ranking, and reasons for rejection.
 *
 * Ranking is a pure function of descriptions.  Rejected are interfaces that are down, have no carrier or no address, tunnels, and bridges of
 * this machine (docker0): other hosts cannot be reached there, or only indirectly, and connection attempts would hang.  The user's list
 * overrides the heuristics (bridge, tunnel), not the facts (down, no address).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NET_IFACE_H
#define GW_NET_IFACE_H

#include <sys/socket.h>

#include "base/base.h"

enum { IFACE_NAME = 16, IFACE_ADDRESSES = 8, IFACE_WHY = 128 };
struct iface_address {
    int family, prefix; /* AF_INET or AF_INET6; prefix length in bits */
    uint8_t bytes[16];  /* network byte order */
};
struct iface {
    char name[IFACE_NAME], kind[IFACE_NAME]; /* kind as the kernel says: "bridge", "veth", "vxlan"; "" for most hardware */
    int index, type;                         /* ARPHRD_... */
    bool is_up, has_carrier, is_loopback, is_p2p, is_member /* of a bridge or bond */, is_hardware;
    int mtu;
    int64_t mbit_per_s; /* 0: unknown */
    int n_addresses;
    struct iface_address addresses[IFACE_ADDRESSES];
};
struct iface_verdict {
    int iface;
    bool is_refused;
    char why[IFACE_WHY];
};

/* `list`: comma-separated names or networks, "eth1,10.0.0.0/8"; a leading ^ excludes; NULL or "": any usable interface.  Fills
 * verdicts_out[n]: the usable ones first, best first.  Returns the number of usable ones. */
int iface_rank(const struct iface *all, int n, const char *list, struct iface_verdict *verdicts_out);
/* Index of the interface with this address (AF_INET or AF_INET6); -1: none. */
int iface_of_address(const struct iface *all, int n, const struct sockaddr *address);
bool iface_is_link_local(const struct iface_address *a);
const struct iface_address *iface_best_address(const struct iface *i); /* NULL: none */
/* "eth0 192.0.2.2 (10000 Mbit/s, mtu 1500)" */
void iface_text(const struct iface *i, char *out, size_t cap);

/* Reads the interfaces of this process's network namespace by netlink.  Returns their number, or a negative errno; the caller frees *all_out. */
int iface_read(struct iface **all_out);
/* The same, ranked by the user's setting (GODWIT_NET_IFACE). */
struct iface_list {
    struct iface *all;
    struct iface_verdict *verdicts;
    int n, n_usable;
};
int iface_list_read(struct iface_list *f); /* the number, or negative: *f is empty */
void iface_list_free(struct iface_list *f);
/* The interface and source address by which the kernel routes to `peer`, as text: "eth0 192.0.2.2".  Sends nothing.  GW_OK, or errno: no
 * route. */
int iface_towards(const struct sockaddr *peer, socklen_t bytes, char *out, size_t cap);

#endif
