/* group_test.c -- groups against lists of world ranks, by brute force.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "boot/boot.h"

#include "../../test/unit.h"

enum { WORLD = 24, ROUNDS = 4000, ME = 5 };

static uint64_t state = 0x2545f4914f6cdd1du;
static int rnd(int lo, int hi)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return lo + (int)((state >> 11) % (uint64_t)(hi - lo + 1));
}

struct list {
    int n;
    int32_t w[2 * WORLD];
};

static int find(const struct list *l, int32_t w)
{
    for (int i = 0; i < l->n; i++)
        if (l->w[i] == w) return i;
    return GW_UNDEFINED;
}

/* Distinct world ranks: progressions (either way, any step) and arbitrary orders. */
static struct list random_list(void)
{
    struct list l = {0};
    if (rnd(0, 2) == 0) {
        int first = rnd(0, WORLD - 1), step = (int[]){-3, -2, -1, 1, 2, 3}[rnd(0, 5)], n = rnd(0, WORLD);
        for (int w = first; l.n < n && w >= 0 && w < WORLD; w += step) l.w[l.n++] = w;
        return l;
    }
    for (int n = rnd(0, WORLD); l.n < n;) {
        int32_t w = rnd(0, WORLD - 1);
        if (find(&l, w) == GW_UNDEFINED) l.w[l.n++] = w;
    }
    return l;
}

static struct gw_group *group_of(const struct list *l)
{
    struct gw_group *g = NULL;
    CHECK_EQ(group_from_map(l->n, l->w, &g), GW_OK);
    return g;
}

static void check_group(struct gw_group *g, const struct list *l)
{
    int size, rank;
    CHECK_EQ(group_size(g, &size), GW_OK);
    CHECK_EQ(size, l->n);
    CHECK_EQ(group_rank(g, &rank), GW_OK);
    CHECK_EQ(rank, find(l, ME));
    for (int i = 0; i < l->n && i < size; i++) CHECK_EQ(group_world(g, i), l->w[i]);
    if (l->n == 0) CHECK(g == &gw_group_empty);
}

static void check_and_free(struct gw_group *g, const struct list *l)
{
    check_group(g, l);
    CHECK_EQ(group_free(&g), GW_OK);
    CHECK(g == NULL);
}

static void test_sets(struct gw_group *a, const struct list *la, struct gw_group *b, const struct list *lb)
{
    struct gw_group *g;
    struct list u = *la, i = {0}, d = {0};
    for (int k = 0; k < lb->n; k++)
        if (find(la, lb->w[k]) == GW_UNDEFINED) u.w[u.n++] = lb->w[k];
    for (int k = 0; k < la->n; k++) {
        struct list *to = find(lb, la->w[k]) == GW_UNDEFINED ? &d : &i;
        to->w[to->n++] = la->w[k];
    }
    CHECK_EQ(group_union(a, b, &g), GW_OK);
    check_and_free(g, &u);
    CHECK_EQ(group_intersection(a, b, &g), GW_OK);
    check_and_free(g, &i);
    CHECK_EQ(group_difference(a, b, &g), GW_OK);
    check_and_free(g, &d);
}

static void test_compare(struct gw_group *a, const struct list *la, struct gw_group *b, const struct list *lb)
{
    int got, want = la->n == lb->n ? GW_IDENT : GW_UNEQUAL;
    for (int k = 0; k < la->n && want != GW_UNEQUAL; k++) {
        int at = find(lb, la->w[k]);
        want = at == GW_UNDEFINED ? GW_UNEQUAL : at != k ? GW_SIMILAR : want;
    }
    CHECK_EQ(group_compare(a, b, &got), GW_OK);
    CHECK_EQ(got, want);
    struct list shuffled = *la;
    for (int k = la->n - 1; k > 0; k--) {
        int j = rnd(0, k), w = shuffled.w[k];
        shuffled.w[k] = shuffled.w[j], shuffled.w[j] = w;
    }
    struct gw_group *s = group_of(&shuffled), *same = group_of(la);
    CHECK_EQ(group_compare(a, s, &got), GW_OK);
    CHECK_EQ(got, memcmp(la->w, shuffled.w, sizeof *la->w * (size_t)la->n) ? GW_SIMILAR : GW_IDENT);
    CHECK_EQ(group_compare(a, same, &got), GW_OK);
    CHECK_EQ(got, GW_IDENT);
    group_free(&s), group_free(&same);
}

static void test_translate(struct gw_group *a, const struct list *la, struct gw_group *b, const struct list *lb)
{
    int ranks[WORLD + 1], got[WORLD + 1], n = 0;
    for (int k = 0; k < la->n; k++) ranks[n++] = rnd(0, la->n - 1);
    ranks[n++] = GW_PROC_NULL;
    CHECK_EQ(group_translate_ranks(a, n, ranks, b, got), GW_OK);
    for (int k = 0; k < n - 1; k++) CHECK_EQ(got[k], find(lb, la->w[ranks[k]]));
    CHECK_EQ(got[n - 1], GW_PROC_NULL);
    ranks[0] = la->n;
    CHECK_EQ(group_translate_ranks(a, 1, ranks, b, got), GW_ERANK);
    ranks[0] = -1;
    if (GW_PROC_NULL != -1) CHECK_EQ(group_translate_ranks(a, 1, ranks, b, got), GW_ERANK);
}

