/* unit_mapped.h -- for unit tests: how much address space this process has mapped, to find what is not given back.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_UNIT_MAPPED_H
#define GW_TEST_UNIT_MAPPED_H

#include <stdlib.h>

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

#endif
