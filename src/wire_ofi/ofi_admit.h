/* ofi_admit.h -- allow list of the hosts that may connect to a lane over TCP: those that have sent the key of a rank here (ofi_ondemand.h).
 *
 * libfabric's listener accepts every connection and parses its data.  So packets are filtered by the kernel: a classic BPF program on the
 * listening socket (SO_ATTACH_FILTER, which needs no privilege) drops all segments, SYNs included, whose source address is not in the list.
 * A connection inherits the filter that its listener had when it was accepted; as hosts are only added, it never loses its own peer.
 * ofi_fds.h removes the filter from connections.
 *
 * If the program for all addresses would be too long, for the array or for the kernel (net.core.optmem_max), addresses are replaced by
 * networks, with shorter prefixes step by step, at last by one that admits all.
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
    int n, level;                     /* level: length of prefixes, from 0 (all bits) to ADMIT_WIDEST (none) */
    uint8_t of[ADMIT_MOST][ADMIT_IP]; /* prefixes, followed by zero bits */
};

bool ofi_admit_address_of(const struct sockaddr *at, uint8_t out[ADMIT_IP]); /* false: no IP address */
bool ofi_admit_is_ipv4(const uint8_t ip[ADMIT_IP]);                          /* IPv4 */
/* False: the address was in the list already. */
bool ofi_admit_add(struct ofi_admit *a, const uint8_t ip[ADMIT_IP]);
bool ofi_admit_widen(struct ofi_admit *a); /* shortens prefixes by one step; false: not possible */
/* Writes the BPF program; returns its length. */
int ofi_admit_program(const struct ofi_admit *a, struct sock_filter out[ADMIT_PROGRAM]);
/* Attaches the filter to a listening socket; shortens prefixes if the kernel refuses the length.  0, or errno: the socket has no filter. */
int ofi_admit_attach(struct ofi_admit *a, int fd);

#endif
