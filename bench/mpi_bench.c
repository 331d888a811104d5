/* mpi_bench.c -- times the MPI library it is compiled with; bench/compare builds it with each library and compares.
 *
 *     mpi_bench p2p | rate | coll | stream | icoll | allgather | neighbor | small
 *
 * prints lines "name size microseconds" (rank 0): the best of the batches.
 *
 * Buffers rotate through 8 copies for payloads up to 64 KiB, so that they are not always hot in the same lines.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 15, MAX_BYTES = 4 << 20, ROTATE = 8 };
static int rank, ranks;
static char *sbuf, *rbuf;
static int *counts, *displs;

static int batch_size(int bytes)
{
    int n = bytes <= 1024 ? 1000 : bytes <= 65536 ? 200 : 20;
    return ranks > 8 ? n / 20 + 2 : n;
}
static char *at(char *base, int i, int bytes) { return base + (bytes <= 65536 ? (size_t)(i % ROTATE) * 65536 * 8 : 0); }

typedef void step_fn(int i, int bytes);

static void ping_pong(int i, int bytes)
{
    if (rank == 0) {
        MPI_Send(at(sbuf, i, bytes), bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(at(rbuf, i, bytes), bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(at(rbuf, i, bytes), bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(at(sbuf, i, bytes), bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

/* 64 messages one way, then one answer: microseconds per message. */
static void window(int i, int bytes)
{
    enum { W = 64 };
    MPI_Request q[W];
    (void)i;
    if (rank > 1) return;
    for (int k = 0; k < W; k++) {
        if (rank == 0)
            MPI_Isend(sbuf, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &q[k]);
        else
            MPI_Irecv(rbuf, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &q[k]);
    }
    MPI_Waitall(W, q, MPI_STATUSES_IGNORE);
    if (rank == 0)
        MPI_Recv(rbuf, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(sbuf, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
}

static void barrier(int i, int bytes) { (void)i, (void)bytes, MPI_Barrier(MPI_COMM_WORLD); }
static void bcast(int i, int bytes) { MPI_Bcast(at(rbuf, i, bytes), bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }
static void allreduce(int i, int bytes)
{
    MPI_Allreduce(at(sbuf, i, bytes), at(rbuf, i, bytes), bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void alltoall(int i, int bytes)
{
    MPI_Alltoall(at(sbuf, i, bytes), bytes, MPI_BYTE, at(rbuf, i, bytes), bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static void allgather(int i, int bytes)
{
    MPI_Allgather(at(sbuf, i, bytes), bytes, MPI_BYTE, at(rbuf, i, bytes), bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static void reduce_scatter_block(int i, int bytes)
{
    MPI_Reduce_scatter_block(at(sbuf, i, bytes), at(rbuf, i, bytes), bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void gather(int i, int bytes)
{
    MPI_Gather(at(sbuf, i, bytes), bytes, MPI_BYTE, at(rbuf, i, bytes), bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void scatter(int i, int bytes)
{
    MPI_Scatter(at(sbuf, i, bytes), bytes, MPI_BYTE, at(rbuf, i, bytes), bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void reduce(int i, int bytes)
{
    MPI_Reduce(at(sbuf, i, bytes), at(rbuf, i, bytes), bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}
static void gatherv(int i, int bytes)
{
    for (int k = 0; k < ranks; k++) counts[k] = bytes, displs[k] = k * bytes;
    MPI_Gatherv(at(sbuf, i, bytes), bytes, MPI_BYTE, at(rbuf, i, bytes), counts, displs, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD); /* else ranks run ahead of the root */
}

/* Non-blocking ones: call and wait. */
static void await(MPI_Request *q) { MPI_Wait(q, MPI_STATUS_IGNORE); }
static void ibarrier(int i, int bytes)
{
    MPI_Request q;
    (void)i, (void)bytes;
    MPI_Ibarrier(MPI_COMM_WORLD, &q);
    await(&q);
}
static void ibcast(int i, int bytes)
{
    MPI_Request q;
    MPI_Ibcast(at(rbuf, i, bytes), bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &q);
    await(&q);
}
static void iallreduce(int i, int bytes)
{
    MPI_Request q;
    MPI_Iallreduce(at(sbuf, i, bytes), at(rbuf, i, bytes), bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &q);
    await(&q);
}
static void ialltoall(int i, int bytes)
{
    MPI_Request q;
    MPI_Ialltoall(at(sbuf, i, bytes), bytes, MPI_BYTE, at(rbuf, i, bytes), bytes, MPI_BYTE, MPI_COMM_WORLD, &q);
    await(&q);
}
static void iallgather(int i, int bytes)
{
    MPI_Request q;
    MPI_Iallgather(at(sbuf, i, bytes), bytes, MPI_BYTE, at(rbuf, i, bytes), bytes, MPI_BYTE, MPI_COMM_WORLD, &q);
    await(&q);
}

static void time_it(const char *name, step_fn *step, int bytes, double per_step)
{
    int n = batch_size(bytes);
    double best = 1e30;
    for (int b = -1; b < BATCHES; b++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double t = MPI_Wtime();
        for (int i = 0; i < n; i++) step(i, bytes);
        t = (MPI_Wtime() - t) / n / per_step * 1e6;
        MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (b >= 0 && t < best) best = t;
    }
    if (!rank) printf("%s %d %.4f\n", name, bytes, best), fflush(stdout);
}

static void run_p2p(void)
{
    static const int sizes[] = {0, 8, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 4194304};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) time_it("latency", ping_pong, sizes[i], 2);
    for (size_t i = 4; i < sizeof sizes / sizeof *sizes; i++) time_it("window", window, sizes[i], 64);
}

static void run_coll(void)
{
    static const struct {
        const char *name;
        step_fn *fn;
    } table[] = {{"bcast", bcast},
                 {"allreduce", allreduce},
                 {"alltoall", alltoall},
                 {"allgather", allgather},
                 {"reduce_scatter_block", reduce_scatter_block},
                 {"gatherv", gatherv}};
    static const int sizes[] = {8, 1024, 65536, 1048576};
    time_it("barrier", barrier, 0, 1);
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) time_it(table[k].name, table[k].fn, sizes[i], 1);
}

/* Calls in which some ranks may run ahead of others, one after the other. */
static void run_stream(void)
{
    static const struct {
        const char *name;
        step_fn *fn;
    } table[] = {{"bcast", bcast},         {"gather", gather},       {"scatter", scatter},  {"reduce", reduce},
                 {"allreduce", allreduce}, {"allgather", allgather}, {"alltoall", alltoall}};
    time_it("barrier", barrier, 0, 1);
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        for (int bytes = 8; bytes <= 512; bytes *= 64) time_it(table[k].name, table[k].fn, bytes, 1);
}

static void run_icoll(void)
{
    static const struct {
        const char *name;
        step_fn *fn;
    } table[] = {{"ibcast", ibcast}, {"iallreduce", iallreduce}, {"ialltoall", ialltoall}, {"iallgather", iallgather}};
    static const int sizes[] = {8, 1024, 65536, 1048576};
    time_it("ibarrier", ibarrier, 0, 1);
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) time_it(table[k].name, table[k].fn, sizes[i], 1);
}

/* Each rank and its four neighbours of a periodic grid (all the same ones twice, on 2 x 2). */
static MPI_Comm grid;
static void neighbor_alltoall(int i, int bytes)
{
    MPI_Neighbor_alltoall(at(sbuf, i, bytes), bytes, MPI_BYTE, at(rbuf, i, bytes), bytes, MPI_BYTE, grid);
}
static void neighbor_allgather(int i, int bytes)
{
    MPI_Neighbor_allgather(at(sbuf, i, bytes), bytes, MPI_BYTE, at(rbuf, i, bytes), bytes, MPI_BYTE, grid);
}
static void ineighbor_alltoall(int i, int bytes)
{
    MPI_Request r;
    MPI_Ineighbor_alltoall(at(sbuf, i, bytes), bytes, MPI_BYTE, at(rbuf, i, bytes), bytes, MPI_BYTE, grid, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void run_neighbor(void)
{
    static const int sizes[] = {8, 1024, 65536, 1048576};
    int dims[2] = {0, 0}, periods[2] = {1, 1};
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        time_it("neighbor_alltoall", neighbor_alltoall, sizes[i], 1);
        time_it("neighbor_allgather", neighbor_allgather, sizes[i], 1);
        time_it("ineighbor_alltoall", ineighbor_alltoall, sizes[i], 1);
    }
    MPI_Comm_free(&grid);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *what = argc > 1 ? argv[1] : "p2p";
    size_t bytes = (size_t)MAX_BYTES * (ranks <= 8 ? ranks : 1) + ROTATE * 65536 * 8;
    sbuf = malloc(bytes), rbuf = malloc(bytes);
    counts = malloc(sizeof(int) * ranks), displs = malloc(sizeof(int) * ranks);
    if (!sbuf || !rbuf || !counts || !displs) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(sbuf, 1, bytes), memset(rbuf, 2, bytes);
    if (!strcmp(what, "p2p"))
        run_p2p();
    else if (!strcmp(what, "rate"))
        time_it("rate", window, 8, 64);
    else if (!strcmp(what, "coll"))
        run_coll();
    else if (!strcmp(what, "stream"))
        run_stream();
    else if (!strcmp(what, "allgather"))
        for (int bytes = 8; bytes <= 1 << 20; bytes *= 8) time_it("allgather", allgather, bytes, 1);
    else if (!strcmp(what, "icoll"))
        run_icoll();
    else if (!strcmp(what, "neighbor"))
        run_neighbor();
    else if (!strcmp(what, "small")) /* many ranks on few cores */
        time_it("barrier", barrier, 0, 1), time_it("allreduce", allreduce, 8, 1);
    free(sbuf), free(rbuf), free(counts), free(displs);
    MPI_Finalize();
    return 0;
}
