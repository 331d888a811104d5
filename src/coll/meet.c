/* meet.c -- an allreduce of all ranks of a node by a few words of its segment.
 *
 *     each:  raises the words of this round, then counts itself
 *     last:  empties the words of the next round, counts the round, wakes all
 *
 * The words of the next round are those of the round before this one: who has come to this one has read them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll.h"

#include "boot/segment.h"
#include "node/node.h"
#include "req/req.h"

_Static_assert((int)COLL_GROUP_VALUES <= (int)BOOT_MEETING_VALUES, "they fit");

/* In the order of the values, and the least is 0, with which segments begin. */
static uint64_t word_of(int64_t value) { return (uint64_t)value ^ (uint64_t)INT64_MIN; }
static int64_t value_of(uint64_t word) { return (int64_t)(word ^ (uint64_t)INT64_MIN); }

static void raise_to(_Atomic uint64_t *at, uint64_t word)
{
    uint64_t was = atomic_load_explicit(at, memory_order_relaxed);
    while (was < word && !atomic_compare_exchange_weak_explicit(at, &was, word, memory_order_relaxed, memory_order_relaxed))
        continue;
}

static void round_over(struct boot_meeting *m, uint32_t round)
{
    for (int i = 0; i < BOOT_MEETING_VALUES; i++) atomic_store_explicit(&m->most[(round + 1) % 2][i], 0, memory_order_relaxed);
    atomic_store_explicit(&m->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&m->round, round + 1, memory_order_release); /* [M2] pairs with the wait for it */
    for (int i = 0; i < gw_node.nlocal; i++) node_ring(i);
}

void coll_node_most(int64_t *values, int n)
{
    struct boot_meeting *m = &((struct boot_head *)(void *)gw_node.base)->meeting;
    const uint32_t round = atomic_load_explicit(&m->round, memory_order_acquire), all = (uint32_t)gw_node.nlocal;
    assert(n <= COLL_GROUP_VALUES && gw_boot.nnodes == 1);
    if (all == 1) return;
    for (int i = 0; i < n; i++) raise_to(&m->most[round % 2][i], word_of(values[i]));
    /* [M1] release and acquire: the last one knows what all have done before, and by [M2] so do all */
    uint32_t before = atomic_fetch_add_explicit(&m->arrived, 1, memory_order_acq_rel);
    assert(before < all);
    if (before + 1 == all) round_over(m, round);
    struct node_wait w;
    node_wait_begin(&w);
    while (atomic_load_explicit(&m->round, memory_order_acquire) == round) node_wait_step(&w, req_progress() > 0);
    node_wait_end(&w);
    for (int i = 0; i < n; i++) values[i] = value_of(atomic_load_explicit(&m->most[round % 2][i], memory_order_relaxed));
}

bool coll_node_tell(void *buf, int64_t bytes, bool is_teller)
{
    if (gw_node.nlocal == 1) return true;
    const uint64_t mine = is_teller ? node_heap_alloc((uint64_t)bytes) : 0;
    if (mine) memcpy(node_ptr(mine), buf, (size_t)bytes);
    int64_t at = (int64_t)mine;
    coll_node_most(&at, 1);
    if (!at) return false;
    if (!is_teller) {
        node_heap_join();
        memcpy(buf, node_ptr((uint64_t)at), (size_t)bytes);
    }
    node_heap_leave((uint64_t)at, gw_node.nlocal);
    return true;
}
