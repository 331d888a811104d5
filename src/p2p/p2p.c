/* p2p.c -- sends and receives: blocking, non-blocking, combined; what collectives use.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/p2p_private.h"

#include <stdlib.h>

int p2p_init(void)
{
    req_upcalls.tell = p2p_report_requests;
    req_upcalls.posted = p2p_posted_number;
    proto_upcalls.member = p2p_report_member;
    return p2p_bsend_init_room();
}

bool p2p_is_quiet(void)
{
    bool drained = true;
    for (int i = 0; i < gw_nlanes; i++) {
        gw_lock(&gw_lanes[i].lock);
        drained = drained && proto_drained(&gw_lanes[i]);
        gw_unlock(&gw_lanes[i].lock);
    }
    return drained;
}

static bool all_drained(void *unused)
{
    (void)unused;
    return p2p_is_quiet();
}

static void leave(bool on)
{
    for (int i = 0; i < gw_nlanes; i++) {
        gw_lock(&gw_lanes[i].lock);
        proto_leave(&gw_lanes[i], on);
        gw_unlock(&gw_lanes[i].lock);
    }
}

void p2p_rest(void)
{
    p2p_bsend_finalize_room();
    peer_leave(true);
    leave(true);
    while (req_progress() > 0) {} /* what has come is answered */
    req_block_until(&gw_lanes[0], all_drained, NULL);
    leave(false);
}

void p2p_finalize(void)
{
    p2p_rest();
    p2p_part_finalize();
}

/* Waits for a request of this room and gives it back to the pool. */
static int finish(struct gw_req *r, struct gw_status *status)
{
    req_block(r);
    int err = unlikely(r->err < 0) ? proto_error(r) : GW_OK;
    if (status) gw_status_fill(status, r->status.source, r->status.tag, gw_status_bytes(&r->status), r->status.cancelled);
    if (!(r->flags & REQ_STATIC)) {
        struct gw_lane *lane = &gw_lanes[r->lane];
        gw_lock(&lane->lock);
        req_recycle(r);
        gw_unlock(&lane->lock);
    }
    return err;
}

int p2p_stream_wait(struct gw_req *r) { return finish(r, NULL); }

int p2p_stream_wait_bytes(struct gw_req *r, int64_t *bytes_out)
{
    struct gw_status status;
    int rc = finish(r, &status);
    *bytes_out = gw_status_bytes(&status);
    return rc;
}

/* ---- sends ------------------------------------------------------------------------------------------------------ */
static inline int send_now(struct proto_addr a, const struct gw_data *d, enum proto_mode mode, struct gw_req **req_out)
{
    gw_lock(&a.lane->lock);
    int rc = proto_send(&a, d, mode, req_out);
    gw_unlock(&a.lane->lock);
    return rc;
}

static int send_blocking(const struct gw_data *d, int dst, int tag, struct gw_comm *c, enum proto_mode mode)
{
    struct gw_req *r;
    if (unlikely(dst == GW_PROC_NULL)) return GW_OK;
    int rc = send_now(p2p_addr(c, dst, tag, GW_STREAM_P2P), d, mode, &r);
    return likely(rc == GW_OK) || rc < 0 ? rc : finish(r, NULL);
}

int p2p_send(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c)
{
    if (c->lane->n_nets && dst >= 0 && !gw_slow_path) {
        struct proto_addr a = p2p_addr(c, dst, tag, GW_STREAM_P2P);
        if (proto_send_far(&a, buf, count, t)) return GW_OK;
    }
    struct gw_data d = gw_data_of(buf, count, t);
    return send_blocking(&d, dst, tag, c, PROTO_STANDARD);
}

int p2p_ssend(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c)
{
    struct gw_data d = gw_data_of(buf, count, t);
    return send_blocking(&d, dst, tag, c, PROTO_SYNC);
}

int p2p_rsend(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c)
{
    struct gw_data d = gw_data_of(buf, count, t);
    return send_blocking(&d, dst, tag, c, PROTO_STANDARD); /* a ready send may be a standard send */
}

int p2p_bsend(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c)
{
    struct gw_data d = gw_data_of(buf, count, t);
    return dst == GW_PROC_NULL ? GW_OK : p2p_buffered_send(&d, dst, tag, c);
}

