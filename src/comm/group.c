/* group.c -- groups: ordered sets of processes, stored as an arithmetic progression of world ranks if they form one.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm_private.h"

#include <stdlib.h>

#include "boot/boot.h"
#include "node/node.h"

struct gw_group gw_group_empty = {.rank = GW_UNDEFINED, .step = 1};

/* The rank of a process in g, or GW_UNDEFINED.  O(1) if g has no map. */
static int group_find(const struct gw_group *g, int world_rank)
{
    if (!g->map) {
        int d = world_rank - g->first;
        if (g->size == 0 || d % g->step != 0) return GW_UNDEFINED;
        int i = d / g->step;
        return i >= 0 && i < g->size ? i : GW_UNDEFINED;
    }
    for (int i = 0; i < g->size; i++)
        if (g->map[i] == world_rank) return i;
    return GW_UNDEFINED;
}

/* An index of the ranks of a mapped group, so that each look-up of a set operation is O(1). */
struct group_index {
    int32_t *place;
    int limit;
    const struct gw_group *g;
};

static int index_build(struct group_index *x, const struct gw_group *g)
{
    *x = (struct group_index){.g = g};
    if (!g->map) return GW_OK;
    for (int i = 0; i < g->size; i++)
        if (g->map[i] >= x->limit) x->limit = g->map[i] + 1;
    x->place = malloc(sizeof *x->place * (size_t)x->limit);
    if (!x->place) return gw_fail(GW_ENOMEM, "no memory to index a group of %d", g->size);
    for (int i = 0; i < x->limit; i++) x->place[i] = GW_UNDEFINED;
    for (int i = 0; i < g->size; i++) x->place[g->map[i]] = i;
    return GW_OK;
}
static int index_find(const struct group_index *x, int world_rank)
{
    if (!x->place) return group_find(x->g, world_rank);
    return world_rank < x->limit ? x->place[world_rank] : GW_UNDEFINED;
}

/* Is the list first, first+step, ... with one step != 0? */
static bool is_progression(int n, const int32_t *w, int *step_out)
{
    assert(n > 0);
    int step = n > 1 ? w[1] - w[0] : 1;
    for (int i = 1; i < n; i++)
        if (w[i] - w[i - 1] != step) return false;
    *step_out = step;
    return step != 0;
}

/* Takes or gives back references to the other worlds whose ranks are members. */
static void others_count(const struct gw_group *g, void (*by)(int n, const int32_t *numbers))
{
    if (g->map) {
        by(g->size, g->map);
        return;
    }
    for (int32_t i = 0, number = g->first; i < g->size; i++, number += g->step)
        if (number >= gw_boot.size) by(1, &number);
}

static int group_new(struct gw_group **group_out)
{
    struct gw_group *g = calloc(1, sizeof *g);
    if (!g) return gw_fail(GW_ENOMEM, "no memory for a group");
    int rc = gw_obj_register(&g->obj, GW_KIND_GROUP);
    if (rc != GW_OK) {
        free(g);
        return rc;
    }
    *group_out = g;
    return GW_OK;
}

int group_from_map(int size, const int32_t *world_ranks, struct gw_group **group_out)
{
    assert(size >= 0);
    if (size == 0) {
        *group_out = &gw_group_empty;
        return GW_OK;
    }
    struct gw_group *g;
    int rc = group_new(&g), step;
    if (rc != GW_OK) return rc;
    g->size = size;
    g->first = world_ranks[0];
    if (is_progression(size, world_ranks, &step)) {
        g->step = step;
    } else {
        g->map = malloc(sizeof *g->map * (size_t)size);
        if (!g->map) {
            g->size = 0;
            group_release(g);
            return gw_fail(GW_ENOMEM, "no memory for a group of %d", size);
        }
        memcpy(g->map, world_ranks, sizeof *g->map * (size_t)size);
    }
    g->rank = group_find(g, comm_my_world_rank());
    others_count(g, node_others_hold);
    *group_out = g;
    return GW_OK;
}

/* A group with the same members and a handle of its own, so that freeing it does not affect the group of the communicator. */
int group_alias(struct gw_group *g, struct gw_group **group_out)
{
    if (g->size == 0) {
        *group_out = &gw_group_empty;
        return GW_OK;
    }
    struct gw_group *a, *owner = g->owner ? g->owner : g;
    int rc = group_new(&a);
    if (rc != GW_OK) return rc;
    a->size = g->size, a->rank = g->rank, a->first = g->first, a->step = g->step, a->map = g->map;
    if (g->map) a->owner = group_hold(owner);
    others_count(a, node_others_hold);
    *group_out = a;
    return GW_OK;
}

