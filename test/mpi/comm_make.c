/* comm_make.c -- communicators made in every way: members, order, names, and that the messages of one never reach another.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "nodes_check.h"

/* Ranks of WORLD in the order of c's ranks, against what they should be; then a message round the ring and a sum. */
static void check_members(MPI_Comm c, const int *want, int n, const char *what)
{
    int before = failures, r, s, world[64], me = rank, got = -1, sum = 0, expect = 0;
    MPI_Comm_rank(c, &r);
    MPI_Comm_size(c, &s);
    CHECK_EQ(s, n);
    CHECK(r >= 0 && r < n && want[r] == rank);
    CHECK_EQ(MPI_Allgather(&me, 1, MPI_INT, world, 1, MPI_INT, c), MPI_SUCCESS);
    for (int i = 0; i < n && i < s; i++) CHECK_EQ(world[i], want[i]);
    CHECK_EQ(MPI_Sendrecv(&me, 1, MPI_INT, (r + 1) % s, 7, &got, 1, MPI_INT, (r + s - 1) % s, 7, c, MPI_STATUS_IGNORE),
             MPI_SUCCESS);
    CHECK_EQ(got, want[(r + n - 1) % n]);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, c);
    for (int i = 0; i < n; i++) expect += want[i];
    CHECK_EQ(sum, expect);
    if (failures != before) fprintf(stderr, "rank %d: that was %s\n", rank, what);
}

static int compare(MPI_Comm a, MPI_Comm b)
{
    int result = -1;
    CHECK_EQ(MPI_Comm_compare(a, b, &result), MPI_SUCCESS);
    return result;
}

/* ---- dup ---------------------------------------------------------------------------------------------------------------- */
static void dups(void)
{
    int all[64], got[4] = {0}, inter = 1;
    for (int i = 0; i < size; i++) all[i] = i;
    MPI_Comm a, b;
    CHECK_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &a), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_dup(a, &b), MPI_SUCCESS);
    CHECK(a != b && a != MPI_COMM_WORLD && a != MPI_COMM_NULL);
    check_members(a, all, size, "a dup");
    check_members(b, all, size, "a dup of a dup");
    CHECK(compare(a, b) == MPI_CONGRUENT && compare(a, a) == MPI_IDENT && compare(MPI_COMM_WORLD, b) == MPI_CONGRUENT);
    MPI_Comm_test_inter(a, &inter);
    CHECK_EQ(inter, 0);
    /* Equal source and tag, four communicators: each receive gets its own. */
    MPI_Comm on[3] = {a, MPI_COMM_WORLD, b};
    MPI_Request q[6];
    int to = (rank + 1) % size, from = (rank + size - 1) % size, v[3] = {rank * 10, rank * 10 + 1, rank * 10 + 2};
    for (int i = 0; i < 3; i++) MPI_Irecv(&got[i], 1, MPI_INT, from, 3, on[i], &q[i]);
    for (int i = 2; i >= 0; i--) MPI_Isend(&v[i], 1, MPI_INT, to, 3, on[i], &q[3 + i]);
    MPI_Waitall(6, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++) CHECK_EQ(got[i], from * 10 + i);
    /* A communicator that is freed lives on while a receive on it waits. */
    MPI_Irecv(&got[3], 1, MPI_INT, from, 4, a, &q[0]);
    int *send = &v[0];
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(send, 1, MPI_INT, to, 4, a, &q[1]);
    MPI_Comm_free(&a);
    CHECK(a == MPI_COMM_NULL);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    CHECK_EQ(got[3], from * 10);
    check_members(b, all, size, "a dup whose parent is gone");
    MPI_Comm_free(&b);
}

static void dup_with_info(void)
{
    MPI_Comm a, b;
    MPI_Info info, got;
    char value[32];
    int flag, length = sizeof value;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    CHECK_EQ(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &a), MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK_EQ(MPI_Comm_dup(a, &b), MPI_SUCCESS);
    MPI_Comm_get_info(b, &got);
    MPI_Info_get_string(got, "mpi_assert_no_any_tag", &length, value, &flag);
    CHECK(flag && !strcmp(value, "false")); /* MPI_Comm_dup does not copy hints */
    MPI_Info_free(&got);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
}

