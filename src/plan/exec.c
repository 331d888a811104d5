/* exec.c -- executes the rounds of one collective.  Only plan_run() and plan_run_stages() block; start.c drives collectives behind
 * requests.
 *
 *   EMIT --local steps done--> POSTED --all requests complete--> EMIT of the next round ... --no steps--> over
 *   (at a WAIT whose condition does not hold yet, the execution stops and is called again)
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#include "base/copy.h"
#include "base/lock.h"
#include "base/time.h"
#include "node/node.h"
#include "plan/plan_private.h"

static char *shm_slot(void *ctx, int rank, int slot) { return leaf_slot(ctx, rank, slot); }

static struct plan_memory memory_of(const struct plan_exec *x)
{
    return (struct plan_memory){x->in, x->out, x->tmp, x->args->tmp_shift, shm_slot, x->leaf};
}

/* ---- leaf steps ------------------------------------------------------------------------------------------------------------- */
static inline uint64_t flag_at(const struct plan_exec *x, int phase) { return x->args->n << 20 | (uint64_t)phase; }

static void publish(struct plan_exec *x, int phase)
{
    leaf_publish(x->leaf, x->args->rank, x->args->size, x->args->n, phase, x->args->sig);
}

void plan_raise(struct comm_coll *k, uint64_t least, uint64_t value)
{
    if (k->raised >= least) return;
    k->raised = value;
    atomic_store_explicit(&k->flags[k->me].value, value, memory_order_release); /* [F1] */
    node_ring_many(k->local, k->size);
}

static inline uint64_t pair_number(const struct plan_exec *x, int64_t bytes)
{
    return leaf_pair_number(x->args->n, x->args->sig, bytes);
}

static void pair_signal(struct plan_exec *x, int peer, int64_t bytes)
{
    struct comm_coll *k = x->leaf;
    /* [F2] pairs with the acquire in pair_is_signalled(). */
    atomic_store_explicit(&leaf_pair(k, x->args->n, peer, x->args->rank)->n, pair_number(x, bytes), memory_order_release);
    node_ring(k->local[peer]);
}
static inline bool pair_is_signalled(struct plan_exec *x, int peer, int64_t bytes)
{
    struct leaf_pair *line = leaf_pair(x->leaf, x->args->n, x->args->rank, peer);
    uint64_t n = atomic_load_explicit(&line->n, memory_order_acquire);
    uint64_t differs = n ^ pair_number(x, bytes);
    if (likely(differs == 0)) return true;
    if (likely(differs >> LINE_N != 0)) return false;
    if (differs >> LINE_SIZE_BITS && plan_sig_differs(x, peer)) return true;
    if (differs & (((uint64_t)1 << LINE_SIZE_BITS) - 1)) plan_size_differs(x, peer, bytes, -1);
    return true;
}

static uint64_t *size_at(const struct plan_memory *m, const struct plan_ref *block)
{
    return (uint64_t *)(plan_address(m, block) - plan_size_gap(block->len));
}
static void give(const struct plan_exec *x, const struct plan_memory *m, const struct plan_step *s)
{
    plan_copy(m, &s->a, &s->b);
    *size_at(m, &s->b) = plan_size_word(x->args->n, s->b.len);
}
static void take(struct plan_exec *x, const struct plan_memory *m, const struct plan_step *s)
{
    uint64_t said = *size_at(m, &s->a);
    if (likely(said == plan_size_word(x->args->n, s->a.len)))
        plan_copy(m, &s->a, &s->b);
    else
        plan_size_differs(x, s->peer, s->a.len, said >> 32 == (uint32_t)x->args->n ? (int64_t)(uint32_t)said : -1);
}

static void unlabel(struct plan_exec *x, const struct plan_memory *m, const struct plan_step *s)
{
    int64_t came = plan_unlabel(m, &s->a, &s->b);
    if (unlikely(came != plan_ref_bytes(&s->b))) plan_size_differs(x, s->peer, plan_ref_bytes(&s->b), came);
}

