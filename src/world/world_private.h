/* world_private.h -- between the files of world/: who agrees on a context id, and how the leaders of two groups talk.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WORLD_WORLD_PRIVATE_H
#define GW_WORLD_WORLD_PRIVATE_H

#include "coll/coll.h"
#include "p2p/p2p.h"
#include "world/world.h"

/* Tag of agreements over a whole communicator; create_group and intercomm_create use the user's tag, which is never negative. */
enum { TAG_WHOLE = -5 };

/* From the leader of one group to that of another: rank `rank` of comm, on GW_STREAM_WORLD. */
struct bridge {
    struct gw_comm *comm;
    int rank, tag;
};

/* Between the ranks 0 of an intercommunicator. */
static inline struct bridge bridge_whole(struct gw_comm *c)
{
    return (struct bridge){.comm = c, .rank = 0, .tag = TAG_WHOLE};
}

/* Members of c who agree, ranks[n], and, where there is a bridge, those at its other end; ranks[0] walks it. */
struct party {
    struct gw_comm *c;
    int *ranks;
    int n, me, tag;
    const struct bridge *bridge;
};
int party_whole(struct gw_comm *c, int leader,
                struct party *out); /* all of them (intra); ranks[0] is the leader; free(ranks) */

/* One agreement on n consecutive context ids (ids.c): propose, take what all proposed most, and where that leaves doubts tell each other
 * whether it is taken; again until it is won.  All these are this process's part; whoever drives it exchanges maxima in between. */
enum { IDS_VALUES = 3 };
struct ids {
    int64_t id, ticket;
    int64_t kept;    /* what this process proposed last, kept for it */
    int n;
    bool is_alone;   /* one member */
    bool is_request; /* set after ids_begin: others may begin while it is under way, so there are always doubts */
    bool lost;       /* before, and in a list by `link` */
    struct gw_list link;
};
void ids_begin(struct ids *w, int n, bool is_alone);
void ids_propose(struct ids *w, int64_t values[IDS_VALUES]);
bool ids_take(struct ids *w, const int64_t maxima[IDS_VALUES], int64_t values[IDS_VALUES]); /* true: exchange values[1] and ask ids_won */
bool ids_won(struct ids *w, const int64_t maxima[IDS_VALUES]); /* false: propose again */
void ids_end(struct ids *w);
int ids_check(const struct ids *w); /* are they in range? */

/* n consecutive ids that are free at every member of the party. */
int id_agree(const struct party *p, int n, uint32_t *id_out);
int id_agree_whole(struct gw_comm *c, int n, uint32_t *id_out); /* intercommunicators too: both groups */

/* The largest of all members' values, of both groups where there is a bridge. */
int party_agree(const struct party *p, int64_t *values, int nvalues);

/* ---- names.c: a group as processes of other worlds understand it: words that say of each member its world's home and its rank there */
int names_of(struct gw_group *g, int32_t **words_out, int *n_out); /* free() them */
int names_group(const int32_t *words, int n, struct gw_group **group_out); /* joins worlds that are new to us */
bool names_differ(const int32_t *a, const int32_t *b);             /* is there more than one world in the two? */
int names_order(struct gw_group *a, struct gw_group *b);           /* < 0: the first member of a comes first, for everybody */

void world_sweep(void);          /* other worlds that nobody holds any more are forgotten, if nothing is under way */
void spawn_finalize(void);
void published_finalize(void);
void spawn_freed(const struct gw_comm *c); /* it may be our parents' */

/* The leaders combine their values; both have the result. */
int bridge_combine(const struct bridge *b, int64_t *values, int nvalues, struct gw_op *op);
/* The two groups exchange arrays: everybody in local gets that of the other group; free() it.  The leader walks the bridge. */
int bridge_swap(struct gw_comm *local, int leader, const struct bridge *b, const int32_t *mine, int n,
                int32_t **theirs_out, int *n_out);

/* A new communicator like c of a part of its group(s); NULL where one of them is empty.  remote: intercommunicators only. */
int sides_join(struct gw_comm *c, struct gw_group *local, struct gw_group *remote, uint32_t id,
               struct gw_comm **comm_out);
int comm_copy_into(struct gw_comm *c, struct gw_info *info, struct gw_comm *new); /* what a dup takes over but the groups */
int inter_create(struct gw_comm *c, struct gw_group *group, struct gw_comm **comm_out);
int group_within(struct gw_group *g, struct gw_comm *c); /* GW_OK if every member of g is one of c's local group */

#endif
