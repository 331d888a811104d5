/* check_owed.c -- operations by their owner (a window, a file, a partitioned request): those to one rank, and to all.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "check/check_private.h"

struct owed {
    struct owed *next;
    uint32_t owner;
    int32_t rank;
    int64_t n_calls;
    struct check_item *first;
};
enum { OWED_BUCKETS = 4096 };
static struct owed *owed[OWED_BUCKETS];

static struct owed **owed_at(uint32_t owner, int32_t rank)
{
    uint64_t h = ((uint64_t)owner << 32 | (uint32_t)rank) * 0x9e3779b97f4a7c15u;
    struct owed **at = &owed[h >> 40 & (OWED_BUCKETS - 1)];
    while (*at && ((*at)->owner != owner || (*at)->rank != rank)) at = &(*at)->next;
    return at;
}

struct check_item *check_owed_first(uint32_t owner, int32_t rank)
{
    struct owed *o = *owed_at(owner, rank);
    return o ? o->first : NULL;
}

int64_t check_owed_calls(uint32_t owner, int32_t rank)
{
    struct owed *o = *owed_at(owner, rank);
    return o ? o->n_calls : 0;
}

static void link_in(struct check_item *i, int which, int32_t rank)
{
    struct owed **at = owed_at(i->owner, rank);
    struct check_link *l = &i->links[which];
    assert(!l->at && i->n_calls > 0);
    if (!*at) {
        *at = gw_xcalloc(1, sizeof **at);
        **at = (struct owed){.owner = i->owner, .rank = rank};
    }
    (*at)->n_calls += i->n_calls;
    l->of = *at;
    l->next = (*at)->first;
    l->at = &(*at)->first;
    if (l->next) l->next->links[which].at = &l->next;
    *l->at = i;
}

static void link_out(struct check_item *i, int which, int32_t rank)
{
    struct check_link *l = &i->links[which];
    assert(*l->at == i && l->of->owner == i->owner && l->of->rank == rank);
    *l->at = l->next;
    if (l->next) l->next->links[which].at = l->at;
    l->at = NULL;
    struct owed *o = l->of, **at;
    o->n_calls -= i->n_calls;
    assert((o->n_calls > 0) == (o->first != NULL));
    if (o->first) return;
    at = owed_at(i->owner, rank);
    *at = o->next;
    free(o);
}

void check_owed_add(struct check_item *i)
{
    if (!i->owner || i->links[0].at) return;
    link_in(i, 0, i->rank);
    link_in(i, 1, CHECK_EVERYONE);
}

void check_owed_more(struct check_item *i)
{
    assert(i->links[0].at && i->links[1].at); /* it is in use, and has an owner */
    i->n_calls++;
    i->links[0].of->n_calls++;
    i->links[1].of->n_calls++;
}

void check_owed_remove(struct check_item *i)
{
    if (!i->links[0].at) return;
    link_out(i, 0, i->rank);
    link_out(i, 1, CHECK_EVERYONE);
}

struct check_item *check_owed_any(void)
{
    for (int k = 0; k < OWED_BUCKETS; k++)
        if (owed[k]) return owed[k]->first;
    return NULL;
}
