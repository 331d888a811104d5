/* stages.c -- on which nodes the members of a communicator run, and the stages of hierarchical algorithms one after the other.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "boot/boot.h"
#include "plan/plan_private.h"

/* ---- nodes -------------------------------------------------------------------------------------------------------------- */
/* Numbers the nodes in the order of their lowest members; node_out[i] is the node of member i.  Returns how
 * many; 0: out of memory. */
static int number_nodes(int size, int (*node_of)(void *ctx, int member), void *ctx, int ids, int32_t *node_out)
{
    int n = 0;
    int32_t *numbers = malloc((size_t)ids * sizeof *numbers);
    if (!numbers) return 0;
    for (int i = 0; i < ids; i++) numbers[i] = -1;
    for (int i = 0; i < size; i++) {
        int id = node_of(ctx, i);
        assert(id >= 0 && id < ids);
        if (numbers[id] < 0) numbers[id] = n++;
        node_out[i] = numbers[id];
    }
    free(numbers);
    return n;
}

static void count_members(struct plan_nodes *n, int size)
{
    n->fewest = size;
    for (int i = 0; i <= n->n; i++) n->first[i] = 0;
    for (int i = 0; i < size; i++) n->first[n->node[i] + 1]++;
    n->ordered = true;
    for (int i = 1; i < size; i++) n->ordered &= n->node[i] >= n->node[i - 1];
    for (int k = 0; k < n->n; k++) {
        int here = n->first[k + 1];
        if (here < n->fewest) n->fewest = here;
        if (here > n->most) n->most = here;
        n->first[k + 1] += n->first[k];
    }
}

/* Sorts members by node.  Changes n->first while it runs, and restores it. */
static void sort_members(struct plan_nodes *n, int size)
{
    for (int i = 0; i < size; i++) n->member[n->first[n->node[i]]++] = i;
    assert(n->first[n->n - 1] == size);
    for (int k = n->n; k > 0; k--) n->first[k] = n->first[k - 1];
    n->first[0] = 0;
}

struct plan_nodes *plan_nodes_new(int size, int rank, int (*node_of)(void *ctx, int member), void *ctx, int ids)
{
    struct plan_nodes *n = calloc(1, sizeof *n);
    if (!n) goto no_memory;
    n->node = malloc((size_t)size * sizeof *n->node);
    n->n = n->node ? number_nodes(size, node_of, ctx, ids, n->node) : 0;
    n->first = n->n ? malloc((size_t)(n->n + 1) * sizeof *n->first) : NULL;
    if (!n->first) goto no_memory;
    count_members(n, size);
    if (n->ordered) {
        free(n->node);
        n->node = NULL;
    } else {
        n->member = malloc((size_t)size * sizeof *n->member);
        if (!n->member) goto no_memory;
        sort_members(n, size);
    }
    n->me = plan_node_of(n, rank);
    n->place = plan_place_of(n, rank);
    assert(plan_member(n, n->me, n->place) == rank);
    return n;
no_memory:
    plan_nodes_free(n);
    gw_fail(GW_ENOMEM, "no memory for the nodes of a communicator of %d", size);
    return NULL;
}

void plan_nodes_free(struct plan_nodes *n)
{
    if (!n) return;
    free(n->first);
    free(n->member);
    free(n->node);
    free(n);
}

int plan_node_of(const struct plan_nodes *n, int member)
{
    if (n->node) return n->node[member];
    int low = 0, high = n->n - 1; /* finds the last node whose first member is not behind */
    while (low < high) {
        int mid = (low + high + 1) / 2;
        if (n->first[mid] <= member)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

int plan_place_of(const struct plan_nodes *n, int member)
{
    int node = plan_node_of(n, member), low = 0, high = plan_node_size(n, node) - 1;
    while (low < high) {
        int mid = (low + high) / 2;
        if (plan_member(n, node, mid) < member)
            low = mid + 1;
        else
            high = mid;
    }
    assert(plan_member(n, node, low) == member);
    return low;
}

static int world_node(void *ctx, int member) { return boot_node_of(group_world(ctx, member)); }

const struct plan_nodes *plan_nodes(struct gw_comm *c)
{
    struct comm_coll *k = plan_coll(c);
    if (!k || k->nodes_asked) return k ? k->nodes : NULL;
    k->nodes_asked = true;
    for (int i = 0; i < c->size; i++)
        if (group_world(c->group, i) >= gw_boot.size) return NULL; /* of another world, whose nodes are numbered separately */
    k->nodes = plan_nodes_new(c->size, c->rank, world_node, c->group, gw_boot.nnodes);
    return k->nodes;
}

/* ---- stages ------------------------------------------------------------------------------------------------------------- */
static char *place(const struct plan_walk *w, struct plan_place p)
{
    char *base = p.buf == PLAN_IN ? w->in : p.buf == PLAN_OUT ? w->out : w->tmp;
    return (char *)((uintptr_t)base + (uintptr_t)p.off); /* in integers, as `base` may be NULL */
}

static void stage_clear(struct plan_walk *w)
{
    w->stage = (struct plan_stage){.args = *w->args, .team = {.nodes = w->args->nodes, .odd = -1}, .out = {PLAN_OUT, 0}};
}

static int tmp_grow(struct plan_walk *w, int64_t bytes)
{
    if (bytes <= w->tmp_bytes) return GW_OK;
    /* Operands may have gaps of gigabytes that are never touched.  realloc() moves large blocks by remapping their pages, and does
     * not touch the gaps; a copy would allocate memory for them. */
    char *moved = w->tmp_bytes ? realloc(w->tmp, (size_t)bytes) : NULL;
    if (moved) w->tmp = moved;
    if (!moved || (uintptr_t)moved % GW_CACHELINE) {
        char *more = plan_tmp_alloc(bytes);
        if (!more) return GW_ENOMEM;
        if (w->tmp_bytes) memcpy(more, w->tmp, (size_t)w->tmp_bytes);
        free(w->tmp);
        w->tmp = more;
    }
    assert((uintptr_t)w->tmp % GW_CACHELINE == 0);
    w->tmp_bytes = bytes;
    return GW_OK;
}

int plan_walk_next(struct plan_walk *w)
{
    struct plan_stage *s = &w->stage;
    if (w->i == 0 && tmp_grow(w, w->alg->tmp_bytes ? w->alg->tmp_bytes(w->args) : 0) != GW_OK) return GW_ENOMEM;
    for (;; w->i++) {
        stage_clear(w);
        if (!w->alg->stages(w->args, w->i, w->leaves, w->tmp, s)) return 0;
        if (!s->alg) continue;
        const char *was = w->tmp;
        if (tmp_grow(w, s->tmp + (s->alg->tmp_bytes ? s->alg->tmp_bytes(&s->args) : 0)) != GW_OK) return GW_ENOMEM;
        if (w->tmp != was) { /* arrays of the stage's arguments may lie in it */
            stage_clear(w);
            w->alg->stages(w->args, w->i, w->leaves, w->tmp, s);
        }
        w->i++;
        w->stage_in = place(w, s->in);
        w->stage_out = place(w, s->out);
        w->stage_tmp = (char *)((uintptr_t)w->tmp + (uintptr_t)s->tmp);
        return 1;
    }
}
