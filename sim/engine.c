/* engine.c -- ranks, messages and queues in order of time.
 *
 * A message goes through these events; `eager` ones carry their bytes at once, others announce themselves and are fetched:
 *
 *   sender posts -> [CARD (engine of its node's card)] -> OUT (adapter of its node) -> ARRIVE (adapter and port of the receiver) -> DELIVER (its core)
 *   announced and wanted -> FETCH (back at the sender's port) -> OUT -> ARRIVE -> DELIVER, and FINISH at the sender
 *   for the network to reduce: OUT -> when all have come, ARRIVE of each
 *   for the network to count (algorithms by_counters): as eager ones, but that the cards do it: no core takes it in, the receiver sees a flag
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cray.h"
#include "dragonfly.h"
#include "queue.h"
#include "way.h"

enum event_kind { EV_RUN, EV_CARD, EV_OUT, EV_ARRIVE, EV_DELIVER, EV_FETCH, EV_FINISH, EV_RAISE };
enum entry_kind { ENTRY_RECV, ENTRY_EAGER, ENTRY_ANNOUNCED, ENTRY_DATA, ENTRY_RAISE };
enum rank_state { RANK_READY, RANK_IN_ROUND, RANK_AT_FLAG, RANK_WOKEN, RANK_AT_END, RANK_OVER };

struct rank {
    int64_t core, port_out, port_in; /* when each is free */
    int32_t stage, round, at;        /* the present stage, its next round, and the step at which that continues */
    int32_t open;                    /* sends and receives that are not complete */
    int32_t posted, unexpected;      /* lengths of the queues */
    int32_t wait_peer;
    uint32_t leaves;           /* number of collectives in the region of the node that it has begun */
    uint64_t left[PLAN_SLOTS]; /* plan_entry() */
    uint64_t flag, wait_flag;
    uint8_t state;
    bool entered; /* it has begun the present stage */
};
/* A message, or a receive that waits for one. */
struct entry {
    uint32_t next, src, dst; /* next: in its bucket, or in the list of free entries */
    uint32_t from;           /* the sender from the point of view of the receiver */
    int64_t bytes, words[WAY_WORDS];
    int64_t *into; /* where the words are stored at the receiver; NULL: nowhere */
    uint8_t kind, level, hops;
    bool off_node, to_network, counts;
};
struct price {
    int64_t o, L, g;
    double O, R, G;
    int64_t eager;
};              /* picoseconds, and a byte */
struct region { /* the flags of the ranks of a node: the lowest value, and how many have it */
    uint64_t lowest;
    int32_t at_lowest;
};

struct engine {
    const struct engine_job *job;
    const struct machine *m;
    int64_t size,
        period; /* period: simulated ranks, of which rank i stands for ranks i, i + period, ...; equal to size: all are simulated */
    struct rank *ranks;
    int64_t *nic_out, *nic_in;
    int64_t *channels[MACHINE_ENGINES]; /* when each channel of an engine is free */
    int mailbox;                        /* the engine that takes what fits a mailbox, -1: none */
    int64_t mailbox_room;               /* bytes that fit one */
    struct dragonfly fabric;
    int64_t hop, handed, last_handed; /* handed: parts that have come to the network; last_handed: when the last one came */
    uint32_t hand;                    /* list of these parts, by `next` */
    struct region *regions;
    struct price prices[MACHINE_LEVELS];
    int64_t nic_g, link_L;  /* link_L: of a link to another adapter than a rank's own, 0: none is passed */
    double nic_G, nic_flow; /* nic_flow: of the slower one of adapter and link */
    bool nic;
    struct way way;
    struct event_queue queue;
    struct entry *entries;
    uint32_t n_entries, room, spare; /* spare: the first free entry; 0: none */
    uint32_t *buckets, n_buckets, n_hashed;
    int64_t over;
    struct engine_result *result;
    char *error;
    int error_cap;
};

static int64_t ps(double us) { return (int64_t)(us * 1e6 + 0.5); }
static int64_t per_byte(double ns, int64_t bytes) { return (int64_t)(ns * 1e3 * (double)bytes + 0.5); }

static void *memory(size_t n, size_t each)
{
    void *p = calloc(n ? n : 1, each);
    if (!p) abort();
    return p;
}

