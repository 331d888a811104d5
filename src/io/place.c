/* place.c -- chooses the ranks that are aggregators.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/plain.h"
#include "base/settings.h"
#include "boot/boot.h"
#include "coll/coll.h"

enum { AUTO_AGGREGATORS = 4, NAME = 64 };

/* ---- the choice ------------------------------------------------------------------------------------------------------------- */
struct choice {
    const int *node;
    int n, wanted, count, *ranks;
    bool *taken;
};

static void choose(struct choice *c, int rank)
{
    assert(rank >= 0 && rank < c->n);
    if (c->count >= c->wanted || c->taken[rank]) return;
    c->taken[rank] = true;
    c->ranks[c->count++] = rank;
}

static int ranks_on(const struct choice *c, int node)
{
    int n = 0;
    for (int i = 0; i < c->n; i++) n += c->node[i] == node;
    return n;
}

/* Rank number i of a node. */
static int rank_on(const struct choice *c, int node, int i)
{
    int rank = 0;
    for (; c->node[rank] != node || i-- > 0; rank++) {}
    return rank;
}

/* One aggregator on each node in turn, spread evenly over the ranks of a node. */
static void choose_spread(struct choice *c)
{
    int nodes = 0, *share;
    for (int i = 0; i < c->n; i++) nodes = c->node[i] >= nodes ? c->node[i] + 1 : nodes;
    share = gw_xcalloc((size_t)nodes, sizeof *share);
    for (int left = c->wanted, before = -1; left > 0 && left != before;) {
        before = left;
        for (int k = 0; k < nodes && left > 0; k++)
            if (share[k] < ranks_on(c, k)) share[k]++, left--;
    }
    for (int turn = 0; turn < c->wanted; turn++)
        for (int k = 0; k < nodes; k++)
            if (turn < share[k]) choose(c, rank_on(c, k, (int)((int64_t)turn * ranks_on(c, k) / share[k])));
    free(share);
}

static void choose_stride(struct choice *c, int stride)
{
    for (int start = 0; start < stride && start < c->n; start++)
        for (int rank = start; rank < c->n; rank += stride) choose(c, rank);
}

/* Up to `most` ranks on each node of this name that no earlier entry has named. */
static void choose_host(struct choice *c, const char *const *names, const char *host, size_t len, int most, bool *had)
{
    for (int rank = 0; rank < c->n; rank++) {
        int node = c->node[rank];
        bool fits = (len == 1 && *host == '*') || (strlen(names[rank]) == len && memcmp(names[rank], host, len) == 0);
        if (!fits || had[node]) continue;
        had[node] = true;
        int n = ranks_on(c, node);
        int share = (int)gw_min64(gw_min64(most, n), c->wanted - c->count);
        for (int i = 0; i < share; i++) choose(c, rank_on(c, node, (int)((int64_t)i * n / share)));
    }
}

static void choose_list(struct choice *c, const char *const *names, const char *list)
{
    bool *had = gw_xcalloc((size_t)c->n, sizeof *had);
    while (*list) {
        size_t entry = strcspn(list, ","), len = strcspn(list, ",:");
        int most = 1; /* if no number is given */
        if (len < entry) most = list[len + 1] == '*' ? c->n : atoi(list + len + 1);
        choose_host(c, names, list, len, most, had);
        list += entry + (list[entry] == ',');
    }
    free(had);
}

int io_place_choose(const int *node, const char *const *names, int n, int wanted, const char *list, int stride, int *ranks_out)
{
    struct choice c = {.node = node, .n = n, .wanted = (int)gw_max64(gw_min64(wanted, n), 1), .ranks = ranks_out};
    c.taken = gw_xcalloc((size_t)n, sizeof *c.taken);
    if (*list && strcmp(list, "*:*") != 0)
        choose_list(&c, names, list);
    else if (stride > 0)
        choose_stride(&c, stride);
    else
        choose_spread(&c);
    if (c.count == 0) choose(&c, 0); /* no host of the list runs a rank */
    free(c.taken);
    assert(c.count > 0 && c.count <= c.wanted);
    return c.count;
}

