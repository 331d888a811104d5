/* once.c -- leaves of one slot, done at once: see plan.h.
 *
 * Each follows the emit function of its algorithm in coll/ (alg_leaf.c, alg_leaf_exchange.c) step by step, so that members may go either way, and
 * a member that has to wait can go on with the steps.  Invariants P1 and P2 hold as there.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/copy.h"
#include "node/node.h"
#include "plan/plan_private.h"

bool plan_once_may(struct gw_comm *c) { return c->has_leaves && !c->coll->common; }

/* ---- the parts of a leaf collective -------------------------------------------------------------------------------------- */
static inline void enter(struct plan_once *o, struct gw_comm *c, unsigned kind, int root, const struct gw_op *op, int64_t bytes)
{
    uint64_t says = (uint64_t)kind << BOOT_SAYS_KIND | (uint32_t)root | (op ? plan_says_op(op) : 0);
    assert(plan_once_may(c) && !plan_is_within(c));
    plan_said_add(c, says, (uint64_t)bytes);
    o->comm = c, o->says = says, o->bytes = bytes, o->root = root;
    o->number = plan_said_note(c, says, (uint64_t)bytes);
    o->sig = plan_sig(c);
    o->n = o->number * PLAN_STRIDE;
    o->has_published = false;
}

/* One turn of a wait: false: the rank would yield now. */
static inline bool spin(uint32_t *left)
{
    if (unlikely(*left % 16 == 0)) req_progress(); /* the leaf needs none, but other ranks may need this one's */
    gw_cpu_relax();
    return --*left > 0;
}

static GW_NOINLINE bool all_have_left(struct plan_once *o, uint64_t before)
{
    struct comm_coll *k = o->comm->coll;
    int scan = 0;
    uint64_t lowest;
    plan_raise(k, before, o->n << 20); /* others may wait for this member just as well */
    for (uint32_t left = node_spin(); !leaf_flags_scan(k, k->me, k->size, before, &scan, &lowest);)
        if (!spin(&left)) return false;
    return true;
}
/* INVARIANT P1.  False: not yet, and nothing has been done. */
static inline bool begin(struct plan_once *o, bool writes)
{
    struct comm_coll *k = o->comm->coll;
    uint64_t *left = &k->left[o->n % PLAN_SLOTS];
    plan_region_assert_state(k);
    if (writes && unlikely(k->safe < *left) && unlikely(!all_have_left(o, *left))) return false;
    *left = o->n << 20 | PLAN_FINAL;
    return true;
}

/* Where a member's data of this collective are: as ref_narrow() of coll/ says. */
static inline char *slot_of(const struct plan_once *o, int rank)
{
    struct comm_coll *k = o->comm->coll;
    if (likely(o->bytes <= PLAN_SMALL_BYTES)) return k->flags[rank].small[o->n % PLAN_SMALLS];
    return k->buffers + ((int64_t)rank * PLAN_SLOTS + (int64_t)(o->n % PLAN_SLOTS)) * PLAN_SLOT_BYTES;
}

static inline void publish(struct plan_once *o)
{
    struct comm_coll *k = o->comm->coll;
    leaf_publish(k, k->me, k->size, o->n, 1, o->sig);
    o->has_published = true;
}

static inline bool await_one(const struct plan_once *o, int rank)
{
    const struct comm_coll *k = o->comm->coll;
    for (uint32_t left = node_spin(); leaf_flag_of(k, rank) < (o->n << 20 | 1);)
        if (unlikely(!spin(&left))) return false;
    return leaf_sig_of(k, rank, o->n) == o->sig;
}
static inline bool await_all(const struct plan_once *o)
{
    struct comm_coll *k = o->comm->coll;
    int scan = 0;
    uint64_t lowest, value = o->n << 20 | 1;
    if (k->safe < value) {
        for (uint32_t left = node_spin(); !leaf_flags_scan(k, k->me, k->size, value, &scan, &lowest);) {
            leaf_flags_ahead(k, scan, k->size);
            if (unlikely(!spin(&left))) return false;
        }
    }
    if (unlikely(leaf_sigs_differ(k, k->size, o->n, o->sig) < k->size)) return false;
    k->compared = o->n;
    return true;
}

/* ---- the collectives ------------------------------------------------------------------------------------------------------- */
int plan_once_barrier(struct plan_once *o, struct gw_comm *c, unsigned kind)
{
    enter(o, c, kind, 0, NULL, 0);
    begin(o, false);
    publish(o);
    return likely(await_all(o)) ? GW_OK : GW_AGAIN;
}

