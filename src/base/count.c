/* count.c -- counters, levels with their watermarks, and the events that a tool may listen to.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/count.h"
#include "base/event.h"
#include "base/time.h"

struct gw_counters gw_count;
const struct gw_counter_row gw_counter_rows[] = {
#define X(name, class, text) {#name, text, GW_##class, &gw_count.name},
#include "base/counters.def"
#undef X
};
const int gw_counter_row_count = GW_ARRAY_LEN(gw_counter_rows);

void gw_refused(const char *what, const char *field, int64_t value)
{
    static _Atomic bool was_told;
    gw_counted(&gw_count.messages_refused, 1);
    if (atomic_exchange_explicit(&was_told, true, memory_order_relaxed)) return;
    gw_warn(
        "a message was dropped because no rank of this job sends such a one: %s with %s %lld (0x%llx); more of them are counted only "
        "(messages_refused)",
        what, field, (long long)value, (unsigned long long)value);
}

struct gw_level gw_levels[GW_LEVELS];
_Atomic uint32_t gw_event_mask;
bool gw_program_threads;
struct gw_upcalls gw_upcalls;

void gw_level_marks(struct gw_level *l, int64_t now)
{
    uint32_t used = atomic_load_explicit(&l->used, memory_order_acquire);
    for (int i = 0; used; i++, used >>= 1) {
        int64_t most = atomic_load_explicit(&l->mark[i], memory_order_relaxed);
        while ((used & 1) && now > most &&
               !atomic_compare_exchange_weak_explicit(&l->mark[i], &most, now, memory_order_relaxed, memory_order_relaxed)) {}
    }
}

int gw_level_watch(struct gw_level *l)
{
    uint32_t used = atomic_load_explicit(&l->used, memory_order_relaxed);
    for (int i = 0; i < GW_LEVEL_MARKS; i++) {
        if (used & 1u << i) continue;
        gw_level_reset(l, i);
        atomic_fetch_or_explicit(&l->used, 1u << i, memory_order_release);
        return i;
    }
    return -1;
}

void gw_level_unwatch(struct gw_level *l, int mark)
{
    assert(mark >= 0 && mark < GW_LEVEL_MARKS);
    atomic_fetch_and_explicit(&l->used, ~(1u << mark), memory_order_relaxed);
}

void gw_level_reset(struct gw_level *l, int mark)
{
    assert(mark >= 0 && mark < GW_LEVEL_MARKS);
    atomic_store_explicit(&l->mark[mark], atomic_load_explicit(&l->now, memory_order_relaxed), memory_order_relaxed);
}

void gw_event_raise(enum gw_event_kind kind, bool is_free, int64_t a, int64_t b, int64_t c, int64_t d)
{
    struct gw_event e = {kind, is_free, gw_now_ns(), {a, b, c, d}};
    gw_upcalls.event(&e);
}
