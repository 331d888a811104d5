/* p2p.h -- point-to-point calls (MPI 4.1 chapters 3 and 4): modes, probe, buffered, persistent, partitioned, cancel, sendrecv.
 *
 * Targets of the entry points.  Arguments are checked (ranks in range or PROC_NULL/ANY, tags in range, types committed,
 * counts >= 0).  These functions take the lane's lock.  status may be NULL.  Errors that belong to a
 * request are returned by the wait/test that retires it; blocking calls return them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_P2P_P2P_H
#define GW_P2P_P2P_H

#include "base/base.h"
#include "boot/where.h"
#include "comm/comm.h"
#include "node/node.h"

int p2p_init(void);
void p2p_rest(void);     /* detaches the process's buffer, waits until nothing is queued to go out: other ranks need us no more */
void p2p_finalize(void); /* the same, and the end */

int p2p_send(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c);
int p2p_ssend(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c);
int p2p_bsend(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c);
int p2p_rsend(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c);
int p2p_recv(void *buf, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c, struct gw_status *status);

int p2p_isend(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c, struct gw_req **req_out);
int p2p_issend(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c, struct gw_req **req_out);
int p2p_ibsend(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c, struct gw_req **req_out);
int p2p_irsend(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c, struct gw_req **req_out);
int p2p_irecv(void *buf, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c, struct gw_req **req_out);

int p2p_send_init(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c, struct gw_req **req_out);
int p2p_ssend_init(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c, struct gw_req **req_out);
int p2p_bsend_init(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c, struct gw_req **req_out);
int p2p_rsend_init(const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c, struct gw_req **req_out);
int p2p_recv_init(void *buf, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c, struct gw_req **req_out);
/* The operation that an active request of this room runs: itself, or that of a persistent one; NULL: it is over.  With the lane's lock. */
struct gw_req *p2p_running(struct gw_req *r);
int p2p_start(struct gw_req **r); /* GW_EREQUEST if not persistent or active */
int p2p_startall(int n, struct gw_req **r);
int p2p_request_free(struct gw_req **r);
int p2p_cancel(struct gw_req **r);
int p2p_test_cancelled(const struct gw_status *s, int *flag_out);

int p2p_probe(int src, int tag, struct gw_comm *c, struct gw_status *status);
int p2p_iprobe(int src, int tag, struct gw_comm *c, int *flag_out, struct gw_status *status);
/* A matched message is an object (GW_KIND_MSG); gw_msg_no_proc is MPI_MESSAGE_NO_PROC. */
struct gw_msg {
    struct gw_obj obj;
    struct proto_msg *m;
    struct gw_comm *comm;
};
extern struct gw_msg gw_msg_no_proc;
int p2p_mprobe(int src, int tag, struct gw_comm *c, struct gw_msg **msg_out, struct gw_status *status);
int p2p_improbe(int src, int tag, struct gw_comm *c, int *flag_out, struct gw_msg **msg_out, struct gw_status *status);
int p2p_mrecv(void *buf, int64_t count, struct gw_type *t, struct gw_msg **msg, struct gw_status *status);
int p2p_imrecv(void *buf, int64_t count, struct gw_type *t, struct gw_msg **msg, struct gw_req **req_out);

int p2p_sendrecv(const void *sbuf, int64_t scount, struct gw_type *st, int dst, int stag, void *rbuf, int64_t rcount,
                 struct gw_type *rt, int src, int rtag, struct gw_comm *c, struct gw_status *status);
int p2p_sendrecv_replace(void *buf, int64_t count, struct gw_type *t, int dst, int stag, int src, int rtag, struct gw_comm *c,
                         struct gw_status *status);
int p2p_isendrecv(const void *sbuf, int64_t scount, struct gw_type *st, int dst, int stag, void *rbuf, int64_t rcount,
                  struct gw_type *rt, int src, int rtag, struct gw_comm *c, struct gw_req **req_out);
int p2p_isendrecv_replace(void *buf, int64_t count, struct gw_type *t, int dst, int stag, int src, int rtag, struct gw_comm *c,
                          struct gw_req **req_out);

/* Buffered mode (section 3.6).  c NULL: the process-wide buffer.  buf GW_BUFFER_AUTOMATIC: grows by itself. */
int p2p_buffer_attach(struct gw_comm *c, void *buf, int64_t size);
int p2p_buffer_detach(struct gw_comm *c, void **buf_out, int64_t *size_out); /* blocks until sent */
bool p2p_is_quiet(void);                                                     /* nothing is queued to go out, on any lane */
int p2p_buffer_flush(struct gw_comm *c);
int p2p_buffer_iflush(struct gw_comm *c, struct gw_req **req_out);
/* The same for the communicators of a session that have no buffer of their own. */
int p2p_family_buffer_attach(struct comm_family *f, void *buf, int64_t size);
int p2p_family_buffer_detach(struct comm_family *f, void **buf_out, int64_t *size_out);
int p2p_family_buffer_flush(struct comm_family *f);
int p2p_family_buffer_iflush(struct comm_family *f, struct gw_req **req_out);
void p2p_family_buffer_end(struct comm_family *f); /* flushes, detaches, and gives back what was needed for it */

/* Partitioned communication (MPI 4.1 chapter 4).  Each partition of the sender is a message of its own that goes when it is
 * ready (beyond PART_MESSAGES_MAX partitions: a group of neighbours).  The two sides may divide the data differently; `info`
 * has no keys yet.  p2p_pready* may be called by several threads at once, for different partitions. */
#define PART_MESSAGES_MAX 32768
int p2p_psend_init(const void *buf, int partitions, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c,
                   struct gw_info *info, struct gw_req **req_out);
