/* memory.c -- the symmetric heap: a file of each node with a part for each of its PEs, mapped whole by all of them.
 *
 *     file:  | head | part of local PE 0 | guard | part of local PE 1 | guard | ...
 *     mapped at `map` as it is, the guards without access; the own part a second time at `base`, with a guard behind it
 *
 * Nothing of it is set aside or touched: a page is had when somebody first writes there.  `base` is the same address on all PEs
 * where it is free on all; programs must not count on that (OpenSHMEM 1.6 section 3.1), but some do, and a debugger's user is
 * glad.  An access of a few bytes that begins at the last byte of a part ends in the guard, at either place, and is a SIGSEGV of
 * who made it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "sym/sym_private.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/os.h"
#include "check/check.h"
#include "coll/coll.h"
#include "op/op.h"
#include "world/world.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* GUARD: at least; sym_near.h compares the first byte of an access only.  PLACES: addresses that are tried for `base`. */
enum { GUARD = 64 << 10, PLACES = 4 };

static const struct share_words words = {"godwit-heap", "the symmetric heap", "the symmetric heaps of all PEs of this node",
                                         SYM_SIZE_CURE};

GW_EXPORT struct sym_near godwit_sym_near;
struct sym_memory sym_memory;

static struct {
    struct sym_file file;
    char *own; /* the second mapping of the own part, of own_bytes with its guard; NULL: there is none */
    uint64_t own_bytes;
    char *place;          /* the first that was tried for it */
    struct gw_comm *here; /* until all have met */
} heap = {.file.fd = -1};

/* ---- the heap ---- */
/* An address where most programs have nothing: far below the libraries and the stack, above what is loaded first. */
static char *place(int which, uint64_t align)
{
    const uint64_t top = /* the half of the addresses in which the system has put the file */
        (uint64_t)1 << (63 - __builtin_clzll((uint64_t)(uintptr_t)heap.file.whole));
    return (char *)(uintptr_t)((top / 8 * (uint64_t)(4 - which)) & ~(align - 1));
}

