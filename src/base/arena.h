/* arena.h -- allocators of our own: blocks of any size whose memory goes back to the system; free blocks under AddressSanitizer.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_ARENA_H
#define GW_BASE_ARENA_H

#include "base/base.h"

/* An arena: blocks of any size up to GW_ARENA_MOST whose memory goes back to the system when they are given back (arena.c).  One range of
 * addresses, reserved at first use and touched as far as it is needed; a block costs its bytes rounded up to GW_ARENA_UNIT (above
 * GW_ARENA_EVEN somewhat more, in addresses).  Blocks lie at most 2^32 units behind `base` and never at it, so that 32 bits that are not 0
 * name one.  No lock.  Zeroed is empty. */
enum { GW_ARENA_UNIT = 16, GW_ARENA_EVEN = 4224, GW_ARENA_MOST = 2 << 20 };
enum { ARENA_SPANS = 33, ARENA_CLASSES = GW_ARENA_EVEN / GW_ARENA_UNIT + 16 };
struct gw_arena {
    char *base;               /* NULL: not reserved yet */
    size_t reserved, usable;  /* bytes from `base` on: of addresses, and of those that may be touched */
    struct arena_slab *slabs; /* by number, from 1 on */
    uint32_t n_slabs, cap_slabs, n_warm, warm;
    int64_t bytes;                   /* in blocks that are out */
    uint32_t partial[ARENA_CLASSES]; /* a slab with a free block */
    uint32_t cold[ARENA_SPANS];      /* spans of so many slabs without memory */
};
void *gw_arena_take(struct gw_arena *a, size_t bytes);             /* never NULL: dies when memory is out */
void gw_arena_give(struct gw_arena *a, void *block, size_t bytes); /* as it was taken */
void gw_arena_finish(struct gw_arena *a);                          /* all blocks are gone; it is empty again */

/* Free blocks of our own allocators: in a build with AddressSanitizer whoever uses them is reported; else these do nothing. */
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
