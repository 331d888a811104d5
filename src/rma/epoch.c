/* epoch.c -- epochs of a window: fence, post/start/complete/wait, lock, lock_all.
 *
 *   access      NONE --fence--> FENCE --fence--> FENCE | NONE (NOSUCCEED)        NONE --start--> START --complete--> NONE
 *               NONE --lock--> LOCK --unlock of the last--> NONE                 NONE --lock_all--> ALL --unlock_all--> NONE
 *               A FENCE under which nothing was accessed counts as NONE: a fence does not say whether an epoch follows.
 *   exposure    none --post--> posted --wait, test--> none
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma/rma_private.h"

#include <stdlib.h>

#include "base/event.h"
#include "coll/coll.h"

enum held { NOT_HELD, SHARED, EXCLUSIVE, NOT_CHECKED };
static const char *const access_words[] = {"no access epoch", "an access epoch of MPI_Win_fence",
                                           "an access epoch of MPI_Win_start", "a lock of MPI_Win_lock",
                                           "an epoch of MPI_Win_lock_all"};
_Static_assert(GW_ARRAY_LEN(access_words) == ALL + 1, "words for each");

int rma_epoch_open(struct rma_win *w)
{
    assert(!w->epoch && w->comm);
    struct rma_epoch *e = calloc(1, sizeof *e);
    if (e) e->held = calloc((size_t)w->comm->size, 1);
    if (!e || !e->held) {
        free(e);
        return gw_fail(GW_ENOMEM, "no memory for a window of %d ranks", w->comm->size);
    }
    w->epoch = e;
    return GW_OK;
}

void rma_epoch_close(struct rma_win *w)
{
    assert(!w->epoch || !w->epoch->origins);
    if (w->epoch) free(w->epoch->held);
    free(w->epoch);
    w->epoch = NULL;
}

/* Sets what the fast path (rma_fast.h) may do.  Called after every change of `access` and `accessed`. */
static void fast_path(struct rma_win *w)
{
    struct rma_epoch *e = w->epoch;
    bool may = rma_fast_is_wanted(), is_all = e->access == ALL, is_listed = e->access == LOCK || e->access == START;
    bool is_open = is_all || (e->access == FENCE && atomic_load_explicit(&e->accessed, memory_order_relaxed));
    uint32_t all = may ? (uint32_t)w->comm->size : 0;
    atomic_store_explicit(&w->n_open, is_open ? all : 0, memory_order_relaxed);
    atomic_store_explicit(&w->n_flushed, is_all && !w->deferred ? all : 0, memory_order_relaxed);
    atomic_store_explicit(&w->listed, may && is_listed ? e->held : NULL, memory_order_relaxed);
}

static void set_access(struct rma_win *w, enum access access)
{
    struct rma_epoch *e = w->epoch;
    if (e->access == access && access != FENCE) return; /* one more lock, while other threads use those held */
    assert(access != NONE || e->n_held == 0);
    e->access = access;
    atomic_store_explicit(&e->accessed, false, memory_order_relaxed);
    fast_path(w);
}

static bool may_open(struct rma_epoch *e) { return e->access == NONE || (e->access == FENCE && !atomic_load(&e->accessed)); }

static int not_now(struct rma_epoch *e, const char *hint)
{
    return gw_fail(GW_ERMA_SYNC, "%s is open on this window%s%s", access_words[e->access],
                   e->access == FENCE ? " and was used: close it with MPI_Win_fence" : "", hint);
}

int rma_epoch_none(struct rma_win *w)
{
    struct rma_epoch *e = w->epoch;
    if (e->access != NONE && e->access != FENCE) return not_now(e, ": close it first");
    if (e->is_posted)
        return gw_fail(GW_ERMA_SYNC, "an exposure epoch of MPI_Win_post is open on this window: call MPI_Win_wait first");
    return GW_OK;
}

static GW_COLD int no_access(struct rma_win *w, int target, bool must_be_passive)
{
    struct rma_epoch *e = w->epoch;
    if (e->access == NONE)
        return gw_fail(GW_ERMA_SYNC,
                       "no access epoch is open: call MPI_Win_fence, MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all first");
    if (must_be_passive)
        return gw_fail(GW_ERMA_SYNC, "%s is open; operations with a request are for the locks of passive targets",
                       access_words[e->access]);
    return gw_fail(GW_ERMA_SYNC,
                   e->access == START ? "rank %d is not in the group of MPI_Win_start" : "the window of rank %d is not locked",
                   target);
}

