/* signature_test.c -- type signatures: equal for equal sequences however they are built, for every length, and only for those.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/type.h"
#include "base/base.h"

#include <stdlib.h>

#include "../../test/unit.h"

#define COUNTS(...) ((struct gw_counts){(const int64_t[]){__VA_ARGS__}, true})
static struct gw_type *named(uint32_t id) { return (struct gw_type *)gw_obj_lookup(id, GW_KIND_TYPE); }

static bool same(struct gw_type *a, int64_t na, struct gw_type *b, int64_t nb, int64_t limit)
{
    struct type_signature x = type_signature(a, na, limit), y = type_signature(b, nb, limit);
    return x.hash == y.hash && x.n == y.n;
}

/* One element each: the sequence that a random type must have. */
struct flat {
    uint32_t ids[4096];
    int64_t n;
};
static const uint32_t basics[] = {GW_H_INT, GW_H_DOUBLE, GW_H_FLOAT, GW_H_CHAR, GW_H_INT64_T, GW_H_BYTE};

static void flat_copies(struct flat *to, const struct flat *of, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = 0; i < of->n; i++) to->ids[to->n++] = of->ids[i];
}

static struct gw_type *flat_type(const struct flat *f)
{
    int64_t ones[4096], places[4096];
    struct gw_type *types[4096], *t;
    for (int64_t i = 0; i < f->n; i++) ones[i] = 1, places[i] = 16 * i, types[i] = named(f->ids[i]);
    CHECK_EQ(type_struct(f->n, (struct gw_counts){ones, true}, (struct gw_counts){places, true}, types, &t), GW_OK);
    return t;
}

/* A random type and the sequence of its elements, at most 300. */
static struct gw_type *any_type(int depth, struct flat *f)
{
    struct gw_type *t, *parts[3];
    static struct flat inner[4];
    f->n = 0;
    if (depth == 0) {
        f->ids[f->n++] = basics[rand() % (int)GW_ARRAY_LEN(basics)];
        return named(f->ids[0]);
    }
    struct flat *in = &inner[depth];
    int how = rand() % 3, n = 1 + rand() % 3, len = 1 + rand() % 2;
    if (how == 0) {
        parts[0] = any_type(depth - 1, in);
        CHECK_EQ(type_contiguous(n, parts[0], &t), GW_OK);
        flat_copies(f, in, n);
    } else if (how == 1) {
        parts[0] = any_type(depth - 1, in);
        CHECK_EQ(type_hvector(n, len, 5000, parts[0], &t), GW_OK);
        flat_copies(f, in, (int64_t)n * len);
    } else {
        int64_t lens[3], places[3];
        for (int i = 0; i < n; i++) {
            parts[i] = any_type(depth - 1, in);
            lens[i] = rand() % 3;
            places[i] = 9000 * (n - i);
            flat_copies(f, in, lens[i]);
        }
        CHECK_EQ(type_struct(n, (struct gw_counts){lens, true}, (struct gw_counts){places, true}, parts, &t), GW_OK);
    }
    for (int i = 0; i < (how == 2 ? n : 1); i++)
        if (!parts[i]->obj.predefined) type_free(&parts[i]);
    return t;
}

static void test_random(void)
{
    static struct flat f, many;
    for (int round = 0; round < 2000; round++) {
        srand((unsigned)round);
        struct gw_type *t = any_type(1 + round % 3, &f);
        int64_t count = f.n > 300 || f.n == 0 ? 1 : 1 + rand() % 3;
        many.n = 0;
        flat_copies(&many, &f, count);
        struct gw_type *plain = flat_type(&many);
        CHECK_EQ(type_signature(t, count, INT64_MAX).n, many.n);
        for (int64_t k = 0; k <= many.n + 1; k += 1 + many.n / 50) CHECK(same(t, count, plain, 1, k));
        CHECK(same(t, count, plain, 1, INT64_MAX));
        if (many.n > 0) { /* another element anywhere, or two in another order, is another sequence */
            int64_t at = rand() % many.n;
            many.ids[at] = many.ids[at] == GW_H_INT ? GW_H_FLOAT : GW_H_INT;
            struct gw_type *other = flat_type(&many);
            CHECK(!same(t, count, other, 1, INT64_MAX));
            CHECK(!same(t, count, other, 1, at + 1));
            CHECK(same(t, count, other, 1, at));
            type_free(&other);
        }
        if (!t->obj.predefined) type_free(&t);
        type_free(&plain);
    }
}

static void test_kinds(void)
{
    struct gw_type *t, *packed = named(GW_H_PACKED);
    CHECK(same(named(GW_H_INT), 3, named(GW_H_INT32_T), 3, INT64_MAX));
    CHECK(!same(named(GW_H_INT), 3, named(GW_H_FLOAT), 3, INT64_MAX));
    CHECK(!same(named(GW_H_INT), 3, named(GW_H_UNSIGNED), 3, INT64_MAX));
    CHECK(!same(named(GW_H_INT), 3, named(GW_H_INT), 4, INT64_MAX));
    CHECK(same(named(GW_H_INT), 3, named(GW_H_INT), 4, 3));
    CHECK(!same(named(GW_H_CHAR), 4, named(GW_H_BYTE), 4, INT64_MAX));
    /* A pair is two elements, also cut in the middle. */
    struct gw_type *two[] = {named(GW_H_DOUBLE), named(GW_H_INT)};
    CHECK_EQ(type_struct(2, COUNTS(1, 1), COUNTS(0, 8), two, &t), GW_OK);
    for (int64_t k = 0; k < 8; k++) CHECK(same(t, 3, named(GW_H_DOUBLE_INT), 3, k));
    type_free(&t);
    /* Counts cost nothing. */
    CHECK_EQ(type_contiguous((int64_t)1 << 40, gw_type_int, &t), GW_OK);
    CHECK(same(t, 1 << 20, gw_type_int, (int64_t)1 << 60, INT64_MAX));
    CHECK(same(t, 1 << 20, gw_type_int, ((int64_t)1 << 60) - 1, ((int64_t)1 << 60) - 1));
    CHECK(!same(t, 1 << 20, gw_type_int, ((int64_t)1 << 60) - 1, INT64_MAX));
    type_free(&t);
    struct gw_type *mixed[] = {gw_type_int, packed};
    CHECK(type_has_packed(packed) && !type_has_packed(gw_type_int));
    CHECK_EQ(type_struct(2, COUNTS(1, 0), COUNTS(0, 8), mixed, &t), GW_OK);
    CHECK(!type_has_packed(t));
    type_free(&t);
    CHECK_EQ(type_struct(2, COUNTS(1, 2), COUNTS(0, 8), mixed, &t), GW_OK);
    CHECK(type_has_packed(t));
    type_free(&t);
}

int main(void)
{
    CHECK_EQ(type_init(), GW_OK);
    test_random();
    test_kinds();
    type_finalize();
    return unit_end();
}
