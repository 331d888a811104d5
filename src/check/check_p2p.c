/* check_p2p.c -- twins of the point-to-point calls: what their buffers are.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

#include <stdlib.h>

static struct check_span span_of(const void *buf, int64_t count, struct gw_type *t, int rank, bool is_written)
{
    return check_span(buf, rank == GW_PROC_NULL ? 0 : count, t, is_written);
}

/* ---- blocking: their buffers must not be in use ---- */
static void look_at(const void *buf, int64_t count, struct gw_type *t, int rank, bool is_written)
{
    struct check_span s = span_of(buf, count, t, rank, is_written);
    check_use_look(&s, 1);
}

#define BLOCKING_SEND(name)                                                                                                        \
    int check_p2p_##name(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c)                   \
    {                                                                                                                              \
        look_at(buf, count, t, dst, false);                                                                                        \
        return p2p_##name(buf, count, t, dst, tag, c);                                                                             \
    }
BLOCKING_SEND(send)
BLOCKING_SEND(ssend)
BLOCKING_SEND(bsend)

int check_p2p_rsend(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c)
{
    look_at(buf, count, t, dst, false);
    proto_note_ready(true);
    int rc = p2p_rsend(buf, count, t, dst, tag, c);
    proto_note_ready(false);
    return rc;
}

/* What has come is taken in before a receive is posted, so that ready sends that came too early are known. */
static void take_in(void)
{
    enum { ROUNDS = 16 };
    for (int k = 0; k < ROUNDS && req_progress() > 0; k++) continue;
}

int check_p2p_recv(void *buf, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c, struct gw_status *status)
{
    look_at(buf, count, t, src, true);
    take_in();
    return p2p_recv(buf, count, t, src, tag, c, status);
}

int check_p2p_mrecv(void *buf, int64_t count, struct gw_type *t, struct gw_msg **msg, struct gw_status *status)
{
    look_at(buf, count, t, *msg == &gw_msg_no_proc ? GW_PROC_NULL : 0, true);
    return p2p_mrecv(buf, count, t, msg, status);
}

int check_p2p_sendrecv(const void *sbuf, int64_t scount, struct gw_type *st, int dst, int stag, void *rbuf, int64_t rcount,
                       struct gw_type *rt, int src, int rtag, struct gw_comm *c, struct gw_status *status)
{
    struct check_span s[] = {span_of(sbuf, scount, st, dst, false), span_of(rbuf, rcount, rt, src, true)};
    check_use_look(s, 2);
    return p2p_sendrecv(sbuf, scount, st, dst, stag, rbuf, rcount, rt, src, rtag, c, status);
}

int check_p2p_sendrecv_replace(void *buf, int64_t count, struct gw_type *t, int dst, int stag, int src, int rtag, struct gw_comm *c,
                               struct gw_status *status)
{
    look_at(buf, count, t, src == GW_PROC_NULL ? dst : src, src != GW_PROC_NULL);
    return p2p_sendrecv_replace(buf, count, t, dst, stag, src, rtag, c, status);
}

/* ---- non-blocking and persistent: they use their buffers until they are over ---- */
static int tracked(int rc, struct gw_req **r, struct check_span *s, int n, struct gw_comm *c, int rank, int tag)
{
    if (rc == GW_OK)
        check_use_track(r, s, n, (struct check_about){c, rank, tag, 0});
    else
        for (int k = 0; k < n; k++) check_span_drop(&s[k]);
    return rc;
}

static struct check_span begin(const void *buf, int64_t count, struct gw_type *t, int rank, bool is_written)
{
    struct check_span s = span_of(buf, count, t, rank, is_written);
    check_use_look(&s, 1);
    check_span_sum(&s);
    return s;
}

/* What goes to nobody stays the shared request. */
static int started_send(int rc, struct gw_req **r, struct check_span *s, struct gw_comm *c, int dst, int tag)
{
    return dst == GW_PROC_NULL ? rc : tracked(rc, r, s, 1, c, dst, tag);
}

