/* ofi.h -- transport between nodes: any provider of libfabric that has reliable datagrams (FI_EP_RDM).
 *
 * libfabric is opened by dlopen with the first lane that is used (ofi_knock.h): linking it would cost every program 300 ms and a handler
 * for SIGSEGV.
 * A lane has its own domain, endpoint, address vector and completion queue, so that the lane's lock is all the locking there is.
 * Under the key "gw.net.0" the launcher has where a rank is asked for a lane's address, or, where the network was opened at the start
 * and nobody is to ask (cards, GODWIT_NET_OPEN=early, GODWIT_NET_FILTER=off), that of lane 0, and those of others under
 * "gw.net.LANE"; who sends there first reads it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_OFI_OFI_H
#define GW_WIRE_OFI_OFI_H

#include <stdio.h>

#include "wire/wire.h"

extern const struct wire_ops ofi_ops;

struct ofi_offer;
/* For network_print(): how the tags lie where this provider matches.  libfabric is open. */
void ofi_tags_print(FILE *to, const struct ofi_offer *o);

#endif