void group_join(struct gw_group *g, struct comm_family *f)
{
    if (g->obj.predefined) return; /* MPI_GROUP_EMPTY belongs to no session */
    assert(!g->family);
    g->family = comm_family_hold(f);
}

void group_release(struct gw_group *g)
{
    if (!gw_obj_unref(&g->obj)) return;
    gw_obj_unregister(&g->obj);
    comm_family_release(g->family);
    others_count(g, node_others_release);
    if (g->owner)
        group_release(g->owner);
    else
        free(g->map);
    free(g);
}

int group_free(struct gw_group **g)
{
    if (!(*g)->obj.predefined) { /* freeing MPI_GROUP_EMPTY is allowed and does nothing */
        gw_obj_unregister(&(*g)->obj);
        group_release(*g);
    }
    *g = NULL;
    return GW_OK;
}

int group_size(struct gw_group *g, int *size_out)
{
    *size_out = g->size;
    return GW_OK;
}

int group_rank(struct gw_group *g, int *rank_out)
{
    *rank_out = g->rank;
    return GW_OK;
}

static int rank_check(const struct gw_group *g, const char *what, int i, int rank)
{
    assert(i >= 0);
    if (rank >= 0 && rank < g->size) return GW_OK;
    return gw_fail(GW_ERANK, "%s[%d] is %d; the group has %d members, ranks 0 to %d", what, i, rank, g->size, g->size - 1);
}

int group_translate_ranks(struct gw_group *a, int n, const int *ranks, struct gw_group *b, int *ranks_out)
{
    struct group_index x;
    for (int i = 0; i < n; i++)
        if (ranks[i] != GW_PROC_NULL && rank_check(a, "ranks1", i, ranks[i]) != GW_OK) return GW_ERANK;
    int rc = index_build(&x, b);
    if (rc != GW_OK) return rc;
    for (int i = 0; i < n; i++) ranks_out[i] = ranks[i] == GW_PROC_NULL ? GW_PROC_NULL : index_find(&x, group_world(a, ranks[i]));
    free(x.place);
    return GW_OK;
}

int group_compare(struct gw_group *a, struct gw_group *b, int *result_out)
{
    if (a->size != b->size) {
        *result_out = GW_UNEQUAL;
        return GW_OK;
    }
    struct group_index x;
    int rc = index_build(&x, b), result = GW_IDENT;
    if (rc != GW_OK) return rc;
    for (int i = 0; i < a->size && result != GW_UNEQUAL; i++) {
        int j = index_find(&x, group_world(a, i));
        if (j == GW_UNDEFINED)
            result = GW_UNEQUAL;
        else if (j != i)
            result = GW_SIMILAR;
    }
    free(x.place);
    *result_out = result;
    return GW_OK;
}

/* Members of a (in its order) that are in b (keep true) or not, then, for a union, those of b that are not in a. */
static int group_filter(struct gw_group *a, struct gw_group *b, bool in_b, bool then_rest_of_b, struct gw_group **group_out)
{
    struct group_index xa, xb;
    int rc = index_build(&xa, a), n = 0;
    if (rc != GW_OK) return rc;
    rc = index_build(&xb, b);
    int32_t *list = malloc(sizeof *list * ((size_t)a->size + (size_t)b->size + 1));
    if (rc == GW_OK && !list) rc = gw_fail(GW_ENOMEM, "no memory for a group of up to %d", a->size + b->size);
    if (rc == GW_OK) {
        for (int i = 0; i < a->size; i++) {
            int w = group_world(a, i);
            if (then_rest_of_b || (index_find(&xb, w) != GW_UNDEFINED) == in_b) list[n++] = w;
        }
        for (int i = 0; then_rest_of_b && i < b->size; i++)
            if (index_find(&xa, group_world(b, i)) == GW_UNDEFINED) list[n++] = group_world(b, i);
        rc = group_from_map(n, list, group_out);
        if (rc == GW_OK) group_join(*group_out, a->family ? a->family : b->family);
    }
    free(list);
    free(xa.place);
    free(xb.place);
    return rc;
}

int group_union(struct gw_group *a, struct gw_group *b, struct gw_group **group_out)
{
    return group_filter(a, b, true, true, group_out);
}

int group_intersection(struct gw_group *a, struct gw_group *b, struct gw_group **group_out)
{
    return group_filter(a, b, true, false, group_out);
}

