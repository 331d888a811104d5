/* unit_mapped.h -- for unit tests: how much address space this process has mapped, and how many
 * descriptors it has open, to find what is not given back; and how much of a table
 * is in memory.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_UNIT_MAPPED_H
#define GW_TEST_UNIT_MAPPED_H

#include <dirent.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/os.h"
#include "unit.h"

/* How many descriptors are open, that of the look among them. */
static inline int unit_descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

/* In the system's pages; -1: not told. */
static inline long unit_mapped_pages(void)
{
#ifdef GW_TSAN
    return 0; /* ThreadSanitizer maps memory of its own for that which the test maps */
#endif
    char text[128];
    return gw_line_read(text, sizeof text, "/proc/self/statm") ? atol(text) : -1;
}

/* The system's pages of a table, of a GiB at most, that are in memory. */
static inline int unit_resident_pages(const void *at, size_t bytes)
{
#ifdef GW_TSAN
    return 0; /* ThreadSanitizer's calloc() writes what it gives */
#endif
    static unsigned char in[1 << 18];
    const uintptr_t page = gw_page_bytes(), first = (uintptr_t)at & ~(page - 1),
                    pages = gw_align_up((uintptr_t)at + bytes - first, page) / page;
    int n = 0;
    CHECK(pages <= sizeof in && mincore((void *)first, pages * page, in) == 0);
    for (size_t i = 0; i < pages; i++) n += in[i] & 1;
    return n;
}

#endif
