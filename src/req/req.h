/* req.h -- requests: life, completion, wait and test in all forms, and the progress loop.
 *
 * A request is a block of GW_REQ_BYTES from its lane's pool; the room that starts the operation puts its own struct there, whose first
 * member is struct gw_req.
 *
 *   NEW --start--> ACTIVE --req_complete--> DONE --wait/test--> (freed to the pool | INACTIVE if persistent)
 *
 * Sends that complete while they are posted allocate nothing: they return &gw_req_sent.
 * LOCK  Fields are written under the lane's lock; `done` is read without it (acquire).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_REQ_REQ_H
#define GW_REQ_REQ_H

#include "base/base.h"
#include "base/list.h"
#include "peer/peer.h"

#define GW_REQ_BYTES 320

/* FILE: collective access to a file; PSEND, PRECV: partitioned. */
enum req_kind { REQ_SEND, REQ_RECV, REQ_COLL, REQ_GENERAL, REQ_FILE, REQ_PSEND, REQ_PRECV, REQ_USER };
enum req_flag {
    REQ_PERSISTENT = 1, /* survives completion; inactive until started */
    REQ_ACTIVE = 2,     /* started and not yet waited for */
    REQ_FREED = 4,      /* the user has freed the handle: recycled at completion */
    REQ_CANCELLED = 8,
    REQ_STATIC = 16,   /* gw_req_sent and the like: never recycled */
    REQ_FINALIZE = 32, /* the wait or test that retires it must call `final` once (generalized, collective) */
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
    struct gw_done *notify; /* completion callback: called once by req_complete(), lane's lock held; may be NULL */
    const void *errctx;     /* the communicator whose error handler gets `err`; opaque here */
    struct gw_list link;    /* pool, or a list of its owner */
};

/* First members of persistent requests of the rooms above p2p/ (REQ_COLL); p2p/ calls these for MPI_Start and MPI_Request_free. */
struct req_prepared {
    struct gw_req req;
    struct gw_done start;   /* starts the inactive request; no lock held; sets `rc` */
    struct gw_done release; /* releases its references, lane's lock held; then the request is recycled */
    int rc;                 /* result of `start` */
};

GW_EXTERN struct gw_req gw_req_sent;     /* a completed send */
GW_EXTERN struct gw_req gw_req_procnull; /* a completed receive from PROC_NULL */

void req_init(void);
void req_finalize(void);

/* The same as req_new() without growing the pool: NULL if it is empty.  Fields not set here have their values in the pool already. */
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
/* These take the lane's lock as held.  req_new: registered, refs 1, flags ACTIVE, done 0; NULL: out of memory (gw_fail set). */
struct gw_req *req_new(struct gw_lane *lane, enum req_kind kind);
void req_recycle(struct gw_req *r);
/* Completes the request; the caller has set r->status and r->err.  Recycles it if REQ_FREED. */
void req_complete(struct gw_req *r);
/* Null, or persistent and not started. */
static inline bool req_is_inactive(const struct gw_req *r)
{
    return !r || (r->flags & (REQ_PERSISTENT | REQ_ACTIVE)) == REQ_PERSISTENT;
}
static inline bool req_is_done(const struct gw_req *r) { return atomic_load_explicit(&r->done, memory_order_acquire) != 0; }

/* ---- progress -------------------------------------------------------------------------------------------
 * A hook is a callback of each progress round, with its lane's lock held (non-blocking collectives, queued sends). */
struct req_hook {
    struct gw_list link;
    struct gw_done *poll;
};
void req_hook_add(struct gw_lane *lane, struct req_hook *h);
void req_hook_del(struct gw_lane *lane, struct req_hook *h);
void req_hook_count(struct gw_lane *lane, int n); /* called by a hook: adds n events to the round, so that waits do not sleep */
/* Deferred work: what follows from a completion but must not run under the lane's lock (users' functions, further messages).  Runs once,
 * in the thread whose progress round releases the lock next; may be added again from then on. */
struct req_work {
    struct gw_list link;
    struct gw_done run;
    bool by_service; /* it calls no function of the user: the service (below) may run it, too */
};
void req_work_add(struct gw_lane *lane, struct req_work *w); /* with the lane's lock held */
/* One round on one lane, lock held by the caller, without the deferred work that it adds.  Returns the number of events. */
int req_progress_locked(struct gw_lane *lane);
/* One round on all lanes, with their deferred work.  Takes the locks; skips a lane that another thread progresses. */
int req_progress(void);
/* req_progress() for calls that never block, such as MPI_Test: called repeatedly without an event, it yields the core to other ranks if
 * ranks share cores. */
