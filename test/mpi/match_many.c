/* match_many.c -- 8192 posted receives that are answered in reverse order, and 8192 unexpected messages taken in reverse order.
 *
 * Each rank hears from the next one (one rank: from itself).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

enum { N = 8192, MAX_BYTES = 48 };

static unsigned char in[N][MAX_BYTES], out[N][MAX_BYTES];
static MPI_Request reqs[2 * N];
static MPI_Status stats[2 * N];
static int n = N; /* an argument: fewer */

static int bytes_of(int tag) { return 1 + tag % MAX_BYTES; }
static unsigned seed_of(int sender, int tag) { return (unsigned)(sender * N + tag) * 7 + 1; }

/* Every fifth receive takes any source: wildcards and named sources stand in separate lists and must not overtake. */
static void receive(int tag, int from, MPI_Request *r)
{
    MPI_Irecv(in[tag], MAX_BYTES, MPI_BYTE, tag % 5 ? from : MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, r);
}
static void send(int tag, int to, MPI_Request *r)
{
    pattern_fill(out[tag], bytes_of(tag), seed_of(rank, tag));
    MPI_Isend(out[tag], bytes_of(tag), MPI_BYTE, to, tag, MPI_COMM_WORLD, r);
}

static void look(int from)
{
    for (int tag = 0; tag < n; tag++) {
        CHECK_EQ(stats[tag].MPI_TAG, tag);
        CHECK_EQ(stats[tag].MPI_SOURCE, from);
        CHECK_EQ(count_of(&stats[tag]), bytes_of(tag));
        CHECK_EQ(pattern_wrong(in[tag], bytes_of(tag), seed_of(from, tag)), -1);
        if (bytes_of(tag) < MAX_BYTES) CHECK_EQ(in[tag][bytes_of(tag)], 0xee); /* nothing behind the message */
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && atoi(argv[1]) < N) n = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    test_begin();
    int from = (rank + 1) % size, to = (rank + size - 1) % size;
    for (int posted_first = 0; posted_first < 2; posted_first++) {
        memset(in, 0xee, sizeof in);
        MPI_Barrier(MPI_COMM_WORLD);
        if (posted_first) {
            for (int tag = 0; tag < n; tag++) receive(tag, from, &reqs[tag]);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        for (int tag = n - 1; tag >= 0; tag--) send(tag, to, &reqs[n + tag]);
        if (!posted_first) {
            MPI_Barrier(MPI_COMM_WORLD);
            for (int tag = 0; tag < n; tag++) receive(tag, from, &reqs[tag]);
        }
        MPI_Waitall(2 * n, reqs, stats);
        look(from);
    }
    /* One tag only: the order of the receives decides. */
    memset(in, 0xee, sizeof in);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) MPI_Irecv(in[i], MAX_BYTES, MPI_BYTE, from, i % 3 ? 9 : MPI_ANY_TAG, MPI_COMM_WORLD, &reqs[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        pattern_fill(out[i], bytes_of(i), seed_of(rank, i));
        MPI_Isend(out[i], bytes_of(i), MPI_BYTE, to, 9, MPI_COMM_WORLD, &reqs[n + i]);
    }
    MPI_Waitall(2 * n, reqs, stats);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(count_of(&stats[i]), bytes_of(i));
        CHECK_EQ(pattern_wrong(in[i], bytes_of(i), seed_of(from, i)), -1);
    }
    return test_end();
}
