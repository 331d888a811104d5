/* ofi_reach.h -- detects peers that cannot be reached, and names peer and interface, while the provider still tries to connect.
 *
 * Providers over TCP try for minutes and report nothing.  While an operation to a peer is pending that has not been seen connected, the
 * kernel's table of TCP connections is read, at most once a second.  A connection with the peer ends the search for good; none after some
 * seconds leads to a warning, and after GODWIT_NET_TIMEOUT the job ends.  Other providers have timeouts of their own.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_OFI_OFI_REACH_H
#define GW_WIRE_OFI_OFI_REACH_H

#include <sys/socket.h>

#include "base/base.h"

/* Does the text of /proc/net/tcp or tcp6 list an established connection with this address?  The port is ignored: for incoming connections only
 * the peer's address is known. */
bool ofi_reach_is_connected(const char *table, const struct sockaddr *peer);

#endif
