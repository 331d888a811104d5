/* join.h -- private to world/: two worlds meet.  The roots talk over a socket until they can send each other messages.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WORLD_JOIN_H
#define GW_WORLD_JOIN_H

#include "world/world_private.h"

/* Whole pieces, with progress meanwhile.  GW_OK, or GW_EOTHER: the other side is gone. */
int socket_send(int fd, const void *data, size_t bytes);
int socket_receive(int fd, void *data, size_t bytes);
/* Progress until one of the two has something to read, or its end; fd -1: not looked at.  Which of them (0, 1). */
int socket_wait(const int fds[2]);

/* A way to the root of the other side: a communicator of the two.  The socket is closed, also on error. */
int join_meet(int fd, bool listens, struct gw_comm *c, struct bridge *bridge_out);
/* Collective over c.  Root: `rc` is how far it came, `bridge` where that is GW_OK.  Makes the intercommunicator, or the same error
 * everywhere; `code` is one that the caller wants told as well (may be NULL). */
int join_comm(struct gw_comm *c, int root, int rc, struct bridge *bridge, struct gw_comm **comm_out);
int join_check(struct gw_comm *c); /* GW_OK: an intracommunicator */
int join_no_nodes(void);           /* fails: this job is on several hosts, and no other one can be reached */

#endif
