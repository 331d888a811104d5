/* leaf.c -- the region of shared memory that the members of a communicator on one node have: allocation, agreement on it, freeing.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <unistd.h>

#include "base/lock.h"
#include "boot/boot.h"
#include "node/node.h"
#include "plan/plan_private.h"

struct comm_coll *plan_coll(struct gw_comm *c)
{
    if (!c->coll) {
        c->coll = calloc(1, sizeof *c->coll);
        if (!c->coll) gw_fail(GW_ENOMEM, "no memory for collectives on a communicator");
    }
    return c->coll;
}

static uint64_t pairs_of(int size) { return size <= PLAN_PAIR_MEMBERS ? (uint64_t)size * (uint64_t)size * PLAN_SLOTS : 0; }
/* How many cache lines the region has before its slots: flags, leaf_common, exposed addresses, and lines of pairs. */
static uint64_t lines_of(int size)
{
    return (uint64_t)size * (sizeof(struct leaf_flag) + sizeof(struct leaf_exposed)) + sizeof(struct leaf_common) +
        pairs_of(size) * sizeof(struct leaf_pair);
}

/* The communicator rank of the region's member i.  The members are all ranks, or those on this node. */
static int region_member(const struct comm_coll *k, int i) { return k->nodes ? plan_member(k->nodes, k->nodes->me, i) : i; }

/* Waits for member 0's message with the region.  If calls differ, this collective is given up and the next one waits for the
 * message again: members that have received it use leaves from then on, so all must. */
static int wait_for_first(struct gw_comm *c, struct comm_coll *k, int first)
{
    struct node_wait w;
    bool differs = false;
    node_wait_begin(&w);
    while (!req_is_done(k->awaited) && !differs)
        if (unlikely(node_wait_step(&w, req_progress() > 0))) differs = plan_report_one(c, first);
    node_wait_end(&w);
    if (!req_is_done(k->awaited)) {
        k->missed = c->colls;
        return GW_AGAIN;
    }
    struct gw_req *r = k->awaited;
    k->awaited = NULL;
    return p2p_stream_wait(r);
}

/* Ends the wait for member 0's message. */
static void offer_drop(struct gw_comm *c, struct comm_coll *k)
{
    if (!k->awaited) return;
    gw_lock(&c->lane->lock);
    p2p_stream_absorb(k->awaited); /* member 0 may still send it, and waits until it is received */
    gw_unlock(&c->lane->lock);
    p2p_stream_drop(k->awaited);
    k->awaited = NULL;
}

/* Member 0 allocates the region and sends its offset to the others; 0: the heap is full.  All members call this in the same
 * collective, or in a later one if calls differed. */
static int region_agree(struct gw_comm *c, struct comm_coll *k, uint64_t bytes)
{
    enum { TAG = 1 };
    struct leaf_offer *o = &k->offer;
    struct gw_req *r;
    int rc = GW_OK;
    if (k->me != 0) {
        if (!k->awaited)
            rc = p2p_stream_irecv(GW_STREAM_LEAF, o, sizeof *o, gw_type_byte, region_member(k, 0), TAG, c, &k->awaited);
        return rc < 0 ? rc : wait_for_first(c, k, region_member(k, 0));
    }
    *o = (struct leaf_offer){node_heap_alloc(bytes), c->colls};
    if (o->region) memset(node_ptr(o->region), 0, (size_t)lines_of(k->size));
    for (int i = 1; i < k->size && rc >= 0; i++) {
        rc = p2p_stream_isend(GW_STREAM_LEAF, o, sizeof *o, gw_type_byte, region_member(k, i), TAG, c, &r);
        if (rc == GW_POSTED) rc = p2p_stream_wait(r);
    }
    return rc < 0 ? rc : GW_OK;
}

/* The first number of leaf collectives that a call has, and the last one. */
static uint64_t first_of(const struct gw_comm *c, uint64_t number)
{
    return c->one_node ? number * PLAN_STRIDE : number * PLAN_NODE_STRIDE + 1;
}
static uint64_t last_of(const struct gw_comm *c, uint64_t number) { return first_of(c, number + 1) - 1; }

/* This member has left all leaf collectives up to n: nobody waits for it in them, and nobody takes its data there for good ones. */
static void leave(struct gw_comm *c, uint64_t n)
{
    struct comm_coll *k = c->coll;
    for (int i = 0; i < PLAN_SIGS; i++)
        atomic_store_explicit(&k->flags[k->me].sig[i], (uint16_t) ~(c->said >> 48), memory_order_relaxed);
    plan_raise(k, n << 20 | PLAN_FINAL, n << 20 | PLAN_FINAL);
}

static void note_given_up(struct comm_coll *k, uint64_t number, int err)
{
    atomic_store_explicit(&k->exposed[k->me].gave_up[number % LEAF_GAVE_UPS], (number + 1) << 8 | (uint64_t)leaf_error(err),
                          memory_order_release);
}

void plan_give_up(struct gw_comm *c, uint64_t number, int err)
{
    struct comm_coll *k = c->coll;
    if (!k || !k->ready) return;
    note_given_up(k, number, err);
    if (number != c->colls - 1) return; /* a request */
    leave(c, c->one_node && plan_is_within(c) ? first_of(c, number) + c->inner : last_of(c, number));
}

void plan_doubt(struct plan_exec *x)
{
    note_given_up(x->leaf, x->args->number, x->err);
    x->args->sig = (uint16_t)~x->args->sig;
}

void plan_give_up_far(struct gw_comm *c, uint64_t number, int err)
{
    for (int i = 0; i < c->size && !c->one_node && !c->remote; i++) {
        int world = group_world(c->group, i);
        struct gw_req *r = NULL;
        if (i == c->rank || (world < gw_boot.size && boot_local_rank(world) >= 0)) continue;
        if (p2p_stream_isend(GW_STREAM_LEAF, NULL, 0, gw_type_byte, i, leaf_gave_up_tag(number, leaf_error(err)), c, &r) ==
            GW_POSTED)
            p2p_stream_drop(r);
    }
}

