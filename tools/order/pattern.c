/* pattern.c -- is the traffic that of a grid?
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "pattern.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DIMS = 4, LEAST_RANKS = 4 };
static const double LEAST_SHARE = .75;  /* of the bytes: between neighbours */
static const double LEAST_COVERED = .9; /* of the pairs of neighbours in a dimension: they do talk */
static const double TALKS = .05;        /* of the mean of its dimension: a pair that has less does not count */
static const double LEAST_CONTRAST = 3; /* bytes of a pair of neighbours, against another pair */

/* A candidate, and the bytes of each pair of neighbours: [ranks][dimensions], of a rank and the next one. */
struct look {
    const struct traffic *t;
    struct pattern *best;
    struct grid grid;
    double *pair;
};

/* +1, -1: b is next to a in a dimension of n, by the edge (wrap_out) or not; 0: the same; 2: neither. */
static int step(int a, int b, int n, bool *wrap_out)
{
    *wrap_out = n > 2 && abs(a - b) == n - 1;
    if (*wrap_out) return a > b ? 1 : -1;
    return abs(a - b) <= 1 ? b - a : 2;
}

/* Adds up the bytes of pairs of neighbours; returns those of diagonal ones. */
static double add_pairs(struct look *l)
{
    const struct grid *g = &l->grid;
    double diagonal = 0;
    int a[GRID_DIMS], b[GRID_DIMS];
    memset(l->pair, 0, sizeof *l->pair * (size_t)l->t->ranks * (size_t)g->n_dims);
    for (size_t i = 0; i < l->t->n; i++) {
        const struct traffic_link *k = &l->t->link[i];
        int moved = 0, dim = 0, way = 0;
        bool near = true, wrapped = false;
        grid_at(g, k->from, a);
        grid_at(g, k->to, b);
        for (int d = 0; d < g->n_dims && near; d++) {
            bool wrap;
            int s = step(a[d], b[d], g->dim[d], &wrap);
            near = s != 2;
            wrapped |= wrap;
            if (s) moved++, dim = d, way = s;
        }
        if (near && moved == 1)
            l->pair[(size_t)(way > 0 ? k->from : k->to) * (size_t)g->n_dims + (size_t)dim] += k->bytes;
        else if (near && moved && !wrapped)
            diagonal += k->bytes;
    }
    return diagonal;
}

/* How many pairs of dimension d talk; with the edge or within. */
static double covered(const struct look *l, int d, bool edge, double enough, double *bytes_out, double *pairs_out)
{
    const struct grid *g = &l->grid;
    double talk = 0;
    int at[GRID_DIMS];
    *bytes_out = *pairs_out = 0;
    for (int r = 0; r < l->t->ranks; r++) {
        grid_at(g, r, at);
        if ((at[d] == g->dim[d] - 1) != edge) continue;
        double bytes = l->pair[(size_t)r * (size_t)g->n_dims + (size_t)d];
        *bytes_out += bytes;
        ++*pairs_out;
        talk += bytes > enough;
    }
    return *pairs_out > 0 ? talk / *pairs_out : 0;
}

static void consider(struct look *l)
{
    const struct grid *g = &l->grid;
    struct pattern p = {.grid = *g};
    double all = 0, axis = 0, axis_pairs = 0, diagonal = add_pairs(l), bytes, pairs, n = l->t->ranks;
    for (size_t i = 0; i < l->t->n; i++) all += l->t->link[i].bytes;
    for (int d = 0; d < g->n_dims; d++) {
        covered(l, d, false, 0, &bytes, &pairs);
        double enough = TALKS * bytes / pairs;
        if (!(bytes > 0) || covered(l, d, false, enough, &bytes, &pairs) < LEAST_COVERED) return;
        axis += bytes, axis_pairs += pairs;
        if (g->dim[d] <= 2 || covered(l, d, true, enough, &bytes, &pairs) < LEAST_COVERED) continue;
        p.wraps[d] = true;
        axis += bytes, axis_pairs += pairs;
    }
    double others = n * (n - 1) / 2 - axis_pairs;
    p.share = (axis + diagonal) / all;
    if (p.share < LEAST_SHARE || axis < diagonal || others <= 0) return;
    if (axis / axis_pairs < LEAST_CONTRAST * (all - axis) / others) return;
    if (p.share > l->best->share + (l->best->grid.n_dims < g->n_dims ? .001 : 0)) *l->best = p;
}

/* All ways to write the number of ranks as a product. */
static void factors(struct look *l, int left)
{
    struct grid *g = &l->grid;
    if (left == 1 && g->n_dims) consider(l);
    if (g->n_dims == MOST_DIMS) return;
    int at = g->n_dims++;
    for (int n = 2; n <= left; n++) {
        if (left % n) continue;
        g->dim[at] = n;
        factors(l, left / n);
        g->n_dims = at + 1;
    }
    g->n_dims = at;
}

int pattern_find(const struct traffic *t, struct pattern *out)
{
    struct look l = {.t = t, .best = out};
    *out = (struct pattern){.share = 0};
    if (t->ranks < LEAST_RANKS || !t->n) return 0;
    l.pair = malloc(sizeof *l.pair * (size_t)t->ranks * MOST_DIMS);
    if (!l.pair) return -1;
    for (int d = 0; d < GRID_DIMS; d++) l.grid.by[d] = d, l.grid.cell[d] = 1;
    factors(&l, t->ranks);
    free(l.pair);
    return out->share > 0;
}
