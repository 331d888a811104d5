/* p2p_exchange.c -- large messages in all directions at a time: each rank with each, round a ring, all to one.
 *
 * Goes on for a while, because the library tries its ways of copying in turns.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

enum { SHAPES = 3, SIZES = 5, TIMES = 2, LARGEST = 1100000 };
static const int sizes[SIZES] = {17000, 65536, 200000, 300001, LARGEST};

/* How many messages go from one rank to another. */
static int messages(int shape, int from, int to)
{
    if (from == to) return 0;
    if (shape == 1) return to == (from + 1) % size ? TIMES : 0;
    if (shape == 2) return to == 0 ? TIMES : 0;
    return from < to ? 1 : TIMES; /* everybody: more of them downwards */
}

static unsigned seed_of(int round, int from, int to, int k) { return (unsigned)(((round * 64 + from) * 64 + to) * TIMES + k); }

/* All buffers of a rank: `bytes` for each message of each other rank. */
static unsigned char *piece(unsigned char *all, int other, int k, int bytes)
{
    return all + (size_t)(other * TIMES + k) * (size_t)bytes;
}

static int post(int shape, int bytes, int receives, unsigned char *all, MPI_Request *q)
{
    int n = 0;
    for (int i = 1; i < size; i++) {
        int other = (rank + i) % size, m = receives ? messages(shape, other, rank) : messages(shape, rank, other);
        for (int k = 0; k < m; k++) {
            unsigned char *at = piece(all, other, k, bytes);
            if (receives)
                MPI_Irecv(at, bytes, MPI_BYTE, other, 3, MPI_COMM_WORLD, &q[n++]);
            else
                MPI_Isend(at, bytes, MPI_BYTE, other, 3, MPI_COMM_WORLD, &q[n++]);
        }
    }
    return n;
}

static void round_of(int round, unsigned char *out, unsigned char *in)
{
    MPI_Request *q = malloc(sizeof *q * 2 * TIMES * (size_t)size);
    int shape = round % SHAPES, bytes = sizes[round / SHAPES % SIZES], receives_first = round / 2 % 2;
    for (int to = 0; to < size; to++)
        for (int k = 0; k < messages(shape, rank, to); k++)
            pattern_fill(piece(out, to, k, bytes), bytes, seed_of(round, rank, to, k));
    int n = post(shape, bytes, receives_first, receives_first ? in : out, q);
    n += post(shape, bytes, !receives_first, receives_first ? out : in, q + n);
    MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
    for (int from = 0; from < size; from++)
        for (int k = 0; k < messages(shape, from, rank); k++)
            CHECK_EQ(pattern_wrong(piece(in, from, k, bytes), bytes, seed_of(round, from, rank, k)), -1);
    free(q);
}

int main(int argc, char **argv)
{
    const double seconds = 0.3;
    int go_on = 1;
    MPI_Init(&argc, &argv);
    test_begin();
    size_t most = (size_t)size * TIMES * LARGEST;
    unsigned char *out = malloc(most), *in = malloc(most);
    double begin = MPI_Wtime();
    for (int round = 0; go_on; round++) {
        round_of(round, out, in);
        go_on = round + 1 < SHAPES * SIZES * 2 || MPI_Wtime() - begin < seconds;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    free(out);
    free(in);
    return test_end();
}
