/* check_coll.c -- twins of the collectives: the record of the call, and what its buffers are.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_call.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- records -------------------------------------------------------------------------------------------------------------------- */
/* MPI_Bcast_c on one side and MPI_Bcast on the other are the same collective. */
static int plain_call(int fn)
{
    const char *name = check_call_name(fn);
    size_t n = strlen(name);
    if (n < 2 || strcmp(name + n - 2, "_c") != 0) return fn;
    for (int k = fn - 1; k > 0; k--)
        if (strlen(check_call_name(k)) == n - 2 && strncmp(check_call_name(k), name, n - 2) == 0) return k;
    return fn;
}

static struct check_sig sig_of(int64_t count, struct gw_type *t)
{
    struct type_signature s = type_signature(t, count, INT64_MAX);
    return (struct check_sig){s.hash, s.n, count * t->size, type_has_packed(t), GW_PROC_NULL};
}
static const struct check_sig no_sig = {.bytes = -1};

static struct check_call *call_new(struct gw_comm *c, const struct coll_as *as, int shape, int root, const struct gw_op *op,
                                   int n_s, int n_r)
{
    if (c->remote && !check_court_has_both(c))
        shape = SHAPE_NONE; /* what one group sends the other receives, and they do not meet */
    if (shape == SHAPE_NONE) n_s = n_r = 0;
    struct check_call *k = gw_xcalloc(1, sizeof *k + (size_t)(n_s + n_r) * sizeof(struct check_sig));
    *k = (struct check_call){.fn = plain_call(check_now.fn),
                             .waits = as == NULL,
                             .root = root,
                             .shape = shape,
                             .n_s = n_s,
                             .n_r = n_r,
                             .s_count = -1,
                             .r_count = -1};
    if (op) k->op = op->obj.predefined ? (int32_t)op->obj.id : CHECK_OP_USER + op->commutes;
    k->place = check_site_pack(check_now, k->module);
    for (int i = 0; i < n_s; i++) call_s(k)[i] = no_sig;
    for (int i = 0; i < n_r; i++) call_r(k)[i] = no_sig;
    return k;
}

static int finish(struct gw_comm *c, struct check_call *k)
{
    int rc = check_court_call(c, k);
    free(k);
    return rc;
}

static void set_s(struct check_call *k, int64_t count, struct gw_type *t)
{
    if (k->n_s != 1) return;
    call_s(k)[0] = sig_of(count, t);
    k->s_count = count;
    strncpy(k->s_type, type_name(t), sizeof k->s_type - 1);
}
static void set_r(struct check_call *k, int64_t count, struct gw_type *t)
{
    if (k->n_r != 1) return;
    call_r(k)[0] = sig_of(count, t);
    k->r_count = count;
    strncpy(k->r_type, type_name(t), sizeof k->r_type - 1);
}
/* types NULL: all of one type t. */
static void set_all(struct check_sig *v, int n, struct gw_counts counts, struct gw_type *t, struct gw_type **types)
{
    for (int i = 0; i < n; i++) v[i] = sig_of(gw_counts_at(counts, i), types ? types[i] : t);
}

int check_together(struct gw_comm *c, bool waits)
{
    struct check_call *k = call_new(c, NULL, SHAPE_NONE, GW_UNDEFINED, NULL, 0, 0);
    k->waits = waits;
    return finish(c, k);
}

/* Told when it is done: attributes' callbacks may call collectives on it before. */
int check_world_comm_free(struct gw_comm **c)
{
    struct gw_comm *held = comm_hold(*c);
    struct check_site site = check_now;
    int rc = world_comm_free(c);
    check_now = site;
    if (rc == GW_OK) check_together(held, false);
    comm_release(held);
    return rc;
}

/* ---- buffers ----------------------------------------------------------------------------------------------------------------------- */
struct uses {
    struct check_span v[CHECK_SPANS];
    int n;
};

