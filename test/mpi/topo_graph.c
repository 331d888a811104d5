/* topo_graph.c -- graphs, whole and distributed: random multigraphs with weights and loops, against a table of all edges.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

enum { RANKS_MAX = 64, EDGES_MAX = 256 };
struct edge {
    int from, to, weight, teller;
};
static struct edge edges[EDGES_MAX]; /* equal on all ranks: the generator starts from one seed */
static int nedges;

static void random_edges(void)
{
    nedges = (int)random_below(4) == 0 ? 0 : (int)random_below(EDGES_MAX);
    for (int i = 0; i < nedges; i++) {
        edges[i] = (struct edge){(int)random_below((unsigned)size), (int)random_below((unsigned)size), (int)random_below(1000),
                                 (int)random_below((unsigned)size)};
    }
}

#define CLASS_IS(call, want)                                                                                                       \
    do {                                                                                                                           \
        int class_code = (call), class_got = MPI_SUCCESS;                                                                          \
        if (class_code != MPI_SUCCESS) MPI_Error_class(class_code, &class_got);                                                    \
        CHECK_EQ(class_got, want);                                                                                                 \
    } while (0)

/* ---- graphs that everybody knows ---- */
static void check_graph(MPI_Comm c, int n, const int *index, const int *list)
{
    int kind = -1, nnodes = -1, m = -1, got_index[RANKS_MAX], got[EDGES_MAX + 1], count;
    CHECK_EQ(MPI_Topo_test(c, &kind), MPI_SUCCESS);
    CHECK_EQ(kind, MPI_GRAPH);
    CHECK_EQ(MPI_Graphdims_get(c, &nnodes, &m), MPI_SUCCESS);
    CHECK(nnodes == n && m == index[n - 1]);
    got[m] = -77;
    CHECK_EQ(MPI_Graph_get(c, RANKS_MAX, EDGES_MAX, got_index, got), MPI_SUCCESS);
    for (int i = 0; i < n; i++) CHECK_EQ(got_index[i], index[i]);
    for (int i = 0; i < m; i++) CHECK_EQ(got[i], list[i]);
    CHECK_EQ(got[m], -77);
    for (int r = 0; r < n; r++) {
        int begin = r ? index[r - 1] : 0;
        CHECK_EQ(MPI_Graph_neighbors_count(c, r, &count), MPI_SUCCESS);
        CHECK_EQ(count, index[r] - begin);
        got[count] = -77;
        CHECK_EQ(MPI_Graph_neighbors(c, r, count, got), MPI_SUCCESS);
        for (int i = 0; i < count; i++) CHECK_EQ(got[i], list[begin + i]);
        CHECK_EQ(got[count], -77);
        if (count > 0) CLASS_IS(MPI_Graph_neighbors(c, r, count - 1, got), MPI_ERR_ARG);
    }
    CLASS_IS(MPI_Graph_neighbors_count(c, n, &count), MPI_ERR_RANK);
    CLASS_IS(MPI_Graph_neighbors(c, -1, 0, got), MPI_ERR_RANK);
    CLASS_IS(MPI_Graph_get(c, n - 1, EDGES_MAX, got_index, got), MPI_ERR_ARG);
    if (m > 0) CLASS_IS(MPI_Graph_get(c, n, m - 1, got_index, got), MPI_ERR_ARG);
    CLASS_IS(MPI_Cartdim_get(c, &count), MPI_ERR_TOPOLOGY);
}

