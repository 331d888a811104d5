/* proto_private.h -- shared by the files of proto: the state of a lane, receives, outgoing operations, unexpected messages.
 *
 * LOCK      All state here belongs to one lane; the functions are called with that lane's lock held.
 * is_far    of NAME_arrived(): the message came over a network, not through the node's shared memory.  Such functions validate what the
 *           message says, and drop and count an invalid one (proto_msg_reject).
 * PEERS     Unless the comment says otherwise, a peer is READY (peer.h).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PROTO_PROTO_PRIVATE_H
#define GW_PROTO_PROTO_PRIVATE_H

#include <stdio.h>

#include "base/arena.h"
#include "boot/boot.h"
#include "proto/proto_fast.h"

/* ---- pools (proto_pool.c): blocks of one size, never given back before the end ------------------------------- */
struct proto_pool {
    size_t size;
    void *free;        /* free blocks, linked through their first word */
    char *fresh, *end; /* the part of the newest slab that has never been used, so that its pages are not touched */
    struct pool_slab *slabs;
};
void proto_pool_init(struct proto_pool *p, size_t size);
void *proto_pool_take_slow(struct proto_pool *p);
void proto_pool_finish(struct proto_pool *p);
static inline void *proto_pool_take(struct proto_pool *p) /* never NULL: dies when memory is out */
{
    void *b = p->free;
    if (unlikely(!b)) return proto_pool_take_slow(p);
    gw_unpoison(b, p->size);
    p->free = *(void **)b;
    return b;
}
static inline void proto_pool_give(struct proto_pool *p, void *b)
{
    *(void **)b = p->free;
    p->free = b;
    gw_poison(b, p->size);
}

/* ---- cookies (proto_cookie.c): names of this lane's records for other processes; never 0 ---------------------------- */
struct proto_cookies {
    struct proto_cookie_slot *places;
    uint32_t room, free; /* places allocated; index + 1 of the first free place, 0: none */
};
uint64_t proto_cookie_give(struct proto_cookies *n, void *what);
void *proto_cookie_find(const struct proto_cookies *n, uint64_t name); /* NULL: never given, or revoked */
void proto_cookie_revoke(struct proto_cookies *n, uint64_t name);
void proto_cookies_finish(struct proto_cookies *n);
#define COOKIE_OF_MSG ((uint64_t)1 << 63) /* set in cookies of proto_lane.ahead_cookies; never set in those of the other tables */

/* ---- unexpected messages ---------------------------------------------------------------------------------------
 * Blocks of the lane's arena: 64 bytes and the payload, rounded up to 16. */
enum { MSG_DATA_MAX = 1 << 20 };
struct proto_msg {
    struct match_msg m;
    int32_t world;  /* number of the sender */
    uint32_t bytes; /* of data[] */
    uint8_t kind;   /* EAGER, EAGER_SYNC or RTS */
    uint8_t lane;
    bool has_note;  /* GODWIT_CHECK: a pointer follows data[], see msg_note() */
    uint8_t ahead;  /* enum ahead_state; if not AHEAD_NOT, data[] is a struct msg_kept */
    uint8_t data[]; /* the payload as it arrived */
} GW_ALIGNED(GW_ARENA_UNIT);
_Static_assert(sizeof(struct proto_msg) == 64 && offsetof(struct proto_msg, data) == 64,
               "what an unexpected message costs besides its data");
/* The RTS of a message that a sender on another node keeps; linked in proto_lane.kept_there.  States: proto_ahead.c. */
enum ahead_state { AHEAD_NOT, AHEAD_KEPT, AHEAD_ASKED, AHEAD_HERE, AHEAD_LEFT };
struct proto_recv;
struct msg_kept {
    struct proto_rts rts;
    struct gw_list link;
    uint64_t name; /* ASKED, LEFT: our cookie, with COOKIE_OF_MSG */
    union {
        struct proto_recv *recv; /* ASKED: the receive that has matched it; NULL: none yet */
        char *data;              /* HERE: in the lane's arena */
    };
};
_Static_assert(sizeof(struct msg_kept) == 64, "memory per kept message, besides its header");
_Static_assert(GW_MAX_LANES <= 256 && (int)MATCH_UNIT == (int)GW_ARENA_UNIT, "a byte names the lane; 32 bits name a block");

