/* rma_counts.c -- messages that synchronisation of windows sends, where each rank is a node of its own: of a fence the base-2 logarithm of
 * the number of ranks, of post, start, complete and wait one to each neighbour in each direction, however many ranks there are.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "counters_check.h"

enum { TIMES = 5, PATHS = 4 };
static MPI_T_pvar_handle sent[PATHS];
static MPI_Win win;

static int messages(void)
{
    unsigned long long n = 0;
    for (int i = 0; i < PATHS; i++) n += counted(sent[i]);
    return (int)n;
}

static int logarithm(int n)
{
    int rounds = 0;
    while (1 << rounds < n) rounds++;
    return rounds;
}

static void fences(int assertion)
{
    int before = messages();
    for (int i = 0; i < TIMES; i++) MPI_Win_fence(assertion, win);
    if (!getenv("GODWIT_CHECK")) CHECK_EQ(messages() - before, TIMES * logarithm(size)); /* which has messages of its own */
}

/* With the ranks beside this one on a ring. */
static void neighbours(int assertion, int expected)
{
    int beside[2] = {(rank + 1) % size, (rank + size - 1) % size}, n = size == 1 ? 0 : size == 2 ? 1 : 2;
    MPI_Group all, group;
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, n, beside, &group);
    MPI_Barrier(MPI_COMM_WORLD); /* all have posted nothing yet */
    int before = messages();
    for (int i = 0; i < TIMES; i++) {
        MPI_Win_post(group, assertion, win);
        if (assertion) MPI_Barrier(MPI_COMM_WORLD); /* which MPI_MODE_NOCHECK asks for */
        MPI_Win_start(group, assertion, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    int barriers = assertion ? TIMES * logarithm(size) : 0;
    if (!getenv("GODWIT_CHECK")) CHECK_EQ(messages() - before, TIMES * n * expected + barriers); /* which has messages of its own */
    MPI_Group_free(&group), MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
    static const char *const names[PATHS] = {"sent_messages_e0", "sent_messages_e1", "sent_messages_r0", "sent_messages_r1"};
    int *base;
    MPI_Init(&argc, &argv);
    test_begin();
    counters_begin();
    for (int i = 0; i < PATHS; i++) sent[i] = counter(names[i], MPI_T_PVAR_CLASS_COUNTER);
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    fences(0);
    fences(MPI_MODE_NOPRECEDE);
    fences(MPI_MODE_NOSUCCEED);
    neighbours(0, 2);                /* "posted", and "complete" */
    neighbours(MPI_MODE_NOCHECK, 1); /* "complete" alone */
    MPI_Win_free(&win);
    counters_end();
    return test_end();
}