int rma_epoch_allows(struct rma_win *w, int target, bool must_be_passive)
{
    struct rma_epoch *e = w->epoch;
    if (likely(e->access == ALL || (e->access == LOCK && e->held[target]))) return GW_OK;
    if (must_be_passive || (e->access == START ? !e->held[target] : e->access != FENCE))
        return no_access(w, target, must_be_passive);
    if (e->access == FENCE && !atomic_load_explicit(&e->accessed, memory_order_relaxed)) {
        atomic_store_explicit(&e->accessed, true, memory_order_relaxed);
        fast_path(w);
    }
    return GW_OK;
}

static int check_assertions(int given, int allowed, const char *words)
{
    if (!(given & ~allowed)) return GW_OK;
    return gw_fail(GW_EASSERT, "assert is %d, of which the bits %d are none of %s", given, given & ~allowed, words);
}

/* For tools' events: indices into the names of calls in tool/event.c. */
enum epoch_call {
    CALL_FENCE,
    CALL_START,
    CALL_COMPLETE,
    CALL_POST,
    CALL_WAIT,
    CALL_LOCK,
    CALL_UNLOCK,
    CALL_LOCK_ALL,
    CALL_UNLOCK_ALL
};
static inline void tell(const struct rma_win *w, enum epoch_call call, int target, int assertions)
{
    rma_epoch_assert_state(w);
    if (gw_event_wanted(GW_EVENT_EPOCH)) gw_event_raise(GW_EVENT_EPOCH, true, w->obj.id, call, target, assertions);
}

/* ---- fence ---- */
int rma_win_fence(int assertions, struct rma_win *w)
{
    struct rma_epoch *e = w->epoch;
    int rc = check_assertions(assertions, GW_MODE_NOSTORE | GW_MODE_NOPUT | GW_MODE_NOPRECEDE | GW_MODE_NOSUCCEED,
                              "MPI_MODE_NOSTORE, MPI_MODE_NOPUT, MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED");
    if (rc == GW_OK) rc = rma_epoch_none(w);
    if (rc != GW_OK) return rc;
    if (assertions & GW_MODE_NOPRECEDE && e->access == FENCE && atomic_load(&e->accessed))
        return gw_fail(GW_ERMA_SYNC, "assert has MPI_MODE_NOPRECEDE, but the window was accessed since the last fence");
    /* A fence that only opens an epoch needs the barrier, too: accesses change the target's memory at once, not
     * at the next fence. */
    int flushed = rma_deferred_flush_all(w);
    rc = coll_barrier(w->comm, NULL);
    if (rc == GW_OK) rc = flushed;
    if (rc != GW_OK) return rc;
    set_access(w, assertions & GW_MODE_NOSUCCEED ? NONE : FENCE);
    tell(w, CALL_FENCE, -1, assertions);
    return GW_OK;
}

/* ---- post, start, complete, wait ---- */
static int ranks_of(struct rma_win *w, struct gw_group *g, int **ranks_out)
{
    int *all = malloc(sizeof *all * 2 * ((size_t)g->size + 1)), *in = all ? all + g->size + 1 : NULL;
    if (!all) return gw_fail(GW_ENOMEM, "no memory for %d ranks", g->size);
    for (int i = 0; i < g->size; i++) in[i] = i;
    int rc = group_translate_ranks(g, g->size, in, w->comm->group, all);
    for (int i = 0; rc == GW_OK && i < g->size; i++)
        if (all[i] < 0)
            rc = gw_fail(GW_EGROUP, "member %d of the group (world rank %d) is not of the window's group", i, group_world(g, i));
    if (rc != GW_OK)
        free(all);
    else
        *ranks_out = all;
    return rc;
}

/* Drops the receives of an epoch that could not be opened. */
static void receives_drop(struct gw_req **reqs, int n)
{
    for (int i = 0; i < n && reqs[i]; i++) {
        p2p_cancel(&reqs[i]);
        p2p_request_free(&reqs[i]);
    }
}

