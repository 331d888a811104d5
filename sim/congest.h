/* congest.h -- the effect of other traffic on latency, as the benchmark GPCNeT measures it, on the `fabric` of a machine.
 *
 * A fifth of the nodes, chosen at random with a fixed seed, are victims: each sends 8 bytes to the next victim, again and again; in a class
 * that loses packets eight at a time, which alone all arrive.  The others
 * are aggressors in groups of sixteen, of which fifteen send whole packets to the first one as fast as possible.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SIM_CONGEST_H
#define GW_SIM_CONGEST_H

#include "fabric.h"

struct congest_case {
    bool aggressors, managed;
    const char *victims_class; /* traffic class of the victims; aggressors are in the first class of the machine */
};
struct congest_result {
    double mean_us, max_us; /* of the victims' packets */
    double lost;            /* of the victims' packets, the part that did not arrive */
    double taken;           /* mean load of the links to the targets of the aggressors, 0 to 1 */
};

bool congest_run(const struct machine *m, const struct congest_case *c, struct congest_result *out, char *error_out, int error_cap);
/* Prints all cases to stdout. */
bool congest_print(const struct machine *m, char *error_out, int error_cap);

#endif
