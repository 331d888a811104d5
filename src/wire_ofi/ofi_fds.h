/* ofi_fds.h -- sets close-on-exec on descriptors of libfabric, so that programs started by this process do not inherit them.
 *
 * libfabric opens its sockets and epoll instances without close-on-exec, and has no setting for it.  Those of an endpoint are marked when it is
 * open; connections every 50 ms of progress, for ten seconds after one was made, because a peer under load accepts late.  Only sockets and
 * anonymous inodes are marked.
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
/* Records the open descriptors; marks those that have been opened since. */
void ofi_fds_note(struct ofi_fds *out);
void ofi_fds_mark_new(const struct ofi_fds *before);
/* The TCP socket that is bound to `own` and not connected: the listener, or the future one.  -1: none. */
int ofi_fds_listener(const struct sockaddr *own);
/* Marks the TCP connections of this process that were accepted at `own`, or lead to an address for which is_peer() (may be NULL) is true, and
 * removes the packet filter from accepted ones (ofi_admit.h). */
void ofi_fds_mark_connections(const struct sockaddr *own, bool (*is_peer)(const void *ctx, const struct sockaddr *to),
                              const void *ctx);

#endif
