/* check_tree.c -- intervals of addresses, ordered: leaves of some dozens of them side by side, and a table of where each leaf begins.
 *
 * A hundred thousand operations at random places are added, looked for and taken out again: what is looked at on the way lies together.
 *
 * INVARIANT T1: intervals are in order of lo, then of their nodes' addresses, in a leaf and from leaf to leaf; no leaf is empty.
 * INVARIANT T2: a leaf's `lo` and `reach` are the first lo and the largest hi in it; no interval is longer than `longest`.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "check/check_private.h"

enum { LEAF = 64 };
struct entry {
    uintptr_t lo, hi;
    struct check_node *node;
};
struct check_leaf {
    int n;
    struct entry v[LEAF];
};
struct check_branch {
    uintptr_t lo, reach;
    struct check_leaf *leaf;
};

static bool is_before(const struct entry *e, uintptr_t lo, const struct check_node *n)
{
    return e->lo != lo ? e->lo < lo : (uintptr_t)e->node < (uintptr_t)n;
}

/* The last leaf whose first interval is not behind (lo, n), or the first one. */
static size_t leaf_find(const struct check_tree *t, uintptr_t lo, const struct check_node *n)
{
    size_t from = 0, to = t->n;
    while (from < to) {
        size_t mid = (from + to) / 2;
        const struct check_branch *b = &t->v[mid];
        bool is_behind = b->lo != lo ? b->lo > lo : (uintptr_t)b->leaf->v[0].node > (uintptr_t)n;
        if (is_behind)
            to = mid;
        else
            from = mid + 1;
    }
    return from ? from - 1 : 0;
}

