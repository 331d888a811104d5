/* once.c -- leaves of one slot, done at once: see plan.h.
 *
 * Each follows the emit function of its algorithm in coll/ (alg_leaf.c, alg_leaf_exchange.c) step by step, so that members may go either way, and
 * a member that has to wait can go on with the steps.  Invariants P1 and P2 hold as there.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/copy.h"
#include "base/settings.h"
#include "node/node.h"
#include "plan/plan_private.h"

/* Members that share cores save each other work by leaf_common, which only the steps use. */
bool plan_once_may(const struct gw_comm *c)
{
    if (gw_set.coll_once != GW_SET_COLL_ONCE_AUTO) return c->has_leaves && gw_set.coll_once == GW_SET_COLL_ONCE_ON;
    return c->has_leaves && !c->coll->common;
}

/* ---- the parts of a leaf collective -------------------------------------------------------------------------------------- */
static inline void enter_saying(struct plan_once *o, struct gw_comm *c, uint64_t says, int64_t bytes)
{
    assert(c->coll && c->coll->ready && !plan_is_within(c)); /* has_leaves may be off since a call with many collectives in it */
    plan_said_add(c, says, (uint64_t)bytes);
    o->comm = c, o->says = says, o->bytes = o->block = bytes;
    o->number = plan_said_note(c, says, (uint64_t)bytes);
    o->sig = plan_sig(c);
    o->n = o->number * PLAN_STRIDE;
    o->has_begun = false;
}

static inline void enter(struct plan_once *o, struct gw_comm *c, unsigned kind, int root, const struct gw_op *op, int64_t bytes)
{
    enter_saying(o, c, (uint64_t)kind << BOOT_SAYS_KIND | (uint32_t)root | (op ? plan_says_op(op) : 0), bytes);
}

/* One turn of a wait: false: the rank would yield now. */
static inline bool spin(uint32_t *left)
{
    if (unlikely(*left % 16 == 0)) req_progress(); /* the leaf needs none, but other ranks may need this one's */
    gw_cpu_relax();
    return --*left > 0;
}

/* Looks seldom: each look takes the line from the member that is to raise its flag, and what comes of a later look is room for several
 * calls. */
static GW_NOINLINE bool all_have_left(struct plan_once *o, uint64_t before)
{
    enum { PAUSES = 8 };
    struct comm_coll *k = o->comm->coll;
    int scan = 0;
    uint64_t lowest;
    plan_raise(k, before, o->n << 20); /* others may wait for this member just as well */
    for (uint32_t left = node_spin(); !leaf_flags_scan(k, k->me, k->size, before, &scan, &lowest);)
        for (int i = 0; i < PAUSES; i++)
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
    return o->has_begun = true;
}

/* Where so many bytes of a member are: as ref_narrow() of coll/ says. */
static inline char *slot_for(const struct plan_once *o, int rank, int64_t bytes)
{
    struct comm_coll *k = o->comm->coll;
    if (likely(bytes <= PLAN_SMALL_BYTES)) return k->flags[rank].small[o->n % PLAN_SMALLS];
    return k->buffers + ((int64_t)rank * PLAN_SLOTS + (int64_t)(o->n % PLAN_SLOTS)) * PLAN_SLOT_BYTES;
}
static inline char *slot_of(const struct plan_once *o, int rank) { return slot_for(o, rank, o->block); }

/* There may be no bytes, and then no address. */
static inline void move(void *to, const void *from, int64_t bytes)
{
    if (likely(bytes > 0)) gw_copy(to, from, (size_t)bytes);
}

static inline void publish(struct plan_once *o)
{
    struct comm_coll *k = o->comm->coll;
    leaf_publish(k, k->me, k->size, o->n, 1, o->sig);
}

