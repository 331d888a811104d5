/* win.c -- windows as objects: creation, freeing, attributes, queries.
 *
 * Creation is collective, and so are its errors: if it fails on any rank, it returns an error on all ranks (rma_agree()).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma/rma_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/settings.h"
#include "coll/coll.h"
#include "world/world.h"

enum { REGIONS = 16 };

/* What each rank gives to all others by an allgather. */
struct part {
    int64_t size, disp_unit;
    uint64_t base;
    struct rma_alloc_offer offer;
};

/* ---- creation ---- */
static int check_part(int64_t size, int64_t disp_unit)
{
    if (size < 0) return gw_fail(GW_ESIZE, "size is %lld; it must not be negative", (long long)size);
    if (disp_unit < 1) return gw_fail(GW_EDISP, "disp_unit is %lld; it must be at least 1", (long long)disp_unit);
    return GW_OK;
}

static int comm_for(struct gw_comm *c, struct gw_comm **own_out)
{
    if (c->remote) return gw_fail(GW_ECOMM, "comm is an intercommunicator; windows are for intracommunicators");
    struct gw_comm *own = NULL;
    int rc = world_comm_create(c, c->group, &own); /* not MPI_Comm_dup: attributes are not copied */
    if (rc == GW_OK) *own_out = own;
    if (rc == GW_OK) own->is_inner = true;
    if (rc == GW_OK) snprintf(own->name, sizeof own->name, "a window of %.64s", c->name[0] ? c->name : "a communicator");
    return rc;
}

/* ---- memory of windows: never given back, see rma_win_by_id() ---- */
static struct rma_win no_win = {.obj = {.id = GW_H_WIN_NULL, .kind = GW_KIND_WIN}};
_Atomic(struct rma_win *) rma_win_last = &no_win;

struct win_memory {
    struct win_memory *next; /* freed, too */
    int ranks;               /* for a window of at most so many */
    struct rma_win win;
};
static struct {
    struct gw_lock lock;
    struct win_memory *first;
} win_freed;

static struct win_memory *memory_again(int ranks)
{
    gw_lock(&win_freed.lock);
    struct win_memory **at = &win_freed.first, *m;
    while (*at && (*at)->ranks < ranks) at = &(*at)->next;
    m = *at;
    if (m) *at = m->next;
    gw_unlock(&win_freed.lock);
    return m;
}

static struct rma_win *win_memory_get(int ranks)
{
    size_t nears = (size_t)ranks * sizeof(struct rma_near);
    struct win_memory *m = memory_again(ranks);
    if (m) {
        memset(&m->win.comm, 0, sizeof m->win - offsetof(struct rma_win, comm) + nears); /* not what others may look at */
    } else {
        m = calloc(1, sizeof *m + nears);
        if (m) m->ranks = ranks;
    }
    return m ? &m->win : NULL;
}

static void win_memory_free(struct rma_win *w)
{
    struct win_memory *m = container_of(w, struct win_memory, win);
    gw_obj_id_set(&w->obj, GW_H_WIN_NULL);
    atomic_store_explicit(&w->n_open, 0, memory_order_relaxed);
    atomic_store_explicit(&w->n_flushed, 0, memory_order_relaxed);
    atomic_store_explicit(&w->listed, NULL, memory_order_relaxed);
    gw_lock(&win_freed.lock);
    m->next = win_freed.first;
    win_freed.first = m;
    gw_unlock(&win_freed.lock);
}

static void win_drop(struct rma_win *w)
{
    rma_mail_close(w);
    rma_mirror_close(w);
    rma_memory_drop(w, &w->mapping);
    rma_memory_drop(w, &w->words);
    for (int i = 0; w->targets && i < w->comm->size; i++) rma_memory_drop(w, &w->targets[i].mapping);
    rma_epoch_close(w);
    if (w->errhandler) gw_errhandler_release(w->errhandler);
    free(w->targets);
    rma_here_close(w);
    if (w->comm) world_comm_end(&w->comm);
    win_memory_free(w);
}

