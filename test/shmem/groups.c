/* groups.c -- teams and contexts at their edges: one PE, strides that are too large, a team of a team of a team, hundreds of both, those that
 * end with something under way, numbers that are used again at once (OpenSHMEM 1.6 sections 9.4, 9.5).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <limits.h>
#include <unistd.h>

enum { CONTEXTS = 1500, TEAMS = 120, MOST = 16 };
static long slots[CONTEXTS], words[MOST], flag, sums[TEAMS], one;

/* The same answer on all PEs, members or not: it cannot be, and there is no team. */
static void refused(shmem_team_t parent, int start, int stride, int size)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_strided(parent, start, stride, size, NULL, 0, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
}

static void no_teams(void)
{
    shmem_team_t x = SHMEM_TEAM_WORLD, y = SHMEM_TEAM_SHARED;
    refused(SHMEM_TEAM_INVALID, 0, 1, 1);
    refused(SHMEM_TEAM_WORLD, pes - 1, 1, 2); /* no way round */
    refused(SHMEM_TEAM_WORLD, 0, -1, 2);
    refused(SHMEM_TEAM_WORLD, 0, INT_MAX, 2);
    refused(SHMEM_TEAM_WORLD, 0, INT_MIN, 2);
    refused(SHMEM_TEAM_WORLD, 0, INT_MIN, INT_MAX);
    refused(SHMEM_TEAM_WORLD, INT_MAX, 1, 1);
    refused(SHMEM_TEAM_WORLD, INT_MIN, 1, 1);
    refused(SHMEM_TEAM_WORLD, 0, 1, INT_MAX);
    refused(SHMEM_TEAM_WORLD, 0, 1, -1);
    refused(SHMEM_TEAM_WORLD, 0, 0, 2);
    CHECK(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &x, NULL, 0, &y) != 0);
    CHECK(x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID);
    for (int xrange = -1; xrange <= 0; xrange++) {
        x = SHMEM_TEAM_WORLD, y = SHMEM_TEAM_SHARED;
        CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, xrange, NULL, 0, &x, NULL, 0, &y) != 0);
        CHECK(x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID);
    }
    shmem_team_destroy(SHMEM_TEAM_INVALID);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pes, SHMEM_TEAM_WORLD) == -1);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, -1, SHMEM_TEAM_WORLD) == -1);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID) == -1);
    CHECK(shmem_team_sync(SHMEM_TEAM_INVALID) != 0);
}

static long sum_over(shmem_team_t team, long mine)
{
    long *sum = &sums[0];
    one = mine;
    CHECK(shmem_team_sync(team) == 0 && shmem_long_sum_reduce(team, sum, &one, 1) == 0);
    long out = *sum;
    CHECK(shmem_team_sync(team) == 0);
    return out;
}

/* Teams of one PE: their stride is whatever it is; all that a team does. */
static void alone(void)
{
    static const int strides[] = {0, 1, -1, 7, INT_MAX, INT_MIN};
    for (int k = 0; k < 6; k++) {
        int who = k % pes;
        shmem_team_t team = SHMEM_TEAM_WORLD, x, y;
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, who, strides[k], 1, NULL, 0, &team) == 0);
        CHECK((team == SHMEM_TEAM_INVALID) == (me != who));
        CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, (who + 1) % pes, team) == (me == who && pes == 1 ? 0 : -1));
        if (me != who) continue;
        CHECK(shmem_team_my_pe(team) == 0 && shmem_team_n_pes(team) == 1);
        CHECK(sum_over(team, 33) == 33);
        CHECK(shmem_team_split_2d(team, 5, NULL, 0, &x, NULL, 0, &y) == 0);
        CHECK(sum_over(x, 34) == 34 && sum_over(y, 35) == 35);
        CHECK(shmem_team_ptr(team, &flag, 0) == &flag && shmem_team_ptr(team, &flag, 1) == NULL);
        shmem_team_destroy(x), shmem_team_destroy(y), shmem_team_destroy(team);
    }
    shmem_barrier_all();
}

