/* map.c -- process mapping: assigns a graph to a machine, by pure functions.
 *
 * The machine is a tree: processes on the same node, in the same package, ... on the same core.  What an edge costs follows from the
 * deepest resource that its two ends share.  The nodes of the tree are filled from the top: the vertices are cut in two
 * parts as large as two parts of the machine, with as little weight across as can be found, and so on down.  Cuts are found
 * by growing a part from a corner, or along a dimension of a grid, and then by exchanging vertices (Kernighan and Lin, with
 * the queues of Fiduccia and Mattheyses).  At the end pairs are exchanged while that helps, if the graph is small.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "topo/map.h"

#include <stdlib.h>

/* The cost of a message by the number of levels that its ends share: other node, other package, ... same core.  Ratios of latencies. */
static const int64_t level_cost[MAP_LEVELS + 1] = {100, 20, 14, 10, 8, 7, 6};

static int shared_levels(const struct map_place *a, const struct map_place *b)
{
    int k = 0;
    while (k < MAP_LEVELS && a->unit[k] == b->unit[k]) k++;
    return k;
}

int64_t topo_map_cost(const struct map_graph *g, const struct map_place *places, const int *order)
{
    int64_t sum = 0;
    for (int v = 0; v < g->n; v++)
        for (int64_t e = g->first[v]; e < g->first[v + 1]; e++)
            if (g->to[e] > v) sum += g->weight[e] * level_cost[shared_levels(&places[order[v]], &places[order[g->to[e]]])];
    return sum;
}

int64_t topo_map_crossing(const struct map_graph *g, const struct map_place *places, const int *order, int level)
{
    int64_t sum = 0;
    for (int v = 0; v < g->n; v++)
        for (int64_t e = g->first[v]; e < g->first[v + 1]; e++)
            if (g->to[e] > v && shared_levels(&places[order[v]], &places[order[g->to[e]]]) <= level) sum += g->weight[e];
    return sum;
}

/* ---- graphs ---- */
int topo_map_graph_make(struct map_graph *g, int n, int64_t nedges, const int *from, const int *to, const int *weight)
{
    assert(n >= 0 && nedges >= 0);
    *g = (struct map_graph){.n = n};
    g->first = calloc((size_t)n + 2, sizeof *g->first);
    g->to = malloc(sizeof *g->to * (2 * (size_t)nedges + 1));
    g->weight = malloc(sizeof *g->weight * (2 * (size_t)nedges + 1));
    if (!g->first || !g->to || !g->weight) {
        topo_map_graph_free(g);
        return GW_ENOMEM;
    }
    int64_t *next = g->first + 1; /* next[v]: where the next edge of vertex v is stored; in the end where those of v + 1 begin */
    for (int64_t e = 0; e < nedges; e++)
        if (from[e] != to[e]) next[from[e] + 1]++, next[to[e] + 1]++;
    for (int v = 1; v <= n; v++) next[v] += next[v - 1];
    for (int64_t e = 0; e < nedges; e++) {
        if (from[e] == to[e]) continue;
        int64_t a = next[from[e]]++, b = next[to[e]]++;
        g->to[a] = to[e], g->to[b] = from[e];
        g->weight[a] = g->weight[b] = weight ? weight[e] : 1;
    }
    return GW_OK;
}

void topo_map_graph_free(struct map_graph *g)
{
    free(g->first);
    free(g->to);
    free(g->weight);
    *g = (struct map_graph){0};
}

/* ---- a queue of vertices by gain; entries that are out of date are dropped when they come up ---- */
struct entry {
    int64_t gain;
    int v;
};
struct queue {
    struct entry *at;
    int64_t n;
};

static bool before(struct entry a, struct entry b) { return a.gain != b.gain ? a.gain > b.gain : a.v < b.v; }

static void queue_add(struct queue *q, int64_t gain, int v)
{
    struct entry e = {gain, v};
    int64_t i = q->n++;
    for (; i > 0 && before(e, q->at[(i - 1) / 2]); i = (i - 1) / 2) q->at[i] = q->at[(i - 1) / 2];
    q->at[i] = e;
}

static struct entry queue_take(struct queue *q)
{
    struct entry top = q->at[0], e = q->at[--q->n];
    int64_t i = 0;
    for (int64_t k; (k = 2 * i + 1) < q->n; i = k) {
        if (k + 1 < q->n && before(q->at[k + 1], q->at[k])) k++;
        if (!before(q->at[k], e)) break;
        q->at[i] = q->at[k];
    }
    q->at[i] = e;
    return top;
}

