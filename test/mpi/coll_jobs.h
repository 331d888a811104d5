/* coll_jobs.h -- every collective as a job: its buffers, what they must hold in the end, and its call in any form.
 *
 * A job is made once; it may be filled, started, completed and checked many times (persistent calls).  Data depend on the
 * round that it is filled for.  All members of the communicator make the same job.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_COLL_JOBS_H
#define GW_TEST_COLL_JOBS_H

#include "coll_check.h"

enum kind {
    BARRIER,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    KINDS
};
static const char *const kind_names[] = {
    "barrier",   "bcast",     "gather",     "gatherv",        "scatter",
    "scatterv",  "allgather", "allgatherv", "alltoall",       "alltoallv",
    "alltoallw", "reduce",    "allreduce",  "reduce_scatter", "reduce_scatter_block",
    "scan",      "exscan",
};
enum form { BLOCKING, NONBLOCKING, NONBLOCKING_C, PERSISTENT, PERSISTENT_C };

/* Operations on pairs of unsigned: sums of the predefined kind; sums by a user's function, in a type with gaps; composition of the
 * maps x -> ax + b, which does not commute. */
enum op_kind { OP_SUM, OP_GAPPED, OP_MAPS, OP_KINDS };

struct job {
    enum kind kind;
    struct coll_comm *k;
    enum layout_kind layout;
    enum op_kind op_kind;
    int n, root, in_place;
    struct layout l;           /* of n ints a block; the same on both sides */
    MPI_Datatype type, *types; /* of reductions; of alltoallw */
    MPI_Op op;
    int *counts, *displs, *bytes; /* blocks of v forms: counts by `sizes` */
    MPI_Count *counts_c;
    MPI_Aint *displs_c, *bytes_c;
    struct box s, r;
    MPI_Request req;
    char what[120];
};

static inline int job_is_reduction(const struct job *j) { return j->kind >= REDUCE; }
static inline int job_has_counts(const struct job *j)
{
    return j->kind == GATHERV || j->kind == SCATTERV || j->kind == ALLGATHERV || j->kind == ALLTOALLV || j->kind == ALLTOALLW ||
        j->kind == REDUCE_SCATTER;
}
/* Items of member i's block; in alltoallv and w of every block between two members alike. */
static inline int job_items(const struct job *j, int i)
{
    if (!job_has_counts(j) || j->kind == ALLTOALLV || j->kind == ALLTOALLW) return j->n;
    return i % 3 == 1 ? 0 : i % 3 == 2 ? 2 * j->n : j->n;
}
static inline int job_all_items(const struct job *j, int upto)
{
    int all = 0;
    for (int i = 0; i < upto; i++) all += job_items(j, i);
    return all;
}
/* Is sbuf or rbuf the one that may be MPI_IN_PLACE here? */
static inline int job_may_be_in_place(enum kind kind, int is_root)
{
    if (kind == BARRIER || kind == BCAST) return 0;
    return (kind == GATHER || kind == GATHERV || kind == SCATTER || kind == SCATTERV || kind == REDUCE) ? is_root : 1;
}

