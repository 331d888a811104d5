/* other.c -- the worlds that this process has met: their segments, and its own numbers for their ranks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "node/node_private.h"

static struct gw_lock others_lock;                 /* of what follows */
static struct gw_list others = {&others, &others}; /* by `first`, ascending */

int node_numbers_max(void)
{
    return gw_boot.size + NODE_OTHER_RANKS;
}

static struct node_other *find(int number)
{
    for (struct gw_list *l = others.next; l != &others; l = l->next) {
        struct node_other *o = container_of(l, struct node_other, link);
        if (number >= o->first && number < o->first + o->n) return o;
    }
    return NULL;
}

struct node_other *node_other_find(int number)
{
    if (number < gw_boot.size) return NULL;
    gw_lock(&others_lock);
    struct node_other *o = find(number);
    gw_unlock(&others_lock);
    return o;
}

static struct node_other *find_home(const struct boot_home *home)
{
    for (struct gw_list *l = others.next; l != &others; l = l->next) {
        struct node_other *o = container_of(l, struct node_other, link);
        if (o->home.uid == home->uid && o->home.pid == home->pid && o->home.fd == home->fd) return o;
    }
    return NULL;
}

/* Which ranks of its world are there.  h: the checked copy of its head. */
static int ranks_look(struct node_other *o, const struct boot_head *h)
{
    const int32_t *node = h->map_offset ? (const int32_t *)(o->base + h->map_offset) : NULL;
    int n = 0;
    o->n = h->nlocal;
    o->node = h->node;
    o->ranks = malloc(sizeof *o->ranks * (size_t)o->n);
    if (!o->ranks) return gw_fail(GW_ENOMEM, "no memory for another world");
    for (int r = 0; r < h->size && n < o->n && (node || h->size == o->n); r++)
        if (!node || node[r] == h->node) o->ranks[n++] = r;
    return n == o->n ? GW_OK : gw_fail(GW_EOTHER, "the other job's shared memory is damaged");
}

/* Where its doors and areas are, if there is room for them.  Its ranks set the size of an area when they have mapped it. */
static int areas_look(struct node_other *o, const struct boot_head *h)
{
    uint64_t before = node_look(h, o->base, &o->doors, &o->areas);
    o->area_bytes = atomic_load_explicit(&h->area_bytes, memory_order_relaxed);
    if (o->area_bytes && before <= o->bytes && o->area_bytes <= (o->bytes - before) / (uint64_t)o->n) return GW_OK;
    return gw_fail(GW_EOTHER, "the other job's shared memory is damaged, or its ranks have not called MPI_Init");
}

int node_other_number(const struct node_other *o, int rank)
{
    int low = 0, high = o->n - 1;
    while (low < high) {
        int mid = (low + high) / 2;
        if (o->ranks[mid] < rank)
            low = mid + 1;
        else
            high = mid;
    }
    return o->ranks[low] == rank ? o->first + low : -1;
}

/* Gives it the first numbers that are free. */
static int place(struct node_other *o)
{
    struct gw_list *l = others.next;
    for (o->first = gw_boot.size; l != &others; l = l->next) {
        const struct node_other *next = container_of(l, struct node_other, link);
        if (next->first - o->first >= o->n) break;
        o->first = next->first + next->n;
    }
    if (o->n > node_numbers_max() - o->first)
        return gw_fail(GW_EOTHER,
                       "this process is connected with so many others that %d more are too many (at most %d)", o->n,
                       NODE_OTHER_RANKS);
    gw_list_push(l, &o->link); /* before l */
    return GW_OK;
}

