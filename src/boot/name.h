/* name.h -- service names (MPI_Publish_name), and the request of a rank to its launcher to start processes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_NAME_H
#define GW_BOOT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Service names (boot_name.c), visible to processes of the same user in the same pid namespace.  A name exists as long as the two
 * descriptors are open.  publish: 0, or -1 with errno; EADDRINUSE: a process of this user has published the name already (names of other
 * users do not count). */
bool boot_name_fits(const char *port);
int boot_name_publish(const char *service, const char *port, int fds_out[2]);
bool boot_name_lookup(const char *service, char *port_out, size_t cap);
/* A connection to a launcher that will start processes (spawned/spawned.c): our mpiexec, or one that is started by this call.  The
 * request is a list of zero-terminated words that ends with an empty one. */
int boot_spawner(int *fd_out, bool *is_alone_out); /* *is_alone_out: started by this call, it ends with this process */
#define BOOT_SPAWN_JOINED 'J'                      /* from the rank: it is connected with the new world */
#define BOOT_SPAWN_BYE    'B' /* from the rank: closing the connection will not mean that the rank has failed */
struct boot_spawn_answer { /* from the launcher, then `text_bytes` of explanation: once for the start, then once if the job is over
                               * before it was met */
    int32_t app;           /* the application that failed to start; -1: all have started */
    int32_t room;          /* failed for lack of slots: number of processes that can be started; else -1 */
    int32_t text_bytes;    /* bytes of text that follow */
    int32_t bad_value;     /* failed because of the value of an info key */
};

#endif