static bool fail(struct engine *e, const char *what, int64_t rank, int round)
{
    if (!e->error[0])
        snprintf(e->error, (size_t)e->error_cap, "%s of %d ranks: %s (rank %lld, round %d)", e->job->alg->name, e->job->args.size,
                 what, (long long)rank, round);
    return false;
}

/* ---- entries: a pool, and a hash by receiver and sender --------------------------------------------------------------------- */
static uint32_t entry_new(struct engine *e)
{
    uint32_t i = e->spare;
    if (i) {
        e->spare = e->entries[i].next;
        return i;
    }
    if (e->n_entries == e->room) {
        e->room = e->room ? 2 * e->room : 1024;
        e->entries = realloc(e->entries, (size_t)e->room * sizeof *e->entries);
        if (!e->entries) abort();
    }
    if (!e->n_entries) e->n_entries = 1; /* 0 is none */
    return e->n_entries++;
}
static void entry_free(struct engine *e, uint32_t i)
{
    assert(i > 0 && i < e->n_entries);
    e->entries[i].next = e->spare;
    e->spare = i;
}

static uint32_t bucket_of(const struct engine *e, uint32_t dst, uint32_t from)
{
    uint64_t key = ((uint64_t)dst << 32 | from) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(key >> 32) & (e->n_buckets - 1);
}
static void hash_link(struct engine *e, uint32_t i)
{
    assert(e->n_buckets > 0 && i < e->n_entries);
    uint32_t *head = &e->buckets[bucket_of(e, e->entries[i].dst, e->entries[i].from)];
    e->entries[i].next = *head;
    *head = i;
}
static void hash_grow(struct engine *e)
{
    uint32_t *old = e->buckets, n = e->n_buckets;
    e->n_buckets = n ? 2 * n : 1024;
    e->buckets = memory(e->n_buckets, sizeof *e->buckets);
    for (uint32_t b = 0; b < n; b++) {
        uint32_t kept = 0; /* reversed twice, so that newer entries of a pair stay before older ones */
        for (uint32_t i = old[b], next; i; i = next) next = e->entries[i].next, e->entries[i].next = kept, kept = i;
        for (uint32_t i = kept, next; i; i = next) next = e->entries[i].next, hash_link(e, i);
    }
    free(old);
}
static void hash_add(struct engine *e, uint32_t i)
{
    if (e->n_hashed++ >= e->n_buckets) hash_grow(e);
    hash_link(e, i);
}
/* Takes out the oldest entry of a pair: a receive, or a message.  0: there is none. */
static uint32_t hash_take(struct engine *e, uint32_t dst, uint32_t from, bool recv)
{
    uint32_t *found = NULL;
    if (!e->n_buckets) return 0;
    for (uint32_t *at = &e->buckets[bucket_of(e, dst, from)]; *at; at = &e->entries[*at].next) {
        const struct entry *x = &e->entries[*at];
        if (x->dst == dst && x->from == from && (x->kind == ENTRY_RECV) == recv) found = at;
    }
    if (!found) return 0;
    uint32_t i = *found;
    *found = e->entries[i].next;
    e->n_hashed--;
    return i;
}

static void event(struct engine *e, int64_t time, enum event_kind kind, uint32_t what)
{
    queue_put(&e->queue, (struct event){time, what, (uint32_t)kind});
}

/* ---- the way of a message ------------------------------------------------------------------------------------------------------ */
static int64_t *nic_of(const struct engine *e, int64_t *nics, int64_t rank)
{
    int64_t n = (int64_t)e->m->nics, per_node = e->m->node_ranks;
    return &nics[rank / per_node * n + rank % per_node * n / per_node];
}
static bool through_nic(const struct engine *e, const struct entry *x) { return e->nic && x->off_node; }
static int64_t wire_bytes(const struct entry *x) { return x->kind == ENTRY_ANNOUNCED ? 0 : x->bytes; }
static int64_t nic_time(const struct engine *e, int64_t bytes) { return gw_max64(e->nic_g, per_byte(e->nic_G, bytes)); }

