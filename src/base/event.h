/* event.h -- events for tools (MPI_T).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_EVENT_H
#define GW_BASE_EVENT_H

#include <stdatomic.h>

#include "base/base.h"

/* Raised on slow paths only, and only while a tool listens.  Meaning of v[]: see the table in tool/event.c. */
enum gw_event_kind {
    GW_EVENT_UNEXPECTED,
    GW_EVENT_RENDEZVOUS,
    GW_EVENT_COLLECTIVE,
    GW_EVENT_SLEPT,
    GW_EVENT_EPOCH,
    GW_EVENT_FILE,
    GW_EVENTS
};
struct gw_event {
    enum gw_event_kind kind;
    bool is_free; /* no lock is held: the listener may call MPI */
    uint64_t time_ns;
    int64_t v[4];
};
GW_EXTERN _Atomic uint32_t gw_event_mask; /* bit mask of the kinds that tools listen to */
struct gw_upcalls {
    void (*event)(const struct gw_event *e); /* set by tool before the mask is */
};
extern struct gw_upcalls gw_upcalls;
/* Several threads of the program may be in MPI at once.  (gw_threads may be on for a thread of the library alone.)  Written with gw_threads. */
extern bool gw_program_threads;
static inline bool gw_event_wanted(enum gw_event_kind kind)
{
    return unlikely(atomic_load_explicit(&gw_event_mask, memory_order_acquire) & 1u << kind);
}
void gw_event_raise(enum gw_event_kind kind, bool is_free, int64_t a, int64_t b, int64_t c, int64_t d) GW_COLD;

#endif
