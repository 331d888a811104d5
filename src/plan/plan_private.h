/* plan_private.h -- a communicator's leaf region, between the files of plan/.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PLAN_PLAN_PRIVATE_H
#define GW_PLAN_PLAN_PRIVATE_H

#include "plan/plan.h"

/* In the segment, a line per member, written by that member only. */
struct leaf_flag {
    _Atomic uint64_t value; /* collective << 20 | phase */
    char small[PLAN_SMALLS][PLAN_SMALL_BYTES];
} GW_ALIGNED(GW_CACHELINE);
_Static_assert(sizeof(struct leaf_flag) == GW_CACHELINE, "few bytes come with the flag");

/* A line from one member to another, see PLAN_HAND. */
struct leaf_line {
    _Atomic uint64_t n; /* the collective */
    char data[PLAN_LINE_BYTES];
} GW_ALIGNED(GW_CACHELINE);
_Static_assert(sizeof(struct leaf_line) == GW_CACHELINE, "a few bytes come with the number");

/* In lines behind those, for algorithms that pull. */
struct leaf_exposed {
    uint64_t address;          /* what EXPOSE offers */
    _Atomic uint32_t can_pull; /* this member can read all others: 1 no, 2 yes, 0 not yet known */
} GW_ALIGNED(GW_CACHELINE);

/* Where ranks share cores, in the line behind the flags: who has seen all of them raised, or reduced all operands, saves others that. */
struct leaf_common {
    _Atomic uint64_t reached; /* all flags have reached this */
    _Atomic uint64_t reduced; /* collective whose result is the next word */
    _Atomic uint64_t result;
} GW_ALIGNED(GW_CACHELINE);

/* c->coll: what a communicator keeps for collectives. */
struct comm_coll {
    bool asked, ready;      /* was a region asked for; is there one */
    bool nodes_asked;
    int8_t pull;            /* 0 not asked, 1 no, 2 yes */
    struct plan_nodes *nodes; /* where members run on several nodes; then what follows is of those on this one */
    int size, me;           /* of the region: its members, my place */
    uint64_t region;        /* offset in the segment */
    struct leaf_flag *flags; /* [size] */
    struct leaf_exposed *exposed; /* [size] */
    struct leaf_common *common; /* where ranks share cores, else NULL */
    struct leaf_line *lines; /* [PLAN_SLOTS][size: to][size: from]; NULL: too many members */
    char *buffers;          /* [size][PLAN_SLOTS][PLAN_SLOT_BYTES] */
    int *local;             /* [size] local rank of each member, for doorbells */
    uint64_t leaf_n;        /* leaf collectives started */
    uint64_t safe;          /* everybody's flag is known to have reached this */
    uint64_t wide;          /* number of the last wide collective */
    char *tmp;              /* kept for the next collective */
    int64_t tmp_bytes;
};
struct comm_coll *plan_coll(struct gw_comm *c); /* NULL: out of memory */

/* What a driver of an execution needs (exec.c).  Messages carry the number of their collective as their tag: those of one
 * collective between two members are told apart by their order.  Persistent ones keep theirs for long: they have numbers of their own.
 * So have leaves, some of whose blocks go by messages: a non-blocking collective of the same number may be under way. */
enum { PLAN_TAG_MASK = 0x1fffffff, PLAN_TAG_LEAF = 0x20000000, PLAN_TAG_PERSISTENT = 0x40000000 };
void plan_exec_reset(struct plan_exec *x); /* to before the first round; alg, args, comm and memory are set */
bool plan_exec_advance(struct plan_exec *x, int *done_out);
bool plan_exec_stage(struct plan_exec *x); /* takes up the present stage of x->walk; true: it is one of leaves */
char *plan_tmp_alloc(int64_t bytes); /* for free(); NULL: out of memory (gw_fail set) */
void plan_start_init(void);          /* start.c */
/* tell.c: what a collective under way waits for; `entry` not 0: until all flags have reached it. */
void plan_tell(struct plan_exec *x, uint64_t entry) GW_COLD;
void plan_tell_one(struct gw_comm *c, int member) GW_COLD; /* the newest one, before its rounds: for this member */
/* The same of one behind a request: its messages that are out, lane's lock held, between node_tell() and p2p_told(). */
void plan_tell_parts(struct boot_where *where, const struct plan_exec *x, uint64_t number, uint32_t call, struct gw_req **parts, int n);

static inline struct leaf_line *leaf_line(const struct comm_coll *k, uint64_t n, int to, int from)
{
    return &k->lines[((int)(n % PLAN_SLOTS) * k->size + to) * k->size + from];
}
static inline char *leaf_slot(const struct comm_coll *k, int rank, int slot)
{
    if (slot >= PLAN_SLOTS + PLAN_SMALLS) return (char *)leaf_line(k, (uint64_t)slot - PLAN_SLOTS - PLAN_SMALLS, rank, 0);
    if (slot >= PLAN_SLOTS) return k->flags[rank].small[slot - PLAN_SLOTS];
    return k->buffers + ((int64_t)rank * PLAN_SLOTS + slot) * PLAN_SLOT_BYTES;
}

#endif
