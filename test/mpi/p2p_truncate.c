/* p2p_truncate.c -- a message longer than its receive: the error, the status; the sender and later messages are not affected.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

static void check_error(int rc)
{
    int class = -1;
    MPI_Error_class(rc, &class);
    CHECK_EQ(class, MPI_ERR_TRUNCATE);
}

static void one(int bytes, int room, int mode, int posted)
{
    int partner = rank ^ 1;
    if (partner >= size) return;
    unsigned char *b = malloc((size_t)bytes + 1);
    if (rank & 1) {
        pattern_fill(b, bytes, 3);
        if (posted) MPI_Recv(NULL, 0, MPI_BYTE, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Request q = MPI_REQUEST_NULL;
        if (mode == 0) CHECK_EQ(MPI_Send(b, bytes, MPI_BYTE, partner, 5, MPI_COMM_WORLD), MPI_SUCCESS);
        if (mode == 1) CHECK_EQ(MPI_Ssend(b, bytes, MPI_BYTE, partner, 5, MPI_COMM_WORLD), MPI_SUCCESS);
        if (mode == 2) MPI_Isend(b, bytes, MPI_BYTE, partner, 5, MPI_COMM_WORLD, &q);
        CHECK_EQ(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS);
        MPI_Send(&bytes, 1, MPI_INT, partner, 5, MPI_COMM_WORLD);
    } else {
        MPI_Status s;
        int after = -1, rc;
        memset(b, 0xee, (size_t)bytes + 1);
        if (posted) {
            MPI_Request q;
            MPI_Irecv(b, room, MPI_BYTE, partner, 5, MPI_COMM_WORLD, &q);
            MPI_Send(NULL, 0, MPI_BYTE, partner, 1, MPI_COMM_WORLD);
            rc = MPI_Wait(&q, &s);
        } else {
            rc = MPI_Recv(b, room, MPI_BYTE, partner, 5, MPI_COMM_WORLD, &s);
        }
        check_error(rc);
        CHECK_EQ(s.MPI_SOURCE, partner);
        CHECK_EQ(s.MPI_TAG, 5);
        for (int i = room; i <= bytes; i++) CHECK_EQ(b[i], 0xee); /* not a byte too far */
        CHECK_EQ(MPI_Recv(&after, 1, MPI_INT, partner, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_EQ(after, bytes);
    }
    free(b);
}

/* One bad of three in a waitall; a persistent receive that fails once and then works. */
static void several(void)
{
    int partner = rank ^ 1, v[3] = {1, 2, 3};
    if (partner >= size) return;
    if (rank & 1) {
        MPI_Send(v, 1, MPI_INT, partner, 1, MPI_COMM_WORLD);
        MPI_Send(v, 3, MPI_INT, partner, 2, MPI_COMM_WORLD);
        MPI_Send(v, 1, MPI_INT, partner, 3, MPI_COMM_WORLD);
        MPI_Send(v, 3, MPI_INT, partner, 4, MPI_COMM_WORLD);
        MPI_Send(v, 1, MPI_INT, partner, 4, MPI_COMM_WORLD);
        return;
    }
    MPI_Request q[3], p;
    MPI_Status s[3];
    int w[3] = {0, 0, 0}, class;
    for (int i = 0; i < 3; i++) MPI_Irecv(&w[i], 1, MPI_INT, partner, i + 1, MPI_COMM_WORLD, &q[i]);
    CHECK_EQ(MPI_Waitall(3, q, s), MPI_ERR_IN_STATUS);
    CHECK_EQ(s[0].MPI_ERROR, MPI_SUCCESS);
    MPI_Error_class(s[1].MPI_ERROR, &class);
    CHECK_EQ(class, MPI_ERR_TRUNCATE);
    CHECK(s[2].MPI_ERROR == MPI_SUCCESS || s[2].MPI_ERROR == MPI_ERR_PENDING);
    CHECK_EQ(MPI_Wait(&q[2], MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(w[0], 1);
    CHECK_EQ(w[2], 1);
    MPI_Recv_init(w, 1, MPI_INT, partner, 4, MPI_COMM_WORLD, &p);
    MPI_Start(&p);
    MPI_Error_class(MPI_Wait(&p, MPI_STATUS_IGNORE), &class);
    CHECK_EQ(class, MPI_ERR_TRUNCATE);
    MPI_Start(&p);
    CHECK_EQ(MPI_Wait(&p, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Request_free(&p);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    static const int sizes[][2] = {{16, 4},     {16, 0},           {1, 0},           {5000, 4999}, {20000, 40}, {100000, 99999},
                                   {100000, 0}, {1000000, 300001}, {1000000, 999999}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int mode = 0; mode < 3; mode++)
            for (int posted = 0; posted < 2; posted++) one(sizes[i][0], sizes[i][1], mode, posted);
    several();
    return test_end();
}
