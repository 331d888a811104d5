/* wire.h -- the transport interface: what a transport must implement.  The rooms above see nothing else of a transport.
 *
 * A wire (transport) is a room with one struct wire_ops.  open() makes one struct wire per lane, connect() one struct wire_ep (endpoint)
 * per peer of a lane.  The wire owns both: its private structs begin with them or lie behind them, they live until close(), and the
 * address of an endpoint does not change.  The rooms above read the fields of struct wire_ep; only the wire writes them.
 *
 * LOCK     The caller holds the lane's lock, unless the comment of a call says otherwise.  Lanes are independent: two threads may be in
 *          the same wire at once, for different lanes.
 * UPWARD   A wire calls upward only from progress(): the receive handler given to open(), and done->fn.  Both may send.  progress() of a
 *          wire is not re-entered.
 * BUFFERS  Headers and payloads of send_*() belong to the caller and are copied before the call returns.  The memory of put(), get(),
 *          recv_into() and send_from() belongs to the wire until the call returns anything but GW_POSTED, or until done->fn is called.
 *          A payload passed to the receive handler belongs to the wire and is valid during that call only.
 * RETURNS  GW_OK: complete.  GW_POSTED: started; done->fn(done, error) is called exactly once, from progress().  GW_AGAIN: nothing was
 *          started, because a queue is full; retry after progress().  A wire that notices that the queue has room again counts this as
 *          an event of progress().  Negative: failed, nothing is under way, gw_fail_text() says why.
 * ORDER    Messages of one endpoint arrive in the order of the calls that returned GW_OK, each exactly once; if the peer has died,
 *          some may not arrive.  There is no order between endpoints, nor between messages and one-sided copies.
 *
 * test/wires.h is the conformance test of all wires.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_WIRE_H
#define GW_WIRE_WIRE_H

#include <sys/uio.h>

#include "base/base.h"
#include "type/type.h"

#define WIRE_HDR_BYTES 16
enum { WIRE_LANES_AUTO = 4 }; /* lanes of a process, unless GODWIT_LANES gives a number */

/* Receive handler: a message has arrived.  `kind` and the WIRE_HDR_BYTES bytes at `hdr` are as sent; payload[len] is valid during the call
 * only.  Called from progress(), with the lane's lock held. */
typedef void (*wire_recv_fn)(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len);

/* Capabilities of a wire that are the same for all peers; protocol selection reads them.  Those that differ by peer are in struct wire_ep. */
struct wire_caps {
    size_t short_max; /* bytes of payload that travel with the header in one slot (E0) */
    size_t pack_max;  /* bytes: largest payload of one send_short/send_pack (E1, and chunks of R1) */
    bool get, put;    /* one-sided copies of remote memory by address (R0) */
    bool keys;        /* get and put need the key that the owner got from expose() */
    bool at_once;     /* and complete in the call: get() and put() never return GW_POSTED */
    bool soft;        /* get and put are emulated in software, not done by a network card */
    bool direct;      /* zero-copy messages (recv_into, send_from) */
    bool node;        /* both ends map the node's shared segment */
    /* Tag matching in the wire (tag_recv), within these limits: largest context id, source and tag; receives that can be posted. */
    bool matches;
    int32_t ctx_max, src_max, tag_max, match_entries;
};

/* ---- caps.matches: tag matching in the wire ----
 * A message carries context id, source and tag.  The wire delivers it to the first posted receive that matches; unexpected messages stay
 * in the wire, in order, until a receive matches them.  `asks` is carried along and not interpreted by the wire. */
struct wire_tag {
    int32_t ctx, src, tag; /* in receives, src may be GW_ANY_SOURCE and tag GW_ANY_TAG (any that is not negative) */
    int32_t asks;          /* 0 or 1, no part of matching: a receive takes messages with either */
};
_Static_assert(sizeof(struct wire_tag) == WIRE_HDR_BYTES, "it is the header of a caught message");
/* A receive posted to the wire.  The caller owns the struct; while the receive is posted the wire owns its contents. */
struct wire_take {
    struct gw_done done; /* completion: GW_OK, or GW_ETRUNCATE: buf holds the first bytes, cap at most, of a message of len bytes */
    void *buf;
    size_t cap;           /* bytes at buf */
    struct wire_tag tag;  /* in: what to match; out: the message's */
    size_t len;           /* out: bytes of the message */
    bool is_cancelled;    /* out: the receive was cancelled, no message was delivered */
    uint64_t at_wire[12]; /* private to the wire */
};
/* Kinds passed to the receive handler that no peer has sent.  CAUGHT: an unexpected message handed over after tag_catch(), its header is
 * a struct wire_tag.  FULL: the wire has no room for more unexpected messages (no header, no payload). */
