/* alg_hier_exchange.c -- gather, scatter, allgather(v), alltoall, reduce_scatter, scans over several nodes.
 *
 * What a node sends or receives as a whole goes through its leader.  If the blocks in the user's buffer are not in the order of
 * nodes without gaps, they are packed in the temporary, node after node.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/hier.h"

/* Writes the counts and displacements of nodes that have `each` bytes for each member. */
static void per_node(const struct plan_args *a, char *tmp, int64_t each)
{
    const struct plan_nodes *n = a->nodes;
    assert(n->first[n->n] == a->size && each >= 0);
    for (int k = 0; k < n->n; k++) {
        counts_in(tmp)[k] = plan_node_size(n, k) * each;
        places_in(a, tmp)[k] = n->first[k] * each;
    }
}
/* Writes the counts and displacements of this node's members, each of `each`: packed, or by rank in a user's buffer. */
static void per_member(const struct plan_args *a, char *tmp, int64_t each, bool packed)
{
    const struct plan_nodes *n = a->nodes;
    for (int i = 0; i < plan_node_size(n, n->me); i++) {
        counts_in(tmp)[i] = each;
        places_in(a, tmp)[i] = each * (packed ? i : plan_member(n, n->me, i));
    }
}

/* ---- between the order of nodes in the temporary and the blocks of the user -------------------------------------------------- */
/* Packs (or unpacks) the blocks of all members; in place, not those of this node.  Offsets are multiples of params.block_bytes, or
 * sdispls. IN and OUT are the user's buffers; TMP is packed. */
static int between(const struct plan_args *a, int round, struct plan_step *steps, bool unpack)
{
    struct plan_steps s = {steps, 0};
    for (int at = round * PLAN_STEPS; at < a->size && at < (round + 1) * PLAN_STEPS; at++) {
        int i = at_place(a->nodes, at);
        struct plan_ref block = unpack ? recv_block(a, i) : send_block(a, i);
        bool uneven = unpack && a->sdispls.v;
        struct plan_ref packed =
            ref_raw(PLAN_TMP, uneven ? gw_counts_at(a->sdispls, at) : at * a->params.block_bytes, plan_ref_bytes(&block));
        if (a->in_place && plan_node_of(a->nodes, i) == a->nodes->me)
            step_nothing(&s);
        else
            unpack ? step_copy(&s, packed, block) : step_copy(&s, block, packed);
    }
    return s.n;
}
static int pack_nodes(const struct plan_args *a, int round, struct plan_step *steps) { return between(a, round, steps, false); }
static int unpack_nodes(const struct plan_args *a, int round, struct plan_step *steps) { return between(a, round, steps, true); }
static const struct plan_algorithm alg_pack = {.name = "pack", .emit = pack_nodes, .kind = PLAN_P2P};
static const struct plan_algorithm alg_unpack = {.name = "unpack", .emit = unpack_nodes, .kind = PLAN_P2P};
static void stage_local(struct plan_stage *s, const struct plan_algorithm *alg, int64_t block, int64_t at)
{
    assert(block >= 0 && at % GW_CACHELINE == 0);
    s->alg = alg;
    s->args.params.block_bytes = block;
    s->args.in_place = true;
    s->tmp = at;
}

/* If all nodes have equally many members, all blocks are equal, and an algorithm for equal blocks will do. */
static void stage_equal(struct plan_stage *s, struct gw_counts *counts, struct gw_counts *displs, int64_t *count, int64_t each)
{
    s->args.is_vector = false;
    counts->v = displs->v = NULL;
    *count = each;
}

/* ---- gather: to the node leader, then to the root ------------------------------------------------------------------------ */
static int64_t gather_block(const struct plan_args *a) { return a->in_place ? a->rcount * a->rt->size : a->scount * a->st->size; }
/* The temporary has lists and packed blocks: those of this node or, at the root, of all members if they are not
 * in the order of nodes. */
