/* req.h -- requests: life, completion, wait and test in all forms, and the progress loop.
 *
 * A request comes from its lane's pool as GW_REQ_BYTES of memory that begins with struct gw_req; the room that
 * starts the operation embeds struct gw_req first in its own struct.
 *
 *   NEW --start--> ACTIVE --req_complete--> DONE --wait/test--> (freed to the pool | INACTIVE if persistent)
 *
 * Sends that complete while they are posted allocate nothing: they return &gw_req_sent.
 * Locking: fields are written under the lane's lock; `done` is read without it (acquire).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_REQ_REQ_H
#define GW_REQ_REQ_H

#include "base/base.h"
#include "base/list.h"
#include "peer/peer.h"

#define GW_REQ_BYTES 320

enum req_kind { REQ_SEND, REQ_RECV, REQ_COLL, REQ_GENERAL, REQ_PSEND, REQ_PRECV, REQ_USER }; /* PSEND, PRECV: partitioned */
enum req_flag {
    REQ_PERSISTENT = 1, /* survives completion; inactive until started */
    REQ_ACTIVE = 2,     /* started and not yet waited for */
    REQ_FREED = 4,      /* the user freed the handle: recycle at completion */
    REQ_CANCELLED = 8,
    REQ_STATIC = 16,   /* gw_req_sent and the like: never recycled */
    REQ_FINALIZE = 32, /* `final` must be called once by the wait/test that retires it (generalized, collective) */
};

struct gw_req {
    struct gw_obj obj;
    _Atomic uint32_t done; /* 0 pending, 1 complete [release in req_complete, acquire in req_is_done] */
    uint8_t kind;
    uint8_t lane;
    uint16_t flags;
    int32_t err; /* GW_OK or the negative code of the operation */
    struct gw_status status;
    struct gw_done *final;  /* with REQ_FINALIZE: fn(final, err) before the request is retired */
    struct gw_done *notify; /* called once inside req_complete (lane lock held), may be NULL: plan/ waits so */
    const void *errctx;     /* the communicator whose error handler gets `err`; opaque here */
    struct gw_list link;    /* pool, or a list of its owner */
};

/* Persistent requests of the rooms above p2p/ (REQ_COLL) begin so: MPI_Start and MPI_Request_free reach them through p2p/. */
struct req_prepared {
    struct gw_req req;
    struct gw_done start;   /* of an inactive one, no lock held; what it answers stands in `rc` */
    struct gw_done release; /* gives up what it holds, lane lock held; the request is recycled then */
    int rc;
};

GW_EXTERN struct gw_req gw_req_sent;     /* a completed send */
GW_EXTERN struct gw_req gw_req_procnull; /* a completed receive from PROC_NULL */

void req_init(void);
void req_finalize(void);

/* The next request of the pool, as req_new gives it; NULL: the pool must grow.  What is not set here, the pool keeps set. */
static inline struct gw_req *req_take(struct gw_lane *lane, enum req_kind kind)
{
    struct gw_list *first = lane->free_reqs;
    if (unlikely(!first)) return NULL;
    lane->free_reqs = first->next;
    struct gw_req *r = container_of(first, struct gw_req, link);
    r->kind = (uint8_t)kind;
    r->flags = REQ_ACTIVE;
    atomic_store_explicit(&r->done, 0, memory_order_relaxed);
    return r;
}
/* With the lane's lock held.  req_new: registered, refs 1, flags ACTIVE, done 0; NULL: out of memory (gw_fail set). */
struct gw_req *req_new(struct gw_lane *lane, enum req_kind kind);
void req_recycle(struct gw_req *r);
/* The operation is over.  r->status and r->err are set.  Recycles if REQ_FREED. */
void req_complete(struct gw_req *r);
static inline bool req_is_done(const struct gw_req *r) { return atomic_load_explicit(&r->done, memory_order_acquire) != 0; }

/* ---- progress -------------------------------------------------------------------------------------------
 * A hook is called once a progress round with its lane's lock held (non-blocking collectives, queued sends). */
struct req_hook {
    struct gw_list link;
    struct gw_done *poll;
};
void req_hook_add(struct gw_lane *lane, struct req_hook *h);
void req_hook_del(struct gw_lane *lane, struct req_hook *h);
void req_hook_count(struct gw_lane *lane, int n); /* a hook says how many things it made happen: waiting goes on awake */
/* Work that a completion makes possible and that must not run under the lane's lock (users' functions, more messages).  It runs
 * once, in whichever thread's round of progress lets the lock go next; then it may be added again. */
