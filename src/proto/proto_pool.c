/* proto_pool.c -- blocks of one size for one lane: no lock, no system call once the program has settled.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"

#include <stdlib.h>

enum { SLAB_BYTES = 32 << 10 }; /* at least one block; malloc gives pages that nobody touches yet for large ones */

struct pool_slab {
    struct pool_slab *next;
} GW_ALIGNED(GW_CACHELINE);

void proto_pool_init(struct proto_pool *p, size_t size)
{
    memset(p, 0, sizeof *p);
    p->size = gw_align_up(size, GW_CACHELINE);
}

void *proto_pool_take_slow(struct proto_pool *p)
{
    assert(!p->free && p->size);
    if (p->fresh == p->end) {
        size_t n = p->size < SLAB_BYTES ? SLAB_BYTES / p->size : 1;
        size_t bytes = sizeof(struct pool_slab) + n * p->size;
        struct pool_slab *slab = aligned_alloc(GW_CACHELINE, bytes);
        if (!slab) gw_die("out of memory: %zu bytes for messages could not be allocated", bytes);
        slab->next = p->slabs;
        p->slabs = slab;
        p->fresh = (char *)(slab + 1);
        p->end = p->fresh + n * p->size;
        gw_poison(p->fresh, n * p->size);
    }
    void *b = p->fresh;
    gw_unpoison(b, p->size);
    p->fresh += p->size;
    return b;
}

void proto_pool_finish(struct proto_pool *p)
{
    while (p->slabs) {
        struct pool_slab *slab = p->slabs;
        p->slabs = slab->next;
        free(slab);
    }
    p->free = NULL;
    p->fresh = p->end = NULL;
}
