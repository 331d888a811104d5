/* tell.c -- numbers collectives, and says which members one waits for: for the report on a job that hangs.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot.h"
#include "node/node.h"
#include "plan/plan_private.h"

void plan_enter(struct gw_comm *c, int root)
{
    boot_coll_note(c->ctx >> GW_STREAM_BITS, comm_coll_count(c, 1), root);
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
        if (i != x->args->rank && atomic_load_explicit(&c->coll->flags[i].value, memory_order_relaxed) < value) add_member(where, c, member_of(x, i));
}

static int root_of(const struct plan_exec *x) { return x->walk ? x->walk->args->root : x->args->root; }

static void add_round(struct boot_where *where, const struct plan_exec *x, uint64_t entry)
{
    struct gw_comm *c = x->comm;
    const struct plan_step *s = &x->steps[x->at];
    if (entry) {
        add_late(where, x, entry);
    } else if (x->at < x->n_steps) { /* at a WAIT or a HANDED: nothing else holds a round back there */
        if (s->peer < 0)
            add_late(where, x, x->args->n << 20 | (s->kind == PLAN_WAIT ? (uint64_t)s->phase : 1));
        else
            add_member(where, c, member_of(x, s->peer));
    } else {
        gw_lock(&c->lane->lock);
        for (int i = 0; i < x->n_reqs; i++) p2p_tell_request(where, x->reqs[i]);
        gw_unlock(&c->lane->lock);
    }
}

static void name_coll(struct boot_where *where, struct gw_comm *c, int root, uint64_t number, uint32_t call)
{
    if (where->has_coll) return; /* of several requests, the first */
    where->has_coll = 1;
    where->coll = (struct boot_pending){.about = BOOT_MEMBER, .peer = root, .tag = GW_ANY_TAG};
    p2p_tell_comm(&where->coll, c->ctx >> GW_STREAM_BITS, c);
    where->coll_number = number;
    where->coll_call = call;
}

void plan_tell(struct plan_exec *x, uint64_t entry)
{
    struct boot_where *where = node_tell();
    name_coll(where, x->comm, root_of(x), x->comm->colls - 1, where->call);
    add_round(where, x, entry);
    p2p_told(where, x->comm->lane);
}

void plan_tell_parts(struct boot_where *where, const struct plan_exec *x, uint64_t number, uint32_t call,
                     struct gw_req **parts, int n)
{
    name_coll(where, x->comm, root_of(x), number, call);
    for (int i = 0; i < n; i++) p2p_tell_request(where, parts[i]);
}

void plan_tell_one(struct gw_comm *c, int member)
{
    struct boot_where *where = node_tell();
    name_coll(where, c, GW_ANY_SOURCE, c->colls - 1, where->call);
    add_member(where, c, member);
    p2p_told(where, c->lane);
}
