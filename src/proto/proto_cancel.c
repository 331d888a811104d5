/* proto_cancel.c -- cancelling: receives that are posted, sends that are queued, sends whose RTS or EAGER_SYNC is unmatched (CANCEL).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"

void proto_recv_cancelled(struct proto_recv *r)
{
    proto_type_drop(r->data.type);
    gw_status_fill(&r->req.status, GW_ANY_SOURCE, GW_ANY_TAG, 0, true);
    r->req.flags |= REQ_CANCELLED;
    req_complete(&r->req);
}

static void recv_cancel(struct proto_lane *pl, struct proto_recv *r)
{
    if (r->state == RECV_AT_WIRE) proto_tag_recv_cancel(pl, r);
    if (r->state != RECV_POSTED) return;
    match_remove_recv(pl->fast.q, &r->m);
    proto_recv_cancelled(r);
}

/* Completes the request as cancelled; frees the operation unless CANCEL_ACK is to come. */
static void op_cancelled(struct proto_lane *pl, struct proto_op *op)
{
    proto_op_complete_req(op, GW_OK, true);
    proto_op_finish(pl, op, GW_OK);
}

static void cancel_ask(struct proto_lane *pl, struct proto_op *op)
{
    op->wants_cancel_ack = true;
    proto_ctl_send(pl, op->peer, PROTO_CANCEL, (struct proto_ctl){op->name, (uint64_t)op->peer->ep->as}, NULL, 0);
}

static void send_cancel(struct proto_lane *pl, struct proto_op *op)
{
    if (!op || op->is_over) return;
    if (op->state == OP_QUEUED) {
        proto_out_remove(pl, op);
        gw_list_init(&op->link);
        op_cancelled(pl, op);
        return;
    }
    if (op->state != OP_ASKED || op->wants_cancel_ack) return;
    cancel_ask(pl, op);
}

void proto_cancel(struct gw_req *req)
{
    if (req_is_done(req) || req->flags & REQ_STATIC) {
        if (req->kind != REQ_RECV || req_is_done(req)) return; /* a receive in the caller's storage may be cancelled */
    }
    struct proto_lane *pl = lane_of(&gw_lanes[req->lane]);
    if (req->kind == REQ_RECV)
        recv_cancel(pl, (struct proto_recv *)req);
    else if (req->kind == REQ_SEND)
        send_cancel(pl, ((struct proto_sreq *)req)->op);
}

void proto_absorb(const struct gw_req *req)
{
    if (req_is_done(req) || req->kind != REQ_RECV || ((const struct proto_recv *)req)->state != RECV_POSTED) return;
    const struct match_recv *m = &((const struct proto_recv *)req)->m;
    struct gw_lane *lane = &gw_lanes[req->lane];
    struct proto_recv *r = (struct proto_recv *)req_new(lane, REQ_RECV);
    if (!r) return; /* then it is not received */
    r->m.ctx = m->ctx;
    r->m.src = m->src;
    r->m.tag = m->tag;
    proto_recv_set(r, gw_data_plain(NULL, 0, gw_type_byte));
    r->req.flags |= REQ_FREED;
    proto_recv_offer(lane_of(lane), r);
}

/* At the receiver: the message is among the unexpected ones, or it has been matched. */
void proto_cancel_arrived(struct proto_lane *pl, const struct proto_ctl *c)
{
    int world = (int)c->value;
    struct match_msg *m = match_first_msg(pl->fast.q, UINT32_MAX);
    for (; m; m = match_next_msg(pl->fast.q, m, UINT32_MAX)) {
        struct proto_msg *msg = container_of(m, struct proto_msg, m);
        if (msg->kind == PROTO_EAGER || msg->ahead || proto_msg_cookie(msg) != c->to || msg->world != world) continue;
        match_remove_msg(pl->fast.q, m);
        proto_msg_drop(pl, msg);
        break;
    }
    if (!m && pl->tags.state == TAGS_NET) proto_tags_cancel_arrived(pl);
    proto_ctl_send(pl, peer_get(pl->lane, world), PROTO_CANCEL_ACK, (struct proto_ctl){c->to, m != NULL}, NULL, 0);
}

void proto_cancel_ack_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c)
{
    struct proto_op *op = proto_op_of_cookie(pl, is_far, PROTO_CANCEL_ACK, c->to);
    if (!op) return;
    bool is_right = op->wants_cancel_ack && (!c->value || (c->value == 1 && !op->is_over && op->state == OP_ASKED));
    if (!is_right) {
        proto_msg_reject(PROTO_CANCEL_ACK, "state", op->state);
        return;
    }
    op->wants_cancel_ack = false;
    if (op->is_over)
        proto_op_release(pl, op);
    else if (c->value)
        op_cancelled(pl, op);
    else if (op->state == OP_ASKED && tag_goes(pl, op->peer, &op->hdr))
        cancel_ask(pl, op); /* it may lie in the other end's wire still: until it is found, or was matched */
}
