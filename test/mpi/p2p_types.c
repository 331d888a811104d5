/* p2p_types.c -- derived types on either or both sides of a message: dense, strided, small and large blocks, all protocols.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

/* A layout of ints: `count` of `type` cover n ints at the places that at() lists. */
struct layout {
    MPI_Datatype type;
    int count;
    long span;   /* ints of memory that it lies in */
    long *place; /* [n], in type order */
};

static void layout_free(struct layout *l)
{
    MPI_Type_free(&l->type);
    free(l->place);
}

static struct layout layout_contiguous(long n)
{
    struct layout l = {MPI_DATATYPE_NULL, 1, n, malloc((size_t)n * sizeof(long) + 1)};
    MPI_Type_contiguous((int)n, MPI_INT, &l.type);
    for (long i = 0; i < n; i++) l.place[i] = i;
    MPI_Type_commit(&l.type);
    return l;
}

static struct layout layout_vector(long n, int block, int stride)
{
    struct layout l = {MPI_DATATYPE_NULL, 1, n / block * stride + block, malloc((size_t)n * sizeof(long) + 1)};
    MPI_Type_vector((int)(n / block), block, stride, MPI_INT, &l.type);
    for (long i = 0; i < n; i++) l.place[i] = i / block * stride + i % block;
    MPI_Type_commit(&l.type);
    return l;
}

/* Many instances of a small struct with gaps: int, gap, two ints, gap. */
static struct layout layout_struct(long n)
{
    struct layout l = {MPI_DATATYPE_NULL, (int)(n / 3), n / 3 * 6 + 6, malloc((size_t)n * sizeof(long) + 1)};
    int lens[2] = {1, 2};
    MPI_Aint displs[2] = {0, 2 * (MPI_Aint)sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT}, inner;
    MPI_Type_create_struct(2, lens, displs, types, &inner);
    MPI_Type_create_resized(inner, 0, 6 * (MPI_Aint)sizeof(int), &l.type);
    MPI_Type_free(&inner);
    for (long i = 0; i < n; i++) l.place[i] = i / 3 * 6 + (i % 3 == 0 ? 0 : 1 + i % 3);
    MPI_Type_commit(&l.type);
    return l;
}

/* Blocks in falling order. */
static struct layout layout_backwards(long n, int block)
{
    int blocks = (int)(n / block);
    int *lens = malloc((size_t)blocks * sizeof *lens + 1), *displs = malloc((size_t)blocks * sizeof *displs + 1);
    struct layout l = {MPI_DATATYPE_NULL, 1, (long)blocks * block * 2, malloc((size_t)n * sizeof(long) + 1)};
    for (int b = 0; b < blocks; b++) {
        lens[b] = block;
        displs[b] = (blocks - 1 - b) * block * 2;
        for (int i = 0; i < block; i++) l.place[b * block + i] = displs[b] + i;
    }
    MPI_Type_indexed(blocks, lens, displs, MPI_INT, &l.type);
    MPI_Type_commit(&l.type);
    free(lens);
    free(displs);
    return l;
}

enum { LAYOUTS = 7 };
static struct layout layout_make(int which, long n)
{
    switch (which) {
    case 0: return layout_contiguous(n);
    case 1: return layout_vector(n, 1, 2);
    case 2: return layout_vector(n, 6, 7);
    case 3: return layout_vector(n, n >= 600 ? (int)(n / 6) : 2, n >= 600 ? (int)(n / 6) + 5 : 3);
    case 4: return layout_struct(n);
    case 5: return layout_backwards(n, 3);
    default: return layout_backwards(n, n % 1200 == 0 ? 600 : 6);
    }
}

static void exchange(int from_layout, int to_layout, long n, int mode, int turn)
{
    int partner = rank ^ 1, is_sender = (rank & 1) == turn;
    if (partner >= size) return;
    struct layout l = layout_make(is_sender ? from_layout : to_layout, n);
    int *b = malloc((size_t)l.span * sizeof *b + sizeof *b), *model = malloc((size_t)l.span * sizeof *b + sizeof *b);
    memset(b, 0x5a, (size_t)l.span * sizeof *b);
    memset(model, 0x5a, (size_t)l.span * sizeof *b);
    for (long i = 0; i < n; i++) model[l.place[i]] = (int)(i * 7 + from_layout * 100 + to_layout);
    MPI_Request q;
    if (is_sender) {
        memcpy(b, model, (size_t)l.span * sizeof *b);
        if (mode == 0) {
            MPI_Send(b, l.count, l.type, partner, 4, MPI_COMM_WORLD);
            layout_free(&l);
        } else {
            if (mode == 1) MPI_Isend(b, l.count, l.type, partner, 4, MPI_COMM_WORLD, &q);
            if (mode == 2) MPI_Issend(b, l.count, l.type, partner, 4, MPI_COMM_WORLD, &q);
            layout_free(&l); /* the operation goes on all the same */
            MPI_Wait(&q, MPI_STATUS_IGNORE);
        }
    } else {
        MPI_Status s;
        int got, elements;
        MPI_Irecv(b, l.count, l.type, partner, 4, MPI_COMM_WORLD, &q);
        struct layout again = layout_make(to_layout, n);
        layout_free(&l);
        MPI_Wait(&q, &s);
        MPI_Get_count(&s, again.type, &got);
        MPI_Get_elements(&s, again.type, &elements);
        CHECK_EQ(got, again.count);
        CHECK_EQ(elements, n);
        CHECK(memcmp(b, model, (size_t)again.span * sizeof *b) == 0);
        layout_free(&again);
    }
    free(b);
    free(model);
}

/* Fewer items than the receive could take: only so many places change. */
static void short_message(int layout, long n, long sent)
{
    int partner = rank ^ 1;
    if (partner >= size) return;
    if (rank & 1) {
        int *v = malloc((size_t)sent * sizeof *v + 1);
        for (long i = 0; i < sent; i++) v[i] = (int)i;
        MPI_Send(v, (int)sent, MPI_INT, partner, 5, MPI_COMM_WORLD);
        free(v);
        return;
    }
    struct layout l = layout_make(layout, n);
    int *b = malloc((size_t)l.span * sizeof *b + sizeof *b), *model = malloc((size_t)l.span * sizeof *b + sizeof *b);
    memset(b, 0x5a, (size_t)l.span * sizeof *b);
    memset(model, 0x5a, (size_t)l.span * sizeof *b);
    for (long i = 0; i < sent; i++) model[l.place[i]] = (int)i;
    MPI_Status s;
    MPI_Recv(b, l.count, l.type, partner, 5, MPI_COMM_WORLD, &s);
    int elements;
    MPI_Get_elements(&s, l.type, &elements);
    CHECK_EQ(elements, sent);
    CHECK(memcmp(b, model, (size_t)l.span * sizeof *b) == 0);
    layout_free(&l);
    free(b);
    free(model);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    static const long counts[] = {6, 12, 2400, 12000, 120000, 360000};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        for (int from = 0; from < LAYOUTS; from++)
            for (int to = 0; to < LAYOUTS; to++) exchange(from, to, counts[k], (from + to) % 3, (from + (int)k) % 2);
    for (int l = 0; l < LAYOUTS; l++) {
        short_message(l, 12, 5);
        short_message(l, 12, 0);
        short_message(l, 12000, 4001);
        short_message(l, 120000, 100003);
    }
    return test_end();
}
