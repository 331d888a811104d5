/* wire.h -- the waist: what a transport must do.  Nothing else of a transport is visible above.
 *
 * A wire is a room with one struct wire_ops.  open() makes one struct wire for each lane, connect() one struct wire_ep for each peer of
 * a lane.  Both are the wire's own memory: its own structs begin with them or stand behind them, they live until close(), and an
 * endpoint's address does not change.  The rooms above read the fields of struct wire_ep; only its wire writes them.
 *
 * LOCK     Every call is made with the lane's lock held, unless its comment says otherwise.  Lanes are independent of each other: two
 *          threads may be in one wire at once, for different lanes.
 * UPWARD   A wire calls upward only from progress(), through the receiver given to open() and through done->fn.  Both may send;
 *          nobody enters the progress() of a wire that is in it.
 * BUFFERS  Headers and payloads of send_*() are the caller's and are copied before the call returns.  Memory of put(), get(),
 *          recv_into() and send_from() is lent to the wire until the call answers anything but GW_POSTED, or done->fn is called.  A
 *          payload given to the receiver is the wire's, and valid during that call only.
 * ANSWERS  GW_OK: done.  GW_POSTED: started; done->fn(done, error) is called once, from progress.  GW_AGAIN: nothing was started, for
 *          want of room; it may be tried again after progress, and a wire that knows when counts that as something that happened
 *          there.  Negative: it failed, nothing is under way, and gw_fail_text() says why.
 * ORDER    Messages of one endpoint arrive in the order of the calls that answered GW_OK, each once or, where the peer has died, not at
 *          all.  Nothing is promised between endpoints, nor between messages and copies.
 *
 * test/wires.h is the test that every wire passes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_WIRE_H
#define GW_WIRE_WIRE_H

#include <sys/uio.h>

#include "base/base.h"
#include "type/type.h"

#define WIRE_HDR_BYTES 16
enum { WIRE_LANES_AUTO = 4 }; /* lanes of a process where GODWIT_LANES says no number */

/* A message arrived: `kind` and the 16 header bytes as sent, payload valid during the call only. */
typedef void (*wire_recv_fn)(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len);

/* What a wire can do towards any peer, as data: protocol selection reads it.  What differs from peer to peer stands in struct wire_ep. */
struct wire_caps {
    size_t short_max; /* bytes that travel with the header in one piece (E0) */
    size_t pack_max;  /* largest payload of one send_short/send_pack (E1, and chunks of R1) */
    bool get, put;    /* one-sided copies of remote memory by address (R0) */
    bool keys;        /* but only where its owner has exposed it */
    bool at_once;     /* and these are over when the call returns: get() and put() never answer GW_POSTED */
    bool soft;        /* and these are done by the processes themselves, not by a card */
    bool direct;      /* messages from memory to memory (recv_into, send_from) */
    bool node;        /* both ends share the node segment */
    /* Matches messages with receives (tag_recv) below these limits: largest context id, source and tag; receives that it can hold. */
    bool matches;
    int32_t ctx_max, src_max, tag_max, match_entries;
};

/* ---- caps.matches: messages and receives as the wire sees them ----
 * A message is named by three numbers.  A receive is posted to the wire, which gives the payload to the first one posted that names it;
 * what nobody waits for stays in the wire, in order, until somebody does.  `asks` travels along: what it means is the sender's and
 * the receiver's affair. */
struct wire_tag {
    int32_t ctx, src, tag; /* in receives, src may be GW_ANY_SOURCE and tag GW_ANY_TAG (any that is not negative) */
    int32_t asks;          /* 0 or 1; receives take both */
};
_Static_assert(sizeof(struct wire_tag) == WIRE_HDR_BYTES, "it is the header of a caught message");
struct wire_take {       /* a receive; its owner's until `done`, and then again */
    struct gw_done done; /* GW_OK, or GW_ETRUNCATE: cap bytes at most of a message of len are in buf */
    void *buf;
    size_t cap;
    struct wire_tag tag;  /* what is wanted; afterwards, what came */
    size_t len;           /* of the message that came */
    bool is_cancelled;    /* afterwards: nothing came */
    uint64_t at_wire[12]; /* the wire's own */
};
/* Kinds of what the receiver is told that are the wire's own: a message that tag_catch() made it take, with a struct wire_tag as its
 * header; and that it has no room left for messages that nobody waits for (no header, no payload). */
enum { WIRE_CAUGHT = 254, WIRE_FULL = 255 };

/* One of several short messages that go as one. */
struct wire_part {
    const void *hdr, *payload;
    size_t len;
};
enum { WIRE_PART_BYTES = 32 }; /* what a part needs beside its payload, at most */

