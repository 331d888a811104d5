/* proto_send.c -- sends: the fast path for messages that the wire takes at once, and operations for all others.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"
#include "base/lock.h"
#include "base/settings.h"

/* The arguments of proto_send in one piece. */
struct send_args {
    const struct proto_addr *a;
    const struct gw_data *d;
    enum proto_mode mode;
};

static struct proto_hdr header_of(const struct proto_addr *a)
{
    return (struct proto_hdr){a->ctx, a->my_rank, a->tag, a->peer->ep->as};
}

/* The operation and its request, to be sent or queued by the caller as a message of this kind.  NULL: no memory. */
static struct proto_op *op_of(struct proto_lane *pl, const struct send_args *s, enum proto_kind kind, struct gw_req **req_out)
{
    struct gw_req *req = req_new(s->a->lane, REQ_SEND);
    if (!req) return NULL;
    struct proto_op *op = proto_op_new(pl, s->a->peer);
    op->req = req;
    op->kind = (uint8_t)kind;
    op->hdr = (struct proto_hdr){s->a->ctx, s->a->my_rank, s->a->tag, 0}; /* `world` is filled in when it goes */
    op->data = *s->d;
    proto_type_hold(s->d->type);
    req->errctx = s->a->errctx;
    ((struct proto_sreq *)req)->op = op;
    *req_out = req;
    return op;
}

/* The wire's answer to a message that its receiver has to answer.  GW_AGAIN: it is queued. */
static int op_sent(struct proto_lane *pl, struct proto_op *op, int rc)
{
    if (rc == GW_OK) {
        op->state = OP_ASKED;
        gw_list_push(&pl->asked, &op->link);
    } else if (rc == GW_AGAIN) {
        proto_out_queue(pl, op);
    } else {
        gw_list_init(&op->link);
        proto_op_finish(pl, op, rc); /* the wait that retires the request reports it */
    }
    return GW_POSTED;
}

/* A rendezvous, by R0 or R1. */
static int send_rndv(struct proto_lane *pl, const struct send_args *s, enum proto_path path, bool is_blocked,
                     struct gw_req **req_out)
{
    struct proto_op *op = op_of(pl, s, PROTO_RTS, req_out);
    if (!op) return GW_ENOMEM;
    proto_op_ask(pl, op, path);
    return op_sent(pl, op, is_blocked ? GW_AGAIN : proto_rts_send(pl, op));
}

static int send_sync(struct proto_lane *pl, const struct send_args *s, bool is_blocked, struct gw_req **req_out)
{
    struct proto_op *op = op_of(pl, s, PROTO_EAGER_SYNC, req_out);
    if (!op) return GW_ENOMEM;
    op->hdr = header_of(s->a);
    uint64_t cookie = proto_op_cookie(pl, op);
    return op_sent(pl, op, is_blocked ? GW_AGAIN : proto_eager_try(pl, op->peer, PROTO_EAGER_SYNC, &op->hdr, s->d, cookie));
}

/* An eager message that has to wait in the queue of its peer. */
static int send_queued(struct proto_lane *pl, const struct send_args *s, struct gw_req **req_out)
{
    struct proto_op *op = op_of(pl, s, PROTO_EAGER, req_out);
    return op ? op_sent(pl, op, GW_AGAIN) : GW_ENOMEM;
}

/* The receiver has no room for a small message: it is queued, and where nothing is queued before it, out_try() makes it a copy that waits
 * here for its receive, and the send is over; or it waits itself. */
static GW_COLD int send_without_room(struct proto_lane *pl, const struct send_args *s, bool is_blocked, struct gw_req **req_out)
{
    int rc = send_queued(pl, s, req_out);
    if (rc == GW_POSTED && !is_blocked) proto_out_poll_one(pl, s->a->peer);
    return rc;
}

/* A peer that has not opened its side yet: what can be sent to it is not known, so the message is queued as a question. */
static GW_COLD int send_unready(struct proto_lane *pl, const struct send_args *s, struct gw_req **req_out)
{
    if (unlikely(gw_checking)) proto_note_send(pl, s->a, s->d->count, s->d->type);
    return send_rndv(pl, s, PROTO_R1, true, req_out);
}

