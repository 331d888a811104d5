/* connections.c -- what a start costs: fences through the launcher in MPI_Init and MPI_Finalize; connections in MPI_Init, of a ring, and of all
 * to all; and addresses that the launcher is asked for: of those talked to, once each.
 * `connections FENCES START RING [GETS]`: as many are expected, of each rank, on nodes of one rank; at most, where < stands before a number.
 * `connections silent FENCES END`: without a message; fences in MPI_Init and MPI_Finalize.
 * `connections near`: ranks of one node, each with each: nobody asks for an address.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "counters_check.h"

static void expect(const char *what, MPI_T_pvar_handle h, const char *text)
{
    int at_most = *text == '<';
    unsigned long long n = counted(h), want = strtoull(text + at_most, NULL, 10);
    if (at_most ? n <= want : n == want) return;
    fprintf(stderr, "rank %d: %llu %s, not %s\n", rank, n, what, text);
    failures++;
}

/* Of ranks that send each other nothing. */
static void silent(MPI_T_pvar_handle fences, const char *start, const char *end)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect("fences in MPI_Init", fences, start);
    unsigned long long before = counted(fences);
    MPI_Finalize();
    CHECK_EQ(counted(fences) - before, strtoull(end, NULL, 10));
}

/* Ranks of one node: where each is, all can compute. */
static void near(MPI_T_pvar_handle fences)
{
    MPI_T_pvar_handle gets = counter("key_gets", MPI_T_PVAR_CLASS_COUNTER),
                      connections = counter("connections", MPI_T_PVAR_CLASS_COUNTER);
    MPI_Init(NULL, NULL);
    test_begin();
    for (int r = 0; r < size; r++) {
        int got = -1;
        MPI_Sendrecv(&rank, 1, MPI_INT, r, 2, &got, 1, MPI_INT, r, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(got, r);
    }
    test_end();
    expect("addresses fetched on one node", gets, "0");
    expect("connections on one node", connections, "0");
    expect("fences on one node", fences, "0");
}

/* Ranks of different nodes. */
static void apart(MPI_T_pvar_handle fences, int argc, char **argv)
{
    int token = 7, got = 0;
    MPI_T_pvar_handle connections = counter("connections", MPI_T_PVAR_CLASS_COUNTER);
    MPI_T_pvar_handle gets = counter("key_gets", MPI_T_PVAR_CLASS_COUNTER);
    MPI_Init(&argc, &argv);
    test_begin();
    expect("fences in MPI_Init", fences, argv[1]);
    expect("connections in MPI_Init", connections, argv[2]);
    if (argc <= 4) expect("values asked for in MPI_Init", gets, "0");
    MPI_Sendrecv(&token, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK_EQ(got, token);
    if (argc <= 4) expect("values asked for by a ring", gets, "<2");
    expect("connections of a ring", connections, argv[3]);
    for (int r = 0; r < size; r++) { /* every rank with every other: the rest is connected now */
        if (r == rank) continue;
        MPI_Sendrecv(&token, 1, MPI_INT, r, 2, &got, 1, MPI_INT, r, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    char all[32];
    snprintf(all, sizeof all, "%d", size - 1);
    expect("connections of all to all", connections, all);
    expect("values asked for by all to all", gets, argc > 4 ? argv[4] : all);
    unsigned long long before = counted(fences);
    test_end();
    CHECK_EQ(counted(fences) - before, 1); /* nobody leaves while what it has sent may be on its way */
}

int main(int argc, char **argv)
{
    int is_near = argc > 1 && strcmp(argv[1], "near") == 0;
    if (!is_near && argc < 4) return 2;
    counters_begin();
    MPI_T_pvar_handle fences = counter("key_fences", MPI_T_PVAR_CLASS_COUNTER);
    if (is_near)
        near(fences);
    else if (strcmp(argv[1], "silent") == 0)
        silent(fences, argv[2], argv[3]);
    else
        apart(fences, argc, argv);
    counters_end();
    return failures != 0;
}
