/* proto_private.h -- what the files of proto share: state per lane, receives, outgoing operations, kept messages.
 *
 * Everything here belongs to one lane and is used with that lane's lock held.
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
    void *free;        /* linked through their first word */
    char *fresh, *end; /* of the newest slab: never used yet, so not touched either */
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

/* ---- cookies (proto_cookie.c): what other processes call our records by; never 0 ---------------------------------- */
struct proto_cookies {
    struct proto_cookie_slot *places;
    uint32_t room, free; /* the first free one, + 1; 0: none */
};
uint64_t proto_cookie_give(struct proto_cookies *n, void *what);
void *proto_cookie_find(const struct proto_cookies *n, uint64_t name); /* NULL: it is none, or not any more */
void proto_cookie_revoke(struct proto_cookies *n, uint64_t name);
void proto_cookies_finish(struct proto_cookies *n);
#define COOKIE_OF_MSG ((uint64_t)1 << 63) /* no cookie has this bit: with it, one is of another table */

/* ---- messages that arrived before their receive --------------------------------------------------------------
 * Blocks of the lane's arena: one costs 64 bytes and what came, rounded up to 16. */
enum { MSG_DATA_MAX = 1 << 20 };
struct proto_msg {
    struct match_msg m;
    int32_t world;  /* of the sender */
    uint32_t bytes; /* of data[] */
    uint8_t kind;   /* EAGER, EAGER_SYNC or RTS */
    uint8_t lane;
    bool has_note;  /* GODWIT_CHECK: behind data[] is a pointer, see msg_note() */
    uint8_t ahead;  /* enum ahead_state; not NOT: data[] is a struct msg_kept */
    uint8_t data[]; /* the payload as it came */
} GW_ALIGNED(GW_ARENA_UNIT);
_Static_assert(sizeof(struct proto_msg) == 64 && offsetof(struct proto_msg, data) == 64,
               "what an unexpected message costs besides its data");
/* An RTS of a message that a sender on another node keeps (proto_ahead.c); in proto_lane.kept_there. */
enum ahead_state { AHEAD_NOT, AHEAD_KEPT, AHEAD_ASKED, AHEAD_HERE, AHEAD_LEFT };
struct proto_recv;
struct msg_kept {
    struct proto_rts rts;
    struct gw_list link;
    uint64_t name; /* ASKED, LEFT: of proto_lane.ahead_cookies, with COOKIE_OF_MSG */
    union {
        struct proto_recv *recv; /* ASKED: it has been received, or NULL */
        char *data;              /* HERE */
    };
};
_Static_assert(sizeof(struct msg_kept) == 64, "what it costs besides its header");
_Static_assert(GW_MAX_LANES <= 256 && (int)MATCH_UNIT == (int)GW_ARENA_UNIT, "a byte names the lane; 32 bits name a block");

/* What a message carries. */
struct proto_data {
    const void *buf;
    int64_t count;
    struct gw_type *type;
    const char *ptr; /* where it lies if it is one run of bytes, else NULL */
    int64_t len;
};
static inline struct proto_data proto_data_of(const void *buf, int64_t count, struct gw_type *t)
{
    return (struct proto_data){buf, count, t, proto_is_run(t, count) ? proto_run_at(buf, t) : NULL, count * t->size};
}

/* ---- outgoing operations -------------------------------------------------------------------------------------
 * QUEUED: in its peer's proto_out because the wire was full (control messages live only there).
 * ASKED: EAGER_SYNC or RTS has gone; ACK, FIN, CTS or HELP will come.
 * PIECES, PUTTING: R1 goes on.  HELPING: claims pieces of a job.  COPIED: nothing left to do but wait for FIN. */
