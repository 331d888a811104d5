/* plan.h -- the step language of collectives, and what runs it.
 *
 * An algorithm is a pure function of (args, round) that writes at most PLAN_STEPS steps and returns their number, 0 when it is
 * over.  The same function serves the blocking call, the non-blocking and the persistent one, and the checker (all ranks in one
 * process, real data): the executor never blocks, whoever drives it does.
 *
 * In a round:  first the local steps in order (a WAIT holds back those behind it), then RECVs and SENDs are posted; the round is
 * over when all of them are complete.  So what a RECV of one round brings may be used from the next round on.
 *
 * Node leaves.  The members of a communicator on one node share a region: per member a flag on a line of its own and a
 * buffer of PLAN_SLOTS slots; PLAN_SMALLS more, of PLAN_SMALL_BYTES, lie in the line of the flag and are numbered from PLAN_SLOTS on.
 * Collective number n of a communicator raises its flag to (n << 20 | phase), phases counting up from 1.  WAIT holds
 * until a member's, or everybody else's, flag has reached a phase of this collective.  A flag never goes down.
 *
 * Lines.  Up to PLAN_LINE_MEMBERS members also have, per pair and direction, PLAN_SLOTS lines with a number: who HANDs one over lets its
 * receiver go on, that one alone, and up to PLAN_LINE_BYTES come with it.  A core waits for a line that only one other core touches
 * half as long as for a flag at which all look.  They count as slots, behind PLAN_SMALLS, for the rules below.
 *
 * Mismatches.  The members of a communicator must call the same collectives in the same order.  What each call says (kind, root,
 * operation, bytes) goes into a running hash, 16 bits of which lie in the line of the flag, for the last PLAN_SIGS collectives,
 * and in the number of a handed line; who waits for a flag or a line compares them with its own.  Messages carry kind, root and
 * number in their tag, and a receive of a collective knows how long its message must be.  Where something differs, and where a
 * wait has become long, the calls themselves are compared: each rank notes its last ones for the others of its node
 * (boot_coll_note).  compare.c says what was found.
 *
 * INVARIANT P1  slot s of anybody's buffer is written in collective n only when everybody has finished reading what was there:
 *               narrow collectives use slot n modulo PLAN_SLOTS, and who writes waits until everybody has published in collective
 *               n - PLAN_SLOTS + 1 (in the line of the flag, the same with PLAN_SMALLS); wide ones use all slots and end with phase
 *               PLAN_FINAL, for which the next one that writes into them waits: plan_entry().
 * INVARIANT P2  every member publishes at least once in every leaf collective.
 *
 * Several nodes.  Members of a communicator that live on several nodes have a region on each node, of the members there; collectives
 * are numbered in each region for themselves.  An algorithm over nodes is a sequence of stages, each an ordinary algorithm on a team:
 * the members of a node, or one of each node.  In a stage rank, size, root and the counts are the team's.  See struct plan_stage.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PLAN_PLAN_H
#define GW_PLAN_PLAN_H

#include "base/base.h"
#include "boot/where.h"
#include "op/op.h"
#include "p2p/p2p.h"

#define PLAN_STEPS        8
#define PLAN_SLOTS        4
#define PLAN_SLOT_BYTES   (32 << 10)
#define PLAN_SMALLS       5
#define PLAN_SIGS         8
#define PLAN_SMALL_BYTES  8
#define PLAN_LINE_BYTES   56
#define PLAN_LINE_MEMBERS 16
#define PLAN_FINAL        0xfffff

enum plan_buf { PLAN_IN, PLAN_OUT, PLAN_TMP, PLAN_SHM }; /* SHM: slot `slot` of member `rank`'s buffer */

/* A piece of memory.  Typed: `count` of `type` from `off`; bytes [pos, pos + len) of its packed stream where len >= 0, else all of
 * it.  Raw (type NULL): `len` bytes from `off`. */
struct plan_ref {
    uint8_t buf, slot;
    int32_t rank;
    int64_t off, count, pos, len;
    struct gw_type *type;
};

