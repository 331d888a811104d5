/* coll_basic.c -- barrier, bcast, gather, scatter, allgather, alltoall, regular forms: all roots, layouts, sizes, in place.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll_check.h"

/* What one call is made with: two layouts of the same n ints. */
struct shape {
    int n;
    struct layout s, r;
    int scount, rcount;
};
static struct shape shape_new(int n, int skind, int rkind)
{
    struct shape h = {.n = n, .s = layout_new(skind, n), .r = layout_new(rkind, n)};
    h.scount = (int)(n / h.s.per);
    h.rcount = (int)(n / h.r.per);
    return h;
}
static void shape_free(struct shape *h)
{
    MPI_Type_free(&h->s.type);
    MPI_Type_free(&h->r.type);
}

/* Nobody leaves before the last one has entered: entries are told to rank 0 by messages that are there already. */
static void barrier(const struct coll_comm *k)
{
    for (int late = 0; late < k->size; late++) {
        double t[2] = {0}, entered = 0;
        if (k->rank == late)
            for (double start = MPI_Wtime(); MPI_Wtime() < start + 0.002;) {}
        t[0] = MPI_Wtime();
        MPI_Barrier(k->c);
        t[1] = MPI_Wtime();
        if (k->rank == late) entered = t[0];
        for (int i = 0; i < k->size; i++) {
            if (k->rank == late && i != late) MPI_Send(&entered, 1, MPI_DOUBLE, i, 5, k->c);
            if (k->rank == i && i != late) MPI_Recv(&entered, 1, MPI_DOUBLE, late, 5, k->c, MPI_STATUS_IGNORE);
        }
        CHECK(t[1] >= entered); /* one node: one clock */
    }
}

static void bcast(const struct coll_comm *k, const struct shape *h, int root)
{
    const struct layout *l = k->rank % 2 ? &h->s : &h->r;
    struct box b = box_new(layout_bytes(l, h->n));
    (k->rank == root ? ints_put : ints_want)(&b, l, 0, h->n, root, 1);
    MPI_Bcast(b.is, k->rank % 2 ? h->scount : h->rcount, l->type, root, k->c);
    box_check(&b, "bcast");
}

static void gather(const struct coll_comm *k, const struct shape *h, int root, int in_place)
{
    int me = k->rank == root;
    struct box s = box_new(layout_bytes(&h->s, h->n)), r = box_new(me ? layout_bytes(&h->r, (long)h->n * k->size) : 0);
    ints_put(&s, &h->s, 0, h->n, k->rank, 0);
    for (int i = 0; me && i < k->size; i++) (in_place && i == root ? ints_put : ints_want)(&r, &h->r, (long)i * h->n, h->n, i, 0);
    if (me && in_place)
        MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, r.is, h->rcount, h->r.type, root, k->c);
    else
        MPI_Gather(s.is, h->scount, h->s.type, me ? r.is : NULL, h->rcount, h->r.type, root, k->c);
    box_check(&s, "gather: sent");
    box_check(&r, "gather");
}

static void scatter(const struct coll_comm *k, const struct shape *h, int root, int in_place)
{
    int me = k->rank == root;
    struct box s = box_new(me ? layout_bytes(&h->s, (long)h->n * k->size) : 0), r = box_new(layout_bytes(&h->r, h->n));
    for (int i = 0; me && i < k->size; i++) ints_put(&s, &h->s, (long)i * h->n, h->n, root, i);
    if (!me || !in_place) ints_want(&r, &h->r, 0, h->n, root, k->rank);
    if (me && in_place)
        MPI_Scatter(s.is, h->scount, h->s.type, MPI_IN_PLACE, 0, MPI_INT, root, k->c);
    else
        MPI_Scatter(me ? s.is : NULL, h->scount, h->s.type, r.is, h->rcount, h->r.type, root, k->c);
    box_check(&s, "scatter: sent");
    box_check(&r, "scatter");
}

static void allgather(const struct coll_comm *k, const struct shape *h, int in_place)
{
    struct box s = box_new(layout_bytes(&h->s, h->n)), r = box_new(layout_bytes(&h->r, (long)h->n * k->size));
    ints_put(&s, &h->s, 0, h->n, k->rank, 0);
    for (int i = 0; i < k->size; i++) (in_place && i == k->rank ? ints_put : ints_want)(&r, &h->r, (long)i * h->n, h->n, i, 0);
    if (in_place)
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, r.is, h->rcount, h->r.type, k->c);
    else
        MPI_Allgather(s.is, h->scount, h->s.type, r.is, h->rcount, h->r.type, k->c);
    box_check(&s, "allgather: sent");
    box_check(&r, "allgather");
}

static void alltoall(const struct coll_comm *k, const struct shape *h, int in_place)
{
    struct box s = box_new(layout_bytes(&h->s, (long)h->n * k->size)), r = box_new(layout_bytes(&h->r, (long)h->n * k->size));
    for (int i = 0; i < k->size; i++) {
        ints_put(&s, &h->s, (long)i * h->n, h->n, k->rank, i);
        if (in_place) ints_put(&r, &h->r, (long)i * h->n, h->n, k->rank, i);
        ints_want(&r, &h->r, (long)i * h->n, h->n, i, k->rank);
    }
    if (in_place)
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, r.is, h->rcount, h->r.type, k->c);
    else
        MPI_Alltoall(s.is, h->scount, h->s.type, r.is, h->rcount, h->r.type, k->c);
    box_check(&s, "alltoall: sent");
    box_check(&r, "alltoall");
}

static void all_of(const struct coll_comm *k, int n, int skind, int rkind)
{
    struct shape h = shape_new(n, skind, rkind);
    for (int root = 0; root < k->size; root++) {
        if (root > 1 && root < k->size - 1 && (n > 20 || k->size > 8)) continue;
        bcast(k, &h, root);
        for (int in_place = 0; in_place < 2; in_place++) {
            gather(k, &h, root, in_place);
            scatter(k, &h, root, in_place);
        }
    }
    for (int in_place = 0; in_place < 2; in_place++) {
        allgather(k, &h, in_place);
        alltoall(k, &h, in_place);
    }
    shape_free(&h);
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 3, 16, 17, 1000, 5000, 20000};
    struct coll_comm k[COMMS];
    MPI_Init(&argc, &argv);
    test_begin();
    comms_open(k);
    for (int i = 0; i < COMMS; i++) {
        barrier(&k[i]);
        for (int c = 0; c < 8; c++) {
            if (counts[c] * size > 160000) continue;
            for (int pair = 0; pair < 6; pair++) {
                static const int kinds[6][2] = {{DENSE, DENSE}, {GAPPED, DENSE}, {DENSE, SWAPPED},
                                                {PAIRS, WHOLE}, {WHOLE, GAPPED}, {SWAPPED, PAIRS}};
                all_of(&k[i], counts[c], kinds[pair][0], kinds[pair][1]);
            }
        }
        if (size <= 4) all_of(&k[i], 1 << 18, i == 1 ? PAIRS : DENSE, i == 2 ? WHOLE : DENSE); /* 1 MiB */
    }
    comms_close(k);
    return test_end();
}
