/* cases_test.c -- datatypes: sizes beyond 31 bits, refusals, known bytes of external32, parameterised types, names.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/type.h"
#include "base/base.h"

#include <stdlib.h>
#include <wchar.h>

#include "../../test/unit.h"

#define COUNTS(...) ((struct gw_counts){(const int64_t[]){__VA_ARGS__}, true})
#define INTS(...)   ((struct gw_counts){(const int[]){__VA_ARGS__}, false})
static const int64_t huge = (int64_t)1 << 61;

/* One dimension over `procs` processes. */
static int line_darray(int procs, int rank, struct gw_counts size, int kind, int arg, struct gw_type *old, struct gw_type **out)
{
    return type_darray(procs, rank, 1, size, &kind, &arg, &procs, GW_ORDER_C, old, out);
}

static struct gw_type *named(uint32_t id) { return (struct gw_type *)gw_obj_lookup(id, GW_KIND_TYPE); }

static void expect(struct gw_type *t, int64_t size, int64_t lb, int64_t extent, int64_t true_lb, int64_t true_extent)
{
    int64_t got[5];
    CHECK_EQ(type_size(t, &got[0]), GW_OK);
    CHECK_EQ(type_get_extent(t, &got[1], &got[2]), GW_OK);
    CHECK_EQ(type_get_true_extent(t, &got[3], &got[4]), GW_OK);
    CHECK_EQ(got[0], size);
    CHECK_EQ(got[1], lb);
    CHECK_EQ(got[2], extent);
    CHECK_EQ(got[3], true_lb);
    CHECK_EQ(got[4], true_extent);
}

static void free_all(struct gw_type **types, int n)
{
    for (int i = 0; i < n; i++) CHECK_EQ(type_free(&types[i]), GW_OK);
}

/* ---- bounds of what is not aligned ------------------------------------------------------------------------------- */
/* The new type ends where its last old type ends, or later, though by the definition (MPI 4.1, section 5.1) padding is added once, behind the
 * basic elements: 476, 12 and 12 for the unaligned ones below.  Users take "last displacement plus extent" for granted; Open MPI has the same numbers as
 * we, and MPICH pads structs alone, but counts whole old types as well. */
static void test_unaligned(void)
{
    struct gw_type *t[6], *ints = gw_type_int;
    int64_t extent;
    CHECK_EQ(type_hvector(3, 4, 25, ints, &t[0]), GW_OK);
    expect(t[0], 48, 0, 68, 0, 66);
    CHECK_EQ(type_get_extent(t[0], &(int64_t){0}, &extent), GW_OK);
    CHECK_EQ(type_hvector(2, 3, 4 * extent + 1, t[0], &t[1]), GW_OK);
    expect(t[1], 288, 0, 480, 0, 475); /* 273 + 3 * 68 = 477 */
    CHECK_EQ(type_hvector(3, 2, 1, ints, &t[2]), GW_OK);
    expect(t[2], 24, 0, 12, 0, 10);
    CHECK_EQ(type_hvector(2, 1, 1, t[2], &t[3]), GW_OK);
    expect(t[3], 48, 0, 16, 0, 11);
    CHECK_EQ(type_struct(2, INTS(1, 1), COUNTS(0, 4), (struct gw_type *[]){ints, gw_type_byte}, &t[4]), GW_OK);
    expect(t[4], 5, 0, 8, 0, 5);
    CHECK_EQ(type_hindexed(2, INTS(1, 1), COUNTS(-3, 2), t[4], &t[5]), GW_OK);
    expect(t[5], 10, -3, 16, -3, 10); /* 2 + 8 = 10, 13 bytes from -3 on */
    free_all(t, 6);
}