enum plan_kind {
    PLAN_SEND,    /* a to peer */
    PLAN_RECV,    /* a from peer */
    PLAN_COPY,    /* a -> b, min of the lengths */
    PLAN_REDUCE,  /* b = a OP b, over a.count elements of a.type */
    PLAN_PUBLISH, /* raise my flag to `phase` of this collective */
    PLAN_WAIT,    /* until the flag of `peer` (-1: of everybody else) has reached `phase` */
    PLAN_HAND,    /* raise the number of my line to `peer` to this collective; stride: bytes that are for it in all */
    PLAN_HANDED,  /* WAIT until `peer` (-1: everybody else) has done so with its line to me; stride: bytes that it must have said */
    PLAN_GIVE,    /* COPY a into b, raw SHM, and before it the number of bytes: plan_size_gap(); no data where a is empty */
    PLAN_TAKE,    /* COPY a into b, where `peer` must have GIVEn as many bytes */
    PLAN_SHM_REDUCE, /* b = the reduction in rank order of the SHM pieces a of members 0 .. peer-1 (a.rank is ignored) */
    PLAN_ASSEMBLE,   /* raw: bytes [r * stride, (r + 1) * stride) of b from the same place behind a in member r's slot, to b.len */
    PLAN_EXPOSE,     /* the memory at a may be read by PULL from the next PUBLISH on */
    PLAN_PULL,       /* a.len bytes from `remote` bytes behind what `peer` exposes into a (raw), by the kernel */
};
struct plan_step {
    uint8_t kind;
    int32_t peer, phase;
    int64_t stride, remote;
    struct plan_ref a, b;
};

/* Of what only the two ends of a block know, its length goes along in shared memory: so far before a block of so many bytes, 8 of them, which
 * where it is short are in its line.  Of a block that is too long to be GIVEn and goes by a message the length is GIVEn all the same, and its
 * RECV says in b where (len 0), so that one end that takes it for a long block and one that does not can be told. */
static inline int64_t plan_size_gap(int64_t bytes) { return bytes + 8 <= GW_CACHELINE ? 8 : GW_CACHELINE; }
static inline uint64_t plan_size_word(uint64_t n, int64_t bytes) { return n << 32 | (uint32_t)bytes; }
/* Of a gatherv, whose root knows how much each member gives: this goes into their sig. */
static inline uint16_t plan_size_sig(int64_t bytes) { return (uint16_t)((uint64_t)bytes * 0x9e3779b97f4a7c15 >> 48); }

/* Where the members of a communicator run: nodes are numbered in the order of their lowest members, the members of a node are in the
 * order of ranks.  4 bytes a node where members of a node are neighbours in the communicator, else 8 bytes a member more. */
struct plan_nodes {
    int n, me, place; /* nodes; which is mine; my place among its members */
    int fewest, most; /* members of a node */
    bool ordered;     /* the members of a node are consecutive ranks */
    int32_t *first;   /* [n + 1] members of nodes before this one */
    int32_t *member;  /* [size] node after node; NULL where ordered */
    int32_t *node;    /* [size] of each member; NULL where ordered */
};
/* node_of(ctx, member): a number below `ids`.  NULL: out of memory. */
struct plan_nodes *plan_nodes_new(int size, int rank, int (*node_of)(void *ctx, int member), void *ctx, int ids);
void plan_nodes_free(struct plan_nodes *n); /* NULL is right */
static inline int plan_node_size(const struct plan_nodes *n, int node) { return n->first[node + 1] - n->first[node]; }
static inline int plan_member(const struct plan_nodes *n, int node, int place)
{
    return n->member ? n->member[n->first[node] + place] : n->first[node] + place;
}
int plan_node_of(const struct plan_nodes *n, int member);
int plan_place_of(const struct plan_nodes *n, int member);

/* Parameters of algorithms: each looks at those that it has, see struct plan_algorithm.  0: its default. */
struct plan_params {
    int64_t piece_bytes; /* of a piece, where a message goes piece by piece */
    int64_t block_bytes; /* of a block, where a stage packs or sorts blocks of equal length */
    int32_t radix;       /* of a tree */
    int32_t under_way;   /* messages, or members that have leave to send, at a time */
};

