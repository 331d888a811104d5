/* rma.h -- one-sided communication (MPI 4.1 chapter 12): windows, put, get, accumulate, epochs; implementations of the entry points.
 *
 * On one machine every operation is complete, at origin and target, when its call returns.  How the target's memory is accessed depends
 * on window and target (reach.c):
 *     near     load/store: the memory is mapped here (this rank's own, MPI_Win_allocate, MPI_Win_allocate_shared, MPI_Alloc_mem)
 *     mail     small accesses: active messages through a mailbox in shared memory, if the target is inside MPI (mail.c); else CMA
 *     stream   long accesses: origin and target copy through a shared block, if the target is inside MPI (stream.c); else CMA
 *     CMA      the kernel copies (process_vm_readv); if the target forbids it later (PR_SET_DUMPABLE), mail for all accesses
 *     wire     the target is on another node, contiguous there: RDMA by the network card
 *     served   everything else: active messages that the target's progress serves (ask.c, serve.c)
 * So a flush is a memory fence, except for `wire` and `served`: there operations continue after their call, many at once, until a flush
 * or the end of the epoch (deferred completion, deferred.c).  Only `served` needs the target's processor: a thread that sleeps in the kernel
 * starts with the first such window and serves while the target computes (req_service_hold(), GODWIT_RMA_THREAD; doc/adr/0030).
 *
 * Where the network does accumulates (GODWIT_RMA_NETWORK_ATOMICS, atomic.c), those of numbers of 4 and 8 bytes are its own.  All others
 * run under one lock per target in the shared memory of its node (lock.c), those of one element too: executed by an origin on
 * that node, or by the target for origins elsewhere.  So they are atomic whatever their types and paths.  A fence is a barrier;
 * post/start/complete/wait are empty messages; passive-target locks are words in the same shared memory, which the target takes on behalf
 * of origins on other nodes.
 *
 * LOCK     No lock is held by the caller.  One thread at a time may open or close epochs of a window; several may access it.
 * RETURNS  GW_OK or a negative code, after gw_fail(); outputs are written on success only.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_RMA_RMA_H
#define GW_RMA_RMA_H

#include "comm/comm.h"
#include "op/op.h"

enum { RMA_HINTS = 7, RMA_HINT_MAX = 64 };

/* A target's part of the window, as far as the fast path (rma_fast.h) needs it. */
struct rma_near {
    char *base;
    uint64_t size; /* bytes that are mapped here; 0: none */
    int64_t disp_unit;
    struct rma_words *words; /* its locks; NULL: it is on another machine */
};

struct rma_win {
    struct gw_obj obj;
    struct gw_comm *comm; /* private to the window */
    struct gw_errhandler *errhandler;
    struct gw_attrs attrs;
    char name[GW_MAX_OBJECT_NAME];
    char hints[RMA_HINTS][RMA_HINT_MAX]; /* values, in the order of the table in hints.c */
    void *base;                          /* this rank's part; attributes point to these five fields */
    int64_t size;
    int disp_unit, flavor, model;
    int n_leaders, *leaders;    /* one rank on each other machine */
    struct gw_comm *here;       /* the ranks on this machine; most often `comm` itself */
    struct rma_target *targets; /* [comm->size] */
    struct lane_wire *net;      /* the network with which the memory is registered for RDMA; NULL: none */
    struct rma_shared *shared;  /* mapped by all ranks here */
    struct rma_epoch *epoch;
    struct rma_mapping {
        void *base;
        uint64_t bytes, heap;
        int64_t align;             /* requested by the user */
        bool is_made;              /* this rank has created the file */
        bool is_paged;             /* to lie on the pages that the settings ask for (pages.c) */
    } words, mapping;              /* of `shared`; of an allocated window: a mapping, or a block of the shared heap */
    struct rma_server *server;     /* for `served` accesses; NULL: no rank needs them */
    struct rma_atomics *atomics;   /* operations that the network does at targets (atomic.c); NULL: it does none */
    struct rma_deferred *deferred; /* operations with deferred completion; NULL: all operations complete in their call */
    struct rma_mailer *mailer;     /* NULL: the memory of all ranks is mapped here */
    struct rma_mirror {            /* of memory that the CPU may not touch (mirror.c) */
        char *user, *seen, *met;   /* the program's memory; the mirror, NULL: there is none; what both were */
        int64_t bytes;
    } mirror;
    _Atomic uint32_t reply_tag;
    bool has_service;       /* req_service_hold() is this window's */
    bool has_instructions;  /* atomics are instructions of the target's processor, see rma_use_instructions() */
    _Atomic uint64_t n_ops; /* operations that this rank has started */
    /* State of the access epoch, for the fast path (epoch.c). */
    _Atomic uint32_t n_open;         /* all ranks below may be accessed, */
    _Atomic uint32_t n_flushed;      /* .. be flushed by a fence alone */
    _Atomic(const uint8_t *) listed; /* or NULL: [comm->size], not 0 for the ranks that may be accessed */
    struct rma_near near[];          /* [comm->size] */
};
/* gcc computes the index of an aligned field apart, which makes MPI_Put 5 instructions longer. */
_Static_assert((offsetof(struct rma_win, near) + offsetof(struct rma_near, disp_unit)) % sizeof(struct rma_near) != 0, "see above");

