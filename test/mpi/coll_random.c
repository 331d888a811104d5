/* coll_random.c -- seeded random collectives on three communicators, blocking and several non-blocking under way; results are checked.
 *
 * Every rank draws the same plan from the seed.  args: rounds, seed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll_check.h"

enum { BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLGATHER, ALLTOALL, SCAN, EXSCAN, REDUCE_SCATTER, KINDS };
enum { PENDING = 4, MAX = 3000 };
static const char *const names[] = {"barrier",   "bcast",    "reduce", "allreduce", "gather",        "scatter",
                                    "allgather", "alltoall", "scan",   "exscan",    "reduce_scatter"};

struct job {
    int kind, root, n; /* n ints for each member */
    const struct coll_comm *k;
    struct box in, out;
    MPI_Request q;
};

/* What member `from` has for member `to` at place i. */
static int value(const struct job *j, int from, int to, int i)
{
    return value_of(from + 10 * j->kind, to, i) & 0xffff;
}

static int sum_of(const struct job *j, int members, int to, int i)
{
    int sum = 0;
    for (int r = 0; r < members; r++) sum += value(j, r, to, i);
    return sum;
}

static int parts_in(const struct job *j)
{
    if (j->kind == BCAST || j->kind == SCATTER) return j->k->rank == j->root ? (j->kind == BCAST ? 1 : j->k->size) : 0;
    return j->kind == BARRIER ? 0 : j->kind == ALLTOALL || j->kind == REDUCE_SCATTER ? j->k->size : 1;
}

static int parts_out(const struct job *j)
{
    int is_rooted = j->kind == REDUCE || j->kind == GATHER;
    if (j->kind == BARRIER || (is_rooted && j->k->rank != j->root)) return 0;
    return j->kind == GATHER || j->kind == ALLGATHER || j->kind == ALLTOALL ? j->k->size : 1;
}

static int is_to_each(int kind)
{
    return kind == SCATTER || kind == ALLTOALL || kind == REDUCE_SCATTER;
}

static int result(const struct job *j, int part, int i)
{
    int me = j->k->rank;
    switch (j->kind) {
    case BCAST:
        return value(j, j->root, 0, i);
    case SCATTER:
        return value(j, j->root, me, i);
    case GATHER:
    case ALLGATHER:
        return value(j, part, 0, i);
    case ALLTOALL:
        return value(j, part, me, i);
    case SCAN:
        return sum_of(j, me + 1, 0, i);
    case EXSCAN:
        return sum_of(j, me, 0, i);
    case REDUCE_SCATTER:
        return sum_of(j, j->k->size, me, i);
    default:
        return sum_of(j, j->k->size, 0, i);
    }
}

static void buffers_make(struct job *j)
{
    int in = parts_in(j), out = parts_out(j), me = j->k->rank;
    j->in = box_new(4l * in * j->n);
    j->out = box_new(4l * out * j->n);
    for (int p = 0; p < in; p++)
        for (int i = 0; i < j->n; i++) {
            int v = value(j, me, is_to_each(j->kind) ? p : 0, i);
            box_put(&j->in, 4l * (p * j->n + i), &v, 4);
        }
    if (j->kind == EXSCAN && me == 0) return; /* its result is undefined, and stays as it was */
    for (int p = 0; p < out; p++)
        for (int i = 0; i < j->n; i++) {
            int v = result(j, p, i);
            box_want(&j->out, 4l * (p * j->n + i), &v, 4);
        }
    if (j->kind == BCAST && in) memcpy(j->out.is, j->in.is, 4 * (size_t)j->n);
}

static int blocking(struct job *j)
{
    MPI_Comm c = j->k->c;
    void *in = j->in.is, *out = j->out.is;
    int n = j->n;
    switch (j->kind) {
    case BARRIER:
        return MPI_Barrier(c);
    case BCAST:
        return MPI_Bcast(out, n, MPI_INT, j->root, c);
    case REDUCE:
        return MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, j->root, c);
    case ALLREDUCE:
        return MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, c);
    case GATHER:
        return MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, j->root, c);
    case SCATTER:
        return MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, j->root, c);
    case ALLGATHER:
        return MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, c);
    case ALLTOALL:
        return MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, c);
    case SCAN:
        return MPI_Scan(in, out, n, MPI_INT, MPI_SUM, c);
    case EXSCAN:
        return MPI_Exscan(in, out, n, MPI_INT, MPI_SUM, c);
    default:
        return MPI_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, c);
    }
}

static int posted(struct job *j)
{
    MPI_Comm c = j->k->c;
    void *in = j->in.is, *out = j->out.is;
    int n = j->n;
    switch (j->kind) {
    case BARRIER:
        return MPI_Ibarrier(c, &j->q);
    case BCAST:
        return MPI_Ibcast(out, n, MPI_INT, j->root, c, &j->q);
    case REDUCE:
        return MPI_Ireduce(in, out, n, MPI_INT, MPI_SUM, j->root, c, &j->q);
    case ALLREDUCE:
        return MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, c, &j->q);
    case GATHER:
        return MPI_Igather(in, n, MPI_INT, out, n, MPI_INT, j->root, c, &j->q);
    case SCATTER:
        return MPI_Iscatter(in, n, MPI_INT, out, n, MPI_INT, j->root, c, &j->q);
    case ALLGATHER:
        return MPI_Iallgather(in, n, MPI_INT, out, n, MPI_INT, c, &j->q);
    case ALLTOALL:
        return MPI_Ialltoall(in, n, MPI_INT, out, n, MPI_INT, c, &j->q);
    case SCAN:
        return MPI_Iscan(in, out, n, MPI_INT, MPI_SUM, c, &j->q);
    case EXSCAN:
        return MPI_Iexscan(in, out, n, MPI_INT, MPI_SUM, c, &j->q);
    default:
        return MPI_Ireduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, c, &j->q);
    }
}

static void finish(struct job *j)
{
    if (j->q != MPI_REQUEST_NULL) CHECK_EQ(MPI_Wait(&j->q, MPI_STATUS_IGNORE), MPI_SUCCESS);
    box_check(&j->in, names[j->kind]);
    box_check(&j->out, names[j->kind]);
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 2, 7, 64, 500, MAX};
    struct coll_comm k[COMMS];
    struct job jobs[PENDING];
    int n = 0, rounds = argc > 1 ? atoi(argv[1]) : 200;
    if (argc > 2) random_state ^= strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15ull;
    MPI_Init(&argc, &argv);
    test_begin();
    comms_open(k);
    for (int i = 0; i < rounds; i++) {
        const struct coll_comm *on = &k[random_below(COMMS)];
        /* Halves may be of different sizes: a root that both have. */
        struct job *j = &jobs[n];
        *j = (struct job){
            .kind = (int)random_below(KINDS), .k = on, .n = counts[random_below(7)], .q = MPI_REQUEST_NULL};
        j->root = (int)random_below((unsigned)(size / 2 + 1)) % on->size;
        int is_posted = random_below(2) == 0, is_late = n > 0 && random_below(3) == 0;
        buffers_make(j);
        CHECK_EQ(is_posted ? posted(j) : blocking(j), MPI_SUCCESS);
        n++;
        if (is_late || n == PENDING)
            while (n > 0) finish(&jobs[--n]); /* the last one first */
    }
    while (n > 0) finish(&jobs[--n]);
    comms_close(k);
    return test_end();
}