/* Makes a window without memory yet, and exchanges what each rank gives.  On failure all is freed. */
static int win_begin(int flavor, struct part mine, struct gw_info *info, struct gw_comm *c, struct rma_win **win_out)
{
    struct gw_comm *own;
    int rc = check_part(mine.size, mine.disp_unit);
    char text[256];
    snprintf(text, sizeof text, "%s", rc == GW_OK ? "" : gw_fail_text());
    int made = comm_for(c, &own);
    if (made != GW_OK) return made;
    if (rc != GW_OK) gw_fail(rc, "%s", text);
    struct rma_win *w = win_memory_get(own->size);
    if (w) w->targets = calloc((size_t)own->size, sizeof *w->targets);
    if (rc == GW_OK && (!w || !w->targets)) rc = gw_fail(GW_ENOMEM, "no memory for a window of %d ranks", own->size);
    rc = rma_agree(own, rc);
    if (rc == GW_OK) {
        w->comm = own;
        rc = rma_here_open(w);
    }
    if (rc != GW_OK) {
        if (w) free(w->targets);
        if (w) rma_here_close(w);
        if (w) win_memory_free(w);
        world_comm_end(&own);
        return rc;
    }
    w->flavor = flavor;
    w->model = gw_set.rma_model == GW_SET_RMA_MODEL_SEPARATE ? GW_WIN_SEPARATE : GW_WIN_UNIFIED;
    w->size = mine.size;
    w->disp_unit = mine.disp_unit <= INT32_MAX ? (int)mine.disp_unit : GW_UNDEFINED; /* the attribute is an int */
    w->errhandler = gw_errhandler_hold(&gw_errors_are_fatal);
    rma_hints_default(w);
    rma_win_set_info(w, info);
    *win_out = w;
    return GW_OK;
}

/* rc: of this rank's part. */
static int gather_parts(struct rma_win *w, int rc, struct part mine, struct part **parts_out)
{
    struct part *parts = malloc(sizeof *parts * (size_t)w->comm->size);
    if (rc == GW_OK && !parts) rc = gw_fail(GW_ENOMEM, "no memory for a window of %d ranks", w->comm->size);
    rc = rma_agree(w->comm, rc);
    if (rc == GW_OK) rc = coll_allgather(&mine, sizeof mine, gw_type_byte, parts, sizeof mine, gw_type_byte, w->comm, NULL);
    if (rc != GW_OK) {
        free(parts);
        return rc;
    }
    for (int i = 0; i < w->comm->size; i++) {
        struct rma_target *t = &w->targets[i];
        if (check_part(parts[i].size, parts[i].disp_unit) != GW_OK) { /* each rank checks its own arguments */
            free(parts);
            return gw_fail(GW_EOTHER, "what rank %d says of its part of the window cannot be", i);
        }
        t->size = parts[i].size;
        t->disp_unit = parts[i].disp_unit;
        t->base = parts[i].base;
        t->is_near = i == w->comm->rank;
    }
    *parts_out = parts;
    return GW_OK;
}

static int words_make(struct rma_win *w)
{
    uint64_t bytes = sizeof(struct rma_shared) + (uint64_t)w->here->size * sizeof(struct rma_words) + rma_mail_room(w);
    char *mem = NULL;
    int rc = rma_memory_make(w, &w->words, bytes, 0, w->here->rank == 0 ? bytes : 0, &mem);
    w->shared = (struct rma_shared *)mem;
    for (int i = 0, n = 0; rc == GW_OK && i < w->comm->size; i++)
        if (is_here(w, i)) w->near[i].words = &w->shared->of[n++];
    return rc;
}

