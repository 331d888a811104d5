/* proto_adaptive.c -- which of two ways is quicker: R0, the receiver's kernel copies once, or R1, both ranks copy pieces through the wire
 * at the same time.
 *
 * This depends on the caches that the two cores share (with a common cache R1 takes half the time of R0 at 64 KiB, without one twice as
 * long), which cannot be found out reliably, least of all in virtual machines.  So the receiver measures both ways; R0 from huge pages, which
 * takes half the time, is measured separately.
 *
 * In an exchange the sender's core has messages of its own to receive.  Then R1 is judged not by its duration but by the time for which both
 * cores copy, and half as much again, since the streams disturb each other.  The path that one rank uses changes the times of other ranks (a
 * copy by the kernel takes half the time while the receiver's cache has the sender's lines from the last one), so all ranks try a path at the
 * same time, by the clock.  Large blocks of exchanges use R0 without trying: four ranks that exchanged 1 MiB took 0.7 ms by R0, 1.2 by R1 and
 * 0.85 while they tried both (Zen 3, cores far apart, November 2026).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"
#include "base/settings.h"
#include "base/time.h"

/* Of every 128 ms the first four are for R0, the next for R1; the first half of both brings caches to where that way leaves them. */
enum { HALF_NS = 2000000, WINDOWS = 32, SLOWER_BY = 8 };

/* Returns the way that it is the time to try, or TIMING_KINDS.  Its samples count from the second half on. */
static int way_to_try(struct proto_lane *pl)
{
    uint64_t halves = gw_now_ns() / HALF_NS, window = halves / 2 % WINDOWS;
    int way = window == 0 ? TIMING_GET : window == 1 ? TIMING_PIECES : TIMING_KINDS;
    pl->sampling = halves % 2 ? way : TIMING_KINDS;
    return way;
}

static uint32_t *timing_of(struct proto_lane *pl, const struct gw_peer *p, int64_t len)
{
    int class = 0;
    for (int64_t to = 32 << 10; class < TIMING_CLASSES - 1 && len > to; to <<= 1) class ++;
    return pl->timings[(unsigned)p->ep->place % TIMING_PEERS][class].ticks;
}

/* The mean, in which no sample counts more than twice what was there. */
void proto_adaptive_copied(struct proto_lane *pl, int what, const struct gw_peer *p, int64_t len, int64_t bytes, uint64_t ticks)
{
    uint32_t *now = &timing_of(pl, p, len)[what];
    int64_t sample = (int64_t)(ticks * 1024 / (uint64_t)bytes + 1), old = *now;
    bool is_get = what == TIMING_GET || what == TIMING_GET_HUGE;
    if (is_get) pl->taking_since += ticks; /* of no concern to the streams of pieces that wait meanwhile */
    if (pl->sampling == (is_get ? TIMING_GET : TIMING_PIECES))
        *now = (uint32_t)(old ? old + (gw_min64(sample, 2 * old) - old) / SLOWER_BY : sample);
}

/* A late sender makes a sample long, which says nothing about the path: a shorter sample sets the value at once, a longer one raises it slowly. */
static void pieces_note(const struct proto_lane *pl, uint32_t *now, uint64_t ticks, int64_t bytes)
{
    uint64_t sample = ticks * 1024 / (uint64_t)bytes + 1;
    if (pl->sampling != TIMING_PIECES) return;
    if (!*now || sample < *now)
        *now = (uint32_t)gw_min64((int64_t)sample, UINT32_MAX);
    else
        *now += (uint32_t)gw_min64((int64_t)(sample - *now), *now / SLOWER_BY + 1);
}

/* R0 until both have been measured, and unless R1 is clearly quicker: a sender of several messages has less time for each. */
bool proto_adaptive_direct(struct proto_lane *pl, const struct proto_recv *r)
{
    bool exchange = lane_sends_large(pl);
    if (gw_set.proto == GW_SET_PROTO_R0 || r->want >> exchange >= gw_set.cma_sure) return true;
    if (!gw_data_is_run(&r->data)) return r->want >= gw_set.cma_sure;
    int now = way_to_try(pl);
    if (now != TIMING_KINDS) return now == TIMING_GET;
    const uint32_t *t = timing_of(pl, peer_get(pl->lane, r->world), r->want);
    uint32_t get = t[r->is_huge ? TIMING_GET_HUGE : TIMING_GET];
    if (!get || !t[exchange ? TIMING_OUT : TIMING_PIECES]) return true;
    if (!exchange) return (uint64_t)get * 3 < (uint64_t)t[TIMING_PIECES] * 4;
    uint64_t copies = (uint64_t)t[TIMING_OUT] + (t[TIMING_IN] ? t[TIMING_IN] : t[TIMING_OUT]);
    return (uint64_t)get * 2 < copies * 3;
}

/* Receives by R1 overlap, so the time is measured in which there is at least one. */
void proto_adaptive_pieces_begin(struct proto_lane *pl)
{
    pl->taking_alone = (!pl->n_taking || pl->taking_alone) && !lane_sends_large(pl);
    if (pl->n_taking++) return;
    pl->taking_since = gw_ticks();
    pl->taken = 0;
}

void proto_adaptive_pieces_end(struct proto_lane *pl, const struct proto_recv *r)
{
    pl->taken += r->want;
    if (--pl->n_taking || !gw_data_is_run(&r->data) || !pl->taking_alone || lane_sends_large(pl)) return;
    pieces_note(pl, &timing_of(pl, peer_get(pl->lane, r->world), r->want)[TIMING_PIECES], gw_ticks() - pl->taking_since, pl->taken);
}