/* Everything an algorithm may look at.  Counts per peer where the collective has them. */
struct plan_args {
    int rank, size, root;
    int remote;             /* ranks of the remote group, which steps number from size on; 0: there is none */
    int32_t n_s;            /* behind a request: length of scounts, sdispls and sts, those that there are */
    int64_t scount, rcount; /* per peer in gather, scatter, allgather, alltoall; elements in reductions (rcount) */
    struct gw_type *st, *rt;
    struct gw_counts scounts, sdispls, rcounts, rdispls; /* v NULL where unused; displacements in elements, bytes for w */
    struct gw_type **sts, **rts;                         /* of w forms */
    struct gw_op *op;
    bool in_place;
    bool is_vector; /* gatherv, scatterv: only the root knows all counts */
    int32_t n_r;    /* the same of rcounts, rdispls and rts */
    struct plan_params params;
    int64_t tmp_span;  /* reductions: bytes of one temporary holding rcount elements of rt, */
    int64_t tmp_shift; /* and how far behind its begin the buffer address of those lies */
    union {
        const struct gw_topo *topo;     /* neighbourhood collectives: whom the blocks are from and for; the communicator's */
        const struct plan_nodes *nodes; /* others: where the members run; NULL: nobody has asked, all count as alike */
    };
    void *own;     /* of an algorithm that is not only a function of this */
    uint64_t n;    /* leaves: number of the collective in its region; messages: their tag, see plan_private.h */
    uint64_t says; /* what the call says (boot_coll_note), bytes, its number on the communicator as the user counts */
    int64_t bytes;
    uint64_t number;
    uint16_t sig; /* of the running hash */
};
typedef int plan_emit(const struct plan_args *a, int round, struct plan_step *steps);
struct plan_stage;
/* Stage i of this member: false if there is none.  A function of its arguments, and of what former stages left in the temporary,
 * where it may also put arrays for the arguments of the stage.  leaves: the members of this node may use leaves. */
typedef bool plan_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *stage_out);
enum plan_takes { PLAN_TAKES_NOTHING, PLAN_TAKES_PIECE, PLAN_TAKES_RADIX, PLAN_TAKES_UNDER_WAY };
struct plan_algorithm {
    const char *name;
    plan_emit *emit;                                 /* NULL where there are stages */
    int64_t (*tmp_bytes)(const struct plan_args *a); /* NULL: none */
    uint8_t kind;
    uint8_t takes;                           /* its parameter among struct plan_params, enum plan_takes */
    bool (*fits)(const struct plan_args *a); /* may it be used?  A function of what is equal on all members.  NULL: always */
    plan_stages *stages;                     /* of an algorithm over nodes; then tmp_bytes are those that the stages share */
};
enum { PLAN_P2P, PLAN_NARROW, PLAN_WIDE, PLAN_PULLING }; /* messages; leaves in one slot, in all, by reading others' memory */
enum { /* more in the kind of a narrow one: who writes into slots, if not all; few bytes go in the line of the flag; there is one round */
       PLAN_ROOT_WRITES = 4,
       PLAN_OTHERS_WRITE = 8,
       PLAN_NOBODY_WRITES = 12,
       PLAN_WRITERS = 12,
       PLAN_SMALL = 16,
       PLAN_ONCE = 32,
       PLAN_KIND = 3 /* what is left without these */
};

/* For tools that know parameters as numbers. */
static inline void plan_param_set(struct plan_params *p, const struct plan_algorithm *alg, int64_t value)
{
    if (alg->takes == PLAN_TAKES_PIECE) p->piece_bytes = value;
    if (alg->takes == PLAN_TAKES_RADIX) p->radix = (int32_t)gw_min64(value, INT32_MAX);
    if (alg->takes == PLAN_TAKES_UNDER_WAY) p->under_way = (int32_t)gw_min64(value, INT32_MAX);
}
static inline int64_t plan_param(const struct plan_params *p, const struct plan_algorithm *alg)
{
    const int64_t values[] = {0, p->piece_bytes, p->radix, p->under_way};
    return values[alg->takes];
}

/* Does what this member puts into a slot fit the line of its flag?  A block that it gives, else an operand. */
static inline bool plan_is_small(const struct plan_args *a)
{
    if (a->st && !a->in_place) return a->scount * a->st->size <= PLAN_SMALL_BYTES;
    return (a->rcounts.v ? gw_counts_at(a->rcounts, a->rank) : a->rcount) * a->rt->size <= PLAN_SMALL_BYTES;
}

