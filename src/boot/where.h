/* where.h -- where a rank is: which collectives it entered, and what it waits for.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_WHERE_H
#define GW_BOOT_WHERE_H

#include <stdatomic.h>

#include "base/base.h"

/* ---- where is a rank? ---------------------------------------------------------------------------------------------
 * Each rank says in its slot which collectives it entered, and, once a wait has become long, what it waits for.  Our mpiexec reads
 * this for its verdict on a job that hangs (verdict/verdict.h).  Nothing is written on the fast paths but one line a collective. */
enum { BOOT_PENDING = 6, BOOT_COLLS = 16, BOOT_COMM_NAME = 28, BOOT_WORLD_UNKNOWN = -2 };
enum boot_state {               /* of struct boot_where */
                  BOOT_BUSY,    /* in no wait, or in a short one: computing, or communicating */
                  BOOT_MOVING,  /* in a wait that was long, but something has happened since it was described */
                  BOOT_BLOCKED, /* in a wait in which nothing has happened since `told_ns` */
                  BOOT_POLLING, /* a moment before `told_ns` it tested or probed in vain, many times */
};
enum boot_about { BOOT_SEND, BOOT_RECV, BOOT_PROBE, BOOT_MEMBER /* of a collective */, BOOT_OUTSIDE /* not up to another rank */ };
struct boot_pending { /* something waited for; or a message that came unexpected */
    int64_t bytes;
    int32_t world;             /* rank in the job; GW_ANY_SOURCE, BOOT_WORLD_UNKNOWN */
    int32_t peer, tag;         /* in the communicator; may be GW_ANY_SOURCE, GW_ANY_TAG */
    uint32_t ctx;              /* context id of the communicator: equal on all its members */
    uint8_t about;             /* enum boot_about */
    uint8_t stream;            /* 0: a message of the user's, else of a collective or of making a communicator */
    uint8_t is_moving;         /* both sides have met: its data are under way */
    uint8_t no_room;           /* a small send, which waits only because neither end had room for the message */
    char comm[BOOT_COMM_NAME]; /* its name, perhaps cut; "": it has none */
};
/* One collective that a rank has entered: [0] context id << 34 | number on the communicator << 12 | call, [1] what it says (below), [2] bytes,
 * and above them the mark of the communicator: a context id that is free on its members is given to others, while a rank may still be in it. */
struct boot_coll {
    _Atomic uint64_t word[3];
};
enum { BOOT_COLL_MARK = 48 }; /* shift */
static inline int64_t boot_coll_bytes(const uint64_t word[3]) { return (int64_t)(word[2] & (((uint64_t)1 << BOOT_COLL_MARK) - 1)); }
static inline uint64_t boot_coll_mark(const uint64_t word[3]) { return word[2] >> BOOT_COLL_MARK << BOOT_COLL_MARK; }
/* What a collective says, where all members must say the same: its root in the low half (negative: it has none), above it the operation (0:
 * none), the kind (0: not known, so nothing is compared) and what the bytes are. */
enum { BOOT_SAYS_OP = 32, BOOT_SAYS_KIND = 48, BOOT_SAYS_FLAGS = 56 }; /* shifts; 16, 8 and 8 bits */
enum {
    BOOT_SAYS_OWN = 1,      /* the bytes are of this member alone */
    BOOT_SAYS_REQUEST = 2,  /* non-blocking; */
    BOOT_SAYS_PREPARED = 4, /* persistent */
    BOOT_SAYS_TOLD = 8,     /* others called something else, and this rank has said so */
};
static inline uint64_t boot_coll_pack(uint32_t ctx, uint64_t number, uint32_t call)
{
    return (uint64_t)ctx << 34 | (number & 0x3fffff) << 12 | (call & 0xfff);
}
/* Two calls of one collective, as they were noted: in what they differ, if they must not.  None where one says nothing of it. */
enum boot_difference { BOOT_SAME, BOOT_OTHER_CALL, BOOT_OTHER_ROOT, BOOT_OTHER_BYTES, BOOT_OTHER_OP };
static inline enum boot_difference boot_coll_differ(uint64_t a, int64_t a_bytes, uint64_t b, int64_t b_bytes)
{
    enum { FORM = BOOT_SAYS_REQUEST | BOOT_SAYS_PREPARED };
    uint64_t a_kind = a >> BOOT_SAYS_KIND & 0xff, b_kind = b >> BOOT_SAYS_KIND & 0xff;
    uint64_t a_op = a >> BOOT_SAYS_OP & 0xffff, b_op = b >> BOOT_SAYS_OP & 0xffff;
    int32_t a_root = (int32_t)(uint32_t)a, b_root = (int32_t)(uint32_t)b;
    if (!a_kind || !b_kind) return BOOT_SAME;
    if (a_kind != b_kind || (a ^ b) >> BOOT_SAYS_FLAGS & FORM) return BOOT_OTHER_CALL;
    if (a_root >= 0 && b_root >= 0 && a_root != b_root) return BOOT_OTHER_ROOT;
    if (a_bytes != b_bytes && !((a | b) >> BOOT_SAYS_FLAGS & BOOT_SAYS_OWN)) return BOOT_OTHER_BYTES;
    return a_op && b_op && a_op != b_op ? BOOT_OTHER_OP : BOOT_SAME; /* who only looks on, or has no data, says none */
}

struct boot_where {
    _Atomic uint32_t version; /* odd while the fields below `state` are being written */
    _Atomic uint32_t state;   /* enum boot_state */
    uint64_t since_ns;        /* about when the wait began, and when this was written; CLOCK_MONOTONIC */
    uint64_t told_ns;
    uint32_t call;      /* GW_FN_* */
    int32_t n_pending;  /* what is waited for; the first BOOT_PENDING of them are listed */
    uint8_t is_any;     /* one of them is enough */
    uint8_t has_coll;   /* in a collective: coll.peer is its root, GW_ANY_SOURCE: it has none */
    uint32_t coll_call; /* that collective's call, where `call` only waits for it */
    uint64_t coll_number;
    int64_t n_unexpected; /* messages held; the BOOT_PENDING that are most like what is waited for are listed */
    int64_t held_bytes;   /* in messages that came and were not received; of what lane the wait is on */
    int64_t kept_bytes;   /* in copies of messages for which their receivers had no room */
    int64_t room_bytes;   /* each may be so many (GODWIT_UNEXPECTED_MAX); 0: none of the three is known */
    struct boot_pending coll, pending[BOOT_PENDING], unexpected[BOOT_PENDING];
};

#endif
