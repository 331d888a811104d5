/* world_private.h -- between the files of world/: who agrees on a context id, and how the leaders of two groups talk.
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

/* From the leader of one group to that of another: rank `rank` of comm, on GW_STREAM_WORLD. */
struct bridge {
    struct gw_comm *comm;
    int rank, tag;
    bool is_far;   /* members of the two groups are on several hosts, and have not met */
    bool is_first; /* then this side speaks before the other */
    bool is_users; /* they meet over a socket of the program's, which is its own again afterwards */
};

/* Between the ranks 0 of an intercommunicator. */
static inline struct bridge bridge_whole(struct gw_comm *c) { return (struct bridge){.comm = c, .rank = 0, .tag = TAG_WHOLE}; }

/* Members of c who agree, ranks[n], and, where there is a bridge, those at its other end; ranks[0] walks it. */
struct party {
    struct gw_comm *c;
    int *ranks;
    int n, me, tag;
    const struct bridge *bridge;
};
int world_party_whole(struct gw_comm *c, int leader,
                      struct party *out); /* all of them (intra); ranks[0] is the leader; free(ranks) */

/* One agreement on n consecutive context ids (ids.c): propose, take what all proposed most, and where that leaves doubts tell each other
 * whether it is taken; again until it is won.  All these are this process's part; whoever drives it exchanges maxima in between. */
enum { IDS_VALUES = 3 };
struct ids {
    int64_t id, ticket;
    int64_t kept; /* what this process proposed last, kept for it */
    int n;
    bool is_alone;   /* one member */
    bool is_request; /* set after world_ids_begin: others may begin while it is under way, so there are always doubts */
    bool lost;       /* before, and in a list by `link` */
    struct gw_list link;
};
void world_ids_begin(struct ids *w, int n, bool is_alone);
void world_ids_propose(struct ids *w, int64_t values[IDS_VALUES]);
/* true: exchange values[1] and ask world_ids_won, unless world_ids_check() has something against it */
bool world_ids_take(struct ids *w, const int64_t maxima[IDS_VALUES], int64_t values[IDS_VALUES]);
bool world_ids_won(struct ids *w, const int64_t maxima[IDS_VALUES]); /* false: propose again */
void world_ids_end(struct ids *w);
int world_ids_check(const struct ids *w); /* are they in range? */

/* n consecutive ids that are free at every member of the party. */
int world_id_agree(const struct party *p, int n, uint32_t *id_out);
int world_id_agree_whole(struct gw_comm *c, int n, uint32_t *id_out); /* intercommunicators too: both groups */

/* The largest of all members' values, of both groups where there is a bridge. */
int world_party_agree(const struct party *p, int64_t *values, int nvalues);

/* ---- names.c: a group as processes of other worlds understand it: words that say of each member its world's home and its rank there */
struct contact;
/* contacts: of each member, so that strangers can reach it; NULL: only who knows all of them will understand.  free() the words. */
int world_names_of(struct gw_group *g, const struct contact *contacts, int32_t **words_out, int *n_out);
int world_names_of_nobody(int32_t **words_out, int *n_out);
bool world_names_are_whole(const int32_t *words, int n);
int world_names_group(const int32_t *words, int n,
                      struct gw_group **group_out);          /* joins worlds that are new to us; checks all that it is told */
bool world_names_differ(const int32_t *a, const int32_t *b); /* is there more than one world in the two?  Both are whole. */
/* The numbers by which this process knows the far worlds of the list: of their ranks 0, and -1 where it is no far world. */
int world_names_homes(const int32_t *words);
void world_names_firsts(const int32_t *words, int32_t *firsts_out);
int world_names_home_of(const int32_t *words, int member);     /* the place of a member's world in the list */
int world_names_order(struct gw_group *a, struct gw_group *b); /* < 0: the first member of a comes first, for everybody */

/* ---- far.c: groups on several hosts ---- */
struct contact {
    uint64_t host;         /* boot_host_id() */
    struct boot_home home; /* of its node */
    int32_t size;          /* of its world */
    char at[PEER_AT];      /* where it is asked for its addresses; "": nowhere */
};
_Static_assert(sizeof(struct contact) == 8 + 16 + 8 + PEER_AT, "it travels without holes that say something");
bool world_far_is_spread(const struct gw_comm *c);                        /* its members are on several hosts, or reached so */
int world_far_contacts(struct gw_comm *c, struct contact **contacts_out); /* collective: of each member; free() them */
/* Collective over both groups: everybody tells everybody of the other side under which number it knows them. */
int world_far_introduce(struct gw_comm *local, int leader, const struct bridge *b, const int32_t *mine, const int32_t *theirs,
                        const struct gw_group *remote);
/* Collective over both groups of a new intercommunicator, is_first on one side: each pair of processes of different hosts has its
 * connection, made from that side, before anybody sends over it. */
int world_far_greet(struct gw_comm *c, bool is_first);
/* As world_intercomm_create, where the bridge is far. */
int world_inter_create_over(struct gw_comm *local, int leader, const struct bridge *b, struct gw_comm **comm_out);

void world_sweep(void); /* other worlds that nobody holds any more are forgotten, if nothing is under way */
/* Worlds may have been joined, or let go: those with which this job would fail are told, and the launchers of those that this process
 * spawned. */
void world_connected_look(void);
void world_spawn_look(void); /* the latter */
void world_spawn_finalize(void);
void world_published_finalize(void);
/* Names in a folder (name_file.c): where the setting names_dir wants them. */
bool world_name_file_wanted(void);
int world_name_file_publish(const char *service, const char *port);
void world_name_file_remove(const char *service, const char *port); /* if it is ours still */
int world_name_file_lookup(const char *service, char *port_out);    /* GW_MAX_PORT_NAME bytes */
void world_spawn_freed(const struct gw_comm *c);                    /* it may be our parents' */

/* The leaders combine their values; both have the result. */
int world_bridge_combine(const struct bridge *b, int64_t *values, int nvalues, struct gw_op *op);
/* The two groups exchange arrays: everybody in local gets that of the other group; free() it.  The leader walks the bridge. */
int world_bridge_swap(struct gw_comm *local, int leader, const struct bridge *b, const int32_t *mine, int n, int32_t **theirs_out,
                      int *n_out);

/* A new communicator like c of a part of its group(s); NULL where one of them is empty.  remote: intercommunicators only. */
int world_sides_join(struct gw_comm *c, struct gw_group *local, struct gw_group *remote, uint32_t id, struct gw_comm **comm_out);
int world_comm_copy_into(struct gw_comm *c, struct gw_info *info, struct gw_comm *new); /* what a dup takes over but the groups */
int world_inter_create(struct gw_comm *c, struct gw_group *group, struct gw_comm **comm_out);
int world_group_within(struct gw_group *g, struct gw_comm *c); /* GW_OK if every member of g is one of c's local group */

#endif
