/* check_tree_test.c -- intervals against a plain array: what overlaps is found, in order, whatever was added and removed before.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

#include <stdlib.h>

#include "unit.h"

enum { N = 2000, ROUNDS = 30000 };
static struct check_node node[N];
static bool is_in[N];
static uint32_t state = 12345;

static uint32_t random_below(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

struct found {
    int n;
    uintptr_t last;
    bool ordered;
    int stop_after;
};
static bool take(struct check_node *n, void *arg)
{
    struct found *f = arg;
    f->ordered = f->ordered && n->lo >= f->last;
    f->last = n->lo;
    return ++f->n == f->stop_after;
}

static void look(const struct check_tree *t, uintptr_t lo, uintptr_t hi)
{
    struct found f = {.ordered = true}, one = {.ordered = true, .stop_after = 1};
    int want = 0;
    for (int i = 0; i < N; i++) want += is_in[i] && node[i].lo < hi && node[i].hi > lo;
    CHECK(!check_tree_each(t, lo, hi, take, &f));
    CHECK(f.n == want && f.ordered);
    CHECK(check_tree_each(t, lo, hi, take, &one) == (want > 0));
    CHECK(one.n == (want > 0));
}

int main(void)
{
    struct check_tree t = {0};
    for (int k = 0; k < ROUNDS; k++) {
        int i = (int)random_below(N);
        if (is_in[i]) {
            check_tree_remove(&t, &node[i]);
        } else {
            node[i].lo = 1000 + random_below(500); /* many begin at one place */
            node[i].hi = node[i].lo + 1 + random_below(random_below(20) ? 8 : 400);
            check_tree_add(&t, &node[i]);
        }
        is_in[i] = !is_in[i];
        uintptr_t lo = 990 + random_below(930);
        look(&t, lo, lo + 1 + random_below(60));
        if (k % 64 == 0) CHECK(check_tree_broken(&t) == NULL);
    }
    for (int i = 0; i < N; i++)
        if (is_in[i]) check_tree_remove(&t, &node[i]);
    CHECK(t.n == 0 && t.spare);
    enum { MANY = 100000 };
    struct check_node *many = calloc(MANY, sizeof *many);
    for (uintptr_t i = 0; i < MANY; i++) {
        many[i].lo = i * 8, many[i].hi = i * 8 + 8;
        check_tree_add(&t, &many[i]);
    }
    CHECK(t.n < MANY / 32 && check_tree_broken(&t) == NULL);
    struct found f = {.ordered = true};
    check_tree_each(&t, 80, 96, take, &f);
    CHECK(f.n == 2);
    check_tree_extend(&t, &many[3], 96);
    f = (struct found){.ordered = true};
    check_tree_each(&t, 80, 96, take, &f);
    CHECK(f.n == 3 && f.ordered);
    check_tree_drop(&t);
    CHECK(t.n == 0);
    free(many);
    return unit_end();
}