/* ---- windows (win.c, hints.c) ----  Collective over c, except rma_alloc_mem() and rma_free_mem().  info may be NULL. */
/* Memory for which windows have load/store access (MPI 4.1 section 10.2). */
uint64_t rma_pages_wanted(
    void); /* size of the pages of MPI_Alloc_mem's memory, as the settings ask; 0: the system's ordinary ones */
int rma_alloc_mem(int64_t size, struct gw_info *info, void **base_out);
int rma_free_mem(void *base);
int rma_win_create(void *base, int64_t size, int64_t disp_unit, struct gw_info *info, struct gw_comm *c, struct rma_win **win_out);
int rma_win_create_dynamic(struct gw_info *info, struct gw_comm *c, struct rma_win **win_out);
int rma_win_allocate(int64_t size, int64_t disp_unit, struct gw_info *info, struct gw_comm *c, void **base_out,
                     struct rma_win **win_out);
int rma_win_allocate_shared(int64_t size, int64_t disp_unit, struct gw_info *info, struct gw_comm *c, void **base_out,
                            struct rma_win **win_out);
int rma_win_free(struct rma_win **win);
int rma_win_attach(struct rma_win *w, void *base, int64_t size);
int rma_win_detach(struct rma_win *w, const void *base);
int rma_win_shared_query(struct rma_win *w, int rank, int64_t *size_out, int64_t *disp_unit_out, void **base_out);
int rma_win_get_group(struct rma_win *w, struct gw_group **group_out);
int rma_win_set_info(struct rma_win *w, struct gw_info *info);
int rma_win_get_info(struct rma_win *w, struct gw_info **info_out);
int rma_win_set_name(struct rma_win *w, const char *name);
int rma_win_get_name(struct rma_win *w, char *name_out, int *len_out); /* NULL: the name of MPI_WIN_NULL */
int rma_win_set_errhandler(struct rma_win *w, struct gw_errhandler *eh);
int rma_win_get_errhandler(struct rma_win *w, struct gw_errhandler **eh_out);
int rma_win_set_attr(struct rma_win *w, int keyval, void *value);
int rma_win_get_attr(struct rma_win *w, int keyval, void **value_out, int *flag_out);
int rma_win_delete_attr(struct rma_win *w, int keyval);

/* ---- operations (access.c) ----  Types are committed.  disp in units of the target's disp_unit.  MPI_NO_OP ignores origin arguments. */
int rma_put(const void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount, struct gw_type *tt,
            struct rma_win *w);
int rma_get(void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount, struct gw_type *tt,
            struct rma_win *w);
int rma_accumulate(const void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount,
                   struct gw_type *tt, struct gw_op *op, struct rma_win *w);
int rma_get_accumulate(const void *origin, int64_t ocount, struct gw_type *ot, void *result, int64_t rcount, struct gw_type *rt,
                       int target, int64_t disp, int64_t tcount, struct gw_type *tt, struct gw_op *op, struct rma_win *w);
int rma_fetch_and_op(const void *origin, void *result, struct gw_type *t, int target, int64_t disp, struct gw_op *op,
                     struct rma_win *w);
int rma_compare_and_swap(const void *origin, const void *compare, void *result, struct gw_type *t, int target, int64_t disp,
                         struct rma_win *w);
/* The same with requests for completion at the origin; in passive-target epochs only. */
int rma_rput(const void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount, struct gw_type *tt,
             struct rma_win *w, struct gw_req **req_out);
int rma_rget(void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount, struct gw_type *tt,
             struct rma_win *w, struct gw_req **req_out);
int rma_raccumulate(const void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount,
                    struct gw_type *tt, struct gw_op *op, struct rma_win *w, struct gw_req **req_out);
