/* coll.c -- the entry points of collectives: checks that need the call's semantics, arguments in the form of the algorithms, and
 * the choice of an algorithm.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll_private.h"
#include "base/settings.h"
#include "boot/where.h"

/* In the order of enum coll_kind. */
static const char *const call_names[COLL_CALLS] = {
    "Barrier",  "Bcast",  "Gather",    "Scatter",        "Allgather", "Alltoall", "Alltoallv",          "Gatherv",
    "Scatterv", "Reduce", "Allreduce", "Reduce_scatter", "Scan",      "Exscan",   "Neighbor_allgather", "Neighbor_alltoall",
};

_Static_assert(COLL_CALLS <= 16, "a tag tells them apart");

GW_ONCE int coll_init(void)
{
    int rc = plan_init();
    plan_call_names = call_names;
    return rc == GW_OK ? coll_select_init() : rc;
}

/* Clears all arguments but these.  An initializer would be compiled to `rep stos`, which takes as long as all
 * steps of a small collective. */
static inline void args_begin(struct plan_args *a, const struct gw_comm *c, int root)
{
    typedef uint64_t pair __attribute__((vector_size(16), may_alias, aligned(8)));
    enum { PAIRS = sizeof *a / sizeof(pair) };
    _Static_assert(sizeof *a - offsetof(struct plan_args, sig) <= 8 && offsetof(struct plan_args, sig) % 8 == 0, "the last word");
#pragma GCC unroll 16
    for (int i = 0; i < PAIRS; i++) {
        ((pair *)a)[i] = (pair){0};
        __asm__("" : "+m"(((pair *)a)[i])); /* keeps the compiler from making it such a loop */
    }
    a->sig = 0;
    a->rank = c->rank, a->size = c->size, a->root = root;
    if (unlikely(c->remote != NULL)) a->remote = c->targets;
}

/* Starts a collective with a request.  alg NULL: there is nothing to do.  On an intercommunicator, arrays have an element for each
 * member of the remote group; only a reduce_scatter divides the vector among the members of the local group. */
static GW_NOINLINE int start(const struct plan_algorithm *alg, struct plan_args *a, const void *in, void *out, struct gw_comm *c,
                             const struct coll_as *as)
{
    a->n_s = a->n_r = a->remote && !a->op ? a->remote : a->size;
    return plan_start(as->when == COLL_INIT ? PLAN_INIT : PLAN_START, alg, a, in, out, c, as->req_out);
}

static GW_NOINLINE int run_inter(enum coll_kind kind, int64_t bytes, struct plan_args *a, const void *in, void *out,
                                 struct gw_comm *c, struct coll_as *as)
{
    const struct plan_algorithm *alg = coll_select_inter(kind, bytes, a, c);
    if (!alg) return GW_ECOMM;
    return as ? start(alg, a, in, out, c, as) : plan_run(alg, a, in, out, c);
}

/* Runs a collective whose members are not all on this node. */
static GW_NOINLINE int run_apart(enum coll_kind kind, int64_t bytes, struct plan_args *a, const void *in, void *out,
                                 struct gw_comm *c, struct coll_as *as)
{
    if (c->remote) return run_inter(kind, bytes, a, in, out, c, as);
    const struct plan_algorithm *alg = coll_select_apart(kind, bytes, a, c, as != NULL);
    if (as) return start(alg, a, in, out, c, as);
    if (!alg->stages) return plan_run(alg, a, in, out, c);
    bool leaves = a->nodes && coll_leaves_on(kind) && plan_node_leaf_ready(c);
    return plan_run_stages(alg, a, in, out, leaves, c);
}

/* The barrier before a collective, for GODWIT_COLL_SYNC. */
static GW_NOINLINE int meet_first(struct gw_comm *c, struct plan_args *a)
{
    a->n = PLAN_STRIDE - 1; /* behind that of the barrier */
    plan_within_add(c, 1);
    int rc = coll_barrier(c, NULL);
    plan_within_add(c, -1);
    return rc;
}

