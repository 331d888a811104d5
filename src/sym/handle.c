/* handle.c -- is a number that a program gives a handle?  A wrong one may be any address: it is looked at only once the kernel has said that there
 * is memory.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/os.h"
#include "sym/sym_private.h"

/* Handles that were found to be ones, so that the next use of them asks nobody: by their low bits. */
enum { KNOWN = 256 };
static _Atomic uintptr_t known[KNOWN];
static _Atomic uintptr_t *known_at(uintptr_t id) { return &known[id / 64 % KNOWN]; }

__attribute__((no_sanitize("address"))) bool sym_handle_is(uintptr_t id, uint64_t magic)
{
    if (likely(atomic_load_explicit(known_at(id), memory_order_relaxed) == id) && *(const uint64_t *)id == magic) return true;
    if (id < gw_page_bytes() || id % _Alignof(uint64_t) || gw_memory_fault((const void *)id, (int64_t)sizeof magic, false))
        return false;
    if (*(const uint64_t *)id != magic) return false;
    atomic_store_explicit(known_at(id), id, memory_order_relaxed);
    return true;
}

void sym_handle_end(void *object)
{
    uintptr_t id = (uintptr_t)object;
    *(uint64_t *)object = 0;
    atomic_compare_exchange_strong_explicit(known_at(id), &id, 0, memory_order_relaxed, memory_order_relaxed);
}
