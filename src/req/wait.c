/* wait.c -- wait and test in all forms (MPI 4.1 sections 3.7.3 to 3.7.6).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "req/req_private.h"

#include "base/lock.h"
#include "node/node.h"

static _Thread_local const void *error_context;

const void *req_error_context_take(void)
{
    const void *was = error_context;
    error_context = NULL;
    return was;
}

static inline void status_copy(struct gw_status *to, const struct gw_status *from)
{
    if (to) gw_status_fill(to, from->source, from->tag, gw_status_bytes(from), from->cancelled);
}
static inline void status_empty(struct gw_status *to)
{
    if (to) gw_status_empty(to);
}

/* Locks `lane` (NULL: none) in place of the one that is held, so that several requests are recycled under one lock. */
static inline void hold_lane(struct gw_lane **held, struct gw_lane *lane)
{
    if (*held == lane) return;
    if (*held) gw_unlock(&(*held)->lock);
    if (lane) gw_lock(&lane->lock);
    *held = lane;
}

/* Retires a completed request: returns its error, fills in the status, recycles it (*slot becomes NULL) or makes it inactive. */
static inline int retire_held(struct gw_req **slot, struct gw_status *status, struct gw_lane **held)
{
    struct gw_req *r = *slot;
    int err = r->err;
    assert(req_is_done(r) && !req_is_inactive(r));
    if (likely(r->flags & REQ_STATIC)) {
        status_copy(status, &r->status);
        *slot = NULL;
        return GW_OK;
    }
    if (unlikely(r->flags & REQ_FINALIZE)) {
        r->flags &= (uint16_t)~REQ_FINALIZE;
        hold_lane(held, NULL); /* `final` may call functions of the user */
        r->final->fn(r->final, err);
        err = r->err;
    }
    if (unlikely(err < 0)) error_context = r->errctx;
    status_copy(status, &r->status);
    if (r->flags & REQ_PERSISTENT) {
        r->flags &= (uint16_t)~REQ_ACTIVE;
        return err;
    }
    hold_lane(held, &gw_lanes[r->lane]);
    req_recycle(r);
    *slot = NULL;
    return err;
}

static inline int retire(struct gw_req **slot, struct gw_status *status)
{
    struct gw_lane *held = NULL;
    int err = retire_held(slot, status, &held);
    hold_lane(&held, NULL);
    return err;
}

int req_wait(struct gw_req **r, struct gw_status *status)
{
    if (req_is_inactive(*r)) {
        status_empty(status);
        return GW_OK;
    }
    req_block(*r);
    return retire(r, status);
}

/* A test has found nothing: after many, a hang report is due. */
static inline void polled(int n, struct gw_req **r, bool is_any)
{
    if (unlikely(node_polled())) req_report_about(r, n, is_any);
}

int req_test(struct gw_req **r, int *flag_out, struct gw_status *status)
{
    *flag_out = 1;
    if (req_is_inactive(*r)) {
        status_empty(status);
        return GW_OK;
    }
    if (!req_is_done(*r)) {
        req_look();
        if (!req_is_done(*r)) {
            *flag_out = 0;
            polled(1, r, false);
            return GW_OK;
        }
    }
    return retire(r, status);
}

/* ---- all ---------------------------------------------------------------------------------------------------------- */
/* Retires every slot.  After the first error the statuses carry error classes, also those already written. */
static int retire_all(int n, struct gw_req **r, struct gw_status *statuses)
{
    bool failed = false;
    struct gw_lane *held = NULL;
    for (int i = 0; i < n; i++) {
        struct gw_status *s = statuses ? &statuses[i] : NULL;
        int err = GW_OK;
        if (req_is_inactive(r[i]))
            status_empty(s);
        else
            err = retire_held(&r[i], s, &held);
        if (unlikely(err < 0) && !failed) {
            failed = true;
            for (int k = 0; statuses && k < i; k++) statuses[k].error = GW_SUCCESS;
        }
        if (unlikely(failed) && s) s->error = gw_error_class(err);
    }
    hold_lane(&held, NULL);
    return failed ? GW_EINSTATUS : GW_OK;
}

int req_waitall(int n, struct gw_req **r, struct gw_status *statuses)
{
    for (int i = 0; i < n; i++)
        if (!req_is_inactive(r[i])) req_block_in(r, n, i);
    return retire_all(n, r, statuses);
}

bool req_waitall_begin(int n, struct gw_req **r)
{
    bool is_plain = true;
    for (int i = 0; i < n; i++) {
        if (req_is_inactive(r[i])) continue;
        req_block_in(r, n, i);
        if (unlikely(r[i]->flags & REQ_FINALIZE) || unlikely(r[i]->err < 0)) is_plain = false;
    }
    return is_plain;
}