static struct uses use_begin(struct check_span s, struct check_span r, const struct coll_as *as)
{
    struct uses u = {.n = 0};
    if (s.lo != s.hi) u.v[u.n++] = s;
    if (r.lo != r.hi) u.v[u.n++] = r;
    if (as && as->when == COLL_INIT) return u; /* they are in use when it is started */
    check_use_look(u.v, u.n);
    for (int k = 0; as && k < u.n; k++) check_span_sum(&u.v[k]);
    return u;
}

static const struct check_span no_span;
static struct check_span reads(const void *buf, int64_t count, struct gw_type *t) { return check_span(buf, count, t, false); }
static struct check_span writes(const void *buf, int64_t count, struct gw_type *t) { return check_span(buf, count, t, true); }

/* Blocks of different sizes as one piece of memory, of a datatype made for it.  types NULL: displacements in the extent of t, else in
 * bytes. */
static struct check_span blocks(const void *buf, int n, struct gw_counts counts, struct gw_counts displs, struct gw_type *t,
                                struct gw_type **types, bool is_written)
{
    enum { BLOCKS_MAX = 4096 };
    struct gw_type *made;
    char name[GW_MAX_OBJECT_NAME];
    if (buf == GW_IN_PLACE || n > BLOCKS_MAX) return no_span;
    int rc = types ? type_struct(n, counts, displs, types, &made) : type_indexed(n, counts, displs, t, &made);
    if (rc != GW_OK) return no_span;
    snprintf(name, sizeof name, types ? "blocks" : "blocks of %.100s", types ? "" : type_name(t));
    struct check_span s = no_span;
    if (type_set_name(made, name) == GW_OK && type_commit(&made) == GW_OK) s = check_span(buf, 1, made, is_written);
    s.owns_type = s.lo != s.hi;
    if (!s.owns_type) type_release(made);
    return s.owns_type ? s : no_span;
}

static int use_end(int rc, struct uses *u, struct gw_comm *c, const struct coll_as *as)
{
    if (rc == GW_OK && as) {
        check_use_track(as->req_out, u->v, u->n, (struct check_about){c, GW_UNDEFINED, GW_UNDEFINED, 0});
        return rc;
    }
    for (int k = 0; k < u->n; k++) check_span_drop(&u->v[k]);
    return rc;
}

/* The members agree (or the call says that they do not); then `call` runs, with its buffers in view. */
#define RUN(record, s, r, call)                                                                                                    \
    do {                                                                                                                           \
        int rc = finish(c, record);                                                                                                \
        if (rc != GW_OK) return rc;                                                                                                \
        struct uses u = use_begin(s, r, as);                                                                                       \
        return use_end(call, &u, c, as);                                                                                           \
    } while (0)

static bool at_root(int root, const struct gw_comm *c) { return c->remote ? root == GW_ROOT : root == c->rank; }
/* Does this rank send, or receive, to and from the root? */
static bool at_leaf(int root, const struct gw_comm *c) { return !c->remote || root >= 0; }

/* ---- the collectives --------------------------------------------------------------------------------------------------------------- */
int check_coll_barrier(struct gw_comm *c, struct coll_as *as)
{
    struct check_call *k = call_new(c, as, SHAPE_NONE, GW_UNDEFINED, NULL, 0, 0);
    RUN(k, no_span, no_span, coll_barrier(c, as));
}

int check_coll_bcast(void *buf, int64_t count, struct gw_type *t, int root, struct gw_comm *c, struct coll_as *as)
{
    struct check_call *k = call_new(c, as, SHAPE_SAME, root, NULL, 1, 0);
    bool takes_part = !c->remote || root != GW_PROC_NULL;
    if (takes_part) set_s(k, count, t);
    RUN(k, takes_part ? check_span(buf, count, t, !at_root(root, c)) : no_span, no_span, coll_bcast(buf, count, t, root, c, as));
}

int check_coll_gather(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount, struct gw_type *rt,
                      int root, struct gw_comm *c, struct coll_as *as)
{
    bool sends = at_leaf(root, c) && sbuf != GW_IN_PLACE, receives = at_root(root, c);
    struct check_call *k = call_new(c, as, SHAPE_TO_ROOT, root, NULL, 1, receives);
    if (sends) set_s(k, scount, st);
    if (receives) set_r(k, rcount, rt);
    RUN(k, sends ? reads(sbuf, scount, st) : no_span, receives ? writes(rbuf, rcount * c->targets, rt) : no_span,
        coll_gather(sbuf, scount, st, rbuf, rcount, rt, root, c, as));
}