/* ---- cutting a set of vertices in two ---- */
enum { LEFT, RIGHT, OUTSIDE };
struct work {
    const struct map_graph *g;
    const struct map_grid *grid;
    const struct map_place *places;
    int *vertices;       /* [n] a set is a run of these */
    int *slots;          /* [n] processes by place; the i-th vertex gets the i-th in the end */
    unsigned char *side; /* [n] LEFT, RIGHT; OUTSIDE of the set at hand */
    unsigned char *best, *locked;
    int64_t *gain; /* [n] by how much the cut shrinks if the vertex changes sides */
    int *list;     /* [n] scratch */
    struct queue queue[2];
};

static int64_t gain_of(const struct work *w, int v)
{
    int64_t gain = 0;
    for (int64_t e = w->g->first[v]; e < w->g->first[v + 1]; e++) {
        int there = w->side[w->g->to[e]];
        if (there != OUTSIDE) gain += there == w->side[v] ? -w->g->weight[e] : w->g->weight[e];
    }
    return gain;
}

static int64_t cut_of(const struct work *w, const int *set, int n)
{
    int64_t cut = 0;
    for (int i = 0; i < n; i++)
        for (int64_t e = w->g->first[set[i]]; e < w->g->first[set[i] + 1]; e++)
            if (w->side[set[i]] == LEFT && w->side[w->g->to[e]] == RIGHT) cut += w->g->weight[e];
    return cut;
}

/* The best vertex of a side that has not been moved in this pass, or -1. */
static int take_best(struct work *w, int side)
{
    assert(side == LEFT || side == RIGHT);
    struct queue *q = &w->queue[side];
    while (q->n > 0) {
        struct entry e = queue_take(q);
        if (!w->locked[e.v] && w->side[e.v] == side && w->gain[e.v] == e.gain) return e.v;
    }
    return -1;
}

static void change_side(struct work *w, int v)
{
    w->side[v] = w->side[v] == LEFT ? RIGHT : LEFT;
    w->gain[v] = -w->gain[v];
    for (int64_t e = w->g->first[v]; e < w->g->first[v + 1]; e++) {
        int u = w->g->to[e], there = w->side[u];
        if (there == OUTSIDE) continue;
        w->gain[u] += there == w->side[v] ? -2 * w->g->weight[e] : 2 * w->g->weight[e];
        if (!w->locked[u]) queue_add(&w->queue[there], w->gain[u], u);
    }
}

/* One pass: exchanges the best pairs one after another, each vertex once, even if the cut gets worse for a while, and returns to the best
 * state.  Returns by how much the cut has shrunk. */
static int64_t exchange_pass(struct work *w, const int *set, int n)
{
    enum { PATIENCE = 64 };
    int64_t sum = 0, best = 0;
    int moved = 0, best_moved = 0;
    w->queue[LEFT].n = w->queue[RIGHT].n = 0;
    for (int i = 0; i < n; i++) {
        int v = set[i];
        w->locked[v] = 0;
        w->gain[v] = gain_of(w, v);
        queue_add(&w->queue[w->side[v]], w->gain[v], v);
    }
    while (moved - best_moved < 2 * PATIENCE) {
        for (int side = LEFT; side <= RIGHT; side++) {
            int v = take_best(w, side);
            if (v < 0) goto back;
            sum += w->gain[v];
            w->locked[v] = 1;
            change_side(w, v);
            w->list[moved++] = v;
        }
        if (sum > best) best = sum, best_moved = moved;
    }
back:
    while (moved > best_moved) {
        int v = w->list[--moved];
        w->side[v] = w->side[v] == LEFT ? RIGHT : LEFT;
    }
    return best;
}

static int64_t improve(struct work *w, const int *set, int n, int64_t cut)
{
    enum { PASSES = 12 };
    for (int i = 0; i < PASSES; i++) {
        int64_t gained = exchange_pass(w, set, n);
        cut -= gained;
        if (gained == 0) break;
    }
    return cut;
}

/* The last vertex of a breadth-first search from `start`, which is far from it: a corner. */
static int corner_from(struct work *w, const int *set, int n, int start)
{
    assert(n > 0);
    int seen = 1;
    for (int i = 0; i < n; i++) w->locked[set[i]] = 0;
    w->locked[start] = 1;
    w->list[0] = start;
    for (int i = 0; i < seen; i++)
        for (int64_t e = w->g->first[w->list[i]]; e < w->g->first[w->list[i] + 1]; e++) {
            int u = w->g->to[e];
            if (w->side[u] == OUTSIDE || w->locked[u]) continue;
            w->locked[u] = 1;
            w->list[seen++] = u;
        }
    return w->list[seen - 1];
}

