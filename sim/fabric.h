/* fabric.h -- packets on the links of a dragonfly: what flows do to each other.
 *
 * A machine's `fabric` line: groups=, switches= of a group, nodes= of a switch; hop= us on a link between switches (and into the network
 * and out of it), G= ns a byte on each link, packet= bytes; buffer= packets that a link's far end has room for, of each class and
 * each hop; window= packets to one node that may be under way; detour= of 1: adaptive routing.
 *
 * Lossless.  A link takes a packet when the place behind it is free, and gives the packet's former place back then: so queues
 * before a node that gets too much fill the switches before it (tree saturation).  Each class has places of its own; each hop, too, so that
 * no circle of links can wait for itself.
 *
 * Congestion management: of what is under way to one node there are `window` packets at most; nodes that have more take turns.
 *
 * Adaptive routing: where the first link of the shortest way has more than twice as many packets before it as that of a way by a third
 * group, and two more, the packet takes that one.  Third groups take turns.
 *
 * Classes.  A link that is free takes, of those that are not beyond their `max` of its time, one that has had less than its `min`; else the
 * highest priority; else the class that has had the least; in a class the oldest packet.  Each class has two clocks on each link: when its
 * min is used up, and when its max allows the next packet.  What was not used is not kept.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SIM_FABRIC_H
#define GW_SIM_FABRIC_H

#include "machine.h"

/* Packets from a node to another one: `ahead` of them may be under way, and after each that has come the next follows `pause` later. */
struct fabric_flow {
    int64_t src, dst;
    int tclass;
    int64_t bytes; /* of a packet; 0: the machine's */
    int ahead;
    double pause;
    int64_t packets;      /* that came after the begin of the measurement */
    double us, mean, max; /* of the time that is measured; a packet's way: from when it is posted */
};
struct fabric_job {
    const struct machine *machine;
    struct fabric_flow *flows;
    int n_flows;
    bool managed;          /* congestion management */
    double from_us, to_us; /* what is measured */
};

/* False: error_out says what cannot be. */
bool fabric_run(struct fabric_job *job, char *error_out, int error_cap);

/* The share of a link that a flow had. */
static inline double fabric_share(const struct machine *m, const struct fabric_flow *f)
{
    double bytes = f->bytes ? (double)f->bytes : m->fabric.packet;
    return f->us > 0 ? (double)f->packets * bytes * m->fabric.G / 1000 / f->us : 0;
}

#endif
