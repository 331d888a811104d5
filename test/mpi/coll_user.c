/* coll_user.c -- reductions with users' operations: order kept where an operation does not commute, derived types with gaps
 * and with data below the buffer's address, large counts.
 *
 * An element is the map x -> a x + b; joining two is composing them, which is associative but not commutative.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll_check.h"

struct map {
    unsigned a, b;
};
static struct map map_of(int from, long i)
{
    return (struct map){(unsigned)from * 2u + 3u, (unsigned)from * 77u + (unsigned)i * 13u + 1u};
}
static struct map compose(struct map f, struct map g) { return (struct map){f.a * g.a, f.a * g.b + f.b}; } /* f after g */
static struct map fold(int first, int last, long i)
{
    struct map m = map_of(first, i);
    for (int r = first + 1; r <= last; r++) m = compose(m, map_of(r, i));
    return m;
}

/* Where a and b lie from an element's address on; `low` bytes of room before the first element. */
struct shape {
    const char *name;
    long at_a, at_b, extent, low;
    MPI_Datatype type;
};
static struct shape shapes[] = {
    {"dense", 0, 4, 8, 0, 0},
    {"gaps", 4, 12, 20, 0, 0},
    {"below", -8, 4, 16, 8, 0},
    {"swapped", 4, 0, 8, 0, 0},
};
enum { SHAPES = 4 };
static const struct shape *now; /* what the operation works on */

static void shapes_open(void)
{
    for (int i = 0; i < SHAPES; i++) {
        struct shape *s = &shapes[i];
        MPI_Aint at[2] = {s->at_a, s->at_b};
        MPI_Type_create_hindexed_block(2, 1, at, MPI_INT, &s->type);
        s->type = type_resized(s->type, -s->low, s->extent);
    }
}

static void compose_op(void *left, void *inout, int *len, MPI_Datatype *type)
{
    int size;
    MPI_Aint lb, extent;
    MPI_Type_size(*type, &size);
    MPI_Type_get_extent(*type, &lb, &extent);
    CHECK_EQ(size, 8);
    CHECK_EQ(lb, -now->low);
    CHECK_EQ(extent, now->extent);
    for (long i = 0; i < *len; i++) {
        char *l = (char *)left + i * now->extent, *r = (char *)inout + i * now->extent;
        struct map f, g;
        memcpy(&f.a, l + now->at_a, 4), memcpy(&f.b, l + now->at_b, 4);
        memcpy(&g.a, r + now->at_a, 4), memcpy(&g.b, r + now->at_b, 4);
        f = compose(f, g);
        memcpy(r + now->at_a, &f.a, 4), memcpy(r + now->at_b, &f.b, 4);
    }
}
/* Commutes: both parts are sums. */
static struct map add(struct map f, struct map g) { return (struct map){f.a + g.a, f.b + g.b}; }
static void add_op(void *left, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (long i = 0; i < *len; i++) {
        char *l = (char *)left + i * now->extent, *r = (char *)inout + i * now->extent;
        struct map f, g;
        memcpy(&f.a, l + now->at_a, 4), memcpy(&f.b, l + now->at_b, 4);
        memcpy(&g.a, r + now->at_a, 4), memcpy(&g.b, r + now->at_b, 4);
        f = add(f, g);
        memcpy(r + now->at_a, &f.a, 4), memcpy(r + now->at_b, &f.b, 4);
    }
}
static int commutes;
static struct map joined(int first, int last, long i)
{
    if (!commutes) return fold(first, last, i);
    struct map m = map_of(first, i);
    for (int r = first + 1; r <= last; r++) m = add(m, map_of(r, i));
    return m;
}

static struct box maps_box(long n) { return box_new(n * now->extent + now->low); }
static void *address(struct box *b) { return b->is + now->low; }
static void maps(struct box *b, long start, long n, int first, int last, int put)
{
    for (long i = 0; i < n; i++) {
        struct map m = joined(first, last, start + i);
        void (*how)(struct box *, long, const void *, long) = put ? box_put : box_want;
        how(b, now->low + i * now->extent + now->at_a, &m.a, 4);
        how(b, now->low + i * now->extent + now->at_b, &m.b, 4);
    }
}

