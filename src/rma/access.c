/* access.c -- put, get, accumulate and the other one-sided calls: their checks, and the choice of how the data are moved.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma/rma_private.h"

#include <stdlib.h>
#include <sys/uio.h>

static void copy(const struct gw_data *from, const struct gw_data *to)
{
    type_copy(from->buf, from->count, from->type, to->buf, to->count, to->type);
}

/* The target of an operation. */
struct place {
    struct rma_win *w;
    int rank;
    struct rma_target *target;
    struct gw_data there;        /* addresses in this process if the target is near, else in the target's, and not to be followed */
    bool is_held;                /* this process holds the target's `busy` */
    struct rma_started *started; /* of the operation's MPI request; NULL: it has none, or completes in the call */
    struct rma_counter *counter; /* who counts it; NULL: the window does, or it completes in the call */
};

/* ---- checks ---- */
bool rma_region_has_held(struct rma_win *w, int rank, uint64_t lo, uint64_t hi)
{
    const struct rma_words *t = w->near[rank].words;
    const struct rma_region *r = (void *)(node_base_of(group_world(w->comm->group, rank)) + t->regions);
    GW_ORDER_ELSEWHERE_BEGIN; /* for ThreadSanitizer: the target allocates the list; `busy` orders it */
    for (uint32_t i = 0; i < t->n_regions && lo < hi; i++) {
        if (lo < r[i].base || lo - r[i].base >= r[i].bytes) continue;
        lo = r[i].base + r[i].bytes; /* the rest may lie in another region */
        i = UINT32_MAX;
    }
    GW_ORDER_ELSEWHERE_END;
    return lo >= hi;
}

/* Has a target on this machine attached all bytes of the operation?  True for targets on other machines,
 * which check the request. */
static bool region_has(const struct place *p, int64_t lo, int64_t hi)
{
    enum { RUNS = 64 };
    struct iovec runs[RUNS];
    struct type_cursor c;
    int n;
    int64_t got;
    if (!is_here(p->w, p->rank)) return true;
    rma_busy_enter(p->w, p->rank);
    bool has = rma_region_has_held(p->w, p->rank, (uint64_t)lo, (uint64_t)hi);
    if (!has) { /* gaps of the datatype need not be attached: check each run of data */
        has = true;
        type_cursor_init(&c, p->there); /* the target's addresses, not followed */
        while (has && (n = type_cursor_iov(&c, runs, RUNS, INT64_MAX, &got)) > 0)
            for (int i = 0; i < n && has; i++) {
                uint64_t at = (uint64_t)(uintptr_t)runs[i].iov_base;
                has = rma_region_has_held(p->w, p->rank, at, at + runs[i].iov_len);
            }
    }
    rma_busy_exit(p->w, p->rank);
    return has;
}

static GW_COLD int out_of_range(const struct place *p, int64_t disp, int64_t lo, int64_t hi)
{
    if (p->w->flavor == GW_WIN_FLAVOR_DYNAMIC)
        return gw_fail(GW_ERMA_RANGE,
                       "the data between 0x%llx and 0x%llx are not all in memory that rank %d attached to the window",
                       (unsigned long long)lo, (unsigned long long)hi, p->rank);
    return gw_fail(GW_ERMA_RANGE,
                   "%lld items of %s at displacement %lld (times %lld bytes) are bytes %lld to %lld of rank %d's window, "
                   "which has %lld bytes",
                   (long long)p->there.count, type_name(p->there.type), (long long)disp, (long long)p->target->disp_unit,
                   (long long)lo, (long long)hi - 1, p->rank, (long long)p->target->size);
}

