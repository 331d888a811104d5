/* proto_eager.c -- E0 and E1: data sent with the header; EAGER_SYNC is answered by ACK when it is matched.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"
#include "base/copy.h"

enum { SCRATCH_BYTES = 256 << 10 }; /* no wire has larger packets; what is not used costs no memory */

/* Packs the data into the lane's scratch buffer, at offset `at`; returns the buffer. */
static const char *packed(struct proto_lane *pl, int64_t at, const struct gw_data *d)
{
    assert(at + d->bytes <= SCRATCH_BYTES);
    if (!pl->scratch) pl->scratch = gw_xmalloc(SCRATCH_BYTES);
    type_pack(d->buf, d->count, d->type, pl->scratch + at);
    return pl->scratch;
}

/* The payload is the cookie and the data, so both are copied to the scratch buffer. */
static int sync_try(struct proto_lane *pl, struct gw_peer *p, const struct proto_hdr *h, const struct gw_data *d, uint64_t cookie)
{
    assert(cookie != 0);
    packed(pl, PROTO_SYNC_PREFIX, d);
    memcpy(pl->scratch, &cookie, PROTO_SYNC_PREFIX);
    return peer_short(p, PROTO_EAGER_SYNC, h, pl->scratch, (size_t)d->bytes + PROTO_SYNC_PREFIX);
}

int proto_eager_try(struct proto_lane *pl, struct gw_peer *p, enum proto_kind kind, const struct proto_hdr *h,
                    const struct gw_data *d, uint64_t cookie)
{
    assert(p->ep && (kind == PROTO_EAGER || kind == PROTO_EAGER_SYNC));
    if (kind == PROTO_EAGER_SYNC) return sync_try(pl, p, h, d, cookie);
    if (tag_goes(pl, p, h))
        return proto_tag_send(pl, p, PROTO_EAGER, h, gw_data_is_run(d) ? d->run : packed(pl, 0, d), (size_t)d->bytes);
    if (gw_data_is_run(d)) return peer_short(p, PROTO_EAGER, h, d->run, (size_t)d->bytes);
    struct type_cursor c;
    type_cursor_init(&c, *d);
    return p->ep->ops->send_pack(p->ep, PROTO_EAGER, h, &c, (size_t)d->bytes);
}

/* For receive buffers that are not contiguous, or too small. */
static GW_COLD void deliver_slow(struct proto_recv *r, const void *data, int64_t len)
{
    int64_t n = gw_min64(len, r->data.bytes);
    if (gw_data_is_run(&r->data)) {
        gw_copy(r->data.run, data, (size_t)n);
    } else if (n > 0) {
        struct type_cursor c;
        type_cursor_init(&c, r->data);
        type_cursor_unpack(&c, data, n);
    }
    r->got = n;
    proto_recv_finish(r);
}

void proto_eager_deliver(struct proto_recv *r, int src, int tag, const void *data, int64_t len)
{
    gw_status_fill(&r->req.status, src, tag, len, false);
    if (unlikely(!gw_data_is_run(&r->data)) || unlikely(len > r->data.bytes)) {
        r->len = len;
        deliver_slow(r, data, len);
        return;
    }
    gw_copy(r->data.run, data, (size_t)len);
    proto_type_drop(r->data.type);
    req_complete(&r->req);
}

void proto_eager_arrived(struct proto_lane *pl, const struct proto_hdr *h, const void *payload, size_t len)
{
    struct match_recv *m = match_arrive(pl->fast.q, h->ctx, h->src, h->tag);
    if (likely(m)) {
        proto_eager_deliver(container_of(m, struct proto_recv, m), h->src, h->tag, payload, (int64_t)len);
        return;
    }
    struct proto_msg *msg = proto_msg_keep(pl, PROTO_EAGER, h, (int64_t)len, len);
    gw_copy(msg->data, payload, len);
}

void proto_eager_sync_arrived(struct proto_lane *pl, const struct proto_hdr *h, const void *payload, size_t len)
{
    uint64_t cookie;
    memcpy(&cookie, payload, PROTO_SYNC_PREFIX);
    const char *data = (const char *)payload + PROTO_SYNC_PREFIX;
    len -= PROTO_SYNC_PREFIX;
    struct match_recv *m = match_arrive(pl->fast.q, h->ctx, h->src, h->tag);
    if (m) {
        proto_ctl_send(pl, peer_get(pl->lane, h->world), PROTO_ACK, (struct proto_ctl){cookie, 0}, NULL, 0);
        proto_eager_deliver(container_of(m, struct proto_recv, m), h->src, h->tag, data, (int64_t)len);
        return;
    }
    struct proto_msg *msg = proto_msg_keep(pl, PROTO_EAGER_SYNC, h, (int64_t)len, len + PROTO_SYNC_PREFIX);
    gw_copy(msg->data, payload, len + PROTO_SYNC_PREFIX);
}