/* Publishes in leaf_common.reached that all flags have reached `value`, or this member's own flag if that is lower. */
static void tell_reached(const struct plan_exec *x, uint64_t value)
{
    const struct comm_coll *k = x->leaf;
    _Atomic uint64_t *reached = &k->common->reached;
    uint64_t mine = k->raised;
    uint64_t all = mine < value ? mine : value, was = atomic_load_explicit(reached, memory_order_relaxed);
    while (was < all && !atomic_compare_exchange_weak_explicit(reached, &was, all, memory_order_release, memory_order_relaxed))
        continue;
}

static inline bool pairs_ahead(const struct plan_exec *x, const struct plan_step *s) /* false, for the caller */
{
    while (++s < x->steps + x->n_steps)
        if (s->kind == PLAN_PAIR_WAIT) __builtin_prefetch(leaf_pair(x->leaf, x->args->n, x->args->rank, s->peer));
    return false;
}

/* Is `sig` the signature of member i's call, if it contributes as many bytes as the root of a gatherv expects of it? */
static bool gives_as_due(const struct plan_args *a, int i, uint16_t sig)
{
    return a->rcounts.v && sig == (uint16_t)(a->sig + plan_size_sig(gw_counts_at(a->rcounts, i) * a->rt->size));
}

/* Reports each member whose call differs from ours, from member i on.  All others have published in this collective; this member
 * may not have, so it skips itself. */
static GW_COLD GW_NOINLINE void sigs_judge(struct plan_exec *x, int i)
{
    const struct plan_args *a = x->args;
    for (; i < a->size; i++) {
        uint16_t sig = leaf_sig_of(x->leaf, i, a->n);
        if (i != a->rank && sig != a->sig && !(a->is_vector && gives_as_due(a, i, sig))) plan_sig_differs(x, i);
    }
}
static inline void sigs_compare(struct plan_exec *x)
{
    struct comm_coll *k = x->leaf;
    int i = leaf_sigs_differ(k, x->args->rank, x->args->size, x->args->n, x->args->sig);
    k->compared = x->args->n;
    if (unlikely(i < x->args->size)) sigs_judge(x, i);
}

static inline bool flags_scan(struct plan_exec *x, uint64_t value)
{
    return leaf_flags_scan(x->leaf, x->args->rank, x->args->size, value, &x->scan, &x->lowest);
}
static bool common_reached(struct plan_exec *x, uint64_t value)
{
    struct comm_coll *k = x->leaf;
    uint64_t reached = atomic_load_explicit(&k->common->reached, memory_order_acquire);
    if (reached < value) return false;
    if (reached > k->safe) k->safe = reached;
    x->scan = 0;
    return true;
}

/* Have all members reached `value` of this collective?  Compares signatures once per collective.  A member that learns this from
 * leaf_common.reached need not compare: the member that wrote it has. */
static GW_NOINLINE bool look_at_all(struct plan_exec *x, uint64_t value)
{
    struct comm_coll *k = x->leaf;
    if (unlikely(k->common) && common_reached(x, value)) {
        k->compared = x->args->n;
        return true;
    }
    if (k->safe < value && !flags_scan(x, value)) return false;
    if (k->compared != x->args->n) sigs_compare(x);
    if (unlikely(k->common) && x->err == GW_OK) tell_reached(x, value);
    return true;
}
static inline bool all_reached(struct plan_exec *x, uint64_t value)
{
    struct comm_coll *k = x->leaf;
    if (k->safe < value || unlikely(k->common)) return look_at_all(x, value);
    if (k->compared != x->args->n) sigs_compare(x);
    return true;
}
/* Have all members reached `value` of an earlier collective?  Nothing is compared. */
static bool all_left(struct plan_exec *x, uint64_t value)
{
    struct comm_coll *k = x->leaf;
    if (k->safe >= value || (unlikely(k->common) && common_reached(x, value))) return true;
    return flags_scan(x, value);
}

/* Have all other members signalled this one?  Then all have begun this collective, and k->safe is as if their flags had reached
 * phase 1. */
