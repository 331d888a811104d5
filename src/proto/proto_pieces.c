/* proto_pieces.c -- R1: the data is sent in pieces through the wire's buffers, and packed and unpacked on the way.
 *
 * The receiver requests a range of bytes (CTS).  The sender fills the ring as far as there is room, and continues in later rounds of
 * progress while the receiver empties it, so that both cores copy at the same time.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"
#include "base/copy.h"
#include "base/os.h"
#include "base/settings.h"
#include "base/time.h"

enum { PIECES_A_STEP = 8 }; /* pieces of one transfer in a round of progress */

void proto_pieces_ask(struct proto_lane *pl, struct proto_recv *r, bool is_doubtful)
{
    assert(r->got < r->want && r->want <= r->data.bytes && r->cookie);
    struct proto_cts cts = {r->got, r->want, is_doubtful, 0};
    r->state = RECV_TAKING;
    r->name = proto_cookie_give(&pl->recv_cookies, r);
    if (unlikely(peer_is_far(pl->lane, r->world)))
        proto_far_offer(pl, r, &cts);
    else
        proto_adaptive_pieces_begin(pl);
    proto_ctl_send(pl, peer_get(pl->lane, r->world), PROTO_CTS, (struct proto_ctl){r->cookie, r->name}, &cts, sizeof cts);
}

static bool cts_is_right(const struct proto_lane *pl, const struct proto_op *op, const struct proto_cts *cts)
{
    if (op->kind != PROTO_RTS || op->state != OP_ASKED || op->is_over) return proto_msg_reject(PROTO_CTS, "state", op->state);
    if (cts->from < 0 || cts->from >= cts->to) return proto_msg_reject(PROTO_CTS, "first byte", cts->from);
    if (cts->to > op->data.bytes) return proto_msg_reject(PROTO_CTS, "end", cts->to);
    return !cts->key || !gw_data_is_run(&op->data) || proto_put_may_start(pl, op, cts) ||
        proto_msg_reject(PROTO_CTS, "key", (int64_t)cts->key);
}

void proto_cts_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c, const void *payload)
{
    struct proto_op *op = proto_op_of_cookie(pl, is_far, PROTO_CTS, c->to);
    struct proto_cts cts;
    memcpy(&cts, payload, sizeof cts);
    if (!op) return;
    if (op->state == OP_HELPING || op->state == OP_COPIED) {
        if (proto_help_may_send(op, c->value, &cts)) proto_help_send(pl, op, &cts);
        return;
    }
    if (!cts_is_right(pl, op, &cts)) return;
    op->to = c->value;
    if (unlikely(cts.addr) && !is_far && gw_data_is_run(&op->data) && proto_send_fault(pl, op, cts.from, cts.to)) {
        proto_op_finish(pl, op, GW_EBUFFER);
        return;
    }
    op->pos = cts.from;
    op->end = cts.to;
    op->state = OP_PIECES;
    if (cts.key && gw_data_is_run(&op->data)) proto_put_start(op, &cts);
    bool is_buffered =
        peer_by_net(op->peer) && gw_set.net_rendezvous == GW_SET_NET_RENDEZVOUS_DISABLED; /* the documents count that as E1 */
    proto_count(pl, op->peer, is_buffered ? PROTO_E1 : PROTO_R1, op->data.bytes);
    gw_list_del(&op->link);
    gw_list_push(&pl->op_work, &op->link);
    if (!gw_data_is_run(&op->data)) {
        op->cursor = proto_pool_take(&pl->cursors);
        type_cursor_init(op->cursor, op->data);
        type_cursor_seek(op->cursor, op->pos);
    }
    proto_op_step(pl, op);
    if (!gw_list_empty(&pl->op_work)) proto_lane_hook(pl);
}

