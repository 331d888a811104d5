/* group.h -- group objects: ordered sets of processes.  No communication and no locks: a group never changes after it is made.
 *
 * Functions return GW_OK or a negative code, after gw_fail().
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_COMM_GROUP_H
#define GW_COMM_GROUP_H

#include "obj/obj.h"

struct comm_family; /* comm.h */

struct gw_group {
    struct gw_obj obj;
    int size, rank;         /* rank GW_UNDEFINED: not a member */
    int first, step;        /* world rank of member i is first + i*step while `map` is NULL */
    int32_t *map;           /* [size] world ranks, or NULL */
    struct gw_group *owner; /* of `map`, where another group owns it (held) */
    struct comm_family *family;
};
static inline int group_world(const struct gw_group *g, int rank) { return g->map ? g->map[rank] : g->first + rank * g->step; }
extern struct gw_group gw_group_empty;

/* Queries and constructors (MPI 4.1 chapter 7): implementations of the entry points.  The caller owns a new group: group_free(). */
int group_size(struct gw_group *g, int *size_out);
int group_rank(struct gw_group *g, int *rank_out);
int group_translate_ranks(struct gw_group *a, int n, const int *ranks, struct gw_group *b, int *ranks_out);
int group_compare(struct gw_group *a, struct gw_group *b, int *result_out);
int group_union(struct gw_group *a, struct gw_group *b, struct gw_group **group_out);
int group_intersection(struct gw_group *a, struct gw_group *b, struct gw_group **group_out);
int group_difference(struct gw_group *a, struct gw_group *b, struct gw_group **group_out);
int group_incl(struct gw_group *g, int n, const int *ranks, struct gw_group **group_out);
int group_excl(struct gw_group *g, int n, const int *ranks, struct gw_group **group_out);
int group_range_incl(struct gw_group *g, int n, int ranges[][3], struct gw_group **group_out);
int group_range_excl(struct gw_group *g, int n, int ranges[][3], struct gw_group **group_out);
int group_free(struct gw_group **g);

/* For rooms above: a group of `size` members with these world ranks, which are copied (a regular sequence is stored as first and step). */
int group_from_map(int size, const int32_t *world_ranks, struct gw_group **group_out);
static inline struct gw_group *group_hold(struct gw_group *g)
{
    gw_obj_ref(&g->obj);
    return g;
}
void group_release(struct gw_group *g);
void group_join(struct gw_group *g, struct comm_family *f); /* makes a new group part of a session */

#endif
