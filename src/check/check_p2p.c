/* check_p2p.c -- the point-to-point calls: what their buffers are.
 *
 * Blocking ones must not lie over buffers in use.  Those behind a request are in use until it is over; those of a persistent one from each
 * start (check_use_start()).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

static struct check_span span_of(const void *buf, int64_t count, struct gw_type *t, int rank, bool is_written)
{
    return check_span(buf, rank == GW_PROC_NULL ? 0 : count, t, is_written);
}

/* The spans are noted: do they lie over others? */
static void look(struct check_run *r)
{
    if (r->form == CHECK_PREPARES) return;
    check_use_look(r->spans, r->n_spans);
    for (int k = 0; k < r->n_spans && r->form == CHECK_STARTS; k++) check_span_sum(&r->spans[k]);
}

static int tracked(struct check_run *r, int rc)
{
    if (r->form == CHECK_BLOCKS) return rc;
    if (rc == GW_OK)
        check_use_track(r->a.request, r->spans, r->n_spans, r->about);
    else
        check_run_drop(r);
    return rc;
}

/* ---- sends: what is started to nobody stays the shared request ---- */
static void send_uses(struct check_run *r)
{
    check_run_use(r, &r->a.buf, span_of(r->a.buf, r->a.count, r->a.datatype, r->a.dest, false));
}
static int send_before(struct check_run *r)
{
    r->about = (struct check_about){r->a.comm, r->a.dest, r->a.tag, 0};
    look(r);
    return GW_OK;
}
static int send_after(struct check_run *r, int rc)
{
    return r->form == CHECK_STARTS && r->a.dest == GW_PROC_NULL ? rc : tracked(r, rc);
}
const struct check_kind check_of_send = {.uses = send_uses, .before = send_before, .after = send_after};

static int ready_before(struct check_run *r)
{
    int rc = send_before(r);
    if (r->form != CHECK_PREPARES) proto_note_ready(true);
    return rc;
}
static int ready_after(struct check_run *r, int rc)
{
    if (r->form != CHECK_PREPARES) proto_note_ready(false);
    rc = send_after(r, rc);
    if (r->form == CHECK_PREPARES && rc == GW_OK) check_use_mark_ready((*r->a.request)->obj.id);
    return rc;
}
const struct check_kind check_of_ready_send = {.uses = send_uses, .before = ready_before, .after = ready_after};

/* ---- receives ---- */
/* What has come is taken in before a receive is posted, so that ready sends that came too early are known. */
static void take_in(void)
{
    enum { ROUNDS = 16 };
    for (int k = 0; k < ROUNDS && req_progress() > 0; k++) continue;
}

static void recv_uses(struct check_run *r)
{
    check_run_use(r, &r->a.buf, span_of(r->a.buf, r->a.count, r->a.datatype, r->a.source, true));
}
static int recv_before(struct check_run *r)
{
    struct check_span *s = &r->spans[0];
    r->about = (struct check_about){r->a.comm, r->a.source, r->a.tag, 0};
    look(r);
    if (r->form == CHECK_STARTS && s->lo != s->hi && !s->is_told) check_recv_sum(s);
    if (r->form != CHECK_PREPARES) take_in();
    return GW_OK;
}
static int recv_after(struct check_run *r, int rc)
{
    if (r->form == CHECK_BLOCKS || rc != GW_OK) return tracked(r, rc);
    check_use_track_receive(r->a.request, &r->spans[0], r->about);
    return rc;
}
const struct check_kind check_of_recv = {.uses = recv_uses, .before = recv_before, .after = recv_after};

static bool is_of_nobody(const struct check_run *r) { return *r->a.message == &gw_msg_no_proc; }
static void mrecv_uses(struct check_run *r)
{
    check_run_use(r, &r->a.buf, span_of(r->a.buf, r->a.count, r->a.datatype, is_of_nobody(r) ? GW_PROC_NULL : 0, true));
}
static int mrecv_before(struct check_run *r)
{
    r->about = (struct check_about){is_of_nobody(r) ? &gw_comm_self : (*r->a.message)->comm, GW_UNDEFINED, GW_UNDEFINED, 0};
    look(r);
    return GW_OK;
}
const struct check_kind check_of_mrecv = {.uses = mrecv_uses, .before = mrecv_before, .after = tracked};

/* ---- both ---- */
static void sendrecv_uses(struct check_run *r)
{
    check_run_use(r, &r->a.sendbuf, span_of(r->a.sendbuf, r->a.sendcount, r->a.sendtype, r->a.dest, false));
    check_run_use(r, &r->a.recvbuf, span_of(r->a.recvbuf, r->a.recvcount, r->a.recvtype, r->a.source, true));
}
static void replace_uses(struct check_run *r)
{
    bool receives = r->a.source != GW_PROC_NULL;
    check_run_use(r, &r->a.buf, span_of(r->a.buf, r->a.count, r->a.datatype, receives ? r->a.source : r->a.dest, receives));
}
static int both_before(struct check_run *r)
{
    r->about = (struct check_about){r->a.comm, r->a.source, r->a.recvtag, 0};
    look(r);
    return GW_OK;
}
const struct check_kind check_of_sendrecv = {.uses = sendrecv_uses, .before = both_before, .after = tracked},
                        check_of_replace = {.uses = replace_uses, .before = both_before, .after = tracked};

/* ---- persistent operations begin ---- */
static void start_one(const struct gw_req *q)
{
    if (!(q->flags & REQ_ACTIVE)) check_use_prepare(q->obj.id);
    take_in();
    proto_note_ready(check_use_is_ready(q->obj.id));
}
static int started_one(struct gw_req *q, int rc)
{
    proto_note_ready(false);
    if (rc == GW_OK) check_use_start(q, check_me.now);
    return rc;
}

static int start_before(struct check_run *r)
{
    start_one(*r->a.request);
    return GW_OK;
}
static int start_after(struct check_run *r, int rc) { return started_one(*r->a.request, rc); }
const struct check_kind check_of_start = {
    .before = start_before, .after = start_after, .stage_before = check_stage_start, .stage_after = check_stage_started};

/* One by one, so that those of one call are compared with each other, and each is noted as ready or not. */
static int startall_before(struct check_run *r)
{
    int rc = GW_OK;
    for (int64_t i = 0; i < r->a.count && rc == GW_OK; i++) {
        struct gw_req **q = &r->a.array_of_requests[i];
        start_one(*q);
        rc = started_one(*q, p2p_start(q));
    }
    return rc == GW_OK ? CHECK_MADE : rc;
}
const struct check_kind check_of_startall = {
    .before = startall_before, .stage_before = check_stage_start, .stage_after = check_stage_started};
