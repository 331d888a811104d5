/* req_state_test.c -- a request's states from the pool and back, and each way in which they can be wrong is told.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "req/req_private.h"
#include "base/settings.h"

#include <stdlib.h>

#include "../../test/unit.h"

static struct gw_lane *const lane = &gw_lanes[0];
static int notified;
static void notify(struct gw_done *d, int err)
{
    (void)d;
    notified += err == GW_ETRUNCATE ? 100 : 1;
}

static int pool(void)
{
    int n = 0;
    for (struct gw_list *l = lane->free_reqs; l; l = l->next) n++;
    return n;
}
static void expect(const char *what, const char *begin) /* NULL, NULL: all is right */
{
    CHECK(!what == !begin);
    if (what && begin) CHECK_STR(what, begin);
}

/* POOL -> ACTIVE -> DONE -> POOL, and with FREED straight back. */
static void life(void)
{
    struct gw_done done = {.fn = notify};
    struct gw_req *r = req_new(lane, REQ_RECV);
    uint32_t id = r->obj.id;
    CHECK_EQ(pool(), CHUNK_REQS - 1);
    expect(req_pool_broken(lane), NULL);
    expect(req_broken(r), NULL);
    CHECK(r->flags == REQ_ACTIVE && r->kind == REQ_RECV && !req_is_done(r));
    r->notify = &done;
    r->err = GW_ETRUNCATE;
    expect(req_broken(r), NULL);
    req_complete(r);
    CHECK(notified == 100 && req_is_done(r) && !r->notify);
    expect(req_broken(r), NULL);
    r->final = &done, r->status.cancelled = 1;
    req_recycle(r);
    CHECK(r->obj.id != id && gw_obj_lookup(id, GW_KIND_REQ) == NULL); /* the old handle is no handle */
    CHECK_EQ(pool(), CHUNK_REQS);
    expect(req_pool_broken(lane), NULL);

    CHECK(req_new(lane, REQ_SEND) == r); /* the one that is still in cache */
    CHECK(r->err == GW_OK && !r->final && !r->status.cancelled);
    r->flags |= REQ_FREED;
    expect(req_broken(r), NULL);
    req_complete(r);
    CHECK_EQ(pool(), CHUNK_REQS);
    expect(req_pool_broken(lane), NULL);
}

/* All of a chunk and one more; every id another one. */
static void many(void)
{
    struct gw_req *r[CHUNK_REQS + 1];
    for (int i = 0; i <= CHUNK_REQS; i++) {
        r[i] = req_new(lane, REQ_COLL);
        expect(req_broken(r[i]), NULL);
        for (int k = 0; k < i; k++) CHECK(r[i] != r[k] && r[i]->obj.id != r[k]->obj.id);
    }
    CHECK_EQ(pool(), CHUNK_REQS - 1);
    for (int i = 0; i <= CHUNK_REQS; i++) req_recycle(r[i]);
    CHECK_EQ(pool(), 2 * CHUNK_REQS);
    expect(req_pool_broken(lane), NULL);
}

static void wrong_in_the_pool(void)
{
    struct gw_req *r = container_of(lane->free_reqs->next, struct gw_req, link);
    struct gw_done done = {.fn = notify};
    r->flags = REQ_ACTIVE;
    expect(req_pool_broken(lane), "a request in the pool has no flags");
    r->flags = 0, r->final = &done;
    expect(req_pool_broken(lane), "a request in the pool has nothing to call");
    r->final = NULL, r->lane = 1;
    expect(req_pool_broken(lane), "a request is in the pool of its lane");
    r->lane = 0, r->obj.id ^= 1;
    expect(req_pool_broken(lane), "a request has an id of its own");
    r->obj.id ^= 1;
    struct gw_list *next = r->link.next;
    r->link.next = &r->link;
    expect(req_pool_broken(lane), "the links of the pool");
    r->link.next = next;
    expect(req_pool_broken(lane), NULL);
}

static void wrong_outside(void)
{
    struct gw_done done = {.fn = notify};
    struct gw_req *r = req_new(lane, REQ_SEND);
    r->flags = 0;
    expect(req_broken(r), "a request outside the pool is active or persistent");
    r->flags = REQ_PERSISTENT;
    expect(req_broken(r), NULL);
    CHECK(req_is_inactive(r));
    r->flags = REQ_ACTIVE | REQ_FINALIZE;
    expect(req_broken(r), "REQ_FINALIZE names what is called");
    r->final = &done;
    expect(req_broken(r), NULL);
    r->flags = REQ_ACTIVE, r->notify = &done, r->done = 1;
    expect(req_broken(r), "notify is called before a request is done");
    r->notify = NULL, r->flags |= REQ_FREED;
    expect(req_broken(r), "a freed request goes back to the pool when it is complete");
    r->flags = REQ_ACTIVE, r->kind = REQ_USER + 1;
    expect(req_broken(r), "the kind and the lane of a request");
    r->kind = REQ_SEND;
    req_recycle(r);
    gw_req_sent.done = 0;
    expect(req_broken(&gw_req_sent), "a static request is complete");
    gw_req_sent.done = 1;
    expect(req_broken(&gw_req_sent), NULL);
    expect(req_broken(&gw_req_procnull), NULL);
    struct gw_req blocking = {.flags = REQ_STATIC | REQ_ACTIVE, .kind = REQ_RECV};
    expect(req_broken(&blocking), NULL);
    blocking.obj.id = 1;
    expect(req_broken(&blocking), "the request of a blocking call has no id");
}

int main(void)
{
    setenv("GODWIT_SINGLETON", "1", 1);
    gw_settings_load();
    req_init();
    life();
    many();
    wrong_in_the_pool();
    wrong_outside();
    req_finalize();
    return unit_end();
}