/* Halves of halves, down to one PE; each PE calls for its own part at the same time. */
static void halves(void)
{
    shmem_team_t chain[8] = {SHMEM_TEAM_WORLD}, low, high;
    int depth = 0;
    for (int n; (n = shmem_team_n_pes(chain[depth])) > 1; depth++) {
        int mine = shmem_team_my_pe(chain[depth]), cut = n / 2;
        long expected = 0;
        CHECK(shmem_team_split_strided(chain[depth], 0, 1, cut, NULL, 0, &low) == 0);
        CHECK(shmem_team_split_strided(chain[depth], n - 1, -1, n - cut, NULL, 0, &high) == 0);
        CHECK((low == SHMEM_TEAM_INVALID) == (mine >= cut) && (high == SHMEM_TEAM_INVALID) == (mine < cut));
        chain[depth + 1] = mine < cut ? low : high;
        for (int i = 0, m = shmem_team_n_pes(chain[depth + 1]); i < m; i++)
            expected += 1 + shmem_team_translate_pe(chain[depth + 1], i, SHMEM_TEAM_WORLD);
        if (mine >= cut) CHECK(shmem_team_my_pe(high) == n - 1 - mine);
        CHECK(sum_over(chain[depth + 1], 1 + me) == expected);
    }
    while (depth > 0) shmem_team_destroy(chain[depth--]);
    shmem_barrier_all();
}

/* Many teams at a time; a team's number is used again at once, while a slow PE is still in the last collective of the one before. */
static void many_teams(void)
{
    shmem_team_t teams[TEAMS];
    for (int i = 0; i < TEAMS; i++)
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, i & 1 ? pes - 1 : 0, i & 1 ? -1 : 1, pes, NULL, 0, &teams[i]) == 0);
    one = me + 1;
    for (int i = TEAMS; i-- > 0;) CHECK(shmem_long_sum_reduce(teams[i], &sums[i], &one, 1) == 0);
    for (int i = 0; i < TEAMS; i++) CHECK(sums[i] == (long)pes * (pes + 1) / 2);
    for (int i = 0; i < TEAMS; i++) shmem_team_destroy(teams[(i * 7) % TEAMS]);
    static long from[40], to[40];
    for (int i = 0; i < 40; i++) {
        shmem_team_t team;
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &team) == 0);
        from[i] = 100 * me + i;
        if (me == i % pes && i % 8 == 0) usleep(2000);
        CHECK(shmem_long_broadcast(team, &to[i], &from[i], 1, i % pes) == 0); /* nobody waits for those that come later */
        CHECK(to[i] == 100 * (i % pes) + i);
        shmem_team_destroy(team);
    }
    shmem_barrier_all();
}

static void configurations(void)
{
    shmem_team_config_t config = {.num_contexts = 5}, got = {.num_contexts = -3};
    shmem_team_t team, x, y;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, &config, SHMEM_TEAM_NUM_CONTEXTS, &team) == 0);
    CHECK(shmem_team_get_config(team, 0, &got) == 0 && got.num_contexts == -3); /* nothing is asked for */
    CHECK(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0 && got.num_contexts == 5);
    CHECK(shmem_team_split_2d(team, 2, &config, 0, &x, &config, SHMEM_TEAM_NUM_CONTEXTS, &y) == 0);
    CHECK(shmem_team_get_config(x, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0 && got.num_contexts == 0);
    CHECK(shmem_team_get_config(y, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0 && got.num_contexts == 5);
    CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, 0, NULL) != 0);
    shmem_team_destroy(y), shmem_team_destroy(x), shmem_team_destroy(team);
}

/* As many contexts as a program likes, of all options and of teams that were not asked for any, in no order of their ends. */
static void many_contexts(void)
{
    static shmem_ctx_t ctxs[CONTEXTS];
    static long sources[CONTEXTS];
    shmem_team_t teams[2] = {SHMEM_TEAM_WORLD, SHMEM_TEAM_INVALID}, of;
    int next = (me + 1) % pes, last = (me + pes - 1) % pes;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &teams[1]) == 0);
    shmem_barrier_all();
    for (int i = 0; i < CONTEXTS; i++) {
        CHECK(shmem_team_create_ctx(teams[i % 2], i % 8, &ctxs[i]) == 0 && ctxs[i] != SHMEM_CTX_INVALID);
        CHECK(shmem_ctx_get_team(ctxs[i], &of) == 0 && of == teams[i % 2]);
        sources[i] = 10000L * me + i;
        shmem_ctx_long_put_nbi(ctxs[i], &slots[i], &sources[i], 1, i % 2 ? pes - 1 - next : next);
    }
    for (int i = 0; i < CONTEXTS; i++) shmem_ctx_destroy(ctxs[(i * 7) % CONTEXTS]); /* an end completes */
    shmem_barrier_all();
    for (int i = 0; i < CONTEXTS; i++) CHECK(slots[i] == 10000L * last + i);
    shmem_team_destroy(teams[1]);
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0 && shmem_ctx_get_team(ctx, &of) == 0 && of == SHMEM_TEAM_WORLD);
    shmem_ctx_destroy(ctx);
    ctx = SHMEM_CTX_DEFAULT;
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, SHMEM_CTX_PRIVATE, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);
}