static int64_t gather_tmp(const struct plan_args *a)
{
    int64_t block = gather_block(a);
    if (a->rank == a->root) return lists(a) + (a->nodes->ordered ? 0 : lines(block * a->size));
    return lists(a) + (is_leader(a->nodes, a->root) ? lines(block * plan_node_size(a->nodes, a->nodes->me)) : 0);
}
static bool gather_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    const struct plan_nodes *n = a->nodes;
    bool root = a->rank == a->root, direct = n->ordered;
    int64_t block = gather_block(a), node = block * plan_node_size(n, n->me);
    s->tmp = gather_tmp(a);
    if (i == 0) {
        stage_node(s);
        s->args.root = speaker(n, a->root);
        s->args.is_vector = true;
        per_member(a, tmp, root ? a->rcount : block, !root);
        s->args.rcounts = wide(counts_in(tmp)), s->args.rdispls = wide(places_in(a, tmp));
        if (!root) s->args.rt = gw_type_byte, s->out = place_at(PLAN_TMP, lists(a));
        stage_pick(s, COLL_GATHERV, 0, leaves);
    } else if (i == 1) {
        stage_speakers(s, a->root);
        s->args.is_vector = true;
        per_node(a, tmp, root && direct ? a->rcount : block);
        s->args.rcounts = wide(counts_in(tmp)), s->args.rdispls = wide(places_in(a, tmp));
        s->args.scount = node, s->args.st = gw_type_byte;
        s->args.in_place = root;
        s->in = place_at(PLAN_TMP, lists(a));
        if (!direct) s->out = place_at(PLAN_TMP, lists(a)), s->args.rt = gw_type_byte;
        if (n->fewest == n->most) stage_equal(s, &s->args.rcounts, &s->args.rdispls, &s->args.rcount, counts_in(tmp)[0]);
        if (is_leader(n, a->root)) stage_pick(s, s->args.is_vector ? COLL_GATHERV : COLL_GATHER, node, false);
    } else if (i == 2 && root && !direct) {
        stage_local(s, &alg_unpack, block, lists(a));
    }
    return i < 3;
}
static bool regular(const struct plan_args *a) { return over_nodes(a) && !a->is_vector; }
const struct plan_algorithm coll_alg_gather_levels = {
    .name = "levels", .tmp_bytes = gather_tmp, .kind = PLAN_P2P, .fits = regular, .stages = gather_stages};

/* ---- scatter: to the leaders, then in the nodes ------------------------------------------------------------------------------ */
static int64_t scatter_block(const struct plan_args *a) { return a->in_place ? a->scount * a->st->size : a->rcount * a->rt->size; }
static int64_t scatter_tmp(const struct plan_args *a)
{
    int64_t block = scatter_block(a);
    if (a->rank == a->root) return lists(a) + (a->nodes->ordered ? 0 : lines(block * a->size));
    return lists(a) + (is_leader(a->nodes, a->root) ? lines(block * plan_node_size(a->nodes, a->nodes->me)) : 0);
}
static bool scatter_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    const struct plan_nodes *n = a->nodes;
    bool root = a->rank == a->root, direct = n->ordered;
    int64_t block = scatter_block(a), node = block * plan_node_size(n, n->me);
    s->tmp = scatter_tmp(a);
    if (i == 0) {
        if (root && !direct) stage_local(s, &alg_pack, block, lists(a));
    } else if (i == 1) {
        stage_speakers(s, a->root);
        s->args.is_vector = true;
        per_node(a, tmp, root && direct ? a->scount : block);
        s->args.scounts = wide(counts_in(tmp)), s->args.sdispls = wide(places_in(a, tmp));
        if (!direct) s->in = place_at(PLAN_TMP, lists(a)), s->args.st = gw_type_byte;
        s->args.rcount = node, s->args.rt = gw_type_byte;
        s->args.in_place = root;
        s->out = place_at(PLAN_TMP, lists(a));
        if (n->fewest == n->most) stage_equal(s, &s->args.scounts, &s->args.sdispls, &s->args.scount, counts_in(tmp)[0]);
        if (is_leader(n, a->root)) stage_pick(s, s->args.is_vector ? COLL_SCATTERV : COLL_SCATTER, node, false);
    } else if (i == 2) {
        stage_node(s);
        s->args.root = speaker(n, a->root);
        s->args.is_vector = true;
        per_member(a, tmp, root ? a->scount : block, !root);
        s->args.scounts = wide(counts_in(tmp)), s->args.sdispls = wide(places_in(a, tmp));
        if (!root) s->args.st = gw_type_byte, s->in = place_at(PLAN_TMP, lists(a));
        stage_pick(s, COLL_SCATTERV, 0, leaves);
    }
    return i < 3;
}
const struct plan_algorithm coll_alg_scatter_levels = {
    .name = "levels", .tmp_bytes = scatter_tmp, .kind = PLAN_P2P, .fits = regular, .stages = scatter_stages};

