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

#include "base/progress.h"
#include "machine.h"

/* Prints to stdout, for victims in each class of the machine (none: in one of their own): alone, beside aggressors, and those managed. */
bool congest_print(const struct machine *m, struct gw_progress *progress, char *error_out, int error_cap);

#endif
