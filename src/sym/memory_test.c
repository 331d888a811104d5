/* memory_test.c -- PEs of a node map each other's heaps: the same bytes at both places, at one address on all, nothing behind the
 * end of a part, nothing touched, nothing left behind; errors that say what to set.  Started by mpiexec, each process is a PE of
 * its job.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "sym/sym_private.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/os.h"
#include "one_rank.h"
#include "ranks.h"
#include "sym_pes.h"

#include "unit_child.h"
#include "unit_mapped.h"

enum { MIB = 1 << 20, GUARD = 64 << 10 };

static long resident_kib(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

/* A child reads there: does it die? */
static bool is_fault(const char *at)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        *(volatile const char *)at;
        _exit(0);
    }
    waitpid(child, &status, 0);
    return status != 0;
}

/* Every PE writes to every PE of its node, by the inlined way and by the other. */
static void all_write(uint64_t bytes)
{
    struct sym_region *h = &sym_memory.region[SYM_HEAP];
    int n = gw_comm_world.size, me = gw_comm_world.rank;
    int *mine = (int *)(void *)h->base, *last = (int *)(void *)(h->base + h->bytes) - 64;
    CHECK(h->bytes >= bytes && h->stride >= h->bytes + GUARD && n <= 16);
    for (int i = 0; i < n; i++) CHECK(mine[i] == 0 && last[i] == 0);
    must(coll_barrier(&gw_comm_world, NULL));
    for (int pe = 0; pe < n; pe++) {
        char *there = sym_place(&mine[me], sizeof(int), pe);
        CHECK((there != NULL) == sym_is_near(pe) && sym_is_near(pe) == (boot_local_rank(pe) >= 0));
        if (godwit_sym_near.n) CHECK(there == sym_near_span(&mine[me], sizeof(int), pe) && there == sym_near_place(&mine[me], pe));
        if (!there) continue;
        *(int *)(void *)there = 100 * pe + me + 1;
        *(int *)(void *)sym_place(&last[me], sizeof(int), pe) = 100 * pe + me + 2;
    }
    must(coll_barrier(&gw_comm_world, NULL));
    for (int i = 0; i < n; i++) {
        CHECK_EQ(mine[i], sym_is_near(i) ? 100 * me + i + 1 : 0);
        CHECK_EQ(last[i], sym_is_near(i) ? 100 * me + i + 2 : 0);
    }
    must(coll_barrier(&gw_comm_world, NULL));
}

/* By the window, to PEs of other nodes, as move.c does. */
static void all_put(void)
{
    struct sym_region *h = &sym_memory.region[SYM_HEAP];
    int n = gw_comm_world.size, me = gw_comm_world.rank;
    int *mine = (int *)(void *)(h->base + 2048), said = me + 7;
    CHECK((sym_memory.win[SYM_HEAP] != NULL) == (gw_boot.nlocal < n) &&
          atomic_load(&godwit_sym_near.is_far) == (gw_boot.nlocal < n));
    for (int pe = 0; pe < n && sym_memory.win[SYM_HEAP]; pe++) {
        if (sym_is_near(pe)) continue;
        must(rma_put(&said, 1, gw_type_int, pe, 2048 + (int64_t)sizeof(int) * me, 1, gw_type_int, sym_memory.win[SYM_HEAP]));
        must(rma_win_flush(pe, sym_memory.win[SYM_HEAP]));
    }
    must(coll_barrier(&gw_comm_world, NULL));
    for (int i = 0; i < n; i++) CHECK_EQ(mine[i], sym_is_near(i) ? 0 : i + 7);
    must(coll_barrier(&gw_comm_world, NULL));
}

