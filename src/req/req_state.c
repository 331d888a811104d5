/* req_state.c -- are requests in the states of req.h?  For tests, and for a debugger's call.
 *
 *   in the pool   flags 0, nothing to call, an id of its own
 *   ACTIVE        not done; a persistent one may be neither ACTIVE nor in the pool (INACTIVE)
 *   DONE          `notify` has been called; FREED ones are back in the pool
 *   STATIC        gw_req_sent and the like, which are DONE; with ACTIVE that of a blocking call, in its own memory, which has no id
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "req/req_private.h"

static const char *identity_broken(const struct gw_req *r)
{
    return gw_obj_lookup(r->obj.id, GW_KIND_REQ) != &r->obj ? "a request has an id of its own" : NULL;
}

const char *req_pool_broken(struct gw_lane *lane)
{
    const struct gw_list *behind = lane->free_reqs; /* goes half as fast, so what goes round meets it */
    int n = 0;
    for (const struct gw_list *l = behind; l; l = l->next, n++) {
        const struct gw_req *r = container_of(l, struct gw_req, link);
        if (n % 2 && (behind = behind->next) == l && n > 1) return "the links of the pool";
        if (r->lane != lane->index) return "a request is in the pool of its lane";
        if (r->flags != 0) return "a request in the pool has no flags";
        if (r->notify || r->final) return "a request in the pool has nothing to call";
        const char *what = identity_broken(r);
        if (what) return what;
    }
    return NULL;
}

const char *req_broken(const struct gw_req *r)
{
    bool is_done = req_is_done(r);
    if (r->kind > REQ_USER || r->lane >= GW_MAX_LANES) return "the kind and the lane of a request";
    if (r->flags & REQ_FINALIZE && !r->final) return "REQ_FINALIZE names what is called";
    if ((r->flags & ~REQ_FINALIZE) == (REQ_STATIC | REQ_ACTIVE))
        return r->obj.id ? "the request of a blocking call has no id" : NULL;
    if (r->flags & REQ_STATIC)
        return is_done && r->flags == REQ_STATIC && !r->notify ? identity_broken(r) : "a static request is complete";
    if (!(r->flags & (REQ_ACTIVE | REQ_PERSISTENT))) return "a request outside the pool is active or persistent";
    if (r->flags & REQ_FREED && is_done) return "a freed request goes back to the pool when it is complete";
    if (is_done && r->notify) return "notify is called before a request is done";
    return identity_broken(r);
}
