/* threads_coll.h -- scenes of threads_every.c: collectives on the thread's own communicator, intercommunicators, neighbours, topologies.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "threads_every.h"

/* All of n ints of b are the block r counts up in. */
static void block_is(struct th *th, int at, int n, int r)
{
    const int *b = (int *)th->b;
    for (int i = 0; i < n; i++) EQ(b[at + i], r * 1000 + i);
}
static void blocks_are(struct th *th, int n)
{
    for (int r = 0; r < size; r++) block_is(th, r * n, n, r);
}

static void scene_data(struct th *th)
{
    int *a = (int *)th->a, *b = (int *)th->b, n = per_rank_ints(th), root = (int)below(th, (unsigned)size);
    MPI_Comm c = th->own;
    for (int i = 0; i < n; i++) a[i] = rank * 1000 + i;
    FORMS(if (rank == root) blocks_are(th, n), MPI_Gather, MPI_Igather, MPI_Gather_init, a, n, MPI_INT, b, n, MPI_INT, root, c);
    FORMS(blocks_are(th, n), MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, a, n, MPI_INT, b, n, MPI_INT, c);
    for (int i = 0; i < n * size; i++) a[i] = rank * 1000 + i % n;
    FORMS(blocks_are(th, n), MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, a, n, MPI_INT, b, n, MPI_INT, c);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++) a[r * n + i] = r * 1000 + i;
    FORMS(block_is(th, 0, n, rank), MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, a, n, MPI_INT, b, n, MPI_INT, root, c);
}
/* The buffer is in and out: the root's is filled anew before each form. */
static void scene_bcast(struct th *th)
{
    int n = some_bytes(th), root = (int)below(th, (unsigned)size);
    for (int form = 0; form < 3; form++) {
        MPI_Request q = MPI_REQUEST_NULL;
        pattern_fill(th->b, n, (unsigned)(rank == root ? form : 77));
        if (form == 0) MPI_Bcast(th->b, n, MPI_BYTE, root, th->own);
        if (form == 1) MPI_Ibcast(th->b, n, MPI_BYTE, root, th->own, &q);
        if (form == 2) {
            MPI_Bcast_init(th->b, n, MPI_BYTE, root, th->own, MPI_INFO_NULL, &q);
            MPI_Start(&q);
        }
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        if (form == 2) MPI_Request_free(&q);
        EQ(pattern_wrong(th->b, n, (unsigned)form), -1);
    }
    FORMS((void)0, MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init, th->own);
}
static void sums_are(struct th *th, int n, int times, int first)
{
    const int *b = (int *)th->b;
    for (int i = 0; i < n; i++) EQ(b[i], sum_of_ranks() + times * (first + i));
}
static void scene_reductions(struct th *th)
{
    int *a = (int *)th->a, *b = (int *)th->b, n = per_rank_ints(th), root = (int)below(th, (unsigned)size), before = 0;
    MPI_Comm c = th->own;
    for (int i = 0; i < n * size; i++) a[i] = rank + i;
    for (int r = 0; r < rank; r++) before += r;
    FORMS(if (rank == root) sums_are(th, n, size, 0), MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, a, b, n, MPI_INT, MPI_SUM, root, c);
    FORMS(sums_are(th, n, size, 0), MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, a, b, n, MPI_INT, MPI_SUM, c);
    FORMS(sums_are(th, n, size, rank * n), MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, a, b,
          n, MPI_INT, MPI_SUM, c);
    FORMS(for (int i = 0; i < n; i++) EQ(b[i], before + rank + (rank + 1) * i), MPI_Scan, MPI_Iscan, MPI_Scan_init, a, b, n,
          MPI_INT, MPI_SUM, c);
    FORMS(for (int i = 0; rank && i < n; i++) EQ(b[i], before + rank * i), MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, a, b, n,
          MPI_INT, MPI_SUM, c);
}
/* Several at once on one communicator, completed in another order. */
static void scene_outstanding(struct th *th)
{
    enum { N = 6 };
    MPI_Request q[N];
    int in[N], out[N], x[N];
    for (int i = 0; i < N; i++) {
        in[i] = rank + i, out[i] = -1, x[i] = rank == 0 ? i : -1;
        if (i % 3 == 0) MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, th->own, &q[i]);
        if (i % 3 == 1) MPI_Ibcast(&x[i], 1, MPI_INT, 0, th->own, &q[i]);
        if (i % 3 == 2) MPI_Iscan(&in[i], &out[i], 1, MPI_INT, MPI_MAX, th->own, &q[i]);
    }
    complete(th, (int)below(th, 12), N, q);
    for (int i = 0; i < N; i++) {
        if (i % 3 == 0) EQ(out[i], sum_of_ranks() + size * i);
        if (i % 3 == 1) EQ(x[i], i);
        if (i % 3 == 2) EQ(out[i], rank + i);
    }
}

