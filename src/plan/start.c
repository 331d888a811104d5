/* start.c -- collectives with requests: non-blocking ones run once, persistent ones each time they are started.
 *
 *   IDLE --start--> RUNNING <--messages posted / the last one complete--> PARKED
 *   RUNNING --no more rounds, or given up--> IDLE again, the request complete
 *
 * RUNNING: one thread executes rounds, without the lane's lock.  PARKED: `pending` messages are under way.  The completion of the
 * last one, under the lock, adds the operation to the lane's work, and the thread that takes it from there makes it RUNNING.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "base/lock.h"
#include "boot/boot.h"
#include "boot/segment.h"
#include "plan/plan_private.h"

struct plan_op {
    struct plan_exec x;
    struct plan_args args;  /* of the whole algorithm; x.args, unless it has stages */
    struct plan_walk *walk; /* owned; NULL: the algorithm has no stages */
    struct req_work work;
    struct coll_req *req;
    char *tmp;
    int64_t tmp_bytes;
    uint32_t call;      /* the MPI call (GW_FN_*), for reports */
    int pending;        /* messages under way; written under the lane's lock */
    bool is_persistent; /* a copy of the request's flag, which is read without the lock here */
    bool is_given_up;   /* calls differ: complete once the messages under way have ended */
    char *arrays;       /* copies of the arrays that args refers to, owned */
    int64_t arrays_bytes;
    struct part {
        struct gw_done done;
        struct gw_req *inner;
        struct plan_op *op;
        int64_t want; /* bytes that the message must have; -1: a send */
    } parts[PLAN_STEPS];
    struct plan_op *next; /* in the list of spares */
};
struct coll_req {
    struct req_prepared prepared; /* .req is the request, also of one that is not persistent */
    struct plan_op *op;           /* NULL: a collective without anything to do */
    struct p2p_error error;
};
_Static_assert(sizeof(struct coll_req) <= GW_REQ_BYTES, "fits a pooled request");

/* Complete operations, for reuse, by lane; they keep temporary memory and arrays of up to KEEP bytes each.
 * Under the lane's lock. */
enum { MAX_SPARE = 64, KEEP = 64 << 10 };
static struct {
    struct plan_op *first;
    int n;
} spares[GW_MAX_LANES];

static struct plan_op *op_get(struct gw_lane *lane)
{
    struct plan_op *op = spares[lane->index].first;
    if (likely(op != NULL)) {
        assert(spares[lane->index].n > 0);
        spares[lane->index].first = op->next;
        spares[lane->index].n--;
        return op;
    }
    op = calloc(1, sizeof *op);
    if (!op) gw_fail(GW_ENOMEM, "no memory for another collective under way");
    return op;
}

static void room_put(char **room, int64_t *bytes, bool all)
{
    if (*bytes <= KEEP && !all) return;
    free(*room);
    *room = NULL;
    *bytes = 0;
}

static void op_put(struct gw_lane *lane, struct plan_op *op)
{
    bool all = spares[lane->index].n == MAX_SPARE;
    room_put(&op->tmp, &op->tmp_bytes, all);
    room_put(&op->arrays, &op->arrays_bytes, all);
    free(op->walk);
    op->walk = NULL;
    if (all) {
        free(op);
        return;
    }
    assert(spares[lane->index].n >= 0 && spares[lane->index].n < MAX_SPARE);
    op->next = spares[lane->index].first;
    spares[lane->index].first = op;
    spares[lane->index].n++;
}

/* ---- references that an operation holds ---------------------------------------------------------------------------------- */
static void types_hold(struct gw_type **types, int n)
{
    for (int i = 0; i < n; i++)
        if (types[i]) type_hold(types[i]);
}
static void types_release(struct gw_type **types, int n)
{
    for (int i = 0; i < n; i++)
        if (types[i]) type_release(types[i]);
}

/* ---- copies of the caller's arrays, one behind the other; the caller may change its own after the call */
struct copies {
    char *at;
    int64_t bytes;
}; /* at NULL: only the bytes are added up */