static int by_rank(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* ---- of a file -------------------------------------------------------------------------------------------------------------- */
static const char *order_of(const int *node, int n, int nodes)
{
    bool smp = true, round_robin = true;
    for (int i = 0; i < n; i++) {
        smp &= i == 0 || node[i] >= node[i - 1];
        round_robin &= node[i] == i % nodes;
    }
    return smp ? "1" : round_robin ? "0" : "3";
}

static void show(const struct gw_file *f, const int *node, const char (*names)[NAME])
{
    int nodes = 0, n = f->comm->size;
    for (int i = 0; i < n; i++) nodes = node[i] >= nodes ? node[i] + 1 : nodes;
    gw_print(stderr, "Aggregator Placement for %s\n", f->name);
    fprintf(stderr, "RankReorderMethod=%s  AggPlacementStride=%lld\n", order_of(node, n, nodes),
            (long long)gw_set.mpiio_aggregator_placement_stride);
    fprintf(stderr, " AGG    Rank       nid\n ----  ------  --------\n");
    for (int a = 0; a < f->n_aggregators; a++) fprintf(stderr, "%5d  %6d  %s\n", a, f->aggregators[a], names[f->aggregators[a]]);
}

/* Gathers the host name of each rank, and in node[] the number of its node in its job. */
static int share_names(struct gw_comm *c, char (*names)[NAME], int *node)
{
    struct {
        char host[NAME];
        int32_t node;
    } own = {.node = gw_boot.node}, *all;
    gethostname(own.host, sizeof own.host - 1);
    for (int i = 0; i < c->size; i++) memcpy(names[i], own.host, NAME);
    if (c->size == 1 || c->one_node) return GW_OK;
    all = gw_xcalloc((size_t)c->size, sizeof *all);
    int rc = coll_allgather(&own, sizeof own, gw_type_byte, all, sizeof own, gw_type_byte, c, NULL);
    for (int i = 0; rc == GW_OK && i < c->size; i++) {
        memcpy(names[i], all[i].host, NAME);
        names[i][NAME - 1] = 0;
        node[i] = all[i].node;
    }
    free(all);
    return rc;
}

/* Numbers the nodes in the order of first appearance; a node is a host name and, on hosts with several nodes, a number.  Returns how many. */
static int number_nodes(const char (*names)[NAME], int n, int *node)
{
    int nodes = 0, *said = gw_xcalloc((size_t)n, sizeof *said);
    memcpy(said, node, (size_t)n * sizeof *said);
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (k < i && (said[k] != said[i] || strcmp(names[k], names[i]) != 0)) k++;
        node[i] = k < i ? node[k] : nodes++;
    }
    free(said);
    return nodes;
}

int io_place(struct gw_file *f)
{
    struct gw_comm *c = f->comm;
    const struct io_hints *h = &f->hints;
    char(*names)[NAME] = gw_xcalloc((size_t)c->size, sizeof *names);
    const char **at = gw_xcalloc((size_t)c->size, sizeof *at);
    int *node = gw_xcalloc((size_t)c->size, sizeof *node), rc = share_names(c, names, node);
    int nodes = number_nodes((const char(*)[NAME])names, c->size, node);
    for (int i = 0; i < c->size; i++) at[i] = names[i];
    free(f->aggregators);
    f->aggregators = gw_xcalloc((size_t)c->size, sizeof *f->aggregators);
    int64_t each = h->stripes > 0 ? h->stripes : nodes > 1 ? nodes : AUTO_AGGREGATORS;
    int wanted = h->aggregators > 0 ? h->aggregators : (int)gw_min64(each * h->multiplier, c->size);
    f->n_aggregators = io_place_choose(node, at, c->size, wanted, h->aggregator_list, (int)gw_set.mpiio_aggregator_placement_stride,
                                       f->aggregators);
    qsort(f->aggregators, (size_t)f->n_aggregators, sizeof *f->aggregators, by_rank);
    if (c->rank == 0 && gw_set.mpiio_aggregator_placement_display) show(f, node, (const char(*)[NAME])names);
    free(node);
    free(at);
    free(names);
    return rc;
}