/* Begins a call.  a->bytes must be equal on all members, or, with BOOT_SAYS_OWN in a->says, is this member's own. */
static inline int enter(enum coll_kind kind, struct plan_args *a, struct gw_comm *c, const struct coll_as *as)
{
    if (unlikely(c->remote)) a->says |= PLAN_SAYS_FLAG(BOOT_SAYS_OWN);
    if (unlikely(as != NULL)) {
        a->says |= PLAN_SAYS_FLAG(as->when == COLL_INIT ? BOOT_SAYS_PREPARED : BOOT_SAYS_REQUEST);
        if (gw_set.coll_order == GW_SET_COLL_ORDER_APART) {
            plan_enter_apart(c, PLAN_CALLS + (unsigned)kind, a);
            return GW_OK;
        }
    }
    plan_enter_as(c, PLAN_CALLS + (unsigned)kind, a);
    return kind != COLL_BARRIER && unlikely(coll_synced >> kind & 1) && !as && !c->remote && !plan_is_within(c) ? meet_first(c, a)
                                                                                                                : GW_OK;
}

static inline __attribute__((always_inline)) int run_inlined(enum coll_kind kind, int64_t bytes, struct plan_args *a,
                                                             const void *in, void *out, struct gw_comm *c, struct coll_as *as)
{
    int rc = enter(kind, a, c, as);
    if (rc != GW_OK) return rc;
    if (kind == COLL_GATHERV && a->rank != a->root) a->sig = (uint16_t)(a->sig + plan_size_sig(a->bytes));
    if (unlikely(!c->one_node)) return run_apart(kind, bytes, a, in, out, c, as);
    if (unlikely(as != NULL)) return start(coll_select_messages(kind, bytes, a, c), a, in, out, c, as);
    return plan_run(coll_select(kind, bytes, a, c), a, in, out, c);
}
/* Like run(), for a caller that has set a->bytes. */
static GW_NOINLINE int run_said(enum coll_kind kind, int64_t bytes, struct plan_args *a, const void *in, void *out,
                                struct gw_comm *c, struct coll_as *as)
{
    return run_inlined(kind, bytes, a, in, out, c, as);
}
static inline int run(enum coll_kind kind, int64_t bytes, struct plan_args *a, const void *in, void *out, struct gw_comm *c,
                      struct coll_as *as)
{
    a->bytes = bytes;
    return run_said(kind, bytes, a, in, out, c, as);
}

/* Ends a call that is erroneous (rc) or has no data.  It is numbered like any other, as other members may run the collective. */
static GW_NOINLINE int no_data(int rc, enum coll_kind kind, int root, struct gw_comm *c, const struct coll_as *as)
{
    struct plan_args none;
    args_begin(&none, c, root);
    if (rc == GW_OK) rc = enter(kind, &none, c, as);
    return rc == GW_OK && as ? start(NULL, &none, NULL, NULL, c, as) : rc;
}

/* May the collective be left out, as it has no data?  Not on an intercommunicator, where the other direction may have data. */
static inline bool is_void(int64_t bytes, const struct gw_comm *c) { return bytes == 0 && !c->remote; }

static inline bool is_root(int root, const struct gw_comm *c) { return likely(!c->remote) ? c->rank == root : root == GW_ROOT; }
/* Is this a member of the root's group of an intercommunicator that takes no part?  It only numbers the collective; its other
 * arguments are not significant. */
static inline bool looks_on(int root, const struct gw_comm *c) { return unlikely(root == GW_PROC_NULL) && c->remote; }
static int look_on(enum coll_kind kind, struct gw_comm *c, const struct coll_as *as)
{
    return no_data(GW_OK, kind, GW_PROC_NULL, c, as);
}

static int root_check(int root, const struct gw_comm *c)
{
    if (likely(root >= 0 && root < c->targets) || (c->remote && root == GW_ROOT)) return GW_OK;
    return gw_fail(GW_EROOT, "root is %d; it must be %sa rank of %s%s, 0 to %d", root,
                   c->remote ? "MPI_ROOT, MPI_PROC_NULL or " : "", c->remote ? "the remote group of " : "", c->name,
                   c->targets - 1);
}

static int in_place_check(const void *buf, const char *what, bool allowed)
{
    if (likely(buf != GW_IN_PLACE || allowed)) return GW_OK;
    return gw_fail(GW_EBUFFER, "%s is MPI_IN_PLACE, which is not allowed here", what);
}

/* Rejects MPI_IN_PLACE on an intercommunicator, in collectives where each rank of an intracommunicator may pass it. */
static int in_place_inter(const void *buf, const struct gw_comm *c)
{
    return in_place_check(buf, "sendbuf (of an intercommunicator)", !c->remote);
}

