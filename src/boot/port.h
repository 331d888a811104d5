/* port.h -- who is let in: ports, their secrets, addresses.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_PORT_H
#define GW_BOOT_PORT_H

#include <sys/types.h>

#include "base/lock.h"
#include "boot/boot.h"

struct sockaddr_storage;

/* ---- who is let in (boot_gate.c, boot_port.c, doc/adr/0019) ----------------------------------------------------------
 * Ports are abstract unix sockets, named by a random number; nothing stays behind.  Their names are seen by everybody; only processes
 * of the same user (or of root) that send the port's secret first come through.  Descriptors are non-blocking and close on exec; -1:
 * errno says why. */
enum { BOOT_PORT_TEXT = 50, BOOT_GATE_HALF = 16 };
uint64_t boot_random(void);                    /* never 0; for numbers that protect nothing */
int boot_secret_make(struct boot_secret *out); /* GW_OK; GW_EOTHER where the kernel gives no random numbers */
bool boot_secret_equal(const struct boot_secret *a,
                       const struct boot_secret *b); /* in a time that does not tell where they differ */
int boot_port_make(struct boot_port *out);           /* the same */
void boot_port_text(const struct boot_port *p, char out[BOOT_PORT_TEXT]);
bool boot_port_parse(const char *text, struct boot_port *out);
bool boot_user_is_ours(uid_t uid); /* or root's */
bool boot_peer_is_ours(int s);     /* who is at the other end of a unix socket */
/* A listener and its connections that have not shown the secret yet: so many at most, each for a few seconds. */
struct boot_gate_half {
    int fd;
    uint32_t got;
    uint64_t until_ns;
    struct boot_secret said;
};
struct boot_gate {
    int fd; /* poll it: readable when boot_gate_accept() has something to do; -1: closed */
    int listener, timer, n;
    int far;             /* a listener for other hosts; -1: none */
    uint64_t n_refused;  /* connections that did not show the secret: wrong, too late, or too many */
    struct gw_lock lock; /* of accepting */
    struct boot_secret secret;
    struct boot_gate_half half[BOOT_GATE_HALF]; /* the oldest first */
};
int boot_gate_open(struct boot_gate *g, const struct boot_port *port); /* 0, -1 */
/* Lets processes of other hosts in, too, at an address of this one (struct sockaddr), which gets the port.  What they show is the secret
 * alone: nobody says of which user they are.  0, -1. */
int boot_gate_open_far(struct boot_gate *g, struct sockaddr_storage *at);
/* The same without a listener on this host's own sockets. */
int boot_gate_open_far_only(struct boot_gate *g, const struct boot_secret *secret, struct sockaddr_storage *at);
/* "192.0.2.2:4000", "[2001:db8::2]:4000" */
enum { BOOT_ADDRESS_TEXT = 56 };
void boot_address_text(const struct sockaddr_storage *at, char out[BOOT_ADDRESS_TEXT]);
bool boot_address_parse(const char *text, struct sockaddr_storage *out); /* only what the former writes */
/* "NAME:SECRET@192.0.2.2:4000", or without the address; far_out (may be NULL): ss_family 0, there was none */
bool boot_place_parse(const char *text, struct boot_port *port_out, struct sockaddr_storage *far_out);
int boot_far_connect(const struct sockaddr_storage *at); /* under way: writable when it is there, or has failed (SO_ERROR) */
/* Of who spawned this job by an engine: their port, with an address for other hosts behind it; a variable, so that it stands on no
 * command line. */
#define BOOT_PARENT "GODWIT_PARENT"
int boot_parent_connect(int patience_ms); /* shows the secret, on this host or another; -1: errno */
/* The next that has shown the secret; EAGAIN: nobody yet.  Never blocks; strangers are closed at once, however many there are. */
int boot_gate_accept(struct boot_gate *g);
void boot_gate_close(struct boot_gate *g);
/* Shows the secret, to a listener of our user only.  EAGAIN: too many wait there already, also after so long; EACCES: a stranger's. */
int boot_port_connect(const struct boot_port *port, int patience_ms);
/* As many of the bytes as go at once, at least one; 0: none now; -1: the other side is gone, or errno. */
int64_t boot_port_read(int fd, void *data, size_t bytes);
int64_t boot_port_write(int fd, const void *data, size_t bytes);

#endif