static int64_t way_time(const struct engine *e, const struct entry *x)
{
    return e->prices[x->level].L + x->hops * e->hop + (x->off_node ? 2 * e->link_L : 0) + (x->counts ? ps(e->m->atomics_L) : 0);
}

/* The message leaves the sender's port, from `ready` on. */
static void leave(struct engine *e, uint32_t i, int64_t ready)
{
    assert(ready >= 0);
    struct entry *x = &e->entries[i];
    const struct price *p = &e->prices[x->level];
    struct rank *src = &e->ranks[x->src];
    int64_t start = gw_max64(ready, src->port_out);
    src->port_out = start + gw_max64(p->g, per_byte(p->G, wire_bytes(x)));
    if (x->off_node && e->m->n_engines)
        event(e, start, EV_CARD, i);
    else if (x->to_network || through_nic(e, x))
        event(e, start, EV_OUT, i);
    else
        event(e, start + way_time(e, x), EV_ARRIVE, i);
}

/* The engine that takes that many bytes of a message. */
static int engine_for(const struct engine *e, const struct entry *x, int64_t bytes)
{
    assert(e->m->n_engines > 0 && bytes >= 0);
    int k = 0;
    if (e->mailbox >= 0 && x->kind == ENTRY_EAGER && bytes <= e->mailbox_room) return e->mailbox;
    while ((double)bytes > e->m->engines[k].upto) k++;
    return k;
}

/* The channels of an engine that a rank can use: one of its own, or those of its node. */
static int64_t *channels_of(const struct engine *e, int k, int64_t rank, int64_t *n_out)
{
    *n_out = gw_max64((int64_t)e->m->engines[k].n, 1);
    return &e->channels[k][e->m->engines[k].n > 0 ? rank / e->m->node_ranks * *n_out : rank];
}

/* The message is processed by the channel that is free first. */
static void on_card(struct engine *e, uint32_t i, int64_t now)
{
    assert(e->m->n_engines > 0);
    const struct entry *x = &e->entries[i];
    int k = engine_for(e, x, wire_bytes(x));
    const struct machine_engine *g = &e->m->engines[k];
    int64_t n, *at = channels_of(e, k, x->src, &n), first = 0, busy = 1;
    for (int64_t c = 1; c < n; c++)
        if (at[c] < at[first]) first = c;
    int64_t start = gw_max64(now, at[first]);
    at[first] = start + gw_max64(ps(g->g), per_byte(g->G, wire_bytes(x)));
    for (int64_t c = 0; c < n; c++) busy += c != first && at[c] > start;
    e->result->engine_messages[k]++;
    if (g->n > 0) e->result->engine_busy[k] = gw_max64(e->result->engine_busy[k], busy);
    event(e, start + ps(g->L), EV_OUT, i);
}

/* The last part of the simulated nodes has come; those of the other nodes come at the same times.  Sends the results. */
static void reduce_in_network(struct engine *e)
{
    const struct machine *m = e->m;
    int64_t nodes = (e->size + m->node_ranks - 1) / m->node_ranks, levels = 1;
    for (double reached = m->offload_radix; reached < (double)nodes; reached *= m->offload_radix) levels++;
    int64_t there = e->last_handed + 2 * (levels - 1) * ps(m->offload_hop) + levels * ps(m->offload_reduce);
    for (uint32_t i = e->hand, next; i; i = next) {
        next = e->entries[i].next;
        event(e, there + e->prices[e->entries[i].level].L, EV_ARRIVE, i);
    }
    e->hand = 0, e->handed = 0;
}
static void hand_in(struct engine *e, uint32_t i, int64_t now)
{
    assert(e->handed >= 0);
    e->entries[i].next = e->hand;
    e->hand = i;
    e->last_handed = gw_max64(e->last_handed, now);
    if (++e->handed == (e->period + e->m->node_ranks - 1) / e->m->node_ranks) reduce_in_network(e);
}

