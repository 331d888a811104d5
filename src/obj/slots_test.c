/* slots_test.c -- ids: lookup of live, dead, wrong and garbage ones; generations; many threads.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "obj/obj.h"
#include "base/lock.h"

#include <pthread.h>
#include <stdlib.h>

#include "../../test/unit.h"

static void test_lookup(void)
{
    struct gw_obj a = {0}, b = {0}, p = {0};
    CHECK_EQ(gw_obj_register(&a, GW_KIND_COMM), GW_OK);
    CHECK_EQ(gw_obj_register(&b, GW_KIND_GROUP), GW_OK);
    CHECK(a.id > 1u << 22 && (int32_t)a.id > 0 && (int32_t)b.id > 0 && a.id != b.id);
    CHECK(gw_obj_lookup(a.id, GW_KIND_COMM) == &a);
    CHECK(gw_obj_lookup(a.id, GW_KIND_GROUP) == NULL);
    CHECK(gw_obj_lookup(b.id, GW_KIND_GROUP) == &b);
    CHECK(gw_obj_lookup(a.id + 1, GW_KIND_COMM) == NULL);
    CHECK(gw_obj_lookup(a.id ^ 1u << 21, GW_KIND_COMM) == NULL);
    CHECK(gw_obj_lookup(a.id | 1ull << 32, GW_KIND_COMM) == NULL);
    for (uint64_t bits = 1; bits; bits <<= 1) {
        CHECK(gw_obj_lookup(~bits, GW_KIND_COMM) == NULL);
        if (bits > a.id) CHECK(gw_obj_lookup(bits, GW_KIND_COMM) == NULL);
    }
    CHECK(gw_obj_lookup(UINT64_MAX, GW_KIND_COMM) == NULL);
    gw_obj_predefine(&p, GW_KIND_COMM, 257);
    CHECK(gw_obj_lookup(257, GW_KIND_COMM) == &p);
    CHECK(gw_obj_lookup(257, GW_KIND_TYPE) == NULL);
    CHECK(gw_obj_lookup(258, GW_KIND_COMM) == NULL);
    gw_obj_ref(&p);
    CHECK(!gw_obj_unref(&p) && !gw_obj_unref(&p) && !gw_obj_unref(&p));
    gw_obj_ref(&a);
    CHECK(!gw_obj_unref(&a));
    CHECK(gw_obj_unref(&a));
    uint32_t id = a.id;
    gw_obj_unregister(&a);
    CHECK(gw_obj_lookup(id, GW_KIND_COMM) == NULL);
    CHECK_EQ(a.id, 0);
    gw_obj_unregister(&b);
    gw_obj_unregister(&p);
    CHECK(gw_obj_lookup(257, GW_KIND_COMM) == NULL);
    CHECK(gw_obj_lookup(GW_H_ERRORS_RETURN, GW_KIND_ERRHANDLER) == &gw_errors_return.obj);
}

/* How many frees it takes until an id comes back. */
static int uses_until_back(struct gw_obj *o, int most)
{
    uint32_t first = o->id;
    int uses = 0;
    do {
        gw_obj_unregister(o);
        CHECK_EQ(gw_obj_register(o, GW_KIND_INFO), GW_OK);
        uses++;
    } while (o->id != first && uses < most);
    return uses;
}

/* An id does not come back for some thousand frees; with GODWIT_CHECK, for hundreds of thousands. */
static void test_generations(void)
{
    struct gw_obj o = {0};
    CHECK_EQ(gw_obj_register(&o, GW_KIND_INFO), GW_OK);
    uint32_t first = o.id;
    int uses = uses_until_back(&o, 100000);
    CHECK(uses > 4000 && uses < 100000);
    gw_checking = true;
    uses = uses_until_back(&o, 2000000);
    CHECK(uses > 400000 && uses < 2000000);
    gw_checking = false;
    first = o.id;
    gw_obj_renew(&o);
    CHECK(o.id != first);
    CHECK(gw_obj_lookup(first, GW_KIND_INFO) == NULL);
    CHECK(gw_obj_lookup(o.id, GW_KIND_INFO) == &o);
    for (int i = 1; i < 32; i++) gw_obj_renew(&o);
    CHECK_EQ(o.id, first);
    gw_obj_unregister(&o);
}

enum { MANY = 5000 };

static void test_many(void)
{
    struct gw_obj *o = calloc(MANY, sizeof *o);
    for (int i = 0; i < MANY; i++) CHECK_EQ(gw_obj_register(&o[i], GW_KIND_REQ), GW_OK);
    for (int i = 0; i < MANY; i++) CHECK(gw_obj_lookup(o[i].id, GW_KIND_REQ) == &o[i]);
    for (int i = 0; i < MANY; i += 2) gw_obj_unregister(&o[i]);
    for (int i = 1; i < MANY; i += 2) CHECK(gw_obj_lookup(o[i].id, GW_KIND_REQ) == &o[i]);
    for (int i = 0; i < MANY; i += 2) CHECK_EQ(gw_obj_register(&o[i], GW_KIND_REQ), GW_OK);
    for (int i = 0; i < MANY; i++) CHECK(gw_obj_lookup(o[i].id, GW_KIND_REQ) == &o[i]);
    for (int i = 0; i < MANY; i++) gw_obj_unregister(&o[i]);
    free(o);
}

static void *churn(void *arg)
{
    (void)arg;
    enum { HELD = 40 };
    struct gw_obj o[HELD] = {{0}};
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < HELD; i++) CHECK_EQ(gw_obj_register(&o[i], GW_KIND_OP), GW_OK);
        for (int i = 0; i < HELD; i++) CHECK(gw_obj_lookup(o[i].id, GW_KIND_OP) == &o[i]);
        for (int i = 0; i < HELD; i++) gw_obj_unregister(&o[i]);
    }
    return NULL;
}

static void test_threads(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++) CHECK_EQ(pthread_create(&t[i], NULL, churn, NULL), 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
}

int main(void)
{
    test_lookup();
    test_generations();
    test_many();
    test_threads();
    gw_obj_finalize();
    test_lookup(); /* works again */
    gw_obj_finalize();
    return unit_end();
}
