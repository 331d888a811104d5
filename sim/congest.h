/* congest.h -- what others' traffic does to a latency: in the manner of the benchmark GPCNeT, on a machine's `fabric`.
 *
 * A fifth of the nodes, picked at random by a fixed seed, are victims: each sends 8 bytes to the next one of them, again and again.  The
 * others are aggressors: in sixteens, of which fifteen send whole packets to the first one as quickly as they may.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SIM_CONGEST_H
#define GW_SIM_CONGEST_H

#include "fabric.h"

struct congest_case {
    bool aggressors, managed;
    const char *victims_class; /* of machine's classes; the aggressors are in its first one */
};
struct congest_result {
    double mean_us, max_us; /* of the victims' packets */
    double taken;           /* by the links to the aggressors' targets, of what they can, on average */
};

bool congest_run(const struct machine *m, const struct congest_case *c, struct congest_result *out, char *error_out, int error_cap);
/* All cases, to stdout. */
bool congest_print(const struct machine *m, char *error_out, int error_cap);

#endif
