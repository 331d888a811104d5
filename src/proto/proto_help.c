/* proto_help.c -- R0 for large messages: sender and receiver copy pieces of one job, each on its own core.
 *
 * The receiver allocates a job in the node segment and sends HELP.  Both claim pieces until none is left: the receiver reads, the sender
 * writes.  When all bytes are copied the receiver completes and sends FIN with the job's number.  The sender frees the job then, and not
 * earlier: HELP may be unread in its ring when the receiver has copied everything alone.  A sender that finds the job complete after its own
 * piece completes without waiting for FIN.
 *
 * A copy may fail although probing succeeded: a process may revoke access, or an address be invalid.  The bytes of the claimed piece are
 * then sent as DATA: those that the sender cannot write, and those that the receiver requests (CTS, one piece at a time).  Job and send
 * complete only after that.  If the sender cannot read its data either, it sends FAULT.  A receiver with a fault claims the remaining pieces
 * and copies nothing.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"
#include "base/os.h"
#include "base/settings.h"

#include <sys/uio.h>

/* ---- the receiver --------------------------------------------------------------------------------------- */

bool proto_share_start(struct proto_lane *pl, struct proto_recv *r)
{
    struct gw_peer *p = peer_get(pl->lane, r->world);
    struct wire_caps caps;
    peer_caps(pl->lane, p, &caps);
    if (!caps.put || !caps.node || r->world == gw_boot.rank) return false;
    assert(gw_data_is_run(&r->data) && r->got == 0 && r->want > 0);
    uint64_t job = node_job_alloc();
    if (!job) return false;
    r->job = job;
    r->state = RECV_SHARED;
    r->name = proto_cookie_give(&pl->recv_cookies, r);
    node_read_by_others(r->data.run, r->want);
    struct proto_help h = {(uintptr_t)r->data.run, job, r->want};
    proto_ctl_send(pl, p, PROTO_HELP, (struct proto_ctl){r->cookie, r->name}, &h, sizeof h);
    gw_list_push(&pl->sharing, &r->work);
    proto_lane_hook(pl);
    return true;
}

static void share_over(struct proto_lane *pl, struct proto_recv *r)
{
    gw_list_del(&r->work);
    proto_cookie_revoke(&pl->recv_cookies, r->name);
    proto_ctl_send(pl, peer_get(pl->lane, r->world), PROTO_FIN, (struct proto_ctl){r->cookie, r->job}, NULL, 0);
    proto_recv_finish(r);
}

/* The piece is ours and could not be read.  True: because it cannot be written here, so it counts as copied. */
static GW_COLD bool share_failed(struct proto_lane *pl, struct proto_recv *r, int err, int64_t start, int64_t len)
{
    const void *at = err == GW_EBUFFER ? gw_memory_fault(r->data.run + start, len, true) : NULL;
    struct proto_cts cts = {start, start + len, err == GW_EPEERBUFFER, 0};
    if (at) {
        proto_recv_fault(r, err, (uintptr_t)at);
        return true;
    }
    GW_EXPLAIN(GW_LOG_PROTO, "rank %d sends a piece of a message that cannot be read there: %s", r->world, gw_fail_text());
    r->wire_busy = true;
    r->got = start + len;
    proto_ctl_send(pl, peer_get(pl->lane, r->world), PROTO_CTS, (struct proto_ctl){r->cookie, r->name}, &cts, sizeof cts);
    return false;
}

int proto_share_step(struct proto_lane *pl, struct proto_recv *r)
{
    int64_t start, len;
    assert(r->state == RECV_SHARED && r->job);
    if (unlikely(r->wire_busy)) return 0;
    if (!node_job_claim(r->job, r->want, gw_set.help_piece, &start, &len)) {
        if (!node_job_done(r->job, r->want)) return 0;
        share_over(pl, r);
        return 1;
    }
    struct gw_peer *p = peer_get(pl->lane, r->world);
    struct iovec iov = {r->data.run + start, (size_t)len};
    int rc = recv_has_fault(r) ? GW_OK : p->ep->ops->get(p->ep, &iov, 1, r->addr + (uint64_t)start, 0, NULL);
    if (unlikely(rc != GW_OK) && !share_failed(pl, r, rc, start, len)) return 1;
    node_job_add(r->job, len);
    if (node_job_done(r->job, r->want)) share_over(pl, r);
    return 1;
}

/* ---- the sender ------------------------------------------------------------------------------------------ */

/* Is a HELP valid?  The receiver may read our data, our RTS has been sent, and the job is the receiver's. */
static bool help_is_right(const struct proto_op *op, const struct proto_help *h)
{
    if (op->kind != PROTO_RTS || op->state != OP_ASKED || op->is_over || !gw_data_is_run(&op->data))
        return proto_msg_reject(PROTO_HELP, "state", op->state);
    if (!op->peer->ep->node || !node_job_is_of(h->job, op->peer->ep->place))
        return proto_msg_reject(PROTO_HELP, "job", (int64_t)h->job);
    return (h->total > 0 && h->total <= op->data.bytes) || proto_msg_reject(PROTO_HELP, "bytes", h->total);
}