static int place_find(const struct rma_there *at, bool must_be_passive, struct place *p)
{
    struct rma_win *w = at->w;
    struct gw_type *t = at->type;
    int rank = at->rank;
    int64_t disp = at->disp, count = at->count;
    if (unlikely(rank < 0 || rank >= w->comm->size))
        return gw_fail(GW_ERANK, "target_rank is %d; the window has ranks 0 to %d (or MPI_PROC_NULL)", rank, w->comm->size - 1);
    int rc = rma_epoch_allows(w, rank, must_be_passive);
    if (unlikely(rc != GW_OK)) return rc;
    struct rma_target *target = &w->targets[rank];
    *p = (struct place){w, rank, target, gw_data_host(NULL, count, t), false, NULL, NULL};
    bool is_dynamic = w->flavor == GW_WIN_FLAVOR_DYNAMIC;
    if (unlikely(disp < 0) && !is_dynamic)
        return gw_fail(GW_EDISP, "target_disp is %lld; it must not be negative", (long long)disp);
    int64_t offset, lo, hi, bytes;
    if (__builtin_mul_overflow(count, t->size, &bytes) || !type_bounds(t, count, &lo, &hi) ||
        __builtin_mul_overflow(disp, target->disp_unit, &offset) || __builtin_add_overflow(offset, lo, &lo) ||
        __builtin_add_overflow(offset, hi, &hi))
        return gw_fail(GW_ERMA_RANGE, "%lld items of %s at displacement %lld are beyond any memory", (long long)count, type_name(t),
                       (long long)disp);
    p->there = gw_data_host((void *)(uintptr_t)(target->base + (uint64_t)offset), count, t);
    if (bytes > 0 && (is_dynamic ? !region_has(p, lo, hi) : lo < 0 || hi > target->size)) return out_of_range(p, disp, lo, hi);
    return GW_OK;
}

static int check_fits(const struct gw_data *from, const char *from_word, const struct gw_data *to, const char *to_word)
{
    if (likely(from->bytes <= to->bytes)) return GW_OK;
    return gw_fail(GW_ETRUNCATE, "the %s has %lld bytes of data, the %s has room for %lld", from_word, (long long)from->bytes,
                   to_word, (long long)to->bytes);
}

/* ---- targets that are not near: data are moved as one contiguous run at this end ---- */
static int move_far(struct place *p, bool is_put, const struct gw_data *here)
{
    int64_t bytes = gw_min64(here->bytes, p->there.bytes);
    if (bytes == 0) return GW_OK;
    char *run = here->run, *packed = run ? run : malloc((size_t)here->bytes);
    if (!packed) return gw_fail(GW_ENOMEM, "no memory for %lld bytes between two layouts", (long long)bytes);
    if (is_put && !run) type_pack(here->buf, here->count, here->type, packed);
    if (p->started && !run) rma_started_keep(p->started, packed, bytes);
    if (p->started && !run && !is_put) rma_started_unpack(p->started, here->buf, here->count, here->type);
    struct rma_packed data = {packed, p->counter};
    char *there = p->there.run;
    int rc = there ? rma_stream_move(p->w, p->rank, p->is_held, is_put, (uint64_t)(uintptr_t)there, bytes, data)
                   : rma_reach_move(p->w, p->rank, (is_put ? REACH_PUT : 0) | (p->is_held ? REACH_HELD : 0),
                                    (uint64_t)(uintptr_t)p->there.buf, p->there.count, p->there.type, bytes, data);
    if (run || p->started) return rc;
    if (rc == GW_OK) rc = rma_deferred_settle(p->w);
    if (!is_put && rc == GW_OK) {
        struct type_cursor c;
        type_cursor_init(&c, *here);
        type_cursor_unpack(&c, packed, bytes);
    }
    free(packed);
    return rc;
}

/* Moves a small contiguous run through the target's mailbox.  False: not possible, and nothing has been moved. */
static bool move_by_mail(struct place *p, bool is_put, const struct gw_data *here)
{
    int64_t bytes = gw_min64(here->bytes, p->there.bytes);
    if (bytes > MAIL_BYTES || bytes == 0) return false;
    char *run = here->run, *there = p->there.run;
    return run && there && rma_mail_move(p->w, p->rank, is_put, (uint64_t)(uintptr_t)there, bytes, run);
}