int check_coll_gatherv(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, struct gw_counts rcounts,
                       struct gw_counts displs, struct gw_type *rt, int root, struct gw_comm *c, struct coll_as *as)
{
    bool sends = at_leaf(root, c) && sbuf != GW_IN_PLACE;
    struct check_call *k = call_new(c, as, SHAPE_TO_ROOT, root, NULL, 1, at_root(root, c) ? c->targets : 0);
    if (sends) set_s(k, scount, st);
    set_all(call_r(k), k->n_r, rcounts, rt, NULL);
    if (at_root(root, c)) check_use_blocks(rbuf, c->targets, rcounts, displs, rt, NULL);
    RUN(k, sends ? reads(sbuf, scount, st) : no_span,
        at_root(root, c) ? blocks(rbuf, c->targets, rcounts, displs, rt, NULL, true) : no_span,
        coll_gatherv(sbuf, scount, st, rbuf, rcounts, displs, rt, root, c, as));
}

int check_coll_scatter(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount, struct gw_type *rt,
                       int root, struct gw_comm *c, struct coll_as *as)
{
    bool sends = at_root(root, c), receives = at_leaf(root, c) && rbuf != GW_IN_PLACE;
    struct check_call *k = call_new(c, as, SHAPE_FROM_ROOT, root, NULL, sends, 1);
    if (sends) set_s(k, scount, st);
    if (receives) set_r(k, rcount, rt);
    RUN(k, sends ? reads(sbuf, scount * c->targets, st) : no_span, receives ? writes(rbuf, rcount, rt) : no_span,
        coll_scatter(sbuf, scount, st, rbuf, rcount, rt, root, c, as));
}

int check_coll_scatterv(const void *sbuf, struct gw_counts scounts, struct gw_counts displs, struct gw_type *st, void *rbuf,
                        int64_t rcount, struct gw_type *rt, int root, struct gw_comm *c, struct coll_as *as)
{
    bool receives = at_leaf(root, c) && rbuf != GW_IN_PLACE;
    struct check_call *k = call_new(c, as, SHAPE_FROM_ROOT, root, NULL, at_root(root, c) ? c->targets : 0, 1);
    set_all(call_s(k), k->n_s, scounts, st, NULL);
    if (receives) set_r(k, rcount, rt);
    RUN(k, at_root(root, c) ? blocks(sbuf, c->targets, scounts, displs, st, NULL, false) : no_span,
        receives ? writes(rbuf, rcount, rt) : no_span, coll_scatterv(sbuf, scounts, displs, st, rbuf, rcount, rt, root, c, as));
}

int check_coll_allgather(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount, struct gw_type *rt,
                         struct gw_comm *c, struct coll_as *as)
{
    bool in_place = sbuf == GW_IN_PLACE;
    struct check_call *k = call_new(c, as, SHAPE_TO_ALL, GW_UNDEFINED, NULL, 1, 1);
    set_s(k, in_place ? rcount : scount, in_place ? rt : st);
    set_r(k, rcount, rt);
    RUN(k, in_place ? no_span : reads(sbuf, scount, st), writes(rbuf, rcount * c->targets, rt),
        coll_allgather(sbuf, scount, st, rbuf, rcount, rt, c, as));
}

int check_coll_allgatherv(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, struct gw_counts rcounts,
                          struct gw_counts displs, struct gw_type *rt, struct gw_comm *c, struct coll_as *as)
{
    bool in_place = sbuf == GW_IN_PLACE;
    struct check_call *k = call_new(c, as, SHAPE_TO_ALL, GW_UNDEFINED, NULL, 1, c->targets);
    set_s(k, in_place ? gw_counts_at(rcounts, c->rank) : scount, in_place ? rt : st);
    set_all(call_r(k), k->n_r, rcounts, rt, NULL);
    check_use_blocks(rbuf, c->targets, rcounts, displs, rt, NULL);
    RUN(k, in_place ? no_span : reads(sbuf, scount, st), blocks(rbuf, c->targets, rcounts, displs, rt, NULL, true),
        coll_allgatherv(sbuf, scount, st, rbuf, rcounts, displs, rt, c, as));
}

