/* ofi_regs.h -- memory registration cache.
 *
 * Registrations of monitored memory (ofi_watch.h) are cached, at most gw_set.reg_cache_entries of them and gw_set.reg_cache_bytes per lane, if the
 * provider needs registrations; all others are made for one use.  Eviction is LRU, never of a registration in use.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_OFI_OFI_REGS_H
#define GW_WIRE_OFI_OFI_REGS_H

#include "base/base.h"
#include "base/list.h"

struct wire;
struct fid_mr;

struct ofi_reg {
    struct fid_mr *mr;
    uintptr_t lo, hi;           /* registered bytes */
    uintptr_t page_lo, page_hi; /* the pages that they lie on */
    uint64_t access;            /* FI_READ ... */
    int number;                 /* number by which peers refer to it; 0: no remote access */
    int users;
    bool is_kept;         /* it is in the cache */
    bool is_gone;         /* invalidated: its pages were replaced; under the monitor's lock */
    struct ofi_reg *next; /* in the list of those to be closed */
};

/* The cache of a lane.  [K1] kept[0 .. n) and their is_gone are protected by the monitor's lock, the rest by the lane's. */
struct ofi_regs {
    struct gw_list link;   /* list of the caches of all lanes, under the monitor's lock */
    struct ofi_reg **kept; /* [most], in LRU order, the last used first; NULL: nothing is cached */
    int n, most;
    size_t bytes;
    atomic_int n_gone; /* invalidated entries that are not closed yet */
};

void ofi_regs_open(struct wire *w);  /* once the provider is known */
void ofi_regs_close(struct wire *w); /* closes all cached registrations; before the endpoint is closed */

/* Returns a registration that covers these bytes and this access (with FI_REMOTE_* it has a number), valid until ofi_regs_give(). */
int ofi_regs_take(struct wire *w, const void *p, size_t bytes, uint64_t access, struct ofi_reg **reg_out);
void ofi_regs_give(struct wire *w, struct ofi_reg *r);
/* Closes invalidated registrations without users.  To be called if n_gone > 0. */
void ofi_regs_sweep(struct wire *w) GW_COLD;

#endif
