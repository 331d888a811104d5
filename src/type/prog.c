/* prog.c -- compiles a type's shape to a short loop program that moves the same bytes in the same order.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/type_private.h"
#include "base/base.h"

#include <stdlib.h>

static void *tree_memory(struct type_tree *tree, size_t n)
{
    assert(tree->n_memory < (int)GW_ARRAY_LEN(tree->memory));
    void *p = malloc(n ? n : 1);
    if (p) tree->memory[tree->n_memory++] = p;
    return p;
}

/* `count` copies of `node`, `stride` bytes apart, shifted by `disp`.  keep: memory of the type in which a child may be stored. */
static struct type_prog repeat(const struct type_prog *node, int64_t count, int64_t stride, int64_t disp, struct type_prog *keep)
{
    struct type_prog r = *node;
    assert(count >= 0 && node->bytes >= 0);
    /* Before the sum: where there are no bytes, displacements may be any. */
    if (count == 0 || node->bytes == 0) return (struct type_prog){.kind = PROG_EMPTY};
    r.disp += disp;
    if (count == 1) return r;
    if (node->kind == PROG_BLOCK && stride == node->bytes) {
        r.bytes *= count;
        return r;
    }
    if (node->kind == PROG_VECTOR && stride == node->count * node->stride) { /* one longer loop */
        r.count *= count;
        r.bytes *= count;
        return r;
    }
    *keep = *node;
    keep->disp = 0;
    return (struct type_prog){.kind = PROG_VECTOR,
                              .disp = node->disp + disp,
                              .bytes = node->bytes * count,
                              .count = count,
                              .stride = stride,
                              .child = keep};
}

/* Stores a list of m blocks of different sizes, or of equal ones at different distances. */
static int runs_keep(struct type_tree *tree, const struct type_prog *nodes, int64_t m, int64_t total, bool equal,
                     struct type_prog *out)
{
    bool small = equal;
    assert(m > 1 && total > 0);
    for (int64_t i = 0; i < m; i++) small = small && nodes[i].disp == (int32_t)nodes[i].disp;
    int32_t *near = small ? tree_memory(tree, sizeof *near * (size_t)m) : NULL;
    int64_t *at = small ? NULL : tree_memory(tree, sizeof *at * (size_t)m);
    int64_t *from = equal ? NULL : tree_memory(tree, sizeof *from * (size_t)(m + 1));
    if ((!near && !at) || (!equal && !from)) return gw_fail(GW_ENOMEM, "no memory for a datatype of %lld blocks", (long long)m);
    *out = (struct type_prog){
        .kind = PROG_RUNS, .bytes = total, .count = m, .run = equal ? nodes[0].bytes : 0, .at = at, .near = near, .from = from};
    for (int64_t i = 0, pos = 0; i < m; pos += nodes[i].bytes, i++) {
        if (near) near[i] = (int32_t)nodes[i].disp;
        if (at) at[i] = nodes[i].disp;
        if (from) from[i] = pos;
    }
    if (from) from[m] = total;
    return GW_OK;
}

/* Merges adjacent blocks, and makes a vector of equal blocks at equal distances. */
static int runs_build(struct type_tree *tree, struct type_prog *nodes, int64_t n, struct type_prog *keep, struct type_prog *out)
{
    int64_t m = 0, total = 0, touching = 0;
    assert(n > 1);
    bool alike = true;
    for (int64_t i = 1; i < n; i++) {
        touching += nodes[i - 1].disp + nodes[i - 1].bytes == nodes[i].disp;
        alike = alike && nodes[i].bytes == nodes[0].bytes;
    }
    /* Equal small blocks of which few are adjacent are not merged: equal blocks are copied faster than fewer unequal ones. */
    bool keep_apart = alike && nodes[0].bytes <= 32 && touching < n / 2;
    for (int64_t i = 0; i < n; i++) {
        if (m && !keep_apart && nodes[m - 1].disp + nodes[m - 1].bytes == nodes[i].disp)
            nodes[m - 1].bytes += nodes[i].bytes;
        else
            nodes[m++] = nodes[i];
    }
    bool equal = true, regular = true;
    for (int64_t i = 0; i < m; i++) {
        total += nodes[i].bytes;
        equal = equal && nodes[i].bytes == nodes[0].bytes;
        regular = regular && (i < 2 || nodes[i].disp - nodes[i - 1].disp == nodes[1].disp - nodes[0].disp);
    }
    if (m == 1 || (equal && regular)) {
        *out = m == 1 ? nodes[0] : repeat(&nodes[0], m, nodes[1].disp - nodes[0].disp, 0, keep);
        return GW_OK;
    }
    return runs_keep(tree, nodes, m, total, equal, out);
}

static int list_build(struct type_tree *tree, const struct type_prog *nodes, int64_t n, struct type_prog *out)
{
    assert(n > 1);
    struct type_prog *list = tree_memory(tree, sizeof *list * (size_t)n);
    int64_t *from = tree_memory(tree, sizeof *from * (size_t)(n + 1)), pos = 0;
    if (!list || !from) return gw_fail(GW_ENOMEM, "no memory for a datatype of %lld parts", (long long)n);
    for (int64_t i = 0; i < n; pos += nodes[i].bytes, i++) {
        list[i] = nodes[i];
        from[i] = pos;
    }
    from[n] = pos;
    *out = (struct type_prog){.kind = PROG_LIST, .bytes = pos, .count = n, .child = list, .from = from};
    return GW_OK;
}

/* One node for all segments, then the outer loop around it. */
static int shape_build(struct type_tree *tree, struct type_prog *out)
{
    int64_t n = 0;
    struct type_prog *nodes = malloc(sizeof *nodes * (size_t)(tree->n_segs + 1));
    struct type_prog *keep = tree_memory(tree, sizeof *keep * (size_t)(tree->n_segs + 2));
    if (!nodes || !keep) {
        free(nodes);
        return gw_fail(GW_ENOMEM, "no memory for a datatype of %lld parts", (long long)tree->n_segs);
    }
    bool blocks = true;
    for (int64_t i = 0; i < tree->n_segs && tree->outer > 0; i++) { /* not for zero copies, whose sizes may overflow */
        const struct type_seg *s = &tree->segs[i];
        struct type_prog node = repeat(s->type->prog, s->count, s->type->extent, s->disp, &keep[i]);
        if (node.kind == PROG_EMPTY) continue;
        blocks = blocks && node.kind == PROG_BLOCK;
        nodes[n++] = node;
    }
    struct type_prog inner = {.kind = PROG_EMPTY};
    int rc = GW_OK;
    if (n == 1)
        inner = nodes[0];
    else if (n > 1 && blocks)
        rc = runs_build(tree, nodes, n, &keep[tree->n_segs], &inner);
    else if (n > 1)
        rc = list_build(tree, nodes, n, &inner);
    free(nodes);
    if (rc == GW_OK) *out = repeat(&inner, tree->outer, tree->stride, 0, &keep[tree->n_segs + 1]);
    return rc;
}

int type_prog_build(struct gw_type *t)
{
    struct type_prog *p = tree_memory(t->tree, sizeof *p);
    if (!p) return gw_fail(GW_ENOMEM, "no memory for a datatype");
    int rc = shape_build(t->tree, p);
    if (rc != GW_OK) return rc;
    assert(p->bytes == t->size);
    t->prog = p;
    t->is_single = p->kind == PROG_BLOCK;
    t->is_dense = t->is_single && t->extent == t->size;
    assert(!t->is_single || t->true_extent == t->size);
    return GW_OK;
}
