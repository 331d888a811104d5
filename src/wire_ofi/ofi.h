/* ofi.h -- transport between nodes: any libfabric provider with reliable datagram endpoints (FI_EP_RDM).
 *
 * libfabric is opened by dlopen when the first lane is used (on-demand connection, ofi_ondemand.h): linking it would cost every program 300 ms
 * at start, and a handler for SIGSEGV.  Each lane has its own domain, endpoint, address vector and completion queue, so the lane's lock is
 * the only lock.
 *
 * ADDRESSES  The launcher's key-value store has, under "gw.net.0", where a rank can be asked for the address of a lane.  If the network is
 *            opened in MPI_Init and hosts are not filtered (network cards, GODWIT_NET_OPEN=early, GODWIT_NET_FILTER=off), it has the
 *            address of lane 0 there instead, and those of other lanes under "gw.net.LANE".  A sender reads it before its first message.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_OFI_OFI_H
#define GW_WIRE_OFI_OFI_H

#include <stdio.h>

#include "wire/wire.h"

extern const struct wire_ops ofi_ops;

struct net_offer;
/* For network_print(): prints the tag layout for matching by this provider.  libfabric is open. */
void ofi_tags_print(FILE *to, const struct net_offer *o);

#endif