/* ---- outgoing operations -------------------------------------------------------------------------------------
 * A send that did not complete at once, or a control message that the wire refused.
 *
 *   QUEUED   in the out queue of its peer: the wire was full, or the peer NEW.  The only state of control messages
 *   ASKED    EAGER_SYNC or RTS has been sent; waits for ACK, FIN, CTS or HELP
 *   PIECES   R1: sends DATA through the wire's buffers.  PUTTING: R1 by writes of the network card
 *   HELPING  R0 with the sender's help: claims pieces of a job and writes them
 *   COPIED   waits for FIN; there is nothing else to do
 *
 *   QUEUED -> ASKED [proto_out.c]; ASKED -> PIECES, PUTTING [CTS], HELPING [HELP]; HELPING -> COPIED */
enum op_state { OP_QUEUED = 1, OP_ASKED, OP_PIECES, OP_PUTTING, OP_HELPING, OP_COPIED };
struct proto_op {
    struct gw_list link; /* proto_out.ops, proto_lane.asked or proto_lane.op_work */
    struct gw_req *req;  /* NULL: control message, or already complete */
    struct gw_peer *peer;
    uint8_t state, kind, ctl_len;
    bool wants_cancel_ack; /* CANCEL has been sent: the operation exists until CANCEL_ACK arrives */
    bool is_over;          /* nothing else keeps it */
    bool may_be_read;      /* the RTS has the address of the data, and the message is not counted yet */
    bool is_kept;          /* `data` is a copy in the arena: the send completes once the RTS is sent (proto_keep.c) */
    bool no_room;          /* a small message that waits for its receive, since neither end has room for it */
    bool is_put_refused;   /* HELPING: the wire cannot write to the receiver; the piece is sent as DATA */
    bool has_fault;        /* a part of the data cannot be read by this process */
    uint64_t name;         /* our cookie, by which the receiver refers to it; 0: none yet */
    union {
        struct proto_hdr hdr;
        struct proto_ctl ctl;
    };
    uint8_t payload[PROTO_CTL_MAX];
    struct gw_data data; /* type: held unless predefined; NULL for control messages */
    struct type_cursor *cursor;
    int64_t pos, end;         /* PIECES, PUTTING, HELPING: the bytes of the message that are still to be sent now */
    uint64_t key;             /* wire_ops.copy.expose() of the data; 0: not exposed */
    uint64_t to, addr, job;   /* the receiver's cookie, address of its buffer (PUTTING; 0: put_key is a ticket) and job */
    int64_t total;            /* HELPING: bytes of the job; PUTTING: the first byte that the receiver asked for */
    uint64_t put_key;         /* PUTTING: key of the receiver's buffer, or ticket */
    int n_puts;               /* PUTTING: writes under way */
    int put_err;              /* PUTTING: error of the first write that failed, or GW_OK */
    int64_t again, again_end; /* HELPING: bytes that the receiver claimed and could not read; they are sent as DATA */
};
struct proto_sreq { /* the request of a send that did not complete at once */
    struct gw_req req;
    struct proto_op *op;
    struct gw_done done;     /* writes the text of a fault (proto_fault.c), for which are: */
    const void *buf, *fault; /* the address of the data, and the one that cannot be read */
    int64_t len;             /* bytes of the data */
};
_Static_assert(sizeof(struct proto_sreq) <= GW_REQ_BYTES, "fits a request of the pool");

struct proto_out { /* out queue of one peer; exists only while it is not empty */
    struct gw_list link;
    struct gw_peer *peer;
    struct gw_list ops;
};

