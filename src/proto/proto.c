/* proto.c -- init and finalize, the receive handlers of the wires, progress, and counts of messages.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"
#include "base/lock.h"
#include "base/settings.h"

#include <stdlib.h>

static void ack_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c)
{
    struct proto_op *op = proto_op_of_cookie(pl, is_far, PROTO_ACK, c->to);
    if (!op) return;
    if (op->kind == PROTO_EAGER_SYNC && op->state == OP_ASKED && !op->is_over)
        proto_op_finish(pl, op, GW_OK);
    else
        proto_msg_reject(PROTO_ACK, "state", op->state);
}

/* Kinds that only our own network wire passes to the handler (wire.h): no peer may send them. */
static void wire_says(struct proto_lane *pl, bool is_far, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    if (kind == PROTO_CAUGHT && is_far)
        proto_tag_caught(pl, hdr, payload, len);
    else if (kind == PROTO_FULL && is_far && !hdr)
        proto_tags_full(pl);
    else
        proto_msg_reject(0, "kind", kind);
}

static void ctl_arrived(struct proto_lane *pl, bool is_far, enum proto_kind kind, const struct proto_ctl *c, const void *payload,
                        size_t len)
{
    switch (kind) {
    case PROTO_CTS: proto_cts_arrived(pl, is_far, c, payload); return;
    case PROTO_DATA: proto_data_arrived(pl, is_far, c, payload, len); return;
    case PROTO_HELP: proto_help_arrived(pl, is_far, c, payload); return;
    case PROTO_FIN: proto_fin_arrived(pl, is_far, c); return;
    case PROTO_ACK: ack_arrived(pl, is_far, c); return;
    case PROTO_CANCEL: proto_cancel_arrived(pl, c); return;
    case PROTO_CANCEL_ACK: proto_cancel_ack_arrived(pl, is_far, c); return;
    case PROTO_FLOW: proto_flow_arrived(pl, c); return;
    case PROTO_PUT: proto_put_arrived(pl, is_far, c); return;
    case PROTO_LEFT: proto_keep_left_arrived(pl, is_far, c); return;
    case PROTO_FAULT: proto_fault_arrived(pl, is_far, c, payload); return;
    case PROTO_TAGGED: proto_tags_told(pl, c); return;
    default: /* a NOTE of another job whose ranks check: proto_note_receiver() would know what to do with it */ return;
    }
}

static __attribute__((noinline)) void other_arrived(struct proto_lane *pl, bool is_far, uint8_t kind, const void *hdr,
                                                    const void *payload, size_t len)
{
    struct proto_ctl c;
    if (kind == PROTO_CAUGHT || kind == PROTO_FULL) {
        wire_says(pl, is_far, kind, hdr, payload, len);
        return;
    }
    if (!proto_msg_check(pl, is_far, kind, hdr, payload, len)) return;
    if (kind == PROTO_EAGER) {
        proto_eager_arrived(pl, hdr, payload, len);
    } else if (kind == PROTO_EAGER_SYNC) {
        proto_eager_sync_arrived(pl, hdr, payload, len);
    } else if (kind == PROTO_RTS) {
        proto_rts_arrived(pl, hdr, payload);
    } else {
        memcpy(&c, hdr, sizeof c);
        ctl_arrived(pl, is_far, (enum proto_kind)kind, &c, payload, len);
    }
}

static void arrived(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    (void)ctx;
    struct proto_lane *pl = gw_lanes[lane].proto;
    if (likely(kind == PROTO_EAGER))
        proto_eager_arrived(pl, hdr, payload, len);
    else
        other_arrived(pl, false, kind, hdr, payload, len);
}

/* A process that maps our memory could do harm without sending anything, so small messages of the node are not validated; messages of
 * networks are. */
static void far_arrived(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    (void)ctx;
    struct proto_lane *pl = gw_lanes[lane].proto;
    const struct proto_hdr *h = hdr;
    if (likely(kind == PROTO_EAGER) && likely((h->src | h->tag) >= 0) && likely(len <= MSG_DATA_MAX))
        proto_eager_arrived(pl, hdr, payload, len);
    else
        other_arrived(pl, true, kind, hdr, payload, len);
}

static wire_recv_fn receiver(bool is_far)
{
    wire_recv_fn plain = is_far ? far_arrived : arrived;
    return gw_checking ? proto_note_receiver(is_far, plain) : plain;
}

int proto_connect(void)
{
    const struct peer_upcalls up = {receiver(false), receiver(true), proto_connected};
    return peer_init(&up);
}

/* ---- progress -------------------------------------------------------------------------------------------- */