/* ---- leaves at once ------------------------------------------------------------------------------------------------------------
 * Calls that take one try it first; where a member has to wait, `once` says how far it is, and the algorithm goes on from there. */
static inline bool takes_once(enum coll_kind kind, int64_t bytes, struct gw_comm *c, const struct coll_as *as)
{
    return bytes < c->once[kind] && likely(!as) && likely(coll_takes_once(kind, bytes, c));
}
static GW_NOINLINE int run_on(enum coll_kind kind, const struct plan_once *once, struct plan_args *a, const void *in, void *out)
{
    return plan_run_on(once, coll_once_algorithm(kind), a, in, out);
}

static GW_NOINLINE int barrier(struct gw_comm *c, const struct plan_once *once, struct coll_as *as)
{
    struct plan_args a;
    args_begin(&a, c, 0);
    a.rt = gw_type_byte;
    return once ? run_on(COLL_BARRIER, once, &a, NULL, NULL) : run_inlined(COLL_BARRIER, 0, &a, NULL, NULL, c, as);
}
int coll_barrier(struct gw_comm *c, struct coll_as *as)
{
    struct plan_once once;
    if (!takes_once(COLL_BARRIER, 0, c, as)) return barrier(c, NULL, as);
    return likely(plan_once_barrier(&once, c, PLAN_CALLS + COLL_BARRIER) == GW_OK) ? GW_OK : barrier(c, &once, NULL);
}

static GW_NOINLINE int bcast(void *buf, int64_t count, struct gw_type *t, int root, struct gw_comm *c, const struct plan_once *once,
                             struct coll_as *as)
{
    struct plan_args a;
    args_begin(&a, c, root);
    a.rcount = count, a.rt = t;
    return once ? run_on(COLL_BCAST, once, &a, buf, buf) : run(COLL_BCAST, count * t->size, &a, buf, buf, c, as);
}
int coll_bcast(void *buf, int64_t count, struct gw_type *t, int root, struct gw_comm *c, struct coll_as *as)
{
    struct plan_once once;
    if (looks_on(root, c)) return look_on(COLL_BCAST, c, as); /* t may be NULL */
    int64_t bytes = count * t->size;
    int rc = root_check(root, c);
    if (rc == GW_OK) rc = in_place_check(buf, "buffer", false);
    if (rc != GW_OK || is_void(bytes, c)) return no_data(rc, COLL_BCAST, root, c, as);
    if (!t->is_plain || !takes_once(COLL_BCAST, bytes, c, as)) return bcast(buf, count, t, root, c, NULL, as);
    rc = plan_once_bcast(&once, c, PLAN_CALLS + COLL_BCAST, root, buf, bytes);
    return likely(rc == GW_OK) ? GW_OK : bcast(buf, count, t, root, c, &once, NULL);
}

/* Bytes of the root's own part; 0 if the type is NULL, as on an intercommunicator, where the root has none. */
static inline int64_t part_bytes(int64_t count, const struct gw_type *t) { return t ? count * t->size : 0; }

/* ---- gather, scatter --------------------------------------------------------------------------------------------------------- */
/* A call's arguments for its own block, or the root's for all blocks. */
struct blocks {
    void *buf; /* a send buffer is only read */
    int64_t count;
    struct gw_counts counts, displs; /* vector forms, instead of `count` */
    struct gw_type *type;
};
static struct blocks blocks_of(const void *buf, int64_t count, struct gw_type *t)
{
    return (struct blocks){.buf = (void *)(uintptr_t)buf, .count = count, .type = t};
}
static struct blocks vector_of(const void *buf, struct gw_counts counts, struct gw_counts displs, struct gw_type *t)
{
    return (struct blocks){.buf = (void *)(uintptr_t)buf, .counts = counts, .displs = displs, .type = t};
}

