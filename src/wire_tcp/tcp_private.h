/* tcp_private.h -- what the files of wire_tcp share: what is on the wire, connections, and a lane.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_TCP_TCP_PRIVATE_H
#define GW_WIRE_TCP_TCP_PRIVATE_H

#include <sys/socket.h>

#include "base/base.h"
#include "base/list.h"
#include "boot/boot.h"
#include "net/network.h"
#include "node/node.h"
#include "wire/wire.h"
#include "wire_tcp/tcp.h"

/* ---- what is on the wire --------------------------------------------------------------------------------------------------------
 * Who connects sends a hello, the other end answers with a welcome, and then messages go the one way: a head, the payload, and what is
 * missing to a multiple of TCP_ALIGN. */
enum { TCP_ALIGN = 8, TCP_PACK_MAX = 128 << 10 };
#define TCP_MAGIC 0x31707774u
struct tcp_hello {
    struct boot_secret secret; /* of who is called: boot_gate.c reads it */
    struct tcp_hello_rest {
        uint32_t magic;
        int32_t lane;
        int32_t as;     /* the number by which the one that is called knows the caller */
        uint32_t nonce; /* of the calling endpoint, not 0: who calls again is known by it */
    } rest;
};
_Static_assert(sizeof(struct tcp_hello) == 32, "wire format");
struct tcp_welcome {
    uint64_t reply; /* beside the secret in the address, and never shown by who calls */
    uint32_t magic, zero;
};
_Static_assert(sizeof(struct tcp_welcome) == 16, "wire format");
struct tcp_head {
    uint32_t len; /* of the payload */
    uint8_t kind; /* of the rooms above: below WIRE_CAUGHT; or TCP_PART */
    uint8_t pad[3];
    uint8_t hdr[WIRE_HDR_BYTES];
};
_Static_assert(sizeof(struct tcp_head) == 24, "wire format");
enum { TCP_PART = 255 }; /* of a message from memory to memory: its header is the ticket, as a number of 64 bits, and 0 */
_Static_assert(sizeof(struct tcp_head) + TCP_ALIGN <= WIRE_PART_BYTES, "send_many() has room for all");
static inline size_t tcp_total(size_t len) { return gw_align_up(sizeof(struct tcp_head) + len, TCP_ALIGN); }
enum {
    TCP_PART_MOST = 512 << 10,         /* bytes of a part: what else goes to that rank waits for no more than one */
    TCP_QUEUE_MOST = 2 * TCP_PACK_MAX, /* bytes for a rank that wait here at most; beyond that, GW_AGAIN */
    TCP_BUFFER = 256 << 10,            /* what one look at a connection takes */
    TCP_ROUND_MOST = 4 << 20,          /* bytes that one look writes or reads of one connection */
};

/* "@tcp:192.0.2.2:40000#SECRET" with 48 hexadecimal digits: where a process is, and what lets in. */
enum { TCP_PLACE = 128 };
struct tcp_place {
    struct sockaddr_storage at;
    struct boot_secret secret;
    uint64_t reply;
};
void tcp_place_text(const struct tcp_place *p, char out[TCP_PLACE]);
bool tcp_place_read(const char *text, struct tcp_place *out); /* only what the former writes */

/* ---- a lane --------------------------------------------------------------------------------------------------------------------- */
enum tcp_what { TCP_IS_OUT, TCP_IS_IN, TCP_IS_DOOR, TCP_IS_BELL }; /* what an event of epoll is about: the first word there */

struct tcp_give { /* memory that goes out */
    struct gw_list link;
    struct gw_done *done;
    const char *from;
    size_t left;
    uint64_t ticket;
    int err;
};
struct tcp_take { /* memory that is to be filled */
    struct gw_done *done;
    char *at;
    size_t left;
    uint32_t generation;
    const struct tcp_in *in; /* that brings it; NULL: nothing has come yet */
    int next_free;           /* of those with done == NULL: its place + 1 */
};

/* The way of an endpoint:
 *
 *   RESTING -> CALLING [tcp_call]    a connection is being made
 *   CALLING -> GREETING [called]     it is there, the hello has gone, and messages go behind it
 *   GREETING -> OPEN [welcomed]      the answer was right
 *   CALLING, GREETING -> RESTING     it was closed: strangers may have filled the other's door; again after a while
 *   any -> BROKEN                    the peer has ended; nothing goes there any more
 *
 * INVARIANT E1  what is written before OPEN stays in the queue until then (`kept` bytes), and is written again where a connection is made
 *               again.  Who has answered has taken this endpoint's one connection for life, so nothing comes twice.
 * INVARIANT E2  w->n_waiting counts the endpoints that have something to write, or are not OPEN nor BROKEN. */
