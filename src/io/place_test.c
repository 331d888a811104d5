/* place_test.c -- which ranks become aggregators, and what advice a report gives.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

#include <stdio.h>

#include "../../test/unit.h"

static const int two[8] = {0, 0, 0, 0, 1, 1, 1, 1}, turns[6] = {0, 1, 2, 0, 1, 2}, one[5] = {0};
static const char *const names[8] = {"a", "a", "a", "a", "bb", "bb", "bb", "bb"};
static const char *const same[5] = {"n", "n", "n", "n", "n"}, *const three[6] = {"x", "y", "z", "x", "y", "z"};

static void expect(int line, const int *node, const char *const *who, int n, int wanted, const char *list, int stride, int count,
                   const int *ranks)
{
    int got[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    int k = io_place_choose(node, who, n, wanted, list, stride, got);
    if (k != count || memcmp(got, ranks, (size_t)count * sizeof *got) != 0) {
        unit_failures++;
        fprintf(stderr, "line %d: %d aggregators: %d %d %d %d %d %d %d %d\n", line, k, got[0], got[1], got[2], got[3], got[4],
                got[5], got[6], got[7]);
    }
}
#define EXPECT(node, who, n, wanted, list, stride, ...)                                                                            \
    expect(__LINE__, node, who, n, wanted, list, stride, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)),                        \
           (const int[]){__VA_ARGS__})

static void place(void)
{
    EXPECT(one, same, 5, 1, "*:*", -1, 0);
    EXPECT(one, same, 5, 2, "*:*", -1, 0, 2);
    EXPECT(one, same, 5, 99, "", -1, 0, 1, 2, 3, 4);
    EXPECT(one, same, 5, 3, "*:*", 1, 0, 1, 2);
    EXPECT(one, same, 5, 4, "*:*", 2, 0, 2, 4, 1);
    EXPECT(one, same, 5, 4, "*:1", -1, 0);
    EXPECT(one, same, 5, 4, "*:2", -1, 0, 2);
    EXPECT(one, same, 5, 2, "*:*,other:3", -1, 0, 2);
    EXPECT(two, names, 8, 4, "*:*", -1, 0, 4, 2, 6);
    EXPECT(two, names, 8, 3, "*:*", -1, 0, 4, 2);
    EXPECT(two, names, 8, 8, "*:1", -1, 0, 4);
    EXPECT(two, names, 8, 8, "bb:2,a:1", -1, 4, 6, 0);
    EXPECT(two, names, 8, 8, "bb:2,*:1", -1, 4, 6, 0);
    EXPECT(two, names, 8, 8, "bb", -1, 4);
    EXPECT(two, names, 8, 2, "bb:*", -1, 4, 6);
    EXPECT(two, names, 8, 8, "b:4", -1, 0); /* nobody of that name */
    EXPECT(turns, three, 6, 4, "*:*", -1, 0, 1, 2, 3);
    EXPECT(turns, three, 6, 3, "*:*", 3, 0, 3, 1);
}

static const char *only(struct io_totals *t, bool write, int64_t stripes)
{
    int rule = 0;
    const char *first = io_advice(t, write, 4, stripes, &rule);
    CHECK(!first || !io_advice(t, write, 4, stripes, &rule));
    return first ? first : "";
}
static bool says(const char *text, const char *part) { return strstr(text, part) != NULL; }

static void advice(void)
{
    struct io_totals t = {.callers = {0, 4}};
    int64_t *c = t.counts[1];
    CHECK(*only(&t, true, 1) == 0);
    c[IO_CALLS_ALONE] = c[IO_SYSTEM_CALLS] = 1000, c[IO_BYTES] = 1000 * 512;
    CHECK(says(only(&t, true, 1), "MPI_File_write_all"));
    t.callers[1] = 1;
    CHECK(says(only(&t, true, 1), "one rank makes many small calls"));
    c[IO_BYTES] = (int64_t)1000 << 20; /* large ones */
    CHECK(says(only(&t, true, 1), "striping_factor"));
    CHECK(*only(&t, true, 8) == 0);
    CHECK(*only(&t, true, 0) == 0); /* no stripes there */
    c[IO_REWRITES] = 3;
    CHECK(says(only(&t, true, 8), "romio_ds_write=disable"));
    /* 20 small writes with gaps: few, but all of them such. */
    t = (struct io_totals){.callers = {0, 1}};
    c[IO_CALLS_ALONE] = c[IO_SYSTEM_CALLS] = 20, c[IO_BYTES] = 20 * 100, c[IO_GAPS] = 19;
    CHECK(says(only(&t, true, 1), "small independent writes leave gaps: a view of the whole pattern"));
    c[IO_GAPS] = 9;
    CHECK(*only(&t, true, 1) == 0);
    t = (struct io_totals){.callers = {0, 0}};
    c = t.counts[0];
    c[IO_CALLS_ALL] = 40, c[IO_SYSTEM_CALLS] = 4000, c[IO_BYTES] = 4000 * 100;
    CHECK(says(only(&t, false, 1), "romio_cb_read=enable"));
    c[IO_ACTIVE + 3] = 40;
    CHECK(*only(&t, false, 1) == 0);
    c[IO_GAPS] = 3000;
    CHECK(says(only(&t, false, 1), "gaps"));
}

int main(void)
{
    place();
    advice();
    return unit_end();
}