/* The bytes that the call passes on for this member: of its own block, or of the root's if that is in place. */
static inline int64_t block_bytes(const struct blocks *own, const struct blocks *all, const struct gw_comm *c)
{
    if (own->buf != GW_IN_PLACE) return part_bytes(own->count, own->type);
    return part_bytes(all->counts.v && !c->remote ? gw_counts_at(all->counts, c->rank) : all->count, all->type);
}
/* Are all blocks that this member knows of runs of bytes, and short enough for a slot each?  bytes: block_bytes(). */
static bool blocks_are_short(const struct blocks *own, const struct blocks *all, int64_t bytes, bool mine, const struct gw_comm *c)
{
    if (own->buf != GW_IN_PLACE && (!own->type->is_plain || bytes > PLAN_SLOT_BYTES)) return false;
    if (!mine) return true;
    if (!all->type->is_plain || (!all->counts.v && part_bytes(all->count, all->type) != bytes)) return false;
    for (int i = 0; all->counts.v && i < c->size; i++)
        if (gw_counts_at(all->counts, i) * all->type->size > PLAN_SLOT_BYTES) return false;
    return true;
}
static inline int gather_once(enum coll_kind kind, struct plan_once *once, const struct blocks *own, const struct blocks *all,
                              int64_t bytes, int root, struct gw_comm *c)
{
    bool in_place = own->buf == GW_IN_PLACE;
    struct plan_blocks b = {.in = in_place ? NULL : own->buf, .bytes = bytes};
    if (c->rank == root) b.out = all->buf, b.counts = all->counts, b.displs = all->displs, b.size = all->type->size;
    if (kind == COLL_SCATTER)
        return plan_once_scatter(once, c, PLAN_CALLS + COLL_SCATTER, root, b.out, in_place ? NULL : own->buf, b.bytes);
    return plan_once_gather(once, c, PLAN_CALLS + (unsigned)kind, root, kind == COLL_GATHERV, &b);
}

static int gather_or_scatter(enum coll_kind kind, const struct blocks *own, const struct blocks *all, int root, struct gw_comm *c,
                             struct coll_as *as)
{
    if (looks_on(root, c)) return look_on(kind, c, as);
    bool mine = is_root(root, c), gathers = kind == COLL_GATHER || kind == COLL_GATHERV;
    const char *own_name = gathers ? "sendbuf of a rank that is not the root" : "recvbuf of a rank that is not the root";
    int rc = root_check(root, c);
    if (rc == GW_OK) rc = in_place_check(own->buf, own_name, mine);
    if (rc == GW_OK && mine) rc = in_place_check(all->buf, gathers ? "recvbuf" : "sendbuf", false);
    if (rc != GW_OK) return rc;
    bool is_vector = kind == COLL_GATHERV || kind == COLL_SCATTERV;
    int64_t bytes = block_bytes(own, all, c);
    struct plan_once once;
    bool at_once = c->once[kind] && blocks_are_short(own, all, bytes, mine, c) && takes_once(kind, bytes, c, as);
    if (at_once && likely(gather_once(kind, &once, own, all, bytes, root, c) == GW_OK)) return GW_OK;
    struct plan_args a;
    args_begin(&a, c, root);
    a.in_place = own->buf == GW_IN_PLACE;
    if (gathers) {
        a.scount = own->count, a.st = own->type;
        if (mine) a.rcount = all->count, a.rt = all->type, a.rcounts = all->counts, a.rdispls = all->displs;
    } else {
        a.rcount = own->count, a.rt = own->type;
        if (mine) a.scount = all->count, a.st = all->type, a.scounts = all->counts, a.sdispls = all->displs;
    }
    a.is_vector = is_vector;
    const struct blocks *from = gathers ? own : all, *to = gathers ? all : own;
    if (at_once) return run_on(kind, &once, &a, from->buf, to->buf);
    a.bytes = mine && !is_vector ? part_bytes(all->count, all->type) : bytes;
    if (is_vector) a.says = PLAN_SAYS_FLAG(BOOT_SAYS_OWN);
    return run_said(kind, is_vector ? 0 : bytes, &a, from->buf, to->buf, c, as);
}

int coll_gather(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount, struct gw_type *rt, int root,
                struct gw_comm *c, struct coll_as *as)
{
    struct blocks own = blocks_of(sbuf, scount, st), all = blocks_of(rbuf, rcount, rt);
    return gather_or_scatter(COLL_GATHER, &own, &all, root, c, as);
}

int coll_gatherv(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, struct gw_counts rcounts,
                 struct gw_counts displs, struct gw_type *rt, int root, struct gw_comm *c, struct coll_as *as)
{
    struct blocks own = blocks_of(sbuf, scount, st), all = vector_of(rbuf, rcounts, displs, rt);
    return gather_or_scatter(COLL_GATHERV, &own, &all, root, c, as);
}