/* ---- allgather(v): gathered in the nodes, exchanged between leaders, broadcast in the nodes --------------------------- */
static int64_t displ_of(const struct plan_args *a, int i) { return a->rdispls.v ? gw_counts_at(a->rdispls, i) : i * a->rcount; }
/* Are the blocks one behind the other in the order of nodes? */
static bool lies_in_order(const struct plan_args *a)
{
    const struct plan_nodes *n = a->nodes;
    if (!a->rcounts.v) return n->ordered;
    for (int at = 1; at < a->size; at++) {
        int last = at_place(n, at - 1);
        if (displ_of(a, at_place(n, at)) != displ_of(a, last) + count_of(a, last)) return false;
    }
    return true;
}
/* The temporary has lists and, if packed, the offset of each block and the blocks. */
static int64_t begins_bytes(const struct plan_args *a) { return lines(a->size * (int64_t)sizeof(int64_t)); }
static int64_t allgather_tmp(const struct plan_args *a)
{
    return lists(a) + (lies_in_order(a) ? 0 : begins_bytes(a) + lines(counts_between(a, 0, a->size) * a->rt->size));
}
/* Writes the counts and displacements of this node's members: in elements if direct, else of packed bytes. */
static void member_lists(const struct plan_args *a, char *tmp, bool direct)
{
    const struct plan_nodes *n = a->nodes;
    int64_t at = 0, size = direct ? 1 : a->rt->size;
    for (int k = 0; k < n->first[n->me]; k++) at += count_of(a, at_place(n, k)) * size;
    for (int i = 0; i < plan_node_size(n, n->me); i++) {
        int member = plan_member(n, n->me, i);
        counts_in(tmp)[i] = count_of(a, member) * size;
        places_in(a, tmp)[i] = direct ? displ_of(a, member) : at;
        at += counts_in(tmp)[i];
    }
}
static int64_t node_lists(const struct plan_args *a, char *tmp, bool direct) /* the largest count */
{
    const struct plan_nodes *n = a->nodes;
    int64_t at = direct ? displ_of(a, at_place(n, 0)) : 0, size = direct ? 1 : a->rt->size, most = 0;
    for (int k = 0; k < n->n; k++) {
        places_in(a, tmp)[k] = at;
        for (int i = n->first[k]; i < n->first[k + 1]; i++) at += count_of(a, at_place(n, i)) * size;
        counts_in(tmp)[k] = at - places_in(a, tmp)[k];
        most = gw_max64(most, counts_in(tmp)[k]);
    }
    return most;
}
static void unpack_lists(const struct plan_args *a, int64_t *begins)
{
    int64_t at = 0;
    for (int k = 0; k < a->size; k++) {
        begins[k] = at;
        at += count_of(a, at_place(a->nodes, k)) * a->rt->size;
    }
}
static bool allgather_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    const struct plan_nodes *n = a->nodes;
    bool direct = lies_in_order(a);
    int64_t data = lists(a) + begins_bytes(a), most;
    s->tmp = allgather_tmp(a);
    s->args.root = 0;
    if (!direct) s->args.rt = gw_type_byte, s->out = place_at(PLAN_TMP, data);
    switch (i) {
    case 0:
        stage_node(s);
        s->args.is_vector = true;
        member_lists(a, tmp, direct);
        s->args.rcounts = wide(counts_in(tmp)), s->args.rdispls = wide(places_in(a, tmp));
        s->args.in_place = a->in_place && direct && n->place == 0;
        if (a->in_place) {
            s->args.st = a->rt, s->args.scount = count_of(a, a->rank);
            s->in = place_at(PLAN_OUT, displ_of(a, a->rank) * a->rt->extent);
        }
        stage_pick(s, COLL_GATHERV, 0, leaves);
        return true;
    case 1:
        stage_across(s, 0);
        most = node_lists(a, tmp, direct);
        s->args.in_place = true;
        s->args.rcounts = wide(counts_in(tmp)), s->args.rdispls = wide(places_in(a, tmp));
        if (!a->rcounts.v && n->fewest == n->most) {
            s->args.rcounts.v = s->args.rdispls.v = NULL;
            s->args.rcount = most;
        }
        if (n->place == 0) stage_pick(s, COLL_ALLGATHER, most * s->args.rt->size, leaves);
        return true;
    case 2:
        stage_node(s);
        s->args.rcounts.v = s->args.rdispls.v = NULL;
        s->args.rcount = counts_between(a, 0, a->size) * (direct ? 1 : a->rt->size);
        if (direct) s->out = place_at(PLAN_OUT, displ_of(a, at_place(n, 0)) * a->rt->extent);
        if (s->args.size > 1) stage_pick(s, COLL_BCAST, s->args.rcount * s->args.rt->size, leaves);
        return true;
    case 3:
        if (direct) return true;
        unpack_lists(a, (int64_t *)(tmp + lists(a)));
        s->args.sdispls = wide((int64_t *)(tmp + lists(a)));
        s->args.rt = a->rt;
        s->out = place_at(PLAN_OUT, 0);
        stage_local(s, &alg_unpack, 0, data);
        s->args.in_place = false;
        return true;
    default: return false;
    }
}
const struct plan_algorithm coll_alg_allgather_levels = {
    .name = "levels", .tmp_bytes = allgather_tmp, .kind = PLAN_P2P, .fits = over_nodes, .stages = allgather_stages};

