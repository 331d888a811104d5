/* pack.c -- packing and unpacking of 27 layouts against loops written by hand for each: GB/s and the ratio, wanted 0.95.
 *
 * One process, no MPI: links with the type room.  Best of many short runs, library and loop by turns.  The data fits the
 * second-level cache, so that the loops and not the memory are measured.  `bench_pack NAME` runs one layout.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/time.h"
#include "type/type.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { TURNS = 60, MEMORY = 4 << 20, N = 8192, SIDE = 64, CUBE = 32 };

/* One body for both directions: MOVE(type, place in the stream, place in memory), in items of that type. */
#define MOVE(T, at, from)                                                                                                          \
    do {                                                                                                                           \
        if (PACK)                                                                                                                  \
            ((T *)s)[at] = ((T *)m)[from];                                                                                         \
        else                                                                                                                       \
            ((T *)m)[from] = ((T *)s)[at];                                                                                         \
    } while (0)
#define COPY(at, from, bytes) (PACK ? memcpy(s + (at), m + (from), bytes) : memcpy(m + (from), s + (at), bytes))
#define HAND(name, ...)                                                                                                            \
    static __attribute__((noinline)) void pack_##name(char *restrict s, char *restrict m)                                          \
    {                                                                                                                              \
        enum { PACK = 1 };                                                                                                         \
        __VA_ARGS__                                                                                                                \
    }                                                                                                                              \
    static __attribute__((noinline)) void unpack_##name(char *restrict s, char *restrict m)                                        \
    {                                                                                                                              \
        enum { PACK = 0 };                                                                                                         \
        __VA_ARGS__                                                                                                                \
    }
#define EACH(i, n) for (long i = 0; i < (n); i++)

typedef struct {
    char b[7];
} seven;
struct particle {
    char kind;
    double x[3];
    short id;
    float charge;
    long cell;
};
struct packed_particle {
    char kind;
    double x[3];
    short id;
    float charge;
    long cell;
} __attribute__((packed));
struct cell {
    double value;
    int where;
};
struct element {
    int nodes[3];
    double area[2];
};
struct packed_element {
    int nodes[3];
    double area[2];
} __attribute__((packed));
static int places[N], lengths[N]; /* of the indexed layouts */

/* Numbers that a program knows only when it runs. */
long n_items = N, step2 = 2, step3 = 3, step5 = 5, step7 = 7, step9 = 9, step12 = 12, step64 = 64, side = SIDE, edge = CUBE,
     halo = 12, wide = 16;

HAND(contiguous, COPY(0, 0, (size_t)n_items * sizeof(double));)
HAND(vector_1_double, EACH(i, n_items) MOVE(double, i, step2 *i);)
HAND(column_double, EACH(i, n_items / 4) MOVE(double, i, step64 *i);)
HAND(vector_1_float, EACH(i, n_items) MOVE(float, i, step3 *i);)
HAND(vector_1_char, EACH(i, n_items) MOVE(char, i, step2 *i);)
HAND(vector_1_short, EACH(i, n_items) MOVE(short, i, step5 *i);)
HAND(
    vector_2_double, EACH(i, n_items) {
        MOVE(double, 2 * i, step5 * i);
        MOVE(double, 2 * i + 1, step5 * i + 1);
    })
HAND(vector_3_double, EACH(i, n_items) EACH(k, 3) MOVE(double, 3 * i + k, step7 *i + k);)
HAND(vector_5_int, EACH(i, n_items) EACH(k, 5) MOVE(int, 5 * i + k, step9 *i + k);)
HAND(vector_8_double, EACH(i, n_items / 4) EACH(k, 8) MOVE(double, 8 * i + k, step12 *i + k);)
HAND(vector_512_bytes, EACH(i, n_items / 32) COPY(512 * i, 800 * i, 512);)
HAND(vector_7_bytes, EACH(i, n_items) MOVE(seven, i, step2 *i);)
HAND(indexed_1_double, EACH(i, n_items) MOVE(double, i, places[i]);)
HAND(indexed_3_int, EACH(i, n_items) EACH(k, 3) MOVE(int, 3 * i + k, 4 * places[i] + k);)
HAND(
    indexed_lengths, long at = 0; EACH(i, n_items / 2) {
        EACH(k, lengths[i]) MOVE(double, at + k, 10 * i + k);
        at += lengths[i];
    })