static void scene_neighbors(struct th *th)
{
    MPI_Comm ring;
    int dims[1] = {size}, periods[1] = {1}, *a = (int *)th->a, *b = (int *)th->b, n = 1 + (int)below(th, 500);
    MPI_Cart_create(th->own, 1, dims, periods, (int)below(th, 2), &ring);
    int r;
    MPI_Comm_rank(ring, &r);
    int left = (r + size - 1) % size, right = (r + 1) % size;
    for (int i = 0; i < 2 * n; i++) a[i] = r * 1000 + i;
    FORMS(
        {
            EQ(b[n - 1], left * 1000 + n - 1);
            EQ(b[n], right * 1000);
        },
        MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init, a, n, MPI_INT, b, n, MPI_INT, ring);
    FORMS(
        {
            EQ(b[0], left * 1000 + n);
            EQ(b[n], right * 1000);
        },
        MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init, a, n, MPI_INT, b, n, MPI_INT, ring);
    MPI_Comm_free(&ring);
}

static void scene_cart(struct th *th)
{
    MPI_Comm grid, row;
    int dims[2] = {0, 0}, periods[2] = {0, 1}, coords[2] = {-1, -1}, kind = 0, n = 0, r = -1, back = -1, from, to, got[2], per[2],
        at[2];
    MPI_Dims_create(size, 2, dims);
    EQ(dims[0] * dims[1], size);
    MPI_Cart_map(th->own, 2, dims, periods, &r);
    SO(r >= 0 && r < size);
    MPI_Cart_create(th->own, 2, dims, periods, 0, &grid);
    MPI_Topo_test(grid, &kind);
    EQ(kind, MPI_CART);
    MPI_Cartdim_get(grid, &n);
    EQ(n, 2);
    MPI_Comm_rank(grid, &r);
    MPI_Cart_coords(grid, r, 2, coords);
    MPI_Cart_rank(grid, coords, &back);
    EQ(back, r);
    MPI_Cart_get(grid, 2, got, per, at);
    SO(got[0] == dims[0] && per[1] == 1 && at[0] == coords[0] && at[1] == coords[1]);
    MPI_Cart_shift(grid, 1, 1, &from, &to);
    MPI_Sendrecv(&r, 1, MPI_INT, to, 0, &back, 1, MPI_INT, from, 0, grid, MPI_STATUS_IGNORE);
    EQ(back, from);
    MPI_Cart_sub(grid, (int[]){0, 1}, &row);
    MPI_Comm_size(row, &n);
    EQ(n, dims[1]);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
}
static void scene_graph(struct th *th)
{
    MPI_Comm g, d;
    int index[MAX_RANKS], edges[2 * MAX_RANKS], got_index[MAX_RANKS], got_edges[2 * MAX_RANKS];
    int nodes = 0, nedges = 0, n = 0, two[2] = {-1, -1}, out[2], in[2], weighted = -1, nout = 0, nin = 0, r = -1;
    for (int i = 0; i < size; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + size - 1) % size, edges[2 * i + 1] = (i + 1) % size;
    }
    MPI_Graph_map(th->own, size, index, edges, &r);
    SO(r >= 0 && r < size);
    MPI_Graph_create(th->own, size, index, edges, 0, &g);
    MPI_Graphdims_get(g, &nodes, &nedges);
    EQ(nodes, size);
    EQ(nedges, 2 * size);
    MPI_Graph_get(g, size, 2 * size, got_index, got_edges);
    EQ(memcmp(got_edges, edges, sizeof(int) * 2 * (size_t)size), 0);
    MPI_Graph_neighbors_count(g, rank, &n);
    EQ(n, 2);
    MPI_Graph_neighbors(g, rank, 2, two);
    SO(two[0] == th->left && two[1] == th->right);
    MPI_Comm_free(&g);

    int to[1] = {th->right}, from[1] = {th->left}, degree[1] = {1}, source[1] = {rank}, got = -1, tour = rank + th->t;
    for (int i = 0; i < 2; i++) {
        if (i)
            MPI_Dist_graph_create(th->own, 1, source, degree, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &d);
        else
            MPI_Dist_graph_create_adjacent(th->own, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &d);
        MPI_Dist_graph_neighbors_count(d, &nin, &nout, &weighted);
        SO(nin == 1 && nout == 1 && !weighted);
        MPI_Dist_graph_neighbors(d, 1, in, MPI_UNWEIGHTED, 1, out, MPI_UNWEIGHTED);
        SO(in[0] == th->left && out[0] == th->right);
        MPI_Neighbor_alltoall(&tour, 1, MPI_INT, &got, 1, MPI_INT, d);
        EQ(got, th->left + th->t);
        MPI_Comm_free(&d);
    }
}