enum op_state { OP_QUEUED = 1, OP_ASKED, OP_PIECES, OP_PUTTING, OP_HELPING, OP_COPIED };
struct proto_op {
    struct gw_list link; /* proto_out.ops, proto_lane.asked or proto_lane.op_work */
    struct gw_req *req;  /* NULL: control message, or already complete */
    struct gw_peer *peer;
    uint8_t state, kind, ctl_len;
    bool wants_cancel_ack; /* CANCEL has gone: lives until CANCEL_ACK */
    bool is_over;          /* apart from that */
    bool may_be_read;      /* the RTS says where the data lies, and the message is not counted yet */
    bool is_kept;          /* ptr is a copy of ours: the send is complete once the RTS has gone (proto_keep.c) */
    bool no_room;          /* it waits for its receive only because neither end had room for it */
    bool is_put_refused;   /* HELPING: the wire cannot write there; the piece goes as DATA */
    bool has_fault;        /* a part of the data cannot be read here */
    uint64_t name;         /* what the receiver calls it by: our cookie; 0: none yet */
    union {
        struct proto_hdr hdr;
        struct proto_ctl ctl;
    };
    uint8_t payload[PROTO_CTL_MAX];
    const char *ptr; /* the data if it is one run of bytes, else NULL */
    int64_t len;
    const void *buf;
    int64_t count;
    struct gw_type *type; /* held unless predefined; NULL for control messages */
    struct type_cursor *cursor;
    int64_t pos, end;         /* PIECES, PUTTING and HELPING: next byte and end of what goes now */
    uint64_t key;             /* under which the data are exposed; 0: they are not */
    uint64_t to, addr, job;   /* the receiver's cookie, buffer (PUTTING, 0: put_key is a ticket) and job */
    int64_t total;            /* of the job; PUTTING: the first byte that is wanted */
    uint64_t put_key;         /* PUTTING: of the receiver's buffer */
    int n_puts;               /* chunks under way */
    int put_err;              /* PUTTING: the wire could not write there */
    int64_t again, again_end; /* HELPING: bytes that the receiver claimed and could not read; they go as DATA */
};
struct proto_sreq { /* the request of a send that did not complete at once */
    struct gw_req req;
    struct proto_op *op;
    struct gw_done done;     /* of the text of a fault: */
    const void *buf, *fault; /* the data begin there, and cannot be read here */
    int64_t len;
};
_Static_assert(sizeof(struct proto_sreq) <= GW_REQ_BYTES, "fits a request of the pool");

struct proto_out { /* what waits for room on the way to one peer; exists only while it is not empty */
    struct gw_list link;
    struct gw_peer *peer;
    struct gw_list ops;
};

/* What the two ways of a message have taken lately, in ticks a KiB; 0: not known.  GET: the copy of R0; PIECES: R1 from asking to the
 * last byte; IN, OUT: the copies of R1, those of the sender to and those of the receiver from that peer. */
enum { TIMING_GET, TIMING_GET_HUGE, TIMING_PIECES, TIMING_IN, TIMING_OUT, TIMING_KINDS, TIMING_CLASSES = 6, TIMING_PEERS = 16 };
struct proto_timing {
    uint32_t ticks[TIMING_KINDS];
}; /* for a KiB; 0: not timed yet */

/* What a wire of the lane does with messages: thresholds, and of a network (proto_far.c) which ways it has. */
enum { FAR_PUT_BYTES = 64, FAR_COALESCE_BYTES = 1024, FAR_COALESCE_MOST = 64 };
struct proto_limits {
    int64_t inline_max, eager_max; /* E0 and E1 to here; of the node's wire see eager_limit() */
    int64_t fast_max;              /* proto_send() needs no further thought up to here; -1: never, or not known yet */
    enum proto_mode fast_mode;     /* nor up to this mode */
    size_t pack_max;               /* 0: not known yet */
    bool can_get, by_key;          /* the wire copies from the memory of others; only where it was exposed */
    bool may_get, may_put;         /* R0; R1 without copies, in chunks */
    bool is_direct;                /* R1 without copies, as a whole: where neither is */
    int n_sent;                    /* since the last look at what comes in */
    struct far_burst {             /* messages in a row: */
        const struct gw_peer *to;
        uint64_t at;     /* when the last one was, */
        uint32_t rounds; /* and those of the network then */
        int n, queued;   /* so many, of which these wait */
    } burst;
};

/* Matching by the network (proto_tag.c). */
enum tags_state { TAGS_OFF, TAGS_NET, TAGS_OWN };
struct proto_tags {
    uint8_t state;
    struct lane_wire *net; /* which matches; NULL: OFF */
    bool must_take_over, has_warned, has_told_room;
    const char *why; /* must_take_over */
    struct wire_caps limits;
    int n_posted, n_any, n_back; /* receives at the wire; those from any source; those that came back from it */
    struct gw_list posted;
    struct proto_pool pool;
};
enum { PROTO_WORLD_UNKNOWN = -1 };