static bool pairs_all_signalled(struct plan_exec *x)
{
    enum { AHEAD = 8 };
    struct comm_coll *k = x->leaf;
    int size = x->args->size, below = x->args->rank + size - 1;
    for (; x->scan < size - 1; x->scan++) {
        if (pair_is_signalled(x, (below - x->scan) % size, 0)) continue;
        for (int i = x->scan + 1; i < size - 1 && i < x->scan + AHEAD; i++)
            __builtin_prefetch(leaf_pair(k, x->args->n, x->args->rank, (below - i) % size));
        return false;
    }
    x->scan = 0;
    if (k->safe < flag_at(x, 1)) k->safe = flag_at(x, 1);
    return true;
}

/* Takes the result of a reduction of all members' small operands from leaf_common, if another member has computed it already.  The
 * result is the same for all, and the next collective does not overwrite it before all have left this one. */
static bool result_known(const struct plan_exec *x, char *acc, int64_t bytes)
{
    const struct leaf_common *common = x->leaf->common;
    if (atomic_load_explicit(&common->reduced, memory_order_acquire) != x->args->n) return false;
    uint64_t result = atomic_load_explicit(&common->result, memory_order_relaxed);
    memcpy(acc, &result, (size_t)bytes);
    return true;
}

static void result_tell(const struct plan_exec *x, const char *acc, int64_t bytes)
{
    struct leaf_common *common = x->leaf->common;
    uint64_t result = 0;
    memcpy(&result, acc, (size_t)bytes);
    atomic_store_explicit(&common->result, result, memory_order_relaxed);
    atomic_store_explicit(&common->reduced, x->args->n, memory_order_release);
}

static void shm_fold(const struct plan_exec *x, const struct plan_memory *m, const struct plan_step *s, char *acc)
{
    struct plan_ref piece = s->a;
    int last = s->peer - 1, next = last - 1;
    char *left = NULL;
    piece.rank = last;
    char *right = plan_address(m, &piece);
    piece.rank = next;
    if (next >= 0) left = plan_address(m, &piece);
    /* From the last member down, as the operand that is added must be the left one (operators need not commute). */
    if (left && op_reduce3(x->args->op, left, right, acc, s->a.count, s->a.type))
        next--;
    else
        type_copy(right, s->a.count, s->a.type, acc, s->a.count, s->a.type);
    for (int r = next; r >= 0; r--) {
        piece.rank = r;
        op_reduce(x->args->op, plan_address(m, &piece), acc, s->a.count, s->a.type);
    }
}
static void shm_reduce(const struct plan_exec *x, const struct plan_memory *m, const struct plan_step *s)
{
    char *acc = plan_address(m, &s->b);
    int64_t bytes = s->a.count * s->a.type->size;
    bool is_common = unlikely(x->leaf->common) && s->a.slot >= PLAN_SLOTS && s->peer == x->args->size;
    if (is_common && result_known(x, acc, bytes)) return;
    if (unlikely(x->args->exact.words))
        plan_shm_sum(m, s, x->args->exact);
    else
        shm_fold(x, m, s, acc);
    if (is_common) result_tell(x, acc, bytes);
}

static void assemble(int size, const struct plan_memory *m, const struct plan_step *s)
{
    struct plan_ref piece = s->a;
    char *to = plan_address(m, &s->b);
    for (int64_t at = 0; at < s->b.len; at += s->stride) {
        gw_copy(to + at, plan_address(m, &piece) + at, (size_t)gw_min64(s->stride, s->b.len - at));
        piece.rank++;
    }
    assert(piece.rank <= size);
}

/* Copies exposed memory to the node's heap for the other members.  Members found out once that they can read each other's memory,
 * but since then this process may have forbidden it (PR_SET_DUMPABLE), and only it knows. */
static GW_COLD uint64_t expose_copy(struct comm_coll *k, const void *at, int64_t bytes)
{
    if (k->copied) node_heap_free(k->copied);
    k->copied = node_heap_alloc((uint64_t)bytes);
    if (!k->copied) return LEAF_UNREADABLE;
    gw_copy_out(node_ptr(k->copied), at, (size_t)bytes);
    return k->copied;
}

static void expose(struct plan_exec *x, const void *at, int64_t bytes)
{
    struct leaf_exposed *mine = &x->leaf->exposed[x->args->rank];
    mine->address = (uint64_t)(uintptr_t)at;
    mine->copy = likely(prctl(PR_GET_DUMPABLE) == 1) || bytes == 0 ? 0 : expose_copy(x->leaf, at, bytes);
    node_read_by_others(at, bytes);
}

