/* proto_wire.h -- private to proto: what travels.  A fact about the wire format stands only here.
 *
 * Every message has one of two 16-byte headers; the payload is as each kind says.  Both ends are processes of one job on one
 * kind of machine, so integers travel as they are.  A "cookie" is the name of a record in the process that gave it out
 * (proto_cookie.c): only that process looks at it, when the cookie comes back.  Nothing in a message is believed: proto_check.c.
 *
 *   sender                                   receiver
 *   EAGER(data) ---------------------------> matched or kept                               E0, E1
 *   EAGER_SYNC(cookie, data) --------------> matched ... ACK(cookie) ---> complete         the same, synchronous
 *   RTS(proto_rts) ------------------------> matched; reads; FIN(cookie) ---> complete     R0
 *                        HELP(proto_help) <- for large ones; then both copy pieces, then FIN; what the receiver cannot read it asks
 *                                            for with CTS, and what the sender cannot write it sends as DATA
 *   RTS -----------------------------------> CTS(proto_cts) -> DATA ... DATA               R1
 *                                            or chunks are written into the exposed buffer, then PUT; where that fails, DATA from the begin
 *   RTS(key PROTO_RTS_KEPT) --------------> CTS, also before it is matched -> DATA, one piece (proto_ahead.c)
 *   FAULT(proto_fault) --------------------> instead of DATA on a node: the sender cannot read them itself
 *   CANCEL(cookie) after EAGER_SYNC or RTS -> CANCEL_ACK(cookie, 1: it was not matched and is gone; 0: too late)
 *   LEFT(cookie) <-------------------------- from a receiver that has left MPI: that RTS will not be matched; its sender drops a copy
 *   FLOW(world rank, on) <----------------- flow control: a receiver on another node holds too much; send RTS instead of data
 *   TAGGED(world rank, n) behind every so many messages that the network matches, to another node: n more of them are on their way
 *   NOTE(proto_note) before every message of the user's, with GODWIT_CHECK only: of what types the sender says it is
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PROTO_PROTO_WIRE_H
#define GW_PROTO_PROTO_WIRE_H

#include "wire/wire.h"

enum proto_kind {
    PROTO_EAGER = 1,
    PROTO_EAGER_SYNC,
    PROTO_RTS, /* struct proto_hdr: take part in matching */
    PROTO_CTS,
    PROTO_DATA,
    PROTO_HELP,
    PROTO_FIN,
    PROTO_ACK,
    PROTO_CANCEL,
    PROTO_CANCEL_ACK, /* struct proto_ctl */
    PROTO_NOTE,       /* the same */
    PROTO_FLOW,
    PROTO_PUT,
    PROTO_LEFT,
    PROTO_FAULT,
    PROTO_TAGGED,
    PROTO_CAUGHT = WIRE_CAUGHT,
    PROTO_FULL = WIRE_FULL /* of our own wire, not from a sender: see proto_tag.c */
};

struct proto_hdr {
    uint32_t ctx;
    int32_t src, tag; /* src: rank in the communicator */
    int32_t world;    /* the sender's number as the receiver knows it: EAGER_SYNC, RTS: to answer; EAGER: for reports */
};
struct proto_ctl {
    uint64_t to; /* cookie of the record that this is for */
    /* NOTE: number of basic elements, `to` their signature; CTS, HELP: the receiver's cookie; DATA: offset in the message; FIN: the job or
     * 0; CANCEL: world rank */
    uint64_t value;
};
enum { PROTO_RTS_KEPT = 2 }; /* rts.key, to another node: the sender is done with it, and it may be fetched before it is received */
struct proto_rts {
    uint64_t cookie, addr; /* addr 0: the receiver cannot read the data, R1 only */
    int64_t len;
    /* of wire.h, for caps.keys; on a node: not 0 where the data lie on huge pages; from another node with addr 0: 1 where they are one run
     * of bytes, PROTO_RTS_KEPT where the sender keeps them */
    uint64_t key;
};
struct proto_cts {
    int64_t from, to; /* these bytes of the message are wanted */
    uint64_t addr,
        key; /* key not 0: byte 0 of the message may be written there, in memory exposed under that key; addr 0: a ticket (wire.h).  key 0
                         * on a node: addr not 0: they could not be read, so the sender is to look whether it can */
};
struct proto_fault {
    uint64_t at;      /* the first byte that the sender cannot read, an address there */
    int64_t from, to; /* these bytes of the message will not come */
};
struct proto_help {
    uint64_t addr, job; /* of the receive buffer; offset in the node segment */
    int64_t total;      /* bytes to copy */
};
struct proto_note {
    uint32_t ctx;
    int32_t tag, world; /* of the message that comes next, and its sender */
    int16_t may_be_any; /* MPI_PACKED is in it */
    int16_t is_ready;   /* it is a ready send */
    int64_t count;      /* as the sender's call said it */
    char type[32];      /* name of the datatype */
};

_Static_assert(sizeof(struct proto_hdr) == WIRE_HDR_BYTES && offsetof(struct proto_hdr, world) == 12, "wire format");
_Static_assert(sizeof(struct proto_ctl) == WIRE_HDR_BYTES && offsetof(struct proto_ctl, value) == 8, "wire format");
_Static_assert(sizeof(struct proto_rts) == 32 && offsetof(struct proto_rts, len) == 16, "wire format");
_Static_assert(sizeof(struct proto_cts) == 32 && offsetof(struct proto_cts, to) == 8, "wire format");
_Static_assert(sizeof(struct proto_help) == 24 && offsetof(struct proto_help, total) == 16, "wire format");
_Static_assert(sizeof(struct proto_fault) == 24 && offsetof(struct proto_fault, to) == 16, "wire format");
_Static_assert(sizeof(struct proto_note) == 56 && offsetof(struct proto_note, type) == 24, "wire format");
#define PROTO_CTL_MAX     56 /* the largest payload of a message that is not data */
#define PROTO_SYNC_PREFIX 8  /* EAGER_SYNC: the cookie before the data */

#endif