int coll_scatter(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount, struct gw_type *rt, int root,
                 struct gw_comm *c, struct coll_as *as)
{
    struct blocks own = blocks_of(rbuf, rcount, rt), all = blocks_of(sbuf, scount, st);
    return gather_or_scatter(COLL_SCATTER, &own, &all, root, c, as);
}

int coll_scatterv(const void *sbuf, struct gw_counts scounts, struct gw_counts displs, struct gw_type *st, void *rbuf,
                  int64_t rcount, struct gw_type *rt, int root, struct gw_comm *c, struct coll_as *as)
{
    struct blocks own = blocks_of(rbuf, rcount, rt), all = vector_of(sbuf, scounts, displs, st);
    return gather_or_scatter(COLL_SCATTERV, &own, &all, root, c, as);
}

/* ---- allgather, alltoall ----------------------------------------------------------------------------------------------------- */
static int64_t largest(struct gw_counts counts, int n)
{
    int64_t most = 0;
    for (int i = 0; i < n; i++) most = gw_max64(most, gw_counts_at(counts, i));
    return most;
}

/* Checks that the block a rank sends is as large as the one it receives from itself. */
static inline int gives_what_it_takes(const char *what, const void *sbuf, int64_t scount, const struct gw_type *st, int64_t rcount,
                                      const struct gw_type *rt)
{
    if (sbuf == GW_IN_PLACE || likely(scount * st->size == rcount * rt->size)) return GW_OK;
    return gw_fail(GW_ETRUNCATE, "each rank sends to all in an %s, also to itself: %lld bytes are sent, but %lld would be received",
                   what, (long long)(scount * st->size), (long long)(rcount * rt->size));
}

/* Are the blocks of both sides runs of bytes, of equal length, one behind the other? */
static inline bool is_run(const struct blocks *own, const struct blocks *all)
{
    return !all->counts.v && all->type->is_plain && (own->buf == GW_IN_PLACE || own->type->is_plain);
}

/* all: the blocks of all members; the vector form if it has counts. */
static int allgather(const struct blocks *own, const struct blocks *all, struct gw_comm *c, struct coll_as *as)
{
    bool is_vector = all->counts.v != NULL;
    int64_t bytes = (is_vector ? largest(all->counts, c->targets) : all->count) * all->type->size;
    int rc = in_place_check(all->buf, "recvbuf", false);
    if (rc == GW_OK) rc = in_place_inter(own->buf, c);
    if (rc == GW_OK && !c->remote) {
        int64_t mine = is_vector ? gw_counts_at(all->counts, c->rank) : all->count;
        rc = gives_what_it_takes("allgather", own->buf, own->count, own->type, mine, all->type);
    }
    if (rc != GW_OK || is_void(bytes, c)) return no_data(rc, COLL_ALLGATHER, 0, c, as);
    struct plan_once once;
    bool in_place = own->buf == GW_IN_PLACE, at_once = is_run(own, all) && takes_once(COLL_ALLGATHER, bytes, c, as);
    if (at_once &&
        likely(plan_once_allgather(&once, c, PLAN_CALLS + COLL_ALLGATHER, in_place ? NULL : own->buf, all->buf, bytes) == GW_OK))
        return GW_OK;
    struct plan_args a;
    args_begin(&a, c, 0);
    a.in_place = in_place;
    a.scount = own->count, a.st = own->type;
    a.rcount = all->count, a.rt = all->type, a.rcounts = all->counts, a.rdispls = all->displs;
    return at_once ? run_on(COLL_ALLGATHER, &once, &a, own->buf, all->buf)
                   : run(COLL_ALLGATHER, bytes, &a, own->buf, all->buf, c, as);
}

int coll_allgather(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount, struct gw_type *rt,
                   struct gw_comm *c, struct coll_as *as)
{
    struct blocks own = blocks_of(sbuf, scount, st), all = blocks_of(rbuf, rcount, rt);
    return allgather(&own, &all, c, as);
}

int coll_allgatherv(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, struct gw_counts rcounts,
                    struct gw_counts displs, struct gw_type *rt, struct gw_comm *c, struct coll_as *as)
{
    struct blocks own = blocks_of(sbuf, scount, st), all = vector_of(rbuf, rcounts, displs, rt);
    return allgather(&own, &all, c, as);
}

