/* fabric.c -- packets, queues before links, and clocks of classes, in order of time.
 *
 *   POST (a flow has one more) -> [waits for its turn at the window] -> queue of the link into the network
 *   a link is free -> takes a packet: TRY again when it has left; HERE when it has arrived -> queue of the next link, or over
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fabric.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "dragonfly.h"
#include "queue.h"

enum event_kind { EV_POST, EV_TRY, EV_HERE };
enum { PLACES = DRAGONFLY_HOPS + 5, NONE = UINT32_MAX }; /* hops of a packet: into the network, at most five links, out */

struct packet {
    uint32_t next; /* in its queue */
    int32_t flow, hop;
    int64_t link, behind; /* behind: the link at whose end it lies; -1: it is at its source */
    int64_t via, born;
    uint64_t turn; /* in order of coming into its queue */
};
struct queued {
    uint32_t first, last;
};
struct clocks { /* of a class on a link */
    int64_t due, may;
    int64_t had;
};
struct lane { /* of a class on a link; all that one look at it needs lies together */
    struct clocks clocks;
    int64_t waiting;
    struct queued queues[PLACES];
    int32_t room[PLACES]; /* at its end */
};
struct link {
    int64_t free, waiting, fair; /* waiting: packets before it; fair: what the class that went last had had */
    struct lane lanes[MACHINE_CLASSES];
};
struct fabric {
    struct fabric_job *job;
    const struct machine *m;
    struct dragonfly d;
    struct machine_class classes[MACHINE_CLASSES];
    int n_classes;
    struct link *links;
    struct packet *packets;
    uint32_t n_packets, room, spare;
    struct queued *held;          /* of a flow: what waits for its turn */
    int32_t *after;               /* of a flow: the next one to the same node, around */
    int64_t *under_way, *last;    /* by node: packets, and the flow that had the last turn */
    int64_t turns, from, to, hop; /* turns: of groups to go by */
    uint64_t n_turns;
    struct event_queue events;
};

static int64_t ps(double us) { return (int64_t)(us * 1e6 + 0.5); }
static void *memory(size_t n, size_t each)
{
    void *p = calloc(n ? n : 1, each);
    if (!p) abort();
    return p;
}
static void event(struct fabric *f, int64_t time, enum event_kind kind, int64_t what)
{
    queue_put(&f->events, (struct event){time, (uint32_t)what, (uint32_t)kind});
}

static const struct fabric_flow *flow_of(const struct fabric *f, const struct packet *p) { return &f->job->flows[p->flow]; }
static int64_t time_on_link(const struct fabric *f, const struct packet *p)
{
    double bytes = flow_of(f, p)->bytes ? (double)flow_of(f, p)->bytes : f->m->fabric.packet;
    return (int64_t)(bytes * f->m->fabric.G * 1e3 + 0.5);
}

/* ---- queues ------------------------------------------------------------------------------------------------------------------ */
static void append(struct fabric *f, struct queued *q, uint32_t i)
{
    f->packets[i].next = NONE;
    if (q->first == NONE)
        q->first = i;
    else
        f->packets[q->last].next = i;
    q->last = i;
}
static uint32_t take_first(const struct fabric *f, struct queued *q)
{
    uint32_t i = q->first;
    q->first = f->packets[i].next;
    return i;
}

static uint32_t packet_new(struct fabric *f)
{
    uint32_t i = f->spare;
    if (i != NONE) {
        f->spare = f->packets[i].next;
        return i;
    }
    if (f->n_packets == f->room) {
        f->room = f->room ? 2 * f->room : 1024;
        f->packets = realloc(f->packets, (size_t)f->room * sizeof *f->packets);
        if (!f->packets) abort();
    }
    return f->n_packets++;
}

/* ---- a link takes a packet ------------------------------------------------------------------------------------------------------ */
static bool leaves_network(const struct fabric *f, int64_t link) { return dragonfly_end(&f->d, link) < 0; }

/* Of a class, the packet that came first of those with a place behind the link. */
static uint32_t oldest(const struct fabric *f, int64_t link, int c)
{
    const struct link *l = &f->links[link];
    uint32_t found = NONE;
    for (int hop = 0; hop + 1 < PLACES; hop++) {
        uint32_t i = l->lanes[c].queues[hop].first;
        if (i == NONE || (!l->lanes[c].room[hop + 1] && !leaves_network(f, link))) continue;
        if (found == NONE || f->packets[i].turn < f->packets[found].turn) found = i;
    }
    return found;
}

