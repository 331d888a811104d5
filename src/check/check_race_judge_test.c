/* check_race_judge_test.c -- which accesses race: every pair of kinds, and random ones against a comparison of all with all.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_race.h"
#include "base/count.h"

#include <stdlib.h>

#include "unit.h"

enum { SUM = 3, MAX = 4 };
static struct race_access access(int kind, int origin, int64_t lo, int64_t hi, uint32_t op)
{
    return (struct race_access){.kind = kind, .origin = origin, .lo = lo, .hi = hi, .op = op};
}

static int told;
static int64_t told_from, told_to;
static void tell(const struct race_access *a, const struct race_access *b, int64_t from, int64_t to, void *arg)
{
    (void)a, (void)b;
    told++;
    told_from = from;
    told_to = to;
    CHECK(arg == &told);
}

/* By the letter of the standard; of accumulates, only different operations of different origins. */
static bool may_meet(const struct race_access *a, const struct race_access *b)
{
    int x = a->kind, y = b->kind;
    bool x_atomic = x == RACE_FETCH || x == RACE_SWAP || x == RACE_UPDATE,
         y_atomic = y == RACE_FETCH || y == RACE_SWAP || y == RACE_UPDATE;
    bool x_reads = x == RACE_GET || x == RACE_LOAD || x == RACE_FETCH, y_reads = y == RACE_GET || y == RACE_LOAD || y == RACE_FETCH;
    bool x_local = x == RACE_LOAD || x == RACE_STORE, y_local = y == RACE_LOAD || y == RACE_STORE;
    if (x_reads && y_reads) return true;
    if (x_local && y_local) return true;
    if (x == RACE_UPDATE && y == RACE_UPDATE) return a->op == b->op || a->origin == b->origin;
    return x_atomic && y_atomic;
}

static void pairs(void)
{
    for (int x = 0; x < RACE_KINDS; x++)
        for (int y = 0; y < RACE_KINDS; y++)
            for (int k = 0; k < 4; k++) {
                struct race_access v[] = {access(x, 1, 8, 16, SUM), access(y, k & 1 ? 2 : 1, 12, 20, k & 2 ? MAX : SUM)};
                bool wrong = !may_meet(&v[0], &v[1]);
                told = 0;
                CHECK(check_race_judge(v, 2, tell, &told));
                CHECK_EQ(told, wrong);
                CHECK(v[0].is_hit == wrong && v[1].is_hit == wrong);
                if (wrong) CHECK(told_from == 12 && told_to == 16);
                v[0].is_hit = v[1].is_hit = 0;
                v[1].lo = 16;
                told = 0;
                CHECK(check_race_judge(v, 2, tell, &told) && told == 0 && !v[0].is_hit);
            }
}

static void random_ones(void)
{
    enum { N = 120, ROUNDS = 60 };
    static struct race_access v[N];
    srand(7);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++) {
            int lo = rand() % 900;
            v[i] = access(rand() % RACE_KINDS, rand() % 3, lo, lo + 1 + rand() % 12, (uint32_t)(rand() % 5));
        }
        told = 0;
        CHECK(check_race_judge(v, N, tell, &told));
        for (int i = 0; i < N; i++) {
            bool hit = false;
            for (int k = 0; k < N; k++) hit = hit || (k != i && v[i].lo < v[k].hi && v[k].lo < v[i].hi && !may_meet(&v[i], &v[k]));
            CHECK_EQ(v[i].is_hit, hit);
        }
    }
}

/* Under locks: the times, the clocks and exclusive locks decide, too. */
static bool at_once(const struct race_access *a, const struct race_access *b)
{
    if (a->until_ns <= b->since_ns || b->until_ns <= a->since_ns) return false;
    return a->origin == b->origin || (a->clock && a->clock == b->clock && !a->is_exclusive && !b->is_exclusive);
}

static void random_times(void)
{
    enum { N = 150, ROUNDS = 80 };
    static struct race_access v[N];
    int n_hits = 0, n_apart = 0;
    srand(8);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++) {
            int lo = rand() % 500, begin = 1 + rand() % 900;
            v[i] = access(rand() % RACE_KINDS, rand() % 3, lo, lo + 1 + rand() % 12, (uint32_t)(rand() % 5));
            v[i].since_ns = (uint64_t)begin;
            v[i].until_ns = (uint64_t)(begin + rand() % 200); /* of some the begin: a moment */
            v[i].clock = (uint64_t)(v[i].origin == 2 ? rand() % 2 * 9 : 7);
            v[i].is_exclusive = rand() % 4 == 0;
        }
        told = 0;
        CHECK(check_race_judge(v, N, tell, &told));
        for (int i = 0; i < N; i++) {
            bool hit = false;
            for (int k = 0; k < N; k++) {
                bool meet = k != i && v[i].lo < v[k].hi && v[k].lo < v[i].hi && !may_meet(&v[i], &v[k]);
                bool moment = v[i].since_ns == v[k].since_ns && (v[i].until_ns == v[i].since_ns || v[k].until_ns == v[k].since_ns);
                hit = hit || (meet && !moment && at_once(&v[i], &v[k]));
                n_apart += meet && !at_once(&v[i], &v[k]);
            }
            CHECK_EQ(v[i].is_hit, hit);
            n_hits += hit;
        }
    }
    CHECK(n_hits > 1000 && n_apart > 1000);
}