/* INVARIANT P1: what everybody's flag must have reached before this member begins leaf collective n.  wide: number of the last wide one. */
static inline uint64_t plan_entry(const struct plan_algorithm *alg, const struct plan_args *a, uint64_t n, uint64_t wide)
{
    int writers = alg->kind & PLAN_WRITERS;
    if (writers && writers != (a->rank == a->root ? PLAN_ROOT_WRITES : PLAN_OTHERS_WRITE)) return 0;
    bool small = alg->kind & PLAN_SMALL && plan_is_small(a);
    uint64_t slots = small ? PLAN_SMALLS : PLAN_SLOTS, narrow = n > slots ? (n - slots + 1) << 20 | 1 : 0;
    uint64_t end = wide && !small ? wide << 20 | PLAN_FINAL : 0;
    return narrow > end ? narrow : end;
}

/* ---- stages ------------------------------------------------------------------------------------------------------------------ */
/* Members that do a stage together, and how its ranks are those of the communicator. */
struct plan_team {
    enum { TEAM_ALL, TEAM_NODE, TEAM_ACROSS } kind; /* everybody; the members of `node`; of each node the one in `place` */
    int node, place;                                /* place -1: the last one of a node */
    int odd, stand_in;                              /* across: of node `odd` it is this member; odd -1: of none */
    const struct plan_nodes *nodes;
};
static inline int plan_team_rank(const struct plan_team *t, int i)
{
    if (t->kind == TEAM_ALL) return i;
    if (t->kind == TEAM_NODE) return plan_member(t->nodes, t->node, i);
    if (i == t->odd) return t->stand_in;
    return plan_member(t->nodes, i, t->place < 0 ? plan_node_size(t->nodes, i) - 1 : t->place);
}
struct plan_place {
    uint8_t buf;
    int64_t off;
}; /* in a buffer of the whole collective */
struct plan_stage {
    const struct plan_algorithm *alg; /* NULL: this member has no part in it */
    struct plan_args args;
    struct plan_team team;
    struct plan_place in, out; /* what its PLAN_IN and PLAN_OUT are */
    int64_t tmp;               /* where its temporaries begin in the temporary of the whole */
};
/* The way through the stages of an algorithm: for executors. */
struct plan_walk {
    const struct plan_algorithm *alg; /* the whole */
    const struct plan_args *args;
    char *in, *out, *tmp; /* tmp: for free(); grows */
    int64_t tmp_bytes;
    bool leaves;
    int i;                   /* the next stage */
    struct plan_stage stage; /* the present one, and its buffers */
    char *stage_in, *stage_out, *stage_tmp;
};
/* To the next stage of this member: 1 there is one, 0 none, or an error. */
int plan_walk_next(struct plan_walk *w);

/* One collective under way. */
struct plan_exec {
    const struct plan_algorithm *alg;
    struct plan_args *args;
    struct gw_comm *comm;
    struct comm_coll *leaf; /* comm->coll where it is used: another thread may make that now */
    char *in, *out, *tmp;
    struct plan_walk *walk; /* NULL: there are no stages */
    int round, n_steps, at;
    int scan;        /* member that a WAIT for everybody has come to, */
    uint64_t lowest; /* and the lowest flag so far */
    int n_messages;  /* seen in this round and not posted yet */
    bool differs;    /* err is that others call something else: what is waited for may never come */
    int n_reqs, err;
    struct gw_req *reqs[PLAN_STEPS];
    int64_t want[PLAN_STEPS]; /* of those: bytes that a receive must bring, -1: a send */
    struct plan_step steps[PLAN_STEPS];
};

int plan_init(void);

/* Blocking.  in, out: the user's buffers (in = out's place where in place is meant by the caller).  Numbers args. */
int plan_run(const struct plan_algorithm *alg, struct plan_args *args, const void *in, void *out, struct gw_comm *c);