/* The answer of a non-blocking call: the request exists, whether or not it is complete already. */
static inline int posted(int rc) { return likely(rc >= 0) ? GW_OK : rc; }

int p2p_isend(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c, struct gw_req **req_out)
{
    *req_out = &gw_req_sent;
    if (dst == GW_PROC_NULL) return GW_OK;
    struct gw_data d = gw_data_of(buf, count, t);
    return posted(send_now(p2p_addr(c, dst, tag, GW_STREAM_P2P), &d, PROTO_LATER, req_out));
}

int p2p_post_send(enum p2p_mode mode, const struct gw_data *d, int dst, int tag, struct gw_comm *c, struct gw_req **req_out)
{
    *req_out = &gw_req_sent;
    if (dst == GW_PROC_NULL) return GW_OK;
    if (mode == P2P_BUFFERED) return p2p_buffered_send(d, dst, tag, c); /* complete once it is copied */
    return send_now(p2p_addr(c, dst, tag, GW_STREAM_P2P), d, mode == P2P_SYNC ? PROTO_SYNC : PROTO_LATER, req_out);
}

int p2p_issend(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c, struct gw_req **req_out)
{
    struct gw_data d = gw_data_of(buf, count, t);
    return posted(p2p_post_send(P2P_SYNC, &d, dst, tag, c, req_out));
}

int p2p_ibsend(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c, struct gw_req **req_out)
{
    struct gw_data d = gw_data_of(buf, count, t);
    return posted(p2p_post_send(P2P_BUFFERED, &d, dst, tag, c, req_out));
}

int p2p_irsend(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c, struct gw_req **req_out)
{
    struct gw_data d = gw_data_of(buf, count, t);
    return posted(p2p_post_send(P2P_READY, &d, dst, tag, c, req_out));
}

/* ---- receives --------------------------------------------------------------------------------------------------- */
static int recv_blocking(struct proto_addr *a, const struct gw_data *d, struct gw_status *status)
{
    union {
        struct gw_req req;
        char bytes[GW_REQ_BYTES];
    } here;
    gw_lock(&a->lane->lock);
    int rc = proto_recv_into(a, d, &here.req);
    gw_unlock(&a->lane->lock);
    if (unlikely(rc < 0)) return rc;
    if (!req_is_done(&here.req)) req_block(&here.req);
    if (status) {
        const struct gw_status *s = &here.req.status;
        gw_status_fill(status, s->source, s->tag, gw_status_bytes(s), false);
    }
    return likely(here.req.err == GW_OK) ? GW_OK : proto_error(&here.req);
}

int p2p_recv(void *buf, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c, struct gw_status *status)
{
    if (unlikely(src == GW_PROC_NULL)) {
        if (status) gw_status_fill(status, GW_PROC_NULL, GW_ANY_TAG, 0, false);
        return GW_OK;
    }
    struct proto_addr a = p2p_addr(c, src, tag, GW_STREAM_P2P);
    if (likely(!gw_slow_path) && proto_recv_direct(&a, buf, count, t, status)) return GW_OK;
    struct gw_data d = gw_data_of(buf, count, t);
    return recv_blocking(&a, &d, status);
}

/* GW_POSTED or a negative code. */
static inline int recv_now(struct proto_addr a, const struct gw_data *d, struct gw_req **req_out)
{
    gw_lock(&a.lane->lock);
    int rc = proto_recv(&a, d, req_out);
    gw_unlock(&a.lane->lock);
    return rc;
}

int p2p_post_recv(const struct gw_data *d, int src, int tag, struct gw_comm *c, struct gw_req **req_out)
{
    *req_out = &gw_req_procnull;
    if (unlikely(src == GW_PROC_NULL)) return GW_OK;
    return recv_now(p2p_addr(c, src, tag, GW_STREAM_P2P), d, req_out);
}

int p2p_irecv(void *buf, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c, struct gw_req **req_out)
{
    struct gw_data d = gw_data_of(buf, count, t);
    return posted(p2p_post_recv(&d, src, tag, c, req_out));
}

