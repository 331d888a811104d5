/* plan.h -- schedules of collectives: the language of their steps, and the executor.
 *
 * An algorithm is a pure function of (args, round) that writes at most PLAN_STEPS steps and returns their number, 0 at the end.  The
 * same function serves blocking, non-blocking and persistent calls, and the checker (all ranks in one process, real data).  The executor
 * never blocks; its caller does.
 *
 * ROUNDS   In a round the local steps are executed first, in order (a WAIT holds back the steps behind it); then RECVs and SENDs are
 *          posted.  The round ends when all are complete, so data of a RECV can be used from the next round on.
 *
 * LEAVES   Collectives through shared memory.  The members of a communicator on one node share a region: per member a control flag on
 *          its own cache line and a buffer of PLAN_SLOTS slots.  PLAN_SMALLS further slots, of PLAN_SMALL_BYTES, lie on the flag's line and
 *          are numbered from PLAN_SLOTS on.  A member whose slots others read runs so many calls ahead of them; where ranks share cores, that
 *          is how many calls a switch of the core serves.  With five small slots and the sigs the flag's line is full.  In leaf
 *          collective n a member raises its flag to (n << 20 | phase), phases counting from 1.  WAIT holds until the flag of one
 *          member, or of all others, has reached a phase.  A flag never decreases.
 *
 * PAIRS    Pairwise flags.  With up to PLAN_PAIR_MEMBERS members there are also PLAN_SLOTS cache lines per ordered pair of members, each
 *          with a number and up to PLAN_PAIR_BYTES of data: PLAN_PAIR_SIGNAL raises the number, PLAN_PAIR_WAIT waits for it.  A wait for a line
 *          that one core writes and one reads takes half as long as for a flag that all read.  For the invariants below they are slots,
 *          numbered after PLAN_SMALLS.
 *
 * MISMATCH The members of a communicator must call the same collectives in the same order.  The signature of each call (kind, root,
 *          operation, bytes) goes into a running hash, 16 bits of which are stored on the flag's line, for the last PLAN_SIGS
 *          collectives, and in pairwise flags.  A member that waits for a flag compares them with its own.  Messages carry kind,
 *          root and number in their tag, and the receiver knows the length that a message must have.  On a difference, and when a wait
 *          has become long, the calls themselves are compared: each rank records its last ones in the node segment (boot_coll_note).
 *          compare.c words the error.
 *
 * NUMBERS  n follows from the number of the user's call (struct plan_args, number), not from how many leaf collectives there were, so
 *          members that took different ways in calls that differ agree on it again in the next call: plan_leaf_number().  Numbers are
 *          left out where a call has no leaf collective.
 *
 * INVARIANT P1  A slot is written in collective n only when all members have finished reading its former contents: narrow collectives
 *               use slot n modulo PLAN_SLOTS, wide ones all slots.  A writer waits until all members have left the last collective that
 *               used the slot: plan_entry().  A member has left a collective when its flag has reached phase PLAN_FINAL of it, or any
 *               later collective.  Where the slot was used by the last collective before, others wait for this member, too, so it raises
 *               its flag to phase 0 of the new one: if it has to wait itself, or may wait before it publishes (PLAN_LATE).
 * INVARIANT P2  Every member publishes at least once in every leaf collective.
 *
 * NODES    A communicator with members on several nodes has a region on each node, with its own numbering of collectives.  A hierarchical
 *          algorithm is a sequence of stages, each an ordinary algorithm on a team: the members of a node, or one member per node.  In a
 *          stage rank, size, root and counts are those within the team.  See struct plan_stage.
 *
 * LOCK     No lock is held by the caller, unless the comment says otherwise.
 * RETURNS  GW_OK or a negative code, after gw_fail().
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PLAN_PLAN_H
#define GW_PLAN_PLAN_H

#include "base/base.h"
#include "boot/where.h"
#include "op/exact.h"
#include "op/op.h"
#include "p2p/p2p.h"

#define PLAN_STEPS        8
#define PLAN_SLOTS        5
#define PLAN_SLOT_BYTES   (32 << 10)
#define PLAN_SMALLS       PLAN_SLOTS
#define PLAN_SIGS         8
#define PLAN_SMALL_BYTES  8
#define PLAN_PAIR_BYTES   56
#define PLAN_LABEL_BYTES  8
#define PLAN_PAIR_MEMBERS 16
#define PLAN_FINAL        0xfffff

enum plan_buf { PLAN_IN, PLAN_OUT, PLAN_TMP, PLAN_SHM }; /* SHM: slot `slot` of member `rank`'s buffer */