static void test_pick(struct gw_group *a, const struct list *la)
{
    int ranks[WORLD + 2], n = 0;
    struct list in = {0}, out = {0};
    bool taken[WORLD] = {false};
    for (int k = 0, tries = la->n ? rnd(0, WORLD) : 0; k < tries; k++) {
        int r = rnd(0, la->n - 1);
        if (taken[r]) continue;
        taken[r] = true;
        ranks[n++] = r;
        in.w[in.n++] = la->w[r];
    }
    for (int r = 0; r < la->n; r++)
        if (!taken[r]) out.w[out.n++] = la->w[r];
    struct gw_group *g = NULL;
    CHECK_EQ(group_incl(a, n, ranks, &g), GW_OK);
    check_and_free(g, &in);
    CHECK_EQ(group_excl(a, n, ranks, &g), GW_OK);
    check_and_free(g, &out);
    if (n) { /* the same rank twice */
        ranks[n] = ranks[rnd(0, n - 1)];
        CHECK_EQ(group_incl(a, n + 1, ranks, &g), GW_ERANK);
        CHECK_EQ(group_excl(a, n + 1, ranks, &g), GW_ERANK);
    }
    ranks[n] = rnd(0, 1) ? la->n : -1;
    CHECK_EQ(group_incl(a, n + 1, ranks, &g), GW_ERANK);
    CHECK_EQ(group_excl(a, n + 1, ranks, &g), GW_ERANK);
}

static void test_ranges(struct gw_group *a, const struct list *la)
{
    int ranges[3][3], n = la->n ? rnd(0, 3) : 0, hits[WORLD] = {0};
    struct list in = {0}, out = {0};
    for (int i = 0; i < n; i++) {
        int first = rnd(0, la->n - 1), last = rnd(0, la->n - 1), stride = rnd(1, 5);
        if (last < first) stride = -stride;
        ranges[i][0] = first, ranges[i][1] = last, ranges[i][2] = stride;
        for (int r = first; stride > 0 ? r <= last : r >= last; r += stride)
            if (!hits[r]++) in.w[in.n++] = la->w[r];
    }
    bool twice = false;
    for (int r = 0; r < la->n; r++) {
        twice = twice || hits[r] > 1;
        if (!hits[r]) out.w[out.n++] = la->w[r];
    }
    struct gw_group *g = NULL;
    int rc = group_range_incl(a, n, ranges, &g), rc2;
    CHECK_EQ(rc, twice ? GW_ERANK : GW_OK);
    if (rc == GW_OK) check_and_free(g, &in);
    rc2 = group_range_excl(a, n, ranges, &g);
    CHECK_EQ(rc2, rc);
    if (rc2 == GW_OK) check_and_free(g, &out);
    if (la->n) {
        int bad[3][3] = {{0, 0, 0}, {0, la->n, 1}, {la->n, 0, -1}};
        CHECK_EQ(group_range_incl(a, 1, &bad[0], &g), GW_EARG);
        CHECK_EQ(group_range_incl(a, 1, &bad[1], &g), GW_ERANK);
        CHECK_EQ(group_range_excl(a, 1, &bad[2], &g), GW_ERANK);
        int far[1][3] = {{0, INT32_MAX, INT32_MAX}}, low[1][3] = {{0, INT32_MIN, INT32_MIN}}; /* no overflow on the way */
        CHECK_EQ(group_range_incl(a, 1, far, &g), GW_ERANK);
        CHECK_EQ(group_range_incl(a, 1, low, &g), GW_ERANK);
        int one[1][3] = {{la->n - 1, la->n - 1, INT32_MIN}};
        struct list last = {1, {la->w[la->n - 1]}};
        CHECK_EQ(group_range_incl(a, 1, one, &g), GW_OK);
        check_and_free(g, &last);
    }
}

static void test_alias(struct gw_group *a, const struct list *la)
{
    struct gw_group *x = NULL, *y = NULL;
    CHECK_EQ(group_alias(a, &x), GW_OK);
    CHECK_EQ(group_alias(x, &y), GW_OK);
    CHECK(la->n == 0 || (x != a && x->obj.id != a->obj.id));
    check_and_free(x, la);
    check_and_free(y, la);
    check_group(a, la);
    struct gw_group *mine = group_of(la);
    uint32_t id = mine->obj.id;
    CHECK_EQ(group_alias(mine, &x), GW_OK);
    CHECK_EQ(group_free(&mine), GW_OK); /* the alias keeps the list */
    if (la->n) CHECK(gw_obj_lookup(id, GW_KIND_GROUP) == NULL);
    check_and_free(x, la);
}

int main(void)
{
    gw_boot.rank = ME;
    gw_obj_predefine(&gw_group_empty.obj, GW_KIND_GROUP, GW_H_GROUP_EMPTY);
    for (int i = 0; i < ROUNDS && !unit_failures; i++) {
        struct list la = random_list(), lb = random_list();
        struct gw_group *a = group_of(&la), *b = group_of(&lb);
        check_group(a, &la);
        check_group(b, &lb);
        test_sets(a, &la, b, &lb);
        test_sets(a, &la, a, &la);
        test_compare(a, &la, b, &lb);
        test_translate(a, &la, b, &lb);
        test_pick(a, &la);
        test_ranges(a, &la);
        test_alias(a, &la);
        group_free(&a);
        group_free(&b);
        if (unit_failures) fprintf(stderr, "in round %d\n", i);
    }
    gw_obj_unregister(&gw_group_empty.obj);
    gw_obj_finalize();
    return unit_end();
}
