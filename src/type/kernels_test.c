/* kernels_test.c -- many small blocks of every size and kind of layout, packed and unpacked whole and in pieces, byte by byte.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/type_private.h"
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>

#include "../../test/unit.h"

enum { MAX_BLOCKS = 40, ROUNDS = 4000 };

static uint64_t state = 0x853c49e6748fea9bu;
static int64_t rnd(int64_t n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int64_t)((state >> 11) % (uint64_t)n);
}

/* One instance: blocks in the order of the stream, none overlapping. */
struct layout {
    int n;
    int64_t at[MAX_BLOCKS], len[MAX_BLOCKS], extent, size;
};

static struct layout layout_random(void)
{
    struct layout l = {.n = 1 + (int)rnd(rnd(3) ? 6 : MAX_BLOCKS)};
    int64_t end = 0, most = rnd(3) ? 70 : 9, same = rnd(3) ? 0 : 1 + rnd(most), step = same && rnd(2) ? same + rnd(9) : 0;
    for (int i = 0; i < l.n; i++) {
        l.len[i] = same ? same : 1 + rnd(most);
        l.at[i] = step ? i * step : end + (rnd(3) ? rnd(20) : 0);
        end = l.at[i] + l.len[i];
        l.size += l.len[i];
    }
    if (rnd(3) == 0) /* another order in the stream */
        for (int i = l.n - 1; i > 0; i--) {
            int j = (int)rnd(i + 1);
            int64_t at = l.at[i], len = l.len[i];
            l.at[i] = l.at[j], l.len[i] = l.len[j], l.at[j] = at, l.len[j] = len;
        }
    l.extent = end + rnd(30);
    return l;
}

/* A few small blocks with gaps, as of a structure. */
static struct layout layout_structure(void)
{
    struct layout l = {.n = 1 + (int)rnd(6)};
    int64_t end = 0, most = rnd(2) ? 15 : 34;
    for (int i = 0; i < l.n; i++) {
        l.len[i] = 1 + rnd(most);
        l.at[i] = end + rnd(4);
        end = l.at[i] + l.len[i];
        l.size += l.len[i];
    }
    l.extent = end + rnd(9);
    return l;
}

/* `base`: where displacements are counted from, 0 or an address. */
static struct gw_type *layout_type(const struct layout *l, bool backwards, int64_t base)
{
    struct gw_type *t = NULL, *r = NULL;
    int64_t at[MAX_BLOCKS];
    for (int i = 0; i < l->n; i++) at[i] = base + l->at[i];
    CHECK_EQ(type_hindexed(l->n, (struct gw_counts){l->len, true}, (struct gw_counts){at, true}, gw_type_byte, &t), GW_OK);
    CHECK_EQ(type_resized(t, 0, backwards ? -l->extent : l->extent, &r), GW_OK);
    type_release(t);
    return r;
}

static void check_layout(const struct layout *l, int64_t count, bool backwards)
{
    struct gw_type *t = layout_type(l, backwards, 0);
    int64_t bytes = count * l->size, span = count * l->extent, k = 0;
    char *memory = malloc((size_t)span + 1), *stream = malloc((size_t)bytes + 1), *got = malloc((size_t)bytes + 1);
    char *back = malloc((size_t)span + 1), *want = malloc((size_t)span + 1), *base = backwards ? memory + span - l->extent : memory;
    for (int64_t i = 0; i < span; i++) memory[i] = (char)rnd(256);
    memset(want, 0x66, (size_t)span);
    for (int64_t c = 0; c < count; c++)
        for (int i = 0; i < l->n; i++) {
            char *p = base + c * (backwards ? -l->extent : l->extent) + l->at[i];
            memcpy(stream + k, p, (size_t)l->len[i]);
            memcpy(want + (p - memory), p, (size_t)l->len[i]);
            k += l->len[i];
        }
    CHECK_EQ(k, bytes);
    type_pack(base, count, t, got);
    CHECK(!memcmp(got, stream, (size_t)bytes));
    memset(back, 0x66, (size_t)span);
    type_unpack(back + (base - memory), count, t, stream);
    CHECK(!memcmp(back, want, (size_t)span));
    /* with addresses for displacements */
    struct gw_type *absolute = layout_type(l, backwards, (int64_t)(uintptr_t)base);
    memset(got, 0, (size_t)bytes);
    type_pack(NULL, count, absolute, got);
    CHECK(!memcmp(got, stream, (size_t)bytes));
    type_release(absolute);
    /* in pieces, both ways */
    struct type_cursor in, out;
    memset(got, 0, (size_t)bytes);
    memset(back, 0x66, (size_t)span);
    type_cursor_init(&in, gw_data_host(base, count, t));
    type_cursor_init(&out, gw_data_host(back + (base - memory), count, t));
    for (int64_t at = 0, n; at < bytes; at += n) {
        int64_t piece = 1 + rnd(rnd(2) ? 10 : 2 * l->size + 5);
        n = type_cursor_pack(&in, got + at, piece);
        CHECK_EQ(n, gw_min64(piece, bytes - at));
        CHECK_EQ(type_cursor_unpack(&out, got + at, n), n);
        if (n <= 0) break;
    }
    CHECK(!memcmp(got, stream, (size_t)bytes));
    CHECK(!memcmp(back, want, (size_t)span));
    free(want), free(back), free(got), free(stream), free(memory);
    type_release(t);
}

/* Every block size at equal distances, forwards, backwards and touching. */
static void every_size(void)
{
    for (int64_t len = 1; len <= 140; len++)
        for (int64_t gap = 0; gap < 3; gap++)
            for (int64_t count = 1; count < 40; count += 6) {
                struct layout l = {.n = 1, .at = {gap}, .len = {len}, .extent = len + 5 * gap, .size = len};
                check_layout(&l, count, count % 2);
            }
}

int main(void)
{
    CHECK_EQ(type_init(), GW_OK);
    every_size();
    for (int i = 0; i < ROUNDS && !unit_failures; i++) {
        struct layout l = layout_random();
        check_layout(&l, 1 + rnd(rnd(10) ? 30 : 700), rnd(4) == 0);
        if (unit_failures) fprintf(stderr, "in round %d\n", i);
    }
    for (int i = 0; i < ROUNDS / 4 && !unit_failures; i++) {
        struct layout l = layout_structure();
        check_layout(&l, 40 + rnd(400), rnd(4) == 0);
        if (unit_failures) fprintf(stderr, "in round %d of structures\n", i);
    }
    type_finalize();
    gw_obj_finalize();
    return unit_end();
}
