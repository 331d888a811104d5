/* proto.h -- message protocols: E0 and E1 eager, R0 and R1 rendezvous; the matching side of receives.
 *
 *   E0  header and payload in one short slot of the wire          (<= caps.short_max)
 *   E1  eager through the wire's buffers, copied on both sides    (<= gw_set.eager_max)
 *   R0  rendezvous, the receiver copies straight from the sender's memory (wire get); for large messages the sender
 *       helps: both claim pieces of one job
 *   R1  rendezvous, pieces through the wire's buffers, packed and unpacked on the fly
 * proto_select.c chooses; gw_set.proto forces one (tests run all four).  A receiver that holds too many unexpected bytes raises its
 * `choked` flag: senders then use rendezvous for everything, of small messages from a copy, so that those sends are over at once.
 *
 * All calls: the lane's lock of `c` is held by the caller.  `ctx` is c->ctx | stream.  dst/src are ranks in c (not PROC_NULL).
 * Types are committed; the request holds a reference until completion only where it needs one.
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

/* SYNC: complete only when matched (Ssend).  LATER: standard, and the caller comes back for its request (Isend), so that one of many in a
 * row may wait for the next. */
enum proto_mode { PROTO_STANDARD, PROTO_LATER, PROTO_SYNC };

/* What a send or receive needs to know of the communicator; comm/ lies above, so it comes as data. */
struct proto_addr {
    struct gw_lane *lane;
    struct gw_peer *peer; /* receives: NULL for ANY_SOURCE */
    uint32_t ctx;
    int32_t my_rank;    /* in the communicator: the source that the receiver matches */
    int32_t rank;       /* peer's rank in the communicator; receives may say GW_ANY_SOURCE */
    int32_t tag;        /* receives may say GW_ANY_TAG */
    const void *errctx; /* the communicator, for errors; opaque */
    bool is_near;       /* receives from any source: all of them are on this node */
};

int proto_init(void);    /* lanes' match queues */
int proto_connect(void); /* then: peer_init(), as the room that its upcalls go to */
void proto_finalize(void);

/* Fast path of a standard send to another node.  True: it is sent, and over.  False: nothing happened, proto_send() knows what to do. */
bool proto_send_far(const struct proto_addr *a, const void *buf, int64_t count, struct gw_type *t);
/* GW_OK: complete, *req_out = &gw_req_sent.  GW_POSTED: *req_out completes later.  Never GW_AGAIN (it queues), else error. */
int proto_send(const struct proto_addr *a, const void *buf, int64_t count, struct gw_type *t, enum proto_mode mode,
               struct gw_req **req_out);
/* The same for a standard send that can be over at once (E0, E1): GW_OK, or GW_AGAIN: nothing was sent. */
int proto_send_try(const struct proto_addr *a, const void *buf, int64_t count, struct gw_type *t);
/* GW_POSTED, also when already complete (look at done).  Truncation: the request ends with GW_ETRUNCATE. */
int proto_recv(const struct proto_addr *a, void *buf, int64_t count, struct gw_type *t, struct gw_req **req_out);
/* The blocking receive without a pool request: same, into caller's storage of GW_REQ_BYTES. */
int proto_recv_into(const struct proto_addr *a, void *buf, int64_t count, struct gw_type *t, struct gw_req *storage);
/* Fast path of a blocking receive: while nothing else is under way, waits a moment for a line in a ring that is this message, and
 * takes it without a request.  False: nothing happened.  Without threads only. */
bool proto_recv_direct(const struct proto_addr *a, void *buf, int64_t count, struct gw_type *t, struct gw_status *status);

/* Probing.  A message found by proto_mprobe is out of the queue and owned by the caller until proto_mrecv. */
struct proto_msg;
bool proto_iprobe(const struct proto_addr *a, struct gw_status *status);
struct proto_msg *proto_improbe(const struct proto_addr *a, struct gw_status *status);
int proto_mrecv(struct gw_lane *lane, struct proto_msg *m, void *buf, int64_t count, struct gw_type *t, const void *errctx,
                struct gw_req **req_out);
struct gw_lane *proto_msg_lane(struct proto_msg *m);

