/* copy.h -- memcpy between cores.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_COPY_H
#define GW_BASE_COPY_H

#include <stddef.h>
#include <string.h>

/* ---- copying ------------------------------------------------------------------------------------ */
void gw_copy_plain(void *dst, const void *src, size_t n);
/* memcpy for data that another core has written or will read. */
static inline void gw_copy(void *dst, const void *src, size_t n)
{
    enum { PLAIN_FROM = 1024, PLAIN_TO = 1 << 20 };
    if (n < PLAIN_FROM || n > PLAIN_TO)
        memcpy(dst, src, n);
    else
        gw_copy_plain(dst, src, n);
}

#endif
