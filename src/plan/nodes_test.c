/* nodes_test.c -- where members run, teams, and when a leaf collective may begin: against definitions written out.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan_private.h"

#include <stdlib.h>

#include "../../test/unit.h"

enum { MOST = 24, IDS = 9 };
static int id_of[MOST];
static int node_of(void *ctx, int member) { return ((int *)ctx)[member]; }

/* Nodes count up by their lowest members; places by rank. */
static void one(int size, int rank)
{
    struct plan_nodes *n = plan_nodes_new(size, rank, node_of, id_of, IDS);
    int seen = 0, number[IDS], members[IDS] = {0}, fewest = size, most = 0;
    bool is_ordered = true;
    for (int i = 0; i < IDS; i++) number[i] = -1;
    for (int i = 0; i < size; i++) {
        if (number[id_of[i]] < 0) number[id_of[i]] = seen++;
        int k = number[id_of[i]];
        CHECK_EQ(plan_node_of(n, i), k);
        CHECK_EQ(plan_place_of(n, i), members[k]);
        CHECK_EQ(plan_member(n, k, members[k]), i);
        members[k]++;
        is_ordered = is_ordered && (i == 0 || number[id_of[i - 1]] <= k);
    }
    for (int k = 0; k < seen; k++) {
        CHECK_EQ(plan_node_size(n, k), members[k]);
        fewest = members[k] < fewest ? members[k] : fewest;
        most = members[k] > most ? members[k] : most;
    }
    CHECK(n->n == seen && n->fewest == fewest && n->most == most && n->ordered == is_ordered);
    CHECK(n->me == number[id_of[rank]] && plan_member(n, n->me, n->place) == rank);
    CHECK(!n->member == is_ordered && !n->node == is_ordered); /* 8 bytes a member only where they are needed */
    struct plan_team all = {.kind = TEAM_ALL, .nodes = n}, here = {.kind = TEAM_NODE, .node = n->me, .nodes = n};
    for (int i = 0; i < size; i++) CHECK_EQ(plan_team_rank(&all, i), i);
    for (int i = 0; i < members[n->me]; i++) CHECK_EQ(plan_team_rank(&here, i), plan_member(n, n->me, i));
    struct plan_team first = {.kind = TEAM_ACROSS, .place = 0, .odd = -1, .nodes = n};
    struct plan_team last = {.kind = TEAM_ACROSS, .place = -1, .odd = 0, .stand_in = 0, .nodes = n};
    for (int k = 0; k < seen; k++) {
        CHECK_EQ(plan_team_rank(&first, k), plan_member(n, k, 0));
        CHECK_EQ(plan_team_rank(&last, k), k == 0 ? 0 : plan_member(n, k, members[k] - 1));
    }
    plan_nodes_free(n);
}

static void nodes(void)
{
    uint64_t state = 99;
    for (int trial = 0; trial < 400; trial++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        int size = 1 + (int)(state >> 40) % MOST;
        for (int i = 0; i < size; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            id_of[i] = trial % 3 == 0 ? i / 4 : trial % 3 == 1 ? i % 3 : (int)((state >> 40) % IDS);
        }
        one(size, (int)(state >> 33) % size);
    }
    plan_nodes_free(NULL);
}

/* P1, as the header words it. */
static void entries(void)
{
    struct gw_type eight = {.size = 8};
    struct plan_args a = {.rank = 1, .root = 0, .rcount = 1, .rt = &eight};
    const struct plan_algorithm all = {.kind = PLAN_NARROW}, root = {.kind = PLAN_NARROW | PLAN_ROOT_WRITES},
                                others = {.kind = PLAN_NARROW | PLAN_OTHERS_WRITE},
                                nobody = {.kind = PLAN_NARROW | PLAN_NOBODY_WRITES}, small = {.kind = PLAN_NARROW | PLAN_SMALL};
    const struct plan_algorithm wide = {.kind = PLAN_WIDE};
    uint64_t left[PLAN_SLOTS] = {0}, n, last, step = 1;
    for (n = 1; n < 400; n += step, step = 1 + n * n % 7) {
        uint64_t end = 0; /* of the last one that left the slot */
        for (last = 0; last < PLAN_SLOTS; last++)
            if (left[last] && (left[last] >> 20) % PLAN_SLOTS == n % PLAN_SLOTS) end = left[last];
        CHECK_EQ(plan_entry(&all, &a, n, left), end);
        CHECK_EQ(plan_entry(&small, &a, n, left), end);
        CHECK_EQ(plan_entry(&wide, &a, n, left), end);
        CHECK_EQ(plan_entry(&root, &a, n, left), 0);
        CHECK_EQ(plan_entry(&others, &a, n, left), end);
        CHECK_EQ(plan_entry(&nobody, &a, n, left), 0);
        a.root = 1; /* this member is the root */
        CHECK_EQ(plan_entry(&root, &a, n, left), end);
        CHECK_EQ(plan_entry(&others, &a, n, left), 0);
        a.root = 0;
        plan_slots_use(&all, n, left);
        CHECK_EQ(left[n % PLAN_SLOTS], n << 20 | PLAN_FINAL);
    }
    /* a wide one uses all slots */
    plan_slots_use(&wide, n, left);
    for (uint64_t i = 1; i <= PLAN_SLOTS; i++) CHECK_EQ(plan_entry(&all, &a, n + i, left), n << 20 | PLAN_FINAL);
    plan_slots_use(&small, n + 1, left);
    CHECK_EQ(plan_entry(&all, &a, n + 2, left), n << 20 | PLAN_FINAL);
    CHECK_EQ(plan_entry(&all, &a, n + 1 + PLAN_SLOTS, left), (n + 1) << 20 | PLAN_FINAL);
}

int main(void)
{
    nodes();
    entries();
    return unit_end();
}
