/* proto_get.c -- R0: the receiver copies from the sender's memory, then sends FIN.
 *
 * One step copies at most gw_set.get_piece bytes, so that a huge message does not block the lane; later rounds of progress copy the rest.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"
#include "base/os.h"
#include "base/settings.h"
#include "base/time.h"

#include <limits.h>
#include <sys/uio.h>

enum { GET_IOV = 128 };

static void get_over(struct proto_lane *pl, struct proto_recv *r)
{
    assert(r->state == RECV_GETTING && !r->wire_busy);
    gw_list_del(&r->work);
    if (r->cursor) proto_pool_give(&pl->cursors, r->cursor);
    r->cursor = NULL;
    if (gw_list_empty(&pl->getting)) pl->getting_from = 0;
    proto_ctl_send(pl, peer_get(pl->lane, r->world), PROTO_FIN, (struct proto_ctl){r->cookie, 0}, NULL, 0);
    proto_recv_finish(r);
}

/* The wire cannot read the sender's memory, or the blocks are too small for it to be quicker: requests the rest in pieces (R1). */
static void get_give_up(struct proto_lane *pl, struct proto_recv *r, bool is_doubtful)
{
    gw_list_del(&r->work);
    if (r->cursor) type_cursor_seek(r->cursor, r->got);
    proto_pieces_ask(pl, r, is_doubtful);
}

static GW_COLD void get_failed(struct proto_lane *pl, struct proto_recv *r, int err, const struct iovec *iov, int n)
{
    const void *at = NULL;
    for (int i = 0; err == GW_EBUFFER && i < n && !at; i++) at = gw_memory_fault(iov[i].iov_base, (int64_t)iov[i].iov_len, true);
    if (!at) {
        get_give_up(pl, r, err == GW_EPEERBUFFER);
        return;
    }
    proto_recv_fault(r, err, (uintptr_t)at);
    get_over(pl, r);
}

static void get_done(struct gw_done *done, int err)
{
    struct proto_recv *r = container_of(done, struct proto_recv, done);
    struct proto_lane *pl = lane_of(&gw_lanes[r->req.lane]);
    assert(r->state == RECV_GETTING && r->wire_busy);
    r->wire_busy = false;
    if (err) {
        get_give_up(pl, r, false);
        return;
    }
    r->got += (int64_t)r->job; /* the size of the piece: job has no other use in this state */
    if (r->got == r->want) get_over(pl, r);
}

/* The next piece as runs of local memory; 0 if they are too small for this path. */
static int next_runs(struct proto_recv *r, struct iovec *iov, int64_t *bytes_out)
{
    /* A network card reads by itself, so one request is for everything. */
    int64_t max = gw_min64(r->want - r->got, r->key ? (int64_t)1 << 30 : gw_set.get_piece);
    if (r->key && !gw_data_is_run(&r->data)) return 0;
    if (gw_data_is_run(&r->data)) {
        iov[0] = (struct iovec){r->data.run + r->got, (size_t)max};
        *bytes_out = max;
        return 1;
    }
    int n = type_cursor_iov(r->cursor, iov, GET_IOV, max, bytes_out);
    return n && *bytes_out / n >= gw_set.iov_block_min ? n : 0;
}

/* Order in which receives are served: the ranks of a node that exchange messages pair off in it. */
static inline int turn_of(const struct gw_peer *p) { return p->ep->place ^ gw_node.me; }

int proto_get_step(struct proto_lane *pl, struct proto_recv *r)
{
    assert(r->state == RECV_GETTING && r->got < r->want);
    struct iovec iov[GET_IOV];
    int64_t bytes;
    int n = next_runs(r, iov, &bytes);
    if (n == 0) {
        get_give_up(pl, r, false);
        return 1;
    }
    struct gw_peer *p = peer_get(pl->lane, r->world);
    r->done.fn = get_done;
    r->job = (uint64_t)bytes;
    pl->getting_from = turn_of(p);
    uint64_t since = gw_ticks();
    int rc = p->ep->ops->get(p->ep, iov, n, r->addr + (uint64_t)r->got, r->key, &r->done);
    if (rc == GW_OK) {
        pl->got += bytes;
        if (gw_data_is_run(&r->data) && r->want >= gw_set.cma_min)
            proto_adaptive_copied(pl, r->is_huge ? TIMING_GET_HUGE : TIMING_GET, p, r->want, bytes, gw_ticks() - since);
        r->got += bytes;
        if (r->got == r->want) get_over(pl, r);
    } else if (rc == GW_POSTED) {
        r->wire_busy = true;
    } else if (rc == GW_AGAIN) {
        if (r->cursor) type_cursor_seek(r->cursor, r->got);
        return 0;
    } else {
        get_failed(pl, r, rc, iov, n);
    }
    return 1;
}

/* Of the receives that wait for their turn (of the first of them, where there are many) the one whose sender comes next in that
 * order: in an exchange, two that read from one sender at a time take twice as long. */
static struct proto_recv *get_next(struct proto_lane *pl)
{
    enum { LOOK_AT = 32 };
    struct proto_recv *best = NULL;
    int best_ahead = INT_MAX, n = 0;
    for (struct gw_list *l = pl->getting.next; l != &pl->getting && n < LOOK_AT; l = l->next) {
        struct proto_recv *r = container_of(l, struct proto_recv, work);
        if (r->wire_busy) continue;
        int ahead = turn_of(peer_get(pl->lane, r->world)) - pl->getting_from;
        if (ahead <= 0) ahead += INT_MAX / 2; /* after those that are still ahead */
        if (ahead < best_ahead) best_ahead = ahead, best = r;
        n++;
    }
    return best;
}

/* One piece at a time, so that messages that arrive meanwhile are handled in between. */
int proto_get_poll(struct proto_lane *pl)
{
    struct proto_recv *r = get_next(pl);
    return r ? proto_get_step(pl, r) : 0;
}
