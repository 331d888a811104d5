/* comm.h -- communicator objects: members, context ids, rank -> peer.  No communication.  Groups: group.h.
 *
 * The context id is a 29-bit number, the same on all members, and never used for two communicators that share a member at the same time.
 * On the wire it is shifted left by GW_STREAM_BITS; the low bits are the stream (enum gw_stream).
 *
 * Members in other worlds (MPI 4.1 chapter 11) have "world ranks" above those of this job: see struct node_other.
 *
 * An intercommunicator has two groups: `group`, `size` and `rank` are those of the local one; messages go to and come from ranks of
 * `remote`.  The context id is the same in both groups, so a message carries the rank of its sender in the sender's local group, which
 * is the receiver's remote group.  `local` is a private intracommunicator of the local group, on the same lane, with the next context id.
 *
 * LOCK     None: objects are reference counted, and fields that other threads read are atomic.
 * RETURNS  GW_OK or a negative code, after gw_fail(); outputs are written on success only.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_COMM_COMM_H
#define GW_COMM_COMM_H

#include "comm/group.h"
#include "base/base.h"
#include "req/req.h"

/* Messages of different streams never match each other. */
enum gw_stream {
    GW_STREAM_P2P,   /* the user's */
    GW_STREAM_COLL,  /* collectives */
    GW_STREAM_WORLD, /* making communicators */
    GW_STREAM_LEAF,  /* leaf set-up */
    GW_STREAM_PART,  /* partitioned communication */
    GW_STREAM_INTER, /* of an intercommunicator's local communicator: its part in collectives of both groups */
    GW_STREAM_CHECK, /* GODWIT_CHECK: who calls which collective */
    GW_STREAMS
};
#define GW_STREAM_BITS 3
#define GW_CTX_ID_MAX  (INT64_C(1) << (32 - GW_STREAM_BITS)) /* ids are below */
#define GW_CTX_ID_NONE (GW_CTX_ID_MAX - 2)                   /* this and the next: the id is not known yet */
#define GW_CTX_ID_JOIN (GW_CTX_ID_MAX - 3) /* between the roots of two worlds that connect; each pair has its own tag */
_Static_assert(GW_STREAMS <= 1 << GW_STREAM_BITS, "streams fit beside the context id");

/* Session scope: shared by the groups and communicators of one session (MPI 4.1 section 11.3); NULL: the World Model.  Inherited by the
 * objects made from them. */
struct comm_family {
    _Atomic int refs;
    void *bsend; /* buffer of MPI_Session_attach_buffer (p2p) */
};
static inline struct comm_family *comm_family_hold(struct comm_family *f)
{
    if (f) atomic_fetch_add_explicit(&f->refs, 1, memory_order_relaxed);
    return f;
}
void comm_family_release(struct comm_family *f); /* NULL is right */

/* A virtual topology (MPI 4.1 chapter 8): made by topo/ and never changed; duplicates share it.  Its arrays lie behind the struct. */
struct gw_topo_move {
    int32_t in, out;
}; /* a step of a neighbourhood collective: receive block `in`, send block `out` (the other is -1), or copy `out` to `in` */
struct gw_topo_like {
    int32_t place, of;
}; /* a neighbour may occur several times: this block is number `place` of the `of` blocks from, or to, that neighbour */
struct gw_topo {
    _Atomic int refs;
    int kind;      /* GW_CART, GW_GRAPH or GW_DIST_GRAPH */
    int nin, nout; /* sources and destinations of this process, with multiplicity */
    int *in, *out; /* their ranks, in the order of chapter 8; GW_PROC_NULL beyond the border of a grid */
    int nmoves;    /* schedule of neighbourhood collectives: see coll_neighbor_order() */
    struct gw_topo_move *moves;
    struct gw_topo_like *in_like, *out_like;
    union {
        struct {
            int ndims, *dims, *periods, *coords;
        } cart;
        struct {
            int nnodes, nedges, *index, *edges;
        } graph;
        struct {
            int *in_weights, *out_weights;
        } dist; /* NULL: not weighted */
    };
};
static inline struct gw_topo *comm_topo_hold(struct gw_topo *t)
{
    if (t) atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}
void comm_topo_release(struct gw_topo *t); /* NULL is right */

