/* world.h -- creation of communicators (MPI 4.1 section 7.4: dup, split, create, free) and dynamic processes (chapter 11: spawn, connect).
 *
 * Implementations of the entry points, collective over the parent communicator; no lock is held by the caller.  They return GW_OK or a
 * negative code, after gw_fail(); outputs are written on success only.
 *
 * Context ids: every process proposes its next free id, the group takes the maximum, then checks that it is free on all members (another thread,
 * or a pending idup, may have taken it meanwhile); if not, it tries again above (ids.c).  For intercommunicators each group agrees first, then
 * the leaders of the two.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WORLD_WORLD_H
#define GW_WORLD_WORLD_H

#include "comm/comm.h"

int world_comm_dup(struct gw_comm *c, struct gw_comm **comm_out);
int world_comm_dup_with_info(struct gw_comm *c, struct gw_info *info, struct gw_comm **comm_out);
int world_comm_idup(struct gw_comm *c, struct gw_comm **comm_out,
                    struct gw_req **req_out); /* usable when the request is complete */
int world_comm_idup_with_info(struct gw_comm *c, struct gw_info *info, struct gw_comm **comm_out, struct gw_req **req_out);
int world_comm_split(struct gw_comm *c, int color, int key, struct gw_comm **comm_out); /* NULL where color is UNDEFINED */
int world_comm_split_type(struct gw_comm *c, int split_type, int key, struct gw_info *info, struct gw_comm **comm_out);
int world_comm_create(struct gw_comm *c, struct gw_group *group, struct gw_comm **comm_out);
int world_comm_create_group(struct gw_comm *c, struct gw_group *group, int tag, struct gw_comm **comm_out);
int world_intercomm_create(struct gw_comm *local, int local_leader, struct gw_comm *peer, int remote_leader, int tag,
                           struct gw_comm **comm_out); /* peer, remote_leader: significant at the leader only */
int world_intercomm_merge(struct gw_comm *c, int high, struct gw_comm **comm_out);
/* MPI 4.1 section 7.4.2: collective over g, without a parent; *comm_out is NULL for the empty group.  The new communicator belongs to g's
 * session. */
int world_comm_create_from_group(struct gw_group *g, const char *stringtag, struct gw_info *info, struct gw_errhandler *eh,
                                 struct gw_comm **comm_out);
/* For the library's own: the same, with errors returned, and each of `values` becomes the largest of all members'. */
enum { WORLD_MORE = 8 };
int world_comm_meet(struct gw_group *g, const char *stringtag, int64_t *values, int n, struct gw_comm **comm_out);
int world_intercomm_create_from_groups(struct gw_group *local, int local_leader, struct gw_group *remote, int remote_leader,
                                       const char *stringtag, struct gw_info *info, struct gw_errhandler *eh,
                                       struct gw_comm **comm_out); /* remote, remote_leader: significant at the leader only */

/* ---- dynamic processes (chapter 11; port.c, spawn.c); how jobs connect: doc/adr/0011 ----------------------------------- */
int world_open_port(char *port_name_out); /* GW_MAX_PORT_NAME bytes */
bool world_port_is_for_hosts(void);       /* may processes of other hosts connect to the ports of this job (port_reach) */
int world_close_port(const char *port_name);
int world_publish_name(const char *service, const char *port);
int world_unpublish_name(const char *service, const char *port);
int world_lookup_name(const char *service, char *port_out); /* GW_MAX_PORT_NAME bytes */
int world_comm_accept(const char *port_name, struct gw_info *info, int root, struct gw_comm *c, struct gw_comm **comm_out);
int world_comm_connect(const char *port_name, struct gw_info *info, int root, struct gw_comm *c, struct gw_comm **comm_out);
int world_comm_join(int fd, struct gw_comm **comm_out);
int world_comm_disconnect(struct gw_comm **c);
struct world_program { /* one of the programs to be started */
    const char *command;
    char **argv; /* may be NULL */
    int n;
    struct gw_info *info; /* may be NULL */
};
/* `programs` and n_programs are significant at the root only; info keys as in order.h.  codes (may be NULL): an MPI error class per process.
 * *comm_out NULL: no process was started, as the info key soft allows. */
int world_comm_spawn(int n_programs, const struct world_program *programs, int root, struct gw_comm *c, struct gw_comm **comm_out,
                     int *codes);
/* how many codes this thread's last world_comm_spawn has written: only the root knows from its arguments */
int world_spawn_codes(void);
int world_comm_get_parent(struct gw_comm **comm_out); /* NULL: this process was not spawned, or the communicator was freed */
int world_meet_parent(void); /* connects with the parent job; at the end of init, if gw_boot.parent is set */
void world_finalize(void);

int world_comm_free(struct gw_comm **c); /* MPI_Comm_free; GW_ECOMM for WORLD and SELF */
int world_comm_end(struct gw_comm **c);  /* the same of a window's or file's own, on which no error is raised */

#endif