static const void *array_copy(struct copies *to, const void *v, int n, size_t each)
{
    char *copy = to->at ? to->at + to->bytes : NULL;
    if (!v || n == 0) return v;
    if (copy) memcpy(copy, v, (size_t)n * each);
    to->bytes += gw_align_up((int64_t)((size_t)n * each), 8);
    return copy;
}
static void counts_copy(struct copies *to, struct gw_counts *c, int n)
{
    c->v = array_copy(to, c->v, n, c->wide ? sizeof(int64_t) : sizeof(int32_t));
}
static struct plan_args arrays_of(struct copies *to, struct plan_args a)
{
    struct gw_counts *s[] = {&a.scounts, &a.sdispls}, *r[] = {&a.rcounts, &a.rdispls};
    for (int i = 0; i < 2; i++) counts_copy(to, s[i], a.n_s), counts_copy(to, r[i], a.n_r);
    a.sts = (struct gw_type **)(uintptr_t)array_copy(to, a.sts, a.n_s, sizeof *a.sts);
    a.rts = (struct gw_type **)(uintptr_t)array_copy(to, a.rts, a.n_r, sizeof *a.rts);
    return a;
}

static int arrays_copy(struct plan_op *op)
{
    struct copies none = {0};
    arrays_of(&none, op->args);
    if (none.bytes == 0) return GW_OK;
    if (none.bytes > op->arrays_bytes) {
        free(op->arrays);
        op->arrays = malloc((size_t)none.bytes);
        op->arrays_bytes = op->arrays ? none.bytes : 0;
        if (!op->arrays) return gw_fail(GW_ENOMEM, "no memory for the counts and datatypes of a collective of %d", op->args.size);
    }
    op->args = arrays_of(&(struct copies){op->arrays, 0}, op->args);
    return GW_OK;
}

static void hold(const struct plan_op *op)
{
    const struct plan_args *a = &op->args;
    types_hold((struct gw_type *[]){a->st, a->rt}, 2);
    if (a->sts) types_hold(a->sts, a->n_s);
    if (a->rts) types_hold(a->rts, a->n_r);
    if (a->op) op_hold(a->op);
    comm_hold(op->x.comm);
}

