/* dist.c -- distributed graph topologies: every process knows its own neighbours.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "topo/topo_private.h"

#include <stdlib.h>

#include "coll/coll.h"

/* ---- checks ---- */
static int check_ranks(const struct gw_comm *c, const char *name, int n, const int *ranks)
{
    for (int i = 0; i < n; i++)
        if (ranks[i] < 0 || ranks[i] >= c->size)
            return gw_fail(GW_ERANK, "%s[%d] is %d; the communicator has ranks 0 to %d", name, i, ranks[i], c->size - 1);
    return GW_OK;
}

static int check_weights(const char *name, int64_t n, const int *w)
{
    if (w == GW_UNWEIGHTED || n == 0) return GW_OK;
    if (!w || w == GW_WEIGHTS_EMPTY)
        return gw_fail(GW_EARG, "%s is %s, but there are %lld edges; give their weights, or MPI_UNWEIGHTED on every process", name,
                       w ? "MPI_WEIGHTS_EMPTY" : "NULL", (long long)n);
    for (int64_t i = 0; i < n; i++)
        if (w[i] < 0) return gw_fail(GW_EARG, "%s[%lld] is %d; weights must not be negative", name, (long long)i, w[i]);
    return GW_OK;
}

static int check_adjacent(struct gw_comm *c, int nin, const int *in, const int *inw, int nout, const int *out, const int *outw)
{
    int rc = topo_intra(c);
    if (rc != GW_OK) return rc;
    if (nin < 0) return gw_fail(GW_EARG, "indegree is %d; it must not be negative", nin);
    if (nout < 0) return gw_fail(GW_EARG, "outdegree is %d; it must not be negative", nout);
    rc = check_ranks(c, "sources", nin, in);
    if (rc == GW_OK) rc = check_weights("sourceweights", nin, inw);
    if (rc == GW_OK) rc = check_ranks(c, "destinations", nout, out);
    if (rc == GW_OK) rc = check_weights("destweights", nout, outw);
    if (rc == GW_OK && nin && nout && (inw == GW_UNWEIGHTED) != (outw == GW_UNWEIGHTED))
        rc = gw_fail(GW_EARG, "%s is MPI_UNWEIGHTED and the other weights are not; the whole graph has weights, or none of it",
                     inw == GW_UNWEIGHTED ? "sourceweights" : "destweights");
    return rc;
}

/* ---- making ---- */
/* The neighbours of one process; either both arrays of weights are NULL, or neither. */
struct hood {
    int nin, nout;
    const int *in, *out, *inw, *outw;
};

static struct gw_topo *dist_new(const struct hood *h, int rank, int size)
{
    int *ints;
    struct gw_topo *t = topo_new(GW_DIST_GRAPH, 6 * ((int64_t)h->nin + h->nout), &ints);
    if (!t) return NULL;
    t->nin = h->nin;
    t->nout = h->nout;
    t->in = topo_take(&ints, h->nin, h->in);
    t->out = topo_take(&ints, h->nout, h->out);
    if (h->inw) {
        t->dist.in_weights = topo_take(&ints, h->nin, h->inw);
        t->dist.out_weights = topo_take(&ints, h->nout, h->outw);
    }
    return topo_finish(t, rank, size, &ints);
}

/* ---- reordering: the edges come to rank 0, and each process gets the neighbours of its new rank from the process that had it ---- */
/* Fills at[] with the running sums and returns the total; -1: a count from another process is negative or too large. */
static int64_t offsets(int n, const int64_t *count, int64_t *at)
{
    assert(n >= 0);
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        if (count[i] < 0 || count[i] > (int64_t)INT32_MAX) return -1;
        at[i] = sum;
        sum += count[i];
    }
    return sum;
}

static bool are_ranks(const int *v, int64_t n, int size)
{
    for (int64_t i = 0; i < n; i++)
        if (v[i] < 0 || v[i] >= size) return false;
    return true;
}

static int damaged(void) { return gw_fail(GW_EOTHER, "what another process says of its edges cannot be"); }

