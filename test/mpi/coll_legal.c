/* coll_legal.c -- what members of a communicator may say differently in one collective, which is no mismatch: layouts of the same bytes, other
 * types, arguments that matter at the root alone, MPI_IN_PLACE, blocks of every length, calls that run ahead of others.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

#include <unistd.h>

enum { MOST = 20000 };
static int *a, *b, *s_counts, *s_places, *r_counts, *r_places;

static void fill(int *v, int n, int from)
{
    for (int i = 0; i < n; i++) v[i] = from + i;
}
static void holds(const int *v, int n, int from)
{
    for (int i = 0; i < n; i++) CHECK_EQ(v[i], from + i);
}

/* n ints in three ways: ints, bytes, one vector type. */
static MPI_Datatype way(int n, int *count_out)
{
    MPI_Datatype t;
    if (rank % 3 == 0) {
        *count_out = n;
        MPI_Type_dup(MPI_INT, &t);
    } else if (rank % 3 == 1) {
        *count_out = 4 * n;
        MPI_Type_dup(MPI_BYTE, &t);
    } else {
        *count_out = 1;
        MPI_Type_vector(n / 2, 2, 2, MPI_INT, &t);
    }
    MPI_Type_commit(&t);
    return t;
}

static void ways(MPI_Comm c, int n)
{
    int count;
    MPI_Datatype t = way(n, &count);
    for (int root = 0; root < size; root++) {
        if (rank == root) fill(a, n, root);
        if (rank != root) memset(a, 0, (size_t)n * sizeof *a);
        MPI_Bcast(a, count, t, root, c);
        holds(a, n, root);
    }
    if (n <= MOST / size) {
        fill(a, n, 1000 * rank);
        MPI_Allgather(a, count, t, b, n, MPI_INT, c);
        for (int i = 0; i < size; i++) holds(b + (long)i * n, n, 1000 * i);
        memset(b, 0, (size_t)MOST * sizeof *b);
        /* At the others the receive side is not looked at, and the other way round. */
        MPI_Gather(a, count, t, rank ? NULL : b, rank ? -7 : n, rank ? MPI_DATATYPE_NULL : MPI_INT, 0, c);
        for (int i = 0; rank == 0 && i < size; i++) holds(b + (long)i * n, n, 1000 * i);
        for (int i = 0; rank == 0 && i < size; i++) fill(b + (long)i * n, n, 77 * i);
        MPI_Scatter(rank ? NULL : b, rank ? -7 : n, rank ? MPI_DATATYPE_NULL : MPI_INT, a, count, t, 0, c);
        holds(a, n, 77 * rank);
        /* In place at the root alone. */
        fill(a, n, 1000 * rank);
        if (rank == 0) fill(b, n, 0);
        MPI_Gather(rank ? a : MPI_IN_PLACE, n, MPI_INT, b, n, MPI_INT, 0, c);
        for (int i = 0; rank == 0 && i < size; i++) holds(b + (long)i * n, n, 1000 * i);
    }
    MPI_Type_free(&t);
}

static void in_place(MPI_Comm c, int n)
{
    for (int i = 0; i < n; i++) a[i] = b[i] = rank + i;
    if (rank % 2)
        MPI_Allreduce(MPI_IN_PLACE, b, n, MPI_INT, MPI_SUM, c);
    else
        MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, c);
    for (int i = 0; i < n; i++) CHECK_EQ(b[i], size * (size - 1) / 2 + size * i);
    for (int i = 0; i < n; i++) a[i] = b[i] = rank + i;
    MPI_Reduce(rank == size - 1 ? MPI_IN_PLACE : a, b, n, MPI_INT, MPI_MAX, size - 1, c);
    for (int i = 0; rank == size - 1 && i < n; i++) CHECK_EQ(b[i], size - 1 + i);
    for (int i = 0; i < n; i++) a[i] = b[i] = rank + i;
    if (rank % 2)
        MPI_Scan(MPI_IN_PLACE, b, n, MPI_INT, MPI_SUM, c);
    else
        MPI_Scan(a, b, n, MPI_INT, MPI_SUM, c);
    for (int i = 0; i < n; i++) CHECK_EQ(b[i], rank * (rank + 1) / 2 + (rank + 1) * i);
}

