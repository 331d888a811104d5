/* proto_op.c -- outgoing operations: made when a send cannot complete at once, freed when no message from the receiver can refer to them.
 *
 * Request and operation are two records since they live differently long: with the sender's help a send may complete before FIN arrives, and
 * the user may have freed or reused the request by then.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"

struct proto_op *proto_op_new(struct proto_lane *pl, struct gw_peer *p)
{
    struct proto_op *op = gw_arena_take(&pl->arena, sizeof *op);
    memset(op, 0, sizeof *op);
    op->peer = p;
    return op;
}

void proto_op_release(struct proto_lane *pl, struct proto_op *op)
{
    assert(!op->req && !op->is_kept);
    if (op->name) proto_cookie_revoke(&pl->op_cookies, op->name);
    gw_arena_give(&pl->arena, op, sizeof *op);
}

uint64_t proto_op_cookie(struct proto_lane *pl, struct proto_op *op)
{
    if (!op->name) op->name = proto_cookie_give(&pl->op_cookies, op);
    return op->name;
}

void proto_op_complete_req(struct proto_op *op, int err, bool is_cancelled)
{
    struct gw_req *req = op->req;
    if (!req) return;
    assert(((struct proto_sreq *)req)->op == op && !req_is_done(req));
    op->req = NULL;
    ((struct proto_sreq *)req)->op = NULL;
    proto_type_drop(op->data.type);
    op->data.type = NULL;
    gw_status_fill(&req->status, GW_ANY_SOURCE, GW_ANY_TAG, 0, is_cancelled);
    if (is_cancelled) req->flags |= REQ_CANCELLED;
    req->err = err;
    req_complete(req);
}

void proto_op_finish(struct proto_lane *pl, struct proto_op *op, int err)
{
    assert(!op->is_over);
    gw_list_del(&op->link);
    gw_list_init(&op->link);
    op->is_over = true;
    if (op->cursor) proto_pool_give(&pl->cursors, op->cursor);
    op->cursor = NULL;
    if (unlikely(op->key)) op->peer->ep->ops->copy.conceal(op->peer->ep->wire, op->key);
    if (unlikely(op->is_kept)) proto_keep_drop(pl, op);
    bool is_last = !op->wants_cancel_ack; /* decided first: completing may run code that reuses the pool */
    proto_op_complete_req(op, err, false);
    if (is_last) proto_op_release(pl, op);
}

/* Exposes the data if the wire reads exposed memory only.  False: the wire refuses. */
static bool op_expose(struct proto_lane *pl, struct proto_op *op)
{
    if (!limits_of(pl, op->peer)->by_key || op->key) return true;
    return op->peer->ep->ops->copy.expose(op->peer->ep->wire, op->data.run, (size_t)op->data.bytes, &op->key) == GW_OK;
}

int proto_rts_send(struct proto_lane *pl, struct proto_op *op)
{
    assert(op->kind == PROTO_RTS);
    if (tag_goes(pl, op->peer, &op->hdr)) return proto_tag_send(pl, op->peer, PROTO_RTS, &op->hdr, op->payload, op->ctl_len);
    return peer_short(op->peer, PROTO_RTS, &op->hdr, op->payload, op->ctl_len);
}

/* proto_rts.key of data that is not exposed: see proto_wire.h. */
static uint64_t hint_of(const struct proto_op *op)
{
    if (!peer_is_ready(op->peer)) return 0;
    if (peer_by_net(op->peer)) return op->is_kept ? PROTO_RTS_KEPT : gw_data_is_run(&op->data);
    return !op->is_kept && op->may_be_read && node_read_by_others(op->data.run, op->data.bytes);
}

void proto_op_ask(struct proto_lane *pl, struct proto_op *op, enum proto_path path)
{
    assert(path == PROTO_R1 || (path == PROTO_R0 && gw_data_is_run(&op->data) && peer_is_ready(op->peer)));
    op->may_be_read = path == PROTO_R0 && (op->is_kept || op_expose(pl, op));
    struct proto_rts rts = {proto_op_cookie(pl, op), op->may_be_read ? (uintptr_t)op->data.run : 0, op->data.bytes,
                            op->key ? op->key : hint_of(op)};
    op->kind = PROTO_RTS;
    op->hdr.world = peer_is_ready(op->peer) ? op->peer->ep->as : 0;
    op->ctl_len = sizeof rts;
    memcpy(op->payload, &rts, sizeof rts);
}
