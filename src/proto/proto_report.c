/* proto_report.c -- hang reports: pending requests and unexpected messages of this room.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"

void proto_describe(const struct gw_req *req, struct boot_pending *p_out)
{
    struct boot_pending p = {.world = BOOT_WORLD_UNKNOWN, .peer = GW_ANY_SOURCE, .tag = GW_ANY_TAG};
    if (req->kind == REQ_RECV) {
        const struct proto_recv *r = container_of(req, struct proto_recv, req);
        p.about = BOOT_RECV;
        p.peer = r->m.src;
        p.tag = r->m.tag;
        p.ctx = r->m.ctx;
        p.bytes = r->data.bytes;
        p.is_moving = r->state > RECV_AT_WIRE;
    } else {
        const struct proto_op *op = container_of(req, struct proto_sreq, req)->op;
        p.about = BOOT_SEND;
        p.is_moving = !op || op->state > OP_ASKED;
        if (op) {
            p.world = (int32_t)(op->peer - gw_lanes[req->lane].peers);
            p.tag = op->hdr.tag;
            p.ctx = op->hdr.ctx;
            p.bytes = op->data.bytes;
            p.no_room = op->no_room;
        }
    }
    *p_out = p;
}

/* How much alike a message and what is waited for are. */
static int likeness(const struct match_msg *m, const struct boot_pending *like)
{
    if (!like) return 0;
    return (m->ctx == like->ctx) + (like->tag == GW_ANY_TAG || m->tag == like->tag) +
        (like->peer == GW_ANY_SOURCE || m->src == like->peer);
}

/* Puts a message into the list, best first; the older one of two that are equally alike. */
static void list_add(struct boot_where *where, int *score, int *n, const struct match_msg *mm, int s)
{
    int at = *n;
    while (at > 0 && score[at - 1] < s) at--;
    if (at == BOOT_PENDING) return;
    *n += *n < BOOT_PENDING;
    for (int i = *n - 1; i > at; i--) {
        where->unexpected[i] = where->unexpected[i - 1];
        score[i] = score[i - 1];
    }
    const struct proto_msg *m = container_of(mm, struct proto_msg, m);
    score[at] = s;
    where->unexpected[at] = (struct boot_pending){.bytes = proto_msg_len(m),
                                                  .world = proto_msg_world(mm->ctx, mm->src, m->world),
                                                  .peer = mm->src,
                                                  .tag = mm->tag,
                                                  .ctx = mm->ctx,
                                                  .about = BOOT_RECV};
}

void proto_describe_unexpected(struct gw_lane *lane, const struct boot_pending *like, uint32_t mask, struct boot_where *where)
{
    enum { LOOK_AT = 10000 }; /* the rest is counted among the others only */
    struct match_queue *q = lane_of(lane)->fast.q;
    int score[BOOT_PENDING], n = 0;
    int64_t seen = 0, others = 0;
    where->n_unexpected = 0;
    for (struct match_msg *m = match_first_msg(q, UINT32_MAX); m && seen < LOOK_AT; m = match_next_msg(q, m, UINT32_MAX), seen++) {
        if (m->ctx & mask)
            others++;
        else
            list_add(where, score, &n, m, likeness(m, like));
    }
    where->n_unexpected = match_unexpected_count(q) - others;
    where->held_bytes = lane_of(lane)->unexpected_bytes;
    where->kept_bytes = lane_of(lane)->kept_bytes;
    where->room_bytes = lane_of(lane)->room;
}

void proto_each_left(struct gw_lane *lane, struct proto_left *l)
{
    struct match_queue *q = lane_of(lane)->fast.q;
    for (struct match_msg *m = match_first_msg(q, UINT32_MAX); m; m = match_next_msg(q, m, UINT32_MAX)) {
        l->ctx = m->ctx;
        l->src = m->src;
        l->tag = m->tag;
        l->bytes = proto_msg_len(container_of(m, struct proto_msg, m));
        l->done.fn(&l->done, GW_OK);
    }
}

void proto_lengths(struct gw_lane *lane, uint32_t ctx, struct proto_lengths *out)
{
    struct match_queue *q = lane_of(lane)->fast.q;
    *out = (struct proto_lengths){.posted = match_posted_in(q, ctx) + proto_tags_posted_in(lane_of(lane), ctx)};
    for (struct match_msg *m = match_first_msg(q, ctx); m; m = match_next_msg(q, m, ctx)) {
        out->messages++;
        out->bytes += proto_msg_len(container_of(m, struct proto_msg, m));
    }
}
