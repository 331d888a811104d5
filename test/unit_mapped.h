/* unit_mapped.h -- for unit tests: how much address space this process has mapped, to find what is not given back; and how much of a table
 * is in memory.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_UNIT_MAPPED_H
#define GW_TEST_UNIT_MAPPED_H

#include <stdlib.h>
#include <sys/mman.h>

#include "base/os.h"
#include "unit.h"

/* In the system's pages; -1: not told. */
static inline long unit_mapped_pages(void)
{
#ifdef GW_TSAN
    return 0; /* ThreadSanitizer maps memory of its own for that which the test maps */
#endif
    char text[128];
    return gw_line_read(text, sizeof text, "/proc/self/statm") ? atol(text) : -1;
}

/* Pages of 4096 bytes of a table, of a GiB at most, that are in memory. */
static inline int unit_resident_pages(const void *at, size_t bytes)
{
#ifdef GW_TSAN
    return 0; /* ThreadSanitizer's calloc() writes what it gives */
#endif
    static unsigned char in[1 << 18];
    uintptr_t first = (uintptr_t)at & ~(uintptr_t)4095, pages = ((uintptr_t)at + bytes - first + 4095) / 4096;
    int n = 0;
    CHECK(pages <= sizeof in && mincore((void *)first, pages * 4096, in) == 0);
    for (size_t i = 0; i < pages; i++) n += in[i] & 1;
    return n;
}

#endif
