/* net_copies.c -- what messages to other nodes cost in copies: eager ones one on each side, those that the receiver reads none, those
 * that the sender writes none, in as many chunks as their length makes, some of them under way at a time.
 * `net_copies [CHUNK]`: bytes of a chunk.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "counters_check.h"

enum { EAGER = 4000, MANY = 20, READ = 300000, WRITTEN = 5 * (1 << 20) + 1, SMALL = 2000 };
static MPI_T_pvar_handle out, in, chunks, ahead;

struct counts {
    unsigned long long out, in, chunks, ahead;
};
static struct counts now(void) { return (struct counts){counted(out), counted(in), counted(chunks), counted(ahead)}; }

/* `many` messages of `len` bytes to the next rank, and so from the one before; how the counters went. */
static struct counts ring(int len, int many)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    unsigned char *s = malloc((size_t)len), *r = malloc((size_t)len);
    struct counts before = now(), after;
    MPI_Barrier(MPI_COMM_WORLD); /* nobody sends before all have looked */
    for (int k = 0; k < many; k++) {
        MPI_Request q[2];
        pattern_fill(s, len, (unsigned)(rank + k));
        MPI_Irecv(r, len, MPI_BYTE, from, k, MPI_COMM_WORLD, &q[0]);
        MPI_Isend(s, len, MPI_BYTE, to, k, MPI_COMM_WORLD, &q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        CHECK_EQ(pattern_wrong(r, len, (unsigned)(from + k)), -1);
    }
    after = now();
    free(s), free(r);
    return (struct counts){after.out - before.out, after.in - before.in, after.chunks - before.chunks, after.ahead - before.ahead};
}

int main(int argc, char **argv)
{
    int chunk = argc > 1 ? atoi(argv[1]) : 512 << 10;
    MPI_Init(&argc, &argv);
    test_begin();
    counters_begin();
    out = counter("net_copied_out", MPI_T_PVAR_CLASS_AGGREGATE), in = counter("net_copied_in", MPI_T_PVAR_CLASS_AGGREGATE);
    chunks = counter("net_chunks", MPI_T_PVAR_CLASS_COUNTER), ahead = counter("net_chunks_ahead", MPI_T_PVAR_CLASS_COUNTER);
    ring(10, 1); /* connected */
    struct counts c = ring(EAGER, MANY);
    if (!getenv("GODWIT_CHECK")) CHECK_EQ(c.out, EAGER * MANY); /* which has messages of its own */
    CHECK(c.out >= EAGER * MANY && c.out < EAGER * MANY + SMALL);
    CHECK(c.in >= EAGER * MANY && c.in < EAGER * MANY + SMALL);
    CHECK_EQ(c.chunks, 0);
    c = ring(READ, 1); /* what is copied are questions and answers */
    CHECK(c.out < SMALL && c.in < SMALL);
    CHECK_EQ(c.chunks, 0);
    c = ring(WRITTEN, 1);
    CHECK(c.out < SMALL && c.in < SMALL);
    CHECK_EQ(c.chunks, (WRITTEN + chunk - 1) / chunk);
    CHECK(c.ahead > 0 && c.ahead < c.chunks);
    counters_end();
    return test_end();
}
