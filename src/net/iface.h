/* iface.h -- which network interfaces may carry messages between nodes, best first, and why not the others.
 *
 * Judging is a pure function over descriptions.  What is down, has no carrier or no address, ends in a tunnel or is a bridge of this
 * machine (docker0) is not chosen: the others cannot be reached there, or only by detours, and who tries waits for ever.
 * The user's list overrides the guesses (bridge, tunnel), not the facts (down, no address).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NET_IFACE_H
#define GW_NET_IFACE_H

#include <sys/socket.h>

#include "base/base.h"

enum { IFACE_NAME = 16, IFACE_ADDRESSES = 8, IFACE_WHY = 128 };
struct iface_address {
    int family, prefix; /* AF_INET or AF_INET6; bits of the network's part */
    uint8_t bytes[16];  /* network order */
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

/* `list`: names or networks with commas, "eth1,10.0.0.0/8"; a word with ^ before it is one not to be used; NULL or "": any that is
 * fit.  Fills verdicts_out[n], usable ones first and best first; the number of usable ones. */
int iface_rank(const struct iface *all, int n, const char *list, struct iface_verdict *verdicts_out);
/* The one with this address (of AF_INET or AF_INET6), -1: none. */
int iface_of_address(const struct iface *all, int n, const struct sockaddr *address);
bool iface_is_link_local(const struct iface_address *a);
const struct iface_address *iface_best_address(const struct iface *i); /* NULL: it has none */
/* "eth0 192.0.2.2 (10000 Mbit/s, mtu 1500)" */
void iface_text(const struct iface *i, char *out, size_t cap);

/* Those of this process's network namespace, by netlink.  The number; *all_out is the caller's to free.  Negative: errno. */
int iface_read(struct iface **all_out);
/* The same, judged by the user's settings (GODWIT_NET_IFACE). */
struct ofi_ifaces {
    struct iface *all;
    struct iface_verdict *verdicts;
    int n, n_usable;
};
int ofi_ifaces_read(struct ofi_ifaces *f); /* the number, or negative and empty */
void ofi_ifaces_free(struct ofi_ifaces *f);
/* The interface and our address by which the kernel would reach `peer`: "eth0 192.0.2.2".  Sends nothing.  GW_OK, or errno: there is
 * no way. */
int iface_towards(const struct sockaddr *peer, socklen_t bytes, char *out, size_t cap);

#endif
