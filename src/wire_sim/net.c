/* net.c -- the messages under way between the ranks of one process, and what the seed does to them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_sim/sim.h"

#include <stdlib.h>

static struct sim_queue *queue_of(const struct sim_net *net, int to, int lane, int from)
{
    return &net->queues[((size_t)to * GW_MAX_LANES + (size_t)lane) * (size_t)(net->n + 1) + (size_t)from];
}

uint32_t sim_below(struct sim_net *net, uint32_t n)
{
    /* splitmix64: any seed will do, 0 too. */
    uint64_t z = net->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (uint32_t)((z >> 32) * n >> 32);
}

void sim_trace(struct sim_net *net, uint64_t what) { net->trace = (net->trace ^ what) * 0x100000001b3u + (net->trace >> 29); }

struct sim_net *sim_net_new(int n, uint64_t seed, const struct sim_ways *ways)
{
    size_t pairs = (size_t)n * (size_t)n, queues = (size_t)n * GW_MAX_LANES * (size_t)(n + 1);
    struct sim_net *net = gw_xcalloc(1, sizeof *net);
    net->n = n;
    net->random = seed;
    net->ways = *ways;
    net->queues = gw_xcalloc(queues, sizeof *net->queues);
    for (size_t i = 0; i < queues; i++) net->queues[i].last = &net->queues[i].first;
    net->slow = gw_xcalloc(pairs, 1);
    net->copies_ok = gw_xcalloc(pairs, 1);
    net->wants_room = gw_xcalloc(pairs, 1);
    net->is_there = gw_xcalloc((size_t)n, 1);
    net->credit_at = gw_xcalloc((size_t)n, sizeof *net->credit_at);
    for (int i = 0; i < n; i++) net->credit_at[i] = SIM_NEVER;
    for (size_t i = 0; i < pairs; i++) {
        net->slow[i] = sim_chance(net, ways->slow);
        net->copies_ok[i] = ways->copies == SIM_COPY_ONE_WAY ? sim_chance(net, 128) : ways->copies != SIM_COPY_NONE;
    }
    return net;
}

void sim_net_free(struct sim_net *net)
{
    for (size_t i = 0; i < (size_t)net->n * GW_MAX_LANES * (size_t)(net->n + 1); i++)
        for (struct sim_msg *m = net->queues[i].first, *next; m; m = next) {
            next = m->next;
            free(m);
        }
    free(net->queues);
    free(net->slow);
    free(net->copies_ok);
    free(net->wants_room);
    free(net->is_there);
    free(net->credit_at);
    free(net);
}

static uint64_t some_delay(struct sim_net *net, int from, int to)
{
    uint64_t most = net->ways.delay_ns;
    if (from < net->n && net->slow[from * net->n + to]) most *= 16;
    return most ? sim_below(net, (uint32_t)most) : 0;
}

struct sim_msg *sim_net_room(struct sim_net *net, int from, int to, int lane, size_t len)
{
    if (from < net->n) {
        bool is_full = queue_of(net, to, lane, from)->n >= net->ways.room;
        if (is_full || sim_chance(net, net->ways.again)) {
            net->refused++;
            if (net->note) net->note(net, is_full ? "refused, full" : "refused", from, to, NULL);
            if (is_full)
                net->wants_room[from * net->n + to] = 1;
            else
                net->credit_at[from] = net->now + some_delay(net, to, from);
            return NULL;
        }
    }
    struct sim_msg *m = gw_xmalloc(sizeof *m + len);
    m->len = (uint32_t)len;
    m->from = (uint16_t)from;
    m->lane = (uint8_t)lane;
    m->kind = 0;
    return m;
}

static void enqueue(struct sim_queue *q, struct sim_msg *m)
{
    m->next = NULL;
    *q->last = m;
    q->last = &m->next;
    q->n++;
}

/* The last two change places. */
static void break_order(struct sim_net *net, struct sim_queue *q)
{
    struct sim_msg **link = &q->first;
    if (q->n < 2) return;
    while ((*link)->next->next) link = &(*link)->next;
    struct sim_msg *a = *link, *b = a->next;
    *link = b;
    b->next = a;
    a->next = NULL;
    q->last = &a->next;
    net->bugs++;
}

