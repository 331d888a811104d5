/* proto_note.c -- GODWIT_CHECK: compares the type signature of a message with that of its receive.
 *
 * Before each of the user's messages the sender sends a NOTE with its type signature and the name of the type.  Messages of a process arrive
 * in order, so the last note of a process belongs to its next message of the same context and tag.  A note whose message was not sent
 * (GW_AGAIN, cancelled) is replaced by the next note.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"

#include <stdlib.h>

struct note {
    bool is_set;
    struct type_signature signature;
    struct proto_note said;
};

/* ---- sender --------------------------------------------------------------------------------------------------- */
static _Thread_local struct {
    int64_t count;
    struct gw_type *type;
    bool is_ready;
} as;

void proto_note_ready(bool is_ready) { as.is_ready = is_ready; }

void proto_note_as(int64_t count, struct gw_type *t)
{
    as.count = count;
    as.type = t;
}

void proto_note_send(struct proto_lane *pl, const struct proto_addr *a, int64_t count, struct gw_type *t)
{
    if (a->ctx & PROTO_STREAM_MASK) return;
    if (as.type) count = as.count, t = as.type;
    struct type_signature s = type_signature(t, count, INT64_MAX);
    bool is_ready = peer_is_ready(a->peer);
    int as_whom = is_ready ? a->peer->ep->as : 0; /* of a queued one out_try() fills it in */
    struct proto_note n = {a->ctx, a->tag, as_whom, type_has_packed(t), as.is_ready, count, ""};
    strncpy(n.type, type_name(t), sizeof n.type - 1);
    (is_ready ? proto_ctl_send : proto_ctl_queue)(pl, a->peer, PROTO_NOTE, (struct proto_ctl){s.hash, (uint64_t)s.n}, &n, sizeof n);
}

/* ---- receiver ------------------------------------------------------------------------------------------------- */
static wire_recv_fn plain_receivers[2]; /* the handlers behind note_receiver(): of the node's wire, of networks */

static void note_arrived(struct proto_lane *pl, const struct proto_ctl *c, const void *payload)
{
    struct note n = {.is_set = true, .signature = {c->to, (int64_t)c->value}};
    memcpy(&n.said, payload, sizeof n.said);
    n.said.type[sizeof n.said.type - 1] = 0;
    if (!pl->notes) pl->notes = gw_xcalloc((size_t)node_numbers_max(), sizeof *pl->notes);
    pl->notes[n.said.world] = n;
}

/* The note of a message that arrives, or NULL. */
static struct note *note_of(struct proto_lane *pl, const struct proto_hdr *h)
{
    if (h->ctx & PROTO_STREAM_MASK || !pl->notes || h->world < 0 || h->world >= node_numbers_max()) return NULL;
    struct note *n = &pl->notes[h->world];
    return n->is_set && n->said.ctx == h->ctx && n->said.tag == h->tag ? n : NULL;
}

static int64_t bytes_of(uint8_t kind, const void *payload, size_t len)
{
    struct proto_rts rts;
    if (kind != PROTO_RTS) return (int64_t)len - (kind == PROTO_EAGER_SYNC ? PROTO_SYNC_PREFIX : 0);
    memcpy(&rts, payload, sizeof rts);
    return rts.len;
}

static void tell_unready(const struct note *n, const struct proto_hdr *h)
{
    struct proto_unready u = {h->ctx, h->src, h->tag, n->said.count, n->said.type};
    if (proto_upcalls.unready) proto_upcalls.unready(&u);
}

static void tell_meeting(const struct proto_recv *r)
{
    struct proto_meeting m = {(const struct gw_req *)r, r->data.buf, r->data.count, r->data.type};
    if (proto_upcalls.meeting && !(r->m.ctx & PROTO_STREAM_MASK)) proto_upcalls.meeting(&m);
}

static void arrived(bool is_far, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    struct proto_lane *pl = gw_lanes[lane].proto;
    struct note *n = NULL;
    bool matches = kind == PROTO_EAGER || kind == PROTO_EAGER_SYNC || kind == PROTO_RTS;
    if ((matches || kind == PROTO_NOTE) && !proto_msg_check(pl, is_far, kind, hdr, payload, len)) return;
    if (kind == PROTO_NOTE) {
        note_arrived(pl, hdr, payload);
        return;
    }
    if (matches) {
        const struct proto_hdr *h = hdr;
        struct match_recv *m = match_look(pl->fast.q, h->ctx, h->src, h->tag);
        n = note_of(pl, h);
        if (!m && n && n->said.is_ready) tell_unready(n, h);
        if (m) proto_note_compare(n, container_of(m, struct proto_recv, m), h->src, h->tag, bytes_of(kind, payload, len));
    }
    pl->note = n;
    plain_receivers[is_far](NULL, lane, kind, hdr, payload, len);
    pl->note = NULL;
    if (n) n->is_set = false;
}

static void near_arrived(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    (void)ctx;
    arrived(false, lane, kind, hdr, payload, len);
}

static void far_arrived(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    (void)ctx;
    arrived(true, lane, kind, hdr, payload, len);
}

wire_recv_fn proto_note_receiver(bool is_far, wire_recv_fn plain)
{
    plain_receivers[is_far] = plain;
    return is_far ? far_arrived : near_arrived;
}

struct note *proto_note_keep(const struct proto_lane *pl)
{
    if (!pl->note) return NULL;
    struct note *n = gw_xmalloc(sizeof *n);
    *n = *pl->note;
    return n;
}

/* A message may be shorter than the buffer; one that is longer is truncated, which the receive reports by itself. */
void proto_note_compare(const struct note *n, const struct proto_recv *r, int src, int tag, int64_t bytes)
{
    tell_meeting(r);
    if (!n || r->data.bytes < bytes) return;
    struct type_signature here = type_signature(r->data.type, r->data.count, n->signature.n);
    if (here.n == n->signature.n && here.hash == n->signature.hash) return;
    if (n->said.may_be_any || type_has_packed(r->data.type) || !proto_upcalls.mismatch) return;
    struct proto_mismatch m = {
        n->said.ctx, src, tag, n->said.world, n->said.count, r->data.count, n->said.type, type_name(r->data.type), r->data.buf};
    proto_upcalls.mismatch(&m);
}