/* In place, the blocks to be sent are those in the receive buffer. */
static int alltoall(enum coll_kind kind, int64_t bytes, struct plan_args *a, const void *sbuf, void *rbuf, struct gw_comm *c,
                    struct coll_as *as)
{
    int rc = in_place_check(rbuf, "recvbuf", false);
    if (rc == GW_OK) rc = in_place_inter(sbuf, c);
    if (rc != GW_OK) return rc;
    a->in_place = sbuf == GW_IN_PLACE;
    if (a->in_place) {
        a->scount = a->rcount, a->st = a->rt, a->sts = a->rts, a->scounts = a->rcounts, a->sdispls = a->rdispls;
        sbuf = rbuf;
    }
    if (kind != COLL_ALLTOALL) a->says = PLAN_SAYS_FLAG(BOOT_SAYS_OWN);
    return run(kind, bytes, a, sbuf, rbuf, c, as);
}

int coll_alltoall(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount, struct gw_type *rt,
                  struct gw_comm *c, struct coll_as *as)
{
    int64_t bytes = rcount * rt->size;
    bool in_place = sbuf == GW_IN_PLACE;
    int rc = c->remote ? GW_OK : gives_what_it_takes("alltoall", sbuf, scount, st, rcount, rt);
    if (rc != GW_OK) return rc;
    if (is_void(bytes, c)) return no_data(in_place_check(rbuf, "recvbuf", false), COLL_ALLTOALL, 0, c, as);
    struct plan_once once;
    bool at_once = rt->is_plain && (in_place || st->is_plain) && rbuf != GW_IN_PLACE && takes_once(COLL_ALLTOALL, bytes, c, as);
    if (at_once && likely(plan_once_alltoall(&once, c, PLAN_CALLS + COLL_ALLTOALL, in_place ? NULL : sbuf, rbuf, bytes) == GW_OK))
        return GW_OK;
    struct plan_args a;
    args_begin(&a, c, 0);
    a.scount = scount, a.st = st, a.rcount = rcount, a.rt = rt, a.in_place = in_place;
    if (!at_once) return alltoall(COLL_ALLTOALL, bytes, &a, sbuf, rbuf, c, as);
    if (in_place) a.scount = rcount, a.st = rt;
    return run_on(COLL_ALLTOALL, &once, &a, in_place ? rbuf : sbuf, rbuf);
}

int coll_alltoallv(const void *sbuf, struct gw_counts scounts, struct gw_counts sdispls, struct gw_type *st, void *rbuf,
                   struct gw_counts rcounts, struct gw_counts rdispls, struct gw_type *rt, struct gw_comm *c, struct coll_as *as)
{
    struct plan_args a;
    args_begin(&a, c, 0);
    a.st = st, a.scounts = scounts, a.sdispls = sdispls, a.rt = rt, a.rcounts = rcounts, a.rdispls = rdispls;
    return alltoall(COLL_ALLTOALLV, 0, &a, sbuf, rbuf, c, as);
}

int coll_alltoallw(const void *sbuf, struct gw_counts scounts, struct gw_counts sdispls, struct gw_type **st, void *rbuf,
                   struct gw_counts rcounts, struct gw_counts rdispls, struct gw_type **rt, struct gw_comm *c, struct coll_as *as)
{
    struct plan_args a;
    args_begin(&a, c, 0);
    a.sts = st, a.scounts = scounts, a.sdispls = sdispls, a.rts = rt, a.rcounts = rcounts, a.rdispls = rdispls;
    return alltoall(COLL_ALLTOALLV, 0, &a, sbuf, rbuf, c, as);
}

/* ---- reductions
 * ------------------------------------------------------------------------------------------------------------------- */
/* Sets tmp_span, the bytes that `count` elements span, and tmp_shift, how far below the buffer's address they begin.  In a
 * temporary that address is aligned for any type, as users' reduction functions expect. */
void coll_temporaries(struct plan_args *a)
{
    const int64_t line = GW_CACHELINE;
    int64_t reach = gw_max64(a->rcount - 1, 0) * a->rt->extent;
    int64_t low = a->rt->true_lb + gw_min64(reach, 0), high = a->rt->true_lb + a->rt->true_extent + gw_max64(reach, 0);
    a->tmp_shift = low < 0 ? (-low + line - 1) & ~(line - 1) : -(low & ~(line - 1));
    a->tmp_span = (high + a->tmp_shift + line - 1) & ~(line - 1);
}