/* Does class a go before b?  Both have a packet, and may. */
static bool before(const struct fabric *f, const struct link *l, int a, int b, int64_t now)
{
    bool a_due = f->classes[a].min > 0 && l->lanes[a].clocks.due <= now,
         b_due = f->classes[b].min > 0 && l->lanes[b].clocks.due <= now;
    if (a_due != b_due) return a_due;
    if (f->classes[a].priority != f->classes[b].priority) return f->classes[a].priority > f->classes[b].priority;
    return gw_max64(l->lanes[a].clocks.had, l->fair) < gw_max64(l->lanes[b].clocks.had, l->fair);
}

/* The next packet; NONE: there is none, or *later_out is when one may go. */
static uint32_t choose(const struct fabric *f, int64_t link, int64_t now, int64_t *later_out)
{
    const struct link *l = &f->links[link];
    uint32_t found = NONE;
    int best = -1;
    *later_out = INT64_MAX;
    for (int c = 0; c < f->n_classes; c++) {
        uint32_t i = l->lanes[c].waiting ? oldest(f, link, c) : NONE;
        if (i == NONE) continue;
        if (l->lanes[c].clocks.may > now)
            *later_out = gw_min64(*later_out, l->lanes[c].clocks.may);
        else if (best < 0 || before(f, l, c, best, now))
            best = c, found = i;
    }
    return found;
}

static void count_time(const struct fabric *f, struct link *l, int c, int64_t now, int64_t took)
{
    struct clocks *k = &l->lanes[c].clocks;
    const struct machine_class *t = &f->classes[c];
    if (t->min > 0) {
        int64_t step = (int64_t)((double)took / t->min + 0.5);
        k->due = gw_max64(k->due, now - step) + step;
    }
    if (t->max < 1) k->may = now + (int64_t)((double)took / t->max + 0.5);
    l->fair = gw_max64(k->had, l->fair);
    k->had = l->fair + took;
}

static void try_link(struct fabric *f, int64_t link, int64_t now)
{
    struct link *l = &f->links[link];
    int64_t later;
    if (l->free > now) return;
    uint32_t i = choose(f, link, now, &later);
    if (i == NONE) {
        if (later < INT64_MAX) event(f, later, EV_TRY, link);
        return;
    }
    struct packet *p = &f->packets[i];
    int c = flow_of(f, p)->tclass;
    int64_t took = time_on_link(f, p), behind = p->behind;
    take_first(f, &l->lanes[c].queues[p->hop]);
    l->waiting--, l->lanes[c].waiting--;
    l->free = now + took;
    if (!leaves_network(f, link)) l->lanes[c].room[p->hop + 1]--;
    count_time(f, l, c, now, took);
    event(f, l->free, EV_TRY, link);
    event(f, l->free + f->hop, EV_HERE, i);
    if (behind < 0) return;
    f->links[behind].lanes[c].room[p->hop]++;
    try_link(f, behind, now);
}

/* The packet is gone: its place is free, its flow sends the next one. */
static void end(struct fabric *f, uint32_t i, int64_t now);
static void lose(struct fabric *f, uint32_t i, int64_t now)
{
    struct packet *p = &f->packets[i];
    struct fabric_flow *flow = &f->job->flows[p->flow];
    if (now > f->from && now <= f->to) flow->lost++;
    f->links[p->link].lanes[flow->tclass].room[p->hop]++;
    try_link(f, p->link, now);
    end(f, i, now);
}

static void enqueue(struct fabric *f, uint32_t i, int64_t link, int64_t now)
{
    struct packet *p = &f->packets[i];
    int c = flow_of(f, p)->tclass;
    bool is_in_switch = p->link >= 0; /* at its source it waits */
    if (is_in_switch && f->classes[c].drop > 0 && (double)f->links[link].lanes[c].waiting >= f->classes[c].drop) {
        lose(f, i, now);
        return;
    }
    p->behind = p->link;
    p->link = link;
    p->turn = f->n_turns++;
    f->links[link].waiting++, f->links[link].lanes[c].waiting++;
    append(f, &f->links[link].lanes[c].queues[p->hop], i);
    try_link(f, link, now);
}