/* ---- reductions ---------------------------------------------------------------------------------------------------------- */
struct pair {
    unsigned v[2];
};
static inline struct pair pair_of(int rank_, int round, long i)
{
    return (struct pair){{(unsigned)value_of(rank_, round, 2 * i) | 1u, (unsigned)value_of(rank_, round, 2 * i + 1)}};
}
static inline struct pair pair_join(enum op_kind op, struct pair a, struct pair b)
{
    if (op != OP_MAPS) return (struct pair){{a.v[0] + b.v[0], a.v[1] + b.v[1]}};
    return (struct pair){{a.v[0] * b.v[0], a.v[0] * b.v[1] + a.v[1]}};
}
static inline struct pair pairs_of_ranks(enum op_kind op, int n, int round, long i)
{
    struct pair all = pair_of(0, round, i);
    for (int r = 1; r < n; r++) all = pair_join(op, all, pair_of(r, round, i));
    return all;
}
static inline long pair_extent(const struct job *j) { return j->op_kind == OP_GAPPED ? 16 : 8; }
static inline void pair_store(const struct job *j, struct box *b, long i, struct pair p, int put)
{
    for (long w = 0; w < 2; w++) {
        long at = i * pair_extent(j) + w * (pair_extent(j) / 2);
        put ? box_put(b, at, &p.v[w], 4) : box_want(b, at, &p.v[w], 4);
    }
}
static void user_gapped(void *in, void *inout, int *n, MPI_Datatype *t)
{
    MPI_Aint lb = -1, extent = -1;
    MPI_Type_get_extent(*t, &lb, &extent);
    CHECK_EQ(extent, 16);
    for (long i = 0; i < *n; i++)
        for (long w = 0; w < 2; w++) *(unsigned *)((char *)inout + 16 * i + 8 * w) += *(unsigned *)((char *)in + 16 * i + 8 * w);
}
static void user_maps(void *in, void *inout, int *n, MPI_Datatype *t)
{
    int bytes = 0;
    MPI_Type_size(*t, &bytes);
    CHECK_EQ(bytes, 8);
    for (int i = 0; i < *n; i++) ((struct pair *)inout)[i] = pair_join(OP_MAPS, ((struct pair *)in)[i], ((struct pair *)inout)[i]);
}
static inline void job_op_new(struct job *j)
{
    MPI_Datatype pair;
    j->op = MPI_SUM;
    if (j->op_kind == OP_SUM) MPI_Type_dup(MPI_UNSIGNED, &j->type);
    if (j->op_kind == OP_GAPPED) {
        MPI_Type_create_hindexed_block(2, 1, (MPI_Aint[]){0, 8}, MPI_UNSIGNED, &pair);
        j->type = type_resized(pair, 0, 16);
        MPI_Op_create(user_gapped, 1, &j->op);
    }
    if (j->op_kind == OP_MAPS) {
        MPI_Type_contiguous(2, MPI_UNSIGNED, &j->type);
        MPI_Type_commit(&j->type);
        MPI_Op_create(user_maps, 0, &j->op);
    }
    if (j->op_kind == OP_SUM) MPI_Type_commit(&j->type);
}

/* ---- making ---------------------------------------------------------------------------------------------------------------- */
static inline long job_room(const struct job *j, int sends)
{
    int p = j->k->size;
    if (j->kind == BARRIER) return 0;
    if (job_is_reduction(j)) {
        int all = j->kind == REDUCE_SCATTER || j->kind == REDUCE_SCATTER_BLOCK;
        int items = all && (sends || j->in_place) ? job_all_items(j, p) : all ? job_items(j, j->k->rank) : j->n;
        return items * pair_extent(j);
    }
    int one = j->kind == BCAST ||
        (sends ? j->kind <= GATHERV || j->kind == ALLGATHER || j->kind == ALLGATHERV : j->kind == SCATTER || j->kind == SCATTERV);
    int items = one ? job_items(j, j->k->rank) : j->kind >= ALLTOALL ? p * j->n : job_all_items(j, p);
    return layout_bytes(&j->l, items);
}

static inline void job_counts_new(struct job *j)
{
    size_t p = (size_t)j->k->size;
    j->counts = malloc(p * sizeof(int)), j->displs = malloc(p * sizeof(int)), j->bytes = malloc(p * sizeof(int));
    j->counts_c = malloc(p * sizeof(MPI_Count)), j->displs_c = malloc(p * sizeof(MPI_Aint));
    j->bytes_c = malloc(p * sizeof(MPI_Aint)), j->types = malloc(p * sizeof(MPI_Datatype));
    /* Of reductions the count is of elements of the type; else of types of `per` ints. */
    int per = job_is_reduction(j) ? 1 : (int)j->l.per, words = j->op_kind == OP_SUM && job_is_reduction(j) ? 2 : 1, at = 0;
    for (int i = 0; i < j->k->size; i++) {
        j->counts_c[i] = j->counts[i] = words * job_items(j, i) / per;
        j->displs_c[i] = j->displs[i] = at;
        j->bytes_c[i] = j->bytes[i] = (int)(at * j->l.extent);
        j->types[i] = j->type;
        at += j->counts[i];
    }
}

