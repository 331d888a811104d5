/* tcp_tls.h -- TLS under connections between hosts (GODWIT_NET_TLS): a thread of this process carries each of them, encrypted, between the network
 * and one end of a pair of sockets, whose other end the wire uses as if it were the connection.
 *
 * TLS 1.3 with a pre-shared key of 256 random bits that the accepting process drew and published in the launcher's store beside its address; the
 * key itself is never sent.  libssl of the system is opened when this is asked for.
 *
 *   wrapped: HANDSHAKE -> CARRYING -> gone: either end has closed, and what it sent before is delivered
 *   any failure (wrong key, damaged record, no TLS at the other end) closes the wire's end: it reads as a connection that has ended
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_TCP_TCP_TLS_H
#define GW_WIRE_TCP_TCP_TLS_H

#include "base/base.h"

enum { TCP_TLS_WORDS = 4 };
struct tcp_tls_key {
    uint64_t word[TCP_TLS_WORDS];
};

int tcp_tls_open(void); /* opens libssl and starts the thread; may be called again.  GW_OK or an error.  Not concurrently */
/* Takes over a connected socket.  The descriptor that the wire uses in its place, or -1 with errno; the socket is closed then. */
int tcp_tls_wrap(int fd, bool is_accepting, const struct tcp_tls_key *key);
/* Ends the thread, after what the wire has written is in the kernel's hands, or 2 s.  No effect unless open. */
void tcp_tls_close(void);

#endif