void proto_help_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c, const void *payload)
{
    struct proto_op *op = proto_op_of_cookie(pl, is_far, PROTO_HELP, c->to);
    struct proto_help h;
    memcpy(&h, payload, sizeof h);
    if (!op || !help_is_right(op, &h)) return;
    op->to = c->value;
    op->addr = h.addr;
    op->job = h.job;
    op->total = h.total;
    op->pos = op->end = op->again = op->again_end = 0;
    op->state = OP_HELPING;
    proto_count(pl, op->peer, PROTO_R0, op->data.bytes); /* its request may be complete before FIN comes */
    op->may_be_read = false;
    gw_list_del(&op->link);
    gw_list_push(&pl->op_work, &op->link);
    proto_lane_hook(pl);
}

/* Only the job's receiver asks for a piece of it, one at a time, and while the send is not over: then the data are there. */
bool proto_help_may_send(const struct proto_op *op, uint64_t cookie, const struct proto_cts *cts)
{
    if (op->is_over || op->again < op->again_end || (!op->req && !op->is_kept))
        return proto_msg_reject(PROTO_CTS, "state", op->state);
    if (cookie != op->to) return proto_msg_reject(PROTO_CTS, "receive", (int64_t)cookie);
    if (cts->from < 0 || cts->from >= cts->to) return proto_msg_reject(PROTO_CTS, "first byte", cts->from);
    if (cts->to > op->total) return proto_msg_reject(PROTO_CTS, "end", cts->to);
    return !cts->key || proto_msg_reject(PROTO_CTS, "key", (int64_t)cts->key);
}

GW_COLD void proto_help_send(struct proto_lane *pl, struct proto_op *op, const struct proto_cts *cts)
{
    if (cts->addr && proto_send_fault(pl, op, cts->from, cts->to)) return;
    op->again = cts->from;
    op->again_end = cts->to;
    if (op->state == OP_HELPING) return;
    op->state = OP_HELPING;
    gw_list_del(&op->link);
    gw_list_push(&pl->op_work, &op->link);
    proto_lane_hook(pl);
}

static void help_over(struct proto_lane *pl, struct proto_op *op)
{
    assert(op->state == OP_HELPING && op->pos == op->end);
    op->state = OP_COPIED;
    gw_list_del(&op->link);
    gw_list_push(&pl->asked, &op->link);
}

/* The piece is ours and the wire did not write it. */
static GW_COLD void help_failed(struct proto_lane *pl, struct proto_op *op, int err, int64_t start, int64_t len)
{
    op->is_put_refused = true;
    if (err == GW_EBUFFER && proto_send_fault(pl, op, start, start + len)) return;
    op->pos = start;
    op->end = start + len;
}

int proto_help_step(struct proto_lane *pl, struct proto_op *op)
{
    assert(op->state == OP_HELPING);
    if (op->pos == op->end && unlikely(op->again < op->again_end)) {
        op->pos = op->again;
        op->end = op->again_end;
        op->again = op->again_end = 0;
    }
    if (op->pos < op->end) { /* a piece that one end claimed and could not copy: as data, the receiver counts it */
        int rc = proto_data_send(pl, op);
        if (rc < 0) gw_die("a message to another rank could not be sent: %s", gw_fail_text());
        return rc == GW_OK;
    }
    int64_t start, len;
    if (op->is_put_refused || !node_job_claim(op->job, op->total, gw_set.help_piece, &start, &len)) {
        help_over(pl, op);
        return 1;
    }
    struct iovec iov = {op->data.run + start, (size_t)len};
    int rc = op->peer->ep->ops->put(op->peer->ep, &iov, 1, op->addr + (uint64_t)start, 0, NULL);
    if (unlikely(rc != GW_OK)) {
        help_failed(pl, op, rc, start, len);
        return 1;
    }
    node_job_add(op->job, len);
    if (node_job_done(op->job, op->total)) {
        /* Ours was the last piece.  The receiver may have seen that already and the job may belong to others by now; but
         * then, too, everything is in place. */
        struct node_door *door = op->peer->ep->door;
        help_over(pl, op);
        proto_op_complete_req(op, op->has_fault ? GW_EBUFFER : GW_OK, false);
        node_ring_door(door);
    }
    return 1;
}

/* While pieces go out, nobody but us knows when the last one has gone. */
static bool fin_is_right(const struct proto_op *op, uint64_t job)
{
    bool has_job = op->state == OP_HELPING || op->state == OP_COPIED;
    if (op->kind != PROTO_RTS || op->is_over || (op->state != OP_ASKED && !has_job))
        return proto_msg_reject(PROTO_FIN, "state", op->state);
    return job == (has_job ? op->job : 0) || proto_msg_reject(PROTO_FIN, "job", (int64_t)job);
}

void proto_fin_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c)
{
    struct proto_op *op = proto_op_of_cookie(pl, is_far, PROTO_FIN, c->to);
    if (!op || !fin_is_right(op, c->value)) return;
    if (op->may_be_read) proto_count(pl, op->peer, PROTO_R0, op->data.bytes);
    if (c->value) node_job_free(c->value);
    proto_op_finish(pl, op, op->has_fault ? GW_EBUFFER : GW_OK);
}