/* Lengths that only two know, some of them 0, some beyond what goes through shared memory. */
static int length(int from, int to, int each) { return (from * 7 + to * 3) % 4 * each; }

static void vectors(MPI_Comm c, int each)
{
    int sent = 0, got = 0;
    for (int i = 0; i < size; i++) {
        s_counts[i] = length(rank, i, each), s_places[i] = sent, sent += s_counts[i];
        r_counts[i] = length(i, rank, each), r_places[i] = got, got += r_counts[i];
    }
    int *in = malloc(((size_t)sent + 1) * sizeof *in), *out = calloc((size_t)got + 1, sizeof *out);
    for (int i = 0; i < size; i++) fill(in + s_places[i], s_counts[i], 100 * rank + i);
    MPI_Alltoallv(in, s_counts, s_places, MPI_INT, out, r_counts, r_places, MPI_INT, c);
    for (int i = 0; i < size; i++) holds(out + r_places[i], r_counts[i], 100 * i + rank);
    free(in);
    free(out);
    for (int root = 0; root < size; root++) {
        int mine = length(rank, root, each), all = 0;
        for (int i = 0; i < size; i++) r_counts[i] = length(i, root, each), r_places[i] = all, all += r_counts[i];
        in = malloc(((size_t)mine + 1) * sizeof *in), out = calloc((size_t)all + 1, sizeof *out);
        fill(in, mine, 10 * rank);
        MPI_Gatherv(in, 4 * mine, MPI_BYTE, out, rank == root ? r_counts : NULL, rank == root ? r_places : NULL, MPI_INT, root, c);
        for (int i = 0; rank == root && i < size; i++) holds(out + r_places[i], r_counts[i], 10 * i);
        memset(in, 0, (size_t)mine * sizeof *in);
        MPI_Scatterv(out, rank == root ? r_counts : NULL, rank == root ? r_places : NULL, MPI_INT, in, 4 * mine, MPI_BYTE, root, c);
        holds(in, mine, 10 * rank);
        free(in);
        free(out);
    }
}

static void types(MPI_Comm c) /* of all-to-all, one for each pair */
{
    int sent[64], at[64], got[64], here[64];
    MPI_Datatype st[64], rt[64];
    for (int i = 0; i < size; i++) {
        sent[i] = 3, at[i] = 12 * i, st[i] = MPI_INT;
        got[i] = 12, here[i] = 12 * i, rt[i] = MPI_BYTE;
        fill(a + 3 * i, 3, 100 * rank + i);
    }
    MPI_Alltoallw(a, sent, at, st, b, got, here, rt, c);
    for (int i = 0; i < size; i++) holds(b + 3 * i, 3, 100 * i + rank);
}

/* Some are far ahead, or late; nobody waits for all. */
static void ahead(MPI_Comm c)
{
    int x = 0, all[64];
    for (int i = 0; i < 200; i++) {
        x = rank == 0 ? i : -1;
        MPI_Bcast(&x, 1, MPI_INT, 0, c);
        CHECK_EQ(x, i);
        if (i % 50 == rank) usleep(20000);
    }
    for (int i = 0; i < 200; i++) {
        x = 1000 * rank + i;
        MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, size - 1, c);
        for (int r = 0; rank == size - 1 && r < size; r++) CHECK_EQ(all[r], 1000 * r + i);
        if (i % 50 == rank) usleep(20000);
    }
}

/* The same context id again, other calls on it: nobody takes them for those of the communicator before. */
static void again(void)
{
    MPI_Comm d;
    int x;
    for (int i = 0; i < 30; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &d);
        if (rank == i % size && i % 3 == 0) usleep(8000);
        if (i % 2)
            MPI_Barrier(d);
        else
            MPI_Bcast(&x, 1, MPI_INT, 0, d);
        MPI_Comm_free(&d);
    }
}