static bool has_work(const struct proto_lane *pl)
{
    return pl->n_outs || pl->tags.must_take_over || !gw_list_empty(&pl->op_work) || !gw_list_empty(&pl->sharing) ||
        !gw_list_empty(&pl->getting);
}

static int work_poll(struct proto_lane *pl)
{
    int n = 0;
    const struct gw_peer *full = NULL; /* a peer without room: its other operations, maybe thousands, are skipped */
    for (struct gw_list *l = pl->op_work.next, *next; l != &pl->op_work; l = next) {
        struct proto_op *op = container_of(l, struct proto_op, link);
        const struct gw_peer *to = op->peer;
        next = l->next;
        bool is_pieces = op->state == OP_PIECES;
        if (is_pieces && to == full) continue;
        int done = proto_op_step(pl, op);
        if (done == 0 && is_pieces) full = to;
        n += done;
    }
    for (struct gw_list *l = pl->sharing.next, *next; l != &pl->sharing; l = next) {
        next = l->next;
        n += proto_share_step(pl, container_of(l, struct proto_recv, work));
    }
    return n + proto_get_poll(pl);
}

static void lane_poll(struct gw_done *done, int err)
{
    (void)err;
    struct proto_lane *pl = container_of(done, struct proto_lane, poll);
    proto_assert_state(pl);
    int n = proto_tags_poll(pl);
    /* A program that calls MPI_Test now and then copies gw_set.get_piece bytes by R0 in each call, of any number of messages. */
    for (int64_t got, until = pl->got + gw_set.get_piece;; n += peer_progress(pl->lane)) {
        got = pl->got;
        n += (pl->n_outs ? proto_out_poll(pl) : 0) + work_poll(pl);
        if (pl->got == got || pl->got >= until || gw_list_empty(&pl->getting)) break;
    }
    req_hook_count(pl->lane, n);
    proto_assert_state(pl);
    if (has_work(pl)) return;
    pl->is_hooked = false;
    req_hook_del(pl->lane, &pl->hook);
}

void proto_lane_hook(struct proto_lane *pl)
{
    if (pl->is_hooked) return;
    pl->is_hooked = true;
    req_hook_add(pl->lane, &pl->hook);
}

bool proto_drained(struct gw_lane *lane)
{
    struct proto_lane *pl = lane_of(lane);
    if (has_work(pl) || pl->n_kept || pl->n_ahead) return false;
    for (struct lane_wire *w = NULL; (w = peer_next_net(lane, w));)
        if (w->ops->world.drained && !w->ops->world.drained(w->wire)) return false;
    /* A send that the user freed before it was complete still needs its memory read. */
    for (struct gw_list *l = pl->asked.next; l != &pl->asked; l = l->next) {
        const struct gw_req *req = container_of(l, struct proto_op, link)->req;
        if (req && req->flags & REQ_FREED) return false;
    }
    return true;
}

static uint64_t look(const uint64_t *counter) { return __atomic_load_n(counter, __ATOMIC_RELAXED); }

static void tally_add(const struct proto_lane *pl, int world, struct proto_tally *sum)
{
    const struct gw_peer *p = peer_get(pl->lane, world);
    const struct proto_tally *t = __atomic_load_n(&pl->tallies, __ATOMIC_ACQUIRE); /* [T1] pairs with proto_count() */
    if (p->ep) {
        sum->messages[PROTO_E0] += look(&p->ep->sent);
        sum->bytes[PROTO_E0] += look(&p->ep->sent_bytes);
    }
    for (int path = PROTO_E1; t && path < PROTO_PATHS; path++) {
        sum->messages[path] += look(&t[world].messages[path]);
        sum->bytes[path] += look(&t[world].bytes[path]);
    }
}

static void lane_tally(const struct proto_lane *pl, int world, struct proto_tally *sum)
{
    if (world < 0) {
        sum->messages[PROTO_E0] += look(&pl->lane->gone_sent);
        sum->bytes[PROTO_E0] += look(&pl->lane->gone_sent_bytes);
    }
    for (int w = world < 0 ? 0 : world; w < (world < 0 ? peer_numbers() : world + 1); w++) tally_add(pl, w, sum);
}

void proto_sent_to(int world, struct proto_tally *sum_out)
{
    memset(sum_out, 0, sizeof *sum_out);
    for (int i = 0; i < gw_nlanes; i++)
        if (gw_lanes[i].proto && gw_lanes[i].peers) lane_tally(lane_of(&gw_lanes[i]), world, sum_out);
}

int64_t proto_posted(void)
{
    int64_t n = 0;
    for (int i = 0; i < gw_nlanes; i++)
        if (gw_lanes[i].proto) n += match_posted_count(lane_of(&gw_lanes[i])->fast.q) + lane_of(&gw_lanes[i])->tags.n_posted;
    return n;
}