/* Gathers the outgoing edges of all processes at rank 0. */
static int edges_gather(struct gw_comm *c, const struct hood *h, struct topo_edges *e)
{
    int64_t mine = h->nout, *counts = NULL, *at = NULL;
    bool root = c->rank == 0;
    if (root && !(counts = malloc(2 * sizeof *counts * (size_t)c->size)))
        return gw_fail(GW_ENOMEM, "no memory for %d ranks", c->size);
    int rc = coll_gather(&mine, 1, gw_type_int64, counts, 1, gw_type_int64, 0, c, NULL);
    if (rc == GW_OK && root) {
        at = counts + c->size;
        e->n = offsets(c->size, counts, at);
        if (e->n < 0) rc = damaged();
        e->from = e->n < 0 ? NULL : malloc(3 * sizeof(int) * ((size_t)e->n + 1));
        if (rc == GW_OK && !e->from) rc = gw_fail(GW_ENOMEM, "no memory for %lld edges", (long long)e->n);
    }
    if (rc == GW_OK && root) {
        e->to = e->from + e->n;
        e->weight = h->outw ? e->to + e->n : NULL;
        for (int i = 0; i < c->size; i++)
            for (int64_t k = 0; k < counts[i]; k++) e->from[at[i] + k] = i;
    }
    struct gw_counts n = {counts, true}, d = {at, true};
    if (rc == GW_OK) rc = coll_gatherv(h->out, mine, gw_type_int, e->to, n, d, gw_type_int, 0, c, NULL);
    if (rc == GW_OK && h->outw) rc = coll_gatherv(h->outw, mine, gw_type_int, e->weight, n, d, gw_type_int, 0, c, NULL);
    if (rc == GW_OK && root && !are_ranks(e->to, e->n, c->size)) rc = damaged();
    free(counts);
    return rc;
}

/* Sends n integers to one process and receives as many as another one sends. */
static int pass_on(struct gw_comm *c, int to, const int *out, int64_t n, int from, int *in, int64_t nin)
{
    int64_t *counts = calloc(3 * (size_t)c->size, sizeof *counts), *none = counts + 2 * (size_t)c->size;
    if (!counts) return gw_fail(GW_ENOMEM, "no memory for %d ranks", c->size);
    counts[to] = n;
    counts[c->size + from] = nin;
    int rc = coll_alltoallv(out, (struct gw_counts){counts, true}, (struct gw_counts){none, true}, gw_type_int, in,
                            (struct gw_counts){counts + c->size, true}, (struct gw_counts){none, true}, gw_type_int, c, NULL);
    free(counts);
    return rc;
}

/* Replaces the neighbours of the old rank by those of the new rank of this process; *pool_out is their memory, which the caller frees. */
static int hood_move(struct gw_comm *c, const int *order, struct hood *h, int **pool_out)
{
    int from = 0, parts = h->outw ? 2 : 1, degrees[2] = {h->nin, h->nout}, got[2] = {0, 0};
    while (order[from] != c->rank) from++;
    int64_t n = parts * ((int64_t)h->nin + h->nout), nin;
    int rc = pass_on(c, order[c->rank], degrees, 2, from, got, 2);
    if (rc != GW_OK) return rc;
    if (got[0] < 0 || got[1] < 0) return damaged();
    nin = parts * ((int64_t)got[0] + got[1]);
    int *out = malloc(sizeof *out * ((size_t)n + 1)), *next = out, *in = malloc(sizeof *in * ((size_t)nin + 1));
    if (!out || !in) rc = gw_fail(GW_ENOMEM, "no memory for %lld edges", (long long)(n + nin));
    if (rc == GW_OK) {
        topo_take(&next, h->nin, h->in);
        topo_take(&next, h->nout, h->out);
        if (parts == 2) topo_take(&next, h->nin, h->inw);
        if (parts == 2) topo_take(&next, h->nout, h->outw);
        rc = pass_on(c, order[c->rank], out, n, from, in, nin);
        if (rc == GW_OK && !are_ranks(in, (int64_t)got[0] + got[1], c->size)) rc = damaged();
    }
    free(out);
    *pool_out = in;
    h->nin = got[0], h->nout = got[1];
    h->in = in, h->out = in + got[0];
    if (parts == 2) h->inw = h->out + got[1], h->outw = h->inw + got[0];
    return rc;
}

static int dist_reorder(struct gw_comm *c, struct hood *h, struct topo_reorder *r, int **pool_out)
{
    int rc = topo_reorder_begin(c, r);
    if (rc != GW_OK || !r->useful) return rc;
    struct topo_edges e = {0};
    rc = edges_gather(c, h, &e);
    if (rc == GW_OK) rc = topo_reorder_end(c, r, c->size, &e, NULL);
    free(e.from);
    return rc == GW_OK && r->order ? hood_move(c, r->order, h, pool_out) : rc;
}

static int dist_make(struct gw_comm *c, struct hood h, struct gw_info *info, int reorder, struct gw_comm **comm_out)
{
    struct gw_comm *new = NULL;
    struct topo_reorder r = {0};
    int *pool = NULL, rc = reorder && c->size > 1 ? dist_reorder(c, &h, &r, &pool) : GW_OK;
    if (rc == GW_OK) rc = topo_make_comm(c, c->size, r.order, &new);
    if (rc == GW_OK && !(new->topo = dist_new(&h, new->rank, new->size))) rc = GW_ENOMEM;
    if (rc == GW_OK) rc = comm_set_info(new, info);
    topo_reorder_free(&r);
    free(pool);
    if (rc == GW_OK)
        *comm_out = new;
    else if (new)
        comm_release(new);
    return rc;
}

