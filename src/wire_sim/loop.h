/* loop.h -- wires from a process to itself, under the names of others, for tests of what happens to messages: everything that is sent
 * lies in a queue, where the test takes it, changes it, delivers it twice, or puts messages of its own in.  Never part of libmpi_abi.so.
 *
 * Rank 0 is the process itself.  Rank 1 is on its node, rank 2 on another: what is sent to one of them comes back as if it were from
 * it.  One-sided copies reach what loop_memory() knows; elsewhere they fail as a kernel or a card would let them.  Rank 1's door is our
 * own, so that its messages stop where ours would.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_SIM_LOOP_H
#define GW_WIRE_SIM_LOOP_H

#include "base/base.h"
#include "wire/wire.h"

enum { LOOP_NEAR = 1, LOOP_FAR = 2, LOOP_RANKS = 3, LOOP_ROOM = 512 };

struct loop_msg {
    struct loop_msg *next;
    bool is_far;
    uint8_t kind;
    uint8_t hdr[WIRE_HDR_BYTES];
    uint32_t len;
    uint8_t payload[] GW_ALIGNED(16);
};
/* What the far wire can do, beside messages; later: copies are over in its next progress, not at once. */
struct loop_ways {
    bool get, put, direct, later;
    uint32_t room;
}; /* room: messages that may lie in the queue, at most LOOP_ROOM */

extern const struct wire_ops loop_near_ops, loop_far_ops;
void loop_begin(const struct loop_ways *ways); /* before the wires open; forgets what lies in the queue */
void loop_end(void);
void loop_memory(void *at, size_t bytes); /* may be read and written by copies, until loop_begin(); at most LOOP_ROOM */
struct loop_msg *loop_new(bool is_far, uint8_t kind, const void *hdr, const void *payload, size_t len);
struct loop_msg *loop_take(void);            /* the first; NULL: there is none */
void loop_deliver(const struct loop_msg *m); /* to its wire's receiver, in memory of exactly its length; it stays the caller's */
int loop_waiting(void);
void loop_memory_gone(const void *at); /* copies do not reach it any more; NULL: nor anything else */

#endif
