/* ofi_reach.h -- a peer that does not answer is named, with the interface, while the provider still tries.
 *
 * Providers over TCP try to connect for minutes, and say nothing.  While something is under way to a peer whose connection nobody has
 * seen yet, the kernel's table of connections is looked at, once a second at most: one with it proves it, for good; none after
 * some seconds is worth a warning, and after GODWIT_NET_TIMEOUT the end.  Providers that do not go over TCP time out by themselves.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_OFI_OFI_REACH_H
#define GW_WIRE_OFI_OFI_REACH_H

#include <sys/socket.h>

#include "base/base.h"

/* In the text of /proc/net/tcp or tcp6: is there a connection with this address (any port: of the other direction we know only the
 * host's), established? */
bool reach_is_connected(const char *table, const struct sockaddr *peer);

#endif
