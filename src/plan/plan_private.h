/* plan_private.h -- a communicator's leaf region, between the files of plan/.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PLAN_PLAN_PRIVATE_H
#define GW_PLAN_PLAN_PRIVATE_H

#include "plan/plan.h"
#include "base/base.h"
#include "boot/where.h"

/* In the segment, a line per member, written by that member only. */
struct leaf_flag {
    _Atomic uint64_t value; /* collective << 20 | phase */
    char small[PLAN_SMALLS][PLAN_SMALL_BYTES];
    _Atomic uint16_t sig[PLAN_SIGS]; /* of the collectives behind it, by their number here */
} GW_ALIGNED(GW_CACHELINE);
_Static_assert(sizeof(struct leaf_flag) == GW_CACHELINE, "few bytes come with the flag");
_Static_assert(PLAN_SIGS > PLAN_SMALLS && PLAN_SIGS > PLAN_SLOTS, "who waits still finds those of his collective");

/* A line from one member to another, see PLAN_PAIR_SIGNAL. */
struct leaf_pair {
    _Atomic uint64_t n; /* the collective, above bits of its sig and of the bytes for this member: pair_number() */
    char data[PLAN_PAIR_BYTES];
} GW_ALIGNED(GW_CACHELINE);
_Static_assert(sizeof(struct leaf_pair) == GW_CACHELINE, "a few bytes come with the number");

/* In lines behind those, for algorithms that pull. */
#define LEAF_UNREADABLE UINT64_MAX /* and there was no room for a copy */
struct leaf_exposed {
    uint64_t address;          /* what EXPOSE offers */
    uint64_t copy;             /* a copy of it in the node's heap, as its owner is not dumpable; or LEAF_UNREADABLE; else 0 */
    _Atomic uint32_t can_pull; /* this member can read all others: 1 no, 2 yes, 0 not yet known */
} GW_ALIGNED(GW_CACHELINE);

/* Where ranks share cores, in the line behind the flags: who has seen all of them raised, or reduced all operands, saves others that. */
struct leaf_common {
    _Atomic uint64_t reached; /* all flags have reached this */
    _Atomic uint64_t reduced; /* collective whose result is the next word */
    _Atomic uint64_t result;
} GW_ALIGNED(GW_CACHELINE);

/* What member 0 of a region says: where it is (0: there is no room), and in which collective it says that, the first by leaves. */
struct leaf_offer {
    uint64_t region, number;
};

/* c->coll: what a communicator keeps for collectives. */
struct comm_coll {
    bool asked, ready; /* was a region asked for; is there one */
    bool nodes_asked;
    int8_t pull;                  /* 0 not asked, 1 no, 2 yes */
    struct plan_nodes *nodes;     /* where members run on several nodes; then what follows is of those on this one */
    int size, me;                 /* of the region: its members, my place */
    uint64_t region;              /* offset in the segment */
    struct leaf_offer offer;      /* what has been said, or is to be received by `awaited` */
    struct gw_req *awaited;       /* NULL: nothing is */
    uint64_t missed;              /* 1 + the last collective that was given up before the offer came */
    struct leaf_flag *flags;      /* [size] */
    struct leaf_exposed *exposed; /* [size] */
    struct leaf_common *common;   /* where ranks share cores, else NULL */
    struct leaf_pair *pairs;      /* [PLAN_SLOTS][size: to][size: from]; NULL: too many members */
    char *buffers;                /* [size][PLAN_SLOTS][PLAN_SLOT_BYTES] */
    int *local;                   /* [size] local rank of each member, for doorbells */
    uint64_t leaf_n;              /* leaf collectives started */
    uint64_t safe;                /* everybody's flag is known to have reached this */
    uint64_t wide;                /* number of the last wide collective */
    uint64_t compared;            /* number of the last leaf collective in which everybody's sig was compared with ours */
    char *tmp;                    /* kept for the next collective */
    int64_t tmp_bytes;
    uint64_t copied; /* what is exposed now; freed when nobody reads it any more */
};
struct comm_coll *plan_coll(struct gw_comm *c); /* NULL: out of memory */

/* What a driver of an execution needs (exec.c).  Messages carry in their tag the number of their collective on the communicator,
 * as the user counts: those of one collective between two members are told apart by their order.  Persistent ones keep theirs for
 * long, so these do not count among the others.  Below the number stands the kind, and something of root, operation and form
 * (blocking or not): messages of other calls do not meet our receives. */
