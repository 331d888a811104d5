/* check_table.c -- the handles that the program holds, by their ids, and where they came from.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

#include <stdlib.h>

struct gw_lock check_lock;
static struct {
    struct check_item **buckets;
    size_t n_buckets, n_items;
} table;

static struct check_item **bucket_of(uint32_t id) { return &table.buckets[(id * 0x9e3779b97f4a7c15u >> 20) % table.n_buckets]; }

struct check_item *check_item_find(uint32_t id)
{
    struct check_item *i = table.buckets ? *bucket_of(id) : NULL;
    while (i && i->id != id) i = i->next;
    return i;
}

static void grow(void)
{
    struct check_item **old = table.buckets;
    size_t n = table.n_buckets;
    table.n_buckets = n ? 2 * n : 256;
    table.buckets = gw_xcalloc(table.n_buckets, sizeof *table.buckets);
    for (size_t b = 0; b < n; b++)
        for (struct check_item *i = old[b], *next; i; i = next) {
            next = i->next;
            i->next = *bucket_of(i->id);
            *bucket_of(i->id) = i;
        }
    free(old);
}

struct check_item *check_item_new(int n_spans)
{
    assert(n_spans >= 0 && n_spans <= CHECK_SPANS);
    struct check_item *i = gw_xcalloc(1, sizeof *i + (size_t)n_spans * (sizeof *i->spans + sizeof *i->used));
    i->n_spans = n_spans;
    i->spans = (struct check_span *)(uintptr_t)(i + 1);
    i->used = (struct check_used *)(uintptr_t)(i->spans + n_spans);
    return i;
}

struct check_item *check_item_add(uint32_t id, struct check_site made, int n_spans)
{
    if (table.n_items >= table.n_buckets) grow();
    assert(table.n_items < table.n_buckets); /* one a bucket on average */
    struct check_item *i = check_item_new(n_spans);
    i->id = id;
    i->handles = 1;
    i->rank = GW_UNDEFINED;
    i->made = i->started = made;
    i->next = *bucket_of(id);
    *bucket_of(id) = i;
    table.n_items++;
    return i;
}

void check_item_free(struct check_item *i)
{
    for (int k = 0; k < i->n_spans; k++) {
        free(i->spans[k].sums);
        type_release(i->spans[k].type);
    }
    check_arrays_drop(i->arrays, i->n_arrays);
    free(i->arrays);
    free(i);
}

void check_item_drop(struct check_item *i)
{
    struct check_item **at = bucket_of(i->id);
    for (; *at != i; at = &(*at)->next) assert(*at); /* it is in the table */
    *at = i->next;
    table.n_items--;
    check_item_free(i);
}

struct check_item *check_item_next(struct check_item *after, size_t *bucket)
{
    if (after && after->next) return after->next;
    if (after) ++*bucket;
    while (*bucket < table.n_buckets && !table.buckets[*bucket]) ++*bucket;
    return *bucket < table.n_buckets ? table.buckets[*bucket] : NULL;
}

void check_items_free(void)
{
    size_t bucket = 0;
    for (struct check_item *i = check_item_next(NULL, &bucket); i; i = check_item_next(NULL, &bucket)) check_item_drop(i);
    assert(table.n_items == 0);
    free(table.buckets);
    table.buckets = NULL;
    table.n_buckets = 0;
}

/* ---- handles come and go ------------------------------------------------------------------------------------------------ */
/* The user need not, or must not, free what was there before. */
static bool is_predefined(uint32_t id)
{
    enum gw_kind kind = (enum gw_kind)gw_id_kind(id);
    if (id < GW_ID_PREDEF_END || id == gw_req_sent.obj.id || id == gw_req_procnull.obj.id) return true;
    const struct gw_obj *o = kind < GW_KIND_COUNT ? gw_obj_lookup(id, kind) : NULL;
    return !o || o->predefined;
}

void check_made(int fn, const void *from, uint32_t id)
{
    if (is_predefined(id)) return;
    struct check_site site = {fn, check_outside(from)};
    gw_lock(&check_lock);
    struct check_item *i = check_item_find(id);
    if (!i)
        check_item_add(id, site, 0);
    else if (gw_id_kind(id) != GW_KIND_REQ) /* a request's check may have been here */
        i->handles++;                       /* one object may be asked for several times */
    gw_unlock(&check_lock);
}

void check_gone(uint32_t id)
{
    gw_lock(&check_lock);
    struct check_item *i = check_item_find(id);
    assert(!i || i->handles > 0);
    if (i && --i->handles == 0) check_item_drop(i);
    gw_unlock(&check_lock);
}