static void whole(void)
{
    random_state = 4711;
    for (int round = 0; round < 20; round++) {
        int n = 1 + (int)random_below((unsigned)size), index[RANKS_MAX], list[EDGES_MAX], m = 0, place = -5, reorder = round % 2;
        for (int i = 0; i < n; i++) {
            for (int k = (int)random_below(4); k > 0; k--) list[m++] = (int)random_below((unsigned)n);
            index[i] = m;
        }
        MPI_Comm c = MPI_COMM_WORLD, twin;
        CHECK_EQ(MPI_Graph_create(MPI_COMM_WORLD, n, index, m ? list : NULL, reorder, &c), MPI_SUCCESS);
        CHECK_EQ(MPI_Graph_map(MPI_COMM_WORLD, n, index, list, &place), MPI_SUCCESS);
        int placed = place != MPI_UNDEFINED, sums[3] = {c != MPI_COMM_NULL, placed, placed ? place * place : 0}, all[3], want = 0;
        for (int i = 0; i < n; i++) want += i * i;
        MPI_Allreduce(sums, all, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(all[0] == n && all[1] == n && all[2] == want);
        if (c == MPI_COMM_NULL) continue;
        int me;
        MPI_Comm_rank(c, &me);
        if (!reorder) CHECK_EQ(me, rank);
        check_graph(c, n, index, list);
        MPI_Comm_dup(c, &twin);
        MPI_Comm_free(&c);
        check_graph(twin, n, index, list);
        MPI_Comm_free(&twin);
    }
    MPI_Comm c = MPI_COMM_WORLD;
    CHECK_EQ(MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &c), MPI_SUCCESS);
    CHECK(c == MPI_COMM_NULL);
}

/* ---- distributed graphs ---- */
static int order_pairs(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return x[0] != y[0] ? x[0] - y[0] : x[1] - y[1];
}

/* The (rank, weight) pairs of one side against the table, in any order. */
static void check_side(int me, int into, int n, const int *ranks, const int *weights, int weighted)
{
    int want[EDGES_MAX][2], got[EDGES_MAX][2], m = 0;
    for (int i = 0; i < nedges; i++) {
        if ((into ? edges[i].to : edges[i].from) != me) continue;
        want[m][0] = into ? edges[i].from : edges[i].to;
        want[m++][1] = weighted ? edges[i].weight : 0;
    }
    CHECK_EQ(n, m);
    if (n != m) return;
    for (int i = 0; i < n; i++) {
        got[i][0] = ranks[i];
        got[i][1] = weighted ? weights[i] : 0;
    }
    qsort(want, (size_t)n, sizeof want[0], order_pairs);
    qsort(got, (size_t)n, sizeof got[0], order_pairs);
    for (int i = 0; i < n; i++) CHECK(want[i][0] == got[i][0] && want[i][1] == got[i][1]);
}

static void check_dist(MPI_Comm c, int weighted, int reorder)
{
    int me, n, kind = -1, nin = -1, nout = -1, w = -1, in[EDGES_MAX + 1], inw[EDGES_MAX + 1], out[EDGES_MAX + 1],
               outw[EDGES_MAX + 1];
    MPI_Comm_rank(c, &me);
    MPI_Comm_size(c, &n);
    CHECK_EQ(n, size);
    if (!reorder) CHECK_EQ(me, rank);
    CHECK_EQ(MPI_Topo_test(c, &kind), MPI_SUCCESS);
    CHECK_EQ(kind, MPI_DIST_GRAPH);
    CHECK_EQ(MPI_Dist_graph_neighbors_count(c, &nin, &nout, &w), MPI_SUCCESS);
    CHECK_EQ(w, weighted);
    for (int i = 0; i <= EDGES_MAX; i++) in[i] = inw[i] = out[i] = outw[i] = -77;
    CHECK_EQ(MPI_Dist_graph_neighbors(c, nin, in, inw, nout, out, outw), MPI_SUCCESS);
    CHECK(in[nin] == -77 && inw[nin] == -77 && out[nout] == -77 && outw[nout] == -77);
    if (!weighted) CHECK(inw[0] == -77 && outw[0] == -77);
    check_side(me, 1, nin, in, inw, weighted);
    check_side(me, 0, nout, out, outw, weighted);
    /* Several edges between the same two come in the same order at both ends: numbers go along them. */
    MPI_Request q[2 * EDGES_MAX];
    int sent[EDGES_MAX], got[EDGES_MAX];
    for (int i = 0; i < nin; i++) MPI_Irecv(&got[i], 1, MPI_INT, in[i], 6, c, &q[i]);
    for (int i = 0; i < nout; i++) {
        sent[i] = weighted ? outw[i] : me;
        MPI_Isend(&sent[i], 1, MPI_INT, out[i], 6, c, &q[nin + i]);
    }
    MPI_Waitall(nin + nout, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < nin; i++) CHECK_EQ(got[i], weighted ? inw[i] : in[i]);
    /* Less room: the first ones only; no weights wanted. */
    int few_in[2] = {-77, -77}, few_out[2] = {-77, -77};
    CHECK_EQ(MPI_Dist_graph_neighbors(c, nin > 0, few_in, MPI_UNWEIGHTED, nout > 0, few_out, MPI_UNWEIGHTED), MPI_SUCCESS);
    CHECK(few_in[0] == (nin ? in[0] : -77) && few_in[1] == -77 && few_out[0] == (nout ? out[0] : -77) && few_out[1] == -77);
}