/* Durations of recent transfers, in ticks per KiB (proto_adaptive.c).  GET: the copy of R0; GET_HUGE: the same from huge pages; PIECES: R1
 * from CTS to the last byte; IN, OUT: the copies of R1 alone, as sender to and as receiver from that peer. */
enum { TIMING_GET, TIMING_GET_HUGE, TIMING_PIECES, TIMING_IN, TIMING_OUT, TIMING_KINDS, TIMING_CLASSES = 6, TIMING_PEERS = 16 };
struct proto_timing {
    uint32_t ticks[TIMING_KINDS];
}; /* 0: not timed yet */

/* Thresholds for one wire of the lane, and what the wire can do (wire_caps).  Set with the first peer that the wire connects. */
enum { FAR_PUT_BYTES = 64, FAR_COALESCE_BYTES = 1024, FAR_COALESCE_MOST = 64 };
struct proto_limits {
    int64_t inline_max, eager_max; /* bytes: limits of E0 and E1; for the node's wire eager_limit() in place of eager_max */
    int64_t fast_max;              /* bytes: limit of the fast path of proto_send(); -1: no fast path, or not set yet */
    enum proto_mode fast_mode;     /* the fast path is for modes up to this one */
    size_t pack_max;               /* bytes of a packet; 0: the limits are not set yet */
    bool can_get, by_key;          /* the wire can read peers' memory; only memory that was exposed */
    /* Networks only: */
    bool may_get, may_put; /* R0 by reads of the card; R1 by writes of the card */
    bool is_direct;        /* R1 as one zero-copy message: with neither of these */
    int n_sent;            /* messages since the network was polled */
    struct far_burst {     /* short messages in a row to one peer (proto_far_coalesces) */
        const struct gw_peer *to;
        uint64_t at;     /* ticks: time of the last one */
        uint32_t rounds; /* lane_wire.rounds then */
        int n, queued;   /* messages so far; those of them that wait to be coalesced */
    } burst;
};

/* Matching by the network (proto_tag.c has the states). */
enum tags_state { TAGS_OFF, TAGS_NET, TAGS_OWN };
struct proto_tags {
    uint8_t state;
    struct lane_wire *net; /* the network that matches; NULL: OFF */
    bool must_take_over, has_warned, has_told_room;
    const char *why; /* reason of must_take_over, for a message */
    struct wire_caps limits;
    /* Messages that were sent by tag to a number of another node and that its rank was not told of yet, by number; NULL: nobody is told. */
    uint16_t *untold;
    int64_t n_told, n_matched;   /* messages that senders told of; messages that a receive at the wire got */
    int n_posted, n_any, n_back; /* receives posted to the wire; those of them from any source; those returned by it */
    struct gw_list posted;
    struct proto_pool pool;
};
enum { PROTO_WORLD_UNKNOWN = -1 };
enum { PROTO_TAGGED_MOST = UINT16_MAX }; /* messages that one TAGGED tells of, at most */