static void nears_note(struct rma_win *w)
{
    for (int i = 0; i < w->comm->size; i++) {
        const struct rma_target *t = &w->targets[i];
        if (t->is_near) w->near[i] = (struct rma_near){(char *)(uintptr_t)t->base, (uint64_t)t->size, t->disp_unit, NULL};
    }
}

/* Ends the creation.  Owns `w`: on failure of any rank it is freed. */
static int win_end(struct rma_win *w, int rc, struct rma_win **win_out)
{
    if (rc == GW_OK) nears_note(w);
    if (rc == GW_OK) rc = words_make(w);
    if (rc == GW_OK) rc = rma_reach_open(w);
    if (rc == GW_OK) {
        rc = rma_epoch_open(w);
        if (rc == GW_OK) rc = rma_mail_open(w);
        if (rc == GW_OK) rc = gw_obj_register(&w->obj, GW_KIND_WIN);
        rc = rma_agree(w->comm, rc);
        if (rc != GW_OK && w->obj.id) gw_obj_unregister(&w->obj);
        if (rc != GW_OK) rma_reach_close(w);
    }
    if (rc != GW_OK)
        win_drop(w);
    else
        *win_out = w;
    return rc;
}

int rma_win_create(void *base, int64_t size, int64_t disp_unit, struct gw_info *info, struct gw_comm *c, struct rma_win **win_out)
{
    struct part mine = {.size = size, .disp_unit = disp_unit}, *parts = NULL;
    struct rma_win *w;
    int rc = win_begin(GW_WIN_FLAVOR_CREATE, mine, info, c, &w);
    if (rc != GW_OK) return rc;
    w->base = base;
    rc = rma_mirror_open(w, &base);
    mine.base = (uint64_t)(uintptr_t)base;
    if (rc == GW_OK) rma_alloc_offer(base, size, &mine.offer);
    rc = gather_parts(w, rc, mine, &parts);
    for (int i = 0; rc == GW_OK && gw_set.rma_map && i < w->comm->size; i++) {
        struct rma_target *t = &w->targets[i];
        bool may_map = !t->is_near && is_here(w, i);
        char *here = !may_map ? NULL : rma_alloc_map(&parts[i].offer, t->size, &t->mapping);
        if (here) t->base = (uint64_t)(uintptr_t)here;
        t->is_near = t->is_near || here;
    }
    free(parts);
    return win_end(w, rc, win_out);
}

int rma_win_create_dynamic(struct gw_info *info, struct gw_comm *c, struct rma_win **win_out)
{
    struct part mine = {.disp_unit = 1}, *parts = NULL;
    struct rma_win *w;
    int rc = win_begin(GW_WIN_FLAVOR_DYNAMIC, mine, info, c, &w);
    if (rc != GW_OK) return rc;
    rc = gather_parts(w, GW_OK, mine, &parts);
    free(parts);
    return win_end(w, rc, win_out);
}

/* Lays out the parts of the ranks on this machine; targets[].base is an offset until the memory is mapped.  Without gaps, where
 * the user may rely on contiguous parts; otherwise each part begins on a cache line, large ones on a page, or as the user's
 * alignment wants it. */
static int lay_out(struct rma_win *w, bool has_gaps, uint64_t *total_out)
{
    uint64_t at = 0;
    for (int i = 0; i < w->comm->size; i++) {
        if (!is_here(w, i)) continue;
        uint64_t size = (uint64_t)w->targets[i].size;
        uint64_t align = size >= gw_page_bytes() ? gw_page_bytes() : GW_CACHELINE, wanted = (uint64_t)w->mapping.align;
        if (has_gaps) at = gw_align_up(at, wanted > align ? wanted : align);
        w->targets[i].base = at;
        at += size;
        if (at > (uint64_t)INT64_MAX / 2) return gw_fail(GW_ENOMEM, "the windows of all ranks are %.3g bytes", (double)at);
    }
    *total_out = at ? at : GW_CACHELINE;
    w->mapping.is_paged = at > 0 && rma_pages_wanted() > 0;
    return GW_OK;
}

