/* alg_neighbor.c -- neighbourhood collectives: one message along each edge of the topology, some of them at a time; on one node,
 * through the members' shared slots.
 *
 * A round has at most PLAN_STEPS messages and ends when they are complete.  If each member took its edges in an order of its own,
 * members could wait for each other in a cycle.  So all take the edges in one global order: by the distance from sender to
 * receiver (modulo the size), then by sender.  Both ends of the first edge that is not done have reached it, so it completes.  In
 * regular topologies, edges of one distance are in the same round on all members.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "coll/coll_private.h"

/* ---- the order of edges ---- */
/* place: orders several edges between the same two members, as they match. */
struct edge {
    int distance, from, place;
    struct gw_topo_move move;
};

static int edge_order(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* The index of the block that matches the i-th one sent.  In a Cartesian topology, a block sent to the negative neighbour arrives
 * as that from the positive one; these may be the same process, in a dimension of size 1 or 2. */
static int nth_in(const struct gw_topo *t, int i) { return t->kind == GW_CART ? i ^ 1 : i; }

/* Pairs the blocks that a member sends to itself with those it receives from itself, in order.  Returns how many. */
static int pair_own(const struct gw_topo *t, int rank, struct edge *e)
{
    int n = 0, out = 0;
    for (int i = 0; i < t->nin; i++) {
        if (t->in[nth_in(t, i)] != rank) continue;
        while (out < t->nout && t->out[out] != rank) out++;
        if (out == t->nout) break;
        e[n] = (struct edge){0, rank, n, {nth_in(t, i), out++}};
        n++;
    }
    return n;
}

/* Sets `place` of edges between the same two members, which are next to each other in the order; edges to itself have none. */
static void liken(struct gw_topo *t, const struct edge *e, int n)
{
    for (int i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && e[end].distance == e[i].distance && e[end].from == e[i].from; end++) continue;
        for (int k = i; k < end && e[i].distance > 0; k++) {
            struct gw_topo_move m = e[k].move;
            *(m.in >= 0 ? &t->in_like[m.in] : &t->out_like[m.out]) = (struct gw_topo_like){k - i, end - i};
        }
    }
}

int coll_neighbor_order(struct gw_topo *t, int rank, int size)
{
    int most = t->nin + t->nout;
    struct edge *e = malloc(sizeof *e * (size_t)(most + 1));
    if (!e) return gw_fail(GW_ENOMEM, "no memory for %d edges", most);
    int n = pair_own(t, rank, e);
    assert(n <= t->nin && n <= t->nout);
    for (int i = 0; i < t->nin; i++) {
        int k = nth_in(t, i), from = t->in[k];
        if (from == rank || from == GW_PROC_NULL) continue;
        e[n++] = (struct edge){(rank - from + size) % size, from, i, {k, -1}};
    }
    for (int k = 0; k < t->nout; k++) {
        int to = t->out[k];
        if (to == rank || to == GW_PROC_NULL) continue;
        e[n++] = (struct edge){(to - rank + size) % size, rank, k, {-1, k}};
    }
    qsort(e, (size_t)n, sizeof *e, edge_order);
    assert(n <= most); /* an edge to itself is one entry, of two */
    for (int i = 0; i < n; i++) t->moves[i] = e[i].move;
    t->nmoves = n;
    liken(t, e, n);
    free(e);
    return GW_OK;
}

