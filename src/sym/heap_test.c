/* heap_test.c -- the symmetric heap as programs have it: the same offsets on all PEs, zeros, alignment, what grows keeps its
 * data, what is freed goes back to the system, barriers where they must be, exhaustion on all PEs with one sentence, pointers
 * that are no block.  Started by mpiexec, each process is a PE of its job.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "sym/sym_private.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/os.h"
#include "coll/coll.h"
#include "ranks.h"

#include "unit_child.h"

enum { PES = 3, MIB = 1 << 20, HEAP = 64 * MIB };
static const char call[] = "shmem_test";

static uint64_t offset_of(const void *p) { return (uint64_t)((const char *)p - sym_memory.region[SYM_HEAP].base); }
static bool is_alike(uint64_t value)
{
    int64_t mine[2] = {(int64_t)value, -(int64_t)value}, least[2];
    CHECK_EQ(coll_allreduce(mine, least, 2, gw_type_int64, gw_op_min, sym_memory.world, NULL), GW_OK);
    return least[0] == -least[1];
}

static void *take(size_t bytes)
{
    void *p = godwit_sym_malloc(call, bytes, 0, 0);
    CHECK(p && (uintptr_t)p % 64 == 0 && is_alike(offset_of(p)) && sym_region_of(p, bytes) == SYM_HEAP);
    return p;
}

static bool is_resident(const char *at)
{
    unsigned char in = 1;
    CHECK_EQ(mincore((void *)((uintptr_t)at & ~(gw_page_bytes() - 1)), 1, &in), 0);
    return in & 1;
}

static bool is_all(const char *p, char value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != value) return false;
    return true;
}

static void nothing(void)
{
    CHECK(!godwit_sym_malloc(call, 0, 0, 0) && !godwit_sym_malloc(call, 0, 4096, 3) && !godwit_sym_calloc(call, 0, 5) &&
          !godwit_sym_calloc(call, 5, 0) && !godwit_sym_realloc(call, NULL, 0));
    godwit_sym_free(call, NULL);
}

static void blocks(void)
{
    char *a = take(100), *b = take(1), *c = take(3 * MIB);
    memset(a, 1, 100), *b = 2, memset(c, 3, 3 * MIB);
    char *d = godwit_sym_malloc(call, 1000, MIB, 0);
    CHECK(d && offset_of(d) % 64 == 0 && is_alike(offset_of(d)) && offset_of(d) % MIB == 0);
    godwit_sym_free(call, b);
    char *e = take(64);
    CHECK(e == b); /* the first place that is free */
    CHECK(is_all(a, 1, 100) && is_all(c, 3, 3 * MIB));
    char *z = godwit_sym_realloc(call, a, 90);
    CHECK(z == a && is_all(z, 1, 90));
    z = godwit_sym_realloc(call, a, 5000);
    CHECK(z && z != a && is_all(z, 1, 90) && is_alike(offset_of(z)));
    CHECK(take(128) == a);
    char *grown = godwit_sym_realloc(call, godwit_sym_realloc(call, NULL, 500), 900);
    CHECK(grown && is_alike(offset_of(grown)));
    CHECK(!godwit_sym_realloc(call, grown, 0) && !godwit_sym_realloc(call, z, 0));
    godwit_sym_free(call, a), godwit_sym_free(call, c), godwit_sym_free(call, d), godwit_sym_free(call, e);
    CHECK(take(HEAP) == sym_memory.region[SYM_HEAP].base); /* all is free, in one piece */
    godwit_sym_free(call, sym_memory.region[SYM_HEAP].base);
}