static void on_out(struct engine *e, uint32_t i, int64_t now)
{
    const struct entry *x = &e->entries[i];
    int64_t start = now;
    if (through_nic(e, x)) {
        int64_t *nic = nic_of(e, e->nic_out, x->src);
        start = gw_max64(now, *nic);
        *nic = start + nic_time(e, wire_bytes(x));
    }
    if (x->to_network)
        hand_in(e, i, start);
    else
        event(e, start + way_time(e, x), EV_ARRIVE, i);
}
static void on_arrive(struct engine *e, uint32_t i, int64_t now)
{
    const struct entry *x = &e->entries[i];
    const struct price *p = &e->prices[x->level];
    struct rank *dst = &e->ranks[x->dst];
    int64_t bytes = wire_bytes(x), start = gw_max64(now, dst->port_in), flow = per_byte(p->G, bytes);
    if (through_nic(e, x)) {
        int64_t *nic = nic_of(e, e->nic_in, x->dst);
        start = gw_max64(start, *nic);
        *nic = start + nic_time(e, bytes);
        flow = gw_max64(flow, per_byte(e->nic_flow, bytes));
    }
    dst->port_in = start + gw_max64(p->g, flow);
    event(e, start + flow, EV_DELIVER, i);
}

/* The time that the core takes to command an engine. */
static int64_t engine_cost(const struct engine *e, const struct entry *x)
{
    return x->off_node && e->m->n_engines ? ps(e->m->engines[engine_for(e, x, x->bytes)].o) : 0;
}

static void close_one(struct engine *e, uint32_t rank)
{
    struct rank *r = &e->ranks[rank];
    assert(r->open > 0);
    if (--r->open == 0 && (r->state == RANK_IN_ROUND || r->state == RANK_AT_END)) event(e, r->core, EV_RUN, rank);
}

/* A message and its receive have met on the receiver's core. */
static void pair_up(struct engine *e, uint32_t i)
{
    struct entry *x = &e->entries[i];
    if (x->into && x->kind == ENTRY_EAGER) memcpy(x->into, x->words, (size_t)x->bytes);
    if (x->kind == ENTRY_EAGER) {
        uint32_t dst = x->dst;
        entry_free(e, i);
        close_one(e, dst);
    } else {
        e->ranks[x->dst].core += engine_cost(e, x);
        event(e, e->ranks[x->dst].core + way_time(e, x), EV_FETCH, i);
    }
}

static int64_t looked_at(const struct engine *e, int64_t length, bool found)
{
    double entries = found ? (double)(length - 1) / 2 : (double)length;
    return ps(e->m->match_search + e->m->match_entry * entries);
}

static bool take_in(struct engine *e, uint32_t i)
{
    struct entry *x = &e->entries[i];
    struct rank *r = &e->ranks[x->dst];
    const struct price *p = &e->prices[x->level];
    uint32_t recv = hash_take(e, x->dst, x->from, true);
    if (x->counts)
        r->core += recv ? ps(e->m->flag) : 0; /* who has not come yet looks later */
    else
        r->core += p->o + (x->kind == ENTRY_EAGER ? per_byte(p->O, x->bytes) : 0) + looked_at(e, r->posted, recv != 0);
    if (recv) {
        if (e->entries[recv].bytes != x->bytes) return fail(e, "a message is not as long as its receive", x->dst, r->round);
        x->into = e->entries[recv].into;
        entry_free(e, recv);
        r->posted--;
        pair_up(e, i);
        return true;
    }
    if (!x->counts) r->core += ps(e->m->match_extra);
    if (!x->counts && (double)r->unexpected >= e->m->incast_after) r->core += ps(e->m->incast_cost);
    r->unexpected++;
    e->result->most_unexpected = gw_max64(e->result->most_unexpected, r->unexpected);
    hash_add(e, i);
    return true;
}
static bool on_deliver(struct engine *e, uint32_t i, int64_t now)
{
    struct entry *x = &e->entries[i];
    struct rank *r = &e->ranks[x->dst];
    const struct price *p = &e->prices[x->level];
    r->core = gw_max64(r->core, now);
    if (x->kind != ENTRY_DATA) return take_in(e, i);
    if (x->into) memcpy(x->into, x->words, (size_t)x->bytes);
    r->core += p->o + per_byte(p->R, x->bytes);
    event(e, r->core + way_time(e, x), EV_FINISH, i);
    close_one(e, x->dst);
    return true;
}
static void on_finish(struct engine *e, uint32_t i, int64_t now)
{
    struct entry *x = &e->entries[i];
    uint32_t src = x->src;
    e->ranks[src].core = gw_max64(e->ranks[src].core, now) + e->prices[x->level].o;
    entry_free(e, i);
    close_one(e, src);
}

