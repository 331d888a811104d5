/* arena.h -- a slab allocator that returns memory to the system; poisoning of free blocks for AddressSanitizer.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_ARENA_H
#define GW_BASE_ARENA_H

#include "base/base.h"

/* An arena: blocks of up to GW_ARENA_MOST bytes; the memory of empty slabs is returned to the system (arena.c).  It is one range of addresses,
 * reserved at first use and backed by memory as needed.  A block takes its size rounded up to GW_ARENA_UNIT (above GW_ARENA_EVEN somewhat more
 * addresses).  Blocks lie less than 2^32 units above `base` and never at it, so that a 32-bit number, not 0, identifies a block.  The caller
 * locks.  Zero-initialised: empty. */
enum { GW_ARENA_UNIT = 16, GW_ARENA_EVEN = 4224, GW_ARENA_MOST = 2 << 20 };
enum { ARENA_SPANS = 33, ARENA_CLASSES = GW_ARENA_EVEN / GW_ARENA_UNIT + 16 };
struct gw_arena {
    char *base;               /* NULL: not reserved yet */
    size_t reserved, usable;  /* bytes from `base`: of reserved addresses, and of those with memory */
    struct arena_slab *slabs; /* by number, from 1 */
    uint32_t n_slabs, cap_slabs, n_warm, warm;
    int64_t bytes;                   /* in allocated blocks */
    uint32_t partial[ARENA_CLASSES]; /* per size class: a slab with a free block */
    uint32_t cold[ARENA_SPANS];      /* lists of spans of so many slabs whose memory was returned */
};
void *gw_arena_take(struct gw_arena *a, size_t bytes);             /* never NULL: out of memory ends the process */
void gw_arena_give(struct gw_arena *a, void *block, size_t bytes); /* frees a block; `bytes` as it was taken with */
void gw_arena_finish(struct gw_arena *a);                          /* releases everything; all blocks must be free */

/* Marks free blocks of the library's allocators, so that AddressSanitizer reports their use; no effect in other builds. */
#if defined __has_feature
#if __has_feature(address_sanitizer)
#define GW_ASAN 1
#endif
#endif
#if defined GW_ASAN || defined __SANITIZE_ADDRESS__
void __asan_poison_memory_region(const volatile void *at, size_t bytes);
void __asan_unpoison_memory_region(const volatile void *at, size_t bytes);
static inline void gw_poison(const void *at, size_t bytes) { __asan_poison_memory_region(at, bytes); }
static inline void gw_unpoison(const void *at, size_t bytes) { __asan_unpoison_memory_region(at, bytes); }
#else
static inline void gw_poison(const void *at, size_t bytes) { (void)at, (void)bytes; }
static inline void gw_unpoison(const void *at, size_t bytes) { (void)at, (void)bytes; }
#endif

#endif