int proto_tag_max(void)
{
    struct wire_caps caps = {0};
    bool may_match = gw_set.match_mode != GW_SET_MATCH_MODE_SOFTWARE; /* else nobody opens the network for this */
    for (struct lane_wire *w = NULL; may_match && !caps.matches && (w = peer_next_net(&gw_lanes[0], w));)
        w->ops->caps(w->wire, &caps);
    return caps.matches ? caps.tag_max : INT32_MAX;
}

void proto_count(struct proto_lane *pl, struct gw_peer *p, enum proto_path path, int64_t bytes)
{
    if (path == PROTO_E0) {
        p->ep->sent++;
        p->ep->sent_bytes += (uint64_t)bytes;
        return;
    }
    if (unlikely(!pl->tallies)) {
        struct proto_tally *t = calloc((size_t)node_numbers_max(), sizeof *t);
        if (!t) return; /* counting is no reason to fail */
        /* [T1] */
        __atomic_store_n(&pl->tallies, t, __ATOMIC_RELEASE);
    }
    struct proto_tally *t = &pl->tallies[p - pl->lane->peers];
    t->messages[path]++;
    t->bytes[path] += (uint64_t)bytes;
}

/* ---- begin and end ----------------------------------------------------------------------------------------- */

static int lane_init(struct gw_lane *lane)
{
    struct proto_lane *pl = aligned_alloc(GW_CACHELINE, gw_align_up(sizeof *pl, GW_CACHELINE));
    if (!pl) return gw_fail(GW_ENOMEM, "no memory for a lane");
    memset(pl, 0, sizeof *pl);
    pl->fast.q = match_new();
    if (!pl->fast.q) {
        free(pl);
        return gw_fail(GW_ENOMEM, "no memory for the tables of message matching");
    }
    pl->lane = lane;
    for (int i = 0; i < PEER_WIRES; i++) pl->limits[i].fast_max = -1;
    proto_flow_init(pl);
    pl->sampling = TIMING_KINDS;
    pl->poll.fn = lane_poll;
    pl->hook.poll = &pl->poll;
    gw_list_init(&pl->outs);
    gw_list_init(&pl->asked);
    gw_list_init(&pl->op_work);
    gw_list_init(&pl->sharing);
    gw_list_init(&pl->getting);
    gw_list_init(&pl->kept_there);
    proto_pool_init(&pl->out_pool, sizeof(struct proto_out));
    proto_pool_init(&pl->cursors, sizeof(struct type_cursor));
    proto_pool_init(&pl->puts, FAR_PUT_BYTES);
    lane->proto = pl;
    return GW_OK;
}

int proto_init(void)
{
    for (int i = 0; i < GW_MAX_LANES; i++) gw_lanes[i].proto = NULL;
    for (int i = 0; i < gw_max64(1, gw_nlanes); i++) {
        int rc = lane_init(&gw_lanes[i]);
        if (rc != GW_OK) {
            proto_finalize();
            return rc;
        }
    }
    return GW_OK;
}

void proto_explain(void)
{
    for (int i = 0; i < gw_nlanes && (gw_log_mask & GW_LOG_PROTO); i++) {
        struct proto_tally t = {{0}, {0}};
        lane_tally(lane_of(&gw_lanes[i]), -1, &t);
        gw_explain(GW_LOG_PROTO, "lane %d sent %llu e0, %llu e1, %llu r0, %llu r1", i, (unsigned long long)t.messages[PROTO_E0],
                   (unsigned long long)t.messages[PROTO_E1], (unsigned long long)t.messages[PROTO_R0],
                   (unsigned long long)t.messages[PROTO_R1]);
    }
}

static void lane_finish(struct proto_lane *pl)
{
    if (pl->is_hooked) req_hook_del(pl->lane, &pl->hook);
    proto_pool_finish(&pl->out_pool);
    proto_pool_finish(&pl->cursors);
    proto_pool_finish(&pl->puts);
    proto_ahead_finish(pl);
    gw_arena_finish(&pl->arena);
    proto_tags_finish(pl);
    proto_cookies_finish(&pl->op_cookies);
    proto_cookies_finish(&pl->recv_cookies);
    proto_cookies_finish(&pl->ahead_cookies);
    match_free(pl->fast.q);
    free(pl->scratch);
    free(pl->notes);
    free(pl->told);
    free(pl->tallies);
    pl->lane->proto = NULL;
    pl->lane->inline_end = 0;
    free(pl);
}

void proto_finalize(void)
{
    for (int i = 0; i < GW_MAX_LANES; i++)
        if (gw_lanes[i].proto) lane_finish(gw_lanes[i].proto);
}
