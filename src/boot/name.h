/* name.h -- service names, and launchers that start what is asked for.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_NAME_H
#define GW_BOOT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Service names (boot_name.c), seen by the processes of the same user in the same pid namespace; two descriptors hold one.  -1: errno,
 * EADDRINUSE: a process of this user has published it; what others do does not count. */
bool boot_name_fits(const char *port);
int boot_name_publish(const char *service, const char *port, int fds_out[2]);
bool boot_name_lookup(const char *service, char *port_out, size_t cap);
/* A connection to a launcher who starts what is asked for over it (spawned/spawned.c): our mpiexec, or one that is started now.
 * The request: words, each with its 0, then an empty one. */
int boot_spawner(int *fd_out, bool *is_alone_out); /* alone: the latter, it lives for us */
#define BOOT_SPAWN_JOINED 'J'                      /* the new world has been met */
#define BOOT_SPAWN_BYE    'B'                      /* the end of this connection is not our end */
struct boot_spawn_answer { /* from the launcher, then `text_bytes` of explanation: once for the start, then once if the job is over
                               * before it was met */
    int32_t app;           /* of which this is; -1: of none, all is well */
    int32_t room;          /* so many processes there may be room for; -1: that is not what was wrong */
    int32_t text_bytes;
    int32_t bad_value; /* an info key's value was wrong */
};

#endif
