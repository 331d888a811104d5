/* join.h -- private to world: two worlds meet.  Their roots use a socket until they can send messages.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WORLD_JOIN_H
#define GW_WORLD_JOIN_H

#include "world/world_private.h"

/* Send or receive all bytes; progress is made meanwhile.  GW_OK, or GW_EOTHER: the other side is gone. */
int world_socket_send(int fd, const void *data, size_t bytes);
int world_socket_receive(int fd, void *data, size_t bytes);
/* Makes progress until one of the two descriptors is readable or closed; returns which (0, 1).  A descriptor of -1 is ignored. */
int world_socket_wait(const int fds[2]);
int world_socket_wait_out_until(int fd, uint64_t until_ns);       /* the same until it is writable */
int world_socket_wait_until(const int fds[2], uint64_t until_ns); /* until_ns: as gw_now_ns(), 0: never; returns -1 at that time */
/* A deadline from the info key `timeout` in seconds or, if that is not given, `otherwise`; 0: never.  GW_EINFO_VALUE: the key is no
 * number. */
int world_deadline_from(struct gw_info *info, int64_t otherwise, double *seconds_out, uint64_t *until_ns_out);

/* Makes a bridge to the root of the other side, a communicator of the two.  The socket is closed, also after an error, or kept as a tie
 * (boot_connected.c). */
int world_join_meet(int fd, bool listens, struct gw_comm *c, struct bridge *bridge_out);
/* Collective over c.  rc: the result of world_join_meet() at the root; bridge: valid there if that is GW_OK.  Makes the intercommunicator, or
 * returns the same error on every rank. */
int world_join_comm(struct gw_comm *c, int root, int rc, struct bridge *bridge, struct gw_comm **comm_out);
int world_join_check(struct gw_comm *c); /* GW_OK, or GW_ECOMM for an intercommunicator */

#endif
