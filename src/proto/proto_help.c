/* proto_help.c -- R0 for large messages: sender and receiver copy pieces of one job, each on its own core.
 *
 * The receiver takes a job in the node segment and tells the sender (HELP).  Both claim pieces until none is left: the
 * receiver reads, the sender writes.  When all bytes are in place the receiver completes and says FIN with the job in it;
 * the sender frees the job then, not earlier, because HELP may still lie unread in its ring while the receiver has
 * done everything alone.  A sender that sees the job done after its own piece completes without waiting for FIN.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"

/* ---- the receiver --------------------------------------------------------------------------------------- */

bool share_start(struct proto_lane *pl, struct proto_recv *r)
{
    struct gw_peer *p = peer_get(pl->lane, r->world);
    struct wire_caps caps;
    peer_caps(pl->lane, p, &caps);
    if (!caps.put || !caps.node || r->world == gw_boot.rank) return false;
    uint64_t job = node_job_alloc();
    if (!job) return false;
    r->job = job;
    r->state = RECV_SHARED;
    r->name = name_give(&pl->recv_names, r);
    shm_read_by_others(r->ptr, r->want);
    struct proto_help h = {(uintptr_t)r->ptr, job, r->want};
    ctl_send(pl, p, PROTO_HELP, (struct proto_ctl){r->cookie, r->name}, &h, sizeof h);
    gw_list_push(&pl->sharing, &r->work);
    lane_hook(pl);
    return true;
}

static void share_over(struct proto_lane *pl, struct proto_recv *r)
{
    gw_list_del(&r->work);
    name_take_back(&pl->recv_names, r->name);
    ctl_send(pl, peer_get(pl->lane, r->world), PROTO_FIN, (struct proto_ctl){r->cookie, r->job}, NULL, 0);
    recv_finish(r);
}

/* Reading failed although it was probed: the piece is ours, so it has to come in some other way. */
static GW_COLD void share_broken(const struct proto_recv *r)
{
    gw_die("rank %d's memory could not be read: %s (GODWIT_CMA=off avoids this way)", r->world, gw_fail_text());
}

int share_step(struct proto_lane *pl, struct proto_recv *r)
{
    int64_t start, len;
    if (!node_job_claim(r->job, r->want, gw_set.help_piece, &start, &len)) {
        if (!node_job_done(r->job, r->want)) return 0;
        share_over(pl, r);
        return 1;
    }
    struct gw_peer *p = peer_get(pl->lane, r->world);
    struct iovec iov = {r->ptr + start, (size_t)len};
    if (p->ops->get(p->ep, &iov, 1, r->addr + (uint64_t)start, 0, NULL) != GW_OK) share_broken(r);
    node_job_add(r->job, len);
    if (node_job_done(r->job, r->want)) share_over(pl, r);
    return 1;
}

/* ---- the sender ------------------------------------------------------------------------------------------ */

/* Only who may read our data asks for help, after our RTS, and with a job of its own. */
static bool help_is_right(const struct proto_op *op, const struct proto_help *h)
{
    if (op->kind != PROTO_RTS || op->state != OP_ASKED || !op->ptr || op->peer->ops != peer_wire) return msg_refuse(PROTO_HELP, "state", op->state);
    if (op->peer->ep->other || !node_job_is_of(h->job, op->peer->ep->local_rank)) return msg_refuse(PROTO_HELP, "job", (int64_t)h->job);
    return (h->total > 0 && h->total <= op->len) || msg_refuse(PROTO_HELP, "bytes", h->total);
}

void help_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c, const void *payload)
{
    struct proto_op *op = op_named(pl, is_far, PROTO_HELP, c->to);
    struct proto_help h;
    memcpy(&h, payload, sizeof h);
    if (!op || !help_is_right(op, &h)) return;
    op->to = c->value;
    op->addr = h.addr;
    op->job = h.job;
    op->total = h.total;
    op->pos = op->end = 0;
    op->state = OP_HELPING;
    proto_count(pl, op->peer, PROTO_R0, op->len); /* its request may be complete before FIN comes */
    op->may_be_read = false;
    gw_list_del(&op->link);
    gw_list_push(&pl->op_work, &op->link);
    lane_hook(pl);
}

static void help_over(struct proto_lane *pl, struct proto_op *op)
{
    op->state = OP_COPIED;
    gw_list_del(&op->link);
    gw_list_push(&pl->asked, &op->link);
}

int help_step(struct proto_lane *pl, struct proto_op *op)
{
    assert(op->state == OP_HELPING);
    if (op->pos < op->end) { /* a claimed piece that the wire could not write: as data, the receiver counts it */
        int rc = data_send(pl, op);
        if (rc < 0) gw_die("a message to another rank could not be sent: %s", gw_fail_text());
        return rc == GW_OK;
    }
    int64_t start, len;
    if (op->is_put_refused || !node_job_claim(op->job, op->total, gw_set.help_piece, &start, &len)) {
        help_over(pl, op);
        return 1;
    }
    struct iovec iov = {(char *)(uintptr_t)op->ptr + start, (size_t)len};
    if (op->peer->ops->put(op->peer->ep, &iov, 1, op->addr + (uint64_t)start, 0, NULL) != GW_OK) {
        op->is_put_refused = true;
        op->pos = start;
        op->end = start + len;
        return 1;
    }
    node_job_add(op->job, len);
    if (node_job_done(op->job, op->total)) {
        /* Ours was the last piece.  The receiver may have seen that already and the job may belong to others by now; but
         * then, too, everything is in place. */
        struct node_door *door = op->peer->ep->door;
        help_over(pl, op);
        op_complete_req(op, GW_OK, false);
        node_ring_door(door);
    }
    return 1;
}

/* While pieces go out, nobody but us knows when the last one has gone. */
static bool fin_is_right(const struct proto_op *op, uint64_t job)
{
    bool has_job = op->state == OP_HELPING || op->state == OP_COPIED;
    if (op->kind != PROTO_RTS || op->is_over || (op->state != OP_ASKED && !has_job)) return msg_refuse(PROTO_FIN, "state", op->state);
    return job == (has_job ? op->job : 0) || msg_refuse(PROTO_FIN, "job", (int64_t)job);
}

void fin_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c)
{
    struct proto_op *op = op_named(pl, is_far, PROTO_FIN, c->to);
    if (!op || !fin_is_right(op, c->value)) return;
    if (op->may_be_read) proto_count(pl, op->peer, PROTO_R0, op->len);
    if (c->value) node_job_free(c->value);
    op_finish(pl, op, GW_OK);
}