/* ---- flows ---------------------------------------------------------------------------------------------------------------------- */
static void inject(struct fabric *f, uint32_t i, int64_t now)
{
    const struct fabric_flow *flow = flow_of(f, &f->packets[i]);
    f->under_way[flow->dst]++;
    f->last[flow->dst] = f->packets[i].flow;
    enqueue(f, i, dragonfly_link_in(&f->d, flow->src), now);
}

static bool has_turn(const struct fabric *f, int64_t dst)
{
    return !f->job->managed || (double)f->under_way[dst] < f->m->fabric.window;
}

static void on_post(struct fabric *f, int64_t flow, int64_t now)
{
    uint32_t i = packet_new(f);
    f->packets[i] = (struct packet){.next = NONE, .flow = (int32_t)flow, .link = -1, .via = -1, .born = now};
    if (has_turn(f, f->job->flows[flow].dst))
        inject(f, i, now);
    else
        append(f, &f->held[flow], i);
}

/* One of the flows that wait to send to a node, the next one around.  One of its flows has had a turn. */
static void next_turn(struct fabric *f, int64_t dst, int64_t now)
{
    if (!f->job->managed || !has_turn(f, dst)) return; /* not managed: nothing is held */
    int64_t last = f->last[dst], flow = f->after[last];
    while (f->held[flow].first == NONE && flow != last) flow = f->after[flow];
    if (f->held[flow].first != NONE) inject(f, take_first(f, &f->held[flow]), now);
}

static void over(struct fabric *f, uint32_t i, int64_t now)
{
    struct packet *p = &f->packets[i];
    struct fabric_flow *flow = &f->job->flows[p->flow];
    double us = (double)(now - p->born) / 1e6;
    if (now > f->from && now <= f->to) {
        flow->packets++;
        flow->mean += us;
        if (us > flow->max) flow->max = us;
    }
    end(f, i, now);
}
static void end(struct fabric *f, uint32_t i, int64_t now)
{
    struct packet *p = &f->packets[i];
    const struct fabric_flow *flow = flow_of(f, p);
    if (now < f->to) event(f, now + ps(flow->pause), EV_POST, p->flow);
    f->under_way[flow->dst]--;
    p->next = f->spare;
    f->spare = i;
    next_turn(f, flow->dst, now);
}

/* ---- the way ---------------------------------------------------------------------------------------------------------------------- */
/* A third group to go by, or -1: where the shortest way is not much fuller than that. */
static int64_t detour(struct fabric *f, int64_t at, int64_t dst)
{
    const struct dragonfly *d = &f->d;
    int64_t here = at / d->switches, there = dst / d->nodes / d->switches;
    if (!f->m->fabric.detour || here == there || d->groups < 3) return -1;
    do f->turns = (f->turns + 1) % d->groups;
    while (f->turns == here || f->turns == there);
    int64_t straight = f->links[dragonfly_next(d, at, dst, -1)].waiting,
            around = f->links[dragonfly_next(d, at, dst, f->turns)].waiting;
    return straight > 2 * around + 2 ? f->turns : -1;
}

static void on_here(struct fabric *f, uint32_t i, int64_t now)
{
    struct packet *p = &f->packets[i];
    int64_t at = dragonfly_end(&f->d, p->link), dst = flow_of(f, p)->dst;
    if (at < 0) {
        over(f, i, now);
        return;
    }
    if (p->hop++ == 0) p->via = detour(f, at, dst);
    if (at / f->d.switches == p->via) p->via = -1;
    enqueue(f, i, dragonfly_next(&f->d, at, dst, p->via), now);
}

static void handle(struct fabric *f, struct event x)
{
    switch (x.kind) {
    case EV_POST: on_post(f, x.what, x.time); break;
    case EV_TRY: try_link(f, x.what, x.time); break;
    default: on_here(f, x.what, x.time); break;
    }
}

/* ---- begin and end ------------------------------------------------------------------------------------------------------------- */
static bool wrong(const char *what, char *error_out, int error_cap)
{
    return snprintf(error_out, (size_t)error_cap, "%s", what), false;
}

