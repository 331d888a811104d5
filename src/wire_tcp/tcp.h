/* tcp.h -- transport between nodes over plain TCP, for hosts without a card that libfabric would use (doc/adr/0022).
 *
 * A process has one listener for all its lanes.  Where that is, and the secret that lets in, stands in the launcher's store under the key
 * "gw.net.0", or goes to another job by invite().  Messages to a rank go over one connection, made with the first of them; what that rank
 * sends comes over one of its own, so that two that connect to each other at the same time have one each way, and there is nothing to agree on.
 *
 * The first bytes of a connection are the secret, and nothing else is read before it was right; the answer proves that who listens
 * there is who was meant.  A connection that is closed before the answer is made again; one that is lost after it ends the job, as messages
 * are lost with it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_TCP_TCP_H
#define GW_WIRE_TCP_TCP_H

#include "wire/wire.h"

extern const struct wire_ops tcp_ops;

#endif
