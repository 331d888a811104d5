/* ofi_fds.h -- descriptors that libfabric opens are not for the processes that the program starts.
 *
 * libfabric opens its sockets and epolls without close-on-exec, and has no setting for it.  What comes with an endpoint is marked when
 * that is open; connections, every 50 ms of progress for ten seconds after one was made, because a peer under load is late to accept.
 * Only sockets and the kernel's nameless objects are marked.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_OFI_OFI_FDS_H
#define GW_WIRE_OFI_OFI_FDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { OFI_FDS_MOST = 4096 };
struct ofi_fds {
    uint64_t open[OFI_FDS_MOST / 64];
};

bool ofi_address_is(const struct sockaddr *a, const struct sockaddr *b); /* the same address and port of IP */
/* Which are open; and marks those that came since. */
void ofi_fds_note(struct ofi_fds *out);
void ofi_fds_mark_new(const struct ofi_fds *before);
/* The socket of TCP bound to `own` that is no connection: it listens there, or will.  -1: there is none. */
int ofi_fds_listener(const struct sockaddr *own);
/* Marks the TCP connections of this process that were made to `own`, or lead to whom is_peer() (NULL: nobody) knows, and
 * takes the filter off those that came in by one (ofi_admit.h). */
void ofi_fds_mark_connections(const struct sockaddr *own, bool (*is_peer)(const void *ctx, const struct sockaddr *to),
                              const void *ctx);

#endif