struct proto_lane {
    struct proto_fast fast;                 /* first */
    struct proto_limits limits[PEER_WIRES]; /* by the wire's place in the lane */
    struct proto_tags tags;
    bool has_xoff;  /* counted in the door's `xoff` */
    uint64_t *told; /* bit per world rank on other nodes: was told so; NULL: nobody ever */
    bool is_hooked;
    int n_outs;                                            /* peers with something queued */
    bool is_sending_outs;                                  /* in proto_out_poll() */
    struct gw_list outs, asked, op_work, sharing, getting; /* of the last two: receives by R0, with the sender's help or without */
    struct gw_arena arena;    /* unexpected messages, copies of messages to who has no room, operations */
    int64_t unexpected_bytes; /* as receiver; */
    int64_t kept_bytes;       /* as sender: copies and their operations; */
    int64_t n_kept;
    int64_t room; /* and the bound of each: see proto_flow_room() */
    bool is_room_known;
    bool is_leaving;                                           /* no receive will be posted any more */
    struct proto_timing timings[TIMING_PEERS][TIMING_CLASSES]; /* by sender and size */
    int64_t got;                                               /* bytes by R0 so far */
    int getting_from;                                          /* R0: of which peer the last piece was, by turn_of() */
    bool taking_alone;                                         /* while nothing large went out from here: */
    int sampling;                                              /* of which way samples count now, or TIMING_KINDS */
    int n_taking;                                              /* streams of pieces under way to here, */
    uint64_t taking_since;                                     /* since when there are any, */
    int64_t taken;                                             /* and what came by those that ended meanwhile */
    struct req_hook hook;
    struct gw_done poll;
    struct gw_lane *lane;
    char *scratch;               /* pack_max bytes, for EAGER_SYNC */
    struct proto_tally *tallies; /* [node_numbers_max()] E1, R0 and R1; NULL: none yet */
    struct note *notes;          /* GODWIT_CHECK: of every world rank the last one */
    const struct note *note;     /* and that of the message which is arriving now, or NULL */
    struct gw_list kept_there;   /* by senders on other nodes, in the order in which they came; */
    int n_ahead;                 /* so many have been asked for, and are not here, */
    int64_t ahead_bytes;         /* and so many bytes have been asked for, and are not received */
    struct proto_cookies op_cookies, recv_cookies, ahead_cookies;
    struct proto_pool out_pool, cursors, puts;
};
static inline struct proto_lane *lane_of(struct gw_lane *lane) { return lane->proto; }

/* ---- helpers ------------------------------------------------------------------------------------------------ */
static inline void proto_type_drop(struct gw_type *t)
{
    if (unlikely(!t->obj.predefined)) type_release(t);
}
/* The peer holds too many unexpected messages.  It is connected. */
static inline bool peer_is_xoff(const struct gw_peer *p) { return atomic_load_explicit(p->ep->xoff, memory_order_relaxed) != 0; }

/* Of the wire that reaches it; it is connected. */
static inline struct proto_limits *limits_of(struct proto_lane *pl, const struct gw_peer *p) { return &pl->limits[p->by->index]; }
/* The receiver may read the sender's memory: by the kernel on a node, by what the network wire was shown.  It is connected. */
static inline bool peer_may_read(const struct proto_lane *pl, const struct gw_peer *p)
{
    const struct proto_limits *l = &pl->limits[p->by->index];
    return l->can_get && (l->by_key || wire_may_read(p->ep));
}
/* Where limits become known: of a wire with the first peer that it connects (peer_upcalls.connected), of all networks that may match
 * before the first receive that one of them might match. */
void proto_connected(struct gw_lane *lane, struct gw_peer *p);
void proto_limits_of_nets(struct proto_lane *pl);
void proto_far_set_up(struct proto_lane *pl, struct lane_wire *w) GW_COLD;
/* Large messages are on the way out from here.  Who receives one meanwhile is in an exchange, where the sender most likely has some to
 * receive for himself. */
static inline bool lane_sends_large(const struct proto_lane *pl)
{
    return !gw_list_empty(&pl->asked) || !gw_list_empty(&pl->op_work);
}

/* proto_state.c: what is not as this header has it, in words; NULL: all is.  Lane's lock held, between two calls of the room. */
const char *proto_broken(const struct proto_lane *pl);
static inline void proto_assert_state(const struct proto_lane *pl)
{
    if (GW_ASSERT_STATES) gw_assert_state(proto_broken(pl));
}

/* proto.c */
void proto_count(struct proto_lane *pl, struct gw_peer *p, enum proto_path path, int64_t bytes); /* a message was sent */
void proto_lane_hook(struct proto_lane *pl); /* there is something to do in every round of progress */

