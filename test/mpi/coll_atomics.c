/* coll_atomics.c -- barriers by counters that the network raises (GODWIT_COLL=barrier=atomics): nobody leaves one before all have come, whoever
 * is late; with messages under way, on communicators of some ranks, and on many of them in turns.
 *
 * All ranks run on one machine, their nodes being faked, so a file that all map says who has come where, without the library.
 *
 *     coll_atomics on | off      the ranks that speak for their nodes must have raised some; nobody may have
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counters_check.h"
#include "p2p_check.h"

enum { BARRIERS = 60, MOST = 64, WORDS = 1024 };
static _Atomic int *come; /* [WORDS][MOST]: how many barriers of a communicator each rank has come to */

static void map_shared(void)
{
    char path[] = "/tmp/coll_atomics.XXXXXX";
    int fd = -1;
    if (rank == 0) fd = mkstemp(path);
    if (rank == 0) CHECK(fd >= 0 && ftruncate(fd, (off_t)(WORDS * MOST * sizeof *come)) == 0);
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank != 0) fd = open(path, O_RDWR | O_CLOEXEC);
    come = mmap(NULL, WORDS * MOST * sizeof *come, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(come != MAP_FAILED);
    close(fd);
    char last = 0, *all = calloc((size_t)size, 1); /* all have it open */
    MPI_Allgather(&last, 1, MPI_CHAR, all, 1, MPI_CHAR, MPI_COMM_WORLD);
    free(all);
    if (rank == 0) unlink(path);
}

/* One barrier, the n-th of the communicator, which has these words: all have come when it ends, and nobody to the one after the next. */
static void meet(MPI_Comm c, int word, int n)
{
    int members, me;
    MPI_Comm_size(c, &members);
    MPI_Comm_rank(c, &me);
    CHECK_EQ(atomic_fetch_add(&come[word * MOST + me], 1), n - 1);
    CHECK_EQ(MPI_Barrier(c), MPI_SUCCESS);
    for (int i = 0; i < members; i++) {
        int at = atomic_load(&come[word * MOST + i]);
        CHECK(at == n || at == n + 1);
    }
}

static void late(void)
{
    for (int n = 1; n <= BARRIERS; n++) {
        if (n % 10 == 0 && rank == n / 10 % size) usleep(3000);
        meet(MPI_COMM_WORLD, 0, n);
    }
}

/* Messages sent before a barrier and received behind it, and other collectives between, keep their data. */
static void among_messages(void)
{
    for (int n = BARRIERS + 2; n <= BARRIERS + 21; n++) {
        int to = (rank + 1) % size, from = (rank + size - 1) % size, out = n * 100 + rank, in = -1, sum = 0;
        MPI_Request r;
        MPI_Isend(&out, 1, MPI_INT, to, n, MPI_COMM_WORLD, &r);
        meet(MPI_COMM_WORLD, 0, n);
        MPI_Recv(&in, 1, MPI_INT, from, n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        CHECK_EQ(in, n * 100 + from);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(sum, size * (size - 1) / 2);
    }
    for (int i = 0; i < 5; i++) { /* with a request it goes by messages */
        MPI_Request r;
        MPI_Ibarrier(MPI_COMM_WORLD, &r);
        meet(MPI_COMM_WORLD, 0, BARRIERS + 22 + i);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

/* Communicators of all ranks in other orders, and of some, which come and go. */
static void communicators(void)
{
    for (int k = 0; k < 6; k++) {
        MPI_Comm reverse, half;
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reverse);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        for (int n = 1; n <= 6; n++) {
            meet(reverse, 1 + k, n);
            meet(half, 100 + 2 * k + rank % 2, n);
        }
        MPI_Comm_free(&half);
        MPI_Comm_free(&reverse);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    int must = strcmp(argv[1], "on") == 0, any = 0, mine;
    counters_begin();
    MPI_T_pvar_handle added = counter("coll_network_atomics", MPI_T_PVAR_CLASS_COUNTER);
    MPI_Init(&argc, &argv);
    test_begin();
    map_shared();
    late();
    unsigned long long before = counted(added);
    meet(MPI_COMM_WORLD, 0, BARRIERS + 1);
    unsigned long long once = counted(added) - before; /* as many as there are rounds, of one rank a node */
    among_messages();
    communicators();
    mine = once > 0;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(any > 0, must && size > 1);
    CHECK(counted(added) > 0 ? must : !mine); /* on other communicators others speak for their nodes */
    if (once) CHECK(counted(added) >= once * (BARRIERS + 20));
    munmap(come, WORDS * MOST * sizeof *come);
    int failed = test_end();
    counters_end();
    return failed;
}