int p2p_precv_init(void *buf, int partitions, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c,
                   struct gw_info *info, struct gw_req **req_out);
int p2p_pready(int partition, struct gw_req *r);
int p2p_pready_range(int low, int high, struct gw_req *r); /* both included */
int p2p_pready_list(int n, const int *partitions, struct gw_req *r);
int p2p_parrived(struct gw_req *r, int partition, int *flag_out); /* r NULL or inactive: true */
/* GODWIT_CHECK: what the sender says of its data; told, if somebody asks, when a receive meets its send, with the lane's lock held. */
struct p2p_parts {
    struct type_signature signature; /* of all partitions */
    int64_t bytes, count;            /* in all; of each */
    int32_t partitions;
    int32_t may_be_any; /* MPI_PACKED is in it */
    char type[32];
};
struct p2p_parts_met {
    const struct gw_req *req; /* the receive */
    struct gw_comm *comm;
    int src, tag, partitions;
    int64_t count;
    struct gw_type *type;
    const struct p2p_parts *sent;
};

/* For rooms above (collectives, making communicators): same, on another stream, ranks never PROC_NULL.
 * Blocking use: p2p_stream_send / recv.  Non-blocking: requests with notify. */
int p2p_stream_isend(enum gw_stream s, const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c,
                     struct gw_req **req_out);
int p2p_stream_irecv(enum gw_stream s, void *buf, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c,
                     struct gw_req **req_out);
int p2p_stream_wait(struct gw_req *r);                           /* blocks, recycles, returns its error */
int p2p_stream_wait_bytes(struct gw_req *r, int64_t *bytes_out); /* the same of a receive: how many bytes came */
/* With the lane's lock held, of a request of the two above.  GW_POSTED: done->fn(done, err) is called under the lock when it is
 * complete, while p2p_stream_error() still says its error again, and then it is recycled.  Else it is complete and recycled. */
int p2p_stream_chain(struct gw_req *r, struct gw_done *done);
int p2p_stream_error(struct gw_req *r);
/* Of a request of the two above, for somebody who gives up what it belongs to: nobody waits for it any more, and it goes back to the pool by
 * itself.  A receive that no message has met will not be written any more. */
void p2p_stream_drop(struct gw_req *r);
/* The same, lane's lock held, of one that is chained: whoever that is learns of its end, which may be now.  A receive to which nothing has come
 * completes with no bytes. */
void p2p_stream_cancel(struct gw_req *r);
/* Before one of these two, lane's lock held: a message that would have met this receive is taken for nothing, should it come, so that who
 * sent it by rendezvous does not wait for ever, and nothing is left that a later receive would take for its own. */
void p2p_stream_absorb(const struct gw_req *r);
/* Of a request of the two above and what they answered, `rc`; it takes the lock, under which done->fn(done, err) is called when that is
 * complete, now if it is.  Meanwhile the status of a receive is still in *r. */
void p2p_stream_then(struct gw_comm *c, int rc, struct gw_req *r, struct gw_done *done);

/* Lane's lock held; walks the messages that nobody has received.  Is there one from whom the receive r waits for, on its stream, whose tag
 * differs from that which r wants only in these bits? */
struct p2p_rival {
    int src, tag, want;
    int64_t bytes;
};
bool p2p_stream_rival(struct gw_req *r, int bits, struct p2p_rival *out);
/* Calls left->done for each message on this stream of the communicator that nobody has received, with what it is in `message`,
 * the lane's lock held. */
struct p2p_left {
    struct gw_done done;
    struct p2p_rival message;
};
void p2p_stream_each_left(struct gw_comm *c, enum gw_stream s, struct p2p_left *left);

/* ---- answering from within progress (listen.c) ----
 * Takes the messages of one tag of a private communicator, whoever sends them, one after the other. */
struct p2p_listener {
    struct gw_comm *comm; /* these five are the owner's, set before */
    int tag;
    void *buf; /* [room]: the longest message fits */
    int64_t room;
    struct gw_done *heard; /* heard->fn: the message lies in buf; no lock is held; it may send, but not wait */
    int source;            /* meanwhile: a rank of comm, and how many bytes it sent */
    int64_t bytes;
    struct gw_req *req;
    _Atomic bool is_closing, is_closed;
    struct gw_done arrived;
    struct req_work work;
};
void p2p_listen(struct p2p_listener *l);
int p2p_listen_end(struct p2p_listener *l); /* nobody sends any more; waits until the last message has been handled */

/* The words of an error of an inner request, kept until the wait or test that retires the outer one. */
struct p2p_error {
    struct gw_done done;
    char *text;
};
void p2p_error_keep(struct gw_req *outer, struct p2p_error *e, int err); /* gw_fail_text() holds the words */

/* ---- saying what a long wait is for (tell.c; see struct boot_where) ----
 * Between node_tell() and p2p_told(), by who waits: adds what `r` waits for; names a communicator; adds the unexpected messages. */
void p2p_tell_request(struct boot_where *where, struct gw_req *r);
void p2p_tell_comm(struct boot_pending *p, uint32_t ctx_id, struct gw_comm *c); /* c NULL: found by its id */
void p2p_told(struct boot_where *where, struct gw_lane *lane);

/* What this room says to, and asks, the rooms above.  Each is set once, at the init of the room that is named, and NULL before. */
struct p2p_upcalls {
    void (*tell_coll)(struct gw_req *r,
                      struct boot_where *where);      /* plan: adds what a request of kind REQ_COLL waits for; lane's lock */
    void (*parts_met)(const struct p2p_parts_met *m); /* check: a partitioned receive has met its send */
};
extern struct p2p_upcalls p2p_upcalls;

#endif
