/* idup.c -- non-blocking duplication (MPI 4.1 section 7.4.2).
 *
 * What a duplicate takes over is copied in the call, as MPI says: the object is made there, with a handle, and gets its context id
 * when the members have agreed on one.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "base/base.h"
#include "base/lock.h"
#include "plan/plan.h"
#include "world/world_private.h"

struct idup {
    struct coll_agree agree;
    struct ids ids;
    bool verifies;        /* the second exchange of the agreement is under way */
    struct gw_comm *comm; /* held */
};

static void propose(struct idup *d)
{
    d->verifies = false;
    world_ids_propose(&d->ids, d->agree.values);
}

static void agreed(struct gw_done *done, int err)
{
    struct idup *d = container_of(done, struct idup, agree.over);
    (void)err;
    assert(d->agree.more); /* until the id is won */
    if (!d->verifies) {
        d->verifies = true;
        world_ids_take(&d->ids, d->agree.result, d->agree.values);
        if (world_ids_check(&d->ids) != GW_OK) gw_die("%s", gw_fail_text());
    } else if (world_ids_won(&d->ids, d->agree.result)) {
        comm_set_id(d->comm, (uint32_t)d->ids.id);
        d->agree.more = false;
    } else {
        propose(d);
    }
}

static void ended(struct gw_done *done, int err)
{
    struct idup *d = container_of(done, struct idup, agree.end);
    (void)err;
    world_ids_end(&d->ids);
    comm_release(d->comm);
    free(d);
}

/* This process takes part in the agreement although its own copy has failed, because the others wait for it. */
static void give_up(struct gw_req *r)
{
    struct gw_lane *lane = &gw_lanes[r->lane];
    gw_lock(&lane->lock);
    if (req_is_done(r))
        req_recycle(r);
    else
        r->flags |= REQ_FREED;
    gw_unlock(&lane->lock);
}

static int idup_with(struct gw_comm *c, struct gw_info *info, struct gw_comm **comm_out, struct gw_req **req_out)
{
    struct gw_comm *new;
    struct gw_req *r;
    struct idup *d = calloc(1, sizeof *d);
    if (!d) return gw_fail(GW_ENOMEM, "no memory for a communicator");
    plan_enter(c, PLAN_MAKING, GW_ANY_SOURCE);
    int rc = c->remote ? comm_create_inter(c->group, c->remote, GW_CTX_ID_NONE, c, &new)
                       : comm_create_object(c->group, GW_CTX_ID_NONE, c, &new);
    if (rc != GW_OK) {
        free(d);
        return rc;
    }
    int copied = world_comm_copy_into(c, info, new);
    d->agree.over.fn = agreed;
    d->agree.end.fn = ended;
    d->agree.more = true;
    d->comm = comm_hold(new);
    world_ids_begin(&d->ids, c->remote ? 2 : 1, c->size == 1 && !c->remote);
    d->ids.is_request = true;
    propose(d);
    rc = coll_agree_start(c, &d->agree, &r);
    if (rc != GW_OK) {
        ended(&d->agree.end, rc);
    } else if (copied != GW_OK) {
        give_up(r);
        rc = copied;
    }
    if (rc != GW_OK) {
        comm_release(new);
        return rc;
    }
    *comm_out = new;
    *req_out = r;
    return GW_OK;
}

int world_comm_idup(struct gw_comm *c, struct gw_comm **comm_out, struct gw_req **req_out)
{
    return idup_with(c, NULL, comm_out, req_out);
}

int world_comm_idup_with_info(struct gw_comm *c, struct gw_info *info, struct gw_comm **comm_out, struct gw_req **req_out)
{
    return idup_with(c, info, comm_out, req_out);
}
