/* node.c -- layout of the node's segment; copy jobs.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "node/node_private.h"
#include "base/os.h"

struct node gw_node;

enum { JOBS_PER_RANK = 16 };

struct node_job {
    _Atomic int64_t next; /* first byte that nobody has claimed */
    _Atomic int64_t done; /* bytes in place */
    _Atomic uint32_t used;
} GW_ALIGNED(GW_CACHELINE);

/* Where things lie in the mapped segment. */
static struct {
    struct node_job *jobs; /* [nlocal * JOBS_PER_RANK] */
    char *areas;           /* [lanes * nlocal], one behind the other */
    uint64_t area_size;    /* bytes of each */
    int lanes;
    uint64_t offered; /* from here on it may lie on large pages */
} map;
static const char segment_name[] = "the node's segment";

/* Where the doors, the jobs and the areas lie behind the head. */
static uint64_t front_bytes(uint64_t n)
{
    return gw_align_up((n + 1) * sizeof(struct node_door) + n * JOBS_PER_RANK * sizeof(struct node_job), gw_page_bytes());
}

uint64_t node_look(const struct boot_head *h, char *base, struct node_door **doors_out, char **areas_out)
{
    uint64_t at = h->shm_offset + front_bytes((uint64_t)h->nlocal);
    *doors_out = (struct node_door *)(base + h->shm_offset);
    *areas_out = base + at;
    return at;
}

/* [from, to) of the segment, as those huge pages that begin there. */
static void part_use(uint64_t from, uint64_t to)
{
    uint64_t first = gw_align_up(from, GW_HUGE_BYTES), end = gw_align_up(to, GW_HUGE_BYTES);
    if (end > gw_node.bytes) end = gw_node.bytes;
    if (first < end) gw_huge_use("a part of the node's segment", gw_node.base + first, end - first);
}

static uint64_t area_off(int local_rank, int lane)
{
    return node_off(map.areas) + node_area_index(gw_node.nlocal, map.lanes, local_rank, lane) * map.area_size;
}

/* With GODWIT_HUGE_PAGES=all or =pool: who touches memory first has it near.  Parts that adjoin go together: the kernel makes
 * one mapping of them, by which it counts huge pages. */
static void parts_use(uint64_t heap_at)
{
    uint64_t from = 0, to = gw_node.me == 0 ? node_off(map.areas) : 0;
    for (int i = 1; i <= map.lanes; i++) {
        uint64_t at = area_off(gw_node.me, i % map.lanes);
        if (at != to) {
            part_use(from, to);
            from = at;
        }
        to = at + map.area_size;
    }
    if (gw_node.me == 0 && heap_at != to) {
        part_use(from, to);
        from = heap_at;
    }
    part_use(from, gw_node.me == 0 ? gw_node.bytes : to);
}

/* Unless GODWIT_HUGE_PAGES says otherwise: what this process will use may lie on large pages, where the system grants them.  Who touches
 * one first has all of it near. */
static void parts_offer(bool is_spread)
{
    uint64_t from = is_spread ? 0 : area_off(0, 0) & ~(uint64_t)(GW_HUGE_BYTES - 1);
    map.offered = from;
    gw_huge_offer(segment_name, gw_node.base + from, gw_node.bytes - from);
}

uint64_t node_area_bytes(uint64_t wanted) { return gw_align_up(wanted, gw_page_bytes()); }