static int move(struct place *p, bool is_put, const struct gw_data *here)
{
    if (!p->target->is_near) return move_by_mail(p, is_put, here) ? GW_OK : move_far(p, is_put, here);
    if (is_put)
        copy(here, &p->there);
    else
        copy(&p->there, here);
    return GW_OK;
}

/* ---- MPI requests ----  req_out is NULL in calls without one. */
/* An operation that completes in the call gets a request that is complete already. */
static int started(struct place *p, struct gw_req **req_out)
{
    if (likely(!req_out) || !p->w->deferred || p->target->is_near) return GW_OK;
    p->started = rma_started_new(p->w);
    if (p->started) p->counter = &p->started->parts;
    return p->started ? GW_OK : GW_ENOMEM;
}

static int ended(const struct place *p, int rc, struct gw_req **req_out)
{
    if (p->started) return rma_started_end(p->started, rc, req_out);
    if (rc == GW_OK && req_out) *req_out = &gw_req_sent;
    return rc;
}

/* ---- put and get ---- */
static int put(const struct gw_data *origin, const struct rma_there *t, bool must_be_passive, struct gw_req **req_out)
{
    struct place p;
    p.started = NULL;
    if (unlikely(t->rank == GW_PROC_NULL)) return ended(&p, GW_OK, req_out);
    int rc = place_find(t, must_be_passive, &p);
    if (rc == GW_OK) rc = check_fits(origin, "origin", &p.there, "target");
    if (rc == GW_OK) rc = started(&p, req_out);
    if (rc != GW_OK) return rc;
    rma_counted(t->w, &gw_count.rma_puts);
    return ended(&p, move(&p, true, origin), req_out);
}

static int get(const struct gw_data *origin, const struct rma_there *t, bool must_be_passive, struct gw_req **req_out)
{
    struct place p;
    p.started = NULL;
    if (unlikely(t->rank == GW_PROC_NULL)) return ended(&p, GW_OK, req_out);
    int rc = place_find(t, must_be_passive, &p);
    if (rc == GW_OK) rc = check_fits(&p.there, "target", origin, "origin");
    if (rc == GW_OK) rc = started(&p, req_out);
    if (rc != GW_OK) return rc;
    rma_counted(t->w, &gw_count.rma_gets);
    return ended(&p, move(&p, false, origin), req_out);
}

int rma_put(const void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount, struct gw_type *tt,
            struct rma_win *w)
{
    struct gw_data o = gw_data_of(origin, ocount, ot);
    return put(&o, &(struct rma_there){w, target, disp, tcount, tt}, false, NULL);
}

int rma_get(void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount, struct gw_type *tt,
            struct rma_win *w)
{
    struct gw_data o = gw_data_of(origin, ocount, ot);
    return get(&o, &(struct rma_there){w, target, disp, tcount, tt}, false, NULL);
}

/* ---- accumulates ---- */
/* With MPI_NO_OP the origin and its type mean nothing. */
static struct gw_data operand_of(const void *origin, int64_t count, struct gw_type *t)
{
    return t ? gw_data_of(origin, count, t) : (struct gw_data){.kind = MEM_HOST};
}

static int check_op(struct gw_op *op, const struct gw_data *origin, const struct gw_data *there)
{
    if (op->user.fn || !op->obj.predefined)
        return gw_fail(GW_EOP, "op is %s; accumulates take predefined operations only", op_name(op));
    if (rma_is_op(op, GW_H_NO_OP) || (origin->bytes == 0 && there->bytes == 0)) return GW_OK;
    if (there->type->basic == GW_ELEM_NONE || origin->type->basic != there->type->basic)
        return gw_fail(GW_ETYPE, "the datatypes of an accumulate (%s, %s) must be made of one and the same predefined type",
                       type_name(origin->type), type_name(there->type));
    if (origin->bytes != there->bytes)
        return gw_fail(GW_ECOUNT, "the origin has %lld bytes of data, the target %lld; in an accumulate they must be as many",
                       (long long)origin->bytes, (long long)there->bytes);
    return rma_is_op(op, GW_H_REPLACE) ? GW_OK : op_check(op, there->type);
}