enum { WIRE_CAUGHT = 254, WIRE_FULL = 255 };

/* One of several short messages that are coalesced into one packet (send_many). */
struct wire_part {
    const void *hdr, *payload;
    size_t len; /* bytes of payload */
};
enum { WIRE_PART_BYTES = 32 }; /* largest overhead of a part in the packet, header included */

/* ---- wire_copy_ops.atomic: an operation on elements of the peer's memory that the wire does there ----
 * Atomic for each element towards others of the wire on the same memory, not towards accesses by a processor. */
enum wire_atomic_op {
    WIRE_ATOMIC_SUM,
    WIRE_ATOMIC_MIN,
    WIRE_ATOMIC_MAX,
    WIRE_ATOMIC_BAND,
    WIRE_ATOMIC_BOR,
    WIRE_ATOMIC_BXOR,
    WIRE_ATOMIC_WRITE,
    WIRE_ATOMIC_READ,
    WIRE_ATOMIC_CSWAP,
    WIRE_ATOMIC_OPS
};
struct wire_atomic {
    enum wire_atomic_op op;
    enum gw_elem elem;
    uint32_t n;                    /* elements: 1 to atomic_most() */
    uint64_t at, key;              /* address at the peer, a multiple of an element's size, and key as for get() */
    const void *operand, *compare; /* [n], copied before return; compare: CSWAP alone; operand: not of READ */
    void *old;                     /* [n], written before completion; NULL: not wanted (READ and CSWAP always want it) */
};

struct sockaddr_storage;
struct node_door;
struct node_other;
struct wire_line;
struct wire_rings;
struct wire_ops;
struct wire; /* one per lane, wire and process */

/* Whether get() and put() may access the peer's memory by address, without a key.  UNKNOWN: not tried yet, see wire_may_read(). */
enum wire_read { WIRE_READ_UNKNOWN, WIRE_READ_OK, WIRE_READ_NO };

/* Endpoint: the connection to one peer, and the first member of every wire's private endpoint.  wire_ep_init() fills it for a wire without
 * a ring of lines. */
struct wire_ep {
    /* The ring of lines, optional (wire_ring.h).  All zero without one, which reads as "no line is free". */
    struct wire_line *lines;
    uint32_t tail, limit,
        mask;   /* next line to write; first line not known to be free; tail == limit always, if other senders share the ring */
    int32_t as; /* this process's number as the peer knows it: the sender that outgoing messages name */
    const _Atomic uint32_t
        *xoff; /* flow control: not 0 while the peer holds too many unexpected messages; send RTS instead of data.  Never NULL */
    /* the peer's doorbell, rung after a commit and after a copy job; NULL: the peer is on another machine */
    struct node_door *door;
    uint64_t sent,
        sent_bytes; /* messages sent inline (E0), counted by proto/; those of other protocols are counted in its tallies */
    /* Capabilities of this peer. */
    uint32_t short_max, pack_max; /* bytes, as in struct wire_caps */
    uint8_t can_read;             /* enum wire_read */
    bool node;                    /* the peer is a rank of this job and maps its node segment: heap, copy jobs, doorbell */
    int32_t place;                /* spreads peers over tables; on a node, its local rank in its job */
    const struct wire_ops *ops;
    struct wire *wire;
    _Atomic uint32_t xoff_here; /* where `xoff` points if the peer reports its state by messages; written by proto */
};

/* ---- what a wire may do beside the nine calls: NULL where it does not ---- */

