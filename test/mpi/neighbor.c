/* neighbor.c -- neighbourhood collectives: every call in its blocking, non-blocking, persistent and large-count form, on grids,
 * graphs and distributed multigraphs, with small and large blocks; each block says which edge it came along.
 * arg: a seed, which chooses one of the neighbourhoods.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

enum { DEGREE_MAX = 128, FORMS = 6 };

/* ---- topologies: the neighbours that I receive from and send to, and the number of the edge of each block (-1: there is nobody) ---- */
struct hood {
    MPI_Comm comm;
    int me, nin, nout, in[DEGREE_MAX], out[DEGREE_MAX], in_edge[DEGREE_MAX], out_edge[DEGREE_MAX];
};

/* Edge 2 * (dimension + 8 * rank) + direction leaves `rank` in that direction. */
static struct hood grid(int ndims, const int *dims, const int *periods, int reorder)
{
    struct hood h = {.comm = MPI_COMM_NULL};
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, reorder, &h.comm);
    if (h.comm == MPI_COMM_NULL) return h;
    MPI_Comm_rank(h.comm, &h.me);
    for (int d = 0; d < ndims; d++) {
        int peer[2];
        MPI_Cart_shift(h.comm, d, 1, &peer[0], &peer[1]);
        for (int k = 0; k < 2; k++) {
            h.in[h.nin] = h.out[h.nout] = peer[k];
            h.in_edge[h.nin++] = peer[k] < 0 ? -1 : 2 * (d + 8 * peer[k]) + !k;
            h.out_edge[h.nout++] = peer[k] < 0 ? -1 : 2 * (d + 8 * h.me) + k;
        }
    }
    return h;
}

/* A symmetric graph with loops and several edges between the same two: the k-th to a process matches the k-th from it. */
static struct hood graph(int n)
{
    struct hood h = {.comm = MPI_COMM_NULL};
    int index[64], *edges = malloc(sizeof(int) * 64 * DEGREE_MAX), m = 0, times[64];
    for (int i = 0; i < n; i++) {
        for (int j = n - 1; j >= 0; j--)
            for (int k = (i * j + i + j) % 3; k > 0; k--) edges[m++] = j;
        index[i] = m;
    }
    MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, 0, &h.comm);
    if (h.comm != MPI_COMM_NULL) {
        MPI_Comm_rank(h.comm, &h.me);
        memset(times, 0, sizeof times);
        for (int e = h.me ? index[h.me - 1] : 0; e < index[h.me]; e++) {
            int peer = edges[e], k = times[peer]++;
            h.in[h.nin] = h.out[h.nout] = peer;
            h.in_edge[h.nin++] = (peer * 64 + h.me) * 4 + k;
            h.out_edge[h.nout++] = (h.me * 64 + peer) * 4 + k;
        }
    }
    free(edges);
    return h;
}

/* A random directed multigraph; edge number e is the e-th in everybody's table. */
static struct hood dist(int seed, int n, int reorder)
{
    struct hood h = {.comm = MPI_COMM_NULL};
    random_state = 0x9e3779b97f4a7c15u * (unsigned)(seed + 1);
    int from[4 * DEGREE_MAX], to[4 * DEGREE_MAX];
    for (int e = 0; e < n; e++) {
        from[e] = (int)random_below((unsigned)size);
        to[e] = (int)random_below((unsigned)size);
    }
    for (int pass = 0; pass < 2; pass++) { /* the second with my rank in the new communicator */
        h.nin = h.nout = 0;
        h.me = rank;
        if (pass) MPI_Comm_rank(h.comm, &h.me);
        for (int e = 0; e < n; e++) {
            if (to[e] == h.me && h.nin < DEGREE_MAX) h.in_edge[h.nin] = e, h.in[h.nin++] = from[e];
            if (from[e] == h.me && h.nout < DEGREE_MAX) h.out_edge[h.nout] = e, h.out[h.nout++] = to[e];
        }
        if (!pass)
            MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, h.nin, h.in, MPI_UNWEIGHTED, h.nout, h.out, MPI_UNWEIGHTED,
                                           MPI_INFO_NULL, reorder, &h.comm);
    }
    return h;
}

/* ---- one set of arguments in all forms of a call ---- */
struct args {
    const void *in;
    void *out;
    int scount, rcount, scounts[DEGREE_MAX], rcounts[DEGREE_MAX], sdispls[DEGREE_MAX], rdispls[DEGREE_MAX];
    MPI_Datatype st, rt, sts[DEGREE_MAX], rts[DEGREE_MAX];
    MPI_Count scounts_c[DEGREE_MAX], rcounts_c[DEGREE_MAX];
    MPI_Aint sdispls_c[DEGREE_MAX], rdispls_c[DEGREE_MAX];
};

