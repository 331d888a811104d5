/* heap.c -- the symmetric heap as programs have it (OpenSHMEM 1.6 section 9.3).
 *
 * All PEs make the same calls, so each knows by itself what the others get: the only communication is the barrier that the
 * standard asks for. What is freed is given back to the system where it is large, behind the barrier of the free, when nobody
 * accesses it; but not where a network has the heap registered, which would go on with the pages of before.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "sym/sym_private.h"

#include <pthread.h>
#include <sys/mman.h>

#include "base/os.h"

/* Blocks of so many bytes are given back: their pages cost less than what a program does with so much memory. */
enum { LARGE = 4 << 20 };

static struct {
    struct sym_blocks *blocks;
    bool has_told;        /* that there is no room */
    pthread_mutex_t lock; /* GODWIT_CHECK: over the blocks, which accesses of other threads are compared with */
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock(void)
{
    if (unlikely(sym_memory.checks)) pthread_mutex_lock(&heap.lock);
}
static void unlock(void)
{
    if (unlikely(sym_memory.checks)) pthread_mutex_unlock(&heap.lock);
}

int sym_heap_open(uint64_t bytes)
{
    const uint64_t all = sym_memory.region[SYM_HEAP].bytes; /* whole pages */
    heap.blocks = sym_blocks_new(all > bytes ? all : bytes);
    heap.has_told = false;
    return heap.blocks ? GW_OK : gw_fail(GW_ENOMEM, "no memory for the records of the symmetric heap");
}

void sym_heap_close(void)
{
    sym_blocks_end(heap.blocks);
    heap.blocks = NULL;
    sym_check_freed_forget();
}

/* ---- pages ---- */
static char *base(void) { return sym_memory.region[SYM_HEAP].base; }

/* Makes the whole pages of [from, from + bytes) zeros that take no memory; *head_out and *tail_out: bytes at both ends that are not
 * of them.  False: nothing was done. */
static bool pages_drop(uint64_t from, uint64_t bytes, uint64_t *head_out, uint64_t *tail_out)
{
    const uint64_t page = gw_page_bytes(), first = gw_align_up(from, page), end = (from + bytes) & ~(page - 1);
    if (bytes < LARGE || sym_memory.win[SYM_HEAP]) return false;
    *head_out = first - from;
    *tail_out = from + bytes - end;
    return madvise(base() + first, end - first, MADV_REMOVE) == 0;
}

static void give_back(uint64_t from, uint64_t bytes)
{
    uint64_t head, tail;
    pages_drop(from, bytes, &head, &tail);
}

static void clear(uint64_t from, uint64_t bytes)
{
    uint64_t head = bytes, tail = 0;
    if (!pages_drop(from, bytes, &head, &tail)) head = bytes, tail = 0;
    memset(base() + from, 0, head);
    memset(base() + from + bytes - tail, 0, tail);
}

/* ---- what cannot be ---- */
/* All PEs get NULL; PE 0 says why, the first time. */
static void *no_room(const char *call, uint64_t bytes, uint64_t align)
{
    struct sym_blocks_use use = sym_blocks_use(heap.blocks);
    char text[64] = "";
    if (align > 64) gw_text_add(text, sizeof text, ", at a multiple of %llu", (unsigned long long)align);
    if (sym_memory.me == 0 && !heap.has_told)
        gw_warn("%s: no room for %.3f MiB (%llu bytes%s) in the symmetric heap, on any PE: of its %.3f MiB %.3f MiB are in use, "
                "by %llu blocks, and the largest free piece is %.3f MiB; set SHMEM_SYMMETRIC_SIZE higher (it is said once)",
                call, gw_mib(bytes), (unsigned long long)bytes, text, gw_mib(use.bytes), gw_mib(use.used),
                (unsigned long long)use.n, gw_mib(use.largest_free));
    heap.has_told = true;
    return NULL;
}

/* The offset of a block that begins at ptr; ends the job if there is none. */
static uint64_t block_of(const char *call, const void *ptr)
{
    uint64_t offset = (uint64_t)((uintptr_t)ptr - (uintptr_t)base());
    if (offset >= sym_memory.region[SYM_HEAP].bytes)
        sym_refuse(
            call,
            "ptr is %p, which is not in the symmetric heap (%p to %p); it takes what shmem_malloc and the like have returned, on "
            "this PE",
            ptr, (void *)base(), (void *)(base() + sym_memory.region[SYM_HEAP].bytes));
    uint64_t begin, bytes;
    bool is_freed = sym_memory.checks && sym_check_is_freed(offset, &begin, &bytes);
    if (!is_freed && sym_blocks_size(heap.blocks, offset) >= 0) return offset;
    int64_t around = sym_blocks_around(heap.blocks, offset);
    if (around >= 0 && !is_freed)
        sym_refuse(
            call,
            "ptr is %p, which is %llu bytes within the block that begins at %p; it takes what shmem_malloc and the like have "
            "returned",
            ptr, (unsigned long long)(offset - (uint64_t)around), (void *)(base() + around));
    sym_refuse(
        call,
        "ptr is %p, where no block of the symmetric heap begins: it was freed before, or never returned by shmem_malloc and the "
        "like",
        ptr);
}

/* ---- calls ---- */
static void give(uint64_t offset)
{
    uint64_t bytes = (uint64_t)sym_blocks_size(heap.blocks, offset);
    sym_blocks_give(heap.blocks, offset);
    give_back(offset, bytes);
}

static void *take(const char *call, uint64_t bytes, uint64_t align)
{
    uint64_t freed;
    lock();
    int64_t at = sym_blocks_take(heap.blocks, bytes, align);
    while (at < 0 && sym_check_freed_take(&freed)) {
        give(freed);
        at = sym_blocks_take(heap.blocks, bytes, align);
    }
    unlock();
    return at >= 0 ? base() + at : no_room(call, bytes, align);
}

/* Before anything is done, also where the arguments ask for nothing. */
static void look_alike(const char *call, uint64_t bytes, uint64_t align, const void *ptr)
{
    int64_t offset = ptr ? (int64_t)((uintptr_t)ptr - (uintptr_t)base()) : -1;
    sym_begun(call);
    SYM_CHECK_ALIKE(call, sym_memory.world, call, {"size", (int64_t)bytes}, {align ? "alignment" : NULL, (int64_t)align},
                    {ptr ? "block at heap +" : NULL, offset});
}

void *godwit_sym_malloc(const char *call, size_t bytes, size_t align, long hints)
{
    (void)hints; /* advice, for memory of kinds that there are not here */
    look_alike(call, bytes, align, NULL);
    if (bytes == 0) return NULL;
    if (align & (align - 1) || align % sizeof(void *)) {
        if (sym_memory.me == 0)
            gw_warn("%s: alignment is %zu, which must be a power of two and a multiple of %zu; it returns NULL", call, align,
                    sizeof(void *));
        return NULL;
    }
    void *p = take(call, bytes, align);
    if (p) godwit_sym_barrier_all(call);
    return p;
}

void *godwit_sym_calloc(const char *call, size_t count, size_t bytes)
{
    size_t all;
    look_alike(call, count * bytes, 0, NULL);
    if (__builtin_mul_overflow(count, bytes, &all)) {
        if (sym_memory.me == 0 && !heap.has_told)
            gw_warn("%s: no room for count %zu times size %zu, which is more than addresses can tell (it is said once)", call,
                    count, bytes);
        heap.has_told = true;
        return NULL;
    }
    if (all == 0) return NULL;
    char *p = take(call, all, 0);
    if (!p) return NULL;
    clear((uint64_t)(p - base()), all);
    godwit_sym_barrier_all(call);
    return p;
}

static void release(uint64_t offset)
{
    lock();
    if (likely(!sym_memory.checks) ||
        sym_check_freed_add(offset, (uint64_t)sym_blocks_size(heap.blocks, offset), &offset)) /* it stays out of use */
        give(offset);
    unlock();
}

static bool resize(uint64_t offset, uint64_t bytes)
{
    lock();
    bool fits = sym_blocks_resize(heap.blocks, offset, bytes);
    unlock();
    return fits;
}

enum sym_block_state sym_heap_look(uint64_t offset, uint64_t *begin_out, uint64_t *bytes_out)
{
    lock();
    int64_t around = sym_blocks_around(heap.blocks, offset);
    bool is_freed = sym_check_is_freed(offset, begin_out, bytes_out);
    if (!is_freed) {
        int64_t at = around >= 0 ? around : sym_blocks_before(heap.blocks, offset);
        *begin_out = at < 0 ? 0 : (uint64_t)at;
        *bytes_out = at < 0 ? 0 : (uint64_t)sym_blocks_size(heap.blocks, (uint64_t)at);
    }
    unlock();
    return is_freed ? SYM_BLOCK_FREED : around >= 0 ? SYM_BLOCK_USED : SYM_BLOCK_NONE;
}

void godwit_sym_free(const char *call, void *ptr)
{
    look_alike(call, 0, 0, ptr);
    if (!ptr) return;
    uint64_t offset = block_of(call, ptr);
    godwit_sym_barrier_all(call);
    release(offset);
}

/* Behind the first barrier nobody accesses the block; behind the second one its data are where they will be on all PEs. */
void *godwit_sym_realloc(const char *call, void *ptr, size_t bytes)
{
    if (!ptr) return godwit_sym_malloc(call, bytes, 0, 0);
    look_alike(call, bytes, 0, ptr);
    uint64_t offset = block_of(call, ptr), old = (uint64_t)sym_blocks_size(heap.blocks, offset);
    if (bytes == 0) {
        godwit_sym_free(call, ptr);
        return NULL;
    }
    godwit_sym_barrier_all(call);
    if (resize(offset, bytes)) return ptr;
    char *p = take(call, bytes, 0);
    if (!p) return NULL;
    memcpy(p, ptr, old < bytes ? old : bytes);
    release(offset);
    godwit_sym_barrier_all(call);
    return p;
}
