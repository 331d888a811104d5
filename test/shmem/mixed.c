/* mixed.c -- collectives of all kinds, one behind the other without a barrier between, on teams that overlap and on active sets, while one PE is
 * slow (OpenSHMEM 1.6 sections 9.4, 9.10).  Before a call dest must be ready on all PEs, so each call has dest words of its own.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <unistd.h>

enum { ROUNDS = 12, KINDS = 7, MOST = 16 };
struct team {
    shmem_team_t id;
    int first, step, n; /* its member i is PE first + i * step */
};
static long dest[3][ROUNDS][KINDS][MOST * 3], source[MOST * 3];
static long by_set[ROUNDS], set_source, p_sync[ROUNDS][SHMEM_SYNC_SIZE], p_wrk[ROUNDS][SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static long value(int pe, int round, int i) { return 1000L * pe + 10L * round + i; }
static void fill(int round, int n)
{
    for (int i = 0; i < n; i++) source[i] = value(me, round, i);
}

static void all_kinds(const struct team *t, long (*to)[MOST * 3], int round)
{
    if (t->id == SHMEM_TEAM_INVALID) return;
    int at = shmem_team_my_pe(t->id), root = round % t->n;
    long before = 0, sum = 0;
    fill(round, 3 * t->n); /* at once after the last call has returned: the source is the caller's again */
    CHECK(shmem_long_broadcast(t->id, to[0], source, 3, root) == 0);
    fill(round + 1, 3 * t->n);
    CHECK(shmem_long_fcollect(t->id, to[1], source, 2) == 0);
    fill(round + 2, 3 * t->n);
    CHECK(shmem_long_collect(t->id, to[2], source, (size_t)(at % 3)) == 0); /* none of some */
    fill(round + 3, 3 * t->n);
    CHECK(shmem_long_alltoall(t->id, to[3], source, 1) == 0);
    fill(round + 4, 3 * t->n);
    CHECK(shmem_long_sum_reduce(t->id, to[4], source, 2) == 0);
    fill(round + 5, 3 * t->n);
    CHECK(shmem_long_sum_exscan(t->id, to[5], source, 1) == 0);
    fill(round + 6, 3 * t->n);
    CHECK(shmem_long_sum_inscan(t->id, to[6], source, 1) == 0);
    fill(99, 3 * t->n);
    for (int i = 0; i < 3; i++) CHECK(to[0][i] == value(t->first + root * t->step, round, i));
    for (int m = 0, c = 0; m < t->n; m++) {
        int pe = t->first + m * t->step;
        for (int i = 0; i < 2; i++) CHECK(to[1][2 * m + i] == value(pe, round + 1, i));
        for (int i = 0; i < m % 3; i++) CHECK(to[2][c++] == value(pe, round + 2, i));
        CHECK(to[3][m] == value(pe, round + 3, at));
        sum += value(pe, 0, 0);
        if (m < at) before += value(pe, round + 5, 0);
    }
    for (int i = 0; i < 2; i++) CHECK(to[4][i] == sum + t->n * (10L * (round + 4) + i));
    CHECK(to[5][0] == before);
    CHECK(to[6][0] == before + at * 10L + value(me, round + 6, 0));
}

int main(void)
{
    begin();
    CHECK(pes <= MOST);
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < (int)SHMEM_SYNC_SIZE; i++) p_sync[r][i] = SHMEM_SYNC_VALUE;
    struct team all = {SHMEM_TEAM_WORLD, 0, 1, pes}, evens = {SHMEM_TEAM_INVALID, 0, 2, (pes + 1) / 2},
                back = {SHMEM_TEAM_INVALID, pes - 1, -1, pes - pes / 2};
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, evens.n, NULL, 0, &evens.id) == 0);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, back.n, NULL, 0, &back.id) == 0);
    shmem_barrier_all();
    for (int r = 0; r < ROUNDS; r++) {
        if (me == r % pes) usleep(3000); /* another one is late in each round */
        all_kinds(&evens, dest[0][r], r);
        all_kinds(&back, dest[1][r], r);
        all_kinds(&all, dest[2][r], r);
        if (me % 2 == 0) {
            set_source = value(me, r, 0);
            shmem_long_sum_to_all(&by_set[r], &set_source, 1, 0, 1, evens.n, p_wrk[r], p_sync[r]);
            long sum = 0;
            for (int i = 0; i < evens.n; i++) sum += value(2 * i, r, 0);
            CHECK(by_set[r] == sum);
            for (int i = 0; i < (int)SHMEM_SYNC_SIZE; i++) CHECK(p_sync[r][i] == SHMEM_SYNC_VALUE);
        }
    }
    shmem_team_destroy(back.id);
    shmem_team_destroy(evens.id);
    shmem_finalize();
    return 0;
}
