/* coll_phases.c -- the phases of collectives that go by nodes: between two nodes the data pass once, whichever rank is the root, and all
 * else within the nodes; with `off`, where nodes are not taken notice of, more often.  The bytes that cross are counted.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll_check.h"
#include "counters_check.h"

#include <string.h>

enum { N = 1000, BYTES = N * sizeof(int) };
static MPI_T_pvar_handle crossed, sent[3];

/* Bytes that all ranks have sent to other nodes, and in messages at all; what tells them goes inline, which does not count. */
static unsigned long long all_of(unsigned long long mine)
{
    unsigned long long all;
    PMPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}
static unsigned long long crossing(void) { return all_of(counted(crossed)); }
static unsigned long long in_messages(void) { return all_of(counted(sent[0]) + counted(sent[1]) + counted(sent[2])); }

static void phases(MPI_Comm comm, int is_off)
{
    int in[N], out[N];
    unsigned long long crossed_before = crossing(), sent_before = in_messages();
    for (int root = 0; root < size; root++) {
        unsigned long long before = crossing();
        int me;
        MPI_Comm_rank(comm, &me);
        for (int i = 0; i < N; i++) in[i] = me == root ? i * 3 + root : -1;
        MPI_Bcast(in, N, MPI_INT, root, comm);
        for (int i = 0; i < N; i++) CHECK_EQ(in[i], i * 3 + root);
        unsigned long long cast = crossing() - before;
        for (int i = 0; i < N; i++) in[i] = i + me;
        before = crossing();
        MPI_Reduce(in, out, N, MPI_INT, MPI_SUM, root, comm);
        for (int i = 0; i < N && me == root; i++) CHECK_EQ(out[i], size * i + size * (size - 1) / 2);
        unsigned long long reduced = crossing() - before;
        if (is_off) CHECK(cast >= 2 * BYTES && reduced >= 2 * BYTES);
        if (!is_off) {
            CHECK_EQ(cast, BYTES);
            CHECK_EQ(reduced, BYTES);
        }
    }
    /* Within a node there are no messages: its ranks read each other's memory. */
    if (!is_off) CHECK_EQ(in_messages() - sent_before, crossing() - crossed_before);
}

int main(int argc, char **argv)
{
    int is_off = argc > 1 && strcmp(argv[1], "off") == 0;
    MPI_Comm mixed; /* neighbours in it are on different nodes */
    MPI_Init(&argc, &argv);
    test_begin();
    counters_begin();
    static const char *const paths[] = {"sent_bytes_e1", "sent_bytes_r0", "sent_bytes_r1"};
    for (int i = 0; i < 3; i++) sent[i] = counter(paths[i], MPI_T_PVAR_CLASS_AGGREGATE);
    crossed = counter("net_copied_out", MPI_T_PVAR_CLASS_AGGREGATE);
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank % (size / 2) * 2 + rank / (size / 2), &mixed);
    if (!is_off) phases(MPI_COMM_WORLD, 0);
    phases(mixed, is_off);
    MPI_Comm_free(&mixed);
    counters_end();
    return test_end();
}