/* Memory that was written before is zeros; large blocks leave no pages behind. */
static void zeros(void)
{
    static const size_t sizes[] = {8, 5000, 3 * MIB, 9 * MIB + 77};
    for (size_t i = 0; i < GW_ARRAY_LEN(sizes); i++) {
        char *lead = take(100), *p = take(sizes[i]);
        memset(p, 7, sizes[i]);
        memset(lead, 8, 100);
        CHECK(is_resident(p + sizes[i] / 2));
        godwit_sym_free(call, p);
        if (sizes[i] > 8 * MIB && !sym_memory.win[SYM_HEAP]) CHECK(!is_resident(p + sizes[i] / 2));
        char *q = take(sizes[i]);
        memset(q, 7, sizes[i]);
        godwit_sym_free(call, q);
        q = godwit_sym_calloc(call, sizes[i] / 4 + 1, 4);
        CHECK(q == p && is_all(q, 0, sizes[i] / 4 * 4 + 4) && is_all(lead, 8, 100));
        godwit_sym_free(call, q), godwit_sym_free(call, lead);
    }
}

/* What a PE writes to another one's block after its malloc stays there, whatever the other does in its own call. */
static void races(void)
{
    int me = sym_memory.me, to = (me + 1) % PES;
    for (int i = 0; i < 200; i++) {
        char *p = godwit_sym_calloc(call, 1, 5 * MIB);
        char *there = sym_place(p + MIB + 10, 1, to);
        *there = (char)(i + 1);
        godwit_sym_barrier_all(call);
        CHECK_EQ(p[MIB + 10], (char)(i + 1));
        CHECK_EQ(p[2 * MIB], 0);
        p[2 * MIB] = 1;
        char *q = godwit_sym_realloc(call, p, i % 2 ? 6 * MIB : 5000);
        CHECK(q);
        if (i % 2) CHECK(q[MIB + 10] == (char)(i + 1));
        *sym_place(q + 4000, 1, to) = 9;
        godwit_sym_barrier_all(call);
        CHECK_EQ(q[4000], 9);
        godwit_sym_free(call, q);
    }
}

/* A PE comes late and says so to all: who leaves the call has been told. */
static void late(int *told, int round, void (*does)(void **), void **block)
{
    int me = sym_memory.me;
    if (round % PES == me) usleep(3000);
    for (int to = 0; to < PES; to++) {
        int *there = (int *)(void *)sym_place(&told[me], sizeof(int), to);
        __atomic_store_n(there, round, __ATOMIC_RELEASE);
    }
    does(block);
    for (int from = 0; from < PES; from++) CHECK(__atomic_load_n(&told[from], __ATOMIC_ACQUIRE) >= round);
}

static void by_malloc(void **p) { *p = godwit_sym_malloc(call, 1000, 0, 0); }
static void by_align(void **p) { *p = godwit_sym_malloc(call, 1000, 4096, 0); }
static void by_calloc(void **p) { *p = godwit_sym_calloc(call, 1000, 1); }
static void by_free(void **p) { godwit_sym_free(call, *p); }
static void by_larger(void **p) { *p = godwit_sym_realloc(call, *p, 10000); }
static void by_smaller(void **p) { *p = godwit_sym_realloc(call, *p, 10); }
static void by_none(void **p) { godwit_sym_free(call, *p = godwit_sym_realloc(call, *p, 0)); }

static void barriers(void)
{
    static void (*const calls[])(void **) = {by_malloc, by_free, by_align, by_free, by_calloc, by_smaller, by_larger, by_none};
    int *told = godwit_sym_calloc(call, PES, sizeof *told), round = 0;
    void *block = NULL;
    for (int i = 0; i < 5; i++)
        for (size_t c = 0; c < GW_ARRAY_LEN(calls); c++) late(told, ++round, calls[c], &block);
    godwit_sym_free(call, told);
}

static void pe(int rank)
{
    int provided = -1;
    setenv("SHMEM_SYMMETRIC_SIZE", "64M", 1);
    CHECK_EQ(godwit_sym_begin("shmem_init", GW_THREAD_SINGLE, &provided), 0);
    CHECK((rank < 0 || sym_memory.me == rank) && sym_memory.region[SYM_HEAP].bytes == HEAP);
    nothing();
    blocks();
    zeros();
    bool are_near = sym_memory.world->size == PES && sym_memory.n_local == PES;
    if (are_near) races();
    if (are_near) barriers();
    godwit_sym_end("shmem_finalize");
}

