/* check_req.c -- twins of the calls that complete requests: which operations are over now?
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

#include <stdlib.h>

/* The active requests of a call before it, and what became of them. */
struct before {
    struct gw_req *r;
    uint32_t id;
};
struct look {
    int n;
    struct gw_req **r;
    struct before *v, few[32];
};

static bool is_active(const struct gw_req *r) { return r && (r->flags & (REQ_PERSISTENT | REQ_ACTIVE)) != REQ_PERSISTENT; }

static void look_before(struct look *l, int n, struct gw_req **r)
{
    l->n = n;
    l->r = r;
    l->v = n <= (int)GW_ARRAY_LEN(l->few) ? l->few : gw_xmalloc((size_t)n * sizeof *l->v);
    for (int i = 0; i < n; i++) {
        bool active = is_active(r[i]);
        l->v[i] = (struct before){active ? r[i] : NULL, active ? r[i]->obj.id : 0};
    }
}

static void look_after(struct look *l)
{
    for (int i = 0; i < l->n; i++) {
        if (!l->v[i].r) continue;
        if (!l->r[i])
            check_use_over(l->v[i].id, true);
        else if (!is_active(l->r[i]))
            check_use_over(l->v[i].id, false);
    }
    if (l->v != l->few) free(l->v);
}

int check_req_wait(struct gw_req **r, struct gw_status *status)
{
    struct look l;
    look_before(&l, 1, r);
    int rc = req_wait(r, status);
    look_after(&l);
    return rc;
}

int check_req_test(struct gw_req **r, int *flag_out, struct gw_status *status)
{
    struct look l;
    look_before(&l, 1, r);
    int rc = req_test(r, flag_out, status);
    look_after(&l);
    return rc;
}

int check_req_waitall(int n, struct gw_req **r, struct gw_status *statuses)
{
    struct look l;
    look_before(&l, n, r);
    int rc = req_waitall(n, r, statuses);
    look_after(&l);
    return rc;
}

int check_req_testall(int n, struct gw_req **r, int *flag_out, struct gw_status *statuses)
{
    struct look l;
    look_before(&l, n, r);
    int rc = req_testall(n, r, flag_out, statuses);
    look_after(&l);
    return rc;
}

int check_req_waitany(int n, struct gw_req **r, int *index_out, struct gw_status *status)
{
    struct look l;
    look_before(&l, n, r);
    int rc = req_waitany(n, r, index_out, status);
    look_after(&l);
    return rc;
}

int check_req_testany(int n, struct gw_req **r, int *index_out, int *flag_out, struct gw_status *status)
{
    struct look l;
    look_before(&l, n, r);
    int rc = req_testany(n, r, index_out, flag_out, status);
    look_after(&l);
    return rc;
}

int check_req_waitsome(int n, struct gw_req **r, int *outcount_out, int *indices_out, struct gw_status *statuses)
{
    struct look l;
    look_before(&l, n, r);
    int rc = req_waitsome(n, r, outcount_out, indices_out, statuses);
    look_after(&l);
    return rc;
}

int check_req_testsome(int n, struct gw_req **r, int *outcount_out, int *indices_out, struct gw_status *statuses)
{
    struct look l;
    look_before(&l, n, r);
    int rc = req_testsome(n, r, outcount_out, indices_out, statuses);
    look_after(&l);
    return rc;
}

/* ---- looking without completing: from then on the program may use the buffers, and still has to complete the request ---- */
static void seen(struct gw_req *r)
{
    if (is_active(r)) check_use_over(r->obj.id, false);
}

int check_req_get_status(struct gw_req *r, int *flag_out, struct gw_status *status)
{
    int rc = req_get_status(r, flag_out, status);
    if (*flag_out) seen(r);
    return rc;
}

int check_req_get_status_any(int n, struct gw_req **r, int *index_out, int *flag_out, struct gw_status *status)
{
    int rc = req_get_status_any(n, r, index_out, flag_out, status);
    if (*flag_out && *index_out >= 0) seen(r[*index_out]);
    return rc;
}

int check_req_get_status_all(int n, struct gw_req **r, int *flag_out, struct gw_status *statuses)
{
    int rc = req_get_status_all(n, r, flag_out, statuses);
    for (int i = 0; *flag_out && i < n; i++) seen(r[i]);
    return rc;
}

int check_req_get_status_some(int n, struct gw_req **r, int *outcount_out, int *indices_out, struct gw_status *statuses)
{
    int rc = req_get_status_some(n, r, outcount_out, indices_out, statuses);
    for (int k = 0; *outcount_out != GW_UNDEFINED && k < *outcount_out; k++) seen(r[indices_out[k]]);
    return rc;
}

/* A receive that was cancelled may be freed. */
int check_p2p_cancel(struct gw_req **r)
{
    check_use_cancelled((*r)->obj.id);
    return p2p_cancel(r);
}

/* Nobody is told any more when the operation is over: what it uses is the program's risk. */
int check_p2p_request_free(struct gw_req **r)
{
    uint32_t id = (*r)->obj.id;
    struct check_site started;
    char here[CHECK_SITE_TEXT], site[CHECK_SITE_TEXT];
    if (check_use_receives(id, &started))
        check_say(
            "receive given up: %s frees the request of %s, which is active. MPI completes the receive, but the program cannot learn when, "
            "or that its buffer may be used again: the standard advises never to free an active receive request",
            check_site_text(check_now, here), check_site_text(started, site));
    int rc = p2p_request_free(r);
    if (!*r) check_use_forget(id);
    return rc;
}
