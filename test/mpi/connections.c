/* connections.c -- what a start costs: fences through the launcher and connections in MPI_Init, connections of a ring, and of all to all; and
 * addresses that the launcher is asked for: of those talked to, once each.
 * `connections FENCES START RING [GETS]`: as many are expected, of each rank, on nodes of one rank; at most, where < stands before a number.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_T_pvar_session session;
static int rank, ranks, bad;

static MPI_T_pvar_handle counter(const char *name)
{
    MPI_T_pvar_handle h = MPI_T_PVAR_HANDLE_NULL;
    int index = -1, count;
    MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index);
    MPI_T_pvar_handle_alloc(session, index, NULL, &h, &count);
    MPI_T_pvar_start(session, h);
    return h;
}

static void expect(const char *what, MPI_T_pvar_handle h, const char *text)
{
    unsigned long long v = ~0ull;
    MPI_T_pvar_read(session, h, &v);
    int at_most = *text == '<';
    unsigned long long want = strtoull(text + at_most, NULL, 10);
    if (at_most ? v <= want : v == want) return;
    fprintf(stderr, "rank %d: %llu %s, not %s\n", rank, v, what, text);
    bad = 1;
}

int main(int argc, char **argv)
{
    int provided, token = 7, got = 0;
    if (argc < 4) return 2;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle fences = counter("key_fences"), connections = counter("connections"), gets = counter("key_gets");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    expect("fences in MPI_Init", fences, argv[1]);
    expect("connections in MPI_Init", connections, argv[2]);
    if (argc <= 4) expect("values asked for in MPI_Init", gets, "0");
    MPI_Sendrecv(&token, 1, MPI_INT, (rank + 1) % ranks, 1, &got, 1, MPI_INT, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    bad |= got != token;
    if (argc <= 4) expect("values asked for by a ring", gets, "<2");
    expect("connections of a ring", connections, argv[3]);
    for (int r = 0; r < ranks; r++) { /* every rank with every other: the rest is connected now */
        if (r == rank) continue;
        MPI_Sendrecv(&token, 1, MPI_INT, r, 2, &got, 1, MPI_INT, r, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    char all[32];
    snprintf(all, sizeof all, "%d", ranks - 1);
    expect("connections of all to all", connections, all);
    expect("values asked for by all to all", gets, argc > 4 ? argv[4] : all);
    MPI_Finalize();
    MPI_T_finalize();
    return bad;
}