/* ---- split --------------------------------------------------------------------------------------------------------------- */
/* Brute force: those with my color by (key, rank). */
static int split_want(const int *colors, const int *keys, int *want)
{
    int n = 0;
    for (int i = 0; i < size; i++)
        if (colors[i] == colors[rank]) want[n++] = i;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (keys[want[j]] < keys[want[i]] || (keys[want[j]] == keys[want[i]] && want[j] < want[i])) {
                int t = want[i];
                want[i] = want[j];
                want[j] = t;
            }
    return n;
}

static void splits(void)
{
    random_state = 4242; /* the same on every rank */
    for (int round = 0; round < 30; round++) {
        int colors[64], keys[64], want[64], ncolors = 1 + (int)random_below(4);
        for (int i = 0; i < size; i++) {
            colors[i] = random_below(6) == 0 ? MPI_UNDEFINED : (int)random_below((unsigned)ncolors) * 1000000;
            keys[i] = (int)random_below(5) - 2;
            if (random_below(20) == 0) keys[i] = random_below(2) ? -2147483647 - 1 : 2147483647;
        }
        MPI_Comm c = MPI_COMM_WORLD;
        CHECK_EQ(MPI_Comm_split(MPI_COMM_WORLD, colors[rank], keys[rank], &c), MPI_SUCCESS);
        if (colors[rank] == MPI_UNDEFINED) {
            CHECK(c == MPI_COMM_NULL);
            continue;
        }
        int n = split_want(colors, keys, want), straight = n == size;
        check_members(c, want, n, "a split");
        for (int i = 0; i < n; i++) straight = straight && want[i] == i;
        CHECK_EQ(compare(c, MPI_COMM_WORLD), straight ? MPI_CONGRUENT : n == size ? MPI_SIMILAR : MPI_UNEQUAL);
        MPI_Comm half, back;
        int r, s;
        MPI_Comm_rank(c, &r);
        MPI_Comm_split(c, r % 2, -r, &half); /* a split of a split, backwards */
        MPI_Comm_rank(half, &r);
        MPI_Comm_size(half, &s);
        int mine[64], k = 0;
        for (int i = n - 1; i >= 0; i--) {
            int place = 0;
            while (want[place] != rank) place++;
            if (i % 2 == place % 2) mine[k++] = want[i];
        }
        check_members(half, mine, k, "a split of a split");
        MPI_Comm_split(half, 0, 0, &back); /* equal keys: the old order */
        check_members(back, mine, k, "a split with equal keys");
        MPI_Comm_free(&back);
        MPI_Comm_free(&half);
        MPI_Comm_free(&c);
    }
}

static void split_types(void)
{
    int want[64], n = 0, lowest[64];
    MPI_Comm c;
    nodes_find(lowest);
    CHECK_EQ(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &c), MPI_SUCCESS);
    for (int i = size - 1; i >= 0; i--)
        if (lowest[i] == lowest[rank]) want[n++] = i;
    check_members(c, want, n, "a node's communicator");
    MPI_Comm_free(&c);
    c = MPI_COMM_WORLD;
    CHECK_EQ(MPI_Comm_split_type(MPI_COMM_WORLD, rank % 2 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c),
             MPI_SUCCESS);
    CHECK_EQ(c == MPI_COMM_NULL, rank % 2);
    if (c != MPI_COMM_NULL) MPI_Comm_free(&c);
}