int rma_rget_accumulate(const void *origin, int64_t ocount, struct gw_type *ot, void *result, int64_t rcount, struct gw_type *rt,
                        int target, int64_t disp, int64_t tcount, struct gw_type *tt, struct gw_op *op, struct rma_win *w,
                        struct gw_req **req_out);

/* Sends what is batched, and waits until all operations of this rank are complete at the origin (the data of gets have arrived). */
int rma_settle(struct rma_win *w);
/* A window of memory that the CPU may not touch: others access a copy of it in host memory (mirror.c).  What the program has changed
 * since the last time goes there, what others have changed goes to the program's memory.  Nothing for other windows. */
int rma_mirror_meet(struct rma_win *w);
/* Accumulates, fetches and swaps of one aligned element of 4 or 8 bytes are from now on done by an atomic instruction of a processor of the
 * target, like those of its node's ranks that see the memory without the window; an own one is the caller's.  Collective; before the
 * first of them. */
int rma_use_instructions(struct rma_win *w);
uint64_t rma_served(struct rma_win *w); /* accesses of other ranks that have come here as messages */
int64_t rma_disp_unit(const struct rma_win *w, int target);

/* ---- operations that a counter counts, not an epoch or an MPI request (counter.c) ----
 * They go on after their call, whatever else this process does; a counter's wait, fence and flush do not wait for those of other counters.
 * In windows of rma_use_instructions(), for targets that are not near; the window is open to this rank (lock_all). */
struct rma_counter {
    _Atomic uint32_t n;          /* messages and copies under way, and calls that are about to start some */
    _Atomic int err;             /* the first error since the last wait */
    struct rma_started *request; /* a request that completes with the last of them; NULL: the owner calls rma_counter_wait() */
    _Atomic uint64_t touched[4]; /* bits target % 256: targets that may have changes which they have not confirmed */
};
struct rma_there { /* `count` items of `type` at displacement `disp` of that rank's part of the window */
    struct rma_win *w;
    int rank;
    int64_t disp, count;
    struct gw_type *type;
};
/* Data at this end are contiguous, as many bytes as at the other; they and old values are the counter's until its wait or flush. */
int rma_counted_put(const void *origin, const struct rma_there *there, struct rma_counter *c);
int rma_counted_get(void *origin, const struct rma_there *there, struct rma_counter *c);
int rma_counted_update(const void *operand, void *old, const struct rma_there *there, struct gw_op *op,
                       struct rma_counter *c); /* old: may be NULL */
int rma_counted_swap(const void *new, const void *compare, void *old, const struct rma_there *there, struct rma_counter *c);
int rma_go(struct rma_win *w);       /* what is batched leaves */
void rma_go_soon(struct rma_win *w); /* what is batched leaves with the next round of progress at the latest */
void rma_counter_join(struct rma_counter *c,
                      const struct rma_counter *done); /* c has its flush and fence do those of `done`, too */
/* What is batched has left; complete at this end.  The first error of c since the last wait. */
int rma_counter_wait(struct rma_win *w, struct rma_counter *c);
/* What c counted is complete at the targets, too. */
int rma_counter_flush(struct rma_win *w, struct rma_counter *c);
int rma_counter_flush_target(struct rma_win *w, struct rma_counter *c, int target);
/* What this rank starts later at the targets is done after what c has counted there.  target: one, or -1 for all.  *is_confirmed_out: it is
 * complete there, so that there is an order to accesses of other windows, too. */
int rma_counter_fence(struct rma_win *w, struct rma_counter *c, int target, bool *is_confirmed_out);

/* ---- epochs (epoch.c) ---- */
int rma_win_fence(int assertions, struct rma_win *w);
int rma_win_start(struct gw_group *g, int assertions, struct rma_win *w);
int rma_win_complete(struct rma_win *w);
int rma_win_post(struct gw_group *g, int assertions, struct rma_win *w);
int rma_win_wait(struct rma_win *w);
int rma_win_test(struct rma_win *w, int *flag_out);
/* Locks work even if the user has asserted no_locks; rma_no_locks() says whether. */
int rma_win_lock(int type, int rank, int assertions, struct rma_win *w);
int rma_win_unlock(int rank, struct rma_win *w);
int rma_win_lock_all(int assertions, struct rma_win *w);
bool rma_no_locks(struct rma_win *w);
int rma_win_unlock_all(struct rma_win *w);
int rma_win_flush(int rank, struct rma_win *w);
int rma_win_flush_all(struct rma_win *w);
int rma_win_flush_local(int rank, struct rma_win *w);
int rma_win_flush_local_all(struct rma_win *w);
int rma_win_sync(struct rma_win *w);

#endif
