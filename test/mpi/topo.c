/* topo.c -- grids: dims, creation, places, shifts, sub-grids, duplicates, errors; checked against counting by hand.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

enum { DIMS_MAX = 5 };
struct grid {
    int ndims, dims[DIMS_MAX], periods[DIMS_MAX], n;
};

/* Row-major, from the definition. */
static int rank_of(const struct grid *g, const int *at)
{
    int r = 0;
    for (int i = 0; i < g->ndims; i++) r = r * g->dims[i] + at[i];
    return r;
}

static void place_of(const struct grid *g, int r, int *at)
{
    int weight = g->n;
    for (int i = 0; i < g->ndims; i++) {
        weight /= g->dims[i];
        at[i] = r / weight % g->dims[i];
    }
}

/* Walks disp single steps. */
static int walk(const struct grid *g, int r, int dim, int disp)
{
    int at[DIMS_MAX];
    place_of(g, r, at);
    for (int step = disp < 0 ? -1 : 1; disp != 0; disp -= step) {
        at[dim] += step;
        if (at[dim] < 0 || at[dim] >= g->dims[dim]) {
            if (!g->periods[dim]) return MPI_PROC_NULL;
            at[dim] = at[dim] < 0 ? g->dims[dim] - 1 : 0;
        }
    }
    return rank_of(g, at);
}

static struct grid random_grid(int most)
{
    struct grid g = {.ndims = (int)random_below(DIMS_MAX), .n = 1};
    for (int i = 0; i < g.ndims; i++) {
        g.dims[i] = 1 + (int)random_below(4);
        if (g.n * g.dims[i] > most) g.dims[i] = 1;
        g.n *= g.dims[i];
        g.periods[i] = (int)random_below(2) * 7; /* any true value */
    }
    return g;
}

/* ---- what the inquiries say ---- */
static void check_places(MPI_Comm c, const struct grid *g)
{
    int me, n, kind = -1, ndims = -1, dims[DIMS_MAX + 1], periods[DIMS_MAX + 1], at[DIMS_MAX + 1], want[DIMS_MAX];
    MPI_Comm_rank(c, &me);
    MPI_Comm_size(c, &n);
    CHECK_EQ(n, g->n);
    CHECK_EQ(MPI_Topo_test(c, &kind), MPI_SUCCESS);
    CHECK_EQ(kind, MPI_CART);
    CHECK_EQ(MPI_Cartdim_get(c, &ndims), MPI_SUCCESS);
    CHECK_EQ(ndims, g->ndims);
    dims[g->ndims] = periods[g->ndims] = at[g->ndims] = -77;
    CHECK_EQ(MPI_Cart_get(c, g->ndims + 1, dims, periods, at), MPI_SUCCESS);
    CHECK(dims[g->ndims] == -77 && periods[g->ndims] == -77 && at[g->ndims] == -77);
    place_of(g, me, want);
    for (int i = 0; i < g->ndims; i++) CHECK(dims[i] == g->dims[i] && periods[i] == (g->periods[i] != 0) && at[i] == want[i]);
    for (int r = 0; r < g->n; r++) {
        int back = -1, outside;
        CHECK_EQ(MPI_Cart_coords(c, r, g->ndims, at), MPI_SUCCESS);
        place_of(g, r, want);
        for (int i = 0; i < g->ndims; i++) CHECK_EQ(at[i], want[i]);
        CHECK_EQ(MPI_Cart_rank(c, g->ndims ? at : NULL, &back), MPI_SUCCESS);
        CHECK_EQ(back, r);
        for (int i = 0; i < g->ndims; i++) {
            outside = at[i];
            at[i] += g->dims[i] * ((int)random_below(5) - 2);
            int rc = MPI_Cart_rank(c, at, &back), class = MPI_SUCCESS;
            if (rc != MPI_SUCCESS) MPI_Error_class(rc, &class);
            CHECK_EQ(class, g->periods[i] || at[i] == outside ? MPI_SUCCESS : MPI_ERR_ARG);
            CHECK_EQ(back, r);
            at[i] = outside;
        }
    }
}

static void check_shifts(MPI_Comm c, const struct grid *g)
{
    int me;
    MPI_Comm_rank(c, &me);
    for (int d = 0; d < g->ndims; d++) {
        for (int disp = -5; disp <= 5; disp++) {
            int from = -9, to = -9;
            CHECK_EQ(MPI_Cart_shift(c, d, disp, &from, &to), MPI_SUCCESS);
            CHECK_EQ(from, walk(g, me, d, -disp));
            CHECK_EQ(to, walk(g, me, d, disp));
            int sent = 100 * d + me, got = -1;
            MPI_Sendrecv(&sent, 1, MPI_INT, to, 3, &got, 1, MPI_INT, from, 3, c, MPI_STATUS_IGNORE);
            CHECK_EQ(got, from == MPI_PROC_NULL ? -1 : 100 * d + from);
        }
        int from, to, size_d = g->dims[d];
        CHECK_EQ(MPI_Cart_shift(c, d, 2147483647, &from, &to), MPI_SUCCESS);
        CHECK_EQ(to, g->periods[d] ? walk(g, me, d, 2147483647 % size_d) : MPI_PROC_NULL);
        CHECK_EQ(MPI_Cart_shift(c, d, -2147483647 - 1, &from, &to), MPI_SUCCESS);
        CHECK_EQ(from, g->periods[d] ? walk(g, me, d, (int)(2147483648u % (unsigned)size_d)) : MPI_PROC_NULL);
    }
}