/* at = in OP at, in the target's memory.  Both must have the same layout, unless op is MPI_REPLACE. */
static void combine(struct gw_op *op, const struct gw_data *in, struct gw_data *at)
{
    if (rma_is_op(op, GW_H_REPLACE))
        copy(in, at);
    else if (!rma_is_op(op, GW_H_NO_OP))
        op_reduce(op, in->buf, at->buf, at->count, at->type);
}

void rma_combine_packed(struct gw_op *op, struct gw_type *t, const char *operand, char *at, int64_t bytes)
{
    int64_t n = bytes / t->size;
    if (rma_is_op(op, GW_H_REPLACE)) {
        memcpy(at, operand, (size_t)bytes);
    } else if (t->is_dense) {
        op_reduce(op, operand, at, n, t);
    } else {
        char *in = gw_xmalloc(2 * (size_t)(n * t->extent)), *out = in + n * t->extent;
        type_unpack(in, n, t, operand);
        type_unpack(out, n, t, at);
        op_reduce(op, in, out, n, t);
        type_pack(out, n, t, at);
        free(in);
    }
}

static void place_enter(struct place *p)
{
    rma_busy_enter(p->w, p->rank);
    p->is_held = true;
}
static void place_leave(struct place *p)
{
    p->is_held = false;
    rma_busy_exit(p->w, p->rank);
}

/* An accumulate through the target's mailbox.  `busy` is held.  False: not possible, and nothing has been changed. */
static bool update_by_mail(struct place *p, struct gw_op *op, const struct gw_data *in, const struct gw_data *result)
{
    struct gw_type *t = p->there.type;
    int64_t bytes = p->there.bytes;
    char *run = rma_is_op(op, GW_H_NO_OP) ? NULL : in->run;
    if (!t->obj.predefined || !t->is_dense || t->true_lb != 0 || bytes > MAIL_BYTES || !(run || rma_is_op(op, GW_H_NO_OP)) ||
        !rma_mail_may_ask(p->w, p->rank, bytes))
        return false;
    struct rma_mail *m = rma_mail_begin(p->w, p->rank, run, bytes);
    m->op = op->obj.id;
    m->type = t->obj.id;
    m->wants_old = result != NULL;
    if (!rma_mail_ask(p->w, p->rank, m, MAIL_UPDATE, (uint64_t)(uintptr_t)p->there.buf, bytes, NULL)) return false;
    if (result) {
        struct gw_data old = gw_data_plain(mail_old(m, bytes), p->there.count, t);
        copy(&old, result);
    }
    return true;
}

/* An accumulate by the network (atomic.c), or by a message.  The target of a message does it, and takes its own `busy` for that: the
 * caller must not hold it. */
static int update_apart(struct place *p, bool is_by_wire, struct gw_op *op, const struct gw_data *in, const struct gw_data *result)
{
    struct gw_data there = p->there;
    int64_t bytes = there.bytes;
    bool has_operand = !rma_is_op(op, GW_H_NO_OP);
    char *run = has_operand ? in->run : NULL, *into = result && result->bytes == bytes ? result->run : NULL;
    char *operand = run || !has_operand ? run : malloc((size_t)bytes), *old = into || !result ? into : malloc((size_t)bytes);
    bool has_all = (operand || !has_operand) && (old || !result);
    int rc = has_all ? GW_OK : gw_fail(GW_ENOMEM, "no memory for %lld bytes of an accumulate", (long long)bytes);
    struct rma_packed room = {old, is_here(p->w, p->rank) ? NULL : p->counter};
    bool is_kept = rc == GW_OK && p->started && room.counter && result && !into;
    if (is_kept) rma_started_keep(p->started, old, bytes);
    if (is_kept) rma_started_unpack(p->started, result->buf, result->count, result->type);
    if (rc == GW_OK && has_operand && !run) type_pack(in->buf, in->count, in->type, operand);
    if (rc == GW_OK)
        rc = (is_by_wire ? rma_atomic_update : rma_ask_update)(p->w, p->rank, op, (uint64_t)(uintptr_t)there.buf, there.count,
                                                               there.type, operand, room);
    if (rc == GW_OK && is_by_wire && result && !into && !is_kept) rc = rma_deferred_settle(p->w);
    if (rc == GW_OK && result && !into && !is_kept) {
        struct type_cursor c;
        type_cursor_init(&c, *result);
        type_cursor_unpack(&c, old, bytes);
    }
    if (!run) free(operand);
    if (!into && !is_kept) free(old);
    return rc;
}