struct proto_lane {
    struct proto_fast fast;                 /* first */
    struct proto_limits limits[PEER_WIRES]; /* by lane_wire.index */
    struct proto_tags tags;
    bool has_xoff;                   /* this lane has too many unexpected messages: it is counted in our door's `xoff` */
    uint64_t *told;                  /* a bit for each number on other nodes: PROTO_FLOW told it of xoff; NULL: none was told */
    bool is_hooked;                  /* `hook` is in the list of req/: the lane has work for progress */
    int n_outs;                      /* entries of `outs` */
    bool is_sending_outs;            /* proto_out_poll() is running */
    struct gw_list outs;             /* struct proto_out */
    struct gw_list asked, op_work;   /* struct proto_op: ASKED and COPIED; PIECES, PUTTING and HELPING */
    struct gw_list sharing, getting; /* struct proto_recv: R0 with the sender's help, and without */
    struct gw_arena arena;           /* unexpected messages, kept copies (proto_keep.c), operations */
    int64_t unexpected_bytes;        /* of the unexpected messages of this lane, as receiver */
    int64_t kept_bytes;              /* of kept copies and their operations, as sender */
    int64_t n_kept;                  /* kept copies */
    int64_t room;                    /* limit of each of the two: see proto_flow_room() */
    bool is_room_known;
    bool is_leaving;                                           /* proto_leave(): no receive will be posted any more */
    struct proto_timing timings[TIMING_PEERS][TIMING_CLASSES]; /* by sender and size */
    int64_t got;                                               /* bytes copied by R0 so far */
    int getting_from;                                          /* R0: turn_of() the sender of the last piece */
    int sampling;                                              /* TIMING_KINDS, or the path whose samples count now */
    int n_taking;                                              /* receives by R1 that are under way */
    uint64_t taking_since;                                     /* ticks: when n_taking last rose from 0 */
    int64_t taken;                                             /* bytes received by R1 since then */
    bool taking_alone;                                         /* no large message has been sent since then */
    struct req_hook hook;
    struct gw_done poll;
    struct gw_lane *lane;
    char *scratch;               /* pack_max bytes, for EAGER_SYNC */
    struct proto_tally *tallies; /* [node_numbers_max()] messages by E1, R0 and R1; NULL: none yet */
    struct note *notes;          /* GODWIT_CHECK: [node_numbers_max()] the last note of each process */
    const struct note *note;     /* the note of the message that is being handled; NULL: none */
    struct gw_list kept_there;   /* struct msg_kept: kept by senders on other nodes, in order of arrival */
    int n_ahead;                 /* of these: requested, and not arrived */
    int64_t ahead_bytes;         /* bytes of these: requested, and not delivered to a receive */
    struct proto_cookies op_cookies, recv_cookies, ahead_cookies;
    struct proto_pool out_pool, cursors, puts;
};
static inline struct proto_lane *lane_of(struct gw_lane *lane) { return lane->proto; }

/* ---- helpers ------------------------------------------------------------------------------------------------ */
static inline void proto_type_drop(struct gw_type *t)
{
    if (unlikely(!t->obj.predefined)) type_release(t);
}
/* The peer holds too many unexpected messages. */
static inline bool peer_is_xoff(const struct gw_peer *p) { return atomic_load_explicit(p->ep->xoff, memory_order_relaxed) != 0; }

/* Of the wire that reaches the peer. */
static inline struct proto_limits *limits_of(struct proto_lane *pl, const struct gw_peer *p) { return &pl->limits[p->by->index]; }
/* May the peer's memory be read: by the kernel on a node, over a network what the peer has exposed? */
static inline bool peer_may_read(const struct proto_lane *pl, const struct gw_peer *p)
{
    const struct proto_limits *l = &pl->limits[p->by->index];
    return l->can_get && (l->by_key || wire_may_read(p->ep));
}
/* Set limits: of a wire with the first peer that it connects (peer_upcalls.connected); of all networks that match before the first receive
 * that one of them might match. */
void proto_connected(struct gw_lane *lane, struct gw_peer *p);
void proto_limits_of_nets(struct proto_lane *pl);
void proto_far_set_up(struct proto_lane *pl, struct lane_wire *w) GW_COLD;
/* This process is sending large messages.  If it receives one meanwhile, this is an exchange: the sender most likely receives, too, and has
 * less time for R1 and for helping. */
static inline bool lane_sends_large(const struct proto_lane *pl)
{
    return !gw_list_empty(&pl->asked) || !gw_list_empty(&pl->op_work);
}

/* proto_state.c: the invariant that does not hold, in words; NULL: all do.  Between two calls of the room. */
const char *proto_broken(const struct proto_lane *pl);
static inline void proto_assert_state(const struct proto_lane *pl)
{
    if (GW_ASSERT_STATES) gw_assert_state(proto_broken(pl));
}

/* proto.c */
void proto_count(struct proto_lane *pl, struct gw_peer *p, enum proto_path path, int64_t bytes); /* counts a message */
void proto_lane_hook(struct proto_lane *pl); /* from now on the lane is polled in every round of progress, until it has no work */