int check_coll_alltoall(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount, struct gw_type *rt,
                        struct gw_comm *c, struct coll_as *as)
{
    bool in_place = sbuf == GW_IN_PLACE;
    struct check_call *k = call_new(c, as, SHAPE_PAIRS, GW_UNDEFINED, NULL, 1, 1);
    set_s(k, in_place ? rcount : scount, in_place ? rt : st);
    set_r(k, rcount, rt);
    RUN(k, in_place ? no_span : reads(sbuf, scount * c->targets, st), writes(rbuf, rcount * c->targets, rt),
        coll_alltoall(sbuf, scount, st, rbuf, rcount, rt, c, as));
}

/* Of so many members all pairs are a lot to send: only that the call is the same is looked at. */
enum { PAIRS_MAX = 512 };
static struct check_call *pairs_call(bool in_place, struct gw_counts scounts, struct gw_type *st, struct gw_type **sts,
                                     struct gw_counts rcounts, struct gw_type *rt, struct gw_type **rts, struct gw_comm *c,
                                     const struct coll_as *as)
{
    struct check_call *k = call_new(c, as, gw_max64(c->size, c->targets) > PAIRS_MAX ? SHAPE_NONE : SHAPE_PAIRS, GW_UNDEFINED, NULL,
                                    c->targets, c->targets);
    set_all(call_r(k), k->n_r, rcounts, rt, rts);
    if (in_place)
        memcpy(call_s(k), call_r(k), (size_t)k->n_s * sizeof(struct check_sig));
    else
        set_all(call_s(k), k->n_s, scounts, st, sts);
    return k;
}

int check_coll_alltoallv(const void *sbuf, struct gw_counts scounts, struct gw_counts sdispls, struct gw_type *st, void *rbuf,
                         struct gw_counts rcounts, struct gw_counts rdispls, struct gw_type *rt, struct gw_comm *c,
                         struct coll_as *as)
{
    struct check_call *k = pairs_call(sbuf == GW_IN_PLACE, scounts, st, NULL, rcounts, rt, NULL, c, as);
    check_use_blocks(rbuf, c->targets, rcounts, rdispls, rt, NULL);
    RUN(k, blocks(sbuf, c->targets, scounts, sdispls, st, NULL, false), blocks(rbuf, c->targets, rcounts, rdispls, rt, NULL, true),
        coll_alltoallv(sbuf, scounts, sdispls, st, rbuf, rcounts, rdispls, rt, c, as));
}

int check_coll_alltoallw(const void *sbuf, struct gw_counts scounts, struct gw_counts sdispls, struct gw_type **st, void *rbuf,
                         struct gw_counts rcounts, struct gw_counts rdispls, struct gw_type **rt, struct gw_comm *c,
                         struct coll_as *as)
{
    struct check_call *k = pairs_call(sbuf == GW_IN_PLACE, scounts, NULL, st, rcounts, NULL, rt, c, as);
    check_use_blocks(rbuf, c->targets, rcounts, rdispls, NULL, rt);
    RUN(k, blocks(sbuf, c->targets, scounts, sdispls, NULL, st, false), blocks(rbuf, c->targets, rcounts, rdispls, NULL, rt, true),
        coll_alltoallw(sbuf, scounts, sdispls, st, rbuf, rcounts, rdispls, rt, c, as));
}

/* ---- reductions ---- */
int check_coll_reduce(const void *sbuf, void *rbuf, int64_t count, struct gw_type *t, struct gw_op *op, int root, struct gw_comm *c,
                      struct coll_as *as)
{
    struct check_call *k = call_new(c, as, SHAPE_SAME, root, op, 1, 0);
    if (at_leaf(root, c) || at_root(root, c)) set_s(k, count, t);
    RUN(k, at_leaf(root, c) ? reads(sbuf, count, t) : no_span, at_root(root, c) ? writes(rbuf, count, t) : no_span,
        coll_reduce(sbuf, rbuf, count, t, op, root, c, as));
}

