/* pages_test.c -- memory of MPI_Alloc_mem and MPI_Win_allocate on pages of the system's pool, of sizes that it has and has not: a file that is all
 * memory, which others recognise by its number; where the pool is empty transparent pages or ordinary ones, a sentence or an error.  The pool is
 * the test's own.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/rma_rooms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/settings.h"
#include "unit.h"

enum { HUGETLB = 4, MIB = 1 << 20, SIZE_SHIFT = 26 };
static struct {
    bool is_empty;
    int n;
    unsigned size; /* of the pages that were asked for last: its logarithm */
} pool;

/* The pool's pages are ordinary ones here. */
int memfd_create(const char *name, unsigned flags)
{
    if (!(flags & HUGETLB)) return (int)syscall(SYS_memfd_create, name, flags);
    pool.size = flags >> SIZE_SHIFT;
    if (pool.is_empty) {
        errno = ENOMEM;
        return -1;
    }
    pool.n++;
    return (int)syscall(SYS_memfd_create, name, MFD_ALLOW_SEALING | MFD_CLOEXEC);
}

/* So many tasks want to run here, as the kernel would say, that nothing is moved without need. */
static bool is_crowded;
FILE *fopen(const char *path, const char *mode)
{
    static char load[] = "99.00 99.00 99.00 999/9999 1\n";
    if (is_crowded && strcmp(path, "/proc/loadavg") == 0) return fmemopen(load, sizeof load - 1, "r");
    int fd = open(path, strchr(mode, 'w') ? O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0600);
    return fd < 0 ? NULL : fdopen(fd, strchr(mode, 'w') ? "w" : "r");
}

static bool pool_has(uint64_t page) { return gw_pool_page(page) == page; }

/* What another rank would do with the offer. */
static char *map(const struct rma_alloc_offer *o, int64_t size, struct rma_mapping *m)
{
    *m = (struct rma_mapping){0};
    return rma_alloc_map(o, size, m);
}

/* MPI_Alloc_mem: the memory is the file from its first byte on, and another one is refused. */
static void pooled_piece(void)
{
    enum { BYTES = 3 * MIB };
    void *at;
    struct rma_alloc_offer o;
    struct rma_mapping m;
    int n = pool.n;
    CHECK_EQ(rma_alloc_mem(BYTES, NULL, &at), GW_OK);
    CHECK(pool.n == n + 1 && pool.size == GW_HUGE_SHIFT && (uintptr_t)at % GW_HUGE_BYTES == 0);
    memset(at, 7, BYTES);
    rma_alloc_offer((char *)at + 2 * MIB + 100, MIB - 100, &o);
    CHECK(o.file.fd >= 0 && o.file.inode && o.file.head == 0 && o.file.bytes == 4 * MIB && o.offset == 2 * MIB + 100);
    char *there = map(&o, MIB - 100, &m);
    CHECK(there && there[0] == 7 && (uintptr_t)m.base % GW_HUGE_BYTES == 0 && m.bytes % GW_HUGE_BYTES == 0);
    there[5] = 9;
    CHECK_EQ(((char *)at)[2 * MIB + 105], 9);
    rma_memory_unmap(&m);
    struct rma_alloc_offer wrong = o;
    wrong.file.inode++;
    CHECK(!map(&wrong, MIB - 100, &m));
    wrong = o, wrong.file.device++;
    CHECK(!map(&wrong, MIB - 100, &m));
    wrong = o, wrong.offset = 4 * MIB;
    CHECK(!map(&wrong, 1, &m)); /* beyond its end */
    CHECK_EQ(rma_free_mem(at), GW_OK);
    CHECK_EQ(rma_alloc_mem(BYTES - 5, NULL, &at), GW_OK); /* the same piece again */
    CHECK_EQ(pool.n, n + 1);
    CHECK_EQ(rma_free_mem(at), GW_OK);
}

static void window(int flavor)
{
    char *base = NULL;
    int n = pool.n;
    struct rma_win *w = win_of(flavor, NULL, &base);
    CHECK(pool.n == n + 1 && (uintptr_t)base % GW_HUGE_BYTES == 0);
    for (int i = 0; i < WIN_BYTES; i++) CHECK_EQ(base[i], 0);
    memset(base, 1, WIN_BYTES);
    CHECK_EQ(rma_win_free(&w), GW_OK);
}

/* Memory that is not the pool's: it begins where a huge page does if those are tried, and works. */
static void other_piece(int wanted)
{
    void *at = NULL;
    struct rma_alloc_offer o;
    struct rma_mapping m;
    CHECK_EQ(rma_alloc_mem(MIB, NULL, &at), wanted);
    if (wanted != GW_OK) return;
    memset(at, 3, MIB);
    rma_alloc_offer(at, MIB, &o);
    CHECK(o.file.fd >= 0 && !o.file.inode && o.file.nonce);
    char *there = map(&o, MIB, &m);
    CHECK(there && there[MIB - 1] == 3);
    rma_memory_unmap(&m);
    struct rma_alloc_offer wrong = o;
    wrong.file.nonce++;
    CHECK(!map(&wrong, MIB, &m));
    CHECK_EQ(rma_free_mem(at), GW_OK);
}

