/* proto_pace.c -- which of two ways is quicker for messages of middle size: R0, the receiver's kernel copies once, or R1, both
 * ranks copy pieces through the wire at the same time.
 *
 * That depends on where the two cores lie (with a common cache R1 takes half the time of R0 at 64 KiB, without one twice as
 * long), which nothing tells reliably, in virtual machines least of all.  So the receiver takes the time of both ways.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"

enum { EXPLORE_EVERY = 64, SLOWER_BY = 8 };

static struct proto_pace *pace_of(struct proto_lane *pl, const struct proto_recv *r)
{
    int class = 0;
    for (int64_t to = 32 << 10; class < PACE_CLASSES - 1 && r->want > to; to <<= 1) class ++;
    return &pl->paces[(unsigned)r->world % PACE_PEERS][class];
}

/* Ticks a KiB.  A sender that was late makes one sample long and says nothing: samples pull the value down at once, up slowly. */
static void pace_note(struct proto_pace *pace, int way, uint64_t ticks, int64_t bytes)
{
    uint64_t sample = ticks * 1024 / (uint64_t)bytes + 1;
    uint32_t *now = &pace->ticks[way];
    if (!*now || sample < *now)
        *now = (uint32_t)gw_min64((int64_t)sample, UINT32_MAX);
    else
        *now += (uint32_t)gw_min64((int64_t)(sample - *now), *now / SLOWER_BY + 1);
}

bool pace_direct(struct proto_lane *pl, const struct proto_recv *r)
{
    if (gw_set.proto == GW_SET_PROTO_R0 || r->want >= gw_set.cma_sure) return true;
    if (!r->ptr) return false;
    struct proto_pace *pace = pace_of(pl, r);
    bool direct = pace->ticks[PACE_GET] < pace->ticks[PACE_PIECES]; /* 0: not tried yet */
    if (pl->n_taking) return direct;
    return ++pace->turn % EXPLORE_EVERY ? direct : !direct;
}

void pace_got(struct proto_lane *pl, const struct proto_recv *r)
{
    uint64_t ticks = gw_ticks() - pl->getting_since;
    pace_note(pace_of(pl, r), PACE_GET, ticks, r->want);
    pl->taking_since += ticks; /* of no concern to the streams of pieces that wait meanwhile */
}

/* Streams of pieces overlap, so what is timed is the while in which there are any. */
void pace_taking(struct proto_lane *pl)
{
    if (pl->n_taking++) return;
    pl->taking_since = gw_ticks();
    pl->taken = 0;
}

void pace_taken(struct proto_lane *pl, const struct proto_recv *r)
{
    pl->taken += r->want;
    if (--pl->n_taking == 0 && r->ptr) pace_note(pace_of(pl, r), PACE_PIECES, gw_ticks() - pl->taking_since, pl->taken);
}