/* An accumulate on a packed copy of the target's data.  `busy` is held.  Packed, because the extent of the target's data may be
 * far larger than their size, for example with two regions attached to a dynamic window. */
static int update_packed(struct place *p, struct gw_op *op, const struct gw_data *in, const struct gw_data *result)
{
    int64_t bytes = p->there.bytes;
    bool has_operand = !rma_is_op(op, GW_H_NO_OP), needs_old = result || !rma_is_op(op, GW_H_REPLACE);
    char *run = has_operand ? in->run : NULL, *old = malloc(2 * (size_t)bytes), *operand = run ? run : old + bytes;
    struct gw_data packed = gw_data_plain(old, bytes, gw_type_byte);
    int rc = GW_OK;
    if (!old) return gw_fail(GW_ENOMEM, "no memory for %lld bytes of an accumulate", 2 * (long long)bytes);
    if (has_operand && !run) type_pack(in->buf, in->count, in->type, operand);
    if (needs_old && p->target->is_near)
        copy(&p->there, &packed);
    else if (needs_old)
        rc = move_far(p, false, &packed);
    if (rc == GW_OK && result) copy(&packed, result);
    if (rc == GW_OK && has_operand) {
        rma_combine_packed(op, type_of_basic(p->there.type->basic), operand, old, bytes);
        if (p->target->is_near)
            copy(&packed, &p->there);
        else
            rc = move_far(p, true, &packed);
    }
    free(old);
    return rc;
}

static int update_far(struct place *p, struct gw_op *op, const struct gw_data *in, const struct gw_data *result)
{
    if (!is_here(p->w, p->rank) || p->w->has_instructions) return update_apart(p, false, op, in, result);
    int rc = GW_OK;
    place_enter(p);
    bool is_done = update_by_mail(p, op, in, result), can = p->target->has_cma;
    if (!is_done && can) rc = update_packed(p, op, in, result);
    place_leave(p);
    return is_done || can ? rc : update_apart(p, false, op, in, result);
}

/* In a window in which the network does what it can at the targets: GW_AGAIN, this is not for it. */
static GW_COLD int update_by_network(struct place *p, struct gw_op *op, const struct gw_data *in, const struct gw_data *result)
{
    bool is_by_wire;
    int rc =
        rma_atomic_turn(p->w, p->rank, op->obj.id, (uint64_t)(uintptr_t)p->there.buf, p->there.count, p->there.type, &is_by_wire);
    if (rc != GW_OK || !is_by_wire) return rc == GW_OK ? GW_AGAIN : rc;
    rc = update_apart(p, true, op, in, result);
    return rc == GW_OK && p->target->is_near ? rma_deferred_settle(p->w) : rc; /* its MPI request is complete already */
}

static int update(struct place *p, struct gw_op *op, const struct gw_data *in, const struct gw_data *result)
{
    int by_network = unlikely(p->w->atomics != NULL) ? update_by_network(p, op, in, result) : GW_AGAIN;
    if (by_network != GW_AGAIN) return by_network;
    if (!p->target->is_near) return update_far(p, op, in, result);
    bool is_alike = in->type == p->there.type && in->count == p->there.count;
    int rc = GW_OK;
    place_enter(p);
    if (is_alike || rma_is_op(op, GW_H_NO_OP) || rma_is_op(op, GW_H_REPLACE)) {
        if (result) copy(&p->there, result);
        combine(op, in, &p->there);
    } else {
        rc = update_packed(p, op, in, result);
    }
    place_leave(p);
    return rc;
}