/* ---- steps ------------------------------------------------------------------------------------------------------------------------ */
static void post_send(struct engine *e, uint32_t rank, const struct plan_step *s)
{
    struct rank *r = &e->ranks[rank];
    const struct machine *m = e->m;
    bool to_network = way_in_network(&e->way), counts = way_counts(&e->way);
    int level = to_network ? m->n_levels - 1 : (int)(machine_between(m, rank, s->peer) - m->levels);
    const struct price *p = &e->prices[level];
    int64_t bytes = way_bytes(&s->a), dst = s->peer % e->period, from = rank - (s->peer - dst);
    int64_t node = rank / m->node_ranks, far_node = s->peer / m->node_ranks;
    bool eager = bytes <= p->eager || to_network;
    const int64_t *words = way_words(&e->way, &s->a);
    uint32_t i = entry_new(e);
    e->entries[i] = (struct entry){.src = rank,
                                   .dst = (uint32_t)dst,
                                   .from = (uint32_t)(from < 0 ? from + e->size : from),
                                   .bytes = bytes,
                                   .kind = eager ? ENTRY_EAGER : ENTRY_ANNOUNCED,
                                   .level = (uint8_t)level,
                                   .hops = (uint8_t)(e->hop && node != far_node ? dragonfly_hops(&e->fabric, node, far_node) : 0),
                                   .off_node = node != far_node || to_network,
                                   .to_network = to_network,
                                   .counts = counts};
    if (words) memcpy(e->entries[i].words, words, (size_t)bytes);
    if (counts)
        r->core += ps(m->atomics_o);
    else
        r->core += (eager ? engine_cost(e, &e->entries[i]) : 0) + p->o + (eager ? per_byte(p->O, bytes) : 0);
    r->open += !eager;
    e->result->messages++;
    e->result->bytes += bytes;
    leave(e, i, r->core);
}

static bool post_recv(struct engine *e, uint32_t rank, const struct plan_step *s)
{
    struct rank *r = &e->ranks[rank];
    uint32_t i = hash_take(e, rank, (uint32_t)s->peer, false);
    int64_t bytes = way_bytes(&s->a);
    r->open++;
    bool counts = way_counts(&e->way);
    if (!counts) r->core += looked_at(e, r->unexpected, i != 0);
    if (counts && i) r->core += ps(e->m->flag);
    if (i) {
        struct entry *x = &e->entries[i];
        if (x->bytes != bytes) return fail(e, "a receive is not as long as its message", rank, r->round);
        r->unexpected--;
        x->into = way_words(&e->way, &s->a);
        if (x->kind == ENTRY_EAGER)
            r->core += per_byte(e->prices[x->level].O, bytes); /* copied out of the buffer of unexpected messages */
        pair_up(e, i);
        return true;
    }
    i = entry_new(e);
    e->entries[i] = (struct entry){
        .dst = rank, .from = (uint32_t)s->peer, .bytes = bytes, .into = way_words(&e->way, &s->a), .kind = ENTRY_RECV};
    r->posted++;
    e->result->most_posted = gw_max64(e->result->most_posted, r->posted);
    hash_add(e, i);
    return true;
}

/* The region of flags of a node has its ranks [region_first, region_end). */
static int64_t region_first(const struct engine *e, int64_t rank) { return rank - rank % e->m->node_ranks; }
static int64_t region_end(const struct engine *e, int64_t rank)
{
    return gw_min64(region_first(e, rank) + e->m->node_ranks, e->period);
}
static struct region *region_of(const struct engine *e, int64_t rank)
{
    assert(rank >= 0 && rank < e->period);
    return &e->regions[rank / e->m->node_ranks];
}

/* Has the flag that the rank waits for been reached: that of one member, or those of all others?  The lowest flag of the region answers
 * that, unless it is only the rank's own. */
