/* shm.h -- transport between the ranks of one node, also from a rank to itself: rings in the node segment.
 *
 * Each rank owns, per lane, in its node area: SHM_NEXCL exclusive rings, each claimed by one sender on first use, and one
 * shared ring for all other senders.  A ring is a row of lines (wire/wire_ring.h) and a byte buffer.  A short message is one
 * line.  A longer payload (to pack_max) lies in the byte buffer in one piece, its line says where.
 *
 * The owner publishes how far it has read (lines and bytes) every quarter ring and when idle; a sender that finds the ring
 * full looks there and otherwise answers GW_AGAIN.  The lines, and the inlined send and look, are in wire/wire_ring.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_SHM_SHM_H
#define GW_WIRE_SHM_SHM_H

#include "base/base.h"
#include "node/node.h"
#include "wire/wire.h"

GW_EXTERN const struct wire_ops shm_ops;

#endif