void req_look(void);
/* The progress thread, which makes progress while the program computes.  No effect unless gw_set.progress_thread; gw_threads is true then. */
int req_thread_start(void);
void req_thread_stop(void);
/* The service: a thread that answers ranks of other nodes while this one computes.  Who offers them memory (a window; a symmetric heap) holds
 * it, and drops it when nobody can ask any more; it runs from the first hold to the last drop, unless GODWIT_RMA_THREAD is off or a progress
 * thread runs.  It makes progress and runs deferred work with by_service, so no function of the user ever runs there, and the thread level of
 * the program stays what it is.  It sleeps in the kernel until something comes, and rests while a thread of the program waits in MPI, which
 * serves all the same; after the program has left MPI it takes at most some 1 ms until it serves.
 * From the first hold on locks are real (gw_threads) until MPI ends; fast paths (gw_slow_path) are closed until the last drop.  So: in a call of
 * MPI, with no lock held, and with no other thread in MPI unless gw_threads is true already.  A thread that cannot be started is warned of once,
 * and the rank serves when it calls MPI. */
void req_service_hold(void);
void req_service_drop(void);
/* Blocks until r is done, making progress (spin, yield, sleep).  No lock held. */
void req_block(struct gw_req *r);
/* Blocks until pred(arg) is true, for barriers, probes and leaves.  No lock held; pred is called without a lock. */
void req_block_until(struct gw_lane *lane, bool (*pred)(void *), void *arg);

/* Upcalls to the rooms above; requests do not know their peers.  Set by p2p at its init; NULL before. */
struct req_upcalls {
    /* A wait for these requests (is_any: for one of them) has become long: reports to the launcher what it waits for (node_report_begin()).  No
     * lock held. */
    void (*tell)(struct gw_req **reqs, int n, bool is_any);
    /* A number above 0 that grows with each receive that is posted on a lane; 0: of a receive of one source. */
    uint64_t (*posted)(const struct gw_req *recv);
};
extern struct req_upcalls req_upcalls;
/* The same as req_block_until(); about->fn (about may be NULL) reports what is waited for when the wait becomes long. */
void req_block_about(struct gw_lane *lane, bool (*pred)(void *), void *arg, struct gw_done *about);

/* ---- MPI 4.1 sections 3.7.3 to 3.7.6: implementations of the entry points ----------------------------------
 * Requests may be NULL (MPI_REQUEST_NULL); the slot of a retired request is set to NULL.  status and statuses may be NULL.
 * Return GW_OK; the error code of the operation (single forms); or GW_EINSTATUS, with statuses[i].error set to *MPI error classes*
 * (SUCCESS, the error, or PENDING; multiple forms).  The error is raised on the communicator that req_error_context_take() returns. */
int req_wait(struct gw_req **r, struct gw_status *status);
int req_test(struct gw_req **r, int *flag_out, struct gw_status *status);
int req_waitall(int n, struct gw_req **r, struct gw_status *statuses);
/* The same in two halves, for callers whose statuses have another layout.  req_waitall_begin() waits for all; true: what they answer is final, so
 * that the caller reads r[i]->status of those that are not inactive, and retires all by req_waitall_end().  False: one failed, or has a function
 * to call; nothing is retired, and req_waitall() goes on. */
bool req_waitall_begin(int n, struct gw_req **r);
void req_waitall_end(int n, struct gw_req **r);
int req_testall(int n, struct gw_req **r, int *flag_out, struct gw_status *statuses);
/* All of these look from the lowest index on.  Others do not starve: every so many calls make progress, which serves
 * all requests, also when something is complete at once.  If what
 * MPI_Waitany finds is a receive of any source, it takes the one of those that are complete which was posted first: messages of one source leave
 * in their order, on which programs rely that count last messages. */
int req_waitany(int n, struct gw_req **r, int *index_out, struct gw_status *status);
int req_testany(int n, struct gw_req **r, int *index_out, int *flag_out, struct gw_status *status);
int req_waitsome(int n, struct gw_req **r, int *outcount_out, int *indices_out, struct gw_status *statuses);
int req_testsome(int n, struct gw_req **r, int *outcount_out, int *indices_out, struct gw_status *statuses);
int req_get_status(struct gw_req *r, int *flag_out, struct gw_status *status);
int req_get_status_any(int n, struct gw_req **r, int *index_out, int *flag_out, struct gw_status *status);
int req_get_status_all(int n, struct gw_req **r, int *flag_out, struct gw_status *statuses);
int req_get_status_some(int n, struct gw_req **r, int *outcount_out, int *indices_out, struct gw_status *statuses);
/* Generalized requests (MPI 4.1 section 13.2), kind REQ_USER.  No lock is held while the user's functions run; their errors are returned
 * as GW_ECALLBACK.  The facade, which knows MPI_Status, calls them: it sets req_call_user at its init. */
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
void req_user_tag(struct gw_req *r, uint8_t abi); /* the ABI by which its functions were passed */
const void *req_error_context_take(void);         /* errctx of the calling thread's last failing wait/test, once; NULL if none */

#endif