int group_difference(struct gw_group *a, struct gw_group *b, struct gw_group **group_out)
{
    return group_filter(a, b, false, false, group_out);
}

/* Checks that ranks[n] are valid and distinct; marks them in the returned table (one byte a member), NULL on error. */
static unsigned char *ranks_mark(const struct gw_group *g, const char *what, int n, const int *ranks, int *rc_out)
{
    unsigned char *seen = calloc((size_t)g->size + 1, 1);
    if (!seen) {
        *rc_out = gw_fail(GW_ENOMEM, "no memory for a group of %d", g->size);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        *rc_out = rank_check(g, what, i, ranks[i]);
        if (*rc_out == GW_OK && seen[ranks[i]]++) *rc_out = gw_fail(GW_ERANK, "%s names rank %d twice", what, ranks[i]);
        if (*rc_out != GW_OK) {
            free(seen);
            return NULL;
        }
    }
    return seen;
}

static int group_pick(struct gw_group *g, const char *what, int n, const int *ranks, bool take, struct gw_group **group_out)
{
    assert(n >= 0);
    int rc = GW_OK, count = 0;
    unsigned char *seen = ranks_mark(g, what, n, ranks, &rc);
    if (!seen) return rc;
    int32_t *list = malloc(sizeof *list * ((size_t)g->size + 1));
    if (!list) {
        free(seen);
        return gw_fail(GW_ENOMEM, "no memory for a group of %d", g->size);
    }
    if (take) {
        for (; count < n; count++) list[count] = group_world(g, ranks[count]);
    } else {
        for (int i = 0; i < g->size; i++)
            if (!seen[i]) list[count++] = group_world(g, i);
    }
    rc = group_from_map(count, list, group_out);
    if (rc == GW_OK) group_join(*group_out, g->family);
    free(list);
    free(seen);
    return rc;
}

int group_incl(struct gw_group *g, int n, const int *ranks, struct gw_group **group_out)
{
    return group_pick(g, "ranks", n, ranks, true, group_out);
}

int group_excl(struct gw_group *g, int n, const int *ranks, struct gw_group **group_out)
{
    return group_pick(g, "ranks", n, ranks, false, group_out);
}

/* Expands (first, last, stride) triplets to a list of ranks; the caller frees it. */
static int ranges_expand(const struct gw_group *g, int n, int ranges[][3], int **ranks_out, int *count_out)
{
    int64_t total = 0;
    for (int i = 0; i < n; i++) {
        int first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];
        if (stride == 0) return gw_fail(GW_EARG, "ranges[%d] = (%d, %d, 0): the stride must not be 0", i, first, last);
        if (rank_check(g, "the first rank of ranges", i, first) != GW_OK) return GW_ERANK;
        int64_t steps = ((int64_t)last - first) / stride;
        if (((int64_t)last - first) * stride < 0) continue; /* the range is empty */
        if (rank_check(g, "the last rank of ranges", i, (int)(first + steps * stride)) != GW_OK) return GW_ERANK;
        total += steps + 1;
    }
    if (total > g->size)
        return gw_fail(GW_ERANK, "the ranges name %lld ranks of a group of %d: some twice", (long long)total, g->size);
    int *ranks = malloc(sizeof *ranks * (size_t)(total + 1)), count = 0;
    if (!ranks) return gw_fail(GW_ENOMEM, "no memory for %lld ranks", (long long)total);
    for (int i = 0; i < n; i++) {
        int stride = ranges[i][2];
        for (int64_t r = ranges[i][0]; stride > 0 ? r <= ranges[i][1] : r >= ranges[i][1]; r += stride) ranks[count++] = (int)r;
    }
    *ranks_out = ranks;
    *count_out = count;
    return GW_OK;
}

static int group_range(struct gw_group *g, int n, int ranges[][3], bool take, struct gw_group **group_out)
{
    int *ranks, count, rc = ranges_expand(g, n, ranges, &ranks, &count);
    if (rc != GW_OK) return rc;
    rc = group_pick(g, "the list of ranges", count, ranks, take, group_out);
    free(ranks);
    return rc;
}

int group_range_incl(struct gw_group *g, int n, int ranges[][3], struct gw_group **group_out)
{
    return group_range(g, n, ranges, true, group_out);
}

int group_range_excl(struct gw_group *g, int n, int ranges[][3], struct gw_group **group_out)
{
    return group_range(g, n, ranges, false, group_out);
}