static inline struct job job_new(enum kind kind, struct coll_comm *k, enum layout_kind layout, enum op_kind op, int n, int root,
                                 int in_place)
{
    struct job j = {.kind = kind, .k = k, .layout = layout, .op_kind = op, .n = n, .root = root, .req = MPI_REQUEST_NULL};
    j.in_place = in_place && job_may_be_in_place(kind, k->rank == root);
    snprintf(j.what, sizeof j.what, "%s on %s of %d, layout %d, op %d, n %d, root %d%s", kind_names[kind], k->name, k->size, layout,
             op, n, root, j.in_place ? ", in place" : "");
    if (job_is_reduction(&j)) {
        job_op_new(&j);
        j.l = (struct layout){MPI_DATATYPE_NULL, 1, pair_extent(&j), 0, 0};
    } else {
        /* WHOLE takes n ints at once, so every block must have n or none. */
        j.l = layout_new(layout == WHOLE && job_has_counts(&j) ? GAPPED : layout, n);
        j.type = j.l.type;
    }
    job_counts_new(&j);
    int send_in_place = j.in_place && kind != SCATTER && kind != SCATTERV, recv_in_place = j.in_place && !send_in_place;
    j.s = box_new(send_in_place || kind == BCAST ? 0 : job_room(&j, 1));
    j.r = box_new(recv_in_place ? 0 : job_room(&j, 0));
    return j;
}

/* Gives up the datatype and the operation, which a call under way or prepared may still use. */
static inline void job_free_objects(struct job *j)
{
    MPI_Type_free(&j->type);
    if (job_is_reduction(j) && j->op_kind != OP_SUM) MPI_Op_free(&j->op);
}

static inline void job_free(struct job *j)
{
    free(j->s.mem), free(j->s.want - GUARD), free(j->r.mem), free(j->r.want - GUARD);
    free(j->counts), free(j->displs), free(j->bytes), free(j->counts_c), free(j->displs_c), free(j->bytes_c), free(j->types);
}

/* ---- data ------------------------------------------------------------------------------------------------------------------ */
static inline void box_clear(struct box *b)
{
    memset(b->mem, 0xa5, (size_t)(b->bytes + 2 * GUARD));
    memset(b->want - GUARD, 0xa5, (size_t)(b->bytes + 2 * GUARD));
}

static inline void job_fill_reduction(struct job *j, int round)
{
    int me = j->k->rank, p = j->k->size, all = j->kind == REDUCE_SCATTER || j->kind == REDUCE_SCATTER_BLOCK;
    int items = all ? job_all_items(j, p) : j->n, first = all ? job_all_items(j, me) : 0;
    int mine = all ? job_items(j, me) : j->n, ranks = j->kind == SCAN ? me + 1 : j->kind == EXSCAN ? me : p;
    for (long i = 0; i < items; i++) pair_store(j, j->in_place ? &j->r : &j->s, i, pair_of(me, round, i), 1);
    if ((j->kind == REDUCE && me != j->root) || ranks == 0) return;
    for (long i = 0; i < mine; i++) pair_store(j, &j->r, i, pairs_of_ranks(j->op_kind, ranks, round, first + i), 0);
}

/* In place, the rest of what a reduce_scatter leaves behind its result is not said. */
static inline void job_forget_tail(struct job *j)
{
    if (!j->in_place || (j->kind != REDUCE_SCATTER && j->kind != REDUCE_SCATTER_BLOCK)) return;
    long from = job_items(j, j->k->rank) * pair_extent(j);
    memcpy(j->r.want + from, j->r.is + from, (size_t)(j->r.bytes - from));
}

