/* huge_pages.c -- memory that other ranks read again and again moves onto huge pages meanwhile: what arrives is what was sent, whichever
 * call reads it.  With GODWIT_HUGE_PAGES=all the library's own memory lies there, too.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll_check.h"
#include "counters_check.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum { BLOCK = 1 << 20, TURNS = 20 };
static unsigned char *out, *in;
static int turn, was_crowded;

/* More want to run than four a core: nothing is moved then (src/node/pages.c). */
static void crowd_look(void)
{
    int running = 0;
    FILE *f = fopen("/proc/loadavg", "r");
    if (f && fscanf(f, "%*s %*s %*s %d", &running) == 1) was_crowded = was_crowded || running > 4 * get_nprocs();
    if (f) fclose(f);
}

static unsigned char byte_of(int from, int to, size_t i)
{
    return (unsigned char)(from * 31 + to * 17 + turn * 5 + (int)(i >> 9) + (int)i);
}

/* My blocks for everybody, one behind the other. */
static void fill(void)
{
    for (int to = 0; to < size; to++)
        for (size_t i = 0; i < BLOCK; i++) out[(size_t)to * BLOCK + i] = byte_of(rank, to, i);
    memset(in, 0, (size_t)size * BLOCK);
}
static void check_block(const unsigned char *block, int from, int to)
{
    size_t i = 0;
    while (i < BLOCK && block[i] == byte_of(from, to, i)) i++;
    CHECK_EQ(i, BLOCK);
}

static void alltoall(void)
{
    MPI_Alltoall(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) check_block(in + (size_t)i * BLOCK, i, rank);
}
static void ialltoall(void)
{
    MPI_Request r;
    MPI_Ialltoall(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < size; i++) check_block(in + (size_t)i * BLOCK, i, rank);
}
static void allgather(void)
{
    MPI_Allgather(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) check_block(in + (size_t)i * BLOCK, i, 0);
}
static void bcast(void)
{
    unsigned char *at = rank == 0 ? out : in;
    MPI_Bcast(at, BLOCK, MPI_BYTE, 0, MPI_COMM_WORLD);
    check_block(at, 0, 0);
}
/* One way at a time: sender and receiver share the copying, so that memory is written, too. */
static void send(void)
{
    int n = size * BLOCK;
    if (size < 2 || rank > 1) return;
    if (rank == 0)
        MPI_Send(out, n, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
    else
        MPI_Recv(in, n, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int to = 0; to < size && rank == 1; to++) check_block(in + (size_t)to * BLOCK, 0, to);
}
static void reduce_scatter(void)
{
    unsigned char sum = 0;
    MPI_Reduce_scatter_block(out, in, BLOCK, MPI_UNSIGNED_CHAR, MPI_BXOR, MPI_COMM_WORLD);
    for (size_t i = 0; i < BLOCK; i++, sum = 0) {
        for (int from = 0; from < size; from++) sum ^= byte_of(from, rank, i);
        if (in[i] != sum) {
            CHECK_EQ(in[i], sum);
            break;
        }
    }
}

/* Do this machine and this kernel move pages at all? */
static int is_possible(void)
{
    enum { PIECE = 2 << 20 };
    char text[64] = "", *p = mmap(NULL, 2 * PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (!f || !fgets(text, sizeof text, f)) strcpy(text, "[never]");
    if (f) fclose(f);
    char *piece = p + (PIECE - (size_t)p % PIECE);
    memset(p, 1, 2 * PIECE);
    int works = !strstr(text, "[never]") && madvise(piece, PIECE, 25 /* MADV_COLLAPSE */) == 0;
    munmap(p, 2 * PIECE);
    return works;
}

/* KiB of this rank's mapping of the node's segment that lie on huge pages. */
static unsigned long segment_huge_kib(void)
{
    char line[512];
    unsigned long kib = 0, n;
    int is_segment = 0;
    FILE *f = fopen("/proc/self/smaps", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (strstr(line, "-") && strstr(line, " rw-s "))
            is_segment = strstr(line, "/memfd:godwit") != NULL;
        else if (is_segment && (sscanf(line, "ShmemPmdMapped: %lu", &n) == 1 || sscanf(line, "FilePmdMapped: %lu", &n) == 1))
            kib += n;
    }
    if (f) fclose(f);
    return kib;
}

/* Does this system give shared memory huge pages, in one of the two ways? */
static int is_shared_possible(void)
{
    enum { PIECE = 2 << 20 };
    char *room = mmap(NULL, 2 * PIECE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
         *piece = room + (PIECE - (size_t)room % PIECE);
    int fd = memfd_create("test", 0), works = 0;
    if (fd >= 0 && ftruncate(fd, PIECE) == 0 &&
        mmap(piece, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == piece) {
        memset(piece, 1, PIECE);
        works = madvise(piece, PIECE, 25 /* MADV_COLLAPSE */) == 0;
    }
    if (fd >= 0) close(fd);
    munmap(room, 2 * PIECE);
    return works;
}

/* The library's own memory, where it is asked for and where it is not. */
static void own_memory(void)
{
    const char *asked = getenv("GODWIT_HUGE_PAGES");
    unsigned long kib = segment_huge_kib();
    MPI_Barrier(MPI_COMM_WORLD);
    if (asked && strcmp(asked, "off") == 0)
        CHECK_EQ(kib, 0);
    else if (asked && strcmp(asked, "all") == 0 && rank == 0 && is_shared_possible() && !was_crowded)
        CHECK(kib >= 2048); /* where it is not asked for: own_pages.c */
}

int main(int argc, char **argv)
{
    static void (*const calls[])(void) = {alltoall, ialltoall, allgather, bcast, send, reduce_scatter};
    crowd_look(); /* before and after */
    MPI_Init(&argc, &argv);
    test_begin();
    crowd_look();
    own_memory();
    counters_begin();
    MPI_T_pvar_handle moved = counter("pages_moved", MPI_T_PVAR_CLASS_COUNTER),
                      direct = counter("copies_direct", MPI_T_PVAR_CLASS_COUNTER);
    out = malloc((size_t)size * BLOCK);
    in = malloc((size_t)size * BLOCK);
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
        for (turn = 0; turn < TURNS; turn++) {
            fill();
            crowd_look();
            calls[c]();
        }
    if (argc > 1 && !strcmp(argv[1], "none"))
        CHECK_EQ(counted(moved), 0);
    else if (rank == 0 && size >= 4 && counted(direct) > 0 && !was_crowded && is_possible())
        CHECK(counted(moved) > 0);
    counters_end();
    free(out), free(in);
    return test_end();
}
