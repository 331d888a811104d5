/* ofi_admit.h -- which hosts may connect to a lane over TCP: those that have shown the key of a rank here (ofi_knock.h).
 *
 * libfabric's listener takes every connection and parses what comes before we see a byte of it.  So the kernel looks first: a
 * filter on the listening socket (classic BPF, SO_ATTACH_FILTER, which needs no privilege) drops every segment whose source is not in
 * the set, the first one (SYN) among them: for everybody else nobody seems to listen there.  A connection has the filter that its
 * listener had when it was made, and hosts are only added, so it never loses its own peer; ofi_fds.h takes the filter off it again.
 *
 * The set is small: where a program of all its addresses would be too long for us or for the kernel (net.core.optmem_max), networks
 * take the place of addresses, shorter prefixes step by step, up to one that is everybody's.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_OFI_OFI_ADMIT_H
#define GW_WIRE_OFI_OFI_ADMIT_H

#include <linux/filter.h>
#include <sys/socket.h>

#include "base/base.h"

enum { ADMIT_IP = 16 /* IPv6, or ::ffff:192.0.2.2 */, ADMIT_MOST = 256, ADMIT_PROGRAM = 32 + 9 * ADMIT_MOST, ADMIT_WIDEST = 6 };
struct ofi_admit {
    int n, level;                     /* level: of how many bits prefixes are, 0: all, ADMIT_WIDEST: none */
    uint8_t of[ADMIT_MOST][ADMIT_IP]; /* behind the prefix zeros */
};

bool admit_address_of(const struct sockaddr *at, uint8_t out[ADMIT_IP]); /* false: it is none of IP */
bool admit_is_four(const uint8_t ip[ADMIT_IP]);
/* False: it was admitted already. */
bool admit_add(struct ofi_admit *a, const uint8_t ip[ADMIT_IP]);
bool admit_widen(struct ofi_admit *a); /* one step; false: it was the last */
/* The program; its length. */
int admit_program(const struct ofi_admit *a, struct sock_filter out[ADMIT_PROGRAM]);
/* From now on the socket hears those in the set and nobody else; widens the set where the kernel has no room for so many.  0, or
 * errno: then the socket has no filter. */
int admit_attach(struct ofi_admit *a, int fd);

#endif