/* ---- create ---------------------------------------------------------------------------------------------------------------- */
static void creates(void)
{
    MPI_Group world, even, mine, empty;
    MPI_Comm c = MPI_COMM_WORLD;
    int evens[1][3] = {{(size - 1) / 2 * 2, 0, -2}}, want[64], n = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, evens, &even); /* even ranks, backwards */
    for (int i = (size - 1) / 2 * 2; i >= 0; i -= 2) want[n++] = i;
    CHECK_EQ(MPI_Comm_create(MPI_COMM_WORLD, even, &c), MPI_SUCCESS);
    CHECK_EQ(c == MPI_COMM_NULL, rank % 2);
    if (c != MPI_COMM_NULL) {
        check_members(c, want, n, "a created communicator");
        MPI_Comm_free(&c);
    }
    /* Several disjoint groups in one call: pairs. */
    int pair[2] = {rank & ~1, rank | 1}, k = pair[1] < size ? 2 : 1;
    MPI_Group_incl(world, k, pair, &mine);
    CHECK_EQ(MPI_Comm_create(MPI_COMM_WORLD, mine, &c), MPI_SUCCESS);
    check_members(c, pair, k, "one of several created in a call");
    MPI_Comm_free(&c);
    MPI_Group_incl(world, 0, NULL, &empty);
    CHECK_EQ(MPI_Comm_create(MPI_COMM_WORLD, world, &c), MPI_SUCCESS);
    MPI_Comm_free(&c);
    CHECK_EQ(MPI_Comm_create(MPI_COMM_WORLD, empty, &c), MPI_SUCCESS);
    CHECK(c == MPI_COMM_NULL);
    /* create_group: only the members call; disjoint groups at once, then overlapping ones one after the other. */
    CHECK_EQ(MPI_Comm_create_group(MPI_COMM_WORLD, mine, 5, &c), MPI_SUCCESS);
    check_members(c, pair, k, "a created group");
    MPI_Comm_free(&c);
    if (rank % 2 == 0) {
        CHECK_EQ(MPI_Comm_create_group(MPI_COMM_WORLD, even, 6, &c), MPI_SUCCESS);
        check_members(c, want, n, "the even ones only");
        MPI_Comm_free(&c);
    }
    for (int first = 0; first + 1 < size; first++) { /* chains of overlapping triples */
        int three[3] = {first, first + 1, first + 2}, m = first + 2 < size ? 3 : 2;
        if (rank < first || rank >= first + m) continue;
        MPI_Group g;
        MPI_Group_incl(world, m, three, &g);
        CHECK_EQ(MPI_Comm_create_group(MPI_COMM_WORLD, g, first, &c), MPI_SUCCESS);
        check_members(c, three, m, "overlapping groups");
        MPI_Group_free(&g);
        MPI_Comm_free(&c);
    }
    MPI_Group_free(&empty);
    MPI_Group_free(&mine);
    MPI_Group_free(&even);
    MPI_Group_free(&world);
}

/* ---- names, groups of communicators, many communicators --------------------------------------------------------------------- */
static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME], longer[2 * MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm c;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(!strcmp(name, "MPI_COMM_WORLD") && length == 14);
    MPI_Comm_get_name(MPI_COMM_SELF, name, &length);
    CHECK(!strcmp(name, "MPI_COMM_SELF"));
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_get_name(c, name, &length);
    CHECK(length == 0 && name[0] == 0); /* a dup has no name */
    MPI_Comm_set_name(c, "  atmosphere");
    MPI_Comm_get_name(c, name, &length);
    CHECK(!strcmp(name, "  atmosphere") && length == 12);
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    MPI_Comm_set_name(c, longer);
    MPI_Comm_get_name(c, name, &length);
    CHECK(length == MPI_MAX_OBJECT_NAME - 1 && (int)strlen(name) == length && name[0] == 'x');
    MPI_Comm_free(&c);
}

static void groups(void)
{
    MPI_Group g, self, got;
    MPI_Comm half;
    int r, s, result, zero = 0, place = -1;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_group(half, &g);
    MPI_Comm_free(&half); /* the group outlives it */
    MPI_Group_size(g, &s);
    MPI_Group_rank(g, &r);
    CHECK(s == (size + 1 - rank % 2) / 2 && r >= 0);
    MPI_Comm_group(MPI_COMM_SELF, &self);
    MPI_Group_translate_ranks(self, 1, &zero, g, &place);
    CHECK_EQ(place, r);
    MPI_Group_intersection(g, self, &got);
    MPI_Group_compare(got, self, &result);
    CHECK_EQ(result, MPI_IDENT);
    MPI_Group_free(&got);
    MPI_Group_difference(self, g, &got);
    CHECK(got == MPI_GROUP_EMPTY);
    MPI_Group_free(&self);
    MPI_Group_free(&g);
    CHECK(g == MPI_GROUP_NULL);
}

static void many(void)
{
    enum { MANY = 300 };
    static MPI_Comm c[MANY];
    for (int i = 0; i < MANY; i++) MPI_Comm_dup(i % 3 ? MPI_COMM_WORLD : MPI_COMM_SELF, &c[i]);
    for (int i = 0; i < MANY; i++) {
        int v = rank == 0 ? i : -1, s;
        MPI_Comm_size(c[i], &s);
        CHECK_EQ(s, i % 3 ? size : 1);
        MPI_Bcast(&v, 1, MPI_INT, 0, c[i]);
        CHECK_EQ(v, i % 3 || rank == 0 ? i : -1);
    }
    for (int i = 0; i < MANY; i++) MPI_Comm_free(&c[(i * 7) % MANY]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    dups();
    dup_with_info();
    splits();
    split_types();
    creates();
    names();
    groups();
    many();
    return test_end();
}
