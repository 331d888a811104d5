/* rma_private.h -- between the files of rma/.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_RMA_RMA_PRIVATE_H
#define GW_RMA_RMA_PRIVATE_H

#include "node/node.h"
#include "p2p/p2p.h"
#include "rma/rma.h"

/* What this rank knows of another one's part of the window. */
struct rma_target {
    bool is_near;  /* mapped here, at `base` */
    bool has_cma;  /* else: the kernel copies */
    uint64_t base; /* its address, there if it is not near; 0 in dynamic windows */
    int64_t size;
    int64_t disp_unit;
};

/* ---- words that all ranks map (lock.c) ---- */
struct rma_region {
    uint64_t base, bytes;
};
struct rma_words {           /* of one target */
    _Atomic uint32_t busy;   /* an accumulate is under way, or the list of regions changes */
    _Atomic uint32_t locked; /* number of shared locks, or EXCLUSIVE */
    uint64_t regions;        /* offset in the target's node segment of what a dynamic window has attached; under `busy` */
    uint32_t n_regions, room;
} GW_ALIGNED(GW_CACHELINE);
struct rma_shared {
    _Atomic uint64_t everywhere; /* number of MPI_Win_lock_all << 32 | number of exclusive locks, on whatever targets */
    _Atomic uint32_t waiters;    /* somebody may sleep until a word changes */
    struct rma_words of[];       /* [size] */
} GW_ALIGNED(GW_CACHELINE);

void busy_enter(struct rma_win *w, int target);
void busy_leave(struct rma_win *w, int target);
void lock_take(struct rma_win *w, int target, bool exclusive);
void lock_give(struct rma_win *w, int target, bool exclusive);
void lock_take_all(struct rma_win *w);
void lock_give_all(struct rma_win *w);

/* ---- reaching memory (reach.c) ---- */
int reach_open(struct rma_win *w);  /* collective: who cannot reach whom, and a server if anybody cannot */
int reach_close(struct rma_win *w); /* collective; after it nobody accesses the window */
/* Moves `bytes` between `packed`, here, and the memory of (count, t) at address `at` of a target that is not near. */
int reach_move(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t count, struct gw_type *t, int64_t bytes,
               char *packed);

/* ---- memory that every rank of the window maps (memory.c) ----
 * Collective: `total` bytes of zeros from a multiple of m->align, if that is not 0 and the same on all ranks; this rank's part, which it touches first, is [from, from + own). */
int memory_make(struct rma_win *w, struct rma_mapping *m, uint64_t total, uint64_t from, uint64_t own, char **base_out);
void memory_drop(struct rma_win *w, struct rma_mapping *m);

/* ---- epochs (epoch.c) ---- */
struct rma_epoch;
int epoch_open(struct rma_win *w);
void epoch_close(struct rma_win *w);
int epoch_none(struct rma_win *w);                                     /* GW_OK: none is open but perhaps a fence's */
int epoch_allows(struct rma_win *w, int target, bool must_be_passive); /* GW_OK: this rank may access the target now */

void hints_default(struct rma_win *w);
bool hint_is_true(struct rma_win *w, const char *key);
/* The first error of any rank, the same on all; `rc` is mine.  Collective. */
int agree(struct gw_comm *c, int rc);

enum rma_tag { TAG_POST = 1, TAG_COMPLETE, TAG_REQUEST, TAG_REPLY }; /* replies: this and the numbers above */

#endif
