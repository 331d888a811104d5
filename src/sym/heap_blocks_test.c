/* heap_blocks_test.c -- the allocator of the symmetric heap beside a model that tries every place: the same offsets, whatever is
 * taken, given back, resized; alignment, exhaustion, and the same on every PE.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "sym/sym_private.h"

#include <stdlib.h>

#include "unit.h"

enum { UNIT = 64, HEAP = 40000, UNITS = (HEAP + UNIT - 1) / UNIT, STEPS = 8000 };

static uint64_t seed;
static uint64_t below(uint64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % n;
}

/* Unit by unit: 0: free; else the block that has it, by its begin + 1. */
static struct {
    uint32_t of[UNITS];
    uint64_t asked[UNITS]; /* by begin; 0: none begins there */
} model;

static bool model_fits(uint64_t at, uint64_t bytes)
{
    if (at + bytes > HEAP) return false;
    for (uint64_t u = at / UNIT; u < (at + bytes + UNIT - 1) / UNIT; u++)
        if (model.of[u]) return false;
    return true;
}

static int64_t model_take(uint64_t bytes, uint64_t align)
{
    align = align > UNIT ? align : UNIT;
    for (uint64_t at = 0; at < HEAP; at += align) {
        if (!model_fits(at, bytes)) continue;
        for (uint64_t u = at / UNIT; u < (at + bytes + UNIT - 1) / UNIT; u++) model.of[u] = (uint32_t)(at / UNIT + 1);
        model.asked[at / UNIT] = bytes;
        return (int64_t)at;
    }
    return -1;
}

static void model_give(uint64_t at)
{
    for (uint64_t u = 0; u < UNITS; u++)
        if (model.of[u] == at / UNIT + 1) model.of[u] = 0;
    model.asked[at / UNIT] = 0;
}

static bool model_resize(uint64_t at, uint64_t bytes)
{
    uint64_t asked = model.asked[at / UNIT];
    model_give(at);
    bool fits = model_fits(at, bytes);
    if (!fits) bytes = asked;
    for (uint64_t u = at / UNIT; u < (at + bytes + UNIT - 1) / UNIT; u++) model.of[u] = (uint32_t)(at / UNIT + 1);
    model.asked[at / UNIT] = bytes;
    return fits;
}

static void compare_use(const struct sym_blocks *b)
{
    struct sym_blocks_use use = sym_blocks_use(b);
    uint64_t n = 0, used = 0, run = 0, most = 0;
    for (uint64_t u = 0; u < UNITS; u++) {
        uint64_t bytes = u == UNITS - 1 ? HEAP - u * UNIT : UNIT;
        n += model.asked[u] != 0;
        used += model.of[u] ? bytes : 0;
        run = model.of[u] ? 0 : run + bytes;
        if (run > most) most = run;
    }
    CHECK(use.bytes == HEAP && use.n == n && use.used == used && use.largest_free == most);
}

static uint64_t some_bytes(void)
{
    uint64_t kind = below(20);
    return 1 + (kind == 0 ? below(HEAP) : kind < 5 ? below(4000) : below(300));
}

/* The last block that ends at an offset or before it. */
static int64_t model_before(uint64_t offset)
{
    for (uint64_t u = offset / UNIT + 1; u-- > 0;)
        if (model.asked[u] && u * UNIT + model.asked[u] <= offset) return (int64_t)(u * UNIT);
    return -1;
}

static void step(struct sym_blocks *b)
{
    uint64_t at = below(UNITS) * UNIT, bytes = some_bytes();
    bool is_block = model.asked[at / UNIT] != 0;
    CHECK_EQ(sym_blocks_size(b, at), is_block ? (int64_t)model.asked[at / UNIT] : -1);
    uint32_t of = model.of[at / UNIT];
    bool is_within = of && at + 5 < (of - 1) * UNIT + model.asked[of - 1];
    CHECK_EQ(sym_blocks_around(b, at + 5), is_within ? (int64_t)(of - 1) * UNIT : -1);
    CHECK_EQ(sym_blocks_before(b, at + 5), model_before(at + 5));
    CHECK(!sym_blocks_give(b, at + 1) && !sym_blocks_resize(b, at + 1, 8) && sym_blocks_size(b, at + 8) == -1);
    switch (below(4)) {
    case 0:
    case 1: {
        uint64_t align = below(5) ? below(2) * 16 : UINT64_C(1) << below(14);
        CHECK_EQ(sym_blocks_take(b, bytes, align), model_take(bytes, align));
        break;
    }
    case 2:
        CHECK_EQ(sym_blocks_give(b, at), is_block);
        if (is_block) model_give(at);
        break;
    default:
        if (is_block)
            CHECK_EQ(sym_blocks_resize(b, at, bytes), model_resize(at, bytes));
        else
            CHECK(!sym_blocks_resize(b, at, bytes));
    }
}