/* Posts a receive of an empty message from each rank.  On failure no receive is left posted. */
static int receive_from(struct rma_win *w, const int *ranks, int n, int tag, struct gw_req **reqs)
{
    for (int i = 0; i < n; i++) {
        reqs[i] = NULL;
        int rc = p2p_irecv(NULL, 0, gw_type_byte, ranks[i], tag, w->comm, &reqs[i]);
        if (rc >= 0) continue;
        receives_drop(reqs, i);
        return rc;
    }
    return GW_OK;
}

/* Sends the messages of MPI_Win_post without waiting for them.  Even an empty message can need an answer of its receiver, and the
 * receiver may be in MPI_Win_post, too: both would wait for each other. */
static int say_posted(struct rma_win *w, const int *ranks, int n)
{
    int rc = GW_OK;
    for (int i = 0; rc >= 0 && i < n; i++) {
        struct gw_req *req;
        rc = p2p_isend(NULL, 0, gw_type_byte, ranks[i], TAG_POST, w->comm, &req);
        if (rc >= 0) rc = p2p_request_free(&req);
    }
    return rc < 0 ? rc : GW_OK;
}

static int await_posts(struct rma_win *w, const int *ranks, int n)
{
    struct gw_req **reqs = calloc((size_t)n + 1, sizeof *reqs);
    if (!reqs) return gw_fail(GW_ENOMEM, "no memory for %d requests", n);
    int rc = receive_from(w, ranks, n, TAG_POST, reqs);
    if (rc == GW_OK) rc = req_waitall(n, reqs, NULL);
    free(reqs);
    return rc;
}

int rma_win_start(struct gw_group *g, int assertions, struct rma_win *w)
{
    struct rma_epoch *e = w->epoch;
    int *ranks, rc = check_assertions(assertions, GW_MODE_NOCHECK, "MPI_MODE_NOCHECK");
    if (rc == GW_OK && !may_open(e)) rc = not_now(e, "");
    if (rc == GW_OK) rc = ranks_of(w, g, &ranks);
    if (rc != GW_OK) return rc;
    if (!(assertions & GW_MODE_NOCHECK)) rc = await_posts(w, ranks, g->size);
    if (rc == GW_OK) {
        set_access(w, START);
        e->n_held = g->size;
        for (int i = 0; i < g->size; i++) e->held[ranks[i]] = 1;
        tell(w, CALL_START, -1, assertions);
    }
    free(ranks);
    return rc;
}

int rma_win_complete(struct rma_win *w)
{
    struct rma_epoch *e = w->epoch;
    if (e->access != START)
        return gw_fail(GW_ERMA_SYNC, "%s is open: MPI_Win_complete ends an epoch of MPI_Win_start", access_words[e->access]);
    int rc = rma_deferred_flush_all(w);
    for (int i = 0; i < w->comm->size; i++) {
        if (e->held[i] && rc >= 0) rc = p2p_send(NULL, 0, gw_type_byte, i, TAG_COMPLETE, w->comm);
        e->held[i] = 0;
    }
    e->n_held = 0;
    set_access(w, NONE);
    tell(w, CALL_COMPLETE, -1, 0);
    return rc < 0 ? rc : GW_OK;
}

int rma_win_post(struct gw_group *g, int assertions, struct rma_win *w)
{
    struct rma_epoch *e = w->epoch;
    int *ranks,
        rc = check_assertions(assertions, GW_MODE_NOCHECK | GW_MODE_NOSTORE | GW_MODE_NOPUT,
                              "MPI_MODE_NOCHECK, MPI_MODE_NOSTORE and MPI_MODE_NOPUT");
    if (rc == GW_OK && e->is_posted) rc = gw_fail(GW_ERMA_SYNC, "the window is posted already: MPI_Win_wait ends that");
    if (rc == GW_OK && e->access == FENCE && !may_open(e)) rc = not_now(e, "");
    if (rc == GW_OK) rc = ranks_of(w, g, &ranks);
    if (rc != GW_OK) return rc;
    struct gw_req **origins = calloc((size_t)g->size + 1, sizeof *origins);
    rc =
        origins ? receive_from(w, ranks, g->size, TAG_COMPLETE, origins) : gw_fail(GW_ENOMEM, "no memory for %d requests", g->size);
    if (rc == GW_OK && !(assertions & GW_MODE_NOCHECK)) {
        rc = say_posted(w, ranks, g->size);
        if (rc != GW_OK) receives_drop(origins, g->size);
    }
    free(ranks);
    if (rc != GW_OK) {
        free(origins);
        return rc;
    }
    assert(!e->origins);
    e->origins = origins;
    e->n_origins = g->size;
    e->is_posted = true;
    tell(w, CALL_POST, -1, assertions);
    return GW_OK;
}

