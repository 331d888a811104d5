/* data_test.c -- static data of the program: found where they are, reached by all PEs of the node, at their addresses with their
 * values before, meanwhile and behind; a forked process has its own; where they cannot be shared they stay private, and a window
 * reaches them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "sym/sym_private.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/os.h"
#include "one_rank.h"
#include "ranks.h"
#include "sym_pes.h"

enum { PES = 3, MIB = 1 << 20, LARGE = 256 * MIB };
#ifdef GW_TSAN
enum { HAS_TSAN = true };
#else
enum { HAS_TSAN = false };
#endif
static int initialised[1000] = {1, 2, 3}, zeros[1000];
static char large[LARGE];
static const char *const relocated[] = {"read-only", "once", "relocated"};
extern char edata[], end[], etext[];

/* The program of one PE is another one. */
static bool is_other;
int __real_dl_iterate_phdr(int (*fn)(struct dl_phdr_info *, size_t, void *), void *arg);
int __wrap_dl_iterate_phdr(int (*fn)(struct dl_phdr_info *, size_t, void *), void *arg);
/* ThreadSanitizer itself comes by before it can look at what a function does. */
#ifdef GW_TSAN
#define EARLY __attribute__((disable_sanitizer_instrumentation))
#else
#define EARLY
#endif
struct call {
    int (*fn)(struct dl_phdr_info *, size_t, void *);
    void *arg;
};
EARLY static int longer(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    const struct call *c = arg;
    ElfW(Phdr) headers[64];
    struct dl_phdr_info other = *info;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        headers[i] = info->dlpi_phdr[i];
        if (headers[i].p_type == PT_LOAD && headers[i].p_flags & PF_W) headers[i].p_memsz -= MIB;
    }
    other.dlpi_phdr = headers;
    return c->fn(&other, bytes, c->arg);
}
EARLY int __wrap_dl_iterate_phdr(int (*fn)(struct dl_phdr_info *, size_t, void *), void *arg)
{
    struct call c = {fn, arg};
    return is_other ? __real_dl_iterate_phdr(longer, &c) : __real_dl_iterate_phdr(fn, arg);
}

static bool has(const void *at, uint64_t bytes) { return sym_region_of(at, bytes) == SYM_DATA; }
static void wait_all(void) { must(coll_barrier(&gw_comm_world, NULL)); }
static long resident_pages(const char *at, uint64_t bytes)
{
    uint64_t page = gw_page_bytes(), n = bytes / page;
    unsigned char *in = malloc(n);
    long count = 0;
    CHECK_EQ(mincore((void *)(((uintptr_t)at + page - 1) & ~(page - 1)), (n - 1) * page, in), 0);
    for (uint64_t i = 0; i < n - 1; i++) count += in[i] & 1;
    free(in);
    return count;
}

static const char *before(const char *p)
{
    __asm__("" : "+r"(p)); /* an object of which the compiler knows nothing */
    return p - 1;
}

static void where(void)
{
    int mine = 0;
    void *block = malloc(100);
    CHECK(has(initialised, sizeof initialised) && has(zeros, sizeof zeros) && has(large, sizeof large) && has(before(end), 1));
    CHECK(has(before(edata), 1) && !has(before(etext), 1) && !has(&mine, 4) && !has(block, 1) && !has(relocated, 1));
    CHECK((uintptr_t)sym_memory.region[SYM_DATA].base + sym_memory.data_bytes - (uintptr_t)end < gw_page_bytes());
    CHECK_EQ(sym_memory.data_bytes % gw_page_bytes(), 0);
    free(block);
}

/* Each PE writes to the others' variables, at their values of before. */
static void shared(void)
{
    int n = gw_comm_world.size, me = gw_comm_world.rank, before = initialised[500];
    struct sym_region *r = &sym_memory.region[SYM_DATA];
    CHECK(r->bytes == sym_memory.data_bytes && !sym_memory.win[SYM_DATA] == gw_comm_world.one_node);
    wait_all();
    for (int pe = 0; pe < n; pe++) {
        char *there = sym_place(&zeros[me], sizeof(int), pe);
        CHECK((there != NULL) == (boot_local_rank(pe) >= 0));
        if (!there) continue;
        *(int *)(void *)there = 10 * pe + me + 1;
        *(int *)(void *)sym_place(&initialised[100 + me], sizeof(int), pe) = 20 * pe + me;
        if (godwit_sym_near.n) CHECK(sym_near_place(&zeros[me], pe) == there);
        if (godwit_sym_near.n) CHECK(!sym_near_span(r->base + r->bytes - 4, 5, pe) && sym_near_span(r->base + r->bytes - 4, 4, pe));
    }
    wait_all();
    for (int i = 0; i < n; i++) {
        CHECK_EQ(zeros[i], boot_local_rank(i) >= 0 ? 10 * me + i + 1 : 0);
        CHECK_EQ(initialised[100 + i], boot_local_rank(i) >= 0 ? 20 * me + i : 0);
    }
    CHECK(initialised[0] == 1 && initialised[2] == 3 && initialised[500] == before);
    wait_all();
}

