/* other.c -- the other worlds that this process has met: their segments, and its own numbers for their ranks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "node/node_private.h"
#include "base/lock.h"

static struct {
    struct gw_lock lock;
    struct gw_list list; /* struct node_other, ascending by `first` */
} others = {.list = {&others.list, &others.list}};

int node_others_most = NODE_OTHER_RANKS;

int node_numbers_max(void) { return gw_boot.size + node_others_most; }

static struct node_other *find(int number)
{
    for (struct gw_list *l = others.list.next; l != &others.list; l = l->next) {
        struct node_other *o = container_of(l, struct node_other, link);
        if (number >= o->first && number < o->first + o->n) return o;
    }
    return NULL;
}

struct node_other *node_other_find(int number)
{
    if (number < gw_boot.size) return NULL;
    gw_lock(&others.lock);
    struct node_other *o = find(number);
    gw_unlock(&others.lock);
    return o;
}

static struct node_other *find_home(const struct boot_home *home)
{
    for (struct gw_list *l = others.list.next; l != &others.list; l = l->next) {
        struct node_other *o = container_of(l, struct node_other, link);
        if (o->home.uid == home->uid && o->home.pid == home->pid && o->home.fd == home->fd) return o;
    }
    return NULL;
}

/* Finds the ranks of the world that are in its segment.  h: the checked copy of its head. */
static int ranks_look(struct node_other *o, const struct boot_head *h)
{
    const int32_t *node = h->map_offset ? (const int32_t *)(o->base + h->map_offset) : NULL;
    int n = 0;
    o->n = h->nlocal;
    o->size = h->size;
    o->node = h->node;
    o->ranks = malloc(sizeof *o->ranks * (size_t)o->n);
    if (!o->ranks) return gw_fail(GW_ENOMEM, "no memory for another world");
    for (int r = 0; r < h->size && n < o->n && (node || h->size == o->n); r++)
        if (!node || node[r] == h->node) o->ranks[n++] = r;
    return n == o->n ? GW_OK : gw_fail(GW_EOTHER, "the other job's shared memory is damaged");
}

/* Finds its doors and areas, and checks that they are within the segment.  Its ranks set the size of an area when they map the segment. */
static int areas_look(struct node_other *o, const struct boot_head *h)
{
    uint64_t before = node_look(h, o->base, &o->doors, &o->areas);
    o->area_bytes = atomic_load_explicit(&h->area_bytes, memory_order_relaxed);
    uint32_t lanes = atomic_load_explicit(&h->lanes, memory_order_relaxed);
    o->lanes = (int)lanes;
    if (o->area_bytes && lanes && lanes <= GW_MAX_LANES && before <= o->bytes &&
        o->area_bytes <= (o->bytes - before) / ((uint64_t)o->n * lanes))
        return GW_OK;
    return gw_fail(GW_EOTHER, "the other job's shared memory is damaged, or its ranks have not called MPI_Init");
}

void *node_other_area(const struct node_other *o, int local_rank, int lane)
{
    assert(local_rank >= 0 && local_rank < o->n && lane >= 0 && lane < o->lanes);
    return o->areas + node_area_index(o->n, o->lanes, local_rank, lane) * o->area_bytes;
}

int node_other_number(const struct node_other *o, int rank)
{
    int low = 0, high = o->n - 1;
    if (!o->base) return rank >= 0 && rank < o->n && o->at[rank] ? o->first + rank : -1;
    while (low < high) {
        int mid = (low + high) / 2;
        if (o->ranks[mid] < rank)
            low = mid + 1;
        else
            high = mid;
    }
    return o->ranks[low] == rank ? o->first + low : -1;
}

static void other_free(struct node_other *o)
{
    for (int i = 0; o->at && i < o->n; i++) free(o->at[i]);
    free(o->at);
    free(o->as);
    free(o->ranks);
    free(o);
}