struct req_work {
    struct gw_list link;
    struct gw_done run;
};
void req_work_add(struct gw_lane *lane, struct req_work *w); /* with the lane's lock held */
/* One round on one lane, lock held by the caller, without the work that it adds; returns the number of things that happened. */
int req_progress_locked(struct gw_lane *lane);
/* One round on all lanes, and their work; takes the locks (skips a lane that another thread is progressing). */
int req_progress(void);
/* req_progress() for a call that returns whatever happened, as MPI_Test does: a program that calls it again and again without news
 * gives its core to the other ranks where they share it. */
void req_look(void);
/* The thread that makes progress while the program computes; does nothing unless gw_set.progress_thread.  gw_threads is true then. */
int req_thread_start(void);
void req_thread_stop(void);
/* Blocks until *r is done, progressing (spin, yield, sleep).  No lock held. */
void req_block(struct gw_req *r);
/* Blocks until pred(arg); for barriers, probes and leaves.  No lock held; pred is called without a lock. */
void req_block_until(struct gw_lane *lane, bool (*pred)(void *), void *arg);

/* What this room says to the rooms above.  Requests do not know their peers: p2p sets this at its init; NULL before. */
struct req_upcalls {
    /* A wait for these has become long: tells the launcher what it is for (node_tell()).  No lock held. */
    void (*tell)(struct gw_req **reqs, int n, bool is_any);
};
extern struct req_upcalls req_upcalls;
/* As req_block_until; `about->fn` (may be NULL) tells what is waited for. */
void req_block_about(struct gw_lane *lane, bool (*pred)(void *), void *arg, struct gw_done *about);

/* ---- MPI 4.1 sections 3.7.3 to 3.7.6: targets of the entry points ------------------------------------------
 * Requests may be NULL (MPI_REQUEST_NULL).  A slot whose request was retired is set to NULL.  status(es) may be NULL.
 * Return GW_OK, the operation's own error code (single forms), or GW_EINSTATUS with status[i].error set to *MPI error
 * classes* (SUCCESS, the error, or PENDING) in the multi forms.  *err_req_out-less: the facade raises on
 * the communicator req_error_context() names. */
int req_wait(struct gw_req **r, struct gw_status *status);
int req_test(struct gw_req **r, int *flag_out, struct gw_status *status);
int req_waitall(int n, struct gw_req **r, struct gw_status *statuses);
int req_testall(int n, struct gw_req **r, int *flag_out, struct gw_status *statuses);
int req_waitany(int n, struct gw_req **r, int *index_out, struct gw_status *status);
int req_testany(int n, struct gw_req **r, int *index_out, int *flag_out, struct gw_status *status);
int req_waitsome(int n, struct gw_req **r, int *outcount_out, int *indices_out, struct gw_status *statuses);
int req_testsome(int n, struct gw_req **r, int *outcount_out, int *indices_out, struct gw_status *statuses);
int req_get_status(struct gw_req *r, int *flag_out, struct gw_status *status);
int req_get_status_any(int n, struct gw_req **r, int *index_out, int *flag_out, struct gw_status *status);
int req_get_status_all(int n, struct gw_req **r, int *flag_out, struct gw_status *statuses);
int req_get_status_some(int n, struct gw_req **r, int *outcount_out, int *indices_out, struct gw_status *statuses);
/* Generalized requests (MPI 4.1 section 13.2), kind REQ_USER.  No lock is held while the user's functions run.  What they fail
 * with comes back as GW_ECALLBACK.  The door that makes statuses calls them: it fills in req_call_user at init. */
struct req_user_fns {
    struct gw_callback query, free, cancel;
    void *extra_state;
};
struct req_user_calls {
    int (*query)(const struct req_user_fns *f, struct gw_status *status);
    int (*free)(const struct req_user_fns *f);
    int (*cancel)(const struct req_user_fns *f, bool is_complete);
};
extern const struct req_user_calls *req_call_user;
int req_user_start(void (*query)(void), void (*free_)(void), void (*cancel)(void), void *extra_state, struct gw_req **req_out);
int req_user_complete(struct gw_req *r); /* GW_EREQUEST: of another kind, or complete already */
int req_user_cancel(struct gw_req *r);
int req_user_free(struct gw_req **r);             /* MPI_Request_free */
void req_user_tag(struct gw_req *r, uint8_t abi); /* its functions came through that door */
const void *req_error_context(void);              /* errctx of the calling thread's last failing wait/test; NULL if none */

#endif
