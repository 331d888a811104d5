/* tcp_private.h -- shared by the files of wire_tcp: the format on the wire, endpoints, incoming connections, and a lane.
 *
 * LOCK  The lane's lock is held in all calls that take a wire, an endpoint or a connection, unless the comment says otherwise.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_TCP_TCP_PRIVATE_H
#define GW_WIRE_TCP_TCP_PRIVATE_H

#include <errno.h>
#include <sys/socket.h>

#include "base/base.h"
#include "base/list.h"
#include "base/retry.h"
#include "boot/boot.h"
#include "net/network.h"
#include "node/node.h"
#include "wire/wire.h"
#include "wire_tcp/tcp.h"
#include "wire_tcp/tcp_ask.h"
#include "wire_tcp/tcp_munge.h"
#include "wire_tcp/tcp_tls.h"

/* ---- format on the wire ---------------------------------------------------------------------------------------------------------
 * A connection carries messages in one direction: from the process that made it.  That process sends a hello, the accepting process answers
 * with a welcome.  A message is a head, the payload, and padding to a multiple of TCP_ALIGN. */
enum { TCP_ALIGN = 8, TCP_PACK_MAX = 128 << 10 };
#define TCP_MAGIC 0x31707774u
struct tcp_hello {
    struct boot_secret secret; /* of the accepting process: boot_gate.c checks it */
    struct tcp_hello_rest {
        uint32_t magic;
        int32_t lane;
        int32_t as;     /* the number by which the accepting process knows the connecting one */
        uint32_t nonce; /* identifies the connecting endpoint, also when it connects again; not 0 */
    } rest;
};
_Static_assert(sizeof(struct tcp_hello) == 32, "wire format");
struct tcp_welcome {
    uint64_t reply;          /* the second secret of the address, which only the accepting process sends: it proves who answers */
    uint32_t magic, refused; /* refused: 0; else the reason (tcp_munge.h), and the connection ends */
};
_Static_assert(sizeof(struct tcp_welcome) == 16, "wire format");
/* With GODWIT_NET_AUTH=munge a credential of TCP_MUNGE_TEXT bytes follows hello and welcome, which holds this. */
struct tcp_proof {
    enum tcp_way { TCP_PROOF_CALLS = 1, TCP_PROOF_ANSWERS } way;
    uint32_t zero;
    struct boot_secret secret; /* of the accepting process */
    struct tcp_hello_rest rest;
    struct boot_secret fresh; /* random, by who connects */
};
_Static_assert(sizeof(struct tcp_proof) == 56 && sizeof(struct tcp_proof) <= TCP_MUNGE_MOST, "wire format");
struct tcp_head {
    uint32_t len; /* of the payload */
    uint8_t kind; /* kind of the message for the rooms above, below WIRE_CAUGHT; or TCP_PART */
    uint8_t pad[3];
    uint8_t hdr[WIRE_HDR_BYTES];
};
_Static_assert(sizeof(struct tcp_head) == 24, "wire format");
enum { TCP_PART = 255 }; /* part of a zero-copy message: its header is the ticket as a 64-bit number, then 64 bits that are 0 */
_Static_assert(sizeof(struct tcp_head) + TCP_ALIGN <= WIRE_PART_BYTES, "send_many() has room for all");
static inline size_t tcp_total(size_t len) { return gw_align_up(sizeof(struct tcp_head) + len, TCP_ALIGN); }
enum {
    TCP_PART_MOST = 512 << 10,         /* bytes of a part: other messages to that rank wait for at most one part */
    TCP_QUEUE_MOST = 2 * TCP_PACK_MAX, /* bytes queued for a rank at most; beyond that, GW_AGAIN */
    TCP_BUFFER = 256 << 10,            /* bytes read from a connection by one system call */
    TCP_ROUND_MOST = 4 << 20,          /* bytes written to or read from one connection in a round of progress */
};

/* "@tcp:192.0.2.2:40000#SECRET" with 48 hexadecimal digits: a process's address and its two secrets; with GODWIT_NET_TLS 64 more, the key of
 * its connections.  Then the first 16 bytes of the hello go as they are, and what follows in both directions is carried by TLS (tcp_tls.h).
 * "+munge" at the end: it asks for credentials. */
enum { TCP_PLACE = 256 };
struct tcp_place {
    struct sockaddr_storage at;
    struct boot_secret secret;
    uint64_t reply;
    bool has_tls, has_munge;
    struct tcp_tls_key tls;
};
void tcp_place_text(const struct tcp_place *p, char out[TCP_PLACE]);
bool tcp_place_read(const char *text, struct tcp_place *out); /* false: not a text of tcp_place_text() */