int plan_once_bcast(struct plan_once *o, struct gw_comm *c, unsigned kind, int root, void *buf, int64_t bytes)
{
    bool gives = c->rank == root;
    enter(o, c, kind, root, NULL, bytes);
    if (unlikely(!begin(o, gives))) return GW_AGAIN;
    if (gives) gw_copy(slot_of(o, root), buf, (size_t)bytes);
    publish(o);
    if (gives) return GW_OK;
    if (unlikely(!await_one(o, root))) return GW_AGAIN;
    gw_copy(buf, slot_of(o, root), (size_t)bytes);
    return GW_OK;
}

/* From the last member down, as the operand that is added must be the left one (operators need not commute). */
static inline void fold(const struct plan_once *o, const struct plan_operands *of)
{
    int last = o->comm->size - 1, next = last - 1;
    char *right = slot_of(o, last);
    if (op_reduce3(of->op, slot_of(o, next), right, of->out, of->count, of->type))
        next--;
    else
        gw_copy(of->out, right, (size_t)o->bytes);
    for (int r = next; r >= 0; r--) op_reduce(of->op, slot_of(o, r), of->out, of->count, of->type);
}

int plan_once_reduce(struct plan_once *o, struct gw_comm *c, unsigned kind, int root, const struct plan_operands *of)
{
    enter(o, c, kind, root, of->op, of->count * of->type->size);
    assert(c->size >= 2);
    if (unlikely(!begin(o, true))) return GW_AGAIN;
    gw_copy(slot_of(o, c->rank), of->in ? of->in : of->out, (size_t)o->bytes);
    publish(o);
    if (!of->out) return GW_OK;
    if (unlikely(!await_all(o))) return GW_AGAIN;
    fold(o, of);
    return GW_OK;
}

int plan_once_allgather(struct plan_once *o, struct gw_comm *c, unsigned kind, const void *in, void *out, int64_t bytes)
{
    char *blocks = out;
    enter(o, c, kind, 0, NULL, bytes);
    if (unlikely(!begin(o, true))) return GW_AGAIN;
    gw_copy(slot_of(o, c->rank), in ? in : blocks + c->rank * bytes, (size_t)bytes);
    publish(o);
    if (unlikely(!await_all(o))) return GW_AGAIN;
    for (int i = 0; i < c->size; i++)
        if (i != c->rank || in) gw_copy(blocks + i * bytes, slot_of(o, i), (size_t)bytes);
    return GW_OK;
}

/* ---- alltoall: in the lines of pairs ------------------------------------------------------------------------------------------ */
static inline bool await_pair(const struct plan_once *o, int from)
{
    const struct comm_coll *k = o->comm->coll;
    struct leaf_pair *line = leaf_pair(k, o->n, k->me, from);
    uint64_t number = leaf_pair_number(o->n, o->sig, 0);
    for (uint32_t left = node_spin();;) {
        uint64_t n = atomic_load_explicit(&line->n, memory_order_acquire); /* [F2] */
        if (likely(n == number)) return true;
        if (unlikely((n ^ number) >> LINE_N == 0) || unlikely(!spin(&left))) return false;
    }
}

static inline void give_pair(const struct plan_once *o, int to, const char *block)
{
    struct comm_coll *k = o->comm->coll;
    struct leaf_pair *line = leaf_pair(k, o->n, to, k->me);
    memcpy(line->data, block, (size_t)o->bytes);
    atomic_store_explicit(&line->n, leaf_pair_number(o->n, o->sig, 0), memory_order_release); /* [F2] */
    node_ring(k->local[to]);
}

/* All blocks are given before one is taken, so sending from `out` is right. */
int plan_once_alltoall(struct plan_once *o, struct gw_comm *c, unsigned kind, const void *in, void *out, int64_t bytes)
{
    const char *from = in ? in : out;
    char *to = out;
    enter(o, c, kind, 0, NULL, bytes);
    if (unlikely(!begin(o, true))) return GW_AGAIN;
    struct comm_coll *k = c->coll;
    for (int r = 1, i = c->rank; r < c->size; r++) {
        i = i + 1 < c->size ? i + 1 : 0;
        give_pair(o, i, from + i * bytes);
    }
    publish(o);
    for (int r = 1, i = c->rank; r < c->size; r++) {
        i = i > 0 ? i - 1 : c->size - 1;
        if (unlikely(!await_pair(o, i))) return GW_AGAIN;
    }
    if (k->safe < (o->n << 20 | 1)) k->safe = o->n << 20 | 1; /* all have begun this collective */
    for (int i = 0; i < c->size; i++)
        if (i != c->rank)
            memcpy(to + i * bytes, leaf_pair(k, o->n, c->rank, i)->data, (size_t)bytes);
        else if (in)
            memcpy(to + i * bytes, from + i * bytes, (size_t)bytes);
    return GW_OK;
}