#define STARTED_SEND(name)                                                                                                         \
    int check_p2p_##name(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c,                   \
                         struct gw_req **req_out)                                                                                  \
    {                                                                                                                              \
        struct check_span s = begin(buf, count, t, dst, false);                                                                    \
        return started_send(p2p_##name(buf, count, t, dst, tag, c, req_out), req_out, &s, c, dst, tag);                            \
    }
STARTED_SEND(isend)
STARTED_SEND(issend)
STARTED_SEND(ibsend)

int check_p2p_irsend(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c,
                     struct gw_req **req_out)
{
    struct check_span s = begin(buf, count, t, dst, false);
    proto_note_ready(true);
    int rc = p2p_irsend(buf, count, t, dst, tag, c, req_out);
    proto_note_ready(false);
    return started_send(rc, req_out, &s, c, dst, tag);
}

static int tracked_receive(int rc, struct gw_req **r, struct check_span *s, struct gw_comm *c, int src, int tag)
{
    if (rc == GW_OK)
        check_use_track_receive(r, s, (struct check_about){c, src, tag, 0});
    else
        check_span_drop(s);
    return rc;
}

int check_p2p_irecv(void *buf, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c, struct gw_req **req_out)
{
    struct check_span s = begin(buf, count, t, src, true);
    if (s.lo != s.hi && !s.is_told) check_recv_sum(&s);
    take_in();
    return tracked_receive(p2p_irecv(buf, count, t, src, tag, c, req_out), req_out, &s, c, src, tag);
}

int check_p2p_recv_init(void *buf, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c, struct gw_req **req_out)
{
    struct check_span s = span_of(buf, count, t, src, true);
    return tracked_receive(p2p_recv_init(buf, count, t, src, tag, c, req_out), req_out, &s, c, src, tag);
}

int check_p2p_imrecv(void *buf, int64_t count, struct gw_type *t, struct gw_msg **msg, struct gw_req **req_out)
{
    bool is_null = *msg == &gw_msg_no_proc;
    struct gw_comm *c = is_null ? &gw_comm_self : (*msg)->comm;
    struct check_span s = begin(buf, count, t, is_null ? GW_PROC_NULL : 0, true);
    return tracked(p2p_imrecv(buf, count, t, msg, req_out), req_out, &s, 1, c, GW_UNDEFINED, GW_UNDEFINED);
}

#define PREPARED_SEND(name)                                                                                                        \
    int check_p2p_##name(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c,                   \
                         struct gw_req **req_out)                                                                                  \
    {                                                                                                                              \
        struct check_span s = span_of(buf, count, t, dst, false);                                                                  \
        return tracked(p2p_##name(buf, count, t, dst, tag, c, req_out), req_out, &s, 1, c, dst, tag);                              \
    }
PREPARED_SEND(send_init)
PREPARED_SEND(ssend_init)
PREPARED_SEND(bsend_init)

int check_p2p_rsend_init(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c,
                         struct gw_req **req_out)
{
    struct check_span s = span_of(buf, count, t, dst, false);
    int rc = tracked(p2p_rsend_init(buf, count, t, dst, tag, c, req_out), req_out, &s, 1, c, dst, tag);
    if (rc == GW_OK) check_use_mark_ready((*req_out)->obj.id);
    return rc;
}

int check_p2p_start(struct gw_req **r)
{
    uint32_t id = (*r)->obj.id;
    bool is_fresh = !((*r)->flags & REQ_ACTIVE);
    if (is_fresh) check_use_prepare(id);
    take_in();
    proto_note_ready(check_use_is_ready(id));
    int rc = p2p_start(r);
    proto_note_ready(false);
    if (rc == GW_OK) check_use_start(*r, check_now);
    return rc;
}

/* One by one, so that those of one call are compared with each other. */
int check_p2p_startall(int n, struct gw_req **r)
{
    int rc = GW_OK;
    for (int i = 0; i < n && rc == GW_OK; i++) rc = check_p2p_start(&r[i]);
    return rc;
}

int check_p2p_isendrecv(const void *sbuf, int64_t scount, struct gw_type *st, int dst, int stag, void *rbuf, int64_t rcount,
                        struct gw_type *rt, int src, int rtag, struct gw_comm *c, struct gw_req **req_out)
{
    struct check_span s[] = {span_of(sbuf, scount, st, dst, false), span_of(rbuf, rcount, rt, src, true)};
    check_use_look(s, 2);
    check_span_sum(&s[0]);
    return tracked(p2p_isendrecv(sbuf, scount, st, dst, stag, rbuf, rcount, rt, src, rtag, c, req_out), req_out, s, 2, c, src,
                   rtag);
}

int check_p2p_isendrecv_replace(void *buf, int64_t count, struct gw_type *t, int dst, int stag, int src, int rtag,
                                struct gw_comm *c, struct gw_req **req_out)
{
    struct check_span s = begin(buf, count, t, src == GW_PROC_NULL ? dst : src, src != GW_PROC_NULL);
    return tracked(p2p_isendrecv_replace(buf, count, t, dst, stag, src, rtag, c, req_out), req_out, &s, 1, c, src, rtag);
}
