/* attr_test.c -- attributes, their callbacks, keyvals; error handlers.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "obj/obj.h"

#include <pthread.h>
#include <stdio.h>

#include "../../test/unit.h"

static struct gw_obj comm = {.kind = GW_KIND_COMM}, comm2 = {.kind = GW_KIND_COMM}, type = {.kind = GW_KIND_TYPE};
static char calls[256]; /* what was called, in order */
static int answer = GW_OK;
static struct gw_attrs *delete_inside; /* the delete function also deletes `inside_key` here */
static int inside_key;

static void any_function(void) {}

static void note(const char *word, void *value)
{
    size_t n = strlen(calls);
    snprintf(calls + n, sizeof calls - n, "%s%d ", word, (int)(intptr_t)value);
}

/* Stands for the door: copies a value as ten times itself; odd ones are not copied. */
static int call_copy(const struct gw_keyval *kv, struct gw_obj *owner, void *in, void *out, int *flag_out)
{
    CHECK(owner == &comm && kv->extra_state == calls);
    note("copy", in);
    *flag_out = (intptr_t)in % 2 == 0;
    *(void **)out = (void *)((intptr_t)in * 10);
    return answer;
}

static int call_delete(const struct gw_keyval *kv, struct gw_obj *owner, void *value)
{
    CHECK(kv->extra_state == calls && (owner == &comm || owner == &comm2));
    note("del", value);
    if (delete_inside) {
        struct gw_attrs *a = delete_inside;
        delete_inside = NULL;
        CHECK_EQ(gw_attr_delete(a, owner, inside_key), GW_OK);
    }
    return answer;
}

static int key_make(void (*copy)(void), void (*del)(void))
{
    int key = -1;
    CHECK_EQ(gw_keyval_create(GW_KIND_COMM, copy, del, calls, &key), GW_OK);
    CHECK(key > 4096);
    return key;
}

static intptr_t value_of(struct gw_attrs *a, struct gw_obj *owner, int key)
{
    void *value = (void *)-7;
    int flag = -1;
    CHECK_EQ(gw_attr_get(a, owner, key, &value, &flag), GW_OK);
    return flag ? (intptr_t)value : -1;
}

static void test_set_get_delete(void)
{
    struct gw_attrs a = {0};
    int key = key_make(GW_ATTR_FN_NULL, any_function), other = key_make(GW_ATTR_FN_DUP, GW_ATTR_FN_NULL);
    calls[0] = 0;
    CHECK_EQ(value_of(&a, &comm, key), -1);
    CHECK_EQ(gw_attr_set(&a, &comm, key, (void *)1), GW_OK);
    CHECK_EQ(gw_attr_set(&a, &comm, other, (void *)2), GW_OK);
    CHECK_EQ(value_of(&a, &comm, key), 1);
    CHECK_EQ(gw_attr_set(&a, &comm, key, (void *)3), GW_OK); /* the old value is deleted first */
    CHECK_STR(calls, "del1 ");
    CHECK_EQ(value_of(&a, &comm, key), 3);
    answer = GW_EOTHER;
    CHECK_EQ(gw_attr_set(&a, &comm, key, (void *)4), GW_EOTHER); /* refused: nothing changed */
    CHECK_EQ(gw_attr_delete(&a, &comm, key), GW_EOTHER);
    answer = GW_OK;
    CHECK_EQ(value_of(&a, &comm, key), 3);
    CHECK_EQ(gw_attr_delete(&a, &comm, key), GW_OK);
    CHECK_STR(calls, "del1 del3 del3 del3 ");
    CHECK_EQ(value_of(&a, &comm, key), -1);
    CHECK_EQ(gw_attr_delete(&a, &comm, key), GW_EKEYVAL);
    CHECK_EQ(value_of(&a, &comm, other), 2);
    CHECK_EQ(gw_attr_delete_all(&a, &comm), GW_OK);
    CHECK(a.head == NULL);
    CHECK_EQ(gw_keyval_free(&key, GW_KIND_COMM), GW_OK);
    CHECK_EQ(key, GW_KEYVAL_INVALID);
    CHECK_EQ(gw_keyval_free(&other, GW_KIND_COMM), GW_OK);
}