static bool reached(const struct engine *e, int64_t rank)
{
    const struct rank *r = &e->ranks[rank];
    const struct region *g = region_of(e, rank);
    if (r->wait_peer >= 0) return e->ranks[r->wait_peer].flag >= r->wait_flag;
    if (g->lowest >= r->wait_flag) return true;
    if (g->lowest < r->flag || g->at_lowest > 1) return false;
    for (int64_t k = region_first(e, rank); k < region_end(e, rank); k++)
        if (k != rank && e->ranks[k].flag < r->wait_flag) return false;
    return true;
}
static void on_raise(struct engine *e, uint32_t i, int64_t now)
{
    int64_t rank = e->entries[i].src, first = region_first(e, rank), end = region_end(e, rank);
    struct region *g = region_of(e, rank);
    uint64_t old = e->ranks[rank].flag;
    e->ranks[rank].flag = (uint64_t)e->entries[i].bytes;
    entry_free(e, i);
    if (old == g->lowest && --g->at_lowest == 0) {
        g->lowest = UINT64_MAX;
        for (int64_t k = first; k < end; k++) {
            uint64_t f = e->ranks[k].flag;
            g->at_lowest = f < g->lowest ? 1 : g->at_lowest + (f == g->lowest);
            g->lowest = f < g->lowest ? f : g->lowest;
        }
    }
    for (int64_t k = first; k < end; k++)
        if (e->ranks[k].state == RANK_AT_FLAG && reached(e, k)) {
            e->ranks[k].state = RANK_WOKEN;
            event(e, now + ps(e->m->flag), EV_RUN, (uint32_t)k);
        }
}

/* Performs a step on words of 8 bytes that exist (way.h): a sum, the larger ones, or a copy. */
static void on_words(struct engine *e, const struct plan_step *s)
{
    const int64_t *a = way_words(&e->way, &s->a);
    int64_t *b = a ? way_words(&e->way, &s->b) : NULL;
    bool is_max = (s->op ? s->op : e->way.stage.args.op) == gw_op_max;
    for (int64_t i = 0; b && i < way_bytes(&s->a) / (int64_t)sizeof *b; i++)
        b[i] = s->kind != PLAN_REDUCE ? a[i] : is_max ? gw_max64(a[i], b[i]) : a[i] + b[i];
}

static void local(struct engine *e, struct rank *r, const struct plan_step *s)
{
    const struct machine *m = e->m;
    int64_t len;
    if (s->kind == PLAN_COPY || s->kind == PLAN_REDUCE) on_words(e, s);
    switch (s->kind) {
    case PLAN_COPY:
    case PLAN_LABEL:
    case PLAN_UNLABEL:
        len = gw_min64(way_bytes(&s->a), way_bytes(&s->b));
        if (len > 0) r->core += ps(m->copy) + per_byte(m->copy_byte, len);
        break;
    case PLAN_REDUCE: r->core += ps(m->reduce) + per_byte(m->reduce_byte, way_bytes(&s->a)); break;
    case PLAN_EXACT: r->core += 3 * (ps(m->reduce) + per_byte(m->reduce_byte, 8 * s->stride)); break;
    case PLAN_SHM_REDUCE: r->core += s->peer * (ps(m->reduce) + per_byte(m->reduce_byte, way_bytes(&s->a))); break;
    case PLAN_ASSEMBLE: r->core += ps(m->copy) * ((s->b.len + s->stride - 1) / s->stride) + per_byte(m->copy_byte, s->b.len); break;
    case PLAN_PULL: r->core += ps(m->pull) + per_byte(m->pull_byte, s->a.len); break;
    default: break; /* EXPOSE is free */
    }
}

/* Performs the local steps of a round, from step r->at on; false: the rank waits for a flag. */
static bool local_steps(struct engine *e, uint32_t rank, const struct plan_step *steps, int n)
{
    assert(n <= PLAN_STEPS);
    struct rank *r = &e->ranks[rank];
    for (; r->at < n; r->at++) {
        const struct plan_step *s = &steps[r->at];
        if (s->kind == PLAN_PUBLISH) {
            uint32_t i = entry_new(e);
            r->core += ps(e->m->publish);
            e->entries[i] = (struct entry){.src = rank, .bytes = (int64_t)r->leaves << 20 | s->phase, .kind = ENTRY_RAISE};
            event(e, r->core, EV_RAISE, i);
        } else if (s->kind == PLAN_WAIT || s->kind == PLAN_PAIR_WAIT) { /* a rank publishes after it has stored all its lines */
            r->wait_peer = s->peer, r->wait_flag = (uint64_t)r->leaves << 20 | (uint64_t)(s->kind == PLAN_WAIT ? s->phase : 1);
            if (!reached(e, rank)) {
                r->state = RANK_AT_FLAG;
                return false;
            }
            r->core += ps(e->m->look) * (s->peer < 0 ? region_end(e, rank) - region_first(e, rank) : 1);
        } else {
            local(e, r, s);
        }
    }
    return true;
}

