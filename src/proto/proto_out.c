/* proto_out.c -- out queues: messages that the wire had no room for, one queue for each peer, sent by progress in order.
 *
 * INVARIANT O1  while a peer has a queue, every message to it that is matched, and every control message, is appended to the queue, so that
 *               none overtakes another.  DATA of R1 is not part of this order.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"
#include "base/settings.h"

struct proto_out *proto_out_find(struct proto_lane *pl, const struct gw_peer *p)
{
    for (struct gw_list *l = pl->outs.next; l != &pl->outs; l = l->next) {
        struct proto_out *o = container_of(l, struct proto_out, link);
        if (o->peer == p) return o;
    }
    return NULL;
}

void proto_lane_inline_update(struct proto_lane *pl)
{
    bool may_go = !pl->n_outs && pl->lane->rings;
    pl->lane->inline_end = may_go ? (uint64_t)(gw_min64(pl->limits[0].fast_max, pl->limits[0].inline_max) + 1) : 0;
}

void proto_out_queue(struct proto_lane *pl, struct proto_op *op)
{
    struct proto_out *o = pl->n_outs ? proto_out_find(pl, op->peer) : NULL;
    if (!o) {
        o = proto_pool_take(&pl->out_pool);
        o->peer = op->peer;
        gw_list_init(&o->ops);
        gw_list_push(&pl->outs, &o->link);
        pl->n_outs++;
        proto_lane_inline_update(pl);
        proto_lane_hook(pl);
    }
    op->state = OP_QUEUED;
    gw_list_push(&o->ops, &op->link);
    proto_assert_state(pl);
}

static void out_drop_if_empty(struct proto_lane *pl, struct proto_out *o)
{
    if (!gw_list_empty(&o->ops)) return;
    gw_list_del(&o->link);
    pl->n_outs--;
    proto_lane_inline_update(pl);
    proto_pool_give(&pl->out_pool, o);
}

void proto_out_remove(struct proto_lane *pl, struct proto_op *op)
{
    struct proto_out *o = proto_out_find(pl, op->peer);
    assert(o && op->state == OP_QUEUED);
    gw_list_del(&op->link);
    out_drop_if_empty(pl, o);
}

/* One queued message goes now: GW_OK (then it has left the queue), GW_AGAIN or an error. */
static int out_try(struct proto_lane *pl, struct proto_op *op)
{
    int rc;
    if (!op->data.type) {
        int32_t as = op->peer->ep->as;
        if (op->kind == PROTO_NOTE) memcpy(op->payload + offsetof(struct proto_note, world), &as, sizeof as);
        rc = peer_short(op->peer, op->kind, &op->ctl, op->payload, op->ctl_len);
        if (rc == GW_OK) {
            gw_list_del(&op->link);
            proto_op_release(pl, op);
        }
        return rc;
    }
    op->hdr.world = op->peer->ep->as;
    /* The receiver may have become xoff since the message was queued: then an RTS is sent, at the same place in the order. */
    if (op->kind != PROTO_RTS && peer_is_xoff(op->peer) && !(op->kind == PROTO_EAGER && proto_keep_op(pl, op))) {
        op->no_room = op->kind == PROTO_EAGER;
        gw_counted(&gw_count.sends_held, op->no_room);
        proto_op_ask(pl, op, proto_select_rndv(pl, op->peer, op->data.bytes, gw_data_is_run(&op->data)));
    }
    uint64_t cookie = op->kind == PROTO_EAGER_SYNC ? proto_op_cookie(pl, op) : 0;
    rc = op->kind == PROTO_RTS ? proto_rts_send(pl, op) : proto_eager_try(pl, op->peer, op->kind, &op->hdr, &op->data, cookie);
    if (rc == GW_AGAIN) return rc;
    gw_list_del(&op->link);
    if (rc == GW_OK && op->kind != PROTO_EAGER) {
        op->state = OP_ASKED;
        gw_list_push(&pl->asked, &op->link);
        if (op->is_kept) proto_op_complete_req(op, GW_OK, false);
    } else {
        gw_list_init(&op->link);
        proto_op_finish(pl, op, rc);
    }
    return GW_OK;
}

static bool may_coalesce(const struct proto_op *op)
{
    return op->data.type && op->kind == PROTO_EAGER && gw_data_is_run(&op->data) && proto_far_may_coalesce(op->data.bytes);
}