/* A range of a buffer; `off` in bytes.  Typed: `count` items of `type` at `off`; if len >= 0, only bytes [pos, pos + len) of their packed
 * form.  Raw (type NULL): `len` bytes at `off`. */
struct plan_ref {
    uint8_t buf, slot;
    int32_t rank;
    int64_t off, count, pos, len;
    struct gw_type *type;
};

enum plan_kind {
    PLAN_SEND,        /* a to peer */
    PLAN_RECV,        /* a from peer */
    PLAN_COPY,        /* a -> b, min of the lengths */
    PLAN_LABEL,       /* COPY a to b, raw, behind its length in PLAN_LABEL_BYTES at b */
    PLAN_UNLABEL,     /* COPY to b what a LABEL of `peer` left at a, raw, which must be as long as b */
    PLAN_REDUCE,      /* b = a OP b, over a.count elements of a.type; OP: `op`, NULL: the collective's */
    PLAN_EXACT,       /* op_exact_step(exact, phase) over `stride` real numbers from a to b; exponents at exponents_off of TMP */
    PLAN_PUBLISH,     /* raise this member's flag to `phase` of this collective */
    PLAN_WAIT,        /* until the flag of `peer` (-1: of all others) has reached `phase` */
    PLAN_PAIR_SIGNAL, /* raise the pairwise flag to `peer` to this collective; stride: total bytes for that peer, which it checks */
    PLAN_PAIR_WAIT,   /* wait for the pairwise flag from `peer` (-1: from all others); stride: total bytes that it must announce */
    PLAN_GIVE, /* COPY a into b, raw SHM, with the number of bytes stored in front of it: plan_size_gap(); a empty: the number only */
    PLAN_TAKE,       /* COPY a into b; a was written by a GIVE of `peer`, which must be of as many bytes */
    PLAN_SHM_REDUCE, /* b = the reduction in rank order of the SHM pieces a of members 0 .. peer-1 (a.rank is ignored); plan_shm_sum() if
                      * the arguments say `exact` */
    PLAN_ASSEMBLE, /* raw: for each member r, bytes [r * stride, (r + 1) * stride) of b from the same offset behind a in r's slot; b.len ends */
    PLAN_EXPOSE, /* allow other members to PULL from the memory at a, from the next PUBLISH on */
    PLAN_PULL,   /* read a.len bytes, at offset `remote` of what `peer` exposes, into a (raw), by the kernel (CMA) */
};
struct plan_step {
    uint8_t kind;
    struct op_exact exact;
    int32_t peer, phase;
    int64_t stride;
    union {
        int64_t remote, exponents_off;
        struct gw_op *op;
    };
    struct plan_ref a, b;
};

/* In messages of equal length whose blocks are shorter, the length of each goes with it: LABEL, UNLABEL.
 * If only the two ends of a block in shared memory know its length, an 8-byte length word is stored in front of it, at this
 * distance (a short block shares the cache line with it).  A block too long for GIVE goes by a message; its length word is written all
 * the same, and the RECV refers to it in b (len 0): this detects ends that disagree on whether the block is long. */