static void test_copy_and_order(void)
{
    struct gw_attrs a = {0}, b = {0};
    int k1 = key_make(any_function, any_function), k2 = key_make(any_function, any_function),
        k3 = key_make(GW_ATTR_FN_DUP, any_function), k4 = key_make(GW_ATTR_FN_NULL, any_function);
    gw_attr_set(&a, &comm, k1, (void *)2);
    gw_attr_set(&a, &comm, k2, (void *)3);
    gw_attr_set(&a, &comm, k3, (void *)4);
    gw_attr_set(&a, &comm, k4, (void *)5);
    calls[0] = 0;
    CHECK_EQ(gw_attr_copy_all(&a, &comm, &b), GW_OK);
    CHECK_STR(calls, "copy2 copy3 ");
    CHECK_EQ(value_of(&b, &comm2, k1), 20);
    CHECK_EQ(value_of(&b, &comm2, k2), -1);
    CHECK_EQ(value_of(&b, &comm2, k3), 4);
    CHECK_EQ(value_of(&b, &comm2, k4), -1);
    calls[0] = 0;
    CHECK_EQ(gw_attr_delete_all(&b, &comm2), GW_OK);
    CHECK_STR(calls, "del4 del20 ");
    answer = GW_EOTHER;
    CHECK_EQ(gw_attr_copy_all(&a, &comm, &b), GW_EOTHER);
    CHECK(b.head == NULL);
    CHECK_EQ(gw_attr_delete_all(&a, &comm), GW_EOTHER); /* the newest refuses, all are still there */
    answer = GW_OK;
    CHECK_EQ(value_of(&a, &comm, k4), 5);
    calls[0] = 0;
    delete_inside = &a;
    inside_key = k4; /* from inside the delete function of k4 itself */
    CHECK_EQ(gw_attr_delete_all(&a, &comm), GW_OK);
    CHECK_STR(calls, "del5 del5 del4 del3 del2 ");
    /* the four keyvals are left for gw_obj_finalize() */
}

static void test_keyvals(void)
{
    struct gw_attrs a = {0};
    void *value;
    int flag, key = key_make(GW_ATTR_FN_DUP, GW_ATTR_FN_NULL), copy = key;
    CHECK_EQ(gw_attr_set(&a, &comm, key, (void *)6), GW_OK);
    CHECK_EQ(gw_attr_set(&a, &type, key, NULL), GW_EKEYVAL); /* of another kind */
    CHECK_EQ(gw_keyval_free(&copy, GW_KIND_TYPE), GW_EKEYVAL);
    CHECK_EQ(gw_keyval_free(&copy, GW_KIND_COMM), GW_OK);
    CHECK_EQ(value_of(&a, &comm, key), 6); /* in use: lives on */
    copy = key;
    CHECK_EQ(gw_keyval_free(&copy, GW_KIND_COMM), GW_EKEYVAL);
    CHECK_EQ(gw_attr_set(&a, &comm, key, (void *)7), GW_EKEYVAL);
    CHECK_EQ(gw_attr_delete(&a, &comm, key), GW_OK);
    CHECK_EQ(gw_attr_get(&a, &comm, key, &value, &flag), GW_EKEYVAL); /* gone with its last use */
    CHECK_EQ(gw_attr_get(&a, &comm, GW_KEYVAL_INVALID, &value, &flag), GW_EKEYVAL);
    CHECK_EQ(gw_attr_get(&a, &comm, -12345, &value, &flag), GW_EKEYVAL);

    CHECK_EQ(gw_attr_get(&a, &comm, GW_TAG_UB, &value, &flag), GW_OK);
    CHECK_EQ(flag, 0);
    gw_attr_predefined_set(GW_TAG_UB, 123);
    CHECK_EQ(gw_attr_get(&a, &comm, GW_TAG_UB, &value, &flag), GW_OK);
    CHECK(flag == 1 && *(int *)value == 123);
    CHECK_EQ(gw_attr_get(&a, &type, GW_TAG_UB, &value, &flag), GW_EKEYVAL);
    CHECK_EQ(gw_attr_set(&a, &comm, GW_TAG_UB, value), GW_EKEYVAL);
    CHECK_EQ(gw_attr_delete(&a, &comm, GW_TAG_UB), GW_EKEYVAL);
    copy = GW_TAG_UB;
    CHECK_EQ(gw_keyval_free(&copy, GW_KIND_COMM), GW_EKEYVAL);
    CHECK_EQ(gw_attr_get(&a, &comm, GW_TAG_UB, &value, &flag), GW_OK);
    CHECK(flag == 1 && *(int *)value == 123); /* as before */
}