static GW_COLD void copy_drop(struct comm_coll *k)
{
    node_heap_free(k->copied);
    k->copied = 0;
}

static GW_COLD int pull_refused(const struct plan_exec *x, int peer, const char *what)
{
    return gw_fail(GW_EOTHER,
                   "the memory of rank %d of the job cannot be read any more (prctl(PR_SET_DUMPABLE, 0), or a change of user), %s; "
                   "GODWIT_CMA=off needs neither",
                   group_world(x->comm->group, peer), what);
}

static GW_COLD int pull_copy(const struct plan_exec *x, int peer, const struct leaf_exposed *e, const struct plan_step *s, void *to)
{
    if (e->copy == LEAF_UNREADABLE) return pull_refused(x, peer, "and GODWIT_HEAP has no room for a copy");
    node_heap_join();
    gw_copy(to, (char *)node_ptr(e->copy) + s->remote, (size_t)s->a.len);
    return GW_OK;
}

static int pull(struct plan_exec *x, const struct plan_memory *m, const struct plan_step *s)
{
    const struct leaf_exposed *e = &x->leaf->exposed[s->peer];
    int peer = x->walk ? plan_team_rank(&x->walk->stage.team, s->peer) : s->peer;
    struct gw_peer *p = comm_peer(x->comm, peer);
    struct iovec to = {plan_address(m, &s->a), (size_t)s->a.len};
    if (!s->a.len) return GW_OK;
    if (unlikely(e->copy)) return pull_copy(x, peer, e, s, to.iov_base);
    gw_lock(&x->comm->lane->lock);
    int rc = p->ep->ops->get(p->ep, &to, 1, e->address + (uint64_t)s->remote, 0, NULL);
    bool is_refused = unlikely(rc == GW_EOTHER) && !wire_may_read(p->ep);
    gw_unlock(&x->comm->lane->lock);
    return is_refused ? pull_refused(x, peer, "since this collective began") : rc;
}

/* One local step: true if it is done, false if it must be tried again later. */
static bool local_step(struct plan_exec *x, const struct plan_memory *m, const struct plan_step *s)
{
    struct comm_coll *k = x->leaf;
    switch (s->kind) {
    case PLAN_COPY: plan_copy(m, &s->a, &s->b); return true;
    case PLAN_LABEL: plan_label(m, &s->a, &s->b); return true;
    case PLAN_UNLABEL: unlabel(x, m, s); return true;
    case PLAN_REDUCE:
        op_reduce(s->op ? s->op : x->args->op, plan_address(m, &s->a), plan_address(m, &s->b), s->a.count, s->a.type);
        return true;
    case PLAN_EXACT: plan_exact(m, s); return true;
    case PLAN_PUBLISH: publish(x, s->phase); return true;
    case PLAN_WAIT:
        if (s->peer >= 0) {
            if (leaf_flag_of(k, s->peer) < flag_at(x, s->phase)) return false;
            if (unlikely(leaf_sig_of(k, s->peer, x->args->n) != x->args->sig)) plan_sig_differs(x, s->peer);
            return true;
        }
        if (all_reached(x, flag_at(x, s->phase))) {
            if (unlikely(k->copied) && s->phase > 1) copy_drop(k); /* all members have read it */
            return true;
        }
        leaf_flags_ahead(k, x->scan, x->args->size);
        return false;
    case PLAN_PAIR_SIGNAL: pair_signal(x, s->peer, s->stride); return true;
    case PLAN_PAIR_WAIT:
        return s->peer < 0 ? pairs_all_signalled(x) : pair_is_signalled(x, s->peer, s->stride) || pairs_ahead(x, s);
    case PLAN_GIVE: give(x, m, s); return true;
    case PLAN_TAKE: take(x, m, s); return true;
    case PLAN_SHM_REDUCE: shm_reduce(x, m, s); return true;
    case PLAN_ASSEMBLE: assemble(x->args->size, m, s); return true;
    case PLAN_EXPOSE: expose(x, plan_address(m, &s->a), s->a.len); return true;
    case PLAN_PULL: {
        int rc = likely(x->err == GW_OK) ? pull(x, m, s) : GW_OK;
        if (rc < 0 && x->err == GW_OK) x->err = rc;
        return true;
    }
    default: return true; /* messages are posted after all local steps of the round */
    }
}