static inline int64_t plan_size_gap(int64_t bytes) { return bytes + 8 <= GW_CACHELINE ? 8 : GW_CACHELINE; }
static inline uint64_t plan_size_word(uint64_t n, int64_t bytes) { return n << 32 | (uint32_t)bytes; }
/* For gatherv, whose root knows the length of each block: the hash of it that goes into the members' signatures. */
static inline uint16_t plan_size_sig(int64_t bytes) { return (uint16_t)((uint64_t)bytes * 0x9e3779b97f4a7c15 >> 48); }

/* The nodes on which the members of a communicator run, numbered in the order of their lowest members; the members of a node in the order
 * of ranks.  Takes 4 bytes per node if the members of each node are consecutive ranks, else 8 bytes more per member. */
struct plan_nodes {
    int n, me, place; /* number of nodes; this process's node; its place among the node's members */
    int fewest, most; /* members of a node */
    bool ordered;     /* the members of each node are consecutive ranks */
    int32_t *first;   /* [n + 1] number of members on the nodes before this one */
    int32_t *member;  /* [size] members, node by node; NULL if ordered */
    int32_t *node;    /* [size] node of each member; NULL if ordered */
};
/* node_of(ctx, member) returns a number below `ids`.  NULL: out of memory. */
struct plan_nodes *plan_nodes_new(int size, int rank, int (*node_of)(void *ctx, int member), void *ctx, int ids);
void plan_nodes_free(struct plan_nodes *n); /* n may be NULL */
static inline int plan_node_size(const struct plan_nodes *n, int node) { return n->first[node + 1] - n->first[node]; }
static inline int plan_member(const struct plan_nodes *n, int node, int place)
{
    return n->member ? n->member[n->first[node] + place] : n->first[node] + place;
}
int plan_node_of(const struct plan_nodes *n, int member);
int plan_place_of(const struct plan_nodes *n, int member);

/* Parameters of algorithms; each uses at most one, see struct plan_algorithm.  0: the algorithm's default. */
struct plan_params {
    int64_t piece_bytes; /* segment size, if messages are pipelined */
    int64_t block_bytes; /* size of a block, if a stage packs or sorts blocks of equal length */
    int32_t radix;       /* of a tree */
    int32_t under_way;   /* throttle: messages, or members that may send, at a time */
};

/* The input of an algorithm.  Counts per peer if the collective has them. */
struct plan_args {
    int rank, size, root;
    int remote;             /* size of the remote group, whose ranks steps number from `size` on; 0: intracommunicator */
    int32_t n_s;            /* with a request: length of scounts, sdispls and sts */
    int64_t scount, rcount; /* per peer in gather, scatter, allgather, alltoall; elements in reductions (rcount) */
    struct gw_type *st, *rt;
    struct gw_counts scounts, sdispls, rcounts, rdispls; /* v NULL where unused; displacements in elements, bytes for w */
    struct gw_type **sts, **rts;                         /* of w forms */
    struct gw_op *op;
    bool in_place;
    bool is_vector;        /* gatherv, scatterv: only the root knows all counts */
    bool is_untuned;       /* as the communicator's */
    bool has_counters;     /* algorithms by_counters may be used: plan_counters_join() has said so */
    struct op_exact exact; /* a sum that a leaf takes by op_exact_sum(); words 0: no such sum, or by messages */
    int32_t n_r;           /* the same of rcounts, rdispls and rts */
    struct plan_params params;
    int64_t tmp_span;  /* reductions: bytes of a temporary for rcount elements of rt, */
    int64_t tmp_shift; /* and offset in it of their buffer address */
    union {
        const struct gw_topo *topo;     /* neighbourhood collectives: the communicator's topology */
        const struct plan_nodes *nodes; /* other collectives: the members' nodes; NULL: not known, or one node */
    };
    void *own;       /* private to an algorithm that needs more than these arguments */
    uint64_t n;      /* leaves: number of the collective in its region, before plan_run(): what to add to plan_leaf_number();
                      * messages: their tag, see plan_private.h */
    uint64_t says;   /* signature of the call (boot_coll_note), */
    int64_t bytes;   /* its bytes, */
    uint64_t number; /* and its number on the communicator, as the user counts calls */
    uint16_t sig;    /* 16 bits of the running hash */
};
typedef int plan_emit(const struct plan_args *a, int round, struct plan_step *steps);
struct plan_stage;
/* Writes stage i of this member; false if there is none.  Depends only on the arguments and on what earlier stages left in `tmp`, where it
 * may also store arrays that the stage's arguments point to.  leaves: the members of this node may use leaves. */