static void end(struct engine *e, struct rank *r)
{
    assert(r->state != RANK_OVER && r->open == 0);
    r->state = RANK_OVER;
    e->over++;
    double us = (double)r->core / 1e6;
    e->result->mean_us += us / (double)e->period;
    if (us > e->result->us) e->result->us = us;
}

/* Begins a stage.  A leaf is numbered in its region, and waits until the other members have got far enough (INVARIANT P1 of plan.h). */
static bool enter(struct engine *e, uint32_t rank)
{
    assert(e->ranks[rank].state != RANK_OVER);
    struct rank *r = &e->ranks[rank];
    const struct plan_stage *s = &e->way.stage;
    bool first = !r->entered;
    r->entered = true;
    if (!first || !s->alg || s->alg->kind == PLAN_P2P) return true;
    r->leaves++;
    r->wait_peer = -1;
    r->wait_flag = plan_entry(s->alg, &s->args, r->leaves, r->left);
    plan_slots_use(s->alg, r->leaves, r->left);
    if (!reached(e, rank)) r->state = RANK_AT_FLAG;
    return r->state != RANK_AT_FLAG;
}

static bool post(struct engine *e, uint32_t rank, const struct plan_step *steps, int n)
{
    assert(n <= PLAN_STEPS);
    for (int i = 0; i < n; i++) {
        if (steps[i].kind == PLAN_RECV && !post_recv(e, rank, &steps[i])) return false;
        if (steps[i].kind == PLAN_SEND) post_send(e, rank, &steps[i]);
    }
    return true;
}

/* Continues a rank until it has to wait for others. */
static bool run(struct engine *e, uint32_t rank, int64_t now)
{
    assert(rank < e->period);
    struct plan_step steps[PLAN_STEPS];
    struct rank *r = &e->ranks[rank];
    r->core = gw_max64(r->core, now);
    if (r->state == RANK_AT_END) {
        end(e, r);
        return true;
    }
    while (way_stage(&e->way, (int)rank, r->stage, !r->entered)) {
        if (!enter(e, rank)) return true;
        int n = way_round(&e->way, r->round, steps);
        if (n == 0) {
            r->stage++;
            r->round = 0;
            r->entered = false;
            continue;
        }
        if (r->state != RANK_WOKEN) r->core += ps(e->m->step);
        r->state = RANK_READY;
        if (!local_steps(e, rank, steps, n)) return true;
        if (!post(e, rank, steps, n)) return false;
        r->round++;
        r->at = 0;
        if (r->open && !e->job->at_once) {
            r->state = RANK_IN_ROUND;
            return true;
        }
    }
    r->state = RANK_AT_END;
    if (r->open == 0) end(e, r);
    return true;
}

static bool handle(struct engine *e, struct event x)
{
    switch (x.kind) {
    case EV_RUN: return run(e, x.what, x.time);
    case EV_CARD: on_card(e, x.what, x.time); return true;
    case EV_OUT: on_out(e, x.what, x.time); return true;
    case EV_ARRIVE: on_arrive(e, x.what, x.time); return true;
    case EV_DELIVER: return on_deliver(e, x.what, x.time);
    case EV_FETCH:
        e->entries[x.what].kind = ENTRY_DATA;
        leave(e, x.what, x.time);
        return true;
    case EV_FINISH: on_finish(e, x.what, x.time); return true;
    default: on_raise(e, x.what, x.time); return true;
    }
}

