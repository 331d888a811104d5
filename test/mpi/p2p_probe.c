/* p2p_probe.c -- probe, iprobe, mprobe, improbe, mrecv, imrecv: what they see, in which order, and that a matched message is gone.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

enum { MAX = 700000 };
static unsigned char *b;

static void probed(int n, int how)
{
    int partner = rank ^ 1, flag = 0, got = -1;
    if (partner >= size) return;
    if (rank & 1) {
        pattern_fill(b, n, 9);
        MPI_Request q;
        MPI_Isend(b, n, MPI_BYTE, partner, 5, MPI_COMM_WORLD, &q);
        MPI_Send(&n, 1, MPI_INT, partner, 5, MPI_COMM_WORLD);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Status s, r;
    MPI_Message m = MPI_MESSAGE_NULL;
    int source = how & 1 ? MPI_ANY_SOURCE : partner, tag = how & 2 ? MPI_ANY_TAG : 5, after;
    memset(b, 0, (size_t)n);
    if (how & 4) {
        while (!flag)
            if (how & 8)
                MPI_Improbe(source, tag, MPI_COMM_WORLD, &flag, &m, &s);
            else
                MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &s);
    } else if (how & 8) {
        MPI_Mprobe(source, tag, MPI_COMM_WORLD, &m, &s);
    } else {
        MPI_Probe(source, tag, MPI_COMM_WORLD, &s);
    }
    MPI_Get_count(&s, MPI_BYTE, &got);
    CHECK_EQ(got, n);
    CHECK_EQ(s.MPI_SOURCE, partner);
    CHECK_EQ(s.MPI_TAG, 5);
    if (how & 8) {
        CHECK(m != MPI_MESSAGE_NULL);
        /* The message is ours: an ordinary receive takes the one behind it. */
        MPI_Recv(&after, 1, MPI_INT, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (how & 16) {
            MPI_Request q;
            MPI_Imrecv(b, n, MPI_BYTE, &m, &q);
            MPI_Wait(&q, &r);
        } else {
            MPI_Mrecv(b, n, MPI_BYTE, &m, &r);
        }
        CHECK(m == MPI_MESSAGE_NULL);
    } else {
        MPI_Recv(b, n, MPI_BYTE, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, &r);
        MPI_Recv(&after, 1, MPI_INT, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CHECK_EQ(after, n);
    CHECK_EQ(count_of(&r), n);
    CHECK_EQ(r.MPI_SOURCE, partner);
    CHECK_EQ(pattern_wrong(b, n, 9), -1);
}

static void nothing_there(void)
{
    int flag = 1;
    MPI_Message m = MPI_MESSAGE_NULL;
    MPI_Iprobe(MPI_ANY_SOURCE, 1234, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    flag = 1;
    MPI_Improbe(MPI_ANY_SOURCE, 1234, MPI_COMM_WORLD, &flag, &m, MPI_STATUS_IGNORE);
    CHECK(!flag);
}

static void procnull(void)
{
    int flag = 0, v = 3;
    MPI_Status s;
    MPI_Message m;
    MPI_Request q;
    MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &s);
    CHECK_EQ(s.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(s.MPI_TAG, MPI_ANY_TAG);
    MPI_Iprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &s);
    CHECK(flag);
    MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &m, &s);
    CHECK(m == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(&v, 1, MPI_INT, &m, &s);
    CHECK(m == MPI_MESSAGE_NULL);
    CHECK_EQ(s.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(count_of(&s), 0);
    MPI_Improbe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &m, &s);
    CHECK(flag && m == MPI_MESSAGE_NO_PROC);
    MPI_Imrecv(&v, 1, MPI_INT, &m, &q);
    MPI_Wait(&q, &s);
    CHECK_EQ(s.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(v, 3);
}

/* Probe does not mix communicators, and finds the first of several that match. */
static void which(void)
{
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    int partner = rank ^ 1;
    if (partner < size && rank & 1) {
        int v[3] = {1, 2, 3};
        MPI_Request q[3];
        for (int i = 0; i < 3; i++) MPI_Isend(&v[i], 1, MPI_INT, partner, i + 1, i == 0 ? c : MPI_COMM_WORLD, &q[i]);
        MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
    } else if (partner < size) {
        int v;
        MPI_Status s;
        MPI_Probe(partner, 3, MPI_COMM_WORLD, &s); /* now all three are there */
        MPI_Probe(partner, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
        CHECK_EQ(s.MPI_TAG, 2);
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, c, &s);
        CHECK_EQ(s.MPI_TAG, 1);
        for (int tag = 3; tag >= 1; tag--) {
            MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, tag, tag == 1 ? c : MPI_COMM_WORLD, &s);
            CHECK_EQ(v, tag);
        }
    }
    MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    b = malloc(MAX);
    static const int sizes[] = {4, 100, 9000, 30000, MAX};
    for (int how = 0; how < 32; how++) {
        if (how & 16 && !(how & 8)) continue;
        for (int i = 0; i < 5; i++) {
            if (how & 1) MPI_Barrier(MPI_COMM_WORLD);
            probed(sizes[i], how);
        }
    }
    nothing_there();
    procnull();
    which();
    free(b);
    return test_end();
}
