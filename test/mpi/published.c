/* published.c -- bytes of addresses that the start costs each rank of a ring, on nodes of one rank: published, and asked for.
 * `published all|demand`: all are connected at the start, or two with the first message.  With a second word each rank prints what it has
 * counted; system/published.sh compares.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { PUTS, PUT_BYTES, GETS, GOT_BYTES, COUNTERS };
static const char *const names[COUNTERS] = {"key_puts", "key_put_bytes", "key_gets", "key_got_bytes"};
static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[COUNTERS];
static int rank, ranks, bad;

static void counters_begin(void)
{
    int provided, index, count;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    for (int i = 0; i < COUNTERS; i++) {
        MPI_T_pvar_get_index(names[i], i % 2 ? MPI_T_PVAR_CLASS_AGGREGATE : MPI_T_PVAR_CLASS_COUNTER, &index);
        MPI_T_pvar_handle_alloc(session, index, NULL, &handles[i], &count);
        MPI_T_pvar_start(session, handles[i]);
    }
}

static void check(int is, const char *what, const unsigned long long *n)
{
    if (is) return;
    fprintf(stderr, "rank %d: not so: %s: put %llu of %llu bytes, got %llu of %llu\n", rank, what, n[PUTS], n[PUT_BYTES], n[GETS],
            n[GOT_BYTES]);
    bad = 1;
}

int main(int argc, char **argv)
{
    unsigned long long n[COUNTERS] = {0};
    int token = 7, got = 0;
    if (argc < 2) return 2;
    int all = !strcmp(argv[1], "all");
    counters_begin();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Sendrecv(&token, 1, MPI_INT, (rank + 1) % ranks, 1, &got, 1, MPI_INT, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(got == token, "the ring", n);
    for (int i = 0; i < COUNTERS; i++) MPI_T_pvar_read(session, handles[i], &n[i]);
    check(n[PUTS] >= 1 && n[PUT_BYTES] >= 16, "an address is published", n);
    check(all ? n[GETS] == (unsigned)ranks - 1 : n[GETS] >= 1 && n[GETS] <= 2,
          all ? "all are asked for" : "neighbours are asked for", n);
    check(n[GOT_BYTES] >= 16 * n[GETS] && n[GOT_BYTES] <= n[GETS] * n[PUT_BYTES], "as long as what others publish", n);
    if (argc > 2) printf("published %d %llu %llu %llu %llu\n", rank, n[PUTS], n[PUT_BYTES], n[GETS], n[GOT_BYTES]);
    MPI_Finalize();
    MPI_T_finalize();
    return bad;
}