static int accumulate(const struct gw_data *origin, const struct gw_data *result, const struct rma_there *t, struct gw_op *op,
                      struct gw_req **req_out)
{
    struct place p;
    p.started = NULL;
    if (rma_is_op(op, GW_H_NO_OP) && !result)
        return gw_fail(GW_EOP, "op is MPI_NO_OP, which is for calls that return the old value");
    if (unlikely(t->rank == GW_PROC_NULL)) return ended(&p, GW_OK, req_out);
    int rc = place_find(t, req_out != NULL, &p);
    if (rc == GW_OK) rc = check_op(op, origin, &p.there);
    if (rc == GW_OK && result) rc = check_fits(&p.there, "target", result, "result");
    if (rc == GW_OK) rc = started(&p, req_out);
    if (rc != GW_OK) return rc;
    rma_counted(t->w, &gw_count.rma_accumulates);
    return ended(&p, p.there.bytes == 0 ? GW_OK : update(&p, op, origin, result), req_out);
}

/* The fast path (rma_fast.h).  False: nothing was done; the general path does it or finds the error. */
static bool accumulate_short(const struct gw_data *origin, const struct rma_there *t, struct gw_op *op)
{
    uint64_t bytes;
    bool is_short = (uint64_t)t->count <= RMA_SHORT && rma_is_short(origin->count, origin->type, t->count, t->type, &bytes);
    char *there = is_short ? rma_near_place(t->w, t->rank, t->disp, bytes) : NULL;
    if (!there || !op->obj.predefined || rma_is_op(op, GW_H_NO_OP) || t->type->basic == GW_ELEM_NONE) return false;
    bool is_replace = rma_is_op(op, GW_H_REPLACE);
    if (!is_replace && op_check(op, t->type) != GW_OK) return false;
    rma_busy_enter(t->w, t->rank);
    if (is_replace)
        rma_copy_few(there, origin->buf, bytes);
    else
        op_reduce(op, origin->buf, there, t->count, t->type);
    rma_busy_exit(t->w, t->rank);
    rma_counted(t->w, &gw_count.rma_accumulates);
    return true;
}

int rma_accumulate(const void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount,
                   struct gw_type *tt, struct gw_op *op, struct rma_win *w)
{
    struct gw_data o = gw_data_of(origin, ocount, ot);
    struct rma_there t = {w, target, disp, tcount, tt};
    return likely(accumulate_short(&o, &t, op)) ? GW_OK : accumulate(&o, NULL, &t, op, NULL);
}

int rma_get_accumulate(const void *origin, int64_t ocount, struct gw_type *ot, void *result, int64_t rcount, struct gw_type *rt,
                       int target, int64_t disp, int64_t tcount, struct gw_type *tt, struct gw_op *op, struct rma_win *w)
{
    struct gw_data o = operand_of(origin, ocount, ot), r = gw_data_of(result, rcount, rt);
    return accumulate(&o, &r, &(struct rma_there){w, target, disp, tcount, tt}, op, NULL);
}

static int check_single(const void *result, struct gw_type *t)
{
    if (!t->obj.predefined) return gw_fail(GW_ETYPE, "datatype is %s; it must be a predefined one", type_name(t));
    return result ? GW_OK : gw_fail(GW_EBUFFER, "result_addr is NULL; it must hold one item of %s", type_name(t));
}

int rma_fetch_and_op(const void *origin, void *result, struct gw_type *t, int target, int64_t disp, struct gw_op *op,
                     struct rma_win *w)
{
    char *there = rma_fetch_place(origin, result, t, target, disp, op, w);
    if (likely(there)) {
        rma_busy_enter(w, target);
        rma_fetch_integer(there, origin, result, (size_t)t->size, op);
        rma_busy_exit(w, target);
        rma_counted(w, &gw_count.rma_accumulates);
        return GW_OK;
    }
    int rc = check_single(result, t);
    if (rc == GW_OK && !origin && !rma_is_op(op, GW_H_NO_OP))
        rc = gw_fail(GW_EBUFFER, "origin_addr is NULL; it must hold one item of %s", type_name(t));
    struct gw_data o = gw_data_of(origin, 1, t), r = gw_data_of(result, 1, t);
    return rc == GW_OK ? accumulate(&o, &r, &(struct rma_there){w, target, disp, 1, t}, op, NULL) : rc;
}

