/* listen.c -- answering messages from within progress: one posted receive of a tag, whose message is handled once the lane's lock is
 * free.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/p2p.h"
#include "base/lock.h"

void p2p_stream_then(struct gw_comm *c, int rc, struct gw_req *r, struct gw_done *done)
{
    gw_lock(&c->lane->lock);
    bool is_over = rc != GW_POSTED || req_is_done(r);
    if (rc == GW_POSTED && is_over) rc = r->err < 0 ? p2p_stream_error(r) : GW_OK;
    if (is_over)
        done->fn(done, rc);
    else
        p2p_stream_chain(r, done);
    if (is_over && r && !(r->flags & REQ_STATIC)) req_recycle(r);
    gw_unlock(&c->lane->lock);
}

/* Lane's lock held: keeps source and size of the message; bytes -1: it was too long, and is dropped. */
static void came(struct p2p_listener *l, int err)
{
    if (err < 0 && err != GW_ETRUNCATE) gw_die("what another rank asked of a window or file did not arrive (error %d)", err);
    assert(l->req && !atomic_load_explicit(&l->is_closed, memory_order_relaxed));
    l->source = l->req->status.source;
    l->bytes = err < 0 ? -1 : gw_status_bytes(&l->req->status);
}

/* p2p_listen_end() sends a message to this process itself. */
static bool is_last(const struct p2p_listener *l)
{
    return atomic_load_explicit(&l->is_closing, memory_order_acquire) && l->source == l->comm->rank && l->bytes == 0;
}

/* Posts the next receive.  False: the listener is closing. */
static bool handle(struct p2p_listener *l)
{
    if (is_last(l)) {
        atomic_store_explicit(&l->is_closed, true, memory_order_release);
        return false;
    }
    if (l->bytes < 0)
        gw_refused("a request of a window or file", "length beyond", l->room);
    else if (l->source < 0 || l->source >= l->comm->size)
        gw_refused("a request of a window or file", "sender", l->source);
    else
        l->heard->fn(l->heard, GW_OK);
    return true;
}

static void listen_on(struct p2p_listener *l)
{
    struct gw_comm *c = l->comm;
    bool is_here;
    do {
        int rc = p2p_stream_irecv(GW_STREAM_P2P, l->buf, l->room, gw_type_byte, GW_ANY_SOURCE, l->tag, c, &l->req);
        if (rc < 0) gw_die("a rank cannot listen to what others ask of its window or file: %s", gw_fail_text());
        gw_lock(&c->lane->lock);
        is_here = req_is_done(l->req);
        if (is_here) came(l, l->req->err);
        p2p_stream_chain(l->req, &l->arrived);
        gw_unlock(&c->lane->lock);
    } while (is_here && handle(l));
}

static void arrived(struct gw_done *done, int err)
{
    struct p2p_listener *l = container_of(done, struct p2p_listener, arrived);
    came(l, err);
    req_work_add(l->comm->lane, &l->work);
}

static void work_run(struct gw_done *done, int err)
{
    struct p2p_listener *l = container_of(done, struct p2p_listener, work.run);
    (void)err;
    if (handle(l)) listen_on(l);
}

void p2p_listen(struct p2p_listener *l)
{
    l->arrived.fn = arrived;
    l->work.run.fn = work_run;
    l->work.by_service = l->by_service;
    listen_on(l);
}

static bool is_closed(void *arg) { return atomic_load_explicit(&((struct p2p_listener *)arg)->is_closed, memory_order_acquire); }

int p2p_listen_end(struct p2p_listener *l)
{
    struct gw_req *r = NULL;
    atomic_store_explicit(&l->is_closing, true, memory_order_release);
    int rc = p2p_stream_isend(GW_STREAM_P2P, NULL, 0, gw_type_byte, l->comm->rank, l->tag, l->comm, &r);
    if (rc == GW_POSTED) rc = p2p_stream_wait(r);
    if (rc >= 0) req_block_until(l->comm->lane, is_closed, l);
    return rc < 0 ? rc : GW_OK;
}