/* ---- alltoall: the leader of a node takes the blocks of its members, sorts it by nodes, exchanges, sorts it by members, gives it
 * out -- */
/* Two areas of `area` bytes: what lies in one is sorted into the other. */
static int64_t area(const struct plan_args *a)
{
    const struct plan_nodes *n = a->nodes;
    return n->place == 0 ? lines(plan_node_size(n, n->me) * a->size * a->rcount * a->rt->size) : 0;
}
static int64_t alltoall_tmp(const struct plan_args *a) { return lists(a) + 2 * area(a); }
/* Sorts blocks [source on this node][destination] into nodes of [source on this node][destination on that node]. */
static int sort_by_nodes(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    const struct plan_nodes *n = a->nodes;
    int here = plan_node_size(n, n->me);
    int64_t entries = (int64_t)here * a->size;
    for (int64_t e = (int64_t)round * PLAN_STEPS; e < entries && s.n < PLAN_STEPS; e++) {
        int from = (int)(e / a->size), at = (int)(e % a->size), to = at_place(n, at), k = plan_node_of(n, to);
        int64_t place = (int64_t)here * n->first[k] + (int64_t)from * plan_node_size(n, k) + (at - n->first[k]);
        assert(at >= n->first[k] && at < n->first[k + 1] && place < entries);
        step_copy(&s, ref_raw(PLAN_IN, ((int64_t)from * a->size + to) * a->params.block_bytes, a->params.block_bytes),
                  ref_raw(PLAN_OUT, place * a->params.block_bytes, a->params.block_bytes));
    }
    return s.n;
}
/* Sorts nodes of [source on that node][destination on this node] into [destination on this node][source]. */
static int sort_by_members(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    const struct plan_nodes *n = a->nodes;
    int here = plan_node_size(n, n->me);
    int64_t entries = (int64_t)here * a->size;
    for (int64_t e = (int64_t)round * PLAN_STEPS; e < entries && s.n < PLAN_STEPS; e++) {
        int at = (int)(e / here), to = (int)(e % here), from = at_place(n, at);
        assert(from >= 0 && from < a->size);
        step_copy(&s, ref_raw(PLAN_IN, e * a->params.block_bytes, a->params.block_bytes),
                  ref_raw(PLAN_OUT, ((int64_t)to * a->size + from) * a->params.block_bytes, a->params.block_bytes));
    }
    return s.n;
}
static const struct plan_algorithm alg_sort_nodes = {.name = "sort", .emit = sort_by_nodes, .kind = PLAN_P2P};
static const struct plan_algorithm alg_sort_members = {.name = "sort", .emit = sort_by_members, .kind = PLAN_P2P};
static bool alltoall_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    const struct plan_nodes *n = a->nodes;
    int64_t block = a->rcount * a->rt->size, here = plan_node_size(n, n->me);
    struct plan_place first = place_at(PLAN_TMP, lists(a)), second = place_at(PLAN_TMP, lists(a) + area(a));
    s->tmp = alltoall_tmp(a);
    s->args.root = 0;
    s->args.in_place = false;
    if (i == 1 || i == 3) {
        s->args.params.block_bytes = block;
        s->in = first, s->out = second;
        if (n->place == 0) s->alg = i == 1 ? &alg_sort_nodes : &alg_sort_members;
    } else if (i == 2) {
        stage_across(s, 0);
        per_node(a, tmp, here * block);
        s->args.scounts = s->args.rcounts = wide(counts_in(tmp)), s->args.sdispls = s->args.rdispls = wide(places_in(a, tmp));
        s->args.st = s->args.rt = gw_type_byte;
        s->in = second, s->out = first;
        if (n->place == 0) s->alg = &coll_alg_alltoall_pairwise;
    } else if (i == 0) {
        stage_node(s);
        s->args.scount = a->scount * a->size, s->args.rcount = block * a->size, s->args.rt = gw_type_byte;
        s->out = first;
        stage_pick(s, COLL_GATHER, block * a->size, leaves);
    } else if (i == 4) {
        stage_node(s);
        s->args.rcount = a->rcount * a->size, s->args.scount = block * a->size, s->args.st = gw_type_byte;
        s->in = second;
        stage_pick(s, COLL_SCATTER, block * a->size, leaves);
    }
    return i < 5;
}
/* Is the memory that the leader needs within bounds? */
static bool alltoall_fits(const struct plan_args *a)
{
    enum { MOST = 64 << 20 };
    return over_nodes(a) && !a->rcounts.v && !a->rts && a->rcount * a->rt->size * a->nodes->most * a->size <= MOST;
}
const struct plan_algorithm coll_alg_alltoall_levels = {
    .name = "levels", .tmp_bytes = alltoall_tmp, .kind = PLAN_P2P, .fits = alltoall_fits, .stages = alltoall_stages};

