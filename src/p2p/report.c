/* report.c -- hang reports: what this rank waits for, written to memory that mpiexec reads.
 *
 * All of it runs only when a wait has become long.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/p2p_private.h"

#include <stdio.h>

enum { STREAM_MASK = (1 << GW_STREAM_BITS) - 1 };
struct p2p_upcalls p2p_upcalls;

void p2p_report_comm(struct boot_pending *p, uint32_t ctx_id, struct gw_comm *c)
{
    p->ctx = ctx_id;
    struct gw_comm *found = c ? NULL : comm_by_context(ctx_id);
    if (found) c = found;
    snprintf(p->comm, sizeof p->comm, "%.*s", BOOT_COMM_NAME - 1, c ? c->name : "");
    if (found) comm_release(found);
}

/* The ranks of a pending operation, if its communicator still exists. */
static void name_peer(struct boot_pending *p)
{
    struct gw_comm *c = comm_by_context(p->ctx);
    p2p_report_comm(p, p->ctx, c);
    if (p->world >= 0) { /* a send knows only the process */
        for (int i = 0; c && i < c->targets && p->peer < 0; i++)
            if (group_world(comm_target_group(c), i) == p->world) p->peer = i;
    } else if (p->peer == GW_ANY_SOURCE) {
        p->world = GW_ANY_SOURCE;
    } else if (c && p->peer < c->targets) {
        p->world = group_world(comm_target_group(c), p->peer);
    }
    if (node_other_find(p->world)) p->world = BOOT_WORLD_UNKNOWN; /* of another job, which this one's launcher knows nothing of */
    if (c) comm_release(c);
}

int p2p_report_member(uint32_t ctx, int rank)
{
    struct gw_comm *c = comm_by_context(ctx >> GW_STREAM_BITS);
    int world = c && rank >= 0 && rank < c->targets ? group_world(comm_target_group(c), rank) : -1;
    if (c) comm_release(c);
    return world;
}

static void add(struct boot_where *where, const struct boot_pending *p)
{
    if (where->n_pending < BOOT_PENDING) where->pending[where->n_pending] = *p;
    where->n_pending++;
}

/* Messages on the streams of other rooms belong to a collective call. */
static void add_message(struct boot_where *where, struct gw_req *r)
{
    struct boot_pending p;
    proto_describe(r, &p);
    p.stream = p.ctx & STREAM_MASK;
    p.ctx >>= GW_STREAM_BITS;
    name_peer(&p);
    if (p.stream) {
        p.about = BOOT_MEMBER;
        if (!where->has_coll) {
            struct gw_comm *c = comm_by_context(p.ctx);
            where->has_coll = 1;
            where->coll = (struct boot_pending){.peer = GW_ANY_SOURCE, .tag = GW_ANY_TAG};
            p2p_report_comm(&where->coll, p.ctx, c);
            /* Only some members take part where the user gave a tag: that has no number. */
            uint64_t next = c ? atomic_load_explicit(&c->colls, memory_order_relaxed) : 0;
            where->coll_number = next > 0 && !(p.stream == GW_STREAM_WORLD && p.tag >= 0) ? next - 1 : 0;
            where->coll_hidden = c ? where->coll_number - comm_coll_shown(c, where->coll_number) : 0;
            where->coll_call = where->call;
            if (c) comm_release(c);
        }
    }
    add(where, &p);
}

void p2p_report_request(struct boot_where *where, struct gw_req *r)
{
    struct gw_req *one = NULL, *two = NULL;
    struct boot_pending p;
    if (!r || req_is_done(r) || (r->flags & (REQ_PERSISTENT | REQ_ACTIVE)) == REQ_PERSISTENT) return;
    if (r->kind == REQ_FILE && p2p_upcalls.file_waits_for && (one = p2p_upcalls.file_waits_for(r))) r = one, one = NULL;
    if (r->kind == REQ_COLL && p2p_upcalls.report_coll) {
        p2p_upcalls.report_coll(r, where);
    } else if ((r->flags & REQ_PERSISTENT && p2p_persistent_pending(r, &one)) || p2p_both_pending(r, &one, &two)) {
        if (one) add_message(where, one);
        if (two) add_message(where, two);
    } else if (!(r->flags & REQ_PERSISTENT) && (r->kind == REQ_SEND || r->kind == REQ_RECV)) {
        add_message(where, r);
    } else if (p2p_partitioned_pending(r, &p)) {
        p.ctx >>= GW_STREAM_BITS;
        name_peer(&p);
        add(where, &p);
    } else {
        add(where, &(struct boot_pending){.about = BOOT_OUTSIDE, .world = BOOT_WORLD_UNKNOWN});
    }
}