/* ---- streams of the rooms above --------------------------------------------------------------------------------- */
int p2p_stream_isend(enum gw_stream s, const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c,
                     struct gw_req **req_out)
{
    struct gw_data d = gw_data_host(buf, count, t);
    return send_now(p2p_addr(c, dst, tag, s), &d, PROTO_STANDARD, req_out);
}

int p2p_stream_irecv(enum gw_stream s, void *buf, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c,
                     struct gw_req **req_out)
{
    struct gw_data d = gw_data_host(buf, count, t);
    return recv_now(p2p_addr(c, src, tag, s), &d, req_out);
}

/* ---- requests made of others ------------------------------------------------------------------------------------ */
int p2p_stream_chain(struct gw_req *inner, struct gw_done *done)
{
    if (!req_is_done(inner)) {
        inner->notify = done;
        inner->flags |= REQ_FREED; /* back to the pool by itself, after notify */
        return GW_POSTED;
    }
    int err = unlikely(inner->err < 0) ? proto_error(inner) : GW_OK;
    if (!(inner->flags & REQ_STATIC)) req_recycle(inner);
    return err;
}

void p2p_stream_cancel(struct gw_req *r) { proto_cancel(r); }

void p2p_stream_absorb(const struct gw_req *r) { proto_absorb(r); }

void p2p_stream_drop(struct gw_req *r)
{
    struct gw_lane *lane = &gw_lanes[r->lane];
    if (r->flags & REQ_STATIC) return;
    gw_lock(&lane->lock);
    if (req_is_done(r)) {
        req_recycle(r);
    } else {
        r->flags |= REQ_FREED;
        proto_cancel(r);
    }
    gw_unlock(&lane->lock);
}

int p2p_stream_error(struct gw_req *r) { return proto_error(r); }

void p2p_chain(struct gw_req *inner, struct gw_done *done, struct gw_status *status_out)
{
    if (req_is_done(inner)) *status_out = inner->status;
    int err = p2p_stream_chain(inner, done);
    if (err != GW_POSTED) done->fn(done, err);
}

static void error_say(struct gw_done *done, int err)
{
    struct p2p_error *e = container_of(done, struct p2p_error, done);
    if (e->text) gw_fail(err, "%s", e->text);
    free(e->text);
    e->text = NULL;
}

void p2p_error_keep(struct gw_req *outer, struct p2p_error *e, int err)
{
    assert(err < 0 && !req_is_done(outer));
    outer->err = err;
    if (outer->flags & REQ_FREED) return; /* nobody will ask */
    e->text = strdup(gw_fail_text());
    e->done.fn = error_say;
    outer->final = &e->done;
    outer->flags |= REQ_FINALIZE;
}

/* ---- send and receive in one ------------------------------------------------------------------------------------ */
/* One direction. */
struct way {
    struct gw_data data;
    int rank, tag;
};

static int both_blocking(const struct way *out, const struct way *in, struct gw_comm *c, struct gw_status *status)
{
    struct gw_req *r, *s;
    int rc = p2p_post_recv(&in->data, in->rank, in->tag, c, &r);
    if (rc < 0) return rc;
    int src_rc = p2p_post_send(P2P_STANDARD, &out->data, out->rank, out->tag, c, &s);
    if (src_rc < 0) { /* the receive must not outlive this call */
        gw_lock(&c->lane->lock);
        if (!(r->flags & REQ_STATIC)) proto_cancel(r);
        gw_unlock(&c->lane->lock);
        finish(r, NULL);
        return src_rc;
    }
    rc = finish(r, status);
    src_rc = finish(s, NULL);
    return rc < 0 ? rc : src_rc;
}

int p2p_sendrecv(const void *sbuf, int64_t scount, struct gw_type *st, int dst, int stag, void *rbuf, int64_t rcount,
                 struct gw_type *rt, int src, int rtag, struct gw_comm *c, struct gw_status *status)
{
    struct way out = {gw_data_of(sbuf, scount, st), dst, stag}, in = {gw_data_of(rbuf, rcount, rt), src, rtag};
    return both_blocking(&out, &in, c, status);
}