/* ---- the rounds ---- */
static struct plan_ref block_out(const struct plan_args *a, struct gw_topo_move m, bool gather)
{
    return gather ? ref_typed(PLAN_IN, 0, a->scount, a->st) : send_block(a, m.out);
}
static void step_message(struct plan_steps *s, const struct plan_args *a, struct gw_topo_move m, bool gather)
{
    const struct gw_topo *t = a->topo;
    if (m.in < 0)
        step_send(s, t->out[m.out], block_out(a, m, gather));
    else if (m.out < 0)
        step_recv(s, t->in[m.in], recv_block(a, m.in));
    else
        step_copy(s, block_out(a, m, gather), recv_block(a, m.in));
}
static int neighbor_round(const struct plan_args *a, int round, struct plan_step *steps, bool gather)
{
    struct plan_steps s = {steps, 0};
    const struct gw_topo *t = a->topo;
    for (int64_t i = (int64_t)round * PLAN_STEPS; i < t->nmoves && s.n < PLAN_STEPS; i++) step_message(&s, a, t->moves[i], gather);
    return s.n;
}
static int neighbor_allgather(const struct plan_args *a, int round, struct plan_step *steps)
{
    return neighbor_round(a, round, steps, true);
}
static int neighbor_alltoall(const struct plan_args *a, int round, struct plan_step *steps)
{
    return neighbor_round(a, round, steps, false);
}
const struct plan_algorithm coll_alg_neighbor_allgather = {
    .name = "neighbor_allgather", .emit = neighbor_allgather, .kind = PLAN_P2P};
const struct plan_algorithm coll_alg_neighbor_alltoall = {.name = "neighbor_alltoall", .emit = neighbor_alltoall, .kind = PLAN_P2P};

/* ---- on one node -------------------------------------------------------------------------------------------------------------
 * By pairwise flags.  A few bytes are in the cache line of the flag itself, more are in slots: a gather's block in the sender's
 * slot for all receivers, else the blocks one behind the other in the pair's share of the receiver's slot.  Blocks that do not fit
 * go by messages at last, in the order above.  Waiting for flags cannot add a cycle to it, as all members
 * raise theirs before they wait. */
/* A block, where it is, and whether that is shared memory; and the bytes of all blocks for that peer. */
struct group {
    int peer;
    struct plan_ref block, place;
    bool in_memory;
    int64_t total;
};

static bool is_regular(const struct plan_args *a) { return !a->scounts.v && !a->rcounts.v; }

static struct group group_of(const struct plan_args *a, int i, bool is_in, bool gather)
{
    const struct gw_topo *t = a->topo;
    const int *peers = is_in ? t->in : t->out;
    const struct gw_topo_like *like = is_in ? t->in_like : t->out_like;
    struct group g = {.peer = peers[i]};
    int from = is_in ? g.peer : a->rank, to = is_in ? a->rank : g.peer;
    g.block = is_in ? recv_block(a, i) : gather ? ref_typed(PLAN_IN, 0, a->scount, a->st) : send_block(a, i);
    int64_t len = plan_ref_bytes(&g.block), each = gw_align_up(len, 8), at = like[i].place * each, all = like[i].of * each;
    g.total = gather ? len : like[i].of * len;
    if (gather) {
        g.in_memory = len <= PLAN_SLOT_BYTES;
        g.place = len <= PLAN_PAIR_BYTES ? ref_pair(a, from, to, 0, len) : ref_shm(a, from, 0, len);
        return g;
    }
    if (!is_regular(a)) {
        at = all = g.total = 0;
        for (int k = 0, n = is_in ? t->nin : t->nout; k < n; k++) {
            if (peers[k] != g.peer) continue;
            struct plan_ref other = is_in ? recv_block(a, k) : send_block(a, k);
            if (like[k].place < like[i].place) at += gw_align_up(plan_ref_bytes(&other), 8);
            all += gw_align_up(plan_ref_bytes(&other), 8);
            g.total += plan_ref_bytes(&other);
        }
    }
    int64_t share = coll_pair_share(a);
    g.in_memory = at + len <= share;
    g.place = all <= PLAN_PAIR_BYTES ? ref_pair(a, from, to, at, len) : ref_shm(a, to, from * share + at, len);
    return g;
}

static bool is_other(const struct plan_args *a, int peer) { return peer != a->rank && peer != GW_PROC_NULL; }

