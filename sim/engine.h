/* engine.h -- prices a collective: runs the rounds of all its ranks on a described machine, without data.
 *
 * A discrete-event simulation in whole picoseconds, so the same job gives the same result on every machine.  The contended resources serve
 * first come, first served: each rank's core and port, the adapters of a node, and the two matching queues of a rank.
 *
 * Algorithms of stages (over nodes) place rank r on node r / N of the machine; args.nodes must say the same.
 *
 * Symmetry.  In many algorithms the ranks of node k do what those of node 0 do, with peers k nodes further on.  Then only the ranks of one
 * node are simulated: a message that one of them sends to another node is received, at the same time, from the node at the same distance on
 * the other side.  Whether an algorithm is symmetric is found by comparing sampled ranks and rounds; algorithms with a root never are.
 *
 * Distances.  The machine's `fabric` gives the number of hops between nodes (its links are never full here; fabric.h models that).  If hops
 * cost time, all ranks are simulated.  Its `engines` process what leaves a node, also the bytes of fetched messages: at the node where
 * these lie, on behalf of the core that has asked for them.
 *
 * `network`: the network performs the stage across nodes.  The leader of each node sends its part to the first switch; when the last part
 * has arrived, the result goes up a tree of radix offload_radix over the nodes and down again: L for one switch, two hops for each further
 * level, and `reduce` in each.
 *
 * Matching.  The order of messages in a queue is assumed to be independent of the order of the receives: a successful search looks at half
 * of the queue, another one at all of it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SIM_ENGINE_H
#define GW_SIM_ENGINE_H

#include "base/progress.h"
#include "machine.h"
#include "plan/plan.h"

struct engine_job {
    const struct machine *machine;
    const struct plan_algorithm *alg;
    struct plan_args args;        /* args.rank is ignored; ranks 0 .. size - 1 are placed on the machine in this order */
    bool at_once;                 /* all rounds are posted before the first wait, as in a program that ends with MPI_Waitall */
    bool messages;                /* no stage uses shared memory of a node */
    bool network;                 /* the network performs stages across nodes */
    bool whole;                   /* all ranks are simulated, also where the ranks of one node would do */
    int64_t most_messages;        /* the run fails with more messages; 0: no limit */
    struct gw_progress *progress; /* told how far it is; NULL: nobody is */
};
struct engine_result {
    double us, mean_us;                       /* time of the last rank; mean over the ranks */
    int64_t messages, bytes;                  /* of all ranks */
    int64_t ranks;                            /* ranks that were simulated */
    int64_t engine_messages[MACHINE_ENGINES]; /* messages of each engine */
    int64_t engine_busy[MACHINE_ENGINES]; /* most channels of an engine that were busy at once on a node, if its ranks share them */
    int64_t most_posted, most_unexpected; /* longest queues of any rank at any time */
};

/* Runs the job.  False: error_out[error_cap] says why there is no result. */
bool engine_run(const struct engine_job *job, struct engine_result *out, char *error_out, int error_cap);

#endif
