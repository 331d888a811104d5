/* huge_pool.c -- memory on pages of the system's pool (hugetlbfs): the program's, whichever call sends, reads or writes it, and with
 * GODWIT_HUGE_PAGES=pool the library's.  Where the pool has no page the same runs on ordinary memory, and says so.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll_check.h"

#include <string.h>
#include <sys/mman.h>

enum { MIB = 1 << 20, PAGE = 2 * MIB, BYTES = 2 * PAGE, AGAIN = 8, MAP_2MIB = MAP_HUGETLB | 21 << 26 };
static unsigned char *out, *in;
static int turn, is_pooled;

static unsigned char byte_of(int from, size_t i) { return (unsigned char)(from * 31 + turn * 5 + (int)(i >> 9) + (int)i); }

static void fill(void)
{
    turn++;
    for (size_t i = 0; i < BYTES; i++) out[i] = byte_of(rank, i);
    memset(in, 0xa5, BYTES);
}
/* in[at...] is what rank `from` has at `there`, and what lies around it is as it was. */
static void check_in(size_t at, size_t n, int from, size_t there)
{
    size_t i = 0;
    while (i < n && in[at + i] == byte_of(from, there + i)) i++;
    CHECK_EQ(i, n);
    if (at) CHECK_EQ(in[at - 1], 0xa5);
    if (at + n < BYTES) CHECK_EQ(in[at + n], 0xa5);
}

static const struct {
    size_t at, n;
} parts[] = {{0, 1}, {5, 100}, {4095, 3000}, {PAGE - 50, 100}, {1, 70000}, {PAGE - 4096, 300000}, {3, BYTES - 10}, {0, BYTES}};
enum { PARTS = sizeof parts / sizeof *parts };

static void messages(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int p = 0; p < PARTS; p++) {
        int n = (int)parts[p].n;
        fill();
        MPI_Sendrecv(out + parts[p].at, n, MPI_BYTE, right, p, in + parts[p].at, n, MPI_BYTE, left, p, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        check_in(parts[p].at, parts[p].n, left, parts[p].at);
    }
}

/* Every second block of 4 KiB, across the pages' border. */
static void strided(void)
{
    MPI_Datatype type;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Type_vector(BYTES / 8192, 4096, 8192, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    fill();
    MPI_Sendrecv(out, 1, type, right, 0, in, 1, type, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    size_t wrong = 0;
    for (size_t i = 0; i < BYTES; i++) wrong += in[i] != (i / 4096 % 2 ? 0xa5 : byte_of(left, i));
    CHECK_EQ(wrong, 0);
    MPI_Type_free(&type);
}

/* Often enough that pages which others read would be moved (src/node/pages.c). */
static void collectives(void)
{
    int block = BYTES / size / 8 * 8;
    for (int again = 0; again < AGAIN; again++) {
        fill();
        MPI_Alltoall(out, block, MPI_BYTE, in, block, MPI_BYTE, MPI_COMM_WORLD);
        for (int from = 0; from < size; from++) {
            size_t i = 0, mine = (size_t)rank * (size_t)block, at = (size_t)from * (size_t)block;
            while (i < (size_t)block && in[at + i] == byte_of(from, mine + i)) i++;
            CHECK_EQ(i, block);
        }
        fill();
        MPI_Bcast(rank == again % size ? out : in, BYTES, MPI_BYTE, again % size, MPI_COMM_WORLD);
        if (rank != again % size) check_in(0, BYTES, again % size, 0);
        fill();
        MPI_Allreduce(out, in, BYTES, MPI_UNSIGNED_CHAR, MPI_BXOR, MPI_COMM_WORLD);
        size_t wrong = 0;
        for (size_t i = 0; i < BYTES; i += 509) {
            unsigned char sum = 0;
            for (int from = 0; from < size; from++) sum ^= byte_of(from, i);
            wrong += in[i] != sum;
        }
        CHECK_EQ(wrong, 0);
    }
}

/* Windows of that memory, and transfers from and to it: puts, gets, accumulates. */
static void window(void)
{
    MPI_Win win;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Win_create(in, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int p = 0; p < PARTS; p++) {
        int n = (int)parts[p].n, is_put = p % 2;
        fill();
        MPI_Win_fence(0, win);
        if (is_put) MPI_Put(out + parts[p].at, n, MPI_BYTE, right, (MPI_Aint)parts[p].at, n, MPI_BYTE, win);
        if (!is_put) MPI_Accumulate(out + parts[p].at, n, MPI_BYTE, right, (MPI_Aint)parts[p].at, n, MPI_BYTE, MPI_REPLACE, win);
        MPI_Win_fence(0, win);
        check_in(parts[p].at, parts[p].n, left, parts[p].at);
    }
    MPI_Win_free(&win);
    MPI_Win_create(out, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int p = 0; p < PARTS; p++) {
        int n = (int)parts[p].n;
        fill();
        MPI_Win_fence(0, win);
        MPI_Get(in + parts[p].at, n, MPI_BYTE, left, (MPI_Aint)parts[p].at, n, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        check_in(parts[p].at, parts[p].n, left, parts[p].at);
    }
    MPI_Win_free(&win);
}

/* What MPI gives, filled from pages of the pool by another rank. */
static void given(void)
{
    MPI_Win win;
    unsigned char *mem, *room;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    fill();
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
    MPI_Put(out, BYTES, MPI_BYTE, right, 0, BYTES, MPI_BYTE, win);
    MPI_Win_unlock(right, win);
    MPI_Barrier(MPI_COMM_WORLD);
    size_t wrong = 0;
    for (size_t i = 0; i < BYTES; i++) wrong += mem[i] != byte_of(left, i);
    CHECK_EQ(wrong, 0);
    MPI_Win_free(&win);
    MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &room);
    MPI_Sendrecv(out, BYTES, MPI_BYTE, right, 0, room, BYTES, MPI_BYTE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < BYTES; i++) wrong += room[i] != byte_of(left, i);
    CHECK_EQ(wrong, 0);
    MPI_Free_mem(room);
}

/* Two mappings of the pool, reserved as a whole by now; of ordinary memory if any rank got none. */
static void take(int kind)
{
    void *a = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS | MAP_2MIB, -1, 0),
         *b = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS | MAP_2MIB, -1, 0);
    int mine = a != MAP_FAILED && b != MAP_FAILED;
    MPI_Allreduce(&mine, &is_pooled, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!is_pooled) {
        if (a != MAP_FAILED) munmap(a, BYTES);
        if (b != MAP_FAILED) munmap(b, BYTES);
        a = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
        b = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    }
    out = a, in = b;
}

