/* p2p_order.c -- message order and wildcards: what one sender sends is received in that order, whatever protocols carry it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

enum { MESSAGES = 300, MAX = 300000 };

/* Sizes change from message to message, so that protocols do. */
static int size_of(int from, int i)
{
    static const int some[] = {4, 40, 48, 9000, 17000, 70000, 300000, 12, 100, 5000};
    return some[(from * 3 + i * 7) % 10];
}
static void message_fill(int *b, int from, int i)
{
    pattern_fill(b, size_of(from, i), (unsigned)(from * 1000 + i));
    b[0] = i;
}
static void message_check(int *b, int from, int i, const MPI_Status *s)
{
    CHECK_EQ(b[0], i);
    CHECK_EQ(count_of(s), size_of(from, i));
    int first;
    pattern_fill(&first, 4, (unsigned)(from * 1000 + i));
    b[0] = first;
    CHECK_EQ(pattern_wrong(b, size_of(from, i), (unsigned)(from * 1000 + i)), -1);
}

/* Everybody sends to rank 0 (itself included, later), which takes whatever comes. */
static void any_source(int any_tag)
{
    int *b = malloc(MAX), *next = calloc((size_t)size, sizeof *next);
    if (rank != 0) {
        for (int i = 0; i < MESSAGES; i++) {
            message_fill(b, rank, i);
            MPI_Send(b, size_of(rank, i), MPI_BYTE, 0, any_tag ? i % 5 : 9, MPI_COMM_WORLD);
        }
    } else {
        for (int k = 0; k < MESSAGES * (size - 1); k++) {
            MPI_Status s;
            MPI_Recv(b, MAX, MPI_BYTE, MPI_ANY_SOURCE, any_tag ? MPI_ANY_TAG : 9, MPI_COMM_WORLD, &s);
            int from = s.MPI_SOURCE, i = next[from]++;
            CHECK_EQ(s.MPI_TAG, any_tag ? i % 5 : 9);
            message_check(b, from, i, &s);
        }
    }
    free(b);
    free(next);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Non-blocking on both sides; receives of one tag must be filled in posting order. */
static void posted_order(int wild)
{
    enum { N = 60 };
    int partner = rank ^ 1;
    if (partner < size) {
        MPI_Request q[2 * N];
        MPI_Status s[2 * N];
        int *in[N], *out[N];
        for (int i = 0; i < N; i++) {
            in[i] = malloc(MAX);
            out[i] = malloc(MAX);
            message_fill(out[i], rank, i);
            MPI_Irecv(in[i], MAX, MPI_BYTE, wild & 1 ? MPI_ANY_SOURCE : partner, wild & 2 ? MPI_ANY_TAG : 3, MPI_COMM_WORLD, &q[i]);
        }
        for (int i = 0; i < N; i++) MPI_Isend(out[i], size_of(rank, i), MPI_BYTE, partner, 3, MPI_COMM_WORLD, &q[N + i]);
        MPI_Waitall(2 * N, q, s);
        for (int i = 0; i < N; i++) {
            message_check(in[i], partner, i, &s[i]);
            free(in[i]);
            free(out[i]);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* An exact receive posted after a wildcard one gets only what the wildcard one does not take, and the reverse. */
static void wildcard_first(void)
{
    if (rank == 1) {
        for (int i = 0; i < 3; i++) MPI_Send(&i, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    } else if (rank == 0) {
        int v[3] = {-1, -1, -1};
        MPI_Request q[3];
        MPI_Irecv(&v[0], 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &q[0]);
        MPI_Irecv(&v[1], 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &q[1]);
        MPI_Irecv(&v[2], 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &q[2]);
        MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 3; i++) CHECK_EQ(v[i], i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Thousands of receives answered in reverse order. */
static void reverse_tags(void)
{
    enum { N = 8192 };
    int partner = rank ^ 1;
    if (partner < size) {
        MPI_Request *q = malloc(N * sizeof *q);
        int *v = malloc(N * sizeof *v);
        for (int i = 0; i < N; i++) MPI_Irecv(&v[i], 1, MPI_INT, partner, i, MPI_COMM_WORLD, &q[i]);
        MPI_Sendrecv(NULL, 0, MPI_INT, partner, N, NULL, 0, MPI_INT, partner, N, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = N - 1; i >= 0; i--) MPI_Send(&i, 1, MPI_INT, partner, i, MPI_COMM_WORLD);
        MPI_Waitall(N, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++) CHECK_EQ(v[i], i);
        free(q);
        free(v);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    any_source(0);
    any_source(1);
    for (int wild = 0; wild < 4; wild++) posted_order(wild);
    if (size > 1) wildcard_first();
    reverse_tags();
    return test_end();
}