static void check_and_free(MPI_Comm c, int weighted, int reorder)
{
    MPI_Comm twin;
    check_dist(c, weighted, reorder);
    MPI_Comm_dup(c, &twin);
    MPI_Comm_free(&c);
    check_dist(twin, weighted, reorder);
    MPI_Comm_free(&twin);
}

/* Everybody knows its own edges. */
static void adjacent(int weighted, int reorder)
{
    int in[EDGES_MAX], inw[EDGES_MAX], out[EDGES_MAX], outw[EDGES_MAX], nin = 0, nout = 0;
    for (int i = 0; i < nedges; i++) {
        if (edges[i].to == rank) inw[nin] = edges[i].weight, in[nin++] = edges[i].from;
        if (edges[i].from == rank) outw[nout] = edges[i].weight, out[nout++] = edges[i].to;
    }
    MPI_Comm c = MPI_COMM_NULL;
    int *iw = !weighted ? MPI_UNWEIGHTED
        : nin           ? inw
                        : MPI_WEIGHTS_EMPTY,
        *ow = !weighted ? MPI_UNWEIGHTED
        : nout          ? outw
                        : MPI_WEIGHTS_EMPTY;
    CHECK_EQ(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, nin, in, iw, nout, out, ow, MPI_INFO_NULL, reorder, &c), MPI_SUCCESS);
    check_and_free(c, weighted, reorder);
}

/* Each rank gives some edges, each source with as many destinations as follow each other in the table. */
static void anybody(int weighted, int reorder)
{
    int sources[EDGES_MAX], degrees[EDGES_MAX], to[EDGES_MAX], w[EDGES_MAX], n = 0, m = 0;
    for (int i = 0; i < nedges; i++) {
        if (edges[i].teller != rank) continue;
        if (n > 0 && sources[n - 1] == edges[i].from && i % 3) {
            degrees[n - 1]++;
        } else {
            sources[n] = edges[i].from;
            degrees[n++] = 1;
        }
        to[m] = edges[i].to;
        w[m++] = edges[i].weight;
    }
    if (n == 0 && rank % 2) sources[n] = 0, degrees[n++] = 0; /* a source with no destinations */
    MPI_Comm c = MPI_COMM_NULL;
    CHECK_EQ(MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, m ? to : NULL,
                                   !weighted ? MPI_UNWEIGHTED
                                       : m   ? w
                                             : MPI_WEIGHTS_EMPTY,
                                   MPI_INFO_NULL, reorder, &c),
             MPI_SUCCESS);
    check_and_free(c, weighted, reorder);
}

static void distributed(void)
{
    random_state = 99;
    for (int round = 0; round < 16; round++) {
        random_edges();
        adjacent(round % 2, round / 2 % 2);
        anybody(round % 2, round / 2 % 2);
    }
}

/* Who has no neighbours needs no buffers, whatever the counts. */
static void alone(void)
{
    MPI_Comm c;
    MPI_Request r;
    CHECK_EQ(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL,
                                            0, &c),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Neighbor_allgather(NULL, 1, MPI_INT, NULL, 1, MPI_INT, c), MPI_SUCCESS);
    CHECK_EQ(MPI_Neighbor_alltoall(NULL, 1, MPI_INT, NULL, 1, MPI_INT, c), MPI_SUCCESS);
    CHECK_EQ(MPI_Neighbor_allgatherv(NULL, 1, MPI_INT, NULL, NULL, NULL, MPI_INT, c), MPI_SUCCESS);
    CHECK_EQ(MPI_Ineighbor_alltoall(NULL, 1, MPI_INT, NULL, 1, MPI_INT, c, &r), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Comm_free(&c);
}

