/* coll_check.h -- what the collective tests share: layouts of ints in memory, and boxes whose every byte is checked.
 *
 * A box holds a buffer and the image that it must have in the end, guards and gaps included; box_check compares them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_COLL_CHECK_H
#define GW_TEST_COLL_CHECK_H

#include "p2p_check.h"

enum { GUARD = 64 };
struct box {
    unsigned char *is, *want, *mem;
    long bytes;
};

static inline struct box box_new(long bytes)
{
    struct box b = {.bytes = bytes};
    b.mem = malloc((size_t)(bytes + 2 * GUARD));
    b.want = malloc((size_t)(bytes + 2 * GUARD));
    memset(b.mem, 0xa5, (size_t)(bytes + 2 * GUARD));
    memset(b.want, 0xa5, (size_t)(bytes + 2 * GUARD));
    b.is = b.mem + GUARD;
    b.want += GUARD;
    return b;
}
/* What the buffer must hold at the end. */
static inline void box_want(struct box *b, long at, const void *v, long n) { memcpy(b->want + at, v, (size_t)n); }
/* What it holds before, too. */
static inline void box_put(struct box *b, long at, const void *v, long n)
{
    memcpy(b->is + at, v, (size_t)n);
    box_want(b, at, v, n);
}
static inline void box_check(struct box *b, const char *what)
{
    long n = b->bytes + 2 * GUARD;
    if (memcmp(b->mem, b->want - GUARD, (size_t)n) != 0 && failures++ < 20) {
        long i = 0;
        while (b->mem[i] == b->want[i - GUARD]) i++;
        int is, want;
        long word = (i - GUARD) & ~3l;
        memcpy(&is, b->is + word, 4);
        memcpy(&want, b->want + word, 4);
        fprintf(stderr, "rank %d: %s: byte %ld of %ld differs: the word is %#x, not %#x\n", rank, what, i - GUARD, b->bytes,
                (unsigned)is, (unsigned)want);
    }
    free(b->mem);
    free(b->want - GUARD);
}

/* How ints lie in memory: int i at first + i / per * extent + i % per * stride. */
struct layout {
    MPI_Datatype type;
    long per, extent, first, stride;
};
enum layout_kind { DENSE, GAPPED, PAIRS, SWAPPED, WHOLE, LAYOUTS };

static inline MPI_Datatype type_resized(MPI_Datatype old, long lb, long extent)
{
    MPI_Datatype t;
    MPI_Type_create_resized(old, lb, extent, &t);
    MPI_Type_commit(&t);
    MPI_Type_free(&old);
    return t;
}
/* A layout for multiples of n ints. */
static inline struct layout layout_new(enum layout_kind kind, int n)
{
    struct layout l = {MPI_INT, 1, 4, 0, 0};
    MPI_Aint at[2] = {4, 0}, two[2] = {0, 12};
    if (n == 0 || ((kind == PAIRS || kind == SWAPPED) && n % 2)) kind = GAPPED;
    if (kind == DENSE) MPI_Type_dup(MPI_INT, &l.type);
    if (kind == GAPPED) {
        MPI_Type_create_hindexed_block(1, 1, at, MPI_INT, &l.type);
        l = (struct layout){type_resized(l.type, 0, 12), 1, 12, 4, 0};
    }
    if (kind == PAIRS) {
        MPI_Type_create_hindexed_block(2, 1, two, MPI_INT, &l.type);
        l = (struct layout){type_resized(l.type, 0, 20), 2, 20, 0, 12};
    }
    if (kind == SWAPPED) {
        MPI_Type_create_hindexed_block(2, 1, at, MPI_INT, &l.type);
        l = (struct layout){type_resized(l.type, 0, 8), 2, 8, 4, -4};
    }
    if (kind == WHOLE) {
        MPI_Type_vector(n, 1, 2, MPI_INT, &l.type);
        l = (struct layout){l.type, n, 8l * n - 4, 0, 8};
    }
    MPI_Type_commit(&l.type);
    return l;
}
static inline long layout_at(const struct layout *l, long i) { return l->first + i / l->per * l->extent + i % l->per * l->stride; }
/* Room for n ints, from displacement 0 on. */
static inline long layout_bytes(const struct layout *l, long n) { return n / l->per * l->extent; }

/* The int that `from` holds for `to` (or for all: 0) at index i. */
static inline int value_of(int from, int to, long i)
{
    return (int)((unsigned)from * 7919u + (unsigned)to * 104729u + (unsigned)i * 31u + 5u);
}
/* n such ints from int `start` of the box on. */
static inline void ints_put(struct box *b, const struct layout *l, long start, long n, int from, int to)
{
    for (long i = 0; i < n; i++) box_put(b, layout_at(l, start + i), &(int){value_of(from, to, i)}, 4);
}
static inline void ints_want(struct box *b, const struct layout *l, long start, long n, int from, int to)
{
    for (long i = 0; i < n; i++) box_want(b, layout_at(l, start + i), &(int){value_of(from, to, i)}, 4);
}

/* ---- communicators to test on ------------------------------------------------------------------------------------------ */
struct coll_comm {
    MPI_Comm c;
    int rank, size;
    const char *name;
};
enum { COMMS = 3 };
static inline void comms_open(struct coll_comm *k)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &k[0].c);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &k[1].c);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &k[2].c);
    static const char *const names[] = {"world", "reversed", "half"};
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_rank(k[i].c, &k[i].rank);
        MPI_Comm_size(k[i].c, &k[i].size);
        k[i].name = names[i];
    }
}
static inline void comms_close(struct coll_comm *k)
{
    for (int i = 0; i < COMMS; i++) MPI_Comm_free(&k[i].c);
}

#endif
