/* check_stage.c -- host memory in place of buffers that the CPU may not touch (type/stage.h), for all calls: here each buffer of a
 * call is known, with its type and direction.
 *
 * What a call reads is copied when it begins, or with a persistent request when that is started; what it writes is copied back when
 * the call ends, or when the request is complete, before anybody can see that it is (struct gw_req's `notify`).  Rooms below never
 * see such memory, but for windows, which have a mirror (rma.h), and for type_mpi_pack() and op_reduce_local(), whose calls are not
 * shown here.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "base/list.h"
#include "check/check_private.h"
#include "type/stage.h"

struct part {
    struct type_stage s;
    bool is_written;
};

/* Of one operation. */
struct check_stage {
    struct gw_list link;     /* of `kept`, if its request is persistent */
    struct gw_done complete; /* what the request calls */
    struct gw_done *next;    /* what it called without us, or NULL */
    struct gw_req *req;
    uint32_t id;       /* of the request */
    int err;           /* of a copy of a partition */
    int partitions;    /* 0: the request has none */
    bool *has_arrived; /* owned, by partition: it was copied back since the start */
    int n;
    struct part parts[CHECK_SPANS];
};

static struct {
    struct gw_lock lock; /* taken last */
    struct gw_list list; /* of persistent requests */
} kept = {.list = {&kept.list, &kept.list}};

static struct check_stage *find_held(uint32_t id)
{
    for (struct gw_list *l = kept.list.next; l != &kept.list; l = l->next) {
        struct check_stage *st = container_of(l, struct check_stage, link);
        if (st->id == id) return st;
    }
    return NULL;
}
static struct check_stage *find(uint32_t id)
{
    gw_lock(&kept.lock);
    struct check_stage *st = find_held(id);
    gw_unlock(&kept.lock);
    return st;
}
static void forget(struct check_stage *st)
{
    gw_lock(&kept.lock);
    gw_list_del(&st->link);
    gw_unlock(&kept.lock);
}

/* The end of the memory: rc, or the error of a copy back. */
static int drop(struct check_stage *st, int rc, bool copies_back)
{
    for (int i = 0; i < st->n; i++) {
        struct gw_type *t = st->parts[i].s.user.type;
        rc = type_stage_end(&st->parts[i].s, rc, copies_back && st->parts[i].is_written);
        type_release(t);
    }
    free(st->has_arrived);
    free(st);
    return rc;
}

/* ---- the buffers of a call ---- */
static int stage_one(struct check_run *r, int i)
{
    const struct check_span *s = &r->spans[i];
    struct gw_data d = gw_data_of(s->buf, s->count, s->type);
    if (s->lo == s->hi || gw_data_is_cpu(&d)) return GW_OK;
    if (!r->stage) r->stage = gw_xcalloc(1, sizeof *r->stage);
    struct part *p = &r->stage->parts[r->stage->n++];
    p->is_written = s->is_written;
    type_hold(d.type);
    int rc = type_stage_begin(&p->s, &d);
    if (rc == GW_OK) *r->args[i] = p->s.data.buf;
    return rc;
}

int check_stage_before(struct check_run *r)
{
    int rc = r->kind->stage_before ? r->kind->stage_before(r) : GW_OK;
    for (int i = 0; i < r->n_spans && rc == GW_OK; i++) rc = stage_one(r, i);
    return rc;
}

/* ---- requests ---- */
static int copy_back(struct check_stage *st)
{
    int rc = st->err;
    for (int i = 0; i < st->n; i++) {
        const struct part *p = &st->parts[i];
        int64_t n = st->partitions > 0 ? st->partitions : 1, each = p->s.user.count / n;
        for (int64_t k = 0; k < n && rc >= 0 && p->is_written; k++)
            if (!st->has_arrived || !st->has_arrived[k]) rc = type_stage_copy(&p->s, true, k * each, each);
    }
    return rc;
}

/* The lane's lock is held. */
static void completed(struct gw_done *done, int err)
{
    struct check_stage *st = container_of(done, struct check_stage, complete);
    struct gw_done *next = st->next;
    struct gw_req *q = st->req;
    int rc = copy_back(st);
    if (q->err >= 0 && rc < 0) q->err = rc;
    if (!(q->flags & REQ_PERSISTENT)) {
        drop(st, rc, false);
    } else if (q->flags & REQ_FREED) {
        forget(st);
        drop(st, rc, false);
    }
    if (next) next->fn(next, err);
}

