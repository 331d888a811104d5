/* rma.h -- one-sided communication (MPI 4.1 chapter 12): windows, put, get, accumulate, epochs; targets of the entry points.
 *
 * On one machine every operation is over, at the origin and at the target, when its call returns: the origin copies.  How it
 * reaches the target's memory is chosen per window and target (reach.c):
 *     near     the memory is mapped here: our own, what MPI_Win_allocate and MPI_Win_allocate_shared made, and that of
 *              MPI_Alloc_mem
 *     mail     small accesses while the target waits in MPI: it does them (mail.c); else
 *     stream   long accesses while the target waits in MPI: both copy, through memory that both map (stream.c); else
 *     CMA      the kernel copies from and to the other process; if that one forbids it later (PR_SET_DUMPABLE), mail for all
 *     wire     the target is on another node: the network card copies; one run at the target
 *     served   the rest: messages, which the target's progress serves (ask.c, serve.c)
 * So flushes are fences of the processor, but for the last two ways: there puts, gets and accumulates go on after their call
 * (late.c), many at once, until a flush or the end of the epoch.  Only a served window needs a target that calls MPI now and then, or has a
 * progress thread (GODWIT_PROGRESS_THREAD).
 *
 * Accumulates are done under one lock per target in the shared memory of its node (lock.c), by an origin there or by the target for
 * others, those of one element too: they are atomic to each other whatever their types and paths.  A fence is a barrier,
 * post/start/complete/wait are empty messages, and the locks of passive targets are words beside it; who is on another node has the
 * target take them.
 *
 * All calls are made with no lock held.  One thread at a time may open or close epochs of a window; others may access it.
 * Functions return GW_OK or a negative code (gw_fail text set); outputs are written on success only.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_RMA_RMA_H
#define GW_RMA_RMA_H

#include "comm/comm.h"
#include "op/op.h"

enum { RMA_HINTS = 7, RMA_HINT_MAX = 64 };

/* What the fast path (rma_fast.h) needs of a target's part. */
struct rma_near {
    char *base;
    uint64_t size; /* 0: it is not mapped here */
    int64_t disp_unit;
    struct rma_words *words; /* NULL: it is on another machine */
};

struct rma_win {
    struct gw_obj obj;
    struct gw_comm *comm; /* private to the window: a barrier, and messages that nobody else sees */
    struct gw_errhandler *errhandler;
    struct gw_attrs attrs;
    char name[GW_MAX_OBJECT_NAME];
    char hints[RMA_HINTS][RMA_HINT_MAX]; /* values, in the order of the table in hints.c */
    void *base;                          /* of this rank's part; attributes point to these five */
    int64_t size;
    int disp_unit, flavor, model;
    struct gw_comm *here;       /* its ranks on this machine; most often `comm` itself */
    int *leaders, n_leaders;    /* one rank on each other machine */
    struct rma_target *targets; /* [comm->size] */
    struct lane_wire *net;      /* by which other nodes have keys for it; NULL: by none */
    struct rma_shared *shared;  /* mapped by all ranks here */
    struct rma_epoch *epoch;
    struct rma_mapping {
        void *base;
        uint64_t bytes, heap;
        int64_t align;         /* what the user asks for */
        bool is_made;          /* by this rank, which made the file */
    } words, mapping;          /* of `shared`, and of allocated windows: mapped, or in the shared heap */
    struct rma_server *server; /* NULL: every rank reaches every other by itself */
    struct rma_late *late;     /* NULL as that: what goes on after its call */
    struct rma_mailer *mailer; /* NULL: every rank's memory is mapped here */
    _Atomic uint32_t reply_tag;
    _Atomic uint64_t n_ops; /* that this rank began */
    /* What the fast path looks at, by the epoch that is open (epoch.c). */
    _Atomic uint32_t n_open;         /* ranks below may all be accessed, */
    _Atomic uint32_t n_flushed;      /* .. be flushed */
    _Atomic(const uint8_t *) listed; /* not NULL: [comm->size] not 0 where a rank may be accessed */
    struct rma_near near[];          /* [comm->size] */
};

/* ---- windows (win.c, hints.c) ----  Collective over c.  info may be NULL. */
/* Memory that windows made over it reach by loads and stores (MPI 4.1 section 10.2).  info may be NULL. */
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

/* ---- operations (access.c) ----  Types are committed.  Origin arguments of MPI_NO_OP are not looked at. */
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
/* The same behind requests, which are complete: at the origin, that is; allowed in passive epochs only. */
int rma_rput(const void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount, struct gw_type *tt,
             struct rma_win *w, struct gw_req **req_out);
int rma_rget(void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount, struct gw_type *tt,
             struct rma_win *w, struct gw_req **req_out);
int rma_raccumulate(const void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount,
                    struct gw_type *tt, struct gw_op *op, struct rma_win *w, struct gw_req **req_out);
int rma_rget_accumulate(const void *origin, int64_t ocount, struct gw_type *ot, void *result, int64_t rcount, struct gw_type *rt,
                        int target, int64_t disp, int64_t tcount, struct gw_type *tt, struct gw_op *op, struct rma_win *w,
                        struct gw_req **req_out);

/* For check/: what this rank has begun is over at this end, and what was got is there.  May wait. */
int rma_settle(struct rma_win *w);
int64_t rma_disp_unit(const struct rma_win *w, int target);

/* ---- epochs (epoch.c) ---- */
int rma_win_fence(int assertions, struct rma_win *w);
int rma_win_start(struct gw_group *g, int assertions, struct rma_win *w);
int rma_win_complete(struct rma_win *w);
int rma_win_post(struct gw_group *g, int assertions, struct rma_win *w);
int rma_win_wait(struct rma_win *w);
int rma_win_test(struct rma_win *w, int *flag_out);
/* Locks work also where the hint no_locks promised that there would be none: rma_no_locks(). */
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