/* Makes the left side: from `start`, adds the vertex with the heaviest edges to it, again and again. */
static void grow(struct work *w, const int *set, int n, int nleft, int start)
{
    struct queue *q = &w->queue[0];
    q->n = 0;
    for (int i = 0; i < n; i++) {
        w->side[set[i]] = RIGHT;
        w->locked[set[i]] = 0;
    }
    for (int i = 0; i < n; i++) w->gain[set[i]] = gain_of(w, set[i]);
    int next = 0;
    for (int v = start; nleft-- > 0;) {
        w->locked[v] = 1; /* set before its neighbours are queued, because only neighbours of the left side may be */
        w->side[v] = LEFT;
        for (int64_t e = w->g->first[v]; e < w->g->first[v + 1]; e++) {
            int u = w->g->to[e];
            if (w->side[u] != RIGHT) continue;
            w->gain[u] += 2 * w->g->weight[e];
            queue_add(q, w->gain[u], u);
        }
        v = -1;
        while (q->n > 0 && v < 0) {
            struct entry top = queue_take(q);
            if (w->side[top.v] == RIGHT && w->gain[top.v] == top.gain) v = top.v;
        }
        while (v < 0 && next < n && w->side[set[next]] != RIGHT) next++; /* the graph has another component */
        if (v < 0 && next < n) v = set[next];
    }
}

/* An order along dimension d of the grid (-1: by number), of which the first vertices become the left side. */
struct direction {
    const struct map_grid *grid;
    int d;
};
static int coordinate(const struct map_grid *grid, int d, int v)
{
    for (int i = grid->ndims - 1; i > d; i--) v /= grid->dims[i];
    return v % grid->dims[d];
}
static int along(const void *a, const void *b, void *ctx)
{
    const struct direction *dir = ctx;
    int x = *(const int *)a, y = *(const int *)b;
    int cx = dir->d < 0 ? 0 : coordinate(dir->grid, dir->d, x), cy = dir->d < 0 ? 0 : coordinate(dir->grid, dir->d, y);
    if (cx != cy) return cx < cy ? -1 : 1;
    return x < y ? -1 : x > y;
}
static void slab(struct work *w, const int *set, int n, int nleft, int d)
{
    memcpy(w->list, set, sizeof *set * (size_t)n);
    qsort_r(w->list, (size_t)n, sizeof *w->list, along, &(struct direction){w->grid, d});
    for (int i = 0; i < n; i++) w->side[w->list[i]] = i < nleft ? LEFT : RIGHT;
}

/* Exchanging takes the most time: in a larger set it is done only for the best candidate, at the end. */
enum { LARGE_SET = 8192 };
static void keep_if_best(struct work *w, const int *set, int n, int64_t *best_cut)
{
    int64_t cut = cut_of(w, set, n);
    if (n <= LARGE_SET) cut = improve(w, set, n, cut);
    if (*best_cut >= 0 && cut >= *best_cut) return;
    *best_cut = cut;
    for (int i = 0; i < n; i++) w->best[set[i]] = w->side[set[i]];
}

/* Cuts the set into two: the first nleft vertices of set[] become one part. */
static void cut_in_two(struct work *w, int *set, int n, int nleft)
{
    int64_t best = -1;
    int ndims = w->grid ? w->grid->ndims : 0, right = nleft, left = 0;
    for (int i = 0; i < n; i++) w->side[set[i]] = RIGHT;
    for (int d = -1; d < ndims; d++) {
        slab(w, set, n, nleft, d);
        keep_if_best(w, set, n, &best);
    }
    int corner = corner_from(w, set, n, set[0]);
    grow(w, set, n, nleft, corner);
    keep_if_best(w, set, n, &best);
    grow(w, set, n, nleft, corner_from(w, set, n, corner));
    keep_if_best(w, set, n, &best);
    for (int i = 0; i < n; i++) w->side[set[i]] = w->best[set[i]];
    if (n > LARGE_SET) improve(w, set, n, best);
    memcpy(w->list, set, sizeof *set * (size_t)n);
    for (int i = 0; i < n; i++) {
        int v = w->list[i];
        set[w->side[v] == LEFT ? left++ : right++] = v;
        w->side[v] = OUTSIDE;
    }
    assert(left == nleft && right == n);
}