static void borders(void)
{
    struct sym_region *h = &sym_memory.region[SYM_HEAP];
    CHECK(!sym_near_place(h->base - 1, sym_memory.me) && !sym_near_place(h->base + h->bytes, sym_memory.me));
    CHECK(!sym_near_place(h->base, gw_comm_world.size) && !sym_near_place(h->base, -1));
    CHECK(!sym_near_span(h->base + h->bytes - 8, 9, sym_memory.me));
    CHECK(!sym_place(h->base + h->bytes - 8, 9, sym_memory.me) && !sym_place(h->base, 1, gw_comm_world.size) &&
          !sym_place(h->base, 1, -1));
    CHECK_EQ(sym_region_of(h->base + h->bytes - 8, 8), SYM_HEAP);
    CHECK_EQ(sym_region_of(h->base + h->bytes - 8, UINT64_MAX), -1);
    CHECK_EQ(sym_region_of(&h, 8), -1);
    CHECK(is_fault(h->base + h->bytes) && is_fault(h->base + h->bytes + GUARD - 1) && !is_fault(h->base + h->bytes - 1));
    for (int i = 0; i < sym_memory.n_local; i++) {
        char *part = h->map + (uint64_t)i * h->stride;
        CHECK(is_fault(part + h->bytes) && is_fault(part + h->bytes + GUARD - 1) && !is_fault(part + h->bytes - 1));
    }
}

static void one(uint64_t bytes)
{
    int before = unit_descriptors();
    must(sym_open(&gw_comm_world, bytes));
    if (!sym_memory.win[SYM_HEAP])
        CHECK_EQ(unit_descriptors() - before, sym_memory.n_local > 1 && !sym_has_tsan()); /* that of the static data */
    uint64_t base[2] = {(uint64_t)(uintptr_t)sym_memory.region[SYM_HEAP].base}, least = 0;
    must(coll_allreduce(base, &least, 1, gw_type_int64, gw_op_min, &gw_comm_world, NULL));
#ifndef GW_TSAN
    CHECK(least == base[0]); /* there is nothing in these processes at the first address that is tried */
#endif
    all_write(bytes);
    all_put();
    borders();
    must(coll_barrier(&gw_comm_world, NULL));
    sym_memory_close();
    CHECK(!godwit_sym_near.n && !godwit_sym_near.heap.bytes && !sym_memory.world);
    if (gw_comm_world.one_node) CHECK_EQ(unit_descriptors(), before);
}

/* As large as most of the machine's memory: nothing of it is touched. */
static void large(void)
{
    const char *limit;
    int64_t have = gw_memory_available(&limit);
    uint64_t mine = (uint64_t)have / 4 * 3 / (uint64_t)gw_boot.nlocal, bytes = 0;
    must(coll_allreduce(&mine, &bytes, 1, gw_type_int64, gw_op_min, &gw_comm_world, NULL)); /* others run here, too */
    long before = resident_kib();
    must(sym_open(&gw_comm_world, bytes));
    sym_memory.region[SYM_HEAP].base[bytes - 1] = 1;
    CHECK(resident_kib() - before < 64 << 10);
    must(coll_barrier(&gw_comm_world, NULL));
    sym_memory_close();
}

static void refused(void)
{
    const char *limit;
    int64_t have = gw_memory_available(&limit);
    CHECK_EQ(sym_open(&gw_comm_world, (uint64_t)have * 2), GW_ENOMEM);
    CHECK(strstr(gw_fail_text(), "SHMEM_SYMMETRIC_SIZE") && strstr(gw_fail_text(), limit) && strstr(gw_fail_text(), "MiB"));
    CHECK(!sym_memory.world && !godwit_sym_near.heap.bytes);
}

/* One PE of a control group reads its limits, and PEs meet twice, by words of their node: PEs that wait for each other are what a
 * start costs. */