enum { PLAN_TAG_SAYS = 0xff, PLAN_TAG_SHIFT = 8, PLAN_TAG_NUMBERS = 0x3fffff, PLAN_TAG_PERSISTENT = 0x40000000 };
static inline int plan_tag(const struct plan_args *a)
{
    uint64_t differs = a->says >> BOOT_SAYS_OP ^ a->says >> BOOT_SAYS_FLAGS ^ (a->remote ? 0 : a->says);
    return (int)((a->number & PLAN_TAG_NUMBERS) << PLAN_TAG_SHIFT | (a->says >> BOOT_SAYS_KIND & 15) << 4 | (differs & 15));
}
/* The number of the collective whose message this is, if it is a former one: below `next`, by less than half of what a tag can
 * tell apart; else `next`. */
static inline uint64_t plan_tag_former(int tag, uint64_t next)
{
    uint64_t before = (next - ((uint64_t)tag >> PLAN_TAG_SHIFT)) & PLAN_TAG_NUMBERS;
    return before <= PLAN_TAG_NUMBERS / 2 && before <= next ? next - before : next;
}
void plan_exec_reset(struct plan_exec *x); /* to before the first round; alg, args, comm and memory are set */
bool plan_exec_advance(struct plan_exec *x, int *done_out);
bool plan_exec_stage(struct plan_exec *x); /* takes up the present stage of x->walk; true: it is one of leaves */
char *plan_tmp_alloc(int64_t bytes);       /* for free(); NULL: out of memory (gw_fail set) */
void plan_start_init(void);                /* start.c */
/* report.c: what a collective under way waits for; `entry` not 0: until all flags have reached it. */
/* True: it will not end, for the calls of the members differ: x->err and its words say how. */
bool plan_report(struct plan_exec *x, uint64_t entry) GW_COLD;
bool plan_report_one(struct gw_comm *c, int member) GW_COLD; /* the newest one, before its rounds: for this member */
/* The same of one behind a request: its messages that are out, lane's lock held, between node_report_begin() and p2p_report_end(). */
void plan_report_parts(struct boot_where *where, const struct plan_exec *x, uint32_t call, struct gw_req **parts, int n);

/* plan_state.c: what is not as plan.h has it, in words; NULL: all is.  Of an execution between two calls of plan_exec_advance(); of a
 * region between two collectives of this member. */
const char *plan_exec_broken(const struct plan_exec *x);
const char *plan_region_broken(const struct comm_coll *k);
static inline void plan_exec_assert_state(const struct plan_exec *x)
{
    if (GW_ASSERT_STATES) gw_assert_state(plan_exec_broken(x));
}
static inline void plan_region_assert_state(const struct comm_coll *k)
{
    if (GW_ASSERT_STATES) gw_assert_state(plan_region_broken(k));
}

/* compare.c.  All of these are cold.
 * The sig of a member of the region is not ours: true if the calls differ, now or before; x->err and its words say how. */
bool plan_sig_differs(struct plan_exec *x, int member) GW_COLD;
/* The same calls, but a member of the region gave another number of bytes than is due (-1: not known): for x->err. */
void plan_size_differs(struct plan_exec *x, int member, int64_t want, int64_t came) GW_COLD;
struct plan_said {
    struct gw_comm *comm;
    uint64_t number, says;
    int64_t bytes;
};
static inline struct plan_said plan_said_by(const struct plan_exec *x)
{
    return (struct plan_said){x->comm, x->args->number, x->args->says, x->args->bytes};
}
/* Does any member of this node call something else in the collective that was entered last?  GW_OK or an error, in words. */
int plan_compare_newest(struct gw_comm *c) GW_COLD;
/* The same, and where messages are out, whether others have sent some of another call instead.  Lane's lock held. */
int plan_compare_parts(const struct plan_said *s, struct gw_req **parts, int n) GW_COLD;
/* A message was not as long as it must be: an error, in words. */
int plan_length_differs(const struct plan_said *s, int from, int64_t want, int64_t came) GW_COLD;

static inline struct leaf_pair *leaf_pair(const struct comm_coll *k, uint64_t n, int to, int from)
{
    return &k->pairs[((int)(n % PLAN_SLOTS) * k->size + to) * k->size + from];
}
static inline char *leaf_slot(const struct comm_coll *k, int rank, int slot)
{
    if (slot >= PLAN_SLOTS + PLAN_SMALLS) return (char *)leaf_pair(k, (uint64_t)slot - PLAN_SLOTS - PLAN_SMALLS, rank, 0);
    if (slot >= PLAN_SLOTS) return k->flags[rank].small[slot - PLAN_SLOTS];
    return k->buffers + ((int64_t)rank * PLAN_SLOTS + slot) * PLAN_SLOT_BYTES;
}

#endif