/* Assertions of the user on a communicator, by info keys (MPI 4.1 section 7.4.4): all false initially, not inherited by MPI_Comm_dup.
 * Argument checks enforce the first two.  No optimisation depends on them: matching has its fast path for every communicator on which
 * no wildcard is posted. */
enum comm_hint {
    COMM_NO_ANY_TAG = 1,
    COMM_NO_ANY_SOURCE = 2,
    COMM_EXACT_LENGTH = 4,
    COMM_ALLOW_OVERTAKING = 8,
    COMM_STRICT_PERSISTENT_ORDER = 16, /* mpi_assert_strict_persistent_collective_ordering */
    COMM_STRICT_START_ORDER = 32,      /* mpi_assert_strict_start_ordering, its older name */
    /* Not assertions but requests, key "reproducible" (GODWIT_REPRODUCIBLE): the order of operations in a reduction depends only on the
       number of ranks and of elements; sums depend on the operands alone. */
    COMM_REPRODUCIBLE = 64,
    COMM_REPRODUCIBLE_ANY = 128,
};

struct comm_coll; /* private to plan/ and coll/: leaf memory, cached plans, sequence numbers */

struct gw_comm {
    struct gw_obj obj;
    uint32_t ctx; /* context id << GW_STREAM_BITS */
    int rank, size;
    int targets; /* ranks that messages can be sent to: size, or the size of the remote group */
    struct gw_lane *lane;
    struct gw_peer *peers; /* peers[rank], if world ranks are consecutive; else NULL */
    struct gw_group *group;
    struct gw_group *remote; /* intercommunicators; else NULL */
    struct gw_comm *local;   /* intercommunicators: intracommunicator of the local group; else NULL */
    struct gw_errhandler *errhandler;
    bool one_node;   /* an intracommunicator whose members are all on this node */
    bool self;       /* size 1 */
    bool has_leaves; /* plan_leaf_ready() has returned true: shared memory for collectives on one node is there */
    /* Rows of GODWIT_TUNE do not count, because members may have others: there are members of other jobs, or it belongs to a session. */
    bool is_untuned;
    bool knows_once; /* `once` has been filled in */
    /* By kind of collective: 1 + up to how many bytes it is a leaf that can be done at once (plan_once_..); 0: it is not */
    uint16_t once[16];
    struct comm_coll *coll; /* NULL until the first collective */
    /* Number of the user's next collective call, from 1; that of MPI_Init on MPI_COMM_WORLD is 0.  The same on all members; messages
     * carry it (plan_private.h).  Other threads read it for reports. */
    _Atomic uint64_t colls;
    /* Of a window or a file: one of its calls may be several collectives, whose numbers say nothing to the program. */
    bool is_inner;
    /* A team of OpenSHMEM: how many collectives its program has called, and what the number of its last one is above that (comm_coll_shown). */
    uint64_t team_calls, team_hidden;
    uint64_t colls_apart; /* those with requests, where gw_set.coll_order counts them by themselves */
    uint64_t said;        /* running hash of the calls: the same on all members unless their calls differ (plan_enter_as) */
    /* hash of the members, the same on all: tells communicators of equal context id apart in reports (boot_coll_mark) */
    uint64_t mark;
    struct gw_attrs attrs;
    uint16_t chosen; /* algorithm of the last collective (coll_algorithm_name), from 1; 0: none yet */
    uint8_t hints;   /* enum comm_hint */
    /* Depth of calls of the user that consist of several collectives, see plan_call_begin(); other threads read it. */
    _Atomic uint8_t within;
    uint32_t inner;       /* how many collectives of that call there have been */
    struct gw_topo *topo; /* may be NULL */
    void *bsend;          /* buffer of MPI_Comm_attach_buffer (p2p) */
    struct comm_family *family;
    char name[GW_MAX_OBJECT_NAME];
};
extern struct gw_comm gw_comm_world, gw_comm_self;

