/* check_tree.c -- intervals of addresses, ordered: a treap in which every node knows how far its subtree reaches.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

static void update(struct check_node *n)
{
    n->reach = n->hi;
    if (n->left && n->left->reach > n->reach) n->reach = n->left->reach;
    if (n->right && n->right->reach > n->reach) n->reach = n->right->reach;
}

static bool is_before(const struct check_node *a, const struct check_node *b)
{
    return a->lo != b->lo ? a->lo < b->lo : (uintptr_t)a < (uintptr_t)b;
}

/* What is before `by`, and the rest. */
static void split(struct check_node *n, const struct check_node *by, struct check_node **before_out, struct check_node **rest_out)
{
    if (!n) {
        *before_out = *rest_out = NULL;
    } else if (is_before(n, by)) {
        split(n->right, by, &n->right, rest_out);
        *before_out = n;
        update(n);
    } else {
        split(n->left, by, before_out, &n->left);
        *rest_out = n;
        update(n);
    }
}

/* All of a is before all of b. */
static struct check_node *merge(struct check_node *a, struct check_node *b)
{
    if (!a || !b) return a ? a : b;
    struct check_node *top = a->weight > b->weight ? a : b;
    if (top == a)
        a->right = merge(a->right, b);
    else
        b->left = merge(a, b->left);
    update(top);
    return top;
}

void check_tree_add(struct check_tree *t, struct check_node *n)
{
    struct check_node **at = &t->root;
    n->weight = (t->n_added++ + 1) * 0x9e3779b97f4a7c15u;
    n->weight = (n->weight ^ n->weight >> 32) * 0xd6e8feb86659fd93u;
    while (*at && (*at)->weight >= n->weight) {
        if (n->hi > (*at)->reach) (*at)->reach = n->hi;
        at = is_before(n, *at) ? &(*at)->left : &(*at)->right;
    }
    split(*at, n, &n->left, &n->right);
    update(n);
    *at = n;
}

void check_tree_extend(struct check_tree *t, struct check_node *n, uintptr_t hi)
{
    for (struct check_node *at = t->root; at != n; at = is_before(n, at) ? at->left : at->right)
        if (hi > at->reach) at->reach = hi;
    n->hi = hi;
    update(n);
}

static struct check_node *without(struct check_node *top, const struct check_node *n)
{
    assert(top);
    if (top == n) return merge(n->left, n->right);
    if (is_before(n, top))
        top->left = without(top->left, n);
    else
        top->right = without(top->right, n);
    update(top);
    return top;
}

void check_tree_remove(struct check_tree *t, struct check_node *n) { t->root = without(t->root, n); }

static bool each(struct check_node *n, uintptr_t lo, uintptr_t hi, check_node_fn *fn, void *arg)
{
    if (!n || n->reach <= lo) return false;
    if (each(n->left, lo, hi, fn, arg)) return true;
    if (n->lo >= hi) return false;
    if (n->hi > lo && fn(n, arg)) return true;
    return each(n->right, lo, hi, fn, arg);
}

bool check_tree_each(const struct check_tree *t, uintptr_t lo, uintptr_t hi, check_node_fn *fn, void *arg)
{
    return each(t->root, lo, hi, fn, arg);
}
