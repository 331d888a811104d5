/* p2p_private.h -- shared by the files of p2p/: addresses, and requests made of other requests.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_P2P_P2P_PRIVATE_H
#define GW_P2P_P2P_PRIVATE_H

#include "p2p/p2p.h"
#include "base/base.h"
#include "base/list.h"
#include "base/lock.h"
#include "boot/where.h"
#include "proto/proto.h"

_Static_assert(PROTO_STREAM_MASK == (1 << GW_STREAM_BITS) - 1 && GW_STREAM_P2P == 0, "proto/ tells the user's messages by it");

/* gw_req.errctx: the id of the communicator, which may be freed before the request completes.  Another thread may be freeing the handle now:
 * then the id is 0, and errors go to the handler of MPI_COMM_SELF. */
static inline const void *p2p_errctx(const struct gw_comm *c)
{
    return (const void *)(uintptr_t)__atomic_load_n(&c->obj.id, __ATOMIC_RELAXED);
}

static inline struct proto_addr p2p_addr(struct gw_comm *c, int rank, int tag, enum gw_stream stream)
{
    return (struct proto_addr){.lane = c->lane,
                               .peer = rank == GW_ANY_SOURCE ? NULL : comm_peer(c, rank),
                               .ctx = c->ctx | (uint32_t)stream,
                               .my_rank = c->rank,
                               .rank = rank,
                               .tag = tag,
                               .errctx = p2p_errctx(c),
                               .is_near = c->one_node};
}

/* Lane's lock held.  done->fn is called when `inner` is complete, in this call if it is already; then inner is recycled.  *status_out gets
 * the status only if it is complete already; else done->fn reads inner->status. */
void p2p_chain(struct gw_req *inner, struct gw_done *done, struct gw_status *status_out);

enum p2p_mode { P2P_STANDARD, P2P_SYNC, P2P_BUFFERED, P2P_READY };
/* These take the lock; the rank may be PROC_NULL. */
int p2p_post_send(enum p2p_mode mode, const struct gw_data *d, int dst, int tag, struct gw_comm *c, struct gw_req **req_out);
int p2p_post_recv(const struct gw_data *d, int src, int tag, struct gw_comm *c, struct gw_req **req_out);

int p2p_report_member(uint32_t ctx, int rank); /* report.c: proto_upcalls.member */

/* Persistent requests (persistent.c). */
void p2p_persistent_release(struct gw_req *r);
struct gw_req *p2p_persistent_inner(struct gw_req *r);
/* For hang reports, lane's lock held: describes what a partitioned request waits for, with the communicator's context.  False: r is of another
 * kind. */
bool p2p_partitioned_pending(const struct gw_req *r, struct boot_pending *p_out);
/* What the operation of a persistent request of this room (false: it is another room's), or the parts
 * of one of MPI_Isendrecv, wait for; NULL where nothing. */
bool p2p_persistent_pending(struct gw_req *r, struct gw_req **inner_out);
bool p2p_both_pending(struct gw_req *r, struct gw_req **send_out, struct gw_req **recv_out);
uint64_t p2p_posted_number(const struct gw_req *recv);              /* persistent.c: req_upcalls.posted */
void p2p_report_requests(struct gw_req **reqs, int n, bool is_any); /* report.c: req_upcalls.tell */

/* Partitioned operations (partitioned.c). */
static inline bool part_is(const struct gw_req *r) { return r->kind == REQ_PSEND || r->kind == REQ_PRECV; }
int p2p_part_start(struct gw_req *r); /* r is inactive */
int p2p_part_free(struct gw_req **r); /* GW_EREQUEST if it is active */
void p2p_part_finalize(void);

/* Buffered sends (bsend.c): copies into the buffer that applies and sends from there. */
struct bsend_piece {
    struct gw_list link; /* in the buffer, by address */
    struct gw_done done;
    struct gw_status unused; /* of the send */
    struct bsend_buffer *buffer;
    uint64_t number; /* in order of sending */
    char *start;
    int64_t bytes;
};

/* A request of MPI_Buffer_iflush: done when no piece up to `number` is left. */
struct bsend_flush {
    struct gw_req req;
    struct gw_list link;
    uint64_t number;
};
_Static_assert(sizeof(struct bsend_flush) <= GW_REQ_BYTES, "fits a pooled request");

struct bsend_buffer {
    struct gw_lock lock;
    bool attached, automatic;
    char *base;
    int64_t size;
    uint64_t last_number;
    struct gw_list pieces, flushes;
};
/* p2p_state.c: the invariant that does not hold, in words; NULL: all do.  The buffer's lock is held. */
const char *p2p_bsend_broken(const struct bsend_buffer *b);
int p2p_buffered_send(const struct gw_data *d, int dst, int tag, struct gw_comm *c);
int p2p_bsend_init_room(void);
void p2p_bsend_finalize_room(void);

#endif
