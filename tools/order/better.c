/* better.c -- orders of ranks that keep bytes on nodes, or give all nodes as much to compute.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "pattern.h"

#include "boot/boot.h"
#include "boot/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- grids ---- */
struct search {
    const struct traffic *t;
    const struct machine *m;
    struct grid try, best;
    double best_bytes;
    int32_t *list, *node, *list_out;
    int rc;
};

static void try_grid(struct search *s)
{
    struct traffic_cost c;
    if (s->rc < 0) return;
    if (grid_list(&s->try, s->list, NULL) < 0 ||
        traffic_nodes(BOOT_ORDER_FILE, s->m->ranks, s->m->node_of_process, s->list, s->node) < 0 ||
        traffic_weigh(s->t, s->node, s->m->nodes, &c) < 0) {
        s->rc = -1;
    } else if (c.near_bytes > s->best_bytes * 1.0001) {
        s->best_bytes = c.near_bytes;
        s->best = s->try;
        memcpy(s->list_out, s->list, sizeof *s->list * (size_t)s->m->ranks);
    }
}

static void try_cells(struct search *s, int d, int left)
{
    if (d == s->try.n_dims) {
        if (left == 1) try_grid(s);
        return;
    }
    for (int n = 1; n <= left && n <= s->try.dim[d]; n++) {
        if (left % n) continue;
        s->try.cell[d] = n;
        try_cells(s, d + 1, left / n);
    }
}

int order_for_grid(const struct traffic *t, const struct machine *m, struct grid *g_inout, int32_t *list_out)
{
    struct search s = {.t = t, .m = m, .try = *g_inout, .best = *g_inout, .best_bytes = -1, .list_out = list_out};
    s.list = malloc(sizeof *s.list * (size_t)m->ranks), s.node = malloc(sizeof *s.node * (size_t)m->ranks);
    if (!s.list || !s.node) s.rc = -1;
    s.try.walk = GRID_ROWS;
    try_cells(&s, 0, m->per_node);
    s.try.walk = GRID_SNAKE; /* where no cell fills a node, ways without jumps keep more together */
    for (int d = 0; d < s.try.n_dims; d++) s.try.cell[d] = 1;
    try_grid(&s);
    s.try.walk = GRID_HILBERT;
    try_grid(&s);
    free(s.list), free(s.node);
    *g_inout = s.best;
    return s.rc;
}

/* ---- any traffic ---- */
/* Whom each rank talks to: neighbours of rank r are at[first[r]] .. at[first[r + 1] - 1], both directions. */
struct graph {
    size_t *first;
    struct traffic_link *at; /* from: unused */
};

static int graph_make(const struct traffic *t, struct graph *g)
{
    size_t n = (size_t)t->ranks;
    g->first = calloc(n + 2, sizeof *g->first);
    g->at = malloc(sizeof *g->at * (t->n * 2 + 1));
    if (!g->first || !g->at) return -1;
    for (size_t i = 0; i < t->n; i++) g->first[t->link[i].from + 2]++, g->first[t->link[i].to + 2]++;
    for (size_t r = 2; r < n + 2; r++) g->first[r] += g->first[r - 1];
    for (size_t i = 0; i < t->n; i++) {
        struct traffic_link l = t->link[i];
        g->at[g->first[l.from + 1]++] = l;
        g->at[g->first[l.to + 1]++] = (struct traffic_link){l.to, l.from, l.bytes};
    }
    return 0;
}

static void graph_free(struct graph *g) { free(g->first), free(g->at); }

/* Bytes between rank r and node k, without those with rank `but`. */
static double bytes_with(const struct graph *g, const int32_t *node, int r, int k, int but)
{
    double sum = 0;
    for (size_t i = g->first[r]; i < g->first[r + 1]; i++)
        if (node[g->at[i].to] == k && g->at[i].to != but) sum += g->at[i].bytes;
    return sum;
}

/* What changes on nodes when two ranks change places. */
static double swap_gain(const struct graph *g, const int32_t *node, int a, int b)
{
    return bytes_with(g, node, a, node[b], b) - bytes_with(g, node, a, node[a], -1) + bytes_with(g, node, b, node[a], a) -
        bytes_with(g, node, b, node[b], -1);
}

static void swap(int32_t *node, int a, int b)
{
    int32_t k = node[a];
    node[a] = node[b];
    node[b] = k;
}