/* proto_select.c */
/* is_xoff: what peer_is_xoff() said.  A receiver changes that at any time, so who decides by it asks once. */
enum proto_path proto_select(struct proto_lane *pl, struct gw_peer *p, int64_t len, bool is_run, enum proto_mode mode,
                             bool is_xoff);
/* R0 or R1, of a message that is not eager, whatever the receiver's xoff flag says now: that may change at any time. */
enum proto_path proto_select_rndv(struct proto_lane *pl, struct gw_peer *p, int64_t len, bool is_run);
/* Would this standard message be sent at once, if the peer were not xoff? */
bool proto_lacks_room(const struct proto_lane *pl, const struct gw_peer *p, int64_t len, bool is_xoff);

/* proto_out.c */
struct proto_out *proto_out_find(struct proto_lane *pl, const struct gw_peer *p);
void proto_out_queue(struct proto_lane *pl, struct proto_op *op);
void proto_lane_inline_update(struct proto_lane *pl); /* to be called after a change of n_outs or limits[0] */
int proto_out_poll(struct proto_lane *pl);
void proto_out_poll_one(struct proto_lane *pl, const struct gw_peer *p);
void proto_out_remove(struct proto_lane *pl, struct proto_op *op); /* a QUEUED send is cancelled */
/* Sends a control message.  Never fails: it is queued if the wire is full or the peer NEW; an unreachable peer ends the process. */
void proto_ctl_send(struct proto_lane *pl, struct gw_peer *p, enum proto_kind kind, struct proto_ctl ctl, const void *payload,
                    size_t len);
void proto_ctl_queue(struct proto_lane *pl, struct gw_peer *p, enum proto_kind kind, struct proto_ctl ctl, const void *payload,
                     size_t len); /* the same, always queued */

/* proto_check.c */
/* Checks what can be checked without the state of an operation.  False: the message is invalid, and has been counted; drop it. */
bool proto_msg_check(const struct proto_lane *pl, bool is_far, uint8_t kind, const void *hdr, const void *payload, size_t len);
bool proto_msg_check_rts(const struct proto_rts *rts);
bool proto_msg_reject(uint8_t kind, const char *field, int64_t value) GW_COLD; /* counts an invalid message; returns false */
/* The operation or receive that a message refers to by its cookie.  NULL: none, which has been counted. */
struct proto_op *proto_op_of_cookie(const struct proto_lane *pl, bool is_far, enum proto_kind kind, uint64_t cookie);
struct proto_recv *proto_recv_of_cookie(const struct proto_lane *pl, bool is_far, enum proto_kind kind, uint64_t cookie);

/* proto_op.c */
struct proto_op *proto_op_new(struct proto_lane *pl, struct gw_peer *p);
void proto_op_release(struct proto_lane *pl, struct proto_op *op);
uint64_t proto_op_cookie(struct proto_lane *pl, struct proto_op *op);      /* gives it one if it has none */
void proto_op_finish(struct proto_lane *pl, struct proto_op *op, int err); /* completes its request, if any, and frees it */
void proto_op_complete_req(struct proto_op *op, int err, bool is_cancelled);
int proto_rts_send(struct proto_lane *pl, struct proto_op *op); /* after proto_op_ask(); returns what wire_ops.send_short() does */
/* The operation becomes an RTS, which the caller sends or queues.  PROTO_R0: its data may be read where they lie; PROTO_R1: they may not. */
void proto_op_ask(struct proto_lane *pl, struct proto_op *op, enum proto_path path);

/* proto_eager.c */
int proto_eager_try(struct proto_lane *pl, struct gw_peer *p, enum proto_kind kind, const struct proto_hdr *h,
                    const struct gw_data *d, uint64_t cookie);
void proto_eager_arrived(struct proto_lane *pl, const struct proto_hdr *h, const void *payload, size_t len);
void proto_eager_sync_arrived(struct proto_lane *pl, const struct proto_hdr *h, const void *payload, size_t len);
void proto_eager_deliver(struct proto_recv *r, int src, int tag, const void *data, int64_t len);

