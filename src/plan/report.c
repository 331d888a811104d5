/* report.c -- numbers collectives, and reports which members a collective waits for, for the analysis of a hanging job.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/hash.h"
#include "base/lock.h"
#include "boot/boot.h"
#include "boot/call.h"
#include "boot/segment.h"
#include "node/node.h"
#include "plan/plan_private.h"

/* Which function of MPI this is, in the place of an operation: a number by its name, that with large counts being the same; 0: not known. */
static uint64_t says_function(void)
{
    const char *name = boot_slot->is_threaded ? NULL : boot_call_name(atomic_load_explicit(&boot_slot->call, memory_order_relaxed));
    size_t len = name ? strlen(name) : 0;
    if (len > 2 && strcmp(name + len - 2, "_c") == 0) len -= 2;
    uint64_t number = len > 0 ? gw_hash(GW_HASH_SEED, name, len) % 0xffff + 1 : 0;
    return number << BOOT_SAYS_OP | (uint64_t)BOOT_SAYS_FUNCTION << BOOT_SAYS_FLAGS;
}

void plan_enter(struct gw_comm *c, enum plan_call kind, int root)
{
    if (plan_is_within(c)) return;
    uint64_t says = (uint64_t)kind << BOOT_SAYS_KIND | (uint32_t)root;
    if (kind != PLAN_ANY_CALL) plan_said_add(c, says, 0);
    if (kind == PLAN_MAKING)
        says |= says_function(); /* not part of the running hash: a rank with several threads does not know it */
    boot_coll_note(c->ctx >> GW_STREAM_BITS, comm_coll_count(c, 1), says, c->mark);
}

void plan_enter_as(struct gw_comm *c, unsigned kind, struct plan_args *a)
{
    uint64_t says = a->says | (uint64_t)kind << BOOT_SAYS_KIND | (uint32_t)a->root, bytes = (uint64_t)a->bytes;
    if (a->op) says |= plan_says_op(a->op);
    plan_said_add(c, says, bytes);
    a->says = says;
    a->sig = plan_sig(c);
    if (unlikely(plan_is_within(c))) {
        a->number = c->colls - 1;
        a->n = ++c->inner;
        if (c->inner == PLAN_STRIDE - 1) c->has_leaves = false; /* plan_leaf_ready() says why */
        return;
    }
    a->number = plan_said_note(c, says, bytes);
}

void plan_enter_apart(struct gw_comm *c, unsigned kind, struct plan_args *a)
{
    if (plan_is_within(c)) {
        plan_enter_as(c, kind, a);
        return;
    }
    a->says |= (uint64_t)kind << BOOT_SAYS_KIND | (uint32_t)a->root;
    a->number = PLAN_APART | c->colls_apart++;
}

void plan_call_begin(struct gw_comm *c, enum plan_call kind, int root)
{
    plan_enter(c, kind, root);
    plan_within_add(c, 1);
}

static void add_member(struct boot_where *where, const struct gw_comm *c, int member)
{
    if (where->n_pending < BOOT_PENDING)
        where->pending[where->n_pending] = (struct boot_pending){.about = BOOT_MEMBER,
                                                                 .world = group_world(c->group, member),
                                                                 .peer = member,
                                                                 .tag = GW_ANY_TAG,
                                                                 .ctx = c->ctx >> GW_STREAM_BITS};
    where->n_pending++;
}

static int member_of(const struct plan_exec *x, int i) { return x->walk ? plan_team_rank(&x->walk->stage.team, i) : i; }

static void add_late(struct boot_where *where, const struct plan_exec *x, uint64_t value)
{
    const struct gw_comm *c = x->comm;
    for (int i = 0; i < c->coll->size; i++)
        if (i != x->args->rank && atomic_load_explicit(&c->coll->flags[i].value, memory_order_relaxed) < value)
            add_member(where, c, member_of(x, i));
}

static int root_of(const struct plan_exec *x) { return x->walk ? x->walk->args->root : x->args->root; }