typedef bool plan_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *stage_out);
enum plan_takes { PLAN_TAKES_NOTHING, PLAN_TAKES_PIECE, PLAN_TAKES_RADIX, PLAN_TAKES_UNDER_WAY };
struct plan_algorithm {
    const char *name;
    plan_emit *emit;                                 /* NULL if there are stages */
    int64_t (*tmp_bytes)(const struct plan_args *a); /* size of its temporary; NULL: none */
    uint8_t kind;
    uint8_t takes;                           /* which member of struct plan_params it uses: enum plan_takes */
    bool (*fits)(const struct plan_args *a); /* can it be used?  May depend only on what is equal on all members.  NULL: always */
    plan_stages *stages;                     /* hierarchical algorithms; tmp_bytes is then what the stages share */
    /* A stage across nodes, each round of which has a SEND and a RECV of no data, as in a barrier: the network raises a counter of the
     * receiver in place of the message (counters.c). */
    bool by_counters;
};
/* Kinds: by messages; leaves that use one slot, or all slots (pipelined); leaves that read other members' memory (CMA). */
enum { PLAN_P2P, PLAN_NARROW, PLAN_WIDE, PLAN_PULLING };
enum { /* flags of narrow leaves: which members write slots, unless all do; small data goes on the flag's line; there is only one round;
        * a member may wait before it has published */
       PLAN_ROOT_WRITES = 4,
       PLAN_OTHERS_WRITE = 8,
       PLAN_NOBODY_WRITES = 12,
       PLAN_WRITERS = 12,
       PLAN_SMALL = 16,
       PLAN_ONCE = 32,
       PLAN_LATE = 64,
       PLAN_KIND = 3 /* what is left without these */
};

/* The parameter as a number, for tools. */
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

/* Does this member write a slot? */
static inline bool plan_writes(const struct plan_algorithm *alg, const struct plan_args *a)
{
    int writers = alg->kind & PLAN_WRITERS;
    return !writers || writers == (a->rank == a->root ? PLAN_ROOT_WRITES : PLAN_OTHERS_WRITE);
}
/* INVARIANT P1: the value that all flags must have reached before this member begins leaf collective n; left[i]: when all have left the last
 * one that used slot i. */
static inline uint64_t plan_entry(const struct plan_algorithm *alg, const struct plan_args *a, uint64_t n,
                                  const uint64_t left[PLAN_SLOTS])
{
    return plan_writes(alg, a) ? left[n % PLAN_SLOTS] : 0;
}
/* Notes that it has begun. */
static inline void plan_slots_use(const struct plan_algorithm *alg, uint64_t n, uint64_t left[PLAN_SLOTS])
{
    left[n % PLAN_SLOTS] = n << 20 | PLAN_FINAL;
    if (alg->kind == PLAN_WIDE)
        for (int i = 0; i < PLAN_SLOTS; i++) left[i] = n << 20 | PLAN_FINAL;
}

/* Numbers of leaf collectives for each call of the user: on one node, and on several, where each stage in the node takes one.
 * They have no factor in common with PLAN_SLOTS and PLAN_SIGS, so calls take slots and sigs in turn.  On one node a call that is
 * a collective itself has the first of its numbers; those within another call have the others, and use messages when there are
 * no more. */
enum { PLAN_STRIDE = 9, PLAN_NODE_STRIDE = 517 };
_Static_assert(PLAN_SLOTS == 5 && PLAN_STRIDE % 5 != 0 && PLAN_NODE_STRIDE % 5 != 0, "calls take slots in turn");
_Static_assert(PLAN_SIGS == 8 && PLAN_STRIDE % 2 == 1 && PLAN_NODE_STRIDE % 2 == 1, "calls take sigs in turn");
static inline uint64_t plan_leaf_number(const struct plan_args *a) { return a->number * PLAN_STRIDE + a->n; }

