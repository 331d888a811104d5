/* world.h -- making communicators (MPI 4.1 section 7.4): dup, split, create, free.  Collective over the parent.
 *
 * Context ids: every process proposes its next free id, the group agrees on the maximum, then checks that it is free
 * everywhere (another thread, or a duplicate behind a request, may just have taken it); else it tries again above (ids.c).  Ids are
 * not reused.
 * For intercommunicators both groups agree: each among itself, then their leaders.
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
                           struct gw_comm **comm_out); /* peer, remote_leader: looked at by the leader only */
int world_intercomm_merge(struct gw_comm *c, int high, struct gw_comm **comm_out);
/* MPI 4.1 section 7.4.2: the members of g alone call it; NULL for the empty group.  The new one belongs to g's family. */
int world_comm_create_from_group(struct gw_group *g, const char *stringtag, struct gw_info *info, struct gw_errhandler *eh,
                                 struct gw_comm **comm_out);
int world_intercomm_create_from_groups(struct gw_group *local, int local_leader, struct gw_group *remote, int remote_leader,
                                       const char *stringtag, struct gw_info *info, struct gw_errhandler *eh,
                                       struct gw_comm **comm_out); /* remote, remote_leader: looked at by the leader only */

/* ---- processes of other worlds (chapter 11; port.c, spawn.c): how they meet is told in doc/adr/0011 -------------------- */
int world_open_port(char *port_name_out); /* GW_MAX_PORT_NAME bytes */
int world_close_port(const char *port_name);
int world_publish_name(const char *service, const char *port);
int world_unpublish_name(const char *service, const char *port);
int world_lookup_name(const char *service, char *port_out); /* GW_MAX_PORT_NAME bytes */
int world_comm_accept(const char *port_name, struct gw_info *info, int root, struct gw_comm *c, struct gw_comm **comm_out);
int world_comm_connect(const char *port_name, struct gw_info *info, int root, struct gw_comm *c, struct gw_comm **comm_out);
int world_comm_join(int fd, struct gw_comm **comm_out);
int world_comm_disconnect(struct gw_comm **c);
struct world_program { /* one of those to be started */
    const char *command;
    char **argv; /* may be NULL */
    int n;
    struct gw_info *info; /* may be NULL */
};
/* `programs` and n_programs count at the root; info keys as in order.h.  codes (may be NULL) gets MPI error classes, one a process of
 * maxprocs.  *comm_out NULL: the info key soft allowed that there is none. */
int world_comm_spawn(int n_programs, const struct world_program *programs, int root, struct gw_comm *c, struct gw_comm **comm_out,
                     int *codes);
int world_spawn_codes(
    void); /* how many codes this thread's last world_comm_spawn has written: only the root knows from its arguments */
int world_comm_get_parent(struct gw_comm **comm_out); /* NULL: nobody spawned us, or it was freed */
int world_meet_parent(void);                          /* at the end of init, where gw_boot.parent is set */
void world_finalize(void);

int world_comm_free(struct gw_comm **c); /* GW_ECOMM for WORLD and SELF */

#endif