/* proto_rndv.c: what R0 and R1 have in common */
void proto_rts_arrived(struct proto_lane *pl, const struct proto_hdr *h, const void *payload);
void proto_rndv_start(struct proto_lane *pl, struct proto_recv *r, int src, int tag, const struct proto_rts *rts, int world,
                      bool at_once);          /* R0: copies the first piece in this call; false: progress does it */
void proto_recv_finish(struct proto_recv *r); /* completes it: all data has arrived */
void proto_recv_fail(struct proto_recv *r, int err,
                     void (*explain)(struct gw_done *done,
                                     int err)); /* explain: calls gw_fail() in the wait or test that retires r */

/* proto_adaptive.c: R0 or R1 for a message that could take either? */
bool proto_adaptive_direct(struct proto_lane *pl, const struct proto_recv *r);
void proto_adaptive_copied(struct proto_lane *pl, int what, const struct gw_peer *p, int64_t len, int64_t bytes,
                           uint64_t ticks);              /* len: of the message; bytes, ticks: of the copy */
void proto_adaptive_pieces_begin(struct proto_lane *pl); /* R1 begins */
void proto_adaptive_pieces_end(struct proto_lane *pl, const struct proto_recv *r); /* R1 is over */

/* proto_get.c (R0) and proto_help.c */
int proto_get_step(struct proto_lane *pl,
                   struct proto_recv *r);  /* copies a piece; number of events; r may be complete afterwards */
int proto_get_poll(struct proto_lane *pl); /* the same for the receive whose turn it is */
bool proto_share_start(struct proto_lane *pl, struct proto_recv *r);
int proto_share_step(struct proto_lane *pl, struct proto_recv *r);
void proto_help_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c, const void *payload);
bool proto_help_may_send(const struct proto_op *op, uint64_t cookie, const struct proto_cts *cts);
void proto_help_send(struct proto_lane *pl, struct proto_op *op,
                     const struct proto_cts *cts); /* CTS of a piece that the receiver cannot read */
int proto_help_step(struct proto_lane *pl, struct proto_op *op);
void proto_fin_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c);

/* proto_fault.c: a buffer that its own rank cannot access */
static inline bool recv_has_fault(const struct proto_recv *r)
{
    return unlikely(r->req.err != GW_OK);
} /* until proto_recv_finish() */
void proto_recv_fault(struct proto_recv *r, int err,
                      uint64_t at); /* r will complete with err: GW_EBUFFER, its buffer, or GW_EPEERBUFFER, the
                                     * sender's, cannot be accessed at `at` */
/* Can this process not read bytes [from, to) of its message?  True: the receiver has been told, and the request has the error. */
bool proto_send_fault(struct proto_lane *pl, struct proto_op *op, int64_t from, int64_t to);
void proto_fault_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c, const void *payload);

/* proto_pieces.c (R1) */
void proto_pieces_ask(struct proto_lane *pl, struct proto_recv *r,
                      bool is_doubtful);                             /* doubtful: reading the sender's memory has failed */
void proto_pieces_over(struct proto_lane *pl, struct proto_recv *r); /* ends R1, completes r */
void proto_cts_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c, const void *payload);
int proto_op_step(struct proto_lane *pl,
                  struct proto_op *op); /* an operation of op_work: number of events; op may be freed afterwards */
int proto_data_send(struct proto_lane *pl, struct proto_op *op); /* the next piece of [pos, end): GW_OK, GW_AGAIN or error */
void proto_data_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c, const void *payload, size_t len);

/* proto_far.c */
enum proto_path proto_far_select(struct proto_lane *pl, const struct gw_peer *p, int64_t len, bool is_run, int64_t prefix,
                                 bool is_xoff);
enum proto_path proto_far_select_rndv(struct proto_lane *pl, const struct gw_peer *p, int64_t len, bool is_run);
void proto_far_offer(struct proto_lane *pl, struct proto_recv *r,
                     struct proto_cts *cts); /* fills in what the sender needs to write r's buffer */