/* ---- stages ------------------------------------------------------------------------------------------------------------------ */
/* The members that execute a stage, and how ranks within the team map to ranks of the communicator. */
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
    const struct plan_algorithm *alg; /* NULL: this member takes no part in the stage */
    struct plan_args args;
    struct plan_team team;
    struct plan_place in, out; /* its PLAN_IN and PLAN_OUT, as places in buffers of the whole collective */
    int64_t tmp;               /* offset of its temporaries in the temporary of the whole */
};
/* Iterator over the stages of an algorithm, for executors. */
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
/* Advances to the next stage of this member: 1: there is one; 0: there is none; or an error. */
int plan_walk_next(struct plan_walk *w);

/* The execution of one collective. */
struct plan_exec {
    const struct plan_algorithm *alg;
    struct plan_args *args;
    struct gw_comm *comm;
    struct comm_coll *leaf; /* comm->coll, if leaves are used; else NULL, as another thread may be creating comm->coll */
    char *in, *out, *tmp;
    struct plan_walk *walk; /* NULL: there are no stages */
    int round, n_steps, at;
    int scan;        /* next member to look at in a WAIT for all, */
    uint64_t lowest; /* and the lowest flag so far */
    int n_messages;  /* messages of this round that are not posted yet */
    bool differs;    /* err: members have called different collectives, so what we wait for may never come */
    int n_reqs, err;
    struct gw_req *reqs[PLAN_STEPS];
    int64_t want[PLAN_STEPS]; /* per request: bytes that must be received; -1: a send */
    struct plan_step steps[PLAN_STEPS];
};

int plan_init(void);

/* Blocking.  in, out: the user's buffers (with MPI_IN_PLACE both may be the same).  Sets args->n and args->sig. */
int plan_run(const struct plan_algorithm *alg, struct plan_args *args, const void *in, void *out, struct gw_comm *c);

/* The same for an algorithm with stages.  leaves: result of plan_node_leaf_ready(); false if the nodes are not known. */
int plan_run_stages(const struct plan_algorithm *alg, struct plan_args *args, const void *in, void *out, bool leaves,
                    struct gw_comm *c);

/* ---- leaves of one slot, at once (once.c) ----
 * What the algorithms "leaf" of barrier, bcast, gather(v), reduce, allreduce and allgather and "lines" of scatter, alltoall and reduce_scatter do,
 * without writing steps down first: of the time that those take for few bytes that is the larger part.  For blocking calls on a communicator with
 * leaves (plan_once_may()); data of at most PLAN_SLOT_BYTES a member (lines: PLAN_PAIR_BYTES a pair), in types with is_plain.  `kind` as for
 * plan_enter_as(), which is not called.
 * They spin as long as a rank does before it yields.  Who has to wait longer, or finds that another member's call differs, returns GW_AGAIN,
 * and the caller goes on by plan_run_on() with the algorithm and its arguments, which begins at the first step that waits. */