/* ---- down the tree ---- */
static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

/* Are slots i and j in different units of this level?  (Those above are the same.) */
static bool apart(const struct work *w, int i, int j, int level)
{
    return w->places[w->slots[i]].unit[level] != w->places[w->slots[j]].unit[level];
}

/* Gives the slots [begin, end) to the vertices there; they share the units above `level`. */
static void fill(struct work *w, int begin, int end, int level)
{
    while (level < MAP_LEVELS && !apart(w, begin, end - 1, level)) level++; /* they are sorted */
    int middle = (begin + end) / 2, at = -1, largest = 1;
    for (int i = begin + 1, last = begin; level < MAP_LEVELS && i <= end; i++) {
        if (i < end && !apart(w, i - 1, i, level)) continue;
        if (i - last > largest) largest = i - last;
        last = i;
        if (i < end && (at < 0 || abs(i - middle) < abs(at - middle))) at = i;
    }
    if (at < 0 || largest == 1) { /* all slots are equally far from each other */
        qsort(w->vertices + begin, (size_t)(end - begin), sizeof(int), ascending);
        return;
    }
    cut_in_two(w, w->vertices + begin, end - begin, at - begin);
    fill(w, begin, at, level);
    fill(w, at, end, level);
}

/* ---- which processes, where there are more than vertices ---- */
static int by_place(const void *a, const void *b, void *ctx)
{
    const struct map_place *places = ctx;
    int x = *(const int *)a, y = *(const int *)b;
    for (int k = 0; k < MAP_LEVELS; k++) {
        int32_t u = places[x].unit[k], v = places[y].unit[k];
        if (u != v) return u < v ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

static int *sorted_by_place(int n, const struct map_place *places)
{
    int *all = malloc(sizeof *all * (size_t)(n + 1));
    if (!all) return NULL;
    for (int i = 0; i < n; i++) all[i] = i;
    qsort_r(all, (size_t)n, sizeof *all, by_place, (void *)(uintptr_t)places);
    return all;
}

bool topo_map_is_flat(int n, const struct map_place *places)
{
    int *all = sorted_by_place(n, places);
    bool flat = true;
    int shared = all && n > 0 ? shared_levels(&places[all[0]], &places[all[n - 1]]) : 0;
    for (int i = 1; all && i < n && flat; i++) flat = shared_levels(&places[all[i - 1]], &places[all[i]]) == shared;
    free(all);
    return flat;
}

/* The end of the unit of this level that begins at `begin`. */
static int unit_end(const struct map_place *places, const int *all, int begin, int end, int level)
{
    assert(begin < end);
    int i = begin + 1;
    while (i < end && level < MAP_LEVELS && places[all[i]].unit[level] == places[all[begin]].unit[level]) i++;
    return i;
}

/* Marks `need` of the sorted processes all[begin, end) in as few units as possible: whole units from the largest down, and the rest in the
 * smallest that has room. */
static void choose(const struct map_place *places, const int *all, int begin, int end, int level, int need, unsigned char *chosen)
{
    assert(need >= 0 && need <= end - begin);
    int largest = 0;
    for (int i = begin, next; i < end; i = next) {
        next = unit_end(places, all, i, end, level);
        if (next - i > largest) largest = next - i;
    }
    for (; largest == 1 && need > 0; need--) chosen[begin++] = 1;
    while (need > 0) {
        int best = -1, best_end = -1;
        for (int i = begin, next; i < end; i = next) {
            next = unit_end(places, all, i, end, level);
            if (chosen[i]) continue;
            int n = next - i, best_n = best_end - best;
            bool better = best < 0 || (best_n < need ? n > best_n : n >= need && n < best_n);
            if (better) best = i, best_end = next;
        }
        if (best_end - best > need) {
            choose(places, all, best, best_end, level + 1, need, chosen);
            return;
        }
        for (int i = best; i < best_end; i++) chosen[i] = 1;
        need -= best_end - best;
    }
}

static int slots_make(int n, int nslots, const struct map_place *places, int *slots)
{
    assert(n <= nslots);
    int *all = sorted_by_place(nslots, places), k = 0;
    unsigned char *chosen = calloc((size_t)nslots, 1);
    if (all && chosen) {
        choose(places, all, 0, nslots, 0, n, chosen);
        for (int i = 0; i < nslots; i++)
            if (chosen[i]) slots[k++] = all[i];
        assert(k == n);
    }
    free(all);
    free(chosen);
    return k == n ? GW_OK : GW_ENOMEM;
}

/* ---- the end: exchange pairs while that helps ---- */
static int64_t cost_at(const struct map_graph *g, const struct map_place *places, const int *order, int v, int slot, int other)
{
    int64_t sum = 0;
    for (int64_t e = g->first[v]; e < g->first[v + 1]; e++)
        if (g->to[e] != other) sum += g->weight[e] * level_cost[shared_levels(&places[slot], &places[order[g->to[e]]])];
    return sum;
}

static void exchange_pairs(const struct map_graph *g, const struct map_place *places, int *order)
{
    enum { SMALL = 256, PASSES = 8 };
    bool any = g->n <= SMALL;
    for (int pass = 0; pass < PASSES && any; pass++) {
        any = false;
        for (int a = 0; a < g->n; a++)
            for (int b = a + 1; b < g->n; b++) {
                int64_t now = cost_at(g, places, order, a, order[a], b) + cost_at(g, places, order, b, order[b], a);
                int64_t then = cost_at(g, places, order, a, order[b], b) + cost_at(g, places, order, b, order[a], a);
                if (then >= now) continue;
                int slot = order[a];
                order[a] = order[b], order[b] = slot;
                any = true;
            }
    }
}

static int work_open(struct work *w, const struct map_graph *g)
{
    size_t n = (size_t)g->n, entries = n + (size_t)g->first[n] + 1;
    w->vertices = malloc(sizeof(int) * n);
    w->slots = malloc(sizeof(int) * n);
    w->list = malloc(sizeof(int) * n);
    w->gain = malloc(sizeof(int64_t) * n);
    w->side = malloc(n);
    w->best = malloc(n);
    w->locked = malloc(n);
    w->queue[0].at = malloc(sizeof(struct entry) * entries);
    w->queue[1].at = malloc(sizeof(struct entry) * entries);
    bool ok = w->vertices && w->slots && w->list && w->gain && w->side && w->best && w->locked && w->queue[0].at && w->queue[1].at;
    return ok ? GW_OK : GW_ENOMEM;
}

static void work_close(struct work *w)
{
    free(w->vertices), free(w->slots), free(w->list), free(w->gain), free(w->side), free(w->best), free(w->locked);
    free(w->queue[0].at), free(w->queue[1].at);
}

/* Keeps the cheaper of the two orders after exchanging pairs in `other`. */
static void take_cheaper(const struct map_graph *g, const struct map_place *places, int *order, int *other)
{
    exchange_pairs(g, places, other);
    if (topo_map_cost(g, places, other) < topo_map_cost(g, places, order)) memcpy(order, other, sizeof *other * (size_t)g->n);
}

/* Shuffles the order.  In a small graph some random orders are tried as well, which may be better than what the tree gives. */
static void shuffle(int *order, int n, uint64_t *state)
{
    for (int i = n - 1; i > 0; i--) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        int k = (int)((*state >> 33) % (uint64_t)(i + 1)), slot = order[i];
        order[i] = order[k], order[k] = slot;
    }
}

int topo_map_order(const struct map_graph *g, const struct map_grid *grid, int nslots, const struct map_place *places,
                   int *order_out)
{
    assert(g->n <= nslots);
    enum { SHUFFLED = 2048 };
    struct work w = {.g = g, .grid = grid, .places = places};
    int n = g->n, *other = malloc(sizeof *other * (size_t)(n + 1));
    int rc = n > 0 && other ? work_open(&w, g) : GW_ENOMEM;
    if (rc == GW_OK) rc = slots_make(n, nslots, places, w.slots);
    for (int i = 0; i < n; i++) order_out[i] = i;
    if (rc == GW_OK) {
        for (int i = 0; i < n; i++) other[i] = i;
        take_cheaper(g, places, order_out, other);
        for (int i = 0; i < n; i++) w.vertices[i] = i;
        memset(w.side, OUTSIDE, (size_t)n);
        fill(&w, 0, n, 0);
        for (int i = 0; i < n; i++) other[w.vertices[i]] = w.slots[i];
        take_cheaper(g, places, order_out, other);
        uint64_t state = 1;
        for (int64_t left = SHUFFLED / ((int64_t)n * n); left > 0; left--) {
            shuffle(other, n, &state);
            take_cheaper(g, places, order_out, other);
        }
    }
    work_close(&w);
    free(other);
    return rc;
}