static void few(void)
{
    const struct boot_meeting *meeting = &((struct boot_head *)(void *)gw_node.base)->meeting;
    bool is_one = false;
    CHECK(sym_size_note() > 0);
    must(coll_barrier(&gw_comm_world, NULL));
    CHECK_EQ(sym_size_reads(&is_one), gw_boot.local_rank == 0);
    CHECK(is_one);
    uint32_t before = atomic_load(&gw_comm_world.colls), rounds = atomic_load(&meeting->round);
    must(coll_barrier(&gw_comm_world, NULL));
    must(sym_open(&gw_comm_world, 100));
    CHECK_EQ(atomic_load(&gw_comm_world.colls) - before, 1); /* the barrier above */
    CHECK_EQ(atomic_load(&meeting->round) - rounds, gw_boot.nlocal > 1 ? 2 : 0);
    sym_memory_close();
    must(coll_barrier(&gw_comm_world, NULL));
    atomic_store(&boot_slot->memory_group, (uint64_t)(5 + gw_boot.local_rank)); /* each in a group of its own */
    must(coll_barrier(&gw_comm_world, NULL));
    CHECK(sym_size_reads(&is_one) && is_one == (gw_boot.nlocal == 1));
    one(100);
    must(coll_barrier(&gw_comm_world, NULL)); /* all have read it */
    sym_size_note();
    must(coll_barrier(&gw_comm_world, NULL));
}

/* One PE has something else where the heap is to be on all: all go to another place. */
static void taken(void)
{
    must(sym_open(&gw_comm_world, 100));
    char *first = sym_memory.region[SYM_HEAP].base, *mine = NULL;
    must(coll_barrier(&gw_comm_world, NULL));
    sym_memory_close();
    if (gw_comm_world.rank == 1)
        mine = mmap(first, gw_page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(mine != MAP_FAILED);
    one(100);
    must(sym_open(&gw_comm_world, 100));
    CHECK(sym_memory.region[SYM_HEAP].base != first);
    must(coll_barrier(&gw_comm_world, NULL));
    sym_memory_close();
    if (mine) munmap(mine, gw_page_bytes());
}

static void pe(int rank)
{
    (void)rank;
    rooms_above_boot();
    if (gw_comm_world.one_node) few();
    if (gw_comm_world.one_node && gw_comm_world.size > 1 && !sym_has_tsan()) taken();
    one(100);
    one(3 * MIB);
    if (gw_comm_world.one_node) large();
    refused();
    one(64 << 10); /* again, at the end */
    life_rooms_down();
}

/* A limit of the user's shell. */
static int limited(void)
{
    rooms_up();
    struct rlimit r = {32 * MIB, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &r);
    r.rlim_cur = 32 * MIB;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &r), 0);
    CHECK(sym_memory_heap_wanted(true) <= 16 * MIB && sym_memory_heap_wanted(true) > MIB);
    CHECK_EQ(sym_open(&gw_comm_world, 64 * MIB), GW_ENOMEM);
    CHECK(strstr(gw_fail_text(), "ulimit -f") && strstr(gw_fail_text(), "SHMEM_SYMMETRIC_SIZE"));
    r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_FSIZE, &r);
#if !GW_ASSERT_STATES && !defined GW_TSAN /* a sanitizer wants all addresses */
    getrlimit(RLIMIT_AS, &r);
    r.rlim_cur = (rlim_t)1 << 30;
    CHECK_EQ(setrlimit(RLIMIT_AS, &r), 0);
    CHECK(sym_memory_heap_wanted(true) <= 256 * MIB);
    CHECK_EQ(sym_open(&gw_comm_world, (uint64_t)2 << 30), GW_ENOMEM);
    CHECK(strstr(gw_fail_text(), "ulimit -v") && strstr(gw_fail_text(), "SHMEM_SYMMETRIC_SIZE"));
#endif
    CHECK_EQ(sym_open(&gw_comm_world, MIB), GW_OK);
    sym_memory_close();
    return 0;
}

int main(void)
{
    if (sym_is_pe(pe)) return unit_end();
    ranks_run(1, 1, pe);
    ranks_run(2, 2, pe);
    ranks_run(5, 5, pe);
    unit_launchers_forget();
    EXPECT_CHILD(limited, 0, "");
    return unit_end();
}
