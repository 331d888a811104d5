/* started.c -- non-blocking collective access: the call that starts it does not wait for other ranks.
 *
 * An access is a chain of exchanges, each of them a non-blocking collective call on the file's communicator:
 *     extents -> every rank for itself, or rounds of two_phase.c, or windows of window.c -> agreement
 * The end of an exchange is work for the next round of progress, which does what comes between (also reading and writing) and makes
 * the next one.  With windows there are no exchanges: each round of progress looks whether there is something to do, and does it for one
 * window.  All ranks must make the same exchanges in the same order, so of one file one access is under way, and the others,
 * in the order in which they were started, come after it; blocking collective calls wait for all of them (io_drain).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

#include <stdlib.h>

#include "base/event.h"
#include "base/time.h"
#include "coll/coll.h"
#include "node/node.h"
#include "p2p/p2p.h"

enum { WORDS = sizeof(struct io_extent) / sizeof(int64_t) };

/* The exchange that was started last; SHARING: none, the windows are being worked on. */
enum phase_of_op { BEGUN, EXTENTS, MOVING, SHARING, AGREED };

struct io_op {
    struct io_op *next;
    struct gw_file *f;
    struct gw_lane *lane;
    struct gw_req *req;       /* NULL: the call failed */
    struct io_data user, raw; /* the data of the call, with a reference to the type; the same in the representation of the file */
    char *stage;              /* raw's buffer; NULL: it is the user's */
    int64_t each;
    enum phase_of_op at;
    struct io_extent mine, *all;
    struct phase *phase;
    struct pool *pool;
    int64_t moved, outcome, worst;
    int rc, broken; /* broken: an exchange failed, so no other can be started */
    bool is_alone;  /* each rank for itself: what it moved is known, whatever became of the others */
    uint64_t since; /* when it was started; 0: no listener wants its end */
    struct gw_req *exchange;
    struct gw_req *awaited; /* the exchange, while the access waits for its end; lane's lock */
    struct coll_as as;
    struct gw_done arrived, look;
    struct req_hook hook; /* calls look() in each round of progress */
    struct req_work work;
};

struct io_req {
    struct gw_req req;
    struct gw_file *f; /* lives while the access is under way */
};

static void run(struct io_op *op);

/* ---- steps --------------------------------------------------------------------------------------------------------------------- */
static int moved_alone(struct io_op *op)
{
    const struct io_data *d = &op->raw;
    return io_move(op->f, d->write, d->pos, d->data.buf, d->data.count, d->data.type, &op->moved);
}

/* Starts the agreement on the result. */
static int agree(struct io_op *op)
{
    assert(!op->phase && !op->pool);
    op->outcome = gw_min64(op->rc, GW_OK);
    op->at = AGREED;
    return coll_allreduce(&op->outcome, &op->worst, 1, gw_type_int64, gw_op_min, op->f->comm, &op->as);
}

/* All ranks come to the same answer. */
static int same_call(const struct io_op *op)
{
    int64_t least = op->all[0].call, greatest = least;
    for (int i = 1; i < op->f->comm->size; i++) {
        least = gw_min64(least, op->all[i].call);
        greatest = gw_max64(greatest, op->all[i].call);
    }
    return io_calls_judge(op->f, least, greatest);
}

/* The extents of all ranks are known: chooses the method. */
static void extents_known(struct io_op *op)
{
    const struct io_data *d = &op->raw;
    struct io_extent whole;
    op->broken = same_call(op);
    if (op->broken) return;
    switch (io_extents_judge(op->f, d->write, op->all, &whole)) {
    case IO_WINDOWS:
        op->pool = io_windows_begin(op->f, d, &whole);
        op->at = SHARING;
        return;
    case IO_MESSAGES:
        op->phase = io_steps_begin(op->f, d, &whole, &op->as);
        op->at = MOVING;
        return;
    case IO_ALONE: break;
    }
    op->is_alone = true;
    op->rc = moved_alone(op);
    op->broken = agree(op);
}

static void move(struct io_op *op)
{
    int rc;
    if (io_steps_next(op->phase, &rc)) return;
    op->rc = io_steps_end(op->phase, &op->moved);
    op->phase = NULL;
    op->broken = rc == GW_OK ? agree(op) : rc;
}

static void share(struct io_op *op)
{
    if (io_windows_next(op->pool)) return;
    op->rc = io_windows_end(op->pool, &op->moved);
    op->pool = NULL;
    op->broken = agree(op);
}