/* ---- rounds ------------------------------------------------------------------------------------------------------------------ */
/* Intercommunicators: ranks from `size` on mean the remote group, lower ones the local group.  Messages in the local group have a
 * stream of their own, as the local communicator has its own collectives with their own numbers. */
static GW_NOINLINE void local_or_remote(struct gw_comm **c, enum gw_stream *stream, int *peer)
{
    if (*peer >= (*c)->size) {
        *peer -= (*c)->size;
    } else {
        *c = (*c)->local;
        *stream = GW_STREAM_INTER;
    }
}

static void post(struct plan_exec *x, const struct plan_memory *m, const struct plan_step *s)
{
    const struct plan_ref *r = &s->a;
    char *at = plan_address(m, r);
    struct gw_type *t = r->type ? r->type : gw_type_byte;
    int64_t count = r->type ? r->count : r->len;
    int tag = x->leaf ? plan_tag(x->args) : (int)x->args->n, peer = s->peer, rc;
    struct gw_comm *c = x->comm;
    enum gw_stream stream = GW_STREAM_COLL;
    struct gw_req *req = NULL;
    if (unlikely(c->remote)) local_or_remote(&c, &stream, &peer);
    if (x->walk) peer = plan_team_rank(&x->walk->stage.team, peer);
    if (s->kind == PLAN_SEND)
        rc = p2p_stream_isend(stream, at, count, t, peer, tag, c, &req);
    else
        rc = p2p_stream_irecv(stream, at, count, t, peer, tag, c, &req);
    if (rc == GW_POSTED) {
        x->want[x->n_reqs] = s->kind == PLAN_SEND ? -1 : count * t->size;
        x->reqs[x->n_reqs++] = req;
    }
    if (rc < 0 && x->err == GW_OK) x->err = rc;
}

/* Posts sends before receives: a receive whose message has arrived copies the data in its call, and our sends
 * would be late by that. */
static void post_all(struct plan_exec *x, const struct plan_memory *m)
{
    x->n_messages = 0;
    for (int i = 0; i < x->n_steps; i++)
        if (x->steps[i].kind == PLAN_SEND) post(x, m, &x->steps[i]);
    for (int i = 0; i < x->n_steps; i++)
        if (x->steps[i].kind == PLAN_RECV) post(x, m, &x->steps[i]);
}

static bool reqs_done(struct plan_exec *x)
{
    while (x->n_reqs > 0) {
        struct gw_req *r = x->reqs[x->n_reqs - 1];
        if (!req_is_done(r)) return false;
        int64_t want = x->want[x->n_reqs - 1], came = gw_status_bytes(&r->status);
        int from = r->status.source, rc = x->err;
        if (likely(x->err == GW_OK))
            rc = p2p_stream_wait(r);
        else
            p2p_stream_drop(r); /* keeps the text of the first error */
        if (unlikely(came != want || rc == GW_ETRUNCATE) && want >= 0 && x->err == GW_OK && (rc == GW_OK || rc == GW_ETRUNCATE)) {
            struct plan_said said = plan_said_by(x);
            rc = plan_length_differs(&said, from, want, rc == GW_ETRUNCATE ? INT64_MAX : came);
            x->differs = true;
        }
        if (rc < 0 && x->err == GW_OK) x->err = rc;
        x->n_reqs--;
    }
    return true;
}