/* ---- what cannot be, of one PE ---- */
static void alone(void)
{
    setenv("GODWIT_SINGLETON", "1", 1);
    setenv("SHMEM_SYMMETRIC_SIZE", "1M", 1);
    CHECK_EQ(godwit_sym_begin("shmem_init", GW_THREAD_SINGLE, NULL), 0);
}

static int full(void)
{
    alone();
    char *a = godwit_sym_malloc("shmem_malloc", 300 << 10, 0, 0);
    memset(a, 5, 300 << 10);
    CHECK(a && !godwit_sym_malloc("shmem_malloc", MIB, 0, 0));
    CHECK(!godwit_sym_malloc("shmem_align", SIZE_MAX, 4096, 0) && !godwit_sym_calloc("shmem_calloc", SIZE_MAX / 2, 3));
    CHECK(!godwit_sym_realloc("shmem_realloc", a, 2 * MIB) && is_all(a, 5, 300 << 10)); /* it is left as it was */
    CHECK(godwit_sym_malloc("shmem_malloc", 700 << 10, 0, 0));
    godwit_sym_end("shmem_finalize");
    return 0;
}

static int overflow(void)
{
    alone();
    CHECK(!godwit_sym_calloc("shmem_calloc", SIZE_MAX / 2, 3));
    godwit_sym_end("shmem_finalize");
    return 0;
}

static int crooked(void)
{
    alone();
    CHECK(!godwit_sym_malloc("shmem_align", 8, 3, 0) && !godwit_sym_malloc("shmem_align", 8, 4, 0));
    godwit_sym_end("shmem_finalize");
    return 0;
}

static int twice(void)
{
    alone();
    void *p = godwit_sym_malloc(call, 100, 0, 0);
    godwit_sym_free("shmem_free", p);
    godwit_sym_free("shmem_free", p);
    return 0;
}

static int within(void)
{
    alone();
    char *p = godwit_sym_malloc(call, 100, 0, 0);
    godwit_sym_realloc("shmem_realloc", p + 24, 10);
    return 0;
}

static int elsewhere(void)
{
    static int variable;
    alone();
    godwit_sym_free("shmem_free", &variable);
    return 0;
}

static int early(void)
{
    godwit_sym_malloc("shmem_malloc", 8, 0, 0);
    return 0;
}

int main(void)
{
    if (getenv("GODWIT_BOOT")) {
        pe(-1);
        return unit_end();
    }
    ranks_start(1, 1, NULL, pe);
    ranks_start(PES, PES, NULL, pe);
    unit_launchers_forget();
    EXPECT_CHILD(full, 0, "of its 1.000 MiB 0.293 MiB are in use, by 1 blocks, and the largest free piece is 0.707 MiB");
    CHECK(strstr(said, "shmem_malloc: no room for 1.000 MiB (1048576 bytes)") && strstr(said, "SHMEM_SYMMETRIC_SIZE"));
    CHECK(!strstr(said, "shmem_align:") && !strstr(said, "shmem_calloc:") && !strstr(said, "shmem_realloc:"));
    EXPECT_CHILD(overflow, 0, "shmem_calloc: no room");
    EXPECT_CHILD(crooked, 0, "shmem_align: alignment is 3");
    EXPECT_CHILD(twice, 1, "shmem_free: ptr is 0x");
    CHECK(strstr(said, "freed before"));
    EXPECT_CHILD(within, 1, "24 bytes within the block");
    EXPECT_CHILD(elsewhere, 1, "not in the symmetric heap");
    EXPECT_CHILD(early, 1, "not initialised");
    return unit_end();
}