static inline bool await_one(const struct plan_once *o, int rank)
{
    const struct comm_coll *k = o->comm->coll;
    for (uint32_t left = node_spin(); leaf_flag_of(k, rank) < (o->n << 20 | 1);)
        if (unlikely(!spin(&left))) return false;
    return leaf_sig_of(k, rank, o->n) == o->sig;
}
static inline bool await_flags(const struct plan_once *o)
{
    struct comm_coll *k = o->comm->coll;
    int scan = 0;
    uint64_t lowest, value = o->n << 20 | 1;
    if (k->safe >= value) return true;
    for (uint32_t left = node_spin(); !leaf_flags_scan(k, k->me, k->size, value, &scan, &lowest);) {
        leaf_flags_ahead(k, scan, k->size);
        if (unlikely(!spin(&left))) return false;
    }
    return true;
}
static inline bool await_all(const struct plan_once *o)
{
    struct comm_coll *k = o->comm->coll;
    if (unlikely(!await_flags(o))) return false;
    if (unlikely(leaf_sigs_differ(k, k->me, k->size, o->n, o->sig) < k->size)) return false;
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

/* ---- gather: the root takes the blocks out of their senders' slots, and raises its flag only then ---------------------------------- */
static inline int64_t bytes_of(const struct plan_blocks *b, int i)
{
    return b->counts.v ? gw_counts_at(b->counts, i) * b->size : b->bytes;
}
static inline char *place_of(const struct plan_blocks *b, int i)
{
    return b->out + (b->counts.v ? gw_counts_at(b->displs, i) * b->size : i * b->bytes);
}
/* Has each member called the same, and given as much as the root expects of it? */
static bool give_as_due(const struct plan_once *o, const struct plan_blocks *b)
{
    const struct comm_coll *k = o->comm->coll;
    for (int i = 0; i < k->size; i++)
        if (i != k->me && leaf_sig_of(k, i, o->n) != (uint16_t)(o->sig + plan_size_sig(bytes_of(b, i)))) return false;
    return true;
}
static int take_gathered(struct plan_once *o, bool is_vector, const struct plan_blocks *b)
{
    struct comm_coll *k = o->comm->coll;
    if (b->in) move(place_of(b, k->me), b->in, b->bytes);
    if (unlikely(!(is_vector ? await_flags(o) && give_as_due(o, b) : await_all(o)))) return GW_AGAIN;
    k->compared = o->n;
    for (int i = 0; i < k->size; i++)
        if (i != k->me) move(place_of(b, i), slot_for(o, i, bytes_of(b, i)), bytes_of(b, i));
    publish(o);
    return GW_OK;
}
int plan_once_gather(struct plan_once *o, struct gw_comm *c, unsigned kind, int root, bool is_vector, const struct plan_blocks *b)
{
    bool takes = c->rank == root;
    uint64_t says = (uint64_t)kind << BOOT_SAYS_KIND | (uint32_t)root | (is_vector ? PLAN_SAYS_FLAG(BOOT_SAYS_OWN) : 0);
    enter_saying(o, c, says, b->bytes);
    if (is_vector && !takes) o->sig = (uint16_t)(o->sig + plan_size_sig(b->bytes));
    if (takes) plan_raise(c->coll, c->coll->left[o->n % PLAN_SLOTS], o->n << 20); /* it waits before it publishes */
    if (unlikely(!begin(o, !takes))) return GW_AGAIN;
    if (takes) return take_gathered(o, is_vector, b);
    move(slot_of(o, c->rank), b->in, b->bytes);
    publish(o);
    return GW_OK;
}

/* ---- reductions ------------------------------------------------------------------------------------------------------------- */
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

/* ---- in the lines of pairs ------------------------------------------------------------------------------------------ */
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
    move(line->data, block, o->block);
    atomic_store_explicit(&line->n, leaf_pair_number(o->n, o->sig, 0), memory_order_release); /* [F2] */
    node_ring(k->local[to]);
}

static inline void give_pairs(struct plan_once *o, const char *blocks)
{
    struct gw_comm *c = o->comm;
    for (int r = 1, i = c->rank; r < c->size; r++) {
        i = i + 1 < c->size ? i + 1 : 0;
        give_pair(o, i, blocks + i * o->block);
    }
}
static inline bool await_pairs(struct plan_once *o)
{
    struct comm_coll *k = o->comm->coll;
    for (int r = 1, i = k->me; r < k->size; r++) {
        i = i > 0 ? i - 1 : k->size - 1;
        if (unlikely(!await_pair(o, i))) return false;
    }
    if (k->safe < (o->n << 20 | 1)) k->safe = o->n << 20 | 1; /* all have begun this collective */
    return true;
}
static inline const char *pair_data(const struct plan_once *o, int from)
{
    return leaf_pair(o->comm->coll, o->n, o->comm->rank, from)->data;
}

int plan_once_scatter(struct plan_once *o, struct gw_comm *c, unsigned kind, int root, const void *in, void *own, int64_t bytes)
{
    bool gives = c->rank == root;
    enter(o, c, kind, root, NULL, bytes);
    if (unlikely(!begin(o, gives))) return GW_AGAIN;
    if (gives) give_pairs(o, in);
    publish(o);
    if (!gives && unlikely(!await_pair(o, root))) return GW_AGAIN;
    if (own) move(own, gives ? (const char *)in + root * bytes : pair_data(o, root), bytes);
    return GW_OK;
}

/* All blocks are given before one is taken, so sending from `out` is right. */
int plan_once_alltoall(struct plan_once *o, struct gw_comm *c, unsigned kind, const void *in, void *out, int64_t bytes)
{
    const char *from = in ? in : out;
    char *to = out;
    enter(o, c, kind, 0, NULL, bytes);
    if (unlikely(!begin(o, true))) return GW_AGAIN;
    give_pairs(o, from);
    publish(o);
    if (unlikely(!await_pairs(o))) return GW_AGAIN;
    for (int i = 0; i < c->size; i++)
        if (i != c->rank || in) memcpy(to + i * bytes, i != c->rank ? pair_data(o, i) : from + i * bytes, (size_t)bytes);
    return GW_OK;
}

/* The parts that the others have given of their operands, and this member's own, from the last one down. */
static void fold_pairs(const struct plan_once *o, const struct plan_operands *of)
{
    const struct gw_comm *c = o->comm;
    int last = c->size - 1;
    const char *own = (const char *)of->in + c->rank * o->block;
    memcpy(of->out, last == c->rank ? own : pair_data(o, last), (size_t)o->block);
    for (int r = last - 1; r >= 0; r--) op_reduce(of->op, r == c->rank ? own : pair_data(o, r), of->out, of->count, of->type);
}
int plan_once_reduce_scatter(struct plan_once *o, struct gw_comm *c, unsigned kind, const struct plan_operands *of)
{
    int64_t part = of->count * of->type->size;
    enter(o, c, kind, 0, of->op, part * c->size);
    o->block = part;
    if (unlikely(!begin(o, true))) return GW_AGAIN;
    give_pairs(o, of->in);
    publish(o);
    if (unlikely(!await_pairs(o))) return GW_AGAIN;
    fold_pairs(o, of);
    return GW_OK;
}