/* Executes as far as possible without waiting.  True: the collective is complete.  *done_out: how many steps and rounds it did. */
bool plan_exec_advance(struct plan_exec *x, int *done_out)
{
    struct plan_memory m = memory_of(x);
    plan_exec_assert_state(x);
    for (int done = 0;; done++) {
        int at = x->at, n = x->n_steps;
        for (; at < n; at++, done++) {
            const struct plan_step *s = &x->steps[at];
            if (s->kind <= PLAN_RECV) {
                x->n_messages++;
            } else if (!local_step(x, &m, s)) {
                x->at = at;
                plan_exec_assert_state(x);
                *done_out = done;
                return false;
            }
        }
        x->at = at;
        if (x->n_messages && unlikely(x->alg->by_counters)) {
            if (!plan_counters_round(x)) {
                *done_out = done;
                return false;
            }
            x->n_messages = 0;
        }
        if (x->n_messages) post_all(x, &m);
        if (x->n_reqs > 0 && !reqs_done(x)) {
            plan_exec_assert_state(x);
            *done_out = done;
            return false;
        }
        if (x->alg->kind & PLAN_ONCE && x->round > 0) return true;
        x->n_steps = x->alg->emit(x->args, x->round++, x->steps);
        assert(x->n_steps <= PLAN_STEPS);
        x->at = 0;
        if (x->n_steps == 0) return true;
    }
}

void plan_exec_reset(struct plan_exec *x)
{
    x->round = x->n_steps = x->at = x->scan = x->n_messages = x->n_reqs = 0;
    x->err = GW_OK, x->differs = false;
}

/* Should a wait of a leaf make progress this turn?  The leaf needs none, but other ranks may need this one's. */
static inline bool looks_at_messages(unsigned turn, const struct node_wait *w) { return turn % 16 == 0 || w->phase; }

/* Temporaries into which late messages may still be written: kept until the process ends. */
struct given_up {
    struct given_up *next;
    char *tmp;
};
static struct {
    struct gw_lock lock; /* communicators of several lanes may give up at once */
    struct given_up *first;
} kept;

static void tmp_keep(char *tmp)
{
    struct given_up *g = tmp ? malloc(sizeof *g) : NULL;
    if (!g) return;
    gw_lock(&kept.lock);
    *g = (struct given_up){kept.first, tmp};
    kept.first = g;
    gw_unlock(&kept.lock);
}

/* Gives up a collective that cannot end, as other members call something else.  Tells the others, so that none waits for this one,
 * and leaves the posted receives to absorb late messages.  They may still write into the temporary memory, which is therefore not
 * reused. */
static GW_COLD void give_up(struct plan_exec *x)
{
    assert(x->n_reqs >= 0 && x->n_reqs <= PLAN_STEPS && x->err < 0);
    plan_give_up(x->comm, x->args->number, x->err);
    plan_give_up_far(x->comm, x->args->number, x->err);
    gw_lock(&x->comm->lane->lock);
    for (int i = 0; i < x->n_reqs; i++) p2p_stream_absorb(x->reqs[i]);
    gw_unlock(&x->comm->lane->lock);
    while (x->n_reqs > 0) p2p_stream_drop(x->reqs[--x->n_reqs]);
    struct comm_coll *k = x->comm->coll;
    if (!k) return;
    tmp_keep(x->walk ? x->walk->tmp : k->tmp);
    k->tmp = NULL, k->tmp_bytes = 0;
}

/* Waits until all members have left the collectives whose slots this one reuses.  False: calls differ, and the collective was
 * given up. */
static GW_NOINLINE bool leaf_begin_wait(struct plan_exec *x, uint64_t entry)
{
    struct node_wait w;
    bool differs = false;
    plan_raise(x->leaf, entry, x->args->n << 20); /* others may wait for this member just as well */
    node_wait_begin(&w);
    for (unsigned turn = 1; !differs && !all_left(x, entry); turn++) {
        bool progressed = looks_at_messages(turn, &w) && req_progress() > 0;
        if (unlikely(node_wait_step(&w, progressed))) differs = plan_report(x, entry);
    }
    node_wait_end(&w);
    if (differs) give_up(x);
    return !differs;
}

static inline __attribute__((always_inline)) bool leaf_begin(struct plan_exec *x, uint64_t n)
{
    struct comm_coll *k = x->leaf;
    plan_region_assert_state(k);
    uint64_t before = k->left[n % PLAN_SLOTS];
    x->args->n = n;
    plan_slots_use(x->alg, n, k->left);
    if (unlikely(x->alg->kind & PLAN_LATE)) plan_raise(k, before, n << 20);
    return likely(k->safe >= before) || !plan_writes(x->alg, x->args) || leaf_begin_wait(x, before); /* as plan_entry() */
}

