/* proto_fault.c -- user buffers that cannot be accessed, found when the kernel copies (CMA).
 *
 * Such a copy fails without telling on which side.  So each rank checks its own memory: the receiver whether its buffer can be written, and
 * the sender, when it is asked for what could not be read, whether its data can be read.  The owner's call returns MPI_ERR_BUFFER.  On the
 * other side a receive fails and names the owner, and a send completes.  Copies by the processor are not checked: they end in SIGSEGV.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"
#include "base/os.h"

/* ---- the receiver --------------------------------------------------------------------------------------- */

/* Made when its wait or test asks, as that of a truncation. */
static void recv_explain(struct gw_done *done, int err)
{
    struct proto_recv *r = container_of(done, struct proto_recv, done);
    void *at = (void *)(uintptr_t)r->addr, *buf = gw_data_is_run(&r->data) ? r->data.run : r->data.buf;
    if (err == GW_EBUFFER)
        gw_fail(err,
                "the receive buffer at %p cannot be written at %p: the message of %lld bytes from rank %d, tag %d has no place",
                buf, at, (long long)r->len, r->req.status.source, r->req.status.tag);
    else
        gw_fail(
            err,
            "the message of %lld bytes from rank %d, tag %d did not come: its send buffer cannot be read at %p of rank %d of the job",
            (long long)r->len, r->req.status.source, r->req.status.tag, at, r->world);
}

void proto_recv_fault(struct proto_recv *r, int err, uint64_t at)
{
    r->req.err = err;
    r->addr = at;
    r->done.fn = recv_explain;
    r->req.final = &r->done;
    r->req.flags |= REQ_FINALIZE;
}

static bool fault_is_right(const struct proto_recv *r, bool is_far, const struct proto_fault *f)
{
    bool is_piece = f->from >= 0 && f->from < f->to && f->to <= r->want;
    if (is_far || (r->state != RECV_SHARED && r->state != RECV_TAKING)) return proto_msg_reject(PROTO_FAULT, "state", r->state);
    return (is_piece && (r->state == RECV_SHARED || (f->from == r->got && f->to == r->want))) ||
        proto_msg_reject(PROTO_FAULT, "first byte", f->from);
}

void proto_fault_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c, const void *payload)
{
    struct proto_recv *r = proto_recv_of_cookie(pl, is_far, PROTO_FAULT, c->to);
    struct proto_fault f;
    memcpy(&f, payload, sizeof f);
    if (!r || !fault_is_right(r, is_far, &f)) return;
    if (!recv_has_fault(r)) proto_recv_fault(r, GW_EPEERBUFFER, f.at);
    if (r->state == RECV_TAKING) {
        proto_pieces_over(pl, r);
        return;
    }
    node_job_add(r->job, f.to - f.from); /* proto_share_step() sees that all are there */
    if (r->wire_busy && f.to == r->got) r->wire_busy = false;
}

/* ---- the sender ------------------------------------------------------------------------------------------ */
static void send_explain(struct gw_done *done, int err)
{
    struct proto_sreq *s = container_of(done, struct proto_sreq, done);
    gw_fail(err, "the send buffer of %lld bytes at %p cannot be read at %p", (long long)s->len, s->buf, s->fault);
}

bool proto_send_fault(struct proto_lane *pl, struct proto_op *op, int64_t from, int64_t to)
{
    const void *at = gw_memory_fault(op->data.run + from, to - from, false);
    struct proto_sreq *s = (struct proto_sreq *)op->req;
    struct proto_fault f = {(uintptr_t)at, from, to};
    bool is_first = !op->has_fault;
    if (!at) return false;
    op->has_fault = true;
    proto_ctl_send(pl, op->peer, PROTO_FAULT, (struct proto_ctl){op->to, 0}, &f, sizeof f);
    if (!s || !is_first) return true; /* nobody waits for it any more; the first one counts */
    s->buf = op->data.run;
    s->fault = at;
    s->len = op->data.bytes;
    s->done.fn = send_explain;
    s->req.final = &s->done;
    s->req.flags |= REQ_FINALIZE;
    return true;
}