/* Memory of the peer's beside get() and put(). */
struct wire_copy_ops {
    /* Resolves ep->can_read == WIRE_READ_UNKNOWN by a real copy.  It stays UNKNOWN while the peer has not started. */
    void (*try_read)(struct wire_ep *ep);
    /* caps.keys: registers memory for get and put by peers; conceal() ends that, when no copy is under way any more.  A key is never 0. */
    int (*expose)(struct wire *w, const void *addr, size_t bytes, uint64_t *key_out);
    void (*conceal)(struct wire *w, uint64_t key);
    /* caps.keys: atomic_most: the most elements of one atomic(), with the old values wanted or not; 0: the wire does not do it. */
    uint32_t (*atomic_most)(struct wire *w, enum gw_elem elem, enum wire_atomic_op op);
    int (*atomic)(struct wire_ep *ep, const struct wire_atomic *a, struct gw_done *done); /* GW_POSTED, GW_AGAIN or an error */
    /* caps.direct: a zero-copy message.  The receiver posts a buffer and passes its ticket to the sender, which sends that many bytes.
     * done->fn at each end: the wire does not use the buffer any more.  Both return GW_POSTED or an error. */
    int (*recv_into)(struct wire *w, void *to, size_t bytes, uint64_t *ticket_out, struct gw_done *done);
    int (*send_from)(struct wire_ep *ep, const void *from, size_t bytes, uint64_t ticket, struct gw_done *done);
};

/* caps.matches: all of them. */
struct wire_tag_ops {
    /* Sends a tagged message, whose payload is copied before return; len <= pack_max.  GW_OK, GW_AGAIN or an error. */
    int (*send)(struct wire_ep *ep, const struct wire_tag *tag, const void *payload, size_t len);
    /* Posts a receive.  `from`: the endpoint of tag.src, NULL for any source.  GW_POSTED, GW_AGAIN (no entry free) or an error. */
    int (*recv)(struct wire *w, struct wire_ep *from, struct wire_take *take);
    void (*cancel)(struct wire *w, struct wire_take *take); /* take->done follows from progress(), cancelled or not */
    /* From now on messages that match no posted receive are passed to the receive handler, in order, as WIRE_CAUGHT. */
    int (*catch)(struct wire *w);
    int (*check)(struct wire *w, const struct wire_tag *tag); /* GW_OK, or an error if the tag exceeds a limit of the wire */
};

/* For sleeping, if the node's doorbell does not cover this wire. */
struct wire_sleep_ops {
    int (*wait_fd)(struct wire *w); /* a descriptor that becomes readable when progress() has work */
    int (*arm)(struct wire *w);     /* before each sleep: GW_OK, the descriptor will wake us; GW_AGAIN, there is work already */
};

/* Processes that come and go: the job's own, and those of other jobs (spawn, connect). */
struct wire_world_ops {
    /* The node's wire: bytes of the node segment that node_init() must reserve for it per rank and lane. */
    uint64_t (*area_bytes)(int nlocal);
    /* With several networks open, a peer uses the first that reaches it: does this one?  The answer never changes and is the same at both
     * ends. */
    bool (*reaches)(struct wire *w, int number);
    /* All ranks may connect from here on: called once all lanes that MPI_Init opens are open, on all ranks; and, if it does not
     * synchronise with other ranks, again after each lane that opens later. */
    int (*opened)(void);
    /* The node's wire, for other worlds on this node: their ranks become reachable as the ranks of this job are.  Publishes the numbers
     * by which this process knows them; connect() returns GW_AGAIN until they have published theirs.  Lane 0's lock is held. */
    int (*meet)(struct node_other *other);
    void (*part)(struct node_other *other); /* ends that: no traffic in either direction any more; all lanes' locks are held */
    /* Dynamic processes on other hosts.  invite: where this process can be asked for its addresses, as text for their node_far_put();
     * before open(), it announces that peers on other hosts will come.  Any thread, no lane's lock held. */
    int (*invite)(char *at_out, size_t cap);
    int (*address)(struct sockaddr_storage *out); /* of this host, as other hosts reach it; port 0 */
    void (*forget)(struct wire *w, int number);   /* drops the endpoint: this number will be given to another peer */
    /* True: all that was sent has left this process, and arrives even if progress() is never called again.  False: ask again after
     * progress(). */
    bool (*drained)(struct wire *w);
    /* is_leaving: the program will send no more, and messages to ranks that have ended may get lost; false: it goes on after all. */
    void (*leave)(struct wire *w, bool is_leaving);
};

