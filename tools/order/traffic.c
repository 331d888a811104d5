/* traffic.c -- traffic between ranks, and what of it stays on nodes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "traffic.h"

#include "boot/boot_deal.h"

#include <stdlib.h>

int traffic_add(struct traffic *t, int from, int to, double bytes)
{
    if (t->n == t->room) {
        size_t room = t->room ? t->room * 2 : 256;
        struct traffic_link *more = realloc(t->link, sizeof *more * room);
        if (!more) return -1;
        t->link = more;
        t->room = room;
    }
    t->link[t->n++] = (struct traffic_link){from, to, bytes};
    return 0;
}

void traffic_free(struct traffic *t)
{
    free(t->link);
    *t = (struct traffic){0};
}

int traffic_of_grid(struct traffic *t, const struct grid *g, const double *bytes, const bool *wraps)
{
    int at[GRID_DIMS], rc = 0;
    t->ranks = (int)grid_size(g);
    for (int r = 0; rc == 0 && r < t->ranks; r++) {
        grid_at(g, r, at);
        for (int d = 0; rc == 0 && d < g->n_dims; d++) {
            int here = at[d];
            bool last = here == g->dim[d] - 1;
            at[d] = last ? 0 : here + 1;
            /* in a ring of two, the next one and the one before are the same */
            if (!last || (wraps[d] && g->dim[d] > 2)) {
                int next = (int)grid_rank(g, at);
                rc = traffic_add(t, r, next, bytes[d]);
                if (rc == 0) rc = traffic_add(t, next, r, bytes[d]);
            }
            at[d] = here;
        }
    }
    return rc;
}

int traffic_of_bisection(struct traffic *t, int ranks, double bytes)
{
    int half = ranks / 2, rc = 0;
    t->ranks = ranks;
    for (int r = 0; rc == 0 && r < half; r++) {
        rc = traffic_add(t, r, r + half, bytes);
        if (rc == 0) rc = traffic_add(t, r + half, r, bytes);
    }
    return rc;
}

/* One direction of a pair counts it; pairs that talk one way are there as well. */
static int by_pair(const void *a, const void *b)
{
    const struct traffic_link *x = a, *y = b;
    int32_t xl = x->from < x->to ? x->from : x->to, yl = y->from < y->to ? y->from : y->to;
    int32_t xh = x->from < x->to ? x->to : x->from, yh = y->from < y->to ? y->to : y->from;
    return xl != yl ? (xl < yl ? -1 : 1) : xh != yh ? (xh < yh ? -1 : 1) : 0;
}

int traffic_weigh(const struct traffic *t, const int32_t *node_of, int nodes, struct traffic_cost *cost_out)
{
    struct traffic_cost c = {0};
    struct traffic_link *sorted = malloc(sizeof *sorted * (t->n + 1));
    double *links = calloc((size_t)nodes + 1, sizeof *links), *bytes = calloc((size_t)nodes + 1, sizeof *bytes);
    int rc = sorted && links && bytes ? 0 : -1;
    for (size_t i = 0; rc == 0 && i < t->n; i++) sorted[i] = t->link[i];
    if (rc == 0) qsort(sorted, t->n, sizeof *sorted, by_pair);
    for (size_t i = 0; rc == 0 && i < t->n; i++) {
        const struct traffic_link *l = &sorted[i];
        int from = node_of[l->from], to = node_of[l->to];
        bool first = i == 0 || by_pair(&sorted[i - 1], l) != 0;
        c.bytes += l->bytes;
        c.links += first;
        if (from == to) {
            c.near_bytes += l->bytes;
            c.near_links += first;
        } else {
            links[from] += first, links[to] += first;
            bytes[from] += l->bytes, bytes[to] += l->bytes;
        }
    }
    for (int k = 0; rc == 0 && k < nodes; k++) {
        if (links[k] > c.most_links) c.most_links = links[k];
        if (bytes[k] > c.most_bytes) c.most_bytes = bytes[k];
    }
    free(sorted);
    free(links);
    free(bytes);
    *cost_out = c;
    return rc;
}

int traffic_nodes(int method, int ranks, const int32_t *node_of_process, const int32_t *list, int32_t *node_of_out)
{
    int32_t *rank = malloc(sizeof *rank * ((size_t)ranks * 3 + 2));
    if (!rank) return -1;
    boot_order_deal(method, node_of_process, ranks, list, rank, rank + ranks);
    for (int p = 0; p < ranks; p++) node_of_out[rank[p]] = node_of_process[p];
    free(rank);
    return 0;
}
