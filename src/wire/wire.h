/* wire.h -- the waist: what a transport must do.  Nothing else of a transport is visible above.
 *
 * Every call is made with the lane's lock held.  A wire calls upward only from progress, through the handler given at
 * open and through done->fn.  GW_AGAIN means that nothing was started; a wire that can tell when to try again counts that as
 * something that happened in progress.  Copies with done == NULL are done on return or have failed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_WIRE_H
#define GW_WIRE_WIRE_H

#include "type/type.h"

#define WIRE_HDR_BYTES 16
enum { WIRE_LANES_AUTO = 4 }; /* lanes of a process where GODWIT_LANES says no number */

/* A message arrived: `kind` and the 16 header bytes as sent, payload valid during the call only. */
typedef void (*wire_recv_fn)(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len);

/* What a wire can do, as data: protocol selection and the simulator read it. */
struct wire_caps {
    size_t short_max; /* bytes that travel with the header in one piece (E0) */
    size_t pack_max;  /* largest payload of one send_short/send_pack (E1, and chunks of R1) */
    bool get, put;    /* one-sided copies of remote memory by address (R0) */
    bool keys;        /* but only where its owner has exposed it */
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
struct wire;    /* one per lane, wire and process */
struct wire_ep; /* towards one peer */

struct wire_ops {
    size_t size; /* of this struct, for later growth */
    const char *name;
    int (*open)(int lane, wire_recv_fn recv, void *ctx, struct wire **wire_out);
    int (*connect)(struct wire *w, int world_rank, struct wire_ep **ep_out);
    /* Copied on return.  len <= pack_max.  GW_OK or GW_AGAIN. */
    int (*send_short)(struct wire_ep *ep, uint8_t kind, const void *hdr, const void *payload, size_t len);
    /* The next `len` bytes of the cursor are packed straight into the wire's buffer; on GW_AGAIN it has not moved. */
    int (*send_pack)(struct wire_ep *ep, uint8_t kind, const void *hdr, struct type_cursor *c, size_t len);
    /* Synchronous or not: GW_OK done, GW_POSTED done->fn follows from progress, GW_AGAIN, negative: the text is set; GW_EBUFFER: `local`
     * cannot be accessed; GW_EPEERBUFFER: the memory there cannot, as far as can be seen from here; else the wire cannot do this (any
     * more).  `key` is what expose() said at the other end, 0 where caps.keys is false. */
    int (*get)(struct wire_ep *ep, const struct iovec *local, int nlocal, uint64_t remote_addr, uint64_t key, struct gw_done *done);
    int (*put)(struct wire_ep *ep, const struct iovec *local, int nlocal, uint64_t remote_addr, uint64_t key, struct gw_done *done);
    int (*progress)(struct wire *w); /* number of things that happened */
    /* ---- from here on NULL where a wire has no need of it ---- */
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
    void (*close)(struct wire *w);
};

#endif