/* Uses the result of the last exchange and starts the next one; false: the access is over. */
static bool step(struct io_op *op)
{
    if (op->broken) return false;
    switch (op->at) {
    case BEGUN:
        op->at = EXTENTS;
        io_windows_offer(op->f, &op->mine);
        op->broken = coll_allgather(&op->mine, WORDS, gw_type_int64, op->all, WORDS, gw_type_int64, op->f->comm, &op->as);
        return true;
    case EXTENTS: extents_known(op); return true;
    case MOVING: move(op); return true;
    case SHARING: share(op); return true;
    case AGREED: break;
    }
    if (op->worst < 0 && op->rc == GW_OK)
        op->rc = gw_fail((int)op->worst, "another rank failed: %s", gw_error_text((int)op->worst));
    if (op->worst < 0 && !op->is_alone) op->moved = 0; /* it is not known whose bytes were written, so none are reported */
    return false;
}

/* An exchange is complete.  Called by progress, with the lane's lock held. */
static void arrived(struct gw_done *done, int err)
{
    struct io_op *op = container_of(done, struct io_op, arrived);
    op->exchange = op->awaited = NULL;
    if (err < 0) op->broken = err;
    req_work_add(op->lane, &op->work);
}

/* Called in each round of progress, with the lane's lock held. */
static void look(struct gw_done *done, int err)
{
    struct io_op *op = container_of(done, struct io_op, look);
    (void)err;
    assert(op->at == SHARING && op->pool);
    if (!io_windows_can(op->pool)) return;
    req_hook_del(op->lane, &op->hook);
    req_hook_count(op->lane, 1);
    req_work_add(op->lane, &op->work);
}

static void look_out(struct io_op *op)
{
    gw_lock(&op->lane->lock);
    req_hook_add(op->lane, &op->hook);
    gw_unlock(&op->lane->lock);
    if (unlikely(gw_threads)) node_ring(gw_node.me); /* wakes a thread that may sleep although there is work */
}

/* True: the access continues when the exchange ends, or when other ranks have made progress with the windows. */
static bool park(struct io_op *op)
{
    struct gw_req *r = op->exchange;
    if (op->pool) {
        look_out(op); /* another thread may continue it from here on */
        return true;
    }
    if (!r) return false;
    gw_lock(&op->lane->lock);
    bool is_done = req_is_done(r);
    if (is_done) {
        if (r->err < 0) op->broken = r->err;
        op->exchange = NULL;
        if (!(r->flags & REQ_STATIC)) req_recycle(r);
    } else {
        op->awaited = r;
        r->notify = &op->arrived;
        r->flags |= REQ_FREED;
    }
    gw_unlock(&op->lane->lock);
    return !is_done;
}

/* ---- the end ------------------------------------------------------------------------------------------------------------------- */
static void forget(struct io_op *op)
{
    type_release(op->user.data.type);
    free(op->stage);
    free(op->all);
    free(op);
}

/* Tells listeners before the request is complete, so that a thread that waits for the request has been told.  A listener must not wait:
 * it would wait for this access. */
static void tell(const struct io_op *op)
{
    int way = op->user.write + 2;
    if (op->since) gw_event_raise(GW_EVENT_FILE, false, op->f->obj.id, way, op->moved, (int64_t)(gw_now_ns() - op->since));
}

/* Ends the access and returns the next one of the file; NULL: there is none, and the file may have been freed. */
static struct io_op *finish(struct io_op *op)
{
    struct gw_lane *lane = op->lane;
    struct gw_file *f = op->f;
    assert(atomic_load_explicit(&f->started, memory_order_relaxed) == op); /* they end in the order in which they were started */
    if (op->phase) io_steps_end(op->phase, &op->moved);
    io_windows_leave(f, &op->all[0]);
    if (op->broken) {
        op->rc = op->broken;
        op->moved = 0;
    } else if (op->stage) {
        int rc = io_unstage(f, &op->user, op->stage, op->each, op->moved, &op->moved);
        if (op->rc == GW_OK) op->rc = rc;
    }
    tell(op);
    gw_lock(&lane->lock);
    struct io_op *next = op->next;
    atomic_store_explicit(&f->started, next, memory_order_release);
    if (op->req) {
        gw_status_fill(&op->req->status, GW_ANY_SOURCE, GW_ANY_TAG, op->moved, false);
        op->req->err = op->rc;
        req_complete(op->req);
    }
    gw_unlock(&lane->lock);
    if (unlikely(gw_threads) && !op->req) node_ring(gw_node.me); /* a thread may sleep in io_drain(); req_complete() also rings */
    forget(op);
    return next;
}

/* Continues accesses as far as possible.  No lock is held. */
static void run(struct io_op *op)
{
    while (op) {
        if (!step(op))
            op = finish(op);
        else if (park(op))
            return;
    }
}