/* Every choice of dimensions that remain. */
static void check_subs(MPI_Comm c, const struct grid *g)
{
    int me, at[DIMS_MAX] = {0};
    MPI_Comm_rank(c, &me);
    place_of(g, me, at);
    for (int bits = 0; bits < 1 << g->ndims; bits++) {
        int remain[DIMS_MAX] = {0}, all[64], want[DIMS_MAX], m = 0;
        struct grid s = {.n = 1};
        for (int i = 0; i < g->ndims; i++) {
            remain[i] = (bits >> i & 1) * 5;
            if (!remain[i]) continue;
            s.dims[s.ndims] = g->dims[i];
            s.periods[s.ndims++] = g->periods[i];
            s.n *= g->dims[i];
        }
        MPI_Comm sub = MPI_COMM_NULL;
        CHECK_EQ(MPI_Cart_sub(c, g->ndims ? remain : NULL, &sub), MPI_SUCCESS);
        check_places(sub, &s);
        MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, sub);
        for (int r = 0; r < g->n; r++) { /* those that share my other coordinates, in their order */
            int same = 1;
            place_of(g, r, want);
            for (int i = 0; i < g->ndims; i++) same = same && (remain[i] || want[i] == at[i]);
            if (same) {
                CHECK(m < s.n && all[m] == r);
                m++;
            }
        }
        CHECK_EQ(m, s.n);
        MPI_Comm_free(&sub);
    }
}

/* ---- making ---- */
static int same_ranks(MPI_Comm c) /* rank i of c is rank i of WORLD */
{
    int me, yes, all = 0;
    MPI_Comm_rank(c, &me);
    yes = me == rank;
    MPI_Allreduce(&yes, &all, 1, MPI_INT, MPI_LAND, c);
    return all;
}