struct sockaddr_storage;
struct node_door;
struct node_other;
struct wire_line;
struct wire_rings;
struct wire_ops;
struct wire; /* one per lane, wire and process */

/* May this process copy from and to the peer's memory by get() and put(), without a key?  UNKNOWN: nobody has tried (wire_may_read()). */
enum wire_read { WIRE_READ_UNKNOWN, WIRE_READ_OK, WIRE_READ_NO };

/* The way to one peer: the begin of every wire's endpoint.  wire_ep_init() fills it for a wire without a ring of lines. */
struct wire_ep {
    /* The ring of lines, optional (wire_ring.h).  Without one these are zero, which reads as "no line is free". */
    struct wire_line *lines;
    uint32_t tail, limit,
        mask;   /* next line, first line not known to be free; equal for ever where other senders use the ring, too */
    int32_t as; /* this process's number as the peer knows it: what its messages name as their sender */
    const _Atomic uint32_t
        *choked;            /* not 0: the peer holds too many unexpected messages, and wants to be asked first.  Never NULL */
    struct node_door *door; /* the peer's doorbell, which commits and finished jobs ring; NULL: it is not on this machine */
    /* Capabilities towards this peer. */
    uint32_t short_max, pack_max; /* as in struct wire_caps */
    uint8_t can_read;             /* enum wire_read */
    bool node;                    /* the peer is a rank of this job and shares its node segment: heap, jobs, doorbell */
    int32_t place;                /* spreads peers over tables; on a node, its local rank in its job */
    const struct wire_ops *ops;
    struct wire *wire;
    _Atomic uint32_t choked_here; /* what `choked` points to where the peer says so by messages: written by proto */
};