char *plan_tmp_alloc(int64_t bytes)
{
    assert(bytes >= 0);
    char *tmp = aligned_alloc(GW_CACHELINE, (size_t)(bytes + GW_CACHELINE - 1) & ~(size_t)(GW_CACHELINE - 1));
    if (!tmp) gw_fail(GW_ENOMEM, "no memory for %lld temporary bytes of a collective", (long long)bytes);
    return tmp;
}

/* Temporary memory of a collective.  Up to a bound it is kept with the communicator for the next one. */
static int tmp_get(struct plan_exec *x, int64_t bytes)
{
    struct comm_coll *k = plan_coll(x->comm);
    if (!k) return GW_ENOMEM;
    if (k->tmp_bytes < bytes) {
        free(k->tmp);
        k->tmp_bytes = 0;
        k->tmp = plan_tmp_alloc(bytes);
        if (!k->tmp) return GW_ENOMEM;
        k->tmp_bytes = bytes;
    }
    x->tmp = k->tmp;
    return GW_OK;
}

static void tmp_put(struct comm_coll *k)
{
    enum { KEEP = 4 << 20 };
    assert(!k || !k->tmp == !k->tmp_bytes);
    if (!k || k->tmp_bytes <= KEEP) return;
    free(k->tmp);
    k->tmp = NULL;
    k->tmp_bytes = 0;
}

/* If ranks share cores (leaf_common exists), a member that waits for all others first yields the core several times, and touches
 * little memory in between, as the caches hold the data of the ranks that run.  True: the collective is complete. */
static bool yield_over(struct plan_exec *x, int *done_out)
{
    const struct plan_step *s = &x->steps[x->at];
    if (!x->leaf->common || x->at >= x->n_steps || (s->kind != PLAN_WAIT && s->kind != PLAN_PAIR_WAIT) || s->peer >= 0)
        return false;
    uint64_t value = flag_at(x, s->phase);
    for (uint32_t i = 0; i < gw_node.yields; i++) {
        gw_yield();
        if (s->kind == PLAN_WAIT ? all_reached(x, value) : pairs_all_signalled(x)) break;
    }
    return plan_exec_advance(x, done_out);
}

/* Waits until the collective is complete.  False: it was given up, as calls differ. */
static bool wait_over(struct plan_exec *x)
{
    struct node_wait w;
    int done = 0;
    bool messages = x->alg->kind == PLAN_P2P, differs = false;
    node_wait_begin(&w);
    for (unsigned turn = 1; !differs; turn++) {
        if (messages || looks_at_messages(turn, &w)) done += req_progress();
        /* That the network has raised a counter is nothing that progress tells of: it is looked for before the wait may sleep. */
        if (unlikely(x->alg->by_counters)) {
            if (plan_exec_advance(x, &done)) break;
            if (plan_counters_sleepless(x) && w.phase) {
                gw_yield();
                node_wait_end(&w);
                node_wait_begin(&w);
            }
        }
        if (unlikely(node_wait_step(&w, done > 0))) differs = plan_report(x, 0);
        if (plan_exec_advance(x, &done)) break;
    }
    node_wait_end(&w);
    if (differs) give_up(x);
    return !differs;
}

static inline __attribute__((always_inline)) void exec_begin(struct plan_exec *x, const struct plan_algorithm *alg,
                                                             struct plan_args *args, const void *in, void *out, struct gw_comm *c)
{
    x->alg = alg;
    x->args = args;
    x->comm = c;
    x->in = (char *)(uintptr_t)in;
    x->out = out;
    x->tmp = NULL;
    x->walk = NULL;
    plan_exec_reset(x);
}

int plan_run(const struct plan_algorithm *alg, struct plan_args *args, const void *in, void *out, struct gw_comm *c)
{
    struct plan_exec x;
    exec_begin(&x, alg, args, in, out, c);
    int64_t tmp = alg->tmp_bytes ? alg->tmp_bytes(args) : 0;
    if (tmp > 0) {
        int rc = tmp_get(&x, tmp);
        if (rc != GW_OK) return rc;
    }
    if (alg->kind) {
        x.leaf = c->coll;
        if (!leaf_begin(&x, plan_leaf_number(args))) return x.err;
    } else {
        x.leaf = NULL;
        args->n = (uint64_t)plan_tag(args);
    }
    int done;
    if (!plan_exec_advance(&x, &done) && !(alg->kind && yield_over(&x, &done))) wait_over(&x);
    if (tmp) tmp_put(c->coll);
    return x.err;
}