static void add_round(struct boot_where *where, const struct plan_exec *x, uint64_t entry)
{
    struct gw_comm *c = x->comm;
    const struct plan_step *s = &x->steps[x->at];
    if (entry) {
        add_late(where, x, entry);
    } else if (x->at < x->n_steps) { /* at a step that waits: no other step stops a round */
        if (s->peer < 0)
            add_late(where, x, x->args->n << 20 | (s->kind == PLAN_WAIT ? (uint64_t)s->phase : 1));
        else
            add_member(where, c, member_of(x, s->peer));
    } else if (x->alg->by_counters) { /* who has not raised it */
        for (int i = 0; i < x->n_steps; i++)
            if (x->steps[i].kind == PLAN_RECV) add_member(where, c, member_of(x, x->steps[i].peer));
    } else {
        gw_lock(&c->lane->lock);
        for (int i = 0; i < x->n_reqs; i++) p2p_report_request(where, x->reqs[i]);
        gw_unlock(&c->lane->lock);
    }
}

static void name_coll(struct boot_where *where, struct gw_comm *c, int root, uint64_t number, uint32_t call)
{
    if (where->has_coll) return; /* the first of several requests is reported */
    where->has_coll = 1;
    where->coll = (struct boot_pending){.about = BOOT_MEMBER, .peer = root, .tag = GW_ANY_TAG};
    p2p_report_comm(&where->coll, c->ctx >> GW_STREAM_BITS, c);
    where->coll_number = number;
    where->coll_hidden = number - comm_coll_shown(c, number);
    where->coll_call = call;
}

/* Reports a block that another member gave through shared memory while this rank waits for it as a message: that member's block is
 * shorter than this rank expects.  The slot is valid only once that member has published in this collective. */
static void look_for_given(struct plan_exec *x)
{
    for (int i = 0; i < x->n_steps && x->leaf && x->n_reqs > 0; i++) {
        const struct plan_step *s = &x->steps[i];
        if (s->kind != PLAN_RECV || s->b.buf != PLAN_SHM) continue;
        if (atomic_load_explicit(&x->leaf->flags[s->peer].value, memory_order_acquire) < (x->args->n << 20 | 1)) continue;
        uint64_t said = *(uint64_t *)(leaf_slot(x->leaf, s->b.rank, s->b.slot) + s->b.off);
        int64_t want = s->a.type ? s->a.count * s->a.type->size : s->a.len;
        if (said >> 32 != (uint32_t)x->args->n || said == plan_size_word(x->args->n, want)) continue;
        plan_size_differs(x, s->peer, want, (int64_t)(uint32_t)said);
    }
}

bool plan_report(struct plan_exec *x, uint64_t entry)
{
    struct gw_comm *c = x->comm;
    struct boot_where *where = node_report_begin();
    name_coll(where, c, root_of(x), c->colls - 1, where->call);
    add_round(where, x, entry);
    p2p_report_end(where, c->lane);
    struct plan_said said = plan_said_by(x);
    gw_lock(&c->lane->lock);
    int rc = plan_compare_parts(&said, x->reqs, x->n_reqs);
    gw_unlock(&c->lane->lock);
    if (rc == GW_OK) rc = plan_compare_before(c, said.number);
    if (rc < 0) x->err = rc;
    if (rc < 0 || x->err < 0) return rc < 0 || x->differs;
    look_for_given(x);
    return x->differs;
}

void plan_report_parts(struct boot_where *where, const struct plan_exec *x, uint32_t call, struct gw_req **parts, int n)
{
    if (!(x->args->number & PLAN_APART)) name_coll(where, x->comm, root_of(x), x->args->number, call);
    for (int i = 0; i < n; i++) p2p_report_request(where, parts[i]);
}

bool plan_report_one(struct gw_comm *c, int member)
{
    struct boot_where *where = node_report_begin();
    name_coll(where, c, GW_ANY_SOURCE, c->colls - 1, where->call);
    add_member(where, c, member);
    p2p_report_end(where, c->lane);
    return plan_compare_newest(c) < 0;
}