void proto_far_close(struct proto_lane *pl, struct proto_recv *r);
void proto_put_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c);
void proto_put_start(struct proto_op *op, const struct proto_cts *cts);
bool proto_put_may_start(const struct proto_lane *pl, const struct proto_op *op,
                         const struct proto_cts *cts);               /* validates the CTS of a peer: can our wire do this? */
void proto_far_poll(struct proto_lane *pl, const struct gw_peer *p); /* once per send: polls the network now and then */
/* True: a small message is to be queued, to be coalesced with the next ones.  Sends queued ones that were for another peer. */
bool proto_far_coalesces(struct proto_lane *pl, const struct gw_peer *p, int64_t len, enum proto_mode mode);
static inline bool proto_far_may_coalesce(int64_t len) { return len <= FAR_COALESCE_BYTES; }
int proto_put_step(struct proto_lane *pl, struct proto_op *op); /* number of events; op may be freed afterwards */

/* proto_tag.c */
void proto_tags_set_up(struct proto_lane *pl, struct lane_wire *w, const struct wire_caps *caps);
void proto_tags_finish(struct proto_lane *pl);
int proto_tags_poll(struct proto_lane *pl);                             /* takes over if must_take_over; number of events */
void proto_tags_told(struct proto_lane *pl, const struct proto_ctl *c); /* TAGGED arrived */
void proto_tags_full(struct proto_lane *pl);                            /* the wire has no room for more unexpected messages */
void proto_tags_other_arrived(struct proto_lane *pl,
                              const struct proto_hdr *h) GW_COLD; /* with n_any > 0: a message has matched no receive in match/ */
void proto_tags_look_inside(struct proto_lane *pl, const struct proto_addr *a); /* takes over, for a probe */
void proto_tags_cancel_arrived(struct proto_lane *pl);
void proto_tag_caught(struct proto_lane *pl, const struct wire_tag *tag, const void *payload, size_t len);
/* Sends EAGER or RTS by tag, where tag_goes().  As wire_ops.send_short(); also an error if the tag is too large. */
int proto_tag_send(struct proto_lane *pl, struct gw_peer *p, enum proto_kind kind, const struct proto_hdr *h, const void *payload,
                   size_t len);
/* True: posted to the wire, or complete.  False: post it in match/. */
bool proto_tag_recv(struct proto_lane *pl, struct proto_recv *r, const struct proto_addr *a);
void proto_tag_recv_cancel(struct proto_lane *pl, struct proto_recv *r); /* AT_WIRE: it completes later, cancelled or not */
int64_t proto_tags_posted_in(const struct proto_lane *pl, uint32_t ctx);
/* The number of a communicator in tags.  Communicators of a lane have every gw_nlanes-th context id; what goes by a lane that is not its
 * own (MPI_COMM_SELF, over a network to oneself) has none.  Alike on all ranks. */
enum { TAG_NO_CTX = -1 };
static inline int32_t tag_ctx(const struct proto_lane *pl, uint32_t ctx)
{
    uint32_t id = ctx / (PROTO_STREAM_MASK + 1), lanes = (uint32_t)gw_nlanes;
    return id % lanes == (uint32_t)pl->lane->index ? (int32_t)(id / lanes) : TAG_NO_CTX;
}
static inline bool tag_has_room(const struct proto_lane *pl, uint32_t ctx, int src)
{
    return (uint32_t)tag_ctx(pl, ctx) <= (uint32_t)pl->tags.limits.ctx_max && src <= pl->tags.limits.src_max;
}
/* Is a message sent by tag?  Both ends decide alike, and alike for all messages of a source and context. */
static inline bool tag_goes(const struct proto_lane *pl, const struct gw_peer *p, const struct proto_hdr *h)
{
    return unlikely(pl->tags.state != TAGS_OFF) && p->by == pl->tags.net && !(h->ctx & PROTO_STREAM_MASK) &&
        tag_has_room(pl, h->ctx, h->src);
}

