/* shm.h -- shared-memory transport between the ranks of one node, also from a rank to itself: rings in the node segment.
 *
 * Each rank owns, per lane, in its area of the segment: SHM_NEXCL exclusive rings, each claimed by one sender on first use, and one shared ring
 * for all other senders.  A ring consists of lines (slots, wire/wire_ring.h) and a byte buffer.  A short message is one line.  A longer payload
 * (up to pack_max) is stored in the byte buffer, contiguously; its line has the offset.
 *
 * Flow control: the owner publishes its read position (lines and bytes) every quarter ring and when idle.  A sender that finds the ring full
 * reads it, and returns GW_AGAIN if there is still no room.
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
