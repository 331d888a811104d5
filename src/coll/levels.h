/* levels.h -- what the files of algorithms over nodes share: stages on the members of a node, and on one member of each node.
 *
 * The one of a node that speaks for it is its member in place 0, or in the root's node the root.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_COLL_LEVELS_H
#define GW_COLL_LEVELS_H

#include "coll/coll_private.h"

/* Bytes [off, ...) of a buffer of the whole. */
static inline struct plan_place place_at(enum plan_buf buf, int64_t off) { return (struct plan_place){(uint8_t)buf, off}; }

/* What of a temporary goes to each part of it. */
static inline int64_t lines(int64_t bytes) { return (int64_t)gw_align_up((size_t)bytes, GW_CACHELINE); }
/* Arrays of counts and places, for members of a node or for nodes, at the begin of the temporary. */
static inline int64_t most_entries(const struct plan_nodes *n) { return n->most > n->n ? n->most : n->n; }
static inline int64_t lists(const struct plan_args *a) { return lines(2 * most_entries(a->nodes) * (int64_t)sizeof(int64_t)); }
static inline int64_t *counts_in(char *tmp) { return (int64_t *)tmp; }
static inline int64_t *places_in(const struct plan_args *a, char *tmp) { return (int64_t *)tmp + most_entries(a->nodes); }
static inline struct gw_counts wide(const int64_t *v) { return (struct gw_counts){v, true}; }
/* The member that is `at` in the order of nodes. */
static inline int at_place(const struct plan_nodes *n, int at) { return n->member ? n->member[at] : at; }

/* Elements of member i's block, and of those from `first` to before `end`, where all members know all. */
static inline int64_t count_of(const struct plan_args *a, int i) { return a->rcounts.v ? gw_counts_at(a->rcounts, i) : a->rcount; }
static inline int64_t counts_between(const struct plan_args *a, int first, int end)
{
    int64_t n = a->rcounts.v ? 0 : (end - first) * a->rcount;
    for (int i = first; a->rcounts.v && i < end; i++) n += gw_counts_at(a->rcounts, i);
    return n;
}

/* The arguments of a reduction of so many elements: how large its temporaries are. */
static inline struct plan_args vector_of(const struct plan_args *a, int64_t count)
{
    struct plan_args v = *a;
    v.rcount = count;
    coll_temporaries(&v);
    return v;
}

/* The members of my node; rank and size are theirs. */
static inline void stage_node(struct plan_stage *s)
{
    const struct plan_nodes *n = s->args.nodes;
    s->team.kind = TEAM_NODE, s->team.node = n->me;
    s->args.rank = n->place, s->args.size = plan_node_size(n, n->me);
    s->args.params = (struct plan_params){0};
}
/* One member of each node: the one in this place, or behind all others (-1). */
static inline void stage_across(struct plan_stage *s, int place)
{
    const struct plan_nodes *n = s->args.nodes;
    s->team.kind = TEAM_ACROSS, s->team.place = place;
    s->args.rank = n->me, s->args.size = n->n;
    s->args.params = (struct plan_params){0};
}
/* Those who speak for their nodes, of which the root's is the root of the stage. */
static inline void stage_speakers(struct plan_stage *s, int root)
{
    stage_across(s, 0);
    s->team.odd = s->args.root = plan_node_of(s->args.nodes, root);
    s->team.stand_in = root;
}
/* Place of who speaks for my node. */
static inline int speaker(const struct plan_nodes *n, int root)
{
    return plan_node_of(n, root) == n->me ? plan_place_of(n, root) : 0;
}
static inline bool speaks(const struct plan_nodes *n, int root) { return n->place == speaker(n, root); }

/* The algorithm of a stage: a row of the table for its ranks and bytes. */
static inline void stage_pick(struct plan_stage *s, enum coll_kind kind, int64_t bytes, bool leaves)
{
    s->alg = coll_pick(kind, bytes, leaves && s->team.kind == TEAM_NODE, s->team.kind == TEAM_ACROSS, &s->args);
}

static inline bool over_nodes(const struct plan_args *a) { return a->nodes != NULL; }
/* Reductions: neighbours in the order of operands are neighbours in nodes, or it does not matter. */
static inline bool order_kept(const struct plan_args *a) { return a->nodes && (a->nodes->ordered || a->op->commutes); }

#endif