/* What member `from` has for member `to` (0 where all get the same). */
static inline void job_fill_exchange(struct job *j, int round)
{
    int me = j->k->rank, p = j->k->size, R = 1000 * round, at_root = me == j->root;
    struct box *own = j->in_place ? &j->r : &j->s;
    switch (j->kind) {
    case BCAST:
        if (at_root) ints_put(&j->r, &j->l, 0, j->n, R + j->root, 0);
        ints_want(&j->r, &j->l, 0, j->n, R + j->root, 0);
        break;
    case GATHER:
    case GATHERV:
    case ALLGATHER:
    case ALLGATHERV: {
        long start = 0;
        int takes = j->kind >= ALLGATHER || at_root;
        for (int i = 0; i < p && takes; i++, start = job_all_items(j, i)) {
            if (i == me && j->in_place) ints_put(&j->r, &j->l, start, job_items(j, i), R + i, 0);
            ints_want(&j->r, &j->l, start, job_items(j, i), R + i, 0);
        }
        if (!j->in_place) ints_put(&j->s, &j->l, 0, job_items(j, me), R + me, 0);
        break;
    }
    case SCATTER:
    case SCATTERV:
        for (int i = 0; i < p && at_root; i++) ints_put(&j->s, &j->l, job_all_items(j, i), job_items(j, i), R + j->root, i);
        if (!j->in_place) ints_want(&j->r, &j->l, 0, job_items(j, me), R + j->root, me);
        break;
    default: /* all to all */
        for (int i = 0; i < p; i++) ints_put(own, &j->l, (long)i * j->n, j->n, R + me, i);
        for (int i = 0; i < p; i++) ints_want(&j->r, &j->l, (long)i * j->n, j->n, R + i, me);
    }
}

static inline void job_fill(struct job *j, int round)
{
    box_clear(&j->s);
    box_clear(&j->r);
    if (job_is_reduction(j))
        job_fill_reduction(j, round);
    else if (j->kind != BARRIER)
        job_fill_exchange(j, round);
}

static inline void box_compare(const struct box *b, const char *what, const char *side, int round)
{
    for (long i = -GUARD; i < b->bytes + GUARD; i++)
        if (b->is[i] != b->want[i]) {
            if (failures++ < 20)
                fprintf(stderr, "rank %d: %s: round %d: byte %ld of %ld of the %s buffer is %#x, not %#x\n", rank, what, round, i,
                        b->bytes, side, b->is[i], b->want[i]);
            return;
        }
}
static inline void job_check(struct job *j, int round)
{
    /* Off the root, what a reduction leaves in its receive buffer is not looked at by anybody: it must be untouched. */
    job_forget_tail(j);
    box_compare(&j->s, j->what, "send", round);
    box_compare(&j->r, j->what, "receive", round);
}

/* ---- the call -------------------------------------------------------------------------------------------------------------- */
#define CALL(Name, name, ...)                                                                                                      \
    (form == BLOCKING          ? MPI_##Name(__VA_ARGS__)                                                                           \
         : form == NONBLOCKING ? MPI_I##name(__VA_ARGS__, &j->req)                                                                 \
                               : MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &j->req))