/* Each node takes the rank that talks most to those it has, first the one with most traffic. */
static int grow(const struct graph *g, const struct machine *m, const int *room, int32_t *node)
{
    double *pull = malloc(sizeof *pull * (size_t)m->ranks), *all = calloc((size_t)m->ranks, sizeof *all);
    for (int r = 0; all && r < m->ranks; r++) {
        node[r] = -1;
        for (size_t i = g->first[r]; i < g->first[r + 1]; i++) all[r] += g->at[i].bytes;
    }
    for (int k = 0; pull && all && k < m->nodes; k++) {
        memset(pull, 0, sizeof *pull * (size_t)m->ranks);
        for (int have = 0; have < room[k]; have++) {
            int take = -1;
            for (int r = 0; r < m->ranks; r++)
                if (node[r] < 0 && (take < 0 || pull[r] > pull[take] || (pull[r] == pull[take] && !have && all[r] > all[take])))
                    take = r;
            node[take] = k;
            for (size_t i = g->first[take]; i < g->first[take + 1]; i++) pull[g->at[i].to] += g->at[i].bytes;
        }
    }
    int rc = pull && all ? 0 : -1;
    free(pull), free(all);
    return rc;
}

/* Ranks change places with one on a node that they talk to, while that brings bytes onto nodes. */
static void refine(const struct graph *g, const struct machine *m, int32_t *node)
{
    bool better = true;
    for (int round = 0; better && round < 8; round++) {
        better = false;
        for (int a = 0; a < m->ranks; a++)
            for (size_t i = g->first[a]; i < g->first[a + 1]; i++) {
                int k = node[g->at[i].to], with = -1;
                double most = 1e-9;
                if (k == node[a]) continue;
                for (int b = 0; b < m->ranks; b++) {
                    double gain = node[b] == k ? swap_gain(g, node, a, b) : 0;
                    if (gain > most) most = gain, with = b;
                }
                if (with >= 0) swap(node, a, with), better = true;
            }
    }
}

/* The list of an assignment of ranks to nodes. */
static void list_of(const struct machine *m, const int32_t *node, int32_t *list_out)
{
    int n = 0;
    for (int k = 0; k < m->nodes; k++)
        for (int r = 0; r < m->ranks; r++)
            if (node[r] == k) list_out[n++] = r;
}

static int *room_of(const struct machine *m)
{
    int *room = calloc((size_t)m->nodes, sizeof *room);
    for (int p = 0; room && p < m->ranks; p++) room[m->node_of_process[p]]++;
    return room;
}

int order_for_graph(const struct traffic *t, const struct machine *m, int32_t *list_out)
{
    enum { REFINED = 2048 }; /* ranks: more would take too long */
    struct graph g = {NULL, NULL};
    int *room = room_of(m), rc = room ? graph_make(t, &g) : -1;
    int32_t *node = malloc(sizeof *node * (size_t)m->ranks);
    rc = rc == 0 && node ? grow(&g, m, room, node) : -1;
    if (rc == 0 && m->ranks <= REFINED) refine(&g, m, node);
    if (rc == 0) list_of(m, node, list_out);
    graph_free(&g);
    free(room), free(node);
    return rc;
}

/* ---- load ---- */
struct load_cost load_weigh(const double *load, const int32_t *node_of, const struct machine *m)
{
    struct load_cost c = {0, 0};
    for (int k = 0; k < m->nodes; k++) {
        double sum = 0;
        for (int r = 0; r < m->ranks; r++)
            if (node_of[r] == k) sum += load[r];
        c.mean += sum / m->nodes;
        if (sum > c.most) c.most = sum;
    }
    return c;
}

/* Of part b, or of all where b < 0, by the ranks of node k. */
static double part_load(const float *load, int n, int b, const int32_t *node_of, int ranks, int k)
{
    double sum = 0;
    for (int r = 0; r < ranks; r++)
        for (int i = b < 0 ? 0 : b; node_of[r] == k && i < (b < 0 ? n : b + 1); i++)
            sum += (double)load[(size_t)r * (size_t)n + (size_t)i];
    return sum;
}

static int fullest(const float *load, int n, const int32_t *node_of, const struct machine *m)
{
    int best = 0;
    double most = -1;
    for (int k = 0; k < m->nodes; k++) {
        double sum = part_load(load, n, -1, node_of, m->ranks, k);
        if (sum > most) most = sum, best = k;
    }
    return best;
}

