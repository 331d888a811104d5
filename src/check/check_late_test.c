/* check_late_test.c -- operations that are looked at late: where nothing is wrong they leave nothing, else each becomes an item.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

#include <stdlib.h>

#include "type/type.h"
#include "unit.h"

enum { N = 3000, A = 100, B = 101 }; /* numbers of windows */
static int64_t buf[N];

static void add(uint32_t owner, int target, int at, bool is_written, bool is_there)
{
    struct check_span s = check_span(buf + at, 1, gw_type_int64, is_written);
    struct check_about about = {NULL, target, GW_UNDEFINED, owner};
    gw_lock(&check_lock);
    struct check_late_step step = {&check_me, s.buf, 1, s.type, owner, target};
    if (!is_written || !check_late_next(&step, is_there)) CHECK(check_late_add(&s, &about, is_there) == is_there);
    gw_unlock(&check_lock);
}

static int64_t items(uint32_t owner) { return check_owed_calls(owner, CHECK_EVERYONE); }

/* So many, every `step`th place from the first, round and round. */
static void loop(int n, int first, int step, bool is_written, bool is_there)
{
    for (int i = 0, at = first; i < n; i++, at = (at + step) % N) add(A, 1, at, is_written, is_there);
}

static void right_ones(void)
{
    static const int steps[] = {1, 3, 7, N - 1, 1499};
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        for (int flags = 0; flags < 4; flags++) {
            loop(N / 7, 5, steps[k], flags & 1, flags & 2);
            CHECK(check_late_count(A, 1) > 0 && check_late_may_meet((uintptr_t)(buf + 5), (uintptr_t)(buf + 6)));
            check_use_settle(B, CHECK_EVERYONE);
            check_use_settle(A, 0);
            CHECK(check_late_count(A, 1) > 0);
            check_use_settle(A, k & 1 ? CHECK_EVERYONE : 1);
            CHECK(check_late_count(A, 1) == 0 && items(A) == 0);
        }
}

/* They may meet, or not all are over: nothing is lost. */
static void doubtful_ones(void)
{
    for (int step = 1; step < 8; step += 2) {
        loop(100, 0, step, false, true);
        loop(100, 0, step, false, true); /* only read */
        check_use_settle(A, CHECK_EVERYONE);
        CHECK(items(A) == 0);
        loop(100, 0, step, false, true);
        for (int i = 0; i < 50; i++) add(A, 2, 1000 + i, true, true);
        check_use_settle(A, 2);
        CHECK_EQ(items(A), 100);
        CHECK(check_owed_calls(A, 1) == 100 && check_late_count(A, 1) == 0);
        struct check_span s = check_span(buf + 99 * step, 1, gw_type_int64, true), behind = check_span(buf + 1000, 1, s.type, true);
        CHECK(!check_use_is_apart(&s) && check_use_is_apart(&behind));
        add(B, 1, 2000, true, false);
        add(A, 1, 2001, true, false);
        check_use_settle(A, CHECK_EVERYONE);
        CHECK(items(A) == 0 && items(B) == 1);
        check_use_settle(B, 1);
        CHECK(items(B) == 0 && check_use_is_none());
    }
}

/* How many are under way to one target does not go by how many there have been to another one. */
static void counts(void)
{
    enum { MANY = 2000, FEW = 100, OTHER = 2 };
    loop(MANY, 0, 1, true, true);
    for (int i = 0; i < FEW; i++) add(A, OTHER, MANY + i, true, true);
    CHECK(check_late_count(A, 1) < MANY && check_late_count(A, 1) > FEW);
    CHECK_EQ(check_late_count(A, OTHER), FEW);
    check_use_settle(A, CHECK_EVERYONE);
    CHECK(check_late_count(A, OTHER) == 0 && items(A) == 0);
}

static void calls_look(void)
{
    struct check_span s = check_span(buf + 1, 1, gw_type_int64, false);
    loop(10, 0, 2, true, true);
    check_use_look(&s, 1);
    CHECK(items(A) == 10 && check_late_count(A, 1) == 0); /* a gap between them, which takes a look */
    loop(10, 100, 2, true, true);
    check_use_look(&s, 1);
    CHECK(items(A) == 10 && check_late_count(A, 1) == 10);
    check_use_settle(A, 1);
    CHECK(items(A) == 0 && check_late_count(A, 1) == 0);
}

/* Of entries, of which this makes one of two calls each, and of calls: with so many nothing has become an item, with one more all have. */
static void limits(void)
{
    for (int i = 0; i < 2 * CHECK_LATE_ENTRIES - 1; i++) add(A, 1, 2 * (i & 1), false, false);
    CHECK_EQ(items(A), 0);
    add(A, 1, 0, false, false);
    CHECK(items(A) > 0 && check_late_count(A, 1) == 1);
    check_use_settle(A, 1);
    CHECK(items(A) == 0 && check_use_is_none());
    loop(CHECK_LATE_CALLS, 0, 2, false, false);
    CHECK_EQ(items(A), 0);
    add(A, 1, 0, false, false);
    CHECK(items(A) > 0 && check_late_count(A, 1) == 1);
    check_use_settle(A, 1);
    CHECK(items(A) == 0 && check_use_is_none() && check_late_count(A, 1) == 0);
}

int main(void)
{
    CHECK_EQ(type_init(), GW_OK);
    check_me.now = (struct check_site){1, (const void *)main};
    right_ones();
    doubtful_ones();
    counts();
    calls_look();
    limits();
    check_use_end();
    return unit_end();
}