static bool may_compare(const struct gw_type *t)
{
    return t->group == GW_GROUP_CINT || t->group == GW_GROUP_FINT || t->group == GW_GROUP_LOGICAL || t->group == GW_GROUP_MULTI ||
        t->group == GW_GROUP_BYTE;
}

static bool swap_by_mail(struct place *p, const void *origin, const void *compare, const struct gw_data *result)
{
    int64_t bytes = result->bytes;
    struct rma_mail *m;
    if (bytes > MAIL_SHORT || !rma_mail_may_ask(p->w, p->rank, bytes)) return false;
    m = rma_mail_begin(p->w, p->rank, compare, bytes);
    rma_copy_few(m->data, origin, (size_t)bytes);
    if (!rma_mail_ask(p->w, p->rank, m, MAIL_SWAP, (uint64_t)(uintptr_t)p->there.buf, bytes, NULL)) return false;
    rma_copy_few(result->buf, m->old, (size_t)bytes);
    return true;
}

/* Compares by bytes, as may_compare() allows only types without padding. */
static int swap_if(struct place *p, const void *origin, const void *compare, const struct gw_data *result)
{
    size_t bytes = (size_t)result->bytes;
    bool is_near = p->target->is_near;
    struct gw_data new = gw_data_host(origin, 1, result->type);
    uint64_t there = (uint64_t)(uintptr_t)p->there.buf;
    int rc = GW_OK;
    if (unlikely(p->w->atomics != NULL)) {
        bool is_by_wire;
        rc = rma_atomic_turn(p->w, p->rank, RMA_CSWAP, there, 1, result->type, &is_by_wire);
        if (rc == GW_OK && is_by_wire) rc = rma_atomic_swap(p->w, p->rank, there, origin, compare, result->buf, result->type);
        if (rc != GW_OK || is_by_wire) return rc;
    }
    struct rma_packed old = {result->buf, is_here(p->w, p->rank) ? NULL : p->counter};
    if (!is_here(p->w, p->rank) || p->w->has_instructions)
        return rma_ask_swap(p->w, p->rank, there, origin, compare, old, (int64_t)bytes);
    place_enter(p);
    if (is_near) {
        memcpy(result->buf, p->there.buf, bytes);
        if (memcmp(result->buf, compare, bytes) == 0) memcpy(p->there.buf, origin, bytes);
    } else if (!swap_by_mail(p, origin, compare, result)) {
        if (!p->target->has_cma) {
            place_leave(p);
            return rma_ask_swap(p->w, p->rank, there, origin, compare, old, (int64_t)bytes);
        }
        rc = move_far(p, false, result);
        if (rc == GW_OK && memcmp(result->buf, compare, bytes) == 0) rc = move_far(p, true, &new);
    }
    place_leave(p);
    return rc;
}

int rma_compare_and_swap(const void *origin, const void *compare, void *result, struct gw_type *t, int target, int64_t disp,
                         struct rma_win *w)
{
    struct place p;
    struct gw_data r = gw_data_host(result, 1, t);
    char *there = rma_swap_place(origin, compare, result, t, target, disp, w);
    if (likely(there)) {
        rma_busy_enter(w, target);
        rma_swap_integer(there, origin, compare, result, (size_t)t->size);
        rma_busy_exit(w, target);
        rma_counted(w, &gw_count.rma_accumulates);
        return GW_OK;
    }
    int rc = check_single(result, t);
    if (rc != GW_OK) return rc;
    if (!origin || !compare)
        return gw_fail(GW_EBUFFER, "%s is NULL; it must hold one item of %s", origin ? "compare_addr" : "origin_addr",
                       type_name(t));
    if (!may_compare(t))
        return gw_fail(GW_ETYPE, "datatype is %s; it must be an integer or logical type, or MPI_BYTE", type_name(t));
    if (unlikely(target == GW_PROC_NULL)) return GW_OK;
    rc = place_find(&(struct rma_there){w, target, disp, 1, t}, false, &p);
    if (rc != GW_OK) return rc;
    rma_counted(w, &gw_count.rma_accumulates);
    return swap_if(&p, origin, compare, &r);
}

