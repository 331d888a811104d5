/* world_private.h -- shared by the files of world: agreement on context ids, and the bridge between the leaders of two groups.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WORLD_WORLD_PRIVATE_H
#define GW_WORLD_WORLD_PRIVATE_H

#include "base/list.h"
#include "boot/world.h"
#include "coll/coll.h"
#include "p2p/p2p.h"
#include "world/world.h"

/* Tag of agreements over a whole communicator; create_group and intercomm_create use the user's tag, which is never negative. */
enum { TAG_WHOLE = -5 };

/* The way by which the leaders of two groups exchange messages: the other leader is rank `rank` of comm, on GW_STREAM_WORLD. */
struct bridge {
    struct gw_comm *comm;
    int rank, tag;
    bool is_far;   /* members of the two groups are on several hosts, and have not met */
    bool is_first; /* is_far: this side sends before the other does */
    bool is_users; /* the bridge is a socket of the program, which gets it back afterwards (MPI_Comm_join) */
};

/* The bridge between the ranks 0 of an intercommunicator. */
static inline struct bridge bridge_whole(struct gw_comm *c) { return (struct bridge){.comm = c, .rank = 0, .tag = TAG_WHOLE}; }

/* Processes that agree on something: ranks[n] of c and, if `bridge` is not NULL, those at its other end; ranks[0] is the leader, which uses
 * the bridge. */
struct party {
    struct gw_comm *c;
    int *ranks;
    int n, me, tag;
    const struct bridge *bridge;
    int64_t *more; /* n_more values that world_id_agree() replaces by the largest of all members on its way */
    int n_more;
    bool is_node; /* all ranks of the job, which are on one node, and one such party at a time */
};
int world_party_whole(struct gw_comm *c, int leader,
                      struct party *out); /* all members of an intracommunicator; the caller frees out->ranks */

/* One agreement on n consecutive context ids (ids.c).  Each member proposes an id; the largest proposal is taken.  If it may be in use
 * somewhere, the members tell each other in a second exchange, and begin again if it is.  These functions are the part of this process; the
 * caller exchanges the maxima of the values in between.
 *
 *     begin -> propose --maxima--> take --false: done--> end
 *                 ^                  | true: maxima of values[1]
 *                 +---- false ---- won --true: done--> end */
enum { IDS_VALUES = 3 };
struct ids {
    int64_t id, ticket;
    int64_t kept; /* the last proposal of this process, which it gives to no other agreement; -1: none */
    int n;
    bool is_alone; /* there is one member */
    /* set after world_ids_begin(): other agreements may begin meanwhile, so the second exchange is always needed */
    bool is_request;
    bool lost; /* an earlier try has failed; then it is in a list by `link` */
    struct gw_list link;
};
void world_ids_begin(struct ids *w, int n, bool is_alone);
void world_ids_propose(struct ids *w, int64_t values[IDS_VALUES]);
/* True: world_ids_check(), then exchange values[1] and call world_ids_won(). */
bool world_ids_take(struct ids *w, const int64_t maxima[IDS_VALUES], int64_t values[IDS_VALUES]);
bool world_ids_won(struct ids *w, const int64_t maxima[IDS_VALUES]); /* false: propose again */
void world_ids_end(struct ids *w);
int world_ids_check(const struct ids *w); /* GW_OK, or GW_EINTERN if all ids have been used */

/* Agrees on n consecutive ids that are free at every member of the party. */
int world_id_agree(const struct party *p, int n, uint32_t *id_out);
int world_id_agree_whole(struct gw_comm *c, int n, uint32_t *id_out); /* all members of c, in both groups of an intercommunicator */

/* Replaces each value by the largest of all members of the party, in both groups if there is a bridge. */
int world_party_agree(const struct party *p, int64_t *values, int nvalues);

/* ---- names.c: a group described for processes of other worlds: for each member the home of its world and its rank there ---- */
struct contact;
/* contacts: of each member, by which processes of unknown worlds reach it; NULL: the receiver knows all worlds.  The caller frees the
 * words. */
