/* type_messages.c -- derived types in messages and collectives: what leaves one layout arrives in another, holes untouched.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "p2p_check.h"

enum { N = 24 }; /* side of the matrices */

static int value(int who, int i, int j) { return who * 1000000 + i * 1000 + j; }

static MPI_Datatype commit_and_free(MPI_Datatype made, MPI_Datatype *part)
{
    if (part) MPI_Type_free(part); /* the made type keeps it */
    MPI_Type_commit(&made);
    return made;
}

/* ---- a matrix sent by rows and received by columns, in every pair of ways to say it ------------------------------------- */
/* The whole matrix in column order. */
static MPI_Datatype columns(int how)
{
    MPI_Datatype col, t, step;
    MPI_Aint at[N];
    int one[N], element[N];
    switch (how) {
    case 0: /* N columns, one int apart */
        MPI_Type_vector(N, 1, N, MPI_INT, &col);
        MPI_Type_create_hvector(N, 1, sizeof(int), col, &t);
        return commit_and_free(t, &col);
    case 1: /* a column that is as wide as an int */
        MPI_Type_vector(N, 1, N, MPI_INT, &col);
        MPI_Type_create_resized(col, 0, sizeof(int), &step);
        MPI_Type_free(&col);
        MPI_Type_contiguous(N, step, &t);
        return commit_and_free(t, &step);
    case 2: /* a list of columns */
        MPI_Type_create_hvector(N, 1, N * sizeof(int), MPI_INT, &col);
        for (int j = 0; j < N; j++) at[j] = j * (MPI_Aint)sizeof(int);
        MPI_Type_create_hindexed_block(N, 1, at, col, &t);
        return commit_and_free(t, &col);
    case 3: /* columns as lists of elements */
        for (int i = 0; i < N; i++) one[i] = 1, element[i] = i * N;
        MPI_Type_indexed(N, one, element, MPI_INT, &col);
        MPI_Type_create_resized(col, 0, sizeof(int), &step);
        MPI_Type_free(&col);
        MPI_Type_create_indexed_block(1, N, (int[]){0}, step, &t);
        return commit_and_free(t, &step);
    default: { /* a struct of subarrays */
        MPI_Datatype cols[N];
        for (int j = 0; j < N; j++) {
            int sizes[2] = {N, N}, sub[2] = {N, 1}, start[2] = {0, j};
            MPI_Type_create_subarray(2, sizes, sub, start, MPI_ORDER_C, MPI_INT, &cols[j]);
            one[j] = 1, at[j] = 0;
        }
        MPI_Type_create_struct(N, one, at, cols, &t);
        for (int j = 0; j < N; j++) MPI_Type_free(&cols[j]);
        return commit_and_free(t, NULL);
    }
    }
}
enum { HOWS = 5 };

static void transpose(void)
{
    static int a[N][N], b[N][N];
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) a[i][j] = value(rank, i, j);
    for (int how = 0; how < HOWS; how++) {
        MPI_Datatype col = columns(how), other = columns((how + 2) % HOWS);
        int bytes, count = -1;
        MPI_Type_size(col, &bytes);
        CHECK_EQ(bytes, (int)sizeof a);
        MPI_Status s;
        /* rows out, columns in */
        memset(b, -1, sizeof b);
        CHECK_EQ(MPI_Sendrecv(a, N * N, MPI_INT, to, how, b, 1, col, from, how, MPI_COMM_WORLD, &s), MPI_SUCCESS);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) CHECK_EQ(b[i][j], value(from, j, i));
        MPI_Get_count(&s, col, &count);
        CHECK_EQ(count, 1);
        MPI_Get_elements(&s, col, &count);
        CHECK_EQ(count, N * N);
        /* columns out, other columns in: the matrix itself */
        memset(b, -1, sizeof b);
        CHECK_EQ(MPI_Sendrecv(a, 1, col, to, how, b, 1, other, from, how, MPI_COMM_WORLD, &s), MPI_SUCCESS);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) CHECK_EQ(b[i][j], value(from, i, j));
        /* a short message into a long layout: the first columns only */
        memset(b, -1, sizeof b);
        CHECK_EQ(MPI_Sendrecv(a, 3 * N, MPI_INT, to, how, b, 1, col, from, how, MPI_COMM_WORLD, &s), MPI_SUCCESS);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) CHECK_EQ(b[i][j], j < 3 ? value(from, j, i) : -1);
        MPI_Get_count(&s, col, &count);
        CHECK_EQ(count, MPI_UNDEFINED);
        MPI_Get_elements(&s, col, &count);
        CHECK_EQ(count, 3 * N);
        /* broadcast: rows at the root, columns elsewhere */
        memset(b, -1, sizeof b);
        if (rank == 0)
            MPI_Bcast(a, N * N, MPI_INT, 0, MPI_COMM_WORLD);
        else
            MPI_Bcast(b, 1, col, 0, MPI_COMM_WORLD);
        for (int i = 0; rank && i < N; i++)
            for (int j = 0; j < N; j++) CHECK_EQ(b[i][j], value(0, j, i));
        MPI_Type_free(&other);
        MPI_Type_free(&col);
    }
}