static int not_posted(const char *call)
{
    return gw_fail(GW_ERMA_SYNC, "no exposure epoch is open: MPI_Win_post comes before %s", call);
}

static void exposure_over(struct rma_win *w)
{
    struct rma_epoch *e = w->epoch;
    assert(e->is_posted && e->origins);
    free(e->origins);
    e->origins = NULL;
    e->is_posted = false;
    tell(w, CALL_WAIT, -1, 0);
}

int rma_win_wait(struct rma_win *w)
{
    struct rma_epoch *e = w->epoch;
    if (!e->is_posted) return not_posted("MPI_Win_wait");
    int rc = req_waitall(e->n_origins, e->origins, NULL);
    exposure_over(w);
    return rc;
}

int rma_win_test(struct rma_win *w, int *flag_out)
{
    struct rma_epoch *e = w->epoch;
    if (!e->is_posted) return not_posted("MPI_Win_test");
    int rc = req_testall(e->n_origins, e->origins, flag_out, NULL);
    if (rc != GW_OK || *flag_out) exposure_over(w);
    return rc;
}

/* ---- passive targets ---- */
static int check_rank(struct rma_win *w, int rank)
{
    if (likely(rank >= 0 && rank < w->comm->size)) return GW_OK;
    return gw_fail(GW_ERANK, "rank is %d; the window has ranks 0 to %d", rank, w->comm->size - 1);
}

int rma_win_lock(int type, int rank, int assertions, struct rma_win *w)
{
    struct rma_epoch *e = w->epoch;
    int rc = check_assertions(assertions, GW_MODE_NOCHECK, "MPI_MODE_NOCHECK");
    if (rc == GW_OK && type != GW_LOCK_SHARED && type != GW_LOCK_EXCLUSIVE)
        rc = gw_fail(GW_ELOCKTYPE, "lock_type is %d; it must be MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE", type);
    if (rank == GW_PROC_NULL && rc == GW_OK) return GW_OK;
    if (rc == GW_OK) rc = check_rank(w, rank);
    if (rc == GW_OK && e->access != LOCK && !may_open(e)) rc = not_now(e, "");
    if (rc == GW_OK && e->access == LOCK && e->held[rank])
        rc = gw_fail(GW_ERMA_SYNC, "this rank has locked the window of rank %d already", rank);
    if (rc != GW_OK) return rc;
    bool unchecked = assertions & GW_MODE_NOCHECK;
    if (!unchecked) rc = rma_lock_take(w, rank, type == GW_LOCK_EXCLUSIVE);
    if (rc != GW_OK) return rc;
    e->held[rank] = unchecked ? NOT_CHECKED : type == GW_LOCK_EXCLUSIVE ? EXCLUSIVE : SHARED;
    set_access(w, LOCK);
    e->n_held++;
    tell(w, CALL_LOCK, rank, assertions);
    return GW_OK;
}

static int check_locked(struct rma_win *w, int rank, const char *call)
{
    struct rma_epoch *e = w->epoch;
    int rc = check_rank(w, rank);
    if (rc != GW_OK) return rc;
    if (e->access == LOCK && e->held[rank]) return GW_OK;
    return gw_fail(GW_ERMA_SYNC, "%s, but this rank has not locked the window of rank %d", call, rank);
}

/* Flushes and locks of memory that is mapped here wait for nothing.  A program that spins on its own part by them must still serve the
 * ranks that it waits for.  rank -1: all. */
static void serve_others(struct rma_win *w, int rank)
{
    if (unlikely(w->server || w->mailer) && (rank < 0 || is_here(w, rank))) req_progress();
}