HAND(
    particles, EACH(i, n_items / 4) {
        struct particle *p = (struct particle *)m + i;
        struct packed_particle *q = (struct packed_particle *)s + i;
        if (PACK) {
            q->kind = p->kind;
            memcpy(q->x, p->x, sizeof p->x);
            q->id = p->id;
            q->charge = p->charge;
            q->cell = p->cell;
        } else {
            p->kind = q->kind;
            memcpy(p->x, q->x, sizeof p->x);
            p->id = q->id;
            p->charge = q->charge;
            p->cell = q->cell;
        }
    })
HAND(cells, EACH(i, n_items) COPY(12 * i, 16 * i, 12);)
HAND(
    double_int, EACH(i, n_items) {
        *(double *)(PACK ? s + 12 * i : m + 16 * i) = *(double *)(PACK ? m + 16 * i : s + 12 * i);
        *(int *)(PACK ? s + 12 * i + 8 : m + 16 * i + 8) = *(int *)(PACK ? m + 16 * i + 8 : s + 12 * i + 8);
    })
HAND(
    elements, EACH(i, n_items / 2) {
        struct element *e = (struct element *)m + i;
        struct packed_element *q = (struct packed_element *)s + i;
        if (PACK) {
            memcpy(q->nodes, e->nodes, sizeof e->nodes);
            memcpy(q->area, e->area, sizeof e->area);
        } else {
            memcpy(e->nodes, q->nodes, sizeof e->nodes);
            memcpy(e->area, q->area, sizeof e->area);
        }
    })
HAND(indexed_3_double, EACH(i, n_items / 2) EACH(k, 3) MOVE(double, 3 * i + k, 4 * places[i] + k);)
HAND(rgb_of_rgba, EACH(i, 2 * n_items) EACH(k, 3) MOVE(char, 3 * i + k, 4 * i + k);)
/* 16 x 12 x 12 x 12 floats inside of 24 x 16 x 16 x 16. */
HAND(
    inside_4d, EACH(t, halo) EACH(z, halo) EACH(y, halo) EACH(x, halo + 4) {
        MOVE(float, ((t * halo + z) * halo + y) * (halo + 4) + x, (((t + 2) * wide + z + 2) * wide + y + 2) * (wide + 8) + x + 4);
    })
/* Faces and inside of a cube of doubles, x fastest. */
#define XYZ(x, y, z) (((z)*side + (y)) * side + (x))
HAND(face_x, EACH(z, side) EACH(y, side) MOVE(double, z *side + y, XYZ(1, y, z));)
HAND(face_y, EACH(z, side) COPY(z *side * 8, XYZ(0, 1, z) * 8, (size_t)side * 8);)
HAND(face_z, COPY(0, XYZ(0, 0, 1) * 8, (size_t)(side *side) * 8);)
HAND(cube, EACH(z, edge) EACH(y, edge) COPY((z * edge + y) * edge * 8, XYZ(3, y + 5, z + 7) * 8, (size_t)edge * 8);)
HAND(transpose, EACH(j, side) EACH(i, side) MOVE(double, j *side + i, i *side + j);)

