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
static GW_COLD int hot_code(int code) { return std_doors[CLIENT_ABI]->code(code); }

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

/* False: there are too many, or one of them is no request. */
static inline bool hot_requests_in(const client_Request *h, int n, struct gw_req **out)
{
    if (unlikely(n > STD_ARRAY_STACK) || unlikely(!h)) return false;
    for (int i = 0; i < n; i++) {
        out[i] = hot_request(h[i]);
        if (unlikely(!out[i]) && h[i] != HOT_REQUEST_NULL) return false;
    }
    return true;
}
static inline void hot_requests_out(struct gw_req *const *in, int n, client_Request *h)
{
    for (int i = 0; i < n; i++)
        if (!in[i] && h[i] != HOT_REQUEST_NULL) h[i] = HOT_REQUEST_NULL;
}

#endif