int rma_win_unlock(int rank, struct rma_win *w)
{
    struct rma_epoch *e = w->epoch;
    if (rank == GW_PROC_NULL) return GW_OK;
    int rc = check_locked(w, rank, "MPI_Win_unlock ends what MPI_Win_lock began");
    if (rc != GW_OK) return rc;
    rc = e->held[rank] != NOT_CHECKED ? rma_lock_give(w, rank, e->held[rank] == EXCLUSIVE) : rma_deferred_flush(w, rank);
    e->held[rank] = NOT_HELD;
    assert(e->n_held > 0);
    if (--e->n_held == 0) set_access(w, NONE);
    tell(w, CALL_UNLOCK, rank, 0);
    serve_others(w, rank);
    return rc;
}

int rma_win_lock_all(int assertions, struct rma_win *w)
{
    struct rma_epoch *e = w->epoch;
    int rc = check_assertions(assertions, GW_MODE_NOCHECK, "MPI_MODE_NOCHECK");
    if (rc == GW_OK && !may_open(e)) rc = not_now(e, "");
    if (rc != GW_OK) return rc;
    e->all_unchecked = assertions & GW_MODE_NOCHECK;
    if (!e->all_unchecked) rc = rma_lock_take_all(w);
    if (rc != GW_OK) return rc;
    set_access(w, ALL);
    tell(w, CALL_LOCK_ALL, -1, assertions);
    return GW_OK;
}

int rma_win_unlock_all(struct rma_win *w)
{
    struct rma_epoch *e = w->epoch;
    if (e->access != ALL)
        return gw_fail(GW_ERMA_SYNC, "%s is open: MPI_Win_unlock_all ends what MPI_Win_lock_all began", access_words[e->access]);
    assert(e->n_held == 0);
    int rc = e->all_unchecked ? rma_deferred_flush_all(w) : rma_lock_give_all(w);
    set_access(w, NONE);
    tell(w, CALL_UNLOCK_ALL, -1, 0);
    serve_others(w, -1);
    return rc;
}

/* Orders the operations that are complete before later loads and stores, those of other ranks included. */
static int seen(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    return GW_OK;
}

/* A target that polls its own memory for an access may call nothing but MPI_Win_sync.  Accesses by messages need its progress, so
 * it is made here. */
int rma_win_sync(struct rma_win *w)
{
    if (unlikely(w->server)) req_progress();
    int rc = unlikely(w->mirror.seen) ? rma_mirror_meet(w) : GW_OK;
    return rc == GW_OK ? seen() : rc;
}

static int may_flush(struct rma_win *w, int rank)
{
    return w->epoch->access == ALL ? check_rank(w, rank) : check_locked(w, rank, "flushes are for passive targets");
}

static int may_flush_all(const struct rma_win *w)
{
    enum access access = w->epoch->access;
    if (access == ALL || access == LOCK) return GW_OK;
    return gw_fail(GW_ERMA_SYNC, "%s is open; flushes are for the locks of passive targets", access_words[access]);
}

static int flushed(struct rma_win *w, int rank, int rc)
{
    serve_others(w, rank);
    return rc == GW_OK ? seen() : rc;
}

int rma_win_flush(int rank, struct rma_win *w)
{
    if (rank == GW_PROC_NULL) return GW_OK;
    int rc = may_flush(w, rank);
    if (rc == GW_OK) rc = rma_deferred_flush(w, rank);
    return flushed(w, rank, rc);
}

int rma_win_flush_all(struct rma_win *w)
{
    int rc = may_flush_all(w);
    if (rc == GW_OK) rc = rma_deferred_flush_all(w);
    return flushed(w, -1, rc);
}

int rma_win_flush_local(int rank, struct rma_win *w)
{
    if (rank == GW_PROC_NULL) return GW_OK;
    int rc = may_flush(w, rank);
    if (rc == GW_OK) rc = rma_deferred_flush_local(w);
    return flushed(w, rank, rc);
}

int rma_win_flush_local_all(struct rma_win *w)
{
    int rc = may_flush_all(w);
    if (rc == GW_OK) rc = rma_deferred_flush_local(w);
    return flushed(w, -1, rc);
}