/* To the first step that waits, over those that have been done already. */
static void skip_to_wait(struct plan_exec *x)
{
    for (;;) {
        x->n_steps = x->alg->emit(x->args, x->round++, x->steps);
        assert(x->n_steps > 0);
        for (x->at = 0; x->at < x->n_steps; x->at++)
            if (x->steps[x->at].kind == PLAN_WAIT || x->steps[x->at].kind == PLAN_PAIR_WAIT) return;
    }
}

GW_NOINLINE int plan_run_on(const struct plan_once *o, const struct plan_algorithm *alg, struct plan_args *args, const void *in,
                            void *out)
{
    struct plan_exec x;
    exec_begin(&x, alg, args, in, out, o->comm);
    assert((alg->kind & PLAN_KIND) == PLAN_NARROW && !alg->tmp_bytes);
    args->says = o->says, args->number = o->number, args->sig = o->sig, args->bytes = o->bytes;
    x.leaf = o->comm->coll;
    if (o->has_begun) {
        args->n = o->n;
        skip_to_wait(&x);
    } else if (!leaf_begin(&x, o->n))
        return x.err;
    int done;
    if (!plan_exec_advance(&x, &done)) wait_over(&x);
    return x.err;
}

/* ---- stages ------------------------------------------------------------------------------------------------------------------ */
/* The number of the next stage in the node, of the user's call `number`; 0: the call has no more, and goes on by messages. */
static uint64_t leaf_next(const struct comm_coll *k, uint64_t number)
{
    uint64_t first = number * PLAN_NODE_STRIDE + 1, next = leaf_last(k) + 1;
    assert(next <= first + PLAN_NODE_STRIDE); /* equal: this member gave up */
    if (next < first) next = first;
    return next < first + PLAN_NODE_STRIDE - 2 ? next : 0;
}

bool plan_exec_stage(struct plan_exec *x)
{
    struct plan_walk *w = x->walk;
    x->alg = w->stage.alg;
    x->args = &w->stage.args;
    x->in = w->stage_in;
    x->out = w->stage_out;
    x->tmp = w->stage_tmp;
    x->round = x->n_steps = x->at = x->scan = x->n_messages = x->n_reqs = 0;
    x->leaf = x->alg->kind ? x->comm->coll : NULL;
    return x->alg->kind != PLAN_P2P;
}

/* Runs all stages of an algorithm.  The walk borrows the communicator's temporary memory, may enlarge it, and gives
 * it back at the end. */
int plan_run_stages(const struct plan_algorithm *alg, struct plan_args *args, const void *in, void *out, bool leaves,
                    struct gw_comm *c)
{
    struct comm_coll *k = plan_coll(c);
    if (!k) return GW_ENOMEM;
    struct plan_walk w = {.alg = alg, .args = args, .in = (char *)(uintptr_t)in, .out = out, .leaves = leaves};
    struct plan_exec x = {.comm = c, .walk = &w, .err = GW_OK};
    int next;
    args->n = (uint64_t)plan_tag(args);
    w.tmp = k->tmp, w.tmp_bytes = k->tmp_bytes;
    for (;;) {
        int done;
        uint64_t n = w.leaves ? leaf_next(k, args->number) : 0;
        w.leaves = n > 0;
        next = plan_walk_next(&w);
        if (next <= 0) break;
        if (plan_exec_stage(&x)) {
            if (unlikely(x.err < 0)) plan_doubt(&x);
            if (!leaf_begin(&x, n)) return x.err;
        }
        if (!plan_exec_advance(&x, &done) && !(x.leaf && yield_over(&x, &done)) && !wait_over(&x)) return x.err;
    }
    k->tmp = w.tmp, k->tmp_bytes = w.tmp_bytes;
    tmp_put(k);
    return next < 0 ? next : x.err;
}