/* So many that come and go that a comparison of all with all would take minutes. */
static void many_times(void)
{
    enum { MANY = 200000 };
    struct race_access *v = calloc(MANY, sizeof *v);
    for (int i = 0; i < MANY; i++) {
        v[i] = access(i & 1 ? RACE_PUT : RACE_GET, i % 3, 0, 800, 0);
        v[i].since_ns = (uint64_t)(10 * i + 1);
        v[i].until_ns = (uint64_t)(10 * i + 11); /* as the next one begins */
        v[i].clock = 7;
    }
    told = 0;
    CHECK(check_race_judge(v, MANY, tell, &told) && told == 0);
    v[MANY / 2].until_ns++;
    CHECK(check_race_judge(v, MANY, tell, &told) && told == 1);
    CHECK(v[MANY / 2].is_hit && v[MANY / 2 + 1].is_hit && !v[MANY / 2 - 1].is_hit);
    free(v);
}

/* What comes from other ranks is not all that a rank sends. */
static void forged(void)
{
    const int64_t each = sizeof(struct race_access),
                  bad[] = {-1, -each, 1, each - 1, each + 1, each * (ACCESSES_MAX + 1), INT64_MAX, INT64_MIN};
    CHECK(check_race_bytes_are_right(0) && check_race_bytes_are_right(7 * each) && check_race_bytes_are_right(each * ACCESSES_MAX));
    uint64_t refused = atomic_load(&gw_count.messages_refused);
    for (size_t i = 0; i < GW_ARRAY_LEN(bad); i++) CHECK(!check_race_bytes_are_right(bad[i]));
    CHECK_EQ(atomic_load(&gw_count.messages_refused), refused += GW_ARRAY_LEN(bad));
    struct race_access v[] = {access(RACE_PUT, 1, 0, 8, 0),   access(RACE_PUT, 2, 0, 8, 0),         access(-1, 1, 0, 8, 0),
                              access(RACE_KINDS, 1, 0, 8, 0), access(RACE_STORE, 1, 0, 8, 0),       access(RACE_LOAD, 1, 0, 8, 0),
                              access(RACE_PUT, 1, 0, 8, 0),   access(RACE_PUT, 1, 0, INT64_MAX, 0), access(RACE_PUT, 1, 0, 8, 0)};
    enum { N = GW_ARRAY_LEN(v), REFUSED = 6, GOOD = 1 };
    for (int i = 0; i < N; i++) v[i].disp = 3, v[i].is_changed = v[i].is_hit = 1;
    memset(v[6].module, 'm', sizeof v[6].module);
    v[8].disp = INT64_MAX / 2;
    check_race_place(v, N, 1, 4);
    CHECK_EQ(atomic_load(&gw_count.messages_refused), refused + REFUSED); /* a place that is none is the program's mistake */
    CHECK(v[0].lo == 12 && v[0].hi == 20 && v[0].kind == RACE_PUT && v[0].is_changed && !v[0].is_hit);
    for (int i = GOOD; i < N; i++) CHECK(v[i].kind == RACE_KINDS && !v[i].is_changed && !v[i].is_hit);
}

int main(void)
{
    forged();
    pairs();
    random_ones();
    random_times();
    many_times();
    enum { MANY = 100000 };
    struct race_access *v = calloc(MANY, sizeof *v);
    for (int i = 0; i < MANY; i++) v[i] = access(i & 1 ? RACE_UPDATE : RACE_FETCH, i % 7, 0, 8, SUM); /* a counter */
    told = 0;
    CHECK(check_race_judge(v, MANY, tell, &told) && told == 0);
    v[0] = access(RACE_PUT, 1, 0, 8, 0);
    v[1] = access(RACE_UPDATE, 2, 0, 8, SUM);
    for (int i = 2; i < 2000; i++) v[i] = access(RACE_PUT, 1, 0, 8, 0);
    CHECK(!check_race_judge(v, 2000, tell, &told) && told > 0); /* so many that not all are marked */
    v[0] = access(RACE_PUT, 1, -8, 8, 0), v[1] = access(RACE_PUT, 1, 8, 8, 0), v[2] = access(99, 1, 0, 8, 0);
    told = 0;
    CHECK(check_race_judge(v, 3, tell, &told) && told == 0); /* what no rank sends */
    free(v);
    return unit_end();
}