static void test_errhandlers(void)
{
    struct gw_errhandler *eh, *fatal = &gw_errors_are_fatal;
    CHECK_EQ(gw_errhandler_create(GW_KIND_COMM, NULL, &eh), GW_EARG);
    CHECK_EQ(gw_errhandler_create(GW_KIND_COMM, any_function, &eh), GW_OK);
    uint32_t id = eh->obj.id;
    CHECK(gw_obj_lookup(id, GW_KIND_ERRHANDLER) == &eh->obj);
    struct gw_errhandler *held = gw_errhandler_hold(eh);
    CHECK_EQ(gw_errhandler_free(&eh), GW_OK);
    CHECK(eh == NULL);
    CHECK(gw_obj_lookup(id, GW_KIND_ERRHANDLER) == &held->obj);
    CHECK(held->user.fn == any_function && held->applies_to == GW_KIND_COMM);
    gw_errhandler_release(held);
    CHECK(gw_obj_lookup(id, GW_KIND_ERRHANDLER) == NULL);
    CHECK(gw_errhandler_hold(fatal) == fatal);
    gw_errhandler_release(fatal);
    gw_errhandler_release(fatal);
    CHECK(gw_obj_lookup(GW_H_ERRORS_ARE_FATAL, GW_KIND_ERRHANDLER) == &fatal->obj);
    CHECK_EQ(gw_errhandler_create(GW_KIND_WIN, any_function, &eh), GW_OK);
    CHECK_EQ(gw_errhandler_free(&eh), GW_OK);
}

/* Several threads on one object: each has keys of its own and copies what all of them set. */
static struct gw_attrs shared;

static void *churn(void *arg)
{
    int key = -1;
    CHECK_EQ(gw_keyval_create(GW_KIND_COMM, GW_ATTR_FN_DUP, GW_ATTR_FN_NULL, NULL, &key), GW_OK);
    for (int i = 0; i < 500; i++) {
        struct gw_attrs copy = {0};
        CHECK_EQ(gw_attr_set(&shared, &comm, key, arg), GW_OK);
        CHECK_EQ(gw_attr_copy_all(&shared, &comm, &copy), GW_OK);
        CHECK(value_of(&copy, &comm2, key) == (intptr_t)arg);
        CHECK_EQ(gw_attr_delete_all(&copy, &comm2), GW_OK);
        CHECK_EQ(gw_attr_delete(&shared, &comm, key), GW_OK);
    }
    CHECK_EQ(gw_keyval_free(&key, GW_KIND_COMM), GW_OK);
    return NULL;
}

static void test_threads(void)
{
    pthread_t t[4];
    for (intptr_t i = 0; i < 4; i++) CHECK_EQ(pthread_create(&t[i], NULL, churn, (void *)(i + 1)), 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    CHECK(shared.head == NULL);
}

int main(void)
{
    obj_upcalls.attr_copy = call_copy;
    obj_upcalls.attr_delete = call_delete;
    test_set_get_delete();
    test_copy_and_order();
    test_keyvals();
    test_errhandlers();
    test_threads();
    gw_obj_finalize();
    return unit_end();
}