/* Halves of the world call different things on communicators from one split. */
static void halves(void)
{
    MPI_Comm h;
    int x = rank, sum;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &h);
    for (int i = 0; i < 20; i++) {
        if (rank % 2)
            MPI_Barrier(h);
        else
            MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, h);
        if (rank == 0 && i == 10) usleep(30000);
    }
    MPI_Comm_free(&h);
}

/* A function of the program's own, an empty call, non-blocking ones in order, persistent ones. */
static void add(void *in, void *inout, int *n, MPI_Datatype *t)
{
    (void)t;
    for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}
static void others(MPI_Comm c)
{
    MPI_Op op;
    MPI_Request q[3];
    int x = rank, y = -1, z = -1, w = rank == 0 ? 5 : 0;
    if (rank % 2) MPI_Op_create(add, 1, &op), MPI_Op_free(&op);
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&x, &y, 1, MPI_INT, op, c);
    CHECK_EQ(y, size * (size - 1) / 2);
    MPI_Op_free(&op);
    MPI_Bcast(NULL, 0, rank % 2 ? MPI_INT : MPI_BYTE, 0, c);
    MPI_Iallreduce(&x, &z, 1, MPI_INT, MPI_MAX, c, &q[0]);
    MPI_Ibcast(&w, 1, MPI_INT, 0, c, &q[1]);
    MPI_Ibarrier(c, &q[2]);
    if (rank == size - 1) usleep(120000); /* the others wait long */
    for (int i = 2; i >= 0; i--) MPI_Wait(&q[i], MPI_STATUS_IGNORE);
    CHECK_EQ(z, size - 1);
    CHECK_EQ(w, 5);
    MPI_Bcast_init(&w, 1, MPI_INT, 0, c, MPI_INFO_NULL, &q[0]);
    MPI_Allreduce_init(&x, &z, 1, MPI_INT, MPI_MIN, c, MPI_INFO_NULL, &q[1]);
    for (int i = 0; i < 3; i++) {
        w = rank == 0 ? i : -1;
        if (rank % 2)
            MPI_Start(&q[1]), MPI_Start(&q[0]);
        else
            MPI_Startall(2, q);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        CHECK_EQ(w, i);
        CHECK_EQ(z, 0);
    }
    for (int i = 0; i < 2; i++) MPI_Request_free(&q[i]);
}

static void groups(void) /* an intercommunicator: one group gives, the other takes; the numbers of bytes are theirs */
{
    MPI_Comm h, inter;
    int left = rank < (size + 1) / 2, x = -1, root = left ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    if (size < 2) return;
    MPI_Comm_split(MPI_COMM_WORLD, left, rank, &h);
    MPI_Intercomm_create(h, 0, MPI_COMM_WORLD, left ? (size + 1) / 2 : 0, 9, &inter);
    for (int i = 0; i < 5; i++) {
        x = rank == 0 ? 31 + i : -1;
        MPI_Bcast(&x, rank == 0 || !left ? 1 : 0, MPI_INT, root, inter);
        if (!left) CHECK_EQ(x, 31 + i);
        MPI_Allgather(a, left ? 2 : 0, MPI_INT, b, left ? 0 : 2, MPI_INT, inter);
        MPI_Barrier(inter);
        if (rank == size - 1 && i == 2) usleep(120000);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&h);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {2, 14, 1024, MOST};
    MPI_Comm c;
    MPI_Init(&argc, &argv);
    test_begin();
    a = calloc(MOST + 64, sizeof *a), b = calloc(MOST + 64, sizeof *b);
    int *four = calloc(4 * (size_t)size, sizeof *four);
    s_counts = four, s_places = four + size, r_counts = four + 2 * size, r_places = four + 3 * size;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    for (int i = 0; i < 4; i++) ways(c, lengths[i]), in_place(c, lengths[i]);
    static const int blocks[] = {1, 3, 200, 5000};
    for (int i = 0; i < 4; i++) vectors(c, blocks[i]);
    if (size <= 64) types(c), ahead(c);
    again();
    halves();
    others(c);
    groups();
    MPI_Comm_free(&c);
    return test_end();
}