/* The first interval of a leaf that is not before (lo, n). */
static int place_find(const struct check_leaf *l, uintptr_t lo, const struct check_node *n)
{
    int from = 0, to = l->n;
    while (from < to) {
        int mid = (from + to) / 2;
        if (is_before(&l->v[mid], lo, n))
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static void branch_update(struct check_branch *b)
{
    b->lo = b->leaf->v[0].lo;
    b->reach = 0;
    for (int i = 0; i < b->leaf->n; i++)
        if (b->leaf->v[i].hi > b->reach) b->reach = b->leaf->v[i].hi;
}

static void branch_insert(struct check_tree *t, size_t at, struct check_leaf *l)
{
    if (t->n == t->room) t->v = gw_xrealloc(t->v, (t->room = 2 * t->room + 4) * sizeof *t->v);
    memmove(&t->v[at + 1], &t->v[at], (t->n++ - at) * sizeof *t->v);
    t->v[at] = (struct check_branch){.leaf = l};
}

/* In a loop that goes upwards the leaf behind gets only what is new. */
static void leaf_split(struct check_tree *t, size_t at, bool is_at_end)
{
    struct check_leaf *l = t->v[at].leaf, *rest = gw_xmalloc(sizeof *rest);
    assert(l->n == LEAF && at < t->n);
    int keep = is_at_end ? LEAF - 1 : LEAF / 2;
    rest->n = l->n - keep;
    l->n = keep;
    memcpy(rest->v, l->v + keep, (size_t)rest->n * sizeof *l->v);
    branch_insert(t, at + 1, rest);
    branch_update(&t->v[at]);
    branch_update(&t->v[at + 1]);
}

void check_tree_add(struct check_tree *t, struct check_node *n)
{
    assert(n->lo < n->hi);
    if (!t->n) {
        struct check_leaf *l = t->spare ? t->spare : gw_xmalloc(sizeof *l);
        l->n = 0;
        t->spare = NULL;
        branch_insert(t, 0, l);
    }
    size_t at = leaf_find(t, n->lo, n);
    int place = place_find(t->v[at].leaf, n->lo, n);
    if (t->v[at].leaf->n == LEAF) {
        leaf_split(t, at, at + 1 == t->n && place == LEAF);
        at = leaf_find(t, n->lo, n);
        place = place_find(t->v[at].leaf, n->lo, n);
    }
    struct check_branch *b = &t->v[at];
    struct check_leaf *l = b->leaf;
    memmove(&l->v[place + 1], &l->v[place], (size_t)(l->n++ - place) * sizeof *l->v);
    l->v[place] = (struct entry){n->lo, n->hi, n};
    b->lo = l->v[0].lo;
    if (n->hi > b->reach) b->reach = n->hi;
    if (n->hi - n->lo > t->longest) t->longest = n->hi - n->lo;
}

/* Where a node that is in it is. */
static struct entry *entry_of(const struct check_tree *t, const struct check_node *n, size_t *at_out)
{
    assert(t->n > 0);
    *at_out = leaf_find(t, n->lo, n);
    struct check_leaf *l = t->v[*at_out].leaf;
    struct entry *e = &l->v[place_find(l, n->lo, n)];
    assert(e < l->v + l->n && e->node == n);
    return e;
}

void check_tree_extend(struct check_tree *t, struct check_node *n, uintptr_t hi)
{
    size_t at;
    assert(hi >= n->hi); /* T2: reach and longest never shrink here */
    entry_of(t, n, &at)->hi = n->hi = hi;
    if (hi > t->v[at].reach) t->v[at].reach = hi;
    if (hi - n->lo > t->longest) t->longest = hi - n->lo;
}

void check_tree_remove(struct check_tree *t, struct check_node *n)
{
    size_t at;
    struct entry *e = entry_of(t, n, &at);
    struct check_branch *b = &t->v[at];
    struct check_leaf *l = b->leaf;
    bool was_farthest = e->hi == b->reach;
    memmove(e, e + 1, (size_t)(l->v + --l->n - e) * sizeof *e);
    if (l->n) {
        b->lo = l->v[0].lo;
        if (was_farthest) branch_update(b);
        return;
    }
    memmove(b, b + 1, (--t->n - at) * sizeof *b);
    if (t->n) {
        free(l);
        return;
    }
    t->spare = l; /* as a rule one operation follows another */
    t->longest = 0;
}

void check_tree_drop(struct check_tree *t)
{
    for (size_t i = 0; i < t->n; i++) free(t->v[i].leaf);
    free(t->v);
    free(t->spare);
    *t = (struct check_tree){0};
}

bool check_tree_each(const struct check_tree *t, uintptr_t lo, uintptr_t hi, check_node_fn *fn, void *arg)
{
    if (!t->n) return false;
    uintptr_t first = lo > t->longest ? lo - t->longest : 0; /* what begins before ends before lo */
    for (size_t i = leaf_find(t, first, NULL); i < t->n && t->v[i].lo < hi; i++) {
        const struct check_leaf *l = t->v[i].leaf;
        if (t->v[i].reach <= lo) continue;
        for (const struct entry *e = l->v + place_find(l, first, NULL); e < l->v + l->n && e->lo < hi; e++)
            if (e->hi > lo && fn(e->node, arg)) return true;
    }
    return false;
}

const char *check_tree_broken(const struct check_tree *t)
{
    const struct entry *last = NULL;
    for (size_t i = 0; i < t->n; i++) {
        const struct check_leaf *l = t->v[i].leaf;
        uintptr_t reach = 0;
        if (l->n < 1 || l->n > LEAF) return "T1: a leaf is empty or too full";
        for (const struct entry *e = l->v; e < l->v + l->n; last = e++) {
            if (last && !is_before(last, e->lo, e->node)) return "T1: intervals are not in order";
            if (e->lo != e->node->lo || e->hi != e->node->hi) return "an interval is not that of its node";
            if (e->hi - e->lo > t->longest) return "T2: an interval is longer than `longest`";
            if (e->hi > reach) reach = e->hi;
        }
        if (t->v[i].lo != l->v[0].lo || t->v[i].reach != reach) return "T2: lo or reach of a leaf";
    }
    return NULL;
}
