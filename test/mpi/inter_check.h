/* inter_check.h -- what the tests of intercommunicators share: pairs of groups, made in every way.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_INTER_CHECK_H
#define GW_TEST_INTER_CHECK_H

#include "p2p_check.h"

/* The two groups of an intercommunicator as ranks of MPI_COMM_WORLD, and where this process is. */
struct sides {
    int list[2][64], n[2]; /* of both sides in the order of their ranks */
    int side, me;          /* my side (-1: in none) and my rank there */
    int nl, nr;            /* members of my side and of the other */
    const int *mine, *theirs;
    const char *name;
};
enum { SHAPES = 5 };
static const char *const shape_names[SHAPES] = {"halves", "odd and even", "one and the rest", "backwards",
                                                "shuffled, some in none"};

static inline int shape_side(int shape, int r)
{
    switch (shape) {
    case 0: return r >= (size + 1) / 2;
    case 1: return r % 2;
    case 2: return r != size - 1;
    case 3: return r < (size + 1) / 2;
    default: return size > 3 && r == 1 ? -1 : (r * 5 + 1) % 3 == 0;
    }
}
static inline int shape_key(int shape, int r) { return shape == 3 ? -r : shape == 4 ? r * 7 % 5 : r; }

/* False where one of the sides is empty. */
static inline int sides_of(struct sides *s, int shape)
{
    memset(s, 0, sizeof *s);
    s->side = -1;
    s->name = shape_names[shape];
    for (int side = 0; side < 2; side++) {
        int *l = s->list[side], n = 0;
        for (int r = 0; r < size; r++) {
            if (shape_side(shape, r) != side) continue;
            int at = n++;
            for (; at > 0 && shape_key(shape, l[at - 1]) > shape_key(shape, r); at--) l[at] = l[at - 1];
            l[at] = r;
        }
        s->n[side] = n;
        for (int i = 0; i < n; i++)
            if (l[i] == rank) s->side = side, s->me = i;
    }
    if (s->side >= 0) {
        s->nl = s->n[s->side], s->nr = s->n[!s->side];
        s->mine = s->list[s->side], s->theirs = s->list[!s->side];
    }
    return s->n[0] > 0 && s->n[1] > 0;
}

/* The local group's communicator and the intercommunicator; the leaders are the last of each side.  Not for ranks in none. */
static inline MPI_Comm sides_open(const struct sides *s, int shape, MPI_Comm *local_out)
{
    MPI_Comm inter = MPI_COMM_NULL;
    int mine = shape_side(shape, rank);
    CHECK_EQ(MPI_Comm_split(MPI_COMM_WORLD, mine < 0 ? MPI_UNDEFINED : mine, shape_key(shape, rank), local_out), MPI_SUCCESS);
    if (mine < 0) return inter;
    /* peer_comm and remote_leader count at the leader alone. */
    int leads = s->me == s->nl - 1;
    CHECK_EQ(MPI_Intercomm_create(*local_out, s->nl - 1, leads ? MPI_COMM_WORLD : MPI_COMM_NULL, leads ? s->theirs[s->nr - 1] : -77,
                                  31 + shape, &inter),
             MPI_SUCCESS);
    CHECK(inter != MPI_COMM_NULL);
    return inter;
}

/* Is this group the listed ranks of MPI_COMM_WORLD, in that order? */
static inline int group_is(MPI_Group g, const int *want, int n)
{
    MPI_Group world;
    int got[64], all[64], m;
    MPI_Group_size(g, &m);
    if (m != n) return 0;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < n; i++) all[i] = i;
    MPI_Group_translate_ranks(g, n, all, world, got);
    MPI_Group_free(&world);
    return memcmp(got, want, sizeof *want * (size_t)n) == 0;
}

/* Groups, sizes and ranks of c, and a message from everybody to everybody on the other side. */
static inline void check_inter(MPI_Comm c, const int *mine, int nl, const int *theirs, int nr, const char *what)
{
    int before = failures, n = -1, m = -1, r = -1, flag = 0, sent[64], got[64];
    MPI_Group g, h;
    MPI_Request q[128];
    CHECK_EQ(MPI_Comm_test_inter(c, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    CHECK_EQ(MPI_Comm_size(c, &n), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_remote_size(c, &m), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_rank(c, &r), MPI_SUCCESS);
    CHECK(n == nl && m == nr && r >= 0 && r < nl && mine[r] == rank);
    CHECK_EQ(MPI_Comm_group(c, &g), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_remote_group(c, &h), MPI_SUCCESS);
    CHECK(group_is(g, mine, nl) && group_is(h, theirs, nr));
    MPI_Group_free(&g);
    MPI_Group_free(&h);
    if (failures == before) {
        for (int i = 0; i < nr; i++) {
            sent[i] = rank * 1000 + theirs[i];
            got[i] = -1;
            MPI_Irecv(&got[i], 1, MPI_INT, i, 9, c, &q[2 * i]);
            MPI_Isend(&sent[i], 1, MPI_INT, i, 9, c, &q[2 * i + 1]);
        }
        MPI_Waitall(2 * nr, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < nr; i++) CHECK_EQ(got[i], theirs[i] * 1000 + rank);
    }
    if (failures != before) fprintf(stderr, "rank %d: that was %s\n", rank, what);
}

#endif
