/* port.h -- authenticated sockets: ports, their access tokens ("secrets"), addresses.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_PORT_H
#define GW_BOOT_PORT_H

#include <sys/types.h>

#include "base/lock.h"
#include "base/retry.h"
#include "boot/boot.h"

struct sockaddr_storage;

/* ---- listeners with access control (boot_gate.c, boot_port.c, doc/adr/0019) -------------------------------------------
 * A port is an abstract unix socket named by a random number, so no file is left behind.  Names are visible to all users; a connection is
 * accepted only from a process of the same user (or root) whose first bytes are the port's secret.  Descriptors are non-blocking and
 * close-on-exec.  -1: see errno. */
enum { BOOT_PORT_TEXT = 50, BOOT_GATE_HALF = 16 };
uint64_t boot_random(void);                    /* never 0; not for secrets */
int boot_secret_make(struct boot_secret *out); /* GW_OK; GW_EOTHER: the kernel provides no random numbers */
bool boot_secret_equal(const struct boot_secret *a, const struct boot_secret *b); /* in constant time */
int boot_port_make(struct boot_port *out); /* random name and secret; as boot_secret_make() */
void boot_port_text(const struct boot_port *p, char out[BOOT_PORT_TEXT]);
bool boot_port_parse(const char *text, struct boot_port *out);
bool boot_user_is_ours(uid_t uid); /* or root's */
bool boot_peer_is_ours(int s);     /* the same for the process at the other end of a unix socket */
/* A listener, and its connections that have not sent the secret yet: BOOT_GATE_HALF at most, each for a few seconds. */
struct boot_gate_half {
    int fd;
    uint32_t got;
    bool is_lesser;
    bool has_reserve; /* it has the gate's last descriptor */
    uint64_t until_ns;
    struct boot_secret said;
};
struct boot_gate {
    int fd; /* poll it: readable when boot_gate_accept() has something to do; -1: closed */
    int listener, timer, n;
    int far;               /* TCP listener for other hosts; -1: none */
    struct gw_retry retry; /* of accepting */
    int reserve; /* an open file in whose place a connection comes where there is no other descriptor: so it is seen who waits */
    uint64_t again_ns; /* connections wait, and the kernel gives no descriptor: the next try, by the timer; 0: all is well */
    bool
        is_stuck; /* for long it gave none for one that has shown the secret, or does not accept at all: the owner, who has got the errno,
                            * gives up.  Strangers alone, who are dropped, are none of it. */
    uint64_t n_refused;  /* rejected connections: wrong secret, timeout, or too many pending */
    struct gw_lock lock; /* held while accepting */
    struct boot_secret secret;
    struct boot_secret
        lesser; /* who shows this one may less: its owner sees which it was.  The owner sets both after boot_gate_open() */
    bool has_lesser;
    bool was_lesser;                            /* of the connection accepted last */
    struct boot_gate_half half[BOOT_GATE_HALF]; /* the oldest first */
};
int boot_gate_open(struct boot_gate *g, const struct boot_port *port); /* 0, -1 */
/* Also listens for other hosts, by TCP at the address *at of this host; its port is filled in.  The secret is all that authenticates these
 * connections: the user is not known.  0, -1. */
int boot_gate_open_far(struct boot_gate *g, struct sockaddr_storage *at);
/* The same without the unix listener. */
int boot_gate_open_far_only(struct boot_gate *g, const struct boot_secret *secret, struct sockaddr_storage *at);
/* "192.0.2.2:4000", "[2001:db8::2]:4000" */
enum { BOOT_ADDRESS_TEXT = 56 };
void boot_address_text(const struct sockaddr_storage *at, char out[BOOT_ADDRESS_TEXT]);
bool boot_address_parse(const char *text, struct sockaddr_storage *out); /* accepts only what boot_address_text() writes */
/* "NAME:SECRET@192.0.2.2:4000", or without the address: then far_out->ss_family is 0 (far_out may be NULL) */
bool boot_place_parse(const char *text, struct boot_port *port_out, struct sockaddr_storage *far_out);
int boot_far_connect(const struct sockaddr_storage *at); /* non-blocking: becomes writable when connected or failed (SO_ERROR) */
/* Environment variable with the port of the parent job, and its address for other hosts, if a process manager starts a spawned job: not
 * on a command line, because of the secret. */
#define BOOT_PARENT "GODWIT_PARENT"
int boot_parent_connect(int patience_ms); /* connects and sends the secret, on this host or another; -1: errno */
/* The next connection that has sent the secret; -1 with EAGAIN: none yet.  Never blocks; connections of other users are closed at once.
 * Another errno: the kernel does not let it accept what waits there.  It tries again by itself, until is_stuck; g->fd does not stay readable. */
int boot_gate_accept(struct boot_gate *g);
void boot_gate_close(struct boot_gate *g);
/* Connects to a listener of this user and sends the secret.  -1; EAGAIN: its queue is still full after patience_ms; EACCES: it is another
 * user's; EKEYREJECTED: nothing shows whose it is. */
int boot_port_connect(const struct boot_port *port, int patience_ms);
const char *boot_port_why(int error); /* such an errno in words */
/* Hands a descriptor to the process at the other end of a unix socket: 0, -1; takes it there: -1: none came. */
int boot_fd_send(int s, int fd);
int boot_fd_receive(int s);
/* Transfers as many bytes as possible without blocking: at least 1; 0: none now; -1: closed by the peer, or errno. */
int64_t boot_port_read(int fd, void *data, size_t bytes);
int64_t boot_port_write(int fd, const void *data, size_t bytes);

#endif