/* More than is left: the pages would be touched at once, and the kernel would end the rank. */
static void too_much(void)
{
    const char *limit;
    void *at;
    int64_t left = gw_memory_available(&limit);
    gw_set.alloc_mem_pg_sz = GW_HUGE_BYTES;
    pool.is_empty = true;
    if (left >= 0 && gw_huge_is_offered()) {
        CHECK_EQ(rma_alloc_mem(left + ((int64_t)1 << 30), NULL, &at), GW_ENOMEM);
        CHECK(strstr(gw_fail_text(), "leaves"));
    }
    pool.is_empty = false;
    gw_set.alloc_mem_pg_sz = 0;
}

/* Mandatory: the same answer whatever else runs on the machine; what there is none of is told with the reason, and what is nothing needs none. */
static void mandatory(void)
{
    void *at = NULL;
    char *base = NULL;
    uint64_t none = (uint64_t)1 << 36;
    gw_set.alloc_mem_policy = GW_SET_ALLOC_MEM_POLICY_MANDATORY;
    gw_set.alloc_mem_pg_sz = GW_HUGE_BYTES;
    pool.is_empty = true;
    int alone = rma_alloc_mem(6 * MIB, NULL, &at);
    if (alone == GW_OK) CHECK_EQ(rma_free_mem(at), GW_OK);
    is_crowded = true;
    CHECK_EQ(rma_alloc_mem(10 * MIB, NULL, &at), alone);
    if (alone == GW_OK) CHECK_EQ(rma_free_mem(at), GW_OK);
    gw_set.alloc_mem_pg_sz = (int64_t)none;
    CHECK_EQ(rma_alloc_mem(MIB, NULL, &at), GW_ENOMEM);
    CHECK(strstr(gw_fail_text(), "none of that size") || strstr(gw_fail_text(), "no pool of large pages"));
    CHECK(!strstr(gw_fail_text(), "tasks"));
    CHECK_EQ(rma_alloc_mem(0, NULL, &at), GW_OK);
    CHECK_EQ(rma_free_mem(at), GW_OK);
    struct rma_win *w = NULL;
    CHECK_EQ(rma_win_allocate(0, 1, NULL, &gw_comm_world, (void **)&base, &w), GW_OK);
    CHECK_EQ(rma_win_free(&w), GW_OK);
    char why[GW_POOL_WHY];
    gw_set.alloc_mem_pg_sz = 1 << 30;
    gw_pool_why(1 << 30, MIB, why);
    CHECK_EQ(rma_alloc_mem(MIB, NULL, &at), GW_ENOMEM);
    CHECK(strstr(gw_fail_text(), "none") || strstr(gw_fail_text(), "no pool") || strstr(gw_fail_text(), "needed"));
    CHECK(!strstr(why, "is needed") || strstr(why, "hugepages-1048576kB/nr_hugepages"));
    is_crowded = pool.is_empty = false;
    gw_set.alloc_mem_policy = GW_SET_ALLOC_MEM_POLICY_PREFERRED;
    gw_set.alloc_mem_pg_sz = 0;
}

static void test(void)
{
    pool.is_empty = false;
    CHECK_EQ(rma_pages_wanted(), 0);
    gw_set.alloc_mem_huge_pages = true;
    CHECK_EQ(rma_pages_wanted(), GW_HUGE_BYTES);
    gw_set.alloc_mem_pg_sz = 16 * MIB;
    CHECK_EQ(rma_pages_wanted(), 16 * MIB);
    gw_set.alloc_mem_huge_pages = false;
    gw_set.alloc_mem_pg_sz = GW_HUGE_BYTES;
    if (pool_has(GW_HUGE_BYTES)) {
        pooled_piece();
        window(1);
        window(2);
        if (!pool_has(3 * MIB)) {
            gw_set.alloc_mem_policy = GW_SET_ALLOC_MEM_POLICY_MANDATORY;
            gw_set.alloc_mem_pg_sz = 3 * MIB; /* no pages are so large */
            other_piece(GW_ENOMEM);
            gw_set.alloc_mem_policy = GW_SET_ALLOC_MEM_POLICY_PREFERRED;
        }
    }
    pool.is_empty = true;
    gw_set.alloc_mem_pg_sz = 64 << 10 > (int)gw_page_bytes() && !pool_has(64 << 10) ? 64 << 10 : GW_HUGE_BYTES;
    other_piece(GW_OK);
    gw_set.alloc_mem_pg_sz = 2 * GW_HUGE_BYTES;
    other_piece(GW_OK);
    gw_set.alloc_mem_policy = GW_SET_ALLOC_MEM_POLICY_MANDATORY;
    gw_set.alloc_mem_pg_sz = 4 * GW_HUGE_BYTES; /* the piece of before is kept for its size alone */
    other_piece(GW_ENOMEM);
    gw_set.alloc_mem_policy = GW_SET_ALLOC_MEM_POLICY_PREFERRED;
    gw_set.alloc_mem_pg_sz = 4096;
    void *at;
    CHECK_EQ(rma_alloc_mem(MIB, NULL, &at), GW_OK); /* one rank: from malloc() */
    struct rma_alloc_offer o;
    rma_alloc_offer(at, MIB, &o);
    CHECK_EQ(o.file.fd, -1);
    CHECK_EQ(rma_free_mem(at), GW_OK);
}

int main(void)
{
    rooms_up();
    too_much();
    mandatory();
    test();
    rooms_down();
    return unit_end();
}
