/* user.c -- generalized requests (MPI 4.1 section 13.2): operations of the program's own behind a request.
 *
 *   ACTIVE --complete--> DONE --wait/test: query, free--> (pool)
 *   ACTIVE --Request_free--> FREED --complete: free--> (pool);  DONE --Request_free: free--> (pool)
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "req/req_private.h"
#include "base/lock.h"

const struct req_user_calls *req_call_user;

struct user {
    struct gw_req req;
    struct gw_done retired;
    struct req_user_fns fns;
};
_Static_assert(sizeof(struct user) <= GW_REQ_BYTES, "fits a pooled request");

static struct user *user_of(struct gw_req *r)
{
    assert(r->kind == REQ_USER);
    return container_of(r, struct user, req);
}

int req_user_query(struct gw_req *r)
{
    gw_status_empty(&r->status);
    return req_call_user->query(&user_of(r)->fns, &r->status);
}

/* gw_req.final: called by the wait or test that retires the request.  The standard returns the code of the last function, free; an error of
 * query is returned if free has none. */
static void retire_user(struct gw_done *d, int err)
{
    struct user *u = container_of(d, struct user, retired);
    err = req_user_query(&u->req);
    int code = err < 0 ? gw_error_class(err) : 0;
    int free_err = req_call_user->free(&u->fns);
    if (free_err >= 0 && err < 0)
        err = gw_fail_callback(code, "the query function of a generalized request answered error code %d", code);
    u->req.err = free_err < 0 ? free_err : err;
}

int req_user_start(void (*query)(void), void (*free_)(void), void (*cancel)(void), void *extra_state, struct gw_req **req_out)
{
    if (!query || !free_ || !cancel)
        return gw_fail(GW_EARG, "%s is NULL; it must be a function", !query ? "query_fn" : !free_ ? "free_fn" : "cancel_fn");
    struct gw_lane *lane = &gw_lanes[0];
    gw_lock(&lane->lock);
    struct user *u = (struct user *)req_new(lane, REQ_USER);
    if (u) {
        u->req.err = GW_OK;
        u->req.final = &u->retired;
        u->req.flags |= REQ_FINALIZE;
        u->retired.fn = retire_user;
        u->fns = (struct req_user_fns){{.fn = query}, {.fn = free_}, {.fn = cancel}, extra_state};
        *req_out = &u->req;
    }
    gw_unlock(&lane->lock);
    return u ? GW_OK : GW_ENOMEM;
}

/* The request is freed by the user and complete: no other thread refers to it. */
static int user_end(struct gw_req *r)
{
    int rc = req_call_user->free(&user_of(r)->fns);
    struct gw_lane *lane = &gw_lanes[r->lane];
    gw_lock(&lane->lock);
    req_recycle(r);
    gw_unlock(&lane->lock);
    return rc;
}

int req_user_complete(struct gw_req *r)
{
    if (r->kind != REQ_USER) return gw_fail(GW_EREQUEST, "the request is not a generalized one (MPI_Grequest_start)");
    struct gw_lane *lane = &gw_lanes[r->lane];
    gw_lock(&lane->lock);
    bool was_freed = r->flags & REQ_FREED, was_done = req_is_done(r);
    if (!was_freed && !was_done) req_complete(r);
    gw_unlock(&lane->lock);
    if (was_done) return gw_fail(GW_EREQUEST, "the generalized request is complete already");
    return was_freed ? user_end(r) : GW_OK;
}

int req_user_cancel(struct gw_req *r) { return req_call_user->cancel(&user_of(r)->fns, req_is_done(r)); }

int req_user_free(struct gw_req **slot)
{
    struct gw_req *r = *slot;
    *slot = NULL;
    struct gw_lane *lane = &gw_lanes[r->lane];
    gw_lock(&lane->lock);
    bool was_done = req_is_done(r);
    if (!was_done) r->flags |= REQ_FREED; /* req_user_complete() recycles it */
    gw_unlock(&lane->lock);
    return was_done ? user_end(r) : GW_OK;
}

void req_user_tag(struct gw_req *r, uint8_t abi)
{
    struct req_user_fns *f = &user_of(r)->fns;
    f->query.abi = f->free.abi = f->cancel.abi = abi;
}