/* ---- with requests ---- */
int rma_rput(const void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount, struct gw_type *tt,
             struct rma_win *w, struct gw_req **req_out)
{
    struct gw_data o = gw_data_of(origin, ocount, ot);
    return put(&o, &(struct rma_there){w, target, disp, tcount, tt}, true, req_out);
}

int rma_rget(void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount, struct gw_type *tt,
             struct rma_win *w, struct gw_req **req_out)
{
    struct gw_data o = gw_data_of(origin, ocount, ot);
    return get(&o, &(struct rma_there){w, target, disp, tcount, tt}, true, req_out);
}

int rma_raccumulate(const void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount,
                    struct gw_type *tt, struct gw_op *op, struct rma_win *w, struct gw_req **req_out)
{
    struct gw_data o = gw_data_of(origin, ocount, ot);
    return accumulate(&o, NULL, &(struct rma_there){w, target, disp, tcount, tt}, op, req_out);
}

int rma_rget_accumulate(const void *origin, int64_t ocount, struct gw_type *ot, void *result, int64_t rcount, struct gw_type *rt,
                        int target, int64_t disp, int64_t tcount, struct gw_type *tt, struct gw_op *op, struct rma_win *w,
                        struct gw_req **req_out)
{
    struct gw_data o = operand_of(origin, ocount, ot), r = gw_data_of(result, rcount, rt);
    return accumulate(&o, &r, &(struct rma_there){w, target, disp, tcount, tt}, op, req_out);
}

/* ---- with counters ---- */
static int counted_move(bool is_put, void *here, const struct rma_there *there, struct rma_counter *c)
{
    struct place p;
    int rc = place_find(there, false, &p);
    if (rc != GW_OK) return rc;
    rma_counted(there->w, is_put ? &gw_count.rma_puts : &gw_count.rma_gets);
    p.counter = c;
    struct gw_data bytes = gw_data_plain(here, p.there.bytes, gw_type_byte);
    rc = move(&p, is_put, &bytes);
    if (is_put) rma_counter_touch(c, there->rank);
    return rc;
}

int rma_counted_put(const void *origin, const struct rma_there *there, struct rma_counter *c)
{
    return counted_move(true, (void *)(uintptr_t)origin, there, c);
}

int rma_counted_get(void *origin, const struct rma_there *there, struct rma_counter *c)
{
    return counted_move(false, origin, there, c);
}

int rma_counted_update(const void *operand, void *old, const struct rma_there *there, struct gw_op *op, struct rma_counter *c)
{
    struct place p;
    struct gw_data in = gw_data_host(operand, there->count, there->type), result = gw_data_host(old, there->count, there->type);
    int rc = place_find(there, false, &p);
    if (rc != GW_OK) return rc;
    rma_counted(there->w, &gw_count.rma_accumulates);
    p.counter = c;
    rc = update(&p, op, &in, old ? &result : NULL);
    if (!old) rma_counter_touch(c, there->rank);
    return rc;
}

int rma_counted_swap(const void *new, const void *compare, void *old, const struct rma_there *there, struct rma_counter *c)
{
    struct place p;
    int rc = place_find(there, false, &p);
    if (rc != GW_OK) return rc;
    rma_counted(there->w, &gw_count.rma_accumulates);
    p.counter = c;
    struct gw_data result = gw_data_host(old, 1, there->type);
    return swap_if(&p, new, compare, &result);
}