/* Gives it the lowest free range of numbers. */
static int place(struct node_other *o)
{
    assert(o->n > 0);
    struct gw_list *l = others.list.next;
    for (o->first = gw_boot.size; l != &others.list; l = l->next) {
        const struct node_other *next = container_of(l, struct node_other, link);
        if (next->first - o->first >= o->n) break;
        o->first = next->first + next->n;
    }
    if (o->n > node_numbers_max() - o->first)
        return gw_fail(GW_EOTHER, "this process is connected with so many others that %d more are too many (at most %d)", o->n,
                       node_others_most);
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
    /* If its ranks cannot be fenced by membarrier(), this process fences, and if this one cannot, it does so by itself. */
    if (atomic_load_explicit(&gw_node.fence, memory_order_relaxed)) node_wait_fences(o->doors, o->n);
    for (int i = 0; i < o->n; i++)
        if (atomic_load_explicit(&o->doors[i].sleeping, memory_order_relaxed) & NODE_FENCED)
            atomic_store_explicit(&gw_node.fence, true, memory_order_relaxed);
    *other_out = o;
    return GW_OK;
}

/* Counts references; the first and the last one are noted in the slot, for mpiexec.  The lock is held. */
static void refer(struct node_other *o, int by)
{
    bool was = o->refs > 0;
    o->refs += by;
    assert(o->refs >= 0);
    if (was != (o->refs > 0) && o->base) boot_connection(&o->home, !was);
}

int node_other_join(const struct boot_home *home, struct node_other **other_out)
{
    int rc = GW_OK;
    gw_lock(&others.lock);
    struct node_other *o = find_home(home);
    if (!o) rc = open_other(home, &o);
    if (rc == GW_OK) refer(o, 1);
    gw_unlock(&others.lock);
    if (rc == GW_OK) *other_out = o;
    return rc;
}

/* ---- far ---- */
static int open_far(const struct boot_home *home, int size, struct node_other **other_out)
{
    struct node_other *o = calloc(1, sizeof *o);
    if (!o) return gw_fail(GW_ENOMEM, "no memory for another world");
    o->home = *home;
    o->n = o->size = size;
    o->node = -1;
    o->at = calloc((size_t)size, sizeof *o->at);
    o->as = malloc(sizeof *o->as * (size_t)size);
    int rc = o->at && o->as ? place(o) : gw_fail(GW_ENOMEM, "no memory for another world of %d ranks", size);
    for (int i = 0; rc == GW_OK && i < size; i++) o->as[i] = -1;
    if (rc == GW_OK)
        *other_out = o;
    else
        other_free(o);
    return rc;
}

int node_far_join(uint64_t uid, int size, struct node_other **other_out)
{
    struct boot_home home = {.uid = uid, .pid = -1, .fd = -1};
    int rc = GW_OK;
    if (size < 1 || size > NODE_OTHER_RANKS)
        return gw_fail(GW_EOTHER, "the other job says that it has %d ranks; this process can meet 1 to %d", size, NODE_OTHER_RANKS);
    gw_lock(&others.lock);
    struct node_other *o = find_home(&home);
    if (o && o->n != size) rc = gw_fail(GW_EOTHER, "the other job says that it has %d ranks, and said %d before", size, o->n);
    if (!o) rc = open_far(&home, size, &o);
    if (rc == GW_OK) refer(o, 1);
    gw_unlock(&others.lock);
    if (rc == GW_OK) *other_out = o;
    return rc;
}

int node_far_put(struct node_other *o, int rank, const char *at)
{
    if (rank < 0 || rank >= o->n)
        return gw_fail(GW_EOTHER, "the other job has ranks 0 to %d, and rank %d was named", o->n - 1, rank);
    if (at[0] && at[0] != '@') return gw_fail(GW_EOTHER, "rank %d of another job gives no address where it can be asked", rank);
    char *copy = o->at[rank] || !at[0] ? NULL : strdup(at);
    gw_lock(&others.lock);
    if (copy && !o->at[rank]) {
        o->at[rank] = copy;
        copy = NULL;
    }
    bool is_met = o->at[rank] != NULL;
    gw_unlock(&others.lock);
    free(copy);
    return is_met
        ? o->first + rank
        : gw_fail(GW_EOTHER, "rank %d of another job on another host is named, with which this process never connected", rank);
}

