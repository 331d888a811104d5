/* check_req.c -- the calls that complete requests: which operations are over now?
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

#include <stdlib.h>

/* The requests of a call: an array, or one. */
static int64_t number_of(const struct check_run *r) { return r->a.array_of_requests ? r->a.incount + gw_max64(r->a.count, 0) : 1; }
static struct gw_req **requests_of(const struct check_run *r)
{
    return r->a.array_of_requests ? r->a.array_of_requests : r->a.request;
}

static bool is_active(const struct gw_req *q) { return q && (q->flags & (REQ_PERSISTENT | REQ_ACTIVE)) != REQ_PERSISTENT; }

/* ---- completing: those that are active before the call, and what became of them ---- */
static int complete_before(struct check_run *r)
{
    int64_t n = number_of(r);
    struct gw_req **q = requests_of(r);
    r->was = n <= (int64_t)GW_ARRAY_LEN(r->few) ? r->few : gw_xmalloc((size_t)n * sizeof *r->was);
    for (int64_t i = 0; i < n; i++)
        r->was[i] = is_active(q[i]) ? (struct check_was){q[i], q[i]->obj.id} : (struct check_was){NULL, 0};
    return GW_OK;
}

static int complete_after(struct check_run *r, int rc)
{
    int64_t n = number_of(r);
    struct gw_req **q = requests_of(r);
    for (int64_t i = 0; i < n; i++) {
        if (!r->was[i].q) continue;
        if (!q[i])
            check_use_over(r->was[i].id, true);
        else if (!is_active(q[i]))
            check_use_over(r->was[i].id, false);
    }
    if (r->was != r->few) free(r->was);
    return rc;
}
const struct check_kind check_of_complete = {.before = complete_before, .after = complete_after};

/* ---- looking without completing: from then on the program may use the buffers, and still has to complete the request ---- */
static void seen(struct gw_req *q)
{
    if (is_active(q)) check_use_over(q->obj.id, false);
}

static int seen_after(struct check_run *r, int rc)
{
    if (*r->a.flag) seen(*r->a.request);
    return rc;
}
static int seen_any_after(struct check_run *r, int rc)
{
    assert(!*r->a.flag || *r->a.index < number_of(r));
    if (*r->a.flag && *r->a.index >= 0) seen(r->a.array_of_requests[*r->a.index]);
    return rc;
}
static int seen_all_after(struct check_run *r, int rc)
{
    for (int64_t i = 0; *r->a.flag && i < number_of(r); i++) seen(r->a.array_of_requests[i]);
    return rc;
}
static int seen_some_after(struct check_run *r, int rc)
{
    for (int k = 0; *r->a.outcount != GW_UNDEFINED && k < *r->a.outcount; k++)
        seen(r->a.array_of_requests[r->a.array_of_indices[k]]);
    return rc;
}
const struct check_kind check_of_seen = {.after = seen_after}, check_of_seen_any = {.after = seen_any_after};
const struct check_kind check_of_seen_all = {.after = seen_all_after}, check_of_seen_some = {.after = seen_some_after};

/* ---- giving up ---- */
/* A receive that was cancelled may be freed. */
static int cancel_before(struct check_run *r)
{
    check_use_cancelled((*r->a.request)->obj.id);
    return GW_OK;
}
const struct check_kind check_of_cancel = {.before = cancel_before};

/* Nobody is told any more when the operation is over: what it uses is the program's risk. */
static int free_before(struct check_run *r)
{
    struct check_site started;
    char here[CHECK_SITE_TEXT], site[CHECK_SITE_TEXT];
    r->id = (*r->a.request)->obj.id;
    if (check_use_receives(r->id, &started))
        check_say(
            "receive given up: %s frees the request of %s, which is active. MPI completes the receive, but the program cannot learn when, "
            "or that its buffer may be used again: the standard advises never to free an active receive request",
            check_site_text(check_me.now, here), check_site_text(started, site));
    return GW_OK;
}
static int free_after(struct check_run *r, int rc)
{
    if (!*r->a.request) check_use_forget(r->id);
    return rc;
}
const struct check_kind check_of_request_free = {
    .before = free_before, .after = free_after, .stage_before = check_stage_free, .stage_after = check_stage_freed};