/* May sbuf be rbuf?  If GODWIT_NO_BUFFER_ALIAS_CHECK is set: then it means MPI_IN_PLACE.  rbuf NULL: this rank has none. */
static inline bool is_in_place(const void *sbuf, const void *rbuf, const struct gw_comm *c)
{
    return sbuf == GW_IN_PLACE || (unlikely(sbuf == rbuf) && rbuf && !c->remote);
}

static void reduction(struct plan_args *a, const struct gw_comm *c, int root, const struct plan_operands *of)
{
    args_begin(a, c, root);
    a->in_place = is_in_place(of->in, of->out, c);
    a->rcount = of->count, a->rt = of->type, a->op = of->op;
    coll_temporaries(a);
}

/* in may be GW_IN_PLACE. */
static int reduce(enum coll_kind kind, const struct plan_operands *of, int root, struct gw_comm *c, struct coll_as *as)
{
    int64_t bytes = of->count * of->type->size;
    struct plan_once once;
    struct plan_args a;
    if (!of->type->is_plain || !takes_once(kind, bytes, c, as)) {
        reduction(&a, c, root, of);
        return run(kind, bytes, &a, of->in, of->out, c, as);
    }
    struct plan_operands now = *of;
    if (is_in_place(of->in, of->out, c)) now.in = NULL;
    if (likely(plan_once_reduce(&once, c, PLAN_CALLS + (unsigned)kind, root, &now) == GW_OK)) return GW_OK;
    reduction(&a, c, root, of);
    return run_on(kind, &once, &a, of->in, of->out);
}

int coll_reduce(const void *sbuf, void *rbuf, int64_t count, struct gw_type *t, struct gw_op *op, int root, struct gw_comm *c,
                struct coll_as *as)
{
    if (looks_on(root, c)) return look_on(COLL_REDUCE, c, as);
    bool mine = is_root(root, c);
    int rc = root_check(root, c);
    if (rc == GW_OK) rc = op_check(op, t);
    if (rc == GW_OK) rc = in_place_check(sbuf, "sendbuf of a rank that is not the root", mine);
    if (rc == GW_OK && mine) rc = in_place_check(rbuf, "recvbuf", false);
    if (rc != GW_OK || is_void(count * t->size, c)) return no_data(rc, COLL_REDUCE, root, c, as);
    return reduce(COLL_REDUCE, &(struct plan_operands){sbuf, mine ? rbuf : NULL, count, t, op}, root, c, as);
}

static int reduce_to_all(enum coll_kind kind, const void *sbuf, void *rbuf, int64_t count, struct gw_type *t, struct gw_op *op,
                         struct gw_comm *c, struct coll_as *as)
{
    int rc = op_check(op, t);
    if (rc == GW_OK) rc = in_place_check(rbuf, "recvbuf", false);
    if (rc == GW_OK) rc = in_place_inter(sbuf, c);
    if (rc != GW_OK || is_void(count * t->size, c)) return no_data(rc, kind, 0, c, as);
    return reduce(kind, &(struct plan_operands){sbuf, rbuf, count, t, op}, 0, c, as);
}

int coll_allreduce(const void *sbuf, void *rbuf, int64_t count, struct gw_type *t, struct gw_op *op, struct gw_comm *c,
                   struct coll_as *as)
{
    return reduce_to_all(COLL_ALLREDUCE, sbuf, rbuf, count, t, op, c, as);
}

int coll_scan(const void *sbuf, void *rbuf, int64_t count, struct gw_type *t, struct gw_op *op, struct gw_comm *c,
              struct coll_as *as)
{
    return reduce_to_all(COLL_SCAN, sbuf, rbuf, count, t, op, c, as);
}

int coll_exscan(const void *sbuf, void *rbuf, int64_t count, struct gw_type *t, struct gw_op *op, struct gw_comm *c,
                struct coll_as *as)
{
    return reduce_to_all(COLL_EXSCAN, sbuf, rbuf, count, t, op, c, as);
}

