/* p2p_persistent.c -- persistent requests of all modes: many starts, changed data, freeing, states that must fail.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

enum { MAX = 400000 };
static unsigned char *out, *in;

static void many(int n, int mode)
{
    int partner = rank ^ 1;
    if (partner >= size) return;
    MPI_Request q[2];
    MPI_Recv_init(in, n, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &q[0]);
    if (mode == 0) MPI_Send_init(out, n, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &q[1]);
    if (mode == 1) MPI_Ssend_init(out, n, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &q[1]);
    if (mode == 2) MPI_Bsend_init(out, n, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &q[1]);
    if (mode == 3) MPI_Rsend_init(out, n, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &q[1]);
    MPI_Status s[2];
    int flag;
    /* Inactive: wait and test answer at once with an empty status. */
    CHECK_EQ(MPI_Waitall(2, q, s), MPI_SUCCESS);
    CHECK_EQ(s[0].MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(s[0].MPI_TAG, MPI_ANY_TAG);
    CHECK_EQ(count_of(&s[0]), 0);
    MPI_Test(&q[0], &flag, &s[0]);
    CHECK(flag);
    for (int i = 0; i < 40; i++) {
        pattern_fill(out, n, (unsigned)(i + rank));
        memset(in, 0xee, (size_t)n);
        if (mode == 3) { /* ready: the receive must stand first */
            MPI_Start(&q[0]);
            MPI_Sendrecv(NULL, 0, MPI_BYTE, partner, 3, NULL, 0, MPI_BYTE, partner, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Start(&q[1]);
        } else {
            MPI_Startall(2, q);
        }
        if (i % 3 == 0) {
            CHECK_EQ(MPI_Waitall(2, q, s), MPI_SUCCESS);
        } else if (i % 3 == 1) {
            do MPI_Testall(2, q, &flag, s);
            while (!flag);
        } else {
            int index, seen[2] = {0, 0};
            MPI_Status one;
            for (int k = 0; k < 2; k++) {
                MPI_Waitany(2, q, &index, &one);
                CHECK(index == 0 || index == 1);
                seen[index]++;
                s[index] = one;
            }
            CHECK(seen[0] == 1 && seen[1] == 1);
            MPI_Waitany(2, q, &index, &one);
            CHECK_EQ(index, MPI_UNDEFINED);
        }
        CHECK(q[0] != MPI_REQUEST_NULL && q[1] != MPI_REQUEST_NULL);
        CHECK_EQ(s[0].MPI_SOURCE, partner);
        CHECK_EQ(count_of(&s[0]), n);
        CHECK_EQ(pattern_wrong(in, n, (unsigned)(i + partner)), -1);
    }
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
    CHECK(q[0] == MPI_REQUEST_NULL);
}

/* The type and the communicator are freed at once; the request keeps them.  Freed while active: it still happens. */
static void lives(void)
{
    int partner = rank ^ 1, v[6] = {0}, w[6] = {1, 2, 3, 4, 5, 6};
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    if (partner < size) {
        MPI_Datatype t;
        MPI_Request q[2];
        MPI_Type_vector(3, 1, 2, MPI_INT, &t);
        MPI_Type_commit(&t);
        MPI_Recv_init(v, 1, t, partner, 1, c, &q[0]);
        MPI_Send_init(w, 1, t, partner, 1, c, &q[1]);
        MPI_Type_free(&t);
        MPI_Startall(2, q);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        CHECK(v[0] == 1 && v[1] == 0 && v[2] == 3 && v[3] == 0 && v[4] == 5);
        MPI_Start(&q[1]);
        MPI_Request_free(&q[1]);
        memset(v, 0, sizeof v);
        MPI_Start(&q[0]);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        CHECK(v[0] == 1 && v[2] == 3 && v[4] == 5);
        MPI_Request_free(&q[0]);
    }
    MPI_Comm_free(&c);
}

static void procnull(void)
{
    int v = 7;
    MPI_Request q[2];
    MPI_Status s[2];
    MPI_Recv_init(&v, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &q[0]);
    MPI_Send_init(&v, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &q[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, q);
        MPI_Waitall(2, q, s);
        CHECK_EQ(s[0].MPI_SOURCE, MPI_PROC_NULL);
        CHECK_EQ(s[0].MPI_TAG, MPI_ANY_TAG);
        CHECK_EQ(count_of(&s[0]), 0);
        CHECK_EQ(v, 7);
    }
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    out = malloc(MAX);
    in = malloc(MAX);
    int bytes = 4 * MAX;
    void *buffer = malloc((size_t)bytes);
    MPI_Buffer_attach(buffer, bytes);
    static const int sizes[] = {0, 8, 1000, 20000, 400000};
    for (int i = 0; i < 5; i++)
        for (int mode = 0; mode < 4; mode++) many(sizes[i], mode);
    lives();
    procnull();
    MPI_Buffer_detach(&buffer, &bytes);
    free(buffer);
    free(out);
    free(in);
    return test_end();
}
