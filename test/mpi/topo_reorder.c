/* topo_reorder.c -- reorder puts ranks that communicate near each other: on the machine of GODWIT_REORDER_MACHINE (as its help says), or on this one
 * with the ranks bound so that neighbours by rank are on different cores (argument "bind"), or not at all (argument "off").
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

#include <sched.h>

static int nodes = 1, packages = 1, off;

/* Where a rank of WORLD is: two numbers, the second within the first. */
static int node_of(int world) { return world % nodes; }
static int package_of(int world) { return node_of(world) * 1000 + world / nodes % packages; }

/* How many edges (by weight) of a ring or of a grid in 2 dimensions, over the ranks of c, leave the nodes, and the packages. */
static void crossing(MPI_Comm c, int *by_node, int *by_package)
{
    int n, world[64], ndims, dims[3], periods[3], at[3];
    MPI_Comm_size(c, &n);
    MPI_Allgather(&rank, 1, MPI_INT, world, 1, MPI_INT, c);
    MPI_Cartdim_get(c, &ndims);
    MPI_Cart_get(c, 3, dims, periods, at);
    *by_node = *by_package = 0;
    for (int r = 0; r < n; r++) {
        for (int d = 0; d < ndims; d++) {
            int peer;
            MPI_Cart_coords(c, r, 3, at);
            if (++at[d] == dims[d] && !periods[d]) continue;
            MPI_Cart_rank(c, at, &peer);
            *by_node += node_of(world[r]) != node_of(world[peer]);
            *by_package += package_of(world[r]) != package_of(world[peer]);
        }
    }
}

/* The grid with and without reordering: never more crosses, and no more than `best` of what crossed where that is known. */
static void grid(int ndims, int *dims, int periodic, int best)
{
    int periods[3] = {periodic, periodic, periodic}, n0, n1, p0, p1, me;
    MPI_Comm plain, ordered;
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &plain);
    CHECK_EQ(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 1, &ordered), MPI_SUCCESS);
    crossing(plain, &n0, &p0);
    crossing(ordered, &n1, &p1);
    CHECK(n1 < n0 || (n1 == n0 && p1 <= p0));
    if (best >= 0 && !off) CHECK_EQ(n1, best);
    MPI_Comm_rank(ordered, &me);
    if (off) CHECK_EQ(me, rank);
    MPI_Comm_free(&plain);
    MPI_Comm_free(&ordered);
}

static void grids(void)
{
    /* Each node's ranks become one stretch of a line or ring. */
    int line[1] = {size}, at_nodes = nodes < size ? nodes : size;
    grid(1, line, 0, at_nodes - 1);
    grid(1, line, 1, size == 1 || at_nodes == 1 ? 0 : at_nodes == 2 && size == 2 ? 2 : at_nodes);
    for (int periodic = 0; periodic < 2; periodic++) {
        int two[2] = {0, 0}, three[3] = {0, 0, 0};
        MPI_Dims_create(size, 2, two);
        grid(2, two, periodic, -1);
        MPI_Dims_create(size, 3, three);
        grid(3, three, periodic, -1);
    }
    int tall[2] = {size / 2, 2};
    if (nodes == 2 && size % 4 == 0) grid(2, tall, 0, 2); /* halves of the tall one */
}

/* Pairs (2i, 2i + 1) talk a lot, all others along a ring a little: pairs stay together.  The same as graph and distributed graph. */
static void pairs(int how)
{
    int partner = rank ^ 1, next = (rank + 1) % size, previous = (rank + size - 1) % size, n = partner < size ? 2 : 1, apart = 0,
        per[64] = {0};
    int to[3] = {next, partner}, from[3] = {previous, partner}, weights[3] = {1, 1000}, world[64], index[64], edges[128], m = 0, me;
    MPI_Comm c = MPI_COMM_NULL;
    if (how == 0) {
        CHECK_EQ(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, from, weights, n, to, weights, MPI_INFO_NULL, 1, &c),
                 MPI_SUCCESS);
    } else if (how == 1) {
        CHECK_EQ(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &n, to, weights, MPI_INFO_NULL, 1, &c), MPI_SUCCESS);
    } else {
        for (int i = 0; i < size; i++) {
            if ((i ^ 1) < size) edges[m++] = i ^ 1; /* pairs alone: these edges have no weights */
            index[i] = m;
        }
        CHECK_EQ(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 1, &c), MPI_SUCCESS);
    }
    MPI_Comm_rank(c, &me);
    if (off) CHECK_EQ(me, rank);
    MPI_Allgather(&rank, 1, MPI_INT, world, 1, MPI_INT, c);
    for (int i = 0; i + 1 < size; i += 2) apart += node_of(world[i]) != node_of(world[i + 1]);
    for (int i = 0; i < size; i++) per[node_of(i)]++;
    int left = 0;
    for (int i = 0; i < nodes; i++) left += per[i] % 2; /* nodes with an odd number of ranks have one left over */
    if (!off) CHECK_EQ(apart, (left - size % 2) / 2);
    if (how < 2) { /* the neighbours are those of my new rank */
        int in[3], inw[3], out[3], outw[3], nin, nout, w;
        MPI_Dist_graph_neighbors_count(c, &nin, &nout, &w);
        CHECK(nin == 1 + ((me ^ 1) < size) && nout == nin && w == 1);
        MPI_Dist_graph_neighbors(c, 3, in, inw, 3, out, outw);
        int ring = -1;
        for (int i = 0; i < nout; i++)
            if (outw[i] == 1) ring = out[i];
        CHECK_EQ(ring, (me + 1) % size);
        for (int i = 0; i < nin; i++) CHECK_EQ(in[i], inw[i] == 1 ? (me + size - 1) % size : me ^ 1);
    }
    MPI_Comm_free(&c);
}

/* The hardware threads of a cpu's core, as the kernel lists them. */
static void core_of(int cpu, char text[256])
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *f = fopen(path, "r");
    text[0] = 0;
    if (!f) return;
    if (!fgets(text, 256, f)) text[0] = 0;
    fclose(f);
}

/* Binds the even ranks to the first and the odd ones to the last core that we may use, which are then called nodes: 2, or 1 if that
 * cannot be or the kernel does not tell which core is which. */
static int bind_apart(void)
{
    cpu_set_t allowed, mine;
    char cores[2][256];
    int ends[2] = {-1, -1}, all = 0, ok = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    for (int i = 0; ok && i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &allowed)) continue;
        if (ends[0] < 0) ends[0] = i;
        ends[1] = i;
    }
    MPI_Bcast(ends, 2, MPI_INT, 0, MPI_COMM_WORLD);
    core_of(ends[0], cores[0]);
    core_of(ends[1], cores[1]);
    ok = ok && cores[0][0] && cores[1][0] && strcmp(cores[0], cores[1]) != 0 && CPU_ISSET(ends[rank % 2], &allowed);
    if (ok) {
        CPU_ZERO(&mine);
        CPU_SET(ends[rank % 2], &mine);
        ok = sched_setaffinity(0, sizeof mine, &mine) == 0;
    }
    MPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return all ? 2 : 1;
}

int main(int argc, char **argv)
{
    const char *machine = getenv("GODWIT_REORDER_MACHINE");
    MPI_Init(&argc, &argv);
    test_begin();
    off = argc > 1 && !strcmp(argv[1], "off");
    int cores = 0;
    if (machine && sscanf(machine, "%dx%dx%d", &nodes, &packages, &cores) != 3) return 2;
    if (argc > 1 && !strcmp(argv[1], "bind")) nodes = bind_apart();
    grids();
    for (int how = 0; how < 3; how++) pairs(how);
    return test_end();
}