int node_init(uint64_t area_bytes, int lanes, bool is_spread, uint64_t heap_bytes)
{
    assert(!gw_node.base && gw_boot.nlocal > 0 && lanes > 0);
    uint64_t n = (uint64_t)gw_boot.nlocal;
    map.area_size = node_area_bytes(area_bytes);
    map.lanes = lanes;
    uint64_t seldom = n * (uint64_t)(lanes - 1) * map.area_size, heap_at = front_bytes(n) + seldom + n * map.area_size;
    uint64_t total = heap_at + heap_bytes;
    struct boot_head *head = boot_map_segment(total, is_spread ? 0 : seldom);
    bool is_pooled = boot_pool_take(head, total);

    gw_node.nlocal = gw_boot.nlocal;
    gw_node.me = gw_boot.local_rank;
    gw_node.base = (char *)head;
    gw_node.bytes = head->shm_offset + total;
    node_look(head, gw_node.base, &gw_node.doors, &map.areas);
    map.jobs = (struct node_job *)(gw_node.doors + n + 1);
    node_heap_open(gw_node.base + head->shm_offset + heap_at, heap_bytes);
    assert(map.areas + seldom + n * map.area_size == gw_node.base + head->shm_offset + heap_at);
    if (gw_huge_is_wanted() && !is_pooled)
        parts_use(head->shm_offset + heap_at);
    else if (boot_may_be_huge())
        parts_offer(is_spread);
    atomic_store_explicit(&head->area_bytes, map.area_size, memory_order_relaxed);
    atomic_store_explicit(&head->lanes, (uint32_t)lanes, memory_order_relaxed);
    gw_node.oversubscribed = gw_boot.nlocal > head->cores;
    node_wait_open();
    return GW_OK;
}

void node_finalize(void)
{
    if (boot_may_be_huge()) gw_huge_explain(segment_name, gw_node.base + map.offered, gw_node.bytes - map.offered);
    node_wait_close();
    memset(&gw_node, 0, sizeof gw_node);
}

void *node_area(int local_rank, int lane)
{
    assert(local_rank >= 0 && local_rank < gw_node.nlocal && lane >= 0 && lane < map.lanes);
    return map.areas + node_area_index(gw_node.nlocal, map.lanes, local_rank, lane) * map.area_size;
}

/* ---- copy jobs ---------------------------------------------------------------------------------------------------- */
uint64_t node_job_alloc(void)
{
    struct node_job *mine = map.jobs + gw_node.me * JOBS_PER_RANK;
    for (int i = 0; i < JOBS_PER_RANK; i++) {
        uint32_t is_free = 0;
        if (atomic_load_explicit(&mine[i].used, memory_order_relaxed) ||
            !atomic_compare_exchange_strong_explicit(&mine[i].used, &is_free, 1, memory_order_acquire, memory_order_relaxed))
            continue;
        atomic_store_explicit(&mine[i].next, 0, memory_order_relaxed);
        atomic_store_explicit(&mine[i].done, 0, memory_order_relaxed);
        return node_off(&mine[i]);
    }
    return 0;
}

void node_job_free(uint64_t off)
{
    struct node_job *j = node_ptr(off);
    atomic_store_explicit(&j->used, 0, memory_order_release);
}

bool node_job_is_of(uint64_t off, int local_rank)
{
    if (local_rank < 0 || local_rank >= gw_node.nlocal) return false;
    uint64_t first = node_off(map.jobs + local_rank * JOBS_PER_RANK), at = off - first; /* far too large where it lies before it */
    return at < JOBS_PER_RANK * sizeof *map.jobs && at % sizeof *map.jobs == 0;
}

bool node_job_claim(uint64_t job, int64_t total, int64_t piece, int64_t *start_out, int64_t *len_out)
{
    assert(total >= 0 && piece > 0);
    struct node_job *j = node_ptr(job);
    int64_t start = atomic_fetch_add_explicit(&j->next, piece, memory_order_relaxed);
    if (start >= total) return false;
    *start_out = start;
    *len_out = gw_min64(piece, total - start);
    return true;
}

void node_job_add(uint64_t job, int64_t bytes)
{
    assert(bytes > 0);
    struct node_job *j = node_ptr(job);
    /* [J1] pairs with the acquire in node_job_done(): the bytes are in place before they count. */
    atomic_fetch_add_explicit(&j->done, bytes, memory_order_release);
}

bool node_job_done(uint64_t job, int64_t total)
{
    struct node_job *j = node_ptr(job);
    return atomic_load_explicit(&j->done, memory_order_acquire) >= total;
}