/* Exchanges the addresses of all parts, if the window has ranks on other machines. */
static int tell_bases(struct rma_win *w)
{
    uint64_t mine = w->targets[w->comm->rank].base, *all = malloc(sizeof *all * (size_t)w->comm->size);
    int rc = rma_agree(w->comm, all ? GW_OK : gw_fail(GW_ENOMEM, "no memory for a window of %d ranks", w->comm->size));
    if (rc == GW_OK) rc = coll_allgather(&mine, sizeof mine, gw_type_byte, all, sizeof mine, gw_type_byte, w->comm, NULL);
    for (int i = 0; rc == GW_OK && i < w->comm->size; i++)
        if (!w->targets[i].is_near) w->targets[i].base = all[i];
    free(all);
    return rc;
}

static int allocate(int flavor, int64_t size, int64_t disp_unit, struct gw_info *info, struct gw_comm *c, void **base_out,
                    struct rma_win **win_out)
{
    struct part mine = {.size = size, .disp_unit = disp_unit}, *parts = NULL;
    struct rma_win *w;
    uint64_t total = 0;
    char *base = NULL;
    int rc = win_begin(flavor, mine, info, c, &w);
    if (rc != GW_OK) return rc;
    rc = gather_parts(w, GW_OK, mine, &parts);
    free(parts);
    /* Hints may differ between ranks: gaps only if all ranks want them, and the largest alignment of any. */
    int mine_wants[2] = {flavor == GW_WIN_FLAVOR_ALLOCATE || rma_hint_is_true(w, "alloc_shared_noncontig"),
                         -gw_info_alignment(info)};
    int wants[2] = {0, -GW_CACHELINE};
    if (rc == GW_OK) rc = coll_allreduce(mine_wants, wants, 2, gw_type_int, gw_op_min, w->comm, NULL);
    w->mapping.align = -wants[1];
    if (rc == GW_OK) rc = lay_out(w, wants[0], &total); /* same result on all ranks of a machine */
    if (w->n_leaders) rc = rma_agree(w->comm, rc);
    if (rc == GW_OK) rc = rma_memory_make(w, &w->mapping, total, w->targets[w->comm->rank].base, (uint64_t)size, &base);
    for (int i = 0; rc == GW_OK && i < w->comm->size; i++) {
        if (!is_here(w, i)) continue;
        w->targets[i].base += (uint64_t)(uintptr_t)base;
        w->targets[i].is_near = true;
    }
    if (rc == GW_OK && w->n_leaders) rc = tell_bases(w);
    if (rc == GW_OK) w->base = (void *)(uintptr_t)w->targets[w->comm->rank].base;
    rc = win_end(w, rc, &w);
    if (rc != GW_OK) return rc;
    *base_out = w->base;
    *win_out = w;
    return GW_OK;
}

int rma_win_allocate(int64_t size, int64_t disp_unit, struct gw_info *info, struct gw_comm *c, void **base_out,
                     struct rma_win **win_out)
{
    return allocate(GW_WIN_FLAVOR_ALLOCATE, size, disp_unit, info, c, base_out, win_out);
}

int rma_win_allocate_shared(int64_t size, int64_t disp_unit, struct gw_info *info, struct gw_comm *c, void **base_out,
                            struct rma_win **win_out)
{
    if (!c->remote && !rma_is_one_machine(c))
        return gw_fail(GW_ERMA_SHARED,
                       "the ranks of comm are on several nodes; MPI_Comm_split_type makes communicators that share memory");
    return allocate(GW_WIN_FLAVOR_SHARED, size, disp_unit, info, c, base_out, win_out);
}

