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
#include "sym/sym.h"

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
    bool checks;             /* GODWIT_CHECK: n is 0, and each access is shown to godwit_sym_check_access() */
};
extern GW_EXPORT struct sym_near godwit_sym_near;

/* Where a PE's copy of the object at `addr` lies, of which at least one byte must be in the region.  Behind the end of a region lie 64 KiB to
 * which nothing is mapped, so that one comparison does for any basic type. */
struct sym_spot {
    const void *addr;
    int pe;
    char *at;
    uint64_t left; /* bytes from there to the end of the region */
};
/* The compiler does not know that the value is the one that it has: what the call was given is gone then, and comes back for the long way.  So
 * the short one keeps no copies, and p and g of the entry points are 12 instructions (test/shmem/face.py). */
#define SYM_FORGET(value) __asm__("" : "+r"(value))
GW_INLINE bool sym_near_in(const struct sym_region *r, struct sym_spot *s, uint64_t local, uint64_t offset)
{
    if (unlikely(offset >= r->bytes)) return false;
    s->left = r->bytes - offset;
    s->at = r->map + local * r->stride + offset;
    return true;
}
/* False: for the functions of sym.h, which know more PEs, or say what is wrong. */
GW_INLINE bool sym_near_find(struct sym_spot *s)
{
    const struct sym_near *near = &godwit_sym_near;
    uint64_t local = (uint32_t)s->pe - near->first;
    SYM_FORGET(local);
    if (likely((uint32_t)local < near->n)) {
        uintptr_t where = (uintptr_t)s->addr - (uintptr_t)near->heap.base;
        if (likely(sym_near_in(&near->heap, s, local, where))) return true;
        SYM_FORGET(near); /* bases are read anew, and need no registers until then */
        where += (uintptr_t)near->heap.base;
        s->addr = (const void *)where;
        if (sym_near_in(&near->data, s, local, where - (uintptr_t)near->data.base)) return true;
    }
    SYM_FORGET(near);
    s->pe = (int)((uint32_t)local + near->first);
    return false;
}

/* ---- atomics (section 9.7) ----  The instruction of the processor; `to` is aligned.  The old value, 0 of SET. */
#define SYM_AMO(bits)                                                                                                              \
    GW_INLINE uint64_t sym_near_amo##bits(enum sym_amo op, void *to, uint64_t value, uint64_t compare)                             \
    {                                                                                                                              \
        uint##bits##_t *at = to, old = (uint##bits##_t)compare, operand = (uint##bits##_t)value;                                   \
        switch (op) {                                                                                                              \
        case SYM_AMO_FETCH: return __atomic_load_n(at, __ATOMIC_ACQUIRE);                                                          \
        case SYM_AMO_SET: __atomic_store_n(at, operand, __ATOMIC_RELEASE); return 0;                                               \
        case SYM_AMO_ADD: return __atomic_fetch_add(at, operand, __ATOMIC_ACQ_REL);                                                \
        case SYM_AMO_AND: return __atomic_fetch_and(at, operand, __ATOMIC_ACQ_REL);                                                \
        case SYM_AMO_OR: return __atomic_fetch_or(at, operand, __ATOMIC_ACQ_REL);                                                  \
        case SYM_AMO_XOR: return __atomic_fetch_xor(at, operand, __ATOMIC_ACQ_REL);                                                \
        case SYM_AMO_SWAP: return __atomic_exchange_n(at, operand, __ATOMIC_ACQ_REL);                                              \
        default: __atomic_compare_exchange_n(at, &old, operand, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); return old;            \
        }                                                                                                                          \
    }
SYM_AMO(32)
SYM_AMO(64)
GW_INLINE uint64_t sym_near_amo(const struct sym_atomic *a, void *at)
{
    return a->bytes == 8 ? sym_near_amo64(a->op, at, a->value, a->compare) : sym_near_amo32(a->op, at, a->value, a->compare);
}

/* ---- conditions (section 9.11) ----  Is `now` what the program waits for?  Another `cmp` than the six: no. */
#define SYM_HOLDS(name, T)                                                                                                         \
    GW_INLINE bool name(int cmp, T now, T value)                                                                                   \
    {                                                                                                                              \
        return cmp == SYM_CMP_EQ ? now == value                                                                                    \
            : cmp == SYM_CMP_NE  ? now != value                                                                                    \
            : cmp == SYM_CMP_GT  ? now > value                                                                                     \
            : cmp == SYM_CMP_GE  ? now >= value                                                                                    \
            : cmp == SYM_CMP_LT  ? now < value                                                                                     \
                                 : cmp == SYM_CMP_LE && now <= value;                                                               \
    }
SYM_HOLDS(sym_holds_signed, int64_t)
SYM_HOLDS(sym_holds_unsigned, uint64_t)

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