/* The data as bytes, in `small` if they fit, else in memory of their own; NULL: none (gw_fail text set). */
static void *packed_copy(const struct gw_data *d, void *small, int64_t small_bytes)
{
    void *copy = d->bytes <= small_bytes ? small : malloc(d->bytes > 0 ? (size_t)d->bytes : 1);
    if (copy)
        type_pack(d->buf, d->count, d->type, copy);
    else
        gw_fail(GW_ENOMEM, "no memory for a copy of %lld bytes", (long long)d->bytes);
    return copy;
}

int p2p_sendrecv_replace(void *buf, int64_t count, struct gw_type *t, int dst, int stag, int src, int rtag, struct gw_comm *c,
                         struct gw_status *status)
{
    char small[2048];
    struct way in = {gw_data_of(buf, count, t), src, rtag};
    void *copy = packed_copy(&in.data, small, sizeof small);
    if (!copy) return GW_ENOMEM;
    if (unlikely(gw_checking)) proto_note_as(count, t);
    struct way out = {gw_data_plain(copy, in.data.bytes, gw_type_byte), dst, stag};
    int rc = both_blocking(&out, &in, c, status);
    if (unlikely(gw_checking)) proto_note_as(0, NULL);
    if (copy != small) free(copy);
    return rc;
}

/* Two operations behind one request; it is complete when both are, with the status of the receive. */
struct both {
    struct gw_req req;
    struct gw_done send_done, recv_done;
    struct gw_status send_status;
    struct gw_req *inner_send, *inner_recv;
    void *copy; /* of a replaced buffer, or NULL */
    struct p2p_error error;
    int pending;
};
_Static_assert(sizeof(struct both) <= GW_REQ_BYTES, "fits a pooled request");

static void both_part_done(struct both *b, int err)
{
    assert(b->pending > 0);
    if (err < 0 && b->req.err == GW_OK) p2p_error_keep(&b->req, &b->error, err);
    if (--b->pending > 0) return;
    assert(!b->inner_send && !b->inner_recv);
    free(b->copy);
    req_complete(&b->req);
}
static void both_send_done(struct gw_done *d, int err)
{
    struct both *b = container_of(d, struct both, send_done);
    b->inner_send = NULL;
    both_part_done(b, err);
}
static void both_recv_done(struct gw_done *d, int err)
{
    struct both *b = container_of(d, struct both, recv_done);
    if (b->inner_recv) {
        b->req.status = b->inner_recv->status;
        proto_error(b->inner_recv);
        b->inner_recv = NULL;
    }
    both_part_done(b, err);
}

bool p2p_both_pending(struct gw_req *r, struct gw_req **send_out, struct gw_req **recv_out)
{
    struct both *b = container_of(r, struct both, req);
    if (r->kind != REQ_GENERAL || b->send_done.fn != both_send_done) return false;
    *send_out = b->inner_send;
    *recv_out = b->inner_recv;
    return true;
}

/* `copy` is freed with the request; NULL: none. */
static int both_start(const struct way *out, const struct way *in, struct gw_comm *c, void *copy, struct gw_req **req_out)
{
    struct gw_req *r, *s;
    int rc = p2p_post_recv(&in->data, in->rank, in->tag, c, &r);
    if (rc < 0) return rc;
    gw_lock(&c->lane->lock);
    struct both *b = (struct both *)req_new(c->lane, REQ_GENERAL);
    gw_unlock(&c->lane->lock);
    rc = b ? p2p_post_send(P2P_STANDARD, &out->data, out->rank, out->tag, c, &s) : GW_ENOMEM;
    gw_lock(&c->lane->lock);
    if (rc < 0) {
        if (!(r->flags & REQ_STATIC)) proto_cancel(r);
        if (b) req_recycle(&b->req);
        gw_unlock(&c->lane->lock);
        finish(r, NULL);
        return rc;
    }
    b->req.err = GW_OK;
    b->req.errctx = p2p_errctx(c);
    b->send_done.fn = both_send_done;
    b->recv_done.fn = both_recv_done;
    b->copy = copy;
    b->pending = 2;
    b->inner_send = req_is_done(s) ? NULL : s;
    b->inner_recv = req_is_done(r) ? NULL : r;
    p2p_chain(s, &b->send_done, &b->send_status);
    p2p_chain(r, &b->recv_done, &b->req.status);
    gw_unlock(&c->lane->lock);
    *req_out = &b->req;
    return GW_OK;
}