struct plan_once {
    struct gw_comm *comm;
    uint64_t says, number, n; /* as in struct plan_args; n: of the region */
    int64_t bytes, block;     /* of the call, as args->bytes; of a member's or a pair's data */
    uint16_t sig;
    bool has_begun; /* what comes before the first step that waits has been done */
};
struct plan_operands { /* of a reduction */
    const void *in;    /* NULL: in place */
    void *out;         /* NULL: this member wants no result (reduce: only the root does) */
    int64_t count;
    struct gw_type *type;
    struct gw_op *op;
};
struct plan_blocks {                 /* of a gather */
    const void *in;                  /* the own block; NULL: in place */
    int64_t bytes;                   /* of it */
    char *out;                       /* the root's */
    struct gw_counts counts, displs; /* gatherv: of the root, in elements; v NULL: all blocks are as long as the own one */
    int64_t size;                    /* bytes of an element */
};
bool plan_once_may(const struct gw_comm *c);
int plan_once_barrier(struct plan_once *o, struct gw_comm *c, unsigned kind);
int plan_once_bcast(struct plan_once *o, struct gw_comm *c, unsigned kind, int root, void *buf, int64_t bytes);
int plan_once_gather(struct plan_once *o, struct gw_comm *c, unsigned kind, int root, bool is_vector, const struct plan_blocks *b);
/* in: the root's; own: this member's block, NULL: in place. */
int plan_once_scatter(struct plan_once *o, struct gw_comm *c, unsigned kind, int root, const void *in, void *own, int64_t bytes);
/* Also of the last three: in NULL: in place. */
int plan_once_reduce(struct plan_once *o, struct gw_comm *c, unsigned kind, int root, const struct plan_operands *of);
int plan_once_allgather(struct plan_once *o, struct gw_comm *c, unsigned kind, const void *in, void *out, int64_t bytes);
int plan_once_alltoall(struct plan_once *o, struct gw_comm *c, unsigned kind, const void *in, void *out, int64_t bytes);
/* of->count: of a part; not in place. */
int plan_once_reduce_scatter(struct plan_once *o, struct gw_comm *c, unsigned kind, const struct plan_operands *of);
/* Blocking, as plan_run(). */
int plan_run_on(const struct plan_once *o, const struct plan_algorithm *alg, struct plan_args *args, const void *in, void *out);

/* Non-blocking (PLAN_START) and persistent (PLAN_INIT) operations, for algorithms by messages only.  The call executes what can be done at
 * once; progress does the rest, without the lane's lock.  Any number may be pending on a communicator, and they complete in any order.
 * All members must make the calls in the same order, which numbers them: plan_enter_as().  A persistent operation keeps its number, so
 * starts may come in different orders.  alg NULL: an operation without steps.
 *
 * The request holds references to datatypes, op and communicator until completion (persistent: until it is freed); arrays of counts,
 * displacements and datatypes are copied.  Later errors are errors of the request. */
enum plan_when { PLAN_START, PLAN_INIT };
int plan_start(enum plan_when when, const struct plan_algorithm *alg, const struct plan_args *args, const void *in, void *out,
               struct gw_comm *c, struct gw_req **req_out);

/* To be called at the start of each collective call of the user: assigns its number on the communicator and records its signature in the
 * node segment, for reports and for comparison with other members.  plan_enter() records kind and root (negative: none) only. */
enum plan_call {
    PLAN_ANY_CALL,
    PLAN_MAKING,
    PLAN_FINALIZE,
    PLAN_CALLS
}; /* kinds without, or with only a root to compare; those of coll/ follow */
void plan_enter(struct gw_comm *c, enum plan_call kind, int root);
/* The same for a collective with arguments: the caller has set a->bytes and the flags in a->says (PLAN_SAYS_FLAG); this sets the rest of
 * a->says, and a->number. */
void plan_enter_as(struct gw_comm *c, unsigned kind, struct plan_args *a);
/* The same for one with a request, where gw_set.coll_order counts those by themselves; it is not recorded. */
void plan_enter_apart(struct gw_comm *c, unsigned kind, struct plan_args *a);
/* Brackets a call of the user that consists of several collectives on c: they share its number and are not recorded themselves.  All of
 * them are blocking, so message order is enough to tell their messages apart; no function of the user may run in between. */
