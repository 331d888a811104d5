/* where.h -- state of a rank for hang reports: the collectives that it has entered, and what it waits for.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_WHERE_H
#define GW_BOOT_WHERE_H

#include <stdatomic.h>

#include "base/base.h"

/* ---- state introspection --------------------------------------------------------------------------------------
 * Each rank records in its slot of the segment the collectives that it enters and, once a wait has become long, what it waits for.  Our
 * mpiexec reads this to analyse a job that hangs (verdict/verdict.h).  Fast paths write nothing but one cache line per collective. */
enum { BOOT_PENDING = 6, BOOT_COLLS = 16, BOOT_COMM_NAME = 64, BOOT_WORLD_UNKNOWN = -2, BOOT_CALL_AS = 48, BOOT_NOTE = 112 };
enum boot_state {               /* of struct boot_where */
                  BOOT_BUSY,    /* not in a long wait: computing or communicating */
                  BOOT_MOVING,  /* in a long wait, but there was an event since it was described */
                  BOOT_BLOCKED, /* in a wait without an event since `told_ns` */
                  BOOT_POLLING, /* shortly before `told_ns` it had tested or probed many times without success */
};
/* MEMBER: another member of a collective.  OUTSIDE: not another rank (a file, the launcher).  PREADY: a partitioned send that lacks
 * MPI_Pready of this very rank, where no other thread of it may call that. */
enum boot_about { BOOT_SEND, BOOT_RECV, BOOT_PROBE, BOOT_MEMBER, BOOT_OUTSIDE, BOOT_PREADY };
struct boot_pending { /* a pending operation that is waited for, or an unexpected message */
    int64_t bytes;
    int32_t world;             /* the peer's rank in the job; GW_ANY_SOURCE, BOOT_WORLD_UNKNOWN */
    int32_t peer, tag;         /* in the communicator; may be GW_ANY_SOURCE, GW_ANY_TAG */
    uint32_t ctx;              /* context id of the communicator: the same on all its members */
    uint8_t about;             /* enum boot_about */
    uint8_t stream;            /* enum gw_stream; 0: a message of the user */
    uint8_t is_moving;         /* matched, data are being transferred */
    uint8_t no_room;           /* a small send that waits only for lack of buffer space at both ends */
    char comm[BOOT_COMM_NAME]; /* name of the communicator, perhaps truncated; "": none */
};
/* A collective that a rank has entered: word[0]: context id << 34 | number on the communicator << 12 | call; word[1]: signature, see below;
 * word[2]: bytes, and in the high bits the mark of the communicator, because a context id may be reused while a rank is still in a
 * collective on its former communicator. */
struct boot_coll {
    _Atomic uint64_t word[3];
};
enum { BOOT_COLL_MARK = 48 }; /* shift */
static inline int64_t boot_coll_bytes(const uint64_t word[3]) { return (int64_t)(word[2] & (((uint64_t)1 << BOOT_COLL_MARK) - 1)); }
static inline uint64_t boot_coll_mark(const uint64_t word[3]) { return word[2] >> BOOT_COLL_MARK << BOOT_COLL_MARK; }
/* Signature of a collective call, which must agree on all members: the root in the low half (negative: none); above it the operation (0:
 * none), the kind (0: unknown, nothing is compared) and flags. */
enum { BOOT_SAYS_OP = 32, BOOT_SAYS_KIND = 48, BOOT_SAYS_FLAGS = 56 }; /* shifts of fields of 16, 8 and 8 bits */
enum {
    BOOT_SAYS_OWN = 1,       /* the number of bytes is this member's alone: not compared */
    BOOT_SAYS_REQUEST = 2,   /* non-blocking */
    BOOT_SAYS_PREPARED = 4,  /* persistent */
    BOOT_SAYS_TOLD = 8,      /* this rank has reported that members called different collectives */
    BOOT_SAYS_FUNCTION = 16, /* of a call that has no operation: in its place stands which function of MPI it is */
};
static inline uint64_t boot_coll_pack(uint32_t ctx, uint64_t number, uint32_t call)
{
    return (uint64_t)ctx << 34 | (number & 0x3fffff) << 12 | (call & 0xfff);
}
/* Compares the signatures of two members of one collective: what differs that must agree.  Fields that one does not have are not compared. */
enum boot_difference { BOOT_SAME, BOOT_OTHER_CALL, BOOT_OTHER_ROOT, BOOT_OTHER_BYTES, BOOT_OTHER_OP };
static inline enum boot_difference boot_coll_differ(uint64_t a, int64_t a_bytes, uint64_t b, int64_t b_bytes)
{
    enum { FORM = BOOT_SAYS_REQUEST | BOOT_SAYS_PREPARED };
    uint64_t a_kind = a >> BOOT_SAYS_KIND & 0xff, b_kind = b >> BOOT_SAYS_KIND & 0xff;
    uint64_t a_op = a >> BOOT_SAYS_OP & 0xffff, b_op = b >> BOOT_SAYS_OP & 0xffff;
    int32_t a_root = (int32_t)(uint32_t)a, b_root = (int32_t)(uint32_t)b;
    if (!a_kind || !b_kind) return BOOT_SAME;
    if (a_kind != b_kind || (a ^ b) >> BOOT_SAYS_FLAGS & FORM) return BOOT_OTHER_CALL;
    if (a >> BOOT_SAYS_FLAGS & BOOT_SAYS_FUNCTION && a_op && b_op && a_op != b_op) return BOOT_OTHER_CALL;
    if (a_root >= 0 && b_root >= 0 && a_root != b_root) return BOOT_OTHER_ROOT;
    if (a_bytes != b_bytes && !((a | b) >> BOOT_SAYS_FLAGS & BOOT_SAYS_OWN)) return BOOT_OTHER_BYTES;
    return a_op && b_op && a_op != b_op ? BOOT_OTHER_OP : BOOT_SAME; /* members without data have op 0 */
}

/* The entry point of a library beside MPI in which this process may block: a constant text; NULL: none. */
extern _Atomic(const char *) boot_call_as;

struct boot_where {
    _Atomic uint32_t version; /* seqlock: odd while the fields below `state` are being written */
    _Atomic uint32_t state;   /* enum boot_state */
    uint64_t since_ns;        /* start of the wait, approximately; CLOCK_MONOTONIC */
    uint64_t told_ns;         /* when this was written */
    uint32_t call;            /* GW_FN_* */
    char as[BOOT_CALL_AS];    /* the name of a call of another library (boot_call_as), which counts instead; "": none */
    char note[BOOT_NOTE];     /* what is waited for, in words that follow "in CALL "; "": pending operations say it */
    int32_t n_pending;        /* operations waited for; the first BOOT_PENDING are listed */
    uint8_t is_any;           /* completion of one of them is enough */
    uint8_t has_coll;         /* in a collective: coll.peer is its root, or GW_ANY_SOURCE */
    uint32_t coll_call;       /* the call that started it, if `call` only waits for it */
    uint64_t coll_number;
    uint64_t coll_hidden; /* so many of its number are not the program's: of a team the library makes some, too */
    int64_t n_unexpected; /* unexpected messages; the BOOT_PENDING most similar to what is waited for are listed */
    int64_t held_bytes;   /* bytes of unexpected messages on the lane of the wait */
    int64_t kept_bytes;   /* bytes of copies kept here because the receivers had no room */
    int64_t room_bytes;   /* limit of each of the two (GODWIT_UNEXPECTED_MAX); 0: the three are not known */
    struct boot_pending coll, pending[BOOT_PENDING], unexpected[BOOT_PENDING];
};

#endif
