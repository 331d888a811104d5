/* sym_near.h -- symmetric memory that is mapped here: what the entry points of libgodwit_shmem inline.
 *
 * A region is memory that every PE has at the same offsets: the symmetric heap, and the static data of the program.  This process maps the
 * regions of all PEs of its node one behind the other, `stride` bytes apart, so that a PE's copy of an address is one multiplication and
 * one addition away.  Loads, stores and atomic instructions are all that happens there.
 *
 *     own address - base = offset;   copy of local PE l = map + l * stride + offset
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SYM_SYM_NEAR_H
#define GW_SYM_SYM_NEAR_H

#include "base/base.h"

struct sym_region {
    char *base;     /* where this PE's program sees its own; NULL: there is no such region */
    uint64_t bytes; /* 0: there is none, or the copies of others are not mapped */
    char *map;      /* of the first PE of the node */
    uint64_t stride;
};
/* Written by the first initialisation and the last finalization; before and after, all sizes are 0. */
struct sym_near {
    struct sym_region heap, data;
    /* PEs first .. first + n - 1 are this node's, in this order; n 0: their numbers are not consecutive, see sym_place() */
    uint32_t first, n;
    _Atomic uint32_t is_far; /* there are PEs on other nodes: order and completion are more than a fence */
};
extern GW_EXPORT struct sym_near godwit_sym_near;

/* A PE's copy of the object at `addr`, of which at least one byte lies in the region; NULL: for the functions of sym.h, which know more PEs, or
 * say what is wrong.  Behind the end of a region lie 64 KiB to which nothing is mapped, so that one comparison does for any basic type. */
static inline char *sym_near_in(const struct sym_region *r, const void *addr, uint32_t local)
{
    uint64_t offset = (uint64_t)((uintptr_t)addr - (uintptr_t)r->base);
    if (unlikely(offset >= r->bytes)) return NULL;
    return r->map + local * r->stride + offset;
}
static inline char *sym_near_place(const void *addr, int pe)
{
    uint32_t local = (uint32_t)pe - godwit_sym_near.first;
    if (unlikely(local >= godwit_sym_near.n)) return NULL;
    char *at = sym_near_in(&godwit_sym_near.heap, addr, local);
    return likely(at != NULL) ? at : sym_near_in(&godwit_sym_near.data, addr, local);
}
/* The same for `bytes` bytes. */
static inline char *sym_near_span(const void *addr, uint64_t bytes, int pe)
{
    char *at = sym_near_place(addr, pe);
    uint64_t of_heap = (uint64_t)((uintptr_t)addr - (uintptr_t)godwit_sym_near.heap.base);
    const struct sym_region *r = of_heap < godwit_sym_near.heap.bytes ? &godwit_sym_near.heap : &godwit_sym_near.data;
    return likely(at != NULL) && likely(bytes <= r->bytes - (uint64_t)((uintptr_t)addr - (uintptr_t)r->base)) ? at : NULL;
}

/* Order and completion of stores (OpenSHMEM 1.6 section 9.12), where all PEs are near. */
static inline bool sym_near_quiet(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    return likely(!atomic_load_explicit(&godwit_sym_near.is_far, memory_order_relaxed));
}
static inline bool sym_near_fence(void)
{
    atomic_thread_fence(memory_order_release);
    return likely(!atomic_load_explicit(&godwit_sym_near.is_far, memory_order_relaxed));
}

#endif