/* Copies the block of a gather to the slot, for all neighbours.  A member without neighbours to send to may have no datatype. */
static void give_to_all(struct plan_steps *s, const struct plan_args *a)
{
    const struct gw_topo *t = a->topo;
    for (int i = 0; i < t->nout; i++) {
        if (!is_other(a, t->out[i])) continue;
        struct group g = group_of(a, i, false, true);
        if (g.in_memory && g.place.slot < PLAN_SLOTS) step_copy(s, g.block, g.place);
        return;
    }
}

/* Copies blocks to their receivers.  The last block for a neighbour raises the flag; in a gather there is one block only. */
static void give(struct plan_steps *s, const struct plan_args *a, int first, int last, bool gather)
{
    const struct gw_topo *t = a->topo;
    for (int i = first; i < last; i++) {
        if (!is_other(a, t->out[i]) || (gather && t->out_like[i].place)) continue;
        struct group g = group_of(a, i, false, gather);
        bool in_slot = g.place.slot < PLAN_SLOTS;
        if (g.in_memory && !(gather && in_slot)) step_copy(s, g.block, g.place);
        if (gather || t->out_like[i].place == t->out_like[i].of - 1) step_pair_signal(s, g.peer, g.total);
    }
}

static void take(struct plan_steps *s, const struct plan_args *a, int first, int last, bool gather)
{
    for (int i = first; i < last; i++) {
        if (!is_other(a, a->topo->in[i])) continue;
        struct group g = group_of(a, i, true, gather);
        step_pair_wait(s, g.peer, g.total);
        if (g.in_memory) step_copy(s, g.place, g.block);
    }
}

/* Copies to itself, and messages, of moves first .. first + PLAN_STEPS - 1; false: there are none from `first` on. */
static bool rest(struct plan_steps *s, const struct plan_args *a, int first, bool gather)
{
    const struct gw_topo *t = a->topo;
    for (int i = first; i < t->nmoves; i++) {
        struct gw_topo_move m = t->moves[i];
        bool own = m.in >= 0 && m.out >= 0;
        if (!own && group_of(a, m.in >= 0 ? m.in : m.out, m.in >= 0, gather).in_memory) continue;
        if (i >= first + PLAN_STEPS) return true;
        step_message(s, a, m, gather);
    }
    return s->n > 0;
}

static int neighbor_leaf(const struct plan_args *a, int round, struct plan_step *steps, bool gather)
{
    enum { GIVES = (PLAN_STEPS - 2) / 2, TAKES = PLAN_STEPS / 2 }; /* blocks per round */
    struct plan_steps s = {steps, 0};
    int gives = a->topo->nout / GIVES + 1, takes = (a->topo->nin + TAKES - 1) / TAKES;
    if (round < gives) {
        bool is_last = round == gives - 1;
        if (round == 0 && gather) give_to_all(&s, a);
        give(&s, a, round * GIVES, is_last ? a->topo->nout : (round + 1) * GIVES, gather);
        if (is_last) step_publish(&s, 1);
    } else if (round - gives < takes) {
        int first = (round - gives) * TAKES;
        take(&s, a, first, first + TAKES < a->topo->nin ? first + TAKES : a->topo->nin, gather);
    } else if (!rest(&s, a, (round - gives - takes) * PLAN_STEPS, gather)) {
        return 0;
    }
    if (s.n == 0) step_nothing(&s);
    return s.n;
}
static int neighbor_allgather_leaf(const struct plan_args *a, int round, struct plan_step *steps)
{
    return neighbor_leaf(a, round, steps, true);
}
static int neighbor_alltoall_leaf(const struct plan_args *a, int round, struct plan_step *steps)
{
    return neighbor_leaf(a, round, steps, false);
}
const struct plan_algorithm coll_alg_neighbor_allgather_leaf = {
    .name = "leaf", .emit = neighbor_allgather_leaf, .kind = PLAN_NARROW};
const struct plan_algorithm coll_alg_neighbor_alltoall_leaf = {.name = "leaf", .emit = neighbor_alltoall_leaf, .kind = PLAN_NARROW};
