/* comm.h -- communicators as objects: members, context ids, rank -> peer.  No communication.  Groups: group.h.
 *
 * A communicator's context id is one 29-bit number, equal on all members and never used for another communicator that
 * shares a member; on the wire it is shifted left by GW_STREAM_BITS to make room for the streams of enum gw_stream.
 *
 * Members of other worlds (MPI 4.1 chapter 11) have "world ranks" above those of our own: see struct node_other.
 *
 * An intercommunicator has two groups: `group`, `size` and `rank` are those of the local one, and the ranks that messages go to
 * and come from are those of `remote`.  Its context id is equal in both groups, so a message says under it what rank its sender
 * has in its own group, which is the receiver's remote one.  What the local group does among itself goes by `local`, a private
 * intracommunicator on the same lane whose context id is the next one.
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
#define GW_CTX_ID_MAX  (INT64_C(1) << (32 - GW_STREAM_BITS)) /* ids lie below */
#define GW_CTX_ID_NONE (GW_CTX_ID_MAX - 2)                   /* this and the next stand for one that is not known yet */
#define GW_CTX_ID_JOIN (GW_CTX_ID_MAX - 3)                   /* of the roots of two worlds that meet; their tag is their own */
_Static_assert(GW_STREAMS <= 1 << GW_STREAM_BITS, "streams fit beside the context id");

/* What the groups and communicators of one session share (MPI 4.1 section 11.3); NULL: those of the World Model.  What is made of
 * groups and communicators belongs where they belong. */
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