int rma_win_free(struct rma_win **win)
{
    struct rma_win *w = *win;
    int rc = rma_epoch_none(w);
    if (rc == GW_OK) rc = gw_attr_delete_all(&w->attrs, &w->obj);
    if (rc == GW_OK) rc = rma_reach_close(w);
    if (rc != GW_OK) return rc;
    gw_obj_unregister(&w->obj);
    assert(!w->epoch->is_posted && w->epoch->n_held == 0);
    struct rma_words *mine = w->near[w->comm->rank].words;
    node_heap_free(mine->regions);
    mine->regions = 0;
    rc = coll_barrier(w->comm, NULL); /* after it no rank uses the words */
    if (rc == GW_OK) rc = rma_mirror_meet(w);
    win_drop(w);
    *win = NULL;
    return rc;
}

/* ---- dynamic windows ---- */
static int check_dynamic(struct rma_win *w, int64_t size)
{
    if (w->flavor != GW_WIN_FLAVOR_DYNAMIC)
        return gw_fail(GW_ERMA_FLAVOR, "memory is attached to, and detached from, windows of MPI_Win_create_dynamic only");
    return size >= 0 ? GW_OK : gw_fail(GW_ESIZE, "size is %lld; it must not be negative", (long long)size);
}

/* Inserts a region into the list of attached memory.  This rank's `busy` is held. */
static int region_add(struct rma_words *t, struct rma_region new)
{
    struct rma_region *r = node_ptr(t->regions);
    for (uint32_t i = 0; i < t->n_regions; i++)
        if (new.base < r[i].base + r[i].bytes && r[i].base < new.base + new.bytes)
            return gw_fail(GW_ERMA_ATTACH, "the memory overlaps %llu bytes at 0x%llx that are attached already",
                           (unsigned long long)r[i].bytes, (unsigned long long)r[i].base);
    if (t->n_regions == t->room) {
        uint32_t room = t->room ? 2 * t->room : REGIONS;
        uint64_t off = node_heap_alloc(room * sizeof *r);
        if (!off)
            return gw_fail(GW_ERMA_ATTACH, "no memory for a list of %u attached regions: GODWIT_HEAP makes the shared heap larger",
                           room);
        if (t->n_regions) memcpy(node_ptr(off), r, t->n_regions * sizeof *r);
        node_heap_free(t->regions);
        t->regions = off;
        t->room = room;
        r = node_ptr(off);
    }
    r[t->n_regions++] = new;
    return GW_OK;
}

int rma_win_attach(struct rma_win *w, void *base, int64_t size)
{
    int rc = check_dynamic(w, size), me = w->comm->rank;
    struct gw_data d = gw_data_of(base, size, gw_type_byte);
    if (rc == GW_OK && !gw_data_is_cpu(&d))
        rc = gw_fail(GW_ERMA_ATTACH,
                     "the memory at %p is of kind %s, which the CPU may not touch: MPI_Win_create makes windows of it", base,
                     mem_kind_name(d.kind));
    if (rc != GW_OK) return rc;
    rma_busy_enter(w, me);
    rc = region_add(w->near[me].words, (struct rma_region){(uint64_t)(uintptr_t)base, (uint64_t)size});
    rma_busy_exit(w, me);
    return rc;
}

int rma_win_detach(struct rma_win *w, const void *base)
{
    int rc = check_dynamic(w, 0), me = w->comm->rank;
    if (rc != GW_OK) return rc;
    struct rma_words *t = w->near[me].words;
    rma_busy_enter(w, me);
    struct rma_region *r = node_ptr(t->regions);
    uint32_t i = 0;
    while (i < t->n_regions && r[i].base != (uint64_t)(uintptr_t)base) i++;
    bool found = i < t->n_regions;
    if (found) r[i] = r[--t->n_regions];
    rma_busy_exit(w, me);
    return found ? GW_OK : gw_fail(GW_EBASE, "no memory that begins at %p is attached", base);
}

/* ---- queries ---- */
int64_t rma_disp_unit(const struct rma_win *w, int target) { return w->targets[target].disp_unit; }

