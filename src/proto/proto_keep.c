/* proto_keep.c -- small messages to a receiver that is xoff: the sender keeps a copy, so that the send completes at once.
 *
 * The message is sent as an RTS for the copy, which the receiver fetches as usual: on a node by reading it, without waiting for the sender to
 * call MPI.  When the sender's room is used up, sends wait for their receives.
 *
 * A process does not finalize before its copies are fetched.  A receiver that finalizes sends LEFT for messages that it has not received: a
 * program may end with such messages.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"

static int64_t cost_of(int64_t len)
{
    return (int64_t)gw_align_up(sizeof(struct proto_op), GW_ARENA_UNIT) + (int64_t)gw_align_up((size_t)len, GW_ARENA_UNIT);
}

bool proto_keep_op(struct proto_lane *pl, struct proto_op *op)
{
    assert(op->kind == PROTO_EAGER && op->data.type && !op->is_kept && op->data.bytes <= MSG_DATA_MAX);
    if (pl->kept_bytes + cost_of(op->data.bytes) > pl->room) proto_flow_room(pl);
    if (pl->kept_bytes + cost_of(op->data.bytes) > pl->room) return false;
    char *copy = gw_arena_take(&pl->arena, (size_t)op->data.bytes);
    type_pack(op->data.buf, op->data.count, op->data.type, copy);
    proto_type_drop(op->data.type);
    op->data = gw_data_plain(copy, op->data.bytes, gw_type_byte);
    assert(!op->is_kept && op->state == OP_QUEUED);
    op->is_kept = true;
    pl->n_kept++;
    pl->kept_bytes += cost_of(op->data.bytes);
    gw_counted(&gw_count.sends_kept, 1);
    proto_op_ask(pl, op, !peer_by_net(op->peer) && peer_may_read(pl, op->peer) ? PROTO_R0 : PROTO_R1);
    return true;
}

void proto_keep_drop(struct proto_lane *pl, struct proto_op *op)
{
    assert(pl->n_kept > 0);
    pl->n_kept--;
    pl->kept_bytes -= cost_of(op->data.bytes);
    gw_arena_give(&pl->arena, op->data.run, (size_t)op->data.bytes);
    op->is_kept = false;
    op->data.run = NULL;
}

/* ---- leaving --------------------------------------------------------------------------------------------- */
void proto_keep_left_send(struct proto_lane *pl, int world, uint64_t cookie)
{
    proto_ctl_send(pl, peer_get(pl->lane, world), PROTO_LEFT, (struct proto_ctl){cookie, 0}, NULL, 0);
}

void proto_keep_left_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c)
{
    struct proto_op *op = proto_op_of_cookie(pl, is_far, PROTO_LEFT, c->to);
    if (!op) return;
    if (op->kind != PROTO_RTS || op->state != OP_ASKED || op->is_over)
        proto_msg_reject(PROTO_LEFT, "state", op->state);
    else if (op->is_kept) /* a send without a copy goes on waiting: that is an error of the program, which the hang report shows */
        proto_op_finish(pl, op, GW_OK);
}

void proto_leave(struct gw_lane *lane, bool on)
{
    struct proto_lane *pl = lane_of(lane);
    pl->is_leaving = on;
    if (!on) return;
    for (struct match_msg *m = match_first_msg(pl->fast.q, UINT32_MAX), *next; m; m = next) {
        struct proto_msg *msg = container_of(m, struct proto_msg, m);
        next = match_next_msg(pl->fast.q, m, UINT32_MAX);
        if (msg->kind != PROTO_RTS) continue;
        match_remove_msg(pl->fast.q, m);
        if (proto_ahead_leave(pl, msg)) continue;
        proto_keep_left_send(pl, msg->world, proto_msg_cookie(msg));
        proto_msg_drop(pl, msg);
    }
}
