/* rma_state.c -- checks the invariants of a window's epochs (epoch.c).  For tests and asserts, and to be called from a debugger.
 *
 *   NONE, FENCE, ALL   `held` is empty
 *   START              `held` has the group of MPI_Win_start, which may be empty
 *   LOCK               `held` has each rank whose window is locked, at least one
 *   posted             `origins` has the receives of the messages of MPI_Win_complete
 *
 * The words that the inlined accesses read (n_open, n_flushed, listed) allow nothing that the epoch does not allow.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma/rma_private.h"

const char *rma_epoch_broken(const struct rma_win *w)
{
    const struct rma_epoch *e = w->epoch;
    uint32_t all = (uint32_t)w->comm->size, n_open = atomic_load_explicit(&w->n_open, memory_order_relaxed);
    uint32_t n_flushed = atomic_load_explicit(&w->n_flushed, memory_order_relaxed);
    const uint8_t *listed = atomic_load_explicit(&w->listed, memory_order_relaxed);
    bool is_used = atomic_load_explicit(&e->accessed, memory_order_relaxed);
    bool is_listed = e->access == START || e->access == LOCK;
    int n = 0;
    for (int i = 0; i < w->comm->size; i++) n += e->held[i] != 0;
    if (n != e->n_held) return "the number of targets";
    if (n && !is_listed) return "targets are listed in an epoch of MPI_Win_start or MPI_Win_lock only";
    if (!n && e->access == LOCK) return "an epoch of MPI_Win_lock has a target";
    if (is_used && e->access != FENCE) return "accesses are noted in an epoch of MPI_Win_fence only";
    if (n_open && n_open != all) return "all ranks may be accessed, or those of a list";
    if (n_open && e->access != ALL && !is_used) return "accesses are inlined in an epoch for all ranks that is in use";
    if (n_flushed && (e->access != ALL || w->deferred)) return "flushes are inlined where nothing is under way";
    if (listed && (listed != e->held || !is_listed)) return "the list of targets is that of the epoch";
    return e->is_posted && !e->origins ? "an exposure epoch has requests" : NULL;
}
