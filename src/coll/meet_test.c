/* meet_test.c -- coll_node_most(): every rank has the largest of each value, round after round, however far one is ahead.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll.h"

#include <unistd.h>

#include "life/life.h"

#include "one_rank.h"
#include "ranks.h"

enum { ROUNDS = 500 };

static void rounds(int rank)
{
    const int n = gw_boot.size;
    rooms_above_boot();
    for (int r = 0; r < ROUNDS; r++) {
        /* the largest is of another rank each time, and below the last one's; the extremes of the type; what nobody else passes */
        int64_t v[COLL_GROUP_VALUES] = {
            rank == r % n ? -r : -r - 1 - rank, INT64_MIN, rank == n - 1 ? INT64_MAX : INT64_MIN, rank, -rank, ROUNDS - r};
        int nv = r % 3 == 2 ? 1 : 6; /* a word that a round leaves out is none of the next one's */
        if (r % 50 == rank) usleep(100);
        coll_node_most(v, nv);
        CHECK_EQ(v[0], -r);
        if (nv == 1) continue;
        CHECK(v[1] == INT64_MIN && v[2] == INT64_MAX);
        CHECK(v[3] == n - 1 && v[4] == 0 && v[5] == ROUNDS - r);
    }
    for (int teller = 0; teller < n; teller++) {
        char text[300] = "";
        if (rank == teller) snprintf(text, sizeof text, "rank %d", teller);
        CHECK(coll_node_tell(text, sizeof text, rank == teller));
        CHECK_EQ(atoi(text + 5), teller);
    }
    char huge[1];
    if (n > 1) CHECK(!coll_node_tell(huge, INT64_MAX / 2, rank == 0)); /* nothing is copied */
    life_rooms_down();
}

int main(void)
{
    ranks_run(1, 1, rounds);
    ranks_run(2, 2, rounds);
    ranks_run(7, 2, rounds);
    return unit_end();
}