static GW_NOINLINE int send_slow(const struct send_args *s, struct gw_req **req_out)
{
    struct proto_lane *pl = lane_of(s->a->lane);
    struct gw_peer *p = s->a->peer;
    if (unlikely(gw_checking)) proto_note_send(pl, s->a, s->d->count, s->d->type);
    if (peer_by_net(p)) proto_far_poll(pl, p);
    bool is_blocked = pl->n_outs && proto_out_find(pl, p);
    bool is_xoff = peer_is_xoff(p);
    if (s->mode != PROTO_SYNC && unlikely(proto_lacks_room(pl, p, s->d->bytes, is_xoff)))
        return send_without_room(pl, s, is_blocked, req_out);
    enum proto_path path = proto_select(pl, p, s->d->bytes, gw_data_is_run(s->d), s->mode, is_xoff);
    if (path > PROTO_E1) return send_rndv(pl, s, path, is_blocked, req_out);
    proto_count(pl, p, path, s->d->bytes);
    if (s->mode == PROTO_SYNC) return send_sync(pl, s, is_blocked, req_out);
    bool waits = peer_by_net(p) && proto_far_coalesces(pl, p, s->d->bytes, s->mode);
    if (!is_blocked && !waits) {
        struct proto_hdr h = header_of(s->a);
        int rc = proto_eager_try(pl, p, PROTO_EAGER, &h, s->d, 0);
        if (rc == GW_OK) *req_out = &gw_req_sent;
        if (rc != GW_AGAIN) return rc;
    }
    int rc = send_queued(pl, s, req_out);
    if (waits && limits_of(pl, p)->burst.queued >= gw_set.net_together) proto_out_poll(pl);
    return rc;
}

/* What send_slow() comes to for one run of bytes that may go at once and that nothing stands in the way of.  GW_AGAIN: something does.
 * The look at a network comes after the message, which would wait for it. */
static inline int send_at_once(struct proto_lane *pl, const struct proto_addr *a, const char *ptr, int64_t len)
{
    struct gw_peer *p = a->peer;
    if (unlikely(pl->n_outs) || unlikely(peer_is_xoff(p))) return GW_AGAIN;
    struct proto_hdr h = header_of(a);
    int rc = peer_short(p, PROTO_EAGER, &h, ptr, (size_t)len);
    if (unlikely(rc != GW_OK)) return rc;
    proto_count(pl, p, len > limits_of(pl, p)->inline_max ? PROTO_E1 : PROTO_E0, len);
    if (peer_by_net(p)) proto_far_poll(pl, p);
    return GW_OK;
}

bool proto_send_far(const struct proto_addr *a, const void *buf, int64_t count, struct gw_type *t)
{
    struct proto_lane *pl = lane_of(a->lane);
    struct gw_data d = gw_data_host(buf, count, t);
    if (!gw_data_is_run(&d) || !peer_is_ready(a->peer) || !peer_by_net(a->peer) || d.bytes > limits_of(pl, a->peer)->fast_max)
        return false;
    return send_at_once(pl, a, d.run, d.bytes) == GW_OK;
}

int proto_send(const struct proto_addr *a, const struct gw_data *d, enum proto_mode mode, struct gw_req **req_out)
{
    struct proto_lane *pl = lane_of(a->lane);
    struct gw_peer *p = a->peer;
    int rc = peer_is_ready(p) ? GW_OK : peer_connect(a->lane, p);
    if (unlikely(rc < 0)) return rc;
    if (likely(gw_data_is_run(d)) && likely(rc == GW_OK)) {
        const struct proto_limits *l = limits_of(pl, p);
        int sent =
            likely(d->bytes <= l->fast_max) && likely(mode <= l->fast_mode) ? send_at_once(pl, a, d->run, d->bytes) : GW_AGAIN;
        if (likely(sent == GW_OK)) *req_out = &gw_req_sent;
        if (likely(sent != GW_AGAIN)) return sent;
    }
    struct send_args s = {a, d, mode};
    return likely(rc == GW_OK) ? send_slow(&s, req_out) : send_unready(pl, &s, req_out);
}

int proto_send_try(const struct proto_addr *a, const struct gw_data *d)
{
    struct proto_lane *pl = lane_of(a->lane);
    struct gw_peer *p = a->peer;
    if (!peer_is_ready(p) || (pl->n_outs && proto_out_find(pl, p))) return GW_AGAIN;
    enum proto_path path = proto_select(pl, p, d->bytes, gw_data_is_run(d), PROTO_STANDARD, peer_is_xoff(p));
    if (path > PROTO_E1) return GW_AGAIN;
    if (unlikely(gw_checking)) proto_note_send(pl, a, d->count, d->type);
    struct proto_hdr h = header_of(a);
    int rc = proto_eager_try(pl, p, PROTO_EAGER, &h, d, 0);
    if (rc == GW_OK) proto_count(pl, p, path, d->bytes);
    return rc;
}