/* ---- structs with gaps, as C lays them out ---------------------------------------------------------------------------------- */
struct particle {
    char kind;
    double x[3];
    short id;
    float charge;
    long cell;
};

static MPI_Datatype particle_type(void)
{
    struct particle p;
    int len[5] = {1, 3, 1, 1, 1};
    MPI_Datatype types[5] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_FLOAT, MPI_LONG}, t;
    MPI_Aint at[5], base, extent, lb;
    MPI_Get_address(&p, &base);
    MPI_Get_address(&p.kind, &at[0]);
    MPI_Get_address(&p.x, &at[1]);
    MPI_Get_address(&p.id, &at[2]);
    MPI_Get_address(&p.charge, &at[3]);
    MPI_Get_address(&p.cell, &at[4]);
    for (int i = 0; i < 5; i++) at[i] = MPI_Aint_diff(at[i], base);
    MPI_Type_create_struct(5, len, at, types, &t);
    MPI_Type_get_extent(t, &lb, &extent);
    CHECK(lb == 0 && extent == sizeof p);
    return commit_and_free(t, NULL);
}

static struct particle particle_of(int who, int i)
{
    struct particle p;
    memset(&p, 0, sizeof p);
    p.kind = (char)(who + i), p.x[0] = who, p.x[1] = i, p.x[2] = who * i, p.id = (short)(who * 100 + i);
    p.charge = (float)i / 2, p.cell = (long)who << 40 | i;
    return p;
}
static int same_particle(const struct particle *a, const struct particle *b)
{
    return a->kind == b->kind && !memcmp(a->x, b->x, sizeof a->x) && a->id == b->id && a->charge == b->charge && a->cell == b->cell;
}

static void particles(void)
{
    enum { MANY = 2000 };
    MPI_Datatype t = particle_type();
    struct particle *out = malloc(MANY * sizeof *out), *in = malloc(MANY * sizeof *in), p, hole;
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int i = 0; i < MANY; i++) out[i] = particle_of(rank, i);
    for (int n = 1; n <= MANY; n = n * 5 + 1) {
        MPI_Request q[2];
        memset(in, 0x5a, MANY * sizeof *in);
        MPI_Irecv(in, n, t, from, n, MPI_COMM_WORLD, &q[0]);
        MPI_Isend(out, n, t, to, n, MPI_COMM_WORLD, &q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++) {
            p = particle_of(from, i);
            CHECK(same_particle(&in[i], &p));
        }
        memset(&hole, 0x5a, sizeof hole); /* the bytes between members stay */
        CHECK(!memcmp((char *)&in[0] + 1, (char *)&hole + 1, offsetof(struct particle, x) - 1));
    }
    /* Gather, at different places in the root's array (the last rank first). */
    int *counts = malloc(sizeof *counts * (size_t)size), *at = malloc(sizeof *at * (size_t)size), root = size - 1;
    for (int r = 0; r < size; r++) counts[r] = 3 + r % 4, at[r] = (size - 1 - r) * 7;
    struct particle *all = calloc((size_t)size * 7, sizeof *all);
    CHECK_EQ(MPI_Gatherv(out, counts[rank], t, all, counts, at, t, root, MPI_COMM_WORLD), MPI_SUCCESS);
    for (int r = 0; rank == root && r < size; r++)
        for (int i = 0; i < 7; i++) {
            struct particle want = particle_of(r, i), nothing = {0};
            CHECK(same_particle(&all[at[r] + i], i < counts[r] ? &want : &nothing));
        }
    free(all), free(at), free(counts), free(in), free(out);
    MPI_Type_free(&t);
}

