/* join.h -- private to world/: two worlds meet.  The roots talk over a socket until they can send each other messages.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WORLD_JOIN_H
#define GW_WORLD_JOIN_H

#include "world/world_private.h"

/* Whole pieces, with progress meanwhile.  GW_OK, or GW_EOTHER: the other side is gone. */
int world_socket_send(int fd, const void *data, size_t bytes);
int world_socket_receive(int fd, void *data, size_t bytes);
/* Progress until one of the two has something to read, or its end; fd -1: not looked at.  Which of them (0, 1). */
int world_socket_wait(const int fds[2]);
int world_socket_wait_out_until(int fd, uint64_t until_ns);       /* the same until it can be written to */
int world_socket_wait_until(const int fds[2], uint64_t until_ns); /* -1: it is that late (gw_now_ns); 0: it never is */
/* Seconds from now, as the info key `timeout` says or, where it is not given, as `otherwise`; none at all: 0, that is never.
 * GW_EINFO_VALUE: it says no number. */
int world_deadline_from(struct gw_info *info, int64_t otherwise, double *seconds_out, uint64_t *until_ns_out);

/* A way to the root of the other side: a communicator of the two.  The socket is closed, also on error, or kept as a tie (boot_connected.c). */
int world_join_meet(int fd, bool listens, struct gw_comm *c, struct bridge *bridge_out);
/* Collective over c.  Root: `rc` is how far it came, `bridge` where that is GW_OK.  Makes the intercommunicator, or the same error
 * everywhere; `code` is one that the caller wants told as well (may be NULL). */
int world_join_comm(struct gw_comm *c, int root, int rc, struct bridge *bridge, struct gw_comm **comm_out);
int world_join_check(struct gw_comm *c); /* GW_OK: an intracommunicator */

#endif
