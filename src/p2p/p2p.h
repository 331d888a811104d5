/* p2p.h -- point-to-point calls (MPI 4.1 chapters 3 and 4): modes, probe, buffered, persistent, partitioned, cancel, sendrecv.
 *
 * Implementations of the entry points.  The caller has checked the arguments: ranks in range, MPI_PROC_NULL or MPI_ANY_SOURCE; tags in
 * range; types committed; counts >= 0.
 *
 * LOCK    No lock is held by the caller, unless the comment says otherwise; the functions take the lane's lock.
 * RETURNS GW_OK or a negative code, after gw_fail().  Blocking calls return the error of the operation; errors of a request are returned
 *         by the wait or test that retires it.  `status` may be NULL.
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
void p2p_rest(void); /* detaches the process's buffer and waits until all queued messages are sent; p2p can be used again after */
void p2p_finalize(void); /* the same, and releases everything */

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
/* The request of the operation itself: r, or if r is persistent the one that it started; NULL: complete.  Lane's lock held. */
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
int p2p_buffer_detach(struct gw_comm *c, void **buf_out, int64_t *size_out); /* blocks until all buffered messages are sent */
bool p2p_is_quiet(void);                                                     /* no lane has a message queued to be sent */
int p2p_buffer_flush(struct gw_comm *c);
int p2p_buffer_iflush(struct gw_comm *c, struct gw_req **req_out);
/* The same at session level, for its communicators that have no buffer of their own. */
int p2p_family_buffer_attach(struct comm_family *f, void *buf, int64_t size);
int p2p_family_buffer_detach(struct comm_family *f, void **buf_out, int64_t *size_out);
int p2p_family_buffer_flush(struct comm_family *f);
int p2p_family_buffer_iflush(struct comm_family *f, struct gw_req **req_out);
void p2p_family_buffer_end(struct comm_family *f); /* flushes, detaches and frees */

/* Partitioned communication (MPI 4.1 chapter 4).  Each partition of the sender is one message, sent when it is marked ready (with more
 * than PART_MESSAGES_MAX partitions: a group of consecutive ones is).  The two sides may divide the data differently.  `info` has no
 * keys yet.  Several threads may call p2p_pready*() at once, for different partitions. */
#define PART_MESSAGES_MAX 32768
int p2p_psend_init(const void *buf, int partitions, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c,
                   struct gw_info *info, struct gw_req **req_out);
int p2p_precv_init(void *buf, int partitions, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c,
                   struct gw_info *info, struct gw_req **req_out);
