/* published.c -- bytes of addresses that the start costs each rank of a ring, on nodes of one rank: published, and asked for.
 * `published all|demand`: all are connected at the start, or two with the first message.  With a second word each rank prints what it has
 * counted; system/published.sh compares.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "counters_check.h"

enum { PUTS, PUT_BYTES, GETS, GOT_BYTES, COUNTERS };
static const char *const names[COUNTERS] = {"key_puts", "key_put_bytes", "key_gets", "key_got_bytes"};

int main(int argc, char **argv)
{
    MPI_T_pvar_handle handles[COUNTERS];
    unsigned long long n[COUNTERS];
    int token = 7, got = 0;
    if (argc < 2) return 2;
    int all = !strcmp(argv[1], "all");
    counters_begin();
    for (int i = 0; i < COUNTERS; i++)
        handles[i] = counter(names[i], i % 2 ? MPI_T_PVAR_CLASS_AGGREGATE : MPI_T_PVAR_CLASS_COUNTER);
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Sendrecv(&token, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK_EQ(got, token);
    for (int i = 0; i < COUNTERS; i++) n[i] = counted(handles[i]);
    CHECK(n[PUTS] >= 1 && n[PUT_BYTES] >= 16);
    if (all)
        CHECK_EQ(n[GETS], size - 1);
    else
        CHECK(n[GETS] >= 1 && n[GETS] <= 2);                                       /* neighbours are asked for */
    CHECK(n[GOT_BYTES] >= 16 * n[GETS] && n[GOT_BYTES] <= n[GETS] * n[PUT_BYTES]); /* as long as what others publish */
    if (argc > 2 || failures) printf("published %d %llu %llu %llu %llu\n", rank, n[PUTS], n[PUT_BYTES], n[GETS], n[GOT_BYTES]);
    counters_end();
    return test_end();
}