int proto_data_send(struct proto_lane *pl, struct proto_op *op)
{
    struct gw_peer *p = op->peer;
    assert(op->pos >= 0 && op->pos < op->end && op->end <= op->data.bytes);
    bool is_near = !peer_by_net(p);
    int64_t most = (int64_t)limits_of(pl, p)->pack_max, piece = is_near ? gw_min64(gw_set.wire_piece, most) : most;
    int64_t n = gw_min64(op->end - op->pos, piece);
    struct proto_ctl ctl = {op->to, (uint64_t)op->pos};
    uint64_t since = gw_ticks();
    int rc = gw_data_is_run(&op->data) ? p->ep->ops->send_short(p->ep, PROTO_DATA, &ctl, op->data.run + op->pos, (size_t)n)
                                       : p->ep->ops->send_pack(p->ep, PROTO_DATA, &ctl, op->cursor, (size_t)n);
    if (rc != GW_OK) return rc;
    op->pos += n;
    if (gw_data_is_run(&op->data) && is_near) proto_adaptive_copied(pl, TIMING_IN, p, op->end, n, gw_ticks() - since);
    return GW_OK;
}

static int pieces_step(struct proto_lane *pl, struct proto_op *op)
{
    int n = 0;
    while (op->pos < op->end && n < PIECES_A_STEP) {
        int rc = proto_data_send(pl, op);
        if (rc < 0) gw_die("a message to another rank could not be sent: %s", gw_fail_text());
        if (rc == GW_AGAIN) return n;
        n++;
    }
    if (op->pos == op->end) proto_op_finish(pl, op, GW_OK);
    return n;
}

int proto_op_step(struct proto_lane *pl, struct proto_op *op)
{
    return op->state == OP_PUTTING ? proto_put_step(pl, op)
        : op->state == OP_PIECES   ? pieces_step(pl, op)
                                   : proto_help_step(pl, op);
}

/* Pieces arrive in order, except those of a job (SHARED).  None arrive if the wire writes the data by itself. */
static bool data_is_right(const struct proto_recv *r, int64_t at, int64_t n)
{
    if (r->state != RECV_SHARED && (r->state != RECV_TAKING || r->wire_busy))
        return proto_msg_reject(PROTO_DATA, "state", r->state);
    if (at < 0 || at > r->want || (r->state == RECV_TAKING && at != r->got)) return proto_msg_reject(PROTO_DATA, "offset", at);
    return n <= r->want - at || proto_msg_reject(PROTO_DATA, "length", n);
}

void proto_data_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c, const void *payload, size_t len)
{
    if (unlikely(c->to & COOKIE_OF_MSG)) {
        proto_ahead_data_arrived(pl, is_far, c, payload, len);
        return;
    }
    struct proto_recv *r = proto_recv_of_cookie(pl, is_far, PROTO_DATA, c->to);
    int64_t at = (int64_t)c->value, n = (int64_t)len;
    if (!r || !data_is_right(r, at, n)) return;
    if (r->state == RECV_SHARED) { /* a piece that the sender could not write, or this process not read */
        const void *fault =
            recv_has_fault(r) ? NULL : gw_memory_fault(r->data.run + at, n, true); /* it could not be written: for this? */
        if (fault) proto_recv_fault(r, GW_EBUFFER, (uintptr_t)fault);
        if (!recv_has_fault(r)) gw_copy(r->data.run + at, payload, len);
        node_job_add(r->job, n);
        if (r->wire_busy && at + n == r->got) r->wire_busy = false;
        return;
    }
    bool is_near = !peer_is_far(pl->lane, r->world);
    uint64_t since = gw_ticks();
    if (gw_data_is_run(&r->data))
        gw_copy(r->data.run + at, payload, len);
    else
        type_cursor_unpack(r->cursor, payload, n);
    if (gw_data_is_run(&r->data) && is_near)
        proto_adaptive_copied(pl, TIMING_OUT, peer_get(pl->lane, r->world), r->want, n, gw_ticks() - since);
    r->got += n;
    if (r->got == r->want) proto_pieces_over(pl, r);
}

void proto_pieces_over(struct proto_lane *pl, struct proto_recv *r)
{
    assert(r->state == RECV_TAKING);
    proto_cookie_revoke(&pl->recv_cookies, r->name);
    if (!peer_is_far(pl->lane, r->world))
        proto_adaptive_pieces_end(pl, r);
    else
        proto_far_close(pl, r);
    if (r->cursor) proto_pool_give(&pl->cursors, r->cursor);
    r->cursor = NULL;
    proto_recv_finish(r);
}
