/* coll_nodes.c -- every collective on ranks of several nodes, in the order of nodes and across it, blocking and not; by words of
 * the command line, which algorithms must have been chosen, as MPI_T counts them; `vectors`: those of
 * MPI_Allgatherv and MPI_Alltoallv, each time.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "counters_check.h"

static MPI_Comm comm;
static int p, me;
static int *in, *out, *counts, *places;

static int value(int from, int to, int i) { return from * 10007 + to * 101 + i; }
static void fill(int *at, int n, int from, int to)
{
    for (int i = 0; i < n; i++) at[i] = value(from, to, i);
}
static void check(const int *at, int n, int from, int to)
{
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += at[i] != value(from, to, i);
    CHECK_EQ(wrong, 0);
}
static int sum(int first, int end, int to, int i)
{
    int x = 0;
    for (int r = first; r < end; r++) x += value(r, to, i);
    return x;
}
static void check_sum(const int *at, int n, int first, int end, int to)
{
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += at[i] != sum(first, end, to, i);
    CHECK_EQ(wrong, 0);
}
static void wipe(void) { memset(out, 0xff, (size_t)(p + 1) * 5000 * sizeof *out); }
static int uneven(int n, int r) { return n * (r % 3) + r; }
static void layout(int n)
{
    int at = 0;
    for (int r = p - 1; r >= 0; r--) {
        counts[r] = uneven(n, r), places[r] = at;
        at += counts[r] + 1;
    }
}

static void rooted(int n, int root)
{
    fill(out, n, me == root ? root : -1, 0);
    MPI_Bcast(out, n, MPI_INT, root, comm);
    check(out, n, root, 0);
    wipe();
    fill(in, n, me, 0);
    MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, root, comm);
    if (me == root) check_sum(out, n, 0, p, 0);
    wipe();
    MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, root, comm);
    for (int r = 0; r < p && me == root; r++) check(out + r * n, n, r, 0);
    for (int r = 0; r < p; r++) fill(in + r * n, n, root, r);
    wipe();
    MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, root, comm);
    check(out, n, root, me);
}

static void started_gather(int n, int root)
{
    MPI_Request q;
    fill(in, n, me, 0);
    wipe();
    MPI_Igather(in, n, MPI_INT, out, n, MPI_INT, root, comm, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    for (int r = 0; r < p && me == root; r++) check(out + r * n, n, r, 0);
    for (int i = n; i < n * p && me != root; i++) CHECK_EQ(out[i], -1);
    if (me == root) {
        fill(out + me * n, n, me, 1);
        MPI_Igather(MPI_IN_PLACE, 0, MPI_INT, out, n, MPI_INT, root, comm, &q);
    } else {
        fill(in, n, me, 1);
        MPI_Igather(in, n, MPI_INT, NULL, 0, MPI_INT, root, comm, &q);
    }
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    for (int r = 0; r < p && me == root; r++) check(out + r * n, n, r, 1);
}

static void vectors(int n, int root, int waits)
{
    MPI_Request q;
    layout(n);
    fill(in, counts[me], me, 0);
    wipe();
    if (waits) {
        MPI_Igatherv(in, counts[me], MPI_INT, out, counts, places, MPI_INT, root, comm, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    } else {
        MPI_Gatherv(in, counts[me], MPI_INT, out, counts, places, MPI_INT, root, comm);
    }
    for (int r = 0; r < p && me == root; r++) check(out + places[r], counts[r], r, 0);
    wipe();
    MPI_Allgatherv(in, counts[me], MPI_INT, out, counts, places, MPI_INT, comm);
    for (int r = 0; r < p; r++) check(out + places[r], counts[r], r, 0);
    for (int r = 0; r < p; r++) fill(in + places[r], counts[r], root, r);
    wipe();
    if (waits) {
        MPI_Iscatterv(in, counts, places, MPI_INT, out, counts[me], MPI_INT, root, comm, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    } else {
        MPI_Scatterv(in, counts, places, MPI_INT, out, counts[me], MPI_INT, root, comm);
    }
    check(out, counts[me], root, me);
}

static void everybody(int n)
{
    fill(in, n, me, 0);
    wipe();
    MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm);
    check_sum(out, n, 0, p, 0);
    wipe();
    MPI_Scan(in, out, n, MPI_INT, MPI_SUM, comm);
    check_sum(out, n, 0, me + 1, 0);
    wipe();
    MPI_Exscan(in, out, n, MPI_INT, MPI_SUM, comm);
    if (me > 0) check_sum(out, n, 0, me, 0);
    wipe();
    MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, comm);
    for (int r = 0; r < p; r++) check(out + r * n, n, r, 0);
    for (int r = 0; r < p; r++) fill(in + r * n, n, me, r);
    wipe();
    MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, comm);
    for (int r = 0; r < p; r++) check(out + r * n, n, r, me);
    wipe();
    MPI_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, comm);
    check_sum(out, n, 0, p, me);
    MPI_Request q[2];
    int *second = out + n;
    fill(in, n, me, 0);
    wipe();
    fill(second, n, me == p - 1 ? me : -1, 0);
    MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, comm, &q[0]);
    MPI_Ibcast(second, n, MPI_INT, p - 1, comm, &q[1]);
    MPI_Barrier(comm);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    check_sum(out, n, 0, p, 0);
    check(second, n, p - 1, 0);
}

static void all_on(MPI_Comm c, int how_many)
{
    static const int lengths[] = {1, 100, 5000};
    comm = c;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    for (int k = 0; k < how_many; k++) {
        rooted(lengths[k], (p - 1) * k / 2);
        everybody(lengths[k]);
        started_gather(lengths[k], (p - 1) * k / 2);
        vectors(k == 2 ? 1500 : lengths[k], (p - 1) * k / 2, k == 1);
    }
}

/* MPI_Allgatherv goes by nodes as MPI_Allgather does, unless it is switched off; MPI_Alltoallv has as many messages under way as it may. */
static void vectors_by_nodes(int n, MPI_T_pvar_handle by_nodes, MPI_T_pvar_handle pairwise)
{
    enum { TIMES = 5 };
    unsigned long long gathers = counted(by_nodes), all = counted(pairwise);
    comm = MPI_COMM_WORLD, p = size, me = rank;
    layout(n);
    for (int t = 0; t < TIMES; t++) {
        fill(in, counts[me], me, t);
        wipe();
        MPI_Allgatherv(in, counts[me], MPI_INT, out, counts, places, MPI_INT, comm);
        for (int r = 0; r < p; r++) check(out + places[r], counts[r], r, t);
        for (int r = 0; r < p; r++) counts[r] = n, places[r] = r * (n + 1), fill(in + places[r], n, me, r + t);
        wipe();
        MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm);
        for (int r = 0; r < p; r++) check(out + places[r], n, r, me + t);
        layout(n);
    }
    CHECK_EQ(counted(by_nodes) - gathers, getenv("MPICH_COLL_OPT_OFF") ? 0 : TIMES);
    CHECK_EQ(counted(pairwise) - all, TIMES);
}

