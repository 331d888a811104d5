/* traffic.c -- a program for test/system/observe.py: ranks exchange data in a pattern, by one way of communication.
 * `traffic PATTERN WAY`: PATTERN is a grid such as 4x4, or 4x4o where its edges meet, random, dense, or none (ranks only compute and meet);
 * WAY is isend, start, send, sendrecv, parts, neighbor, graph, put, get, rput or accumulate; with a third word, the first quarter of the ranks
 * computes before; `traffic none twice`: in two steps, not ten.
 * `traffic late CALL`: all wait for rank 0 in Recv, Waitall, Bcast, Allgather, Gatherv, or Win_fence.
 * TRAFFIC_TIMES in the environment: who computes long does so that many times as long.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = 4, PEERS = 64, BYTES = 1000, PARTS = 4, STEPS = 10 };
static int rank, ranks, peers[PEERS], n_peers;
static double times = 1;
static char out[PEERS][BYTES], in[PEERS][BYTES];

static void add(int peer)
{
    for (int i = 0; i < n_peers; i++)
        if (peers[i] == peer) return;
    if (peer != rank && n_peers < PEERS) peers[n_peers++] = peer;
}

static MPI_Comm grid(const char *text)
{
    int dims[DIMS], periods[DIMS], n = 0;
    MPI_Comm cart;
    for (const char *at = text; n < DIMS; at++) {
        dims[n++] = (int)strtol(at, (char **)&at, 10);
        if (*at != 'x') break;
    }
    for (int d = 0; d < n; d++) periods[d] = strchr(text, 'o') != NULL;
    MPI_Cart_create(MPI_COMM_WORLD, n, dims, periods, 0, &cart);
    for (int d = 0; d < n; d++) {
        int a, b;
        MPI_Cart_shift(cart, d, 1, &a, &b);
        if (a != MPI_PROC_NULL) add(a);
        if (b != MPI_PROC_NULL) add(b);
    }
    return cart;
}

/* Both ends must know of it: links are drawn alike by all ranks. */
static void random_links(void)
{
    unsigned x = 12345;
    for (int i = 0; i < 3 * ranks; i++) {
        x = x * 1103515245 + 12345;
        int a = (int)(x >> 16) % ranks;
        x = x * 1103515245 + 12345;
        int b = (int)(x >> 16) % ranks;
        if (a == rank) add(b);
        if (b == rank) add(a);
    }
}

static void by_messages(const char *way)
{
    MPI_Request q[2 * PEERS];
    int start = strcmp(way, "start") == 0, blocking = strcmp(way, "send") == 0, both = strcmp(way, "sendrecv") == 0,
        parts = strcmp(way, "parts") == 0;
    for (int s = 0; s < STEPS; s++) {
        for (int i = 0; i < n_peers; i++)
            if (parts)
                MPI_Precv_init(in[i], PARTS, BYTES / PARTS, MPI_CHAR, peers[i], 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[i]);
            else
                MPI_Irecv(in[i], BYTES, MPI_CHAR, peers[i], 1, MPI_COMM_WORLD, &q[i]);
        if (parts) MPI_Startall(n_peers, q);
        for (int i = 0; i < n_peers; i++)
            if (parts)
                MPI_Psend_init(out[i], PARTS, BYTES / PARTS, MPI_CHAR, peers[i], 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[n_peers + i]);
            else if (start)
                MPI_Send_init(out[i], BYTES, MPI_CHAR, peers[i], 1, MPI_COMM_WORLD, &q[n_peers + i]);
            else if (both) /* what comes is for the receives above */
                MPI_Sendrecv(out[i], BYTES, MPI_CHAR, peers[i], 1, NULL, 0, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE),
                    q[n_peers + i] = MPI_REQUEST_NULL;
            else if (!blocking)
                MPI_Isend(out[i], BYTES, MPI_CHAR, peers[i], 1, MPI_COMM_WORLD, &q[n_peers + i]);
            else
                MPI_Send(out[i], BYTES, MPI_CHAR, peers[i], 1, MPI_COMM_WORLD), q[n_peers + i] = MPI_REQUEST_NULL;
        if (start || parts) MPI_Startall(n_peers, q + n_peers);
        for (int i = 0; parts && i < n_peers; i++) MPI_Pready_range(0, PARTS - 1, q[n_peers + i]);
        MPI_Waitall(2 * n_peers, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 2 * n_peers; i++) /* those that were prepared */
            if (parts || (start && i >= n_peers)) MPI_Request_free(&q[i]);
    }
}