/* False: the sender is told that it was refused, although it was sent. */
static bool break_it(struct sim_net *net, struct sim_queue *q, struct sim_msg *m)
{
    enum { SELDOM = 64 };
    if (sim_below(net, SELDOM)) return true;
    switch (net->ways.bug) {
    case SIM_BUG_ORDER: break_order(net, q); return true;
    case SIM_BUG_TWICE: {
        struct sim_msg *twin = gw_xmalloc(sizeof *m + m->len);
        memcpy(twin, m, sizeof *m + m->len);
        enqueue(q, twin);
        break;
    }
    case SIM_BUG_BYTE:
        if (m->len < 48) return true; /* data, not what the ranks say to each other */
        m->payload[sim_below(net, m->len)] ^= 0x10;
        break;
    case SIM_BUG_AGAIN: net->bugs++; return false;
    default: return true;
    }
    net->bugs++;
    return true;
}

bool sim_net_post(struct sim_net *net, int to, struct sim_msg *m)
{
    struct sim_queue *q = queue_of(net, to, m->lane, m->from);
    m->due = net->now + some_delay(net, m->from, to);
    net->sent++;
    net->activity++;
    if (net->note) net->note(net, "sent", m->from, to, m);
    sim_trace(net, (uint64_t)m->from << 48 | (uint64_t)to << 32 | m->len);
    if (net->ways.bug == SIM_BUG_LOSE && m->from < net->n && sim_below(net, 256) == 0) {
        net->bugs++;
        free(m);
        return true;
    }
    if (net->ways.no_ack && !net->is_there[to]) {
        net->lost++;
        free(m);
        return true;
    }
    enqueue(q, m);
    return net->ways.bug == SIM_BUG_NONE || m->from == net->n || break_it(net, q, m);
}

/* A message has left the queue between these two: a sender that was refused may try again. */
static void room_made(struct sim_net *net, int from, int to)
{
    if (from == net->n || !net->wants_room[from * net->n + to]) return;
    net->wants_room[from * net->n + to] = 0;
    net->credit_at[from] = net->now + some_delay(net, to, from);
}

struct sim_msg *sim_net_take(struct sim_net *net, int to, int lane)
{
    int n_due = 0;
    struct sim_queue *q = queue_of(net, to, lane, 0), *from = NULL;
    for (int i = 0; i <= net->n; i++)
        if (q[i].first && q[i].first->due <= net->now && sim_below(net, (uint32_t)++n_due) == 0)
            from = &q[i]; /* each with the same chance */
    if (!from) return NULL;
    struct sim_msg *m = from->first;
    from->first = m->next;
    if (!m->next) from->last = &from->first;
    from->n--;
    room_made(net, m->from, to);
    net->taken++;
    net->activity++;
    if (net->note) net->note(net, "taken", m->from, to, m);
    sim_trace(net, net->now ^ (uint64_t)m->from << 56 ^ (uint64_t)to << 48 ^ m->kind);
    return m;
}

static void queue_drop(struct sim_net *net, struct sim_queue *q)
{
    for (struct sim_msg *m; (m = q->first); free(m), net->lost++) q->first = m->next;
    q->last = &q->first;
    q->n = 0;
}

/* What is under way to a rank that leaves is lost. */
void sim_net_there(struct sim_net *net, int rank, bool is_there)
{
    net->is_there[rank] = is_there;
    for (int lane = 0; lane < GW_MAX_LANES && !is_there; lane++)
        for (int from = 0; from <= net->n; from++) {
            queue_drop(net, queue_of(net, rank, lane, from));
            room_made(net, from, rank);
        }
}

uint64_t sim_net_due(const struct sim_net *net, int rank)
{
    uint64_t due = net->credit_at[rank];
    for (int lane = 0; lane < GW_MAX_LANES; lane++) {
        const struct sim_queue *q = queue_of(net, rank, lane, 0);
        for (int i = 0; i <= net->n; i++)
            if (q[i].first && q[i].first->due < due) due = q[i].first->due;
    }
    return due;
}