int p2p_pready(int partition, struct gw_req *r);
int p2p_pready_range(int low, int high, struct gw_req *r); /* both included */
int p2p_pready_list(int n, const int *partitions, struct gw_req *r);
int p2p_parrived(struct gw_req *r, int partition, int *flag_out); /* r NULL or inactive: true */
/* GODWIT_CHECK: the sender's description of its data; passed to p2p_upcalls.parts_met when a partitioned receive has matched its send. */
struct p2p_parts {
    struct type_signature signature; /* of all partitions */
    int64_t bytes, count;            /* bytes of all partitions; elements of each */
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

/* For rooms above (collectives, making communicators): the same on another stream; ranks are never MPI_PROC_NULL. */
int p2p_stream_isend(enum gw_stream s, const void *buf, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c,
                     struct gw_req **req_out);
int p2p_stream_irecv(enum gw_stream s, void *buf, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c,
                     struct gw_req **req_out);
/* The following take a request of p2p_stream_isend() or p2p_stream_irecv(). */
int p2p_stream_wait(struct gw_req *r);                           /* blocks, recycles r, returns its error */
int p2p_stream_wait_bytes(struct gw_req *r, int64_t *bytes_out); /* the same for a receive, with the number of bytes received */
/* Lane's lock held.  GW_POSTED: done->fn(done, err) is called under the lock at completion, and r is recycled after it; until then
 * p2p_stream_error() records its error text again.  Any other result: complete and recycled. */
int p2p_stream_chain(struct gw_req *r, struct gw_done *done);
int p2p_stream_error(struct gw_req *r);
/* Abandons r: it is recycled at completion and nobody may wait for it.  If no message has matched a receive, its buffer will not be
 * written any more. */
void p2p_stream_drop(struct gw_req *r);
/* Cancels a chained request; lane's lock held.  Its done->fn is called, perhaps within this call; an unmatched receive completes with
 * no bytes. */
void p2p_stream_cancel(struct gw_req *r);
/* To be called before p2p_stream_drop() or p2p_stream_cancel() of a receive, lane's lock held: a message for it that arrives later is
 * received and discarded, so that a rendezvous sender does not wait for ever and no later receive matches the message. */
void p2p_stream_absorb(const struct gw_req *r);
/* `rc` is what the function that made r returned.  done->fn(done, err) is called when that operation is complete, at once if it is
 * already, under the lane's lock, which this function takes.  *r still has the status of a receive then. */
void p2p_stream_then(struct gw_comm *c, int rc, struct gw_req *r, struct gw_done *done);

/* Lane's lock held; walks the unexpected messages.  Is there one from the source that the receive r waits for, on the same stream, whose
 * tag differs from r's only in `bits`? */
struct p2p_rival {
    int src, tag, want;
    int64_t bytes;
};
bool p2p_stream_rival(struct gw_req *r, int bits, struct p2p_rival *out);
/* Calls left->done.fn for each unexpected message of this communicator and stream, with its description in left->message.  Lane's lock
 * held. */
struct p2p_left {
    struct gw_done done;
    struct p2p_rival message;
};
void p2p_stream_each_left(struct gw_comm *c, enum gw_stream s, struct p2p_left *left);

/* ---- active messages (listen.c) ----
 * Receives the messages of one tag of a private communicator, from any source, one at a time, and passes each to a handler from progress. */
struct p2p_listener {
    struct gw_comm *comm; /* this and the next five are set by the owner before p2p_listen() */
    int tag;
    void *buf;             /* receive buffer */
    int64_t room;          /* its bytes: the longest message must fit */
    struct gw_done *heard; /* the handler: heard->fn is called with a message in buf and no lock held; it may send, but not wait */
    bool by_service;       /* the handler calls no function of the user (struct req_work) */
    int source;            /* for the handler: the sender's rank in comm, */
    int64_t bytes;         /* and the bytes it sent */
    struct gw_req *req;
    _Atomic bool is_closing, is_closed;
    struct gw_done arrived;
    struct req_work work;
};
void p2p_listen(struct p2p_listener *l);
int p2p_listen_end(struct p2p_listener *l); /* nobody may send any more; waits until the last message has been handled */

/* The error text of an inner request, kept until the wait or test that retires the outer one. */
struct p2p_error {
    struct gw_done done;
    char *text;
};
void p2p_error_keep(struct gw_req *outer, struct p2p_error *e, int err); /* keeps gw_fail_text() */

/* ---- hang reports: what a long wait is for (report.c, struct boot_where) ----
 * Called by the waiting thread between node_report_begin() and p2p_report_end(): adds what r waits for; fills in the name of a communicator; adds the
 * unexpected messages of the lane and ends the report. */
void p2p_report_request(struct boot_where *where, struct gw_req *r);
void p2p_report_comm(struct boot_pending *p, uint32_t ctx_id, struct gw_comm *c); /* c NULL: looked up by ctx_id */
void p2p_report_end(struct boot_where *where, struct gw_lane *lane);

/* Upcalls to the rooms above.  Each is set once, at init of the room named in its comment, and is NULL before. */
struct p2p_upcalls {
    /* plan: adds what a request of kind REQ_COLL waits for; lane's lock held */
    void (*report_coll)(struct gw_req *r, struct boot_where *where);
    /* io: the collective that a request of kind REQ_FILE waits for; NULL: something else; lane's lock held */
    struct gw_req *(*file_waits_for)(struct gw_req *r);
    void (*parts_met)(const struct p2p_parts_met *m); /* check: a partitioned receive has matched its send; lane's lock held */
};
extern struct p2p_upcalls p2p_upcalls;

#endif