static int reduce_scatter(const void *sbuf, void *rbuf, int64_t rcount, struct gw_counts rcounts, struct gw_type *t,
                          struct gw_op *op, struct gw_comm *c, struct coll_as *as)
{
    int64_t all = c->size * rcount;
    int rc = op_check(op, t);
    for (int i = 0; rcounts.v && i < c->size; i++) all += gw_counts_at(rcounts, i);
    if (rc == GW_OK) rc = in_place_check(rbuf, "recvbuf", false);
    if (rc == GW_OK) rc = in_place_inter(sbuf, c);
    if (rc != GW_OK || is_void(all * t->size, c)) return no_data(rc, COLL_REDUCE_SCATTER, 0, c, as);
    int64_t own = rcounts.v ? gw_counts_at(rcounts, c->rank) : rcount;
    struct plan_once once;
    struct plan_args a;
    /* On an intercommunicator the operand is the whole vector. */
    const struct plan_operands of = {sbuf, rbuf, c->remote ? all : own, t, op};
    bool at_once =
        t->is_plain && !rcounts.v && !is_in_place(sbuf, rbuf, c) && takes_once(COLL_REDUCE_SCATTER, all * t->size, c, as);
    if (at_once && likely(plan_once_reduce_scatter(&once, c, PLAN_CALLS + COLL_REDUCE_SCATTER, &of) == GW_OK)) return GW_OK;
    reduction(&a, c, 0, &of);
    a.rcounts = rcounts;
    a.scount = own;
    if (at_once) return run_on(COLL_REDUCE_SCATTER, &once, &a, sbuf, rbuf);
    return run(COLL_REDUCE_SCATTER, all * t->size, &a, sbuf, rbuf, c, as);
}

int coll_reduce_scatter(const void *sbuf, void *rbuf, struct gw_counts rcounts, struct gw_type *t, struct gw_op *op,
                        struct gw_comm *c, struct coll_as *as)
{
    return reduce_scatter(sbuf, rbuf, 0, rcounts, t, op, c, as);
}

int coll_reduce_scatter_block(const void *sbuf, void *rbuf, int64_t rcount, struct gw_type *t, struct gw_op *op, struct gw_comm *c,
                              struct coll_as *as)
{
    return reduce_scatter(sbuf, rbuf, rcount, (struct gw_counts){0}, t, op, c, as);
}

void coll_call_begin(struct gw_comm *c) { plan_call_begin(c, PLAN_MAKING, GW_ANY_SOURCE); }
void coll_call_end(struct gw_comm *c) { plan_call_end(c); }

/* ---- agreement of a group, for world/
 * ------------------------------------------------------------------------------------------------ */
static int word_send(struct gw_comm *c, int to, int tag, const int64_t *values, int n)
{
    struct gw_req *r;
    int rc = p2p_stream_isend(GW_STREAM_WORLD, values, n * (int64_t)sizeof *values, gw_type_byte, to, tag, c, &r);
    return rc == GW_POSTED ? p2p_stream_wait(r) : rc;
}
static int word_recv(struct gw_comm *c, int from, int tag, int64_t *values_out, int n)
{
    struct gw_req *r;
    int rc = p2p_stream_irecv(GW_STREAM_WORLD, values_out, n * (int64_t)sizeof *values_out, gw_type_byte, from, tag, c, &r);
    return rc == GW_POSTED ? p2p_stream_wait(r) : rc;
}

static int member(const int *members, int i) { return members ? members[i] : i; }

/* An allreduce among the members of a group, up a binomial tree to member 0 and down again. */
int coll_group_allreduce(struct gw_comm *c, const int *members, int n, int me, int tag, int64_t *values, int nvalues,
                         struct gw_op *op)
{
    int64_t in[COLL_GROUP_VALUES];
    int rc = GW_OK, d = 1;
    assert(nvalues <= COLL_GROUP_VALUES);
    for (; d < n && !(me & d) && rc == GW_OK; d <<= 1) {
        if (me + d >= n) continue;
        rc = word_recv(c, member(members, me + d), tag, in, nvalues);
        if (rc == GW_OK) op_reduce(op, in, values, nvalues, gw_type_int64);
    }
    if (rc == GW_OK && me > 0) rc = word_send(c, member(members, me - d), tag, values, nvalues);
    if (rc == GW_OK && me > 0) rc = word_recv(c, member(members, me - d), tag, values, nvalues);
    for (d >>= 1; d > 0 && rc == GW_OK; d >>= 1)
        if (me + d < n) rc = word_send(c, member(members, me + d), tag, values, nvalues);
    return rc;
}
