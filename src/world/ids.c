/* ids.c -- context ids by agreement.
 *
 * A process proposes its next id, which it then keeps for this agreement.  The largest proposal wins; it is taken if at no member it
 * has gone elsewhere meanwhile, and of that they tell each other in a second agreement.  Only where nobody has threads or other
 * agreements under way can that not have happened, and the second one is left out.  Who lost tries again, above.  So agreements
 * that begin in one order everywhere do not get in each other's way, however many are under way.
 *
 * Those in different orders might take each other's ids again and again.  So one that has lost is told of: as long as it is under
 * way, its members do not give, nor keep, ids for others that come behind it, in the order of tickets.  The largest ticket that a
 * member drew for an agreement is its ticket everywhere.  The first of those that lost is not held up by anybody: all its members
 * are in it, since its first round is over.  A process that agrees with nobody but itself does not wait for them: they may need it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/lock.h"
#include "boot/boot.h"
#include "node/node.h"
#include "world/world_private.h"

static struct {
    struct gw_lock lock;   /* guards the rest */
    int64_t next_id;       /* the lowest id that this process has neither seen taken nor keeps; 0 and 1 are WORLD and SELF */
    int64_t tickets;       /* drawn */
    int under_way;         /* agreements that this process takes part in */
    struct gw_list losers; /* struct ids that wait for another try */
} ids = {.next_id = 2, .losers = {&ids.losers, &ids.losers}};

enum { ID, RACE, TICKET }; /* the three values of a proposal; the second exchange has one: */
enum { TAKEN };
enum { KEPT_NONE = -1 };

void world_ids_begin(struct ids *w, int n, bool is_alone)
{
    assert(n > 0);
    /* Tickets of different processes in connected worlds are different. */
    int64_t who = (int64_t)((boot_own_home().uid + (uint64_t)gw_boot.rank) & ((1u << 30) - 1));
    gw_lock(&ids.lock);
    *w = (struct ids){.n = n, .is_alone = is_alone, .ticket = ++ids.tickets << 30 | who};
    ids.under_way++;
    gw_unlock(&ids.lock);
}

static bool is_held_up(const struct ids *w)
{
    for (struct gw_list *l = ids.losers.next; l != &ids.losers && !w->is_alone; l = l->next) {
        const struct ids *other = container_of(l, struct ids, link);
        if (other != w && other->ticket < w->ticket) return true;
    }
    return false;
}

void world_ids_propose(struct ids *w, int64_t values[IDS_VALUES])
{
    gw_lock(&ids.lock);
    assert(ids.under_way > 0);
    /* Ids of lane 0, if all members want that. */
    values[ID] = gw_lanes_spread ? ids.next_id : (ids.next_id + gw_nlanes - 1) / gw_nlanes * gw_nlanes;
    values[RACE] = gw_threads || ids.under_way > 1;
    values[TICKET] = w->ticket;
    w->kept = is_held_up(w) ? KEPT_NONE : values[ID];
    if (w->kept != KEPT_NONE) ids.next_id = w->kept + w->n;
    gw_unlock(&ids.lock);
}

/* Takes w->id, if no other agreement of this process has got it or may get it. */
static bool take(const struct ids *w)
{
    assert(w->id >= w->kept); /* the largest proposal wins */
    if (w->id == w->kept) return true;
    bool kept_last =
        w->kept != KEPT_NONE && w->kept + w->n == ids.next_id && w->id > w->kept; /* no other agreement has begun since */
    if (is_held_up(w) || (w->id < ids.next_id && !kept_last)) return false;
    ids.next_id = w->id + w->n;
    return true;
}

bool world_ids_take(struct ids *w, const int64_t maxima[IDS_VALUES], int64_t values[IDS_VALUES])
{
    bool unsure =
        !w->is_alone && (maxima[RACE] || w->is_request); /* read before values[] is written, which may be the same array */
    bool is_one = maxima[ID] >= 0 && maxima[ID] <= GW_CTX_ID_JOIN - w->n;
    gw_lock(&ids.lock);
    w->id = is_one ? maxima[ID] : GW_CTX_ID_JOIN; /* out of range: world_ids_check() reports it, and next_id is unchanged */
    w->ticket = maxima[TICKET];
    bool mine = !is_one || take(w);
    gw_unlock(&ids.lock);
    memset(values, 0, sizeof *values * IDS_VALUES);
    values[TAKEN] = !mine;
    assert(mine || unsure);
    return unsure;
}

bool world_ids_won(struct ids *w, const int64_t maxima[IDS_VALUES])
{
    bool won = !maxima[TAKEN];
    gw_lock(&ids.lock);
    if (!won && !w->lost) gw_list_push(&ids.losers, &w->link);
    w->lost = w->lost || !won;
    gw_unlock(&ids.lock);
    return won;
}

void world_ids_end(struct ids *w)
{
    gw_lock(&ids.lock);
    assert(ids.under_way > 0);
    if (w->lost) gw_list_del(&w->link);
    ids.under_way--;
    gw_unlock(&ids.lock);
    if (w->lost && gw_threads) node_ring(gw_node.me); /* a thread may wait in may_go_on */
}

int world_ids_check(const struct ids *w)
{
    if (w->id + w->n <= GW_CTX_ID_JOIN) return GW_OK;
    return gw_fail(GW_EINTERN, "all %lld context ids have been used", (long long)GW_CTX_ID_JOIN);
}

/* ---- blocking ------------------------------------------------------------------------------------------------------------ */
/* With a bridge, each group then gets the maxima of both. */
int world_party_agree(const struct party *p, int64_t *values, int nvalues)
{
    if (p->is_node) {
        coll_node_most(values, nvalues);
        return GW_OK;
    }
    int rc = coll_group_allreduce(p->c, p->ranks, p->n, p->me, p->tag, values, nvalues, gw_op_max);
    if (!p->bridge) return rc;
    if (rc == GW_OK && p->me == 0) rc = world_bridge_combine(p->bridge, values, nvalues, gw_op_max);
    return rc == GW_OK ? coll_group_allreduce(p->c, p->ranks, p->n, p->me, p->tag, values, nvalues, gw_op_max) : rc;
}

static bool may_go_on(void *arg)
{
    gw_lock(&ids.lock);
    bool held_up = is_held_up(arg);
    gw_unlock(&ids.lock);
    return !held_up;
}

int world_id_agree(const struct party *p, int n, uint32_t *id_out)
{
    struct ids w;
    int64_t v[IDS_VALUES + WORLD_MORE];
    const size_t more_bytes = sizeof *v * (size_t)p->n_more;
    int rc;
    bool won = false;
    assert(p->n_more <= WORLD_MORE);
    world_ids_begin(&w, n, p->n == 1 && !p->bridge);
    do {
        world_ids_propose(&w, v);
        if (p->n_more) memcpy(v + IDS_VALUES, p->more, more_bytes);
        rc = world_party_agree(p, v, IDS_VALUES + p->n_more);
        if (rc != GW_OK) break;
        if (p->n_more) memcpy(p->more, v + IDS_VALUES, more_bytes);
        bool unsure = world_ids_take(&w, v, v);
        rc = world_ids_check(&w);
        if (rc == GW_OK && unsure) rc = world_party_agree(p, v, 1);
        won = rc == GW_OK && world_ids_won(&w, v);
        if (rc == GW_OK && !won) req_block_until(p->c->lane, may_go_on, &w);
    } while (rc == GW_OK && !won);
    world_ids_end(&w);
    if (rc == GW_OK) *id_out = (uint32_t)w.id;
    return rc;
}
