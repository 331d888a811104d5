/* check_coll.c -- the collectives: the record of the call, and what its buffers are.
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

static struct check_call *call_new(struct gw_comm *c, bool waits, int shape, int n_s, int n_r)
{
    if (c->remote && !check_court_has_both(c))
        shape = SHAPE_NONE; /* what one group sends the other receives, and they do not meet */
    if (shape == SHAPE_NONE) n_s = n_r = 0;
    struct check_call *k = gw_xcalloc(1, sizeof *k + (size_t)(n_s + n_r) * sizeof(struct check_sig));
    *k = (struct check_call){.fn = plain_call(check_me.now.fn),
                             .waits = waits,
                             .root = GW_UNDEFINED,
                             .shape = shape,
                             .n_s = n_s,
                             .n_r = n_r,
                             .s_count = -1,
                             .r_count = -1};
    k->place = check_site_pack(check_me.now, k->module);
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

/* As called, for the text. */
static void tell_s(struct check_call *k, int64_t count, struct gw_type *t)
{
    if (k->n_s != 1) return;
    k->s_count = count;
    strncpy(k->s_type, type_name(t), sizeof k->s_type - 1);
}
static void set_s(struct check_call *k, int64_t count, struct gw_type *t)
{
    if (k->n_s != 1) return;
    call_s(k)[0] = sig_of(count, t);
    tell_s(k, count, t);
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

int check_together(struct gw_comm *c, bool waits) { return finish(c, call_new(c, waits, SHAPE_NONE, 0, 0)); }

/* Told when it is done: attributes' callbacks may call collectives on it before. */
static int comm_free_before(struct check_run *r)
{
    r->held = comm_hold(r->a.comm);
    r->site = check_me.now;
    return GW_OK;
}
static int comm_free_after(struct check_run *r, int rc)
{
    assert(r->held && r->form == CHECK_BLOCKS);
    check_me.now = r->site;
    if (rc == GW_OK) check_together(r->held, false);
    comm_release(r->held);
    return rc;
}
const struct check_kind check_of_comm_free = {.before = comm_free_before, .after = comm_free_after};

/* ---- buffers ----------------------------------------------------------------------------------------------------------------------- */
static const struct check_span no_span;
static void use(struct check_run *r, void **arg, struct check_span s)
{
    if (s.lo != s.hi) check_run_use(r, arg, s);
}
static void reads(struct check_run *r, void **arg, int64_t count, struct gw_type *t)
{
    use(r, arg, check_span(*arg, count, t, false));
}
static void writes(struct check_run *r, void **arg, int64_t count, struct gw_type *t)
{
    use(r, arg, check_span(*arg, count, t, true));
}

/* Blocks of different sizes: n of them, displacements in the extent of t where types is NULL, else in bytes. */
struct blocks {
    int n;
    struct gw_counts counts, displs;
    struct gw_type *t, **types;
};

/* As one piece of memory, of a datatype made for it. */
static struct check_span blocks(const void *buf, const struct blocks *b, bool is_written)
{
    enum { BLOCKS_MAX = 4096 };
    struct gw_type *made;
    char name[GW_MAX_OBJECT_NAME];
    if (buf == GW_IN_PLACE || (b->n > BLOCKS_MAX && !mem_has_drivers)) return no_span;
    int rc =
        b->types ? type_struct(b->n, b->counts, b->displs, b->types, &made) : type_indexed(b->n, b->counts, b->displs, b->t, &made);
    if (rc != GW_OK) return no_span;
    snprintf(name, sizeof name, b->types ? "blocks" : "blocks of %.100s", b->types ? "" : type_name(b->t));
    struct check_span s = no_span;
    if (type_set_name(made, name) == GW_OK && type_commit(&made) == GW_OK) s = check_span(buf, 1, made, is_written);
    s.owns_type = s.lo != s.hi;
    if (!s.owns_type) type_release(made);
    return s.owns_type ? s : no_span;
}

/* The record of a call with data: its buffers follow. */
static struct check_call *record(struct check_run *r, int shape, int n_s, int n_r)
{
    assert(!r->record);
    struct check_call *k = r->record = call_new(r->a.comm, r->form == CHECK_BLOCKS, shape, n_s, n_r);
    const struct gw_op *op = r->a.op;
    if (op) k->op = op->obj.predefined ? (int32_t)op->obj.id : CHECK_OP_USER + op->commutes;
    return k;
}
/* Of one with a root. */
static struct check_call *rooted_record(struct check_run *r, int shape, int n_s, int n_r)
{
    struct check_call *k = record(r, shape, n_s, n_r);
    k->root = r->a.root;
    return k;
}

/* The members agree (or the call says that they do not); then it runs, with its buffers in view.  Those of a persistent one are in use
 * when it is started. */
static int meet(struct check_run *r)
{
    int rc = finish(r->a.comm, r->record);
    if (rc != GW_OK) check_run_drop(r);
    if (rc != GW_OK || r->form == CHECK_PREPARES) return rc;
    check_use_look(r->spans, r->n_spans);
    for (int k = 0; r->form == CHECK_STARTS && k < r->n_spans; k++) check_span_sum(&r->spans[k]);
    return rc;
}

static int ran(struct check_run *r, int rc)
{
    if (rc == GW_OK && r->form != CHECK_BLOCKS)
        check_use_track(r->a.request, r->spans, r->n_spans, (struct check_about){r->a.comm, GW_UNDEFINED, GW_UNDEFINED, 0});
    else
        check_run_drop(r);
    return rc;
}

static void read_blocks(struct check_run *r, void **arg, struct blocks b) { use(r, arg, blocks(*arg, &b, false)); }
static void write_blocks(struct check_run *r, void **arg, struct blocks b) { use(r, arg, blocks(*arg, &b, true)); }

static bool at_root(int root, const struct gw_comm *c) { return c->remote ? root == GW_ROOT : root == c->rank; }
/* Does this rank send, or receive, to and from the root? */
static bool at_leaf(int root, const struct gw_comm *c) { return !c->remote || root >= 0; }

/* ---- the collectives: a vector's counts are an array -------------------------------------------------------------------------------- */
static int barrier_before(struct check_run *r)
{
    record(r, SHAPE_NONE, 0, 0);
    return meet(r);
}
const struct check_kind check_of_barrier = {.before = barrier_before, .after = ran};

static bool takes_part(const struct check_args *a) { return !a->comm->remote || a->root != GW_PROC_NULL; }
static void bcast_uses(struct check_run *r)
{
    struct check_args *a = &r->a;
    if (takes_part(a)) use(r, &a->buffer, check_span(a->buffer, a->count, a->datatype, !at_root(a->root, a->comm)));
}
static int bcast_before(struct check_run *r)
{
    const struct check_args *a = &r->a;
    struct check_call *k = rooted_record(r, SHAPE_SAME, 1, 0);
    if (takes_part(a)) set_s(k, a->count, a->datatype);
    return meet(r);
}
const struct check_kind check_of_bcast = {.uses = bcast_uses, .before = bcast_before, .after = ran};

static void gather_uses(struct check_run *r)
{
    struct check_args *a = &r->a;
    const struct gw_comm *c = a->comm;
    if (at_leaf(a->root, c)) reads(r, &a->sendbuf, a->sendcount, a->sendtype);
    if (!at_root(a->root, c)) return;
    if (a->recvcount < 0)
        write_blocks(r, &a->recvbuf, (struct blocks){c->targets, a->recvcounts, a->displs, a->recvtype, NULL});
    else
        writes(r, &a->recvbuf, a->recvcount * c->targets, a->recvtype);
}
static int gather_before(struct check_run *r)
{
    const struct check_args *a = &r->a;
    const struct gw_comm *c = a->comm;
    bool sends = at_leaf(a->root, c) && a->sendbuf != GW_IN_PLACE, receives = at_root(a->root, c), is_vector = a->recvcount < 0;
    struct check_call *k = rooted_record(r, SHAPE_TO_ROOT, 1, !receives ? 0 : is_vector ? c->targets : 1);
    if (sends) set_s(k, a->sendcount, a->sendtype);
    if (receives && is_vector) {
        set_all(call_r(k), k->n_r, a->recvcounts, a->recvtype, NULL);
        check_use_blocks(a->recvbuf, c->targets, a->recvcounts, a->displs, a->recvtype, NULL);
    } else if (receives) {
        set_r(k, a->recvcount, a->recvtype);
    }
    return meet(r);
}
const struct check_kind check_of_gather = {.uses = gather_uses, .before = gather_before, .after = ran};

static void scatter_uses(struct check_run *r)
{
    struct check_args *a = &r->a;
    const struct gw_comm *c = a->comm;
    if (at_leaf(a->root, c)) writes(r, &a->recvbuf, a->recvcount, a->recvtype);
    if (!at_root(a->root, c)) return;
    if (a->sendcount < 0)
        read_blocks(r, &a->sendbuf, (struct blocks){c->targets, a->sendcounts, a->displs, a->sendtype, NULL});
    else
        reads(r, &a->sendbuf, a->sendcount * c->targets, a->sendtype);
}
static int scatter_before(struct check_run *r)
{
    const struct check_args *a = &r->a;
    const struct gw_comm *c = a->comm;
    bool sends = at_root(a->root, c), receives = at_leaf(a->root, c) && a->recvbuf != GW_IN_PLACE, is_vector = a->sendcount < 0;
    struct check_call *k = rooted_record(r, SHAPE_FROM_ROOT, !sends ? 0 : is_vector ? c->targets : 1, 1);
    if (sends && is_vector)
        set_all(call_s(k), k->n_s, a->sendcounts, a->sendtype, NULL);
    else if (sends)
        set_s(k, a->sendcount, a->sendtype);
    if (receives) set_r(k, a->recvcount, a->recvtype);
    return meet(r);
}
const struct check_kind check_of_scatter = {.uses = scatter_uses, .before = scatter_before, .after = ran};

static void allgather_uses(struct check_run *r)
{
    struct check_args *a = &r->a;
    reads(r, &a->sendbuf, a->sendcount, a->sendtype);
    if (a->recvcount < 0)
        write_blocks(r, &a->recvbuf, (struct blocks){a->comm->targets, a->recvcounts, a->displs, a->recvtype, NULL});
    else
        writes(r, &a->recvbuf, a->recvcount * a->comm->targets, a->recvtype);
}
static int allgather_before(struct check_run *r)
{
    const struct check_args *a = &r->a;
    const struct gw_comm *c = a->comm;
    bool in_place = a->sendbuf == GW_IN_PLACE, is_vector = a->recvcount < 0;
    struct check_call *k = record(r, SHAPE_TO_ALL, 1, is_vector ? c->targets : 1);
    int64_t own = !in_place ? a->sendcount : is_vector ? gw_counts_at(a->recvcounts, c->rank) : a->recvcount;
    set_s(k, own, in_place ? a->recvtype : a->sendtype);
    if (is_vector) {
        set_all(call_r(k), k->n_r, a->recvcounts, a->recvtype, NULL);
        check_use_blocks(a->recvbuf, c->targets, a->recvcounts, a->displs, a->recvtype, NULL);
    } else {
        set_r(k, a->recvcount, a->recvtype);
    }
    return meet(r);
}
const struct check_kind check_of_allgather = {.uses = allgather_uses, .before = allgather_before, .after = ran};

static void alltoall_uses(struct check_run *r)
{
    struct check_args *a = &r->a;
    if (a->sendbuf != GW_IN_PLACE) reads(r, &a->sendbuf, a->sendcount * a->comm->targets, a->sendtype);
    writes(r, &a->recvbuf, a->recvcount * a->comm->targets, a->recvtype);
}
static int alltoall_before(struct check_run *r)
{
    const struct check_args *a = &r->a;
    bool in_place = a->sendbuf == GW_IN_PLACE;
    struct check_call *k = record(r, SHAPE_PAIRS, 1, 1);
    set_s(k, in_place ? a->recvcount : a->sendcount, in_place ? a->recvtype : a->sendtype);
    set_r(k, a->recvcount, a->recvtype);
    return meet(r);
}
const struct check_kind check_of_alltoall = {.uses = alltoall_uses, .before = alltoall_before, .after = ran};

/* Of so many members all pairs are a lot to send: only that the call is the same is looked at. */
enum { PAIRS_MAX = 512 };

/* With one datatype for all, or one for each. */
static void alltoall_vectors_uses(struct check_run *r)
{
    struct check_args *a = &r->a;
    int n = a->comm->targets;
    read_blocks(r, &a->sendbuf, (struct blocks){n, a->sendcounts, a->sdispls, a->sendtype, a->sendtypes});
    write_blocks(r, &a->recvbuf, (struct blocks){n, a->recvcounts, a->rdispls, a->recvtype, a->recvtypes});
}
static int alltoall_vectors_before(struct check_run *r)
{
    const struct check_args *a = &r->a;
    const struct gw_comm *c = a->comm;
    bool is_many = gw_max64(c->size, c->targets) > PAIRS_MAX;
    struct check_call *k = record(r, is_many ? SHAPE_NONE : SHAPE_PAIRS, c->targets, c->targets);
    set_all(call_r(k), k->n_r, a->recvcounts, a->recvtype, a->recvtypes);
    if (a->sendbuf == GW_IN_PLACE)
        memcpy(call_s(k), call_r(k), (size_t)k->n_s * sizeof(struct check_sig));
    else
        set_all(call_s(k), k->n_s, a->sendcounts, a->sendtype, a->sendtypes);
    check_use_blocks(a->recvbuf, c->targets, a->recvcounts, a->rdispls, a->recvtype, a->recvtypes);
    return meet(r);
}
const struct check_kind check_of_alltoall_vectors = {
    .uses = alltoall_vectors_uses, .before = alltoall_vectors_before, .after = ran};

/* ---- reductions ---- */
static void reduce_uses(struct check_run *r)
{
    struct check_args *a = &r->a;
    if (at_leaf(a->root, a->comm)) reads(r, &a->sendbuf, a->count, a->datatype);
    if (at_root(a->root, a->comm)) writes(r, &a->recvbuf, a->count, a->datatype);
}
static int reduce_before(struct check_run *r)
{
    const struct check_args *a = &r->a;
    struct check_call *k = rooted_record(r, SHAPE_SAME, 1, 0);
    bool is_leaf = at_leaf(a->root, a->comm), is_root = at_root(a->root, a->comm);
    if (is_leaf || is_root) set_s(k, a->count, a->datatype);
    return meet(r);
}
const struct check_kind check_of_reduce = {.uses = reduce_uses, .before = reduce_before, .after = ran};

static void reduction_uses(struct check_run *r)
{
    reads(r, &r->a.sendbuf, r->a.count, r->a.datatype);
    writes(r, &r->a.recvbuf, r->a.count, r->a.datatype);
}
/* The first rank's result is not touched, but may be what it gives. */
static void exscan_uses(struct check_run *r)
{
    reads(r, &r->a.sendbuf, r->a.count, r->a.datatype);
    bool is_first = r->a.comm->rank == 0, gives = is_first && r->a.sendbuf == GW_IN_PLACE && mem_has_drivers;
    if (!is_first || gives) writes(r, &r->a.recvbuf, r->a.count, r->a.datatype);
}
static int reduction_before(struct check_run *r)
{
    set_s(record(r, SHAPE_SAME, 1, 0), r->a.count, r->a.datatype);
    return meet(r);
}
const struct check_kind check_of_reduce_all = {.uses = reduction_uses, .before = reduction_before, .after = ran},
                        check_of_exscan = {.uses = exscan_uses, .before = reduction_before, .after = ran};

/* What is given in place is read and written: the whole buffer is written here. */
static int64_t all_parts(const struct check_args *a)
{
    int n = a->comm->size;
    if (a->recvcount >= 0) return n * a->recvcount;
    int64_t all = 0;
    for (int i = 0; i < n; i++) all += gw_counts_at(a->recvcounts, i);
    return all;
}
static void reduce_scatter_uses(struct check_run *r)
{
    struct check_args *a = &r->a;
    int64_t all = all_parts(a), mine = a->recvcount < 0 ? gw_counts_at(a->recvcounts, a->comm->rank) : a->recvcount;
    reads(r, &a->sendbuf, all, a->datatype);
    writes(r, &a->recvbuf, a->sendbuf == GW_IN_PLACE ? all : mine, a->datatype);
}
static int reduce_scatter_before(struct check_run *r)
{
    const struct check_args *a = &r->a;
    int n = a->comm->size;
    bool is_vector = a->recvcount < 0;
    struct check_call *k = record(r, SHAPE_SAME, is_vector ? 1 + n : 1, 0);
    int64_t all = all_parts(a);
    if (k->n_s) call_s(k)[0] = sig_of(all, a->datatype); /* another group divides the same for itself */
    if (k->n_s > 1) set_all(call_s(k) + 1, n, a->recvcounts, a->datatype, NULL);
    if (!is_vector) tell_s(k, a->recvcount, a->datatype);
    return meet(r);
}
const struct check_kind check_of_reduce_scatter = {.uses = reduce_scatter_uses, .before = reduce_scatter_before, .after = ran};

/* ---- neighbours ------------------------------------------------------------------------------------------------------------------- */
/* One side of a member: its neighbours there, and what goes to or comes from each. */
struct edges {
    int n;
    const int *peers;
    int64_t *counts, *displs;
    struct gw_type *t, **types;
};

/* With what the call says, in 64 bits; nothing beyond the border of a grid.  count 0 or more: the same for all, blocks beside each other. */
static struct edges edges_of(int n, const int *peers, int64_t count, struct gw_counts counts, struct gw_counts displs)
{
    struct edges e = {n, peers, gw_xmalloc(2 * (size_t)(n + 1) * sizeof *e.counts), NULL, NULL, NULL};
    e.displs = e.counts + n + 1;
    for (int i = 0; i < n; i++) {
        e.counts[i] = peers[i] == GW_PROC_NULL ? 0 : count >= 0 ? count : gw_counts_at(counts, i);
        e.displs[i] = count >= 0 ? i * count : displs.v ? gw_counts_at(displs, i) : 0;
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

static struct check_call *neighbor_record(struct check_run *r, const struct neighbors *e)
{
    const struct gw_comm *c = r->a.comm;
    bool is_known = c->topo && e->out.n + e->in.n <= check_court_sigs_max(c) && c->size <= PAIRS_MAX;
    struct check_call *k = record(r, is_known ? SHAPE_NEIGHBORS : SHAPE_NONE, e->out.n, e->in.n);
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

static struct blocks blocks_of(const struct edges *e)
{
    return (struct blocks){e->n, wide(e->counts), wide(e->displs), e->t, e->types};
}

static bool has_edges(const struct edges *e)
{
    for (int i = 0; i < e->n; i++)
        if (e->counts[i] > 0) return true;
    return false;
}

static const struct gw_topo no_topo;

/* What goes to each neighbour, and comes from each, is one of equal blocks, or one of a vector.  to_all: the same goes to all (an allgather),
 * and there is one array of displacements at most, that of what is received. */
static struct neighbors neighbors_of(const struct check_args *a, bool to_all)
{
    const struct gw_topo *t = a->comm->topo ? a->comm->topo : &no_topo;
    struct neighbors e = {edges_of(t->nout, t->out, a->sendcount, a->sendcounts, a->sdispls),
                          edges_of(t->nin, t->in, a->recvcount, a->recvcounts, to_all ? a->displs : a->rdispls)};
    e.out.t = a->sendtype, e.out.types = a->sendtypes, e.in.t = a->recvtype, e.in.types = a->recvtypes;
    return e;
}
static void neighbors_free(struct neighbors *e)
{
    free(e->out.counts);
    free(e->in.counts);
}

static void neighbors_use(struct check_run *r, bool to_all)
{
    struct check_args *a = &r->a;
    struct neighbors e = neighbors_of(a, to_all);
    if (!to_all)
        read_blocks(r, &a->sendbuf, blocks_of(&e.out));
    else if (has_edges(&e.out))
        reads(r, &a->sendbuf, a->sendcount, a->sendtype);
    write_blocks(r, &a->recvbuf, blocks_of(&e.in));
    neighbors_free(&e);
}
static void neighbors_all_uses(struct check_run *r) { neighbors_use(r, true); }
static void neighbors_each_uses(struct check_run *r) { neighbors_use(r, false); }

static int neighbors_meet(struct check_run *r, bool to_all)
{
    const struct check_args *a = &r->a;
    struct neighbors e = neighbors_of(a, to_all);
    neighbor_text(neighbor_record(r, &e), a->sendcount, a->sendtype, a->recvcount, a->recvtype);
    if (a->recvcount < 0) check_use_blocks(a->recvbuf, e.in.n, wide(e.in.counts), wide(e.in.displs), e.in.t, e.in.types);
    neighbors_free(&e);
    return meet(r);
}
static int neighbors_all_before(struct check_run *r) { return neighbors_meet(r, true); }
static int neighbors_each_before(struct check_run *r) { return neighbors_meet(r, false); }
const struct check_kind check_of_neighbors_all = {.uses = neighbors_all_uses, .before = neighbors_all_before, .after = ran},
                        check_of_neighbors_each = {.uses = neighbors_each_uses, .before = neighbors_each_before, .after = ran};