/* A virtual topology (MPI 4.1 chapter 8): made by topo/, then never changed; a duplicate shares it.  Its arrays lie behind it. */
struct gw_topo_move {
    int32_t in, out;
}; /* block `in` comes, or block `out` goes (the other is -1), or `out` becomes `in` */
struct gw_topo_like {
    int32_t place, of;
}; /* of the blocks that come from, or go to, one neighbour: which in their order, of how many */
struct gw_topo {
    _Atomic int refs;
    int kind;      /* GW_CART, GW_GRAPH or GW_DIST_GRAPH */
    int nin, nout; /* neighbours of this process, as often as they are neighbours */
    int *in, *out; /* their ranks, in the order of chapter 8; GW_PROC_NULL beyond the border of a grid */
    int nmoves;    /* what neighbourhood collectives do, in a good order: see coll_neighbor_order() */
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

/* Promises that a user may make of a communicator (MPI 4.1 section 7.4.4), all false at first and not inherited by MPI_Comm_dup.
 * The library holds users to the first two, where arguments are checked; it needs none of them: matching takes the fast path for
 * every communicator on which no wildcard is posted. */
enum comm_hint {
    COMM_NO_ANY_TAG = 1,
    COMM_NO_ANY_SOURCE = 2,
    COMM_EXACT_LENGTH = 4,
    COMM_ALLOW_OVERTAKING = 8,
    COMM_STRICT_PERSISTENT_ORDER = 16, /* mpi_assert_strict_persistent_collective_ordering */
    COMM_STRICT_START_ORDER = 32,      /* mpi_assert_strict_start_ordering, its older name */
    COMM_REPRODUCIBLE = 64, /* no promise but a wish, key "reproducible": reductions do their operations in an order that only
                               the number of ranks and of elements decides */
};

struct comm_coll; /* private to plan/ and coll/: leaf memory, cached plans, sequence numbers */

struct gw_comm {
    struct gw_obj obj;
    uint32_t ctx; /* context id << GW_STREAM_BITS */
    int rank, size;
    int targets; /* ranks that messages go to: size, or the size of the remote group */
    struct gw_lane *lane;
    struct gw_peer *peers; /* of target 0, those of the others behind it, where world ranks are consecutive; else NULL */
    struct gw_group *group;
    struct gw_group *remote; /* intercommunicators; else NULL */
    struct gw_comm *local;   /* intercommunicators: the local group for itself; else NULL */
    struct gw_errhandler *errhandler;
    bool one_node;          /* an intracommunicator whose members are all on this node */
    bool self;              /* size 1 */
    bool has_leaves;        /* known to have what collectives on one node need: plan_leaf_ready() */
    struct comm_coll *coll; /* NULL until the first collective */
    /* Number of the next collective as the user counts, from 1; MPI_Init's on MPI_COMM_WORLD is 0.  Equal on all members:
     * messages carry it (plan_private.h).  Other threads look at it for reports. */
    _Atomic uint64_t colls;
    uint64_t said; /* a running hash of what they said: equal on all members (plan_enter_as) */
    uint64_t mark; /* of its members, equal on all: tells it from others of its context id in what is noted (boot_coll_mark) */
    struct gw_attrs attrs;
    uint16_t chosen; /* of the last collective: the number of its algorithm (coll_algorithm_name), from 1; 0: none yet */
    uint8_t hints;   /* what the user promised or wishes: enum comm_hint */
    /* Calls of the user under way that are made of several collectives, see plan_call_begin(); other threads look, too. */
    _Atomic uint8_t within;
    struct gw_topo *topo; /* may be NULL */
    void *bsend;          /* buffer of MPI_Comm_attach_buffer (p2p) */
    struct comm_family *family;
    char name[GW_MAX_OBJECT_NAME];
};
extern struct gw_comm gw_comm_world, gw_comm_self;

int comm_init(void); /* after peer_init: world and self */
void comm_finalize(void);
/* WORLD and SELF are there for the library as long as the room is; for users, while the World Model is. */
void comm_world_show(void);
void comm_world_hide(void);
/* Whose ranks messages go to. */
static inline struct gw_group *comm_target_group(const struct gw_comm *c) { return c->remote ? c->remote : c->group; }
static inline struct gw_peer *comm_peer(const struct gw_comm *c, int rank)
{
    return likely(c->peers != NULL) ? &c->peers[rank] : peer_get(c->lane, group_world(comm_target_group(c), rank));
}
/* A new communicator object over `group` (referenced) with this context id; errhandler inherited from `parent`. */
int comm_create_object(struct gw_group *group, uint32_t ctx_id, struct gw_comm *parent, struct gw_comm **comm_out);
/* The same for two groups; takes ctx_id and the one behind it. */
int comm_create_inter(struct gw_group *group, struct gw_group *remote, uint32_t ctx_id, struct gw_comm *parent,
                      struct gw_comm **comm_out);
void comm_set_id(struct gw_comm *c, uint32_t ctx_id); /* of one made with GW_CTX_ID_NONE, before its first use */
/* Of one thread at a time, as collectives are. */
static inline uint64_t comm_coll_count(struct gw_comm *c, int by)
{
    uint64_t n = atomic_load_explicit(&c->colls, memory_order_relaxed);
    atomic_store_explicit(&c->colls, n + (uint64_t)by, memory_order_relaxed);
    return n;
}
static inline struct gw_comm *comm_hold(struct gw_comm *c)
{
    gw_obj_ref(&c->obj);
    return c;
} /* a pending operation keeps it */
void comm_destroy(struct gw_comm *c);
static inline void comm_release(struct gw_comm *c)
{
    if (gw_obj_unref(&c->obj)) comm_destroy(c);
}
/* What this room says to the rooms above when the object dies.  Each is set once, at the init of the room that is named. */
struct comm_upcalls {
    void (*free_coll)(struct gw_comm *c);  /* plan: what hangs at c->coll */
    void (*free_bsend)(struct gw_comm *c); /* p2p: what hangs at c->bsend */
};
extern struct comm_upcalls comm_upcalls;
struct gw_comm *comm_by_context(uint32_t ctx_id); /* held: release it; NULL: there is none.  Slow: for reports */

/* Inquiries (chapter 7): targets of the entry points. */
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
/* Hints (hints.c): keys that are not in info stay as they are, unknown values are ignored. */
int comm_set_info(struct gw_comm *c, struct gw_info *info); /* info may be NULL */
int comm_get_info(struct gw_comm *c, struct gw_info **info_out);
int comm_set_attr(struct gw_comm *c, int keyval, void *value);
int comm_get_attr(struct gw_comm *c, int keyval, void **value_out, int *flag_out);
int comm_delete_attr(struct gw_comm *c, int keyval);

#endif