/* ---- a lane --------------------------------------------------------------------------------------------------------------------- */
enum tcp_what { TCP_IS_OUT, TCP_IS_IN, TCP_IS_DOOR, TCP_IS_BELL }; /* the kind of object that an epoll event points to */

struct tcp_give { /* a zero-copy message that is being sent; allocated by tcp_send_from() */
    struct gw_list link;
    struct gw_done *done;
    const char *from;
    size_t left;
    uint64_t ticket;
    int err;
};
struct tcp_take { /* a zero-copy message that is being received; wire.takes[], named by a ticket */
    struct gw_done *done;
    char *at;
    size_t left;
    uint32_t generation;
    const struct tcp_in *in; /* the connection on which its parts arrive; NULL: none has arrived yet */
    int next_free;           /* in the list of free entries (done == NULL): index + 1 of the next one; 0: the last */
};

/* An endpoint, and its states:
 *
 *   RESTING -> CALLING [tcp_call]    a connection is being made
 *   CALLING -> GREETING [called]     the connection is made and the hello sent; messages are sent behind it
 *   GREETING -> OPEN [welcomed]      the welcome is valid
 *   CALLING, GREETING -> RESTING     the connection was closed, for example because the peer's backlog was full, or this host has no memory for
 *                                    it just now; a new one is made later
 *   any -> BROKEN                    the peer has ended; nothing is sent to it any more
 *
 * INVARIANT E1  what is written before OPEN stays in the queue until OPEN (`kept` bytes), and is written again to a new connection.  A peer
 *               accepts one connection per endpoint (nonce), so nothing is delivered twice.
 * INVARIANT E2  w->n_waiting counts the endpoints that have something to write, or are neither OPEN nor BROKEN.
 * INVARIANT E3  at + kept <= end <= cap, and `before` bytes of the queue lie before the part that is under way. */
struct tcp_ep {
    struct wire_ep base; /* first */
    enum tcp_what what;
    enum tcp_out_state { TCP_RESTING, TCP_CALLING, TCP_GREETING, TCP_OPEN, TCP_BROKEN } state;
    struct wire *w;
    int fd, rank;
    bool is_waiting, is_full; /* counted in n_waiting; the socket buffer is full */
    bool is_due;              /* in w->due */
    bool is_foreign, is_forgotten, is_warned;
    struct tcp_ep *next; /* in w->all */
    struct gw_list due;  /* in w->due: to be written to or connected in the next round, without an epoll event */
    struct tcp_place there;
    uint64_t begun_ns, again_ns; /* time of the first connect; earliest time of the next one */
    uint32_t tries, nonce;
    struct gw_retry retry; /* of calls that fail at this end */
    size_t welcome_got;
    struct tcp_welcome welcome;
    struct tcp_called {
        struct tcp_proof proof; /* what ours holds */
        struct tcp_ask *ask;    /* for ours in CALLING, about the answer in GREETING; NULL: none */
        char answer[TCP_MUNGE_TEXT];
    } * called; /* NULL: without MUNGE */
    /* Output, in order: `before` bytes of the queue, the rest of the part under way, the rest of the queue. */
    char *queue;
    size_t at, end, cap, before, kept;
    struct gw_list gives; /* struct tcp_give; the part under way is of the first one */
    struct tcp_part {
        size_t head, data, pad; /* bytes left of each; all 0: no part is under way */
        struct tcp_head bytes;
    } part;
};

struct tcp_in { /* a connection that was accepted: messages arrive on it */
    enum tcp_what what;
    int fd;
    int32_t as; /* number of the sender, as its hello has it; validated by the secret */
    uint32_t nonce;
    char *
        answer; /* [TCP_MUNGE_TEXT] the credential for the one who called, which follows the welcome; NULL: without MUNGE, or sent */
    struct wire *w;
    struct tcp_in *next, *prev; /* in w->ins; in the door's inbox only `next` */
    size_t have,
        need;      /* of a message of which a part has been read: bytes read and all bytes; need 0: not even its head, see `head` */
    char *message; /* [tcp_total(TCP_PACK_MAX)] buffer for such a message; NULL: none was needed yet */
    char head[sizeof(struct tcp_head)];
    int take;               /* a part is arriving for w->takes[take - 1]; 0: none is */
    size_t take_left, skip; /* bytes left of the part; of the padding behind it */
    struct gw_retry retry;  /* of reading */
    bool is_gone;           /* closed, in w->gone: freed at the end of this round of progress */
};