/* The end of a context, and that of a team for its contexts, completes what they have under way: it is there when a flag says so. */
static void ends(void)
{
    int next = (me + 1) % pes, last = (me + pes - 1) % pes;
    static long from[4096], to[4096];
    for (long round = 1; round <= 6; round++) {
        shmem_team_t team;
        shmem_ctx_t ctx;
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &team) == 0);
        CHECK(shmem_team_create_ctx(team, 0, &ctx) == 0);
        for (int i = 0; i < 4096; i++) from[i] = round * 100000 + 5000 * me + i;
        shmem_ctx_long_put_nbi(ctx, to, from, 4096, next);
        if (round & 1) shmem_ctx_destroy(ctx);
        shmem_team_destroy(team);
        shmem_long_p(&flag, round, next);
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
        for (int i = 0; i < 4096; i++) CHECK(to[i] == round * 100000 + 5000 * last + i);
        shmem_barrier_all();
    }
}

/* SHARED: whom shmem_ptr reaches; parts of it; its contexts' atomics. */
static void shared(void)
{
    shmem_team_t part;
    shmem_ctx_t ctx;
    int n = shmem_team_n_pes(SHMEM_TEAM_SHARED), mine = shmem_team_my_pe(SHMEM_TEAM_SHARED);
    long *word = shmem_calloc(1, sizeof *word);
    for (int i = 0; i < n; i++) CHECK(shmem_team_ptr(SHMEM_TEAM_SHARED, word, i) != NULL);
    CHECK(shmem_team_ptr(SHMEM_TEAM_SHARED, word, mine) == word && shmem_team_ptr(SHMEM_TEAM_WORLD, word, me) == word);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_SHARED, n - 1, -1, n, NULL, 0, &part) == 0);
    CHECK(shmem_team_my_pe(part) == n - 1 - mine);
    CHECK(shmem_team_create_ctx(part, 0, &ctx) == 0);
    for (int i = 0; i < n; i++) shmem_ctx_long_atomic_add(ctx, word, i + 1, i);
    shmem_ctx_quiet(ctx);
    shmem_team_sync(part);
    CHECK(*word == (long)n * (n - mine));
    CHECK(sum_over(part, 2) == 2L * n);
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(part);
    shmem_free(word);
}

/* A session is advice: hints in any order, more than one, too many ends; nothing is left behind by them. */
static void sessions(void)
{
    shmem_ctx_t ctx;
    shmem_ctx_session_config_t config = {.total_ops = 1000};
    int next = (me + 1) % pes, last = (me + pes - 1) % pes;
    CHECK(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx) == 0);
    words[0] = 0, flag = 0;
    shmem_barrier_all();
    shmem_ctx_session_stop(ctx); /* of none */
    shmem_ctx_session_start(ctx, 0, NULL, 0);
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    for (int i = 0; i < 100; i++) shmem_ctx_long_atomic_add(ctx, &words[0], i, next);
    shmem_ctx_fence(ctx);
    shmem_ctx_long_p(ctx, &flag, 50 + me, next); /* it comes although this PE calls nothing of the session any more */
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 50 + last);
    CHECK(words[0] == 4950);
    shmem_ctx_session_stop(ctx), shmem_ctx_session_stop(ctx);
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
}

int main(void)
{
    begin();
    CHECK(pes <= MOST);
    no_teams();
    alone();
    halves();
    many_teams();
    configurations();
    many_contexts();
    ends();
    shared();
    sessions();
    shmem_finalize();
    return 0;
}