static void finish(MPI_Request *q, int persistent, int again, void (*before)(void *), void *ctx)
{
    for (int i = 0; i < again; i++) {
        if (i > 0) before(ctx);
        if (persistent) CHECK_EQ(MPI_Start(q), MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(q, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    if (persistent) MPI_Request_free(q);
    CHECK(*q == MPI_REQUEST_NULL);
}

static void wipe(void *ctx);
#define CALL(NAME, ARGS, ARGS_C)                                                                                                   \
    switch (form) {                                                                                                                \
    case 0: CHECK_EQ(MPI_Neighbor_##NAME(ARGS, c), MPI_SUCCESS); return;                                                           \
    case 1: CHECK_EQ(MPI_Ineighbor_##NAME(ARGS, c, &q), MPI_SUCCESS); break;                                                       \
    case 2: CHECK_EQ(MPI_Neighbor_##NAME##_init(ARGS, c, MPI_INFO_NULL, &q), MPI_SUCCESS); break;                                  \
    case 3: CHECK_EQ(MPI_Neighbor_##NAME##_c(ARGS_C, c), MPI_SUCCESS); return;                                                     \
    case 4: CHECK_EQ(MPI_Ineighbor_##NAME##_c(ARGS_C, c, &q), MPI_SUCCESS); break;                                                 \
    case 5: CHECK_EQ(MPI_Neighbor_##NAME##_init_c(ARGS_C, c, MPI_INFO_NULL, &q), MPI_SUCCESS); break;                              \
    }                                                                                                                              \
    finish(&q, form == 2 || form == 5, form == 2 || form == 5 ? 3 : 1, wipe, a)
#define LIST(...) __VA_ARGS__

static void allgather(struct args *a, MPI_Comm c, int form)
{
    MPI_Request q = MPI_REQUEST_NULL;
    CALL(allgather, LIST(a->in, a->scount, a->st, a->out, a->rcount, a->rt),
         LIST(a->in, a->scount, a->st, a->out, a->rcount, a->rt));
}
static void allgatherv(struct args *a, MPI_Comm c, int form)
{
    MPI_Request q = MPI_REQUEST_NULL;
    CALL(allgatherv, LIST(a->in, a->scount, a->st, a->out, a->rcounts, a->rdispls, a->rt),
         LIST(a->in, a->scount, a->st, a->out, a->rcounts_c, a->rdispls_c, a->rt));
}
static void alltoall(struct args *a, MPI_Comm c, int form)
{
    MPI_Request q = MPI_REQUEST_NULL;
    CALL(alltoall, LIST(a->in, a->scount, a->st, a->out, a->rcount, a->rt),
         LIST(a->in, a->scount, a->st, a->out, a->rcount, a->rt));
}
static void alltoallv(struct args *a, MPI_Comm c, int form)
{
    MPI_Request q = MPI_REQUEST_NULL;
    CALL(alltoallv, LIST(a->in, a->scounts, a->sdispls, a->st, a->out, a->rcounts, a->rdispls, a->rt),
         LIST(a->in, a->scounts_c, a->sdispls_c, a->st, a->out, a->rcounts_c, a->rdispls_c, a->rt));
}
static void alltoallw(struct args *a, MPI_Comm c, int form)
{
    MPI_Request q = MPI_REQUEST_NULL;
    CALL(alltoallw, LIST(a->in, a->scounts, a->sdispls_c, a->sts, a->out, a->rcounts, a->rdispls_c, a->rts),
         LIST(a->in, a->scounts_c, a->sdispls_c, a->sts, a->out, a->rcounts_c, a->rdispls_c, a->rts));
}

/* ---- data: block k to send is pattern_at(edge number), or pattern_at(rank) in the gathers; blocks of `unit` bytes ---- */
static unsigned char *sent, *got;
static long got_bytes;
static MPI_Datatype pair; /* two bytes, a gap of two */

static void wipe(void *ctx)
{
    (void)ctx;
    memset(got, 0xee, (size_t)got_bytes);
}

static int length_of(int edge, int unit, int uneven) { return uneven && edge >= 0 ? unit * (edge % 4) / 2 : unit; }

/* Block k at `at` with its data, or as it was before. */
static void check_block(long at, int len, int seed, int there)
{
    if (there) {
        CHECK_EQ(pattern_wrong(got + at, len, (unsigned)seed), -1);
        return;
    }
    for (int i = 0; i < len; i++) CHECK_EQ(got[at + i], 0xee);
}

static void setup(struct args *a, const struct hood *h, int unit, int uneven, int gather)
{
    long at = 0;
    *a = (struct args){.scount = unit, .rcount = unit, .st = MPI_BYTE, .rt = MPI_BYTE};
    for (int k = 0; k < h->nout; k++) {
        int n = gather ? unit : length_of(h->out_edge[k], unit, uneven);
        a->scounts[k] = n, a->sdispls[k] = (int)at;
        a->scounts_c[k] = n, a->sdispls_c[k] = (MPI_Aint)at;
        a->sts[k] = n ? MPI_BYTE : MPI_DATATYPE_NULL;
        at += n + (uneven ? 3 : 0);
    }
    sent = malloc((size_t)(gather ? unit : at) + 1);
    for (int k = 0; !gather && k < h->nout; k++) pattern_fill(sent + a->sdispls[k], a->scounts[k], (unsigned)h->out_edge[k]);
    if (gather) pattern_fill(sent, unit, (unsigned)h->me);
    at = 0;
    for (int j = 0; j < h->nin; j++) {
        int k = uneven ? h->nin - 1 - j : j, n = gather ? unit : length_of(h->in_edge[k], unit, uneven);
        a->rcounts[k] = n, a->rdispls[k] = (int)at;
        a->rcounts_c[k] = n, a->rdispls_c[k] = (MPI_Aint)at;
        a->rts[k] = n ? MPI_BYTE : MPI_DATATYPE_NULL;
        at += n + (uneven ? 5 : 0);
    }
    got_bytes = at + 8;
    got = malloc((size_t)got_bytes);
    wipe(NULL);
    a->in = sent, a->out = got;
}

static void finish_case(const struct args *a, const struct hood *h, int gather)
{
    long end = 0;
    for (int k = 0; k < h->nin; k++) {
        check_block(a->rdispls[k], a->rcounts[k], gather ? h->in[k] : h->in_edge[k], h->in_edge[k] >= 0);
        if (a->rdispls[k] + a->rcounts[k] > end) end = a->rdispls[k] + a->rcounts[k];
    }
    for (; end < got_bytes; end++) CHECK_EQ(got[end], 0xee);
    free(sent);
    free(got);
}

static void all_calls(const struct hood *h, int unit, int form)
{
    struct args a;
    setup(&a, h, unit, 0, 1), allgather(&a, h->comm, form), finish_case(&a, h, 1);
    setup(&a, h, unit, 1, 1), allgatherv(&a, h->comm, form), finish_case(&a, h, 1);
    setup(&a, h, unit, 0, 0), alltoall(&a, h->comm, form), finish_case(&a, h, 0);
    setup(&a, h, unit, 1, 0), alltoallv(&a, h->comm, form), finish_case(&a, h, 0);
    setup(&a, h, unit, 1, 0), alltoallw(&a, h->comm, form), finish_case(&a, h, 0);
}

/* Derived types: what is sent in pairs with gaps arrives as bytes in one run, and back. */
static void types(const struct hood *h)
{
    int n = 10;
    struct args a;
    setup(&a, h, 2 * n, 0, 0);
    unsigned char *spread = malloc((size_t)(4 * n * h->nout) + 1);
    for (int i = 0; i < n * h->nout; i++) memcpy(spread + 4 * i, sent + 2 * i, 2);
    a.in = spread, a.scount = n, a.st = pair;
    alltoall(&a, h->comm, 0);
    a.in = sent;
    finish_case(&a, h, 0);
    free(spread);
    setup(&a, h, 2 * n, 0, 0);
    spread = malloc((size_t)(4 * n * h->nin) + 1);
    memset(spread, 0xee, (size_t)(4 * n * h->nin));
    a.out = spread, a.rcount = n, a.rt = pair;
    alltoall(&a, h->comm, 1);
    for (int i = 0; i < n * h->nin; i++) {
        memcpy(got + 2 * i, spread + 4 * i, 2);
        CHECK(spread[4 * i + 2] == 0xee && spread[4 * i + 3] == 0xee);
    }
    finish_case(&a, h, 0);
    free(spread);
}

/* Several under way at once on one communicator, ended in another order. */
static void overlapping(const struct hood *h)
{
    enum { N = 6 };
    struct args a[N];
    unsigned char *s[N], *g[N];
    long bytes[N];
    MPI_Request q[N];
    for (int i = 0; i < N; i++) {
        setup(&a[i], h, 8 + i, 0, i % 2);
        s[i] = sent, g[i] = got, bytes[i] = got_bytes;
        if (i % 2)
            MPI_Ineighbor_allgather(a[i].in, a[i].scount, a[i].st, a[i].out, a[i].rcount, a[i].rt, h->comm, &q[i]);
        else
            MPI_Ineighbor_alltoall(a[i].in, a[i].scount, a[i].st, a[i].out, a[i].rcount, a[i].rt, h->comm, &q[i]);
    }
    MPI_Barrier(h->comm);
    for (int i = N - 1; i >= 0; i--) {
        CHECK_EQ(MPI_Wait(&q[i], MPI_STATUS_IGNORE), MPI_SUCCESS);
        sent = s[i], got = g[i], got_bytes = bytes[i];
        finish_case(&a[i], h, i % 2);
    }
}

static void check_hood(struct hood h, int large)
{
    if (h.comm == MPI_COMM_NULL) return;
    MPI_Comm twin;
    for (int form = 0; form < FORMS; form++) all_calls(&h, form % 2 ? 5 : 64, form);
    all_calls(&h, large, 0);
    all_calls(&h, large, 1);
    types(&h);
    overlapping(&h);
    MPI_Comm_dup(h.comm, &twin); /* a request outlives the handle, and the topology lives in the duplicate */
    struct args a;
    MPI_Request q;
    setup(&a, &h, 16, 0, 0);
    MPI_Ineighbor_alltoall(a.in, a.scount, a.st, a.out, a.rcount, a.rt, h.comm, &q);
    MPI_Comm_free(&h.comm);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    finish_case(&a, &h, 0);
    h.comm = twin;
    all_calls(&h, 9, 0);
    MPI_Comm_free(&twin);
}

/* ---- errors ---- */
static void refused(int code, int want)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    CHECK_EQ(class, want);
}

static void errors(void)
{
    int x[8] = {0}, y[8], counts[2] = {1, 1}, displs[2] = {0, 1}, one = 1, yes = 1;
    MPI_Request q;
    MPI_Comm c;
    refused(MPI_Neighbor_allgather(x, 1, MPI_INT, y, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY);
    refused(MPI_Ineighbor_alltoallv(x, counts, displs, MPI_INT, y, counts, displs, MPI_INT, MPI_COMM_WORLD, &q), MPI_ERR_TOPOLOGY);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &one, &yes, 0, &c);
    if (c == MPI_COMM_NULL) return;
    refused(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, y, 1, MPI_INT, c), MPI_ERR_BUFFER);
    refused(MPI_Neighbor_alltoall(x, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, c), MPI_ERR_BUFFER);
    refused(MPI_Neighbor_allgather(x, -1, MPI_INT, y, 1, MPI_INT, c), MPI_ERR_COUNT);
    counts[1] = -1;
    refused(MPI_Neighbor_alltoallv(x, counts, displs, MPI_INT, y, counts, displs, MPI_INT, c), MPI_ERR_COUNT);
    refused(MPI_Neighbor_allgatherv(x, 1, MPI_INT, y, counts, displs, MPI_INT, c), MPI_ERR_COUNT);
    refused(MPI_Neighbor_allgatherv(x, 1, MPI_INT, y, NULL, displs, MPI_INT, c), MPI_ERR_ARG);
    refused(MPI_Neighbor_alltoall(x, 1, MPI_DATATYPE_NULL, y, 1, MPI_INT, c), MPI_ERR_TYPE);
    MPI_Comm_free(&c);
}

/* ---- the neighbourhoods ---- */
enum { GRIDS = 10, HOODS = GRIDS + 6 };

/* 0 to 3 dimensions, and 4 of which some are loops; periodic by turns or not. */
static void check_grid(int number)
{
    int ndims = number / 2, periodic = number % 2, dims[4] = {0, 0, 0, 1}, periods[4] = {periodic, !periodic, periodic, 1};
    if (ndims == 4) dims[2] = 1;
    if (ndims) MPI_Dims_create(size, ndims, dims);
    check_hood(grid(ndims, dims, periods, ndims < 4 && periodic), ndims == 2 ? 100000 : 2000);
}

static void hood(int number)
{
    static const struct {
        int seed, edges_of_rank, edges, reorder, large;
    } d[4] = {{1, 3, 0, 0, 40000}, {2, 0, 100, 1, 9000}, {3, 0, 0, 0, 10}, {4, 0, -1, 1, 300000}};
    if (number < GRIDS) return check_grid(number);
    if (number < GRIDS + 2) return check_hood(graph(number == GRIDS || size == 1 ? size : size - 1), number == GRIDS ? 3000 : 1000);
    int k = number - GRIDS - 2, edges = d[k].edges < 0 ? size / 2 : d[k].edges + d[k].edges_of_rank * size;
    check_hood(dist(d[k].seed, edges, d[k].reorder), d[k].large);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(2, MPI_BYTE, &pair);
    MPI_Datatype inner = pair;
    MPI_Type_create_resized(inner, 0, 4, &pair);
    MPI_Type_free(&inner);
    MPI_Type_commit(&pair);
    if (argc > 1) random_seed(argv[1]);
    for (int i = 0, one = (int)random_below(HOODS); i < HOODS; i++)
        if (argc < 2 || i == one) hood(i);
    errors();
    MPI_Type_free(&pair);
    return test_end();
}
