/* attr.c -- keyvals and attributes (MPI 4.1 section 7.7).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "obj/obj_private.h"

#include <stdlib.h>

/* Newest first, so that deleting from the head is the reverse order of setting. */
struct gw_attr {
    struct gw_attr *next;
    struct gw_keyval *keyval; /* referenced */
    void *value;
};

struct obj_upcalls obj_upcalls;

/* Over every list.  Never held while a user's function runs, so after such a call everything is looked up again. */
static struct gw_lock attr_lock;

/* ---- predefined attributes ---- */
enum { PREDEF_FIRST = GW_TAG_UB, PREDEF_LAST = GW_UNIVERSE_SIZE };
_Static_assert(GW_UNIVERSE_SIZE - GW_TAG_UB == 6, "the seven predefined keyvals of communicators are consecutive");
static struct {
    int value;
    bool is_set;
} predef[PREDEF_LAST - PREDEF_FIRST + 1];

static bool is_predef(int keyval) { return keyval >= PREDEF_FIRST && keyval <= PREDEF_LAST; }

void gw_attr_predefined_set(int keyval, int value)
{
    assert(is_predef(keyval));
    /* Programs read it where it is, also while another thread makes an error code. */
    __atomic_store_n(&predef[keyval - PREDEF_FIRST].value, value, __ATOMIC_RELAXED);
    if (!predef[keyval - PREDEF_FIRST].is_set) predef[keyval - PREDEF_FIRST].is_set = true;
}

/* ---- keyvals ---- */
int gw_keyval_create(enum gw_kind applies_to, void (*copy)(void), void (*del)(void), void *extra, int *keyval_out)
{
    assert(applies_to == GW_KIND_COMM || applies_to == GW_KIND_TYPE || applies_to == GW_KIND_WIN);
    struct gw_keyval *kv = calloc(1, sizeof *kv);
    if (!kv) return gw_fail(GW_ENOMEM, "no memory for an attribute key");
    kv->applies_to = (uint8_t)applies_to;
    kv->copy.fn = copy;
    kv->del.fn = del;
    kv->extra_state = extra;
    int rc = gw_obj_register(&kv->obj, GW_KIND_KEYVAL);
    if (rc) {
        free(kv);
        return rc;
    }
    *keyval_out = (int)kv->obj.id;
    return GW_OK;
}

void gw_keyval_destroy(struct gw_obj *o)
{
    gw_obj_unregister(o);
    free(container_of(o, struct gw_keyval, obj));
}

static void keyval_release(struct gw_keyval *kv)
{
    if (gw_obj_unref(&kv->obj)) gw_keyval_destroy(&kv->obj);
}

static const char *kind_word(enum gw_kind kind)
{
    return kind == GW_KIND_COMM ? "communicator" : kind == GW_KIND_TYPE ? "datatype" : "window";
}

/* The keyval for objects of this kind, or NULL after gw_fail(). */
static struct gw_keyval *keyval_find(int keyval, enum gw_kind kind)
{
    struct gw_obj *o = keyval > 0 ? gw_obj_lookup((uint64_t)keyval, GW_KIND_KEYVAL) : NULL;
    struct gw_keyval *kv = o ? container_of(o, struct gw_keyval, obj) : NULL;
    if (!kv)
        gw_fail(GW_EKEYVAL,
                keyval == GW_KEYVAL_INVALID ? "the attribute key is MPI_KEYVAL_INVALID"
                                            : "%d is not an attribute key (never created, or freed)",
                keyval);
    else if (kv->applies_to != kind)
        gw_fail(GW_EKEYVAL, "attribute key %d was made for a %s, not for a %s", keyval, kind_word(kv->applies_to), kind_word(kind));
    return kv && kv->applies_to == kind ? kv : NULL;
}

int gw_keyval_free(int *keyval, enum gw_kind applies_to)
{
    if (is_predef(*keyval)) return gw_fail(GW_EKEYVAL, "a predefined attribute key (%d) cannot be freed", *keyval);
    struct gw_keyval *kv = keyval_find(*keyval, applies_to);
    if (!kv) return GW_EKEYVAL;
    obj_lock(&attr_lock);
    bool again = kv->freed;
    kv->freed = true;
    obj_unlock(&attr_lock);
    if (again) return gw_fail(GW_EKEYVAL, "attribute key %d was freed before", *keyval);
    keyval_release(kv);
    *keyval = GW_KEYVAL_INVALID;
    return GW_OK;
}

/* ---- attributes of one object ---- */
static struct gw_attr **attr_find(struct gw_attrs *a, const struct gw_keyval *kv)
{
    struct gw_attr **at = &a->head;
    while (*at && (*at)->keyval != kv) at = &(*at)->next;
    return at;
}

/* Calls the delete function, while the attribute is still in the list, then removes it. */
static int attr_remove(struct gw_attrs *a, struct gw_obj *owner, struct gw_keyval *kv, void *value)
{
    assert(obj_upcalls.attr_delete || kv->del.fn == GW_ATTR_FN_NULL);
    if (kv->del.fn != GW_ATTR_FN_NULL) {
        int rc = obj_upcalls.attr_delete(kv, owner, value);
        if (rc) return rc;
    }
    obj_lock(&attr_lock);
    struct gw_attr **at = attr_find(a, kv), *attr = *at;
    if (attr) *at = attr->next;
    obj_unlock(&attr_lock);
    if (attr) keyval_release(kv);
    free(attr);
    return GW_OK;
}