/* `span` bytes without access at place number `which`; NULL: they are not free.  *wanted_out: the place. */
static char *place_take(int which, uint64_t span, uint64_t align, char **wanted_out)
{
    char *wanted = sym_has_tsan() ? NULL : place(which, align), *got = MAP_FAILED;
    if (wanted) got = mmap(wanted, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    *wanted_out = wanted;
    if (got == wanted) return got;
    if (got != MAP_FAILED) munmap(got, span); /* an older kernel, or a sanitizer's */
    return NULL;
}

enum { HEAP_SAID = 3 };
static void heap_say(const char *got, const char *wanted, int64_t said_out[HEAP_SAID])
{
    said_out[0] = got != NULL;
    said_out[1] = (int64_t)(uintptr_t)wanted;
    said_out[2] = -said_out[1];
}

/* Collective: `span` bytes without access at one address on all PEs, but for the first place; NULL: there is none. */
static int agree_place(struct gw_comm *world, uint64_t span, uint64_t align, char **at_out)
{
    *at_out = NULL;
    for (int i = 1; i < PLACES; i++) {
        char *wanted, *got = place_take(i, span, align, &wanted);
        int64_t least[HEAP_SAID];
        heap_say(got, wanted, least);
        int rc = sym_least(world, least, HEAP_SAID);
        bool is_alike = rc == GW_OK && least[1] == -least[2];
        if (is_alike && least[0]) {
            *at_out = got;
            return GW_OK;
        }
        if (got) munmap(got, span);
        if (!is_alike) return rc;
    }
    return GW_OK;
}

/* Collective over the PEs of the node: how many of them are under the same limit of a control group. */
static int same_group(struct gw_comm *here, int *n_out)
{
    uint64_t mine = gw_memory_whole().group_id, *all = malloc(sizeof *all * (size_t)here->size);
    int rc = sym_agree(here, all ? GW_OK : gw_fail(GW_ENOMEM, "no memory for %d PEs", here->size)), n = 0;
    if (rc == GW_OK) rc = coll_allgather(&mine, 1, gw_type_int64, all, 1, gw_type_int64, here, NULL);
    for (int i = 0; rc == GW_OK && i < here->size; i++) n += all[i] == mine;
    free(all);
    *n_out = n;
    return rc;
}

/* Are there limits that the heap does not fit in?  Of this PE's node; told by those who read them. */
static int room_check(struct gw_comm *here, uint64_t bytes, uint64_t stride)
{
    bool is_one;
    int n_group = here->size, rc = GW_OK;
    if (stride > (uint64_t)INT64_MAX / 2 / (uint64_t)here->size)
        rc = gw_fail(GW_ENOMEM, "symmetric heaps of %.1f MiB are more than addresses can tell%s", gw_mib(bytes), words.cure);
    bool reads = sym_size_reads(&is_one);
    if (rc == GW_OK && !is_one) rc = same_group(here, &n_group);
    return rc == GW_OK && reads ? sym_size_check(bytes, n_group) : rc;
}

static void heap_want(struct gw_comm *here, uint64_t wanted, struct sym_file_want *want)
{
    const uint64_t page = wanted >= GW_HUGE_BYTES ? GW_HUGE_BYTES : gw_page_bytes(), bytes = gw_align_up(wanted, page),
                   stride = gw_align_up(bytes + GUARD, page);
    sym_memory.region[SYM_HEAP] = (struct sym_region){.stride = stride, .bytes = bytes};
    *want = (struct sym_file_want){.words = &words, .bytes = stride * (uint64_t)here->size, .page = page, .file = &heap.file};
    want->rc = room_check(here, bytes, stride);
}

static int map_own(struct gw_comm *here)
{
    const struct sym_region *r = &sym_memory.region[SYM_HEAP];
    if (!heap.own || share_map_at(&heap.file.file, heap.file.fd, (uint64_t)here->rank * r->stride, r->bytes, heap.own) == 0)
        return GW_OK;
    return gw_fail(GW_ENOMEM, "the symmetric heap's own part cannot be mapped: %s", strerror(errno));
}

/* Each at the first place, before it is known whether the others have it too. */
static int heap_map(struct gw_comm *here)
{
    struct sym_region *r = &sym_memory.region[SYM_HEAP];
    int rc = sym_file_guard(&heap.file, &words, here, r->bytes, r->stride);
    if (rc != GW_OK) return rc;
    r->map = heap.file.whole + heap.file.file.head;
    if (sym_memory.world->size > 1) heap.own = place_take(0, r->stride, heap.file.file.page, &heap.place);
    if (heap.own) heap.own_bytes = r->stride;
    return map_own(here);
}

static void own_drop(void)
{
    if (heap.own) munmap(heap.own, heap.own_bytes);
    heap.own = NULL;
}

/* least: of heap_say().  Collective where some PE does not have that place. */
static int heap_agreed(struct gw_comm *here, const int64_t least[HEAP_SAID])
{
    struct sym_region *r = &sym_memory.region[SYM_HEAP];
    int rc = GW_OK;
    if (sym_memory.world->size > 1 && (!least[0] || least[1] != -least[2])) {
        own_drop();
        if (least[1] == -least[2]) rc = agree_place(sym_memory.world, r->stride, heap.file.file.page, &heap.own);
        if (heap.own) heap.own_bytes = r->stride;
        rc = sym_agree(sym_memory.world, rc == GW_OK ? map_own(here) : rc);
    }
    sym_file_hide(&heap.file); /* all have opened it */
    if (rc != GW_OK) return rc;
    r->base = heap.own ? heap.own : r->map + (uint64_t)here->rank * r->stride;
    if (heap.own) madvise(heap.file.whole, heap.file.file.bytes, MADV_DONTDUMP); /* of a core dump only the own part */
    GW_EXPLAIN(GW_LOG_BOOT, "the symmetric heap of a PE has %.1f MiB%s", gw_mib(r->bytes),
               heap.own ? ", at the same address on all PEs" : "");
    return GW_OK;
}

static void heap_close(void)
{
    own_drop();
    sym_file_end(&heap.file);
}

/* ---- who is near ---- */
static int find_near(struct gw_comm *world)
{
    const int *at = gw_boot.local_to_world, n = gw_boot.nlocal;
    bool is_row = true;
    for (int i = 0; i < n; i++) is_row = is_row && at[i] == at[0] + i;
    sym_memory = (struct sym_memory){.world = world, .me = world->rank, .n_local = n};
    sym_memory.checks = check_is_asked();
    if (is_row && !sym_memory.checks) return GW_OK;
    int32_t *local = malloc(sizeof *local * (size_t)world->size);
    if (!local) return gw_fail(GW_ENOMEM, "no memory for %d PEs", world->size);
    for (int i = 0; i < world->size; i++) local[i] = -1;
    for (int i = 0; i < n; i++) local[at[i]] = i;
    sym_memory.local = local;
    return GW_OK;
}

/* Collective; its error is the same on all PEs, and so is that of rc's, unless all are on one node. */
static int comm_here(struct gw_comm *world, int rc, struct gw_comm **here_out)
{
    *here_out = world;
    if (world->one_node) return GW_OK;
    struct gw_group *g = NULL;
    struct gw_comm *here = NULL;
    *here_out = NULL;
    if (rc == GW_OK) rc = group_from_map(gw_boot.nlocal, gw_boot.local_to_world, &g);
    rc = sym_agree(world, rc);
    if (rc == GW_OK) rc = world_comm_create(world, g, &here);
    if (g) group_release(g);
    if (rc == GW_OK) *here_out = here;
    return rc;
}

int sym_window_open(char *base, uint64_t bytes, struct rma_win **win_out)
{
    int rc = rma_win_create(base, (int64_t)bytes, 1, NULL, sym_memory.world, win_out);
    if (rc == GW_OK) rc = rma_use_instructions(*win_out);
    return rc == GW_OK ? rma_win_lock_all(GW_MODE_NOCHECK, *win_out) : rc;
}

/* has_data: all PEs map the static data of those of their node. */
static int windows_open(bool has_data)
{
    const struct sym_region *h = &sym_memory.region[SYM_HEAP], *d = &sym_memory.region[SYM_DATA];
    const bool is_near = sym_memory.world->one_node;
    int rc = is_near ? GW_OK : sym_window_open(h->base, h->bytes, &sym_memory.win[SYM_HEAP]);
    if (rc != GW_OK || !sym_memory.data_bytes || (is_near && has_data)) return rc;
    return sym_window_open(d->base, sym_memory.data_bytes, &sym_memory.win[SYM_DATA]);
}

static void windows_close(void)
{
    for (int i = 0; i < SYM_REGIONS; i++) {
        if (!sym_memory.win[i]) continue;
        rma_win_unlock_all(sym_memory.win[i]);
        rma_win_free(&sym_memory.win[i]);
    }
}

static void publish(void)
{
    bool is_row = sym_memory.local == NULL;
    bool is_far = sym_memory.win[SYM_HEAP] || sym_memory.win[SYM_DATA] || sym_memory.checks; /* fences are noted */
    atomic_store_explicit(&godwit_sym_near.is_far, is_far, memory_order_relaxed);
    godwit_sym_near.heap = sym_memory.region[SYM_HEAP];
    godwit_sym_near.data = sym_memory.region[SYM_DATA];
    godwit_sym_near.first = is_row ? (uint32_t)gw_boot.local_to_world[0] : 0;
    godwit_sym_near.n = is_row ? (uint32_t)sym_memory.n_local : 0;
    godwit_sym_near.checks = sym_memory.checks;
}

int sym_memory_open(struct gw_comm *world, uint64_t heap_bytes)
{
    struct sym_file_want want[2];
    int mine = find_near(world), rc = comm_here(world, mine, &heap.here);
    if (rc != GW_OK) return rc;
    sym_data_want(heap.here, &want[0]);
    heap_want(heap.here, heap_bytes, &want[1]);
    if (mine == GW_OK) mine = want[1].rc;
    if (mine != GW_OK) want[0].rc = want[1].rc = mine;
    rc = sym_files_make(heap.here, want, 2);
    if (rc == GW_OK) rc = want[1].rc;
    if (rc == GW_OK) rc = mine;
    sym_data_map(heap.here, rc == GW_OK ? want[0].rc : rc);
    return rc == GW_OK ? heap_map(heap.here) : rc;
}

/* All at once: whether it has come to a heap, where the heap lies, and static data. */
static int meet(int rc, bool *has_data_out)
{
    int64_t least[1 + HEAP_SAID + SYM_DATA_SAID] = {rc};
    _Static_assert(GW_ARRAY_LEN(least) <= COLL_GROUP_VALUES, "they fit");
    heap_say(heap.own, heap.place, least + 1);
    sym_data_say(least + 1 + HEAP_SAID);
    int failed = sym_least(sym_memory.world, least, GW_ARRAY_LEN(least));
    if (failed != GW_OK) return failed;
    if (least[0] != GW_OK) return rc != GW_OK ? rc : gw_fail((int)least[0], "another PE failed: %s", gw_error_text((int)least[0]));
    rc = heap_agreed(heap.here, least + 1);
    return rc == GW_OK ? sym_data_agreed(heap.here, least + 1 + HEAP_SAID, has_data_out) : rc;
}

int sym_memory_meet(int rc)
{
    bool has_data = false, is_far = !sym_memory.world->one_node || sym_memory.checks;
    if (heap.here) rc = meet(rc, &has_data);
    if (rc == GW_OK) rc = sym_race_open(heap.here);
    if (rc == GW_OK) rc = windows_open(has_data);
    if (is_far && heap.here) rc = sym_agree(sym_memory.world, rc);
    if (heap.here && heap.here != sym_memory.world) world_comm_end(&heap.here);
    heap.here = NULL;
    if (rc == GW_OK)
        publish();
    else
        sym_memory_close();
    return rc;
}

void sym_memory_close(void)
{
    godwit_sym_near.n = 0;
    godwit_sym_near.checks = false;
    godwit_sym_near.heap = godwit_sym_near.data = (struct sym_region){0};
    atomic_store_explicit(&godwit_sym_near.is_far, 0, memory_order_relaxed);
    windows_close();
    sym_race_close();
    sym_data_close();
    heap_close();
    free((void *)(uintptr_t)sym_memory.local);
    sym_memory = (struct sym_memory){0};
}

/* ---- questions ---- */
int sym_region_of(const void *addr, uint64_t bytes)
{
    for (int i = 0; i < SYM_REGIONS; i++) {
        const struct sym_region *r = &sym_memory.region[i];
        uint64_t offset = (uint64_t)((uintptr_t)addr - (uintptr_t)r->base), all = r->bytes;
        if (i != SYM_HEAP) all = i == SYM_DATA ? sym_memory.data_bytes : sym_memory.brought_bytes;
        if (offset < all && bytes <= all - offset) return i;
    }
    return -1;
}

char *sym_place(const void *addr, uint64_t bytes, int pe)
{
    int region = sym_region_of(addr, bytes);
    if (region >= 0 && pe == sym_memory.me && !sym_memory.region[region].bytes) return (char *)(uintptr_t)addr;
    if (region < 0 || !sym_is_near(pe) || pe < 0 || pe >= sym_memory.world->size) return NULL;
    uint32_t local = sym_memory.local ? (uint32_t)sym_memory.local[pe] : (uint32_t)pe - godwit_sym_near.first;
    const struct sym_region *r = &sym_memory.region[region];
    struct sym_spot s = {.addr = addr, .pe = pe};
    return sym_near_in(r, &s, local, (uint64_t)((uintptr_t)addr - (uintptr_t)r->base)) ? s.at : NULL;
}
