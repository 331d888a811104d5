/* p2p_burst.c -- many small messages in a row: they arrive whole and in order, however many go as one.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 300, BYTES = 9000, ROUNDS = 40 };
static MPI_Request q[2 * MOST];
static char *out, *in;

static unsigned seed_of(int from, int round, int i) { return (unsigned)(from * 100003 + round * 1009 + i); }
/* Mostly small ones, of all lengths around those that may go together, and now and then a long one. */
static int size_of(int round, int i)
{
    static const int some[] = {0, 1, 7, 8, 24, 100, 1023, 1024, 1025, 9000};
    return round % 4 == 0 ? 8 : round % 4 == 1 ? (i * 37) % 200 : some[(i * 7 + round) % 10];
}

/* Everybody to everybody, n messages each: to one after the other, or (mixed) by turns; with sends of other kinds among them. */
static void exchange(int round, int n, int mixed)
{
    int k = 0, each = n / size < 1 ? 1 : n / size;
    for (int from = 0; from < size; from++)
        for (int i = 0; i < each; i++, k++) MPI_Irecv(in + (size_t)k * BYTES, BYTES, MPI_BYTE, from, i % 3, MPI_COMM_WORLD, &q[k]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int j = 0; j < each * size; j++) {
        int to = mixed ? j % size : j / each, i = mixed ? j / size : j % each;
        char *b = out + (size_t)j * BYTES;
        pattern_fill(b, size_of(round, i), seed_of(rank, round, i));
        if (round % 5 == 2 && i % 11 == 5 && to != rank)
            MPI_Send(b, size_of(round, i), MPI_BYTE, to, i % 3, MPI_COMM_WORLD), q[k + j] = MPI_REQUEST_NULL;
        else if (round % 5 == 3 && i % 13 == 7)
            MPI_Issend(b, size_of(round, i), MPI_BYTE, to, i % 3, MPI_COMM_WORLD, &q[k + j]);
        else
            MPI_Isend(b, size_of(round, i), MPI_BYTE, to, i % 3, MPI_COMM_WORLD, &q[k + j]);
    }
    MPI_Waitall(each * size, q + k, MPI_STATUSES_IGNORE);
    for (int r = 0; r < k; r++) {
        MPI_Status s;
        int from = r / each, i = r % each;
        MPI_Wait(&q[r], &s);
        CHECK(s.MPI_SOURCE == from && s.MPI_TAG == i % 3 && count_of(&s) == size_of(round, i));
        CHECK_EQ(pattern_wrong(in + (size_t)r * BYTES, size_of(round, i), seed_of(from, round, i)), -1);
    }
}

/* Once MPI_Waitall has returned, what waited for others has gone: rank 0 then waits for the answer without a word of MPI. */
static void gone_when_complete(void)
{
    char name[64], c = 0;
    int v[2 * ROUNDS], word, fd = -1, id = (int)getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/tmp/gwtest-burst-%d", id);
    if (rank == 0) CHECK_EQ(mkfifo(name, 0600), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < 2) fd = open(name, O_RDWR);
    for (int round = 0; round < ROUNDS && rank < 2; round++) {
        int n = 1 + 2 * round % MOST;
        for (int i = 0; i < n && rank == 0; i++) {
            v[i] = round * 1000 + i;
            MPI_Isend(&v[i], 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &q[i]);
        }
        if (rank == 0) MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n && rank == 1; i++) {
            MPI_Recv(&word, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_EQ(word, round * 1000 + i);
        }
        if (rank == 1) CHECK(write(fd, "x", 1) == 1);
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (rank == 0) CHECK(poll(&p, 1, 30000) == 1 && read(fd, &c, 1) == 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (fd >= 0) close(fd);
    if (rank == 0) unlink(name);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    in = malloc((size_t)MOST * BYTES);
    out = malloc((size_t)MOST * BYTES);
    for (int round = 0; round < ROUNDS; round++) exchange(round, 1 + round * 13 % MOST, round % 3 == 1);
    if (size > 1) gone_when_complete();
    free(in);
    free(out);
    return test_end();
}