struct wire {
    int lane, fd, bell; /* fd: epoll on all connections, the door and the bell.  bell: eventfd, written by other lanes' threads that
                         * have accepted a connection for this one */
    wire_recv_fn recv;
    void *ctx;
    enum tcp_what door_is, bell_is;
    bool is_leaving, is_closing;
    struct tcp_ep **eps; /* by number; NULL: not connected */
    int n_eps;
    struct tcp_ep *all;                    /* also those that were forgotten */
    int n_waiting, n_calling, n_forgotten; /* endpoints: see E2; CALLING or RESTING; whose number was given to another peer */
    struct gw_list due, given;             /* endpoints; struct tcp_give that are complete */
    struct tcp_in *ins, *hot, *gone;       /* hot: the one on which data arrived last; NULL: none */
    uint32_t hits, misses, idle;           /* rounds of progress in which `hot` had data or not; in which nothing happened */
    uint64_t look_ns;                      /* when peers that do not answer are looked at next */
    uint32_t *nonces;                      /* of the peers that have connected, by number; 0: not yet */
    struct tcp_take *takes;
    int n_takes, free_take; /* + 1 */
    struct network_alive *alive;
    char *buffer; /* [TCP_ALIGN + TCP_BUFFER] */
};

/* ---- tcp_door.c: the process's listening socket ("door").  Any lane's thread may call ---- */
/* Called with the first lane.  is_far: processes of other hosts may connect. */
int tcp_door_open(bool is_far);
bool tcp_door_is_open(void);
bool tcp_door_is_far(void);
const char *tcp_door_text(void); /* its address: tcp_place_text() */
const struct tcp_place *tcp_door_place(void);
int tcp_door_watch(struct wire *w, bool is_on); /* this lane polls the door and gets its connections; false: ends that */
/* Accepts connections, and gives those with the right secret to their lanes; returns how many. */
int tcp_door_look(struct wire *w);
void tcp_door_close(void); /* after the last lane */

/* Counts n messages or connections that are not from a rank of this job, and warns once. */
void tcp_drop(uint64_t n, const char *why) GW_COLD;
int tcp_watch(struct wire *w, int fd, uint32_t events, void *what);
void tcp_tune(int fd); /* options of a connection */

/* After EFAULT on a buffer of the program: accesses it, so that the program gets the SIGSEGV that it would get from its own access, in the
 * MPI call that is under way.  Returns if the memory is accessible after all. */
void tcp_fault(const void *at, size_t bytes, bool is_write) GW_COLD;

/* Does an errno say that the link or the other end has failed, not a call at this end? */
static inline bool tcp_is_of_link(int err)
{
    return err == ECONNRESET || err == EPIPE || err == ETIMEDOUT || err == EHOSTUNREACH || err == ENETUNREACH || err == ENETDOWN ||
        err == EHOSTDOWN || err == ENETRESET || err == ECONNABORTED || err == ECONNREFUSED || err == EPROTO || err == ENOTCONN ||
        err == ENOPROTOOPT || err == EMSGSIZE || err == EOPNOTSUPP || err == ENONET;
}

/* ---- tcp_send.c ---- */
void tcp_call(struct tcp_ep *ep);
int tcp_out_event(struct tcp_ep *ep, uint32_t events);
int tcp_due_look(struct wire *w);            /* handles w->due and w->given; the number of events */
void tcp_asks_look(struct wire *w) GW_COLD;  /* goes on with endpoints for which munged has answered */
void tcp_calls_look(struct wire *w) GW_COLD; /* warns of peers that do not answer */
void tcp_ep_close(struct tcp_ep *ep);
int tcp_send_short(struct wire_ep *ep, uint8_t kind, const void *hdr, const void *payload, size_t len);
int tcp_send_pack(struct wire_ep *ep, uint8_t kind, const void *hdr, struct type_cursor *c, size_t len);
int tcp_send_many(struct wire_ep *ep, uint8_t kind, const struct wire_part *parts, int n);
int tcp_send_from(struct wire_ep *ep, const void *from, size_t bytes, uint64_t ticket, struct gw_done *done);

/* ---- tcp_recv.c ---- */
void tcp_in_begin(struct wire *w, struct tcp_in *in); /* the lane takes ownership of a new connection */
int tcp_in_read(struct tcp_in *in);                   /* reads what has arrived; the number of events */
void tcp_in_end(struct tcp_in *in, const char *why);  /* closes it; why: what was wrong, counted; NULL: nothing */
void tcp_ins_free(struct wire *w);                    /* frees w->gone */
int tcp_recv_into(struct wire *w, void *to, size_t bytes, uint64_t *ticket_out, struct gw_done *done);

#endif
