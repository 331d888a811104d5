/* counters.c -- counters in the memory of the members that speak for their nodes, which the network raises (wire_ops.copy.atomic): a round in which
 * each of them tells one other that it is there needs no message, and no processor at the other end where a card does it.
 *
 * In round r of a barrier, member i raises word r of the member that its step sends to, to the barrier's number, and waits until its own word
 * r is that at least.  One member alone raises a word; the network takes the maximum, so that a word never falls, whatever order operations
 * are done in, and a member that has given up a barrier, as calls differed, is in step again with its next one.
 *
 * The words are read by the processor: libfabric's providers have written a sum or a maximum to memory when it is complete, and nobody else
 * writes there.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "base/count.h"
#include "base/lock.h"
#include "boot/boot.h"
#include "plan/plan_private.h"

enum { ROUNDS = 31 };
struct counter { /* of another member */
    struct gw_done done;
    struct plan_counters *of;
    _Atomic bool is_out; /* an operation on it is under way */
    struct plan_counter_place to;
};
struct plan_counters {
    _Atomic uint64_t words[ROUNDS] GW_ALIGNED(GW_CACHELINE); /* the network raises them */
    struct lane_wire *net;
    uint64_t key;
    uint64_t raised_to; /* what this member has told in the round `raised_in`, its last one */
    int raised_in;
    bool is_soft;    /* the network is software */
    _Atomic int err; /* of an operation */
    struct counter each[ROUNDS];
};

/* ---- making them ----------------------------------------------------------------------------------------------------------------- */
static struct lane_wire *net_of(struct gw_lane *lane, bool is_forced)
{
    for (struct lane_wire *net = NULL; (net = peer_next_net(lane, net));) {
        struct wire_caps caps = {0};
        net->ops->caps(net->wire, &caps);
        if (!caps.keys || !net->ops->copy.atomic || (caps.soft && !is_forced)) continue;
        gw_lock(&lane->lock);
        uint32_t most = net->ops->copy.atomic_most(net->wire, GW_ELEM_U64, WIRE_ATOMIC_MAX);
        gw_unlock(&lane->lock);
        if (most > 0) return net;
    }
    return NULL;
}

/* Does this network reach all that speak for other nodes?  The same on all members: `reaches` is the same at both ends. */
static bool reaches_all(struct gw_comm *c, const struct plan_nodes *n, const struct lane_wire *net)
{
    for (int i = 0; i < n->n; i++)
        if (i != n->me && peer_route(c->lane, group_world(c->group, plan_member(n, i, 0))) != net) return false;
    return true;
}

enum plan_counters_are plan_counters_are(struct gw_comm *c)
{
    const struct comm_coll *k = c->coll;
    return !k || !k->counters_asked ? PLAN_COUNTERS_NOT_ASKED : k->has_counters ? PLAN_COUNTERS_THERE : PLAN_COUNTERS_NONE;
}

bool plan_counters_may(struct gw_comm *c, bool is_forced)
{
    const struct plan_nodes *n = plan_nodes(c);
    if (c->coll) c->coll->counters_asked = true;
    if (!n || n->n < 2) return false;
    if (is_forced) return true; /* the members agree on whether all can */
    struct lane_wire *net = net_of(c->lane, false);
    return net && reaches_all(c, n, net);
}

struct plan_counter_place plan_counters_offer(struct gw_comm *c, bool is_forced)
{
    struct comm_coll *k = plan_coll(c);
    struct plan_counter_place place = {0, 0};
    struct lane_wire *net = k && k->nodes->place == 0 ? net_of(c->lane, is_forced) : NULL;
    if (!net || !reaches_all(c, k->nodes, net)) return place;
    struct plan_counters *new = aligned_alloc(GW_CACHELINE, gw_align_up(sizeof *new, GW_CACHELINE));
    if (!new) return place;
    memset(new, 0, sizeof *new);
    struct wire_caps caps = {0};
    net->ops->caps(net->wire, &caps);
    new->net = net, new->is_soft = caps.soft;
    gw_lock(&c->lane->lock);
    int rc = net->ops->copy.expose(net->wire, new->words, sizeof new->words, &new->key);
    gw_unlock(&c->lane->lock);
    if (rc != GW_OK) {
        free(new);
        return place;
    }
    k->counters = new;
    return (struct plan_counter_place){(uint64_t)(uintptr_t) new->words, new->key};
}

static bool is_any_out(const struct plan_counters *k)
{
    for (int i = 0; i < ROUNDS; i++)
        if (atomic_load_explicit(&k->each[i].is_out, memory_order_acquire)) return true; /* [C1] */
    return false;
}

