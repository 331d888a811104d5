/* hier.h -- shared by the hierarchical algorithms: stages among the members of a node, and among the node leaders.
 *
 * The leader of a node is its member in place 0; in the root's node it is the root.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_COLL_HIER_H
#define GW_COLL_HIER_H

#include "coll/coll_private.h"

/* Bytes [off, ...) of a buffer of the whole. */
static inline struct plan_place place_at(enum plan_buf buf, int64_t off) { return (struct plan_place){(uint8_t)buf, off}; }

/* Parts of a temporary begin on cache lines: the size of a part of so many bytes. */
static inline int64_t lines(int64_t bytes) { return (int64_t)gw_align_up((size_t)bytes, GW_CACHELINE); }
/* Arrays of counts and displacements, one entry per member of a node or per node, at the start of the temporary. */
static inline int64_t most_entries(const struct plan_nodes *n) { return n->most > n->n ? n->most : n->n; }
static inline int64_t lists(const struct plan_args *a) { return lines(2 * most_entries(a->nodes) * (int64_t)sizeof(int64_t)); }
static inline int64_t *counts_in(char *tmp) { return (int64_t *)tmp; }
static inline int64_t *places_in(const struct plan_args *a, char *tmp) { return (int64_t *)tmp + most_entries(a->nodes); }
static inline struct gw_counts wide(const int64_t *v) { return (struct gw_counts){v, true}; }
/* The member at index `at` in the order of nodes. */
static inline int at_place(const struct plan_nodes *n, int at)
{
    assert(at >= 0 && at < n->first[n->n]);
    return n->member ? n->member[at] : at;
}

/* Elements of member i's block; of the blocks [first, end).  For collectives whose members know all counts. */
static inline int64_t count_of(const struct plan_args *a, int i) { return a->rcounts.v ? gw_counts_at(a->rcounts, i) : a->rcount; }
static inline int64_t counts_between(const struct plan_args *a, int first, int end)
{
    int64_t n = a->rcounts.v ? 0 : (end - first) * a->rcount;
    for (int i = first; a->rcounts.v && i < end; i++) n += gw_counts_at(a->rcounts, i);
    return n;
}

/* Arguments of a reduction of `count` elements, with the sizes of its temporaries. */
static inline struct plan_args vector_of(const struct plan_args *a, int64_t count)
{
    struct plan_args v = *a;
    v.rcount = count;
    coll_temporaries(&v);
    return v;
}

/* A stage among the members of this node: rank and size are those within the node. */
static inline void stage_node(struct plan_stage *s)
{
    const struct plan_nodes *n = s->args.nodes;
    s->team.kind = TEAM_NODE, s->team.node = n->me;
    s->args.rank = n->place, s->args.size = plan_node_size(n, n->me);
    s->args.params = (struct plan_params){0};
}
/* A stage among one member per node: the one in this place, or the last one (-1). */
static inline void stage_across(struct plan_stage *s, int place)
{
    const struct plan_nodes *n = s->args.nodes;
    s->team.kind = TEAM_ACROSS, s->team.place = place;
    s->args.rank = n->me, s->args.size = n->n;
    s->args.params = (struct plan_params){0};
}
/* A stage among the node leaders; the leader of the root's node is the root of the stage. */
static inline void stage_speakers(struct plan_stage *s, int root)
{
    stage_across(s, 0);
    s->team.odd = s->args.root = plan_node_of(s->args.nodes, root);
    s->team.stand_in = root;
}
/* Place of this node's leader, and whether this process is it. */
static inline int speaker(const struct plan_nodes *n, int root)
{
    return plan_node_of(n, root) == n->me ? plan_place_of(n, root) : 0;
}
static inline bool is_leader(const struct plan_nodes *n, int root) { return n->place == speaker(n, root); }

/* Selects the algorithm of a stage from the table, by its ranks and bytes. */
static inline void stage_pick(struct plan_stage *s, enum coll_kind kind, int64_t bytes, bool leaves)
{
    s->alg = coll_pick(kind, bytes, leaves && s->team.kind == TEAM_NODE, s->team.kind == TEAM_ACROSS, &s->args);
}

static inline bool over_nodes(const struct plan_args *a) { return a->nodes != NULL; }
/* Reductions: reducing node by node keeps the order of operands, or the operation commutes. */
static inline bool order_kept(const struct plan_args *a) { return a->nodes && (a->nodes->ordered || a->op->commutes); }

#endif
