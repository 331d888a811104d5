/* tcp.h -- transport between nodes over TCP sockets, for hosts without a network card that libfabric would use (doc/adr/0022).
 *
 * A process has one listener for all its lanes.  Its address and an access token (secret) are in the launcher's key-value store under
 * "gw.net.0"; other jobs get them by invite().  Messages to a rank use one connection, made on demand by the sender; messages in the other
 * direction use another one, so simultaneous connects need no tie-break.
 *
 * A connection begins with the secret, and nothing more is read before it was verified; the reply authenticates the listener.  A connection
 * that is closed before the reply is made again; if one is lost later, messages are lost, and the job ends.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_TCP_TCP_H
#define GW_WIRE_TCP_TCP_H

#include "wire/wire.h"

extern const struct wire_ops tcp_ops;

#endif