static bool is_right(const struct fabric_job *job, char *error_out, int error_cap)
{
    const struct machine *m = job->machine;
    struct dragonfly d = dragonfly_of(&m->fabric);
    if (!m->fabric.groups || m->fabric.G <= 0 || m->fabric.packet < 1 || m->fabric.buffer < 1)
        return wrong("the machine has no fabric with G=, packet= and buffer=", error_out, error_cap);
    if (job->managed && m->fabric.window < 1) return wrong("the fabric has no window=", error_out, error_cap);
    for (int i = 0; i < job->n_flows; i++) {
        const struct fabric_flow *w = &job->flows[i];
        if (w->src < 0 || w->dst < 0 || w->src == w->dst || gw_max64(w->src, w->dst) >= dragonfly_nodes(&d) || w->ahead < 1)
            return wrong("a flow is from a node to another one, with a packet ahead at least", error_out, error_cap);
        if (w->tclass < 0 || w->tclass >= (m->n_classes ? m->n_classes : 1)) return wrong("no such class", error_out, error_cap);
    }
    return true;
}

static void links_make(struct fabric *f)
{
    int64_t n = dragonfly_links(&f->d);
    f->links = memory((size_t)n, sizeof *f->links);
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < f->n_classes; c++)
            for (int hop = 0; hop < PLACES; hop++) {
                f->links[i].lanes[c].queues[hop] = (struct queued){NONE, NONE};
                f->links[i].lanes[c].room[hop] = (int32_t)f->m->fabric.buffer;
            }
}

/* Rings of the flows to each node, in their order. */
static void rings_make(struct fabric *f)
{
    int64_t nodes = dragonfly_nodes(&f->d);
    int32_t *first = memory((size_t)nodes, sizeof *first), *latest = memory((size_t)nodes, sizeof *latest);
    f->after = memory((size_t)f->job->n_flows, sizeof *f->after);
    for (int64_t d = 0; d < nodes; d++) first[d] = -1;
    for (int32_t i = 0; i < f->job->n_flows; i++) {
        int64_t d = f->job->flows[i].dst;
        if (first[d] < 0) first[d] = latest[d] = i;
        f->after[latest[d]] = i;
        f->after[i] = first[d];
        latest[d] = i;
    }
    free(first), free(latest);
}

static void set_up(struct fabric *f)
{
    struct fabric_job *job = f->job;
    const struct machine *m = f->m;
    f->d = dragonfly_of(&m->fabric);
    f->n_classes = m->n_classes ? m->n_classes : 1;
    f->classes[0] = (struct machine_class){.max = 1};
    for (int c = 0; c < m->n_classes; c++) f->classes[c] = m->classes[c];
    f->from = ps(job->from_us), f->to = ps(job->to_us), f->hop = ps(m->fabric.hop);
    f->spare = NONE;
    links_make(f);
    rings_make(f);
    f->held = memory((size_t)job->n_flows, sizeof *f->held);
    f->under_way = memory((size_t)dragonfly_nodes(&f->d), sizeof *f->under_way);
    f->last = memory((size_t)dragonfly_nodes(&f->d), sizeof *f->last);
    for (int i = 0; i < job->n_flows; i++) {
        struct fabric_flow *w = &job->flows[i];
        f->held[i] = (struct queued){NONE, NONE};
        w->packets = w->lost = 0, w->mean = 0, w->max = 0, w->us = job->to_us - job->from_us;
        for (int k = 0; k < w->ahead; k++) event(f, 0, EV_POST, i);
    }
}

bool fabric_run(struct fabric_job *job, char *error_out, int error_cap)
{
    struct fabric f = {.job = job, .m = job->machine};
    struct event x;
    if (!is_right(job, error_out, error_cap)) return false;
    set_up(&f);
    for (uint64_t events = 1; queue_take(&f.events, &x) && x.time <= f.to; events++) {
        handle(&f, x);
        if (job->progress && events % 4096 == 0)
            gw_progress_at(job->progress, "sim: %s: %lld %%", job->what, (long long)(100 * x.time / f.to));
    }
    for (int i = 0; i < job->n_flows; i++)
        if (job->flows[i].packets) job->flows[i].mean /= (double)job->flows[i].packets;
    free(f.links), free(f.packets), free(f.held), free(f.after), free(f.under_way), free(f.last);
    queue_free(&f.events);
    return true;
}