/* What came in is complete: this member has waited for what raises its words. */
void plan_counters_close(struct gw_comm *c)
{
    struct plan_counters *k = c->coll->counters;
    if (!k) return;
    while (is_any_out(k))
        if (req_progress() == 0) gw_yield();
    gw_lock(&c->lane->lock);
    k->net->ops->copy.conceal(k->net->wire, k->key);
    gw_unlock(&c->lane->lock);
    free(k);
    c->coll->counters = NULL;
}

/* The operation has been done there, or has failed; the lane's lock is held. */
static void raised(struct gw_done *done, int err)
{
    struct counter *t = container_of(done, struct counter, done);
    if (err < 0) atomic_store_explicit(&t->of->err, err, memory_order_relaxed);
    atomic_store_explicit(&t->is_out, false, memory_order_release); /* [C1] */
}

bool plan_counters_join(struct gw_comm *c, const struct plan_counter_place *all)
{
    struct comm_coll *coll = c->coll;
    struct plan_counters *k = coll->counters;
    const struct plan_nodes *n = coll->nodes;
    coll->has_counters = true;
    for (int i = 0; i < n->n; i++) coll->has_counters = coll->has_counters && all[plan_member(n, i, 0)].key;
    if (!coll->has_counters) plan_counters_close(c);
    for (int r = 0; coll->has_counters && k && r < ROUNDS && 1 << r < n->n; r++) {
        k->each[r].of = k;
        k->each[r].done.fn = raised;
        k->each[r].to = all[plan_member(n, (int)(((int64_t)n->me + (1 << r)) % n->n), 0)];
    }
    return coll->has_counters;
}

/* ---- a round --------------------------------------------------------------------------------------------------------------------- */
/* The barrier's number, the same on all members: that of the user's call, and of the barriers within it. */
static uint64_t number_of(const struct plan_exec *x)
{
    uint64_t inner = plan_is_within(x->comm) ? x->comm->inner : 0;
    return (x->args->number + 1) << 16 | (inner & 0xffff);
}

/* Raises the word of round r of the member that the round tells: false: later. */
static bool tell(struct plan_exec *x, struct plan_counters *k, int r, uint64_t number)
{
    struct counter *t = &k->each[r];
    const struct plan_step *s = x->steps;
    struct gw_comm *c = x->comm;
    while (s->kind != PLAN_SEND) s++;
    struct gw_peer *p = comm_peer(c, plan_team_rank(&x->walk->stage.team, s->peer));
    struct wire_atomic a = {.op = WIRE_ATOMIC_MAX,
                            .elem = GW_ELEM_U64,
                            .n = 1,
                            .at = t->to.at + (uint64_t)r * sizeof number,
                            .key = t->to.key,
                            .operand = &number};
    if (atomic_load_explicit(&t->is_out, memory_order_acquire)) return false; /* that of the barrier before */
    gw_lock(&c->lane->lock);
    int rc = peer_is_ready(p) ? GW_OK : peer_connect(c->lane, p);
    if (rc == GW_OK) {
        atomic_store_explicit(&t->is_out, true, memory_order_relaxed);
        rc = k->net->ops->copy.atomic(p->ep, &a, &t->done);
        if (rc != GW_POSTED) atomic_store_explicit(&t->is_out, false, memory_order_relaxed);
    }
    gw_unlock(&c->lane->lock);
    if (rc == GW_AGAIN) return false;
    if (rc < 0 && x->err == GW_OK) x->err = rc;
    gw_counted(&gw_count.coll_network_atomics, 1);
    return true;
}

bool plan_counters_round(struct plan_exec *x)
{
    struct plan_counters *k = x->comm->coll->counters;
    int r = x->round - 1, err = atomic_load_explicit(&k->err, memory_order_relaxed);
    uint64_t number = number_of(x);
    assert(r >= 0 && r < ROUNDS);
    if (k->raised_to != number || k->raised_in != r) {
        if (!tell(x, k, r, number)) return false;
        k->raised_to = number, k->raised_in = r;
    }
    if (unlikely(err < 0) && x->err == GW_OK) x->err = err;
    /* Acquire: what the member did before it told is visible as far as the network orders it; collectives promise no more. */
    if (x->err == GW_OK && atomic_load_explicit(&k->words[r], memory_order_acquire) < number) return false;
    return true;
}

bool plan_counters_sleepless(const struct plan_exec *x) { return x->alg->by_counters && !x->comm->coll->counters->is_soft; }
