/* p2p_sendrecv.c -- combined send and receive in a ring, also in place and non-blocking, also with derived types and PROC_NULL.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

static void ring(int n)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    unsigned char *out = malloc((size_t)n + 1), *in = malloc((size_t)n + 1);
    MPI_Status s;
    pattern_fill(out, n, (unsigned)rank);
    memset(in, 0, (size_t)n + 1);
    MPI_Sendrecv(out, n, MPI_BYTE, right, 6, in, n + 1, MPI_BYTE, left, 6, MPI_COMM_WORLD, &s);
    CHECK_EQ(s.MPI_SOURCE, left);
    CHECK_EQ(count_of(&s), n);
    CHECK_EQ(pattern_wrong(in, n, (unsigned)left), -1);
    MPI_Sendrecv_replace(out, n, MPI_BYTE, right, 7, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &s);
    CHECK_EQ(s.MPI_SOURCE, left);
    CHECK_EQ(count_of(&s), n);
    CHECK_EQ(pattern_wrong(out, n, (unsigned)left), -1);
#if MPI_VERSION >= 4
    MPI_Request q;
    pattern_fill(out, n, (unsigned)rank + 50);
    memset(in, 0, (size_t)n + 1);
    MPI_Isendrecv(out, n, MPI_BYTE, right, 8, in, n + 1, MPI_BYTE, left, MPI_ANY_TAG, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, &s);
    CHECK_EQ(s.MPI_SOURCE, left);
    CHECK_EQ(s.MPI_TAG, 8);
    CHECK_EQ(count_of(&s), n);
    CHECK_EQ(pattern_wrong(in, n, (unsigned)left + 50), -1);
    MPI_Isendrecv_replace(out, n, MPI_BYTE, right, 9, left, 9, MPI_COMM_WORLD, &q);
    int flag = 0;
    while (!flag) MPI_Test(&q, &flag, &s);
    CHECK_EQ(s.MPI_SOURCE, left);
    CHECK_EQ(count_of(&s), n);
    CHECK_EQ(pattern_wrong(out, n, (unsigned)left + 50), -1);
#endif
    free(out);
    free(in);
}

/* In place on every second int; the ints between stay. */
static void strided(int n)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int *b = malloc((size_t)n * 2 * sizeof *b);
    MPI_Datatype t;
    MPI_Type_vector(n, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    for (int i = 0; i < 2 * n; i++) b[i] = rank * 1000000 + i;
    MPI_Sendrecv_replace(b, 1, t, right, 1, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * n; i++) CHECK_EQ(b[i], (i % 2 ? rank : left) * 1000000 + i);
#if MPI_VERSION >= 4
    MPI_Request q;
    MPI_Isendrecv_replace(b, 1, t, left, 2, right, 2, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * n; i++) CHECK_EQ(b[i], rank * 1000000 + i);
#endif
    MPI_Type_free(&t);
    free(b);
}

/* A line instead of a ring: the ends talk to nobody. */
static void line(void)
{
    int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int v = rank, w = -1;
    MPI_Status s;
    MPI_Sendrecv(&v, 1, MPI_INT, right, 1, &w, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &s);
    CHECK_EQ(w, rank - 1 >= 0 ? rank - 1 : -1);
    CHECK_EQ(s.MPI_SOURCE, left);
    if (left == MPI_PROC_NULL) CHECK_EQ(s.MPI_TAG, MPI_ANY_TAG);
    MPI_Sendrecv_replace(&v, 1, MPI_INT, right, 2, left, 2, MPI_COMM_WORLD, &s);
    CHECK_EQ(v, left == MPI_PROC_NULL ? rank : left);
#if MPI_VERSION >= 4
    MPI_Request q;
    v = rank, w = -1;
    MPI_Isendrecv(&v, 1, MPI_INT, right, 3, &w, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, &s);
    CHECK_EQ(w, rank - 1 >= 0 ? rank - 1 : -1);
    CHECK_EQ(s.MPI_SOURCE, left);
#endif
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    static const int sizes[] = {0, 4, 40, 41, 3000, 20000, 300000, 1500000};
    for (int i = 0; i < 8; i++) ring(sizes[i]);
    strided(10);
    strided(1000);
    strided(50000);
    line();
    return test_end();
}
