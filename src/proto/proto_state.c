/* proto_state.c -- are the operations of a lane where their states have them?  For tests, asserts, and for a debugger's call.
 *
 *   QUEUED                      in the queue of their peer, which is there only while it is not empty
 *   ASKED, COPIED               in `asked`: only a message from the receiver moves them
 *   PIECES, PUTTING, HELPING    in `op_work`: progress moves them, so the lane is hooked
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"

enum { MOST = 32 }; /* operations of a list that are looked at, so that the cost does not grow with what waits */

static const char *op_broken(const struct proto_lane *pl, const struct proto_op *op)
{
    if (op->is_over) return "an operation in a list is not over";
    if (op->name && proto_cookie_find(&pl->op_cookies, op->name) != op) return "a cookie finds the operation that has it";
    if (op->req && ((const struct proto_sreq *)op->req)->op != op) return "a request and its operation know each other";
    if (op->is_kept && (!gw_data_is_run(&op->data) || (op->data.type && op->data.type != gw_type_byte)))
        return "a kept message is a run of bytes";
    if (!op->data.type && op->req) return "a control message has no request";
    return NULL;
}

static const char *outs_broken(const struct proto_lane *pl)
{
    int n = 0;
    for (const struct gw_list *l = pl->outs.next; l != &pl->outs; l = l->next, n++) {
        const struct proto_out *o = container_of(l, struct proto_out, link);
        if (proto_out_find((struct proto_lane *)(uintptr_t)pl, o->peer) != o) return "a peer has one queue";
        if (gw_list_empty(&o->ops) && !pl->is_sending_outs) return "a queue is there while it is not empty";
        int seen = 0;
        for (const struct gw_list *i = o->ops.next; i != &o->ops && seen < MOST; i = i->next, seen++) {
            const struct proto_op *op = container_of(i, struct proto_op, link);
            if (op->state != OP_QUEUED || op->peer != o->peer) return "a queue has the QUEUED operations of its peer";
            const char *what = op_broken(pl, op);
            if (what) return what;
        }
    }
    if (n != pl->n_outs) return "the number of queues";
    return n && pl->lane->inline_end ? "nothing overtakes what is queued" : NULL;
}

static const char *ops_broken(const struct proto_lane *pl, const struct gw_list *ops, bool is_work)
{
    int seen = 0;
    for (const struct gw_list *l = ops->next; l != ops && seen < MOST; l = l->next, seen++) {
        const struct proto_op *op = container_of(l, struct proto_op, link);
        bool works = op->state == OP_PIECES || op->state == OP_PUTTING || op->state == OP_HELPING;
        if (op->state == OP_QUEUED || works != is_work) return "an operation is in the list of its state";
        if (works && (op->pos < 0 || op->end > op->data.bytes)) return "what goes now is a part of the message";
        const char *what = op_broken(pl, op);
        if (what) return what;
    }
    return NULL;
}

const char *proto_broken(const struct proto_lane *pl)
{
    const char *what = outs_broken(pl);
    if (!what) what = ops_broken(pl, &pl->asked, false);
    if (!what) what = ops_broken(pl, &pl->op_work, true);
    if (what) return what;
    if (pl->unexpected_bytes < 0 || pl->n_kept < 0 || pl->n_ahead < 0 || pl->n_taking < 0)
        return "nothing is counted down that was not counted";
    if (pl->ahead_bytes < 0 || (pl->n_ahead && !pl->ahead_bytes)) return "what is fetched early is counted with its bytes";
    if (!pl->n_kept != !pl->kept_bytes) return "kept messages are counted with their bytes";
    bool works = pl->n_outs || !gw_list_empty(&pl->op_work) || !gw_list_empty(&pl->sharing) || !gw_list_empty(&pl->getting);
    return works && !pl->is_hooked ? "a lane with work is polled" : NULL;
}
