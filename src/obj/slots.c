/* slots.c -- the tables from 32-bit ids to objects.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "obj/obj_private.h"

#include <stdlib.h>

struct gw_slot_table gw_slots[GW_KIND_COUNT];
struct gw_obj *gw_predef[GW_ID_PREDEF_END] = {
    [GW_H_ERRORS_ARE_FATAL] = &gw_errors_are_fatal.obj,
    [GW_H_ERRORS_ABORT] = &gw_errors_abort.obj,
    [GW_H_ERRORS_RETURN] = &gw_errors_return.obj,
    [GW_H_ERRORS_THROW] = &gw_errors_throw.obj,
};

#define SLOTS_MAX   (1u << GW_ID_SLOT_BITS)
#define CHUNK_SLOTS (1u << GW_OBJ_CHUNK_BITS)
#define CHUNK_COUNT (SLOTS_MAX / CHUNK_SLOTS)
#define GEN_MASK    ((1u << GW_ID_GEN_BITS) - 1)
#define SLOT_NONE   UINT32_MAX

/* A freed slot waits until this many others were freed after it, so that an id comes back only after
 * 32 x QUEUE_MIN frees of its kind; while freed handles are looked for, later. */
enum { QUEUE_MIN = 256, QUEUE_CHECKED = 16384 };

/* Data of a slot that look-ups do not need: the link of the queue of freed slots, and the generation of its next id. */
struct slot_meta {
    uint32_t next;
    uint32_t generation;
};
static struct slot_pool {
    struct gw_lock lock;
    uint32_t used;               /* slots ever taken */
    uint32_t head, tail, queued; /* freed slots, oldest first */
} pools[GW_KIND_COUNT];
/* One for each chunk of gw_slots[kind].  Apart from the pools, so that these fit one page and unused entries are never touched. */
static struct slot_meta *metas[GW_KIND_COUNT][CHUNK_COUNT];

static struct slot_meta *slot_meta(enum gw_kind kind, uint32_t slot)
{
    return &metas[kind][slot / CHUNK_SLOTS][slot % CHUNK_SLOTS];
}

static bool chunk_add(enum gw_kind kind, uint32_t index)
{
    struct gw_obj **objects = calloc(CHUNK_SLOTS, sizeof *objects);
    struct slot_meta *meta = calloc(CHUNK_SLOTS, sizeof *meta);
    if (!objects || !meta) {
        free(objects);
        free(meta);
        return false;
    }
    metas[kind][index] = meta;
    /* Pairs with the acquire in gw_obj_lookup(): the chunk is zero before it can be found. */
    atomic_store_explicit(&gw_slots[kind].chunk[index], objects, memory_order_release);
    return true;
}

/* The oldest freed slot if enough are queued, else an unused one.  SLOT_NONE: out of memory or slots.  The lock is held. */
static uint32_t slot_take(enum gw_kind kind)
{
    struct slot_pool *pool = &pools[kind];
    assert(pool->queued <= pool->used);
    if (pool->queued > (gw_checking ? QUEUE_CHECKED : QUEUE_MIN) || (pool->queued && pool->used == SLOTS_MAX)) {
        uint32_t slot = pool->head;
        pool->head = slot_meta(kind, slot)->next;
        pool->queued--;
        return slot;
    }
    if (pool->used == SLOTS_MAX) return SLOT_NONE;
    if (pool->used % CHUNK_SLOTS == 0 && !chunk_add(kind, pool->used / CHUNK_SLOTS)) return SLOT_NONE;
    return pool->used++;
}

static void slot_give(enum gw_kind kind, uint32_t slot, uint32_t generation)
{
    struct slot_pool *pool = &pools[kind];
    *slot_meta(kind, slot) = (struct slot_meta){SLOT_NONE, generation & GEN_MASK};
    if (pool->queued++)
        slot_meta(kind, pool->tail)->next = slot;
    else
        pool->head = slot;
    pool->tail = slot;
}

int gw_obj_revive(struct gw_obj *o, enum gw_kind kind)
{
    assert(kind > GW_KIND_NONE && kind < GW_KIND_COUNT);
    struct slot_pool *pool = &pools[kind];
    obj_lock(&pool->lock);
    uint32_t slot = slot_take(kind);
    if (unlikely(slot == SLOT_NONE)) {
        obj_unlock(&pool->lock);
        return gw_fail(GW_ENOMEM, "no memory for another handle (%u in use)", pool->used - pool->queued);
    }
    o->kind = (uint8_t)kind;
    o->predefined = false;
    uint32_t id =
        (uint32_t)kind << (GW_ID_SLOT_BITS + GW_ID_GEN_BITS) | slot_meta(kind, slot)->generation << GW_ID_SLOT_BITS | slot;
    gw_obj_id_set(o, id);
    atomic_load_explicit(&gw_slots[kind].chunk[slot / CHUNK_SLOTS], memory_order_relaxed)[slot % CHUNK_SLOTS] = o;
    obj_unlock(&pool->lock);
    return GW_OK;
}

