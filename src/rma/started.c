/* started.c -- one-sided operations with an MPI request, on targets reached by messages or the wire.  The request completes with
 * the last of the operation's parts (messages and copies).
 *
 *   new [rma_started_new] --parts begin--> the call returns [rma_started_end] --the last part is over--> unpacked, req_complete()
 *
 * The call itself counts as a part, so that the request cannot complete before all parts are started.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma/rma_private.h"

#include <stdlib.h>

_Static_assert(sizeof(struct rma_started) <= GW_REQ_BYTES, "it lies in the memory of a request");

/* Writes the error text.  Runs in the call that retires the request, as the text belongs to the thread that returns the error. */
static void say_why(struct gw_done *done, int err)
{
    const struct rma_started *s = container_of(done, struct rma_started, say);
    if (err == GW_ERMA_RANGE)
        gw_fail(err, "the memory at 0x%llx is none that rank %d attached to the window", (unsigned long long)s->refused_at,
                s->refused_by);
    else if (err < 0)
        gw_fail(err, "a put, get or accumulate with a request did not reach its target");
}

struct rma_started *rma_started_new(struct rma_win *w)
{
    struct gw_lane *lane = w->comm->lane;
    gw_lock(&lane->lock);
    struct rma_started *s = (struct rma_started *)req_new(lane, REQ_GENERAL);
    gw_unlock(&lane->lock);
    if (!s) return NULL;
    memset((char *)s + sizeof s->req, 0, GW_REQ_BYTES - sizeof s->req); /* it was another kind of request before */
    s->req.err = GW_OK;
    s->req.errctx = (const void *)(uintptr_t)w->obj.id;
    gw_status_empty(&s->req.status);
    atomic_store_explicit(&s->parts.n, 1, memory_order_relaxed);
    s->parts.request = s;
    s->say.fn = say_why;
    return s;
}

void rma_started_keep(struct rma_started *s, char *packed, int64_t bytes)
{
    assert(!s->packed);
    s->packed = packed;
    s->bytes = bytes;
}

void rma_started_unpack(struct rma_started *s, void *buf, int64_t count, struct gw_type *t)
{
    assert(s->packed && !s->type);
    s->buf = buf;
    s->count = count;
    s->type = type_hold(t);
}

void rma_started_over(struct rma_started *s)
{
    s->req.err = atomic_load_explicit(&s->parts.err, memory_order_relaxed);
    if (s->type && s->req.err == GW_OK) {
        struct type_cursor c;
        type_cursor_init(&c, gw_data_host(s->buf, s->count, s->type));
        type_cursor_unpack(&c, s->packed, s->bytes);
    }
    if (s->type) type_release(s->type);
    free(s->packed);
    if (s->req.err < 0) {
        s->req.flags |= REQ_FINALIZE;
        s->req.final = &s->say;
    }
    req_complete(&s->req);
}

int rma_started_end(struct rma_started *s, int rc, struct gw_req **req_out)
{
    struct gw_lane *lane = &gw_lanes[s->req.lane];
    gw_lock(&lane->lock);
    if (rc != GW_OK) s->req.flags |= REQ_FREED; /* the program does not get it; parts may still be under way */
    rma_counter_end(&s->parts, GW_OK);
    gw_unlock(&lane->lock);
    if (rc == GW_OK) *req_out = &s->req;
    return rc;
}
