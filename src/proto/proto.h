/* proto.h -- message protocols: E0 and E1 eager, R0 and R1 rendezvous; the matching side of receives.
 *
 *   E0  inline: header and payload in one slot of the wire             (<= caps.short_max)
 *   E1  eager through the wire's buffers, copied at both ends          (<= gw_set.eager_max)
 *   R0  rendezvous, zero copy: the receiver reads the sender's memory (wire get); of large messages on a node sender and receiver copy
 *       pieces of one job at the same time
 *   R1  rendezvous, pipelined: pieces through the wire's buffers, packed and unpacked on the fly
 *
 * proto_select.c chooses; gw_set.proto forces one (tests run all four).  Flow control: a receiver that holds too many unexpected bytes
 * raises its `xoff` flag.  Senders then send everything by rendezvous; of a small message they keep a copy, so that the send completes
 * at once all the same.
 *
 * LOCK      The caller holds the lock of the communicator's lane in all calls, unless the comment says otherwise.
 * ARGUMENTS `ctx` is the communicator's context id with the stream (gw_stream) in its low bits; ranks are never MPI_PROC_NULL; types are
 *           committed.  A request holds a reference to its type until completion, if it needs the type.
 *           The CPU may touch all data (gw_data_is_cpu()).
 * ERRORS    Negative codes, after gw_fail().
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PROTO_PROTO_H
#define GW_PROTO_PROTO_H

#include "base/base.h"
#include "boot/boot.h"
#include "boot/where.h"
#include "match/match.h"
#include "req/req.h"

/* Modes of a send.  SYNC: completes only when matched (MPI_Ssend).  LATER: a standard send whose request is waited for later (MPI_Isend),
 * so it may be delayed to be coalesced with the next one. */
enum proto_mode { PROTO_STANDARD, PROTO_LATER, PROTO_SYNC };

/* Where a message goes to or comes from.  Filled from the communicator by the rooms above: this room does not know struct gw_comm. */
struct proto_addr {
    struct gw_lane *lane;
    struct gw_peer *peer; /* receives: NULL for ANY_SOURCE */
    uint32_t ctx;
    int32_t my_rank;    /* this process's rank in the communicator: the source that the receiver matches */
    int32_t rank;       /* the peer's rank in the communicator; receives: or GW_ANY_SOURCE */
    int32_t tag;        /* receives: or GW_ANY_TAG */
    const void *errctx; /* the communicator whose error handler gets errors; opaque here */
    bool is_near;       /* receives from any source: all possible senders are on this node */
};

int proto_init(void);    /* creates the lanes' match queues */
int proto_connect(void); /* second step: calls peer_init(), with this room's functions as its upcalls */
void proto_finalize(void);

/* Fast path of a standard send to another node.  True: sent and complete.  False: nothing was done, call proto_send(). */
bool proto_send_far(const struct proto_addr *a, const void *buf, int64_t count, struct gw_type *t);
/* GW_OK: complete, *req_out = &gw_req_sent.  GW_POSTED: *req_out completes later.  Never GW_AGAIN: what the wire refuses is queued. */
int proto_send(const struct proto_addr *a, const struct gw_data *d, enum proto_mode mode, struct gw_req **req_out);
/* The same for a standard send that can complete at once (E0, E1).  GW_OK: complete.  GW_AGAIN: nothing was sent. */
int proto_send_try(const struct proto_addr *a, const struct gw_data *d);
/* Returns GW_POSTED, also if the request is complete already (see `done`).  A truncated message ends the request with GW_ETRUNCATE. */
int proto_recv(const struct proto_addr *a, const struct gw_data *d, struct gw_req **req_out);
/* The same for blocking receives, with a request in the caller's storage (GW_REQ_BYTES) in place of one from the pool. */
int proto_recv_into(const struct proto_addr *a, const struct gw_data *d, struct gw_req *storage);
/* Fast path of a blocking receive: if nothing else is pending, polls the rings briefly for this message and consumes it without a request.
 * False: nothing was done.  Only without MPI_THREAD_MULTIPLE. */
bool proto_recv_direct(const struct proto_addr *a, void *buf, int64_t count, struct gw_type *t, struct gw_status *status);

/* Probing.  A message returned by proto_improbe() is out of the queue; the caller owns it until proto_mrecv(). */
struct proto_msg;
bool proto_iprobe(const struct proto_addr *a, struct gw_status *status);
struct proto_msg *proto_improbe(const struct proto_addr *a, struct gw_status *status);
int proto_mrecv(struct gw_lane *lane, struct proto_msg *m, const struct gw_data *d, const void *errctx, struct gw_req **req_out);
struct gw_lane *proto_msg_lane(struct proto_msg *m);

/* Starts to cancel the operation.  The request completes in any case; status.cancelled says whether it was cancelled. */
void proto_cancel(struct gw_req *r);
/* To be called before a posted receive is cancelled whose message may still arrive: that message will be received and discarded, so that
 * its sender does not wait for ever.  No effect if a message has matched already, or if the network does the matching. */