static void resume(struct gw_done *done, int err)
{
    (void)err;
    run(container_of(container_of(done, struct req_work, run), struct io_op, work));
}

/* What all accesses of the file wait for: the exchange of the first.  The lane's lock is held. */
static struct gw_req *awaited_by(const struct gw_file *f)
{
    const struct io_op *op = atomic_load_explicit(&f->started, memory_order_relaxed);
    return op ? op->awaited : NULL;
}

static struct gw_req *request_waits_for(struct gw_req *r) { return awaited_by(container_of(r, struct io_req, req)->f); }

void io_started_init(void) { p2p_upcalls.file_waits_for = request_waits_for; }

struct drain {
    struct gw_file *f;
    struct gw_done about;
};

static bool is_drained(void *arg) { return !atomic_load_explicit(&((struct drain *)arg)->f->started, memory_order_acquire); }

/* Reports what a long wait is for; if other ranks called something else, that ends the exchange. */
static void drain_tell(struct gw_done *about, int err)
{
    (void)err;
    struct gw_file *f = container_of(about, struct drain, about)->f;
    struct gw_lane *lane = f->comm->lane;
    struct boot_where *where = node_report_begin();
    gw_lock(&lane->lock);
    p2p_report_request(where, awaited_by(f));
    gw_unlock(&lane->lock);
    p2p_report_end(where, lane);
}

void io_drain_slow(struct gw_file *f)
{
    struct drain d = {f, {drain_tell}};
    req_block_about(f->comm->lane, is_drained, &d, &d.about);
}

/* ---- the begin ------------------------------------------------------------------------------------------------------------------- */
static struct gw_req *request_new(struct gw_file *f)
{
    struct gw_lane *lane = f->comm->lane;
    gw_lock(&lane->lock);
    struct gw_req *r = req_new(lane, REQ_FILE);
    gw_unlock(&lane->lock);
    if (!r) return NULL;
    container_of(r, struct io_req, req)->f = f;
    r->err = GW_OK;
    r->errctx = (const void *)(uintptr_t)f->obj.id;
    gw_status_empty(&r->status);
    return r;
}

/* Prepares the data in the representation of the file, and the position. */
static int prepare(struct io_op *op)
{
    struct gw_file *f = op->f;
    op->raw = op->user;
    if (f->view.rep->kind != IO_REP_PLAIN) {
        int rc = io_stage(f, &op->user, &op->stage, &op->each);
        if (rc != GW_OK) return rc;
        op->raw.data = gw_data_plain(op->stage, op->user.data.count * op->each, gw_type_byte);
    }
    return io_extent_of(f, op->raw.pos, op->raw.data.bytes, &op->mine);
}

static void append(struct io_op *op)
{
    struct gw_file *f = op->f;
    gw_lock(&op->lane->lock);
    struct io_op *last = atomic_load_explicit(&f->started, memory_order_relaxed);
    bool is_first = !last;
    while (last && last->next) last = last->next;
    if (last)
        last->next = op;
    else
        atomic_store_explicit(&f->started, op, memory_order_release);
    gw_unlock(&op->lane->lock);
    if (is_first) run(op);
}

int io_start(struct gw_file *f, int how, int rc, const struct io_data *d, struct gw_req **req_out)
{
    struct io_op *op = gw_xcalloc(1, sizeof *op);
    *op = (struct io_op){.f = f, .lane = f->comm->lane, .user = *d, .as = {COLL_START, &op->exchange}};
    op->since = gw_event_wanted(GW_EVENT_FILE) ? gw_now_ns() : 0;
    op->arrived.fn = arrived;
    op->look.fn = look;
    op->hook.poll = &op->look;
    op->work.run.fn = resume;
    op->all = gw_xcalloc((size_t)f->comm->size, sizeof *op->all);
    type_hold(d->data.type);
    io_count_add(f, d->write, IO_CALLS_ALL, 1);
    io_clock_enter(f, d->write, IO_T_OTHER);
    if (rc == GW_OK) rc = prepare(op);
    if (rc == GW_OK && !(op->req = request_new(f))) rc = GW_ENOMEM;
    if (rc == GW_OK)
        *req_out = op->req;
    else { /* this rank takes part although it has failed, because the others wait for it */
        io_extent_of(f, 0, 0, &op->mine);
        op->raw = (struct io_data){d->write, 0, gw_data_plain(NULL, 0, gw_type_byte)};
    }
    op->mine.call = io_call_word(f, how | IO_STARTED);
    append(op);
    io_clock(f, IO_T_COMPUTE);
    return rc;
}