static void grids(void)
{
    for (int round = 0; round < 25; round++) {
        random_state = 0x9e3779b97f4a7c15u * (unsigned)(round + 1); /* the same grid on every rank */
        struct grid g = random_grid(size);
        int reorder = round % 2, place = -5;
        MPI_Comm c = MPI_COMM_WORLD, twin;
        CHECK_EQ(MPI_Cart_create(MPI_COMM_WORLD, g.ndims, g.ndims ? g.dims : NULL, g.ndims ? g.periods : NULL, reorder, &c),
                 MPI_SUCCESS);
        CHECK_EQ(MPI_Cart_map(MPI_COMM_WORLD, g.ndims, g.dims, g.periods, &place), MPI_SUCCESS);
        CHECK(place == MPI_UNDEFINED || (place >= 0 && place < g.n));
        int members = c != MPI_COMM_NULL, placed = place != MPI_UNDEFINED, sums[4] = {members, placed, placed ? place : 0, 0},
            all[4];
        MPI_Allreduce(sums, all, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(all[0] == g.n && all[1] == g.n && all[2] == g.n * (g.n - 1) / 2); /* map: each place once */
        if (c == MPI_COMM_NULL) continue;
        if (!reorder) CHECK(same_ranks(c));
        check_places(c, &g);
        check_shifts(c, &g);
        if (g.ndims <= 3) check_subs(c, &g);
        CHECK_EQ(MPI_Comm_dup(c, &twin), MPI_SUCCESS);
        MPI_Comm_free(&c);
        check_places(twin, &g);
        check_shifts(twin, &g);
        MPI_Comm plain;
        int kind = -1;
        MPI_Comm_split(twin, 0, 0, &plain); /* a split has no topology */
        MPI_Topo_test(plain, &kind);
        CHECK_EQ(kind, MPI_UNDEFINED);
        MPI_Comm_free(&plain);
        MPI_Comm_dup_with_info(twin, MPI_INFO_NULL, &plain);
        check_places(plain, &g);
        MPI_Comm_free(&plain);
        MPI_Comm_free(&twin);
    }
}

static void balanced(void)
{
    for (int k = 1; k <= 4; k++) {
        int dims[4] = {0}, periods[4] = {1, 1, 1, 1}, n = 1;
        CHECK_EQ(MPI_Dims_create(size, k, dims), MPI_SUCCESS);
        for (int i = 0; i < k; i++) n *= dims[i];
        CHECK_EQ(n, size);
        MPI_Comm c;
        CHECK_EQ(MPI_Cart_create(MPI_COMM_WORLD, k, dims, periods, 1, &c), MPI_SUCCESS);
        CHECK(c != MPI_COMM_NULL);
        MPI_Comm_free(&c);
    }
}

/* ---- errors ---- */
#define CLASS_IS(call, want)                                                                                                       \
    do {                                                                                                                           \
        int class_code = (call), class_got = MPI_SUCCESS;                                                                          \
        if (class_code != MPI_SUCCESS) MPI_Error_class(class_code, &class_got);                                                    \
        CHECK_EQ(class_got, want);                                                                                                 \
    } while (0)

static void errors(void)
{
    MPI_Comm w, c, out = MPI_COMM_WORLD;
    int dims[2] = {1, size}, periods[2] = {0, 1}, zero[2] = {0, 1}, big[2] = {1 << 30, 1 << 30}, more[2] = {2, size}, a, b,
        v[2] = {0, 0};
    MPI_Comm_dup(MPI_COMM_WORLD, &w);
    MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN);
    CLASS_IS(MPI_Cart_create(w, 2, zero, periods, 0, &out), MPI_ERR_DIMS);
    CLASS_IS(MPI_Cart_create(w, 2, big, periods, 0, &out), MPI_ERR_DIMS);
    CLASS_IS(MPI_Cart_create(w, 2, more, periods, 0, &out), MPI_ERR_DIMS);
    CLASS_IS(MPI_Cart_create(w, -1, dims, periods, 0, &out), MPI_ERR_DIMS);
    CLASS_IS(MPI_Cart_map(w, 2, more, periods, &a), MPI_ERR_DIMS);
    CHECK(out == MPI_COMM_WORLD);
    CLASS_IS(MPI_Cartdim_get(w, &a), MPI_ERR_TOPOLOGY);
    CLASS_IS(MPI_Cart_get(w, 2, v, v, v), MPI_ERR_TOPOLOGY);
    CLASS_IS(MPI_Cart_rank(w, v, &a), MPI_ERR_TOPOLOGY);
    CLASS_IS(MPI_Cart_coords(w, 0, 2, v), MPI_ERR_TOPOLOGY);
    CLASS_IS(MPI_Cart_shift(w, 0, 1, &a, &b), MPI_ERR_TOPOLOGY);
    CLASS_IS(MPI_Cart_sub(w, v, &out), MPI_ERR_TOPOLOGY);
    CHECK_EQ(MPI_Cart_create(w, 2, dims, periods, 0, &c), MPI_SUCCESS);
    CLASS_IS(MPI_Cart_get(c, 1, v, v, v), MPI_ERR_ARG);
    CLASS_IS(MPI_Cart_coords(c, 0, 1, v), MPI_ERR_ARG);
    CLASS_IS(MPI_Cart_coords(c, size, 2, v), MPI_ERR_RANK);
    CLASS_IS(MPI_Cart_coords(c, -1, 2, v), MPI_ERR_RANK);
    CLASS_IS(MPI_Cart_shift(c, 2, 1, &a, &b), MPI_ERR_DIMS);
    CLASS_IS(MPI_Cart_shift(c, -1, 1, &a, &b), MPI_ERR_DIMS);
    CLASS_IS(MPI_Graphdims_get(c, &a, &b), MPI_ERR_TOPOLOGY);
    CLASS_IS(MPI_Dist_graph_neighbors_count(c, &a, &b, v), MPI_ERR_TOPOLOGY);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (size > 1) {
        MPI_Comm half, inter;
        MPI_Comm_split(w, rank % 2, 0, &half);
        MPI_Intercomm_create(half, 0, w, 1 - rank % 2, 8, &inter);
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        CLASS_IS(MPI_Cart_create(inter, 1, periods + 1, periods, 0, &out), MPI_ERR_COMM);
        CLASS_IS(MPI_Graph_create(inter, 0, NULL, NULL, 0, &out), MPI_ERR_COMM);
        CLASS_IS(MPI_Dist_graph_create(inter, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &out), MPI_ERR_COMM);
        CLASS_IS(MPI_Cartdim_get(inter, &a), MPI_ERR_TOPOLOGY);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    int d[2] = {0, 5};
    CLASS_IS(MPI_Dims_create(12, 2, d), MPI_ERR_DIMS);
    CHECK(d[0] == 0 && d[1] == 5);
    d[1] = -2;
    CLASS_IS(MPI_Dims_create(12, 2, d), MPI_ERR_DIMS);
    CLASS_IS(MPI_Dims_create(0, 2, d), MPI_ERR_ARG);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&c);
    MPI_Comm_free(&w);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* grids inherit it */
    grids();
    balanced();
    errors();
    return test_end();
}
