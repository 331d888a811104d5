/* coll_mixed.c -- random sequences of collectives with point-to-point messages between them, wildcards among them, on the
 * same communicator; then the same on several communicators at once, each by a thread of its own.
 *
 * All members of a communicator draw the same sequence from the same seed.  args: rounds, seed (then without threads).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>

#include "p2p_check.h"

enum { THREADS = 4, MAX = 6000 };
struct player {
    MPI_Comm c;
    int rank, size, rounds;
    unsigned long long seed;
    int *a, *b;
};

static unsigned draw(struct player *p, unsigned n)
{
    p->seed = p->seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(p->seed >> 33) % n;
}
static int value(int rank_, int round, long i) { return rank_ * 1000 + round * 7 + (int)i; }
static void wrong(struct player *p, const char *what, int round, long i, int is, int want)
{
    if (failures++ < 20)
        fprintf(stderr, "rank %d of %d: round %d: %s: element %ld is %d, not %d\n", p->rank, p->size, round, what, i, is, want);
}

static void bcast(struct player *p, int round, int n)
{
    int root = (int)draw(p, (unsigned)p->size);
    for (int i = 0; i < n; i++) p->a[i] = p->rank == root ? value(root, round, i) : -1;
    MPI_Bcast(p->a, n, MPI_INT, root, p->c);
    for (int i = 0; i < n; i++)
        if (p->a[i] != value(root, round, i)) return wrong(p, "bcast", round, i, p->a[i], value(root, round, i));
}
static void sums(struct player *p, int round, int n)
{
    int which = (int)draw(p, 3), root = (int)draw(p, (unsigned)p->size), last = which == 2 ? p->rank : p->size - 1;
    for (int i = 0; i < n; i++) p->a[i] = value(p->rank, round, i), p->b[i] = -1;
    if (which == 0) MPI_Allreduce(p->a, p->b, n, MPI_INT, MPI_SUM, p->c);
    if (which == 1) MPI_Reduce(p->a, p->b, n, MPI_INT, MPI_SUM, root, p->c);
    if (which == 2) MPI_Scan(p->a, p->b, n, MPI_INT, MPI_SUM, p->c);
    for (int i = 0; i < n && (which != 1 || p->rank == root); i++) {
        int want = last * (last + 1) / 2 * 1000 + (last + 1) * (round * 7 + i);
        if (p->b[i] != want) return wrong(p, "sum", round, i, p->b[i], want);
    }
}
static void exchanges(struct player *p, int round, int n)
{
    int which = (int)draw(p, 3), root = (int)draw(p, (unsigned)p->size), each = n / p->size;
    for (int i = 0; i < n; i++) p->a[i] = value(p->rank, round, i), p->b[i] = -1;
    if (which == 0) MPI_Allgather(p->a, each, MPI_INT, p->b, each, MPI_INT, p->c);
    if (which == 1) MPI_Gather(p->a, each, MPI_INT, p->b, each, MPI_INT, root, p->c);
    if (which == 2) MPI_Alltoall(p->a, each, MPI_INT, p->b, each, MPI_INT, p->c);
    for (int i = 0; i < each * p->size && (which != 1 || p->rank == root); i++) {
        int want = value(i / each, round, which == 2 ? p->rank * each + i % each : i % each);
        if (p->b[i] != want) return wrong(p, "exchange", round, i, p->b[i], want);
    }
}

/* Everybody sends one message to everybody, receives them from anybody with any tag, and may do a collective in between. */
static void messages(struct player *p, int round, int n)
{
    int between = (int)draw(p, 2), early = (int)draw(p, 2), got = 0, *in = malloc(sizeof(int) * (size_t)n);
    MPI_Request *q = malloc(sizeof *q * (size_t)p->size);
    for (int i = 0; i < n; i++) p->b[i] = value(p->rank, round, i);
    for (int i = 0; i < p->size; i++) MPI_Isend(p->b, n, MPI_INT, i, round, p->c, &q[i]);
    int *a = p->a, *b = p->b;
    p->b = malloc(sizeof(int) * MAX);
    MPI_Request first = MPI_REQUEST_NULL;
    MPI_Status s;
    if (early) MPI_Irecv(in, n, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, p->c, &first);
    if (between) sums(p, round, 1 + (int)draw(p, 3000));
    for (; got < p->size; got++) {
        if (early && got == 0)
            MPI_Wait(&first, &s);
        else
            MPI_Recv(in, n, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, p->c, &s);
        if (s.MPI_TAG != round) wrong(p, "tag", round, got, s.MPI_TAG, round);
        for (int i = 0; i < n; i++)
            if (in[i] != value(s.MPI_SOURCE, round, i)) {
                wrong(p, "message", round, i, in[i], value(s.MPI_SOURCE, round, i));
                break;
            }
    }
    MPI_Waitall(p->size, q, MPI_STATUSES_IGNORE);
    MPI_Barrier(p->c); /* the next round's messages must not meet this one's wildcards */
    free(p->b), free(in), free(q);
    p->a = a, p->b = b;
}

static void *play(void *arg)
{
    struct player *p = arg;
    MPI_Comm_rank(p->c, &p->rank);
    MPI_Comm_size(p->c, &p->size);
    p->a = malloc(sizeof(int) * MAX);
    p->b = malloc(sizeof(int) * MAX);
    for (int round = 0; round < p->rounds; round++) {
        static const int sizes[] = {1, 4, 30, 200, 2000, MAX};
        int n = 1 + (int)draw(p, (unsigned)sizes[draw(p, 6)]);
        switch (draw(p, 5)) {
        case 0: bcast(p, round, n); break;
        case 1: sums(p, round, n); break;
        case 2: exchanges(p, round, n); break;
        case 3: messages(p, round, n); break;
        default: MPI_Barrier(p->c);
        }
    }
    free(p->a), free(p->b);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, rounds = argc > 1 ? atoi(argv[1]) : 400;
    pthread_t t[THREADS];
    struct player p[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    test_begin();
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    p[0] = (struct player){.c = MPI_COMM_WORLD, .rounds = rounds, .seed = 11};
    if (argc > 2) p[0].seed = strtoull(argv[2], NULL, 10);
    play(&p[0]);
    if (argc > 2) return test_end();
    for (int i = 0; i < THREADS; i++) {
        p[i] = (struct player){.rounds = rounds / 4, .seed = 100ull + (unsigned)i};
        if (i == 3)
            MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &p[i].c);
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &p[i].c);
    }
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, play, &p[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&p[i].c);
    return test_end();
}
