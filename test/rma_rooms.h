/* rma_rooms.h -- for tests: one rank with all rooms below this one, and windows of every flavour that it serves to itself by messages,
 * as it would to ranks on other nodes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_RMA_ROOMS_H
#define GW_TEST_RMA_ROOMS_H

#include "rma/rma_private.h"

#include "one_rank.h"

enum { WIN_BYTES = 4096, FLAVORS = 4 };

/* One of WIN_BYTES; `memory` is the user's, where the flavour wants it. */
static struct rma_win *win_of(int flavor, char *memory, char **base_out)
{
    struct rma_win *w = NULL;
    void *base = memory;
    if (flavor == 0) must(rma_win_create(memory, WIN_BYTES, 1, NULL, &gw_comm_world, &w));
    if (flavor == 1) must(rma_win_allocate(WIN_BYTES, 1, NULL, &gw_comm_world, &base, &w));
    if (flavor == 2) must(rma_win_allocate_shared(WIN_BYTES, 1, NULL, &gw_comm_world, &base, &w));
    if (flavor == 3) {
        must(rma_win_create_dynamic(NULL, &gw_comm_world, &w));
        must(rma_win_attach(w, memory, WIN_BYTES));
    }
    must(rma_deferred_open(w));
    must(rma_serve_open(w));
    *base_out = base;
    return w;
}

/* As one message of ours, and what comes of it. */
static inline void say_bytes(struct rma_win *w, int tag, const void *message, int64_t bytes)
{
    struct gw_req *r = NULL;
    int rc = p2p_stream_isend(GW_STREAM_P2P, message, bytes, gw_type_byte, 0, tag, w->comm, &r);
    if (rc == GW_POSTED) rc = p2p_stream_wait(r);
    must(rc);
    look(4);
}

#endif