void req_waitall_end(int n, struct gw_req **r)
{
    struct gw_lane *held = NULL;
    for (int i = 0; i < n; i++) {
        if (req_is_inactive(r[i])) continue;
        assert(!(r[i]->flags & REQ_FINALIZE));
        int err = retire_held(&r[i], NULL, &held);
        assert(err == GW_OK);
        (void)err;
    }
    hold_lane(&held, NULL);
}

static bool all_done(int n, struct gw_req **r)
{
    for (int i = 0; i < n; i++)
        if (!req_is_inactive(r[i]) && !req_is_done(r[i])) return false;
    return true;
}

int req_testall(int n, struct gw_req **r, int *flag_out, struct gw_status *statuses)
{
    *flag_out = all_done(n, r);
    if (!*flag_out) {
        req_look();
        *flag_out = all_done(n, r);
    }
    if (*flag_out) return retire_all(n, r, statuses);
    polled(n, r, false);
    return GW_OK;
}

/* ---- any ---------------------------------------------------------------------------------------------------------- */
enum { LOOK_EVERY = 64 }; /* calls that find something complete at once */

/* The lowest index of a completed request, as other libraries have it and programs rely on; -1: none is complete; GW_UNDEFINED: none is
 * active. */
static int find_done(int n, struct gw_req **r)
{
    bool active = false;
    for (int i = 0; i < n; i++) {
        if (req_is_inactive(r[i])) continue;
        active = true;
        if (req_is_done(r[i])) return i;
    }
    return active ? -1 : GW_UNDEFINED;
}

/* What is complete already.  Now and then with progress, so that a loop whose first request is always complete leaves none of the others, and
 * none of their peers, standing. */
static int find_ready(int n, struct gw_req **r)
{
    static _Thread_local unsigned calls;
    if (unlikely(++calls % LOOK_EVERY == 0)) req_look();
    return find_done(n, r);
}

/* The number of a receive of any source in the order of posting, else 0. */
static uint64_t posted_number(const struct gw_req *r)
{
    return r->kind == REQ_RECV && !(r->flags & REQ_STATIC) && req_upcalls.posted ? req_upcalls.posted(r) : 0;
}

/* Of the completed receives of any source on the lane of this one, if it is one. */
static int find_first_posted(int found, int n, struct gw_req **r)
{
    uint64_t first = posted_number(r[found]);
    for (int i = found + 1; first && i < n; i++) {
        if (req_is_inactive(r[i]) || r[i]->lane != r[found]->lane || !req_is_done(r[i])) continue;
        uint64_t posted = posted_number(r[i]);
        if (posted && posted < first) first = posted, found = i;
    }
    return found;
}

struct any {
    struct gw_done about; /* for a hang report */
    int n, found;
    struct gw_req **r;
};
static bool any_is_done(void *arg)
{
    struct any *a = arg;
    a->found = find_done(a->n, a->r);
    return a->found != -1;
}

/* The lane of the first active request: most often all are on one lane. */
static struct gw_lane *lane_of(int n, struct gw_req **r)
{
    for (int i = 0; i < n; i++)
        if (!req_is_inactive(r[i])) return &gw_lanes[r[i]->lane];
    return &gw_lanes[0];
}

static void tell_any(struct gw_done *about, int err)
{
    (void)err;
    const struct any *a = container_of(about, struct any, about);
    req_report_about(a->r, a->n, true);
}

static void block_any(struct any *a)
{
    a->about.fn = tell_any;
    req_block_about(lane_of(a->n, a->r), any_is_done, a, &a->about);
}

int req_waitany(int n, struct gw_req **r, int *index_out, struct gw_status *status)
{
    struct any a = {.n = n, .r = r, .found = find_ready(n, r)};
    if (a.found == -1) block_any(&a);
    if (a.found >= 0) a.found = find_first_posted(a.found, n, r);
    *index_out = a.found;
    if (a.found >= 0) return retire(&r[a.found], status);
    status_empty(status);
    return GW_OK;
}

int req_testany(int n, struct gw_req **r, int *index_out, int *flag_out, struct gw_status *status)
{
    int i = find_ready(n, r);
    if (i == -1) {
        req_look();
        i = find_done(n, r);
    }
    *flag_out = i != -1;
    *index_out = i >= 0 ? i : GW_UNDEFINED;
    if (i == -1) polled(n, r, true);
    if (i >= 0) return retire(&r[i], status);
    if (i == GW_UNDEFINED) status_empty(status);
    return GW_OK;
}