int p2p_isendrecv(const void *sbuf, int64_t scount, struct gw_type *st, int dst, int stag, void *rbuf, int64_t rcount,
                  struct gw_type *rt, int src, int rtag, struct gw_comm *c, struct gw_req **req_out)
{
    struct way out = {gw_data_of(sbuf, scount, st), dst, stag}, in = {gw_data_of(rbuf, rcount, rt), src, rtag};
    return both_start(&out, &in, c, NULL, req_out);
}

int p2p_isendrecv_replace(void *buf, int64_t count, struct gw_type *t, int dst, int stag, int src, int rtag, struct gw_comm *c,
                          struct gw_req **req_out)
{
    struct way in = {gw_data_of(buf, count, t), src, rtag};
    void *copy = packed_copy(&in.data, NULL, -1);
    if (!copy) return GW_ENOMEM;
    if (unlikely(gw_checking)) proto_note_as(count, t);
    struct way out = {gw_data_plain(copy, in.data.bytes, gw_type_byte), dst, stag};
    int rc = both_start(&out, &in, c, copy, req_out);
    if (unlikely(gw_checking)) proto_note_as(0, NULL);
    if (rc < 0) free(copy);
    return rc;
}

/* ---- cancel and free -------------------------------------------------------------------------------------------- */
int p2p_cancel(struct gw_req **r)
{
    struct gw_req *q = *r;
    struct gw_lane *lane = &gw_lanes[q->lane];
    if (q->kind == REQ_USER) return req_user_cancel(q);
    if (part_is(q))
        return gw_fail(GW_EREQUEST, "this is a partitioned operation, which cannot be cancelled: complete it (MPI_Wait, MPI_Test)");
    if (q->flags & REQ_STATIC) return GW_OK; /* complete already: a cancel changes nothing */
    if (q->kind == REQ_COLL) return gw_fail(GW_EREQUEST, "the request is of a collective operation, which cannot be cancelled");
    gw_lock(&lane->lock);
    if (q->flags & REQ_PERSISTENT) {
        bool active = q->flags & REQ_ACTIVE;
        struct gw_req *inner = p2p_persistent_inner(q);
        if (active && inner && !req_is_done(q)) proto_cancel(inner);
        gw_unlock(&lane->lock);
        return active ? GW_OK : gw_fail(GW_EREQUEST, "the persistent request is not active: there is nothing to cancel");
    }
    if (!req_is_done(q) && (q->kind == REQ_SEND || q->kind == REQ_RECV)) proto_cancel(q);
    gw_unlock(&lane->lock);
    return GW_OK;
}

int p2p_test_cancelled(const struct gw_status *s, int *flag_out)
{
    *flag_out = s->cancelled != 0;
    return GW_OK;
}

static void prepared_release(struct gw_req *q)
{
    struct req_prepared *p = container_of(q, struct req_prepared, req);
    p->release.fn(&p->release, GW_OK);
}

int p2p_request_free(struct gw_req **r)
{
    struct gw_req *q = *r;
    if (part_is(q)) return p2p_part_free(r);
    if (q->kind == REQ_USER) return req_user_free(r);
    if (q->kind == REQ_COLL && q->flags & REQ_ACTIVE)
        return gw_fail(GW_EREQUEST, "the request is of a collective operation that %s",
                       req_is_done(q) ? "is complete, but only a wait or test may end it"
                                      : "is under way and cannot be freed: wait for it");
    *r = NULL;
    if (q->flags & REQ_STATIC) return GW_OK;
    struct gw_lane *lane = &gw_lanes[q->lane];
    gw_lock(&lane->lock);
    bool idle = req_is_done(q) || !(q->flags & REQ_ACTIVE);
    if (idle) {
        if (q->flags & REQ_FINALIZE) q->final->fn(q->final, q->err);
        if (q->kind == REQ_COLL)
            prepared_release(q);
        else if (q->flags & REQ_PERSISTENT)
            p2p_persistent_release(q);
        req_recycle(q);
    } else {
        q->flags |= REQ_FREED;
    }
    gw_unlock(&lane->lock);
    return GW_OK;
}