int topo_dist_create_adjacent(struct gw_comm *c, int indegree, const int *sources, const int *in_weights, int outdegree,
                              const int *destinations, const int *out_weights, struct gw_info *info, int reorder,
                              struct gw_comm **comm_out)
{
    int rc = check_adjacent(c, indegree, sources, in_weights, outdegree, destinations, out_weights);
    if (rc != GW_OK) return rc;
    struct hood h = {.nin = indegree, .nout = outdegree, .in = sources, .out = destinations};
    if (in_weights != GW_UNWEIGHTED && out_weights != GW_UNWEIGHTED) {
        /* Not NULL even without edges: that marks a weighted graph. */
        h.inw = in_weights ? in_weights : GW_WEIGHTS_EMPTY;
        h.outw = out_weights ? out_weights : GW_WEIGHTS_EMPTY;
    }
    coll_call_begin(c);
    rc = dist_make(c, h, info, reorder, comm_out);
    coll_call_end(c);
    return rc;
}

/* ---- edges that anybody may know: each is told to both of its ends ----
 * Everybody sends, to each rank, its edges out of that rank and its edges into it.  Edges arrive in the order of who told of
 * them, then as told, so that several edges between the same two are in the same order at both ends. */
struct edge {
    int32_t into, other, weight;
}; /* into: 1 for an edge from `other` */

static int count_check(const struct gw_comm *c, int n, const int *sources, const int *degrees, const int *destinations,
                       const int *weights, int64_t *nedges_out)
{
    int64_t m = 0;
    int rc = topo_intra(c);
    if (rc == GW_OK) rc = check_ranks(c, "sources", n, sources);
    if (rc != GW_OK) return rc;
    for (int i = 0; i < n; i++) {
        if (degrees[i] < 0) return gw_fail(GW_EARG, "degrees[%d] is %d; it must not be negative", i, degrees[i]);
        m += degrees[i];
    }
    if (m > INT32_MAX / 2)
        return gw_fail(GW_EARG, "degrees add up to %lld edges; one process may tell of 1,073,741,823", (long long)m);
    if (m > 0 && !destinations) return gw_fail(GW_EARG, "destinations is NULL; there are %lld edges", (long long)m);
    rc = check_ranks(c, "destinations", (int)m, destinations);
    if (rc == GW_OK) rc = check_weights("weights", m, weights);
    *nedges_out = m;
    return rc;
}

struct exchange {
    int64_t *scount, *sat, *rcount, *rat;
    struct edge *send, *recv;
    int64_t nrecv;
};

static void exchange_free(struct exchange *x)
{
    free(x->scount);
    free(x->send);
    free(x->recv);
}

/* Sorts the edges that this process has named by the process that they are sent to. */
static int exchange_fill(struct exchange *x, const struct gw_comm *c, int n, const int *sources, const int *degrees,
                         const int *destinations, const int *weights, int64_t nedges)
{
    x->scount = calloc(5 * (size_t)c->size, sizeof(int64_t));
    x->send = malloc(sizeof *x->send * (size_t)(2 * nedges + 1));
    if (!x->scount || !x->send) return gw_fail(GW_ENOMEM, "no memory for %lld edges", (long long)nedges);
    x->sat = x->scount + c->size;
    x->rcount = x->sat + c->size;
    x->rat = x->rcount + c->size;
    int64_t *next = x->rat + c->size, e = 0;
    for (int i = 0; i < n; i++) {
        x->scount[sources[i]] += degrees[i];
        for (int k = 0; k < degrees[i]; k++) x->scount[destinations[e++]]++;
    }
    offsets(c->size, x->scount, x->sat);
    memcpy(next, x->sat, sizeof *next * (size_t)c->size);
    e = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < degrees[i]; k++, e++) {
            int from = sources[i], to = destinations[e], w = weights ? weights[e] : 0;
            x->send[next[from]++] = (struct edge){0, to, w};
            x->send[next[to]++] = (struct edge){1, from, w};
        }
    }
    return GW_OK;
}

static int exchange_run(struct exchange *x, struct gw_comm *c)
{
    enum { PARTS = sizeof(struct edge) / sizeof(int32_t) };
    int rc = coll_alltoall(x->scount, 1, gw_type_int64, x->rcount, 1, gw_type_int64, c, NULL);
    if (rc != GW_OK) return rc;
    x->nrecv = offsets(c->size, x->rcount, x->rat);
    if (x->nrecv < 0) return damaged();
    if (x->nrecv > INT32_MAX) return gw_fail(GW_EARG, "this process has %lld edges; 2,147,483,647 can be", (long long)x->nrecv);
    x->recv = malloc(sizeof *x->recv * (size_t)(x->nrecv + 1));
    if (!x->recv) return gw_fail(GW_ENOMEM, "no memory for %lld edges", (long long)x->nrecv);
    for (int i = 0; i < 4 * c->size; i++) x->scount[i] *= PARTS;
    return coll_alltoallv(x->send, (struct gw_counts){x->scount, true}, (struct gw_counts){x->sat, true}, gw_type_int, x->recv,
                          (struct gw_counts){x->rcount, true}, (struct gw_counts){x->rat, true}, gw_type_int, c, NULL);
}