/* ---- a distributed array: darrays of all ranks together are the whole; subarrays exchange halos -------------------------------- */
static void distributed(void)
{
    enum { ROWS = 13, COLS = 17 };
    static int whole[ROWS][COLS];
    int dims[2] = {0, 0}, p = 1;
    while ((p + 1) * (p + 1) <= size) p++;
    while (size % p) p--;
    dims[0] = p, dims[1] = size / p;
    int gsizes[2] = {ROWS, COLS};
    int dists[3][2] = {{MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK},
                       {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
                       {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC}};
    int args[3][2] = {{MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, {2, MPI_DISTRIBUTE_DFLT_DARG}, {3, 1}};
    for (int k = 0; k < 6; k++) {
        int order = k % 2 ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
        MPI_Datatype mine, t;
        int bytes, n = 0;
        MPI_Aint lb, extent;
        MPI_Type_create_darray(size, rank, 2, gsizes, dists[k / 2], args[k / 2], dims, order, MPI_INT, &mine);
        MPI_Type_commit(&mine);
        MPI_Type_get_extent(mine, &lb, &extent);
        CHECK(lb == 0 && extent == sizeof whole);
        MPI_Type_size(mine, &bytes);
        int *part = malloc((size_t)bytes + 4), total = 0;
        for (int i = 0; i < bytes / 4; i++) part[i] = rank * 1000 + i;
        MPI_Allreduce(&bytes, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(total, (int)sizeof whole); /* each element has one owner */
        MPI_Request q;
        MPI_Isend(part, bytes / 4, MPI_INT, 0, k, MPI_COMM_WORLD, &q);
        memset(whole, -1, sizeof whole);
        for (int r = 0; rank == 0 && r < size; r++) {
            MPI_Type_create_darray(size, r, 2, gsizes, dists[k / 2], args[k / 2], dims, order, MPI_INT, &t);
            MPI_Type_commit(&t);
            MPI_Recv(whole, 1, t, r, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Type_free(&t);
        }
        int next[64] = {0};
        for (int i = 0; rank == 0 && i < ROWS * COLS; i++) { /* each rank's elements lie in the order of memory */
            int v = ((int *)whole)[i], who = v / 1000;
            CHECK(v >= 0 && who < size && who < 64);
            if (v >= 0 && who < 64) CHECK_EQ(v % 1000, next[who]++);
            n++;
        }
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        free(part);
        MPI_Type_free(&mine);
    }
}

/* Each rank's rows become columns: MPI_Alltoallw with a subarray for every peer. */
static void alltoallw(void)
{
    int n = 3, side = n * size, *a = malloc(sizeof *a * (size_t)(n * side)), *b = malloc(sizeof *b * (size_t)(n * side));
    int *ones = malloc(sizeof *ones * (size_t)size), *zeros = calloc((size_t)size, sizeof *zeros);
    MPI_Datatype *out = malloc(sizeof(MPI_Datatype) * (size_t)size), *in = malloc(sizeof(MPI_Datatype) * (size_t)size);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < side; j++) a[i * side + j] = value(0, rank * n + i, j), b[i * side + j] = -1;
    for (int r = 0; r < size; r++) {
        int sizes[2] = {n, side}, sub[2] = {n, n}, start[2] = {0, r * n};
        MPI_Datatype col, step;
        ones[r] = 1;
        MPI_Type_create_subarray(2, sizes, sub, start, MPI_ORDER_C, MPI_INT, &out[r]);
        MPI_Type_commit(&out[r]);
        MPI_Type_vector(n, 1, side, MPI_INT, &col); /* a square, received by columns */
        MPI_Type_create_hvector(n, 1, sizeof(int), col, &step);
        MPI_Type_free(&col);
        MPI_Aint at = r * n * (MPI_Aint)sizeof(int);
        MPI_Type_create_hindexed_block(1, 1, &at, step, &in[r]);
        MPI_Type_free(&step);
        MPI_Type_commit(&in[r]);
    }
    CHECK_EQ(MPI_Alltoallw(a, ones, zeros, out, b, ones, zeros, in, MPI_COMM_WORLD), MPI_SUCCESS);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < side; j++) CHECK_EQ(b[i * side + j], value(0, j, rank * n + i));
    for (int r = 0; r < size; r++) MPI_Type_free(&out[r]), MPI_Type_free(&in[r]);
    free(in), free(out), free(zeros), free(ones), free(b), free(a);
}

/* ---- packed messages ------------------------------------------------------------------------------------------------------------ */
static void packed(void)
{
    char buf[400];
    int at = 0, n = -1, four[4] = {0}, to = (rank + 1) % size, from = (rank + size - 1) % size, need;
    double x = rank + 0.25, y = 0;
    MPI_Datatype evens;
    MPI_Type_vector(4, 1, 2, MPI_INT, &evens);
    MPI_Type_commit(&evens);
    int eight[8] = {rank, -1, rank + 1, -1, rank + 2, -1, rank + 3, -1}, spread[8];
    MPI_Pack_size(1, evens, MPI_COMM_WORLD, &need);
    CHECK(need >= 16);
    CHECK_EQ(MPI_Pack(&x, 1, MPI_DOUBLE, buf, sizeof buf, &at, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(MPI_Pack(eight, 1, evens, buf, sizeof buf, &at, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(MPI_Pack(&rank, 1, MPI_INT, buf, sizeof buf, &at, MPI_COMM_WORLD), MPI_SUCCESS);
    /* Packed data may be received as the types that it holds, and typed data as packed. */
    MPI_Status s;
    char got[400];
    MPI_Sendrecv(buf, at, MPI_PACKED, to, 1, got, sizeof got, MPI_PACKED, from, 1, MPI_COMM_WORLD, &s);
    MPI_Get_count(&s, MPI_PACKED, &n);
    CHECK_EQ(n, at);
    int pos = 0;
    memset(spread, -1, sizeof spread);
    MPI_Unpack(got, n, &pos, &y, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Unpack(got, n, &pos, spread, 1, evens, MPI_COMM_WORLD);
    MPI_Unpack(got, n, &pos, four, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(pos == n && y == from + 0.25 && four[0] == from);
    for (int i = 0; i < 8; i++) CHECK_EQ(spread[i], i % 2 ? -1 : from + i / 2);
    at = 0;
    MPI_Pack(eight, 1, evens, buf, sizeof buf, &at, MPI_COMM_WORLD);
    MPI_Sendrecv(buf, at, MPI_PACKED, to, 2, four, 4, MPI_INT, from, 2, MPI_COMM_WORLD, &s);
    for (int i = 0; i < 4; i++) CHECK_EQ(four[i], from + i);
    MPI_Type_free(&evens);
}

/* ---- absolute addresses, and a type that is freed while its message is under way -------------------------------------------------- */
static void bottom(void)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size, a = rank, c = -1;
    double b = rank * 1.5, d = -1;
    MPI_Datatype out, in, types[2] = {MPI_INT, MPI_DOUBLE};
    int ones[2] = {1, 1};
    MPI_Aint at[2];
    MPI_Get_address(&a, &at[0]);
    MPI_Get_address(&b, &at[1]);
    MPI_Type_create_struct(2, ones, at, types, &out);
    MPI_Get_address(&c, &at[0]);
    MPI_Get_address(&d, &at[1]);
    MPI_Type_create_struct(2, ones, at, types, &in);
    MPI_Type_commit(&out);
    MPI_Type_commit(&in);
    MPI_Request q;
    MPI_Irecv(MPI_BOTTOM, 1, in, from, 0, MPI_COMM_WORLD, &q);
    MPI_Type_free(&in);
    MPI_Send(MPI_BOTTOM, 1, out, to, 0, MPI_COMM_WORLD);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(c == from && d == from * 1.5);
    MPI_Type_free(&out);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    transpose();
    particles();
    distributed();
    alltoallw();
    packed();
    bottom();
    return test_end();
}