struct wire_ops {
    size_t size; /* of this struct, in bytes: version of the interface */
    const char *name;
    /* ---- the nine; get and put NULL without caps.get and caps.put, send_pack NULL in wires of tests ---- */
    /* Opens the wire on a lane; messages that arrive are passed to recv(ctx, ...).  Once per lane.  Does not depend on other ranks. */
    int (*open)(int lane, wire_recv_fn recv, void *ctx, struct wire **wire_out);
    /* A wire that opens on first use opens in this call: call it only when a peer is to be reached by the wire. */
    void (*caps)(struct wire *w, struct wire_caps *caps_out);
    /* The endpoint of a peer; the same one each time for the same number.  Does not block: GW_AGAIN while the peer has not opened its
     * side. */
    int (*connect)(struct wire *w, int number, struct wire_ep **ep_out);
    /* Sends header and payload; len <= pack_max.  GW_OK, GW_AGAIN, or an error if the peer has died. */
    int (*send_short)(struct wire_ep *ep, uint8_t kind, const void *hdr, const void *payload, size_t len);
    /* The same with a payload that is packed from the cursor's next `len` bytes into the wire's buffer; GW_AGAIN: the cursor has not
     * moved. */
    int (*send_pack)(struct wire_ep *ep, uint8_t kind, const void *hdr, struct type_cursor *c, size_t len);
    /* One-sided copy between local[nlocal] and the peer's memory at remote_addr.  GW_OK, GW_POSTED or GW_AGAIN; GW_EBUFFER: `local` cannot
     * be accessed; GW_EPEERBUFFER: the remote memory cannot; other errors: this wire cannot do the operation, now or any more.  `key`: as
     * expose() returned it at the peer, 0 unless caps.keys. */
    int (*get)(struct wire_ep *ep, const struct iovec *local, int nlocal, uint64_t remote_addr, uint64_t key, struct gw_done *done);
    int (*put)(struct wire_ep *ep, const struct iovec *local, int nlocal, uint64_t remote_addr, uint64_t key, struct gw_done *done);
    /* Handles what has arrived, some dozens of messages per call at most, and advances pending operations.  Never blocks.  Returns the
     * number of events; 0 means that the caller may sleep. */
    int (*progress)(struct wire *w);
    /* Frees the wire and its endpoints.  Undelivered messages are lost; done->fn of pending operations is not called. */
    void (*close)(struct wire *w);
    /* ---- the rest is optional ---- */
    /* Sends n coalesced messages, all or none, as send_short of each would.  Payloads and WIRE_PART_BYTES for each fit pack_max bytes. */
    int (*send_many)(struct wire_ep *ep, uint8_t kind, const struct wire_part *parts, int n);
    /* The receive rings (wire_ring.h), for inlined polling; valid until close(). */
    struct wire_rings *(*rings)(struct wire *w);
    struct wire_copy_ops copy;
    struct wire_tag_ops tag;
    struct wire_sleep_ops sleep;
    struct wire_world_ops world;
};

static inline void wire_ep_init(struct wire_ep *ep, const struct wire_ops *ops, struct wire *w, int32_t as, int32_t place)
{
    struct wire_caps caps;
    ops->caps(w, &caps);
    *ep = (struct wire_ep){.as = as,
                           .xoff = &ep->xoff_here,
                           .short_max = (uint32_t)caps.short_max,
                           .pack_max = (uint32_t)caps.pack_max,
                           .can_read = WIRE_READ_NO,
                           .node = caps.node,
                           .place = place,
                           .ops = ops,
                           .wire = w};
}
/* May the peer's memory be accessed by get() and put() without a key?  Finds out if this is not known yet. */
static inline bool wire_may_read(struct wire_ep *ep)
{
    if (unlikely(ep->can_read == WIRE_READ_UNKNOWN)) ep->ops->copy.try_read(ep);
    return ep->can_read == WIRE_READ_OK;
}
/* The same with a new try: the peer may have revoked access since (PR_SET_DUMPABLE). */
static inline bool wire_may_still_read(struct wire_ep *ep)
{
    if (ep->can_read == WIRE_READ_OK && ep->ops->copy.try_read) ep->can_read = WIRE_READ_UNKNOWN;
    return wire_may_read(ep);
}

#endif
