/* check_race_log_test.c -- a loop along a window is few entries, whose sums are those of the bytes; what is no loop stays apart.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_race.h"

#include <stdlib.h>

#include "unit.h"

enum { UNIT = 3, BYTES = 4096 };
static char was[BYTES], is[BYTES];
static struct race_log *l;

static void step(int target, struct race_step s)
{
    struct race_access a = {.kind = s.kind, .fn = s.fn, .op = s.op, .brings = s.brings, .disp = s.disp, .lo = s.lo, .hi = s.hi};
    a.has_before = s.before != NULL;
    a.has_after = s.after != NULL;
    if (!check_race_log_follow(l, UNIT, target, &s)) check_race_log_add(l, target, &a, &s);
}

static size_t entries(int target)
{
    int64_t bytes;
    free(check_race_log_for(l, target, &bytes));
    return (size_t)bytes / sizeof(struct race_access);
}

static void gets(void)
{
    enum { GETS = 100000 };
    const struct race_step first = {.kind = RACE_GET, .fn = 1, .from = was, .hi = UNIT};
    for (int i = 0; i < GETS; i++) {
        struct race_step s = first;
        s.disp = i;
        step(1, s);
    }
    CHECK(entries(1) == 1 && check_race_log_calls(l) == GETS);
    int64_t bytes;
    struct race_access *v = check_race_log_for(l, 1, &bytes);
    CHECK(v->lo == 0 && v->hi == (int64_t)GETS * UNIT);
    free(v);
    struct race_step others[6];
    for (int i = 0; i < 6; i++) others[i] = first, others[i].disp = GETS + i;
    others[0].kind = RACE_PUT;
    others[1].from = is;
    others[2].fn = 2;
    others[3].op = 1;
    others[4].brings = true;
    others[5].disp++;
    for (int i = 0; i < 6; i++) step(1, others[i]);
    CHECK_EQ(entries(1), 7);
    step(0, first);
    CHECK(entries(0) == 1 && entries(1) == 7);
    check_race_log_clear(l);
    CHECK(check_race_log_calls(l) == 0 && entries(1) == 0);
}

/* Of steps of any length. */
static void sums(void)
{
    for (int i = 0; i < BYTES; i++) was[i] = (char)rand(), is[i] = (char)rand();
    for (int longest = 1; longest < 40; longest++) {
        int64_t all = 0, bytes;
        for (int at = 0, n; at < BYTES; at += n) {
            n = 1 + rand() % longest;
            if (n > BYTES - at) n = BYTES - at;
            step(1, (struct race_step){.kind = RACE_PUT, .lo = at, .hi = at + n, .before = was + at, .after = is + at});
        }
        struct race_access *v = check_race_log_for(l, 1, &bytes);
        size_t n = (size_t)bytes / sizeof *v;
        CHECK(n >= 8 && n <= 9);
        for (size_t i = 0; i < n; i++) {
            CHECK(v[i].lo == all && v[i].hi - v[i].lo <= 512);
            all = v[i].hi;
            size_t length = (size_t)(v[i].hi - v[i].lo);
            CHECK(v[i].before == check_sum_bytes(CHECK_SEED, was + v[i].lo, length));
            CHECK(v[i].after == check_sum_bytes(CHECK_SEED, is + v[i].lo, length));
        }
        CHECK(all == BYTES);
        free(v);
        check_race_log_clear(l);
    }
}

int main(void)
{
    l = check_race_log_new();
    gets();
    sums();
    check_race_log_drop(l);
    return unit_end();
}