/* A child sees what was so at the fork, and neither sees what the other writes then.  Its own child, too. */
static void forked(void)
{
    int ready[2], go[2], status = -1;
    char byte = 0;
    CHECK(pipe(ready) == 0 && pipe(go) == 0);
    zeros[900] = 1;
    pid_t child = fork();
    if (child == 0) {
        bool is_right = read(go[0], &byte, 1) == 1 && zeros[900] == 1 && initialised[1] == 2 && large[LARGE - 1] == 5;
        zeros[900] = 3;
        if (write(ready[1], "", 1) != 1) _exit(1);
        pid_t grandchild = fork();
        if (grandchild == 0) _exit(!(zeros[900] == 3));
        waitpid(grandchild, &status, 0);
        _exit(!(is_right && status == 0 && zeros[900] == 3));
    }
    zeros[900] = 2;
    CHECK(write(go[1], "", 1) == 1 && read(ready[0], &byte, 1) == 1);
    CHECK_EQ(zeros[900], 2);
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    close(ready[0]), close(ready[1]), close(go[0]), close(go[1]);
}

static void one(void)
{
    int n = gw_comm_world.size;
    memset(zeros, 0, sizeof zeros);
    memset(initialised + 100, 0, 100 * sizeof(int));
    initialised[500] = 77 + gw_comm_world.rank;
    large[LARGE - 1] = 5;
    must(sym_open(&gw_comm_world, 1000));
    where();
    shared();
    CHECK(resident_pages(large, LARGE) < 1000);
    forked();
    wait_all();
    int of_others = zeros[n - 1];
    sym_memory_close();
    CHECK(zeros[n - 1] == of_others && initialised[500] == 77 + gw_comm_world.rank && large[LARGE - 1] == 5 && zeros[900] == 2);
    CHECK(resident_pages(large, LARGE) < 1000);
    zeros[0] = 9;
    CHECK(!has(zeros, 1) && relocated[1][0] == 'o');
}

/* One that does not want it is enough on its node: the window reaches them where they are. */
static void alone(bool is_on)
{
    int me = gw_comm_world.rank, n = gw_comm_world.size, said = me + 3;
    memset(zeros, 0, sizeof zeros);
    gw_set.symmetric_data = is_on;
    must(sym_open(&gw_comm_world, 1000));
    where();
    struct sym_region *r = &sym_memory.region[SYM_DATA];
    bool is_mapped = !HAS_TSAN && boot_local_rank(1) < 0;
    CHECK(sym_memory.n_local == 1 ||
          (r->base && sym_place(zeros, 1, me) && atomic_load(&godwit_sym_near.is_far) && sym_memory.win[SYM_DATA]));
    CHECK(sym_memory.n_local == 1 || is_mapped == (r->bytes != 0));
    CHECK(sym_memory.n_local == 1 || is_mapped || (sym_place(zeros, 1, me) == (char *)zeros && !sym_near_place(zeros, me)));
    for (int pe = 0; pe < n && sym_memory.win[SYM_DATA]; pe++) {
        must(rma_put(&said, 1, gw_type_int, pe, (char *)&zeros[me] - r->base, 1, gw_type_int, sym_memory.win[SYM_DATA]));
        must(rma_win_flush(pe, sym_memory.win[SYM_DATA]));
    }
    wait_all();
    for (int i = 0; i < n; i++) CHECK_EQ(zeros[i], sym_memory.win[SYM_DATA] ? i + 3 : 0);
    wait_all();
    sym_memory_close();
    gw_set.symmetric_data = true;
}

static void different(void)
{
    is_other = gw_comm_world.rank == 1;
    must(sym_open(&gw_comm_world, 1000));
    is_other = false;
    CHECK(!sym_memory.region[SYM_DATA].base && !sym_memory.data_bytes && !has(zeros, 1) && sym_memory.region[SYM_HEAP].bytes);
    sym_memory_close();
}

static void pe(int rank)
{
    (void)rank;
    rooms_above_boot();
    if (!HAS_TSAN) one();
    if (!HAS_TSAN) one();
    alone(gw_comm_world.size > 1 && (HAS_TSAN || gw_comm_world.rank != 1));
    if (!HAS_TSAN) one();
    if (gw_comm_world.size > 1) different();
    life_rooms_down();
}

int main(void)
{
    if (sym_is_pe(pe)) return unit_end();
    ranks_run(1, 1, pe);
    ranks_run(PES, PES, pe);
    return unit_end();
}