/* The same for an algorithm that has stages.  leaves: what plan_node_leaf_ready() said; false where the nodes are not known. */
int plan_run_stages(const struct plan_algorithm *alg, struct plan_args *args, const void *in, void *out, bool leaves,
                    struct gw_comm *c);

/* Non-blocking (PLAN_START) and persistent (PLAN_INIT): a request, for algorithms of messages.  What can be done at once is done in
 * the call; progress does the rest, without the lane's lock.  Any number may be under way on a communicator, and be over in any
 * order; what must be alike on all members is the order of the calls that number them: plan_enter_as().  Persistent ones keep their
 * number, so they may be started in different orders.  alg NULL: nothing is to be done.
 *
 * Until the operation is over, or the persistent request is freed, the datatypes, the op and the communicator are held; arrays of counts,
 * displacements and datatypes are copied in the call, so the caller's may go when it returns.  Errors that are found later come with the request. */
enum plan_when { PLAN_START, PLAN_INIT };
int plan_start(enum plan_when when, const struct plan_algorithm *alg, const struct plan_args *args, const void *in, void *out,
               struct gw_comm *c, struct gw_req **req_out);

/* Every collective call of the user, as it begins: gives it its number on the communicator, and notes what it says, for reports and for
 * comparing with the calls of others.  Of these only a root, if it is not negative: */
enum plan_call {
    PLAN_ANY_CALL,
    PLAN_MAKING,
    PLAN_FINALIZE,
    PLAN_CALLS
}; /* kinds that are compared by nothing, or by their root; coll/ has more behind them */
void plan_enter(struct gw_comm *c, enum plan_call kind, int root);
/* One that runs by these arguments, of which `bytes` and flags (PLAN_SAYS_*) in `says` are set: fills in the others of what it says. */
void plan_enter_as(struct gw_comm *c, unsigned kind, struct plan_args *a);
/* A call that is made of several collectives on c itself: entered here, and those between the two have its number and are not
 * noted.  All of them are blocking, so the order of messages is enough to tell theirs apart.  None of the user's functions runs
 * meanwhile. */
void plan_call_begin(struct gw_comm *c, enum plan_call kind, int root);
static inline void plan_within_add(struct gw_comm *c, int by)
{
    uint8_t n = atomic_load_explicit(&c->within, memory_order_relaxed);
    atomic_store_explicit(&c->within, (uint8_t)(n + by), memory_order_relaxed);
}
static inline bool plan_is_within(const struct gw_comm *c) { return atomic_load_explicit(&c->within, memory_order_relaxed) > 0; }
static inline void plan_call_end(struct gw_comm *c) { plan_within_add(c, -1); }
#define PLAN_SAYS_FLAG(flag) ((uint64_t)(flag) << BOOT_SAYS_FLAGS) /* BOOT_SAYS_OWN, ..: bytes of one's own are not compared */
/* Names of kinds, from PLAN_CALLS on, as the MPI call without its prefix. */
extern const char *const *plan_call_names;
/* At the end: GW_OK, or an error if calls differ that nobody has told of, or messages are left over.  goes_on: others may have
 * begun collectives on c that this rank has not, or started persistent ones again; what they sent in these is not left over. */
int plan_compare_last(struct gw_comm *c, bool goes_on);

/* Is there a region for leaves on this communicator?  Collective at its first call on a communicator; false also where the
 * shared heap is full (then on all members). */
bool plan_leaf_ready(struct gw_comm *c);
/* The same for the members on this node, of a communicator with members elsewhere, whose plan_nodes() are known; the answer may differ
 * between nodes. */
bool plan_node_leaf_ready(struct gw_comm *c);
const struct plan_nodes *plan_nodes(struct gw_comm *c); /* NULL: not known, for some members are of other worlds */
bool plan_pull_ready(struct gw_comm *c); /* every member can read every other's memory (asked once; leaf must be ready) */

/* For the checker: resolves a reference without a communicator. */
struct plan_memory {
    char *in, *out, *tmp;
    int64_t tmp_shift;
    char *(*shm)(void *ctx, int rank, int slot);
    void *ctx;
};
void plan_copy(const struct plan_memory *m, const struct plan_ref *a, const struct plan_ref *b);
char *plan_address(const struct plan_memory *m, const struct plan_ref *r);

#endif
