/* loop.h -- wires from a process to itself that stand for other ranks, for tests of protocols: every message that is sent lies in a queue,
 * from which the test takes it, changes it, delivers it (also twice), or delivers messages of its own.  Never part of libmpi_abi.so.
 *
 * Rank 0 is the process.  Rank 1 is on its node, rank 2 on another node; a message to rank 1 or 2 comes back as if that rank had sent it.
 * One-sided copies reach memory that loop_memory() has named; elsewhere they fail as they would in the kernel or the card.  Rank 1 shares
 * the doorbell of rank 0, so that flow control stops its messages where it stops ours.  There is one thread, and no lock.
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
    bool is_far; /* goes over the far wire: to or from LOOP_FAR, else LOOP_NEAR */
    uint8_t kind;
    uint8_t hdr[WIRE_HDR_BYTES];
    uint32_t len; /* bytes of payload */
    uint8_t payload[] GW_ALIGNED(16);
};
/* What the far wire offers beside messages (struct wire_caps). */
struct loop_ways {
    bool get, put, direct;
    bool later;    /* copies complete in the next progress, not at once */
    uint32_t room; /* messages that fit the queue, at most LOOP_ROOM; a send to a full queue returns GW_AGAIN */
};

extern const struct wire_ops loop_near_ops, loop_far_ops;
void loop_begin(const struct loop_ways *ways); /* before the wires open: empties the queue, forgets all memory; copies *ways */
void loop_end(void);                           /* frees the messages in the queue */
void loop_memory(void *at, size_t bytes);      /* copies may read and write there, until loop_begin(); at most LOOP_ROOM times */
void loop_memory_gone(const void *at);         /* withdraws what loop_memory() named at this address; NULL: everything */
/* A message of the test's own, with a copy of the payload, for loop_deliver(); the caller frees it. */
struct loop_msg *loop_new(bool is_far, uint8_t kind, const void *hdr, const void *payload, size_t len);
struct loop_msg *loop_take(void); /* takes the oldest message out of the queue; the caller frees it; NULL: the queue is empty */
/* Passes the message to its wire's receiver, in memory of exactly its length, so that a sanitizer sees reads behind it. */
void loop_deliver(const struct loop_msg *m);
int loop_waiting(void); /* messages in the queue */
/* What has happened since loop_begin(), a letter each, of the first 63: m message, g get, p put, d such a copy done later, e memory
 * exposed, c concealed. */
const char *loop_events(void);

#endif
