/* p2p_self.c -- messages of a rank to itself: every size, all modes, MPI_COMM_SELF, derived types, synchronous ones.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

static void one(MPI_Comm c, int me, int n, int is_sync, int is_late)
{
    unsigned char *out = malloc((size_t)n + 1), *in = malloc((size_t)n + 1);
    MPI_Request r, s;
    MPI_Status st;
    pattern_fill(out, n, (unsigned)n);
    memset(in, 0xee, (size_t)n + 1);
    if (!is_late) MPI_Irecv(in, n + 1, MPI_BYTE, me, 3, c, &r);
    if (is_sync)
        MPI_Issend(out, n, MPI_BYTE, me, 3, c, &s);
    else
        MPI_Isend(out, n, MPI_BYTE, me, 3, c, &s);
    if (is_late) {
        int flag = 1;
        if (is_sync) {
            MPI_Test(&s, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
        }
        MPI_Irecv(in, n + 1, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, c, &r);
    }
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Wait(&r, &st);
    CHECK_EQ(st.MPI_SOURCE, me);
    CHECK_EQ(st.MPI_TAG, 3);
    CHECK_EQ(count_of(&st), n);
    CHECK_EQ(pattern_wrong(in, n, (unsigned)n), -1);
    CHECK_EQ(in[n], 0xee);
    free(out);
    free(in);
}

/* From a strided buffer into another one of itself. */
static void strided(int n)
{
    int *b = malloc((size_t)n * 4 * sizeof *b);
    MPI_Datatype t;
    MPI_Request q;
    MPI_Type_vector(n, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    for (int i = 0; i < 4 * n; i++) b[i] = i;
    MPI_Irecv(b + 1, 1, t, rank, 4, MPI_COMM_WORLD, &q);
    MPI_Send(b + 2 * n, 1, t, rank, 4, MPI_COMM_WORLD);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(b[2 * i + 1], 2 * n + 2 * i);
        CHECK_EQ(b[2 * i], 2 * i);
    }
    MPI_Type_free(&t);
    free(b);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    static const int sizes[] = {0, 1, 40, 41, 5000, 16384, 16385, 100000, 262144, 2000000};
    for (int i = 0; i < 10; i++)
        for (int k = 0; k < 4; k++) {
            one(MPI_COMM_WORLD, rank, sizes[i], k & 1, k >> 1);
            one(MPI_COMM_SELF, 0, sizes[i], k & 1, k >> 1);
        }
    strided(10);
    strided(3000);
    strided(200000);
    int v = 5, w = 6;
    MPI_Sendrecv(&v, 1, MPI_INT, rank, 1, &w, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(w, 5);
    MPI_Sendrecv_replace(&v, 1, MPI_INT, 0, 1, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK_EQ(v, 5);
    return test_end();
}