/* ---- a message in place of another ---- */
struct rival_search {
    struct proto_left left;
    const struct boot_pending *want;
    int bits;
    bool found;
    struct p2p_rival rival;
};
static void look_at_rival(struct gw_done *done, int err)
{
    (void)err;
    struct rival_search *s = container_of(done, struct rival_search, left.done);
    const struct proto_left *l = &s->left;
    if (s->found || l->ctx != s->want->ctx) return;
    if (l->src != s->want->peer || l->tag == s->want->tag || (l->tag ^ s->want->tag) & ~s->bits) return;
    s->found = true;
    s->rival = (struct p2p_rival){l->src, l->tag, s->want->tag, l->bytes};
}

bool p2p_stream_rival(struct gw_req *r, int bits, struct p2p_rival *out)
{
    struct boot_pending want;
    struct rival_search s = {.left.done.fn = look_at_rival, .want = &want, .bits = bits};
    if (req_is_done(r) || r->kind != REQ_RECV) return false;
    proto_describe(r, &want);
    if (want.about == BOOT_RECV && !want.is_moving) proto_each_left(&gw_lanes[r->lane], &s.left);
    if (s.found) *out = s.rival;
    return s.found;
}

struct left_walk {
    struct proto_left left;
    uint32_t ctx;
    struct p2p_left *caller;
};
static void pass_on_left(struct gw_done *done, int err)
{
    struct left_walk *w = container_of(done, struct left_walk, left.done);
    const struct proto_left *l = &w->left;
    if (l->ctx != w->ctx) return;
    w->caller->message = (struct p2p_rival){l->src, l->tag, l->tag, l->bytes};
    w->caller->done.fn(&w->caller->done, err);
}

void p2p_stream_each_left(struct gw_comm *c, enum gw_stream s, struct p2p_left *left)
{
    struct left_walk w = {.left.done.fn = pass_on_left, .ctx = c->ctx | (uint32_t)s, .caller = left};
    proto_each_left(c->lane, &w.left);
}

void p2p_report_end(struct boot_where *where, struct gw_lane *lane)
{
    const struct boot_pending *like = NULL;
    int listed = where->n_pending < BOOT_PENDING ? where->n_pending : BOOT_PENDING;
    for (int i = 0; i < listed && !like; i++)
        if (where->pending[i].about == BOOT_RECV || where->pending[i].about == BOOT_PROBE) like = &where->pending[i];
    gw_lock(&lane->lock);
    struct boot_pending wire;
    if (like) {
        wire = *like;
        wire.ctx <<= GW_STREAM_BITS;
        like = &wire;
    }
    proto_describe_unexpected(lane, like, STREAM_MASK, where);
    gw_unlock(&lane->lock);
    for (int i = 0; i < BOOT_PENDING && i < where->n_unexpected; i++)
        p2p_report_comm(&where->unexpected[i], where->unexpected[i].ctx >> GW_STREAM_BITS, NULL);
    node_report_end(where);
}

void p2p_report_requests(struct gw_req **reqs, int n, bool is_any)
{
    struct gw_lane *lane = &gw_lanes[0];
    struct boot_where *where = node_report_begin();
    for (int i = 0; i < n; i++) {
        struct gw_req *r = reqs[i];
        if (!r) continue;
        lane = &gw_lanes[r->lane];
        gw_lock(&lane->lock);
        p2p_report_request(where, r);
        gw_unlock(&lane->lock);
    }
    where->is_any = is_any;
    p2p_report_end(where, lane);
}