/* ---- begin and end ------------------------------------------------------------------------------------------------------------- */
static void set_up(struct engine *e)
{
    const struct machine *m = e->m;
    e->size = e->job->args.size;
    e->hop = m->fabric.groups ? ps(m->fabric.hop) : 0;
    e->fabric = dragonfly_of(&m->fabric);
    e->period = e->job->whole || e->hop ? e->size : way_period(&e->way, m);
    int64_t nodes = (e->period + m->node_ranks - 1) / m->node_ranks;
    e->ranks = memory((size_t)e->period, sizeof *e->ranks);
    e->nic_out = memory((size_t)(nodes * (int64_t)m->nics), sizeof *e->nic_out);
    e->nic_in = memory((size_t)(nodes * (int64_t)m->nics), sizeof *e->nic_in);
    e->regions = memory((size_t)nodes, sizeof *e->regions);
    for (int64_t i = 0; i < nodes; i++) e->regions[i].at_lowest = (int32_t)(region_end(e, i * m->node_ranks) - i * m->node_ranks);
    for (int i = 0; i < m->n_levels; i++) {
        const struct machine_level *l = &m->levels[i];
        e->prices[i] =
            (struct price){ps(l->o), ps(l->L), ps(l->g), l->O, l->R, l->G, l->eager > 1e17 ? INT64_MAX : (int64_t)l->eager};
    }
    e->mailbox = -1;
    e->mailbox_room = cray_mailbox_room(e->size);
    for (int k = 0; k < m->n_engines; k++) {
        if (m->engines[k].mailbox > 0 && e->mailbox < 0) e->mailbox = k;
        e->channels[k] =
            memory((size_t)(m->engines[k].n > 0 ? nodes * (int64_t)m->engines[k].n : e->period), sizeof *e->channels[k]);
    }
    e->nic_g = ps(m->nic_g), e->nic_G = m->nic_G;
    if (m->nic_other > 0) e->link_L = ps(m->nic_L), e->nic_flow = m->nic_link;
    e->nic_flow = e->nic_flow > e->nic_G ? e->nic_flow : e->nic_G;
    if (m->gpu.links && m->gpu.pcie > e->nic_flow) e->nic_flow = m->gpu.pcie;
    e->nic = e->nic_g > 0 || e->nic_flow > 0;
}

static bool go(struct engine *e)
{
    if (e->hop && (e->size - 1) / e->m->node_ranks >= dragonfly_nodes(&e->fabric))
        return fail(e, "the fabric has not so many nodes", 0, 0);
    struct event x;
    int64_t most = e->job->most_messages;
    uint64_t events = 0;
    for (int64_t i = 0; i < e->period; i++) event(e, 0, EV_RUN, (uint32_t)i);
    while (queue_take(&e->queue, &x)) {
        if (!handle(e, x)) return false;
        if (e->job->progress && ++events % 4096 == 0)
            gw_progress_at(e->job->progress, "sim: %s on %lld ranks: %lld messages, %lld ranks are through", e->job->alg->name,
                           (long long)e->size, (long long)(e->result->messages * (e->size / e->period)),
                           (long long)(e->over * (e->size / e->period)));
        if (most && e->result->messages > most) return fail(e, "more messages than may be run", x.what, 0);
    }
    for (int64_t i = 0; i < e->period && e->over < e->period; i++)
        if (e->ranks[i].state != RANK_OVER) return fail(e, "stands still", i, e->ranks[i].round);
    return true;
}

bool engine_run(const struct engine_job *job, struct engine_result *out, char *error_out, int error_cap)
{
    struct engine_result result = {0};
    struct engine e = {.job = job, .m = job->machine, .result = &result, .error = error_out, .error_cap = error_cap};
    error_out[0] = 0;
    if (!way_open(&e.way, job->alg, &job->args, !job->messages)) return fail(&e, "no memory for its temporary", 0, 0);
    e.way.network = job->network;
    set_up(&e);
    bool ok = go(&e);
    result.ranks = e.period;
    result.messages *= e.size / e.period;
    result.bytes *= e.size / e.period;
    for (int k = 0; k < MACHINE_ENGINES; k++) {
        result.engine_messages[k] *= e.size / e.period;
        free(e.channels[k]);
    }
    if (ok) *out = result;
    free(e.ranks), free(e.nic_out), free(e.nic_in), free(e.regions), free(e.entries), free(e.buckets);
    queue_free(&e.queue);
    way_close(&e.way);
    return ok;
}