static void reduce(const struct coll_comm *k, MPI_Op op, long n, int root, int in_place)
{
    int me = k->rank == root;
    struct box s = maps_box(n), r = maps_box(n);
    maps(&s, 0, n, k->rank, k->rank, 1);
    if (me && in_place) maps(&r, 0, n, k->rank, k->rank, 1);
    if (me) maps(&r, 0, n, 0, k->size - 1, 0);
    MPI_Reduce(me && in_place ? MPI_IN_PLACE : address(&s), me ? address(&r) : NULL, (int)n, now->type, op, root, k->c);
    box_check(&s, "reduce: sent");
    box_check(&r, "reduce");
}
enum { ALLREDUCE, SCAN, EXSCAN };
static void to_all(const struct coll_comm *k, MPI_Op op, long n, int which, int in_place)
{
    static const char *const names[] = {"allreduce", "scan", "exscan"};
    struct box s = maps_box(n), r = maps_box(n);
    int last = which == ALLREDUCE ? k->size - 1 : which == SCAN ? k->rank : k->rank - 1;
    maps(&s, 0, n, k->rank, k->rank, 1);
    if (in_place) maps(&r, 0, n, k->rank, k->rank, 1);
    if (last >= 0) maps(&r, 0, n, 0, last, 0);
    void *in = in_place ? MPI_IN_PLACE : address(&s);
    if (which == ALLREDUCE) MPI_Allreduce(in, address(&r), (int)n, now->type, op, k->c);
    if (which == SCAN) MPI_Scan(in, address(&r), (int)n, now->type, op, k->c);
    if (which == EXSCAN) MPI_Exscan(in, address(&r), (int)n, now->type, op, k->c);
    box_check(&s, "sent");
    box_check(&r, names[which]);
}
static void reduce_scatter(const struct coll_comm *k, MPI_Op op, long n, int block, int in_place)
{
    int counts[128];
    long all = 0, first = 0;
    for (int i = 0; i < k->size; i++) {
        counts[i] = (int)(block ? n : n * ((i + 1) % 3) + i % 2);
        if (i < k->rank) first += counts[i];
        all += counts[i];
    }
    struct box s = maps_box(all), r = maps_box(in_place ? all : counts[k->rank]);
    maps(&s, 0, all, k->rank, k->rank, 1);
    if (in_place) maps(&r, 0, all, k->rank, k->rank, 1);
    maps(&r, first, counts[k->rank], 0, k->size - 1, 0);
    void *in = in_place ? MPI_IN_PLACE : address(&s);
    if (block)
        MPI_Reduce_scatter_block(in, address(&r), (int)n, now->type, op, k->c);
    else
        MPI_Reduce_scatter(in, address(&r), counts, now->type, op, k->c);
    /* In place, only the result at the begin is defined. */
    long defined = counts[k->rank] * now->extent;
    if (in_place) memcpy(r.want + defined, r.is + defined, (size_t)(r.bytes - defined));
    box_check(&s, "reduce_scatter: sent");
    box_check(&r, "reduce_scatter");
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 2, 9, 300, 5000, 20000};
    struct coll_comm k[COMMS];
    MPI_Op ops[2];
    MPI_Init(&argc, &argv);
    test_begin();
    comms_open(k);
    shapes_open();
    MPI_Op_create(compose_op, 0, &ops[0]);
    MPI_Op_create(add_op, 1, &ops[1]);
    for (int c = 0; c < 6 * SHAPES * COMMS; c++) {
        const struct coll_comm *on = &k[c % COMMS];
        long n = counts[c / COMMS % 6];
        now = &shapes[c / COMMS / 6];
        if (n * size > 100000) continue;
        for (commutes = 0; commutes < 2; commutes++)
            for (int in_place = 0; in_place < 2; in_place++) {
                for (int root = 0; root < on->size; root += n < 1000 && root < 4 ? 1 : on->size)
                    reduce(on, ops[commutes], n, root, in_place);
                for (int which = ALLREDUCE; which <= EXSCAN; which++) to_all(on, ops[commutes], n, which, in_place);
                if (n * size < 30000) reduce_scatter(on, ops[commutes], n, 0, in_place);
                if (n * size < 30000) reduce_scatter(on, ops[commutes], n, 1, in_place);
            }
    }
    for (int i = 0; i < SHAPES; i++) MPI_Type_free(&shapes[i].type);
    MPI_Op_free(&ops[0]);
    MPI_Op_free(&ops[1]);
    comms_close(k);
    return test_end();
}