static int attr_add(struct gw_attrs *a, struct gw_keyval *kv, void *value)
{
    struct gw_attr *attr = malloc(sizeof *attr);
    if (!attr) return gw_fail(GW_ENOMEM, "no memory for an attribute");
    gw_obj_ref(&kv->obj);
    obj_lock(&attr_lock);
    *attr = (struct gw_attr){a->head, kv, value};
    a->head = attr;
    obj_unlock(&attr_lock);
    return GW_OK;
}

int gw_attr_set(struct gw_attrs *a, struct gw_obj *owner, int keyval, void *value)
{
    if (is_predef(keyval)) return gw_fail(GW_EKEYVAL, "attribute key %d is predefined: its value cannot be set", keyval);
    struct gw_keyval *kv = keyval_find(keyval, owner->kind);
    if (!kv) return GW_EKEYVAL;
    obj_lock(&attr_lock);
    bool freed = kv->freed;
    struct gw_attr *old = *attr_find(a, kv);
    void *old_value = old ? old->value : NULL;
    obj_unlock(&attr_lock);
    if (freed) return gw_fail(GW_EKEYVAL, "attribute key %d was freed", keyval);
    if (old) {
        int rc = attr_remove(a, owner, kv, old_value);
        if (rc) return rc;
    }
    return attr_add(a, kv, value);
}

int gw_attr_get(struct gw_attrs *a, struct gw_obj *owner, int keyval, void **value_out, int *flag_out)
{
    if (is_predef(keyval) && owner->kind == GW_KIND_COMM) {
        *flag_out = predef[keyval - PREDEF_FIRST].is_set;
        if (*flag_out) *value_out = &predef[keyval - PREDEF_FIRST].value;
        return GW_OK;
    }
    struct gw_keyval *kv = keyval_find(keyval, owner->kind);
    if (!kv) return GW_EKEYVAL;
    obj_lock(&attr_lock);
    struct gw_attr *attr = *attr_find(a, kv);
    *flag_out = attr != NULL;
    if (attr) *value_out = attr->value;
    obj_unlock(&attr_lock);
    return GW_OK;
}

int gw_attr_delete(struct gw_attrs *a, struct gw_obj *owner, int keyval)
{
    if (is_predef(keyval)) return gw_fail(GW_EKEYVAL, "attribute key %d is predefined: it cannot be deleted", keyval);
    struct gw_keyval *kv = keyval_find(keyval, owner->kind);
    if (!kv) return GW_EKEYVAL;
    obj_lock(&attr_lock);
    struct gw_attr *attr = *attr_find(a, kv);
    void *value = attr ? attr->value : NULL;
    obj_unlock(&attr_lock);
    if (!attr) return gw_fail(GW_EKEYVAL, "the %s has no attribute with key %d", kind_word(owner->kind), keyval);
    return attr_remove(a, owner, kv, value);
}

static int attr_copy(const struct gw_attr *attr, struct gw_obj *from_owner, struct gw_attrs *to)
{
    void *value = attr->value;
    int flag = 0, rc = GW_OK;
    if (attr->keyval->copy.fn == GW_ATTR_FN_DUP)
        flag = 1;
    else if (attr->keyval->copy.fn != GW_ATTR_FN_NULL)
        rc = obj_upcalls.attr_copy(attr->keyval, from_owner, attr->value, &value, &flag);
    return rc == GW_OK && flag ? attr_add(to, attr->keyval, value) : rc;
}

int gw_attr_copy_all(struct gw_attrs *from, struct gw_obj *from_owner, struct gw_attrs *to)
{
    /* A snapshot, oldest first: a copy function may itself change the list. */
    int n = 0, rc = GW_OK;
    obj_lock(&attr_lock);
    for (struct gw_attr *x = from->head; x; x = x->next) n++;
    struct gw_attr *list = n ? calloc((size_t)n, sizeof *list) : NULL;
    int i = n;
    for (struct gw_attr *x = from->head; list && x; x = x->next) {
        list[--i] = *x;
        gw_obj_ref(&x->keyval->obj);
    }
    obj_unlock(&attr_lock);
    if (n && !list) return gw_fail(GW_ENOMEM, "no memory to copy %d attributes", n);
    for (i = 0; i < n; i++) {
        if (rc == GW_OK) rc = attr_copy(&list[i], from_owner, to);
        keyval_release(list[i].keyval);
    }
    free(list);
    return rc;
}

int gw_attr_delete_all(struct gw_attrs *a, struct gw_obj *owner)
{
    for (;;) {
        obj_lock(&attr_lock);
        struct gw_keyval *kv = a->head ? a->head->keyval : NULL;
        void *value = kv ? a->head->value : NULL;
        /* The delete function may delete the attribute itself, and the key with it. */
        if (kv) gw_obj_ref(&kv->obj);
        obj_unlock(&attr_lock);
        if (!kv) return GW_OK;
        int rc = attr_remove(a, owner, kv, value);
        keyval_release(kv);
        if (rc) return rc;
    }
}