void plan_call_begin(struct gw_comm *c, enum plan_call kind, int root);
static inline void plan_within_add(struct gw_comm *c, int by)
{
    uint8_t n = atomic_load_explicit(&c->within, memory_order_relaxed);
    if (n == 0) c->inner = 0;
    atomic_store_explicit(&c->within, (uint8_t)(n + by), memory_order_relaxed);
}
static inline bool plan_is_within(const struct gw_comm *c) { return atomic_load_explicit(&c->within, memory_order_relaxed) > 0; }
static inline void plan_call_end(struct gw_comm *c) { plan_within_add(c, -1); }
#define PLAN_SAYS_FLAG(flag) ((uint64_t)(flag) << BOOT_SAYS_FLAGS) /* BOOT_SAYS_OWN, ..: bytes of one's own are not compared */
/* Names of kinds from PLAN_CALLS on: the MPI call without "MPI_". */
extern const char *const *plan_call_names;
/* At finalize: GW_OK, or an error if members have called different collectives and it was not reported yet, or if unreceived messages are
 * left.  goes_on: other members may be in collectives on c that this rank has not entered; their messages are not left over. */
int plan_compare_last(struct gw_comm *c, bool goes_on);

/* Does this communicator have a region for leaves?  The first call on a communicator is collective and creates it.  False on all members
 * if the shared heap is full. */
bool plan_leaf_ready(struct gw_comm *c);
/* The same for the members on this node, if the communicator has members on other nodes and plan_nodes() is not NULL; nodes may get
 * different results. */
bool plan_node_leaf_ready(struct gw_comm *c);
const struct plan_nodes *plan_nodes(struct gw_comm *c); /* NULL: not known, because some members are of other worlds */
/* can all members read each other's memory?  Tested once; plan_leaf_ready() must be true */
bool plan_pull_ready(struct gw_comm *c);

/* ---- counters that the network raises (counters.c), for communicators with members on several nodes ----
 * All members ask the first one, which is the same for all: false: there are none.  forced: also where the network is software.  Then all make an
 * offer, and with the offers of all members, by rank, join: true, on all: algorithms by_counters may be used. */
struct plan_counter_place {
    uint64_t at, key; /* key 0: none, as of members that do not speak for their node */
};
bool plan_counters_may(struct gw_comm *c, bool is_forced) GW_COLD;
struct plan_counter_place plan_counters_offer(struct gw_comm *c, bool is_forced) GW_COLD;
bool plan_counters_join(struct gw_comm *c, const struct plan_counter_place *all) GW_COLD;
enum plan_counters_are { PLAN_COUNTERS_NOT_ASKED, PLAN_COUNTERS_NONE, PLAN_COUNTERS_THERE };
enum plan_counters_are plan_counters_are(struct gw_comm *c);

/* ---- what references mean (memory.c): without a communicator, so that the checker resolves them too ---------------- */
struct plan_memory {
    char *in, *out, *tmp;
    int64_t tmp_shift;
    char *(*shm)(void *ctx, int rank, int slot);
    void *ctx;
};
/* Computed in integers, as `base` may be NULL: with no data, or with datatypes of absolute addresses. */
static inline char *plan_plus(const char *base, int64_t off) { return (char *)((uintptr_t)base + (uintptr_t)off); }

static inline char *plan_address(const struct plan_memory *m, const struct plan_ref *r)
{
    switch (r->buf) {
    case PLAN_IN: return plan_plus(m->in, r->off);
    case PLAN_OUT: return plan_plus(m->out, r->off);
    case PLAN_TMP: return plan_plus(m->tmp, r->off + (r->type ? m->tmp_shift : 0));
    default: return m->shm(m->ctx, r->rank, r->slot) + r->off;
    }
}
static inline int64_t plan_ref_bytes(const struct plan_ref *r) { return r->type ? r->count * r->type->size : r->len; }
void plan_copy(const struct plan_memory *m, const struct plan_ref *a, const struct plan_ref *b);
void plan_label(const struct plan_memory *m, const struct plan_ref *a, const struct plan_ref *b);
int64_t plan_unlabel(const struct plan_memory *m, const struct plan_ref *a,
                     const struct plan_ref *b);                          /* the length; copies if it is b's */
void plan_exact(const struct plan_memory *m, const struct plan_step *s); /* PLAN_EXACT */
void plan_shm_sum(const struct plan_memory *m, const struct plan_step *s, struct op_exact exact);

#endif