/* proto_select.c */
enum proto_path proto_select(struct proto_lane *pl, struct gw_peer *p, int64_t len, bool is_run, enum proto_mode mode);
/* It is xoff, and would be sent this standard message at once if it were not. */
bool proto_lacks_room(const struct proto_lane *pl, const struct gw_peer *p, int64_t len);

/* proto_out.c */
struct proto_out *proto_out_find(struct proto_lane *pl, const struct gw_peer *p);
void proto_out_queue(struct proto_lane *pl, struct proto_op *op);
void proto_lane_inline_update(struct proto_lane *pl); /* after a change of n_outs, limits[0] */
int proto_out_poll(struct proto_lane *pl);
void proto_out_poll_one(struct proto_lane *pl, const struct gw_peer *p);
void proto_out_remove(struct proto_lane *pl, struct proto_op *op); /* it is QUEUED: a cancelled send */
/* Sends a control message.  Never fails: it is queued if the wire is full or the peer NEW; an unreachable peer ends the process. */
void proto_ctl_send(struct proto_lane *pl, struct gw_peer *p, enum proto_kind kind, struct proto_ctl ctl, const void *payload,
                    size_t len);
void proto_ctl_queue(struct proto_lane *pl, struct gw_peer *p, enum proto_kind kind, struct proto_ctl ctl, const void *payload,
                     size_t len); /* the same, always queued */

/* proto_check.c */
/* What can be said of a message by itself; is_far: it came from another node.  False: it is dropped, and counted. */
bool proto_msg_check(const struct proto_lane *pl, bool is_far, uint8_t kind, const void *hdr, const void *payload, size_t len);
bool proto_msg_check_rts(const struct proto_rts *rts);
bool proto_msg_reject(uint8_t kind, const char *field, int64_t value) GW_COLD; /* what a message says there cannot be: false */
/* Whom a message is for, by the cookie that it brings; NULL: nobody, which has been counted. */
struct proto_op *proto_op_of_cookie(const struct proto_lane *pl, bool is_far, enum proto_kind kind, uint64_t cookie);
struct proto_recv *proto_recv_of_cookie(const struct proto_lane *pl, bool is_far, enum proto_kind kind, uint64_t cookie);

/* proto_op.c */
struct proto_op *proto_op_new(struct proto_lane *pl, struct gw_peer *p);
void proto_op_release(struct proto_lane *pl, struct proto_op *op);
uint64_t proto_op_cookie(struct proto_lane *pl, struct proto_op *op);      /* its cookie */
void proto_op_finish(struct proto_lane *pl, struct proto_op *op, int err); /* completes its request, if any, and frees it */
void proto_op_complete_req(struct proto_op *op, int err, bool is_cancelled);
int proto_rts_send(struct proto_lane *pl, struct proto_op *op); /* of one that has become so: as send_short of the wire */
/* The operation becomes an RTS, which the caller sends or queues.  PROTO_R0: its data may be read where they lie; PROTO_R1: they may not. */
void proto_op_ask(struct proto_lane *pl, struct proto_op *op, enum proto_path path);

/* proto_eager.c */
int proto_eager_try(struct proto_lane *pl, struct gw_peer *p, enum proto_kind kind, const struct proto_hdr *h,
                    const struct proto_data *d, uint64_t cookie);
void proto_eager_arrived(struct proto_lane *pl, const struct proto_hdr *h, const void *payload, size_t len);
void proto_eager_sync_arrived(struct proto_lane *pl, const struct proto_hdr *h, const void *payload, size_t len);
void proto_eager_deliver(struct proto_recv *r, int src, int tag, const void *data, int64_t len);

/* proto_rndv.c: what R0 and R1 have in common */
void proto_rts_arrived(struct proto_lane *pl, const struct proto_hdr *h, const void *payload);
void proto_rndv_start(struct proto_lane *pl, struct proto_recv *r, int src, int tag, const struct proto_rts *rts, int world,
                      bool at_once);          /* R0: in this call, else progress does it */
void proto_recv_finish(struct proto_recv *r); /* everything that will come is there */
void proto_recv_fail(struct proto_recv *r, int err,
                     void (*explain)(struct gw_done *done, int err)); /* explain: gw_fail(), when its wait asks */

/* proto_adaptive.c: R0 or R1 for a message that could take either? */
bool proto_adaptive_direct(struct proto_lane *pl, const struct proto_recv *r);
void proto_adaptive_copied(struct proto_lane *pl, int what, const struct gw_peer *p, int64_t len, int64_t bytes,
                           uint64_t ticks);                                        /* of a message of len */