int main(int argc, char **argv)
{
    enum { MOST = 8 };
    MPI_T_pvar_handle chosen[MOST];
    MPI_Init(&argc, &argv);
    test_begin();
    counters_begin();
    int has_vectors = argc > 1 && strcmp(argv[argc - 1], "vectors") == 0;
    argc -= has_vectors;
    for (int i = 1; i < argc && i < MOST; i++) chosen[i] = counter(argv[i], MPI_T_PVAR_CLASS_COUNTER);
    size_t room = (size_t)(size + 1) * 5000 * sizeof(int);
    in = malloc(room), out = malloc(room);
    counts = malloc((size_t)size * sizeof *counts), places = malloc((size_t)size * sizeof *places);
    all_on(MPI_COMM_WORLD, 3);
    MPI_Comm mixed; /* ranks that are neighbours in it are not so on their nodes */
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank % 2 * size + rank, &mixed);
    all_on(mixed, 2);
    MPI_Comm_free(&mixed);
    if (has_vectors)
        vectors_by_nodes(100, counter("coll_allgather_levels", MPI_T_PVAR_CLASS_COUNTER),
                         counter("coll_alltoallv_pairwise", MPI_T_PVAR_CLASS_COUNTER));
    for (int i = 1; i < argc && i < MOST; i++)
        if (counted(chosen[i]) == 0 && failures++ < 20) fprintf(stderr, "rank %d: %s was never chosen\n", rank, argv[i]);
    counters_end();
    free(in), free(out), free(counts), free(places);
    return test_end();
}
