/* net_facts.c -- every rank exchanges messages of several lengths with every other and looks at the data; rank 0 prints how its messages went,
 * so that a test can see what one variable of the environment, alone, has changed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "counters_check.h"

enum { LONGEST = 200000, TIMES = 3 };

static int has_libfabric(void)
{
    char line[512];
    int has = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f)) has |= strstr(line, "libfabric.so") != NULL;
    if (f) fclose(f);
    return has;
}

static void exchange(int other, int bytes, unsigned char *out, unsigned char *in)
{
    MPI_Status s;
    pattern_fill(out, bytes, (unsigned)(rank + bytes));
    memset(in, 0xee, (size_t)bytes + 1);
    MPI_Sendrecv(out, bytes, MPI_BYTE, other, bytes, in, LONGEST, MPI_BYTE, other, bytes, MPI_COMM_WORLD, &s);
    CHECK_EQ(count_of(&s), bytes);
    CHECK_EQ(pattern_wrong(in, bytes, (unsigned)(other + bytes)), -1);
    CHECK_EQ(in[bytes], 0xee);
}

int main(int argc, char **argv)
{
    static const int bytes[] = {0, 8, 100, 5000, 20000, LONGEST};
    static const char *const names[] = {"sent_messages_e0", "sent_messages_e1", "sent_messages_r0",    "sent_messages_r1",
                                        "net_matched",      "rma_wired",        "rma_network_atomics", "connections"};
    enum { NAMES = sizeof names / sizeof *names, PATHS = 4 };
    MPI_T_pvar_handle h[NAMES];
    unsigned long long before[PATHS], sent[PATHS];
    MPI_Init(&argc, &argv);
    test_begin();
    counters_begin();
    for (int i = 0; i < NAMES; i++) h[i] = counter(names[i], MPI_T_PVAR_CLASS_COUNTER);
    unsigned char *out = malloc(LONGEST), *in = malloc(LONGEST + 1);
    /* Of the exchange alone: how many messages go when others are asked, or meet, depends on who comes first. */
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < PATHS; i++) before[i] = counted(h[i]);
    for (int k = 0; k < TIMES; k++)
        for (size_t b = 0; b < sizeof bytes / sizeof *bytes; b++)
            for (int turn = 0; turn < size; turn++)
                if ((turn - rank + size) % size != rank) exchange((turn - rank + size) % size, bytes[b], out, in);
    for (int i = 0; i < PATHS; i++) sent[i] = counted(h[i]) - before[i];
    MPI_Win win;
    long *base, one = 1, old;
    MPI_Win_allocate(sizeof one, sizeof one, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    *base = 0;
    MPI_Win_fence(0, win);
    for (int r = 0; r < size; r++) MPI_Accumulate(&one, 1, MPI_LONG, r, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Win_lock_all(0, win);
    MPI_Get(&old, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, win);
    MPI_Win_flush_all(win);
    CHECK_EQ(old, size);
    MPI_Win_unlock_all(win);
    if (rank == 0) {
        printf("facts: libfabric %d", has_libfabric());
        for (int i = 0; i < NAMES; i++) printf(" %s %llu", names[i], i < PATHS ? sent[i] : (unsigned long long)counted(h[i]));
        printf("\n");
    }
    MPI_Win_free(&win);
    counters_end();
    free(out), free(in);
    return test_end();
}
