/* coll_vector.c -- gatherv, scatterv, allgatherv, alltoallv, alltoallw: unequal counts, holes, displacements in any order.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll_check.h"

enum { MAX_RANKS = 128 };

/* Ints that `from` sends to `to`: zeros among them, always even, so that every layout can hold them. */
static int amount(int from, int to, int scale) { return 2 * scale * ((from * 3 + to * 5) % 4); }

/* A place for the block of each peer, in reverse or rotated order, with holes between; counts and displacements in types. */
struct places {
    int counts[MAX_RANKS], displs[MAX_RANKS];
    long ints;
};
static struct places places_new(const struct layout *l, int peers, const int *n, int turn)
{
    struct places p = {.ints = 2};
    for (int i = 0; i < peers; i++) {
        int at = turn >= 0 ? (i + turn) % peers : peers - 1 - i;
        p.counts[at] = (int)(n[at] / l->per);
        p.displs[at] = (int)(p.ints / l->per);
        p.ints += n[at] + 2 * (at % 3);
    }
    return p;
}
static struct box places_box(const struct layout *l, const struct places *p) { return box_new(layout_bytes(l, p->ints)); }

static void gatherv(const struct coll_comm *k, int root, int skind, int rkind, int scale, int in_place)
{
    int me = k->rank == root, n[MAX_RANKS];
    for (int i = 0; i < k->size; i++) n[i] = amount(i, root, scale);
    struct layout s = layout_new(skind, n[k->rank]), r = layout_new(rkind, 2);
    struct places p = places_new(&r, k->size, n, root % 2 ? -1 : root);
    struct box sb = box_new(layout_bytes(&s, n[k->rank])), rb = places_box(&r, &p);
    ints_put(&sb, &s, 0, n[k->rank], k->rank, 0);
    for (int i = 0; me && i < k->size; i++)
        (in_place && i == root ? ints_put : ints_want)(&rb, &r, p.displs[i] * r.per, n[i], i, 0);
    if (me)
        MPI_Gatherv(in_place ? MPI_IN_PLACE : sb.is, (int)(n[root] / s.per), s.type, rb.is, p.counts, p.displs, r.type, root, k->c);
    else
        MPI_Gatherv(sb.is, (int)(n[k->rank] / s.per), s.type, NULL, NULL, NULL, MPI_DATATYPE_NULL, root, k->c);
    box_check(&sb, "gatherv: sent");
    box_check(&rb, "gatherv");
    MPI_Type_free(&s.type);
    MPI_Type_free(&r.type);
}

static void scatterv(const struct coll_comm *k, int root, int skind, int rkind, int scale, int in_place)
{
    int me = k->rank == root, n[MAX_RANKS];
    for (int i = 0; i < k->size; i++) n[i] = amount(root, i, scale);
    struct layout s = layout_new(skind, 2), r = layout_new(rkind, n[k->rank]);
    struct places p = places_new(&s, k->size, n, root % 2 ? -1 : root);
    struct box sb = places_box(&s, &p), rb = box_new(layout_bytes(&r, n[k->rank]));
    for (int i = 0; me && i < k->size; i++) ints_put(&sb, &s, p.displs[i] * s.per, n[i], root, i);
    if (!me || !in_place) ints_want(&rb, &r, 0, n[k->rank], root, k->rank);
    if (me)
        MPI_Scatterv(sb.is, p.counts, p.displs, s.type, in_place ? MPI_IN_PLACE : rb.is, (int)(n[root] / r.per), r.type, root,
                     k->c);
    else
        MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, rb.is, (int)(n[k->rank] / r.per), r.type, root, k->c);
    box_check(&sb, "scatterv: sent");
    box_check(&rb, "scatterv");
    MPI_Type_free(&s.type);
    MPI_Type_free(&r.type);
}

static void allgatherv(const struct coll_comm *k, int skind, int rkind, int scale, int turn, int in_place)
{
    int n[MAX_RANKS];
    for (int i = 0; i < k->size; i++) n[i] = amount(i, turn < 0 ? 1 : turn, scale);
    struct layout s = layout_new(skind, n[k->rank]), r = layout_new(rkind, 2);
    struct places p = places_new(&r, k->size, n, turn);
    struct box sb = box_new(layout_bytes(&s, n[k->rank])), rb = places_box(&r, &p);
    ints_put(&sb, &s, 0, n[k->rank], k->rank, 0);
    for (int i = 0; i < k->size; i++) (in_place && i == k->rank ? ints_put : ints_want)(&rb, &r, p.displs[i] * r.per, n[i], i, 0);
    if (in_place)
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, rb.is, p.counts, p.displs, r.type, k->c);
    else
        MPI_Allgatherv(sb.is, (int)(n[k->rank] / s.per), s.type, rb.is, p.counts, p.displs, r.type, k->c);
    box_check(&sb, "allgatherv: sent");
    box_check(&rb, "allgatherv");
    MPI_Type_free(&s.type);
    MPI_Type_free(&r.type);
}

