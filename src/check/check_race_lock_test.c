/* check_race_lock_test.c -- what accesses of one place in the program have in common stands once, however they alternate.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_race.h"

#include <stdlib.h>

#include "unit.h"

enum { SIZE = 1024, MOST = LOCKED_MAX / SIZE, FN = 7, SUM = 3, MAX = 4, ACCESSES = 100000 };
static struct gw_comm comm = {.size = SIZE};
static struct rma_win win = {.comm = &comm};
static struct race_locks *l;
static char program[4096];
static int64_t at;

int64_t __wrap_rma_disp_unit(const struct rma_win *w, int target); /* of a window that is none (meson.build) */
int64_t __wrap_rma_disp_unit(const struct rma_win *w, int target)
{
    CHECK(w == &win && target < comm.size);
    return 1;
}

static void begin(int size)
{
    check_race_locks_drop(l);
    comm.size = size;
    l = check_race_locks_new(&win);
    at = 0;
}

/* As check_race.c: one byte behind the last.  How many places it has told of: 0 or 1. */
static int put(int target, struct race_step s, bool is_over)
{
    s.fn = FN;
    s.lo = at++;
    s.hi = at;
    if (check_race_locks_add(l, &win, target, &s, is_over)) return 0;
    struct race_access a = {.kind = s.kind, .fn = s.fn, .disp = SUM};
    check_race_locks_place(l, target, &a, &s, is_over);
    CHECK(check_race_locks_add(l, &win, target, &s, is_over));
    return 1;
}

/* More places than there can be lists of them, in turn. */
static void sites(void)
{
    enum { SITES = 300 };
    int told = 0;
    begin(1);
    for (int i = 0; i < ACCESSES; i++) told += put(0, (struct race_step){.kind = RACE_PUT, .from = &program[i % SITES]}, false);
    CHECK_EQ(told, SITES);
    CHECK_EQ(check_race_locks_count(l, 0), ACCESSES);
}

/* One place, with what its accesses may differ in, each in its turn. */
static void variants(void)
{
    struct kind {
        int kind;
        uint32_t op;
        bool brings, is_over, is_exclusive;
    } v[] = {{RACE_UPDATE, SUM, false, false, false}, {RACE_UPDATE, MAX, false, false, false},
             {RACE_UPDATE, MAX, false, false, true},  {RACE_UPDATE, MAX, true, false, true},
             {RACE_UPDATE, MAX, true, true, true},    {RACE_FETCH, 0, true, true, true},
             {RACE_FETCH, 0, true, true, false}};
    enum { N = GW_ARRAY_LEN(v) };
    int told = 0;
    begin(1);
    for (int i = 0; i < ACCESSES; i++) {
        const struct kind *k = &v[i % N];
        check_race_locks_take(l, 0, k->is_exclusive);
        told += put(0, (struct race_step){.kind = k->kind, .op = k->op, .brings = k->brings, .from = program}, k->is_over);
    }
    CHECK_EQ(told, N);
    CHECK_EQ(check_race_locks_count(l, 0), ACCESSES);
    struct race_access *out = calloc(ACCESSES, sizeof *out);
    check_race_locks_copy(l, 0, out);
    for (int i = 0; i < ACCESSES; i++) {
        const struct race_access *a = &out[i];
        const struct kind *k = &v[i % N];
        CHECK(a->lo == i && a->hi == i + 1 && a->fn == FN && a->kind == k->kind && a->op == k->op && a->brings == k->brings);
        CHECK(a->is_exclusive == k->is_exclusive && (a->until_ns == a->since_ns) == k->is_over);
    }
    free(out);
}

/* Of a target of which no more is kept nothing new is wanted; of others it is. */
static void full(void)
{
    int told = 0;
    begin(SIZE);
    for (int i = 0; i < 2 * MOST; i++) told += put(1, (struct race_step){.kind = RACE_PUT, .from = &program[i]}, false);
    CHECK_EQ(told, MOST);
    CHECK_EQ(check_race_locks_count(l, 1), MOST);
    CHECK_EQ(put(2, (struct race_step){.kind = RACE_PUT, .from = &program[2 * MOST - 1]}, false), 1);
    CHECK_EQ(put(2, (struct race_step){.kind = RACE_PUT, .from = program}, false), 0);
    CHECK(check_race_locks_count(l, 1) == MOST && check_race_locks_count(l, 2) == 2);
}

int main(void)
{
    sites();
    variants();
    full();
    check_race_locks_drop(l);
    return unit_end();
}