static void random_calls(uint64_t from)
{
    struct sym_blocks *b = sym_blocks_new(HEAP);
    memset(&model, 0, sizeof model);
    seed = from;
    for (int i = 0; i < STEPS && unit_failures == 0; i++) {
        step(b);
        if (i % 16 == 0) CHECK(!sym_blocks_broken(b));
        if (i % 16 == 0) compare_use(b);
    }
    for (uint64_t u = 0; u < UNITS; u++)
        if (model.asked[u]) CHECK(sym_blocks_give(b, u * UNIT));
    CHECK(sym_blocks_use(b).largest_free == HEAP && sym_blocks_use(b).used == 0 && sym_blocks_use(b).n == 0);
    CHECK(!sym_blocks_broken(b));
    sym_blocks_end(b);
}

static void exhaustion(void)
{
    struct sym_blocks *b = sym_blocks_new(1 << 20);
    CHECK_EQ(sym_blocks_take(b, (1 << 20) + 1, 0), -1);
    CHECK_EQ(sym_blocks_take(b, UINT64_MAX, 0), -1);
    CHECK_EQ(sym_blocks_take(b, UINT64_MAX - 10, UINT64_C(1) << 63), -1);
    CHECK_EQ(sym_blocks_take(b, 8, UINT64_C(1) << 63), -1);
    CHECK_EQ(sym_blocks_take(b, 0, 0), -1);
    CHECK_EQ(sym_blocks_take(b, 1 << 20, 4096), 0);
    CHECK_EQ(sym_blocks_take(b, 1, 0), -1);
    CHECK(sym_blocks_use(b).largest_free == 0 && sym_blocks_use(b).used == 1 << 20);
    CHECK(!sym_blocks_resize(b, 0, UINT64_MAX) && sym_blocks_resize(b, 0, 100) && sym_blocks_take(b, 1, 0) == 128);
    CHECK(sym_blocks_give(b, 0) && !sym_blocks_give(b, 0) && sym_blocks_take(b, 128, 0) == 0);
    CHECK_EQ(sym_blocks_size(b, UINT64_MAX), -1);
    CHECK_EQ(sym_blocks_around(b, UINT64_MAX), -1);
    sym_blocks_end(b);
    b = sym_blocks_new(10); /* less than a unit */
    CHECK(sym_blocks_take(b, 11, 0) == -1 && sym_blocks_take(b, 10, 0) == 0 && sym_blocks_give(b, 0));
    sym_blocks_end(b);
}

/* Many blocks, in an order in which a list would be slow; the same offsets each time. */
static void many(void)
{
    enum { N = 50000 };
    int64_t *at = malloc(N * sizeof *at);
    struct sym_blocks *b = sym_blocks_new(UINT64_C(1) << 40), *again = sym_blocks_new(UINT64_C(1) << 40);
    for (int i = 0; i < N; i++) {
        at[i] = sym_blocks_take(b, 100 + (uint64_t)i % 1000, 0);
        CHECK_EQ(sym_blocks_take(again, 100 + (uint64_t)i % 1000, 0), at[i]);
    }
    for (int i = 0; i < N; i += 2) CHECK(sym_blocks_give(b, (uint64_t)at[i]) && sym_blocks_give(again, (uint64_t)at[i]));
    for (int i = 0; i < N; i += 2) {
        int64_t now = sym_blocks_take(b, 90 + (uint64_t)(i * 7) % 1500, 256);
        CHECK(now % 256 == 0 && now == sym_blocks_take(again, 90 + (uint64_t)(i * 7) % 1500, 256));
    }
    CHECK(!sym_blocks_broken(b) && !sym_blocks_broken(again) && sym_blocks_use(b).n == N);
    sym_blocks_end(b);
    sym_blocks_end(again);
    free(at);
}

int main(void)
{
    exhaustion();
    for (uint64_t i = 1; i <= 5; i++) random_calls(i);
    many();
    return unit_end();
}