/* ---- errors ---- */
static void errors(void)
{
    MPI_Comm w, out = MPI_COMM_WORLD;
    int falls[2] = {1, 0}, one[2] = {1, 1}, zero[2] = {0, 0}, far[1] = {size}, minus[1] = {-1}, a, b, c;
    MPI_Comm_dup(MPI_COMM_WORLD, &w);
    MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN);
    CLASS_IS(MPI_Graph_create(w, size + 1, one, zero, 0, &out), MPI_ERR_ARG);
    CLASS_IS(MPI_Graph_create(w, -1, one, zero, 0, &out), MPI_ERR_ARG);
    if (size > 1) CLASS_IS(MPI_Graph_create(w, 2, falls, zero, 0, &out), MPI_ERR_TOPOLOGY);
    CLASS_IS(MPI_Graph_create(w, 1, minus, zero, 0, &out), MPI_ERR_TOPOLOGY);
    CLASS_IS(MPI_Graph_create(w, 1, one, one, 0, &out), MPI_ERR_RANK);
    CLASS_IS(MPI_Graph_map(w, 1, one, minus, &a), MPI_ERR_RANK);
    CLASS_IS(MPI_Graphdims_get(w, &a, &b), MPI_ERR_TOPOLOGY);
    CLASS_IS(MPI_Graph_neighbors_count(w, 0, &a), MPI_ERR_TOPOLOGY);
    CLASS_IS(MPI_Dist_graph_neighbors_count(w, &a, &b, &c), MPI_ERR_TOPOLOGY);
    CLASS_IS(MPI_Dist_graph_neighbors(w, 0, zero, zero, 0, zero, zero), MPI_ERR_TOPOLOGY);
    CLASS_IS(MPI_Dist_graph_create_adjacent(w, 1, far, one, 1, zero, one, MPI_INFO_NULL, 0, &out), MPI_ERR_RANK);
    CLASS_IS(MPI_Dist_graph_create_adjacent(w, 1, zero, one, 1, minus, one, MPI_INFO_NULL, 0, &out), MPI_ERR_RANK);
    CLASS_IS(MPI_Dist_graph_create_adjacent(w, -1, zero, one, 1, zero, one, MPI_INFO_NULL, 0, &out), MPI_ERR_ARG);
    CLASS_IS(MPI_Dist_graph_create_adjacent(w, 1, zero, minus, 1, zero, one, MPI_INFO_NULL, 0, &out), MPI_ERR_ARG);
    CLASS_IS(MPI_Dist_graph_create_adjacent(w, 1, zero, MPI_UNWEIGHTED, 1, zero, one, MPI_INFO_NULL, 0, &out), MPI_ERR_ARG);
    CLASS_IS(MPI_Dist_graph_create_adjacent(w, 1, zero, one, 1, zero, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &out), MPI_ERR_ARG);
    CLASS_IS(MPI_Dist_graph_create(w, 1, far, one, zero, one, MPI_INFO_NULL, 0, &out), MPI_ERR_RANK);
    CLASS_IS(MPI_Dist_graph_create(w, 1, zero, one, far, one, MPI_INFO_NULL, 0, &out), MPI_ERR_RANK);
    CLASS_IS(MPI_Dist_graph_create(w, 1, zero, minus, zero, one, MPI_INFO_NULL, 0, &out), MPI_ERR_ARG);
    CLASS_IS(MPI_Dist_graph_create(w, 1, zero, one, zero, minus, MPI_INFO_NULL, 0, &out), MPI_ERR_ARG);
    CLASS_IS(MPI_Dist_graph_create(w, 1, zero, one, zero, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &out), MPI_ERR_ARG);
    CHECK(out == MPI_COMM_WORLD);
    MPI_Comm_free(&w);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* graphs inherit it */
    whole();
    distributed();
    alone();
    errors();
    return test_end();
}