/* Splits the received edges into incoming and outgoing ones. */
static int hood_of(const struct exchange *x, int size, bool weighted, struct hood *h, int **pool_out)
{
    for (int64_t i = 0; i < x->nrecv; i++)
        if ((uint32_t)x->recv[i].into > 1 || x->recv[i].other < 0 || x->recv[i].other >= size) return damaged();
    int *pool = malloc(sizeof *pool * (2 * (size_t)x->nrecv + 1)), *at[2], *w[2], n[2] = {0, 0};
    if (!pool) return gw_fail(GW_ENOMEM, "no memory for %lld edges", (long long)x->nrecv);
    for (int64_t i = 0; i < x->nrecv; i++) n[x->recv[i].into]++;
    *h = (struct hood){.nin = n[1], .nout = n[0]};
    at[0] = pool;
    at[1] = at[0] + n[0];
    w[0] = at[1] + n[1];
    w[1] = w[0] + n[0];
    h->out = at[0];
    h->in = at[1];
    if (weighted) {
        h->outw = w[0];
        h->inw = w[1];
    }
    for (int64_t i = 0; i < x->nrecv; i++) {
        const struct edge *e = &x->recv[i];
        *at[e->into]++ = e->other;
        *w[e->into]++ = e->weight;
    }
    *pool_out = pool;
    return GW_OK;
}

int topo_dist_create(struct gw_comm *c, int n, const int *sources, const int *degrees, const int *destinations, const int *weights,
                     struct gw_info *info, int reorder, struct gw_comm **comm_out)
{
    bool weighted = weights != GW_UNWEIGHTED;
    int64_t nedges = 0;
    int *pool = NULL;
    struct hood h;
    struct exchange x = {0};
    int rc = count_check(c, n, sources, degrees, destinations, weights, &nedges);
    if (rc == GW_OK) rc = exchange_fill(&x, c, n, sources, degrees, destinations, weighted ? weights : NULL, nedges);
    coll_call_begin(c);
    if (rc == GW_OK) rc = exchange_run(&x, c);
    if (rc == GW_OK) rc = hood_of(&x, c->size, weighted, &h, &pool);
    if (rc == GW_OK) rc = dist_make(c, h, info, reorder, comm_out);
    coll_call_end(c);
    free(pool);
    exchange_free(&x);
    return rc;
}

/* ---- looking up ---- */
int topo_dist_neighbors_count(struct gw_comm *c, int *indegree_out, int *outdegree_out, int *weighted_out)
{
    int rc = topo_want(c, GW_DIST_GRAPH);
    if (rc != GW_OK) return rc;
    *indegree_out = c->topo->nin;
    *outdegree_out = c->topo->nout;
    *weighted_out = c->topo->dist.in_weights != NULL;
    return GW_OK;
}

/* The caller's array for weights: NULL if it wants none. */
static int weights_array(const struct gw_topo *t, const char *name, int n, int **w)
{
    if (n == 0 || !t->dist.in_weights || *w == GW_UNWEIGHTED || *w == GW_WEIGHTS_EMPTY)
        *w = NULL;
    else if (!*w)
        return gw_fail(GW_EARG, "%s is NULL, but the graph has weights; give room for %d, or MPI_UNWEIGHTED", name, n);
    return GW_OK;
}

int topo_dist_neighbors(struct gw_comm *c, int maxin, int *sources_out, int *in_weights_out, int maxout, int *destinations_out,
                        int *out_weights_out)
{
    int rc = topo_want(c, GW_DIST_GRAPH);
    if (rc != GW_OK) return rc;
    const struct gw_topo *t = c->topo;
    int nin = maxin < t->nin ? maxin : t->nin, nout = maxout < t->nout ? maxout : t->nout;
    rc = weights_array(t, "sourceweights", nin, &in_weights_out);
    if (rc == GW_OK) rc = weights_array(t, "destweights", nout, &out_weights_out);
    if (rc != GW_OK) return rc;
    for (int i = 0; i < nin; i++) sources_out[i] = t->in[i];
    for (int i = 0; i < nout; i++) destinations_out[i] = t->out[i];
    for (int i = 0; in_weights_out && i < nin; i++) in_weights_out[i] = t->dist.in_weights[i];
    for (int i = 0; out_weights_out && i < nout; i++) out_weights_out[i] = t->dist.out_weights[i];
    return GW_OK;
}