int gw_obj_register(struct gw_obj *o, enum gw_kind kind)
{
    atomic_store_explicit(&o->refs, 1, memory_order_relaxed); /* set before other threads can find the object */
    return gw_obj_revive(o, kind);
}

void gw_obj_predefine(struct gw_obj *o, enum gw_kind kind, uint32_t id)
{
    assert(id < GW_ID_PREDEF_END && id != 0 && gw_id_is_predefined(id, kind));
    o->id = id;
    o->kind = (uint8_t)kind;
    o->predefined = true;
    atomic_store_explicit(&o->refs, 1, memory_order_relaxed);
    gw_predef[id] = o;
}

void gw_obj_unregister(struct gw_obj *o)
{
    uint32_t id = o->id;
    gw_obj_id_set(o, 0);
    if (id == 0) return;
    if (id < GW_ID_PREDEF_END) {
        gw_predef[id] = NULL;
        return;
    }
    enum gw_kind kind = o->kind;
    uint32_t slot = id & (SLOTS_MAX - 1);
    struct slot_pool *pool = &pools[kind];
    obj_lock(&pool->lock);
    struct gw_obj **chunk = atomic_load_explicit(&gw_slots[kind].chunk[slot / CHUNK_SLOTS], memory_order_relaxed);
    assert(chunk && chunk[slot % CHUNK_SLOTS] == o);
    chunk[slot % CHUNK_SLOTS] = NULL;
    slot_give(kind, slot, (id >> GW_ID_SLOT_BITS) + 1);
    obj_unlock(&pool->lock);
}

/* A reference to an object that may be losing its last one now. */
static bool ref_if_alive(struct gw_obj *o)
{
    int32_t refs = atomic_load_explicit(&o->refs, memory_order_relaxed);
    while (refs > 0 &&
           !atomic_compare_exchange_weak_explicit(&o->refs, &refs, refs + 1, memory_order_acquire, memory_order_relaxed)) {}
    return refs > 0;
}

struct gw_obj *gw_obj_find(enum gw_kind kind, bool (*is)(struct gw_obj *o, const void *arg), const void *arg)
{
    assert(kind > GW_KIND_NONE && kind < GW_KIND_COUNT);
    struct slot_pool *pool = &pools[kind];
    struct gw_obj *found = NULL;
    obj_lock(&pool->lock);
    for (uint32_t slot = 0; slot < pool->used && !found; slot++) {
        struct gw_obj **chunk = atomic_load_explicit(&gw_slots[kind].chunk[slot / CHUNK_SLOTS], memory_order_relaxed);
        struct gw_obj *o = chunk[slot % CHUNK_SLOTS];
        if (o && is(o, arg) && ref_if_alive(o)) found = o;
    }
    obj_unlock(&pool->lock);
    return found;
}

static void leftovers_free(enum gw_kind kind, void (*destroy)(struct gw_obj *))
{
    for (uint32_t slot = 0; slot < pools[kind].used; slot++) {
        struct gw_obj **chunk = atomic_load_explicit(&gw_slots[kind].chunk[slot / CHUNK_SLOTS], memory_order_relaxed);
        if (chunk[slot % CHUNK_SLOTS]) destroy(chunk[slot % CHUNK_SLOTS]);
    }
}

/* Frees the table of a kind, of which no object is used any more. */
static void pool_free(enum gw_kind kind)
{
    struct slot_pool *pool = &pools[kind];
    for (uint32_t i = 0; i * CHUNK_SLOTS < pool->used; i++) {
        free(atomic_load_explicit(&gw_slots[kind].chunk[i], memory_order_relaxed));
        atomic_store_explicit(&gw_slots[kind].chunk[i], NULL, memory_order_relaxed);
        free(metas[kind][i]);
        metas[kind][i] = NULL;
    }
    pool->used = pool->queued = 0;
}

void gw_obj_finalize(void)
{
    leftovers_free(GW_KIND_KEYVAL, gw_keyval_destroy);
    for (int kind = 0; kind < GW_KIND_COUNT; kind++) {
        bool lives_on = kind == GW_KIND_INFO || kind == GW_KIND_ERRHANDLER;
        if (!lives_on || pools[kind].used == pools[kind].queued) pool_free((enum gw_kind)kind);
    }
    for (int kind = 0; kind < GW_KIND_COUNT; kind++) {
        struct gw_id_range r = gw_predef_range((enum gw_kind)kind);
        if (r.n) memset(gw_predef + r.first, 0, r.n * sizeof gw_predef[0]);
    }
    gw_predef[GW_H_ERRORS_ARE_FATAL] = &gw_errors_are_fatal.obj;
    gw_predef[GW_H_ERRORS_ABORT] = &gw_errors_abort.obj;
    gw_predef[GW_H_ERRORS_RETURN] = &gw_errors_return.obj;
    gw_predef[GW_H_ERRORS_THROW] = &gw_errors_throw.obj;
}
