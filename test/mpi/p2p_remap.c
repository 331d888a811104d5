/* p2p_remap.c -- long messages from and to memory that is given back between them, and comes again at the same address.
 *
 *     p2p_remap [WORD]    kept: the wire kept registrations, found them again, and lost them with their memory; each: it kept none
 *
 * users.md row 19
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters_check.h"

enum { R0_BYTES = 256 << 10, R1_BYTES = (1 << 20) + 100 /* longer than GODWIT_NET_GET_MAX here */, MOST = 2 << 20 };

static char *fresh(void *at)
{
    char *p = mmap(at, MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    CHECK(p != MAP_FAILED && (!at || p == at));
    return p;
}

/* The same address, other pages. */
static char *by_unmap(char *p)
{
    munmap(p, MOST);
    return fresh(p);
}
static char *by_dontneed(char *p)
{
    CHECK(madvise(p, MOST, MADV_DONTNEED) == 0);
    return p;
}
static char *by_move(char *p)
{
    char *q = mremap(p, MOST, MOST, MREMAP_MAYMOVE | MREMAP_FIXED, fresh(NULL));
    CHECK(q != MAP_FAILED);
    munmap(q, MOST);
    return fresh(p);
}

/* Everybody with everybody, new bytes each time. */
static void exchange(char *out, char *in, int n)
{
    static int round;
    for (int d = 1; d < size; d++, round++) {
        int to = (rank + d) % size, from = (rank + size - d) % size;
        MPI_Request r[2];
        pattern_fill(out, n, (unsigned)(rank * 1000 + round));
        pattern_fill(in, n, 7);
        MPI_Irecv(in, n, MPI_CHAR, from, round, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out, n, MPI_CHAR, to, round, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK_EQ(pattern_wrong(in, n, (unsigned)(from * 1000 + round)), -1);
    }
}

enum { MADE, FOUND, GONE, COUNTERS };
static MPI_T_pvar_handle handle[COUNTERS];
static void registrations_count(void)
{
    static const char *const names[] = {"registrations", "registrations_found", "registrations_gone"};
    counters_begin();
    for (int i = 0; i < COUNTERS; i++) handle[i] = counter(names[i], MPI_T_PVAR_CLASS_COUNTER);
}
static void registrations_check(const char *word)
{
    int fd = (int)syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */), may = fd >= 0;
    if (may) close(fd);
    unsigned long long made = counted(handle[MADE]), found = counted(handle[FOUND]), gone = counted(handle[GONE]);
    if (!may && rank == 0) printf("not tested: registrations that are kept; the kernel refuses userfaultfd\n");
    if (strcmp(word, "kept") == 0 && may) {
        CHECK(found > 0 && gone > 0 && made > gone);
    } else if (*word) {
        CHECK(made > 0 && found == 0 && gone == 0);
    }
    counters_end();
}

int main(int argc, char **argv)
{
    static char *(*const ways[])(char *) = {by_unmap, by_dontneed, by_move};
    int had = !!getenv("FI_MR_CACHE_MONITOR");
    MPI_Init(&argc, &argv);
    test_begin();
    registrations_count();
    char *out = fresh(NULL), *in = fresh(NULL);
    for (int i = 0; i < 6; i++) {
        int n = i % 2 ? R0_BYTES : R1_BYTES;
        exchange(out, in, n);
        exchange(out, in, n);
        out = ways[i / 2 % 3](out);
        exchange(out, in, n);
        in = ways[i / 2 % 3](in);
        exchange(out, in, n);
        char *p = malloc(R1_BYTES), *q = malloc(R1_BYTES); /* malloc maps these, free unmaps them */
        exchange(p, q, n);
        free(p);
        exchange(out, q, n);
        free(q);
    }
    CHECK(had == !!getenv("FI_MR_CACHE_MONITOR")); /* set only while libfabric was opened */
    registrations_check(argc > 1 ? argv[1] : "");
    return test_end();
}