/* Sends several small messages from the front of the queue as one packet.  Returns how many; 0: there is one only, or no room. */
static int out_try_many(struct proto_lane *pl, struct proto_out *o)
{
    struct gw_peer *p = o->peer;
    struct wire_part parts[FAR_COALESCE_MOST];
    int n = 0;
    size_t bytes = 0;
    if (!p->ep->ops->send_many || pl->tags.state != TAGS_OFF || peer_is_xoff(p)) return 0;
    for (struct gw_list *l = o->ops.next; l != &o->ops && n < gw_set.net_together; l = l->next) {
        struct proto_op *op = container_of(l, struct proto_op, link);
        if (!may_coalesce(op) || (bytes += (size_t)op->data.bytes + WIRE_PART_BYTES) > limits_of(pl, p)->pack_max) break;
        op->hdr.world = p->ep->as;
        parts[n++] = (struct wire_part){&op->hdr, op->data.run, (size_t)op->data.bytes};
    }
    if (n < 2 || p->ep->ops->send_many(p->ep, PROTO_EAGER, parts, n) != GW_OK) return 0;
    for (int i = 0; i < n; i++) proto_op_finish(pl, container_of(o->ops.next, struct proto_op, link), GW_OK);
    return n;
}

/* Sends what the wire has room for; returns how many messages. */
static int out_step(struct proto_lane *pl, struct proto_out *o)
{
    int n = 0, rc = peer_is_ready(o->peer) ? GW_OK : peer_connect(pl->lane, o->peer);
    while (!gw_list_empty(&o->ops) && rc == GW_OK) {
        int many = out_try_many(pl, o);
        n += many;
        if (many) continue;
        rc = out_try(pl, container_of(o->ops.next, struct proto_op, link));
        n += rc == GW_OK;
    }
    if (rc < 0) gw_die("a message to another rank could not be sent: %s", gw_fail_text());
    out_drop_if_empty(pl, o);
    return n;
}

int proto_out_poll(struct proto_lane *pl)
{
    int n = 0;
    if (pl->is_sending_outs) return 0; /* a completion callback has started another send */
    pl->is_sending_outs = true;
    for (int i = 0; i < PEER_WIRES; i++) pl->limits[i].burst.queued = 0;
    for (struct gw_list *l = pl->outs.next, *next; l != &pl->outs; l = next) {
        struct proto_out *o = container_of(l, struct proto_out, link);
        next = l->next;
        n += out_step(pl, o);
    }
    pl->is_sending_outs = false;
    return n;
}

void proto_out_poll_one(struct proto_lane *pl, const struct gw_peer *p)
{
    struct proto_out *o = pl->is_sending_outs ? NULL : proto_out_find(pl, p);
    if (!o) return;
    pl->is_sending_outs = true;
    out_step(pl, o);
    pl->is_sending_outs = false;
}

void proto_ctl_queue(struct proto_lane *pl, struct gw_peer *p, enum proto_kind kind, struct proto_ctl ctl, const void *payload,
                     size_t len)
{
    assert(len <= PROTO_CTL_MAX && kind >= PROTO_CTS);
    struct proto_op *op = proto_op_new(pl, p);
    op->kind = (uint8_t)kind;
    op->ctl = ctl;
    op->ctl_len = (uint8_t)len;
    if (len) memcpy(op->payload, payload, len);
    proto_out_queue(pl, op);
}

void proto_ctl_send(struct proto_lane *pl, struct gw_peer *p, enum proto_kind kind, struct proto_ctl ctl, const void *payload,
                    size_t len)
{
    assert(len <= PROTO_CTL_MAX && kind >= PROTO_CTS);
    if (likely(!pl->n_outs) || !proto_out_find(pl, p)) {
        int rc = peer_is_ready(p) ? GW_OK : peer_connect(pl->lane, p);
        if (likely(rc == GW_OK)) rc = peer_short(p, (uint8_t)kind, &ctl, payload, len);
        if (likely(rc == GW_OK)) return;
        if (rc < 0) gw_die("another rank could not be answered: %s", gw_fail_text());
    }
    proto_ctl_queue(pl, p, kind, ctl, payload, len);
}