/* Asks that the operation be cancelled; it completes either way (status.cancelled tells). */
void proto_cancel(struct gw_req *r);
/* Before a receive is cancelled whose message may come all the same: that is then taken for nothing, for its sender may wait to be received.
 * Of one that is posted here; nothing happens where a message has met it, or the network matches. */
void proto_absorb(const struct gw_req *r);
bool proto_drained(struct gw_lane *lane); /* nothing queued to go out, no copy kept for a receiver: finalize waits for it */
/* No receive will be posted any more (until it is called with false): messages that asked are told so. */
void proto_leave(struct gw_lane *lane, bool on);

/* The error of a completed receive, with its words recorded again for the calling thread: another thread may have seen the
 * message arrive.  For receives in the caller's storage; requests get the same from the wait or test that retires them. */
int proto_error(struct gw_req *r);

/* ---- for reports (proto_tell.c), lane's lock held ----
 * What a request of this room that is not done waits for; of a send, `world` is set, of a receive who asks finds it. */
void proto_describe(const struct gw_req *r, struct boot_pending *p_out);
/* Counts the unexpected messages of contexts without a bit of `mask`; puts those that are most like `like` (ctx, peer, tag; NULL: the
 * first ones) into where->unexpected, without names.  Contexts here are those of the wire. */
void proto_describe_unexpected(struct gw_lane *lane, const struct boot_pending *like, uint32_t mask, struct boot_where *where);

/* l->done.fn is called for each message that no receive has taken, with what is behind `done` filled in; lane's lock held. */
struct proto_left {
    struct gw_done done;
    uint32_t ctx;
    int src, tag;
    int64_t bytes;
};
void proto_each_left(struct gw_lane *lane, struct proto_left *l);

/* How long a context's queues are: receives that wait, messages held for which none is posted and their bytes.  Walks the lane's. */
struct proto_lengths {
    int64_t posted, messages, bytes;
};
void proto_lengths(struct gw_lane *lane, uint32_t ctx, struct proto_lengths *out);

#define PROTO_STREAM_MASK 7u /* of a context on the wire: the stream, 0 is the user's; comm/ says what the others are */
/* ---- GODWIT_CHECK (proto_note.c): with gw_checking, messages of stream 0 carry their type signature, and a message that meets a
 * receive of other types is shown to proto_upcalls.mismatch, the lane's lock held.  The next send of this thread has the types of
 * (count, t) though it is handed on as bytes; NULL: it was not sent. */
void proto_note_as(int64_t count, struct gw_type *t);
void proto_note_ready(bool is_ready); /* what this thread sends are ready sends, until further notice */
/* A message meets this receive, into whose buffer nothing of it has been written yet; the lane's lock is held. */
struct proto_meeting {
    const struct gw_req *req;
    const void *buf;
    int64_t count;
    struct gw_type *type;
};
bool proto_is_posted(const struct gw_req *r); /* a receive that has met none; with the lane's lock */
/* A ready send has come for which no receive is posted. */
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

/* The ways of a message. */
enum proto_path { PROTO_E0, PROTO_E1, PROTO_R0, PROTO_R1, PROTO_PATHS };
/* What went to a process (by its number: world rank, or that of node/), or (world -1) to all: user's messages and the library's own.  Read without a lock. */
struct proto_tally {
    uint64_t messages[PROTO_PATHS], bytes[PROTO_PATHS];
};
void proto_sent_to(int world, struct proto_tally *sum_out);
void proto_explain(void);   /* GODWIT_EXPLAIN=proto: says how many, while the peers are there */
int64_t proto_posted(void); /* receives that wait for a message */
int proto_tag_max(void);    /* the largest tag, INT_MAX unless the network matches messages */

/* What this room says to, and asks, the rooms above.  Each is set once, at the init of the room that is named, and NULL before. */
struct proto_upcalls {
    int (*member)(uint32_t ctx, int rank);          /* p2p: the number of the process that has this rank; -1: unknown */
    void (*meeting)(const struct proto_meeting *m); /* check, as the others: lane's lock held */
    void (*unready)(const struct proto_unready *u);
    void (*mismatch)(const struct proto_mismatch *m);
};
extern struct proto_upcalls proto_upcalls;

#endif