int rma_win_shared_query(struct rma_win *w, int rank, int64_t *size_out, int64_t *disp_unit_out, void **base_out)
{
    int n = w->comm->size;
    if (w->flavor == GW_WIN_FLAVOR_DYNAMIC) return gw_fail(GW_ERMA_FLAVOR, "a dynamic window has no memory of its own");
    if (rank == GW_PROC_NULL) /* the lowest rank with memory (MPI_Win_shared_query) */
        for (rank = 0; rank < n - 1 && w->targets[rank].size == 0;) rank++;
    if (rank < 0 || rank >= n) return gw_fail(GW_ERANK, "rank is %d; the window has ranks 0 to %d (or MPI_PROC_NULL)", rank, n - 1);
    const struct rma_target *t = &w->targets[rank];
    /* Elsewhere no loads and stores are possible.  A part of no bytes has a place, too: what its rank got when it made the window, which is
     * where it would lie between its neighbours. */
    *size_out = t->is_near ? t->size : 0;
    *disp_unit_out = t->disp_unit;
    *base_out = t->is_near ? (void *)(uintptr_t)t->base : NULL;
    return GW_OK;
}

int rma_win_get_group(struct rma_win *w, struct gw_group **group_out) { return comm_group(w->comm, group_out); }

int rma_win_set_name(struct rma_win *w, const char *name)
{
    snprintf(w->name, sizeof w->name, "%s", name);
    return GW_OK;
}

int rma_win_get_name(struct rma_win *w, char *name_out, int *len_out)
{
    const char *name = w ? w->name : "MPI_WIN_NULL";
    *len_out = (int)strlen(name);
    memcpy(name_out, name, (size_t)*len_out + 1);
    return GW_OK;
}

int rma_win_set_errhandler(struct rma_win *w, struct gw_errhandler *eh)
{
    if (eh->applies_to != GW_KIND_NONE && eh->applies_to != GW_KIND_WIN)
        return gw_fail(GW_EERRHANDLER, "this error handler was not made by MPI_Win_create_errhandler");
    struct gw_errhandler *old = w->errhandler;
    w->errhandler = gw_errhandler_hold(eh);
    gw_errhandler_release(old);
    return GW_OK;
}

int rma_win_get_errhandler(struct rma_win *w, struct gw_errhandler **eh_out)
{
    *eh_out = gw_errhandler_hold(w->errhandler);
    return GW_OK;
}

/* ---- attributes ---- */
static void *predefined(struct rma_win *w, int keyval)
{
    switch (keyval) {
    case GW_WIN_BASE: return w->base;
    case GW_WIN_SIZE: return &w->size;
    case GW_WIN_DISP_UNIT: return &w->disp_unit;
    case GW_WIN_CREATE_FLAVOR: return &w->flavor;
    case GW_WIN_MODEL: return &w->model;
    default: return NULL;
    }
}
static bool is_predefined(int keyval) { return keyval >= GW_WIN_BASE && keyval <= GW_WIN_MODEL; }
_Static_assert(GW_WIN_MODEL - GW_WIN_BASE == 4, "five keys in a row");

static int not_yours(int keyval)
{
    return gw_fail(GW_EKEYVAL, "attribute key %d is predefined: its value can only be read", keyval);
}

int rma_win_set_attr(struct rma_win *w, int keyval, void *value)
{
    return is_predefined(keyval) ? not_yours(keyval) : gw_attr_set(&w->attrs, &w->obj, keyval, value);
}

int rma_win_get_attr(struct rma_win *w, int keyval, void **value_out, int *flag_out)
{
    if (!is_predefined(keyval)) return gw_attr_get(&w->attrs, &w->obj, keyval, value_out, flag_out);
    *value_out = predefined(w, keyval);
    *flag_out = 1;
    return GW_OK;
}

int rma_win_delete_attr(struct rma_win *w, int keyval)
{
    return is_predefined(keyval) ? not_yours(keyval) : gw_attr_delete(&w->attrs, &w->obj, keyval);
}