/* ---- alltoall by columns: nodes of equal size.  On its node each member collects what goes to its place on any node; so there is
 * one message from member to member in the same place, with the blocks of a whole node
 * ------------------------------------------------- */
/* Two areas, as above, of every member. */
static int64_t columns_area(const struct plan_args *a) { return lines(a->size * a->rcount * a->rt->size); }
static int64_t columns_tmp(const struct plan_args *a) { return 2 * columns_area(a); }
/* Sorts this member's blocks into [place][node]. */
static int sort_by_places(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int nodes = a->nodes->n;
    for (int64_t e = (int64_t)round * PLAN_STEPS; e < a->size && s.n < PLAN_STEPS; e++)
        step_copy(&s, send_block(a, plan_member(a->nodes, (int)(e % nodes), (int)(e / nodes))),
                  ref_raw(PLAN_TMP, e * a->params.block_bytes, a->params.block_bytes));
    return s.n;
}
/* Transposes [place on this node][node] into [node][place on this node]. */
static int turn_columns(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int nodes = a->nodes->n, here = a->nodes->most;
    for (int64_t e = (int64_t)round * PLAN_STEPS; e < a->size && s.n < PLAN_STEPS; e++)
        step_copy(&s, ref_raw(PLAN_IN, (e % here * nodes + e / here) * a->params.block_bytes, a->params.block_bytes),
                  ref_raw(PLAN_OUT, e * a->params.block_bytes, a->params.block_bytes));
    return s.n;
}
static const struct plan_algorithm alg_sort_places = {.name = "sort", .emit = sort_by_places, .kind = PLAN_P2P};
static const struct plan_algorithm alg_turn_columns = {.name = "turn", .emit = turn_columns, .kind = PLAN_P2P};
static bool columns_stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    (void)tmp;
    const struct plan_nodes *n = a->nodes;
    int64_t block = a->rcount * a->rt->size, column = block * n->n, node = block * n->most;
    struct plan_place first = place_at(PLAN_TMP, 0), second = place_at(PLAN_TMP, columns_area(a));
    s->args.in_place = false;
    s->tmp = columns_tmp(a);
    switch (i) {
    case 0:
        s->alg = &alg_sort_places;
        s->args.params.block_bytes = block;
        s->tmp = first.off;
        return true;
    case 1:
        stage_node(s);
        s->in = first, s->out = second;
        s->args.scount = s->args.rcount = column, s->args.st = s->args.rt = gw_type_byte;
        stage_pick(s, COLL_ALLTOALL, column, leaves);
        return true;
    case 2:
        s->alg = &alg_turn_columns;
        s->args.params.block_bytes = block;
        s->in = second, s->out = first;
        return true;
    case 3:
        stage_across(s, n->place);
        s->in = first;
        s->args.scount = node, s->args.st = gw_type_byte;
        s->args.rcount = a->rcount * n->most;
        if (!n->ordered) s->args.rcount = node, s->args.rt = gw_type_byte, s->out = second;
        stage_pick(s, COLL_ALLTOALL, node, leaves);
        return true;
    case 4:
        if (n->ordered) return false;
        stage_local(s, &alg_unpack, block, second.off);
        s->args.in_place = false;
        return true;
    default: return false;
    }
}
static bool columns_fit(const struct plan_args *a)
{
    return over_nodes(a) && a->nodes->fewest == a->nodes->most && !a->rcounts.v && !a->rts;
}
const struct plan_algorithm coll_alg_alltoall_columns = {
    .name = "columns", .tmp_bytes = columns_tmp, .kind = PLAN_P2P, .fits = columns_fit, .stages = columns_stages};