/* ---- more than 2^31 of everything -------------------------------------------------------------------------------- */
static void test_large_sizes(void)
{
    const int64_t gib = 1 << 30;
    struct gw_type *t[8], *ints = gw_type_int, *doubles = named(GW_H_DOUBLE);
    struct gw_status s = {0};
    int64_t n, lo, hi;
    CHECK_EQ(type_contiguous(3 * gib, ints, &t[0]), GW_OK);
    expect(t[0], 12 * gib, 0, 12 * gib, 0, 12 * gib);
    CHECK_EQ(type_contiguous(gib / 16, t[0], &t[1]), GW_OK);
    expect(t[1], 3 * gib * gib / 4, 0, 3 * gib * gib / 4, 0, 3 * gib * gib / 4);
    CHECK_EQ(type_vector(gib, 5, 1000, doubles, &t[2]), GW_OK);
    expect(t[2], 40 * gib, 0, (gib - 1) * 8000 + 40, 0, (gib - 1) * 8000 + 40);
    CHECK_EQ(type_hindexed(2, COUNTS(3 * gib, 1), COUNTS(-7 * gib, 99 * gib), ints, &t[3]), GW_OK);
    expect(t[3], 12 * gib + 4, -7 * gib, 106 * gib + 4, -7 * gib, 106 * gib + 4);
    CHECK_EQ(type_subarray(2, COUNTS(4 * gib, 8), COUNTS(3 * gib, 2), COUNTS(5, 6), GW_ORDER_C, ints, &t[4]), GW_OK);
    expect(t[4], 24 * gib, 0, 128 * gib, (5 * 8 + 6) * 4, (3 * gib - 1) * 32 + 8);
    CHECK_EQ(line_darray(4, 3, COUNTS(10 * gib), GW_DISTRIBUTE_CYCLIC, 2147483647, gw_type_byte, &t[5]), GW_OK);
    expect(t[5], 2147483647, 0, 10 * gib, 3 * 2147483647ll, 2147483647);
    /* All in the first block, however large blocks might be. */
    CHECK_EQ(line_darray(4, 0, INTS(10), GW_DISTRIBUTE_CYCLIC, 2147483647, t[0], &t[6]), GW_OK);
    expect(t[6], 120 * gib, 0, 120 * gib, 0, 120 * gib);
    gw_status_fill(&s, 0, 0, 36 * gib, false);
    CHECK_EQ(type_get_count(&s, t[0], &n), GW_OK);
    CHECK_EQ(n, 3);
    CHECK_EQ(type_get_elements(&s, t[2], &n), GW_OK);
    CHECK_EQ(n, 36 * gib / 8);
    CHECK_EQ(type_status_set_elements(&s, t[2], 5 * gib - 1), GW_OK);
    CHECK_EQ(gw_status_bytes(&s), 40 * gib - 8);
    CHECK_EQ(type_status_set_elements(&s, t[2], -1), GW_ECOUNT);
    CHECK_EQ(type_status_set_elements(&s, doubles, INT64_MAX / 8), GW_OK);
    CHECK_EQ(gw_status_bytes(&s), INT64_MAX / 8 * 8);
    CHECK_EQ(type_status_set_elements(&s, doubles, INT64_MAX / 8 + 1), GW_ECOUNT);
    CHECK_EQ(type_status_set_elements(&s, t[2], INT64_MAX - 5), GW_ECOUNT);
    CHECK_EQ(gw_status_bytes(&s), INT64_MAX / 8 * 8);
    CHECK(type_bounds(t[3], 2, &lo, &hi));
    CHECK(lo == -7 * gib && hi == 205 * gib + 8);
    CHECK(!type_bounds(t[1], 2 * gib, &lo, &hi));
    CHECK_EQ(type_mpi_pack_size(2 * gib, t[1], &n), GW_ECOUNT);
    CHECK_EQ(type_mpi_pack_external_size("external32", 2 * gib, t[1], &n), GW_ECOUNT);
    CHECK_EQ(type_mpi_pack_external_size("external32", 2, t[2], &n), GW_OK);
    CHECK_EQ(n, 80 * gib);
    free_all(t, 7);
}

/* A cursor far out in a type that no memory could hold: only addresses are computed. */
static void test_large_cursor(void)
{
    const int64_t tib = (int64_t)1 << 40;
    struct gw_type *row, *t;
    struct type_cursor c;
    struct iovec iov[4];
    char *base = (char *)(uintptr_t)(64 * tib);
    int64_t bytes;
    CHECK_EQ(type_vector(tib / 1024, 3, 4, gw_type_int, &row), GW_OK); /* 12 of every 16 bytes */
    CHECK_EQ(type_resized(row, 0, -tib / 8, &t), GW_OK);
    type_cursor_init(&c, gw_data_host(base, 3, t));
    CHECK_EQ(c.data.bytes, 3 * 12 * (tib / 1024));
    type_cursor_seek(&c, 2 * 12 * (tib / 1024) - 5); /* in the last block of the second instance */
    CHECK_EQ(type_cursor_iov(&c, iov, 4, 20, &bytes), 3);
    CHECK_EQ(bytes, 20);
    char *second = base - tib / 8, *third = base - tib / 4;
    CHECK(iov[0].iov_base == second + 16 * (tib / 1024 - 1) + 7 && iov[0].iov_len == 5);
    CHECK(iov[1].iov_base == third && iov[1].iov_len == 12);
    CHECK(iov[2].iov_base == third + 16 && iov[2].iov_len == 3);
    CHECK_EQ(type_free(&row), GW_OK);
    CHECK_EQ(type_free(&t), GW_OK);
}

