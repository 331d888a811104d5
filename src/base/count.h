/* count.h -- performance data for tools (MPI_T): counters and levels.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_COUNT_H
#define GW_BASE_COUNT_H

#include <stdatomic.h>

#include "base/base.h"

/* ---- counters and levels ---------------------------------------------------------------------------
 * Only base/count.c and tool/ read them.  Increments are not atomic: threads without a common lock may lose some. */
struct gw_counters {
#define X(name, class, text) _Atomic uint64_t name;
#include "base/counters.def"
#undef X
};
GW_EXTERN struct gw_counters gw_count;
enum gw_counter_class { GW_COUNTER, GW_TIMER, GW_AGGREGATE }; /* number of events; nanoseconds; bytes */
struct gw_counter_row {
    const char *name, *text;
    enum gw_counter_class class;
    _Atomic uint64_t *counter;
};
extern const struct gw_counter_row gw_counter_rows[];
extern const int gw_counter_row_count;
/* Access to words that other threads may read or change at any time: plain accesses, of which gcc makes one instruction, while relaxed
 * atomics take two or three. */
#ifdef GW_TSAN
static inline void gw_counted(_Atomic uint64_t *c, uint64_t n)
{
    atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n, memory_order_relaxed);
}
static inline uint32_t gw_look(const _Atomic uint32_t *word) { return atomic_load_explicit(word, memory_order_relaxed); }
#else
static inline void gw_counted(_Atomic uint64_t *c, uint64_t n) { *(uint64_t *)c += n; }
static inline uint32_t gw_look(const _Atomic uint32_t *word) { return *(const uint32_t *)word; } /* not for polling loops */
#endif
enum { GW_LEVEL_UNEXPECTED_MESSAGES, GW_LEVEL_UNEXPECTED_BYTES, GW_LEVELS, GW_LEVEL_MARKS = 16 };
struct gw_level {
    _Atomic int64_t now;
    _Atomic uint32_t used;                /* bit mask of marks in use */
    _Atomic int64_t mark[GW_LEVEL_MARKS]; /* high-water marks, each since its watch began */
};
GW_EXTERN struct gw_level gw_levels[GW_LEVELS];
void gw_level_marks(struct gw_level *l, int64_t now);
static inline void gw_level_add(int level, int64_t delta)
{
    struct gw_level *l = &gw_levels[level];
    /* Unsigned: a length that was not validated may be added here, and is subtracted again. */
    int64_t now = (int64_t)((uint64_t)atomic_fetch_add_explicit(&l->now, delta, memory_order_relaxed) + (uint64_t)delta);
    if (unlikely(atomic_load_explicit(&l->used, memory_order_relaxed)) && delta > 0) gw_level_marks(l, now);
}
int gw_level_watch(struct gw_level *l); /* begins a high-water mark: its number; -1: all are in use */
void gw_level_unwatch(struct gw_level *l, int mark);
void gw_level_reset(struct gw_level *l, int mark);

#endif