void proto_adaptive_pieces_begin(struct proto_lane *pl);                           /* R1 begins */
void proto_adaptive_pieces_end(struct proto_lane *pl, const struct proto_recv *r); /* R1 is over */

/* proto_get.c (R0) and proto_help.c */
int proto_get_step(struct proto_lane *pl, struct proto_recv *r); /* number of things that happened; r may be complete afterwards */
int proto_get_poll(struct proto_lane *pl);                       /* the same, of whose turn it is */
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
                      uint64_t at); /* r will complete with it: GW_EBUFFER here, GW_EPEERBUFFER there */
/* Of these bytes of the message: false, they can be read; true: the receiver has been told, and the request has its text. */
bool proto_send_fault(struct proto_lane *pl, struct proto_op *op, int64_t from, int64_t to);
void proto_fault_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c, const void *payload);

/* proto_pieces.c (R1) */
void proto_pieces_ask(struct proto_lane *pl, struct proto_recv *r,
                      bool is_doubtful);                             /* doubtful: they could not be read in the sender's memory */
void proto_pieces_over(struct proto_lane *pl, struct proto_recv *r); /* nothing more will come */
void proto_cts_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c, const void *payload);
int proto_op_step(struct proto_lane *pl,
                  struct proto_op *op); /* of one in op_work: number of things that happened; op may be gone afterwards */
int proto_data_send(struct proto_lane *pl, struct proto_op *op); /* the next piece of [pos, end): GW_OK, GW_AGAIN or error */
void proto_data_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c, const void *payload, size_t len);

/* proto_far.c */
enum proto_path proto_far_select(struct proto_lane *pl, const struct gw_peer *p, int64_t len, bool is_run, int64_t prefix);
int64_t proto_far_short_default(int size); /* of E0, by the size of the job */
int64_t proto_far_eager(bool is_soft);     /* of E1, over a wire that the kernel moves (wire_caps.soft) or over a card */
void proto_far_offer(struct proto_lane *pl, struct proto_recv *r,
                     struct proto_cts *cts); /* the receiver of R1 lets its buffer be written */
void proto_far_close(struct proto_lane *pl, struct proto_recv *r);
void proto_put_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c);
void proto_put_start(struct proto_op *op, const struct proto_cts *cts);
bool proto_put_may_start(const struct proto_lane *pl, const struct proto_op *op,
                         const struct proto_cts *cts);               /* the wire can do what is asked */
void proto_far_poll(struct proto_lane *pl, const struct gw_peer *p); /* before a send to another node */
/* A small message that may go at once shall wait for the next ones; those to another rank that wait go now. */
bool proto_far_coalesces(struct proto_lane *pl, const struct gw_peer *p, int64_t len, enum proto_mode mode);
static inline bool proto_far_may_coalesce(int64_t len) { return len <= FAR_COALESCE_BYTES; }
int proto_put_step(struct proto_lane *pl, struct proto_op *op); /* number of things that happened; op may be gone afterwards */

/* proto_tag.c */
void proto_tags_set_up(struct proto_lane *pl, struct lane_wire *w, const struct wire_caps *caps);
void proto_tags_finish(struct proto_lane *pl);
int proto_tags_poll(struct proto_lane *pl);  /* must_take_over */
void proto_tags_full(struct proto_lane *pl); /* the wire has no room for messages that nobody waits for */
void proto_tags_other_arrived(struct proto_lane *pl,
                              const struct proto_hdr *h) GW_COLD;               /* n_any > 0, and match/ has no receive for it */
void proto_tags_look_inside(struct proto_lane *pl, const struct proto_addr *a); /* what has come is probed for */
void proto_tags_cancel_arrived(struct proto_lane *pl);
void proto_tag_caught(struct proto_lane *pl, const struct wire_tag *tag, const void *payload, size_t len);
/* EAGER and RTS where tag_goes().  As send_short of the wire; an error also where the tag is too large. */
int proto_tag_send(struct proto_lane *pl, struct gw_peer *p, enum proto_kind kind, const struct proto_hdr *h, const void *payload,
                   size_t len);
