/* persistent.c -- persistent sends and receives (MPI 4.1 section 3.9).
 *
 *   INACTIVE --start--> ACTIVE --the operation completes--> DONE --wait/test--> INACTIVE
 *
 * Each start posts an ordinary operation and chains it to the persistent request, which keeps the arguments.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/p2p_private.h"
#include "proto/proto_fast.h"

struct persistent {
    struct gw_req req;
    struct gw_done done;  /* of the operation now running */
    struct gw_req *inner; /* that operation; NULL when none */
    struct gw_data data;  /* type: held */
    struct gw_comm *comm; /* held */
    int32_t rank, tag;
    uint64_t posted; /* number of the operation last started among the receives that were posted */
    uint8_t mode;    /* enum p2p_mode, of sends */
    struct p2p_error error;
};
_Static_assert(sizeof(struct persistent) <= GW_REQ_BYTES, "fits a pooled request");

struct gw_req *p2p_persistent_inner(struct gw_req *r) { return container_of(r, struct persistent, req)->inner; }

void p2p_persistent_release(struct gw_req *r)
{
    struct persistent *p = container_of(r, struct persistent, req);
    type_release(p->data.type);
    comm_release(p->comm);
}

static void operation_done(struct gw_done *d, int err)
{
    struct persistent *p = container_of(d, struct persistent, done);
    if (p->inner) {
        p->req.status = p->inner->status;
        proto_error(p->inner);
    }
    p->inner = NULL;
    p->req.err = err;
    if (unlikely(err < 0)) p2p_error_keep(&p->req, &p->error, err);
    if (p->req.flags & REQ_FREED) p2p_persistent_release(&p->req);
    req_complete(&p->req);
}

bool p2p_persistent_pending(struct gw_req *r, struct gw_req **inner_out)
{
    struct persistent *p = container_of(r, struct persistent, req);
    if ((r->kind != REQ_SEND && r->kind != REQ_RECV) || p->done.fn != operation_done) return false;
    *inner_out = p->inner;
    return true;
}

struct gw_req *p2p_running(struct gw_req *r) { return r->flags & REQ_PERSISTENT ? p2p_persistent_inner(r) : r; }

static int init(enum req_kind kind, enum p2p_mode mode, struct gw_data d, int rank, int tag, struct gw_comm *c,
                struct gw_req **req_out)
{
    gw_lock(&c->lane->lock);
    struct persistent *p = (struct persistent *)req_new(c->lane, kind);
    if (p) {
        assert(!(p->req.flags & REQ_STATIC) && (kind == REQ_SEND || kind == REQ_RECV));
        p->req.flags = (uint16_t)((p->req.flags & ~REQ_ACTIVE) | REQ_PERSISTENT);
        p->req.errctx = p2p_errctx(c);
        p->req.err = GW_OK;
        p->done.fn = operation_done;
        p->inner = NULL;
        p->data = d;
        type_hold(d.type);
        p->comm = comm_hold(c);
        p->rank = rank;
        p->tag = tag;
        p->mode = (uint8_t)mode;
    }
    gw_unlock(&c->lane->lock);
    if (!p) return GW_ENOMEM;
    *req_out = &p->req;
    return GW_OK;
}

int p2p_send_init(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c, struct gw_req **req_out)
{
    return init(REQ_SEND, P2P_STANDARD, gw_data_of(buf, count, t), dst, tag, c, req_out);
}
int p2p_ssend_init(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c, struct gw_req **req_out)
{
    return init(REQ_SEND, P2P_SYNC, gw_data_of(buf, count, t), dst, tag, c, req_out);
}
int p2p_bsend_init(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c, struct gw_req **req_out)
{
    return init(REQ_SEND, P2P_BUFFERED, gw_data_of(buf, count, t), dst, tag, c, req_out);
}
int p2p_rsend_init(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c, struct gw_req **req_out)
{
    return init(REQ_SEND, P2P_READY, gw_data_of(buf, count, t), dst, tag, c, req_out);
}
int p2p_recv_init(void *buf, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c, struct gw_req **req_out)
{
    return init(REQ_RECV, P2P_STANDARD, gw_data_of(buf, count, t), src, tag, c, req_out);
}

int p2p_start(struct gw_req **r)
{
    struct gw_req *q = *r;
    if (!(q->flags & REQ_PERSISTENT))
        return gw_fail(GW_EREQUEST, "the request is not persistent: only requests made by MPI_*_init calls can be started");
    if (q->flags & REQ_ACTIVE)
        return gw_fail(GW_EREQUEST, "the persistent request is active: wait for it before starting it again");
    if (part_is(q)) return p2p_part_start(q);
    if (q->kind == REQ_COLL) {
        struct req_prepared *prepared = container_of(q, struct req_prepared, req);
        prepared->start.fn(&prepared->start, GW_OK);
        return prepared->rc;
    }
    struct persistent *p = container_of(q, struct persistent, req);
    struct gw_req *inner;
    assert(!p->inner);
    int rc = q->kind == REQ_RECV ? p2p_post_recv(&p->data, p->rank, p->tag, p->comm, &inner)
                                 : p2p_post_send(p->mode, &p->data, p->rank, p->tag, p->comm, &inner);
    if (rc < 0) return rc;
    struct gw_lane *lane = &gw_lanes[q->lane];
    assert(lane == p->comm->lane);
    gw_lock(&lane->lock);
    atomic_store_explicit(&q->done, 0, memory_order_relaxed);
    q->err = GW_OK;
    q->flags |= REQ_ACTIVE;
    p->inner = req_is_done(inner) ? NULL : inner;
    p->posted = q->kind == REQ_RECV && !(inner->flags & REQ_STATIC) ? p2p_posted_number(inner) : 0;
    p2p_chain(inner, &p->done, &q->status);
    gw_unlock(&lane->lock);
    return GW_OK;
}

uint64_t p2p_posted_number(const struct gw_req *recv)
{
    assert(recv->kind == REQ_RECV && !(recv->flags & REQ_STATIC));
    if (recv->flags & REQ_PERSISTENT) return container_of(recv, const struct persistent, req)->posted;
    const struct match_recv *m = &((const struct proto_recv *)recv)->m;
    return m->src == GW_ANY_SOURCE ? m->seq + 1 : 0;
}

int p2p_startall(int n, struct gw_req **r)
{
    for (int i = 0; i < n; i++) {
        int rc = p2p_start(&r[i]);
        if (rc != GW_OK) return rc;
    }
    return GW_OK;
}
