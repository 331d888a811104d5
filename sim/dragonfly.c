/* dragonfly.c -- routes through a network of groups.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dragonfly.h"

#include <assert.h>

static int64_t switches_of(const struct dragonfly *d) { return d->groups * d->switches; }

int64_t dragonfly_gate(const struct dragonfly *d, int64_t from, int64_t to)
{
    assert(from != to);
    int64_t further = (to - from + d->groups) % d->groups;
    return from * d->switches + (further - 1) % d->switches;
}

int dragonfly_hops(const struct dragonfly *d, int64_t node, int64_t other)
{
    assert(node >= 0 && node < dragonfly_nodes(d) && other >= 0 && other < dragonfly_nodes(d));
    int64_t a = node / d->nodes, b = other / d->nodes, from = a / d->switches, to = b / d->switches;
    if (from == to) return a != b;
    return (a != dragonfly_gate(d, from, to)) + 1 + (b != dragonfly_gate(d, to, from));
}

/* The first number of each kind of link. */
static int64_t first_out(const struct dragonfly *d) { return dragonfly_nodes(d); }
static int64_t first_local(const struct dragonfly *d) { return 2 * dragonfly_nodes(d); }
static int64_t first_global(const struct dragonfly *d) { return first_local(d) + switches_of(d) * d->switches; }

int64_t dragonfly_links(const struct dragonfly *d) { return first_global(d) + d->groups * d->groups; }
int64_t dragonfly_link_in(const struct dragonfly *d, int64_t node)
{
    assert(node >= 0 && node < dragonfly_nodes(d));
    return node;
}

static int64_t local(const struct dragonfly *d, int64_t from, int64_t to)
{
    return first_local(d) + from * d->switches + to % d->switches;
}

int64_t dragonfly_next(const struct dragonfly *d, int64_t at, int64_t node, int64_t via)
{
    int64_t last = node / d->nodes, here = at / d->switches, there = last / d->switches;
    if (via >= 0 && via != here) there = via;
    if (here == there) return at == last ? first_out(d) + node : local(d, at, last);
    int64_t gate = dragonfly_gate(d, here, there);
    return at == gate ? first_global(d) + here * d->groups + there : local(d, at, gate);
}

int64_t dragonfly_end(const struct dragonfly *d, int64_t link)
{
    if (link < first_out(d)) return link / d->nodes;
    if (link < first_local(d)) return -1;
    if (link >= first_global(d)) {
        int64_t pair = link - first_global(d);
        return dragonfly_gate(d, pair % d->groups, pair / d->groups);
    }
    int64_t pair = link - first_local(d), from = pair / d->switches;
    return from / d->switches * d->switches + pair % d->switches;
}