struct wire_ops {
    size_t size; /* of this struct, for later growth */
    const char *name;
    /* What arrives on this lane goes to `recv` with `ctx`.  Once per lane; the other ranks' wires may be open or not. */
    int (*open)(int lane, wire_recv_fn recv, void *ctx, struct wire **wire_out);
    /* GW_OK: the same endpoint each time for the same number.  GW_AGAIN: the peer is not there yet.  It does not wait for the peer. */
    int (*connect)(struct wire *w, int number, struct wire_ep **ep_out);
    /* len <= pack_max.  GW_OK, GW_AGAIN, or an error where the peer has died. */
    int (*send_short)(struct wire_ep *ep, uint8_t kind, const void *hdr, const void *payload, size_t len);
    /* The next `len` bytes of the cursor are packed straight into the wire's buffer; on GW_AGAIN it has not moved. */
    int (*send_pack)(struct wire_ep *ep, uint8_t kind, const void *hdr, struct type_cursor *c, size_t len);
    /* Synchronous or not: GW_OK done, GW_POSTED done->fn follows from progress, GW_AGAIN, negative: the text is set; GW_EBUFFER: `local`
     * cannot be accessed; GW_EPEERBUFFER: the memory there cannot, as far as can be seen from here; else the wire cannot do this (any
     * more).  `key` is what expose() said at the other end, 0 where caps.keys is false. */
    int (*get)(struct wire_ep *ep, const struct iovec *local, int nlocal, uint64_t remote_addr, uint64_t key, struct gw_done *done);
    int (*put)(struct wire_ep *ep, const struct iovec *local, int nlocal, uint64_t remote_addr, uint64_t key, struct gw_done *done);
    /* Takes what has arrived, at most some dozens of messages a call, and goes on with what is under way.  Never blocks.  Answers the
     * number of things that happened: 0 lets the caller sleep. */
    int (*progress)(struct wire *w);
    /* ---- from here on NULL where a wire has no need of it ---- */
    /* Of the node's wire: what node_init() must reserve for it per rank. */
    uint64_t (*area_bytes)(int nlocal, int nlanes);
    /* Of the node's wire, for worlds of this node.  The ranks of another one can be reached as ours are: says under which numbers we know
     * them, where they look for that; until they have said so, connect answers GW_AGAIN.  The first lane's lock is held. */
    int (*meet)(struct node_other *other);
    void (*part)(struct node_other *other); /* nothing goes there, nor comes from there, any more; all lanes' locks are held */
    /* Several networks are open, and peers use the first that reaches them: whether this one does.  Both ends say the same, always. */
    bool (*reaches)(struct wire *w, int number);
    /* The rings of lines that peers write and this process reads (wire_ring.h), for inlined looks; alive as long as the wire. */
    struct wire_rings *(*rings)(struct wire *w);
    /* ep->can_read is UNKNOWN: finds out by a real copy.  It stays UNKNOWN where the peer has not started. */
    void (*try_read)(struct wire_ep *ep);
    /* As send_short of each, but all or none.  With WIRE_PART_BYTES for each at most pack_max bytes. */
    int (*send_many)(struct wire_ep *ep, uint8_t kind, const struct wire_part *parts, int n);
    /* caps.keys: lets others get and put this memory until conceal(); the answer of the latter is that no copy is under way.  A key is
     * never 0. */
    int (*expose)(struct wire *w, const void *addr, size_t bytes, uint64_t *key_out);
    void (*conceal)(struct wire *w, uint64_t key);
    /* caps.direct: a message without a copy of the wire's at either end.  The receiver names the memory and tells the sender its ticket,
     * the sender answers with as many bytes; done->fn at each end says that its memory is no longer of use to the wire.  GW_POSTED. */
    int (*recv_into)(struct wire *w, void *to, size_t bytes, uint64_t *ticket_out, struct gw_done *done);
    int (*send_from)(struct wire_ep *ep, const void *from, size_t bytes, uint64_t ticket, struct gw_done *done);
    /* caps.matches.  Payload copied on return, len <= pack_max: GW_OK, GW_AGAIN or an error. */
    int (*tag_send)(struct wire_ep *ep, const struct wire_tag *tag, const void *payload, size_t len);
    /* `from`: the endpoint of tag.src, NULL for any.  GW_POSTED, GW_AGAIN (no entry is free) or an error. */
    int (*tag_recv)(struct wire *w, struct wire_ep *from, struct wire_take *take);
    void (*tag_cancel)(struct wire *w, struct wire_take *take); /* done follows from progress, cancelled or not */
    /* From now on everything that no posted receive names comes to the receiver of open(), in order, as WIRE_CAUGHT. */
    int (*tag_catch)(struct wire *w);
    int (*tag_check)(struct wire *w, const struct wire_tag *tag); /* of a message: GW_OK, or the limit that it breaks, in words */
    /* A wire that the doorbell of the node knows nothing of: a descriptor that becomes readable when progress has something to do.
     * Before each sleep: GW_OK (it will), GW_AGAIN (there is something already). */
    int (*wait_fd)(struct wire *w);
    int (*arm)(struct wire *w);
    /* Other jobs, of which processes may be on other hosts: where this process can be asked for its addresses, for their
     * node_far_put() (wire_ofi).  Before open, it says that there will be other hosts.  Any thread, no lane's lock. */
    int (*invite)(char *at_out, size_t cap);
    int (*address)(struct sockaddr_storage *out); /* of this host, as others reach it; its port is 0 */
    void (*forget)(struct wire *w, int number);   /* that peer's number will be another's */
    /* From here on everybody can connect: after the last lane that opens at the start, on all ranks; where no rank waits for others in
     * it, also after each that opens later. */
    int (*opened)(void);
    /* Nothing that was sent is still here: the process may now leave the wire alone for long, or for ever, and yet all of it arrives.
     * False: to be asked again after progress. */
    bool (*drained)(struct wire *w);
    /* The program has sent its last; false: it goes on after all.  Meanwhile messages to ranks that have ended may get lost. */
    void (*leave)(struct wire *w, bool is_leaving);
    /* A wire that opens with its first use opens for this: to be asked only where a peer is to be reached by it. */
    void (*caps)(struct wire *w, struct wire_caps *caps_out);
    /* Nothing of the wire is used afterwards; what was not delivered is lost, and done->fn of what was under way is not called. */
    void (*close)(struct wire *w);
};

static inline void wire_ep_init(struct wire_ep *ep, const struct wire_ops *ops, struct wire *w, int32_t as, int32_t place)
{
    struct wire_caps caps;
    ops->caps(w, &caps);
    *ep = (struct wire_ep){.as = as,
                           .choked = &ep->choked_here,
                           .short_max = (uint32_t)caps.short_max,
                           .pack_max = (uint32_t)caps.pack_max,
                           .can_read = WIRE_READ_NO,
                           .node = caps.node,
                           .place = place,
                           .ops = ops,
                           .wire = w};
}
static inline bool wire_may_read(struct wire_ep *ep)
{
    if (unlikely(ep->can_read == WIRE_READ_UNKNOWN)) ep->ops->try_read(ep);
    return ep->can_read == WIRE_READ_OK;
}
/* The same, tried again: the peer may have forbidden it since (PR_SET_DUMPABLE). */
static inline bool wire_may_still_read(struct wire_ep *ep)
{
    if (ep->can_read == WIRE_READ_OK && ep->ops->try_read) ep->can_read = WIRE_READ_UNKNOWN;
    return wire_may_read(ep);
}

#endif
