/* hot.h -- what the generated entry points for programs of other ABIs need beside the codec (gen/hot.py).
 *
 * A client.h and its hot_ABI.h come before it.  The latter defines HOT_REQUEST_NULL, hot_request_handle() and, for the kinds of objects
 * that these entry points take, hot_KIND(): the object behind a handle of the program, NULL for what is not one of the usual ones.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_FACADE_HOT_H
#define GW_FACADE_HOT_H

#include "facade/std_check.h"
#include "facade/std_doors.h"

/* The door has been loaded: it is what calls. */
static inline const struct door_slow *hot_slow(void) { return std_doors[CLIENT_ABI]->slow; }
static GW_COLD int hot_code(int code)
{
    assert(std_doors[CLIENT_ABI]);
    return std_doors[CLIENT_ABI]->code(code);
}
static GW_COLD int hot_answer(int code)
{
    assert(std_doors[CLIENT_ABI] && code != MPI_SUCCESS);
    return std_doors[CLIENT_ABI]->answer(code);
}

/* A number that means nothing becomes one that no check takes, so that the door's slow entry point has it. */
static inline int hot_rank(int rank)
{
    if (likely(rank >= 0)) return rank;
    return rank == CLIENT_ANY_SOURCE ? MPI_ANY_SOURCE : rank == CLIENT_PROC_NULL ? MPI_PROC_NULL : INT_MIN;
}
static inline int hot_tag(int tag)
{
    if (likely(tag >= 0)) return tag;
    return tag == CLIENT_ANY_TAG ? MPI_ANY_TAG : INT_MIN;
}

/* False: one of them is no request. */
static inline bool hot_requests_find(const client_Request *h, int n, struct gw_req **out)
{
    if (unlikely(!h)) return false;
    for (int i = 0; i < n; i++) {
        out[i] = hot_request(h[i]);
        if (unlikely(!out[i]) && h[i] != HOT_REQUEST_NULL) return false;
    }
    return true;
}
/* The same in memory that std_array_free(*out, stack) frees; after false there is none. */
static inline bool hot_requests_in(const client_Request *h, int n, struct gw_req **stack, struct gw_req ***out)
{
    *out = std_array(stack, n, sizeof **out);
    if (likely(hot_requests_find(h, n, *out))) return true;
    std_array_free(*out, stack);
    return false;
}
static inline void hot_requests_out(struct gw_req *const *in, int n, client_Request *h)
{
    for (int i = 0; i < n; i++)
        if (!in[i] && h[i] != HOT_REQUEST_NULL) h[i] = HOT_REQUEST_NULL;
}

static GW_COLD void hot_status_empty(client_Status *to)
{
    MPI_Status empty;
    gw_status_empty(std_status(&empty));
    door_status_store(&empty, to);
}

/* MPI_Waitall where no operation failed and none has a function to call: what the requests hold goes to the program's statuses, which have
 * another layout, at once.  False: nothing was retired. */
static inline bool hot_waitall(int n, struct gw_req **r, client_Status *s)
{
    assert(n >= 0 && n <= STD_ARRAY_STACK);
    if (unlikely(!req_waitall_begin(n, r))) return false;
    for (int i = 0; door_are_statuses(s) && i < n; i++) {
        if (unlikely(req_is_inactive(r[i])))
            hot_status_empty(&s[i]);
        else
            door_status_fill((const MPI_Status *)&r[i]->status, &s[i]);
    }
    req_waitall_end(n, r);
    return true;
}

#endif