static struct node_other *find_far(int number)
{
    struct node_other *o = node_other_find(number);
    return o && !o->base ? o : NULL;
}

bool node_is_far(int number) { return find_far(number) != NULL; }

bool node_is_near(int number)
{
    const struct node_other *o = node_other_find(number);
    return o && o->base;
}

const char *node_far_at(int number)
{
    const struct node_other *o = find_far(number);
    return o ? o->at[number - o->first] : NULL;
}

bool node_far_is_held(int number)
{
    const struct node_other *o = find_far(number);
    return o && o->refs > 0;
}

int32_t node_far_as(int number)
{
    const struct node_other *o = find_far(number);
    return o ? o->as[number - o->first] : -1;
}

void node_far_set_as(int number, int32_t as)
{
    struct node_other *o = find_far(number);
    if (o) o->as[number - o->first] = as;
}

int node_far_first(uint64_t uid)
{
    gw_lock(&others.lock);
    struct node_other *o = find_home(&(struct boot_home){.uid = uid, .pid = -1, .fd = -1});
    int first = o ? o->first : -1;
    gw_unlock(&others.lock);
    return first;
}

int node_near_number(uint64_t uid, int rank)
{
    int number = -1;
    gw_lock(&others.lock);
    for (struct gw_list *l = others.list.next; l != &others.list && number < 0; l = l->next) {
        const struct node_other *o = container_of(l, struct node_other, link);
        if (o->home.uid == uid && o->base) number = node_other_number(o, rank);
    }
    gw_unlock(&others.lock);
    return number;
}

bool node_other_is_held(uint64_t uid)
{
    bool is_held = false;
    gw_lock(&others.lock);
    for (struct gw_list *l = others.list.next; l != &others.list && !is_held; l = l->next) {
        const struct node_other *o = container_of(l, struct node_other, link);
        is_held = o->home.uid == uid && o->refs > 0;
    }
    gw_unlock(&others.lock);
    return is_held;
}

static void count(int n, const int32_t *numbers, int by)
{
    bool any = false;
    for (int i = 0; i < n && !any; i++) any = numbers[i] >= gw_boot.size;
    if (!any) return;
    gw_lock(&others.lock);
    for (int i = 0; i < n; i++) {
        struct node_other *o = numbers[i] >= gw_boot.size ? find(numbers[i]) : NULL;
        if (o) refer(o, by);
    }
    gw_unlock(&others.lock);
}

void node_others_hold(int n, const int32_t *numbers) { count(n, numbers, 1); }
void node_others_release(int n, const int32_t *numbers) { count(n, numbers, -1); }

void node_other_drop(struct node_other *o)
{
    gw_lock(&others.lock);
    refer(o, -1);
    gw_unlock(&others.lock);
}

struct node_door *node_door_of(int number)
{
    struct node_other *o = node_other_find(number);
    if (o && !o->base) return NULL;
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
    *rank_out = !o ? number : o->ranks ? o->ranks[number - o->first] : number - o->first;
}

static void forget_some(bool all, void (*forget)(struct node_other *))
{
    for (struct gw_list *l = others.list.next, *next; l != &others.list; l = next) {
        struct node_other *o = container_of(l, struct node_other, link);
        next = l->next;
        if (!all && o->refs > 0) continue;
        if (o->refs > 0 && o->base) boot_connection(&o->home, false);
        if (forget) forget(o);
        gw_list_del(&o->link);
        if (o->base) boot_other_unmap(o->base, o->bytes);
        other_free(o);
    }
}

void node_other_sweep(void (*forget)(struct node_other *))
{
    gw_lock(&others.lock);
    forget_some(false, forget);
    gw_unlock(&others.lock);
}

void node_others_close(void (*forget)(struct node_other *)) { forget_some(true, forget); }
