/* ofi_regs.h -- registrations of the program's memory, kept for the next time as long as its pages are the same.
 *
 * Kept are those that the kernel tells the end of (ofi_watch.h), at most gw_set.reg_cache_entries of them and of
 * gw_set.reg_cache_bytes in each lane, and only where a registration costs something; all others are made for one use.  The one
 * that nobody has used for longest makes room, never one that is in use.
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
    uintptr_t lo, hi;           /* the bytes that it is for */
    uintptr_t page_lo, page_hi; /* their pages */
    uint64_t access;            /* FI_READ ... */
    int number;                 /* among the regions that others may name; 0: they may not */
    int users;
    bool is_kept;
    bool is_gone;         /* with the watch's lock: its pages are no longer those of the program, nobody finds it */
    struct ofi_reg *next; /* among those to be closed */
};

/* Of a lane.  [K1] kept[0 .. n) and their is_gone change with the watch's lock held, everything else with the lane's. */
struct ofi_regs {
    struct gw_list link;   /* of all lanes, with the watch's lock */
    struct ofi_reg **kept; /* [most], the one used last first; NULL: none are kept */
    int n, most;
    size_t bytes;
    atomic_int n_gone; /* of those kept */
};

void ofi_regs_open(struct wire *w);  /* its provider is known */
void ofi_regs_close(struct wire *w); /* all that are kept; the endpoint is still there */

/* A registration of at least these bytes, for at least this access (with FI_REMOTE_*, it has a number), until ofi_regs_give(). */
int ofi_regs_take(struct wire *w, const void *p, size_t bytes, uint64_t access, struct ofi_reg **reg_out);
void ofi_regs_give(struct wire *w, struct ofi_reg *r);
/* Closes those that nobody can find any more.  To be called where n_gone > 0. */
void ofi_regs_sweep(struct wire *w) GW_COLD;

#endif