/* proto_flow.c */
void proto_flow_set(struct proto_lane *pl, bool on) GW_COLD;
void proto_flow_notify(struct proto_lane *pl,
                       int world) GW_COLD; /* to be called when a peer sends data although we are xoff: tells it */
void proto_flow_arrived(struct proto_lane *pl, const struct proto_ctl *c);
void proto_flow_init(struct proto_lane *pl);
void proto_flow_room(struct proto_lane *pl); /* sets pl->room, which is a small default before */

/* proto_keep.c */
/* Copies the data of a small message to the arena and turns the operation into an RTS: the caller sends or queues that, and completes the
 * request once it is sent.  False: this process has no room for the copy either. */
bool proto_keep_op(struct proto_lane *pl, struct proto_op *op) GW_COLD;
void proto_keep_drop(struct proto_lane *pl, struct proto_op *op) GW_COLD; /* frees the copy */
void proto_keep_left_send(struct proto_lane *pl, int world,
                          uint64_t cookie) GW_COLD; /* tells the sender of an RTS that it will not be received */
void proto_keep_left_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c);

/* proto_ahead.c */
bool proto_ahead_may(const struct proto_lane *pl, const struct proto_hdr *h,
                     const struct proto_rts *rts); /* may this message be fetched before its receive? */
void proto_ahead_note(struct proto_lane *pl, struct proto_msg *m, const struct proto_rts *rts); /* data[] has room for a msg_kept */
void proto_ahead_consume(struct proto_lane *pl, struct proto_recv *r, struct proto_msg *m);     /* matched: takes ownership of m */
void proto_ahead_data_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c, const void *payload, size_t len);
/* m will not be received, and has been removed from its queue.  True: nothing else is to be done, m is taken.  False: the caller tells the
 * sender, and drops m. */
bool proto_ahead_leave(struct proto_lane *pl, struct proto_msg *m);
void proto_ahead_finish(struct proto_lane *pl); /* at the end of the lane: messages that were asked for and have not come */

/* proto_recv.c */
/* A new unexpected message.  len: bytes of the message; data_len: of data[], which the caller fills. */
struct proto_msg *proto_msg_keep(struct proto_lane *pl, enum proto_kind kind, const struct proto_hdr *h, int64_t len,
                                 size_t data_len);
int64_t proto_msg_len(const struct proto_msg *m);     /* bytes of the message */
uint64_t proto_msg_cookie(const struct proto_msg *m); /* of EAGER_SYNC and RTS */
int proto_msg_world(uint32_t ctx, int src,
                    int world); /* `world`; if PROTO_WORLD_UNKNOWN, the number of rank src of the communicator */
void proto_recv_offer(struct proto_lane *pl, struct proto_recv *r); /* matches r->m with an unexpected message, or posts it */
bool proto_recv_find(struct proto_lane *pl, struct proto_recv *r);  /* only the first: true, r has got a message */
void proto_msg_drop(struct proto_lane *pl, struct proto_msg *m);

/* proto_cancel.c */
void proto_recv_cancelled(struct proto_recv *r); /* completes it as cancelled */

/* proto_note.c: GODWIT_CHECK */
void proto_note_send(struct proto_lane *pl, const struct proto_addr *a, int64_t count, struct gw_type *t);
wire_recv_fn proto_note_receiver(bool is_far, wire_recv_fn plain); /* a receive handler that takes notes and calls the plain one */
struct note *proto_note_keep(const struct proto_lane *pl); /* copy of the note of the message that is being handled; NULL: none */
/* Compares the types of a message with those of its receive.  n may be NULL. */
void proto_note_compare(const struct note *n, const struct proto_recv *r, int src, int tag, int64_t bytes);

/* proto_cancel.c */
void proto_cancel_arrived(struct proto_lane *pl, const struct proto_ctl *c);
void proto_cancel_ack_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c);

#endif