/* ---- the same as types -------------------------------------------------------------------------------------------------- */
static struct gw_type *named(uint32_t id) { return (struct gw_type *)gw_obj_lookup(id, GW_KIND_TYPE); }
static struct gw_type *ok(int rc, struct gw_type *t)
{
    if (rc != GW_OK || type_commit(&t) != GW_OK) {
        fprintf(stderr, "%s\n", gw_fail_text());
        exit(1);
    }
    return t;
}
static struct gw_type *vector(long count, long len, long stride, uint32_t id)
{
    struct gw_type *t = NULL;
    int rc = type_vector(count, len, stride, named(id), &t);
    return ok(rc, t);
}
static struct gw_type *indexed(long count, long len, int scale, uint32_t id)
{
    static int at[N];
    struct gw_type *t = NULL;
    for (int i = 0; i < count; i++) at[i] = scale * places[i];
    int rc = type_indexed_block(count, len, (struct gw_counts){at, false}, named(id), &t);
    return ok(rc, t);
}
static struct gw_type *by_lengths(void)
{
    static int at[N];
    struct gw_type *t = NULL;
    for (int i = 0; i < N / 2; i++) at[i] = 10 * i;
    int rc = type_indexed(N / 2, (struct gw_counts){lengths, false}, (struct gw_counts){at, false}, named(GW_H_DOUBLE), &t);
    return ok(rc, t);
}
static struct gw_type *members(int n, const int *len, const int64_t *at, const uint32_t *ids)
{
    struct gw_type *t = NULL, *types[5];
    for (int i = 0; i < n; i++) types[i] = named(ids[i]);
    int rc = type_struct(n, (struct gw_counts){len, false}, (struct gw_counts){at, true}, types, &t);
    return ok(rc, t);
}
static struct gw_type *particle_type(void)
{
    static const int64_t at[] = {0, offsetof(struct particle, x), offsetof(struct particle, id), offsetof(struct particle, charge),
                                 offsetof(struct particle, cell)};
    return members(5, (int[]){1, 3, 1, 1, 1}, at, (uint32_t[]){GW_H_CHAR, GW_H_DOUBLE, GW_H_SHORT, GW_H_FLOAT, GW_H_LONG});
}
static struct gw_type *subarray(int nx, int ny, int nz, int x, int y, int z)
{
    struct gw_type *t = NULL;
    int sizes[3] = {SIDE, SIDE, SIDE}, sub[3] = {nz, ny, nx}, start[3] = {z, y, x};
    int rc = type_subarray(3, (struct gw_counts){sizes, false}, (struct gw_counts){sub, false}, (struct gw_counts){start, false},
                           GW_ORDER_C, named(GW_H_DOUBLE), &t);
    return ok(rc, t);
}
static struct gw_type *columns(void)
{
    struct gw_type *col = vector(SIDE, 1, SIDE, GW_H_DOUBLE), *t = NULL;
    int rc = type_hvector(SIDE, 1, sizeof(double), col, &t);
    return ok(rc, t);
}
static struct gw_type *cell_type(void) { return members(2, (int[]){1, 1}, (int64_t[]){0, 8}, (uint32_t[]){GW_H_DOUBLE, GW_H_INT}); }

static struct gw_type *element_type(void)
{
    return members(2, (int[]){3, 2}, (int64_t[]){0, offsetof(struct element, area)}, (uint32_t[]){GW_H_INT, GW_H_DOUBLE});
}
static struct gw_type *rgb_type(void)
{
    struct gw_type *three = vector(1, 3, 3, GW_H_CHAR), *t = NULL;
    int rc = type_resized(three, 0, 4, &t);
    return ok(rc, t);
}
static struct gw_type *inside_type(void)
{
    struct gw_type *t = NULL;
    int sizes[] = {16, 16, 16, 24}, sub[] = {12, 12, 12, 16}, start[] = {2, 2, 2, 4};
    int rc = type_subarray(4, (struct gw_counts){sizes, false}, (struct gw_counts){sub, false}, (struct gw_counts){start, false},
                           GW_ORDER_C, named(GW_H_FLOAT), &t);
    return ok(rc, t);
}

struct layout {
    const char *name;
    void (*pack)(char *restrict, char *restrict), (*unpack)(char *restrict, char *restrict);
    struct gw_type *type;
    long count;
};
#define ROW(name, type, count)                                                                                                     \
    {                                                                                                                              \
#name, pack_##name, unpack_##name, type, count                                                                             \
    }

/* ---- timing --------------------------------------------------------------------------------------------------------------- */
static char *memory, *stream, *other;

static double ns_of(const struct layout *l, bool hand, bool pack, int reps)
{
    uint64_t t0 = gw_now_ns();
    for (int i = 0; i < reps; i++) {
        if (hand)
            (pack ? l->pack : l->unpack)(stream, memory);
        else if (pack)
            type_pack(memory, l->count, l->type, stream);
        else
            type_unpack(memory, l->count, l->type, stream);
    }
    return (double)(gw_now_ns() - t0) / reps;
}

static bool same(const struct layout *l, int64_t bytes)
{
    for (long i = 0; i < MEMORY; i++) memory[i] = (char)(i * 7 + (i >> 9));
    l->pack(stream, memory);
    type_pack(memory, l->count, l->type, other);
    if (memcmp(stream, other, (size_t)bytes)) return false;
    char *first = malloc(MEMORY);
    memset(memory, 0, MEMORY);
    l->unpack(stream, memory);
    memcpy(first, memory, MEMORY);
    memset(memory, 0, MEMORY);
    type_unpack(memory, l->count, l->type, stream);
    bool equal = !memcmp(first, memory, MEMORY);
    free(first);
    return equal;
}