static void let_go(struct plan_op *op)
{
    const struct plan_args *a = &op->args;
    types_release((struct gw_type *[]){a->st, a->rt}, 2);
    if (a->sts) types_release(a->sts, a->n_s);
    if (a->rts) types_release(a->rts, a->n_r);
    if (a->op) op_release(a->op);
    comm_release(op->x.comm);
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */
static void error_note(struct plan_op *op, int err)
{
    struct gw_req *r = &op->req->prepared.req;
    if (err < 0 && r->err == GW_OK) p2p_error_keep(r, &op->req->error, err);
}

/* Reports a message of a wrong length.  err: the error of its receive; want: the bytes expected. */
static void length_check(struct plan_op *op, const struct gw_req *inner, int64_t want, int err)
{
    int64_t came = gw_status_bytes(&inner->status);
    if (likely(came == want && err != GW_ETRUNCATE) || want < 0 || inner->status.cancelled || (err < 0 && err != GW_ETRUNCATE))
        return;
    struct plan_said said = plan_said_by(&op->x);
    error_note(op, plan_length_differs(&said, inner->status.source, want, err == GW_ETRUNCATE ? INT64_MAX : came));
}

static void part_done(struct gw_done *d, int err)
{
    struct part *p = container_of(d, struct part, done);
    struct plan_op *op = p->op;
    struct gw_req *inner = p->inner;
    assert(inner && op->pending > 0);
    p->inner = NULL;
    length_check(op, inner, p->want, err);
    if (unlikely(err < 0)) error_note(op, p2p_stream_error(inner));
    if (--op->pending == 0) req_work_add(op->x.comm->lane, &op->work);
}

/* Parks the operation until the messages of its round are complete.  False: they are complete already, and it goes on. */
static bool park(struct plan_op *op)
{
    struct gw_lane *lane = op->x.comm->lane;
    assert(op->pending == 0 && op->x.n_reqs <= PLAN_STEPS);
    gw_lock(&lane->lock);
    int n = 0;
    for (int i = 0; i < op->x.n_reqs; i++) {
        op->parts[n] = (struct part){{part_done}, op->x.reqs[i], op, op->x.want[i]};
        if (req_is_done(op->x.reqs[i])) length_check(op, op->x.reqs[i], op->x.want[i], op->x.reqs[i]->err);
        int rc = p2p_stream_chain(op->x.reqs[i], &op->parts[n].done);
        if (rc == GW_POSTED)
            n++;
        else
            error_note(op, rc);
    }
    for (int i = n; i < PLAN_STEPS; i++) op->parts[i].inner = NULL;
    op->x.n_reqs = 0;
    op->pending = n;
    gw_unlock(&lane->lock);
    return n > 0;
}

/* Completes the request.  A persistent operation keeps its memory and references for the next start. */
static void over(struct plan_op *op)
{
    struct gw_lane *lane = op->x.comm->lane;
    struct gw_req *r = &op->req->prepared.req;
    assert((op->pending == 0 || op->is_given_up) && op->req->op == op && !req_is_done(r));
    if (unlikely(op->is_given_up)) plan_give_up_far(op->x.comm, op->args.number, r->err < 0 ? r->err : GW_EOTHER);
    if (!op->is_persistent) let_go(op);
    gw_lock(&lane->lock);
    if (!op->is_persistent) op_put(lane, op);
    req_complete(r);
    gw_unlock(&lane->lock);
}

/* Begins the next stage.  False: there is none, or the algorithm has no stages. */
static bool stage_next(struct plan_op *op)
{
    struct plan_walk *w = op->walk;
    w->tmp = op->tmp, w->tmp_bytes = op->tmp_bytes;
    int next = plan_walk_next(w);
    op->tmp = w->tmp, op->tmp_bytes = w->tmp_bytes;
    if (next < 0) error_note(op, next);
    if (next > 0) plan_exec_stage(&op->x);
    return next > 0;
}

/* Runs the operation as far as possible.  On return another thread may have completed it already: do not touch it. */
static void run(struct plan_op *op)
{
    int done;
    while (!op->is_given_up) {
        bool is_over = plan_exec_advance(&op->x, &done);
        if (unlikely(op->x.err < 0)) error_note(op, op->x.err);
        if (is_over && op->walk) is_over = !stage_next(op);
        if (is_over) break;
        if (park(op)) return;
    }
    over(op);
}

static void resume(struct gw_done *d, int err)
{
    (void)err;
    run(container_of(d, struct plan_op, work.run));
}

static int nothing(const struct plan_args *a, int round, struct plan_step *steps)
{
    (void)a, (void)round, (void)steps;
    return 0;
}

/* Sets the operation to the first round of its first stage. */
static void first_round(struct plan_op *op)
{
    plan_exec_reset(&op->x);
    op->is_given_up = false;
    if (!op->walk) return;
    static const struct plan_algorithm none = {.name = "none", .emit = nothing};
    op->walk->i = 0;
    op->x.alg = &none;
}

/* ---- making requests ----------------------------------------------------------------------------------------------------- */
static void activate(struct coll_req *q)
{
    struct gw_req *r = &q->prepared.req;
    atomic_store_explicit(&r->done, 0, memory_order_relaxed);
    r->err = GW_OK;
    r->flags |= REQ_ACTIVE;
    gw_status_empty(&r->status);
}

static void complete_empty(struct gw_lane *lane, struct gw_req *r)
{
    gw_lock(&lane->lock);
    req_complete(r);
    gw_unlock(&lane->lock);
}

static void persistent_start(struct gw_done *d, int err)
{
    (void)err;
    struct coll_req *q = container_of(d, struct coll_req, prepared.start);
    assert(q->prepared.req.flags & REQ_PERSISTENT && !(q->prepared.req.flags & REQ_ACTIVE));
    q->prepared.rc = GW_OK;
    activate(q);
    if (!q->op) {
        complete_empty(&gw_lanes[q->prepared.req.lane], &q->prepared.req);
        return;
    }
    first_round(q->op);
    run(q->op);
}

static void persistent_release(struct gw_done *d, int err)
{
    (void)err;
    struct coll_req *q = container_of(d, struct coll_req, prepared.release);
    struct plan_op *op = q->op;
    if (!op) return;
    struct gw_lane *lane = op->x.comm->lane;
    let_go(op);
    op_put(lane, op);
}

static int op_fill(struct plan_op *op, const struct plan_algorithm *alg, const struct plan_args *args, const void *in, void *out,
                   struct gw_comm *c)
{
    struct plan_exec *x = &op->x;
    assert(alg->kind == PLAN_P2P);
    x->alg = alg;
    op->args = *args;
    x->args = &op->args;
    x->comm = c;
    x->leaf = NULL;
    x->in = (char *)(uintptr_t)in;
    x->out = out;
    op->work.run.fn = resume;
    x->walk = NULL;
    if (alg->stages) {
        x->walk = op->walk = calloc(1, sizeof *op->walk);
        if (!op->walk) return gw_fail(GW_ENOMEM, "no memory for the stages of a collective");
        *op->walk = (struct plan_walk){.alg = alg, .args = &op->args, .in = x->in, .out = x->out};
    }
    first_round(op);
    int64_t tmp = alg->tmp_bytes && !alg->stages ? alg->tmp_bytes(args) : 0;
    if (tmp > op->tmp_bytes) {
        free(op->tmp);
        op->tmp = plan_tmp_alloc(tmp);
        op->tmp_bytes = op->tmp ? tmp : 0;
        if (!op->tmp) return GW_ENOMEM;
    }
    x->tmp = op->tmp;
    return arrays_copy(op);
}

/* Gives up an operation, as other members call something else: cancels its receives; messages that come later are dropped. */
static GW_COLD void give_up(struct plan_op *op, int err)
{
    error_note(op, err);
    op->is_given_up = true;
    plan_give_up(op->x.comm, op->args.number, err);
    for (int i = 0; i < PLAN_STEPS; i++)
        if (op->parts[i].inner) p2p_stream_absorb(op->parts[i].inner), p2p_stream_cancel(op->parts[i].inner);
}

/* For the report on a hanging job: the messages that the request waits for.  The lane's lock is held. */
static void tell(struct gw_req *r, struct boot_where *where)
{
    struct plan_op *op = container_of(r, struct coll_req, prepared.req)->op;
    struct gw_req *out[PLAN_STEPS];
    int n = 0;
    if (!op) return;
    for (int i = 0; i < PLAN_STEPS; i++)
        if (op->parts[i].inner) out[n++] = op->parts[i].inner;
    plan_report_parts(where, &op->x, op->call, out, n);
    struct plan_said said = plan_said_by(&op->x);
    int rc = n > 0 && !op->is_given_up ? plan_compare_parts(&said, out, n) : GW_OK;
    if (rc < 0) give_up(op, rc);
}

void plan_start_init(void) { p2p_upcalls.report_coll = tell; }

int plan_start(enum plan_when when, const struct plan_algorithm *alg, const struct plan_args *args, const void *in, void *out,
               struct gw_comm *c, struct gw_req **req_out)
{
    struct gw_lane *lane = c->lane;
    gw_lock(&lane->lock);
    struct plan_op *op = alg ? op_get(lane) : NULL;
    struct coll_req *q = !alg || op ? (struct coll_req *)req_new(lane, REQ_COLL) : NULL;
    int rc = !q ? GW_ENOMEM : op ? op_fill(op, alg, args, in, out, c) : GW_OK;
    if (rc != GW_OK) {
        if (op) op_put(lane, op);
        if (q) req_recycle(&q->prepared.req);
        gw_unlock(&lane->lock);
        return rc;
    }
    gw_unlock(&lane->lock);
    struct gw_req *r = &q->prepared.req;
    r->errctx = (const void *)(uintptr_t)c->obj.id;
    q->op = op;
    if (op) {
        op->req = q;
        op->call = atomic_load_explicit(&boot_slot->call, memory_order_relaxed);
        op->is_persistent = when == PLAN_INIT;
        op->args.n = (uint64_t)plan_tag(args) | (when == PLAN_INIT || args->number & PLAN_APART ? PLAN_TAG_PERSISTENT : 0);
        hold(op);
    }
    *req_out = r;
    if (when == PLAN_INIT) {
        q->prepared.start.fn = persistent_start;
        q->prepared.release.fn = persistent_release;
        r->flags = REQ_PERSISTENT;
        return GW_OK;
    }
    activate(q);
    if (op)
        run(op);
    else
        complete_empty(lane, r);
    return GW_OK;
}