static void by_neighbors(MPI_Comm comm, int in_dims)
{
    char *from = calloc(PEERS, BYTES), *to = calloc(PEERS, BYTES);
    int counts[PEERS], displs[PEERS];
    MPI_Comm graph = comm;
    MPI_Request q;
    for (int i = 0; i < PEERS; i++) counts[i] = BYTES, displs[i] = i * BYTES;
    if (!in_dims)
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n_peers, peers, MPI_UNWEIGHTED, n_peers, peers, MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &graph);
    for (int s = 0; s < STEPS - 2; s++) MPI_Neighbor_alltoall(from, BYTES, MPI_CHAR, to, BYTES, MPI_CHAR, graph);
    MPI_Ineighbor_alltoallv(from, counts, displs, MPI_CHAR, to, counts, displs, MPI_CHAR, graph, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Neighbor_allgather_init(from, BYTES, MPI_CHAR, to, BYTES, MPI_CHAR, graph, MPI_INFO_NULL, &q);
    MPI_Start(&q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Request_free(&q);
    if (!in_dims) MPI_Comm_free(&graph);
    free(from), free(to);
}

static void by_window(const char *way)
{
    int fetch = strcmp(way, "get") == 0, adds = strcmp(way, "accumulate") == 0, requests = strcmp(way, "rput") == 0;
    char *base;
    MPI_Request q;
    MPI_Win win;
    MPI_Win_allocate((MPI_Aint)ranks * BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (int s = 0; s < STEPS; s++) {
        if (requests)
            MPI_Win_lock_all(0, win);
        else
            MPI_Win_fence(0, win);
        for (int i = 0; i < n_peers; i++) {
            MPI_Aint at = (MPI_Aint)rank * BYTES;
            if (fetch)
                MPI_Get(in[i], BYTES, MPI_CHAR, peers[i], at, BYTES, MPI_CHAR, win);
            else if (adds)
                MPI_Accumulate(out[i], BYTES, MPI_SIGNED_CHAR, peers[i], at, BYTES, MPI_SIGNED_CHAR, MPI_SUM, win);
            else if (requests)
                MPI_Rput(out[i], BYTES, MPI_CHAR, peers[i], at, BYTES, MPI_CHAR, win, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
            else
                MPI_Put(out[i], BYTES, MPI_CHAR, peers[i], at, BYTES, MPI_CHAR, win);
        }
        if (requests)
            MPI_Win_unlock_all(win);
        else
            MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    }
    MPI_Win_free(&win);
}

/* Rank 0 comes late to a call in which all others wait for it; to MPI_Gatherv all but the root. */
static void late(const char *call)
{
    int x = rank, all[PEERS], counts[PEERS], displs[PEERS];
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Win win;
    for (int i = 0; i < PEERS; i++) counts[i] = 1, displs[i] = i;
    MPI_Win_create(all, sizeof all, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    int is_late = strcmp(call, "Gatherv") ? rank == 0 : rank != ranks - 1; /* whose root waits alone */
    for (double t = MPI_Wtime(); is_late && MPI_Wtime() - t < .2 * times;) continue;
    if (!strcmp(call, "Recv") || !strcmp(call, "Waitall")) {
        for (int r = 1; rank == 0 && r < ranks; r++) MPI_Send(&x, 1, MPI_INT, r, 1, MPI_COMM_WORLD);
        if (rank && *call == 'R') MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank && *call == 'W') MPI_Irecv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &q);
        if (*call == 'W') MPI_Waitall(1, &q, MPI_STATUSES_IGNORE);
    }
    if (!strcmp(call, "Bcast")) MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!strcmp(call, "Allgather")) MPI_Allgather(&x, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    if (!strcmp(call, "Gatherv")) MPI_Gatherv(&x, 1, MPI_INT, all, counts, displs, MPI_INT, ranks - 1, MPI_COMM_WORLD);
    if (!strcmp(call, "Win_fence")) MPI_Win_fence(0, win), MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
}

/* The first quarter of the ranks has most to do in each step; collectives take what time is left. */
static void compute(int steps)
{
    double seconds = rank < ranks / 4 ? .15 * times : .002;
    static char block[64 * 512];
    static char all[64 * 512];
    for (int s = 0; s < steps; s++) {
        double t = MPI_Wtime();
        while (MPI_Wtime() - t < seconds / steps) continue;
        if (ranks <= 64) MPI_Alltoall(block, 512, MPI_CHAR, all, 512, MPI_CHAR, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const char *pattern = argc > 1 ? argv[1] : "4x4", *way = argc > 2 ? argv[2] : "isend";
    MPI_Comm cart = MPI_COMM_NULL;
    if (getenv("TRAFFIC_TIMES")) times = atof(getenv("TRAFFIC_TIMES"));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (*pattern >= '0' && *pattern <= '9') cart = grid(pattern);
    if (strcmp(pattern, "random") == 0) random_links();
    for (int r = 0; r < ranks && strcmp(pattern, "dense") == 0; r++) add(r);
    if (strcmp(pattern, "none") == 0 || argc > 3) compute(strcmp(way, "twice") == 0 ? 2 : STEPS);
    if (strcmp(way, "neighbor") == 0)
        by_neighbors(cart, 1);
    else if (strcmp(way, "graph") == 0)
        by_neighbors(MPI_COMM_NULL, 0);
    else if (strcmp(pattern, "late") == 0)
        late(way);
    else if (strcmp(way, "put") == 0 || strcmp(way, "get") == 0 || strcmp(way, "rput") == 0 || strcmp(way, "accumulate") == 0)
        by_window(way);
    else
        by_messages(way); /* of pattern none: no peers, no messages */
    if (cart != MPI_COMM_NULL) MPI_Comm_free(&cart);
    MPI_Finalize();
    return 0;
}