struct tcp_ep {
    struct wire_ep base; /* first */
    enum tcp_what what;
    enum tcp_out_state { TCP_RESTING, TCP_CALLING, TCP_GREETING, TCP_OPEN, TCP_BROKEN } state;
    struct wire *w;
    int fd, rank;
    bool is_waiting, is_full; /* counted in n_waiting; the socket takes no more just now */
    bool is_due;              /* in w->due */
    bool is_foreign, is_forgotten, is_warned;
    struct tcp_ep *next; /* all of the lane */
    struct gw_list due;  /* in w->due: to be written to, or called, without an event */
    struct tcp_place there;
    uint64_t begun_ns, again_ns; /* the first call; not before: the next one */
    uint32_t tries, nonce;
    size_t welcome_got;
    struct tcp_welcome welcome;
    /* What is to be written: `before` bytes of the queue, what is left of a part, then the rest of the queue. */
    char *queue;
    size_t at, end, cap, before, kept;
    struct gw_list gives; /* struct tcp_give, the first one has the part */
    struct tcp_part {
        size_t head, data, pad; /* bytes left of each; all 0: there is none */
        struct tcp_head bytes;
    } part;
};

struct tcp_in { /* a connection that others have made */
    enum tcp_what what;
    int fd;
    int32_t as; /* who says to be there */
    uint32_t nonce;
    struct wire *w;
    struct tcp_in *next, *prev; /* of the lane; or `next` alone in the door's inbox */
    size_t have, need; /* bytes of a message that has begun, from its head on; need 0: its head is not whole, and in `head` */
    char *message;     /* [tcp_total(TCP_PACK_MAX)] for one with a whole head; NULL: none was ever cut */
    char head[sizeof(struct tcp_head)];
    int take;               /* a part is coming of what has this place + 1; 0: none is */
    size_t take_left, skip; /* bytes of the part; bytes behind it that are nobody's */
    bool is_gone;           /* closed: to be freed after this round */
};

struct wire {
    int lane, fd, bell; /* epoll: of all connections, the door and the bell, which others ring for the lane */
    wire_recv_fn recv;
    void *ctx;
    enum tcp_what door_is, bell_is;
    bool is_leaving, is_closing;
    struct tcp_ep **eps; /* by number */
    int n_eps;
    struct tcp_ep *all;
    int n_waiting, n_calling, n_forgotten; /* endpoints: E2; CALLING or RESTING; those whose number is another's */
    struct gw_list due, given;             /* endpoints; struct tcp_give that are over */
    struct tcp_in *ins, *hot, *gone;       /* the one that something came from last */
    uint32_t hits, misses, idle;
    uint64_t look_ns; /* at peers that do not answer */
    uint32_t *nonces; /* of those who came, by number; 0: nobody has */
    struct tcp_take *takes;
    int n_takes, free_take; /* + 1 */
    struct network_alive *alive;
    char *buffer; /* [TCP_ALIGN + TCP_BUFFER] */
};

/* ---- tcp_door.c: the process's listener, and who comes.  Any lane's thread ---- */
/* With the first lane; is_far: other hosts are to come. */
int tcp_door_open(bool is_far);
bool tcp_door_is_open(void);
bool tcp_door_is_far(void);
const char *tcp_door_text(void); /* where it is */
const struct tcp_place *tcp_door_place(void);
int tcp_door_watch(struct wire *w, bool is_on); /* this lane takes what is for it, and looks at the door */
/* Who has come and shown the secret goes to its lane; the number of them. */
int tcp_door_look(struct wire *w);
void tcp_door_close(void); /* no lane is open */

/* What is not from a rank of this job is counted, and said once. */
void tcp_drop(uint64_t n, const char *why) GW_COLD;
int tcp_watch(struct wire *w, int fd, uint32_t events, void *what);
void tcp_tune(int fd); /* options of a connection */

/* The kernel could not read, or write, all of this memory of the program's: the fault comes again here, as SIGSEGV of its owner's, in the MPI
 * call that is under way.  It returns if there is none any more. */
void tcp_fault(const void *at, size_t bytes, bool is_write) GW_COLD;

/* ---- tcp_send.c ---- */
void tcp_call(struct tcp_ep *ep);
int tcp_out_event(struct tcp_ep *ep, uint32_t events);
int tcp_due_look(struct wire *w);            /* w->due and w->given are not empty: what happened */
void tcp_calls_look(struct wire *w) GW_COLD; /* at peers that do not answer */
void tcp_ep_close(struct tcp_ep *ep);
int tcp_send_short(struct wire_ep *ep, uint8_t kind, const void *hdr, const void *payload, size_t len);
int tcp_send_pack(struct wire_ep *ep, uint8_t kind, const void *hdr, struct type_cursor *c, size_t len);
int tcp_send_many(struct wire_ep *ep, uint8_t kind, const struct wire_part *parts, int n);
int tcp_send_from(struct wire_ep *ep, const void *from, size_t bytes, uint64_t ticket, struct gw_done *done);

/* ---- tcp_recv.c ---- */
void tcp_in_begin(struct wire *w, struct tcp_in *in); /* it is this lane's from now on */
int tcp_in_read(struct tcp_in *in);                   /* what came of it */
void tcp_in_end(struct tcp_in *in, const char *why);  /* NULL: it ends as it should */
void tcp_ins_free(struct wire *w);                    /* those that have ended */
int tcp_recv_into(struct wire *w, void *to, size_t bytes, uint64_t *ticket_out, struct gw_done *done);

#endif
