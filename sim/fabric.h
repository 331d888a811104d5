/* fabric.h -- simulates packets on the links of a dragonfly: how flows affect each other.
 *
 * A machine's `fabric` line: groups=, switches= of a group, nodes= of a switch; hop= us on a link between switches (and into the network
 * and out of it), G= ns a byte on each link, packet= bytes; buffer= packets that a link's far end has room for, of each class and
 * each hop; window= packets to one node that may be under way; detour= of 1: adaptive routing.
 *
 * Lossless, but for classes with `drop`.  A link takes a packet when there is a free buffer at its end, and then frees the former buffer of the packet.  So the queue
 * before an overloaded node fills the switches on the way to it (tree saturation).  Each class and each hop has buffers of its own, so that
 * there is no deadlock.
 *
 * Unreliable classes: a packet that comes, in a switch, before a link where `drop` of its class wait already is lost, and nobody sends it again; its
 * source sends the next one.
 *
 * Congestion management: at most `window` packets are under way to one node; flows that have more take turns.
 *
 * Adaptive routing: a packet takes a route through a third group if the first link of the shortest route has more than twice as many packets
 * waiting as that of the other route, plus two.  The third groups are used in turn.
 *
 * Classes.  A free link serves, among the classes that have not had their `max` of its time, one that has had less than its `min`; else the
 * one with the highest priority; else the one that has had the least; within a class the oldest packet.  Each class has two clocks on each
 * link: when its min is used up, and when its max allows the next packet.  Unused shares expire.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SIM_FABRIC_H
#define GW_SIM_FABRIC_H

#include "base/progress.h"
#include "machine.h"

/* Packets from one node to another: at most `ahead` are under way; the next one is posted `pause` us after one has arrived. */
struct fabric_flow {
    int64_t src, dst;
    int tclass;
    int64_t bytes; /* of a packet; 0: the packet size of the machine */
    int ahead;
    double pause;
    int64_t packets;      /* packets that arrived during the measurement */
    int64_t lost;         /* those that did not */
    double us, mean, max; /* us: length of the measurement; mean, max: latency of a packet from its posting, in us */
};
struct fabric_job {
    const struct machine *machine;
    struct fabric_flow *flows;
    int n_flows;
    bool managed;                 /* congestion management */
    double from_us, to_us;        /* begin and end of the measurement */
    struct gw_progress *progress; /* told how far it is, behind `what`; NULL: nobody is */
    const char *what;
};

/* Runs the job and fills in the results of the flows.  False: error_out says why it cannot run. */
bool fabric_run(struct fabric_job *job, char *error_out, int error_cap);

/* The share of the capacity of a link that a flow has got. */
static inline double fabric_share(const struct machine *m, const struct fabric_flow *f)
{
    double bytes = f->bytes ? (double)f->bytes : m->fabric.packet;
    return f->us > 0 ? (double)f->packets * bytes * m->fabric.G / 1000 / f->us : 0;
}

#endif
