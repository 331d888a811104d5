/* teams.c -- teams of all kinds, their numbers, collectives and contexts (OpenSHMEM 1.6 sections 9.4, 9.5).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

static shmem_team_t made_before_main = SHMEM_TEAM_INVALID;

/* The sum over the team of each member's number in the world, and the order of the members, by a collect. */
static void use(shmem_team_t team, const int *members, int n)
{
    static int all[64], mine;
    static long sum, one;
    int at = shmem_team_my_pe(team);
    long expected = 0;
    CHECK(shmem_team_n_pes(team) == n);
    CHECK(at >= 0 && members[at] == me);
    for (int i = 0; i < n; i++) expected += members[i];
    one = me, mine = me;
    CHECK(shmem_long_sum_reduce(team, &sum, &one, 1) == 0);
    CHECK(sum == expected);
    CHECK(shmem_int_fcollect(team, all, &mine, 1) == 0);
    for (int i = 0; i < n; i++) {
        CHECK(all[i] == members[i]);
        CHECK(shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD) == members[i]);
        CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, members[i], team) == i);
    }
    CHECK(shmem_team_sync(team) == 0);
}

/* A context of the team counts PEs as the team does. */
static void by_context(shmem_team_t team, const int *members, int n)
{
    static long slots[64];
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    shmem_team_t of = SHMEM_TEAM_INVALID;
    int at = shmem_team_my_pe(team);
    for (int i = 0; i < 64; i++) slots[i] = -1;
    CHECK(shmem_team_create_ctx(team, SHMEM_CTX_SERIALIZED, &ctx) == 0);
    CHECK(shmem_ctx_get_team(ctx, &of) == 0 && of == team);
    shmem_team_sync(team);
    for (int i = 0; i < n; i++) shmem_ctx_long_p(ctx, &slots[at], 7000 + me, i);
    shmem_ctx_quiet(ctx);
    shmem_team_sync(team);
    for (int i = 0; i < n; i++) CHECK(slots[i] == 7000 + members[i]);
    CHECK(shmem_ctx_long_g(ctx, &slots[at], (at + 1) % n) == 7000 + me);
    shmem_ctx_destroy(ctx);
    shmem_team_sync(team);
}

static void strided(int start, int stride, int size)
{
    int members[64], is_member = 0;
    shmem_team_t team = SHMEM_TEAM_WORLD;
    for (int i = 0; i < size; i++) {
        members[i] = start + i * stride;
        is_member |= members[i] == me;
    }
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &team) == 0);
    CHECK((team != SHMEM_TEAM_INVALID) == is_member);
    if (team != SHMEM_TEAM_INVALID) use(team, members, size), by_context(team, members, size);
    shmem_team_destroy(team); /* INVALID: nothing happens */
}

static void refused(int start, int stride, int size)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
}

static void grid(int xrange)
{
    int row[64] = {0}, column[64] = {0}, nx = 0, ny = 0, width = xrange < pes ? xrange : pes;
    shmem_team_t x, y;
    for (int pe = 0; pe < pes; pe++) {
        if (pe / width == me / width) row[nx++] = pe;
        if (pe % width == me % width) column[ny++] = pe;
    }
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, xrange, NULL, 0, &x, NULL, 0, &y) == 0);
    use(x, row, nx);
    use(y, column, ny);
    /* of a team of a team, and without an end: shmem_finalize ends what is left */
    int half[64], n = (nx + 1) / 2;
    shmem_team_t evens;
    for (int i = 0; i < n; i++) half[i] = row[2 * i];
    CHECK(shmem_team_split_strided(x, 0, 2, n, NULL, 0, &evens) == 0);
    CHECK((evens != SHMEM_TEAM_INVALID) == (shmem_team_my_pe(x) % 2 == 0));
    if (evens != SHMEM_TEAM_INVALID) use(evens, half, n);
    shmem_team_destroy(y);
}

static void predefined(void)
{
    int all[64], near[64], n = 0;
    shmem_team_config_t config = {.num_contexts = 77};
    long *word = shmem_malloc(sizeof *word); /* static data need not be near */
    for (int pe = 0; pe < pes; pe++) {
        all[pe] = pe;
        if (shmem_ptr(word, pe)) near[n++] = pe;
    }
    use(SHMEM_TEAM_WORLD, all, pes);
    by_context(SHMEM_TEAM_WORLD, all, pes);
    use(SHMEM_TEAM_SHARED, near, n);
    shmem_free(word);
    CHECK(made_before_main == SHMEM_TEAM_INVALID);
    CHECK(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1 && shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD) == -1);
    CHECK(shmem_team_get_config(SHMEM_TEAM_WORLD, 0, NULL) == 0);
    CHECK(shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, &config) == 0 && config.num_contexts == 0);
    CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, 0, NULL) != 0);
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_team_t of = SHMEM_TEAM_WORLD;
    CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &of) != 0 && of == SHMEM_TEAM_INVALID);
    CHECK(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &of) == 0 && of == SHMEM_TEAM_WORLD);
}

int main(void)
{
    begin();
    predefined();
    strided(0, 1, pes);
    strided(pes - 1, -1, pes);
    strided(0, 0, 1);
    strided(pes / 2, 1, pes - pes / 2);
    strided(0, 2, (pes + 1) / 2);
    strided(pes - 1, -2, (pes + 1) / 2);
    refused(0, 1, pes + 1);
    refused(-1, 1, 1);
    refused(0, 1, 0);
    if (pes > 1) refused(0, 0, 2);
    refused(0, -1, 2);
    for (int x = 1; x <= pes + 1; x++) grid(x);
    for (int i = 0; i < 20; i++) strided(0, 1, (pes + 1) / 2); /* their numbers are used again */
    shmem_finalize();
    return 0;
}
