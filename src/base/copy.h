/* copy.h -- memcpy between cores.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_COPY_H
#define GW_BASE_COPY_H

#include <stddef.h>
#include <string.h>

/* ---- copying ------------------------------------------------------------------------------------ */
enum gw_copy_place { GW_COPY_WRITTEN, GW_COPY_READ, GW_COPY_PLACES };
/* By the way that was the quickest for such copies on this machine so far. */
void gw_copy_learnt(enum gw_copy_place place, void *dst, const void *src, size_t n);
void gw_copy_by(int way, void *dst, const void *src, size_t n); /* by one of copy_learn.h */
void gw_copy_explain(void);                                     /* GODWIT_EXPLAIN=wire: what was learnt */
static inline void gw_copy_as(enum gw_copy_place place, void *dst, const void *src, size_t n)
{
    enum { FROM = 1024, TO = 1 << 20 }; /* what is shorter or longer the C library copies */
    if (n < FROM || n > TO)
        memcpy(dst, src, n);
    else
        gw_copy_learnt(place, dst, src, n);
}
/* memcpy of data that another core has written. */
static inline void gw_copy(void *dst, const void *src, size_t n) { gw_copy_as(GW_COPY_WRITTEN, dst, src, n); }
/* memcpy to where another core will read it. */
static inline void gw_copy_out(void *dst, const void *src, size_t n) { gw_copy_as(GW_COPY_READ, dst, src, n); }

#endif
