/* alloc_pages.c -- which pages memory of MPI_Alloc_mem and MPI_Win_allocate lies on, as the kernel says of this rank's, and that it works there:
 * other ranks write it, by windows of both kinds, and pieces that are freed are used again.  Each rank prints, of each piece, the size of its
 * pages and how many of its KiB lie on huge ones (alloc_pages.sh).  `fails`: MPI_Alloc_mem is to answer MPI_ERR_NO_MEM.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

#include <string.h>

enum { MIB = 1 << 20, PIECE = 5 * MIB + 4096, PART = 3 * MIB, AGAIN = 3 };

/* KiB of the mappings of these bytes that lie on huge pages; the size of the kernel's pages there, in KiB, is in page_out. */
static long huge_kib(const char *at, long bytes, long *page_out)
{
    char line[512];
    unsigned long from, to;
    long kib = 0, n;
    int is_it = 0;
    FILE *f = fopen("/proc/self/smaps", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx %*4s", &from, &to) == 2)
            is_it = (unsigned long)at < to && (unsigned long)at + (unsigned long)bytes > from;
        if (!is_it) continue;
        if (sscanf(line, "KernelPageSize: %ld", &n) == 1) *page_out = n;
        if (sscanf(line, "AnonHugePages: %ld", &n) == 1 || sscanf(line, "ShmemPmdMapped: %ld", &n) == 1 ||
            sscanf(line, "FilePmdMapped: %ld", &n) == 1 || sscanf(line, "Shared_Hugetlb: %ld", &n) == 1 ||
            sscanf(line, "Private_Hugetlb: %ld", &n) == 1)
            kib += n;
    }
    if (f) fclose(f);
    return kib;
}

static void tell(const char *what, const char *at, long bytes)
{
    long page = 0, kib = huge_kib(at, bytes, &page);
    printf("rank %d: %s of %ld KiB: page %ld KiB, huge %ld KiB%s\n", rank, what, bytes >> 10, page, kib,
           kib << 10 >= bytes ? ", all" : "");
}

/* Everybody writes its right neighbour's memory as a whole. */
static void neighbour_writes(MPI_Win w, char *mine, int n, int turn)
{
    char *from = malloc((size_t)n);
    memset(from, rank + turn, (size_t)n);
    MPI_Win_fence(0, w);
    MPI_Put(from, n, MPI_CHAR, (rank + 1) % size, 0, n, MPI_CHAR, w);
    MPI_Win_fence(0, w);
    char wanted = (char)((rank + size - 1) % size + turn);
    int i = 0;
    while (i < n && mine[i] == wanted) i++;
    CHECK_EQ(i, n);
    free(from);
}

int main(int argc, char **argv)
{
    MPI_Win w;
    char *p, *q;
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc > 1 && !strcmp(argv[1], "fails")) {
        int class = MPI_SUCCESS, rc = MPI_Alloc_mem(PIECE, MPI_INFO_NULL, &p);
        MPI_Error_class(rc, &class);
        CHECK_EQ(class, MPI_ERR_NO_MEM);
        char text[MPI_MAX_ERROR_STRING];
        int n;
        MPI_Error_string(rc, text, &n);
        printf("%s\n", text);
        CHECK_EQ(MPI_Alloc_mem(0, MPI_INFO_NULL, &p), MPI_SUCCESS); /* nothing needs no pages */
        CHECK_EQ(MPI_Free_mem(p), MPI_SUCCESS);
        return test_end();
    }
    for (int turn = 0; turn < AGAIN; turn++) {
        CHECK_EQ(MPI_Alloc_mem(PIECE, MPI_INFO_NULL, &p), MPI_SUCCESS);
        CHECK_EQ(MPI_Alloc_mem(100, MPI_INFO_NULL, &q), MPI_SUCCESS);
        memset(p, 0x55, PIECE);
        memset(q, 0x55, 100);
        if (turn == 0) {
            tell("MPI_Alloc_mem", p, PIECE);
            tell("a small MPI_Alloc_mem", q, 100);
        }
        MPI_Win_create(p + 64, PIECE - 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
        neighbour_writes(w, p + 64, PIECE - 64, turn);
        MPI_Win_free(&w);
        MPI_Free_mem(q);
        MPI_Free_mem(p);
    }
    CHECK_EQ(MPI_Win_allocate(PART, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w), MPI_SUCCESS);
    for (int i = 0; i < PART; i++)
        if (p[i]) CHECK_EQ(p[i], 0);
    MPI_Barrier(MPI_COMM_WORLD);
    neighbour_writes(w, p, PART, 9);
    tell("MPI_Win_allocate", p, PART);
    MPI_Win_free(&w);
    return test_end();
}
