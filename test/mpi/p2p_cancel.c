/* p2p_cancel.c -- cancelling receives and sends; whatever happens, the wait ends and data is either all there or not sent.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

/* A receive that nothing matches is cancelled; the next message goes to the next receive. */
static void receives(void)
{
    int partner = rank ^ 1, v = -1, w = rank, flag;
    if (partner >= size) return;
    MPI_Request q;
    MPI_Status s;
    MPI_Irecv(&v, 1, MPI_INT, partner, 3, MPI_COMM_WORLD, &q);
    MPI_Cancel(&q);
    CHECK_EQ(MPI_Wait(&q, &s), MPI_SUCCESS);
    MPI_Test_cancelled(&s, &flag);
    CHECK(flag);
    CHECK(q == MPI_REQUEST_NULL);
    /* Nobody sends with tag 3 before both have cancelled. */
    MPI_Sendrecv(NULL, 0, MPI_INT, partner, 5, NULL, 0, MPI_INT, partner, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&w, 1, MPI_INT, partner, 3, &v, 1, MPI_INT, partner, 3, MPI_COMM_WORLD, &s);
    CHECK_EQ(v, partner);
    MPI_Test_cancelled(&s, &flag);
    CHECK(!flag);
    /* A receive that is complete already. */
    MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &q);
    MPI_Send(&w, 1, MPI_INT, partner, 4, MPI_COMM_WORLD);
    MPI_Sendrecv(NULL, 0, MPI_INT, partner, 5, NULL, 0, MPI_INT, partner, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Cancel(&q);
    MPI_Wait(&q, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(!flag);
    CHECK_EQ(v, partner);
}

/* Sends of n bytes that are never received; then one that is received before the cancel, then ordinary ones. */
static void sends(int n, int is_sync)
{
    int partner = rank ^ 1, flag;
    if (partner >= size) return;
    unsigned char *b = malloc((size_t)n + 1);
    MPI_Request q;
    MPI_Status s;
    if (rank & 1) {
        int was_cancelled;
        pattern_fill(b, n, 1);
        if (is_sync)
            MPI_Issend(b, n, MPI_BYTE, partner, 6, MPI_COMM_WORLD, &q);
        else
            MPI_Isend(b, n, MPI_BYTE, partner, 6, MPI_COMM_WORLD, &q);
        MPI_Cancel(&q);
        CHECK_EQ(MPI_Wait(&q, &s), MPI_SUCCESS);
        MPI_Test_cancelled(&s, &was_cancelled);
        if (is_sync || n > 2000000) CHECK(was_cancelled);
        MPI_Send(&was_cancelled, 1, MPI_INT, partner, 7, MPI_COMM_WORLD);
        /* Matched first: the partner says so. */
        pattern_fill(b, n, 2);
        MPI_Issend(b, n, MPI_BYTE, partner, 8, MPI_COMM_WORLD, &q);
        MPI_Recv(NULL, 0, MPI_BYTE, partner, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Cancel(&q);
        MPI_Wait(&q, &s);
        MPI_Test_cancelled(&s, &flag);
        CHECK(!flag);
    } else {
        int was_cancelled;
        MPI_Recv(&was_cancelled, 1, MPI_INT, partner, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Iprobe(partner, 6, MPI_COMM_WORLD, &flag, &s);
        CHECK_EQ(flag, !was_cancelled);
        if (!was_cancelled) {
            MPI_Recv(b, n, MPI_BYTE, partner, 6, MPI_COMM_WORLD, &s);
            CHECK_EQ(pattern_wrong(b, n, 1), -1);
        }
        MPI_Recv(b, n, MPI_BYTE, partner, 8, MPI_COMM_WORLD, &s);
        CHECK_EQ(pattern_wrong(b, n, 2), -1);
        MPI_Send(NULL, 0, MPI_BYTE, partner, 9, MPI_COMM_WORLD);
    }
    free(b);
}

/* Cancel races with the receive: both sides must agree. */
static void race(int n)
{
    int partner = rank ^ 1, flag;
    if (partner >= size) return;
    unsigned char *b = malloc((size_t)n + 1);
    for (int i = 0; i < 200; i++) {
        MPI_Request q;
        MPI_Status s;
        if (rank & 1) {
            pattern_fill(b, n, (unsigned)i);
            MPI_Issend(b, n, MPI_BYTE, partner, 10, MPI_COMM_WORLD, &q);
            for (int k = 0; k < i; k++) MPI_Iprobe(partner, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            MPI_Cancel(&q);
            MPI_Wait(&q, &s);
            MPI_Test_cancelled(&s, &flag);
            MPI_Send(&flag, 1, MPI_INT, partner, 11, MPI_COMM_WORLD);
            MPI_Recv(NULL, 0, MPI_BYTE, partner, 13, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE); /* the next one must not meet this receive */
        } else {
            int sender_flag;
            memset(b, 0, (size_t)n);
            MPI_Irecv(b, n, MPI_BYTE, partner, 10, MPI_COMM_WORLD, &q);
            MPI_Recv(&sender_flag, 1, MPI_INT, partner, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (sender_flag) MPI_Cancel(&q);
            MPI_Wait(&q, &s);
            MPI_Test_cancelled(&s, &flag);
            CHECK_EQ(flag, sender_flag);
            if (!flag) CHECK_EQ(pattern_wrong(b, n, (unsigned)i), -1);
            MPI_Send(NULL, 0, MPI_BYTE, partner, 13, MPI_COMM_WORLD);
        }
    }
    free(b);
}

static void persistent(void)
{
    int partner = rank ^ 1, v = -1, w = 5, flag;
    if (partner >= size) return;
    MPI_Request q;
    MPI_Status s;
    MPI_Recv_init(&v, 1, MPI_INT, partner, 12, MPI_COMM_WORLD, &q);
    MPI_Start(&q);
    MPI_Cancel(&q);
    MPI_Wait(&q, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(flag);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, partner, 14, NULL, 0, MPI_BYTE, partner, 14, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE); /* both cancelled */
    MPI_Start(&q);
    MPI_Send(&w, 1, MPI_INT, partner, 12, MPI_COMM_WORLD);
    MPI_Wait(&q, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(!flag);
    CHECK_EQ(v, 5);
    MPI_Request_free(&q);
}

/* Cancelled and freed at once: nothing may hang at the end. */
static void freed(void)
{
    int v;
    MPI_Request q;
    MPI_Irecv(&v, 1, MPI_INT, rank, 77, MPI_COMM_WORLD, &q);
    MPI_Cancel(&q);
    MPI_Request_free(&q);
    CHECK(q == MPI_REQUEST_NULL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    receives();
    static const int sizes[] = {0, 4, 1000, 10000, 100000, 3000000};
    for (int i = 0; i < 6; i++) {
        sends(sizes[i], 0);
        sends(sizes[i], 1);
    }
    race(8);
    race(50000);
    race(600000);
    persistent();
    freed();
    return test_end();
}