/* True: it is posted to the wire, or complete.  False: it is to be posted in match/. */
bool proto_tag_recv(struct proto_lane *pl, struct proto_recv *r, const struct proto_addr *a);
void proto_tag_recv_cancel(struct proto_lane *pl, struct proto_recv *r); /* AT_WIRE: proto_recv_cancelled() follows, or a message */
int64_t proto_tags_posted_in(const struct proto_lane *pl, uint32_t ctx);
static inline bool tag_has_room(const struct proto_lane *pl, uint32_t ctx, int src)
{
    return ctx / (PROTO_STREAM_MASK + 1) <= (uint32_t)pl->tags.limits.ctx_max && src <= pl->tags.limits.src_max;
}
/* A message goes by tag.  Both ends decide alike, and for all messages of a source and context. */
static inline bool tag_goes(const struct proto_lane *pl, const struct gw_peer *p, const struct proto_hdr *h)
{
    return unlikely(pl->tags.state != TAGS_OFF) && p->by == pl->tags.net && !(h->ctx & PROTO_STREAM_MASK) &&
        tag_has_room(pl, h->ctx, h->src);
}

/* proto_flow.c */
void proto_flow_set(struct proto_lane *pl, bool on) GW_COLD;
void proto_flow_notify(struct proto_lane *pl, int world) GW_COLD; /* while we are xoff, he sent data */
void proto_flow_arrived(struct proto_lane *pl, const struct proto_ctl *c);
void proto_flow_init(struct proto_lane *pl);
void proto_flow_room(struct proto_lane *pl); /* pl->room is right afterwards; before, it may be less */

/* proto_keep.c */
/* Makes the data of a message that would go at once, if its receiver had room, ours, and an RTS of it: the caller sends that or queues it,
 * and completes the request once it has gone.  False: we have no room either. */
bool proto_keep_op(struct proto_lane *pl, struct proto_op *op) GW_COLD;
void proto_keep_drop(struct proto_lane *pl, struct proto_op *op) GW_COLD; /* nobody needs the copy any more */
void proto_keep_left_send(struct proto_lane *pl, int world,
                          uint64_t cookie) GW_COLD; /* a message that asked: nobody will receive it */
void proto_keep_left_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c);

/* proto_ahead.c */
bool proto_ahead_may(const struct proto_lane *pl, const struct proto_hdr *h,
                     const struct proto_rts *rts);                                              /* it may be fetched early */
void proto_ahead_note(struct proto_lane *pl, struct proto_msg *m, const struct proto_rts *rts); /* data[] has room for a msg_kept */
void proto_ahead_consume(struct proto_lane *pl, struct proto_recv *r, struct proto_msg *m); /* it has left the queue; takes it */
void proto_ahead_data_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c, const void *payload, size_t len);
/* Nobody will receive it, and it has left the queue.  True: that is all, and m is taken; else its sender is to be told, and it to be
 * dropped. */
bool proto_ahead_leave(struct proto_lane *pl, struct proto_msg *m);

/* proto_recv.c */
/* The caller fills data[]; len: of the message. */
struct proto_msg *proto_msg_keep(struct proto_lane *pl, enum proto_kind kind, const struct proto_hdr *h, int64_t len,
                                 size_t data_len);
int64_t proto_msg_len(const struct proto_msg *m);      /* of the message */
uint64_t proto_msg_cookie(const struct proto_msg *m);  /* EAGER_SYNC, RTS */
int proto_msg_world(uint32_t ctx, int src, int world); /* `world`, or where that is unknown, what the communicator says */
void proto_recv_offer(struct proto_lane *pl,
                      struct proto_recv *r); /* r->m says what it wants: it gets a message that waits, or is posted */
bool proto_recv_find(struct proto_lane *pl, struct proto_recv *r); /* the first half of that; r->m is set */
void proto_msg_drop(struct proto_lane *pl, struct proto_msg *m);

/* proto_cancel.c */
void proto_recv_cancelled(struct proto_recv *r); /* nothing came, nothing will */

/* proto_note.c: GODWIT_CHECK */
void proto_note_send(struct proto_lane *pl, const struct proto_addr *a, int64_t count, struct gw_type *t);
wire_recv_fn proto_note_receiver(bool is_far, wire_recv_fn plain); /* what arrives goes through it to the plain one */
struct note *proto_note_keep(const struct proto_lane *pl);         /* of the message that arrives now; NULL: it has none */
/* A message of so many bytes; n may be NULL. */
void proto_note_compare(const struct note *n, const struct proto_recv *r, int src, int tag, int64_t bytes);

/* proto_cancel.c */
void proto_cancel_arrived(struct proto_lane *pl, const struct proto_ctl *c);
void proto_cancel_ack_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c);

#endif