static int open_other(const struct boot_home *home, struct node_other **other_out)
{
    struct node_other *o = calloc(1, sizeof *o);
    if (!o) return gw_fail(GW_ENOMEM, "no memory for another world");
    struct boot_head head;
    o->home = *home;
    int rc = boot_other_map(home, &head, &o->base, &o->bytes);
    if (rc != GW_OK) {
        free(o);
        return rc;
    }
    rc = ranks_look(o, &head);
    if (rc == GW_OK) rc = areas_look(o, &head);
    if (rc == GW_OK) rc = place(o);
    if (rc != GW_OK) {
        boot_other_unmap(o->base, o->bytes);
        free(o->ranks);
        free(o);
        return rc;
    }
    /* Its sleepers, too, must see what we ring for. */
    for (int i = 0; i < o->n; i++)
        if (atomic_load_explicit(&o->doors[i].fences, memory_order_relaxed))
            atomic_store_explicit(&gw_node.fence, true, memory_order_relaxed);
    *other_out = o;
    return GW_OK;
}

/* The lock is held.  The launcher is to know with whom we are connected. */
static void refer(struct node_other *o, int by)
{
    bool was = o->refs > 0;
    o->refs += by;
    assert(o->refs >= 0);
    if (was != (o->refs > 0)) boot_tie(&o->home, !was);
}

int node_other_join(const struct boot_home *home, struct node_other **other_out)
{
    int rc = GW_OK;
    gw_lock(&others_lock);
    struct node_other *o = find_home(home);
    if (!o) rc = open_other(home, &o);
    if (rc == GW_OK) refer(o, 1);
    gw_unlock(&others_lock);
    if (rc == GW_OK) *other_out = o;
    return rc;
}

bool node_other_is_held(uint64_t uid)
{
    bool is_held = false;
    gw_lock(&others_lock);
    for (struct gw_list *l = others.next; l != &others && !is_held; l = l->next) {
        const struct node_other *o = container_of(l, struct node_other, link);
        is_held = o->home.uid == uid && o->refs > 0;
    }
    gw_unlock(&others_lock);
    return is_held;
}

static void count(int n, const int32_t *numbers, int by)
{
    bool any = false;
    for (int i = 0; i < n && !any; i++) any = numbers[i] >= gw_boot.size;
    if (!any) return;
    gw_lock(&others_lock);
    for (int i = 0; i < n; i++) {
        struct node_other *o = numbers[i] >= gw_boot.size ? find(numbers[i]) : NULL;
        if (o) refer(o, by);
    }
    gw_unlock(&others_lock);
}

void node_others_hold(int n, const int32_t *numbers)
{
    count(n, numbers, 1);
}
void node_others_release(int n, const int32_t *numbers)
{
    count(n, numbers, -1);
}

void node_other_drop(struct node_other *o)
{
    gw_lock(&others_lock);
    refer(o, -1);
    gw_unlock(&others_lock);
}

struct node_door *node_door_of(int number)
{
    struct node_other *o = node_other_find(number);
    if (o) return o->node == gw_boot.node ? &o->doors[number - o->first] : NULL;
    int local = number < gw_boot.size ? boot_local_rank(number) : -1;
    return local >= 0 ? &gw_node.doors[local] : NULL;
}

char *node_base_of(int number)
{
    struct node_other *o = node_other_find(number);
    return o ? o->base : gw_node.base;
}

void node_name_of(int number, struct boot_home *home_out, int *rank_out)
{
    struct node_other *o = node_other_find(number);
    *home_out = o ? o->home : boot_home_of(number);
    *rank_out = o ? o->ranks[number - o->first] : number;
}

static void forget_some(bool all, void (*forget)(struct node_other *))
{
    for (struct gw_list *l = others.next, *next; l != &others; l = next) {
        struct node_other *o = container_of(l, struct node_other, link);
        next = l->next;
        if (!all && o->refs > 0) continue;
        if (o->refs > 0) boot_tie(&o->home, false);
        if (forget) forget(o);
        gw_list_del(&o->link);
        boot_other_unmap(o->base, o->bytes);
        free(o->ranks);
        free(o);
    }
}

void node_other_sweep(void (*forget)(struct node_other *))
{
    gw_lock(&others_lock);
    forget_some(false, forget);
    gw_unlock(&others_lock);
}

void node_others_close(void (*forget)(struct node_other *))
{
    forget_some(true, forget);
}
