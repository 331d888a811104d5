/* engine.h -- prices a collective: runs the rounds of all its ranks on a described machine, without data.
 *
 * Driven by events, in whole picoseconds: the same job gives the same answer everywhere.  Contended, and so first come first served,
 * are each rank's core and port, the adapters of a node, and the two queues of a rank's matching.
 *
 * Algorithms of stages (over nodes) take rank r to be on node r / N of the machine: args.nodes says the same.
 *
 * Many algorithms look the same from every node: the ranks of node k do what those of node 0 do, k nodes further on.  Then the ranks
 * of one node stand for all: what one sends to another node comes in, at the same time, from the node that lies as far on the
 * other side.  Sampled ranks and rounds decide whether an algorithm is of this kind (never for those with a root).
 *
 * A machine's `fabric` says here how far nodes are from each other; that its links can be full, fabric.h says.  With hops that cost
 * something no ranks stand for others.  Its `engines` take what leaves a node, the bytes of fetched messages too (where these lie, for
 * the core that asked for them).
 *
 * `network`: the stage in which nodes speak with each other is done by the network.  Each node's speaker hands in its part; when the last
 * one has come to the first switch, it goes up a tree of offload_radix over the nodes and down again: L for the way by one switch,
 * two hops for each further level, and `reduce` in each.
 *
 * The order in which messages lie in a queue is taken to have nothing to do with the order in which they are asked for: a search
 * that finds looks at half of the queue, one that does not at all of it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SIM_ENGINE_H
#define GW_SIM_ENGINE_H

#include "machine.h"
#include "plan/plan.h"

struct engine_job {
    const struct machine *machine;
    const struct plan_algorithm *alg;
    struct plan_args args; /* of any rank, which is set here; ranks 0 .. size-1 lie on the machine in this order */
    bool at_once;          /* everything is posted before the first wait, as by a program with MPI_Waitall at its end */
    bool messages;         /* no stage uses memory that the ranks of a node share */
    bool network;          /* what stages do across nodes, the network does */
    bool whole;            /* every rank, even where the ranks of one node could stand for all */
    int64_t most_messages; /* gives up beyond; 0: no bound */
};
struct engine_result {
    double us, mean_us;                       /* until the last rank is through; until a rank is, on average */
    int64_t messages, bytes;                  /* of all ranks */
    int64_t ranks;                            /* that were run */
    int64_t engine_messages[MACHINE_ENGINES]; /* that each took */
    int64_t engine_busy[MACHINE_ENGINES];     /* the most that were busy at once on one node, where nodes share them */
    int64_t most_posted, most_unexpected;     /* at any one rank at any one time */
};

/* False: error_out says why there is no answer. */
bool engine_run(const struct engine_job *job, struct engine_result *out, char *error_out, int error_cap);

#endif