bool load_gain_is_steady(const float *load, int n, const int32_t *node_now, const int32_t *node_then, const struct machine *m)
{
    if (n < LOAD_PARTS_LEAST) return false;
    int now = fullest(load, n, node_now, m), then = fullest(load, n, node_then, m);
    double mean = 0, squares = 0;
    for (int b = 0; b < n; b++) {
        double gain = part_load(load, n, b, node_now, m->ranks, now) - part_load(load, n, b, node_then, m->ranks, then),
               off = gain - mean;
        mean += off / (b + 1);
        squares += off * (gain - mean);
    }
    return mean > (3 + sqrt(2 * log(m->nodes))) * sqrt(squares / (n - 1) / n);
}

struct loaded {
    double load;
    int rank;
};
static int heavier(const void *a, const void *b)
{
    const struct loaded *x = a, *y = b;
    return x->load != y->load ? (x->load < y->load ? 1 : -1) : x->rank - y->rank;
}

/* The heaviest rank first, to the node with the smallest sum that has room. */
int order_for_load(const double *load, const struct machine *m, int32_t *list_out)
{
    struct loaded *sorted = malloc(sizeof *sorted * (size_t)m->ranks);
    double *sum = calloc((size_t)m->nodes, sizeof *sum);
    int32_t *node = malloc(sizeof *node * (size_t)m->ranks);
    int *room = room_of(m), rc = sorted && sum && node && room ? 0 : -1;
    for (int r = 0; rc == 0 && r < m->ranks; r++) sorted[r] = (struct loaded){load[r], r};
    if (rc == 0) qsort(sorted, (size_t)m->ranks, sizeof *sorted, heavier);
    for (int i = 0; rc == 0 && i < m->ranks; i++) {
        int to = -1;
        for (int k = 0; k < m->nodes; k++)
            if (room[k] && (to < 0 || sum[k] < sum[to])) to = k;
        room[to]--;
        sum[to] += sorted[i].load;
        node[sorted[i].rank] = to;
    }
    if (rc == 0) list_of(m, node, list_out);
    free(sorted), free(sum), free(node), free(room);
    return rc;
}

/* The best change of places of a rank of the fullest node; false: none helps. */
static bool relieve(const struct graph *g, const double *load, const struct machine *m, double *sum, int32_t *node, double bytes)
{
    int full = 0, best_a = -1, best_b = -1;
    double mean = 0, best = 1e-6;
    for (int k = 0; k < m->nodes; k++) {
        mean += sum[k] / m->nodes;
        if (sum[k] > sum[full]) full = k;
    }
    for (int a = 0; a < m->ranks && mean > 0; a++)
        for (int b = 0; b < m->ranks && node[a] == full; b++) {
            double moves = load[a] - load[b], to = sum[node[b]] + moves;
            if (node[b] == full || moves <= 0 || to >= sum[full]) continue;
            double now = sum[full] - moves > to ? sum[full] - moves : to;
            double gain = (sum[full] - now) / mean + (bytes > 0 ? swap_gain(g, node, a, b) / bytes : 0);
            if (gain > best) best = gain, best_a = a, best_b = b;
        }
    if (best_a < 0) return false;
    sum[full] += load[best_b] - load[best_a];
    sum[node[best_b]] += load[best_a] - load[best_b];
    swap(node, best_a, best_b);
    return true;
}

int order_for_both(const struct traffic *t, const double *load, const struct machine *m, int32_t *list_inout)
{
    struct graph g = {NULL, NULL};
    double *sum = calloc((size_t)m->nodes, sizeof *sum), bytes = 0;
    int32_t *node = malloc(sizeof *node * (size_t)m->ranks);
    int rc =
        graph_make(t, &g) == 0 && sum && node ? traffic_nodes(BOOT_ORDER_FILE, m->ranks, m->node_of_process, list_inout, node) : -1;
    for (size_t i = 0; i < t->n; i++) bytes += t->link[i].bytes;
    for (int r = 0; rc == 0 && r < m->ranks; r++) sum[node[r]] += load[r];
    for (int turn = 0; rc == 0 && turn < 100 && relieve(&g, load, m, sum, node, bytes); turn++) continue;
    if (rc == 0) list_of(m, node, list_inout);
    graph_free(&g);
    free(sum), free(node);
    return rc;
}