static bool run(const struct layout *l)
{
    int64_t bytes = 0;
    bool good = true;
    type_size(l->type, &bytes);
    bytes *= l->count;
    if (!same(l, bytes)) {
        printf("%-18s the library and the loop do not agree\n", l->name);
        return false;
    }
    printf("%-18s %7lld", l->name, (long long)bytes);
    for (int pack = 1; pack >= 0; pack--) {
        double best[2] = {1e30, 1e30};
        int reps = 1 + (int)(200000 / (ns_of(l, true, pack, 3) + 1));
        for (int turn = 0; turn < TURNS; turn++)
            for (int hand = 0; hand < 2; hand++) {
                double ns = ns_of(l, hand, pack, reps);
                if (ns < best[hand]) best[hand] = ns;
            }
        double ratio = best[1] / best[0];
        good = good && ratio >= 0.95;
        printf("  %8.2f %8.2f %6.2f%s", (double)bytes / best[0], (double)bytes / best[1], ratio, ratio < 0.95 ? "*" : " ");
    }
    printf("\n");
    return good;
}

/* So that it does not matter which pages of the cache the kernel's choice of small pages would share. */
static char *large_pages(void)
{
    char *p = aligned_alloc(2 << 20, MEMORY);
    if (!p) exit(1);
    madvise(p, MEMORY, MADV_HUGEPAGE);
    return p;
}

int main(int argc, char **argv)
{
    type_init();
    memory = large_pages(), stream = large_pages(), other = large_pages();
    for (int i = 0; i < N; i++) lengths[i] = 1 + i * 7 % 8;
    for (int i = 0; i < N; i++) places[i] = 2 * i + i * 7 % 3 / 2; /* ascending, uneven steps */
    const struct layout layouts[] = {
        ROW(contiguous, vector(1, N, N, GW_H_DOUBLE), 1),
        ROW(vector_1_double, vector(N, 1, 2, GW_H_DOUBLE), 1),
        ROW(column_double, vector(N / 4, 1, 64, GW_H_DOUBLE), 1),
        ROW(vector_1_float, vector(N, 1, 3, GW_H_FLOAT), 1),
        ROW(vector_1_char, vector(N, 1, 2, GW_H_CHAR), 1),
        ROW(vector_1_short, vector(N, 1, 5, GW_H_SHORT), 1),
        ROW(vector_2_double, vector(N, 2, 5, GW_H_DOUBLE), 1),
        ROW(vector_3_double, vector(N, 3, 7, GW_H_DOUBLE), 1),
        ROW(vector_5_int, vector(N, 5, 9, GW_H_INT), 1),
        ROW(vector_8_double, vector(N / 4, 8, 12, GW_H_DOUBLE), 1),
        ROW(vector_512_bytes, vector(256, 512, 800, GW_H_BYTE), 1),
        ROW(vector_7_bytes, vector(N, 7, 14, GW_H_BYTE), 1),
        ROW(indexed_1_double, indexed(N, 1, 1, GW_H_DOUBLE), 1),
        ROW(indexed_3_int, indexed(N, 3, 4, GW_H_INT), 1),
        ROW(indexed_lengths, by_lengths(), 1),
        ROW(particles, particle_type(), N / 4),
        ROW(cells, cell_type(), N),
        ROW(face_x, subarray(1, SIDE, SIDE, 1, 0, 0), 1),
        ROW(face_y, subarray(SIDE, 1, SIDE, 0, 1, 0), 1),
        ROW(face_z, subarray(SIDE, SIDE, 1, 0, 0, 1), 1),
        ROW(cube, subarray(CUBE, CUBE, CUBE, 3, 5, 7), 1),
        ROW(transpose, columns(), 1),
        ROW(double_int, named(GW_H_DOUBLE_INT), N),
        ROW(elements, element_type(), N / 2),
        ROW(indexed_3_double, indexed(N / 2, 3, 4, GW_H_DOUBLE), 1),
        ROW(rgb_of_rgba, rgb_type(), 2 * N),
        ROW(inside_4d, inside_type(), 1),
    };
    bool all = true;
    printf("%-18s %7s  %8s %8s %6s   %8s %8s %6s\n", "layout", "bytes", "pack", "by hand", "ratio", "unpack", "by hand", "ratio");
    for (size_t i = 0; i < GW_ARRAY_LEN(layouts); i++)
        if (argc < 2 || !strcmp(argv[1], layouts[i].name)) all = run(&layouts[i]) && all;
    printf(all ? "all at 0.95 or better (GB/s)\n" : "* below 0.95 (GB/s)\n");
    return 0;
}