/* ---- some --------------------------------------------------------------------------------------------------------- */
static int retire_some(int n, struct gw_req **r, int *outcount_out, int *indices_out, struct gw_status *statuses)
{
    int k = 0;
    bool failed = false;
    struct gw_lane *held = NULL;
    for (int i = 0; i < n; i++) {
        if (req_is_inactive(r[i]) || !req_is_done(r[i])) continue;
        struct gw_status *s = statuses ? &statuses[k] : NULL;
        int err = retire_held(&r[i], s, &held);
        if (unlikely(err < 0) && !failed) {
            failed = true;
            for (int j = 0; statuses && j < k; j++) statuses[j].error = GW_SUCCESS;
        }
        if (unlikely(failed) && s) s->error = gw_error_class(err);
        indices_out[k++] = i;
    }
    hold_lane(&held, NULL);
    *outcount_out = k;
    return failed ? GW_EINSTATUS : GW_OK;
}

int req_waitsome(int n, struct gw_req **r, int *outcount_out, int *indices_out, struct gw_status *statuses)
{
    struct any a = {.n = n, .r = r, .found = find_ready(n, r)};
    if (a.found == -1) block_any(&a);
    if (a.found == GW_UNDEFINED) {
        *outcount_out = GW_UNDEFINED;
        return GW_OK;
    }
    return retire_some(n, r, outcount_out, indices_out, statuses);
}

int req_testsome(int n, struct gw_req **r, int *outcount_out, int *indices_out, struct gw_status *statuses)
{
    int i = find_ready(n, r);
    if (i == -1) {
        req_look();
        i = find_done(n, r);
    }
    if (i == GW_UNDEFINED) {
        *outcount_out = GW_UNDEFINED;
        return GW_OK;
    }
    if (i == -1) polled(n, r, true);
    return retire_some(n, r, outcount_out, indices_out, statuses);
}

/* ---- looking without retiring ----------------------------------------------------------------------------------- */
/* The status of a request that is done or inactive.  An operation's own error is for the call that retires it; only the function
 * that a generalized request asks for its status can fail here. */
static int look(struct gw_req *r, struct gw_status *status)
{
    int err = GW_OK;
    if (req_is_inactive(r)) {
        status_empty(status);
        return GW_OK;
    }
    if (unlikely(r->kind == REQ_USER)) err = req_user_query(r);
    status_copy(status, &r->status);
    if (unlikely(err < 0)) error_context = r->errctx;
    return err;
}

/* The same for one of several: after the first error the statuses carry error classes, also the n_before already written. */
static int look_among(struct gw_req *r, struct gw_status *statuses, int n_before, int rc)
{
    struct gw_status *s = statuses ? &statuses[n_before] : NULL;
    int err = look(r, s);
    for (int k = 0; err < 0 && rc == GW_OK && statuses && k < n_before; k++) statuses[k].error = GW_SUCCESS;
    if (err < 0) rc = GW_EINSTATUS;
    if (rc < 0 && s) s->error = gw_error_class(err);
    return rc;
}

int req_get_status(struct gw_req *r, int *flag_out, struct gw_status *status)
{
    *flag_out = 1;
    if (!req_is_inactive(r)) {
        if (!req_is_done(r)) req_look();
        *flag_out = req_is_done(r);
        if (!*flag_out) polled(1, &r, false);
    }
    return *flag_out ? look(r, status) : GW_OK;
}

/* These two make progress also when a request is complete: it stays so, and a program that waits for the others calls them in a loop. */
int req_get_status_any(int n, struct gw_req **r, int *index_out, int *flag_out, struct gw_status *status)
{
    if (!all_done(n, r)) req_look();
    int i = find_done(n, r);
    *flag_out = i != -1;
    *index_out = i >= 0 ? i : GW_UNDEFINED;
    if (*flag_out) return look(i >= 0 ? r[i] : NULL, status);
    polled(n, r, true);
    return GW_OK;
}

int req_get_status_all(int n, struct gw_req **r, int *flag_out, struct gw_status *statuses)
{
    int rc = GW_OK;
    *flag_out = all_done(n, r);
    if (!*flag_out) {
        req_look();
        *flag_out = all_done(n, r);
    }
    if (!*flag_out) polled(n, r, false);
    for (int i = 0; *flag_out && i < n; i++) rc = look_among(r[i], statuses, i, rc);
    return rc;
}

int req_get_status_some(int n, struct gw_req **r, int *outcount_out, int *indices_out, struct gw_status *statuses)
{
    if (!all_done(n, r)) req_look();
    int i = find_done(n, r), k = 0, rc = GW_OK;
    if (i == GW_UNDEFINED) {
        *outcount_out = GW_UNDEFINED;
        return GW_OK;
    }
    if (i == -1) polled(n, r, true);
    for (i = 0; i < n; i++) {
        if (req_is_inactive(r[i]) || !req_is_done(r[i])) continue;
        rc = look_among(r[i], statuses, k, rc);
        indices_out[k++] = i;
    }
    *outcount_out = k;
    return rc;
}