/* For a member that gave up what was the others' first leaf collective, or some more: it takes part from the present one on; on several
 * nodes, if they are in the same call still, from the next call on, as it is not known how many stages it has missed. */
static void missed_over(struct gw_comm *c, struct comm_coll *k)
{
    uint64_t number = c->colls - 1, last;
    if (k->missed < k->offer.number) return;
    if (c->one_node)
        last = first_of(c, number) + (plan_is_within(c) ? c->inner : 0) - 1;
    else
        last = k->missed == c->colls ? last_of(c, number) : first_of(c, number) - 1;
    note_given_up(k, k->missed - 1, GW_EOTHER);
    leave(c, last);
}

static int region_make(struct gw_comm *c, struct comm_coll *k)
{
    uint64_t flags = lines_of(k->size);
    uint64_t bytes = flags + (uint64_t)k->size * PLAN_SLOTS * PLAN_SLOT_BYTES;
    if (!k->local) /* if one member alone gave up leaves, the others would wait for it */
        k->local = gw_xmalloc(sizeof *k->local * (size_t)k->size);
    for (int i = 0; i < k->size; i++) k->local[i] = boot_local_rank(group_world(c->group, region_member(k, i)));
    int rc = region_agree(c, k, bytes);
    if (rc != GW_OK) return rc;
    k->region = k->offer.region;
    if (k->region > gw_node.bytes || bytes > gw_node.bytes - k->region)
        return gw_fail(GW_EOTHER, "rank %d of the communicator shares memory that there is not", region_member(k, 0));
    k->ready = k->region != 0;
    if (k->ready) {
        node_heap_join();
        k->flags = node_ptr(k->region);
        k->buffers = (char *)k->flags + flags;
        struct leaf_common *common = (struct leaf_common *)(k->flags + k->size);
        if (gw_node.oversubscribed) k->common = common;
        k->exposed = (struct leaf_exposed *)(common + 1);
        if (pairs_of(k->size)) k->pairs = (struct leaf_pair *)(k->exposed + k->size);
        missed_over(c, k);
    } else
        GW_EXPLAIN(GW_LOG_COLL, "the shared heap is full (GODWIT_HEAP): %s uses messages", c->name);
    return GW_OK;
}

bool plan_leaf_ready(struct gw_comm *c)
{
    struct comm_coll *k = c->coll;
    /* A call has numbers for so many collectives; there is none that has as many. */
    if (likely(k && k->asked)) return c->has_leaves = k->ready && !(plan_is_within(c) && c->inner >= PLAN_STRIDE - 1);
    if (!c->one_node || c->size < 2 || !(k = plan_coll(c))) return false;
    k->asked = true;
    k->size = c->size;
    k->me = c->rank;
    int rc = region_make(c, k);
    if (rc != GW_OK) k->ready = false;
    k->asked = rc != GW_AGAIN;
    c->has_leaves = k->ready;
    return k->ready;
}

bool plan_node_leaf_ready(struct gw_comm *c)
{
    struct comm_coll *k = c->coll;
    if (k->asked) return k->ready;
    k->size = plan_node_size(k->nodes, k->nodes->me);
    k->me = k->nodes->place;
    int rc = k->size > 1 ? region_make(c, k) : GW_OK;
    if (rc != GW_OK) k->ready = false;
    k->asked = rc != GW_AGAIN;
    return k->ready;
}

/* Can all members read each other's memory through the kernel?  Collective; the same on all members. */
bool plan_pull_ready(struct gw_comm *c)
{
    struct comm_coll *k = c->coll;
    if (likely(k->pull)) return k->pull == 2;
    struct leaf_exposed *mine = &k->exposed[c->rank];
    bool all = true;
    for (int i = 0; i < c->size && all; i++) {
        struct gw_peer *p = comm_peer(c, i);
        struct node_wait w;
        node_wait_begin(&w);
        gw_lock(&c->lane->lock);
        while (!p->ep && peer_connect(c->lane, p) == GW_AGAIN) node_wait_step(&w, req_progress_locked(c->lane) > 0);
        all = p->ep && wire_may_still_read(p->ep);
        gw_unlock(&c->lane->lock);
        node_wait_end(&w);
    }
    atomic_store_explicit(&mine->can_pull, all ? 2 : 1, memory_order_release);
    node_ring_many(k->local, c->size);
    for (int i = 0; i < c->size; i++) {
        struct node_wait w;
        uint32_t answer;
        bool differs = false;
        node_wait_begin(&w);
        while (!differs && !(answer = atomic_load_explicit(&k->exposed[i].can_pull, memory_order_acquire)))
            if (unlikely(node_wait_step(&w, req_progress() > 0))) differs = plan_report_one(c, i);
        node_wait_end(&w);
        if (differs) return false; /* the algorithm chosen instead is correct, too */
        all = all && answer == 2;
    }
    k->pull = all ? 2 : 1;
    return all;
}

/* The heap frees the region when the last member has left it, as others may still read it. */
static void coll_free(struct gw_comm *c)
{
    struct comm_coll *k = c->coll;
    offer_drop(c, k);
    plan_counters_close(c);
    if (k->copied) node_heap_free(k->copied);
    if (k->ready) node_heap_leave(k->region, k->size);
    plan_nodes_free(k->nodes);
    free(k->local);
    free(k->tmp);
    free(k);
    c->coll = NULL;
}

int plan_init(void)
{
    comm_upcalls.free_coll = coll_free;
    plan_start_init();
    return GW_OK;
}