/* ---- the library's own memory ---- */
static long pool_told(const char *what)
{
    char path[128];
    long n = 0;
    snprintf(path, sizeof path, "/sys/kernel/mm/hugepages/hugepages-2048kB/%s", what);
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%ld", &n) != 1) n = 0;
    if (f) fclose(f);
    return n;
}

/* KiB of the node's segment that lie on pages of the pool.  The network's buffers may lie there, too, of each rank alone. */
static long own_kib(void)
{
    char line[512];
    long kib = 0, n;
    unsigned long from, to;
    int is_own = 0, is_node = 0;
    FILE *f = fopen("/proc/self/smaps", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
            is_own = strstr(line, "memfd:godwit-pool") != NULL;
            is_node = strstr(line, "memfd:godwit-pool: the node's segment") != NULL;
        }
        if (is_node && sscanf(line, "Size: %ld", &n) == 1) kib += n;
        if (is_own && sscanf(line, "KernelPageSize: %ld", &n) == 1) CHECK(n >= 2048);
    }
    if (f) fclose(f);
    return kib;
}

/* All ranks of a node have the same of it there, or none; where it was asked for and there were enough pages, all.  free: of the
 * pool, at the least, when MPI started and now, as rank 0 saw it.  need: far above what is taken. */
static void own_memory(long free, int need)
{
    MPI_Comm node;
    const char *asked = getenv("GODWIT_HUGE_PAGES");
    long kib = own_kib(), least, most;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Allreduce(&kib, &least, 1, MPI_LONG, MPI_MIN, node);
    MPI_Allreduce(&kib, &most, 1, MPI_LONG, MPI_MAX, node);
    MPI_Comm_free(&node);
    CHECK_EQ(least, most);
    if (!asked || strcmp(asked, "pool") != 0)
        CHECK_EQ(most, 0);
    else if (free >= need)
        CHECK(least >= 8 << 10);
    if (rank == 0) printf("of the node's segment %ld KiB lie on pages of the pool\n", least);
}

static long pool_free(void) { return pool_told("free_hugepages") - pool_told("resv_hugepages"); }

int main(int argc, char **argv)
{
    long free = pool_free();
    MPI_Init(&argc, &argv);
    test_begin();
    if (pool_free() < free) free = pool_free(); /* others may take some meanwhile, as this has */
    MPI_Bcast(&free, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    own_memory(free, 128 + 8 * size);
    static const int kinds[] = {MAP_PRIVATE, MAP_SHARED};
    for (int k = 0; k < 2; k++) {
        take(kinds[k]);
        if (rank == 0 && !is_pooled) printf("the pool of this machine has too few pages: the program's memory is ordinary\n");
        messages();
        strided();
        collectives();
        window();
        given();
        munmap(out, BYTES);
        munmap(in, BYTES);
    }
    return test_end();
}