#define REDUCTION(name)                                                                                                            \
    int check_coll_##name(const void *sbuf, void *rbuf, int64_t count, struct gw_type *t, struct gw_op *op, struct gw_comm *c,     \
                          struct coll_as *as)                                                                                      \
    {                                                                                                                              \
        struct check_call *k = call_new(c, as, SHAPE_SAME, GW_UNDEFINED, op, 1, 0);                                                \
        set_s(k, count, t);                                                                                                        \
        RUN(k, reads(sbuf, count, t), writes(rbuf, count, t), coll_##name(sbuf, rbuf, count, t, op, c, as));                       \
    }
REDUCTION(allreduce)
REDUCTION(scan)

/* The receive buffer of the first rank is not touched. */
int check_coll_exscan(const void *sbuf, void *rbuf, int64_t count, struct gw_type *t, struct gw_op *op, struct gw_comm *c,
                      struct coll_as *as)
{
    struct check_call *k = call_new(c, as, SHAPE_SAME, GW_UNDEFINED, op, 1, 0);
    set_s(k, count, t);
    RUN(k, reads(sbuf, count, t), c->rank > 0 ? writes(rbuf, count, t) : no_span, coll_exscan(sbuf, rbuf, count, t, op, c, as));
}

/* What is given in place is read and written: the whole buffer is written here. */
static struct check_span scattered(const void *sbuf, const void *rbuf, int64_t mine, int64_t all, struct gw_type *t)
{
    return writes(rbuf, sbuf == GW_IN_PLACE ? all : mine, t);
}

int check_coll_reduce_scatter(const void *sbuf, void *rbuf, struct gw_counts rcounts, struct gw_type *t, struct gw_op *op,
                              struct gw_comm *c, struct coll_as *as)
{
    struct check_call *k = call_new(c, as, SHAPE_SAME, GW_UNDEFINED, op, 1 + c->size, 0);
    int64_t all = 0;
    for (int i = 0; i < c->size; i++) all += gw_counts_at(rcounts, i);
    if (k->n_s) call_s(k)[0] = sig_of(all, t); /* another group divides the same for itself */
    if (k->n_s) set_all(call_s(k) + 1, c->size, rcounts, t, NULL);
    RUN(k, reads(sbuf, all, t), scattered(sbuf, rbuf, gw_counts_at(rcounts, c->rank), all, t),
        coll_reduce_scatter(sbuf, rbuf, rcounts, t, op, c, as));
}

int check_coll_reduce_scatter_block(const void *sbuf, void *rbuf, int64_t rcount, struct gw_type *t, struct gw_op *op,
                                    struct gw_comm *c, struct coll_as *as)
{
    struct check_call *k = call_new(c, as, SHAPE_SAME, GW_UNDEFINED, op, 1, 0);
    set_s(k, rcount * c->size, t);
    if (k->n_s) k->s_count = rcount;
    RUN(k, reads(sbuf, rcount * c->size, t), scattered(sbuf, rbuf, rcount, rcount * c->size, t),
        coll_reduce_scatter_block(sbuf, rbuf, rcount, t, op, c, as));
}

/* ---- neighbours ------------------------------------------------------------------------------------------------------------------- */
/* One side of a member: its neighbours there, and what goes to or comes from each. */
struct edges {
    int n;
    const int *peers;
    int64_t *counts, *displs;
    struct gw_type *t, **types;
};

/* With what the call says, in 64 bits; nothing beyond the border of a grid.  n_counts 1: one for all, blocks beside each other. */
static struct edges edges_of(int n, const int *peers, struct gw_counts counts, bool is_one, struct gw_counts displs,
                             struct gw_type *t, struct gw_type **types)
{
    struct edges e = {n, peers, gw_xmalloc(2 * (size_t)(n + 1) * sizeof *e.counts), NULL, t, types};
    e.displs = e.counts + n + 1;
    for (int i = 0; i < n; i++) {
        int64_t count = gw_counts_at(counts, is_one ? 0 : i);
        e.counts[i] = peers[i] == GW_PROC_NULL ? 0 : count;
        e.displs[i] = is_one ? i * count : displs.v ? gw_counts_at(displs, i) : 0;
    }
    return e;
}
static struct gw_counts wide(const int64_t *v) { return (struct gw_counts){v, true}; }
static struct check_sig edge_sig(const struct edges *e, int i)
{
    struct check_sig s = sig_of(e->counts[i], e->types ? e->types[i] : e->t);
    s.peer = e->peers[i];
    return s;
}

/* The order in which blocks that come from the same neighbour match those that it sends: see nth_in() of coll/alg_neighbor.c. */
static int nth_in(const struct gw_topo *t, int i) { return t->kind == GW_CART ? i ^ 1 : i; }

struct neighbors {
    struct edges out, in;
};

static struct check_call *neighbor_call(const struct neighbors *e, struct gw_comm *c, const struct coll_as *as)
{
    bool is_known = c->topo && e->out.n + e->in.n <= check_court_sigs_max(c) && c->size <= PAIRS_MAX;
    struct check_call *k = call_new(c, as, is_known ? SHAPE_NEIGHBORS : SHAPE_NONE, GW_UNDEFINED, NULL, e->out.n, e->in.n);
    for (int i = 0; i < k->n_s; i++) call_s(k)[i] = edge_sig(&e->out, i);
    for (int i = 0; i < k->n_r; i++) call_r(k)[i] = edge_sig(&e->in, nth_in(c->topo, i));
    return k;
}

/* What the call says, where that is one number. */
static void neighbor_text(struct check_call *k, int64_t scount, const struct gw_type *st, int64_t rcount, const struct gw_type *rt)
{
    k->s_count = scount;
    if (scount >= 0) strncpy(k->s_type, type_name((struct gw_type *)(uintptr_t)st), sizeof k->s_type - 1);
    k->r_count = rcount;
    if (rcount >= 0) strncpy(k->r_type, type_name((struct gw_type *)(uintptr_t)rt), sizeof k->r_type - 1);
}

static struct check_span edges_span(const void *buf, const struct edges *e, bool is_written)
{
    return blocks(buf, e->n, wide(e->counts), wide(e->displs), e->t, e->types, is_written);
}

static bool has_edges(const struct edges *e)
{
    for (int i = 0; i < e->n; i++)
        if (e->counts[i] > 0) return true;
    return false;
}

/* Everything that is known before the call; the edges are given back.  sbuf_one: (sbuf, count, type) goes to all. */
struct neighbor_look {
    struct check_call *call;
    struct check_span s, r;
};
static struct neighbor_look neighbor_look(struct neighbors e, const void *sbuf, int64_t scount, bool sbuf_one, const void *rbuf,
                                          int64_t rcount, struct gw_comm *c, const struct coll_as *as)
{
    struct neighbor_look l = {neighbor_call(&e, c, as), no_span, no_span};
    neighbor_text(l.call, scount, e.out.t, rcount, e.in.t);
    if (rcount < 0) check_use_blocks(rbuf, e.in.n, wide(e.in.counts), wide(e.in.displs), e.in.t, e.in.types);
    if (sbuf_one && has_edges(&e.out))
        l.s = reads(sbuf, scount, e.out.t);
    else if (!sbuf_one)
        l.s = edges_span(sbuf, &e.out, false);
    l.r = edges_span(rbuf, &e.in, true);
    free(e.out.counts);
    free(e.in.counts);
    return l;
}

#define RUN_NEIGHBORS(look, run)                                                                                                   \
    do {                                                                                                                           \
        int rc = finish(c, (look).call);                                                                                           \
        if (rc != GW_OK) {                                                                                                         \
            check_span_drop(&(look).s);                                                                                            \
            check_span_drop(&(look).r);                                                                                            \
            return rc;                                                                                                             \
        }                                                                                                                          \
        struct uses u = use_begin((look).s, (look).r, as);                                                                         \
        return use_end(run, &u, c, as);                                                                                            \
    } while (0)

static const struct gw_topo no_topo;
static const struct gw_topo *topo_of(const struct gw_comm *c) { return c->topo ? c->topo : &no_topo; }
static const struct gw_counts no_displs;
/* The same count for all, as gw_counts_at() reads it. */
#define ONE(count) (struct gw_counts){&(count), true}, true, no_displs

int check_coll_neighbor_allgather(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount,
                                  struct gw_type *rt, struct gw_comm *c, struct coll_as *as)
{
    const struct gw_topo *t = topo_of(c);
    struct neighbors e = {edges_of(t->nout, t->out, ONE(scount), st, NULL), edges_of(t->nin, t->in, ONE(rcount), rt, NULL)};
    struct neighbor_look l = neighbor_look(e, sbuf, scount, true, rbuf, rcount, c, as);
    RUN_NEIGHBORS(l, coll_neighbor_allgather(sbuf, scount, st, rbuf, rcount, rt, c, as));
}

int check_coll_neighbor_allgatherv(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, struct gw_counts rcounts,
                                   struct gw_counts displs, struct gw_type *rt, struct gw_comm *c, struct coll_as *as)
{
    const struct gw_topo *t = topo_of(c);
    struct neighbors e = {edges_of(t->nout, t->out, ONE(scount), st, NULL),
                          edges_of(t->nin, t->in, rcounts, false, displs, rt, NULL)};
    struct neighbor_look l = neighbor_look(e, sbuf, scount, true, rbuf, -1, c, as);
    RUN_NEIGHBORS(l, coll_neighbor_allgatherv(sbuf, scount, st, rbuf, rcounts, displs, rt, c, as));
}

int check_coll_neighbor_alltoall(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount,
                                 struct gw_type *rt, struct gw_comm *c, struct coll_as *as)
{
    const struct gw_topo *t = topo_of(c);
    struct neighbors e = {edges_of(t->nout, t->out, ONE(scount), st, NULL), edges_of(t->nin, t->in, ONE(rcount), rt, NULL)};
    struct neighbor_look l = neighbor_look(e, sbuf, scount, false, rbuf, rcount, c, as);
    RUN_NEIGHBORS(l, coll_neighbor_alltoall(sbuf, scount, st, rbuf, rcount, rt, c, as));
}

int check_coll_neighbor_alltoallv(const void *sbuf, struct gw_counts scounts, struct gw_counts sdispls, struct gw_type *st,
                                  void *rbuf, struct gw_counts rcounts, struct gw_counts rdispls, struct gw_type *rt,
                                  struct gw_comm *c, struct coll_as *as)
{
    const struct gw_topo *t = topo_of(c);
    struct neighbors e = {edges_of(t->nout, t->out, scounts, false, sdispls, st, NULL),
                          edges_of(t->nin, t->in, rcounts, false, rdispls, rt, NULL)};
    struct neighbor_look l = neighbor_look(e, sbuf, -1, false, rbuf, -1, c, as);
    RUN_NEIGHBORS(l, coll_neighbor_alltoallv(sbuf, scounts, sdispls, st, rbuf, rcounts, rdispls, rt, c, as));
}

int check_coll_neighbor_alltoallw(const void *sbuf, struct gw_counts scounts, struct gw_counts sdispls, struct gw_type **st,
                                  void *rbuf, struct gw_counts rcounts, struct gw_counts rdispls, struct gw_type **rt,
                                  struct gw_comm *c, struct coll_as *as)
{
    const struct gw_topo *t = topo_of(c);
    struct neighbors e = {edges_of(t->nout, t->out, scounts, false, sdispls, NULL, st),
                          edges_of(t->nin, t->in, rcounts, false, rdispls, NULL, rt)};
    struct neighbor_look l = neighbor_look(e, sbuf, -1, false, rbuf, -1, c, as);
    RUN_NEIGHBORS(l, coll_neighbor_alltoallw(sbuf, scounts, sdispls, st, rbuf, rcounts, rdispls, rt, c, as));
}