#define CALL_C(Name, name, ...)                                                                                                    \
    (form == NONBLOCKING_C ? MPI_I##name##_c(__VA_ARGS__, &j->req) : MPI_##Name##_init_c(__VA_ARGS__, MPI_INFO_NULL, &j->req))
#define EITHER(Name, name, ...) (wide ? CALL_C(Name, name, __VA_ARGS__) : CALL(Name, name, __VA_ARGS__))

static inline int job_call_exchange(struct job *j, enum form form)
{
    int wide = form == NONBLOCKING_C || form == PERSISTENT_C, me = j->k->rank, n = j->n / (int)j->l.per, own = j->counts[me];
    int to_root = j->kind == GATHER || j->kind == GATHERV, from_root = j->kind == SCATTER || j->kind == SCATTERV;
    void *s = j->in_place && !from_root ? MPI_IN_PLACE : j->s.is, *r = j->in_place && from_root ? MPI_IN_PLACE : j->r.is;
    MPI_Datatype t = j->type;
    MPI_Comm c = j->k->c;
    int root = j->root;
    (void)to_root;
    switch (j->kind) {
    case BARRIER:
        return form == BLOCKING     ? MPI_Barrier(c)
            : form <= NONBLOCKING_C ? MPI_Ibarrier(c, &j->req)
                                    : MPI_Barrier_init(c, MPI_INFO_NULL, &j->req);
    case BCAST: return EITHER(Bcast, bcast, j->r.is, n, t, root, c);
    case GATHER: return EITHER(Gather, gather, s, n, t, r, n, t, root, c);
    case SCATTER: return EITHER(Scatter, scatter, s, n, t, r, n, t, root, c);
    case ALLGATHER: return EITHER(Allgather, allgather, s, n, t, r, n, t, c);
    case ALLTOALL: return EITHER(Alltoall, alltoall, s, n, t, r, n, t, c);
    case GATHERV:
        return wide ? CALL_C(Gatherv, gatherv, s, own, t, r, j->counts_c, j->displs_c, t, root, c)
                    : CALL(Gatherv, gatherv, s, own, t, r, j->counts, j->displs, t, root, c);
    case SCATTERV:
        return wide ? CALL_C(Scatterv, scatterv, s, j->counts_c, j->displs_c, t, r, own, t, root, c)
                    : CALL(Scatterv, scatterv, s, j->counts, j->displs, t, r, own, t, root, c);
    case ALLGATHERV:
        return wide ? CALL_C(Allgatherv, allgatherv, s, own, t, r, j->counts_c, j->displs_c, t, c)
                    : CALL(Allgatherv, allgatherv, s, own, t, r, j->counts, j->displs, t, c);
    case ALLTOALLV:
        return wide ? CALL_C(Alltoallv, alltoallv, s, j->counts_c, j->displs_c, t, r, j->counts_c, j->displs_c, t, c)
                    : CALL(Alltoallv, alltoallv, s, j->counts, j->displs, t, r, j->counts, j->displs, t, c);
    default:
        return wide ? CALL_C(Alltoallw, alltoallw, s, j->counts_c, j->bytes_c, j->types, r, j->counts_c, j->bytes_c, j->types, c)
                    : CALL(Alltoallw, alltoallw, s, j->counts, j->bytes, j->types, r, j->counts, j->bytes, j->types, c);
    }
}

static inline int job_call_reduction(struct job *j, enum form form)
{
    int wide = form == NONBLOCKING_C || form == PERSISTENT_C, n = j->op_kind == OP_SUM ? 2 * j->n : j->n, root = j->root;
    void *s = j->in_place ? MPI_IN_PLACE : j->s.is, *r = j->r.is;
    MPI_Datatype t = j->type;
    MPI_Comm c = j->k->c;
    switch (j->kind) {
    case REDUCE: return EITHER(Reduce, reduce, s, r, n, t, j->op, root, c);
    case ALLREDUCE: return EITHER(Allreduce, allreduce, s, r, n, t, j->op, c);
    case REDUCE_SCATTER_BLOCK: return EITHER(Reduce_scatter_block, reduce_scatter_block, s, r, n, t, j->op, c);
    case SCAN: return EITHER(Scan, scan, s, r, n, t, j->op, c);
    case EXSCAN: return EITHER(Exscan, exscan, s, r, n, t, j->op, c);
    default:
        return wide ? CALL_C(Reduce_scatter, reduce_scatter, s, r, j->counts_c, t, j->op, c)
                    : CALL(Reduce_scatter, reduce_scatter, s, r, j->counts, t, j->op, c);
    }
}

static inline void job_call(struct job *j, enum form form)
{
    int rc = job_is_reduction(j) ? job_call_reduction(j, form) : job_call_exchange(j, form);
    if (rc != MPI_SUCCESS && failures++ < 20) fprintf(stderr, "rank %d: %s: the call answered %d\n", rank, j->what, rc);
    if (form != BLOCKING && j->req == MPI_REQUEST_NULL && failures++ < 20)
        fprintf(stderr, "rank %d: %s: no request\n", rank, j->what);
}

#endif
