/* heap.c -- the shared heap of a node: first fit over a list of free blocks, under one lock in the segment.
 *
 * Few, long-lived blocks (memory of communicators), so simplicity wins.  Zeroed memory is a valid empty heap: the first
 * caller makes the first block.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "node/node_private.h"

#include <sched.h>

struct heap_head {
    _Atomic uint32_t lock;
    uint32_t is_open;
    uint64_t first; /* offset of the first free block, 0: none */
} GW_ALIGNED(GW_CACHELINE);
struct heap_block {
    uint64_t bytes; /* with this header */
    uint64_t next;  /* free blocks, ascending; offset */
    uint32_t left;  /* ranks that use it no more */
} GW_ALIGNED(GW_CACHELINE);

static struct {
    struct heap_head *head; /* in the segment */
    uint64_t bytes;         /* with the head */
} heap;

void node_heap_open(void *mem, uint64_t bytes)
{
    assert(mem || bytes == 0);
    heap.head = mem;
    heap.bytes = bytes;
}

/* Ranks of one node share this lock, with cores perhaps shared too: yield, do not spin for long. */
static void heap_lock(void)
{
    uint32_t is_free = 0;
    for (int i = 0;
         !atomic_compare_exchange_weak_explicit(&heap.head->lock, &is_free, 1, memory_order_acquire, memory_order_relaxed);
         i++, is_free = 0) {
        if (i < 100)
            gw_cpu_relax();
        else
            sched_yield();
    }
    if (!heap.head->is_open && heap.bytes > sizeof *heap.head + sizeof(struct heap_block)) {
        struct heap_block *b = (struct heap_block *)(heap.head + 1);
        b->bytes = (heap.bytes - sizeof *heap.head) & ~(uint64_t)(GW_CACHELINE - 1);
        b->next = 0;
        heap.head->first = node_off(b);
        heap.head->is_open = 1;
    }
}
static void heap_unlock(void) { atomic_store_explicit(&heap.head->lock, 0, memory_order_release); }

uint64_t node_heap_alloc(uint64_t bytes)
{
    uint64_t want = gw_align_up(bytes, GW_CACHELINE) + sizeof(struct heap_block), got = 0;
    if (bytes > heap.bytes) return 0; /* also keeps `want` from wrapping round */
    heap_lock();
    uint64_t *link = &heap.head->first;
    for (struct heap_block *b; (b = node_ptr(*link)) != NULL; link = &b->next) {
        if (b->bytes < want) continue;
        if (b->bytes - want >= 2 * sizeof(struct heap_block)) { /* the rest stays free */
            struct heap_block *rest = (struct heap_block *)((char *)b + want);
            rest->bytes = b->bytes - want;
            rest->next = b->next;
            b->bytes = want;
            *link = node_off(rest);
        } else {
            *link = b->next;
        }
        b->left = 0;
        got = node_off(b + 1);
        break;
    }
    heap_unlock();
    return got;
}

/* Makes one block of b and the block right behind it, if that is free too. */
static void merge_next(struct heap_block *b)
{
    struct heap_block *n = node_ptr(b->next);
    if (!n || (char *)b + b->bytes != (char *)n) return;
    b->bytes += n->bytes;
    b->next = n->next;
}

static void free_locked(struct heap_block *b)
{
    struct heap_block *before = NULL;
    uint64_t *link = &heap.head->first;
    while (*link && *link < node_off(b)) {
        before = node_ptr(*link);
        link = &before->next;
    }
    b->next = *link;
    *link = node_off(b);
    assert(!before || (char *)before + before->bytes <= (char *)b); /* a block that was freed before lies in a free one */
    assert(!b->next || node_off(b) + b->bytes <= b->next);
    merge_next(b);
    if (before) merge_next(before);
}

static struct heap_block *block_at(uint64_t off) { return (struct heap_block *)(gw_node.base + off) - 1; }

void node_heap_free(uint64_t off)
{
    if (!off) return;
    heap_lock();
    free_locked(block_at(off));
    heap_unlock();
}

/* Counted under the lock: who gets the memory next comes after all that the others did with it. */
void node_heap_leave(uint64_t off, int n)
{
    heap_lock();
    assert(n > 0 && block_at(off)->left < (uint32_t)n);
    if (++block_at(off)->left == (uint32_t)n) free_locked(block_at(off));
    heap_unlock();
}

void node_heap_join(void)
{
    heap_lock();
    heap_unlock();
}