static int give_to(struct check_stage *st, struct gw_req *q, int partitions)
{
    struct gw_lane *lane = &gw_lanes[q->lane];
    if (q->flags & REQ_STATIC) return drop(st, GW_OK, true);
    st->req = q;
    st->id = q->obj.id;
    st->complete.fn = completed;
    st->partitions = partitions;
    if (partitions > 0) st->has_arrived = gw_xcalloc((size_t)partitions, sizeof *st->has_arrived);
    if (q->flags & REQ_PERSISTENT) {
        gw_lock(&kept.lock);
        gw_list_push(&kept.list, &st->link);
        gw_unlock(&kept.lock);
        return GW_OK;
    }
    gw_lock(&lane->lock);
    bool is_over = req_is_done(q);
    if (!is_over) st->next = q->notify, q->notify = &st->complete;
    gw_unlock(&lane->lock);
    return is_over ? drop(st, GW_OK, true) : GW_OK;
}

int check_stage_after(struct check_run *r, int rc)
{
    struct check_stage *st = r->stage;
    if (r->kind->stage_after) rc = r->kind->stage_after(r, rc);
    if (!st) return rc;
    r->stage = NULL;
    bool has_request = rc >= 0 && r->form != CHECK_BLOCKS;
    return has_request ? give_to(st, *r->a.request, r->a.partitions) : drop(st, rc, true);
}

/* ---- persistent requests ---- */
static int64_t number_of(const struct check_run *r) { return r->a.array_of_requests ? r->a.count : 1; }
static struct gw_req *request_of(const struct check_run *r, int64_t i)
{
    return r->a.array_of_requests ? r->a.array_of_requests[i] : *r->a.request;
}

/* What a partitioned send reads comes with MPI_Pready. */
static int start_one(struct gw_req *q)
{
    struct check_stage *st = req_is_inactive(q) ? find(q->obj.id) : NULL;
    int rc = GW_OK;
    if (!st) return rc;
    st->err = GW_OK;
    if (st->has_arrived) memset(st->has_arrived, 0, (size_t)st->partitions * sizeof *st->has_arrived);
    for (int i = 0; i < st->n && rc >= 0; i++)
        if (st->partitions == 0 || st->parts[i].is_written)
            rc = type_stage_copy(&st->parts[i].s, false, 0, st->parts[i].s.user.count);
    if (rc >= 0) q->notify = &st->complete;
    return rc;
}

int check_stage_start(struct check_run *r)
{
    int rc = GW_OK;
    for (int64_t i = 0; i < number_of(r) && rc >= 0; i++) rc = start_one(request_of(r, i));
    return rc;
}

/* Those that were not started after all have nothing to call. */
int check_stage_started(struct check_run *r, int rc)
{
    for (int64_t i = 0; i < number_of(r) && rc < 0; i++)
        if (req_is_inactive(request_of(r, i)) && find(request_of(r, i)->obj.id)) request_of(r, i)->notify = NULL;
    return rc;
}

void check_stage_partition(uint32_t id, int partition)
{
    struct check_stage *st = find(id);
    if (!st || st->err < 0 || partition < 0 || partition >= st->partitions || st->has_arrived[partition]) return;
    const struct part *p = &st->parts[0];
    int64_t each = p->s.user.count / st->partitions;
    int rc = type_stage_copy(&p->s, p->is_written, partition * each, each);
    st->has_arrived[partition] = p->is_written;
    if (rc < 0) st->err = rc;
}

int check_stage_free(struct check_run *r)
{
    r->id = (*r->a.request)->obj.id;
    return GW_OK;
}

/* The request is gone, or goes when it is complete. */
int check_stage_freed(struct check_run *r, int rc)
{
    struct check_stage *st = *r->a.request ? NULL : find(r->id);
    if (!st) return rc;
    struct gw_lane *lane = &gw_lanes[st->req->lane];
    gw_lock(&lane->lock);
    st = find(r->id);
    bool is_gone = st && st->req->obj.id != r->id;
    gw_unlock(&lane->lock);
    if (!is_gone) return rc;
    forget(st);
    return drop(st, rc, false);
}

/* ---- windows ---- */
int check_stage_window(struct check_run *r) { return rma_mirror_meet(r->a.win); }
int check_stage_windowed(struct check_run *r, int rc) { return rc >= 0 ? rma_mirror_meet(r->a.win) : rc; }