/* Contents of calls that end in _c keep what no int can. */
static void test_large_contents(void)
{
    struct gw_type *t[4], *types[1];
    int64_t n_ints, n_aints, n_counts, n_types, counts[4], aints[4], big = 5000000000;
    int combiner, ints[8];
    CHECK_EQ(type_contiguous(big, gw_type_int, &t[0]), GW_OK);
    CHECK_EQ(type_hindexed_block(1, big, COUNTS(-big), gw_type_int, &t[1]), GW_OK);
    CHECK_EQ(type_hvector(2, big, 9 * big, gw_type_int, &t[2]), GW_OK);
    CHECK_EQ(type_indexed(1, COUNTS(big), COUNTS(-big), gw_type_int, &t[3]), GW_OK);
    const struct {
        int combiner, n;
        int64_t v[3];
    } want[] = {{GW_COMBINER_CONTIGUOUS, 1, {big}},
                {GW_COMBINER_HINDEXED_BLOCK, 3, {1, big, -big}},
                {GW_COMBINER_HVECTOR, 3, {2, big, 9 * big}},
                {GW_COMBINER_INDEXED, 3, {1, big, -big}}};
    for (int i = 0; i < 4; i++) {
        type_mark_large(t[i]);
        type_mark_large(t[i]);
        CHECK_EQ(type_get_envelope(t[i], &n_ints, &n_aints, &n_counts, &n_types, &combiner), GW_OK);
        CHECK(n_ints == 0 && n_aints == 0 && n_counts == want[i].n && n_types == 1 && combiner == want[i].combiner);
        CHECK_EQ(type_get_contents(t[i], 0, 0, n_counts - 1, 1, ints, aints, counts, types), GW_EARG);
        CHECK_EQ(type_get_contents(t[i], 0, 0, n_counts, 0, ints, aints, counts, types), GW_EARG);
        CHECK_EQ(type_get_contents(t[i], 0, 0, 4, 1, ints, aints, counts, types), GW_OK);
        CHECK(types[0] == gw_type_int);
        for (int k = 0; k < want[i].n; k++) CHECK_EQ(counts[k], want[i].v[k]);
    }
    CHECK_EQ(type_get_contents(gw_type_int, 0, 0, 0, 0, ints, aints, counts, types), GW_ETYPE);
    free_all(t, 4);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */
static void test_too_large(void)
{
    struct gw_type *t = NULL, *half, *wide;
    CHECK_EQ(type_contiguous(huge, gw_type_byte, &half), GW_OK);
    CHECK_EQ(type_contiguous(4, half, &t), GW_ECOUNT);
    CHECK_EQ(type_contiguous(INT64_MAX, half, &t), GW_ECOUNT);
    CHECK_EQ(type_hvector(INT64_MAX, INT64_MAX, INT64_MAX, half, &t), GW_ECOUNT);
    CHECK_EQ(type_hvector(INT64_MAX, INT64_MAX, INT64_MIN, half, &t), GW_ECOUNT);
    CHECK_EQ(type_hvector(INT64_MAX, INT64_MAX, 0, half, &t), GW_ECOUNT); /* all in one place, but so many of them */
    CHECK_EQ(type_hindexed(2, COUNTS(1, 1), COUNTS(INT64_MIN, INT64_MAX), half, &t), GW_ECOUNT);
    CHECK_EQ(type_vector(2, 1, INT64_MAX, half, &t), GW_EARG);
    CHECK_EQ(type_indexed(1, COUNTS(1), COUNTS(INT64_MAX), half, &t), GW_EARG);
    struct gw_counts large = COUNTS(huge, huge), last = COUNTS(huge - 1, huge - 1);
    CHECK_EQ(type_subarray(2, large, COUNTS(1, 1), last, GW_ORDER_C, half, &t), GW_EARG);
    CHECK_EQ(type_subarray(1, COUNTS(8), COUNTS(1), COUNTS(7), GW_ORDER_C, half, &t), GW_EARG);
    const int none[] = {GW_DISTRIBUTE_NONE, GW_DISTRIBUTE_NONE}, ones[] = {1, 1};
    CHECK_EQ(type_darray(1, 0, 2, large, none, ones, ones, GW_ORDER_C, half, &t), GW_EARG);
    CHECK_EQ(line_darray(3, 2, COUNTS(INT64_MAX), GW_DISTRIBUTE_BLOCK, GW_DISTRIBUTE_DFLT_DARG, gw_type_byte, &t),
             GW_EARG); /* 3 blocks are more than 2^63 */
    CHECK_EQ(type_resized(gw_type_int, INT64_MAX, INT64_MAX, &wide), GW_OK);
    CHECK_EQ(type_contiguous(2, wide, &t), GW_ECOUNT);
    CHECK(t == NULL);
    CHECK_EQ(type_free(&half), GW_OK);
    CHECK_EQ(type_free(&wide), GW_OK);
}

static void test_bad_arguments(void)
{
    struct gw_type *t = NULL, *old = gw_type_int;
    const int block = GW_DISTRIBUTE_BLOCK, none = GW_DISTRIBUTE_NONE, dflt = GW_DISTRIBUTE_DFLT_DARG;
    CHECK_EQ(type_contiguous(-1, old, &t), GW_ECOUNT);
    CHECK_EQ(type_vector(-1, 1, 1, old, &t), GW_ECOUNT);
    CHECK_EQ(type_vector(1, -1, 1, old, &t), GW_ECOUNT);
    CHECK_EQ(type_hvector(1, -1, 1, old, &t), GW_ECOUNT);
    CHECK_EQ(type_indexed(-1, INTS(0), INTS(0), old, &t), GW_ECOUNT);
    CHECK_EQ(type_indexed(2, INTS(1, -1), INTS(0, 0), old, &t), GW_ECOUNT);
    CHECK_EQ(type_indexed_block(2, -1, INTS(0, 0), old, &t), GW_ECOUNT);
    CHECK_EQ(type_subarray(0, INTS(1), INTS(1), INTS(0), GW_ORDER_C, old, &t), GW_EARG);
    CHECK_EQ(type_subarray(1, INTS(1), INTS(1), INTS(0), 0, old, &t), GW_EARG);
    CHECK_EQ(type_subarray(1, INTS(0), INTS(1), INTS(0), GW_ORDER_C, old, &t), GW_EARG);
    CHECK_EQ(type_subarray(1, INTS(4), INTS(5), INTS(0), GW_ORDER_C, old, &t), GW_EARG);
    CHECK_EQ(type_subarray(1, INTS(4), INTS(0), INTS(0), GW_ORDER_C, old, &t), GW_EARG);
    CHECK_EQ(type_subarray(1, INTS(4), INTS(2), INTS(3), GW_ORDER_C, old, &t), GW_EARG);
    CHECK_EQ(type_subarray(1, INTS(4), INTS(2), INTS(-1), GW_ORDER_C, old, &t), GW_EARG);
    CHECK_EQ(type_darray(2, 2, 1, INTS(8), &block, &dflt, INTS(2).v, GW_ORDER_C, old, &t), GW_EARG);     /* rank */
    CHECK_EQ(type_darray(3, 0, 1, INTS(8), &block, &dflt, INTS(2).v, GW_ORDER_C, old, &t), GW_EARG);     /* grid */
    CHECK_EQ(type_darray(2, 0, 1, INTS(8), &none, &dflt, INTS(2).v, GW_ORDER_C, old, &t), GW_EARG);      /* none on 2 */
    CHECK_EQ(type_darray(2, 0, 1, INTS(8), &block, INTS(3).v, INTS(2).v, GW_ORDER_C, old, &t), GW_EARG); /* 2 x 3 < 8 */
    CHECK_EQ(type_darray(2, 0, 1, INTS(8), &block, INTS(0).v, INTS(2).v, GW_ORDER_C, old, &t), GW_EARG);
    CHECK_EQ(type_darray(2, 0, 1, INTS(8), INTS(1).v, &dflt, INTS(2).v, GW_ORDER_C, old, &t), GW_EARG);
    CHECK_EQ(type_darray(2, 0, 1, INTS(0), &block, &dflt, INTS(2).v, GW_ORDER_C, old, &t), GW_EARG);
    const int blocks[] = {block, block}, negative[] = {-2, -2}, defaults[] = {dflt, dflt};
    CHECK_EQ(type_darray(4, 0, 2, INTS(8, 8), blocks, defaults, negative, GW_ORDER_C, old, &t), GW_EARG);
    CHECK_EQ(type_darray(0, 0, 1, INTS(8), &block, &dflt, INTS(0).v, GW_ORDER_C, old, &t), GW_EARG);
    CHECK(t == NULL);
    struct gw_type *predefined = gw_type_int;
    CHECK_EQ(type_free(&predefined), GW_ETYPE);
    CHECK(predefined == gw_type_int);
}

/* ---- pack and unpack with positions ------------------------------------------------------------------------------ */
static void test_positions(void)
{
    char out[16];
    int in[3] = {1, 2, 3}, back[3] = {0};
    int64_t at = 0, size;
    CHECK_EQ(type_mpi_pack(in, 1, gw_type_int, out, 12, &at), GW_OK);
    CHECK_EQ(type_mpi_pack(in + 1, 2, gw_type_int, out, 11, &at), GW_ETRUNCATE);
    CHECK_EQ(at, 4);
    CHECK_EQ(type_mpi_pack(in + 1, 2, gw_type_int, out, 12, &at), GW_OK);
    CHECK_EQ(at, 12);
    CHECK_EQ(type_mpi_pack(in, 0, gw_type_int, out, 12, &at), GW_OK);
    CHECK_EQ(type_mpi_pack(in, 1, gw_type_int, out, 12, &at), GW_ETRUNCATE);
    at = 13;
    CHECK_EQ(type_mpi_pack(in, 0, gw_type_int, out, 12, &at), GW_EARG);
    at = -1;
    CHECK_EQ(type_mpi_unpack(out, 12, &at, back, 1, gw_type_int), GW_EARG);
    at = 4;
    CHECK_EQ(type_mpi_unpack(out, 12, &at, back, 3, gw_type_int), GW_ETRUNCATE);
    CHECK_EQ(type_mpi_unpack(out, 12, &at, back, 2, gw_type_int), GW_OK);
    CHECK(at == 12 && back[0] == 2 && back[1] == 3 && back[2] == 0);
    CHECK_EQ(type_mpi_pack_external_size("native", 1, gw_type_int, &size), GW_EARG);
    CHECK_EQ(type_mpi_pack(in, INT64_MAX, gw_type_int, out, 16, &at), GW_ECOUNT);
}

/* Absolute addresses: the buffer is NULL (MPI_BOTTOM). */
static void test_bottom(void)
{
    static int32_t a[4] = {1, 2, 3, 4}, b[7] = {5, 6, 7, 8, 9, 10, 11};
    int64_t at[3] = {(int64_t)(intptr_t)a, (int64_t)(intptr_t)(b + 5), (int64_t)(intptr_t)b};
    int32_t got[4], want[4] = {2, 10, 5, 7};
    struct gw_type *pair, *types[3], *t;
    struct type_cursor c;
    struct iovec iov[4];
    int64_t bytes;
    CHECK_EQ(type_vector(2, 1, 2, gw_type_int, &pair), GW_OK);
    at[0] += 4;
    types[0] = types[1] = gw_type_int, types[2] = pair;
    CHECK_EQ(type_struct(3, INTS(1, 1, 1), (struct gw_counts){at, true}, types, &t), GW_OK);
    type_pack(NULL, 1, t, got);
    CHECK(memcmp(got, want, sizeof want) == 0);
    for (int i = 0; i < 4; i++) got[i] = 100 + i;
    type_unpack(NULL, 1, t, got);
    CHECK(a[1] == 100 && b[5] == 101 && b[0] == 102 && b[2] == 103 && a[0] == 1 && b[1] == 6);
    type_cursor_init(&c, gw_data_host(NULL, 1, t));
    CHECK_EQ(type_cursor_iov(&c, iov, 4, 16, &bytes), 4);
    CHECK(iov[0].iov_base == a + 1 && iov[3].iov_base == b + 2);
    CHECK_EQ(type_copy(NULL, 1, t, got, 4, gw_type_int), 16);
    CHECK_EQ(type_copy(got, 4, gw_type_int, NULL, 1, t), 16);
    CHECK_EQ(type_free(&t), GW_OK);
    CHECK_EQ(type_contiguous(4, gw_type_int, &t), GW_OK);
    CHECK_EQ(type_free(&pair), GW_OK);
    CHECK_EQ(type_hindexed_block(1, 1, (struct gw_counts){at + 2, true}, t, &pair), GW_OK); /* dense at an address */
    type_pack(NULL, 1, pair, got);
    CHECK(got[0] == 102 && got[2] == 103);
    CHECK_EQ(type_free(&t), GW_OK);
    CHECK_EQ(type_free(&pair), GW_OK);
}

/* Every size of block: those that have loops of their own, and others; regular, equal and different blocks. */
static void test_block_sizes(void)
{
    enum { BLOCKS = 5, LONGEST = 70 };
    static const int64_t gaps[BLOCKS] = {0, 3, 1, 2, 7};
    char mem[BLOCKS * (LONGEST + 8)], back[sizeof mem], got[BLOCKS * LONGEST], want[BLOCKS * LONGEST];
    for (size_t i = 0; i < sizeof mem; i++) mem[i] = (char)(i * 7 + i / 256);
    for (int64_t len = 1; len < LONGEST; len++)
        for (int shape = 0; shape < 3; shape++) {
            struct gw_type *t;
            int64_t at[BLOCKS], lens[BLOCKS], n = 0, total = 0;
            for (int i = 0; i < BLOCKS; i++) {
                lens[i] = len + (shape == 2 ? i & 1 : 0);
                at[i] = n + (shape ? gaps[i] : 0);
                n = at[i] + lens[i] + (shape ? 1 : 3);
                memcpy(want + total, mem + at[i], (size_t)lens[i]);
                total += lens[i];
            }
            struct gw_counts places = {at, true};
            if (shape < 2)
                CHECK_EQ(type_indexed_block(BLOCKS, len, places, gw_type_byte, &t), GW_OK);
            else
                CHECK_EQ(type_indexed(BLOCKS, (struct gw_counts){lens, true}, places, gw_type_byte, &t), GW_OK);
            type_pack(mem, 1, t, got);
            CHECK(memcmp(got, want, (size_t)total) == 0);
            memcpy(back, mem, sizeof mem);
            for (int i = 0; i < BLOCKS; i++) memset(back + at[i], 0, (size_t)lens[i]);
            type_unpack(back, 1, t, want);
            CHECK(memcmp(back, mem, sizeof mem) == 0);
            CHECK_EQ(type_free(&t), GW_OK);
        }
}

/* ---- external32 -------------------------------------------------------------------------------------------------- */
/* `value` becomes these bytes and they become the value again. */
static void external(uint32_t id, const void *value, size_t size, const char *bytes, int64_t n)
{
    struct gw_type *t = named(id);
    _Alignas(16) char out[64], back[64];
    int64_t at = 0, need;
    CHECK_EQ(type_mpi_pack_external_size("external32", 1, t, &need), GW_OK);
    CHECK_EQ(need, n);
    memset(out, '#', sizeof out);
    CHECK_EQ(type_mpi_pack_external("external32", value, 1, t, out, n, &at), GW_OK);
    CHECK_EQ(at, n);
    CHECK(memcmp(out, bytes, (size_t)n) == 0 && out[n] == '#');
    memset(back, 0, sizeof back);
    at = 0;
    CHECK_EQ(type_mpi_unpack_external("external32", bytes, n, &at, back, 1, t), GW_OK);
    CHECK(memcmp(back, value, size) == 0);
}
#define EXTERNAL(id, ctype, v, bytes)                                                                                              \
    external(id, &(ctype){v}, id == GW_H_LONG_DOUBLE ? 10 : sizeof(ctype), bytes, (int64_t)sizeof(bytes) - 1)

static void test_external_bytes(void)
{
    EXTERNAL(GW_H_INT, int, 0x01020304, "\1\2\3\4");
    EXTERNAL(GW_H_INT, int, -2, "\377\377\377\376");
    EXTERNAL(GW_H_SHORT, short, -2, "\377\376");
    EXTERNAL(GW_H_CHAR, char, 'x', "x");
    EXTERNAL(GW_H_DOUBLE, double, 1.0, "\x3f\xf0\0\0\0\0\0\0");
    EXTERNAL(GW_H_FLOAT, float, -2.5f, "\xc0\x20\0\0");
    EXTERNAL(GW_H_LONG, long, 5, "\0\0\0\5");
    EXTERNAL(GW_H_LONG, long, -5, "\377\377\377\373");
    EXTERNAL(GW_H_LONG, long, -2147483648l, "\200\0\0\0");
    EXTERNAL(GW_H_UNSIGNED_LONG, unsigned long, 4294967295ul, "\377\377\377\377");
    EXTERNAL(GW_H_LONG_LONG, long long, -5, "\377\377\377\377\377\377\377\373");
    EXTERNAL(GW_H_INT64_T, int64_t, 5, "\0\0\0\0\0\0\0\5");
    EXTERNAL(GW_H_AINT, int64_t, 5, "\0\0\0\0\0\0\0\5");
    EXTERNAL(GW_H_C_BOOL, bool, true, "\1");
    EXTERNAL(GW_H_WCHAR, wchar_t, 0xfffe, "\377\376");
    EXTERNAL(GW_H_LONG_DOUBLE, long double, 1.5L, "\x3f\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0\0");
    EXTERNAL(GW_H_LONG_DOUBLE, long double, -0.0L, "\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    EXTERNAL(GW_H_LONG_DOUBLE, long double, __builtin_infl(), "\x7f\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    EXTERNAL(GW_H_C_FLOAT_COMPLEX, float _Complex, 1.0f - 2.5fi, "\x3f\x80\0\0\xc0\x20\0\0");
    if (named(GW_H_COMPLEX4)->size > 0) EXTERNAL(GW_H_COMPLEX4, uint32_t, 0x44332211, "\x22\x11\x44\x33");
    EXTERNAL(GW_H_C_DOUBLE_COMPLEX, double _Complex, 1.0 + 2.0i, "\x3f\xf0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0");
    char complex[2][16] = {{0}}; /* padding is zero */
    const size_t used = __LDBL_MANT_DIG__ == 64 ? 10 : 16;
    memcpy(complex[0], &(long double){1.5L}, used);
    memcpy(complex[1], &(long double){-2.0L}, used);
    external(GW_H_C_LONG_DOUBLE_COMPLEX, complex, sizeof complex,
             "\x3f\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32);
    struct {
        long value;
        int index;
    } long_int = {-3, 7};
    external(GW_H_LONG_INT, &long_int, 12, "\377\377\377\375\0\0\0\7", 8);
    struct {
        short value;
        int index;
    } short_int;
    memset(&short_int, 0, sizeof short_int);
    short_int.value = 258, short_int.index = 7;
    external(GW_H_SHORT_INT, &short_int, 8, "\1\2\0\0\0\7", 6);
    long long_value = 1l << 31;
    unsigned long unsigned_value = 1ul << 32;
    wchar_t wide_value = 0x10000;
    char out[8];
    int64_t at = 0;
    CHECK_EQ(type_mpi_pack_external("external32", &long_value, 1, named(GW_H_LONG), out, 8, &at), GW_ECONVERSION);
    long_value = -long_value - 1;
    CHECK_EQ(type_mpi_pack_external("external32", &long_value, 1, named(GW_H_LONG), out, 8, &at), GW_ECONVERSION);
    struct gw_type *unsigned_long = named(GW_H_UNSIGNED_LONG);
    CHECK_EQ(type_mpi_pack_external("external32", &unsigned_value, 1, unsigned_long, out, 8, &at), GW_ECONVERSION);
    CHECK_EQ(type_mpi_pack_external("external32", &wide_value, 1, named(GW_H_WCHAR), out, 8, &at), GW_ECONVERSION);
    CHECK_EQ(at, 0);
    CHECK_EQ(type_mpi_pack_external("external32", &long_value, 2, named(GW_H_INT), out, 7, &at), GW_ETRUNCATE);
    CHECK_EQ(type_mpi_unpack_external("external32", out, 7, &at, &long_value, 2, named(GW_H_INT)), GW_ETRUNCATE);
}

/* ---- named and parameterised types ------------------------------------------------------------------------------- */
static void test_predefined(void)
{
    struct gw_type *t, *again, *type;
    expect(named(GW_H_SHORT_INT), 6, 0, 8, 0, 8);
    expect(named(GW_H_DOUBLE_INT), 12, 0, 16, 0, 12);
    const int64_t ld = sizeof(long double);
    expect(named(GW_H_LONG_DOUBLE_INT), ld + 4, 0, 2 * ld, 0, ld + 4);
    expect(named(GW_H_C_LONG_DOUBLE_COMPLEX), 2 * ld, 0, 2 * ld, 0, 2 * ld);
    CHECK_EQ(type_match_size(GW_TYPECLASS_REAL, 8, &t), GW_OK);
    CHECK(t == named(GW_H_REAL8));
    CHECK_EQ(type_match_size(GW_TYPECLASS_REAL, 3, &t), GW_EARG);
    CHECK_EQ(type_match_size(77, 8, &t), GW_EARG);
    CHECK_EQ(type_get_value_index(named(GW_H_DOUBLE), gw_type_int, &t), GW_OK);
    CHECK(t == named(GW_H_DOUBLE_INT));
    CHECK_EQ(type_get_value_index(gw_type_int, named(GW_H_DOUBLE), &t), GW_OK);
    CHECK(t == NULL);
    const int64_t sizes[] = {4, 8, 16};
    const int digits[] = {6, 15, 33};
    for (int i = 0; i < 3; i++) {
        int64_t n_ints, n_aints, n_counts, n_types;
        int combiner, ints[2];
        CHECK_EQ(type_f90_real(digits[i], GW_UNDEFINED, &t), GW_OK);
        expect(t, sizes[i], 0, sizes[i], 0, sizes[i]);
        CHECK_EQ(type_f90_real(digits[i], GW_UNDEFINED, &again), GW_OK);
        CHECK(t == again && t->committed);
        type = t;
        CHECK_EQ(type_free(&type), GW_ETYPE);
        CHECK_EQ(type_get_envelope(t, &n_ints, &n_aints, &n_counts, &n_types, &combiner), GW_OK);
        CHECK(n_ints == 2 && n_aints == 0 && n_counts == 0 && n_types == 0 && combiner == GW_COMBINER_F90_REAL);
        CHECK_EQ(type_get_contents(t, 2, 0, 0, 0, ints, NULL, NULL, NULL), GW_OK);
        CHECK(ints[0] == digits[i] && ints[1] == GW_UNDEFINED);
        CHECK_EQ(type_f90_complex(digits[i], GW_UNDEFINED, &t), GW_OK);
        expect(t, 2 * sizes[i], 0, 2 * sizes[i], 0, 2 * sizes[i]);
    }
    CHECK_EQ(type_f90_real(34, 10, &t), GW_EARG);
    CHECK_EQ(type_f90_real(GW_UNDEFINED, GW_UNDEFINED, &t), GW_EARG);
    CHECK_EQ(type_f90_integer(9, &t), GW_OK);
    expect(t, 4, 0, 4, 0, 4);
    CHECK_EQ(type_f90_integer(39, &t), GW_EARG);
    CHECK_EQ(type_f90_integer(10, &t), GW_OK); /* children may be such types, and are not freed with their parents */
    CHECK_EQ(type_contiguous(3, t, &again), GW_OK);
    expect(again, 24, 0, 24, 0, 24);
    CHECK_EQ(again->basic, GW_ELEM_I64);
    CHECK_EQ(type_free(&again), GW_OK);
}

/* Attributes go with a dup; where a copy function refuses there is no dup. */
static int copy_answer, copies, deletes;
static int call_copy(const struct gw_keyval *kv, struct gw_obj *owner, void *in, void *out, int *flag_out)
{
    (void)kv, (void)owner;
    copies++;
    *flag_out = 1;
    *(void **)out = (char *)in + 1;
    return copies == 2 ? copy_answer : GW_OK;
}
static int call_delete(const struct gw_keyval *kv, struct gw_obj *owner, void *value)
{
    (void)kv, (void)owner, (void)value;
    deletes++;
    return GW_OK;
}
static void some_function(void) {}

static void test_dup(void)
{
    struct gw_type *t, *copy = NULL;
    int keys[2], flag, place;
    void *value;
    obj_upcalls.attr_copy = call_copy;
    obj_upcalls.attr_delete = call_delete;
    CHECK_EQ(type_contiguous(2, gw_type_int, &t), GW_OK);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(gw_keyval_create(GW_KIND_TYPE, some_function, some_function, NULL, &keys[i]), GW_OK);
        CHECK_EQ(gw_attr_set(&t->attrs, &t->obj, keys[i], &place), GW_OK);
    }
    copy_answer = GW_EOTHER;
    CHECK_EQ(type_dup(t, &copy), GW_EOTHER);
    CHECK(copy == NULL && copies == 2 && deletes == 1); /* the one that was copied is deleted */
    CHECK_EQ(type_commit(&t), GW_OK);
    copies = deletes = 0;
    copy_answer = GW_OK;
    CHECK_EQ(type_dup(t, &copy), GW_OK);
    CHECK(copy->committed && copies == 2);
    CHECK_EQ(gw_attr_get(&copy->attrs, &copy->obj, keys[0], &value, &flag), GW_OK);
    CHECK(flag && value == (char *)&place + 1);
    CHECK_EQ(type_free(&t), GW_OK);
    CHECK_EQ(deletes, 2);
    CHECK_EQ(type_free(&copy), GW_OK);
    CHECK_EQ(deletes, 4);
    for (int i = 0; i < 2; i++) CHECK_EQ(gw_keyval_free(&keys[i], GW_KIND_TYPE), GW_OK);
}

/* Each handle that contents give is one to free, beside the maker's; the last one ends the number. */
static void test_handles(void)
{
    struct gw_type *inner, *outer, *got[3];
    int ints[1];
    CHECK_EQ(type_contiguous(2, gw_type_int, &inner), GW_OK);
    CHECK_EQ(type_contiguous(2, inner, &outer), GW_OK);
    for (int i = 0; i < 3; i++) {
        uint32_t id = inner->obj.id;
        for (int k = 0; k < 3; k++) CHECK_EQ(type_get_contents(outer, 1, 0, 0, 1, ints, NULL, NULL, &got[k]), GW_OK);
        for (int k = 0; k < 3; k++) {
            CHECK(gw_obj_lookup(id, GW_KIND_TYPE) == &inner->obj && got[k] == inner);
            CHECK_EQ(type_free(&got[k]), GW_OK);
        }
        CHECK(gw_obj_lookup(id, GW_KIND_TYPE) == &inner->obj);
        CHECK_EQ(type_free(&inner), GW_OK);
        CHECK(gw_obj_lookup(id, GW_KIND_TYPE) == NULL);
        CHECK_EQ(type_get_contents(outer, 1, 0, 0, 1, ints, NULL, NULL, &inner), GW_OK); /* under a new number */
        CHECK(inner->obj.id && inner->obj.id != id);
    }
    CHECK_EQ(type_free(&outer), GW_OK);
    CHECK_EQ(inner->size, 8);
    CHECK_EQ(type_free(&inner), GW_OK);
}

/* Arrays of no entries may be NULL. */
static void test_null_arrays(void)
{
    const struct gw_counts nothing[] = {{NULL, false}, {NULL, true}};
    struct gw_type *t[4];
    int64_t n_ints, n_aints, n_counts, n_types;
    for (int wide = 0; wide < 2; wide++) {
        CHECK_EQ(type_struct(0, nothing[wide], nothing[1], NULL, &t[0]), GW_OK);
        CHECK_EQ(type_indexed(0, nothing[wide], nothing[wide], gw_type_int, &t[1]), GW_OK);
        CHECK_EQ(type_hindexed(0, nothing[wide], nothing[1], gw_type_int, &t[2]), GW_OK);
        CHECK_EQ(type_indexed_block(0, 5, nothing[wide], gw_type_int, &t[3]), GW_OK);
        for (int i = 0; i < 4; i++) {
            int combiner, ints[2] = {-1, -1};
            int64_t aints[1], counts[2] = {-1, -1};
            struct gw_type *types[1];
            CHECK_EQ(type_get_envelope(t[i], &n_ints, &n_aints, &n_counts, &n_types, &combiner), GW_OK);
            CHECK_EQ(wide ? n_counts : n_ints, i == 3 ? 2 : 1);
            CHECK_EQ(n_ints + n_counts + n_aints, i == 3 ? 2 : 1);
            CHECK_EQ(n_types, i ? 1 : 0);
            CHECK_EQ(type_get_contents(t[i], n_ints, 0, n_counts, 1, ints, aints, counts, types), GW_OK);
            CHECK_EQ(wide ? counts[0] : ints[0], 0);
            CHECK_EQ(wide ? counts[1] : ints[1], i == 3 ? 5 : -1);
            expect(t[i], 0, 0, 0, 0, 0);
        }
        free_all(t, 4);
    }
}

/* Types without data. */
static void test_empty(void)
{
    struct gw_type *t, *outer;
    struct gw_status s = {0};
    int64_t n, lo, hi;
    CHECK_EQ(type_struct(0, INTS(0), COUNTS(0), NULL, &t), GW_OK);
    expect(t, 0, 0, 0, 0, 0);
    CHECK_EQ(type_hindexed(1, INTS(1), COUNTS(100), t, &outer), GW_OK); /* displaces nothing */
    expect(outer, 0, 0, 0, 0, 0);
    for (int bytes = 0; bytes < 2; bytes++) {
        gw_status_fill(&s, 0, 0, bytes, false);
        CHECK_EQ(type_get_count(&s, outer, &n), GW_OK);
        CHECK_EQ(n, bytes ? GW_UNDEFINED : 0);
        CHECK_EQ(type_get_elements(&s, outer, &n), GW_OK);
        CHECK_EQ(n, bytes ? GW_UNDEFINED : 0);
    }
    CHECK_EQ(type_status_set_elements(&s, outer, 0), GW_OK);
    CHECK_EQ(gw_status_bytes(&s), 0);
    CHECK(type_bounds(outer, 5, &lo, &hi) && lo == 0 && hi == 0);
    CHECK_EQ(type_free(&outer), GW_OK);
    CHECK_EQ(type_resized(t, 4, 16, &outer), GW_OK); /* but a bound counts without data too */
    CHECK_EQ(type_free(&t), GW_OK);
    CHECK_EQ(type_hindexed(1, INTS(2), COUNTS(100), outer, &t), GW_OK);
    expect(t, 0, 104, 32, 0, 0);
    type_pack(NULL, 3, t, NULL);
    CHECK_EQ(type_copy(NULL, 3, t, NULL, 0, gw_type_int), 0);
    CHECK_EQ(type_free(&outer), GW_OK);
    CHECK_EQ(type_free(&t), GW_OK);
}

static void test_names_and_life(void)
{
    struct gw_type *t, *inner;
    char name[GW_MAX_OBJECT_NAME], longest[GW_MAX_OBJECT_NAME + 10];
    int len;
    CHECK_EQ(type_get_name(gw_type_int, name, &len), GW_OK);
    CHECK_STR(name, "MPI_INT");
    CHECK_EQ(len, 7);
    CHECK_EQ(type_contiguous(2, gw_type_int, &inner), GW_OK);
    CHECK_EQ(type_get_name(inner, name, &len), GW_OK);
    CHECK(len == 0 && !*name);
    memset(longest, 'n', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    CHECK_EQ(type_set_name(inner, longest), GW_OK);
    CHECK_EQ(type_get_name(inner, name, &len), GW_OK);
    CHECK_EQ(len, GW_MAX_OBJECT_NAME - 1);
    CHECK_EQ(type_set_name(gw_type_int, "other"), GW_OK);
    CHECK_STR(type_name(gw_type_int), "other");
    CHECK_EQ(type_vector(2, 1, 2, inner, &t), GW_OK);
    CHECK(!t->committed);
    CHECK_EQ(type_commit(&t), GW_OK);
    CHECK(t->committed);
    uint32_t id = inner->obj.id;
    CHECK_EQ(type_free(&inner), GW_OK);
    CHECK(inner == NULL && gw_obj_lookup(id, GW_KIND_TYPE) == NULL);
    int32_t got[4], mem[6] = {1, 2, 3, 4, 5, 6};
    type_pack(mem, 1, t, got); /* the program of the freed type is still in use */
    CHECK(got[0] == 1 && got[1] == 2 && got[2] == 5 && got[3] == 6);
    type_hold(t); /* a communication */
    inner = t;
    CHECK_EQ(type_free(&t), GW_OK);
    CHECK_EQ(inner->size, 16);
    type_release(inner);
}

/* Any number of nothing is moved at once: a loop over them would take years. */
static void test_much_of_nothing(void)
{
    struct gw_type *t[3];
    const int64_t many = (int64_t)1 << 50;
    char in[2] = "x", out[2] = "";
    int64_t at = 0;
    CHECK_EQ(type_contiguous(0, gw_type_int, &t[0]), GW_OK);
    CHECK_EQ(type_vector(0, 4 * (many << 10), 0, gw_type_int, &t[1]), GW_OK); /* none of very large blocks */
    expect(t[1], 0, 0, 0, 0, 0);
    CHECK_EQ(type_mpi_pack_external_size("external32", 7, t[1], &at), GW_OK);
    CHECK_EQ(at, 0);
    CHECK_EQ(type_free(&t[1]), GW_OK);
    CHECK_EQ(type_vector(many, many, 0, t[0], &t[1]), GW_OK);
    CHECK_EQ(type_struct(2, COUNTS(many, 1), COUNTS(0, 0), (struct gw_type *[]){t[1], gw_type_byte}, &t[2]), GW_OK);
    CHECK_EQ(type_mpi_pack_external("external32", in, many, t[1], out, 0, &at), GW_OK);
    CHECK_EQ(at, 0);
    CHECK_EQ(type_mpi_pack_external("external32", in, 1, t[2], out, 1, &at), GW_OK);
    CHECK(at == 1 && out[0] == 'x');
    at = 0;
    CHECK_EQ(type_mpi_unpack_external("external32", "y", 1, &at, in, 1, t[2]), GW_OK);
    CHECK(at == 1 && in[0] == 'y');
    at = INT64_MAX; /* refused before the address is made */
    CHECK_EQ(type_mpi_unpack_external("external32", "y", 1, &at, in, 1, t[2]), GW_EARG);
    at = -1;
    CHECK_EQ(type_mpi_pack_external("external32", in, 1, t[2], out, 1, &at), GW_EARG);
    CHECK_EQ(at, -1);
    free_all(t, 3);
}

int main(void)
{
    CHECK_EQ(type_init(), GW_OK);
    test_unaligned();
    test_large_sizes();
    test_large_cursor();
    test_large_contents();
    test_too_large();
    test_bad_arguments();
    test_positions();
    test_bottom();
    test_block_sizes();
    test_external_bytes();
    test_predefined();
    test_dup();
    test_handles();
    test_null_arrays();
    test_empty();
    test_much_of_nothing();
    test_names_and_life();
    type_finalize();
    gw_obj_finalize();
    return unit_end();
}