int world_names_of(struct gw_group *g, const struct contact *contacts, int32_t **words_out, int *n_out);
int world_names_of_nobody(int32_t **words_out, int *n_out);
bool world_names_are_whole(const int32_t *words, int n);
int world_names_group(const int32_t *words, int n,
                      struct gw_group **group_out); /* joins worlds that this process has not met; checks all words */
bool world_names_differ(const int32_t *a,
                        const int32_t *b); /* do the two name more than one world?  Both were checked by world_names_are_whole() */
/* The number of worlds in the list; and the numbers by which this process knows the ranks 0 of those that are far, -1 for others. */
int world_names_homes(const int32_t *words);
void world_names_firsts(const int32_t *words, int32_t *firsts_out);
int world_names_home_of(const int32_t *words, int member); /* the index of a member's world in the list */
int world_names_order(struct gw_group *a,
                      struct gw_group *b); /* an order that is the same for all processes; < 0: the first member of a comes first */

/* ---- far.c: groups on several hosts ---- */
struct contact {
    uint64_t host;         /* boot_host_id() */
    struct boot_home home; /* of its node */
    int32_t size;          /* of its world */
    char at[PEER_AT];      /* where the process answers requests for its addresses; "": nowhere */
};
_Static_assert(sizeof(struct contact) == 8 + 16 + 8 + PEER_AT, "it is sent as bytes, without padding");
bool world_far_is_spread(const struct gw_comm *c); /* are its members on several hosts, or reached by the network? */
int world_far_contacts(struct gw_comm *c,
                       struct contact **contacts_out); /* collective: the contacts of all members, which the caller frees */
/* Collective over both groups: each process tells each process of the other group the number by which it knows it. */
int world_far_introduce(struct gw_comm *local, int leader, const struct bridge *b, const int32_t *mine, const int32_t *theirs,
                        const struct gw_group *remote);
/* Collective over both groups of a new intercommunicator, is_first on one side: connects each pair of processes of different hosts, from
 * that side, before messages are sent. */
int world_far_greet(struct gw_comm *c, bool is_first);
/* As world_intercomm_create(), over a bridge that may be far. */
int world_inter_create_over(struct gw_comm *local, int leader, const struct bridge *b, struct gw_comm **comm_out);

void world_sweep(void); /* forgets other worlds without references, if no operation is under way */
/* Called when worlds may have been joined or released: notifies jobs with which this one is no longer connected, and the launchers of those
 * that this process has spawned (world_spawn_look()). */
void world_connected_look(void);
void world_spawn_look(void); /* the second part */
void world_spawn_finalize(void);
void world_published_finalize(void);
/* Names in a folder (name_file.c), if the setting names_dir names one. */
bool world_name_file_wanted(void);
int world_name_file_publish(const char *service, const char *port);
void world_name_file_remove(const char *service, const char *port); /* unless another process has replaced it */
int world_name_file_lookup(const char *service, char *port_out);    /* port_out has GW_MAX_PORT_NAME bytes */
void world_spawn_freed(const struct gw_comm *c);                    /* it may be the communicator of MPI_Comm_get_parent */

/* The leaders combine their values; both have the result. */
int world_bridge_combine(const struct bridge *b, int64_t *values, int nvalues, struct gw_op *op);
/* The two groups exchange arrays over the bridge of the leader; every member of local gets that of the other group and frees it. */
int world_bridge_swap(struct gw_comm *local, int leader, const struct bridge *b, const int32_t *mine, int n, int32_t **theirs_out,
                      int *n_out);

/* A new communicator of the kind of c, of parts of its groups; NULL if a part is empty.  remote: NULL for an intracommunicator. */
int world_sides_join(struct gw_comm *c, struct gw_group *local, struct gw_group *remote, uint32_t id, struct gw_comm **comm_out);
int world_comm_copy_into(struct gw_comm *c, struct gw_info *info,
                         struct gw_comm *new); /* what a duplicate gets beside the groups */
int world_inter_create(struct gw_comm *c, struct gw_group *group, struct gw_comm **comm_out);
int world_group_within(struct gw_group *g, struct gw_comm *c); /* GW_OK if every member of g is one of c's local group */

#endif
