/* proto_cookie.c -- cookies: names of records for other processes, an index into a table of the lane and a generation.
 *
 * A record has a cookie only while messages may refer to it: in a rendezvous or a synchronous send.  The generation of a place rises when its
 * cookie is revoked, so that one that arrives late, twice, or from a stranger finds nothing.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"

#include <stdlib.h>

enum { FIRST_ROOM = 64 };
struct proto_cookie_slot {
    void *what;          /* NULL: free, */
    uint32_t next;       /* and then the next one that is free, + 1; 0: none */
    uint32_t generation; /* never 0, so that no cookie is; below 2^31, so that COOKIE_OF_MSG is in none */
};

static uint64_t cookie_of(uint32_t index, uint32_t generation) { return (uint64_t)generation << 32 | index; }

static GW_COLD void cookies_grow(struct proto_cookies *n)
{
    uint32_t room = n->room ? 2 * n->room : FIRST_ROOM;
    n->places = gw_xrealloc(n->places, room * sizeof *n->places);
    for (uint32_t i = room; i-- > n->room;) {
        n->places[i] = (struct proto_cookie_slot){NULL, n->free, 1};
        n->free = i + 1;
    }
    n->room = room;
}

uint64_t proto_cookie_give(struct proto_cookies *n, void *what)
{
    assert(what);
    if (unlikely(!n->free)) cookies_grow(n);
    uint32_t index = n->free - 1;
    struct proto_cookie_slot *p = &n->places[index];
    n->free = p->next;
    p->what = what;
    return cookie_of(index, p->generation);
}

void *proto_cookie_find(const struct proto_cookies *n, uint64_t name)
{
    uint32_t index = (uint32_t)name;
    if (unlikely(index >= n->room) || unlikely(n->places[index].generation != name >> 32)) return NULL;
    return n->places[index].what;
}

void proto_cookie_revoke(struct proto_cookies *n, uint64_t name)
{
    uint32_t index = (uint32_t)name;
    assert(proto_cookie_find(n, name));
    struct proto_cookie_slot *p = &n->places[index];
    p->what = NULL;
    if (++p->generation > INT32_MAX) p->generation = 1;
    p->next = n->free;
    n->free = index + 1;
}

void proto_cookies_finish(struct proto_cookies *n)
{
    free(n->places);
    *n = (struct proto_cookies){0};
}