/* In place: what I send to i and what comes from i must be as much, so the smaller rank's amount is taken. */
static void alltoallv(const struct coll_comm *k, int skind, int rkind, int scale, int turn, int in_place)
{
    int out[MAX_RANKS], in[MAX_RANKS];
    for (int i = 0; i < k->size; i++) {
        out[i] = in_place && i < k->rank ? amount(i, k->rank, scale) : amount(k->rank, i, scale);
        in[i] = in_place ? out[i] : amount(i, k->rank, scale);
    }
    struct layout s = layout_new(skind, 2), r = layout_new(rkind, 2);
    struct places sp = places_new(&s, k->size, out, turn), rp = places_new(&r, k->size, in, turn > 0 ? -1 : 1);
    struct box sb = places_box(&s, &sp), rb = places_box(&r, &rp);
    for (int i = 0; i < k->size; i++) {
        ints_put(&sb, &s, sp.displs[i] * s.per, out[i], k->rank, i);
        if (in_place) ints_put(&rb, &r, rp.displs[i] * r.per, in[i], k->rank, i);
        ints_want(&rb, &r, rp.displs[i] * r.per, in[i], i, k->rank);
    }
    if (in_place)
        MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, rb.is, rp.counts, rp.displs, r.type, k->c);
    else
        MPI_Alltoallv(sb.is, sp.counts, sp.displs, s.type, rb.is, rp.counts, rp.displs, r.type, k->c);
    box_check(&sb, "alltoallv: sent");
    box_check(&rb, "alltoallv");
    MPI_Type_free(&s.type);
    MPI_Type_free(&r.type);
}

/* Every pair with layouts of its own; displacements in bytes. */
struct wide {
    struct layout l[MAX_RANKS];
    MPI_Datatype types[MAX_RANKS];
    int counts[MAX_RANKS], displs[MAX_RANKS];
    struct box b;
};
static struct wide *wide_new(int peers, const int *n, int kind)
{
    struct wide *w = malloc(sizeof *w);
    long at = 4;
    for (int i = peers - 1; i >= 0; i--) {
        w->l[i] = layout_new((kind + i) % LAYOUTS, n[i]);
        w->types[i] = w->l[i].type;
        w->counts[i] = (int)(n[i] / w->l[i].per);
        w->displs[i] = (int)at;
        at += layout_bytes(&w->l[i], n[i]) + 8;
    }
    w->b = box_new(at);
    return w;
}
static void wide_free(struct wide *w, int peers, const char *what)
{
    box_check(&w->b, what);
    for (int i = 0; i < peers; i++) MPI_Type_free(&w->types[i]);
    free(w);
}
static void wide_fill(struct wide *w, void (*how)(struct box *, const struct layout *, long, long, int, int), int i, int n,
                      int from, int to)
{
    struct layout l = w->l[i];
    l.first += w->displs[i];
    how(&w->b, &l, 0, n, from, to);
}
static void alltoallw(const struct coll_comm *k, int scale, int in_place)
{
    int out[MAX_RANKS], in[MAX_RANKS];
    for (int i = 0; i < k->size; i++) {
        out[i] = in_place && i < k->rank ? amount(i, k->rank, scale) : amount(k->rank, i, scale);
        in[i] = in_place ? out[i] : amount(i, k->rank, scale);
    }
    struct wide *s = wide_new(k->size, out, 0), *r = wide_new(k->size, in, k->rank + 1);
    for (int i = 0; i < k->size; i++) {
        wide_fill(s, ints_put, i, out[i], k->rank, i);
        if (in_place) wide_fill(r, ints_put, i, in[i], k->rank, i);
        wide_fill(r, ints_want, i, in[i], i, k->rank);
    }
    if (in_place)
        MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, r->b.is, r->counts, r->displs, r->types, k->c);
    else
        MPI_Alltoallw(s->b.is, s->counts, s->displs, s->types, r->b.is, r->counts, r->displs, r->types, k->c);
    wide_free(s, k->size, "alltoallw: sent");
    wide_free(r, k->size, "alltoallw");
}

int main(int argc, char **argv)
{
    static const int scales[] = {1, 7, 300, 6000};
    static const int kinds[5][2] = {{DENSE, DENSE}, {GAPPED, PAIRS}, {WHOLE, SWAPPED}, {PAIRS, GAPPED}, {SWAPPED, DENSE}};
    struct coll_comm k[COMMS];
    MPI_Init(&argc, &argv);
    test_begin();
    comms_open(k);
    for (int i = 0; i < COMMS; i++)
        for (int s = 0; s < 4; s++)
            for (int pair = 0; pair < 5 && scales[s] * size < 30000; pair++)
                for (int in_place = 0; in_place < 2; in_place++) {
                    /* A layout of a root's block list holds pairs, so WHOLE (of 2) is one there, too. */
                    int sk = kinds[pair][0], rk = kinds[pair][1];
                    for (int root = 0; root < k[i].size; root += root < 2 || k[i].size < 6 ? 1 : k[i].size / 2) {
                        gatherv(&k[i], root, sk, rk, scales[s], in_place);
                        scatterv(&k[i], root, sk == WHOLE ? SWAPPED : sk, rk, scales[s], in_place);
                    }
                    for (int turn = -1; turn < 2; turn++) {
                        allgatherv(&k[i], sk, rk, scales[s], turn, in_place);
                        alltoallv(&k[i], sk == WHOLE ? SWAPPED : sk, rk, scales[s], turn, in_place);
                    }
                    alltoallw(&k[i], scales[s], in_place);
                }
    comms_close(k);
    return test_end();
}
