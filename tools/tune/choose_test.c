/* choose_test.c -- which rows godwit-tune writes: by how far times lie apart.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tune.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

static struct tune_results r;
static void begin(void)
{
    memset(&r, 0, sizeof r);
    r.sizes = &tune_sizes_quick;
    for (int k = 0; k < TUNE_KINDS; k++)
        for (int i = 0; i < TUNE_SIZES; i++) r.points[k][i].chosen = -1;
    CHECK(tune_take_line(&r, "shape 4 1 1\n", false));
}
/* A turn: what is built in, and another algorithm. */
static void turn(long bytes, double built_in, double other)
{
    char line[96];
    snprintf(line, sizeof line, "time bcast %ld leaf %.2f\n", bytes, built_in);
    CHECK(tune_take_line(&r, line, false));
    snprintf(line, sizeof line, "time bcast %ld chain %.2f\n", bytes, other);
    CHECK(tune_take_line(&r, line, true));
}
static const char *rows(bool all)
{
    static char text[512];
    memset(text, 0, sizeof text);
    FILE *f = fmemopen(text, sizeof text - 1, "w");
    CHECK(f != NULL);
    if (f) tune_write_rows(&r, TUNE_BCAST, all, f), fclose(f);
    return text;
}

static void spreads(void)
{
    struct tune_times t = {.n = 0};
    tune_times_add(&t, 12);
    CHECK(tune_spread(&t) < 0); /* of one time nothing is known */
    tune_times_add(&t, 10);
    CHECK(tune_spread(&t) > 0.199 && tune_spread(&t) < 0.201);
    tune_times_add(&t, 50); /* one slow moment does not count */
    CHECK(tune_spread(&t) > 0.199 && tune_spread(&t) < 0.201);
    for (int i = 0; i < 20; i++) tune_times_add(&t, 11 - i * 0.01);
    CHECK(t.n == TUNE_TURNS && t.us[0] == 10 && tune_spread(&t) < 0.1);
    for (int i = 1; i < t.n; i++) CHECK(t.us[i - 1] <= t.us[i]);
}

static void rows_by_spread(void)
{
    begin();
    turn(8, 100, 80);
    CHECK_STR(rows(false), ""); /* measured once */
    turn(8, 100, 80);
    CHECK_STR(rows(false), "bcast | 4..4 | - | chain | -  # 20 % quicker, spread 0 %\n");
    begin();
    turn(8, 100, 80), turn(8, 100, 90);
    CHECK_STR(rows(false), "bcast | 4..4 | - | chain | -  # 20 % quicker, spread 12 %\n");
    begin();
    turn(8, 100, 80), turn(8, 100, 104); /* its own times lie further apart than it wins */
    CHECK_STR(rows(false), "");
    CHECK_STR(rows(true), "bcast | 4..4 | - | leaf | -  # as built in, spread 0 %\n");
    begin();
    turn(8, 100, 80), turn(8, 125, 80); /* those of what is built in do */
    CHECK_STR(rows(false), "");
    begin();
    turn(8, 100, 95), turn(8, 100, 95); /* sure, but not worth a row */
    CHECK_STR(rows(false), "");
}

/* What is told of a row is what was asked of it: it wins by more than its spread. */
static void rows_agree(void)
{
    begin();
    for (int i = 0; i < 2; i++) { /* chain is built in for 8 bytes, where its times lie far apart, and wins at 1024 */
        CHECK(tune_take_line(&r, i ? "time bcast 8 chain 125\n" : "time bcast 8 chain 100\n", false));
        turn(1024, 100, 80);
    }
    CHECK_STR(rows(false), "bcast | 4..4 | - | chain | -  # 20 % quicker, spread 0 %\n");
    begin();
    turn(8, 100, 80), turn(8, 100, 98); /* 20 % quicker, and 22 % apart */
    CHECK_STR(rows(false), "");
}

static void rows_of_sizes(void)
{
    begin();
    turn(8, 100, 100), turn(8, 100, 100), turn(1024, 100, 50), turn(1024, 100, 52), turn(16384, 100, 40), turn(16384, 100, 42);
    CHECK_STR(
        rows(false),
        "bcast | 4..4 | 128 | leaf | -  # as built in, spread 0 %\nbcast | 4..4 | - | chain | -  # 60 % quicker, spread 5 %\n");
    unsigned was = tune_rows_hash(&r);
    turn(16384, 100, 41);
    CHECK(tune_rows_hash(&r) == was);
    for (int i = 0; i < TUNE_TURNS; i++) turn(16384, 20, 41); /* other rows */
    CHECK(tune_rows_hash(&r) != was);
}

int main(void)
{
    spreads();
    rows_by_spread();
    rows_agree();
    rows_of_sizes();
    return unit_end();
}