int comm_init(void); /* makes WORLD and SELF; after peer_init() */
void comm_finalize(void);
/* Makes MPI_COMM_WORLD and MPI_COMM_SELF visible to users, while the World Model is initialised; the library uses them at any time. */
void comm_world_show(void);
void comm_world_hide(void);
/* The group whose ranks messages are sent to. */
static inline struct gw_group *comm_target_group(const struct gw_comm *c) { return c->remote ? c->remote : c->group; }
static inline struct gw_peer *comm_peer(const struct gw_comm *c, int rank)
{
    return likely(c->peers != NULL) ? &c->peers[rank] : peer_get(c->lane, group_world(comm_target_group(c), rank));
}
void comm_join(struct gw_comm *c, struct comm_family *f); /* makes a new communicator part of a session; f NULL: of none */
/* A new communicator object over `group`, which gets a reference, with this context id; the error handler is inherited from `parent`. */
int comm_create_object(struct gw_group *group, uint32_t ctx_id, struct gw_comm *parent, struct gw_comm **comm_out);
/* The same for an intercommunicator; uses ctx_id and ctx_id + 1. */
int comm_create_inter(struct gw_group *group, struct gw_group *remote, uint32_t ctx_id, struct gw_comm *parent,
                      struct gw_comm **comm_out);
void comm_set_id(struct gw_comm *c, uint32_t ctx_id); /* for one made with GW_CTX_ID_NONE, before its first use */
/* Advances c->colls; the value before.  One thread at a time, as for collectives. */
static inline uint64_t comm_coll_count(struct gw_comm *c, int by)
{
    uint64_t n = atomic_load_explicit(&c->colls, memory_order_relaxed);
    atomic_store_explicit(&c->colls, n + (uint64_t)by, memory_order_relaxed);
    return n;
}
/* The number of a collective as the program would count it: of a call that is made of several, and of what belongs to it, the call's; 0: it would
 * not. */
static inline uint64_t comm_coll_shown(const struct gw_comm *c, uint64_t number)
{
    if (c->is_inner) return 0;
    if (c->team_calls == 0) return number;
    uint64_t shown = number - c->team_hidden;
    return shown < c->team_calls ? shown : c->team_calls;
}
static inline struct gw_comm *comm_hold(struct gw_comm *c)
{
    gw_obj_ref(&c->obj);
    return c;
} /* a reference, for a pending operation */
void comm_destroy(struct gw_comm *c);
static inline void comm_release(struct gw_comm *c)
{
    if (gw_obj_unref(&c->obj)) comm_destroy(c);
}
/* freed.c: remembers the error handler of a communicator whose id is about to be taken away, as requests may be pending; and who had this id,
 * if it was one of the last.  The handler stays valid until this thread asks again.  Any thread. */
void comm_freed_note(const struct gw_comm *c);
struct gw_errhandler *comm_freed_handler(uint64_t id); /* NULL: not known, or that of MPI_COMM_SELF */
/* Upcalls when an object is destroyed.  Each is set once, at init of the room named in its comment. */
struct comm_upcalls {
    void (*free_coll)(struct gw_comm *c);  /* plan: frees c->coll */
    void (*free_bsend)(struct gw_comm *c); /* p2p: frees c->bsend */
};
extern struct comm_upcalls comm_upcalls;
struct gw_comm *comm_by_context(uint32_t ctx_id); /* with a reference: comm_release(); NULL: none.  Slow: for reports */

/* Queries (chapter 7): implementations of the entry points. */
int comm_size(struct gw_comm *c, int *size_out);
int comm_rank(struct gw_comm *c, int *rank_out);
int comm_compare(struct gw_comm *a, struct gw_comm *b, int *result_out);
int comm_group(struct gw_comm *c, struct gw_group **group_out);
int comm_set_name(struct gw_comm *c, const char *name);
int comm_get_name(struct gw_comm *c, char *name_out, int *len_out); /* NULL: the name of MPI_COMM_NULL */
int comm_remote_size(struct gw_comm *c, int *size_out);
int comm_remote_group(struct gw_comm *c, struct gw_group **group_out);
int comm_test_inter(struct gw_comm *c, int *flag_out);
int comm_set_errhandler(struct gw_comm *c, struct gw_errhandler *eh);
int comm_get_errhandler(struct gw_comm *c, struct gw_errhandler **eh_out);
/* Hints (hints.c): keys that are not in info keep their values; unknown values are ignored. */
int comm_set_info(struct gw_comm *c, struct gw_info *info); /* info may be NULL */
int comm_get_info(struct gw_comm *c, struct gw_info **info_out);
int comm_set_attr(struct gw_comm *c, int keyval, void *value);
int comm_get_attr(struct gw_comm *c, int keyval, void **value_out, int *flag_out);
int comm_delete_attr(struct gw_comm *c, int keyval);

#endif
