/* proto_rndv.c -- rendezvous: what R0 and R1 have in common at the receiver.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"
#include "base/event.h"
#include "base/settings.h"

#include <stdio.h>

void proto_rts_arrived(struct proto_lane *pl, const struct proto_hdr *h, const void *payload)
{
    struct proto_rts rts;
    memcpy(&rts, payload, sizeof rts);
    struct match_recv *m = match_arrive(pl->fast.q, h->ctx, h->src, h->tag);
    if (m) {
        proto_rndv_start(pl, container_of(m, struct proto_recv, m), h->src, h->tag, &rts, h->world, false);
        return;
    }
    if (unlikely(pl->is_leaving)) {
        proto_keep_left_send(pl, h->world, rts.cookie);
        return;
    }
    bool may_be_ahead = proto_ahead_may(pl, h, &rts);
    struct proto_msg *msg = proto_msg_keep(pl, PROTO_RTS, h, rts.len, may_be_ahead ? sizeof(struct msg_kept) : sizeof rts);
    if (may_be_ahead)
        proto_ahead_note(pl, msg, &rts);
    else
        memcpy(msg->data, &rts, sizeof rts);
}

static void fin_send(struct proto_lane *pl, struct proto_recv *r, uint64_t job)
{
    proto_ctl_send(pl, peer_get(pl->lane, r->world), PROTO_FIN, (struct proto_ctl){r->cookie, job}, NULL, 0);
}

static bool may_ask_help(const struct proto_lane *pl) { return !lane_sends_large(pl) || gw_set.proto == GW_SET_PROTO_R0; }

static bool may_get(const struct proto_lane *pl, const struct gw_peer *p, const struct proto_rts *rts)
{
    return rts->addr && peer_is_ready(p) && peer_may_read(pl, p);
}

void proto_rndv_start(struct proto_lane *pl, struct proto_recv *r, int src, int tag, const struct proto_rts *rts, int world,
                      bool at_once)
{
    assert(rts->len >= 0 && rts->cookie && !req_is_done(&r->req));
    gw_status_fill(&r->req.status, src, tag, rts->len, false);
    r->len = rts->len;
    r->want = gw_min64(rts->len, r->data.bytes);
    r->got = 0;
    r->cursor = NULL;
    r->addr = rts->addr;
    r->is_huge = rts->key && !peer_is_far(pl->lane, world);
    r->key = r->is_huge || (!rts->addr && rts->key == PROTO_RTS_KEPT) ? 0 : rts->key;
    r->cookie = rts->cookie;
    r->world = world;
    r->job = 0;
    r->wire_busy = false;
    if (gw_event_wanted(GW_EVENT_RENDEZVOUS)) gw_event_raise(GW_EVENT_RENDEZVOUS, false, world, tag, rts->len, rts->addr != 0);
    gw_list_init(&r->work);
    if (r->want == 0) {
        fin_send(pl, r, 0);
        proto_recv_finish(r);
        return;
    }
    if (!gw_data_is_run(&r->data)) {
        r->cursor = proto_pool_take(&pl->cursors);
        type_cursor_init(r->cursor, r->data);
    }
    struct gw_peer *p = peer_get(pl->lane, world);
    if (!peer_is_ready(p)) (void)peer_connect(pl->lane, p); /* what fails is reported with the answer, by proto_ctl_send() */
    bool is_small = r->want < gw_set.cma_min; /* a copy that the sender keeps: reading it takes none of the sender's time */
    if (!may_get(pl, p, rts) || (!r->key && !is_small && !proto_adaptive_direct(pl, r))) {
        proto_pieces_ask(pl, r, false);
        return;
    }
    if (gw_data_is_run(&r->data) && r->want >= gw_set.help_min && may_ask_help(pl) && proto_share_start(pl, r)) return;
    r->state = RECV_GETTING;
    gw_list_push(&pl->getting, &r->work);
    if (at_once) proto_get_step(pl, r);
    if (!gw_list_empty(&pl->getting)) proto_lane_hook(pl);
}

/* Writes the text of a truncation error.  Called by the wait or test that retires the receive: error texts belong to a thread, and another
 * one may have handled the message. */
static void truncation_explain(struct gw_done *done, int err)
{
    struct proto_recv *r = container_of(done, struct proto_recv, done);
    gw_fail(err, "message of %lld bytes from rank %d, tag %d does not fit the receive buffer of %lld bytes (%lld x %s)",
            (long long)r->len, r->req.status.source, r->req.status.tag, (long long)r->data.bytes, (long long)r->data.count,
            r->type_name);
}

static GW_COLD void error_note(struct proto_recv *r, int err, int64_t bytes, void (*explain)(struct gw_done *done, int err))
{
    r->req.err = err;
    r->done.fn = explain;
    r->req.final = &r->done;
    r->req.flags |= REQ_FINALIZE;
    gw_status_fill(&r->req.status, r->req.status.source, r->req.status.tag, bytes, false);
}

static GW_COLD void truncation_note(struct proto_recv *r)
{
    snprintf(r->type_name, sizeof r->type_name, "%s", type_name(r->data.type));
    error_note(r, GW_ETRUNCATE, r->data.bytes, truncation_explain);
}

GW_COLD void proto_recv_fail(struct proto_recv *r, int err, void (*explain)(struct gw_done *done, int err))
{
    error_note(r, err, 0, explain);
    proto_type_drop(r->data.type);
    req_complete(&r->req);
}

void proto_recv_finish(struct proto_recv *r)
{
    if (unlikely(r->len > r->data.bytes) && !recv_has_fault(r)) truncation_note(r);
    proto_type_drop(r->data.type);
    req_complete(&r->req);
}

int proto_error(struct gw_req *r)
{
    if (r->flags & REQ_FINALIZE) {
        r->flags &= (uint16_t)~REQ_FINALIZE;
        r->final->fn(r->final, r->err);
    }
    return r->err;
}