void proto_absorb(const struct gw_req *r);
/* nothing is queued to be sent and no copy is kept for a receiver; finalize waits for this */
bool proto_drained(struct gw_lane *lane);
/* on: no receive will be posted any more, so senders of unmatched synchronous and rendezvous messages are notified.  false: ends that. */
void proto_leave(struct gw_lane *lane, bool on);

/* Returns the error of a completed receive and records its text for the calling thread (another thread may have handled the message).
 * For receives in the caller's storage; for other requests the wait or test that retires them does this. */
int proto_error(struct gw_req *r);

/* ---- for hang reports (proto_report.c), lane's lock held ----
 * Describes what a pending request of this room waits for.  `world` is set for sends only; the caller finds it for receives. */
void proto_describe(const struct gw_req *r, struct boot_pending *p_out);
/* Adds to *where: the number of unexpected messages of contexts that have no bit of `mask`, and descriptions of those that are most
 * similar to `like` (ctx, peer, tag; NULL: of the first ones), without communicator names.  Contexts here include the stream bits. */
void proto_describe_unexpected(struct gw_lane *lane, const struct boot_pending *like, uint32_t mask, struct boot_where *where);

/* Calls l->done.fn for each unexpected message, with the other members of *l filled in.  Lane's lock held. */
struct proto_left {
    struct gw_done done;
    uint32_t ctx;
    int src, tag;
    int64_t bytes;
};
void proto_each_left(struct gw_lane *lane, struct proto_left *l);

/* Queue lengths of one context: posted receives, unexpected messages, and bytes of these.  Walks all queues of the lane: slow. */
struct proto_lengths {
    int64_t posted, messages, bytes;
};
void proto_lengths(struct gw_lane *lane, uint32_t ctx, struct proto_lengths *out);

#define PROTO_STREAM_MASK 7u /* low bits of a context on the wire: enum gw_stream; 0: the user's point-to-point messages */
/* ---- GODWIT_CHECK (proto_note.c) ----
 * With gw_checking, messages of stream 0 carry their type signature.  If it does not fit the matching receive, proto_upcalls.mismatch is
 * called, with the lane's lock held.
 * proto_note_as: the next send of this thread is reported with the types of (count, t), although it is passed down as bytes; t NULL: takes
 * that back, the message was not sent. */
void proto_note_as(int64_t count, struct gw_type *t);
void proto_note_ready(bool is_ready); /* until called again: sends of this thread are ready sends */
/* A message has matched this receive; nothing has been written to the buffer yet.  Lane's lock held. */
struct proto_meeting {
    const struct gw_req *req;
    const void *buf;
    int64_t count;
    struct gw_type *type;
};
bool proto_is_posted(const struct gw_req *r); /* r is a receive that no message has matched yet; lane's lock held */
/* A ready send has arrived without a posted receive. */
struct proto_unready {
    uint32_t ctx;
    int src, tag;
    int64_t count;
    const char *type;
};
struct proto_mismatch {
    uint32_t ctx; /* of the wire */
    int src, tag, world;
    int64_t sent_count, recv_count;
    const char *sent_type, *recv_type;
    const void *recv_buf;
};

/* The protocols. */
/* Limits between nodes, in bytes, as settings and defaults have them; the wire's own may be lower. */
int64_t proto_far_short_default(int size); /* of E0, by the ranks of the job */
int64_t proto_far_eager(bool is_soft);     /* of E1; is_soft: wire_caps.soft */

/* Of unexpected messages on a lane, as the setting unexpected_max=auto comes to now; *limit_out: what limits the memory. */
int64_t proto_unexpected_room(const char **limit_out);

enum proto_path { PROTO_E0, PROTO_E1, PROTO_R0, PROTO_R1, PROTO_PATHS };
/* Messages and bytes sent to one process (by its number, see struct gw_peer), or to all (world -1): the user's and the library's own.
 * Read without a lock, so not exact. */
struct proto_tally {
    uint64_t messages[PROTO_PATHS], bytes[PROTO_PATHS];
};
void proto_sent_to(int world, struct proto_tally *sum_out);
void proto_explain(void);   /* GODWIT_EXPLAIN=proto: prints these counts; before peer_finalize() */
int64_t proto_posted(void); /* number of posted receives, on all lanes */
int proto_tag_max(void);    /* the largest tag that can be sent: INT_MAX, or less if the network matches messages */

/* Upcalls to the rooms above.  Each is set once, at init of the room named in its comment, and is NULL before. */
struct proto_upcalls {
    int (*member)(uint32_t ctx, int rank);          /* p2p: the number of the process with this rank in the context; -1: unknown */
    void (*meeting)(const struct proto_meeting *m); /* this and the next two: check; lane's lock held */
    void (*unready)(const struct proto_unready *u);
    void (*mismatch)(const struct proto_mismatch *m);
};
extern struct proto_upcalls proto_upcalls;

#endif
